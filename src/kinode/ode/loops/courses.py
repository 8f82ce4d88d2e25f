"""Courses of inputs over time: their record, shared with Python, and their values before each call of a kernel."""

from __future__ import annotations

from kinode.jit.loop.memory import Floats, Ints, Struct, struct


@struct
class CourseMemory(Struct):
    """Inputs that change during a run: linear pieces, one after the other. Constant, except for ``at`` and ``g``."""

    count: int
    """Number of inputs with a course."""
    entries: Ints
    """For each: its index among the inputs."""
    starts: Ints
    """For each: where its pieces begin in the arrays below; then where the last one ends."""
    at: Ints
    """For each: the piece in which it was evaluated last."""
    times: Floats
    """The start of each piece in s, as a time of the model."""
    values: Floats
    """The value at the start of each piece."""
    slopes: Floats
    """The slope of each piece; 0 for one that is held."""
    look: float
    """Time in s over which the change of event functions by these inputs is found."""
    g: Floats
    """Work array: event functions after that time."""


def follow_courses(courses: CourseMemory, time: Floats, lanes: int, inputs: Floats) -> None:
    """Write the inputs with a course, for the time of each lane; before its first piece a course has its first value.

    Times change little from call to call, so that the search begins at the piece of the last one.
    """
    entries, starts, at = courses.entries, courses.starts, courses.at
    times, values, slopes = courses.times, courses.values, courses.slopes
    for c in range(courses.count):
        k, first, last = at[c], starts[c], starts[c + 1] - 1
        for lane in range(lanes):
            t = time[lane]
            while k < last and times[k + 1] <= t:
                k += 1
            while k > first and times[k] > t:
                k -= 1
            inputs[entries[c] * lanes + lane] = values[k] + slopes[k] * max(t - times[k], 0.0)
        at[c] = k


def change_inputs(courses: CourseMemory, seconds: float, inputs: Floats) -> int:
    """Let the inputs of one lane go on along their present pieces; returns how many of them change."""
    entries, at, slopes, changed = courses.entries, courses.at, courses.slopes, 0
    for c in range(courses.count):
        slope = slopes[at[c]]
        inputs[entries[c]] += seconds * slope
        changed += int(slope != 0.0)
    return changed
