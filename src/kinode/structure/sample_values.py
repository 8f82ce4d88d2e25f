"""Sample values for the names in equations, to find singular systems that structure alone does not show."""

from __future__ import annotations

from dataclasses import dataclass, field

from kinode.algebra.affine import Affine, NonlinearError
from kinode.algebra.scalars import Scalar
from kinode.errors import ModelError
from kinode.expressions.equation_parser import rate_name
from kinode.expressions.syntax_tree import Expression
from kinode.model.network.part import Part
from kinode.model.system import System
from kinode.structure.network_records import ExpressionOrNumber, NetworkEquation

LARGEST_VALUE = 1e12  # of a formula at a sample: beyond, it is taken as undefined


@dataclass
class SampleValues:
    """Generic numbers for names, the same in every run; ``shift`` selects one of several samples."""

    system: System
    values: dict[str, float] = field(default_factory=dict)
    shift: int = 0

    def __call__(self, value: ExpressionOrNumber) -> float:
        """A formula at the sample; a generic number where it is undefined or beyond 1e12."""
        if not isinstance(value, Expression):
            return float(value)
        try:
            result = float(value.evaluate(self.lookup, self.call))
        except (ArithmeticError, ValueError, ModelError):
            result = float("nan")
        return result if abs(result) < LARGEST_VALUE else self.lookup(value.text())

    def lookup(self, name: str) -> float:
        """The value of a name: that of a parameter, one of a mode's values, or a generic number."""
        number = self.values.get(name)
        if number is None:
            parameters = self.system.parameter_values()
            modes = self._modes(name)
            if modes:  # the same for all components in the first samples, then mixed
                index = self.shift if self.shift < len(modes) else int(10 * self._number(name))
                number = modes[index % len(modes)]
            else:
                number = parameters[name] if name in parameters else self._number(name)
            self.values[name] = number
        return number

    def _modes(self, name: str) -> list[float]:
        """The values that a mode can have; none for other names."""
        owner, _, mode = name.rpartition(".")
        part = self.system.components.get(owner)
        if not isinstance(part, Part) or mode not in part.modes:
            return []
        roots = [root for root in part.event_functions if root.mode == mode]
        return sorted({value for root in roots for value in (root.value, root.then)})

    def _number(self, name: str) -> float:
        """Between 0.5 and 1.5, by the letters of the name."""
        seed = sum((k + 1 + self.shift) * ord(letter) for k, letter in enumerate(name))
        return 0.5 + (seed * 0.618033988749895) % 1.0

    def call(self, table: str, args: tuple[Scalar, ...], axes: tuple[int, ...] = ()) -> Scalar:
        """The value of a table; NonlinearError where an argument is an unknown."""
        if any(isinstance(arg, Affine) for arg in args):
            raise NonlinearError("a table", *args)
        return self.system.callable_tables[table].call(args, axes)

    def coefficient(self, equation: NetworkEquation, name: str, order: int) -> float:
        """The partial derivative of an equation by a derivative of a variable.

        An indirect dependence counts as a generic number, since its expression is not in the network.
        """
        coefficient = self(equation.terms.get((name, order), 0.0))
        if isinstance(equation.rest, Expression) and (name, order) in equation.rest_orders:
            wanted = rate_name(name, order)
            coefficient += self(equation.rest.derivative(wanted)) if wanted in equation.rest.names() else 0.0
        if (name, order) in equation.indirect:
            coefficient += -0.3 * self._number(f"{equation.label} {name}")
        return coefficient
