"""The memory of columns: derivatives of the state that follow it in every row."""

from __future__ import annotations

from kinode.jit.pointers import Floats, Struct, struct


@struct
class ColumnMemory(Struct):
    """The columns of a run, if it has any. Constant, except for work arrays, shifts and what was lost."""

    n_state: int
    """Length of the state itself; the columns follow it, each as long."""
    n_measured: int
    """Entries of the state that steps change: by their number the error of a step is averaged."""
    count: int
    """Number of columns."""
    n_inputs: int
    """Number of inputs of the model."""
    functions: int
    """Address of the kernel that gives the event functions, then their rates along each column and along the motion."""
    x: Floats
    """Work array: the argument of kernels with columns."""
    out: Floats
    """Work array: event functions and their rates."""
    before: Floats
    """Work array: the slope before an instant."""
    shifts: Floats
    """For each column: the rate of the time of the present instant, in s for one unit."""
    break_shifts: Floats
    """For each break and column: the rate of the time of the break."""
    breaks_shift: int
    """1 if any of these is not zero."""
    shifted: int
    """1 while the columns are those of the instant, and not those of its fixed time."""
    lost: int
    """`Lost`: why the columns after some time are no derivatives; 0 while they are."""
    lost_time: float
    """That time in s."""
    lost_function: int
    """The event function to name."""
