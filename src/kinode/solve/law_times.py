"""How fast laws of time change: what is shorter than a step must not be stepped over.

A method with step control looks at a law at a few times within a step.  A pulse between two of them leaves no trace,
and a switch that goes there and back within a step is not seen to move.  Laws are expressions, so that their jumps and
corners can be found: where the two sides of a comparison, a least or a greatest value meet, and once in each period of
a ``floor``; in models with events sines count too.  A step is at most half as long as the shortest time between those
of one law, and an eighth of a period.  Arguments that depend on more than time are left to the error control.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from kinode.algebra.expression_tree import walk
from kinode.algebra.expressions import Expression
from kinode.algebra.scalars import Array
from kinode.codegen.dynamics import Dynamics
from kinode.model.checks import laws_of
from kinode.model.system import System

MOST_STEPS = 1e6  # that laws of time may ask for
MEETING = frozenset({"less", "less_equal", "equal", "min", "max"})
TURNING = frozenset({"abs", "sign"})
SWINGING = frozenset({"sin", "cos"})
LOOKS = 9  # at a rate that may change: of a chirp
TURNS = 3  # of a period that are looked at


def find_longest_step(dynamics: Dynamics, p: Array, inputs: Array, t0: float, t1: float) -> float:
    """The longest step that sees all that laws of time do between two times; infinite where nothing is short."""
    system, topology = dynamics.system, dynamics.topology
    given = dict(zip((*topology.parameters, *topology.inputs), (*p, *inputs), strict=True))
    clock = _Clock(system, given, t0, t1)
    longest = math.inf
    for component in system.components.values():
        for _, law in laws_of(component):
            longest = min(longest, clock.longest(law, swings=topology.events is not None))
    return max(longest, (t1 - t0) / MOST_STEPS) if t1 > t0 else math.inf


@dataclass(frozen=True, eq=False)
class _Clock:
    """The values that names in laws of time have."""

    system: System
    given: Mapping[str, float]
    t0: float
    t1: float

    def longest(self, law: Expression, swings: bool) -> float:
        """Half of the shortest time between jumps and corners of a law, and an eighth of its shortest period."""
        if "t" not in law.names():
            return math.inf
        longest, times = math.inf, [self.t0, self.t1]
        for node in walk(law):  # arguments before what uses them
            if node.op == "floor" or (swings and node.op in SWINGING):
                turn = 1.0 if node.op == "floor" else 2.0 * math.pi
                fastest = self._fastest(node.args[0])
                longest = min(longest, 0.125 * turn / fastest if fastest > 0.0 else math.inf)
                times += self._turns(node.args[0], fastest) if node.op == "floor" else []
            elif node.op in MEETING or node.op in TURNING:
                times += self._meetings(node.args[0], node.args[1] if node.op in MEETING else 0.0, times)
        inside = np.unique(np.round([t for t in times[2:] if self.t0 <= t <= self.t1], 12))
        return float(min([longest, *(0.5 * np.diff(inside))]))

    def _fastest(self, x: object) -> float:
        """How fast an argument changes at most; 0 where it depends on more than time."""
        if not isinstance(x, Expression) or not self._timely(x):
            return 0.0
        return max(abs(value) for value in self._values(x.derivative("t"), np.linspace(self.t0, self.t1, LOOKS)))

    def _turns(self, x: Expression, fastest: float) -> list[float]:
        """The first whole numbers that an argument passes."""
        if fastest == 0.0:
            return []
        now, rate = (next(self._values(y, (self.t0,))) for y in (x, x.derivative("t")))
        left = math.floor(now) + 1.0 - now if rate > 0.0 else now - math.floor(now)
        return [self.t0 + (left + k) / fastest for k in range(TURNS)]

    def _meetings(self, a: object, b: object, known: Sequence[float]) -> list[float]:
        """When two sides are equal: between corners that are known already each is linear in time, or left alone."""
        apart = a - b  # type: ignore[operator]
        if not isinstance(apart, Expression) or not self._timely(apart):
            return []
        rate, found = apart.derivative("t"), []
        for low, high in pairwise(sorted(t for t in set(known) if self.t0 <= t <= self.t1)):
            places = (low + 0.3 * (high - low), low + 0.8 * (high - low))
            one, two = self._values(rate, places)
            if one != 0.0 and abs(one - two) <= 1e-9 * abs(one):
                meeting = places[0] - next(self._values(apart, places)) / one
                found += [meeting] if low <= meeting <= high else []
        return found

    def _timely(self, x: Expression) -> bool:
        """Whether a value depends on time, and on nothing else that changes."""
        return "t" in x.names() and self._known(x) and not x.calls()

    def _known(self, x: Expression) -> bool:
        return all(name == "t" or name in self.given or name in self.system.parameters for name in x.names())

    def _values(self, x: Expression | float, times: Sequence[float] | Array) -> Iterator[float]:
        for t in times:
            yield float(x.evaluate(partial(self._lookup, float(t)))) if isinstance(x, Expression) else x

    def _lookup(self, t: float, name: str) -> float:
        if name == "t":
            return t
        if name in self.given:
            return float(self.given[name])
        value = self.system.parameters[name].value
        return float(value.evaluate(partial(self._lookup, t))) if isinstance(value, Expression) else value
