"""Least squares with noise that is known, or found with the fit, and how well data show the unknowns.

    minimize sum rho(r_i^2),    r_i = (model - measured) / noise of the channel

by the trust-region reflective method within bounds (scipy).  Where the noise of a channel is not given, it follows from
the residuals: the fit is repeated with the noise that the last one left, until that stays; which is the maximum of the
likelihood over unknowns and noise.

Runs that swing in another rhythm than what was measured have minima in plenty: a search ends in the nearest.  Where it
leaves residuals that are no noise, it begins again on the first part of the records, where the rhythms have not yet
come apart, and goes on with twice as much each time (a growing horizon); from the same place, then from others.

Confidence: with J = dr/dx and S the scales of the unknowns, J S = U diag(s) V': along a column v of V the unknowns are
known to 1/s of their scales.  Where that is more than the scale itself, or s is not told from rounding, the data do not
show the direction; it is given by name.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import Error, listed
from kinode.results.trajectory import Trajectory
from kinode.studies.fits.fit_problem import FitProblem, FreeNumber

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
ROUGH = 1e-4
"""The same on a part of the records."""
CORRELATED = 0.5
"""Correlation of a residual with the next, from which on they are no noise."""
SMALL = 1e-3
"""Residuals, as a share of what was measured, that no other minimum has to explain."""
STARTS = 4
"""Places where the search begins at most, if the first leaves residuals that are no noise."""
HORIZONS = (1 / 16, 1 / 8, 1 / 4, 1 / 2)
"""Shares of the records for a search with a growing horizon."""
ALIKE = 0.5
"""Difference of the logarithms of two likelihoods that is none."""
NEAR = 1e-3
"""Difference of two unknowns, as a share of their scales, that is none."""
WIDE = 4.0
"""Other places are up to so many times larger or smaller, where no bounds are given."""


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
    starts: int = 1
    """Places where the search began."""
    best: int = 1
    """From which of them it came to this."""


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


def search_from_places(
    problem: FitProblem, given: Mapping[str, float], loss: str, most_steps: int, starts: int | None = None
) -> Found:
    """The best of several searches: as many as are asked for; else further ones while residuals are no noise.

    Two that end alike are taken for enough: then the model lacks something.
    """
    found = search(problem, given, loss, most_steps)
    begun = 1
    for place in _places(problem, (starts or STARTS) - 1):
        if starts is None and not has_pattern(problem, found):
            break
        begun += 1
        try:
            other = search(problem, given, loss, most_steps, _grow(problem, given, loss, most_steps, place))
        except Error:  # a run fails there
            continue
        gain = _badness(problem, found) - _badness(problem, other)
        scales = [max(abs(unknown.value), unknown.scale) for unknown in problem.unknowns]
        alike = abs(gain) < ALIKE or bool((np.abs(other.x - found.x) < NEAR * np.array(scales)).all())
        found = replace(other, best=found.best if alike else begun) if gain > 0.0 else found
        if starts is None and alike:
            break
    return replace(found, starts=begun)


def _places(problem: FitProblem, count: int) -> Iterator[Array]:
    """Where further searches begin: where the first began, then spread evenly over what the unknowns may be."""
    from scipy.stats import qmc  # takes long to import

    x = np.array([unknown.value for unknown in problem.unknowns])
    yield from [x][:count]
    for shares in qmc.Halton(len(x), seed=0).random(max(0, count - 1)):
        pairs = zip(problem.unknowns, shares, strict=True)
        yield np.array([u.value if u.record is not None else _spread(u, share) for u, share in pairs])


def _spread(unknown: FreeNumber, share: float) -> float:
    """A value of an unknown, by its place between the least and the largest."""
    low, high = unknown.low, unknown.high
    if not (math.isfinite(low) and math.isfinite(high)):
        ends = (unknown.value / WIDE, unknown.value * WIDE) if unknown.value else (-unknown.scale, unknown.scale)
        low, high = max(low, min(ends)), min(high, max(ends))
    if low * high > 0.0:
        return float(low * (high / low) ** share)
    return float(low + share * (high - low))


def _grow(problem: FitProblem, given: Mapping[str, float], loss: str, most_steps: int, x: Array) -> Array:
    """Where a search with a growing horizon comes to before it sees all of the records."""
    for share in HORIZONS:
        part = problem.shortened(share)
        if part is None:
            continue
        noise = {name: given.get(name, 0.1 * _size(problem, name)) for name in problem.channels}
        try:
            x = _minimize(part, x, noise, loss, most_steps, ROUGH).x
        finally:
            problem.runs_made += part.runs_made
    return x


def has_pattern(problem: FitProblem, found: Found) -> bool:
    """Whether residuals that count are no noise."""
    for k, run in enumerate(found.runs):
        for name, values in problem.compare(k, run).items():
            measured = problem.records[k].measured[name][problem.masks[k][name]]
            counts = np.linalg.norm(values) > SMALL * np.linalg.norm(measured - measured.mean())
            if counts and find_correlation(values) > CORRELATED:
                return True
    return False


def find_correlation(values: Array) -> float:
    """Correlation of each residual with the next; noise has none."""
    power = float(values @ values)
    return float(values[1:] @ values[:-1]) / power if power > 0.0 else 0.0


def _badness(problem: FitProblem, found: Found) -> float:
    """Less the logarithm of the likelihood, but for a constant."""
    spread = sum(count * math.log(found.noise[name]) for name, count in problem.counts.items())
    return spread + 0.5 * float(found.residuals @ found.residuals)


def search(
    problem: FitProblem, given: Mapping[str, float], loss: str, most_steps: int, begin: Array | None = None
) -> Found:
    """The unknowns of least squares, and the noise of the channels for which none is given."""
    x = np.array([unknown.value for unknown in problem.unknowns]) if begin is None else begin
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


def _minimize(
    problem: FitProblem, x: Array, noise: Mapping[str, float], loss: str, most_steps: int, tolerance: float = TOLERANCE
) -> Found:
    from scipy.optimize import least_squares  # takes long to import

    task, fields = _NoiseSearch(problem, noise), ("value", "low", "high", "scale")
    begin, low, high, scale = (np.array([getattr(u, name) for u in problem.unknowns]) for name in fields)
    pull = PULL * np.eye(len(x))
    result: Any = least_squares(
        lambda s: np.concatenate([task.residuals(s * scale), PULL * (s - begin / scale)]),
        np.clip(x, low, high) / scale, jac=lambda s: np.vstack([task.jacobian(s * scale) * scale, pull]),
        bounds=(low / scale, high / scale), method="trf", x_scale="jac", loss=loss, ftol=tolerance, xtol=tolerance,
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


ROUNDING = 3e-6
"""Singular value, as a share of the largest, that derivatives by differences do not tell from zero."""
PART = 0.1
"""Share of the largest entry of a direction from which on an unknown belongs to it."""


@dataclass(frozen=True, eq=False)
class Unshown:
    """Unknowns that the data do not show: one by itself, or several of which only a combination counts.

    Attributes
    ----------
    names : tuple of str
    shares : tuple of float
        Changes of these, as shares of their scales, that together change next to nothing.
    """

    names: tuple[str, ...]
    shares: tuple[float, ...]

    def __str__(self) -> str:
        if len(self.names) == 1:
            return f"the data do not show {self.names[0]}"
        changes = ", ".join(f"{name} {share:+.2g} %" for name, share in zip(self.names, self.shares, strict=True))
        alone = f"the data do not show {listed(self.names)} by themselves"
        return f"{alone}: a change of {changes} hardly changes the motion"


def find_confidence(
    unknowns: Sequence[FreeNumber], x: Array, jacobian: Array, robust: tuple[Array, Array] | None = None
) -> tuple[Array, tuple[Unshown, ...]]:
    """The covariance from derivatives of residuals in units of the noise, infinite for what is not shown; and that.

    ``robust`` are, of a robust loss, the weights of the residuals and the residuals: the covariance is then that of the
    weighted equations (the sandwich of Huber).
    """
    scale = np.maximum([unknown.scale for unknown in unknowns], np.abs(x))
    weighted = jacobian * scale if robust is None else jacobian * scale * np.sqrt(robust[0])[:, None]
    _, s, Vt = np.linalg.svd(np.linalg.qr(weighted, mode="r"))
    shown = (s > 1.0) & (s > ROUNDING * s.max(initial=0.0))
    V = Vt[shown].T / s[shown]
    if robust is None:
        relative = V @ V.T
    else:
        pull = V.T @ (jacobian * scale * (robust[0] * robust[1])[:, None]).T
        relative = V @ (pull @ pull.T) @ V.T
    unshown = tuple(_name_direction(unknowns, v) for v in Vt[~shown])
    covariance = relative * np.outer(scale, scale)
    hidden = (np.abs(Vt[~shown]) > PART).any(axis=0) if len(unshown) else np.zeros(len(unknowns), dtype=bool)
    covariance[hidden, :] = covariance[:, hidden] = math.nan
    covariance[hidden, hidden] = math.inf
    return covariance, unshown


def _name_direction(unknowns: Sequence[FreeNumber], v: Array) -> Unshown:
    """The unknowns of a direction, the largest first, with their shares in %."""
    largest = float(np.abs(v).max())
    order = [int(k) for k in np.argsort(-np.abs(v)) if abs(v[k]) > PART * largest]
    sign = math.copysign(1.0, v[order[0]])
    shares = tuple(float(sign * v[k] / largest) for k in order)
    return Unshown(tuple(label(unknowns[k]) for k in order), shares)


def label(unknown: FreeNumber) -> str:
    """What an unknown is called: its name, and the record of a start value."""
    return unknown.name if unknown.record is None else f"{unknown.name} of record {unknown.record}"
