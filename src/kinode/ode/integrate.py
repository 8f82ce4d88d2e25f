"""Integrates y' = f(t, y), f being machine code at an address, by the Runge-Kutta methods of method_table.py: explicit
ones with and without error control, and an implicit one for stiff problems.

No Python runs within a step. The compiled loop (loops/advance.py) returns after some 50 ms, for an interrupt, a
progress bar or a request to stop (run.py). A run that ends early keeps the states so far. Events and constraints are
part of the loop. Not done here: many runs at a time (rk4_batch.py).

`PreparedRun` is for integrations of one model that differ in start, parameters and inputs alone. What they have in
common is checked and laid out in memory once. A run in the memory of an earlier one begins in a tenth of the time that
it takes to lay one out, and gives the same numbers to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy.typing as npt

from kinode.jit.loop.memory import floats_of
from kinode.ode.input_table import CourseTable
from kinode.ode.kernel_spec import KernelSpec
from kinode.ode.loops.run_codes import Stepping
from kinode.ode.loops.run_memory import RunMemory
from kinode.ode.method_table import DEFAULT_METHOD, METHODS, IntegrationMethod
from kinode.ode.ode_arguments import (
    ATOL,
    RTOL,
    check_quaternions,
    check_start,
    check_times,
    check_tolerances,
    count_steps,
    flat,
    with_columns,
    without_discrete,
)
from kinode.ode.run import LoopRun, OnLong, OnNear
from kinode.ode.solution import OdeSolution
from kinode.ode.stiff_takeover import StiffTakeover, set_method
from kinode.ode.tableaus import Tableau

REFUSED_EXCESS = 10
"""A run at fixed step that needs more than so many times the allowed steps is refused before it begins."""


def _set_steps(run: LoopRun, step: float | None) -> None:
    """Give the loop the number and length of its fixed steps."""
    times = run.memory.step
    steps = count_steps(times.t, times.t_end, step)
    if steps > REFUSED_EXCESS * max(run.max_steps, 10_000_000):
        raise ValueError(f"step: {step} s would take {steps:.1e} steps, far beyond the {run.max_steps:.0e} allowed")
    run.memory.method.max_steps, times.h = steps, (times.t_end - times.t) / steps


def _check_kernel(kernel: KernelSpec, t0: float, t1: float) -> None:
    if kernel.lanes != 1:
        raise ValueError(f"kernel: integrate takes a kernel of one lane, got {kernel.lanes}; see rk4_batch")
    if kernel.events is not None and t1 < t0:
        raise ValueError("t1: events happen forwards in time; a run with events cannot go backwards")


def _find_method(name: str) -> tuple[IntegrationMethod, Tableau]:
    method = METHODS.get(name)
    if method is None:
        raise ValueError(f"method: expected one of {', '.join(METHODS)}, got {name!r}")
    return method, method.tableau()


def integrate(
    kernel: KernelSpec,
    y0: npt.ArrayLike,
    t0: float,
    t1: float,
    *,
    method: str = DEFAULT_METHOD,
    times: npt.ArrayLike | None = None,
    step: float | None = None,
    rtol: float = RTOL,
    atol: npt.ArrayLike = ATOL,
    p: npt.ArrayLike | None = None,
    inputs: npt.ArrayLike | None = None,
    courses: CourseTable | None = None,
    quaternions: Sequence[int] = (),
    max_step: float = math.inf,
    breaks: npt.ArrayLike = (),
    margin: float = 0.0,
    first_step: float | None = None,
    first_tick: int | None = None,
    max_steps: int = 100_000_000,
    on_progress: Callable[[float], bool] | None = None,
    on_long: tuple[int, OnLong] | None = None,
    chunk: int | None = None,
    stiff_kernel: Callable[[], KernelSpec] | None = None,
    on_near: OnNear | None = None,
) -> OdeSolution:
    """Integrate from t0 to t1, which may lie before t0.

    Output is at ``times``, or at the method's own steps with the start included. ``step`` is that of a method of fixed
    step; it is shortened a little where the interval is not a multiple of it. ``quaternions`` are the indices at which
    quaternions begin in y: they are brought to unit length after every step and in every sample. ``on_progress(t)`` is
    called some twenty times a second; the run stops when it returns False. ``chunk`` fixes the number of steps between
    such calls. ``courses`` are those of the ``inputs`` that change with time. ``on_long`` is a number of steps, and a
    function that is called with the time, the state and the number of steps so far; it returns the number after which
    it is called again, or an ending of the run.
    ``breaks`` are times, in order, at which the rate jumps or has a corner: steps end there. ``margin`` is their
    accuracy in s; the rate is never evaluated nearer to them. ``stiff_kernel`` gives the model with its derivatives: a
    method that names one for stiff problems then changes to it where stability bounds its steps. ``on_near(t, y)`` is
    called where a thousand steps in a row are near a singular position of loops; the run ends when it returns False.

    A run that cannot continue does not raise: ``ending`` says why, and the solution holds the states so far.
    """
    run = begin_run(
        kernel, y0, t0, t1, method=method, times=times, step=step, rtol=rtol, atol=atol, p=p, inputs=inputs,
        courses=courses, quaternions=quaternions, max_step=max_step, breaks=breaks, margin=margin,
        first_step=first_step, first_tick=first_tick, max_steps=max_steps,
    )  # fmt: skip
    allow_takeover(run, method, stiff_kernel)
    run.on_near = on_near
    return run.complete(on_progress, chunk, on_long)


def allow_takeover(run: LoopRun, method: str, stiff_kernel: Callable[[], KernelSpec] | None) -> None:
    """Let another method take the run over where stability bounds its steps, if its own method names one."""
    if stiff_kernel is not None and METHODS[method].then is not None:
        run.takeover = StiffTakeover(run, METHODS[method], stiff_kernel)


def begin_run(
    kernel: KernelSpec, y0: npt.ArrayLike, t0: float, t1: float, *, method: str = DEFAULT_METHOD,
    times: npt.ArrayLike | None = None, step: float | None = None, rtol: float = RTOL, atol: npt.ArrayLike = ATOL,
    p: npt.ArrayLike | None = None, inputs: npt.ArrayLike | None = None, courses: CourseTable | None = None,
    quaternions: Sequence[int] = (), max_step: float = math.inf, breaks: npt.ArrayLike = (), margin: float = 0.0,
    first_step: float | None = None, first_tick: int | None = None, max_steps: int = 100_000_000,
    memory: RunMemory | None = None,
) -> LoopRun:  # fmt: skip
    """A run before its first step; the arguments are those of ``integrate``, and are checked.

    ``memory`` is where the run is laid out, for a loop that keeps more than a run.
    """
    _check_kernel(kernel, t0, t1)
    chosen, table = _find_method(method)
    start = check_start(y0, kernel.n_row, t0, t1)
    absolute = check_tolerances(rtol, atol, kernel.n_y)
    check_quaternions(quaternions, kernel.n_y)
    if not max_step > 0:
        raise ValueError(f"max_step: must be positive, got {max_step}")
    output_times = None if times is None else check_times(times, t0, t1)
    if kernel.events is not None:
        absolute = without_discrete(absolute, kernel.events.n_discrete)
    if kernel.columns is not None:
        absolute = with_columns(absolute, kernel.columns.scales)
    arguments, stages = (flat("p", p), flat("inputs", inputs)), len(table.nodes)
    run = LoopRun(
        kernel, start, (t0, t1), arguments, quaternions, output_times, stages, max_steps, first_tick,
        chosen.find_loop(kernel.events is not None or kernel.bounds is not None), memory,
    )  # fmt: skip
    set_method(run, chosen, table)
    if chosen.fixed:
        _set_steps(run, step)
    else:
        options = run.memory.method
        options.rtol, options.atol, options.max_step = rtol, floats_of(absolute), max_step
        run.memory.step.h = abs(first_step or 0.0)
    if chosen.stepping == Stepping.IMPLICIT:
        from kinode.ode.newton_setup import set_newton  # few runs need it

        set_newton(run, kernel, table, rtol)
    run.set_breaks(flat("breaks", breaks), margin)
    if courses is not None:
        run.set_courses(courses)
    return run


class PreparedRun:
    """Runs of a model from t0 to t1; several threads may use it at a time.

    Parameters
    ----------
    kernel : KernelSpec
        The model.
    t0, t1 : float
        Start and end in s.
    **options
        Arguments of ``integrate`` that all runs have in common: method, times, step, tolerances, breaks and the like.
    """

    def __init__(self, kernel: KernelSpec, t0: float, t1: float, **options: Any) -> None:
        self.kernel, self.t0, self.t1, self.options = kernel, t0, t1, options
        self._idle: list[LoopRun] = []
        self._sizes: tuple[int, ...] | None = None  # of parameters and inputs

    @property
    def loop_name(self) -> str:
        """The name of the compiled loop."""
        eventful = self.kernel.events is not None or self.kernel.bounds is not None
        return METHODS[self.options.get("method", DEFAULT_METHOD)].find_loop(eventful)

    def begin(self, y0: npt.ArrayLike, p: npt.ArrayLike | None = None, inputs: npt.ArrayLike | None = None) -> LoopRun:
        """A run before its first step."""
        start = check_start(y0, self.kernel.n_row, self.t0, self.t1)
        arguments = flat("p", p), flat("inputs", inputs)
        sizes = tuple(map(len, arguments))
        if self._sizes not in (None, sizes):
            raise ValueError(f"p, inputs: {self._sizes} numbers are expected as in the runs before, not {sizes}")
        try:
            run = self._idle.pop()
        except IndexError:
            run = begin_run(self.kernel, start, self.t0, self.t1, p=arguments[0], inputs=arguments[1], **self.options)
            run.keep_layout()
            self._sizes = sizes
            return run
        run.begin_again(start, arguments)
        return run

    def solve(
        self, y0: npt.ArrayLike, p: npt.ArrayLike | None = None, inputs: npt.ArrayLike | None = None, *,
        on_progress: Callable[[float], bool] | None = None, on_long: tuple[int, OnLong] | None = None,
        stiff_kernel: Callable[[], KernelSpec] | None = None, on_near: OnNear | None = None,
    ) -> OdeSolution:  # fmt: skip
        """The run from a start with some parameters and inputs; the arguments are those of ``integrate``."""
        run = self.begin(y0, p, inputs)
        allow_takeover(run, self.options.get("method", DEFAULT_METHOD), stiff_kernel)
        run.on_near = on_near
        solution = run.complete(on_progress, None, on_long)
        self._keep(run)
        return solution

    def _keep(self, run: LoopRun) -> None:
        """Keep the memory of a run for others, unless it is laid out for another method."""
        if run.takeover is None or run.takeover.time is None:
            run.release_output()
            self._idle.append(run)
