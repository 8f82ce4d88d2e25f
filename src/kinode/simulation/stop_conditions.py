"""Runs that end when a condition becomes true, found to rounding on the motion itself.

The run is made in parts of some hundred steps.  After each part the condition is looked at on every step and on
three places between (a cubic through the states and rates); where it has become true, the time is found by
bisection, integrating anew from the step before; where it becomes true by an event, that is the time.  A condition
that is true at the start must become false first.
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
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.state import State
from kinode.model.base.fields import short
from kinode.model.quantity_names import find_quantity
from kinode.ode.ending import Ending, EndKind, interrupted_at
from kinode.ode.solution import OdeSolution
from kinode.simulation.solver import Solver, StateHistory, to_motion

FIRST_PART, LONGEST_PART = 64, 4096
_BETWEEN = (0.0, 0.25, 0.5, 0.75)

Hit = tuple[float, Array]


class Condition:
    """A law that is met where it is positive; a comparison is turned into the difference of its sides."""

    def __init__(self, dynamics: Dynamics, text: Any) -> None:
        text = text.text() if isinstance(text, Expression) else text
        if not isinstance(text, str):
            raise ArgumentError(f"stop_when: a law in text is expected, such as 'elbow.q > 1', not {short(text)}")
        law = parse(text, dynamics.system.call_counts())
        if not isinstance(law, Expression):
            raise ArgumentError(f"stop_when: {text!r} never changes")
        for name in sorted(law.names()):
            if find_quantity(dynamics.system, name).size != ():
                raise ArgumentError(f"stop_when: {name} has several parts; name one")
        if law.op in ("less", "less_equal"):
            law = law.args[1] - law.args[0]
        self.dynamics, self.text = dynamics, text
        self.kernel = Kernel("law", (law.text() if isinstance(law, Expression) else repr(law),))

    def __call__(self, t: Array, y: Array, p: Array, inputs: Array) -> Array:
        """The value of the law at states in rows."""
        return self.dynamics.kernels.call(self.kernel, self.dynamics.point_of(t, y, p, inputs))[:, 0]


def run_until(
    solver: Solver, start: State, until: float, asked: Array | None, text: str,
    on_progress: Callable[[float], bool] | None,
) -> StateHistory:  # fmt: skip
    """The motion until the condition becomes true or the time is over."""
    condition = Condition(solver.dynamics, text)
    if solver.kernel.n_y == 0:
        return _driven(solver, start, until, asked, condition)
    t, y, part, step, tick = start.t, start.y, FIRST_PART, None, None
    kept: list[OdeSolution] = []
    armed = not condition(np.array([t]), y[None], solver.p, solver.inputs)[0] > 0
    try:
        while True:
            found = _run_part(solver, t, y, until, part, step, tick, on_progress)
            kept.append(found)
            hit, armed = _find_hit(solver, condition, found, armed)
            if hit is not None:
                return _finish(solver, start, kept, hit, asked, text)
            part_done = found.ending.kind is EndKind.DONE and found.t_end < until
            if found.ending.kind is not EndKind.TOO_MANY_STEPS and not part_done:
                break
            t, y, step, tick = found.t_end, found.y_end, found.next_step, found.next_tick
            part = min(2 * part, LONGEST_PART)
    except KeyboardInterrupt:
        if not kept:
            raise
        kept[-1] = replace(kept[-1], ending=interrupted_at(kept[-1].t_end))
    whole = _joined(kept)
    if asked is not None and whole.ending.kind is EndKind.DONE:
        return to_motion(solver, solver.run(start.y, start.t, until, asked, on_progress=on_progress), asked)
    return to_motion(solver, whole)


def _run_part(
    solver: Solver, t: float, y: Array, until: float, part: int, step: float | None, tick: int | None,
    on_progress: Callable[[float], bool] | None,
) -> OdeSolution:  # fmt: skip
    if solver.options.step is not None:
        end = t + part * solver.options.step
        end = until if end > until - 0.5 * solver.options.step else end
        return solver.run(y, t, end, on_progress=on_progress, first_tick=tick)
    return solver.run(y, t, until, on_progress=on_progress, max_steps=part, first_step=step, first_tick=tick)


def _find_hit(solver: Solver, condition: Condition, found: OdeSolution, armed: bool) -> tuple[Hit | None, bool]:
    """Time and state at which the condition became true in this part, if it did; and whether it can do so next."""
    hit: Hit | None
    t, y = _refined(solver, found)
    true = condition(t, y, solver.p, solver.inputs) > 0
    rises = np.flatnonzero(true & ~np.concatenate([[not armed], true[:-1]]))
    for k in (int(rise) for rise in rises):
        row = max(0, k - 1) // len(_BETWEEN)
        if row + 1 < len(found.t) and found.t[row] == found.t[row + 1]:  # between them something changed at once
            hit = float(found.t[row + 1]), found.y[row + 1]
            hit = hit if _met(solver, condition, *hit) else None
        else:
            hit = _bisect(solver, condition, (float(found.t[row]), found.y[row]), float(t[max(0, k - 1)]), float(t[k]))
        if hit is not None:
            return hit, True
    return None, armed or not true.all()


def _refined(solver: Solver, found: OdeSolution) -> tuple[Array, Array]:
    """The steps of a part with three states between each two, by cubics; what only events change stays as it is."""
    t, y, events = found.t, found.y, solver.kernel.events
    if len(t) < 2:
        return t, y
    moves = y.shape[1] - (0 if events is None else events.n_discrete)
    near = solver.breaks["margin"]  # laws may jump at the ends of a step
    before = solver.dynamics.rate(t[:-1] + near, y[:-1], p=solver.p, inputs=solver.inputs)
    after = solver.dynamics.rate(t[1:] - near, y[1:], p=solver.p, inputs=solver.inputs)
    h = np.diff(t)[:, None]
    times, states = [], []
    for s in _BETWEEN:
        times.append(t[:-1] + s * h[:, 0])
        a, b, c, d = (1 + 2 * s) * (1 - s) ** 2, s * (1 - s) ** 2, s * s * (3 - 2 * s), s * s * (s - 1)
        states.append(a * y[:-1] + b * h * before + c * y[1:] + d * h * after)
        states[-1][:, moves:] = y[:-1, moves:]
    every_t = np.append(np.stack(times, axis=1).ravel(), t[-1])
    every_y = np.concatenate([np.stack(states, axis=1).reshape(-1, y.shape[1]), y[-1:]])
    return every_t, every_y


def _bisect(solver: Solver, condition: Condition, known: Hit, low: float, high: float) -> Hit | None:
    """The first time at which the condition is true, to rounding, with the state there."""
    t0, y0 = known
    state = _state_at(solver, t0, y0, high)
    if not _met(solver, condition, high, state):  # the cubic was wrong: the step's end decides
        return None
    while high - low > 4e-16 * max(1.0, abs(high)) and low < (middle := 0.5 * (low + high)) < high:
        between = _state_at(solver, t0, y0, middle)
        if _met(solver, condition, middle, between):
            high, state = middle, between
        else:
            low = middle
        if high - low < 1e-13 * max(1.0, abs(high)):
            break
    return high, state


def _state_at(solver: Solver, t0: float, y0: Array, t: float) -> Array:
    events = solver.kernel.events
    tick = None if events is None else events.first_tick(math.nextafter(t0, math.inf))
    return y0 if t == t0 else solver.run(y0, t0, t, np.array([t]), first_tick=tick).y_end


def _met(solver: Solver, condition: Condition, t: float, y: Array) -> bool:
    return bool(condition(np.array([t]), y[None], solver.p, solver.inputs)[0] > 0)


def _joined(parts: list[OdeSolution]) -> OdeSolution:
    rows = [(parts[0].t, parts[0].y)]
    for one, two in pairwise(parts):
        again = int(np.array_equal(one.y[-1:], two.y[:1]))  # else a tick changed what the next part began with
        rows.append((two.t[again:], two.y[again:]))
    t, y = (np.concatenate(each) for each in zip(*rows, strict=True))
    return replace(
        parts[-1], t=t, y=y, steps=sum(x.steps for x in parts), evaluations=sum(x.evaluations for x in parts),
        events=tuple(fired for part in parts for fired in part.events),
        passes=tuple(found for part in parts for found in part.passes),
    )  # fmt: skip


def _finish(
    solver: Solver, start: State, kept: list[OdeSolution], hit: Hit, asked: Array | None, text: str
) -> StateHistory:
    """The run up to the hit: its own steps, or the times asked for; the hit itself is the last row."""
    when, state = hit
    if asked is None:
        whole = _joined(kept)
    else:
        wanted = asked[asked < when]
        whole = solver.run(start.y, start.t, when, wanted)
    before = whole.t < when
    motion = to_motion(solver, whole)
    return replace(
        motion, t=np.append(whole.t[before], when), y=np.vstack([whole.y[before], state]), t_end=when, y_end=state,
        passes=tuple(found for found in whole.passes if found.t <= when),
        fired=tuple(fired for fired in whole.events if fired[0] <= when),
        ending=_became_true(text, when),
    )  # fmt: skip


def _driven(solver: Solver, start: State, until: float, asked: Array | None, condition: Condition) -> StateHistory:
    """The same where nothing is integrated: the condition is a function of time."""
    times = np.linspace(start.t, until, 1000) if asked is None else asked
    fine = np.unique(np.concatenate([times, np.linspace(start.t, until, 4001)]))
    true = condition(fine, np.zeros((len(fine), 0)), solver.p, solver.inputs) > 0
    rises = np.flatnonzero(true[1:] & ~true[:-1])
    found = solver.run(start.y, start.t, until, times)
    if not len(rises):
        return to_motion(solver, found, times)
    hit = _bisect(solver, condition, (start.t, start.y), float(fine[rises[0]]), float(fine[rises[0] + 1]))
    assert hit is not None and math.isfinite(hit[0])
    t = np.append(times[times < hit[0]], hit[0])
    motion = to_motion(solver, found, t)
    return replace(motion, ending=_became_true(condition.text, hit[0]))


def _became_true(text: str, t: float) -> Ending:
    return Ending(EndKind.CONDITION, t, f"{text} became true at t = {t:.9g} s")
