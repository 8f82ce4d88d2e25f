"""The residuals of a fit: runs of a model along measured records, compared with what was measured.

The unknowns are parameters and other numbers of the model, the same in all records, and start values of each record.
Residuals are divided by the noise of their channel.  A run that fails has no residuals: a step of the search that leads
there is taken back.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import Error, ModelError, SensitivityWarning
from kinode.jit.kernel_call import alone
from kinode.jit.threads import share
from kinode.results.sensitivity import all_sensitivities
from kinode.results.trajectory import Trajectory
from kinode.studies.batch import RowMaker, split_values
from kinode.studies.fits.measured_records import Record
from kinode.tasks.simulate import compute_run, find_columns

SENSITIVITIES = "sensitivities"
"""How derivatives are found, if nothing speaks against it."""
DIFFERENCE = 3e-4
"""Change of an unknown for a difference, as a share of its scale: errors of runs and of the difference are alike."""
SMALLEST = 1e-6
"""Singular value of the derivatives, as a share of the largest, along which no step is looked at."""
WORTH = 0.1
"""Change of the residuals, in units of the noise, for which a further step would be worth while."""


@dataclass(frozen=True, eq=False)
class FreeNumber:
    """A number that the fit is to find.

    Attributes
    ----------
    name : str
    value : float
        Where the search begins, SI.
    scale : float
        Its natural size, for steps and ranks.
    low, high : float
        Its bounds.
    unit : str
    record : int or None
        The record of a start value; None for a number of the model.
    """

    name: str
    value: float
    scale: float
    low: float = -math.inf
    high: float = math.inf
    unit: str = ""
    record: int | None = None


@dataclass(frozen=True, eq=False)
class FitRecord:
    """A record with its run: what was measured in it, in SI, and what its runs have in common."""

    record: Record
    maker: RowMaker
    measured: Mapping[str, Array]
    """Values by quantity, nan where nothing was measured."""
    values: Mapping[str, Any]
    """Inputs of the run, and start values that are not free, by name."""

    def shortened(self, count: int) -> FitRecord:
        """The first samples of the record, and runs that end with them."""
        t, task = self.record.t[:count], self.maker.task
        task = replace(task, until=float(t[-1]), requested={**task.requested, "times": t.tolist()})
        measured = {name: values[:count] for name, values in self.measured.items()}
        return FitRecord(replace(self.record, t=t), RowMaker(task, self.maker.start, ()), measured, self.values)


def _make_all(make: Callable[[Any], Any], wanted: Sequence[Any]) -> list[Any]:
    """What is made of each, in threads."""
    made: list[Any] = [None] * len(wanted)

    def work(first: int, last: int) -> None:
        for k in range(first, last):
            made[k] = make(wanted[k])

    share(work, len(wanted), 1)
    return made


class FitProblem:
    """Records, channels and unknowns; evaluates runs, residuals and their derivatives.

    Parameters
    ----------
    dynamics : Dynamics
    records : sequence of FitRecord
    unknowns : sequence of FreeNumber
    """

    def __init__(self, dynamics: Dynamics, records: Sequence[FitRecord], unknowns: Sequence[FreeNumber]) -> None:
        self.dynamics, self.records, self.unknowns = dynamics, tuple(records), tuple(unknowns)
        self.channels = tuple(dict.fromkeys(name for each in records for name in each.measured))
        self.masks = [{name: np.isfinite(values) for name, values in each.measured.items()} for each in records]
        self.runs_made, self.last_failure, self.derivatives = 0, "", SENSITIVITIES

    def shortened(self, share: float) -> FitProblem | None:
        """The problem of the first part of each record; None where a channel has too few samples there."""
        counts = [max(2, math.ceil(share * len(each.record.t))) for each in self.records]
        records = [each.shortened(count) for each, count in zip(self.records, counts, strict=True)]
        short = FitProblem(self.dynamics, records, self.unknowns)
        return short if all(count > len(self.unknowns) for count in short.counts.values()) else None

    @property
    def counts(self) -> dict[str, int]:
        """How often each channel was measured."""
        return {name: sum(int(mask[name].sum()) for mask in self.masks if name in mask) for name in self.channels}

    def _values(self, k: int, x: Array) -> dict[str, Any]:
        """All values of a record's run by name."""
        pairs = zip(self.unknowns, x, strict=True)
        return {**self.records[k].values, **{u.name: float(value) for u, value in pairs if u.record in (None, k)}}

    def make_run(self, k: int, x: Array) -> Trajectory | None:
        """The run of a record with some values of the unknowns; None for one that fails."""
        each, values = self.records[k], self._values(k, x)
        self.runs_made += 1
        try:
            with alone():
                begin, p, inputs = each.maker.find_start(values)
                run = compute_run(each.maker.task, begin, p, inputs, False)
        except Error as error:
            self.last_failure = f"{each.record.name}: {error}"
            return None
        if run.ending.failed or len(run) < len(each.record.t):
            self.last_failure = f"{each.record.name}: {run.message}"
            return None
        return run

    def find_edge(self, x: Array, jacobian: Array, residuals: Array) -> tuple[str, ...]:
        """What is impossible where the next step of the search would lead: an inertia that no body has; else empty."""
        step = np.linalg.lstsq(jacobian, -residuals, rcond=SMALLEST)[0]
        if not np.linalg.norm(jacobian @ step) > WORTH:
            return ()
        low, high = (np.array([getattr(unknown, name) for unknown in self.unknowns]) for name in ("low", "high"))
        for part in (1.0, 0.1, 0.01):
            try:
                self.records[0].maker.find_start(self._values(0, np.clip(x + part * step, low, high)))
            except ModelError as error:
                return (str(error),)
            except Error:
                continue
        return ()

    def make_runs(self, x: Array) -> list[Trajectory | None]:
        """The runs of all records."""
        return _make_all(lambda k: self.make_run(k, x), range(len(self.records)))

    def compare(self, k: int, run: Trajectory) -> dict[str, Array]:
        """What a run gives less what was measured, by channel, where something was measured."""
        each = self.records[k]
        values = run.evaluate(list(each.measured))
        return {name: (values[name] - each.measured[name])[self.masks[k][name]] for name in each.measured}

    def residuals(self, runs: Sequence[Trajectory | None], noise: Mapping[str, float]) -> Array | None:
        """All residuals in units of the noise; None if a run failed."""
        parts = []
        for k, run in enumerate(runs):
            if run is None:
                return None
            parts += [values / noise[name] for name, values in self.compare(k, run).items()]
        joined = np.concatenate(parts)
        return joined if np.isfinite(joined).all() else None

    def jacobian(self, x: Array, noise: Mapping[str, float]) -> Array | None:
        """Derivatives of the residuals by the unknowns; None if a run failed.

        They are those of the runs (``kn.simulate(sensitivity=)``); where these are refused, differences of runs.
        """
        matrix = None
        if self.derivatives == SENSITIVITIES:
            try:
                matrix = self._by_sensitivities(x, noise)
            except Error as error:
                self.derivatives = f"differences; {error}"
        return self._by_differences(x, noise) if matrix is None else matrix

    @property
    def _starts(self) -> Array:
        """Where the residuals of each record begin."""
        return np.cumsum([0, *(sum(int(mask.sum()) for mask in masks.values()) for masks in self.masks)])

    def _by_sensitivities(self, x: Array, noise: Mapping[str, float]) -> Array | None:
        """Derivatives integrated with the runs; None if they do not exist to the end of one."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SensitivityWarning)  # differences take their place
            blocks = _make_all(lambda k: self._differentiate(k, x, noise), range(len(self.records)))
        starts, matrix = self._starts, np.zeros((self._starts[-1], len(self.unknowns)))
        for k, block in enumerate(blocks):
            if block is None:
                return None
            own = [j for j, unknown in enumerate(self.unknowns) if unknown.record in (None, k)]
            matrix[starts[k] : starts[k + 1], own] = block
        return matrix if np.isfinite(matrix).all() else None

    def _differentiate(self, k: int, x: Array, noise: Mapping[str, float]) -> Array | None:
        """The derivatives of a record's residuals by its unknowns."""
        each, values, mask = self.records[k], self._values(k, x), self.masks[k]
        names = [unknown.name for unknown in self.unknowns if unknown.record in (None, k)]
        with alone():
            begin, p, inputs = each.maker.find_start(values)
            start = {**(each.maker.start or {}), **split_values(self.dynamics, values)[2]}
            columns = find_columns(each.maker.task, begin, names, start or None, p, inputs)
            run = compute_run(each.maker.task, begin, p, inputs, False, columns)
            self.runs_made += 1
            if run.ending.failed or run.columns is None or run.columns.lost_time is not None:
                return None
            parts = [all_sensitivities(run, run.columns, name)[mask[name]] / noise[name] for name in each.measured]
        return np.concatenate(parts)

    def _by_differences(self, x: Array, noise: Mapping[str, float]) -> Array | None:
        """Central differences of runs, in threads; None if a run failed."""
        wanted, columns = [], []
        for j, unknown in enumerate(self.unknowns):
            step = DIFFERENCE * max(unknown.scale, abs(x[j]))
            ends = min(x[j] + step, unknown.high), max(x[j] - step, unknown.low)
            for k in range(len(self.records)):
                if unknown.record in (None, k):
                    columns.append((j, k, ends[0] - ends[1]))
                    wanted += [(k, np.concatenate([x[:j], [end], x[j + 1 :]])) for end in ends]
        runs = _make_all(lambda pair: self.make_run(*pair), wanted)
        starts = self._starts
        matrix = np.zeros((starts[-1], len(self.unknowns)))
        for (j, k, width), up, down in zip(columns, runs[::2], runs[1::2], strict=True):
            if up is None or down is None or not width > 0.0:
                return None
            high, low = self.compare(k, up), self.compare(k, down)
            column = [(high[name] - low[name]) / (width * noise[name]) for name in high]
            matrix[starts[k] : starts[k + 1], j] = np.concatenate(column)
        return matrix if np.isfinite(matrix).all() else None
