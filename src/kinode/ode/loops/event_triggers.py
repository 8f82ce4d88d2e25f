"""Event functions in the integrator loops: which are active, which trigger, which are armed.

Evaluating all of them takes as long as a rate or longer, since the locking force of a sticking joint follows from the
accelerations. The cheap event functions depend on the state alone; they suffice while all joints slide or move within
their play, and no threshold is near.
"""

from __future__ import annotations

import math

from kinode.jit.loop.memory import Floats
from kinode.ode.loops.courses import change_inputs, follow_courses
from kinode.ode.loops.loop_primitives import call_kernel, law_time, run_kernel
from kinode.ode.loops.run_memory import RunMemory

# Event functions are divided by a natural scale, so that these numbers have no unit.
ZERO_LEVEL = 1e-9  # a function within it counts as zero
DIP_SHARE = 0.5  # share of the smallest of three values: where a parabola goes lower, the step is sampled
MAX_BEND = 0.25  # curvature as a share of the largest of three values: beyond it steps do not grow, beyond twice shrink
MIN_SIZE = 1e-2  # smaller functions are not checked for curvature


def evaluate(run: RunMemory, t: float, y: Floats) -> None:
    """All event functions and their time derivatives at a state."""
    run_kernel(run, run.events.functions, law_time(run, t), y, run.model.x, run.events.g)
    if run.courses.count != 0:
        _add_input_rates(run, y)


def _add_input_rates(run: RunMemory, y: Floats) -> None:
    """Add what the change of inputs contributes to the time derivatives; the kernel takes inputs for constant."""
    courses, m, g, after = run.courses, run.events.count, run.events.g, run.courses.g
    if change_inputs(courses, courses.look, run.model.inputs) != 0:
        call_kernel(run, run.events.functions, y, run.model.x, after)
        for k in range(m):
            g[m + k] += (after[k] - g[k]) / courses.look
        follow_courses(courses, run.model.time, 1, run.model.inputs)


def is_active(run: RunMemory, k: int, y: Floats) -> bool:
    """Whether the mode of an event function has its value in a state."""
    at = run.events.modes[k]
    return at < 0 or y[at] == run.events.values[k]


def triggers(run: RunMemory, k: int, y: Floats) -> bool:
    """Whether an event function triggers, by the last evaluation."""
    return _is_below(run, k) and is_active(run, k, y)


def _is_below(run: RunMemory, k: int) -> bool:
    """Whether an event function is below its threshold: zero if it is armed or falling, else clearly below zero."""
    g = run.events.g
    at_zero = run.events.armed[k] != 0 or g[run.events.count + k] < 0.0
    return g[k] < (0.0 if at_zero else -ZERO_LEVEL)


def any_triggers(run: RunMemory) -> bool:
    """Whether any of the active event functions triggers."""
    g, active, below = run.events.g, run.events.active, False
    for i in range(run.events.n_active):
        below = below or (g[active[i]] < 0.0 and _is_below(run, active[i]))
    return below


def mark_triggered(run: RunMemory, y: Floats) -> None:
    """Note which event functions trigger, by the last evaluation."""
    triggered = run.events.triggered
    for k in range(run.events.count):
        triggered[k] = int(triggers(run, k, y))


def arm(run: RunMemory) -> None:
    """Arm the active functions that are clearly positive, by the last evaluation."""
    g, armed, active = run.events.g, run.events.armed, run.events.active
    for i in range(run.events.n_active):
        k = active[i]
        if g[k] > ZERO_LEVEL:
            armed[k] = 1


def store_values(run: RunMemory, values: Floats) -> None:
    """Store the event functions of the last evaluation."""
    g = run.events.g
    for k in range(run.events.count):
        values[k] = g[k]


def restore_values(run: RunMemory) -> None:
    """Go back to the event functions at the start of the step."""
    g, values = run.events.g, run.events.g_before
    for k in range(run.events.count):
        g[k] = values[k]


def find_dip(run: RunMemory) -> float:
    """The share of the step at which an active function without bounds may have been negative; 0 if there is none.

    The criterion is a parabola through its values at start, middle and end: its minimum lies within the step, and far
    below them. Of several functions the lowest counts.
    """
    before, half, g = run.events.g_before, run.events.g_half, run.events.g
    active, covered, share, deepest = run.events.active, run.bounds.covered, 0.0, math.inf
    for i in range(run.events.n_active):
        k = active[i]
        if covered[k] != 0:
            continue
        slope = 4.0 * half[k] - 3.0 * before[k] - g[k]
        if slope < 0.0:
            bend = 2.0 * (before[k] - 2.0 * half[k] + g[k])
            if -slope < 2.0 * bend:
                lowest = before[k] - 0.25 * slope * slope / bend
                if lowest < DIP_SHARE * min(before[k], half[k], g[k]) and lowest < deepest:
                    share, deepest = -0.5 * slope / bend, lowest
    return share


def find_growth(run: RunMemory) -> float:
    """The factor by which the next step may be longer, for the active functions that need accelerations.

    While everything is locked the state does not change, and its error allows steps of any length. Then only these
    functions see the changing loads; where one is strongly curved within a step, it is sampled too seldom.
    """
    before, half, g = run.events.g_before, run.events.g_half, run.events.g
    of_state, active, growth = run.events.of_state, run.events.active, math.inf
    for i in range(run.events.n_active):
        k = active[i]
        if of_state[k] == 0:
            bend, size = abs(before[k] - 2.0 * half[k] + g[k]), max(abs(before[k]), abs(half[k]), abs(g[k]), MIN_SIZE)
            at_most = 1.0 if bend > MAX_BEND * size else 2.0
            growth = min(growth, 0.5 if bend > 2.0 * MAX_BEND * size else at_most)
    return growth


def first_triggering(run: RunMemory, y: Floats) -> int:
    """The first event function that triggers, by the last evaluation; 0 if none does."""
    for k in range(run.events.count):
        if triggers(run, k, y):
            return k
    return 0


def find_active(run: RunMemory, y: Floats) -> None:
    """List the event functions that are active in a state; the list is valid until an event or a tick."""
    events = run.events
    active, of_state, n_active, n_costly = events.active, events.of_state, 0, 0
    for k in range(events.count):
        if is_active(run, k, y):
            active[n_active] = k
            n_active += 1
            n_costly += int(events.cheap == 0 or of_state[k] == 0)
    run.bounds.functions_settled, run.bounds.wait = 0, 0
    events.n_active = n_active
    events.n_costly = n_costly


def is_clear(run: RunMemory, t: float, y: Floats) -> bool:
    """Whether the cheap functions show that all active functions are clearly positive; they are armed then."""
    events = run.events
    if events.n_costly != 0:
        return False
    g, armed, active = events.g, events.armed, events.active
    if events.n_active != 0:
        run_kernel(run, events.cheap, law_time(run, t), y, run.model.x, g)
    for i in range(events.n_active):
        if not g[active[i]] > ZERO_LEVEL:
            return False
    for i in range(events.n_active):
        armed[active[i]] = 1
    return True
