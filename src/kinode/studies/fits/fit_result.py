"""The result of a fit: values with their uncertainty, what the data do not show, residuals, and the fitted model."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import ArgumentError
from kinode.hooks import hook
from kinode.model.base.fields import unknown
from kinode.model.live_numbers import change_values
from kinode.model.system import System
from kinode.results.trajectory import Trajectory
from kinode.sheets.tables import Sheet, Shown, Table
from kinode.studies.fits.fit_problem import FreeNumber
from kinode.studies.fits.fit_search import CORRELATED, Unshown, find_correlation, label

LEVEL = 0.95
EXACT = 100.0 * (1.0 - 1e-6)
"""Match in % from which on what is left is no more than the errors of integration."""
STRONG = 0.95
"""Correlation of two unknowns that is worth a word."""


@dataclass(frozen=True, eq=False)
class FittedRecord:
    """A record beside its run.

    Attributes
    ----------
    name : str
    run : Trajectory
        The run of the fitted model along the record.
    times, measured, residuals : mapping of str to array
        By channel: the times of its samples in s, what was measured, and the run less that, SI.
    start : mapping of str to float
        Start values that were found.
    """

    name: str
    run: Trajectory
    times: Mapping[str, Array]
    measured: Mapping[str, Array]
    residuals: Mapping[str, Array]
    start: Mapping[str, float]

    def rms(self, channel: str) -> float:
        """The root mean square of the residuals of a channel."""
        return float(np.sqrt(np.mean(self.residuals[channel] ** 2)))

    def match(self, channel: str) -> float:
        """How much of what was measured the run explains, in %: 100 (1 - |residual| / |measured - its mean|)."""
        measured = self.measured[channel]
        spread = float(np.linalg.norm(measured - measured.mean()))
        return 100.0 * (1.0 - float(np.linalg.norm(self.residuals[channel])) / spread) if spread > 0.0 else math.nan

    def correlation(self, channel: str) -> float:
        """Correlation of each residual with the next; noise has none."""
        return find_correlation(self.residuals[channel])


@dataclass(frozen=True, eq=False)
class Fit(Shown):
    """Numbers of a model that fit measurements; prints as a table.

    ``fit["J"]`` is a value in SI.

    Attributes
    ----------
    unknowns : tuple of FreeNumber
    x : array
        The values of all unknowns, SI.
    covariance : array
        Of these; infinite for those that the data do not show.
    unshown : tuple of Unshown
        What the data do not show, by name.
    noise : dict of str to float
        Standard deviation of each channel: as given, or as the residuals tell it.
    records, checks : tuple of FittedRecord
        The records that were fitted, and those held back, each with its run and residuals.
    samples : int
    noise_given : bool
        Whether the noise of all channels was given.
    at_bound : tuple of str
        Unknowns at a bound.
    at_edge : tuple of str
        What is impossible if the unknowns were as the data want them, such as an inertia that no body has.
    facts : dict
        How it was found: steps, runs, seconds, how derivatives were found.
    """

    dynamics: Dynamics
    unknowns: tuple[FreeNumber, ...]
    x: Array
    covariance: Array
    unshown: tuple[Unshown, ...]
    noise: dict[str, float]
    records: tuple[FittedRecord, ...]
    samples: int
    noise_given: bool
    at_bound: tuple[str, ...]
    checks: tuple[FittedRecord, ...]
    facts: dict[str, Any]
    at_edge: tuple[str, ...] = ()

    # -- values ------------------------------------------------------------------------------------
    @property
    def labels(self) -> tuple[str, ...]:
        """What the unknowns are called; start values with their record."""
        return tuple(label(each) for each in self.unknowns)

    @property
    def values(self) -> dict[str, float]:
        """The numbers of the model that were found, SI: ``kn.simulate(system, parameters=fit.values)``."""
        return {u.name: float(v) for u, v in zip(self.unknowns, self.x, strict=True) if u.record is None}

    def __getitem__(self, name: str) -> float:
        return float(self.x[self._index(name)])

    def _index(self, name: str) -> int:
        if name not in self.labels:
            raise ArgumentError(unknown("the fit has no", name, self.labels))
        return self.labels.index(name)

    @property
    def sigma(self) -> dict[str, float]:
        """Standard deviation of each unknown; infinite for one that the data do not show."""
        return dict(zip(self.labels, np.sqrt(np.diag(self.covariance)).tolist(), strict=True))

    def interval(self, name: str, level: float = LEVEL) -> tuple[float, float]:
        """The confidence interval of an unknown, 95 % by default.

        Parameters
        ----------
        name : str
        level : float, default 0.95

        Returns
        -------
        tuple of float
        """
        if not 0.0 < level < 1.0:
            raise ArgumentError(f"level: a number between 0 and 1 is expected, not {level!r}")
        value, half = self[name], self._quantile(level) * self.sigma[name]
        return value - half, value + half

    def _quantile(self, level: float) -> float:
        """Standard deviations on either side; where the noise was found with the fit, of Student's distribution."""
        from scipy.special import ndtri, stdtrit

        p, freedom = 0.5 + 0.5 * level, self.samples - len(self.unknowns)
        return float(ndtri(p) if self.noise_given else stdtrit(freedom, p))

    @property
    def correlation(self) -> Array:
        """Correlation of the unknowns; nan with those that the data do not show."""
        sigma = np.sqrt(np.diag(self.covariance))
        with np.errstate(invalid="ignore"):
            return np.asarray(self.covariance / np.outer(sigma, sigma))

    @property
    def chi_square(self) -> float:
        """Sum of squares of the residuals in units of the noise, for each degree of freedom; 1 is expected."""
        total = sum(float(np.sum((r / self.noise[c]) ** 2)) for each in self.records for c, r in each.residuals.items())
        return total / (self.samples - len(self.unknowns))

    @property
    def system(self) -> System:
        """The model with the numbers that were found."""
        origin = self.dynamics.system if self.dynamics.system.live is None else self.dynamics.system.live.origin
        own = {name: value for name, value in self.values.items() if name in origin.parameters}
        other = {name: value for name, value in self.values.items() if name not in own}
        fitted = change_values(origin, other) if other else origin.copy()
        for name, value in own.items():
            fitted.change(name, value=value)
        return fitted

    # -- words -------------------------------------------------------------------------------------
    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said of the fit: what the data do not show, bounds, residuals that are no noise."""
        notes = [str(each) for each in self.unshown]
        notes += [f"{name} is at its bound" for name in self.at_bound]
        notes += [f"the fit rests at the edge of what is possible: {each}" for each in self.at_edge]
        for each in self.records:
            for name in each.residuals:
                correlation = each.correlation(name)
                if correlation > CORRELATED and not each.match(name) > EXACT:
                    share = (
                        f"{name} of {each.name}: residuals are no noise (each is like the next by {correlation:.2f})"
                    )
                    alone = ", or another start leads further (starts=)" if self.facts.get("starts") == 1 else ""
                    notes.append(f"{share}; the model lacks something{alone}, and intervals are too narrow")
        if self.facts.get("best_start", 1) > 1:
            notes.append(
                f"the search from the given values ended worse: this is the best of {self.facts['starts']} starts"
            )
        matrix = self.correlation
        for i in range(len(self.x)):
            for j in range(i):
                if abs(matrix[i, j]) > STRONG:
                    pair = f"{self.labels[j]} and {self.labels[i]}"
                    notes.append(f"{pair} are hardly told apart (correlation {matrix[i, j]:+.3f})")
        if self.noise_given and self.chi_square > 2.0:
            notes.append(f"residuals are {math.sqrt(self.chi_square):.2g} times the given noise")
        return tuple(notes)

    @property
    def table(self) -> Table:
        """Each unknown with its value, 95 % interval and unit."""
        rows: list[tuple[str, ...]] = []
        for name, each, value in zip(self.labels, self.unknowns, self.x, strict=True):
            half = self._quantile(LEVEL) * self.sigma[name]
            share = f"{100.0 * half / abs(value):.2g} %" if math.isfinite(half) and value else ""
            spread = f"{half:.2g}" if math.isfinite(half) else "not shown"
            rows.append((name, f"{value:.6g}", spread, share, each.unit, f"{each.value:.6g}"))
        return Table(("", "value", "+- (95 %)", "", "unit", "start"), rows, "wnnnun")

    @property
    def channel_table(self) -> Table:
        """Each channel of each record with the root mean square of its residuals."""
        rows: list[tuple[str, ...]] = []
        for kind, records in (("", self.records), (" (check)", self.checks)):
            for each in records:
                for name, residual in each.residuals.items():
                    match = each.match(name)
                    words = f"{match:.1f} %" if math.isfinite(match) else ""
                    rows.append(
                        (each.name + kind, name, str(len(residual)), f"{each.rms(name):.3g}", self._unit(name), words)
                    )
        return Table(("record", "channel", "samples", "rms", "unit", "match"), rows, "wwnnun")

    def _unit(self, channel: str) -> str:
        return str(self.records[0].run.units(channel))

    @property
    def sheet(self) -> Sheet:
        return Sheet("", parts=[self.table, "", self.channel_table, *([""] if self.notes else []), *self.notes])

    def __repr__(self) -> str:
        found = ", ".join(f"{name} = {self[name]:.5g}" for name in self.labels[:4])
        return f"<Fit: {found}{', ...' if len(self.x) > 4 else ''}; {self.samples} samples>"

    # -- views -------------------------------------------------------------------------------------
    def plot(self, **options: Any) -> Any:
        """Plot what was measured beside the runs, and the residuals below.

        Parameters
        ----------
        **options
            ``file`` (.png, .svg or .pdf), ``title``, ``size``, ``checks`` (True: the records held back).

        Returns
        -------
        matplotlib.figure.Figure
        """
        return hook("plot_fit")(self, **options)

    def report(self, folder: str | os.PathLike[str]) -> Any:
        """Write an HTML report of the fit into a folder: values, correlation, residuals; gives the file."""
        return hook("report_fit")(self, folder)
