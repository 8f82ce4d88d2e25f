"""The expressions of a model at one instant: a value for every expression and every name in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from kinode.algebra.scalars import Array, Scalar, tidy
from kinode.expressions.definitions import Definitions, write_out
from kinode.expressions.syntax_tree import Expression
from kinode.model.base.fields import Value
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import Topology


class Laws:
    """Evaluates expressions at one instant.

    Names are looked up among time, parameters, inputs and signals; ``quantity`` gives all others, such as
    ``elbow.q``.  Each name is evaluated once.
    """

    def __init__(self, topology: Topology, point: EvaluationPoint, quantity: Callable[[str], Any]) -> None:
        self.system = topology.system
        self.constants: Mapping[str, Scalar] = {
            **dict(zip(topology.parameters, point.p, strict=True)),
            **dict(zip(topology.inputs, point.inputs, strict=True)),
        }  # parameters and inputs, which do not depend on time
        self._values: dict[str, Scalar] = {"t": point.t, **self.constants}
        self._quantity = quantity
        self._definitions = Definitions(self._law_of, self._values)

    def resolve(self, value: Value, /) -> Scalar:
        """The value of a constant or of an expression."""
        if not isinstance(value, Expression):
            return value
        return value.evaluate(self.lookup, self.call, self._definitions)

    def _law_of(self, name: str) -> Value | None:
        """The law of a signal, or the expression of a parameter that depends on others."""
        parameter, signal = self.system.parameters.get(name), self.system.signals.get(name)
        if parameter is not None:
            return parameter.value
        return None if signal is None else signal.law

    def call(self, table: str, args: tuple[Scalar, ...], axes: tuple[int, ...] = ()) -> Scalar:
        """The value of a lookup table."""
        return self.system.callable_tables[table].call(args, axes)

    def lookup(self, name: str, /) -> Scalar:
        """The value of a name in an expression."""
        value = self._values.get(name)
        if value is None:
            law = self._law_of(name)
            value = self._quantity(name) if law is None else self.resolve(law)
            self._values[name] = value
        return value

    def timely(self, laws: Sequence[Value], order: int) -> list[Array]:
        """Expressions of time, with their derivatives up to an order."""
        derivatives = [list(laws)] if order == 0 else [self._written_out(laws)]
        for _ in range(order):
            derivatives.append([_derivative(x) for x in derivatives[-1]])
        return [tidy([self.resolve(x) for x in each]) for each in derivatives]

    def passes(self, law: Value) -> bool:
        """Whether an expression depends on time."""
        return any(isinstance(x, Expression) and "t" in x.names() for x in self._written_out([law]))

    def _written_out(self, laws: Sequence[Value]) -> list[Value]:
        """Expressions with their signals substituted, so that they can be differentiated by t."""
        expressions = [x for x in laws if isinstance(x, Expression)]
        signals = {name: signal.law for name, signal in self.system.signals.items()}
        written = write_out(signals, {name for x in expressions for name in x.names()})
        return [x.substitute(written) if isinstance(x, Expression) else x for x in laws]


@lru_cache(maxsize=1024)  # expressions outlive the many instants that need their derivatives
def _derivative(value: Value) -> Value:
    return value.derivative("t") if isinstance(value, Expression) else 0.0
