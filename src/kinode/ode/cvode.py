"""Stiff problems: the BDF method of SUNDIALS (CVODE, through scikit-sundae), with the right side and Jacobian of the
caller.

Variable order 1 to 5, dense linear algebra. SUNDIALS takes one step at a time, so that progress, a wish to stop and
values that are not finite are dealt with between steps; requested times come from its own interpolant. A. C.
Hindmarsh et al., ACM Trans. Math. Softw. 31 (2005) 363.

Quaternions are brought to unit length in the output. The method remembers several steps back, so the state itself is
changed only when they are off by more than a hundred times the tolerance; the method then starts anew from there.
Entries of the state that only events change are no part of what SUNDIALS integrates; after each event it starts anew.
Not done here: sparse Jacobians.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from kinode.ode.cvode_events import Served
from kinode.ode.integrate import (
    ATOL,
    RTOL,
    Array,
    KernelSpec,
    OdeSolution,
    OdeStatus,
    check_quaternions,
    check_start,
    check_times,
    check_tolerances,
    flat,
)
from kinode.ode.loops import memory_layout as R

Rate = Callable[[float, Array], npt.ArrayLike]
Jacobian = Callable[[float, Array], npt.ArrayLike]
AT_ONCE = 4.0 * float(np.finfo(float).eps)
"""Of the time: an output time nearer than that to an event is at the event."""
SMALL_STEPS = 10
"""In a row, after which there is no way on; the first after a start may be as small as time can tell."""
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


class _Pieces:
    """Laws of time between their breaks: they are seen, at the breaks too, as they are in the present piece."""

    def __init__(self, breaks: Array, margin: float) -> None:
        self.breaks, self.margin = breaks, margin
        self.next, self.low, self.high = math.inf, -math.inf, math.inf

    def begin(self, t: float) -> None:
        """Go on from a time."""
        k = int(np.searchsorted(self.breaks, t, "right"))
        self.low = float(self.breaks[k - 1]) + self.margin if k else -math.inf
        self.next = float(self.breaks[k]) if k < len(self.breaks) else math.inf
        self.high = self.next - self.margin

    def seen(self, t: float) -> float:
        """The time at which laws are looked at for another."""
        return min(max(t, self.low), self.high)


class _Stiff:
    """One run: the solver, what it has reached and what it has met."""

    def __init__(
        self, rate: Rate, jacobian: Jacobian | None, n: int, options: dict[str, Any], served: Served | None,
        pieces: _Pieces,
    ) -> None:  # fmt: skip
        from sksundae.cvode import CVODE

        self.rate, self.jacobian, self.n, self.served, self.pieces = rate, jacobian, n, served, pieces
        self.moving = n - (0 if served is None else served.n_held)  # entries that are integrated
        self.held = np.zeros(n - self.moving)
        self.evaluations = 0
        self.bad: tuple[float, int] | None = None
        with_jacobian = {} if jacobian is None else {"jacfn": self._fill_jacobian}
        self.solver = CVODE(self._fill_rate, method="BDF", **options, **with_jacobian)
        self.longest = options["max_step"] or math.inf
        self.t, self.y = math.nan, np.zeros(n)
        self.rows: list[tuple[float, Array]] = []
        self.steps, self.small_steps = 0, 0

    def note(self, t: float, values: Array) -> None:
        """Remember the first row of values that is not finite since the last good step: it is where it began."""
        if self.bad is None and not np.isfinite(values).all():
            self.bad = (t, int(np.argwhere(~np.isfinite(values))[0][0]))

    def _fill_rate(self, t: float, y: Array, y_dot: Array) -> None:
        self.evaluations += 1
        y_dot[:] = np.asarray(self.rate(self.pieces.seen(t), self.whole(y)))[: self.moving]
        self.note(t, y_dot)

    def _fill_jacobian(self, t: float, y: Array, y_dot: Array, matrix: Array) -> None:
        assert self.jacobian is not None
        matrix[:] = np.asarray(self.jacobian(self.pieces.seen(t), self.whole(y)))[: self.moving, : self.moving]
        self.note(t, matrix)

    def whole(self, y: Array) -> Array:
        """The state with the entries that only events change."""
        return np.concatenate([y, self.held]) if len(self.held) else y

    def begin_piece(self, t: float) -> None:
        """Go on with laws of time as they are from now on."""
        self.pieces.begin(t)
        if self.served is not None:
            self.served.see(self.pieces.low, self.pieces.high)

    def start(self, t: float, y: Array) -> None:
        """Begin at a whole state, or begin anew there."""
        self.held = y[self.moving :].copy()
        if self.moving:
            with _quiet():
                self.solver.init_step(t, y[: self.moving].copy())
        self.t, self.y = t, y

    def step(self, stop: float, again: bool) -> Any:
        """One step of SUNDIALS, which after an interpolated value first hands out again where it stands."""
        result = self.solver.step(stop, method="onestep", tstop=stop)
        if result.status >= 0 and float(result.t) == self.t and again:
            result = self.solver.step(stop, method="onestep", tstop=stop)
        return result

    def inside(self, t: float, stop: float, end: tuple[float, Array]) -> Array:
        """The whole state at a time within the last step, which ended as given."""
        still = t == end[0] or not self.moving
        return end[1] if still else self.whole(self.solver.step(t, method="normal", tstop=stop).y)

    def store(self, t: float, y: Array, quaternions: Sequence[int]) -> None:
        """Add a row to the output, whole even if an interrupt comes now."""
        self.rows.append((t, normalized(y, quaternions)))

    def solution(self, outcome: tuple[OdeStatus, str], quaternions: Sequence[int]) -> OdeSolution:
        """What was reached, as a record."""
        status, message = outcome
        failed = self.bad if status == "not finite" else None
        return OdeSolution(
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
            events=() if self.served is None else self.served.fired(),
            next_tick=None if self.served is None else self.served.next_tick,
            failed_component=None if failed is None else failed[1],
            failed_time=None if failed is None else failed[0],
        )


def _ending(run: _Stiff, result: Any, moved: float, t1: float) -> tuple[OdeStatus, str] | None:
    """Why the run cannot go on after a step, or None."""
    small = moved <= 16.0 * np.finfo(float).eps * max(abs(run.t), abs(t1) * 1e-9)
    run.small_steps = run.small_steps + 1 if small else 0
    stuck = run.small_steps > SMALL_STEPS
    if result.status >= 0 and not stuck and np.isfinite(result.y).all():
        run.bad = run.bad if small else None
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


class _Output:
    """The times asked for, or all steps; how many are stored."""

    def __init__(self, run: _Stiff, times: Array | None, quaternions: Sequence[int], sign: float) -> None:
        self.run, self.times, self.quaternions, self.sign = run, times, quaternions, sign
        self.stored = 0

    def write(self, t: float, state: Callable[[float], Array], later: bool = False, slack: float = 0.0) -> bool:
        """Store what the step to a time holds, or leave that time for later; whether anything was interpolated."""
        if self.times is None:
            self.run.store(t, state(t), self.quaternions)
            return False
        inside = False
        while self.stored < len(self.times):
            at = float(self.times[self.stored])
            beyond = (at - t) * self.sign
            if beyond > slack or (later and beyond >= -AT_ONCE * abs(at)):
                break
            inside = inside or at != t
            self.run.store(at, state(at), self.quaternions)
            self.stored += 1
        return inside

    def write_changed(self, t: float, y: Array) -> None:
        """Store the state after what happened at once, if that is another."""
        if self.times is not None or not self.run.rows or not np.array_equal(self.run.rows[-1][1], y):
            self.write(t, lambda _: y, slack=AT_ONCE * abs(t))


def _change(run: _Stiff, output: _Output, t: float, y: Array, pending: int) -> tuple[OdeStatus, str] | None:
    """What happens at once, and the start from there; or why the run ends."""
    assert run.served is not None
    after, why = run.served.change(t, y, pending)
    run.start(t, after)
    output.write_changed(t, after)
    return None if why is None else ("not finite" if "not finite" in why else "failed", why)


def _advance(
    run: _Stiff, t1: float, output: _Output, limits: tuple[int, float], on_progress: Callable[[float], bool] | None
) -> tuple[OdeStatus, str]:
    """Step after step to the end, or until something ends it."""
    max_steps, drift = limits
    served, again, sign = run.served, False, output.sign
    while run.t != t1:
        if run.steps >= max_steps:
            return "too many steps", f"the allowed number of steps was used up at t = {run.t:.9g} s"
        broken, ticked = run.t == run.pieces.next, served is not None and run.t == served.tick_time
        if broken:
            run.begin_piece(run.t)
        if broken and served is None:
            run.start(run.t, run.y)
        elif broken or ticked:
            outcome = _change(run, output, run.t, run.y, R.TICKED if ticked else R.CHANGED)
            if outcome is not None:
                return outcome
        again = again and not (broken or ticked)
        stop = t1 if served is None else served.stop(t1)
        stop = min(stop, run.pieces.next)
        result = run.step(stop, again) if run.moving else _Still(min(stop, run.t + run.longest))
        t, before = float(result.t), run.t
        outcome = _ending(run, result, (t - before) * sign, t1)
        if outcome is not None:
            return outcome
        end = t, run.whole(result.y)

        def state(at: float, end: tuple[float, Array] = end, stop: float = stop) -> Array:
            return run.inside(at, stop, end)

        hit = None if served is None else served.find(before, t, state)
        again = hit is not None or served is not None
        run.t = t if hit is None else hit
        run.y = state(run.t)
        run.steps += 1
        tick = served is not None and run.t in (served.tick_time, run.pieces.next) and run.t != t1
        again = output.write(run.t, state, later=hit is not None or tick) or again
        if hit is not None:
            outcome = _change(run, output, hit, run.y, R.FIRED)
            again = False
            if outcome is not None:
                return outcome
        elif any(abs(np.linalg.norm(run.y[start : start + 4]) - 1.0) > drift for start in output.quaternions):
            run.start(run.t, normalized(run.y, output.quaternions))
        if on_progress is not None and on_progress(run.t) is False:
            return "stopped", f"stopped at t = {run.t:.9g} s"
    return "done", "reached the end"


class _Still:
    """A step of a state of which nothing moves."""

    status, y, message = 0, np.zeros(0), ""

    def __init__(self, t: float) -> None:
        self.t = t


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
    events: tuple[KernelSpec, Array, Array] | None = None,
) -> OdeSolution:
    """Integrate y' = rate(t, y) from t0 to t1, which may lie before t0, by BDF.

    ``jacobian(t, y)`` gives the matrix of the derivatives of the rate by y; None has it approximated by differences.
    Output is at ``times``, or at the method's own steps with the start included. ``on_progress(t)`` is called after
    each step and stops the run by returning False. ``events`` are compiled, with the parameters and inputs of their
    kernels (``KernelSpec.events``). At ``breaks`` the rate jumps or has a corner: the method begins anew there, and
    the rate is asked for no nearer than ``margin``. A run that cannot go on does not raise: ``status`` and ``message``
    say why, and what was reached is there. What the callables raise is passed on, but for an interrupt.
    """
    given = np.asarray(y0, dtype=np.float64)
    start = check_start(given, given.size, t0, t1)
    absolute = check_tolerances(rtol, atol, start.size)
    check_quaternions(quaternions, start.size)
    asked = None if times is None else check_times(times, t0, t1)
    served = None
    if events is not None:
        if t1 < t0:
            raise ValueError("t1: events happen forwards in time, and cannot be gone back over")
        served = Served(events[0], events[1:], quaternions, (t0, t1), first_tick)
    options: dict[str, Any] = {
        "rtol": float(rtol),
        "atol": absolute if served is None else absolute[: start.size - served.n_held],
        "max_step": 0.0 if math.isinf(max_step) else float(max_step),
        "first_step": abs(first_step or 0.0),
        "max_num_steps": 500,
    }
    run = _Stiff(rate, jacobian, start.size, options, served, _Pieces(flat("breaks", breaks), margin))
    run.t, run.y = t0, start
    run.begin_piece(t0)
    output = _Output(run, asked, quaternions, 1.0 if t1 >= t0 else -1.0)
    if served is None or t0 == t1:
        output.write(t0, lambda _: start)
    if t0 == t1 or start.size == 0:
        return run.solution(("done", "nothing to integrate"), quaternions)
    try:
        begun = None if served is None else _change(run, output, t0, start, R.CHANGED)
        if begun is not None:
            return run.solution(begun, quaternions)
        run.note(t0, np.asarray(rate(run.pieces.seen(t0), run.y), dtype=np.float64))
        if run.bad is not None:
            said = f"component {run.bad[1]} of the state is not finite at t = {t0:.9g} s"
            return run.solution(("not finite", said), quaternions)
        run.start(t0, run.y)
        outcome = _advance(run, t1, output, (max_steps, max(1e-9, 100.0 * rtol)), on_progress)
    except KeyboardInterrupt:
        outcome = "interrupted", f"interrupted at t = {run.t:.9g} s"
    return run.solution(outcome, quaternions)
