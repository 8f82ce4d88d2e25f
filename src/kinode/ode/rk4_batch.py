"""Many runs of one model at a time: classical Runge-Kutta with a fixed step, several runs in the lanes of one kernel.

A group is as many runs as the kernel has lanes. Threads on all processors take shares of the groups; no Python runs
within a share. A run that becomes not finite does not disturb the others: its samples are nan from there on, and the
time and the component are noted. Not done here: step control, since lanes would wait for the slowest (integrate.py).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kinode.jit.kernel_call import provide_results
from kinode.jit.loop.memory import floats_of, ints_of
from kinode.jit.machine_code import CompiledFunction
from kinode.jit.threads import processors
from kinode.ode import compiled_loops
from kinode.ode.endings import Ending, EndKind
from kinode.ode.kernel_spec import KernelSpec
from kinode.ode.loops.run_codes import Outcome
from kinode.ode.loops.run_memory import BatchMemory
from kinode.ode.ode_arguments import Array, check_quaternions, count_steps
from kinode.ode.run import CHUNK_SECONDS, provide_rows

_SHARES_PER_THREAD = 16
"""Shares of the groups for each thread: enough that no thread waits long for another at the end."""


@dataclass(frozen=True)
class BatchSolution:
    """The samples of all runs: ``y[run, sample, component]`` at the times ``t``."""

    t: Array
    y: Array
    ending: Ending
    steps: int
    """Steps of each run."""
    failed_time: Array
    """Time in s at which a run was first not finite; nan for a run that stays finite."""
    failed_component: npt.NDArray[np.int64]
    """The first component that was not finite then; -1 for a run that stays finite."""

    @property
    def success(self) -> bool:
        """Whether every run reached the end and is finite."""
        return self.ending.kind is EndKind.DONE


def _argument(name: str, values: npt.ArrayLike | None, runs: int) -> tuple[Array, int]:
    """The values as an array, with one row for each run or one dimension for all; and the length of a row."""
    array = np.zeros(0) if values is None else np.array(values, dtype=np.float64, order="C")
    if array.ndim == 2 and array.shape[0] != runs:
        raise ValueError(f"{name}: expected one row for each of the {runs} runs, got an array of shape {array.shape}")
    if array.ndim > 2 or array.ndim == 0:
        raise ValueError(f"{name}: expected one or two dimensions, got an array of shape {array.shape}")
    return array, array.shape[-1]


class _Batch:
    """The arrays that the threads share, and the work of one thread."""

    def __init__(self, kernel: KernelSpec, y0: Array, p: tuple[Array, int], inputs: tuple[Array, int]) -> None:
        self.kernel, self.y0, self.p, self.inputs = kernel, y0, p, inputs
        self.runs = len(y0)
        self.groups = -(-self.runs // kernel.lanes)
        self.stop = np.zeros(1, dtype=np.int64)
        self.failed_step = np.full(self.runs, -1, dtype=np.int64)
        self.failed_component = np.full(self.runs, -1, dtype=np.int64)
        self.memories: list[BatchMemory] = []
        self.finished: list[range] = []
        self.y = np.zeros((0, 0, 0))

    def memory(self, quaternions: Sequence[int], t0: float, h: float, steps: int, every: int) -> BatchMemory:
        """The memory of one thread."""
        (p, n_p), (inputs, n_inputs) = self.p, self.inputs
        batch = BatchMemory()
        arguments = np.zeros(n_p * self.kernel.lanes), np.zeros(n_inputs * self.kernel.lanes)
        provide_rows(batch.run, self.kernel, arguments, quaternions, 4)
        batch.run.step.t_start, batch.run.step.h, batch.run.method.max_steps = t0, h, steps
        batch.run.output.y = floats_of(self.y)
        batch.runs, batch.every, batch.samples = self.runs, every, self.y.shape[1]
        batch.start, batch.p, batch.inputs = floats_of(self.y0), floats_of(p), floats_of(inputs)
        batch.n_p, batch.p_stride = n_p, n_p if p.ndim == 2 else 0
        batch.n_inputs, batch.inputs_stride = n_inputs, n_inputs if inputs.ndim == 2 else 0
        batch.stop = ints_of(self.stop)
        batch.failed_step, batch.failed_component = ints_of(self.failed_step), ints_of(self.failed_component)
        self.memories.append(batch)
        return batch

    def work(self, batch: BatchMemory, loop: CompiledFunction, shares: Iterator[int], size: int) -> None:
        """Take shares of the groups until none is left."""
        for share in shares:
            first, last = share * size, min((share + 1) * size, self.groups)
            if first >= self.groups or self.stop[0]:
                return
            batch.first_group, batch.last_group = first, last
            if loop(batch) == Outcome.DONE:
                self.finished.append(range(first, last))

    def discard_unfinished(self) -> None:
        """Set the samples of unfinished runs to nan, except the start."""
        lanes = self.kernel.lanes
        unfinished = np.ones(self.runs, dtype=bool)
        for groups in self.finished:
            unfinished[groups.start * lanes : groups.stop * lanes] = False
        self.y[unfinished, 1:] = np.nan
        self.y[unfinished, 0] = self.y0[unfinished]


def _wait(
    batch: _Batch, tasks: list[Future[None]], steps: int, t1: float, on_progress: Callable[[float], bool] | None
) -> Ending:
    """Wait for the threads, and stop them on request; returns the ending."""
    total = max(1, batch.groups * steps)
    ending = EndKind.DONE.at(t1)
    try:
        while not all(task.done() for task in tasks):
            wait(tasks, timeout=CHUNK_SECONDS, return_when=FIRST_EXCEPTION)
            done = sum(each.run.counts.steps for each in batch.memories) / total
            if on_progress is not None and on_progress(done) is False:
                batch.stop[0] = 1
                ending = Ending(EndKind.STOPPED, t1, f"stopped after {done:.0%} of the work")
                on_progress = None
    except KeyboardInterrupt:
        batch.stop[0] = 1
        ending = Ending(EndKind.INTERRUPTED, t1, "interrupted before all runs were finished")
    wait(tasks)
    return ending


def rk4_batch(
    kernel: KernelSpec,
    y0: npt.ArrayLike,
    t0: float,
    t1: float,
    step: float,
    *,
    every: int | None = None,
    p: npt.ArrayLike | None = None,
    inputs: npt.ArrayLike | None = None,
    quaternions: Sequence[int] = (),
    threads: int | None = None,
    on_progress: Callable[[float], bool] | None = None,
) -> BatchSolution:
    """Integrate one run from each row of y0, all from t0 to t1 with the same step.

    Samples are taken at the start, every so many steps, and at the end (``every=None``: start and end only). ``p`` and
    ``inputs`` have a row for each run, or one dimension for all. ``on_progress`` is called with the share of the work
    that is done, and stops it by returning False; unfinished runs then have no samples except their start.
    """
    if kernel.events is not None:
        reason = "events come at another time in each run, and the runs of a batch share their steps"
        raise ValueError(f"kernel: {reason}; simulate them one by one")
    start = np.array(y0, dtype=np.float64, ndmin=2)
    if start.ndim != 2 or start.shape[1] != kernel.n_y:
        raise ValueError(f"y0: expected rows of {kernel.n_y} numbers, got an array of shape {start.shape}")
    if not (np.isfinite(t0) and np.isfinite(t1)):
        raise ValueError(f"t0, t1: must be finite, got {t0} and {t1}")
    if every is not None and every < 1:
        raise ValueError(f"every: expected a number of steps, got {every}")
    check_quaternions(quaternions, kernel.n_y)
    runs, steps = len(start), count_steps(t0, t1, step) if t0 != t1 else 0
    stride = max(1, steps if every is None else min(every, steps))
    sampled_steps = np.append(np.arange(0, steps, stride), steps)
    batch = _Batch(kernel, start, _argument("p", p, runs), _argument("inputs", inputs, runs))
    batch.y = provide_results(runs, len(sampled_steps) * kernel.n_y).reshape(runs, len(sampled_steps), kernel.n_y)
    h = (t1 - t0) / steps if steps else 0.0
    times = t0 + sampled_steps * h
    times[-1] = t1
    if steps == 0 or runs == 0 or kernel.n_y == 0:
        batch.y[:] = start[:, None]
        ending = Ending(EndKind.DONE, t1, "nothing to integrate")
    else:
        ending = _run(batch, quaternions, (t0, h, steps, stride), threads or processors(), on_progress)
    return BatchSolution(
        t=times,
        y=batch.y,
        ending=ending,
        steps=steps,
        failed_time=np.where(batch.failed_step < 0, np.nan, t0 + batch.failed_step * h),
        failed_component=batch.failed_component,
    )


def _run(
    batch: _Batch,
    quaternions: Sequence[int],
    plan: tuple[float, float, int, int],
    threads: int,
    on_progress: Callable[[float], bool] | None,
) -> Ending:
    """Integrate all groups in threads; ``plan`` is t0, h, the number of steps, and the steps between samples."""
    t0, h, steps, _ = plan
    call = compiled_loops.loop("run_groups")
    threads = max(1, min(threads, batch.groups))
    size = max(1, batch.groups // (threads * _SHARES_PER_THREAD))
    shares = itertools.count()
    with ThreadPoolExecutor(threads) as pool:
        memories = [batch.memory(quaternions, *plan) for _ in range(threads)]
        tasks = [pool.submit(batch.work, memory, call, shares, size) for memory in memories]
        ending = _wait(batch, tasks, steps, t0 + steps * h, on_progress)
    for task in tasks:
        task.result()
    if ending.kind is not EndKind.DONE:
        batch.discard_unfinished()
    failed = int((batch.failed_component >= 0).sum())
    if ending.kind is EndKind.DONE and failed:
        first = int(np.flatnonzero(batch.failed_component >= 0)[0])
        t_failed = float(t0 + batch.failed_step[first] * h)
        message = (
            f"{failed} of {batch.runs} runs are not finite; the first is run {first}, component "
            f"{batch.failed_component[first]} at t = {t_failed:.9g} s"
        )
        return Ending(EndKind.NOT_FINITE, t_failed, message, entry=int(batch.failed_component[first]))
    return ending
