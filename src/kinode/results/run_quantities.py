"""The states of a run, and every quantity that follows from them, by name; its peak, mean and rms over time.

    run["elbow.q"]; run["elbow.reaction.force"]; run["lower.position@upper"]; run["elbow.effort*elbow.u"]

The states are stored.  Other quantities are computed when requested, by compiled code, for all times, and kept.  Tables
hold some of the names where nobody chooses.  Means are over time, not over samples: a run with variable steps has more
samples where it moves fast.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.state_batch import StateBatch, find_stored
from kinode.errors import ArgumentError
from kinode.kernels.state import State
from kinode.model.base.parameters import is_hidden
from kinode.model.quantities import (
    EFFORT_SHARES,
    FRAME_QUANTITIES,
    GROUND_QUANTITIES,
    JOINT_WRENCHES,
    MOMENTUM_QUANTITIES,
    POWERS,
    SYSTEM_QUANTITIES,
    QuantityExpression,
    QuantityName,
    find_expression,
    find_quantity,
    find_unit,
    unit_of,
)
from kinode.model.system import System
from kinode.ode.endings import Ending, EndKind
from kinode.ode.input_table import InputCourse, Inputs, VaryingInputs, inputs_at, name_inputs
from kinode.ode.kernel_spec import Fired
from kinode.ode.solution import SingularPass
from kinode.simulation.column_values import RunColumns
from kinode.simulation.event_log import Event, count_events, find_events
from kinode.simulation.solver import StateHistory, split

if TYPE_CHECKING:
    from kinode.dynamics.reactions.redundancy import Analyses, ReactionSharing
    from kinode.multibody.loop_statics import Support
    from kinode.results.run_circuit import RunCircuit


class RunQuantities:
    """Times, states and named quantities of a run; ``Trajectory`` adds loads, derivatives, views and files."""

    def __init__(
        self, dynamics: Dynamics, t: Array, y: Array, *, p: Any = None, inputs: Any = None,
        ending: Ending | None = None, end: State | None = None,
    ) -> None:  # fmt: skip
        self.dynamics = dynamics
        self.t, self.y = (np.ascontiguousarray(x, dtype=float) for x in (t, y))
        for array in (self.t, self.y):
            array.setflags(write=False)
        self.p, read = dynamics.arguments.read_parameters(p), dynamics.arguments.read_inputs
        self.inputs: Inputs = inputs if isinstance(inputs, VaryingInputs) else read(inputs)
        self.ending = ending or EndKind.DONE.at(float(self.t[-1]) if len(self.t) else 0.0)
        self._passes, self._fired = tuple[SingularPass, ...](), tuple[Fired, ...]()
        self.facts: dict[str, Any] = {}
        self._end = end
        self.begin: State | None = None  # where it was integrated from, before the first tick of clocks
        self.columns: RunColumns | None = None  # derivatives of the states
        self._known: dict[str, Array] = {}
        self._expressions: dict[str, QuantityExpression | None] = {}
        self._analyses: Analyses | None = None
        self._shared: dict[tuple[str, Support], ReactionSharing] = {}

    @classmethod
    def from_motion(cls, dynamics: Dynamics, motion: StateHistory) -> Self:
        """The results of a simulated motion."""
        end = split(dynamics, motion.t_end, motion.y_end)
        run = cls(dynamics, motion.t, motion.y, p=motion.p, inputs=motion.inputs, ending=motion.ending, end=end)
        run._passes, run._fired = motion.passes, motion.fired
        run.columns = None if motion.columns is None else motion.columns.cut(len(run))
        run.facts = {"steps": motion.steps, "evaluations": motion.evaluations, **motion.stiffness}
        return run

    @property
    def status(self) -> str:
        """How the run ended in a word: done, condition, stopped, failed."""
        return self.ending.status

    @property
    def message(self) -> str:
        """How the run ended in words."""
        return self.ending.message

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """The events of the run in the order of time: changes of modes, resets, passes of singular positions."""
        return find_events(self.dynamics, self._fired, self._passes, self.p, self.inputs)

    # -- states ------------------------------------------------------------------------------------
    @property
    def system(self) -> System:
        """The simulated system, with live numbers as in the run; it may have other values of ``parameters``."""
        return self.dynamics.system if self.dynamics.system.live is None else self._plain_system

    @cached_property
    def _plain_system(self) -> System:
        """The system as it was written, with the values of live numbers in this run."""
        assert self.dynamics.system.live is not None
        return self.dynamics.system.live.plain(self.live)

    @property
    def parameters(self) -> dict[str, float]:
        """Values of all parameters in this run, SI."""
        values = {k: x for k, x in zip(self.dynamics.topology.parameters, self.p.tolist()) if not is_hidden(k)}
        return self.system.parameter_values(values) if values else {}

    @property
    def live(self) -> dict[str, float]:
        """Values of the live numbers in this run, SI; see ``kn.compile(live=)``."""
        values = dict(zip(self.dynamics.topology.parameters, self.p.tolist()))
        numbers = self.dynamics.live.values()
        return {number.name: values[number.parameter] for number in numbers if not number.structural}

    @property
    def input_values(self) -> dict[str, Any]:
        """The inputs of this run as ``kn.simulate`` takes them: a number in SI, or its course over time."""
        return name_inputs(self.dynamics.topology.inputs, self.inputs)

    @property
    def q(self) -> Array:
        """Coordinates, (time, n_q)."""
        return self.dynamics.topology.layout.split(self.y)[0]

    @property
    def u(self) -> Array:
        """Speeds, (time, n_u)."""
        return self.dynamics.topology.layout.split(self.y)[1]

    @property
    def z(self) -> Array:
        """Other states, (time, n_z)."""
        return self.dynamics.topology.layout.split(self.y)[2]

    @property
    def end(self) -> State:
        """The last state, from which another run can continue: ``kn.simulate(system, 20.0, start=run.end)``."""
        if self._end is not None:
            return self._end
        if not len(self):
            raise ArgumentError("the run holds no states")
        return split(self.dynamics, float(self.t[-1]), self.y[-1])

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        span = f"{self.t[0]:g} to {self.t[-1]:g} s, " if len(self) else ""
        events = f", {count_events(self.events)}" if self.events else ""
        return f"<Trajectory of {self.system.name!r}: {span}{len(self)} times, {self.status}{events}>"

    # -- quantities --------------------------------------------------------------------------------
    def __getitem__(self, name: str) -> Array:
        return self.evaluate([name])[name]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self.names()

    def __iter__(self) -> Iterator[str]:
        raise TypeError('a run is not a sequence: ask for a quantity, run["elbow.q"], or for run.names()')

    def evaluate(self, names: str | Iterable[str]) -> dict[str, Array]:
        """Several quantities at once, which compiles less code than one after the other.

        Parameters
        ----------
        names : str or iterable of str
            Names of quantities, such as "elbow.q" or "lower.velocity.y@upper", or expressions of scalar ones, such as
            "elbow.q*180/pi", which are parsed as laws are.

        Returns
        -------
        dict of str to array
            Arrays (time, ...), SI, read-only.

        Examples
        --------
        >>> run = kn.simulate(kn.load("examples/double_pendulum.yaml"), 0.1, samples=3)
        >>> values = run.evaluate(["elbow.q", "lower.velocity.y@upper"])
        >>> values["elbow.q"].shape
        (3,)
        """
        requested = [names] if isinstance(names, str) else list(names)
        for name in requested:
            if not isinstance(name, str):
                raise ArgumentError(f"the name of a quantity is expected, not {name!r}")
        expressions = [self._expression(name) for name in requested]
        self._evaluate_names(
            dict.fromkeys(
                name
                for text, expression in zip(requested, expressions)
                for name in ([text] if expression is None else expression.names)
            )
        )
        for expression in expressions:
            if expression is not None and expression.text not in self._known:
                array = expression.evaluate(self.system, self._known, len(self))
                array.setflags(write=False)
                self._known[expression.text] = array
        return {name: self._known[name] for name in requested}

    def _expression(self, text: str) -> QuantityExpression | None:
        """The expression that a text is; None if it is the name of one quantity."""
        if text not in self._expressions:
            self._expressions[text] = find_expression(self.system, text)
        return self._expressions[text]

    def _evaluate_names(self, names: Iterable[str]) -> None:
        """Compute the quantities that are not known yet."""
        missing = [name for name in names if name not in self._known]
        for name in list(missing):
            stored = self._stored(find_quantity(self.system, name))
            if stored is not None:
                self._known[name] = stored
                missing.remove(name)
        if missing:
            from kinode.dynamics.reactions.joint_reactions import evaluate_names

            computed = evaluate_names(self.dynamics, tuple(missing), self.states, self.shared)
            for name, value in computed.items():
                array = self._continuous(find_quantity(self.system, name), value)
                array.setflags(write=False)
                self._known[name] = array

    @property
    def arguments(self) -> dict[str, Array]:
        """The arguments of the functions of ``dynamics``: t, q, u, z, p, inputs."""
        states = {"t": self.t, "q": self.q, "u": self.u, "z": self.z}
        return {**states, "p": self.p, "inputs": inputs_at(self.inputs, self.t)}

    @property
    def states(self) -> StateBatch:
        """The states as one record."""
        return StateBatch(**self.arguments)

    def shared(self, part: str = "total", hold: Support = None) -> ReactionSharing:
        """How redundant reactions are shared among the load-bearing joints and constraints."""
        if (part, hold) not in self._shared:
            from kinode.dynamics.reactions.redundancy import Analyses, share

            self._analyses = self._analyses or Analyses(self.dynamics, self.states, len(self))
            self._shared[part, hold] = share(self.dynamics, self.states, part, hold, self._analyses)
        return self._shared[part, hold]

    @cached_property
    def circuit(self) -> RunCircuit:
        """The component circuit along the run: ``run.circuit["V"]`` is its solution vector."""
        from kinode.results.run_circuit import RunCircuit

        return RunCircuit(self)

    def _continuous(self, name: QuantityName, value: Array) -> Array:
        """The quantity; angles of a cut joint, known up to whole turns, are made continuous along the run."""
        if name.quantity != "q" or name.owner not in self.dynamics.topology.cut_names:
            return value
        kinds = name.dimension if isinstance(name.dimension, tuple) else (name.dimension,)
        continuous = value.reshape(len(value), -1).copy()
        for k, kind in enumerate(kinds):
            if kind == "angle":
                continuous[:, k] = np.unwrap(continuous[:, k])
        return continuous.reshape(value.shape)

    def _stored(self, name: QuantityName) -> Array | None:
        """A quantity that needs no computation: a state, the time or a constant; else None."""
        if name.text == "t":
            return self.t
        if name.owner in self.system.parameters:
            return np.full(len(self), self.parameters[name.owner])
        if name.owner in self.system.inputs:
            value = self.input_values[name.owner]
            return value.at(self.t) if isinstance(value, InputCourse) else np.full(len(self), value)
        stored = find_stored(self.dynamics, name)
        if stored is None:
            return None
        values = self.y[:, stored.columns]
        return values if stored.vector else values[:, 0]

    def names(self) -> list[str]:
        """The names of all quantities; a vector has components too (``.x``), in any axes (``@frame``).

        Returns
        -------
        list of str

        Examples
        --------
        >>> run = kn.simulate(kn.load("examples/double_pendulum.yaml"), 0.1, samples=3)
        >>> [name for name in run.names() if name.startswith("elbow.re")]
        ['elbow.reaction.force', 'elbow.reaction.moment', 'elbow.reaction.axial', 'elbow.reaction.radial']
        """
        return known_names(self.system)

    def units(self, name: str) -> str | tuple[str, ...]:
        """The SI unit of a quantity, or of an expression of quantities.

        Parameters
        ----------
        name : str
            Name of a quantity, or an expression.  Plain factors in an expression leave its unit open, as in
            "elbow.q*180/pi".

        Returns
        -------
        str or tuple of str
            One unit, or one for each component if they differ; "" if it is not known.

        Examples
        --------
        >>> run = kn.simulate(kn.load("examples/double_pendulum.yaml"), 0.1, samples=3)
        >>> run.units("elbow.effort")
        'N*m'
        """
        expression = self._expression(name)
        return unit_of(self.system, name) if expression is None else find_unit(self.system, expression)

    def left_out(self, name: str) -> tuple[str, ...]:
        """Loads that a quantity leaves out because the model does not say where they act, or what gives them.

        Parameters
        ----------
        name : str
            Name of a quantity, or an expression.

        Returns
        -------
        tuple of str
            ("tooth force",) for the reactions at a gear or rack without ``pressure_angle``; ("effort of deck",) for the
            efforts of a motor that is geared to a joint ``deck`` with prescribed motion; else ().

        Examples
        --------
        >>> run = kn.simulate(kn.load("examples/double_pendulum.yaml"), 0.1, samples=3)
        >>> run.left_out("elbow.reaction.force")
        ()
        """
        from kinode.dynamics.reactions.lost_values import left_out_of  # few ask for it

        expression = self._expression(name)
        names = [name] if expression is None else expression.names
        each = (left_out_of(self.dynamics.topology, find_quantity(self.system, one)) for one in names)
        return tuple(dict.fromkeys(load for loads in each for load in loads))

    def parts(self, name: str) -> tuple[str, ...]:
        """The names of the components of a vector; none of a number.

        Parameters
        ----------
        name : str
            Name of a quantity, or an expression.

        Returns
        -------
        tuple of str

        Examples
        --------
        >>> run = kn.simulate(kn.load("examples/double_pendulum.yaml"), 0.1, samples=3)
        >>> run.parts("lower.velocity"), run.parts("elbow.q")
        (('x', 'y', 'z'), ())
        """
        quantity = find_quantity(self.system, name) if self._expression(name) is None else None
        return quantity.parts if quantity is not None and quantity.part is None else ()

    def _ipython_key_completions_(self) -> list[str]:
        """What completion in a notebook offers inside ``run["..."]``."""
        return self.names()

    # -- relative motion ---------------------------------------------------------------------------
    def position(self, of: Any, relative_to: Any = None, expressed_in: Any = None) -> Array:
        """Position of the origin of a body or frame relative to another.

        Parameters
        ----------
        of : body, frame or str
            The body or frame.
        relative_to : body, frame or str, optional
            The observer, which may move and rotate; default is the world.
        expressed_in : body, frame or str, optional
            The axes of the result; default are those of the observer.

        Returns
        -------
        array
            (time, 3), m.

        Examples
        --------
        >>> run = kn.simulate(kn.load("examples/double_pendulum.yaml"), 0.1, samples=3)
        >>> run.position("lower", relative_to="upper").shape
        (3, 3)
        """
        from kinode.results import relative_motion

        return relative_motion.motion(self, "position", of, relative_to, expressed_in)

    def velocity(self, of: Any, relative_to: Any = None, expressed_in: Any = None) -> Array:
        """Velocity relative to a moving and rotating observer, (time, 3), m/s; parameters as in ``position``."""
        from kinode.results import relative_motion

        return relative_motion.motion(self, "velocity", of, relative_to, expressed_in)

    def acceleration(self, of: Any, relative_to: Any = None, expressed_in: Any = None) -> Array:
        """Acceleration relative to a moving and rotating observer, (time, 3), m/s^2; parameters as in ``position``."""
        from kinode.results import relative_motion

        return relative_motion.motion(self, "acceleration", of, relative_to, expressed_in)

    def angular_velocity(self, of: Any, relative_to: Any = None, expressed_in: Any = None) -> Array:
        """Angular velocity relative to another body or frame, (time, 3), rad/s; parameters as in ``position``."""
        from kinode.results import relative_motion

        return relative_motion.motion(self, "angular_velocity", of, relative_to, expressed_in)

    def angular_momentum(self, of: Any, about: Any = None, expressed_in: Any = None) -> Array:
        """Angular momentum about any point, which may move, of the absolute motion.

        Parameters
        ----------
        of : body, joint or "system"
            A body, the bodies that a joint carries, or all bodies.
        about : body, frame or str, optional
            The point; default is the mass center of the body, the joint's point on the side of the bodies that it
            carries, or the world's origin.
        expressed_in : body, frame or str, optional
            The axes of the result; default is the world.

        Returns
        -------
        array
            (time, 3), N*m*s.

        Examples
        --------
        >>> run = kn.simulate(kn.load("examples/double_pendulum.yaml"), 0.1, samples=3)
        >>> run.angular_momentum("elbow", about="world").shape
        (3, 3)
        """
        from kinode.results.relative_motion import angular_momentum

        return angular_momentum(self, of, about, expressed_in)


def known_names(system: System) -> list[str]:
    """The names of all quantities, without components (``.x``) and axes (``@frame``)."""
    names = ["t", *(f"system.{name}" for name in SYSTEM_QUANTITIES if name != "com" or system.bodies)]
    if "ground" not in system.components and "ground" not in system.nodes:
        names += [f"ground.{name}" for name in GROUND_QUANTITIES]
    for name, joint in system.joints.items():
        of_freedoms = ("q", "u", "u_dot", "effort", *(f"effort.{share}" for share in EFFORT_SHARES), *POWERS)
        names += [f"{name}.{quantity}" for quantity in (*(of_freedoms if joint.n_u else ()), *JOINT_WRENCHES)]
    names += [f"{name}.{quantity}" for name in system.bodies for quantity in MOMENTUM_QUANTITIES]
    frames = [text for name, body in system.bodies.items() for text in (name, f"{name}.com", *_frames(name, body))]
    frames += [f"{name}.{side}" for name in system.joints for side in ("parent", "child")]
    frames += system.frames
    names += [f"{frame}.{quantity}" for frame in frames for quantity in FRAME_QUANTITIES]
    names += [f"{name}.{quantity}" for name, record in system.frames.items() for quantity in record.quantities]
    for name, element in system.elements.items():
        names += [f"{name}.{quantity}" for quantity in (*element.offered(), *(("power",) if element.pushes else ()))]
    for name, constraint in system.constraints.items():
        sides = [f"on.{body}.{word}" for body in constraint.places(system) for word in ("force", "moment")]
        names += [f"{name}.{quantity}" for quantity in ("residual", "reaction", *sides)]
    names += [f"{name}.{entry}" for name, part in system.components.items() for entry, _ in part.discrete_states]
    for name, node in system.nodes.items():
        names += [f"{name}.{word}" for word in node.domain.across if node.joint is None and not node.reference]
    return [*names, *system.signals, *system.inputs, *system.parameters]


def table_names(dynamics: Dynamics) -> list[str]:
    """Coordinates and speeds of all joints, driven ones too, other states, and the loads in the joints."""
    joints = dynamics.system.joints
    names = []
    for letter in "qu":
        for name, joint in joints.items():
            entries = [entry for entry, _ in (joint.coordinate_names if letter == "q" else joint.coordinates)]
            names += (
                [f"{name}.{letter}.{x}" for x in entries] if len(entries) > 1 else [f"{name}.{letter}"] * len(entries)
            )
    names += [coordinate.name for coordinate in dynamics.coordinates if coordinate.role == "z"]
    for name, joint in joints.items():
        names += [f"{name}.effort"] if joint.n_u else []
        names += [f"{name}.reaction.{load}" for load in ("force", "moment") if joint.n_u < 6]
    return list(dict.fromkeys(names))


def _frames(name: str, body: object) -> list[str]:
    """Names of the frames of a body."""
    return [f"{name}.{frame.name}" for frame in getattr(body, "frames", ()) if frame.name]


IGNORE_OVERFLOW = np.errstate(over="ignore", invalid="ignore")  # a run that failed may end with infinite values
EQUAL_PEAKS = 1e-9  # share of the peak: values this close to it are equal to it


@dataclass(frozen=True)
class Measure:
    """A magnitude over time.

    Attributes
    ----------
    peak : float
        The largest magnitude.
    time : float
        Its time, s.
    mean, rms : float
        Over time.
    """

    peak: float
    time: float
    mean: float
    rms: float


def find_sizes(values: Array) -> Array:
    """The lengths of vectors, (time, n), or of what has more dimensions."""
    rows = values.reshape(len(values), -1)
    squares = np.zeros(len(rows))
    for column in rows.T:  # one after the other, as the compiled loop of many runs does (studies/fast/fast_loops.py)
        squares += column * column
    sizes: Array = np.sqrt(squares)
    return sizes


def find_peak(values: Array) -> int:
    """Where the size is largest, the first of equal ones."""
    size = np.abs(values)
    return int(np.argmax(size >= (1.0 - EQUAL_PEAKS) * np.nanmax(size)))


def find_mean(t: Array, values: Array) -> float:
    """The mean over time; of an instant the last value."""
    span = float(t[-1] - t[0])
    return float(np.trapezoid(values, t)) / span if span > 0.0 else float(values[-1])


@IGNORE_OVERFLOW
def measure(t: Array, values: Array) -> Measure:
    """Peak, time of the peak, mean and rms of a magnitude; vectors (time, n) count by their length."""
    size = np.abs(values) if values.ndim == 1 else find_sizes(values)
    if not len(size) or not np.isfinite(size).any():
        return Measure(np.nan, np.nan, np.nan, np.nan)
    k = find_peak(size)
    peak, time = float(size[k]), float(t[k])
    if t[-1] <= t[0]:
        return Measure(peak, time, peak, peak)
    return Measure(peak, time, find_mean(t, size), float(np.sqrt(find_mean(t, size**2))))
