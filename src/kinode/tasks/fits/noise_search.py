"""Least squares with noise that is known, or found with the fit.

    minimize sum rho(r_i^2),    r_i = (model - measured) / noise of the channel

by the trust-region reflective method within bounds (scipy).  Where the noise of a channel is not given, it follows from
the residuals: the fit is repeated with the noise that the last one left, until that stays; which is the maximum of the
likelihood over unknowns and noise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import Error
from kinode.records import dataclass
from kinode.results.trajectory import Trajectory
from kinode.tasks.fits.fit_problem import FitProblem

LOSSES = ("linear", "soft_l1", "huber", "cauchy", "arctan")
ROUNDS = 6
"""Fits with noise of the one before, at most."""
SAME_NOISE = 1e-2
"""Relative change of the noise that ends these."""
LEAST_NOISE = 1e-9
"""Least noise of a channel that is found, as a share of the size of what was measured: data without noise have some."""
WORSE = 10.0
"""Sum of squares of a run that fails, as a multiple of the largest so far."""
PULL = 0.1
"""Residual, in units of the noise, of an unknown that is its scale away from where the search began: what the data do
not show stays there, and what they show is moved by less than a hundredth of its standard deviation."""
TOLERANCE = 1e-9
"""Of the search: relative change of the sum of squares, and of the unknowns."""


@dataclass(frozen=True, eq=False)
class Found:
    """Where the search ended: unknowns, residuals, their derivatives, noise, runs."""

    x: Array
    residuals: Array
    jacobian: Array
    noise: Mapping[str, float]
    runs: tuple[Trajectory, ...]
    at_bound: tuple[int, ...]
    steps: int
    message: str


class FitError(Error):
    """A fit that cannot begin or go on."""


class _NoiseSearch:
    """One search with given noise; remembers the last runs, and serves failed ones."""

    def __init__(self, problem: FitProblem, noise: Mapping[str, float]) -> None:
        self.problem, self.noise, self.worst = problem, noise, 0.0
        self._last: tuple[bytes, Array, list[Trajectory | None]] | None = None

    def residuals(self, x: Array) -> Array:
        """Residuals; large ones where a run fails."""
        if self._last is None or self._last[0] != x.tobytes():
            runs = self.problem.make_runs(x)
            values = self.problem.residuals(runs, self.noise)
            if values is None:
                count = sum(self.problem.counts.values())
                if self.worst == 0.0:
                    raise FitError(f"identify: the run with the values of the start fails: {self.problem.last_failure}")
                return np.full(count, math.sqrt(WORSE * self.worst / count))
            self.worst = max(self.worst, float(values @ values), 1.0)
            self._last = x.tobytes(), values, runs
        return self._last[1]

    def jacobian(self, x: Array) -> Array:
        """Derivatives of the residuals."""
        matrix = self.problem.jacobian(x, self.noise)
        if matrix is None:
            raise FitError(f"identify: a run beside the present values fails: {self.problem.last_failure}")
        return matrix

    def runs(self, x: Array) -> tuple[Trajectory, ...]:
        """The runs of all records."""
        self.residuals(x)
        assert self._last is not None
        return tuple(run for run in self._last[2] if run is not None)


def search(problem: FitProblem, given: Mapping[str, float], loss: str, most_steps: int) -> Found:
    """The unknowns of least squares, and the noise of the channels for which none is given."""
    x = np.array([unknown.value for unknown in problem.unknowns])
    noise = {name: given.get(name, 0.1 * _size(problem, name)) for name in problem.channels}
    free = [name for name in problem.channels if name not in given]
    steps = 0
    for _ in range(ROUNDS):
        found = _minimize(problem, x, noise, loss, most_steps)
        steps += found.steps
        x, before = found.x, noise
        noise = {**noise, **{name: _find_noise(problem, found, name) for name in free}}
        if all(abs(noise[name] / before[name] - 1.0) < SAME_NOISE for name in free):
            break
    return _rescale(problem, found, before, noise, steps)


def _minimize(problem: FitProblem, x: Array, noise: Mapping[str, float], loss: str, most_steps: int) -> Found:
    from scipy.optimize import least_squares  # takes long to import

    task, fields = _NoiseSearch(problem, noise), ("value", "low", "high", "scale")
    begin, low, high, scale = (np.array([getattr(u, name) for u in problem.unknowns]) for name in fields)
    pull = PULL * np.eye(len(x))
    result: Any = least_squares(
        lambda s: np.concatenate([task.residuals(s * scale), PULL * (s - begin / scale)]),
        np.clip(x, low, high) / scale, jac=lambda s: np.vstack([task.jacobian(s * scale) * scale, pull]),
        bounds=(low / scale, high / scale), method="trf", x_scale="jac", loss=loss, ftol=TOLERANCE, xtol=TOLERANCE,
        gtol=1e-12, max_nfev=most_steps,
    )  # fmt: skip
    x = np.clip(result.x * scale, low, high)
    at_bound = tuple(int(k) for k in np.flatnonzero(result.active_mask))
    jacobian = task.jacobian(x)
    done = "converged" if result.status > 0 else f"stopped after {most_steps} steps"
    return Found(x, task.residuals(x), jacobian, noise, task.runs(x), at_bound, int(result.njev), done)


def _size(problem: FitProblem, name: str) -> float:
    """The size of what was measured, for a first guess of its noise."""
    values = np.concatenate([e.measured[name][m[name]] for e, m in zip(problem.records, problem.masks) if name in m])
    spread = float(np.std(values)) if len(values) else 0.0
    return spread or float(np.abs(values).max(initial=0.0)) or 1.0


def _find_noise(problem: FitProblem, found: Found, name: str) -> float:
    """The noise that the residuals of a channel show, with its share of the unknowns taken off."""
    parts = [problem.compare(k, run)[name] for k, run in enumerate(found.runs) if name in problem.masks[k]]
    values, total = np.concatenate(parts), sum(problem.counts.values())
    left = max(1.0, len(values) * (1.0 - len(problem.unknowns) / total))
    return max(math.sqrt(float(values @ values) / left), LEAST_NOISE * _size(problem, name))


def _rescale(
    problem: FitProblem, found: Found, before: Mapping[str, float], noise: Mapping[str, float], steps: int
) -> Found:
    """What was found, with residuals and derivatives in units of the final noise."""
    factors = np.concatenate([
        np.full(int(mask.sum()), before[name] / noise[name]) for masks in problem.masks for name, mask in masks.items()
    ])  # fmt: skip
    residuals, jacobian = found.residuals * factors, found.jacobian * factors[:, None]
    return Found(found.x, residuals, jacobian, noise, found.runs, found.at_bound, steps, found.message)
