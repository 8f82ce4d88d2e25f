"""Numbers for the names in rows, to see what structure alone does not show."""

from __future__ import annotations

from dataclasses import dataclass, field

from kinode.algebra.affine import Affine, NonlinearError
from kinode.algebra.scalars import Scalar
from kinode.errors import ModelError
from kinode.expressions.equation_parser import rate_name
from kinode.expressions.syntax_tree import Expression
from kinode.model.network.part import Part
from kinode.model.system import System
from kinode.structure.network_equations import ExpressionOrNumber, NetworkEquation


@dataclass
class SampleValues:
    """Numbers for names, always the same: where rows are generic, these show whether they can be solved."""

    system: System
    values: dict[str, float] = field(default_factory=dict)
    shift: int = 0

    def __call__(self, value: ExpressionOrNumber) -> float:
        """A formula at the sample; where it has no value there, some number."""
        if not isinstance(value, Expression):
            return float(value)
        try:
            found = float(value.evaluate(self.lookup, self.call))
        except (ArithmeticError, ValueError, ModelError):
            found = float("nan")
        return found if abs(found) < 1e12 else self.lookup(value.text())

    def lookup(self, name: str) -> float:
        """The number of a name."""
        found = self.values.get(name)
        if found is None:
            parameters = self.system.parameter_values()
            modes = self._modes(name)
            if modes:  # at first all alike, then mixed
                found = modes[(self.shift if self.shift < len(modes) else int(10 * self._number(name))) % len(modes)]
            else:
                found = parameters[name] if name in parameters else self._number(name)
            self.values[name] = found
        return found

    def _modes(self, name: str) -> list[float]:
        """The values that a mode can have; none for other names."""
        owner, _, word = name.rpartition(".")
        part = self.system.components.get(owner)
        if not isinstance(part, Part) or word not in part.modes:
            return []
        roots = [root for root in part.event_functions if root.mode == word]
        return sorted({value for root in roots for value in (root.value, root.then)})

    def _number(self, name: str) -> float:
        """Between 0.5 and 1.5, by the letters of the name."""
        seed = sum((k + 1 + self.shift) * ord(letter) for k, letter in enumerate(name))
        return 0.5 + (seed * 0.618033988749895) % 1.0

    def call(self, table: str, args: tuple[Scalar, ...], axes: tuple[int, ...] = ()) -> Scalar:
        """A table; one of what is not known yet is not affine."""
        if any(isinstance(arg, Affine) for arg in args):
            raise NonlinearError("a table", *args)
        return self.system.callable_tables[table].call(args, axes)

    def coefficient(self, row: NetworkEquation, name: str, order: int) -> float:
        """How a row depends on a derivative of a variable."""
        found = self(row.terms.get((name, order), 0.0))
        if isinstance(row.rest, Expression) and (name, order) in row.rest_orders:
            wanted = rate_name(name, order)
            found += self(row.rest.derivative(wanted)) if wanted in row.rest.names() else 0.0
        if (name, order) in row.through:
            found += -0.3 * self._number(f"{row.said} {name}")
        return found
