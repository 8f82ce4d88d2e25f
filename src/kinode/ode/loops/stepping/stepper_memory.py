"""The memory of a stepper: a run without an end, and the grid of times at which it returns."""

from __future__ import annotations

from kinode.jit.pointers import Floats, Struct, struct
from kinode.ode.loops.run_memory import RunMemory


@struct
class StepperMemory(Struct):
    """A run that is advanced from one grid time to the next. Grid times are multiples of ``spacing`` from the start."""

    run: RunMemory
    spacing: float
    """Length of an interval in s."""
    reached: int
    """Grid times that were reached since the start."""
    horizon: int
    """Grid times for which breaks of expressions of time are known."""
    code: int
    """`Outcome` with which the loop returned last."""
    under_way: int
    """1 while an interval is not finished: the loop returned with a request."""
    changed: int
    """1 if parameters have changed since the last interval."""
    slope_known: int
    """1 if the first slope is that of the present state and inputs."""
    passes: int
    """Steps near singular positions."""
    n_inputs: int
    given: Floats
    """The inputs of the caller; ``run.model.inputs`` are those of the last interval."""
    watch: int
    """Address of the kernel of watched quantities; 0 for none."""
    watched: Floats
    """Their values at the end of the interval."""
