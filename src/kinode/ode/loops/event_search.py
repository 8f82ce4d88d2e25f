"""Looks for events within a step, and cuts the step at the first.

An event function is active while its mode has its value. It is armed once it was clearly positive; an armed one
triggers where it becomes negative, another where it is negative and falls, or clearly negative, so that a function that
is zero when its mode begins has the time to leave zero. It is evaluated about the middle of a step and at its end, and
in more places if it may have been negative in between; where one triggers, the step is cut at the first instant at
which that is seen on the dense output, found to the last bit of time.
"""

from __future__ import annotations

from kinode.ode.loops.chatter import note_seen
from kinode.ode.loops.dense_output import sample
from kinode.ode.loops.event_triggers import (
    any_triggers,
    arm,
    evaluate,
    first_triggering,
    is_clear,
    keep,
    mark_triggered,
    may_dip,
    triggers,
)
from kinode.ode.loops.loop_primitives import project
from kinode.ode.loops.run_memory import RunMemory

PLACES = 16  # parts of a step in which an event function may have been negative for a moment


def _triggers_at(run: RunMemory, t: float) -> bool:
    """Whether an event function triggers at a time within the step; what is clearly positive is armed if none does."""
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

    The state about its middle is at ``state.between``.
    """
    events, t, end = run.events, run.step.t, run.step.t_new
    keep(run, events.g_before)
    half = t + 0.5 * run.step.h_done
    if not is_clear(run, half, run.state.between):
        evaluate(run, half, run.state.between)
        if any_triggers(run) and _triggers_at(run, half):
            _cut(run, t, half)
            return True
        arm(run)
    keep(run, events.g_half)
    if not is_clear(run, end, run.state.y_new):
        evaluate(run, end, run.state.y_new)
        if any_triggers(run):
            if _triggers_at(run, half):  # the dense output is not what was looked at
                _cut(run, t, half)
            else:
                evaluate(run, end, run.state.y_new)
                _cut(run, half, end)
            return True
        arm(run)
    if may_dip(run) and _find_dip(run):
        return True
    run.chatter.vain = 0
    return False


def _find_dip(run: RunMemory) -> bool:
    """Whether a function triggers between the ends and the middle of the step; the step is then cut there."""
    t, end, before = run.step.t, run.step.t_new, run.step.t
    for i in range(1, PLACES):
        at = t + (end - t) * i / PLACES
        if before < at and _triggers_at(run, at):
            _cut(run, before, at)
            return True
        before = at
    evaluate(run, end, run.state.y_new)  # which the next step begins with
    return False


def _aim(before: float, after: float, high: float, low: float, tries: int) -> float:
    """Where to look next for the first time at which a function triggers that was ``high`` before, and ``low`` after.

    Mostly where a straight line has its zero, and beside an end of the interval where that would be the end itself;
    each third time in the middle, so that it never takes long.
    """
    middle, least = 0.5 * (before + after), 2.0**-52 * abs(after)
    if tries % 3 == 2 or not high > low:
        return middle
    guess = before + (after - before) * (high / (high - low))
    if guess - before < least:
        guess = before + least
    elif after - guess < least:
        guess = after - least
    return guess if before < guess < after else middle


def _cut(run: RunMemory, before: float, after: float) -> None:
    """End the step where the first function triggers: not yet before, but at the time after, evaluated last."""
    g, between, tries, side = run.events.g, run.state.between, 0, 0
    k = first_triggering(run, run.state.y_new if after == run.step.t_new else between)
    low, most = g[k], 0.0
    high = -low
    while before < 0.5 * (before + after) < after:
        at = _aim(before, after, high, low, tries)
        tries += 1
        if _triggers_at(run, at):
            k = k if triggers(run, k, between) else first_triggering(run, between)
            after, low = at, g[k]
            high = 0.5 * high if side == 1 else high  # Illinois: the end that stays counts less
            side = 1
        else:
            before, high = at, max(g[k], 0.0)
            most = max(most, high)
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
    note_seen(run, most)
    run.counts.cut += 1
