"""Courses of inputs over time, as a record that the compiled loops share with Python."""

from __future__ import annotations

from kinode.jit.pointers import Floats, Ints, Struct, struct


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
