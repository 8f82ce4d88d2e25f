"""``kn.simulate``: from a model to a trajectory.

The integration itself is in simulation/; here its outcome becomes a ``Trajectory``, or an error that carries one.
"""

from __future__ import annotations

import math
import os
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kinode.algebra.scalars import Array
from kinode.dynamics.compile import find_compiled
from kinode.dynamics.compiled_system import NEWTON_EULER_NAME, RECURSIVE_NAME, Dynamics
from kinode.dynamics.starts.initial_values import find_far_guesses
from kinode.errors import (
    ArgumentError,
    GuessWarning,
    OtherRowsError,
    RunWarning,
    SensitivityWarning,
    SimulationError,
    caller_depth,
)
from kinode.kernels.state import State
from kinode.model.system import System
from kinode.ode.compiled_loops import prepare
from kinode.ode.input_table import Inputs, inputs_at
from kinode.ode.method_table import DEFAULT_METHOD, METHODS, is_fixed
from kinode.ode.ode_arguments import ATOL, RTOL
from kinode.results.trajectory import Trajectory
from kinode.simulation.event_log import Event, find_pull
from kinode.simulation.input_courses import read_run_inputs
from kinode.simulation.progress_bar import Progress
from kinode.simulation.run_arguments import find_model, find_output_times, read_row, read_seconds
from kinode.simulation.run_checks import check_run
from kinode.simulation.solver import Options, StateHistory, check_options, check_span, compute_motion
from kinode.simulation.watched_laws import find_watched, may_watch
from kinode.tasks.start_argument import StateResult, find_start, find_start_time

if TYPE_CHECKING:
    from kinode.simulation.column_values import StartColumns


def simulate(
    model: System | Dynamics | str | os.PathLike[str], until: Any = None, *,
    start: Mapping[str, Any] | State | StateResult | Trajectory | None = None, t0: Any = None, times: Any = None,
    samples: int | None = None, every: float | str | None = None,
    method: str | None = None, step: float | None = None, rtol: float | None = None, atol: Any = None,
    parameters: Any = None, inputs: Any = None, stop_when: str | None = None, max_step: float | None = None,
    progress: bool | Callable[[float], Any] | None = None, formulation: str | None = None,
    sensitivity: str | Iterable[str] | None = None,
) -> Trajectory:  # fmt: skip
    """Simulate a system from ``t0`` until a time.

    Arguments that are left out come from the model's ``run_defaults`` (the run section of its file), else they have the
    defaults below. At most one of ``times``, ``samples``, ``every`` is given; without, the method's own steps are kept.

    Parameters
    ----------
    model : System, Dynamics, str or path
        The system, a compiled one, or the name of a file.
    until : float or str
        End in s, or text with a unit ("500 ms").
    start : mapping, State, Assembly, Equilibrium or Trajectory, optional
        Initial values by name in place of the model's, a state, the result of ``kn.assemble`` or ``kn.equilibrium``, or
        another run, which is continued from its end.
    t0 : float or str, optional
        Start in s; 0, or the time of ``start``.
    times : sequence of float, optional
        Times in s at which states are kept, in order.
    samples : int, optional
        How many states are kept, evenly spaced, start and end included.
    every : float or str, optional
        Spacing of the states that are kept, in s or as text with a unit ("10 ms").
    method : str, optional
        "auto" (the default: "dopri5", and "stiff" from where stability bounds its steps), "dopri5" (order 5), "dop853"
        (order 8, for tight tolerances), "rk4" (fixed ``step``) or "stiff" (Radau IIA, implicit).
    step : float, optional
        Length of the steps of "rk4" in s.
    rtol, atol : float, optional
        Relative and absolute tolerance of a step, 1e-8 and 1e-10; ``atol`` may be one for each state.
    parameters, inputs : mapping, optional
        Values by name, in SI units or as text with a unit; nothing is compiled anew for them.  An input may change
        with time: ``(times, values)`` is linear between its samples, ``(times, values, "held")`` holds each value until
        the next one; before the first and after the last sample it keeps the value there.  A unit of the values may
        follow, ``(times, values, "mV")``; a pandas Series over time will do, too.
    stop_when : str, optional
        A law, such as "lower.position.y < 0": the run ends when it becomes true, or positive.
    max_step : float, optional
        Longest step in s of methods that choose their steps.
    progress : bool or function, optional
        Whether a progress bar is shown, by default on a terminal after a second; or a function that is given the
        fraction done and may return False to stop the run.
    formulation : str, optional
        How the equations are derived, as in ``kn.compile``; "recursive", or that of a compiled ``model``.
        "newton_euler" integrates the equations of all bodies in absolute coordinates, with the constraint forces
        eliminated; ``run.audit.drift`` tells how well the joints held.
    sensitivity : str or sequence of str, optional
        Parameters, inputs and initial values ("elbow.q") by name: derivatives by them are integrated with the motion,
        through all events; see ``run.sensitivity``.  With ``stop_when`` they are those at fixed times, and
        ``run.facts["end_by"]`` tells how the end moves.

    Returns
    -------
    Trajectory
        The run. ``run.status`` and ``run.ending`` say how it ended; after Ctrl-C it is "stopped".

    Raises
    ------
    SimulationError
        The motion cannot go on; ``error.run`` is the run so far.
    ArgumentError
        An argument is wrong, or two of ``times``, ``samples``, ``every`` are given.

    Examples
    --------
    >>> run = kn.simulate(kn.load("examples/pendulum.yaml"), 2.0, every="10 ms")
    >>> len(run), run.status
    (201, 'done')
    """
    task = read_task(
        model, until, t0=t0, times=times, samples=samples, every=every, method=method, step=step, rtol=rtol, atol=atol,
        stop_when=stop_when, max_step=max_step, formulation=formulation,
    )  # fmt: skip
    p, input_values = read_row(task.dynamics, "p", parameters), read_run_inputs(task.dynamics, inputs)
    begin = _begin(task, start, p, input_values)
    columns = None if sensitivity is None else find_columns(task, begin, sensitivity, start, p, input_values)
    run = compute_run(task, begin, p, input_values, progress, columns)
    if run.ending.failed:
        raise SimulationError(run.message, run=run)
    _look_at_contacts(run)
    return run


RUN_FIELDS = ("t0", "times", "samples", "every", "method", "step", "rtol", "atol", "stop_when", "max_step")
"""Arguments of ``kn.simulate`` that many runs have in common, beside ``until``."""


@dataclass(frozen=True, eq=False)
class RunTask:
    """What runs of one compiled system have in common: the arguments of ``kn.simulate`` but values and start."""

    dynamics: Dynamics
    options: Options
    until: Any
    t0: Any
    requested: Mapping[str, Any]
    """times, samples, every: which states are kept."""
    stop_when: str | None

    @property
    def defaults(self) -> Mapping[str, Any]:
        """The run section of the model."""
        return self.dynamics.system.run_defaults


@dataclass(frozen=True, eq=False)
class RunStart:
    """The start of a run, the compiled system that serves there, and what is to be said of guesses not kept."""

    dynamics: Dynamics
    state: State
    notices: tuple[Event, ...] = ()


def check_fields(task: str, fields: Iterable[str]) -> None:
    """Raise for a field that runs do not have in common."""
    for name in fields:
        if name not in RUN_FIELDS:
            raise ArgumentError(f"{task}: {name} is no field of a run; known are {', '.join(RUN_FIELDS)}")


def read_task(
    model: System | Dynamics | str | os.PathLike[str], until: Any = None, *,
    t0: Any = None, times: Any = None, samples: int | None = None, every: float | str | None = None,
    method: str | None = None, step: float | None = None, rtol: float | None = None, atol: Any = None,
    stop_when: str | None = None, max_step: float | None = None, formulation: str | None = None,
) -> RunTask:  # fmt: skip
    """The task of the arguments of ``kn.simulate``, completed by the model's run section."""
    model = find_model(model)
    defaults = (model.system if isinstance(model, Dynamics) else model).run_defaults
    options = _options(defaults, method, step, rtol, atol, max_step)

    def prepare_loop(dynamics: Dynamics) -> None:
        prepare(METHODS[options.method].find_loop(_may_be_eventful(dynamics)))

    dynamics = _compiled(model, formulation, prepare_loop)
    until = defaults.get("until") if until is None else until
    return RunTask(dynamics, options, until, t0, {"times": times, "samples": samples, "every": every}, stop_when)


def compute_run(
    task: RunTask, begin: RunStart, p: Array, inputs: Inputs, progress: bool | Callable[[float], Any] | None = None,
    columns: StartColumns | None = None,
) -> Trajectory:  # fmt: skip
    """One run of a task, with derivatives if those of its start are given; a run that failed is returned like any."""
    dynamics, state = begin.dynamics, begin.state
    end = read_seconds(dynamics, "until", task.until)
    check_span(state.t, end)
    output_times = find_output_times(dynamics, task.defaults, task.requested, state.t, end)
    clock_start = time.perf_counter()
    with Progress(state.t, end, progress) as bar:
        arguments = {"times": output_times, "options": task.options, "p": p, "inputs": inputs}
        more_arguments: dict[str, Any] = {"stop_when": task.stop_when, "on_progress": bar}
        more_arguments |= {} if columns is None else {"columns": columns}
        motion, more = _integrated(dynamics, state, end, {**arguments, **more_arguments})
    run = finish_run(task, begin, motion)
    if columns is not None and task.stop_when is not None:
        from kinode.tasks.start_derivatives import find_end_shifts  # few runs need it

        more["end_by"] = find_end_shifts(run, task.stop_when)
    run.facts = {**run.facts, **more, "seconds": time.perf_counter() - clock_start}
    return run


def find_columns(
    task: RunTask, begin: RunStart, names: str | Iterable[str], start: Any, p: Array, inputs: Inputs
) -> StartColumns:  # fmt: skip
    """The derivatives of a start by the names in ``sensitivity=``; what cannot be differentiated is refused."""
    from kinode.simulation.sensitivity import check_inputs, check_method, read_columns
    from kinode.tasks.start_derivatives import find_start_columns

    request = read_columns(begin.dynamics, names)
    check_method(begin.dynamics, begin.dynamics.formulation)
    check_inputs(request, inputs)
    return find_start_columns(begin.dynamics, request, start, begin.state, p, inputs_at(inputs, begin.state.t))


def finish_run(task: RunTask, begin: RunStart, motion: StateHistory) -> Trajectory:
    """The run of a motion, after all checks."""
    dynamics = motion.dynamics or begin.dynamics
    motion = check_run(dynamics, motion)
    run = Trajectory.from_motion(dynamics, motion)
    run.begin = begin.state
    if begin.notices:
        run.events = (*begin.notices, *run.events)
    run.facts = {**_facts(task.options, motion), **run.facts}
    if run.columns is not None:
        run.facts |= run.columns.facts
        if run.columns.lost_time is not None:
            warnings.warn(run.columns.message, SensitivityWarning, stacklevel=caller_depth())
    return run


def _may_be_eventful(dynamics: Dynamics) -> bool:
    """Whether a run may need the loop with events: for those of the model, or for bounds of its laws."""
    topology = dynamics.arguments.topology
    if topology.events is not None or not topology.constrained:
        return topology.events is not None or find_watched(dynamics) is not None
    known: dict[str, bool] = dynamics.arguments.derived
    if "may watch" not in known:  # loops are closed later, and what is watched is known then
        known["may watch"] = may_watch(dynamics.system)
    return known["may watch"]


def _compiled(
    model: System | Dynamics, formulation: str | None, meanwhile: Callable[[Dynamics], None]
) -> Dynamics:  # fmt: skip
    """The compiled system in the formulation that is asked for; ``meanwhile`` starts what is to be done beside it."""
    if not isinstance(model, Dynamics):
        return find_compiled(model, formulation or RECURSIVE_NAME, meanwhile)
    if formulation is not None and formulation != model.formulation:
        raise ArgumentError(
            f"formulation: the system is compiled as {model.formulation}, not {formulation!r}; "
            "give kn.compile the formulation, or kn.simulate the System"
        )
    meanwhile(model)
    return model


def _integrated(
    dynamics: Dynamics, begin: State, end: float, task: dict[str, Any]
) -> tuple[StateHistory, dict[str, Any]]:
    """The motion of a run, and what its formulation adds to the facts."""
    if dynamics.formulation != NEWTON_EULER_NAME:
        other = {} if dynamics.formulation == RECURSIVE_NAME else {"formulation": dynamics.formulation}
        return compute_motion(dynamics, begin, end, **task), other
    from kinode.simulation.absolute_motion import compute_absolute_motion  # few runs need all formulations

    motion, drift = compute_absolute_motion(dynamics, begin, end, **task)
    return motion, {"formulation": dynamics.formulation, **drift.to_facts()}


def repeat_motion(
    dynamics: Dynamics, begin: State, end: float, facts: Mapping[str, Any], **task: Any
) -> StateHistory:  # fmt: skip
    """The motion of a run once more, by the method and tolerances among its facts."""
    task["options"] = check_options(
        facts["method"], facts.get("step"), facts.get("rtol", RTOL), facts.get("atol", ATOL), facts.get("max_step")
    )
    return _integrated(dynamics, begin, end, task)[0]


def find_begin(task: RunTask, start: Any, p: Array, given_inputs: Inputs) -> RunStart:
    """The start of a run from the argument ``start=`` of ``kn.simulate``; inputs that change have their value there."""
    dynamics, by_name = task.dynamics, start is None or isinstance(start, Mapping)
    t0 = task.defaults.get("t0") if task.t0 is None and by_name else task.t0
    begin_time = None if t0 is None else read_seconds(dynamics, "t0", t0)
    inputs = inputs_at(given_inputs, find_start_time(start, begin_time))
    try:
        begin = find_start(dynamics, start, begin_time, p, inputs)
    except OtherRowsError as error:  # other values, other independent constraint equations
        dynamics = Dynamics(dynamics.system, dynamics.formulation, rows=error.rows)
        begin = find_start(dynamics, start, begin_time, p, inputs)
    far = find_far_guesses(dynamics, begin, start, p, inputs) if by_name else []
    guesses = [Event(begin.t, "guess", (guess.joint,), guess.message) for guess in far]
    if not dynamics.arguments.topology.constrained:  # no joint closes a loop, so that nothing is locked or there twice
        return RunStart(dynamics, begin, tuple(guesses))
    from kinode.tasks.loop_locking import describe_rest

    rest = [Event(begin.t, "locked", names, words) for names, words in describe_rest(dynamics, begin, p, inputs)]
    return RunStart(dynamics, begin, (*guesses, *rest))


def _begin(task: RunTask, start: Any, p: Array, inputs: Inputs) -> RunStart:
    """The start of a run; warnings say which guesses were not kept, and that nothing can move."""
    begin = find_begin(task, start, p, inputs)
    for kind, warning in (("guess", GuessWarning), ("locked", RunWarning)):
        message = "; ".join(notice.message for notice in begin.notices if notice.kind == kind)
        if message:
            warnings.warn(message, warning, stacklevel=caller_depth())
    return begin


def _look_at_contacts(run: Trajectory) -> None:
    """Add the events of wheels and supports that have to pull, with a warning."""
    contacts = {name: c for name, c in run.system.constraints.items() if c.contact}
    if not contacts or not len(run):
        return
    nominal = run.system.nominal
    mass = sum(float(nominal(body.mass)) for body in run.system.bodies.values())
    weight = mass * max(1.0, math.hypot(*(float(nominal(x)) for x in run.system.gravity)))  # or of a slow acceleration
    reactions = run.evaluate(f"{name}.reaction" for name in contacts)
    pulls = []
    for name, constraint in contacts.items():
        values = reactions[f"{name}.reaction"].reshape(len(run), -1)[:, 0]
        pulls += [pull] if (pull := find_pull(name, constraint.contact, run.t, values, weight)) else []
    if pulls:
        run.events = tuple(sorted((*run.events, *pulls), key=lambda event: event.time))
        warnings.warn("; ".join(pull.message for pull in pulls), RunWarning, stacklevel=caller_depth())


def _options(defaults: Mapping[str, Any], method: Any, step: Any, rtol: Any, atol: Any, max_step: Any) -> Options:
    """Options of the integration: arguments of the call, else the model's run defaults, else the usual values."""
    method = defaults.get("method", DEFAULT_METHOD) if method is None else method
    if is_fixed(method):
        step = defaults.get("step") if step is None else step
    elif max_step is None:
        max_step = defaults.get("step")
    rtol = defaults.get("rtol", RTOL) if rtol is None else rtol
    atol = defaults.get("atol", ATOL) if atol is None else atol
    return check_options(method, step, rtol, atol, max_step)


def _facts(options: Options, motion: StateHistory) -> dict[str, Any]:
    """The method with its step or tolerances; where another one could have taken over and did not, its own name."""
    chosen = METHODS[options.method]
    alone = chosen.then is not None and motion.taken_over is None
    method = {"method": chosen.tableau().name if alone else chosen.name}
    if options.step is not None:
        return {**method, "step": options.step}
    atol = options.atol if isinstance(options.atol, float) else list(options.atol)
    longest = {} if options.max_step == math.inf else {"max_step": options.max_step}
    return {**method, "rtol": options.rtol, "atol": atol, **longest}
