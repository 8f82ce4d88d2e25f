"""The expressions of a model at one instant: a value for every expression and every name in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from kinode.algebra.scalars import Array, Scalar, tidy
from kinode.expressions.syntax_tree import Expression
from kinode.model.base.fields import Value
from kinode.structure.evaluation_point import EvaluationPoint
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

    def resolve(self, value: Value, /) -> Scalar:
        """The value of a constant or of an expression."""
        if not isinstance(value, Expression):
            return value
        return value.evaluate(self.lookup, self.call)

    def call(self, table: str, args: tuple[Scalar, ...], axes: tuple[int, ...] = ()) -> Scalar:
        """The value of a lookup table."""
        return self.system.callable_tables[table].call(args, axes)

    def lookup(self, name: str, /) -> Scalar:
        """The value of a name in an expression."""
        value = self._values.get(name)
        if value is None:
            parameter = self.system.parameters.get(name)
            signal = self.system.signals.get(name)
            if parameter is not None:
                value = self.resolve(parameter.value)
            elif signal is not None:
                value = self.resolve(signal.law)
            else:
                value = self._quantity(name)
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
        written = list(laws)
        while any(isinstance(x, Expression) and x.names() & self.system.signals.keys() for x in written):
            signals = {name: signal.law for name, signal in self.system.signals.items()}
            written = [x.substitute(signals) if isinstance(x, Expression) else x for x in written]
        return written


@lru_cache(maxsize=1024)  # expressions outlive the many instants that need their derivatives
def _derivative(value: Value) -> Value:
    return value.derivative("t") if isinstance(value, Expression) else 0.0
