"""One step with error control: of explicit Runge-Kutta methods here, of implicit ones in radau_step.py.

The state is projected onto its constraints at the end of a step. Events are found on the accepted step, with both of
its ends and its dense output. A method gives a function that tries a step of some length and returns its error
(``take_step_by``); all else is common to the methods.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from kinode.ode.loops.dense_output import add, combine, table_row
from kinode.ode.loops.event_search import find_event
from kinode.ode.loops.event_triggers import find_growth, restore_values
from kinode.ode.loops.loop_primitives import first_not_finite, normalize, not_finite, project, rate, slope
from kinode.ode.loops.run_codes import SLOW_SHARE, STALL_STEPS, Outcome, Pending
from kinode.ode.loops.run_memory import RunMemory
from kinode.ode.loops.singularity_monitor import begin_monitor, crosses, distance, monitor_step
from kinode.ode.loops.step_bounds import find_hidden, finish_bounds, prepare_bounds
from kinode.ode.loops.stiffness_watch import watch_stiffness

_EPSILON = 2.0**-52
ALLOWED_CORRECTION = 10.0  # tolerances by which the projection onto the constraints may move the end of a step
CLOSED_ROUNDING = 32.0 * _EPSILON  # relative rounding error of a projected state, far from singular positions
CROSSING_TRIES = 8  # step lengths that are tried to cross a singular position
GROWTH_AFTER_EVENT = 10.0  # longest first step after an event, as a multiple of the step that led to it
MAX_REFUSALS = 8  # repetitions of a step in which event functions change too much
REFUSED_FACTOR = 0.25  # length of a repetition, as a share of the step before it
MIN_STEP_SHARE = 1e-12  # share of the time: shortest first step after an event
STALL_SHARE = 1e-6  # of its length: STALL_STEPS that advance a run by less are a stall
SLOW_WINDOWS = 60  # so many of these in a row that advance it by less than SLOW_SHARE: a stall too
MAX_ROUNDING = 1e-3  # relative: a larger error is no rounding
NONFINITE_SPAN = 1e-9  # share of the run in which steps with values that are not finite are counted together
MAX_NONFINITE_STEPS = 1000  # of these


def _error_square(run: RunMemory, h: float, row: int) -> float:
    """Sum of squares of an error estimate relative to the tolerance. Uses ``state.y_stage`` as work array."""
    y, new, atol, estimate = run.state.y, run.state.y_new, run.method.atol, run.state.y_stage
    weights, k, rtol = table_row(run, row), run.state.slopes, run.method.rtol
    a, total = h * weights[0], 0.0
    for i in range(run.model.n_continuous):
        estimate[i] = a * k[i]
    add(run, h, weights, 1, run.method.last + 1, estimate)
    for i in range(run.model.n_continuous):
        estimate[i] /= atol[i] + rtol * max(abs(y[i]), abs(new[i]))
    for i in range(run.model.n_continuous):
        total += estimate[i] * estimate[i]
    return total


def _error(run: RunMemory, h: float) -> float:
    """Size of the error relative to the tolerance (root mean square); with two estimates as in DOP853."""
    first = _error_square(run, h, run.method.stages + 1)
    if run.method.estimates == 2 and first != 0.0:
        second = _error_square(run, h, run.method.stages + 2)
        return first / math.sqrt((first + 0.01 * second) * run.columns.n_measured)
    return math.sqrt(first / run.columns.n_measured)


def close_end(run: RunMemory, t: float) -> float:
    """Project the end of a step onto its constraints; returns how far that moves it, relative to the allowed distance.

    A solution within the tolerance is within the tolerance of the constraints. If the projection moves it much farther,
    it may have gone to another branch of the motion, which the error estimate does not see. Near a singular position
    rounding errors grow, with the inverse distance in positions and with its square in speeds. The allowed distance
    grows with them.
    """
    y, new, atol, open_end = run.state.y, run.state.y_new, run.method.atol, run.state.y_stage
    if run.model.projection == 0:
        normalize(run, new)
        return 0.0
    for i in range(run.model.n):
        open_end[i] = new[i]
    project(run, t, new)
    total, monitor = 0.0, run.monitor
    for i in range(run.columns.n_state):
        moved = (new[i] - open_end[i]) / (atol[i] + run.method.rtol * max(abs(y[i]), abs(new[i])))
        total += moved * moved
    monitor.distance_new = distance(run)
    nearness = monitor.farthest / min(monitor.distance, monitor.distance_new)
    rounding = min(CLOSED_ROUNDING * nearness * nearness, MAX_ROUNDING)
    return math.sqrt(total / run.columns.n_measured) / (ALLOWED_CORRECTION + rounding / run.method.rtol)


def _shortest_step(run: RunMemory) -> float:
    """The length from which on a step is too small: it hardly changes the time."""
    return max(16.0 * _EPSILON * abs(run.step.t), run.step.least)


def _first_step(run: RunMemory) -> float:
    """A first step for the tolerance (Hairer, Norsett, Wanner I, II.4), with sign."""
    n, atol, t, rtol = run.model.n, run.method.atol, run.step.t, run.method.rtol
    y, stage, k, k_next = run.state.y, run.state.y_stage, run.state.slopes, slope(run, 1)
    sign = 1.0 if run.step.t_end >= t else -1.0
    longest = min(run.method.max_step, abs(run.step.t_end - t))
    d0, d1, d2 = 0.0, 0.0, 0.0
    for i in range(n):
        scale = 1.0 / (atol[i] + rtol * abs(y[i]))
        d0 += (y[i] * scale) * (y[i] * scale)
        d1 += (k[i] * scale) * (k[i] * scale)
    d0, d1 = math.sqrt(d0 / run.columns.n_measured), math.sqrt(d1 / run.columns.n_measured)
    h = min(1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1, longest)
    for i in range(n):
        stage[i] = y[i] + sign * h * k[i]
    rate(run, t + sign * h, stage, k_next)
    run.counts.evaluations += 1
    for i in range(n):
        change = (k_next[i] - k[i]) / (atol[i] + rtol * abs(y[i]))
        d2 += change * change
    steepest = max(d1, math.sqrt(d2 / run.columns.n_measured) / h)
    if not math.isfinite(steepest):
        return sign * h * 1e-3
    if steepest <= 1e-15:
        return sign * min(max(1e-6, h * 1e-3), longest)
    suited: float = (0.01 / steepest) ** (1.0 / run.method.order)
    return sign * min(max(min(100.0 * h, suited), 2.0 * _shortest_step(run)), longest)


def _attempt(run: RunMemory, h: float) -> bool:
    """All stages of one step of length h; False at the first slope that is not finite (``counts.failed``).

    Stages need not satisfy the constraints. But near a singular position their slopes amplify the violation. So a step
    that was rejected there, or for its projection, is repeated with projected stages.
    """
    method, step, counts = run.method, run.step, run.counts
    last, nodes = method.last, table_row(run, method.stages)
    by_constraints = step.end_correction > 1.0 or crosses(run, 2.0 * h)
    closed = run.model.projection != 0 and counts.rejected_in_a_row > 0 and by_constraints
    step.end_correction = math.inf
    for s in range(1, last + 1):
        y = run.state.y_new if s == last else run.state.y_stage
        t, k = step.t + nodes[s] * h, slope(run, s)
        combine(run, h, table_row(run, s), s, y)
        if s == last:
            step.end_correction = close_end(run, t)
        elif closed:
            project(run, t, y)
        rate(run, t, y, k)
        counts.evaluations += 1
        if not_finite(run, k) != 0:
            counts.failed = first_not_finite(k, run.model.n_continuous)
            step.failed_time = t
            return False
    return True


def _step_end(run: RunMemory) -> float:
    """The latest end of a step: the end of the run, the next clock tick, or the next break."""
    return min(run.step.t_end, run.clocks.time, run.breaks.time)


def _accept(run: RunMemory, error: float, h: float, final: bool) -> None:
    """Accept the step and choose the next one: PI control (Gustafsson; Hairer, Wanner II, IV.2)."""
    step, counts, damping = run.step, run.counts, run.method.damping
    factor = 0.9 * max(error, 1e-10) ** (0.75 * damping - 1.0 / run.method.order) * step.previous_error**damping
    factor = min(10.0, max(0.2, factor))
    if 1.0 < factor < run.newton.hold:
        factor = 1.0
    if counts.rejected_in_a_row > 0:
        factor = min(factor, 1.0)
    # A step that was cut short says little about the next one.
    if not final or abs(h * factor) > abs(step.h):
        step.h = h * factor
    step.previous_error = max(error, 1e-4)
    step.t_new = _step_end(run) if final else step.t + h
    step.h_done = h
    counts.rejected_in_a_row = 0
    counts.failed = -1
    counts.steps += 1


def _reject(run: RunMemory, error: float, h: float) -> bool:
    """Reject the step and shorten the next try; False if values stay not finite."""
    step, counts = run.step, run.counts
    counts.rejected += 1
    counts.rejected_in_a_row += 1
    # A stage near a singular position has a wrong slope, however long the step. Another length moves the stage away; a
    # much shorter step would end before the position and have to cross it from where slopes are worse.
    crossing = run.model.projection != 0 and counts.rejected_in_a_row <= CROSSING_TRIES and crosses(run, h)
    least = 0.8 if crossing else 0.2
    if math.isfinite(error):
        counts.failed = -1
        step.h = h * max(least, 0.9 * error ** (-1.0 / run.method.order))
        return True
    step.h = h * least
    if counts.failed < 0:  # slopes are finite, but not the error
        counts.failed = max(0, first_not_finite(run.state.y_new, run.model.n))
        step.failed_time = step.t + h
    if abs(step.t - step.nonfinite_since) > NONFINITE_SPAN * abs(step.t_end - step.t_start):
        step.nonfinite_since, counts.nonfinite_steps = step.t, 0
    counts.nonfinite_steps += 1
    return counts.nonfinite_steps <= MAX_NONFINITE_STEPS  # steps too short to change a state would never end


def _try_explicit(run: RunMemory, h: float) -> float:
    """Try a step of length h; returns its error relative to the tolerance, nan if a slope is not finite."""
    return max(_error(run, h), run.step.end_correction) if _attempt(run, h) else math.nan


def find_step_by(try_step: Callable[[RunMemory, float], float]) -> Callable[[RunMemory], int]:
    """The search for a step that is accepted, with a function that tries one."""

    def find_step(run: RunMemory) -> int:
        """Try steps until one is accepted, with its end and slopes; or return why none can be."""
        step, counts, max_step = run.step, run.counts, run.method.max_step
        t, end = step.t, _step_end(run)
        sign = 1.0 if end >= t else -1.0
        while True:
            h = sign * min(abs(step.h), max_step)
            left = abs(end - t)
            final = left <= 1.01 * abs(h) and left <= 1.000001 * max_step
            if final:
                h = end - t
            elif abs(h) <= _shortest_step(run):
                return Outcome.NOT_FINITE if counts.failed >= 0 else Outcome.STEP_TOO_SMALL
            if counts.steps + counts.rejected >= run.method.max_steps:
                return Outcome.TOO_MANY_STEPS
            counts.failed = -1
            error = try_step(run, h)
            if error <= 1.0:
                _accept(run, error, h, final)
                return Outcome.DONE
            if not _reject(run, error, h):
                return Outcome.NOT_FINITE

    return find_step


def _find_middle(run: RunMemory) -> None:
    """The approximate state in the middle of the step: on the cubic through both ends and their slopes."""
    y, new, middle = run.state.y, run.state.y_new, run.state.between
    k, k_last, eighth = run.state.slopes, slope(run, run.method.last), 0.125 * run.step.h_done
    for i in range(run.model.n_continuous):
        middle[i] = 0.5 * (y[i] + new[i]) + eighth * (k[i] - k_last[i])


def step_to_event_by(
    find_step: Callable[[RunMemory], int], find_middle: Callable[[RunMemory], None]
) -> Callable[[RunMemory], int]:
    """One step up to its first event, with functions that find a step and the state in its middle."""

    def step_to_event(run: RunMemory) -> int:
        """One step, up to the first event in it; repeated shorter if a law or an event function may hide something."""
        step, counts, refused = run.step, run.counts, 0
        while True:
            tried = step.h
            code = find_step(run)
            if code != Outcome.DONE:
                return code
            counts.pending, counts.dense_ready = Pending.STEPPED, 0
            share = 0.0
            if run.bounds.count != 0:
                prepare_bounds(run)
                share = find_hidden(run)
            if share == 0.0:
                if run.events.count == 0:
                    return Outcome.DONE
                find_middle(run)
                if find_event(run):
                    counts.pending = Pending.STEPPED_TO_EVENT
                    return Outcome.DONE
                growth = find_growth(run)
                if growth >= 1.0 or refused == MAX_REFUSALS:
                    step.h = min(step.h, max(1.0, growth) * max(tried, step.h_done))
                    return Outcome.DONE
                refused += 1
                share = REFUSED_FACTOR
                restore_values(run)
            step.h = share * step.h_done
            counts.pending = Pending.READY
            counts.steps -= 1
            counts.rejected += 1

    return step_to_event


def _stalls(run: RunMemory) -> bool:
    """Whether very many steps have hardly advanced the run, so that it would not end."""
    step, counts = run.step, run.counts
    counts.stall_steps += 1
    if counts.stall_steps < STALL_STEPS:
        return False
    counts.stall_steps = 0
    advance, step.stall_time = abs(step.t_new - step.stall_time), step.t_new
    length = abs(step.t_end - step.t_start)
    counts.slow_windows = counts.slow_windows + 1 if advance < SLOW_SHARE * length else 0
    return advance < STALL_SHARE * length or counts.slow_windows >= SLOW_WINDOWS


def take_step_by(
    step_to_event: Callable[[RunMemory], int], with_events: bool = True, watched: bool = False
) -> Callable[[RunMemory], int]:
    """One accepted step, with a function that takes it up to its first event; explicit ones are watched."""

    def take_step(run: RunMemory) -> int:
        """One accepted step, with its events and its pass of singular positions."""
        step = run.step
        if run.stiffness.wanted != 0:
            return Outcome.STIFF
        if step.h == 0.0:
            step.h = _first_step(run)
        begin_monitor(run)
        code = step_to_event(run)
        if code != Outcome.DONE:
            return code
        if watched:
            watch_stiffness(run)
        if with_events and run.bounds.count != 0:
            finish_bounds(run)
        if _stalls(run):
            return Outcome.STALLED
        if with_events and run.counts.pending == Pending.STEPPED_TO_EVENT:
            # A step far beyond an event gains nothing, and loses accuracy of the event by rounding.
            first = max(GROWTH_AFTER_EVENT * (step.t_new - step.t), MIN_STEP_SHARE * abs(step.t), 2.0 * step.least)
            step.h = min(step.h, max(first, step.h / (GROWTH_AFTER_EVENT * GROWTH_AFTER_EVENT)))
        elif run.model.projection != 0 and monitor_step(run):
            return Outcome.NEAR_SINGULAR
        return Outcome.DONE

    return take_step


_find_explicit_step = find_step_by(_try_explicit)


def _step_plainly(run: RunMemory) -> int:
    """One step of a model without events and bounds of laws."""
    code = _find_explicit_step(run)
    if code == Outcome.DONE:
        run.counts.pending, run.counts.dense_ready = Pending.STEPPED, 0
    return code


take_adaptive_step = take_step_by(step_to_event_by(_find_explicit_step, _find_middle), watched=True)
take_plain_step = take_step_by(_step_plainly, False, watched=True)
