"""Stiff problems: the BDF method of SUNDIALS (CVODE, through scikit-sundae), with the right side and Jacobian of the
caller.

Variable order 1 to 5, dense linear algebra. SUNDIALS takes one step at a time, so that progress, a wish to stop and
values that are not finite are dealt with between steps; requested times come from its own interpolant. A. C.
Hindmarsh et al., ACM Trans. Math. Softw. 31 (2005) 363.

Quaternions are brought to unit length in the output. The method remembers several steps back, so the state itself is
changed only when they are off by more than a hundred times the tolerance; the method then starts anew from there.
Not done here: sparse Jacobians, events.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from kinode.solve.integrators import (
    ATOL,
    RTOL,
    Array,
    Solution,
    Status,
    check_quaternions,
    check_start,
    check_times,
    check_tolerances,
)

Rate = Callable[[float, Array], npt.ArrayLike]
Jacobian = Callable[[float, Array], npt.ArrayLike]
_LOGS = ("SUNLOGGER_ERROR_FILENAME", "SUNLOGGER_WARNING_FILENAME")


@contextmanager
def _quiet() -> Iterator[None]:
    """SUNDIALS writes its own messages to the terminal; ours say the same and name the time."""
    added = [name for name in _LOGS if name not in os.environ]
    os.environ.update(dict.fromkeys(added, os.devnull))
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


def normalized(y: Array, quaternions: Sequence[int]) -> Array:
    """A copy in which the quaternions that begin at the given indices have unit length."""
    copy = y.copy()
    for start in quaternions:
        copy[start : start + 4] /= np.linalg.norm(copy[start : start + 4])
    return copy


class _Stiff:
    """One run: the solver, what it has reached and what it has met."""

    def __init__(self, rate: Rate, jacobian: Jacobian | None, n: int, options: dict[str, Any]) -> None:
        from sksundae.cvode import CVODE

        self.rate, self.jacobian, self.n = rate, jacobian, n
        self.evaluations = 0
        self.bad: tuple[float, int] | None = None
        with_jacobian = {} if jacobian is None else {"jacfn": self._fill_jacobian}
        self.solver = CVODE(self._fill_rate, method="BDF", **options, **with_jacobian)
        self.t, self.y = math.nan, np.zeros(n)
        self.rows: list[tuple[float, Array]] = []
        self.steps = 0

    def note(self, t: float, values: Array) -> None:
        """Remember the first row of values that is not finite since the last good step: it is where it began."""
        if self.bad is None and not np.isfinite(values).all():
            self.bad = (t, int(np.argwhere(~np.isfinite(values))[0][0]))

    def _fill_rate(self, t: float, y: Array, y_dot: Array) -> None:
        self.evaluations += 1
        y_dot[:] = self.rate(t, y)
        self.note(t, y_dot)

    def _fill_jacobian(self, t: float, y: Array, y_dot: Array, matrix: Array) -> None:
        assert self.jacobian is not None
        matrix[:] = self.jacobian(t, y)
        self.note(t, matrix)

    def start(self, t: float, y: Array) -> None:
        """Begin at a state, or begin anew there."""
        with _quiet():
            self.solver.init_step(t, y)
        self.t, self.y = t, y

    def store(self, t: float, y: Array, quaternions: Sequence[int]) -> None:
        """Add a row to the output, whole even if an interrupt comes now."""
        self.rows.append((t, normalized(y, quaternions)))

    def solution(self, outcome: tuple[Status, str], quaternions: Sequence[int]) -> Solution:
        """What was reached, as a record."""
        status, message = outcome
        failed = self.bad if status == "not finite" else None
        return Solution(
            t=np.array([t for t, _ in self.rows]),
            y=np.array([y for _, y in self.rows]).reshape(len(self.rows), self.n),
            status=status,
            message=message,
            steps=self.steps,
            rejected=0,
            evaluations=self.evaluations,
            t_end=self.t,
            y_end=normalized(self.y, quaternions),
            next_step=0.0,
            failed_component=None if failed is None else failed[1],
            failed_time=None if failed is None else failed[0],
        )


def _ending(run: _Stiff, result: Any, moved: float, t1: float) -> tuple[Status, str] | None:
    """Why the run cannot go on after a step, or None."""
    stuck = moved <= 16.0 * np.finfo(float).eps * max(abs(run.t), abs(t1) * 1e-9)
    if result.status >= 0 and not stuck and np.isfinite(result.y).all():
        run.bad = None
        return None
    run.note(float(result.t), result.y)
    if run.bad is not None:
        return "not finite", f"component {run.bad[1]} of the state is not finite at t = {run.bad[0]:.9g} s"
    if stuck:
        return (
            "step too small",
            f"the step became too small at t = {run.t:.9g} s: the motion is too abrupt to be followed",
        )
    return "failed", f"the stiff method failed at t = {run.t:.9g} s: {result.message}"


def _advance(
    run: _Stiff,
    t1: float,
    times: Array | None,
    quaternions: Sequence[int],
    limits: tuple[int, float],
    on_progress: Callable[[float], bool] | None,
) -> tuple[Status, str]:
    """Step after step to the end, or until something ends it."""
    max_steps, drift = limits
    sign = 1.0 if t1 >= run.t else -1.0
    waiting = 0 if times is None else int((times == run.t).sum())
    while run.t != t1:
        if run.steps >= max_steps:
            return "too many steps", f"the allowed number of steps was used up at t = {run.t:.9g} s"
        result = run.solver.step(t1, method="onestep", tstop=t1)
        t = float(result.t)
        if result.status >= 0 and t == run.t and waiting:
            # After an interpolated value SUNDIALS first hands out again where it stands.
            result = run.solver.step(t1, method="onestep", tstop=t1)
            t = float(result.t)
        outcome = _ending(run, result, (t - run.t) * sign, t1)
        if outcome is not None:
            return outcome
        run.t, run.y = t, result.y
        run.steps += 1
        if times is None:
            run.store(t, run.y, quaternions)
        while times is not None and waiting < len(times) and (times[waiting] - t) * sign <= 0.0:
            at = float(times[waiting])
            y = run.y if at == t else run.solver.step(at, method="normal", tstop=t1).y
            run.store(at, y, quaternions)
            waiting += 1
        if any(abs(np.linalg.norm(run.y[start : start + 4]) - 1.0) > drift for start in quaternions):
            run.start(t, normalized(run.y, quaternions))
        if on_progress is not None and on_progress(t) is False:
            return "stopped", f"stopped at t = {t:.9g} s"
    return "done", "reached the end"


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
    first_step: float | None = None,
    first_tick: int | None = None,
    max_steps: int = 10_000_000,
    on_progress: Callable[[float], bool] | None = None,
) -> Solution:
    """Integrate y' = rate(t, y) from t0 to t1, which may lie before t0, by BDF.

    ``jacobian(t, y)`` gives the matrix of the derivatives of the rate by y; None has it approximated by differences.
    Output is at ``times``, or at the method's own steps with the start included. ``on_progress(t)`` is called after
    each step and stops the run by returning False. A run that cannot go on does not raise: ``status`` and ``message``
    say why, and what was reached is there. What the callables raise is passed on, but for an interrupt.
    """
    given = np.asarray(y0, dtype=np.float64)
    start = check_start(given, given.size, t0, t1)
    absolute = check_tolerances(rtol, atol, start.size)
    check_quaternions(quaternions, start.size)
    asked = None if times is None else check_times(times, t0, t1)
    options: dict[str, Any] = {
        "rtol": float(rtol),
        "atol": absolute,
        "max_step": 0.0 if math.isinf(max_step) else float(max_step),
        "first_step": abs(first_step or 0.0),
        "max_num_steps": 500,
    }
    run = _Stiff(rate, jacobian, start.size, options)
    run.t, run.y = t0, start
    for _ in range(1 if asked is None else int((asked == t0).sum())):
        run.store(t0, start, quaternions)
    if t0 == t1 or start.size == 0:
        return run.solution(("done", "nothing to integrate"), quaternions)
    try:
        run.note(t0, np.asarray(rate(t0, start), dtype=np.float64))
        if run.bad is not None:
            said = f"component {run.bad[1]} of the state is not finite at t = {t0:.9g} s"
            return run.solution(("not finite", said), quaternions)
        run.start(t0, start)
        outcome = _advance(run, t1, asked, quaternions, (max_steps, max(1e-9, 100.0 * rtol)), on_progress)
    except KeyboardInterrupt:
        outcome = "interrupted", f"interrupted at t = {run.t:.9g} s"
    return run.solution(outcome, quaternions)
