"""Integrates y' = f(t, y), f being machine code at an address: explicit Runge-Kutta methods with and without error
control.

| method | order | dense output | evaluations in a step |
|---|---|---|---|
| ``"dopri5"`` Dormand-Prince 5(4) | 5 | 5 | 6, and 2 in steps that hold a requested time |
| ``"dop853"`` Dormand-Prince 8(5, 3) | 8 | 7 | 12, and 3 in steps that hold a requested time |
| ``"rk4"`` classical, fixed step | 4 | 3 (cubic), which keeps results of order 4 | 4 |

No Python runs within a step. The compiled loop (loops/advance.py) comes back after some 50 ms, so that an interrupt, a
progress bar and a wish to stop are dealt with (loop_run.py); a run that ends early keeps what it has reached. Events
and constraints are part of the loop. Not done here: stiff problems (cvode.py), many runs at a time (rk4_batch.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from kinode.jit.pointers import floats_of
from kinode.ode.compiled_loops import LOOP_OF
from kinode.ode.kernel_spec import KernelSpec
from kinode.ode.loop_run import LoopRun
from kinode.ode.loops.run_codes import Stepping
from kinode.ode.ode_arguments import (
    ATOL,
    RTOL,
    Array,
    check_quaternions,
    check_start,
    check_times,
    check_tolerances,
    count_steps,
    flat,
    without_discrete,
)
from kinode.ode.solution import OdeSolution
from kinode.ode.tableaus import tableau

Method = Literal["dopri5", "dop853", "rk4"]
ABSURD = 10
"""A run at fixed step that needs so many times the steps allowed is refused at once, not when they are used up."""


@cache
def _packed(method: Method) -> Array:
    """All numbers of a method, one row below the other."""
    table = tableau(method)
    return np.vstack([table.stages, table.nodes, table.errors, table.dense])


def _set_method(run: LoopRun, name: Method) -> None:
    """Tell the loop its method."""
    table, method = tableau(name), run.memory.method
    method.stepping = Stepping.FIXED if name == "rk4" else Stepping.ADAPTIVE
    method.classical = name == "rk4"
    method.last, method.stages, method.powers = table.last, len(table.nodes), len(table.dense)
    method.order, method.damping, method.estimates = table.error_order, table.damping, 1 + table.errors[1].any()
    method.table = floats_of(_packed(name))


def _set_steps(run: LoopRun, step: float | None) -> None:
    """Tell the loop how many steps of fixed length there are."""
    times = run.memory.step
    steps = count_steps(times.t, times.t_end, step)
    if steps > ABSURD * max(run.max_steps, 10_000_000):
        raise ValueError(f"step: {step} s would take {steps:.1e} steps, far beyond the {run.max_steps:.0e} allowed")
    run.memory.method.max_steps, times.h = steps, (times.t_end - times.t) / steps


def _check_kernel(kernel: KernelSpec, method: Method, t0: float, t1: float) -> None:
    if kernel.lanes != 1:
        raise ValueError(f"kernel: integrate takes a kernel of one lane, got {kernel.lanes}; see rk4_batch")
    if method not in ("dopri5", "dop853", "rk4"):
        raise ValueError(f"method: expected 'dopri5', 'dop853' or 'rk4', got {method!r}")
    if kernel.events is not None and t1 < t0:
        raise ValueError("t1: events happen forwards in time, and cannot be gone back over")


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
    _check_kernel(kernel, method, t0, t1)
    start = check_start(y0, kernel.n_y, t0, t1)
    absolute = check_tolerances(rtol, atol, kernel.n_y)
    check_quaternions(quaternions, kernel.n_y)
    if not max_step > 0:
        raise ValueError(f"max_step: must be positive, got {max_step}")
    asked = None if times is None else check_times(times, t0, t1)
    if kernel.events is not None:
        absolute = without_discrete(absolute, kernel.events.n_discrete)
    arguments, stages = (flat("p", p), flat("inputs", inputs)), len(tableau(method).nodes)
    run = LoopRun(
        kernel, start, (t0, t1), arguments, quaternions, asked, stages, max_steps, first_tick, LOOP_OF[method]
    )
    _set_method(run, method)
    if method == "rk4":
        _set_steps(run, step)
    else:
        options = run.memory.method
        options.rtol, options.atol, options.max_step = rtol, floats_of(absolute), max_step
        run.memory.step.h = abs(first_step or 0.0)
    run.set_breaks(flat("breaks", breaks), margin)
    if t0 == t1 or kernel.n_y == 0:
        return run.solution("done", "nothing to integrate")
    return run.solution(*run.drive(on_progress, chunk, on_long))
