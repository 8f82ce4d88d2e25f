"""``kn.inverse``: the efforts and joint loads that a given motion takes (kinematic mode).

Joints whose motion is given become driven: their expressions are sources of position or velocity, and their efforts
and all reactions are results.  Where the path gives all motion, nothing is integrated.

The path may belong to a frame, or to other joints than those that are to make the motion.  Then a first run guides the
mechanism along the path by constraints that depend on time.  Coordinates, speeds and accelerations of the actuated
joints in that run become polynomials of the fifth degree, and these drive the joints in the second run.

A path is given by expressions or samples.  Samples become polynomials of the fifth degree, as expressions of lookup
tables.  The orientation of a guided frame is that of three massless carriers that turn by the given angles.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.starts.initial_values import read_initial_values
from kinode.errors import ArgumentError, AssemblyError, GuessWarning, ModelError, RunWarning, SimulationError, counted
from kinode.expressions.syntax_tree import Expression
from kinode.model.base.fields import Component, short, unknown
from kinode.model.joints.end_stops import bounds
from kinode.model.joints.joint import Joint
from kinode.model.system import System
from kinode.multibody.laws import Laws
from kinode.ode.input_table import Inputs, inputs_at
from kinode.results.trajectory import Trajectory
from kinode.simulation.input_courses import read_run_inputs
from kinode.simulation.run_arguments import find_model, read_row
from kinode.structure.state_layout import EMPTY, EvaluationPoint
from kinode.tasks.simulate import simulate
from kinode.tasks.start_argument import find_start

MIN_KNOTS = 101  # samples of the guided run, so that it resolves the motion between the requested times
GUIDED_RTOL = 1e-10  # relative tolerance of the guided run: its errors end up in the efforts


def inverse(
    model: System | Dynamics | str | os.PathLike[str], times: Any, path: Any, by: Any = None, *,
    start: Any = None, parameters: Any = None, inputs: Any = None,
) -> Trajectory:  # fmt: skip
    """Find what a mechanism needs to follow a path: efforts, reactions and all else, as a run.

    Parameters
    ----------
    model : System, Dynamics, str or path
        The system, a compiled one, or the name of a file.
    times : sequence of float or None
        Times in s at which the path is followed.  None where the path is a run: its own times are taken.
    path : mapping or Trajectory
        Joints mapped to their coordinates: laws of ``t``, or numbers for each of the times (a column for each freedom),
        which are splined, or ``{"q": ..., "u": ..., "u_dot": ...}`` where rates are known; ``joint.u`` mapped to
        speeds. Frames, such as ``hand.tip``, mapped to laws or samples of their position in world axes, (x, y, z), with
        None for a direction that is left open, or to ``{"position": ..., "rpy": ...}``.  A run is followed by its
        joints.
    by : joint or sequence of joints, optional
        The joints whose efforts make the motion, where these are not the joints of the path.
    start : mapping, State, Assembly, Equilibrium or Trajectory, optional
        Initial values of freedoms that the path does not give.  Where ``by`` names other joints than the path, rough
        coordinates: of several positions on the path, such as elbow up and elbow down, the nearest one is taken.
    parameters, inputs : mapping, optional
        Values by name, in SI units or as text with a unit; nothing is compiled anew for them.
        Of a run that is followed the inputs are taken over.

    Returns
    -------
    Trajectory
        ``run["elbow.effort.drive"]`` is what the drive gives beyond springs, dampers and friction, which stay; effort
        laws of the joints that make the motion are left out.

    Raises
    ------
    ArgumentError, AssemblyError
        The path cannot be read or followed, or the joints in ``by`` are too few or too many.

    Notes
    -----
    While a given motion is at rest, sticking friction and brakes of its joint count as zero: their forces depend on the
    motion before.  A path has to stay within the stops and the backlash of its joints.

    Examples
    --------
    >>> run = kn.inverse("examples/pendulum.yaml", [0.0, 0.5, 1.0], {"pivot": "0.2*sin(3*t)"})
    >>> run["pivot.effort.drive"].round(3)
    array([4.905, 4.209, 4.818])
    """
    model = find_model(model)
    system = (model.system if isinstance(model, Dynamics) else model).applied()
    actuated = None if by is None else _names(system, by)
    if inputs is None and isinstance(path, Trajectory):
        inputs = {name: value for name, value in path.input_values.items() if name in system.inputs}
    t, path = _read_run(system, times, path, actuated) if isinstance(path, Trajectory) else (read_times(times), path)
    if not isinstance(path, Mapping) or not path:
        raise ArgumentError(f"path: joints or frames and where they are to be is expected, not {short(path)}")
    paths = [read_path(system, t, key.name if isinstance(key, Component) else str(key), x) for key, x in path.items()]
    path_joints = [entry.owner for entry in paths if isinstance(entry, JointPath)]
    if actuated is None and len(path_joints) < len(paths):
        frames = [entry.owner for entry in paths if isinstance(entry, FramePath)]
        raise ArgumentError(f"by: which joints are to move {' and '.join(frames)}?")
    given = {"parameters": parameters, "inputs": inputs}
    if actuated is not None and set(actuated) != set(path_joints):
        guesses, start = _split_start(system, start)
        paths = _follow(system, t, paths, actuated, given, guesses)
    with_ends = {name: joint for name, joint in system.joints.items() if joint.ends is not None}
    for entry in paths:
        entry.apply(system)
    run = simulate(system, float(t[-1]), t0=float(t[0]), times=t, start=start, **given)
    _check_ends(run, {name: joint for name, joint in with_ends.items() if run.system.joints[name].ends is None})
    run.facts = {**run.facts, "mode": "dynamic" if _freedoms(run.dynamics) else "kinematic"}
    return run


def _check_ends(run: Trajectory, joints: Mapping[str, Joint]) -> None:
    """Refuse a path beyond the ends of a joint: a drive replaces the end stops, and they no longer act."""
    for name, joint in joints.items():
        q, (lower, upper) = run[f"{name}.q"], bounds(joint, run.dynamics.arguments.resolver(run.p))
        for beyond, end in ((lower is not None and q < lower, lower), (upper is not None and q > upper, upper)):
            if np.any(beyond):
                when = float(run.t[np.argmax(beyond)])
                word = "range, which its stop ends" if joint.stop is not None else "play, which ends"
                raise ArgumentError(f"path: at t = {when:g} s {name} leaves its {word} at {float(end):g}")


def _names(system: System, by: Any) -> tuple[str, ...]:
    """Names of the actuated joints, from the argument ``by``."""
    names = tuple(str(getattr(x, "name", x)) for x in ([by] if isinstance(by, str) or hasattr(by, "name") else by))
    for name in names:
        if name not in system.joints:
            raise ArgumentError(unknown("by: no joint is called", name, system.joints))
        if not system.joints[name].n_u:
            raise ArgumentError(f"by: {name} is {system.joints[name].kind}, and cannot move anything")
    if not names or len(set(names)) < len(names):
        raise ArgumentError("by: joints are expected, each once")
    return names


def _read_run(system: System, times: Any, run: Trajectory, names: Any) -> tuple[Array, Any]:
    """The times of a run, and the paths of its joints."""
    if times is not None:
        raise ArgumentError("times: a run has its own; give None")
    if names is None and run.dynamics.topology.constrained:
        raise ArgumentError("by: in loops a few joints move all others: which are to follow the run?")
    followed = names or [name for name, joint in run.system.joints.items() if name in run.dynamics.topology.q_of]
    missing = [name for name in followed if name not in system.joints or name not in run.system.joints]
    if missing:
        raise ArgumentError(f"path: the run and the model have no joint {missing[0]} in common")
    turning = [name for name in followed if system.joints[name].quaternion is not None]
    if turning:
        raise ArgumentError(f"path: {turning[0]} turns by a quaternion, which cannot be followed; name others in by=")
    t = np.unique(run.t)
    return t, _followed(run, tuple(followed), t)


def _freedoms(dynamics: Dynamics) -> int:
    """Degrees of freedom that no drive takes."""
    return dynamics.closure.freedoms if dynamics.topology.constrained else dynamics.n_u


def _follow(
    system: System, t: Array, path: list[JointPath | FramePath], names: tuple[str, ...], given: dict[str, Any],
    guesses: Mapping[str, Array],
) -> list[JointPath | FramePath]:  # fmt: skip
    """Paths of the joints in ``names``, from a run in which constraints guide the mechanism along ``path``.

    Of the other joints the system gets rough coordinates, from the begin of that run.
    """
    guided, owners = system.copy(), " and ".join(entry.owner for entry in path)
    if len(t) < 2:
        raise ArgumentError("times: two or more are needed where other joints than those of the path make it")
    for name in names:
        guided.change(name, **{key: None for key in REPLACED_FIELDS if getattr(guided.joints[name], key) is not None})
    for name, joint in guided.joints.items():
        if joint.q is not None or joint.u is not None:  # exact initial values would contradict the path
            keeps_position = joint.driven and joint.q is not None
            guided.change(name, u=None, **({} if keeps_position else {"q": None, "guess": joint.q or joint.guess}))
    _set_guesses(guided, guesses)
    unguided = Dynamics(guided)
    freedoms, actuated = _freedoms(unguided), sum(guided.joints[name].n_u for name in names)
    if freedoms != actuated:
        message = f"the mechanism has {counted(freedoms, 'freedom')}, and {', '.join(names)} {actuated}"
        too_few = freedoms > actuated
        more = "name more joints, or give them motions in the model" if too_few else "efforts would not be unique"
        raise ArgumentError(f"by: {message}: {more}")
    knots = np.union1d(t, np.linspace(t[0], t[-1], MIN_KNOTS))
    p, inputs = read_row(unguided, "p", given["parameters"]), read_run_inputs(unguided, given["inputs"])
    sampler = PathSampler(unguided, p, inputs, knots)
    for entry in path:
        entry.sampled(guided, sampler).apply(guided)
    try:
        dynamics = Dynamics(guided)
        freedoms = _freedoms(dynamics)
        if freedoms:
            count = "1 freedom is" if freedoms == 1 else f"{freedoms} freedoms are"
            raise ArgumentError(f"path: {owners} may follow it in many ways: {count} left")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GuessWarning)  # guesses only choose among the positions on the path
            warnings.simplefilter("ignore", RunWarning)  # what guides the frame is no support
            run = simulate(dynamics, float(t[-1]), t0=float(t[0]), times=knots, rtol=GUIDED_RTOL, **given)
        others = [name for name, joint in system.joints.items() if joint.n_u and not joint.driven and name not in names]
        _set_guesses(system, {name: run.evaluate([f"{name}.q"])[f"{name}.q"][0] for name in others})
        return list(_followed(run, names, knots).values())
    except (AssemblyError, SimulationError) as error:
        raise ArgumentError(f"path: {owners} cannot follow it: {error}") from error


def _split_start(system: System, start: Any) -> tuple[dict[str, Array], dict[str, Any] | None]:
    """Rough coordinates of joints, and the initial values of other states, from the argument ``start``."""
    if start is None:
        return {}, None
    dynamics = Dynamics(system)
    if isinstance(start, Mapping):
        values = dict(start)
        speeds = [name for name in values if name.rpartition(".u")[0] in system.joints]
        if speeds:
            raise ArgumentError(f"start: {speeds[0]} follows from the path; leave it out")
    elif isinstance(start, Trajectory):  # driven joints are no part of its state
        movable = [name for name, joint in system.joints.items() if joint.n_u and not joint.driven]
        known = start.evaluate([f"{name}.q" for name in movable if name in start.system.joints])
        values = {name: q[-1] for name, q in known.items()}
    else:
        p, inputs = read_row(dynamics, "p", None), read_row(dynamics, "inputs", None)
        values = dynamics.values(find_start(dynamics, start, None, p, inputs))
    others = {c.name for c in dynamics.coordinates if c.role == "z"}
    positions = {name: x for name, x in values.items() if name not in others}
    requested = read_initial_values(dynamics.arguments, positions, system.nominal, as_guess=True)
    named = {name for name in requested.joints if any(key.startswith(f"{name}.q") for key in positions)}
    return {name: requested.joints[name].q for name in named}, {k: x for k, x in values.items() if k in others} or None


def _set_guesses(system: System, guesses: Mapping[str, Array]) -> None:
    """Give joints rough coordinates in place of their initial values."""
    for name, q in guesses.items():
        cleared = {key: None for key in system.joints[name].specs() if key in INITIAL_FIELDS}
        system.change(name, **{**cleared, "guess": np.atleast_1d(q).tolist()})


def _followed(run: Trajectory, names: tuple[str, ...], t: Array) -> dict[str, JointPath]:
    """Paths of joints in a run, with the rates that the run has; ``t`` are times of the run."""
    first = {float(x): k for k, x in reversed(list(enumerate(run.t)))}  # the first of several samples at one time
    indices, keys = [first[float(x)] for x in t], ("q", "u", "u_dot")
    values = run.evaluate([f"{name}.{key}" for name in names for key in keys])
    paths = {}
    for name in names:
        columns = [values[f"{name}.{key}"].reshape(len(run), -1)[indices].T for key in keys]
        paths[name] = JointPath(name, tuple(Samples(t, *freedom) for freedom in zip(*columns, strict=True)))
    return paths


REPLACED_FIELDS = ("motion", "speed", "effort", "stop", "backlash")  # fields of a joint that a drive replaces
INITIAL_FIELDS = ("q", "u", "guess", "position", "rotation", "velocity", "angular_velocity")
AXES = ("x", "y", "z")


@dataclass(frozen=True, eq=False)
class Samples:
    """Values at times with first and second time derivatives; between times a polynomial of the fifth degree."""

    t: Array
    values: Array
    rates: Array
    accelerations: Array

    @classmethod
    def splined(cls, t: Array, values: Array) -> Samples:
        """Samples whose derivatives are those of the spline of the fifth degree through the values."""
        from scipy.interpolate import make_interp_spline

        spline = make_interp_spline(t, values, k=min(5, len(t) - 1))
        return cls(t, values, *(spline(t, nu=order) for order in (1, 2)))

    def at(self, t: Array) -> Samples:
        """The same path by samples at other times within it."""
        from scipy.interpolate import BPoly

        path = BPoly.from_derivatives(self.t, np.column_stack([self.values, self.rates, self.accelerations]))
        values, rates, accelerations = (path(t, nu=order) for order in range(3))
        known, where = np.isin(t, self.t), np.searchsorted(self.t, t[np.isin(t, self.t)])
        for given, sampled in ((self.values, values), (self.rates, rates), (self.accelerations, accelerations)):
            sampled[known] = given[where]  # to the last digit
        return Samples(t, values, rates, accelerations)

    def law(self, system: System, owner: str) -> str:
        """An expression of time in Horner form, made of tables with the coefficients of each interval."""
        h = np.diff(self.t)
        (q, v, a), (q_, v_, a_) = (
            [x[ends] for x in (self.values, self.rates, self.accelerations)] for ends in (slice(0, -1), slice(1, None))
        )
        # what the Taylor polynomial of an interval's begin misses at its end, in the unit of q
        dq, dv, da = q_ - q - h * (v + h * a / 2), h * (v_ - v - h * a), h * h * (a_ - a)
        higher = [
            (10 * dq - 4 * dv + da / 2) / h**3,
            (-15 * dq + 7 * dv - da) / h**4,
            (6 * dq - 3 * dv + da / 2) / h**5,
        ]
        columns = [self.t, self.values, self.rates, self.accelerations / 2, *(np.append(c, 0.0) for c in higher)]
        tables = [_fresh(system, f"{owner}_{word}") for word in ("knot", *(f"c{k}" for k in range(6)))]
        for name, column in zip(tables, columns, strict=True):
            system.table(name, axes=self.t, values=column, method="previous", outside="extrapolate", exchangeable=True)
        text = f"{tables[-1]}(t)"
        for name in reversed(tables[1:-1]):
            text = f"{name}(t) + (t - {tables[0]}(t))*({text})"
        return text


class PathSampler:
    """Samples expressions of time, with their derivatives: a path of samples needs no compilation of its own.

    Parameters
    ----------
    dynamics : Dynamics
        The system, whose tables and signals the expressions may use.
    p, inputs
        Values of parameters and inputs.
    t : array
        Times of the samples, s.
    """

    def __init__(self, dynamics: Dynamics, p: Array, inputs: Inputs, t: Array) -> None:
        self.topology, self.t = dynamics.arguments.topology, t
        self._points = [EvaluationPoint(float(x), EMPTY, EMPTY, EMPTY, p, inputs_at(inputs, x)) for x in t]

    def sample(self, owner: str, value: Any, dimension: str) -> Any:
        """Samples of a number, an expression of time, or other samples; anything else stays as it is."""
        if value is None or isinstance(value, Samples):
            return value if value is None else value.at(self.t)
        law = self.topology.system.reader(owner).law(value, dimension, "path")
        if not isinstance(law, Expression):
            return Samples(self.t, np.full(self.t.shape, float(law)), *np.zeros((2, len(self.t))))
        if not self._is_of_time(law):
            return value
        rows = [Laws(self.topology, point, _no_quantity).timely([law], 2) for point in self._points]
        columns = np.array([[float(x[0]) for x in row] for row in rows]).T
        return Samples(self.t, *columns) if np.isfinite(columns).all() else value

    def _is_of_time(self, law: Expression) -> bool:
        """Whether an expression names time, parameters and inputs alone."""
        system = self.topology.system
        return law.names() <= {"t", *system.parameters, *system.inputs}


def _no_quantity(name: str) -> Any:
    raise ArgumentError(f"path: it may depend on t, parameters and inputs, not on {name}")


def _law(system: System, owner: str, value: Any) -> Any:
    """An expression for a value of a path: samples become tables, anything else is an expression already."""
    return value.law(system, owner) if isinstance(value, Samples) else value


@dataclass(frozen=True)
class JointPath:
    """Prescribed coordinates or speeds of a joint: an expression or samples for each freedom."""

    owner: str
    values: tuple[Any, ...]
    speeds: bool = False

    def sampled(self, system: System, sampler: PathSampler) -> JointPath:
        """The same path by samples; prescribed speeds stay laws."""
        if self.speeds:
            return self
        kinds = [kind for _, kind in system.joints[self.owner].coordinates]
        pairs = zip(self.values, kinds, strict=True)
        return replace(self, values=tuple(sampler.sample(self.owner, value, kind) for value, kind in pairs))

    def apply(self, system: System) -> None:
        """Drive the joint in a system."""
        field, cleared = "motion", set(INITIAL_FIELDS)
        if self.speeds:  # a prescribed speed keeps the initial coordinates of the joint
            field, cleared = "speed", {"u", "velocity", "angular_velocity"}
        empty = {key: None for key in system.joints[self.owner].specs() if key in cleared or key in REPLACED_FIELDS}
        system.change(self.owner, **{**empty, field: [_law(system, self.owner, value) for value in self.values]})


@dataclass(frozen=True)
class FramePath:
    """Prescribed pose of a frame: an expression, samples or None (free) for x, y, z; roll, pitch, yaw if given."""

    owner: str
    position: tuple[Any, ...]
    rpy: tuple[Any, ...] | None = None

    def sampled(self, system: System, sampler: PathSampler) -> FramePath:
        """The same path by samples."""
        position = tuple(sampler.sample(self.owner, value, "length") for value in self.position)
        rpy = None if self.rpy is None else tuple(sampler.sample(self.owner, value, "angle") for value in self.rpy)
        return replace(self, position=position, rpy=rpy)

    def apply(self, system: System) -> None:
        """Guide the frame along the path by constraints that depend on time."""
        frame = system.find_frame(self.owner)
        for axis, law in zip(AXES, self.position, strict=True):
            if law is not None:
                name = _fresh(system, f"{self.owner}_{axis}")
                height = _law(system, name, law)
                system.constraint(name, "point_on_plane", point=frame, plane="world", normal=axis, height=height)
        if self.rpy is None:
            return
        carrier = system.world
        # rotations about the fixed axes x, y, z are those about the moving axes z, y, x
        for axis, law in zip("zyx", reversed(self.rpy), strict=True):
            name = _fresh(system, f"{self.owner}_turn_{axis}")
            body = system.body(f"{name}_carrier", mass=0.0)
            system.joint(name, "revolute", carrier, body, axis=axis, motion=_law(system, name, law))
            carrier = body
        for axes in (("x", "y"), ("y", "z"), ("z", "x")):
            name = _fresh(system, f"{self.owner}_{'_'.join(axes)}")
            system.constraint(name, "angle", a=frame, b=carrier, axes=axes)


def read_path(system: System, t: Array, key: str, value: Any) -> JointPath | FramePath:
    """The path of one joint or frame, from an entry of the argument ``path``."""
    if isinstance(value, JointPath):
        return value
    name, _, last = key.rpartition(".")
    owner = name if name in system.joints and last in ("q", "u") else key
    if owner in system.joints:
        n = system.joints[owner].n_u
        if isinstance(value, Mapping) and owner == key:
            return JointPath(owner, _with_rates(t, value, n, key))
        values = _columns(t, value, n, key)
        return JointPath(owner, values, speeds=owner != key and last == "u")
    try:
        frame = system.find_frame(key)
    except ModelError:
        known = [*system.joints, *system.bodies]
        raise ArgumentError(unknown("path: no joint, body or frame is called", key, known)) from None
    if frame.body == "world" or frame.body in system.frames:
        raise ArgumentError(f"path: {key} is not on a body")
    given = value if isinstance(value, Mapping) else {"position": value}
    if set(given) - {"position", "rpy"} or "position" not in given:
        raise ArgumentError(f"path of {key}: position, and rpy if it matters, are expected, not {', '.join(given)}")
    path = FramePath(key, *(_columns(t, given[part], 3, key) for part in ("position", "rpy") if part in given))
    if all(law is None for law in path.position) and path.rpy is None:
        raise ArgumentError(f"path of {key}: every direction is left open")
    if path.rpy is not None and any(law is None for law in path.rpy):
        raise ArgumentError(f"path of {key}: rpy needs all its three angles")
    return path


def _columns(t: Array, value: Any, count: int, key: str) -> tuple[Any, ...]:
    """An expression or samples for each of ``count`` coordinates; they may come as the columns of an array."""
    if not count:
        raise ArgumentError(f"path of {key}: the joint has no freedom")
    array = _numbers(value)
    if array is not None and array.shape in ((len(t), count), (len(t),) if count == 1 else ()):
        return tuple(_sampled(t, column, key) for column in array.reshape(len(t), count).T)
    if count == 1 and (isinstance(value, str) or not isinstance(value, Sequence | np.ndarray)):
        return (value,)
    if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str) and len(value) == count:
        return tuple(x if _numbers(x) is None else _sampled(t, _numbers(x), key) for x in value)
    expected = "a law" if count == 1 else f"{count} laws"
    given = short(value) if array is None else f"an array of shape {array.shape}"
    raise ArgumentError(f"path of {key}: {expected}, or {len(t)} samples of each, one for each time, not {given}")


def _with_rates(t: Array, value: Mapping[str, Any], count: int, key: str) -> tuple[Samples, ...]:
    """Samples for each freedom, from given coordinates, speeds and accelerations."""
    if set(value) != {"q", "u", "u_dot"}:
        raise ArgumentError(f"path of {key}: samples of q, u and u_dot are expected, not {', '.join(map(str, value))}")
    columns = [_columns(t, value[part], count, f"{key}.{part}") for part in ("q", "u", "u_dot")]
    if not all(isinstance(samples, Samples) for column in columns for samples in column):
        raise ArgumentError(f"path of {key}: samples of q, u and u_dot are expected; a law has its rates itself")
    return tuple(Samples(t, *(samples.values for samples in freedom)) for freedom in zip(*columns, strict=True))


def _numbers(value: Any) -> Array | None:
    """The value as an array of at least one dimension, or None if it is not a sequence of numbers."""
    if isinstance(value, str) or not isinstance(value, Sequence | np.ndarray):
        return None
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return None
    return array if array.ndim else None


def _sampled(t: Array, column: Any, key: str) -> Samples:
    """Splined samples of one coordinate, after a check of their number."""
    if np.shape(column) != t.shape:
        raise ArgumentError(f"path of {key}: {len(t)} samples are expected, one for each time, not {np.size(column)}")
    if len(t) < 2:
        raise ArgumentError("times: samples need two or more; one time is enough for laws")
    if not np.isfinite(column).all():
        raise ArgumentError(f"path of {key}: every sample must be finite")
    return Samples.splined(t, np.asarray(column, dtype=float))


def _fresh(system: System, proposal: str) -> str:
    """An unused name for a component and its carrier body."""
    name = proposal.replace(".", "_")
    taken = (*system.components, *(f"{x}_carrier" for x in system.components))
    return name if name not in taken else _fresh(system, f"{name}_")


def read_times(times: Any) -> Array:
    """The argument ``times`` as an increasing array, in s."""
    try:
        t = np.atleast_1d(np.array(times, dtype=float))
    except (TypeError, ValueError):
        raise ArgumentError(f"times: numbers in a row are expected, not {short(times)}") from None
    if t.ndim != 1 or not t.size or not np.isfinite(t).all() or (np.diff(t) <= 0).any():
        raise ArgumentError("times: finite numbers, each larger than the one before, are expected")
    return t
