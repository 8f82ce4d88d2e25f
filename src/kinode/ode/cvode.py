"""Stiff problems: the BDF method of SUNDIALS (CVODE, through scikit-sundae), with the right side and Jacobian of the
caller.

Variable order 1 to 5, dense linear algebra. SUNDIALS takes one step at a time; progress, a request to stop and values
that are not finite are handled between steps. Output times come from its own interpolant. A. C. Hindmarsh et al., ACM
Trans. Math. Softw. 31 (2005) 363.

Quaternions are normalized in the output. A multistep method must not change its state between steps. So the state
itself is normalized only when the norm is off by more than a hundred times the tolerance; the method then starts anew.
SUNDIALS does not integrate discrete states; after each event it starts anew.
Not done here: sparse Jacobians.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kinode.ode import compiled_loops
from kinode.ode.cvode_events import EventSearch
from kinode.ode.endings import Ending, EndKind, interrupted_at, reached_end, stopped_at
from kinode.ode.input_table import CourseTable
from kinode.ode.kernel_spec import KernelSpec
from kinode.ode.loops.loop_primitives import law_time
from kinode.ode.loops.run_codes import Hidden, Outcome, Pending, Stepping
from kinode.ode.method_table import find_stiff_method
from kinode.ode.ode_arguments import (
    ATOL,
    RTOL,
    Array,
    check_quaternions,
    check_start,
    check_times,
    check_tolerances,
    flat,
    normalized,
)
from kinode.ode.run import LoopRun, OnLong
from kinode.ode.solution import OdeSolution

Rate = Callable[[float, Array], npt.ArrayLike]
Jacobian = Callable[[float, Array], npt.ArrayLike]
MAX_SMALL_STEPS = 10
"""Steps as small as the rounding of time, in a row, after which the run ends; the first after a start may be so."""
_LOGS = ("SUNLOGGER_ERROR_FILENAME", "SUNLOGGER_WARNING_FILENAME")


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep SUNDIALS from writing messages to the terminal; the ending of the run has them, with the time."""
    added = [name for name in _LOGS if name not in os.environ]
    os.environ.update(dict.fromkeys(added, os.devnull))
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


class _SolverStep(NamedTuple):
    """A step of SUNDIALS: time and state at its end, status and message."""

    t: float
    y: Array
    status: int
    message: str


class StiffRun(LoopRun):
    """One run: the loop requests steps and states, SUNDIALS computes them."""

    def __init__(
        self, rate: Rate, jacobian: Jacobian | None, kernel: KernelSpec, y0: Array, span: tuple[float, float],
        arguments: tuple[Array, Array], quaternions: Sequence[int], times: Array | None, max_steps: int,
        first_tick: int | None, options: dict[str, Any],
    ) -> None:  # fmt: skip
        try:
            from sksundae.cvode import CVODE
        except ImportError:
            message = f"method: 'cvode' needs the package scikit-sundae; '{find_stiff_method()}' needs no other package"
            message += ". To have it: pip install 'kinode[cvode]'"
            raise ValueError(message) from None
        super().__init__(kernel, y0, span, arguments, quaternions, times, 2, max_steps, first_tick)
        self.memory.method.stepping, self.memory.method.last = Stepping.OUTSIDE, 1
        self.look_until = -math.inf  # time up to which steps end, to see what a longer one passed over
        self.memory.clocks.modes_depend = 1  # event functions are not known in the state before a tick
        self.rate, self.jacobian, self.quaternions = rate, jacobian, quaternions
        self.n_continuous = kernel.n_y - (0 if kernel.events is None else kernel.events.n_discrete)
        self.search = None if self.events is None else EventSearch(self)
        self.drift = max(1e-9, 100.0 * options["rtol"])
        self.longest = options["max_step"] or math.inf
        options = options | {"atol": options["atol"][: self.n_continuous]}
        with_jacobian = {} if jacobian is None else {"jacfn": self._fill_jacobian}
        self.solver = CVODE(self._fill_rate, method="BDF", **options, **with_jacobian)
        self.evaluations, self.small_steps = 0, 0
        self.bad: tuple[float, int] | None = None
        self._t_stop, self._end = math.nan, _SolverStep(math.nan, y0, 0, "")
        self._interpolated = False  # after an interpolation SUNDIALS first returns its present state again

    def _note_not_finite(self, t: float, values: Array) -> None:
        """Remember time and index of the first value that is not finite since the last good step."""
        if self.bad is None and not np.isfinite(values).all():
            self.bad = (t, int(np.argwhere(~np.isfinite(values))[0][0]))

    def _fill_rate(self, t: float, y: Array, y_dot: Array) -> None:
        self.evaluations += 1
        y_dot[:] = np.asarray(self.rate(law_time(self.memory, t), self._with_discrete(y)))[: self.n_continuous]
        self._note_not_finite(t, y_dot)

    def _fill_jacobian(self, t: float, y: Array, y_dot: Array, matrix: Array) -> None:
        assert self.jacobian is not None
        full = np.asarray(self.jacobian(law_time(self.memory, t), self._with_discrete(y)))
        matrix[:] = full[: self.n_continuous, : self.n_continuous]
        self._note_not_finite(t, matrix)

    def _with_discrete(self, y: Array) -> Array:
        """The whole state: continuous entries y, and the discrete states."""
        return np.concatenate([y, self.y[self.n_continuous :]]) if self.n_continuous < self.y.size else y

    def _restart(self) -> None:
        """Start SUNDIALS at the present state."""
        self.memory.counts.restarted, self._interpolated = 0, False
        if self.n_continuous:
            with _quiet():
                self.solver.init_step(self.memory.step.t, self.y[: self.n_continuous].copy())

    def _solve(self) -> _SolverStep:
        """One step of SUNDIALS, at most to the next instant; without continuous states only time goes on."""
        t, stop = self.memory.step.t, self._t_stop
        if not self.n_continuous:
            return _SolverStep(min(stop, t + self.longest), np.zeros(0), 0, "")
        result = self.solver.step(stop, method="onestep", tstop=stop)
        if result.status >= 0 and float(result.t) == t and self._interpolated:
            result = self.solver.step(stop, method="onestep", tstop=stop)
        return _SolverStep(float(result.t), result.y, result.status, result.message)

    def _state(self, t: float) -> Array:
        """The whole state at a time within the last step."""
        if t == self._end.t or not self.n_continuous:
            return self._with_discrete(self._end.y)
        self._interpolated = True
        return self._with_discrete(self.solver.step(t, method="normal", tstop=self._t_stop).y)

    def _take_step(self) -> Ending | None:
        """Take the step that the loop requests, up to the first event in it; returns an ending if there is none."""
        memory, step, counts = self.memory, self.memory.step, self.memory.counts
        if counts.steps >= self.max_steps:
            return self.describe(Outcome.TOO_MANY_STEPS)
        drifted = any(abs(np.linalg.norm(self.y[k : k + 4]) - 1.0) > self.drift for k in self.quaternions)
        if drifted:
            self.y[:] = normalized(self.y, self.quaternions)
            counts.restarted = 1
        if counts.restarted:
            if counts.steps == 0:
                self._note_not_finite(step.t, np.asarray(self.rate(law_time(memory, step.t), self.y), dtype=np.float64))
                if self.bad is not None:
                    return self._not_finite()
            self._restart()
        before, hidden = step.t, int(Hidden.LAW)
        while hidden == Hidden.LAW:
            self._t_stop = min(step.t_end, memory.clocks.time, memory.breaks.time)
            self._t_stop = min(self._t_stop, self.look_until) if self.look_until > before else self._t_stop
            self._end = self._solve()
            ending = self._ending(self._end)
            if ending is not None:
                return ending
            hidden = self._find_hidden(before)
        self._interpolated = False
        hit = None if self.search is None else self.search.find(before, self._end.t, self._state)
        if hit is None and self.search is not None:
            hit = self._find_covered(before)
        self._interpolated = self._interpolated or self.search is not None
        step.t_new = self._end.t if hit is None else hit
        self.y_new[:], step.t_requested = self._state(step.t_new), math.nan
        step.h_done = step.t_new - before or math.copysign(
            1.0, step.t_end - step.t_start
        )  # its sign gives the direction
        counts.pending = Pending.STEPPED if hit is None else Pending.STEPPED_TO_EVENT
        counts.steps += 1
        return None

    def _find_hidden(self, before: float) -> int:
        """Look for laws that neither end of the step has seen; if there are any, steps end there, and it is redone."""
        if not self.memory.bounds.n_laws or self._end.t == before:
            return Hidden.NOTHING
        hidden = self._check_bounds(before)
        if hidden == Hidden.LAW:
            self.look_until = before + self.memory.bounds.share * (self._end.t - before)
            if not before < self.look_until < self._end.t:
                return Hidden.NOTHING
            self._restart()
        return hidden

    def _find_covered(self, before: float) -> float | None:
        """The time of an event that bounds show between two evaluations of event functions; None if there is none."""
        bounds, length = self.memory.bounds, self._end.t - before
        if bounds.count == bounds.n_laws or not length > 0.0:
            return None
        assert self.events is not None and self.search is not None
        self.events.g_before[:] = self.search.at_start
        if self._check_bounds(before) != Hidden.EVENT:
            return None
        return self.search.confirm(before + bounds.left * length, before + bounds.share * length, self._state)

    def _check_bounds(self, before: float) -> int:
        """What bounds show in the last step of SUNDIALS."""
        step, end = self.memory.step, self._end
        step.t_new, step.h_done = end.t, end.t - before
        self.y_new[:] = self._with_discrete(end.y)
        self.slopes[0] = self.rate(law_time(self.memory, before), self.y)
        self.slopes[1] = self.rate(law_time(self.memory, end.t), self.y_new)
        return compiled_loops.loop("check_bounds")(self.memory)

    def _not_finite(self) -> Ending:
        """The ending for a value that is not finite."""
        assert self.bad is not None
        self.memory.step.failed_time, self.memory.counts.failed = self.bad
        return self.describe(Outcome.NOT_FINITE)

    def _ending(self, result: _SolverStep) -> Ending | None:
        """The ending if the run cannot continue after a step, else None."""
        step = self.memory.step
        length, eps = abs(result.t - step.t), float(np.finfo(float).eps)
        small = length <= max(16.0 * eps * abs(step.t), step.least)
        self.small_steps = self.small_steps + 1 if small else 0
        stuck = self.small_steps > MAX_SMALL_STEPS
        if result.status >= 0 and not stuck and np.isfinite(result.y).all():
            self.bad = self.bad if small else None
            return None
        self._note_not_finite(result.t, result.y)
        if self.bad is not None:
            return self._not_finite()
        if stuck:
            return self.describe(Outcome.STEP_TOO_SMALL)
        message = f"cvode failed at t = {self.now:.9g} s: {result.message}"
        return Ending(EndKind.SOLVER_FAILED, self.now, message)

    def follow(self, on_progress: Callable[[float], bool] | None, on_long: tuple[int, OnLong] | None = None) -> Ending:
        """Serve the loop's requests for steps and states until the run ends."""
        advance, memory = compiled_loops.loop("advance_outside"), self.memory
        ending: Ending | None = None
        try:
            while ending is None:
                memory.counts.budget = 1
                code = advance(memory)
                if code == Outcome.STEP_WANTED:
                    if memory.counts.steps and on_progress is not None and on_progress(self.now) is False:
                        return stopped_at(self.now)
                    if on_long is not None and memory.counts.steps >= on_long[0]:
                        later = on_long[1](self.now, self.y.copy(), memory.counts.steps, self.n_events)
                        if isinstance(later, Ending):
                            return later
                        on_long = later, on_long[1]
                    ending = self._take_step()
                elif code == Outcome.STATE_WANTED:
                    self.between[:] = self._state(memory.step.t_requested)
                elif code == Outcome.DONE:
                    return reached_end(self.now)
                elif not self.serve(code):
                    ending = self.describe(code)
        except KeyboardInterrupt:
            return interrupted_at(self.now)
        return ending

    def solution(self, ending: Ending) -> OdeSolution:
        """The results of the run so far, with normalized quaternions."""
        solution = super().solution(ending)
        for row in solution.y:
            row[:] = normalized(row, self.quaternions)
        y_end = normalized(solution.y_end, self.quaternions)
        return replace(solution, y_end=y_end, evaluations=self.evaluations, next_step=0.0)


def integrate_stiff(
    rate: Rate,
    jacobian: Jacobian | None,
    y0: npt.ArrayLike,
    t0: float,
    t1: float,
    *,
    times: npt.ArrayLike | None = None,
    rtol: float = RTOL,
    atol: npt.ArrayLike = ATOL,
    quaternions: Sequence[int] = (),
    max_step: float = math.inf,
    breaks: npt.ArrayLike = (),
    margin: float = 0.0,
    first_step: float | None = None,
    first_tick: int | None = None,
    max_steps: int = 10_000_000,
    on_progress: Callable[[float], bool] | None = None,
    on_long: tuple[int, OnLong] | None = None,
    model: tuple[KernelSpec, Array, Array] | None = None,
    courses: CourseTable | None = None,
) -> OdeSolution:
    """Integrate y' = rate(t, y) from t0 to t1, which may lie before t0, by BDF.

    ``jacobian(t, y)`` gives the matrix of the derivatives of the rate by y; None approximates it by differences.
    Output is at ``times``, or at the method's own steps with the start included. ``on_progress(t)`` is called after
    each step and stops the run by returning False. ``on_long`` is that of ``integrate``. ``model`` has compiled events
    and bounds, with the parameters and inputs of their kernels; ``courses`` are those of inputs that change. At
    ``breaks`` the rate jumps or has a corner: the method starts anew there, and the rate is evaluated no nearer to them
    than ``margin`` in s. A run that cannot continue does not raise: ``ending`` says why, and the solution holds the
    states so far. Exceptions of the callables are raised, except an interrupt.
    """
    initial = np.asarray(y0, dtype=np.float64)
    start = check_start(initial, initial.size, t0, t1)
    absolute = check_tolerances(rtol, atol, start.size)
    check_quaternions(quaternions, start.size)
    output_times = None if times is None else check_times(times, t0, t1)
    kernel, arguments = KernelSpec(0, 0, 0, start.size), (np.zeros(0), np.zeros(0))
    if model is not None:
        kernel, arguments = model[0], model[1:]
        if kernel.events is not None and t1 < t0:
            raise ValueError("t1: events happen forwards in time; a run with events cannot go backwards")
    options: dict[str, Any] = {
        "rtol": float(rtol),
        "atol": absolute,
        "max_step": 0.0 if math.isinf(max_step) else float(max_step),
        "first_step": abs(first_step or 0.0),
        "max_num_steps": 500,
    }
    run = StiffRun(
        rate, jacobian, kernel, start, (t0, t1), arguments, quaternions, output_times, max_steps, first_tick, options
    )  # fmt: skip
    run.set_breaks(flat("breaks", breaks), margin)
    if courses is not None:
        run.set_courses(courses)
    if t0 == t1 or start.size == 0:
        return run.solution(Ending(EndKind.DONE, t1, "nothing to integrate"))
    return run.solution(run.follow(on_progress, on_long))
