"""When laws of time jump or have a corner: steps end there, and the method begins anew.

A method with step control looks at a law at a few times within a step.  A pulse between two of them leaves no trace,
a jump costs many steps that are rejected, and a switch that goes there and back is not seen to move.  Laws are
expressions, so that their breaks are known beforehand: where the two sides of a comparison, a least or a greatest
value meet, where a sign changes, a ``floor`` passes a whole number, or a table one of its lines.  Between the breaks of
an argument it is mostly linear in time, and its own breaks are exact; where it is not they are looked for on a grid,
fine enough for the sines in it.  Arguments that depend on more than time are left to the error control, with steps of
at most an eighth of a period where what comes again and again is compared with them: a pulse whose width is a signal.
In models with events sines count likewise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import ModelError
from kinode.expressions.syntax_tree import Expression, walk
from kinode.model.base.events import EventTable
from kinode.model.system import System
from kinode.model.system_checks import laws_of

MOST_BREAKS = 10_000_000
LONGEST_SHARE = 1e-6  # of a run: shorter steps are not asked for by sines
MEETING = frozenset({"less", "less_equal", "equal", "min", "max"})
TURNING = frozenset({"abs", "sign"})
SWINGING = frozenset({"sin", "cos"})
PROBES = (0.113, 0.371, 0.5, 0.929)  # of a piece: places on no grid, where a line is told from what swings
LOOKS = 9  # at a rate that may change: of a chirp
PIECES = 64  # at least, in which breaks are looked for where an argument is not linear
SHARES = 16  # of a period of a sine: pieces there
HALVES = 60  # of a piece, until a break in it is known
ROUNDING = 16.0 * float(np.finfo(float).eps)  # of the time: breaks are known so well
ARRAYS: dict[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "neg": np.negative, "inv": np.reciprocal, "pow": np.power,
    "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos,
    "atan": np.arctan, "atan2": np.arctan2, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "exp": np.exp,
    "log": np.log, "abs": np.abs, "sign": np.sign, "min": np.minimum, "max": np.maximum, "floor": np.floor,
    "less": np.less, "less_equal": np.less_equal, "equal": np.equal,
    "where": lambda c, a, b: np.where(c != 0, a, b),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class LawTimes:
    """What laws of time ask of the steps of a run."""

    breaks: Array = field(default_factory=lambda: np.zeros(0))
    """Times at which a step ends, in order."""
    margin: float = 0.0
    """How well they are known: laws are not looked at nearer to them."""
    longest: float = math.inf
    """The longest step."""


def find_law_times(dynamics: Dynamics, p: Array, inputs: Array, t0: float, t1: float) -> LawTimes:
    """The breaks of all laws of time between two times, and the longest step that sees their swings."""
    if not t1 > t0:
        return LawTimes()
    system, topology = dynamics.system, dynamics.topology
    clock = _Clock(system, _given(dynamics, p, inputs), t0, t1)
    longest, found = math.inf, list[Array]()
    for component in system.components.values():
        for name, law in laws_of(component):
            whole = clock.whole(law)
            if whole is None:
                continue
            try:
                found.append(clock.breaks(whole))
            except _TooManyError as error:
                message = f"changes {error.count:.1e} times from {t0:g} to {t1:g} s, and only {MOST_BREAKS:.0e} changes"
                message += " can be followed: simulate a shorter time, or describe its mean"
                raise ModelError(message, component=component.name, field=name) from None
            longest = min(longest, 0.125 * clock.shortest(whole, swings=topology.events is not None))
    longest = max(longest, LONGEST_SHARE * (t1 - t0))
    margin = ROUNDING * max(abs(t0), abs(t1))
    found = [times for times in found if times.size]
    return LawTimes(_joined(found, margin, topology.events), margin, longest) if found else LawTimes(longest=longest)


def find_fastest_swing(dynamics: Dynamics, p: Array, inputs: Array, t0: float, t1: float) -> tuple[float, str]:
    """The shortest period of the sines in laws of time, and whose law it is; infinite if there are none."""
    clock = _Clock(dynamics.system, _given(dynamics, p, inputs), t0, t1)
    found = [(math.inf, "")]
    for component in dynamics.system.components.values():
        for name, law in laws_of(component):
            whole = clock.whole(law)
            swings = () if whole is None else _swings(whole)
            found += [(clock.period(node.args[0]), f"{component.name}.{name}") for node in swings]
    return min(found)


def _given(dynamics: Dynamics, p: Array, inputs: Array) -> dict[str, float]:
    topology = dynamics.topology
    return dict(zip((*topology.parameters, *topology.inputs), map(float, (*p, *inputs)), strict=True))


def _joined(found: list[Array], margin: float, events: EventTable | None) -> Array:
    """All breaks in order, once; those on a tick are at the tick to the last bit.  Each law has the ends of the run."""
    breaks = np.unique(np.concatenate(found))
    for end in (breaks[0], breaks[-1]):
        breaks[abs(breaks - end) <= margin] = end
    if events is not None and events.samplers:
        ticks = np.rint(breaks * float(events.tick.denominator) / float(events.tick.numerator))
        ticks = ticks * float(events.tick.numerator) / float(events.tick.denominator)
        breaks = np.where(abs(breaks - ticks) <= margin, ticks, breaks)
    kept: Array = breaks[np.diff(breaks, prepend=-math.inf) > 2.0 * margin]
    return kept


class _TooManyError(Exception):
    def __init__(self, count: float) -> None:
        self.count = count


def _swings(law: Expression) -> Iterator[Expression]:
    return (node for node in walk(law) if node.op in SWINGING)


@dataclass(frozen=True, eq=False)
class _Levels:
    """Values of an argument at which a function of it has a break: whole numbers, or some numbers in order."""

    some: Array | None = None

    def between(self, low: Array, high: Array) -> tuple[Array, Array]:
        """The first of them, and how many there are from low to high."""
        if self.some is None:
            return np.ceil(low), np.floor(high) - np.ceil(low) + 1.0
        first = np.searchsorted(self.some, low, "left")
        return first.astype(float), (np.searchsorted(self.some, high, "right") - first).astype(float)

    def value(self, index: Array) -> Array:
        return index if self.some is None else self.some[index.astype(np.int64)]


ZERO = _Levels(np.zeros(1))


@dataclass(frozen=True, eq=False)
class _Clock:
    """The values that names in laws of time have."""

    system: System
    given: Mapping[str, float]
    t0: float
    t1: float

    # -- what a law depends on -------------------------------------------------------------------------
    @cached_property
    def _signals(self) -> dict[str, Expression]:
        """Signals that change with time, in terms of time."""
        found: dict[str, Expression] = {}
        waiting = {s.name: s.law for s in self.system.signals.values() if isinstance(s.law, Expression)}
        while True:
            ready = {name: law for name, law in waiting.items() if "t" in law.names() or law.names() & found.keys()}
            ready = {name: law for name, law in ready.items() if not law.names() & (waiting.keys() - {name})}
            if not ready:
                return found
            for name, law in ready.items():
                new = law.substitute(found)
                if isinstance(new, Expression):
                    found[name] = new
                del waiting[name]

    def whole(self, law: Expression) -> Expression | None:
        """A law with its signals written out; None if time is no part of it."""
        names = law.names()
        if "t" not in names and not names & self._signals.keys():
            return None
        new = law.substitute(self._signals) if names & self._signals.keys() else law
        return new if isinstance(new, Expression) else None

    def _timely(self, x: object) -> bool:
        """Whether a value depends on time, and on nothing else that changes."""
        if not isinstance(x, Expression):
            return False
        names, known = x.names(), (self.given, self.system.parameters)
        timed = "t" in names and all(name == "t" or any(name in some for some in known) for name in names)
        return timed and all(node.op == "name" or node.op in ARRAYS for node in walk(x))

    def values(self, x: Expression, times: Array) -> Array:
        """The value of an expression at several times."""
        made: dict[int, Array] = {}
        with np.errstate(all="ignore"):
            for node in walk(x):
                if node.op == "name":
                    value = times if node.args[0] == "t" else self._parameter(node.args[0])
                else:
                    value = ARRAYS[node.op](*(made[id(a)] if isinstance(a, Expression) else a for a in node.args))
                made[id(node)] = np.asarray(value, dtype=float)
        return np.broadcast_to(made[id(x)], times.shape)

    def _parameter(self, name: str) -> float:
        if name in self.given:
            return self.given[name]
        value = self.system.parameters[name].value
        return float(value.evaluate(self._parameter)) if isinstance(value, Expression) else float(value)

    def shortest(self, law: Expression, swings: bool) -> float:
        """The shortest period whose parts no step may leave out: of sines, and of what is compared with a state."""
        found = [self.period(node.args[0]) for node in _swings(law)] if swings else []
        for node in walk(law):
            for x, _ in self._breaking(node):
                if isinstance(x, Expression) and not self._timely(x):
                    floors = (inner.args[0] for inner in walk(x) if inner.op == "floor")
                    found += [self.period(turns, 1.0) for turns in floors]
        return min(found, default=math.inf)

    def period(self, x: object, turn: float = 2.0 * math.pi) -> float:
        """The shortest time in which an argument goes on by a turn; infinite where it depends on more than time."""
        if not isinstance(x, Expression) or not self._timely(x):
            return math.inf
        rate = x.derivative("t")
        looks = self.values(rate, np.linspace(self.t0, self.t1, LOOKS)) if isinstance(rate, Expression) else rate
        fastest = float(np.max(np.abs(looks)))
        return turn / fastest if fastest > 0.0 else math.inf

    # -- breaks ------------------------------------------------------------------------------------------
    def breaks(self, law: Expression) -> Array:
        """Times at which parts of a law jump or have a corner."""
        times = np.zeros(0)
        for node in walk(law):  # arguments before what uses them
            for x, levels in self._breaking(node):
                if isinstance(x, Expression) and self._timely(x):
                    found = self._crossings(x, levels, times)
                    found = found[(found >= self.t0) & (found <= self.t1)]
                    times = np.unique(np.concatenate([[self.t0, self.t1], times, found]))
                    if times.size > MOST_BREAKS:
                        raise _TooManyError(times.size)
        return times

    def _breaking(self, node: Expression) -> Iterator[tuple[object, _Levels]]:
        """The arguments of an operation that it breaks at, with the values of them."""
        if node.op == "floor":
            yield node.args[0], _Levels()
        elif node.op in MEETING:
            yield node.args[0] - node.args[1], ZERO
        elif node.op in TURNING:
            yield node.args[0], ZERO
        elif node.op in ("call", "call_derivative"):
            table = self.system.tables.get(node.args[0])
            for axis, x in enumerate(node.args[1 if node.op == "call" else 2 :]):
                yield x, _Levels(np.array(table.corners(axis) if table is not None else ()))

    def _crossings(self, x: Expression, levels: _Levels, known: Array) -> Array:
        """When an argument passes any of some values, its own breaks being known."""
        inside = known[(known > self.t0) & (known < self.t1)]
        edges = np.unique(np.concatenate([[self.t0], inside, [self.t1]]))
        low, long = edges[:-1], np.diff(edges)
        first, beside, half, last = (self.values(x, low + share * long) for share in PROBES)
        slope = (last - first) / (PROBES[3] - PROBES[0])
        near = 1e-9 * abs(slope) + 4.0 * ROUNDING * np.maximum(abs(first), abs(last))
        finite = np.isfinite(first + beside + half + last)
        straight = abs(beside - first - (PROBES[1] - PROBES[0]) * slope) <= near
        straight = finite & straight & (abs(half - first - (PROBES[2] - PROBES[0]) * slope) <= near)
        bent = np.flatnonzero(finite & ~straight)
        rate = slope / long
        keep = straight & (rate != 0.0)
        found = self._straight((low + 0.5 * long)[keep], long[keep], half[keep], rate[keep], levels)
        return np.concatenate([found, *(self._bent(x, float(low[k]), float(long[k]), levels) for k in bent)])

    def _straight(self, middle: Array, long: Array, value: Array, rate: Array, levels: _Levels) -> Array:
        """The same in pieces in which it is linear, from its value and rate in the middle of each."""
        half = abs(rate) * (0.5 * long + ROUNDING * max(abs(self.t0), abs(self.t1)))
        piece, level = _spread(levels, value - half, value + half)
        found: Array = middle[piece] + (level - value[piece]) / rate[piece]
        return found

    def _bent(self, x: Expression, low: float, long: float, levels: _Levels) -> Array:
        """The same in a piece in which it is not, between places of a grid."""
        shortest = min((self.period(node.args[0]) for node in _swings(x)), default=math.inf)
        count = max(float(PIECES), SHARES * long / shortest)
        if count > MOST_BREAKS:
            raise _TooManyError(count)
        grid = low + long * np.linspace(1e-12, 1.0 - 1e-12, math.ceil(count) + 1)
        at = self.values(x, grid)
        piece, level = _spread(levels, np.minimum(at[:-1], at[1:]), np.maximum(at[:-1], at[1:]))
        before, after, above = grid[piece], grid[piece + 1], at[piece] > level
        for _ in range(HALVES if len(piece) else 0):
            middle = 0.5 * (before + after)
            first = (self.values(x, middle) > level) == above
            before, after = np.where(first, middle, before), np.where(first, after, middle)
        found: Array = after
        return found


def _spread(levels: _Levels, low: Array, high: Array) -> tuple[Array, Array]:
    """Of each level that lies in one of some ranges: the range, and the level."""
    first, count = levels.between(low, high)
    count = np.where(np.isfinite(count), np.maximum(count, 0.0), 0.0)
    if count.sum() > MOST_BREAKS:
        raise _TooManyError(float(count.sum()))
    whole = count.astype(np.int64)
    piece = np.repeat(np.arange(len(whole)), whole)
    start = np.cumsum(whole) - whole
    return piece, levels.value(first[piece] + (np.arange(len(piece)) - start[piece]))
