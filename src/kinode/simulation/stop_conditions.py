"""Runs that end when a condition becomes true; the time is found to rounding.

The run is integrated in pieces of some hundred steps.  After each piece the condition is evaluated at every step and
at three times between two steps, with states from a cubic through the states and their time derivatives.  A step in
which it is false at all of these, but could be true between them by its bounds (watched_laws.py), is sampled ever
closer.  Where the condition has become true, bisection finds the time; it integrates anew from the step before.  Where
an event makes it true, the time of the event counts.  A condition that is true at the start must become false first.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import ArgumentError
from kinode.expressions.parser import parse
from kinode.expressions.syntax_tree import Expression
from kinode.kernels.kernel_options import BoundOptions, Kernel
from kinode.kernels.state import State
from kinode.model.base.fields import short
from kinode.model.quantities import find_quantity
from kinode.ode.endings import Ending, EndKind
from kinode.ode.input_table import Inputs, split_inputs
from kinode.ode.solution import OdeSolution
from kinode.simulation.column_values import StartColumns
from kinode.simulation.solver import Solver, StateHistory, compute_motion, to_motion
from kinode.simulation.watched_laws import NONE, complete, find_paths

FIRST_PIECE_STEPS, LONGEST_PIECE_STEPS = 64, 4096
CLOSE_SAMPLES, MAX_CLOSER = 65, 8  # of a step that may hide a hit, and how often a part of it is sampled anew
MAX_DRIVEN_TIMES, CLOSER_TIMES = 200_000, 33  # of a run without states, in all and where something may hide
_STEP_FRACTIONS = (0.0, 0.25, 0.5, 0.75)  # of a step, at which the condition is evaluated

Hit = tuple[float, Array]
"""Time in s and state vector at which the condition becomes true."""


class Condition:
    """A stop condition: true where its expression is positive.  A comparison becomes the difference of its sides."""

    def __init__(self, dynamics: Dynamics, text: Any, varying: frozenset[int] = NONE) -> None:
        text = text.text() if isinstance(text, Expression) else text
        if not isinstance(text, str):
            raise ArgumentError(
                f"stop_when: an expression as text is expected, such as 'elbow.q > 1', not {short(text)}"
            )
        law = parse(text, dynamics.system.call_counts())
        if not isinstance(law, Expression):
            raise ArgumentError(f"stop_when: {text!r} never changes")
        for name in sorted(law.names()):
            if find_quantity(dynamics.system, name).size != ():
                raise ArgumentError(f"stop_when: {name} has several components; name one")
        if law.op in ("less", "less_equal"):
            law = law.args[1] - law.args[0]
        self.dynamics, self.text = dynamics, text
        self.law = written = law.text() if isinstance(law, Expression) else repr(law)
        self.kernel, self.bounded = (
            Kernel("law", (written,)),
            complete(dynamics, BoundOptions((written,)), varying=varying),
        )

    def __call__(self, t: Array, y: Array, p: Array, inputs: Inputs) -> Array:
        """The value of the expression at each of some states, one in each line of y."""
        return self.dynamics.kernels.call(self.kernel, self.dynamics.point_of(t, y, p, inputs))[:, 0]


def run_until(
    solver: Solver, start: State, until: float, output_times: Array | None, text: str,
    on_progress: Callable[[float], bool] | None,
) -> StateHistory:  # fmt: skip
    """The motion until the condition becomes true or the run reaches its end."""
    courses = split_inputs(solver.inputs)[1]
    condition = Condition(solver.dynamics, text, NONE if courses is None else courses.entries)
    if solver.kernel.n_y == 0:
        return _run_driven(solver, start, until, output_times, condition)
    t, y, piece_steps, step, tick = start.t, start.y, FIRST_PIECE_STEPS, None, None
    pieces: list[OdeSolution] = []
    armed = not condition(np.array([t]), y[None], solver.p, solver.inputs)[0] > 0
    try:
        while True:
            piece = _run_piece(solver, t, y, until, piece_steps, step, tick, on_progress)
            pieces.append(piece)
            hit, armed = _find_hit(solver, condition, piece, armed)
            if hit is not None:
                return _finish(solver, start, pieces, hit, output_times, text)
            piece_done = piece.ending.kind is EndKind.DONE and piece.t_end < until
            if piece.ending.kind is not EndKind.TOO_MANY_STEPS and not piece_done:
                break
            t, y, step, tick = piece.t_end, piece.y_end, piece.next_step, piece.next_tick
            piece_steps = min(2 * piece_steps, LONGEST_PIECE_STEPS)
    except KeyboardInterrupt:
        if not pieces:
            raise
        pieces[-1] = replace(pieces[-1], ending=EndKind.INTERRUPTED.at(pieces[-1].t_end))
    whole = _join(pieces)
    if output_times is not None and whole.ending.kind is EndKind.DONE:
        whole = solver.run(start.y, start.t, until, output_times, on_progress=on_progress)
        return to_motion(solver, whole, output_times)
    return to_motion(solver, whole)


def run_until_with_columns(
    solver: Solver, columns: StartColumns, start: State, until: float, times: Array | None, text: str,
    on_progress: Callable[[float], bool] | None,
) -> StateHistory:  # fmt: skip
    """The motion with derivatives, up to where its condition becomes true in the motion without, by the solver."""
    stopped = run_until(solver, start, until, times, text, on_progress)
    by_condition = stopped.ending.kind is EndKind.CONDITION
    motion = compute_motion(
        solver.dynamics, start, stopped.t_end if by_condition else until, columns=columns, options=solver.options,
        times=np.unique(stopped.t) if by_condition and times is not None else times, p=solver.p, inputs=solver.inputs,
        on_progress=on_progress,
    )  # fmt: skip
    return replace(motion, ending=stopped.ending) if by_condition and not motion.ending.failed else motion


def _run_piece(
    solver: Solver, t: float, y: Array, until: float, steps: int, first_step: float | None, tick: int | None,
    on_progress: Callable[[float], bool] | None,
) -> OdeSolution:  # fmt: skip
    """One piece of the run: so many steps, or up to its end."""
    if solver.options.step is not None:
        end = t + steps * solver.options.step
        end = until if end > until - 0.5 * solver.options.step else end
        return solver.run(y, t, end, on_progress=on_progress, first_tick=tick)
    return solver.run(y, t, until, on_progress=on_progress, max_steps=steps, first_step=first_step, first_tick=tick)


def _find_hit(solver: Solver, condition: Condition, piece: OdeSolution, armed: bool) -> tuple[Hit | None, bool]:
    """Where the condition became true in this piece, or None; and whether it is armed for the next piece."""
    hit: Hit | None
    t, y, possible = _refine(solver, condition, piece)
    true = condition(t, y, solver.p, solver.inputs) > 0
    rising = true & ~np.concatenate([[not armed], true[:-1]])
    rises = np.flatnonzero(rising | _find_hiding(piece, true, possible))
    for k in (int(rise) for rise in rises):
        if not true[k]:
            hit = _search_closely(solver, condition, piece, k // len(_STEP_FRACTIONS))
            if hit is not None:
                return hit, True
            continue
        i = max(0, k - 1) // len(_STEP_FRACTIONS)
        if i + 1 < len(piece.t) and piece.t[i] == piece.t[i + 1]:  # an event reset the state between them
            hit = float(piece.t[i + 1]), piece.y[i + 1]
            hit = hit if _is_true(solver, condition, *hit) else None
        else:
            hit = _bisect(solver, condition, (float(piece.t[i]), piece.y[i]), float(t[max(0, k - 1)]), float(t[k]))
        if hit is not None:
            return hit, True
    return None, armed or not true.all()


def _find_hiding(piece: OdeSolution, true: Array, possible: Array) -> Array:
    """The first samples of steps in which the condition is false at all samples and may be true between them."""
    hiding = np.zeros(len(true), dtype=bool)
    samples = len(_STEP_FRACTIONS) * np.arange(len(possible))
    if len(possible):
        seen = np.add.reduceat(true, samples)[: len(possible)] > 0
        hiding[samples] = possible & ~seen & (np.diff(piece.t) > 0.0)
    return hiding


def _search_closely(solver: Solver, condition: Condition, piece: OdeSolution, i: int) -> Hit | None:
    """Where the condition becomes true within a step that hides it, from samples of the motion, ever closer."""
    begin = float(piece.t[i]), piece.y[i]
    (low, state), high = begin, float(piece.t[i + 1])
    for _ in range(MAX_CLOSER):
        times = np.linspace(low, high, CLOSE_SAMPLES)[1:]
        if not low < times[0] < times[-1]:
            return None
        samples = _samples(solver, begin, times)
        t, y = np.append(low, samples.t), np.vstack([state, samples.y])
        true = condition(t, y, solver.p, solver.inputs) > 0
        if true[1:].any():
            k = int(np.argmax(true[1:])) + 1
            return _bisect(solver, condition, begin, float(t[k - 1]), float(t[k]))
        possible = np.flatnonzero(_find_possible(solver, condition, t, y))
        if not len(possible):
            return None
        low, state, high = float(t[possible[0]]), y[possible[0]], float(t[possible[-1] + 1])
    return None


def _samples(solver: Solver, begin: Hit, times: Array) -> OdeSolution:
    """The motion at some times, integrated from a state."""
    t0, y0 = begin
    events = solver.kernel.events
    tick = None if events is None else events.first_tick(math.nextafter(t0, math.inf))
    return solver.run(y0, t0, float(times[-1]), times, first_tick=tick)


def _rates(solver: Solver, t: Array, y: Array) -> tuple[Array, Array]:
    """Time derivatives of the state after the start and before the end of each step."""
    margin = solver.breaks["margin"]  # expressions of time may jump at the ends of a step
    before = solver.dynamics.rate(t[:-1] + margin, y[:-1], p=solver.p, inputs=solver.inputs)
    return before, solver.dynamics.rate(t[1:] - margin, y[1:], p=solver.p, inputs=solver.inputs)


def _find_possible(
    solver: Solver, condition: Condition, t: Array, y: Array, rates: tuple[Array, Array] | None = None
) -> Array:
    """For each step, whether bounds leave it possible that the condition is true within it."""
    if condition.bounded is None:
        return np.zeros(len(t) - 1, dtype=bool)
    margin, rates = solver.breaks["margin"], rates or _rates(solver, t, y)
    steps = t[:-1] + margin, t[1:] - margin, y
    paths = find_paths(condition.dynamics, condition.bounded, steps, rates, solver.p, solver.inputs)
    return paths.find_possible()


def _refine(solver: Solver, condition: Condition, piece: OdeSolution) -> tuple[Array, Array, Array]:
    """Times and states of the steps, with three between each two by cubics; and which steps may hide something.

    Discrete states stay constant in a step.
    """
    t, y, events = piece.t, piece.y, solver.kernel.events
    if len(t) < 2:
        return t, y, np.zeros(0, dtype=bool)
    n_continuous = y.shape[1] - (0 if events is None else events.n_discrete)
    before, after = rates = _rates(solver, t, y)
    h = np.diff(t)[:, None]
    times, states = [], []
    for s in _STEP_FRACTIONS:
        times.append(t[:-1] + s * h[:, 0])
        a, b, c, d = (1 + 2 * s) * (1 - s) ** 2, s * (1 - s) ** 2, s * s * (3 - 2 * s), s * s * (s - 1)
        states.append(a * y[:-1] + b * h * before + c * y[1:] + d * h * after)
        states[-1][:, n_continuous:] = y[:-1, n_continuous:]
    all_t = np.append(np.stack(times, axis=1).ravel(), t[-1])
    all_y = np.concatenate([np.stack(states, axis=1).reshape(-1, y.shape[1]), y[-1:]])
    return all_t, all_y, _find_possible(solver, condition, t, y, rates)


def _bisect(solver: Solver, condition: Condition, begin: Hit, low: float, high: float) -> Hit | None:
    """The first time at which the condition is true, to rounding, and the state there; None if ``high`` is false."""
    t0, y0 = begin
    state = _state_at(solver, t0, y0, high)
    if not _is_true(solver, condition, high, state):  # the cubic was wrong: the step's end decides
        return None
    while high - low > 4e-16 * max(1.0, abs(high)) and low < (middle := 0.5 * (low + high)) < high:
        between = _state_at(solver, t0, y0, middle)
        if _is_true(solver, condition, middle, between):
            high, state = middle, between
        else:
            low = middle
        if high - low < 1e-13 * max(1.0, abs(high)):
            break
    return high, state


def _state_at(solver: Solver, t0: float, y0: Array, t: float) -> Array:
    """The state at t, integrated from (t0, y0)."""
    events = solver.kernel.events
    tick = None if events is None else events.first_tick(math.nextafter(t0, math.inf))
    return y0 if t == t0 else solver.run(y0, t0, t, np.array([t]), first_tick=tick).y_end


def _is_true(solver: Solver, condition: Condition, t: float, y: Array) -> bool:
    return bool(condition(np.array([t]), y[None], solver.p, solver.inputs)[0] > 0)


def _join(pieces: list[OdeSolution]) -> OdeSolution:
    """The pieces of a run as one solution."""
    samples = [(pieces[0].t, pieces[0].y)]
    for piece, following in pairwise(pieces):
        repeated = int(np.array_equal(piece.y[-1:], following.y[:1]))  # 0 where a clock tick changed the state
        samples.append((following.t[repeated:], following.y[repeated:]))
    t, y = (np.concatenate(arrays) for arrays in zip(*samples, strict=True))
    return replace(
        pieces[-1], t=t, y=y, steps=sum(piece.steps for piece in pieces),
        evaluations=sum(piece.evaluations for piece in pieces),
        events=tuple(fired for piece in pieces for fired in piece.events),
        passes=tuple(singular_pass for piece in pieces for singular_pass in piece.passes),
    )  # fmt: skip


def _finish(
    solver: Solver, start: State, pieces: list[OdeSolution], hit: Hit, output_times: Array | None, text: str
) -> StateHistory:
    """The run up to the hit: its own steps, or the requested times.  The hit itself is the last sample."""
    t_hit, state = hit
    if output_times is None:
        whole = _join(pieces)
    else:
        whole = solver.run(start.y, start.t, t_hit, output_times[output_times < t_hit])
    before = whole.t < t_hit
    motion = to_motion(solver, whole)
    return replace(
        motion, t=np.append(whole.t[before], t_hit), y=np.vstack([whole.y[before], state]), t_end=t_hit, y_end=state,
        passes=tuple(singular_pass for singular_pass in whole.passes if singular_pass.t <= t_hit),
        fired=tuple(fired for fired in whole.events if fired[0] <= t_hit),
        ending=_became_true(text, t_hit),
    )  # fmt: skip


def _run_driven(
    solver: Solver, start: State, until: float, output_times: Array | None, condition: Condition
) -> StateHistory:
    """The run of a system without states: the condition is a function of time."""
    times = np.linspace(start.t, until, 1000) if output_times is None else output_times
    fine = np.unique(np.concatenate([times, np.linspace(start.t, until, 4001)]))
    for _ in range(MAX_CLOSER):
        rises = _find_rises(solver, condition, fine)
        before = fine if not len(rises) else fine[: rises[0] + 1]  # up to where it is known to become true
        hiding = _find_possible(solver, condition, before, np.zeros((len(before), 0)))
        if not hiding.any() or len(fine) > MAX_DRIVEN_TIMES:
            break
        between = np.linspace(before[:-1][hiding], before[1:][hiding], CLOSER_TIMES)
        fine = np.unique(np.concatenate([fine, between.ravel()]))
    rises = _find_rises(solver, condition, fine)
    solution = solver.run(start.y, start.t, until, times)
    if not len(rises):
        return to_motion(solver, solution, times)
    hit = _bisect(solver, condition, (start.t, start.y), float(fine[rises[0]]), float(fine[rises[0] + 1]))
    assert hit is not None and math.isfinite(hit[0])
    t = np.append(times[times < hit[0]], hit[0])
    motion = to_motion(solver, solution, t)
    return replace(motion, ending=_became_true(condition.text, hit[0]))


def _find_rises(solver: Solver, condition: Condition, times: Array) -> Array:
    """The indices of the times after which the condition of a system without states becomes true."""
    true = condition(times, np.zeros((len(times), 0)), solver.p, solver.inputs) > 0
    rises: Array = np.flatnonzero(true[1:] & ~true[:-1])
    return rises


def _became_true(text: str, t: float) -> Ending:
    return EndKind.CONDITION.at(t, law=text)
