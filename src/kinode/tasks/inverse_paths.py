"""The path of ``kn.inverse``: prescribed motions of joints and frames, from expressions or samples.

Samples become polynomials of the fifth degree, as expressions of lookup tables.  A frame is guided by constraints that
depend on time; its orientation by three massless carriers that turn by the given angles.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import ArgumentError, ModelError
from kinode.expressions.syntax_tree import Expression
from kinode.model.base.fields import short, unknown
from kinode.model.system import System
from kinode.multibody.laws import Laws
from kinode.ode.runs.input_table import Inputs, inputs_at
from kinode.structure.evaluation_point import EMPTY, EvaluationPoint

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
