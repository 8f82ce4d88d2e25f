"""Time events: the times at which expressions of time jump or have a corner (their breaks).

Steps end at breaks, and the method starts anew there.  Without them a method with step control, which evaluates an
expression at a few times within a step, would miss a pulse between two of them, reject many steps at a jump, and miss
a switch that moves there and back.

Breaks follow from the expressions before the run.  They are where the two sides of a comparison, of ``min`` or of
``max`` meet, where a sign changes, where a ``floor`` passes an integer, or a table one of its grid lines.  The argument
of such a function is mostly linear in time between breaks of its own; then the times are exact.  Otherwise they are
bracketed on a grid, fine enough for the sines in the argument, and bisected.

Arguments that depend on more than time are left to the error control.  Where a periodic expression is compared with
one, as for a pulse whose width is a signal, steps are at most an eighth of its period.  The same bound holds for sines
in models with events.  In others steps are at most half the period of a sine of time.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from kinode.algebra.scalars import ARRAY_FUNCTIONS, OPERATIONS, Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import ModelError
from kinode.expressions.definitions import write_out
from kinode.expressions.syntax_tree import Expression, walk
from kinode.model.base.events import EventTable
from kinode.model.base.parameters import Signal
from kinode.model.system import System
from kinode.model.system_checks import laws_of
from kinode.ode.input_table import CourseTable, Inputs, split_inputs

MAX_BREAKS = 10_000_000  # of one expression in one run


class TooManyBreaksError(Exception):
    """An expression has more breaks than can be followed."""

    def __init__(self, count: float) -> None:
        self.count = count


@dataclass(frozen=True, eq=False)
class Levels:
    """Values of an argument at which a function of it breaks: sorted numbers, again in each period if there is one."""

    numbers: Array
    period: float = math.inf

    def between(self, low: Array, high: Array) -> tuple[Array, Array]:
        """The index of the first level from low to high, and how many there are."""
        first = self._count_below(low, "left")
        return first, self._count_below(high, "right") - first

    def _count_below(self, x: Array, side: Literal["left", "right"]) -> Array:
        """The number of levels below x, counted from the first number; with the side "right", also one at x."""
        if not len(self.numbers) or not math.isfinite(self.period):
            turns = np.zeros_like(x)
        else:
            turns = np.floor((x - self.numbers[0]) / self.period)
            x = x - turns * self.period
        count: Array = turns * len(self.numbers) + np.searchsorted(self.numbers, x, side)
        return count

    def value(self, index: Array) -> Array:
        turns = np.floor(index / len(self.numbers))
        numbers = self.numbers[(index - turns * len(self.numbers)).astype(np.int64)]
        values: Array = numbers + turns * self.period if math.isfinite(self.period) else numbers
        return values


ZERO = Levels(np.zeros(1))
INTEGERS = Levels(np.zeros(1), 1.0)


def find_levels(levels: Levels, low: Array, high: Array) -> tuple[Array, Array]:
    """All levels in some ranges: for each the index of its range, and its value."""
    first, count = levels.between(low, high)
    count = np.where(np.isfinite(count), np.maximum(count, 0.0), 0.0)
    if count.sum() > MAX_BREAKS:
        raise TooManyBreaksError(float(count.sum()))
    counts = count.astype(np.int64)
    interval = np.repeat(np.arange(len(counts)), counts)
    start = np.cumsum(counts) - counts
    return interval, levels.value(first[interval] + (np.arange(len(interval)) - start[interval]))


MOST_KEPT_BREAKS = 100_000  # of a search that is kept for other runs
MOST_KEPT_SEARCHES = 16  # of a compiled system
STEPS_PER_PERIOD = 8  # at least, where a period bounds the steps
STEPS_PER_SINE = 2  # at least, in every period of a sine: its stages do not all fall on zeros
MIN_STEP_SHARE = 1e-6  # share of the run: a period does not ask for shorter steps
SINES = frozenset({"sin", "cos"})
PROBES = (0.113, 0.371, 0.5, 0.929)  # fractions of an interval, on no regular grid: they tell a line from a wave
LINEAR_TOLERANCE = 1e-9  # deviation from a line, as a share of the change over an interval
RATE_SAMPLES = 9  # evaluations of a frequency that may change, as of a chirp
MIN_INTERVALS = 64  # of the grid on which crossings of a nonlinear argument are bracketed
INTERVALS_PER_PERIOD = 16  # of that grid, for each period of the fastest sine
BISECTIONS = 60  # of an interval with a crossing, down to rounding
TIME_ROUNDING = 16.0 * float(np.finfo(float).eps)  # accuracy of a break, as a share of the largest time


@dataclass(frozen=True, eq=False)
class LawTimes:
    """Bounds that expressions of time set on the steps of a run."""

    breaks: Array = field(default_factory=lambda: np.zeros(0))
    """Times in s at which a step ends, in order."""
    margin: float = 0.0
    """Accuracy of the breaks in s: expressions are not evaluated nearer to them."""
    longest: float = math.inf
    """The longest step in s."""


NO_TIMES = LawTimes()  # of a system without expressions of time


@dataclass(frozen=True, eq=False)
class _Search:
    """A search over a run, with the parameters and inputs that it read: with their values any search ends alike."""

    span: tuple[float, float] | None
    """Start and end in s; None where there are no expressions of time."""
    read: Mapping[str, float]
    courses: CourseTable | None
    times: LawTimes

    def serves(self, span: tuple[float, float], courses: CourseTable | None) -> bool:
        """Whether it is a search over that run, with those courses of inputs."""
        return self.courses is courses and (self.span is None or self.span == span)

    def holds(self, constants: Mapping[str, float]) -> bool:
        """Whether what it read has those values, so that a search over the same run would find the same."""
        return all(constants[name] == value for name, value in self.read.items())


def _find_searches(dynamics: Dynamics) -> tuple[_Search, ...]:
    """The last searches of a system."""
    last: tuple[_Search, ...] = dynamics.arguments.derived.get("searches", ())
    return last


def find_law_times(
    dynamics: Dynamics, p: Array, inputs: Inputs, t0: float, t1: float
) -> LawTimes:  # fmt: skip
    """The breaks of all expressions of time from t0 to t1, and the longest step that resolves their periods.

    Those of inputs that change with time are among them.  They are searched for once for the values of what these
    expressions name, whatever the other parameters are.
    """
    if not t1 > t0:
        return LawTimes()
    searches, courses = _find_searches(dynamics), split_inputs(inputs)[1]
    similar = [search for search in searches if search.serves((t0, t1), courses)]
    if similar and not similar[0].read:  # whatever the values are
        return similar[0].times
    constants = constant_values(dynamics, p, inputs)
    for search in similar:
        if search.holds(constants):
            return search.times
    analysis = TimeAnalysis(dynamics.system, constants, t0, t1)
    times = _search(dynamics, analysis, courses)
    if times.breaks.size <= MOST_KEPT_BREAKS:
        new = _Search(None if times is NO_TIMES else (t0, t1), analysis.read, courses, times)
        dynamics.arguments.derived["searches"] = (new, *searches[: MOST_KEPT_SEARCHES - 1])
    return times


def find_common_times(
    dynamics: Dynamics, p: Array, inputs: Inputs, t0: float, t1: float, varying: Collection[str]
) -> LawTimes | None:  # fmt: skip
    """The same for all runs in which parameters and inputs of some names vary; None where they may differ."""
    times = find_law_times(dynamics, p, inputs, t0, t1)
    if not t1 > t0:
        return times
    search = next((each for each in _find_searches(dynamics) if each.times is times), None)
    return times if search is not None and search.read.keys().isdisjoint(varying) else None


def _search(dynamics: Dynamics, analysis: TimeAnalysis, courses: CourseTable | None) -> LawTimes:
    """The breaks and the longest step, from the expressions themselves and from the courses of inputs."""
    system, topology, t0, t1 = dynamics.system, dynamics.topology, analysis.t0, analysis.t1
    longest, breaks_by_law, of_time_laws = math.inf, list[Array](), 0
    for component in system.components.values():
        for name, law in laws_of(component):
            if not analysis.passes(law):
                continue
            of_time_laws += 1
            try:
                breaks_by_law.append(analysis.find_breaks(law))
            except TooManyBreaksError as error:
                message = f"changes {error.count:.1e} times from {t0:g} to {t1:g} s, and only {MAX_BREAKS:.0e} changes"
                message += " can be followed: simulate a shorter time, or describe its mean"
                raise ModelError(message, component=component.name, field=name) from None
            shortest = analysis.shortest_period(law, with_sines=topology.events is not None)
            longest = min(longest, shortest / STEPS_PER_PERIOD, analysis.shortest_sine(law) / STEPS_PER_SINE)
    if courses is not None:
        breaks_by_law.append(courses.breaks(t0, t1))
        longest = min(longest, courses.longest)
    elif of_time_laws == 0:
        return NO_TIMES
    longest = max(longest, MIN_STEP_SHARE * (t1 - t0))
    margin = TIME_ROUNDING * max(abs(t0), abs(t1))
    breaks_by_law = [times for times in breaks_by_law if times.size]
    if not breaks_by_law:
        return LawTimes(longest=longest)
    return LawTimes(_join(breaks_by_law, margin, topology.events), margin, longest)


def find_shortest_sine(
    dynamics: Dynamics, p: Array, inputs: Inputs, t0: float, t1: float
) -> tuple[float, str]:  # fmt: skip
    """The shortest period in s of the sines in expressions of time, and its field; infinite if there are none."""
    analysis = TimeAnalysis(dynamics.system, constant_values(dynamics, p, inputs), t0, t1)
    periods = [(math.inf, "")]
    for component in dynamics.system.components.values():
        for name, law in laws_of(component):
            sines = _find_sines(law) if analysis.passes(law) else ()
            periods += [(analysis.period(node.args[0]), f"{component.name}.{name}") for node in sines]
    return min(periods)


def constant_values(dynamics: Dynamics, p: Array, inputs: Inputs) -> dict[str, float]:
    """Parameters, and inputs that do not change, by name."""
    topology, (row, courses) = dynamics.topology, split_inputs(inputs)
    values = dict(zip((*topology.parameters, *topology.inputs), (*p.tolist(), *row.tolist()), strict=True))
    for k in () if courses is None else courses.entries:
        del values[topology.inputs[k]]
    return values


def _join(breaks_by_law: list[Array], margin: float, events: EventTable | None) -> Array:
    """All breaks in order, each once; the ends of the run are among them.

    A break on a clock tick gets the tick's time to the last bit.
    """
    breaks = np.unique(np.concatenate(breaks_by_law))
    for end in (breaks[0], breaks[-1]):
        breaks[abs(breaks - end) <= margin] = end
    if events is not None and events.samplers:
        ticks = np.rint(breaks * float(events.tick.denominator) / float(events.tick.numerator))
        ticks = ticks * float(events.tick.numerator) / float(events.tick.denominator)
        breaks = np.where(abs(breaks - ticks) <= margin, ticks, breaks)
    distinct: Array = breaks[np.diff(breaks, prepend=-math.inf) > 2.0 * margin]
    return distinct


def _find_sines(law: Expression) -> Iterator[Expression]:
    return (node for node in walk(law) if node.op in SINES)


@dataclass(frozen=True, eq=False)
class TimeAnalysis:
    """Evaluates expressions of time over a run, and finds their periods and breaks."""

    system: System
    constants: Mapping[str, float]
    t0: float
    t1: float
    read: dict[str, float] = field(default_factory=dict)
    """The constants that were read."""

    # -- dependence on time ----------------------------------------------------------------------------
    @cached_property
    def _laws(self) -> dict[str, Expression | float]:
        """The laws of all signals, with other signals substituted; each after those that it uses."""
        return write_out({signal.name: signal.law for signal in self.system.signals.values()})

    @cached_property
    def _passing(self) -> frozenset[str]:
        """The names that depend on time: t, and the signals that use it, also through other signals."""
        passing = {"t"}
        for name in self._laws:
            law = self.system.signals[name].law
            if isinstance(law, Expression) and law.names() & passing:
                passing.add(name)
        return frozenset(passing)

    @cached_property
    def _signal_breaks(self) -> dict[str, Array]:
        """The breaks of the signals that depend on time."""
        breaks: dict[str, Array] = {}
        for name in self._laws:
            law = self.system.signals[name].law
            if name in self._passing and isinstance(law, Expression):
                breaks[name] = self._find_breaks(law, breaks)
        return breaks

    def passes(self, law: Expression) -> bool:
        """Whether an expression depends on time."""
        return bool(law.names() & self._passing)

    def _written_out(self, x: object) -> object:
        """A part of an expression with its signals substituted."""
        return x.substitute(self._laws) if isinstance(x, Expression) and x.names() & self._laws.keys() else x

    def _is_of_time_alone(self, x: object) -> bool:
        """Whether a value depends on time, and on nothing else that changes."""
        if not isinstance(x, Expression):
            return False
        names, constants = x.names(), (self.constants, self.system.parameters)
        of_time = "t" in names and all(name == "t" or any(name in each for each in constants) for name in names)
        return of_time and all(node.op == "name" or node.op in ARRAY_FUNCTIONS for node in walk(x))

    def values(self, x: Expression, times: Array) -> Array:
        """The value of an expression at several times."""
        values: dict[int, Array] = {}
        with np.errstate(all="ignore"):
            for node in walk(x):
                if node.op == "name":
                    value = times if node.args[0] == "t" else self._parameter(node.args[0])
                else:
                    arguments = (values[id(a)] if isinstance(a, Expression) else a for a in node.args)
                    value = ARRAY_FUNCTIONS[node.op](*arguments)
                values[id(node)] = np.asarray(value, dtype=float)
        return np.broadcast_to(values[id(x)], times.shape)

    def _parameter(self, name: str) -> float:
        if name in self.constants:
            value = self.read[name] = self.constants[name]
            return value
        given = self.system.parameters[name].value
        return float(given.evaluate(self._parameter)) if isinstance(given, Expression) else float(given)

    def shortest_period(self, law: Expression, with_sines: bool) -> float:
        """The shortest period in s that steps have to resolve.

        It is that of sawtooths (``floor``) which are compared with a state, and of sines and of tables that repeat if
        they count.  Signals have periods of their own: only what is compared is looked through.
        """
        periods = [self.shortest_sine(law)] if with_sines else []
        periods += [self.period(x, turn) for x, turn in self._find_repeating(law)] if with_sines else []
        for node in walk(law):
            for argument, _ in self._find_break_arguments(node):
                x = self._written_out(argument)
                if isinstance(x, Expression) and not self._is_of_time_alone(x):
                    floors = (inner.args[0] for inner in walk(x) if inner.op == "floor")
                    periods += [self.period(turns, 1.0) for turns in floors]
        return min(periods, default=math.inf)

    def _find_repeating(self, law: Expression) -> Iterator[tuple[object, float]]:
        """The arguments of tables along axes that repeat, with their periods."""
        for node in walk(law):
            table = self.system.tables.get(node.args[0]) if node.op in ("call", "call_derivative") else None
            if table is not None:
                arguments = enumerate(node.args[1 if node.op == "call" else 2 :])
                yield from ((x, table.period(axis)) for axis, x in arguments if math.isfinite(table.period(axis)))

    def shortest_sine(self, law: Expression) -> float:
        """The shortest period in s of the sines of time alone; infinite if there are none."""
        return min((self.period(node.args[0]) for node in _find_sines(law)), default=math.inf)

    def period(self, x: object, turn: float = 2.0 * math.pi) -> float:
        """The shortest time in s in which an argument grows by a turn; infinite if it depends on more than time."""
        x = self._written_out(x)
        if not isinstance(x, Expression) or not self._is_of_time_alone(x):
            return math.inf
        rate = x.derivative("t")
        rates = self.values(rate, np.linspace(self.t0, self.t1, RATE_SAMPLES)) if isinstance(rate, Expression) else rate
        fastest = float(np.max(np.abs(rates)))
        return turn / fastest if fastest > 0.0 else math.inf

    # -- breaks ------------------------------------------------------------------------------------------
    def find_breaks(self, law: Expression) -> Array:
        """Times at which a part of an expression jumps or has a corner, or a signal in it."""
        return self._find_breaks(law, self._signal_breaks)

    def break_arguments(self) -> Iterator[tuple[Expression, Levels]]:
        """All arguments of time alone, signals written out, with the values at which what depends on them breaks."""
        for component in self.system.components.values():
            for _, law in laws_of(component):
                for node in walk(law) if self.passes(law) or isinstance(component, Signal) else ():
                    for argument, levels in self._find_break_arguments(node):
                        x = self._written_out(argument)
                        if isinstance(x, Expression) and self._is_of_time_alone(x):
                            yield x, levels

    def _find_breaks(self, law: Expression, of_signals: Mapping[str, Array]) -> Array:
        inner = [of_signals[name] for name in law.names() if name in of_signals and of_signals[name].size]
        times = np.unique(np.concatenate(inner)) if inner else np.zeros(0)
        for node in walk(law):  # arguments come before the functions of them
            for argument, levels in self._find_break_arguments(node):
                x = self._written_out(argument)
                if isinstance(x, Expression) and self._is_of_time_alone(x):
                    crossings = self._find_crossings(x, levels, times)
                    crossings = crossings[(crossings >= self.t0) & (crossings <= self.t1)]
                    times = np.unique(np.concatenate([[self.t0, self.t1], times, crossings]))
                    if times.size > MAX_BREAKS:
                        raise TooManyBreaksError(times.size)
        return times

    def _find_break_arguments(self, node: Expression) -> Iterator[tuple[object, Levels]]:
        """The arguments at which an operation breaks, with the values at which it does."""
        if node.op == "floor":
            yield node.args[0], INTEGERS
        elif node.op in ("call", "call_derivative"):
            table = self.system.tables.get(node.args[0])
            for axis, x in enumerate(node.args[1 if node.op == "call" else 2 :]):
                if table is not None:
                    yield x, Levels(np.array(table.corners(axis)), table.period(axis))
        elif node.op != "name" and OPERATIONS[node.op].breaks_at:
            yield (node.args[0] if OPERATIONS[node.op].breaks_at == "zero" else node.args[0] - node.args[1]), ZERO

    def _find_crossings(self, x: Expression, levels: Levels, breaks: Array) -> Array:
        """Times at which an argument crosses one of its levels; ``breaks`` are those of the argument itself."""
        inside = breaks[(breaks > self.t0) & (breaks < self.t1)]
        edges = np.unique(np.concatenate([[self.t0], inside, [self.t1]]))
        low, length = edges[:-1], np.diff(edges)
        first, second, middle, last = (self.values(x, low + fraction * length) for fraction in PROBES)
        slope = (last - first) / (PROBES[3] - PROBES[0])
        tolerance = LINEAR_TOLERANCE * abs(slope) + 4.0 * TIME_ROUNDING * np.maximum(abs(first), abs(last))
        finite = np.isfinite(first + second + middle + last)
        linear = abs(second - first - (PROBES[1] - PROBES[0]) * slope) <= tolerance
        linear = finite & linear & (abs(middle - first - (PROBES[2] - PROBES[0]) * slope) <= tolerance)
        curved = np.flatnonzero(finite & ~linear)
        rate = slope / length
        changing = linear & (rate != 0.0)
        centers = (low + 0.5 * length)[changing]
        exact = self._cross_linear(centers, length[changing], middle[changing], rate[changing], levels)
        return np.concatenate(
            [exact, *(self._cross_curved(x, float(low[k]), float(length[k]), levels) for k in curved)]
        )

    def _cross_linear(self, center: Array, length: Array, value: Array, rate: Array, levels: Levels) -> Array:
        """Crossings in intervals in which the argument is linear, from its value and rate at their centers."""
        half = abs(rate) * (0.5 * length + TIME_ROUNDING * max(abs(self.t0), abs(self.t1)))
        interval, level = find_levels(levels, value - half, value + half)
        times: Array = center[interval] + (level - value[interval]) / rate[interval]
        return times

    def _cross_curved(self, x: Expression, low: float, length: float, levels: Levels) -> Array:
        """Crossings in one interval in which the argument is not linear, by bisection between points of a grid."""
        shortest = self.shortest_sine(x)
        count = max(float(MIN_INTERVALS), INTERVALS_PER_PERIOD * length / shortest)
        if count > MAX_BREAKS:
            raise TooManyBreaksError(count)
        grid = low + length * np.linspace(1e-12, 1.0 - 1e-12, math.ceil(count) + 1)
        values = self.values(x, grid)
        interval, level = find_levels(levels, np.minimum(values[:-1], values[1:]), np.maximum(values[:-1], values[1:]))
        before, after, above = grid[interval], grid[interval + 1], values[interval] > level
        for _ in range(BISECTIONS if len(interval) else 0):
            middle = 0.5 * (before + after)
            not_yet = (self.values(x, middle) > level) == above
            before, after = np.where(not_yet, middle, before), np.where(not_yet, after, middle)
        times: Array = after
        return times
