"""Event functions as the integrator loops see them: which are active, which trigger, which are armed.

Evaluating all of them takes as long as a rate or longer, since what holds a stuck joint follows from the accelerations.
While things slide, or move within their play, the state alone tells that nothing is near: the cheap event functions.
"""

from __future__ import annotations

import math

from kinode.jit.pointers import Floats
from kinode.ode.loops.loop_primitives import law_time, run_kernel
from kinode.ode.loops.run_memory import RunMemory

ZERO = 1e-9  # of an event function, which is divided by a natural scale
NEAR = 0.5  # of the least value seen: a parabola that goes lower is looked at more closely
BENT = 0.25  # of the largest value seen: steps do not grow where a function is bent by more, and shrink by twice that
SMALL = 1e-2  # of its natural scale: what a function does below that is not taken for a bend


def evaluate(run: RunMemory, t: float, y: Floats) -> None:
    """All event functions and their rates at a state."""
    run_kernel(run, run.events.functions, law_time(run, t), y, run.model.x, run.events.g)


def is_active(run: RunMemory, k: int, y: Floats) -> bool:
    """Whether the mode of an event function has its value in a state."""
    at = run.events.modes[k]
    return at < 0 or y[at] == run.events.values[k]


def triggers(run: RunMemory, k: int, y: Floats) -> bool:
    """Whether an event function, as it was evaluated last, triggers."""
    return _is_over(run, k) and is_active(run, k, y)


def _is_over(run: RunMemory, k: int) -> bool:
    g = run.events.g
    sure = run.events.armed[k] != 0 or g[run.events.count + k] < 0.0
    return g[k] < (0.0 if sure else -ZERO)


def any_triggers(run: RunMemory) -> bool:
    """Whether any of the active event functions triggers."""
    g, active, some = run.events.g, run.events.active, False
    for i in range(run.events.n_active):
        some = some or (g[active[i]] < 0.0 and _is_over(run, active[i]))
    return some


def mark_triggered(run: RunMemory, y: Floats) -> None:
    """Note which event functions trigger, as they were evaluated last."""
    triggered = run.events.triggered
    for k in range(run.events.count):
        triggered[k] = int(triggers(run, k, y))


def arm(run: RunMemory) -> None:
    """Arm what is active and clearly positive, as it was evaluated last."""
    g, armed, active = run.events.g, run.events.armed, run.events.active
    for i in range(run.events.n_active):
        k = active[i]
        if g[k] > ZERO:
            armed[k] = 1


def keep(run: RunMemory, kept: Floats) -> None:
    """Remember the event functions as they were evaluated last."""
    g = run.events.g
    for k in range(run.events.count):
        kept[k] = g[k]


def recall(run: RunMemory) -> None:
    """Go back to the event functions at the start of the step."""
    g, kept = run.events.g, run.events.g_before
    for k in range(run.events.count):
        g[k] = kept[k]


def may_dip(run: RunMemory) -> bool:
    """Whether an active function may have been negative between its start, middle and end, where it is positive.

    A parabola through the three tells: it has its least value in between, and that is far below what was seen.
    """
    before, half, g = run.events.g_before, run.events.g_half, run.events.g
    active, some = run.events.active, False
    for i in range(run.events.n_active):
        k = active[i]
        slope = 4.0 * half[k] - 3.0 * before[k] - g[k]
        if slope < 0.0:
            bend = 2.0 * (before[k] - 2.0 * half[k] + g[k])
            if -slope < 2.0 * bend:
                lowest = before[k] - 0.25 * slope * slope / bend
                some = some or lowest < NEAR * min(before[k], half[k], g[k])
    return some


def find_growth(run: RunMemory) -> float:
    """How much longer the next step may be, for the active event functions that the state does not tell.

    While everything is locked the state does not change, and its error allows steps of any length: what pulls then is
    seen by these functions alone, and those that are bent by much of themselves within a step are seen too seldom.
    """
    before, half, g = run.events.g_before, run.events.g_half, run.events.g
    of_state, active, growth = run.events.of_state, run.events.active, math.inf
    for i in range(run.events.n_active):
        k = active[i]
        if of_state[k] == 0:
            bend, size = abs(before[k] - 2.0 * half[k] + g[k]), max(abs(before[k]), abs(half[k]), abs(g[k]), SMALL)
            suited = 1.0 if bend > BENT * size else 2.0
            growth = min(growth, 0.5 if bend > 2.0 * BENT * size else suited)
    return growth


def first_triggering(run: RunMemory, y: Floats) -> int:
    """The first event function that triggers, as they were evaluated last; 0 if none does."""
    for k in range(run.events.count):
        if triggers(run, k, y):
            return k
    return 0


def find_active(run: RunMemory, y: Floats) -> None:
    """List the event functions that are active in a state: that stays as it is until an event or a tick."""
    events = run.events
    active, of_state, n_active, n_costly = events.active, events.of_state, 0, 0
    for k in range(events.count):
        if is_active(run, k, y):
            active[n_active] = k
            n_active += 1
            n_costly += int(events.cheap == 0 or of_state[k] == 0)
    events.n_active = n_active
    events.n_costly = n_costly


def is_clear(run: RunMemory, t: float, y: Floats) -> bool:
    """Whether the state alone tells that all active functions are clearly positive; they are armed then."""
    events = run.events
    if events.n_costly != 0:
        return False
    g, armed, active = events.g, events.armed, events.active
    if events.n_active != 0:
        run_kernel(run, events.cheap, law_time(run, t), y, run.model.x, g)
    for i in range(events.n_active):
        if not g[active[i]] > ZERO:
            return False
    for i in range(events.n_active):
        armed[active[i]] = 1
    return True


def check_events(run: RunMemory) -> int:
    """For a solver beyond the loop: 1 if an event function triggers in ``state.y_new`` at ``step.t_new``, else 0.

    Those that do are marked; if none does, what is clearly positive is armed.
    """
    t, y = run.step.t_new, run.state.y_new
    if run.events.count == 0 or is_clear(run, t, y):
        return 0
    evaluate(run, t, y)
    if any_triggers(run):
        mark_triggered(run, y)
        return 1
    arm(run)
    return 0


def check_between(run: RunMemory) -> int:
    """For a solver beyond the loop: 1 if event functions at three places of a step leave it open what was between."""
    return int(may_dip(run) or find_growth(run) < 1.0)
