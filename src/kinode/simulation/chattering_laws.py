"""Finds the law that chatters: one that jumps where the motion is driven back to the jump from both sides.

Such a motion slides along the surface x = 0 of a comparison or a sign (Filippov), while the method of integration jumps
from one side to the other, in steps that shrink to nothing.  Near the state of a run that hardly advances, a step ahead
changes the sign of x, and from there the next one leads back.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kinode.algebra.scalars import Array, apply
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import Error
from kinode.expressions.syntax_tree import Expression, walk
from kinode.model.system_checks import laws_of
from kinode.multibody.snapshot import Snapshot
from kinode.ode.runs.input_table import Inputs

COMPARISONS = frozenset({"less", "less_equal", "equal"})
MOST_TRIALS = 60  # steps of growing length in which the sign has to change
GROWTH = 2.0
FIRST_SHARE = 1e-6  # of the longest step: the shortest one that is tried


@dataclass(frozen=True)
class ChatteringLaw:
    """A law that chatters: its component, field and text, and the expression at whose zero it jumps."""

    component: str
    field: str
    text: str
    jump: str

    @property
    def name(self) -> str:
        """Component and field."""
        return f"{self.component}.{self.field}"

    def __str__(self) -> str:
        motion = f"{self.jump} is driven back to zero from both sides"
        advice = (
            "give the jump a width, as tanh(x/width) for sign(x), or a hysteresis (relay); dry friction is friction="
        )
        return f"{self.name}, {self.text}, switches without end: {motion}; {advice}"


def find_chattering(
    dynamics: Dynamics, t: float, y: Array, p: Array, inputs: Inputs, longest: float
) -> ChatteringLaw | None:
    """The law that chatters at a state; ``longest`` is the time in s within which it switches."""
    jumps = list(_find_jumps(dynamics))
    if not jumps or not longest > 0:
        return None
    with np.errstate(all="ignore"):
        try:
            return next((law for law, x in jumps if _slides(_Rates(dynamics, t, p, inputs), x, y, longest)), None)
        except (Error, ArithmeticError, ValueError):  # no value beside the state: not the place to complain
            return None


def _find_jumps(dynamics: Dynamics) -> Iterator[tuple[ChatteringLaw, Expression]]:
    """The laws that jump at states, with the expressions that are zero there."""
    system = dynamics.system
    constants = {"t", *system.parameters, *system.inputs}
    for component in system.components.values():
        for field, law in laws_of(component):
            own = component.own(field, law)
            for node in walk(own) if isinstance(own, Expression) else ():
                x = _jump_of(node)
                if isinstance(x, Expression) and x.names() - constants:
                    yield ChatteringLaw(component.name, field, law.excerpt(), x.excerpt()), x


def _jump_of(node: Expression) -> object:
    """The expression that is zero where an operation jumps; None for one that does not."""
    if node.op in COMPARISONS:
        return node.args[0] - node.args[1]
    if node.op == "sign":
        return node.args[0]
    if node.op == "floor":
        x = node.args[0]
        return x - apply("floor", x + 0.5)
    return None


@dataclass(frozen=True, eq=False)
class _Rates:
    """A system at one time: expressions at a state, and where the state goes."""

    dynamics: Dynamics
    t: float
    p: Array
    inputs: Inputs

    def value(self, x: Expression, y: Array) -> float:
        point = self.dynamics.point_of(self.t, y, self.p, self.inputs)
        return float(Snapshot(self.dynamics.topology, point).resolve(x))

    def ahead(self, y: Array, h: float) -> Array:
        """The state after a time in s, in a straight line."""
        there: Array = y + h * self.dynamics.rate(self.t, y, p=self.p, inputs=self.inputs)
        return there


def _slides(rates: _Rates, x: Expression, y: Array, longest: float) -> bool:
    """Whether both sides of x = 0 lead back to it, within a time in s."""
    here = rates.value(x, y)
    h = FIRST_SHARE * longest
    for _ in range(MOST_TRIALS):
        there = rates.ahead(y, h)
        value = rates.value(x, there)
        if here * value < 0 or (here == 0 and value != 0):  # across it, or off it
            return math.isfinite(value) and value * (rates.value(x, rates.ahead(there, h)) - value) < 0
        h *= GROWTH
        if h > longest:
            return False
    return False
