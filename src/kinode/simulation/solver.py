"""Integrates a compiled system from a start state: checks the arguments, picks the method, keeps the states.

``compute_motion`` does not raise for a failure during the run: the ``StateHistory`` holds how far it came and why it
ended.  ``kn.simulate`` (tasks/simulate.py) makes a trajectory of it.  Stop conditions are in stop_conditions.py, the
explanation of failures in failures.py, the methods in ode/integrate.py.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import ArgumentError, AssemblyError, Error, ModelError, caller_depth, counted, find_close, suggest
from kinode.kernels.state import State
from kinode.model.joints.end_stops import passed_end
from kinode.ode.endings import Ending, EndKind
from kinode.ode.input_table import Inputs, split_inputs
from kinode.ode.integrate import PreparedRun, integrate
from kinode.ode.kernel_spec import Fired, KernelSpec
from kinode.ode.loops.run_codes import Stepping
from kinode.ode.method_table import DEFAULT_METHOD, FORMER_METHODS, METHODS, find_stiff_method, name_fixed
from kinode.ode.ode_arguments import ATOL, RTOL
from kinode.ode.solution import OdeSolution, SingularPass
from kinode.simulation.column_values import RunColumns, StartColumns, describe_lost, join_row
from kinode.simulation.run_kernels import find_kernel, find_prepared
from kinode.simulation.run_length import LengthWatch, check_lengths
from kinode.simulation.time_events import LawTimes, find_law_times

if TYPE_CHECKING:
    from kinode.simulation.row_monitor import RowMonitor

CLOSED_TOLERANCE = 1e-6
"""Largest closure error of a start, as a share of the mechanism's size; the first step removes a smaller one."""
END_STOP_TOLERANCE = 1e-6
"""Distance by which a start may lie beyond a rigid end stop: share of its position, or m or rad.  Runs stay within."""
DRIVEN_SAMPLES = 1000
"""Samples of a run without states, where no times are given."""
MOST_TAKEN_OVER = 64
"""States up to which a method for stiff systems takes over: its matrices grow with the square of their number."""
MAX_ROW_CHOICES = 4
"""Sets of independent constraint rows that a run is tried with."""

OnProgress = Callable[[float], bool]


@dataclass(frozen=True)
class Options:
    """Checked options of an integration: method, step lengths in s, tolerances."""

    method: str = DEFAULT_METHOD
    step: float | None = None
    rtol: float = RTOL
    atol: Any = ATOL
    max_step: float = math.inf


@dataclass(frozen=True, eq=False)
class StateHistory:
    """States over time, y[k] = [q, u, z] at t[k], and how the run ended."""

    t: Array
    y: Array
    p: Array
    inputs: Inputs
    ending: Ending
    t_end: float
    y_end: Array
    steps: int = 0
    evaluations: int = 0
    passes: tuple[SingularPass, ...] = ()
    """Passes near singular positions."""
    fired: tuple[Fired, ...] = ()
    """The event functions that triggered, with their times."""
    dynamics: Dynamics | None = None
    """The system as it was compiled for this motion."""
    method: str = DEFAULT_METHOD
    """The method of integration."""
    bound_from: float | None = None
    """Time in s from which on stability bounded its steps, if it did."""
    taken_over: float | None = None
    """Time in s at which a method for stiff systems took over, if one did."""
    columns: RunColumns | None = None
    """Derivatives of the states, if they were integrated."""

    @property
    def stiffness(self) -> dict[str, str]:
        """What is to be said of a stiff system: which method took over, or which one would do with fewer steps."""
        if self.taken_over is None and self.bound_from is None:
            return {}
        other = find_stiff_method()
        if self.taken_over is not None:
            return {"stiff": f"from t = {self.taken_over:.6g} s on by the method {other}"}
        since = f"from t = {self.bound_from:.6g} s on stability bounds the steps"
        return {"stiff": f'{since}: method="{other}" may do with fewer'}


def replace_former(name: str) -> str:
    """The name of a method, or of the one that is taken in the place of a former one, with a warning."""
    if name not in FORMER_METHODS:
        return name
    message = f'method: "{name}" is taken as "{FORMER_METHODS[name]}"; kinode runs no integrators of others any more'
    warnings.warn(message, FutureWarning, stacklevel=caller_depth())
    return FORMER_METHODS[name]


def check_options(method: str, step: Any, rtol: Any, atol: Any, max_step: Any) -> Options:
    """The options of the method as plain numbers; raises ``ArgumentError`` for impossible ones."""
    method = replace_former(method)
    if method not in METHODS:
        near = find_close(str(method), METHODS)
        message = suggest(f"method: there is no {method!r}", method, near)
        raise ArgumentError(f"{message}{' The' if near else '; the'} methods are {', '.join(METHODS)}")
    relative = _positive("rtol", rtol)
    if not (isinstance(atol, float) and 0.0 < atol < math.inf):
        _check_absolute(atol)
    if not 1e-15 <= relative < 1.0:
        raise ArgumentError(f"rtol: a number from 1e-15 to 1 is expected, not {rtol!r}")
    if METHODS[method].fixed and step is None:
        raise ArgumentError(f'step: method "{method}" needs the length of its steps in seconds')
    if not METHODS[method].fixed and step is not None:
        raise ArgumentError(f'step: "{method}" chooses its steps itself; use max_step=, or method="{name_fixed()}"')
    fixed = None if step is None else _positive("step", step)
    return Options(method, fixed, relative, atol, math.inf if max_step is None else _positive("max_step", max_step))


def _check_absolute(atol: Any) -> None:
    """Raise for an absolute tolerance that is not a positive number, or one for each state."""
    try:
        absolute = np.asarray(atol, dtype=float)
    except (TypeError, ValueError):
        raise ArgumentError(f"atol: a number, or one for each state, is expected, not {atol!r}") from None
    if not np.isfinite(absolute).all() or not (absolute > 0).all():
        raise ArgumentError(f"atol: a positive number is expected, not {atol!r}")


def _positive(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ArgumentError(f"{name}: a positive number is expected, not {value!r}") from None
    if not (math.isfinite(number) and number > 0):
        raise ArgumentError(f"{name}: a positive number is expected, not {value!r}")
    return number


def split(dynamics: Dynamics, t: float, y: Array) -> State:
    """The ``State`` of a vector y = [q, u, z]."""
    return State(float(t), *dynamics.arguments.topology.layout.split(y.copy()))


def check_start(dynamics: Dynamics, start: State, p: Array, inputs: Inputs) -> None:
    """Raise for a start beyond a rigid end stop, with open loops, or in a singular position."""
    _check_ends(dynamics, start, p, inputs)
    if not dynamics.topology.constrained:
        return
    point = dynamics.point(start, p, inputs)
    error, extra = dynamics.start.judge(point)
    if error > CLOSED_TOLERANCE:
        raise AssemblyError(f"the loops are not closed at the start: {error:.1e} of the mechanism's size are missing")
    if extra:
        raise AssemblyError(
            f"the start is a singular position, with {counted(extra, 'more freedom')} than positions "
            "beside it: which way to go is not determined; start a little beside it (kn.mobility tells more)"
        )


def _check_ends(dynamics: Dynamics, start: State, p: Array, inputs: Inputs) -> None:
    """Raise for a joint that starts beyond its rigid end stop: nothing would push it back."""
    known = dynamics.arguments.derived
    if "rigid ends" not in known:
        every = dynamics.system.joints.items()
        known["rigid ends"] = {name: joint for name, joint in every if joint.ends and joint.ends.rigid}
    joints = known["rigid ends"]
    if not joints:
        return
    resolve, snapshot = dynamics.arguments.resolver(p), dynamics.snapshot(start, p, inputs)
    for name, joint in joints.items():
        q = float(snapshot.joint_state(name)[0][0])
        end = passed_end(joint, resolve, q, END_STOP_TOLERANCE)
        if end is not None:
            field = "stop" if joint.stop is not None else "backlash"
            message = f"the joint starts at {q:g}, beyond its rigid end at {end:g}"
            raise ModelError(message, component=name, field=field)


class Solver:
    """Integrates a system with given parameters, inputs and options, from any state to any time."""

    def __init__(
        self, dynamics: Dynamics, p: Array, inputs: Inputs, options: Options, laws: LawTimes | None = None,
        columns: StartColumns | None = None,
    ) -> None:  # fmt: skip
        laws = laws or LawTimes()
        self.p, self.inputs, self.columns = p, inputs, columns
        self.options = options
        if laws.longest < options.max_step:
            self.options = replace(options, max_step=laws.longest)
        self.steps = 0
        self.breaks: dict[str, Any] = {"breaks": laws.breaks, "margin": laws.margin}
        self.quaternions = dynamics.topology.layout.quaternions
        self._use(dynamics)

    def _use(self, dynamics: Dynamics) -> None:
        """Take the kernels of a compiled system."""
        self.dynamics, self.length = dynamics, self._watch_length(dynamics)
        self.rows = self._watch_rows(dynamics) if dynamics.topology.constrained else None
        implicit = METHODS[self.options.method].stepping == Stepping.IMPLICIT
        self.kernel = find_kernel(dynamics, self.p, self.inputs, implicit)
        if self.columns is not None:
            self.kernel = self._add_columns(dynamics, self.columns)

    def _add_columns(self, dynamics: Dynamics, columns: StartColumns) -> KernelSpec:
        """The kernels that integrate derivatives with the state."""
        from kinode.simulation.sensitivity import (
            add_columns,
            find_break_rates,  # few runs are differentiated
        )

        rates = find_break_rates(dynamics, self.p, self.inputs, self.breaks["breaks"], columns.request)
        return add_columns(dynamics, self.kernel, columns.request, columns.scales(self.p, self.inputs), rates)

    def _watch_rows(self, dynamics: Dynamics) -> RowMonitor:
        from kinode.simulation.row_monitor import RowMonitor  # which trees do without

        return RowMonitor(dynamics, self.p, self.inputs)

    def _watch_length(self, dynamics: Dynamics) -> LengthWatch:
        return LengthWatch(dynamics, self.p, self.inputs, METHODS[self.options.method])

    def check_start(self, start: State) -> None:
        """Raise for a start beyond a rigid end stop, with open loops, or in a singular position."""
        check_start(self.dynamics, start, self.p, self.inputs)

    def run(
        self, y: Array, t0: float, t1: float, times: Array | None = None, *,
        on_progress: OnProgress | None = None, max_steps: int | None = None, first_step: float | None = None,
        first_tick: int | None = None, repeated: bool = False,
    ) -> OdeSolution:  # fmt: skip
        """One integration from t0 to t1.

        ``max_steps``, ``first_step`` and ``first_tick`` serve a run in pieces.  ``repeated`` says that runs with other
        values and the same options may follow, so that what they share is kept.  Where the independent constraint rows
        in use lose their rank and others do not, the integration is repeated with those.
        """
        limits = {"max_steps": max_steps, "first_step": first_step, "first_tick": first_tick}
        limits = {name: value for name, value in limits.items() if value is not None}
        for attempt in range(MAX_ROW_CHOICES):
            if self.rows is not None and attempt == MAX_ROW_CHOICES - 1:
                self.rows.patient = True
            prepared = self.find_prepared(t0, t1, times) if repeated and self.columns is None else None
            solution = self._integrate(
                join_row(y, self.columns), t0, t1, times, {**limits, "on_progress": on_progress}, prepared
            )
            self.steps += solution.steps + solution.rejected
            open_loop = None if self.rows is None else self.rows.find_open_loop(solution)
            ended_well = not solution.ending.failed and not solution.passes
            if self.rows is None or (ended_well and open_loop is None):
                return solution
            better = self.rows.find_better(solution)
            if better is None and self.rows.lost:  # no other rows serve: the whole run with these
                self.rows.patient, self.rows.lost = True, False
                continue
            if better is None:
                break
            self._use(Dynamics(self.dynamics.system, self.dynamics.formulation, rows=better))
        if open_loop is None:
            return solution
        name, error = open_loop
        event = f"{name} came apart until t = {solution.t_end:.9g} s, by {error:.1e} of the mechanism's size"
        cause = "its constraint was taken for redundant at the start, and is not; kn.mobility tells of locked loops"
        return replace(solution, ending=Ending(EndKind.LOOP_OPEN, solution.t_end, f"{event}: {cause}", name))

    def _integrate(
        self, y: Array, t0: float, t1: float, times: Array | None, more: dict[str, Any], prepared: PreparedRun | None
    ) -> OdeSolution:
        """One integration with the method of the options; impossible arguments raise ``ArgumentError``."""
        o, (row, courses) = self.options, split_inputs(self.inputs)
        more |= self.length.watch(self.steps, t0, t1) if o.step is None else {}
        try:
            more |= {"stiff_kernel": self.stiff_kernel}
            more |= {} if self.rows is None else {"on_near": self.rows.keep_rank}
            if prepared is not None:
                return prepared.solve(y, self.p, row, **more)
            return integrate(
                self.kernel, y, t0, t1, method=o.method, times=times, step=o.step, rtol=o.rtol, atol=o.atol,
                p=self.p, inputs=row, courses=courses, quaternions=self.quaternions, max_step=o.max_step,
                **self.breaks, **more,
            )  # fmt: skip
        except Error:
            raise
        except ValueError as error:
            raise ArgumentError(str(error)) from None

    @property
    def stiff_kernel(self) -> Callable[[], KernelSpec] | None:
        """The system with its derivatives, for a method for stiff systems that takes over; None for large systems."""
        alone = METHODS[self.options.method].then is None or self.columns is not None
        if alone or self.kernel.n_y > MOST_TAKEN_OVER:
            return None
        return lambda: find_kernel(self.dynamics, self.p, self.inputs, True)

    def find_prepared(self, t0: float, t1: float, times: Array | None) -> PreparedRun | None:
        """The prepared run from t0 to t1; None where functions in Python take part."""
        o, events = self.options, self.kernel.events
        if (events is not None and events.call is not None) or not isinstance(o.atol, float):
            return None
        options = {
            "method": o.method, "step": o.step, "rtol": o.rtol, "atol": o.atol, "max_step": o.max_step,
            "margin": self.breaks["margin"], "quaternions": self.quaternions, "courses": split_inputs(self.inputs)[1],
        }  # fmt: skip
        return find_prepared(self.dynamics, self.kernel, (t0, t1), times, self.breaks["breaks"], options)


def check_span(t0: float, until: float) -> None:
    """Raise for an end of a run that is not finite or lies before its start."""
    if not math.isfinite(until):
        raise ArgumentError(f"until: a time in seconds is expected, not {until!r}")
    if until < t0:
        raise ArgumentError(f"until: {until:g} s lies before the start at {t0:g} s")


def compute_motion(
    dynamics: Dynamics, start: State, until: float, *, times: Array | None = None, options: Options | None = None,
    p: Array, inputs: Inputs, stop_when: str | None = None, on_progress: OnProgress | None = None,
    columns: StartColumns | None = None,
) -> StateHistory:  # fmt: skip
    """The states from the start until a time in s, or until ``stop_when`` becomes true.

    ``times`` are the output times in s, in order; None keeps the steps of the method.  ``columns`` are derivatives of
    the start, which are integrated with the motion.
    """
    output_times = times
    options = options or Options()
    if output_times is None and dynamics.n_u == 0 and until > start.t:  # without speeds the error control sees little
        if dynamics.n_z == 0:
            output_times = np.linspace(start.t, until, DRIVEN_SAMPLES)
        options = replace(options, max_step=min(options.max_step, (until - start.t) / (DRIVEN_SAMPLES - 1)))
    solver = Solver(dynamics, p, inputs, options, find_law_times(dynamics, p, inputs, start.t, until), columns)
    solver.check_start(start)
    check_lengths(dynamics, options.step, options.max_step, start.t, until)
    if stop_when is not None:
        from kinode.simulation.stop_conditions import run_until, run_until_with_columns

        if columns is None:
            return run_until(solver, start, until, output_times, stop_when, on_progress)
        plain = Solver(dynamics, p, inputs, options, find_law_times(dynamics, p, inputs, start.t, until))
        return run_until_with_columns(plain, columns, start, until, times, stop_when, on_progress)
    solution = solver.run(start.y, start.t, until, output_times, on_progress=on_progress, repeated=True)
    motion = to_motion(solver, solution, output_times)
    return motion if columns is None else _end_at_jump(motion, solver, start, until)


def _end_at_jump(motion: StateHistory, solver: Solver, start: State, until: float) -> StateHistory:
    """The motion, whose derivatives end where a law jumps without an event."""
    from kinode.simulation.sensitivity import find_jump, has_switches

    dynamics, p, inputs, columns = solver.dynamics, solver.p, solver.inputs, motion.columns
    if columns is None or not has_switches(dynamics):
        return motion
    plain = Solver(dynamics, p, inputs, solver.options, find_law_times(dynamics, p, inputs, start.t, until))
    steps = plain.run(start.y, start.t, until)
    jump = find_jump(dynamics, steps.t, steps.y, p, inputs)
    if jump is None or (columns.lost_time is not None and columns.lost_time <= jump[0]):
        return motion
    return replace(motion, columns=replace(columns, lost_time=jump[0], lost=jump[1]))


def to_motion(solver: Solver, solution: OdeSolution, output_times: Array | None = None) -> StateHistory:
    """The solution of an integration as the history of a run; for a system without states the times are all of it."""
    t, y = solution.t, solution.y
    if solver.kernel.n_y == 0 and output_times is not None:
        t, y = output_times, np.zeros((len(output_times), 0))
    t_end = float(t[-1]) if solver.kernel.n_y == 0 and len(t) else solution.t_end
    ending = EndKind.DONE.at(t_end) if solution.ending.kind is EndKind.DONE else solution.ending
    return StateHistory(
        t, y, solver.p, solver.inputs, ending, t_end, solution.y_end,
        solution.steps, solution.evaluations, solution.passes, solution.events,
        solver.dynamics, solver.options.method, solution.bound_from, solution.taken_over,
        _run_columns(solver, solution, len(t)),
    )  # fmt: skip


def _run_columns(solver: Solver, solution: OdeSolution, rows: int) -> RunColumns | None:
    """The derivatives of the states, and where they ended."""
    if solver.columns is None or solution.columns is None:
        return None
    columns, lost = solver.columns, solution.columns_lost
    values = solution.columns if solver.kernel.n_y else np.zeros((rows, len(columns.request.names), 0))
    whole = RunColumns(columns.request, values, start=columns.start)
    if lost is None:
        return whole
    return replace(whole, lost_time=lost.time, lost=describe_lost(solver.dynamics, lost.why, lost.function))
