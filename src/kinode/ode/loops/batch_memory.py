"""The memory of a batch of runs, as a record that the compiled loops share with Python (kinode.jit.pointers)."""

from __future__ import annotations

from kinode.jit.pointers import Floats, Ints, Struct, struct
from kinode.ode.loops.run_memory import RunMemory


@struct
class BatchMemory(Struct):
    """Runs of fixed step, in groups of as many runs as lanes. Constant, except for ``run``."""

    run: RunMemory
    """The memory of one thread."""
    first_group: int
    last_group: int
    """The thread works on the groups from the first up to, without, the last."""
    runs: int
    start: Floats
    """The initial states of the runs, one after the other."""
    p: Floats
    """Parameters of all runs."""
    n_p: int
    p_stride: int
    """Offset from the parameters of one run to those of the next: 0 if all share them."""
    inputs: Floats
    n_inputs: int
    inputs_stride: int
    every: int
    """Steps from one sample to the next."""
    samples: int
    """Samples of a run."""
    stop: Ints
    """Nonzero once all threads are to stop."""
    failed_step: Ints
    """For each run: the first step that was not finite; -1 for none."""
    failed_component: Ints
    """For each run: the first component that was not finite then."""
