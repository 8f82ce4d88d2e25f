"""Inertial numbers and friction from measured efforts, by linear least squares, with bodies that can exist.

Efforts show the base parameters alone.  Among all numbers with the same base parameters those nearest to the model's
are taken, each measured in units of its body's own size.  A body can exist if its pseudo-inertia, the matrix of second
moments [[S, h], [h, m]] with S = tr(J)/2 - J, is positive semidefinite (P. M. Wensing, S. Kim, J.-J. E. Slotine,
"Linear matrix inequalities for physically consistent inertial parameter identification", IEEE Robotics and Automation
Letters 3, 2018).  It is written as L L', so that no number leaves the bounds (C. Rucker, P. M. Wensing, "Smooth
parameterization of rigid-body inertia", the same journal, 7, 2022).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.regressors.base_parameters import BaseParameters
from kinode.dynamics.regressors.inertial_regressor import NUMBERS, VISCOUS
from kinode.errors import ArgumentError

if TYPE_CHECKING:
    from kinode.dynamics.regressors.inertial_regressor import Regressor
    from kinode.model.system import System

TEN = len(NUMBERS)
NEARNESS = 1e-6  # weight of the distance to the model's numbers beside the residual, both relative
SEEN = 0.1  # share of the noise; a smaller change of the efforts is none
BOUND = 1e-6  # least eigenvalue of a pseudo-inertia, over the largest: below it a body is at the bound of what can be


@dataclass(frozen=True, eq=False)
class InertialFit:
    """Numbers that measured efforts show.

    Attributes
    ----------
    values : mapping of str to float
        By the names of the regressor; those that the efforts do not show are nearest to the model's.
    base : BaseParameters
        What the efforts show.
    base_values, base_deviations : array
        Their values by least squares, before any bound, and standard deviations, from the residual.
    residual : array
        Measured efforts less those of ``values``, (time, speed).
    deviation : array
        Root mean square of the residual, by speed.
    bounded : tuple of str
        Bodies at the bound of what can exist: the data, taken alone, ask for a body that cannot.
    """

    values: dict[str, float]
    base: BaseParameters
    base_values: Array
    base_deviations: Array
    residual: Array
    deviation: Array
    bounded: tuple[str, ...]
    regressor: Regressor

    def __getitem__(self, name: str) -> float:
        return self.values[name]

    def __str__(self) -> str:
        rows = [("base parameter", "value", "deviation", "unit")]
        rows += [
            (name, _write_known(value, deviation), f"{deviation:.2g}", unit)
            for name, value, deviation, unit in zip(
                self.base.names, self.base_values, self.base_deviations, self.base.units, strict=True
            )
        ]
        widths = [max(len(row[k]) for row in rows) for k in range(4)]
        lines = ["  ".join(f"{text:{width}}" for text, width in zip(row, widths)).rstrip() for row in rows]
        if self.bounded:
            lines.append(f"at the bound of what a body can be: {', '.join(self.bounded)}")
        return "\n".join(lines)

    @property
    def system(self) -> System:
        """The model with these numbers; friction is set where it is viscous."""
        system = self.regressor.dynamics.system.copy()
        for body in _bodies(self.regressor):
            mass, x, y, z, *J = (self.values[f"{body}.{number}"] for number, _ in NUMBERS)
            com = (x / mass, y / mass, z / mass) if mass > 0 else (0.0, 0.0, 0.0)
            given = {} if system.bodies[body].solid is None else {"shape": None}
            system.change(body, **given, mass=mass, com=com, inertia=tuple(J), about="origin")
        for name, value in self.values.items():
            joint, _, word = name.rpartition(".")
            if word == VISCOUS and joint in system.joints and value != 0.0:
                system.change(joint, damping=max(value, 0.0))
        return system


def fit_inertia(regressor: Regressor, effort: Any, weights: Any, consistent: bool) -> InertialFit:
    """Least squares of measured efforts."""
    measured, weight = _read(regressor, effort, weights)
    base = regressor.base()
    n = len(regressor.speeds)
    rows = (regressor.matrix * weight[:, None]).reshape(-1, len(regressor.names))
    wanted = ((measured - regressor.rest) * weight).reshape(-1)
    if len(wanted) <= len(base):
        raise ArgumentError(f"effort: {len(wanted)} numbers do not suffice for {len(base)} base parameters")
    A = rows[:, base.independent]
    lengths = np.linalg.norm(A, axis=0)
    Q, R = np.linalg.qr(A / lengths)
    base_values = np.linalg.solve(R, Q.T @ wanted) / lengths
    spread = float(np.sqrt(np.sum((A @ base_values - wanted) ** 2) / (len(wanted) - len(base))))
    deviations = spread * np.linalg.norm(np.linalg.inv(R), axis=1) / lengths
    noise = max(spread, 1e-12 * float(np.linalg.norm(wanted)))  # of data without noise: rounding
    in_noise = R * lengths / noise  # base parameters in units of the noise
    values = _complete(regressor, base, in_noise, base_values, consistent)
    missed = float(np.linalg.norm(in_noise @ (base.combinations @ values - base_values))) > SEEN
    residual = (wanted - rows @ values).reshape(-1, n) / weight
    bounded = tuple(body for body in _bodies(regressor) if missed and _is_at_bound(regressor, values, body))
    return InertialFit(
        dict(zip(regressor.names, values.tolist(), strict=True)), base, base_values, deviations, residual,
        np.sqrt(np.mean(residual**2, axis=0)), bounded, regressor,
    )  # fmt: skip


def _read(regressor: Regressor, effort: Any, weights: Any) -> tuple[Array, Array]:
    """Measured efforts and a weight for each speed, checked."""
    if regressor.dynamics.topology.constrained:
        raise ArgumentError("fit: in loops, efforts of joints are not known without the forces that close the loops")
    if regressor.matrix.ndim != 3:
        raise ArgumentError("fit: a regressor of many states is needed; give dynamics.regressor 2-D q, u and u_dot")
    measured, shape = np.asarray(effort, dtype=float), regressor.rest.shape
    if measured.shape != shape:
        raise ArgumentError(f"effort: shape {shape} is expected, (time, speed), not {measured.shape}")
    if not np.isfinite(measured).all():
        raise ArgumentError("effort: it must be finite everywhere")
    weight = np.ones(shape[1]) if weights is None else np.asarray(weights, dtype=float)
    if weight.shape != (shape[1],) or not (weight > 0).all() or not np.isfinite(weight).all():
        raise ArgumentError(f"weights: {shape[1]} positive numbers are expected, one for each speed")
    return measured, weight


def _write_known(value: float, deviation: float) -> str:
    """A number with the digits that its deviation, of which two are shown, leaves certain."""
    shown = float(f"{deviation:.2g}")
    if not 0.0 < shown < math.inf:
        return f"{value:.6g}"
    return f"{round(float(value), 1 - math.floor(math.log10(shown))) + 0.0:.10g}"


def _bodies(regressor: Regressor) -> list[str]:
    word = NUMBERS[0][0]
    return [name.removesuffix(f".{word}") for name in regressor.names if name.endswith(f".{word}")]


def _complete(regressor: Regressor, base: BaseParameters, R: Array, base_values: Array, consistent: bool) -> Array:
    """All numbers, from base parameters: nearest to the model's, and of bodies that can exist if that is wanted."""
    own, B = regressor.values, base.combinations
    sizes = _find_sizes(regressor)
    wrong = base_values - B @ own
    nearest: Array = own + sizes * (np.linalg.pinv(B * sizes) @ wrong)
    count = len(_bodies(regressor))
    possible = all(_least(_pseudo_inertia(nearest[TEN * k : TEN * k + TEN])) >= 0.0 for k in range(count))
    if not consistent or possible:
        return nearest
    return _search(own, nearest, B, R, base_values, sizes, count)


def _find_sizes(regressor: Regressor) -> Array:
    """The size of each number: of a body's by its mass and its radius of gyration."""
    sizes, count = np.ones(len(regressor.names)), len(_bodies(regressor))
    own = regressor.values[: TEN * count].reshape(count, TEN)
    masses, spread = own[:, 0], own[:, 4:7].sum(axis=1)
    mass = max(float(masses.mean()) if count else 1.0, 1e-9)
    length = np.sqrt(max(float(spread.sum()) / max(float(masses.sum()), 1e-9), 1e-6))
    for k in range(count):
        m = max(float(masses[k]), 1e-3 * mass)
        sizes[TEN * k : TEN * k + TEN] = [m, *[m * length] * 3, *[m * length**2] * 6]
    return sizes


def _pseudo_inertia(ten: Array) -> Array:
    m, x, y, z, xx, yy, zz, xy, xz, yz = ten
    half = 0.5 * (xx + yy + zz)
    return np.array([[half - xx, -xy, -xz, x], [-xy, half - yy, -yz, y], [-xz, -yz, half - zz, z], [x, y, z, m]])


def _ten_numbers(P: Array) -> Array:
    S = P[:3, :3]
    J = np.trace(S) * np.eye(3) - S
    return np.array([P[3, 3], *P[:3, 3], J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]])


def _least(P: Array) -> float:
    return float(np.linalg.eigvalsh(P)[0])


def _is_at_bound(regressor: Regressor, values: Array, body: str) -> bool:
    k = regressor.names.index(f"{body}.{NUMBERS[0][0]}")
    eigenvalues = np.linalg.eigvalsh(_pseudo_inertia(values[k : k + TEN]))
    own = np.linalg.eigvalsh(_pseudo_inertia(regressor.values[k : k + TEN]))
    return bool(eigenvalues[0] <= BOUND * eigenvalues[-1] and own[0] > BOUND * own[-1])


_PLACES, _ENTRIES = np.tril_indices(4), np.arange(TEN)  # of a factor L
_NUMBERS_OF = np.array([_ten_numbers(unit) for unit in np.eye(16).reshape(16, 4, 4)]).T  # of a pseudo-inertia


def _search(own: Array, nearest: Array, B: Array, R: Array, wanted: Array, sizes: Array, count: int) -> Array:
    """The numbers of bodies that can exist, nearest to the wanted base parameters, then to the model's own numbers."""
    from scipy.optimize import least_squares

    begin, scales = [], []
    for k in range(count):
        part = slice(TEN * k, TEN * k + TEN)
        scale = np.sqrt([*[sizes[part][4]] * 3, sizes[part][0]])
        P = _pseudo_inertia(0.5 * (own[part] + nearest[part])) / np.outer(scale, scale)
        values, vectors = np.linalg.eigh(0.5 * (P + P.T))
        L = np.linalg.cholesky(vectors @ np.diag(np.maximum(values, 1e-4)) @ vectors.T)
        begin.append(L[_PLACES])
        scales.append(np.outer(scale, scale))
    x0 = np.concatenate([*begin, nearest[TEN * count :]])

    def numbers(x: Array) -> Array:
        result = np.empty(len(own))
        for k in range(count):
            L = _factor(x[TEN * k : TEN * k + TEN])
            result[TEN * k : TEN * k + TEN] = _ten_numbers(L @ L.T * scales[k])
        result[TEN * count :] = x[TEN * count :]
        return result

    def slopes(x: Array) -> Array:
        result = np.zeros((len(own), len(x)))
        for k in range(count):
            L = _factor(x[TEN * k : TEN * k + TEN])
            change = np.zeros((TEN, 4, 4))
            change[_ENTRIES, _PLACES[0]] = L[:, _PLACES[1]].T
            change = (change + change.transpose(0, 2, 1)) * scales[k]
            result[TEN * k : TEN * k + TEN, TEN * k : TEN * k + TEN] = _NUMBERS_OF @ change.reshape(TEN, 16).T
        places = np.arange(TEN * count, len(own))
        result[places, places] = 1.0
        return result

    def misfit(x: Array) -> Array:
        theta = numbers(x)
        return np.concatenate([R @ (B @ theta - wanted), NEARNESS * (theta - own) / sizes])

    def misfit_slopes(x: Array) -> Array:
        change = slopes(x)
        return np.vstack([R @ B @ change, NEARNESS * change / sizes[:, None]])

    found = least_squares(misfit, x0, misfit_slopes, x_scale="jac", max_nfev=500, xtol=1e-14, ftol=1e-14, gtol=1e-14)
    return numbers(found.x)


def _factor(entries: Array) -> Array:
    L = np.zeros((4, 4))
    L[_PLACES] = entries
    return L
