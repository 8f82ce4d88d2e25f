"""Finds events within a step, and cuts the step at the first.

An event function is active while its mode has its value. It is armed once it was clearly positive. An armed function
triggers where it becomes negative. One that is not armed triggers where it is negative and falling, or clearly
negative; so a function that is zero when its mode begins has time to leave zero. Functions are evaluated about the
middle of a step and at its end. If one may have been negative in between, they are evaluated at more times, and where
the parabola through its three values is lowest. Where one triggers, the step is cut at the first time at which it does
so on the dense output, to the last bit.
"""

from __future__ import annotations

from kinode.ode.loops.dense_output import sample
from kinode.ode.loops.event_triggers import (
    any_triggers,
    arm,
    evaluate,
    find_dip,
    first_triggering,
    is_clear,
    mark_triggered,
    store_values,
    triggers,
)
from kinode.ode.loops.instants import note_peak
from kinode.ode.loops.loop_primitives import project
from kinode.ode.loops.run_memory import RunMemory
from kinode.ode.loops.step_bounds import search_functions, stays_clear

DIP_SAMPLES = 16  # parts of a step that is sampled for a short dip of an event function below zero


def _triggers_at(run: RunMemory, t: float) -> bool:
    """Whether an event function triggers at a time within the step; if none does, clearly positive ones are armed."""
    between = run.state.between
    sample(run, t, between)
    project(run, t, between)
    evaluate(run, t, between)
    if any_triggers(run):
        return True
    arm(run)
    return False


def find_event(run: RunMemory) -> bool:
    """Whether an event function triggers in the step that was just accepted; the step is then cut there.

    ``state.between`` holds the state about its middle.
    """
    events, t, end = run.events, run.step.t, run.step.t_new
    if stays_clear(run):
        run.chatter.stalled = 0
        return False
    store_values(run, events.g_before)
    half = t + 0.5 * run.step.h_done
    if not is_clear(run, half, run.state.between):
        evaluate(run, half, run.state.between)
        if any_triggers(run) and _triggers_at(run, half):
            _cut(run, t, half)
            return True
        arm(run)
    store_values(run, events.g_half)
    if not is_clear(run, end, run.state.y_new):
        evaluate(run, end, run.state.y_new)
        if any_triggers(run):
            if _triggers_at(run, half):  # the dense output differs from the state that was evaluated
                _cut(run, t, half)
            else:
                evaluate(run, end, run.state.y_new)
                _cut(run, half, end)
            return True
        arm(run)
    if run.bounds.count > run.bounds.n_laws and _find_covered_dip(run):
        return True
    lowest = find_dip(run)
    if lowest > 0.0 and _sample_step(run, lowest):
        return True
    run.chatter.stalled = 0
    return False


def _sample_step(run: RunMemory, share: float) -> bool:
    """Whether a function triggers at one of many times in the step, one of them given; the step is then cut there."""
    t, end, before = run.step.t, run.step.t_new, run.step.t
    lowest = t + (end - t) * share
    for i in range(1, DIP_SAMPLES + 1):
        at = t + (end - t) * i / DIP_SAMPLES
        if before < lowest < at:
            if _triggers_at(run, lowest):
                _cut(run, before, lowest)
                return True
            before = lowest
        if before < at < end and _triggers_at(run, at):
            _cut(run, before, at)
            return True
        before = at
    evaluate(run, end, run.state.y_new)  # the next step begins with these values
    return False


def _find_covered_dip(run: RunMemory) -> bool:
    """Whether an event function with bounds triggers between two evaluations; the step is then cut there."""
    if not search_functions(run):
        return False
    t, h = run.step.t, run.step.h_done
    if _triggers_at(run, t + run.bounds.share * h):
        _cut(run, t + run.bounds.left * h, t + run.bounds.share * h)
        return True
    return _sample_step(run, 0.0)  # the dense output differs from the path that has bounds


def _next_guess(before: float, after: float, high: float, low: float, iterations: int) -> float:
    """The next guess for the zero of a function that is ``high`` at the time before and ``low`` at the time after.

    It is the zero of a straight line, moved off an end of the interval if it coincides with it. Each third guess is the
    middle, which bounds the number of iterations.
    """
    middle, least = 0.5 * (before + after), 2.0**-52 * abs(after)
    if iterations % 3 == 2 or not high > low:
        return middle
    guess = before + (after - before) * (high / (high - low))
    if guess - before < least:
        guess = before + least
    elif after - guess < least:
        guess = after - least
    return guess if before < guess < after else middle


def _cut(run: RunMemory, before: float, after: float) -> None:
    """End the step at the first trigger between two times: none triggers before, one does after (evaluated last)."""
    g, between, iterations, side = run.events.g, run.state.between, 0, 0
    k = first_triggering(run, run.state.y_new if after == run.step.t_new else between)
    low, peak = g[k], 0.0
    high = -low
    while before < 0.5 * (before + after) < after and after - before > run.step.least:
        at = _next_guess(before, after, high, low, iterations)
        iterations += 1
        if _triggers_at(run, at):
            k = k if triggers(run, k, between) else first_triggering(run, between)
            after, low = at, g[k]
            high = 0.5 * high if side == 1 else high  # Illinois: the end that stays counts less
            side = 1
        else:
            before, high = at, max(g[k], 0.0)
            peak = max(peak, high)
            low = 0.5 * low if side == 2 else low
            side = 2
    if after == run.step.t_new:
        evaluate(run, after, run.state.y_new)
        mark_triggered(run, run.state.y_new)
    else:
        _triggers_at(run, after)
        mark_triggered(run, between)
        new = run.state.y_new
        for i in range(run.model.n):
            new[i] = between[i]
    run.step.t_new = after
    note_peak(run, peak)
    run.counts.cut += 1
