"""Integrates y' = f(t, y), f being machine code at an address: explicit Runge-Kutta methods with and without step
control.

| method | order | dense output | evaluations in a step |
|---|---|---|---|
| ``"dopri5"`` Dormand-Prince 5(4) | 5 | 5 | 6, and 2 in steps that hold a requested time |
| ``"dop853"`` Dormand-Prince 8(5, 3) | 8 | 7 | 12, and 3 in steps that hold a requested time |
| ``"rk4"`` classical, fixed step | 4 | 3 (cubic), which keeps results of order 4 | 4 |

No Python runs within a step. The compiled loop (adaptive_step.py, fixed_step.py) comes back after some 50 ms, so
that an interrupt, a progress bar and a wish to stop are dealt with here; a run that ends early keeps what it has
reached. Events and constraints are part of the loops. Not done here: stiff problems (cvode.py), many runs at a time
(rk4_batch.py).
"""

from __future__ import annotations

import math
import time as clock
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, SupportsIndex

import numpy as np
import numpy.typing as npt

from kinode.ode import compiled_loops
from kinode.ode.compiled_loops import LOOP_OF
from kinode.ode.event_spec import Discrete, EventSpec, Fired
from kinode.ode.loops import memory_layout as R
from kinode.ode.tableaus import tableau

Array = npt.NDArray[np.float64]
Method = Literal["dopri5", "dop853", "rk4"]
OdeStatus = Literal[
    "done", "not finite", "step too small", "step too long", "too many steps", "stopped", "interrupted",
    "failed",
]  # fmt: skip

RTOL = 1e-8
"""Default relative tolerance. Errors of a run are some fifty times the tolerance (a double pendulum after 10 s: 6e-7),
so that results hold to 1e-6; that takes twice the evaluations of a tolerance of 1e-6, whose results hold to 1e-4."""
ATOL = 1e-10
"""Default absolute tolerance, in the units of the state (rad, m, rad/s, m/s)."""
ABSURD = 10
"""A run at fixed step that needs so many times the steps allowed is refused at once, not when they are used up."""
LEFT = 1e-2
"""Share of the largest distance from singular positions, at the end of a step: from there the next pass is another."""
CHUNK_SECONDS = 0.05
_BLOCK_NUMBERS = 1 << 19


@dataclass(frozen=True)
class KernelSpec:
    """A compiled rate: f(t, q, u, z, p, inputs, x, work, out) at an address, all interleaved over the lanes."""

    address: int
    n_q: int
    n_u: int
    n_z: int = 0
    lanes: int = 1
    n_work: int = 0
    """Scratch numbers needed for each lane."""
    projection: int = 0
    """Address of a kernel that gives the state on its constraints, with as much scratch at most; 0 for none."""
    events: EventSpec | None = None
    """What changes at once, by kernels with as much scratch at most."""

    @property
    def n_y(self) -> int:
        """Size of the state y = [q, u, z] of one lane."""
        return self.n_q + self.n_u + self.n_z


@dataclass(frozen=True, eq=False)
class SingularPass:
    """A singular position that a run passed, or nearly: when, how near as a share of the farthest, in which state."""

    t: float
    share: float
    y: Array


@dataclass(frozen=True)
class OdeSolution:
    """What was reached: one row of ``y`` for each of the times ``t``, and how it ended."""

    t: Array
    y: Array
    status: OdeStatus
    message: str
    steps: int
    rejected: int
    evaluations: int
    t_end: float
    """Time of the last accepted state; with ``times`` given it may lie beyond the last row."""
    y_end: Array
    next_step: float
    """The step that the method would have tried next, to go on with (``first_step``)."""
    failed_component: int | None = None
    """Index into y of the first rate or value that was not finite."""
    failed_time: float | None = None
    passes: tuple[SingularPass, ...] = ()
    """Passes near singular positions, as far as the method looks for them."""
    events: tuple[Fired, ...] = ()
    """Time, root, and mode before and after each event."""
    next_tick: int | None = None
    """The first tick of samplers that is still to come, to go on with (``first_tick``)."""

    @property
    def success(self) -> bool:
        """Whether the end was reached."""
        return self.status == "done"


def aligned(*shape: int) -> Array:
    """Zeros that begin at a multiple of 64 bytes, as vector instructions like it."""
    size = math.prod(shape)
    room = np.zeros(size + 8)
    offset = (-room.ctypes.data % 64) // 8
    return room[offset : offset + size].reshape(shape)


def flat(name: str, values: npt.ArrayLike | None) -> Array:
    """The values as a flat array, none being none."""
    given = np.zeros(0) if values is None else np.asarray(values, dtype=np.float64)
    if given.ndim > 1:
        raise ValueError(f"{name}: expected a list of numbers, got an array of shape {given.shape}")
    return given.reshape(-1)


def check_times(times: npt.ArrayLike, t0: float, t1: float) -> Array:
    """The requested times as an array: finite, in the order of the run, within it."""
    asked = np.ascontiguousarray(times, dtype=np.float64)
    if asked.ndim != 1:
        raise ValueError(f"times: expected a list of numbers, got an array of shape {asked.shape}")
    if not np.isfinite(asked).all():
        raise ValueError("times: every time must be finite")
    sign = 1.0 if t1 >= t0 else -1.0
    if asked.size and ((np.diff(asked) * sign < 0).any() or (asked[0] - t0) * sign < 0 or (asked[-1] - t1) * sign > 0):
        raise ValueError(f"times: must go from {t0:g} to {t1:g} in that order, got {asked[0]:g} to {asked[-1]:g}")
    return asked


def check_start(y0: npt.ArrayLike, n: int, t0: float, t1: float) -> Array:
    """The initial state as an array; times and state must be finite and of the right size."""
    start = np.array(y0, dtype=np.float64)
    if start.shape != (n,):
        raise ValueError(f"y0: expected {n} numbers, got an array of shape {start.shape}")
    if not (math.isfinite(t0) and math.isfinite(t1)):
        raise ValueError(f"t0, t1: must be finite, got {t0} and {t1}")
    bad = np.flatnonzero(~np.isfinite(start))
    if bad.size:
        raise ValueError(f"y0: component {bad[0]} is {start[bad[0]]}")
    return start


def check_tolerances(rtol: float, atol: npt.ArrayLike, n: int) -> Array:
    """The absolute tolerance of each component; rtol is checked along."""
    if not rtol >= 0.0 or not math.isfinite(rtol):
        raise ValueError(f"rtol: must not be negative, got {rtol}")
    absolute = np.asarray(atol, dtype=np.float64)
    if absolute.shape not in ((), (n,)):
        raise ValueError(f"atol: expected one number or {n}, got an array of shape {absolute.shape}")
    if not (absolute >= 0).all() or not np.isfinite(absolute).all():
        raise ValueError("atol: must not be negative")
    if rtol == 0.0 and not (absolute > 0).all():
        raise ValueError("atol: must be positive where rtol is 0")
    # A component that is exactly zero still needs a scale to be divided by.
    return np.ascontiguousarray(np.broadcast_to(np.maximum(absolute, 1e-300), (n,)))


def uncontrolled(absolute: Array, n_held: int) -> Array:
    """Absolute tolerances that leave out the entries at the end, which only events change."""
    found = absolute.copy()
    found[len(found) - n_held :] = math.inf
    return found


def check_quaternions(quaternions: Sequence[int], n: int) -> None:
    """Each must lie within the state: in q, or in z where a speed is prescribed."""
    for index in quaternions:
        if not 0 <= index <= n - 4:
            raise ValueError(f"quaternions: each begins at an index from 0 to {n - 4}, got {index}")


def count_steps(t0: float, t1: float, step: float | None) -> int:
    """Number of equal steps, none longer than asked for."""
    if step is None or not (math.isfinite(step) and step > 0):
        raise ValueError(f"step: method 'rk4' needs a positive step in seconds, got {step}")
    return max(1, math.ceil(abs(t1 - t0) / step * (1.0 - 1e-10)))


class Job:
    """The arrays that a loop works on: a state for all lanes, the arguments of the kernel, ``layout`` to find them."""

    def __init__(self, kernel: KernelSpec, rows: int, n_p: int, n_inputs: int, quaternions: Sequence[int] = ()) -> None:
        n, lanes = kernel.n_y * kernel.lanes, kernel.lanes
        self.layout = np.zeros(R.LAYOUT_SIZE, dtype=np.int64)
        self.memory = np.zeros(R.MEMORY_SIZE + rows)
        self.counters = np.zeros(R.COUNTERS_SIZE, dtype=np.int64)
        self.state = aligned(rows, n)
        self.time, self.x, self.work = aligned(lanes), aligned(lanes), aligned(kernel.n_work * lanes)
        self.p, self.inputs = aligned(n_p * lanes), aligned(n_inputs * lanes)
        self.quaternions = np.array(quaternions, dtype=np.int64)
        self._kept: dict[int, Any] = {}
        self.layout[[R.KERNEL, R.N, R.LANES, R.QUATERNIONS]] = kernel.address, n, lanes, self.quaternions.size
        self.layout[R.CONTROLLED] = n
        self.memory[[R.TICK_TIME, R.BREAK_TIME, R.EARLIEST, R.LATEST]] = math.inf, math.inf, -math.inf, math.inf
        self.projected = aligned(n + lanes)  # and the effective mass of the constraints
        self.layout[R.PROJECTION] = kernel.projection
        self.place(R.AT_PROJECTED, self.projected)
        self.layout[[R.U_AT, R.Z_AT]] = kernel.n_q * lanes, (kernel.n_q + kernel.n_u) * lanes
        self.place(R.AT_MEMORY, self.memory)
        self.place(R.AT_COUNTERS, self.counters)
        self.place(R.AT_STATE, self.state)
        self.place(R.AT_TIME, self.time)
        self.place(R.AT_X, self.x)
        self.place(R.AT_WORK, self.work)
        self.place(R.AT_P, self.p)
        self.place(R.AT_INPUTS, self.inputs)
        self.place(R.AT_QUATERNIONS, self.quaternions)

    def place(self, entry: SupportsIndex, array: npt.NDArray[Any]) -> None:
        """Write the address of an array into the layout, and keep the array alive."""
        self._kept[int(entry)] = array
        self.layout[entry] = array.ctypes.data


class _Run(Job):
    """One run of one lane: its loop, and its output so far."""

    def __init__(
        self,
        name: str,
        kernel: KernelSpec,
        y0: Array,
        span: tuple[float, float],
        arguments: tuple[Array, Array],
        quaternions: Sequence[int],
        times: Array | None,
        rows: int,
        max_steps: int,
        first_tick: int | None = None,
    ) -> None:
        p, inputs = arguments
        super().__init__(kernel, rows, p.size, inputs.size, quaternions)
        self.name, self.max_steps = name, max_steps
        self.passes: list[SingularPass] = []
        self.on_long: tuple[int, Callable[[float], None]] | None = None
        self._near_until = -2  # the last step that ended near a singular position
        self.state[R.Y] = y0
        self.p[: p.size], self.inputs[: inputs.size] = p, inputs
        self.memory[[R.T, R.T_NEW, R.T_START, R.T_END]] = span[0], span[0], span[0], span[1]
        self.memory[R.PREVIOUS_ERROR] = 1e-4
        self.counters[R.FAILED] = -1
        self.sampled = times is not None
        self.times = np.zeros(0) if times is None else times
        self.place(R.AT_TIMES, self.times)
        self.layout[[R.SAMPLED, R.TIMES]] = self.sampled, self.times.size
        self.blocks: list[tuple[Array, Array]] = []
        self.out_t, self.out_y = np.zeros(0), np.zeros((0, y0.size))
        self.discrete = None if kernel.events is None else Discrete(kernel.events, self, span[0], first_tick)
        self._first_rows(span[0], y0)

    def set_breaks(self, breaks: Array, margin: float) -> None:
        """Tell the loop when laws of time break."""
        kept = np.ascontiguousarray(breaks)
        if kept.size and self.memory[R.T_END] < self.memory[R.T]:
            raise ValueError("t1: breaks are passed forwards in time")
        self.place(R.AT_BREAKS, kept)
        self.layout[R.BREAKS], self.memory[R.MARGIN] = kept.size, margin
        self.counters[R.NEXT_BREAK] = np.searchsorted(kept, self.memory[R.T] - margin)

    def _make_room(self, rows: int) -> None:
        self.out_t, self.out_y = np.empty(rows), np.empty((rows, self.state.shape[1]))
        self.place(R.AT_OUT_T, self.out_t)
        self.place(R.AT_OUT_Y, self.out_y)
        self.layout[R.ROOM] = rows

    def _first_rows(self, t0: float, y0: Array) -> None:
        """Room for the output, and the rows that are known before the first step: with events none is."""
        at_start = int((self.times == t0).sum()) if self.sampled else 1
        known = self.discrete is None or t0 == self.memory[R.T_END]
        self._make_room(
            max(1, self.times.size) if self.sampled else max(16, min(1024, _BLOCK_NUMBERS // max(1, y0.size)))
        )
        self.out_t[:at_start], self.out_y[:at_start] = t0, y0
        self.counters[R.WRITTEN] = self.counters[R.NEXT_TIME] = at_start if known else 0

    def _next_block(self) -> None:
        """Set the full block aside and begin one of twice the size."""
        self.blocks.append((self.out_t, self.out_y))
        self._make_room(max(16, min(2 * len(self.out_t), _BLOCK_NUMBERS // self.state.shape[1])))
        self.counters[R.WRITTEN] = 0

    def drive(self, on_progress: Callable[[float], bool] | None, budget: int | None) -> tuple[OdeStatus, str]:
        """Call the loop again and again until it is done or something ends it."""
        call, place = compiled_loops.loop(self.name), self.layout.ctypes.data
        steps = budget or 256
        shown = clock.perf_counter()
        try:
            while True:
                began = clock.perf_counter()
                overdue = budget is None and began - shown > 2 * CHUNK_SECONDS
                left = self.max_steps - int(self.counters[R.STEPS])
                self.layout[R.BUDGET] = 0 if overdue else min(steps, left)
                code = call(place)
                elapsed = clock.perf_counter() - began
                if code == R.NOTED:
                    self._note()
                elif code == R.FULL:
                    self._next_block()
                elif self.discrete is not None and code == R.LISTED:
                    self.discrete.collect()
                elif self.discrete is not None and code == R.CALLED:
                    self.discrete.call()
                elif code == R.DONE:
                    return "done", "reached the end"
                elif code != R.CHUNK:
                    return self._failure(code)
                elif self.counters[R.STEPS] >= self.max_steps:
                    return self._failure(int(R.TOO_MANY))
                if code != R.CHUNK:
                    continue
                shown = clock.perf_counter()
                self._tell_long()
                if budget is None and not overdue:
                    steps = int(min(max(steps * min(8.0, CHUNK_SECONDS / max(elapsed, 1e-9)), 1), 1 << 40))
                if on_progress is not None and on_progress(float(self.memory[R.T])) is False:
                    return "stopped", f"stopped at t = {self.memory[R.T]:.9g} s"
        except KeyboardInterrupt:
            return "interrupted", f"interrupted at t = {self.memory[R.T]:.9g} s"

    def _tell_long(self) -> None:
        """Say once that there were many steps."""
        if self.on_long is not None and self.counters[R.STEPS] + self.counters[R.REJECTED] >= self.on_long[0]:
            self.on_long[1](float(self.memory[R.T]))
            self.on_long = None

    def _note(self) -> None:
        """Keep a pass near a singular position, once for all steps that it takes."""
        share, step = float(self.memory[R.NEAR_SHARE]), int(self.counters[R.STEPS])
        looked = self.memory[R.NEAR_TIME] != self.memory[R.T_NEW]
        found = SingularPass(
            float(self.memory[R.NEAR_TIME]), share, self.state[R.Y_STAGE if looked else R.Y_NEW].copy()
        )
        if step == self._near_until + 1:
            found = min(found, self.passes.pop(), key=lambda one: one.share)
        self.passes.append(found)
        if self.memory[R.DISTANCE] < LEFT * self.memory[R.FARTHEST]:
            self._near_until = step

    def _failure(self, code: int) -> tuple[OdeStatus, str]:
        t = float(self.memory[R.T])
        if code == R.NOT_FINITE:
            where = int(self.counters[R.FAILED])
            when = float(self.memory[R.FAILED_TIME])
            return "not finite", f"component {where} of the state is not finite at t = {when:.9g} s"
        if code == R.TOO_SMALL:
            return (
                "step too small",
                f"the step became too small at t = {t:.9g} s: the motion is too abrupt to be followed",
            )
        if code == R.TORN:
            return (
                "step too long",
                f"at t = {t:.9g} s a step ended so far from where the loops close that it may have left its branch: "
                "take shorter steps, or a method that chooses them",
            )
        if self.discrete is not None and code in (R.UNSETTLED, R.CHATTER):
            return "failed", self.discrete.describe(code)
        return "too many steps", f"the allowed number of steps was used up at t = {t:.9g} s"

    def solution(self, status: OdeStatus, message: str) -> OdeSolution:
        """What was reached, as a record."""
        counters = self.counters
        written = int(counters[R.WRITTEN])
        blocks = [*self.blocks, (self.out_t[:written], self.out_y[:written])]
        failed = status == "not finite"
        single = len(blocks) == 1 and written == len(self.out_t)
        if self.discrete is not None:
            self.discrete.collect()
        return OdeSolution(
            t=blocks[0][0] if single else np.concatenate([block[0] for block in blocks]),
            y=blocks[0][1] if single else np.concatenate([block[1] for block in blocks]),
            status=status,
            message=message,
            steps=int(counters[R.STEPS] + (counters[R.CUT] if self.name == LOOP_OF["rk4"] else 0)),
            rejected=int(counters[R.REJECTED]),
            evaluations=int(counters[R.EVALUATIONS]),
            t_end=float(self.memory[R.T]),
            y_end=self.state[R.Y].copy(),
            next_step=abs(float(self.memory[R.H])),
            failed_component=int(counters[R.FAILED]) if failed else None,
            failed_time=float(self.memory[R.FAILED_TIME]) if failed else None,
            passes=tuple(self.passes),
            events=() if self.discrete is None else tuple(self.discrete.events),
            next_tick=None if self.discrete is None else int(counters[R.TICK]),
        )


@cache
def _packed(method: Method) -> Array:
    """All numbers of a method, one row below the other."""
    table = tableau(method)
    return np.vstack([table.stages, table.nodes, table.errors, table.dense])


def _prepare(run: _Run, method: Method) -> None:
    """Tell the loop its method."""
    table = tableau(method)
    run.layout[[R.LAST, R.STAGES, R.POWERS, R.ORDER]] = (
        table.last,
        len(table.nodes),
        len(table.dense),
        table.error_order,
    )
    run.place(R.AT_TABLE, _packed(method))


def _prepare_control(run: _Run, method: Method, rtol: float, atol: Array, max_step: float, first_step: float) -> None:
    table = tableau(method)
    run.memory[[R.RTOL, R.MAX_STEP, R.DAMPING, R.H]] = rtol, max_step, table.damping, first_step
    run.layout[R.ESTIMATES] = 1 + table.errors[1].any()
    run.place(R.AT_ATOL, atol)


def integrate(
    kernel: KernelSpec,
    y0: npt.ArrayLike,
    t0: float,
    t1: float,
    *,
    method: Method = "dopri5",
    times: npt.ArrayLike | None = None,
    step: float | None = None,
    rtol: float = RTOL,
    atol: npt.ArrayLike = ATOL,
    p: npt.ArrayLike | None = None,
    inputs: npt.ArrayLike | None = None,
    quaternions: Sequence[int] = (),
    max_step: float = math.inf,
    breaks: npt.ArrayLike = (),
    margin: float = 0.0,
    first_step: float | None = None,
    first_tick: int | None = None,
    max_steps: int = 100_000_000,
    on_progress: Callable[[float], bool] | None = None,
    on_long: tuple[int, Callable[[float], None]] | None = None,
    chunk: int | None = None,
) -> OdeSolution:
    """Integrate from t0 to t1, which may lie before t0.

    Output is at ``times``, or at the method's own steps with the start included. ``step`` is the step of "rk4"; it is
    shortened a little where the interval is not a multiple of it. ``quaternions`` are the indices at which quaternions
    begin in y: they are brought to unit length after every step and in every sample. ``on_progress(t)`` is called some
    twenty times a second; the run stops when it returns False. ``chunk`` fixes the number of steps between such calls.
    ``on_long`` is called once, with the time, after so many steps. At ``breaks``, in order, the rate jumps or has a
    corner: steps end there, and it is never asked for nearer to them than ``margin``, as well as they are known.

    A run that cannot go on does not raise: ``status`` and ``message`` say why, and what was reached is there.
    """
    if kernel.lanes != 1:
        raise ValueError(f"kernel: integrate takes a kernel of one lane, got {kernel.lanes}; see rk4_batch")
    if method not in ("dopri5", "dop853", "rk4"):
        raise ValueError(f"method: expected 'dopri5', 'dop853' or 'rk4', got {method!r}")
    n = kernel.n_y
    start = check_start(y0, n, t0, t1)
    absolute = check_tolerances(rtol, atol, n)
    check_quaternions(quaternions, kernel.n_y)
    if not max_step > 0:
        raise ValueError(f"max_step: must be positive, got {max_step}")
    asked = None if times is None else check_times(times, t0, t1)
    arguments = flat("p", p), flat("inputs", inputs)
    if kernel.events is not None:
        absolute = uncontrolled(absolute, kernel.events.n_held)
        if t1 < t0:
            raise ValueError("t1: events happen forwards in time, and cannot be gone back over")
    rows = int(R.SLOPES) + len(tableau(method).nodes)
    run = _Run(LOOP_OF[method], kernel, start, (t0, t1), arguments, quaternions, asked, rows, max_steps, first_tick)
    _prepare(run, method)
    if method == "rk4":
        steps = count_steps(t0, t1, step)
        if steps > ABSURD * max(max_steps, 10_000_000):
            raise ValueError(f"step: {step} s would take {steps:.1e} steps, far beyond the {max_steps:.0e} allowed")
        run.layout[R.MAX_STEPS], run.memory[R.H] = steps, (t1 - t0) / steps
    else:
        _prepare_control(run, method, rtol, absolute, max_step, abs(first_step or 0.0))
        run.layout[R.MAX_STEPS] = max_steps
    run.set_breaks(flat("breaks", breaks), margin)
    run.on_long = on_long
    if t0 == t1 or n == 0:
        return run.solution("done", "nothing to integrate")
    return run.solution(*run.drive(on_progress, chunk))
