"""The next break of expressions of time: their arguments, and a loop that becomes C (``jit/loop/translator.py``).

``simulation/time_events.py`` finds all breaks of a run before it begins.  Exported code knows neither the end of a run
nor its parameters, so that it looks for one break after the other: between two of them an argument is smooth, and
mostly linear.  Arguments come in an order in which each follows those within it: the first crossing of one of these
bounds the interval in which the next is looked at.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kinode.algebra.scalars import Array, Scalar
from kinode.algebra.trace import Tape
from kinode.dynamics.compiled_system import Dynamics
from kinode.expressions.syntax_tree import Expression, walk
from kinode.jit.loop.memory import Floats, Ints, Struct, call, struct
from kinode.jit.program import Block, Program
from kinode.simulation.time_events import SINES, TimeAnalysis, constant_values

DEFAULT_LOOK = 10.0
"""Seconds that are searched at a time where the model names no end of its run."""


@dataclass(frozen=True, eq=False)
class BreakPlan:
    """What the search needs: a program for the arguments, and tables of their levels."""

    program: Program
    numbers: Array
    first_number: Array
    periods: Array
    first_rate: Array
    look: float
    parameters: frozenset[str]
    """The parameters that move breaks."""

    @property
    def count(self) -> int:
        """The number of arguments."""
        return len(self.periods)


def find_break_plan(dynamics: Dynamics) -> BreakPlan | None:
    """The plan of a system; None if no expression of time breaks."""
    system, arguments = dynamics.system, dynamics.arguments
    t0 = float(system.run_defaults.get("t0") or 0.0)
    until = system.run_defaults.get("until")
    look = DEFAULT_LOOK if until is None else max(float(until) - t0, 1e-9)
    analysis = TimeAnalysis(system, constant_values(dynamics, arguments.parameters, arguments.inputs), t0, t0 + look)
    found = sorted(analysis.break_arguments(), key=lambda pair: sum(1 for _ in walk(pair[0])))
    if not found:
        return None
    values, rates, first_rate = [], list[Scalar](), [len(found)]
    tape = Tape()
    evaluate = _Evaluation(dynamics, tape)
    for x, _ in found:
        values.append(evaluate(x))
        for node in walk(x):
            if node.op in SINES and isinstance(node.args[0], Expression):
                rate = node.args[0].derivative("t")
                rates.append(evaluate(rate) if isinstance(rate, Expression) else float(rate))
        first_rate.append(len(found) + len(rates))
    stores = [("out", i, x) for i, x in enumerate([*values, *rates])]
    layout = dynamics.topology.layout
    sizes = {
        "t": 1, "q": 0, "u": 0, "z": 0, "p": len(layout.parameters), "inputs": len(layout.inputs), "x": 0, "work": 0,
        "out": len(stores),
    }  # fmt: skip
    program = Program("break arguments", sizes, {}, [Block(1, {}, [stores])], rare=True)
    levels = [levels for _, levels in found]
    return BreakPlan(
        program, np.concatenate([each.numbers for each in levels]),
        np.cumsum([0, *(len(each.numbers) for each in levels)]), np.array([each.period for each in levels]),
        np.array(first_rate), look, frozenset(evaluate.read),
    )  # fmt: skip


class _Evaluation:
    """Evaluates expressions of time on a tape, and notes the parameters that they read."""

    def __init__(self, dynamics: Dynamics, tape: Tape) -> None:
        layout = dynamics.topology.layout
        self.system, self.tape = dynamics.system, tape
        self.places = {name: ("p", k) for k, name in enumerate(layout.parameters)}
        self.places |= {name: ("inputs", k) for k, name in enumerate(layout.inputs)}
        self.read: set[str] = set()

    def __call__(self, x: Expression) -> Scalar:
        return x.evaluate(self._look_up)

    def _look_up(self, name: str) -> Scalar:
        if name == "t":
            return self.tape.input("t", 0)
        if name in self.places:
            array, k = self.places[name]
            if array == "p":
                self.read.add(name)
            return self.tape.input(array, k)
        given = self.system.parameters[name].value
        return given.evaluate(self._look_up) if isinstance(given, Expression) else float(given)


FIRST, SECOND, LAST = 0.113, 0.371, 0.929  # fractions of an interval, on no regular grid: they tell a line from a wave
LINEAR = 1e-9  # deviation from a line, as a share of the change over an interval
ROUNDING = 16.0 * 2.0**-52  # accuracy of a break, as a share of the largest time
LEAST_CELLS, CELLS_PER_PERIOD, MOST_CELLS = 64, 16.0, 100_000  # of the grid for an argument that is not linear
RATE_SAMPLES = 9  # evaluations of a frequency that may change
BISECTIONS = 60


@struct
class BreakSearch(Struct):
    """The arguments of time at whose levels expressions break; constant, except for work arrays."""

    kernel: int
    """The kernel that gives the arguments, then the rates of the sines in them; 0 for none."""
    count: int
    numbers: Floats
    """The levels of all arguments, one after the other."""
    first_number: Ints
    """For each argument: where its levels begin; then where the last ones end."""
    periods: Floats
    """For each argument: the distance at which its levels repeat; infinite if they do not."""
    first_rate: Ints
    """For each argument: where the rates of its sines begin in the result; then where the last ones end."""
    look: float
    """Seconds that are searched at a time."""
    time: Floats
    p: Floats
    inputs: Floats
    empty: Floats
    """For arguments of the kernel that it does not read."""
    work: Floats
    out: Floats


def evaluate_arguments(search: BreakSearch, t: float) -> None:
    """All arguments, and the rates of their sines, at a time."""
    search.time[0] = t
    call(
        search.kernel, search.time, search.empty, search.empty, search.empty, search.p, search.inputs, search.empty,
        search.work, search.out,
    )  # fmt: skip


def argument_at(search: BreakSearch, k: int, t: float) -> float:
    """One argument at a time."""
    evaluate_arguments(search, t)
    return search.out[k]


def level_beyond(search: BreakSearch, k: int, value: float, upward: bool) -> float:
    """The first level of an argument strictly above a value, or below it; infinite if there is none."""
    first, stop, period, numbers = search.first_number[k], search.first_number[k + 1], search.periods[k], search.numbers
    best = math.inf if upward else -math.inf
    shift = 0.0
    if math.isfinite(period) and stop > first:
        shift = period * float(math.floor((value - numbers[first]) / period))
    for turn in range(-1, 2):
        offset = shift + float(turn) * period if math.isfinite(period) else 0.0
        for j in range(first, stop):
            level = numbers[j] + offset
            if upward and level > value:
                best = min(best, level)
            if not upward and level < value:
                best = max(best, level)
    return best


def cross_linear(search: BreakSearch, k: int, t: float, end: float, value: float, rate: float) -> float:
    """The first time after t at which a linear argument crosses a level; ``value`` is that at t."""
    margin = ROUNDING * max(abs(t), abs(end))
    at = t
    level = value
    while True:
        level = level_beyond(search, k, level, rate > 0.0)
        if not math.isfinite(level):
            return math.inf
        at = t + (level - value) / rate
        if at > t + margin:
            return at


def fastest_sine(search: BreakSearch, k: int, t: float, end: float) -> float:
    """The largest rate of the sines in an argument, in rad/s."""
    fastest = 0.0
    for i in range(RATE_SAMPLES):
        evaluate_arguments(search, t + (end - t) * float(i) / float(RATE_SAMPLES - 1))
        for j in range(search.first_rate[k], search.first_rate[k + 1]):
            fastest = max(fastest, abs(search.out[j]))
    return fastest


def bisect_crossing(search: BreakSearch, k: int, before: float, after: float, level: float, rises: bool) -> float:
    """The time between two others at which an argument crosses a level."""
    for _ in range(BISECTIONS):
        middle = 0.5 * (before + after)
        value = argument_at(search, k, middle)
        beyond = value >= level if rises else value <= level
        if beyond:
            after = middle
        else:
            before = middle
    return after


def cross_curved(search: BreakSearch, k: int, t: float, end: float) -> float:
    """The first time at which an argument that is not linear crosses a level, by bisection between points of a grid."""
    wanted = max(float(LEAST_CELLS), CELLS_PER_PERIOD * (end - t) * fastest_sine(search, k, t, end) / (2.0 * math.pi))
    cells = int(min(wanted, float(MOST_CELLS))) + 1
    length = end - t
    before = t + 1e-12 * length
    value = argument_at(search, k, before)
    for i in range(1, cells + 1):
        after = t + length * (float(i) / float(cells) if i < cells else 1.0 - 1e-12)
        next_value = argument_at(search, k, after)
        rises = next_value > value
        level = level_beyond(search, k, value, rises)
        inside = math.isfinite(level) and (level <= next_value if rises else level >= next_value)
        if next_value != value and inside:
            return bisect_crossing(search, k, before, after, level, rises)
        before = after
        value = next_value
    return math.inf


def first_crossing(search: BreakSearch, k: int, t: float, end: float) -> float:
    """The first time after t, up to an end, at which an argument crosses a level; infinite if it crosses none."""
    length = end - t
    first, second = argument_at(search, k, t + FIRST * length), argument_at(search, k, t + SECOND * length)
    middle, last = argument_at(search, k, t + 0.5 * length), argument_at(search, k, t + LAST * length)
    if not math.isfinite(first + second + middle + last):
        return math.inf
    slope = (last - first) / (LAST - FIRST)
    tolerance = LINEAR * abs(slope) + 4.0 * ROUNDING * max(abs(first), abs(last))
    bent = max(abs(second - first - (SECOND - FIRST) * slope), abs(middle - first - (0.5 - FIRST) * slope))
    if bent > tolerance:
        return cross_curved(search, k, t, end)
    rate = slope / length
    if rate == 0.0:
        return math.inf
    return cross_linear(search, k, t, end, middle - 0.5 * slope, rate)


def next_break(search: BreakSearch, t: float, until: float) -> float:
    """The first break after t; infinite if there is none up to a time.

    With an infinite ``until`` it looks some way ahead, and gives the end of that way where it finds none: the caller
    then asks again from there.
    """
    if search.count == 0:
        return math.inf
    begin = t
    while begin < until:
        end = min(until, begin + search.look)
        for k in range(search.count):
            at = first_crossing(search, k, begin, end)
            if begin < at < end:
                end = at
        if end < min(until, begin + search.look) or not math.isfinite(until):
            return end
        begin = end
    return math.inf
