"""Motions that show the inertial numbers of a mechanism: periodic courses of its joints, chosen for what efforts tell.

Each joint follows a sum of a few harmonics (J. Swevers, C. Ganseman, D. B. Tükel, J. De Schutter, H. Van Brussel,
"Optimal robot excitation and identification", IEEE Transactions on Robotics and Automation 13, 1997).  Their
coefficients maximize the determinant of the information in the efforts about the base parameters, which does not
depend on units.  Every course is scaled to the most that its limits allow, so that none is ever exceeded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError
from kinode.model.base.fields import unknown

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics
    from kinode.dynamics.regressors.base_parameters import BaseParameters
    from kinode.dynamics.regressors.inertial_regressor import RegressorMaker

RANGES = {"angle": (-0.5 * np.pi, 0.5 * np.pi), "length": (-0.5, 0.5)}
"""Ranges of coordinates without limits, rad and m."""
SAMPLES_PER_HARMONIC = 20
WATCHED_PER_HARMONIC = 100
"""Times at which limits are watched: the course between them goes beyond by less than 0.1 %."""


@dataclass(frozen=True, eq=False)
class ExcitingMotion:
    """A periodic motion that shows the inertial numbers.

    Attributes
    ----------
    t : array
        Times over one period, s.
    q, u, u_dot : array
        (time, joint): for ``dynamics.regressor(0.0, q, u, u_dot)``.
    base : BaseParameters
        What the efforts of this motion show, with its condition.
    laws : mapping of str to str
        The course of each coordinate as a law of time, for the field ``motion`` of its joint.
    """

    t: Array
    q: Array
    u: Array
    u_dot: Array
    base: BaseParameters
    laws: dict[str, str]

    def __repr__(self) -> str:
        told = f"{len(self.base)} base parameters, condition {self.base.condition:.3g}"
        return f"<ExcitingMotion of {self.q.shape[1]} coordinates: {told}>"


def find_exciting_motion(
    maker: RegressorMaker, period: float, harmonics: int, limits: Mapping[str, Any], seed: int, iterations: int
) -> ExcitingMotion:
    """The motion whose efforts tell most about the base parameters."""
    from scipy.optimize import minimize

    if harmonics < 1 or not period > 0:
        raise ArgumentError("exciting_motion: a positive period and at least one harmonic are needed")
    dynamics = maker.dynamics
    waves = _Waves(dynamics, period, harmonics, limits)
    rng = np.random.default_rng(seed)
    first = rng.standard_normal(waves.shape) / np.arange(1, harmonics + 1)
    drawn = rng.uniform(-1.0, 1.0, (max(60, 12 * dynamics.n_u), 3, dynamics.n_u))
    columns = dynamics.regressor(0.0, *np.moveaxis(drawn, 1, 0)).base().independent

    def told(flat: Array) -> float:
        matrix = maker.find_matrix(0.0, *waves.course(flat.reshape(waves.shape)), maker.rubbing)
        R = np.linalg.qr(matrix.reshape(-1, matrix.shape[-1])[:, columns], mode="r")
        return -float(np.log(np.maximum(np.abs(np.diag(R)), 1e-300)).sum())

    found = minimize(told, first.ravel(), method="L-BFGS-B", options={"maxiter": iterations, "maxfun": 10**9})
    best = found.x.reshape(waves.shape)
    q, u, u_dot = waves.course(best)
    base = dynamics.regressor(0.0, q, u, u_dot).base()
    return ExcitingMotion(waves.sampled, q, u, u_dot, base, waves.write(best))


class _Waves:
    """Courses of all joints from coefficients (joint, sine or cosine, harmonic)."""

    def __init__(self, dynamics: Dynamics, period: float, harmonics: int, limits: Mapping[str, Any]) -> None:
        if dynamics.topology.constrained:
            raise ArgumentError("exciting_motion: joints of a loop do not move freely; it is for trees")
        coordinates = [c for c in dynamics.coordinates if c.role == "q"]
        if dynamics.n_q != dynamics.n_u or any(c.kind not in RANGES for c in coordinates):
            raise ArgumentError("exciting_motion: it is for joints that turn about axes and slide along them")
        self.names = [c.name for c in coordinates]
        self.orders: Array = 2.0 * np.pi / period * np.arange(1, harmonics + 1)
        self.shape = (len(coordinates), 2, harmonics)
        count = SAMPLES_PER_HARMONIC * harmonics
        self.sampled = np.arange(count) * period / count
        watched = np.arange(WATCHED_PER_HARMONIC * harmonics) * period / (WATCHED_PER_HARMONIC * harmonics)
        self.sampled_waves, self.watched_waves = (self._waves(t) for t in (self.sampled, watched))
        self.ranges = np.array([RANGES[c.kind] for c in coordinates])
        self.most = np.full((2, len(coordinates)), np.inf)  # of speeds and accelerations
        self._read(dynamics, limits)

    def _read(self, dynamics: Dynamics, limits: Mapping[str, Any]) -> None:
        """Limits by name: of ``elbow.q`` a range, of ``elbow.u`` and ``elbow.u_dot`` a size."""
        speeds = [name[: -len("q")] + "u" if name.endswith(".q") else name.replace(".q.", ".u.") for name in self.names]
        for name, value in limits.items():
            of_acceleration = name.endswith(".u_dot") or ".u_dot." in name
            plain = name.replace(".u_dot", ".u")
            if name in self.names:
                low, high = (dynamics.arguments.read_number(name, each) for each in _read_pair(name, value))
                if not low < high:
                    raise ArgumentError(f"limits: {name} needs a range from the lower to the higher end")
                self.ranges[self.names.index(name)] = low, high
            elif plain in speeds:
                size = float(value) if of_acceleration else dynamics.arguments.read_number(name, value)
                if not size > 0:
                    raise ArgumentError(f"limits: {name} needs a positive size")
                self.most[int(of_acceleration), speeds.index(plain)] = size
            else:
                raise ArgumentError(unknown("limits: no coordinate or speed is called", name, [*self.names, *speeds]))

    def _scaled(self, coefficients: Array) -> tuple[Array, Array]:
        """Coefficients scaled to the limits, and the constant parts."""
        courses = [self._sum(coefficients, wave) for wave in self.watched_waves]
        low, high = courses[0].min(axis=0), courses[0].max(axis=0)
        with np.errstate(divide="ignore"):
            factors = [(self.ranges[:, 1] - self.ranges[:, 0]) / (high - low)]
            factors += [most / np.abs(course).max(axis=0) for most, course in zip(self.most, courses[1:], strict=True)]
        factor = np.minimum.reduce(factors) * (1.0 - 1e-3)  # between the watched times
        return coefficients * factor[:, None, None], self.ranges.mean(axis=1) - factor * 0.5 * (low + high)

    def _waves(self, t: Array) -> tuple[Array, Array, Array]:
        """Sines and cosines of all harmonics at some times, (time, sine or cosine, harmonic), and their derivatives."""
        angles, w = np.multiply.outer(t, self.orders), self.orders
        sines, cosines = np.sin(angles), np.cos(angles)
        pairs = (sines, cosines), (w * cosines, -w * sines), (-(w**2) * sines, -(w**2) * cosines)
        first, second, third = (np.stack(pair, axis=1) for pair in pairs)
        return first, second, third

    def _sum(self, coefficients: Array, wave: Array) -> Array:
        """The sum of all harmonics: (time, joint)."""
        result: Array = wave.reshape(len(wave), -1) @ coefficients.reshape(len(coefficients), -1).T
        return result

    def course(self, coefficients: Array) -> tuple[Array, Array, Array]:
        """q, u and u_dot at the sampled times."""
        scaled, middle = self._scaled(coefficients)
        q, u, u_dot = (self._sum(scaled, wave) for wave in self.sampled_waves)
        return middle + q, u, u_dot

    def write(self, coefficients: Array) -> dict[str, str]:
        """The courses as laws of time."""
        scaled, middle = self._scaled(coefficients)
        laws = {}
        for k, name in enumerate(self.names):
            terms = [f"{middle[k]:.17g}"]
            for word, row in zip(("sin", "cos"), scaled[k], strict=True):
                terms += [f"{a:.17g}*{word}({w:.17g}*t)" for a, w in zip(row, self.orders, strict=True)]
            laws[name] = " + ".join(terms)
        return laws


def _read_pair(name: str, value: Any) -> tuple[Any, Any]:
    try:
        low, high = value
    except (TypeError, ValueError):
        raise ArgumentError(f"limits: {name} needs a range (lower, upper), not {value!r}") from None
    return low, high
