"""The run of a model whose numbers are changed on a page: computed anew for each choice of values, or from a state on.

What does not depend on the values is done once for each compiled system: names, evaluators of pictures, times.  A run
is kept at the times of its pictures, so that they are evaluated as they are.

A branch begins at a state of a run with some of its values changed.  Without loops the values are replaced.  With loops
they are exact, all others follow: the state nearest to the old one in which the loops are closed.
"""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.live_model import LiveModel, Setting
from kinode.dynamics.starts.initial_values import InitialValues, read_initial_values
from kinode.errors import ArgumentError
from kinode.kernels.state import State
from kinode.model.base.fields import short, unknown
from kinode.model.base.parameters import read_input
from kinode.model.system import System
from kinode.results.picture_states import count_pictures
from kinode.results.run_frames import FrameEvaluator, RunFrames, prepare_frames
from kinode.results.trajectory import Trajectory
from kinode.simulation.run_arguments import read_seconds
from kinode.structure.state_layout import Coordinate
from kinode.studio.server.messages import Quantity
from kinode.tasks.simulate import RunStart, RunTask, compute_run, find_begin, read_task

MOST_KEPT = 8  # compiled systems with their evaluators
DEFAULT_END = 10.0  # s
Progress = Callable[[float], Any]
Names = tuple[str, ...]
Changes = Mapping[str, Quantity | None]
"""Values by name as a page sends them; None where the file's own is meant."""


@dataclass(frozen=True)
class Choice:
    """What a page has chosen: values by name that differ from the file, initial values, and the end, s."""

    until: float
    values: Mapping[str, float] = field(default_factory=dict)
    start: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class ChosenRun:
    """A run, its pictures, and what was chosen for it."""

    choice: Choice
    setting: Setting
    inputs: Mapping[str, float]
    run: Trajectory
    frames: RunFrames
    number: int = field(default_factory=itertools.count(1).__next__)
    """Tells runs apart; that of the same run with other quantities is the same."""

    @property
    def dynamics(self) -> Dynamics:
        """The compiled system of the run."""
        return self.run.dynamics


class ChangingRun:
    """A model and the runs of its choices.

    Parameters
    ----------
    system : System
    until : float or str, optional
        End of the runs; else that of the model's run section, or 10 s.
    options : mapping, optional
        As in ``kn.simulate``: t0, method, step, rtol, atol, max_step.

    Examples
    --------
    >>> from kinode.studio.live.changing_run import ChangingRun
    >>> model = ChangingRun(kn.load("examples/double_pendulum.yaml"), 1.0)
    >>> model.compute(model.choice({"lower.mass": "1500 g"})).run.live["lower.mass"]
    1.5
    """

    def __init__(self, system: System, until: Any = None, options: Mapping[str, Any] | None = None) -> None:
        self.system, self.options = system, dict(options or {})
        self.lock = threading.RLock()
        self.model = LiveModel(system)
        begin = self.options.get("t0", system.run_defaults.get("t0", 0.0))
        self.begin = read_seconds(self.model.dynamics, "t0", begin)
        given = system.run_defaults.get("until", self.begin + DEFAULT_END) if until is None else until
        self.until = self._read_until(given)
        self._evaluators: list[tuple[Dynamics, Names, FrameEvaluator]] = []  # the last used first
        self._tasks: list[tuple[Dynamics, float, RunTask]] = []

    # -- choices -----------------------------------------------------------------------------------
    def choice(
        self, values: Changes | None = None, start: Changes | None = None, until: Any = None,
        before: Choice | None = None,
    ) -> Choice:  # fmt: skip
        """A choice from what a page sends, on top of the one before."""
        old = before or Choice(self.until)
        merged = {**old.values, **{name: self._read(name, x) for name, x in (values or {}).items()}}
        begin = {**old.start, **(start or {})}
        end = old.until if until is None else self._read_until(until)
        return Choice(end, _without_none(merged), _without_none(begin))

    def _read(self, name: str, value: Any) -> Any:
        """A value in SI; None stands for that of the file."""
        number, system = self.model.numbers.get(name), self.system
        if value is None:
            return None
        if number is not None:
            return number.read(system, value)
        if name in system.parameters:
            return float(system.nominal(system.read_parameters({name: value})[name]))
        if name in system.inputs:
            return float(system.nominal(read_input(system, name, value)))
        known = [*system.parameters, *system.inputs, *self.model.numbers]
        raise ArgumentError(unknown("values: no parameter, input or number is called", name, known))

    def _read_until(self, until: Any) -> float:
        end = read_seconds(self.model.dynamics, "until", until)
        if not math.isfinite(end) or end <= self.begin:
            raise ArgumentError(f"until: a time after the start, {self.begin:g} s, is expected, not {short(until)}")
        return end

    def split(self, values: Mapping[str, Any]) -> tuple[Setting, dict[str, Any]]:
        """The compiled system with its parameters for values by name, and the inputs among them."""
        inputs = {name: value for name, value in values.items() if name in self.system.inputs}
        others = {name: value for name, value in values.items() if name not in inputs}
        with self.lock:
            return self.model.find(others), inputs

    # -- runs --------------------------------------------------------------------------------------
    def compute(
        self, choice: Choice, names: Names = (), progress: Progress | None = None, at: RunStart | None = None
    ) -> ChosenRun:
        """The run of a choice, and quantities by name with its pictures.

        ``at`` is a start of its own, of the compiled system of the choice.
        """
        setting, given = self.split(choice.values)
        task = self.task(setting.dynamics, choice.until)
        p, inputs = rows_of(setting, given)
        begin = self._begin(task, choice.start, p, inputs) if at is None else at
        if at is not None:
            task = replace(task, requested={**task.requested, "times": self._times(at.state.t, choice.until)})
        run = compute_run(task, begin, p, inputs, progress or False)
        frames = self.evaluator(run.dynamics, names)(run)
        return ChosenRun(choice, setting, run.input_values if given else {}, run, frames)

    def _begin(self, task: RunTask, start: Mapping[str, Any], p: Array, inputs: Array) -> RunStart:
        if not task.dynamics.start.open_topology.constrained:
            return find_begin(task, start or None, p, inputs)
        with task.dynamics.start.lock:
            return find_begin(task, start or None, p, inputs)

    def task(self, dynamics: Dynamics, until: float) -> RunTask:
        """What runs of a compiled system until a time have in common."""
        with self.lock:
            for owner, end, task in self._tasks:
                if owner is dynamics and end == until:
                    return task
            made = read_task(dynamics, until, times=self._times(self.begin, until), **self.options)
            self._tasks = [(dynamics, until, made), *self._tasks][:MOST_KEPT]
            return made

    def _times(self, begin: float, until: float) -> Array:
        return np.linspace(begin, until, count_pictures(until - begin))

    def with_names(self, chosen: ChosenRun, names: Names) -> ChosenRun:
        """The same run with other quantities."""
        return replace(chosen, frames=self.evaluator(chosen.dynamics, names)(chosen.run))

    def evaluator(self, dynamics: Dynamics, names: Names) -> FrameEvaluator:
        """What evaluates the pictures of a compiled system, and quantities by name."""
        with self.lock:
            for k, (owner, known, evaluator) in enumerate(self._evaluators):
                if owner is dynamics and known == names:
                    self._evaluators.insert(0, self._evaluators.pop(k))
                    return evaluator
            dynamics.start.settle()
            made = prepare_frames(dynamics, names)
            self._evaluators = [(dynamics, names, made), *self._evaluators][:MOST_KEPT]
            return made

    def state_at(self, chosen: ChosenRun, t: Any) -> State:
        """The state of a run at a time: a stored one, or that of the run repeated until there."""
        run, at = chosen.run, read_seconds(chosen.dynamics, "t", t)
        first, last = float(run.t[0]), float(run.t[-1])
        if not first <= at <= last:
            raise ArgumentError(f"t: {at:g} s is not within the run, from {first:g} to {last:g} s")
        k = int(np.searchsorted(run.t, at, side="right")) - 1
        if at == run.t[k] or run.begin is None:
            return State(float(run.t[k]), run.q[k].copy(), run.u[k].copy(), run.z[k].copy())
        task = replace(self.task(chosen.setting.dynamics, chosen.choice.until), dynamics=chosen.dynamics, until=at)
        task = replace(task, requested={**task.requested, "times": [at]})
        return compute_run(task, RunStart(chosen.dynamics, run.begin), run.p, run.inputs, False).end


def rows_of(setting: Setting, inputs: Mapping[str, Any]) -> tuple[Array, Array]:
    """Vectors of parameters, which the setting has checked, and inputs."""
    read = setting.dynamics.arguments
    return read.read_parameters(dict(setting.parameters) or None), read.read_inputs(dict(inputs) or None)


def _without_none(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def change_state(dynamics: Dynamics, state: State, changes: Changes | None, p: Array, inputs: Array) -> State:
    """The state with other values of some coordinates, speeds or other states, by name.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
    changes : mapping or None
        Names such as "elbow.q" -> values in SI or as text with a unit.
    p, inputs : array
        Parameters and inputs, for which loops are closed.

    Examples
    --------
    >>> from kinode.studio.live.changing_run import change_state
    >>> dynamics = kn.compile(kn.load("examples/double_pendulum.yaml"))
    >>> change_state(dynamics, dynamics.initial, {"elbow.q": "30 deg"}, dynamics.parameters, dynamics.inputs).q.round(3)
    array([1.745, 0.524])
    """
    known = {c.name: c for c in dynamics.coordinates}
    for name in changes or {}:
        if name not in known:
            raise ArgumentError(unknown("the state has no coordinate", name, known))
    values = {name: dynamics.arguments.read_number(name, value) for name, value in (changes or {}).items()}
    if not dynamics.topology.constrained:
        parts = {role: getattr(state, role).copy() for role in "quz"}
        for name, value in values.items():
            parts[known[name].role][known[name].index] = value
        return replace(state, **parts)
    wanted = {**dynamics.values(state), **values}
    requested = read_initial_values(dynamics.arguments, wanted, dynamics.arguments.resolver(p), as_guess=True)
    for name in values:
        requested = _fix(dynamics, requested, known[name])
    return dynamics.solve_start(requested, state.t, p, inputs)


def _fix(dynamics: Dynamics, requested: InitialValues, changed: Coordinate) -> InitialValues:
    """The initial values with one coordinate exact; of an orientation all of it."""
    if changed.role == "z" or changed.joint not in requested.joints:
        return requested
    own = [c.index for c in dynamics.coordinates if c.joint == changed.joint and c.role == changed.role]
    value, place = requested.joints[changed.joint], changed.index - min(own)
    exact = (value.exact_q if changed.role == "q" else value.exact_u).copy()
    first = dynamics.system.joints[changed.joint].quaternion
    exact[slice(first, None) if changed.role == "q" and first is not None and place >= first else place] = True
    fixed = replace(value, exact_q=exact) if changed.role == "q" else replace(value, exact_u=exact)
    return replace(requested, joints={**requested.joints, changed.joint: fixed})
