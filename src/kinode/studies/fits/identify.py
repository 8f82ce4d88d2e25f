"""``kn.identify``: numbers of a model from measurements, by least squares over recorded runs."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compile import compile as compile_system
from kinode.dynamics.compile import find_compiled
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import ArgumentError, Error, ModelError
from kinode.expressions.units import parse_quantity, refuse_bare_angle
from kinode.model.base.fields import short, unknown
from kinode.model.base.parameters import is_hidden
from kinode.model.live_numbers import find_numbers
from kinode.model.quantities import find_expression, find_quantity, find_unit, unit_of
from kinode.model.system import System
from kinode.ode.input_table import inputs_at
from kinode.simulation.input_courses import read_courses, read_run_inputs
from kinode.simulation.run_arguments import find_model
from kinode.studies.batch import RowMaker, check_names, read_value
from kinode.studies.fits.fit_problem import FitProblem, FitRecord, FreeNumber
from kinode.studies.fits.fit_result import Fit, FittedRecord
from kinode.studies.fits.fit_search import LOSSES, Found, find_confidence, search, search_from_places
from kinode.studies.fits.measured_records import Record, read_channel, read_course_of, read_records, read_unit
from kinode.tasks.linearize import linearize_at
from kinode.tasks.simulate import read_task

LEAST_SCALE = 1e-2
"""Scale of a start value that is zero and was not measured, SI."""
SHORT = 60.0
"""Length of a record in s whose unit is not asked for: its runs take little time, whatever it is."""
MUCH_LONGER = 1000.0
"""Length of a record, in motions of the model, from which on the unit of its times is asked for."""
STEADY = 1e-9
"""Eigenvalue, as a share of the largest, of a motion that has no end."""
FIT_FIELDS = ("method", "step", "rtol", "atol", "max_step")


def identify(
    model: System | Dynamics | str | os.PathLike[str], data: Any, *, measure: Mapping[str, str],
    free: Iterable[str] | Mapping[str, Any], inputs: Mapping[str, Any] | None = None,
    free_start: Iterable[str] = (), start: Any = None, parameters: Mapping[str, Any] | None = None,
    noise: Mapping[str, Any] | None = None, loss: str = "linear", check: Any = None, most_steps: int = 100,
    time: str | None = None, starts: int | None = None, **fields: Any,
) -> Fit:  # fmt: skip
    """Fit numbers of a model to measurements.

    The model is simulated along each record, from its first time to its last, and the numbers are found for which the
    runs differ least from what was measured: least squares in units of the noise, by a trust-region method within the
    bounds of the parameters.

    Parameters
    ----------
    model : System, Dynamics, str or path
        The system, a compiled one, or the name of a file; it is not changed.
    data : CSV file, DataFrame, xarray Dataset, mapping of arrays, or a list of those
        One record or several, with a time and columns.
    measure : mapping of str to str
        What was measured: quantity -> column, with the unit of its numbers after it ("angle_deg deg"); without one they
        are those of the header, else SI.
    free : sequence of str, or mapping of str to (low, high)
        What is to be found: parameters, and other numbers of the model by name ("shaft.friction.effort"). The search
        begins at their values in the model. Bounds are those of the parameters, or those given here.
    inputs : mapping, optional
        Input -> column, with "held" or a unit after it ("u_V V"); or a value, as in ``kn.simulate``.
    free_start : sequence of str, optional
        Start values that are found for each record, such as "elbow.q"; the search begins at the first measured value.
    start : mapping or list of mappings, optional
        Start values by name that are known, of all records or of each.
    parameters : mapping, optional
        Values of other parameters by name.
    noise : mapping, optional
        Standard deviation of the noise of a channel, in SI or as text with a unit; without it the residuals tell it.
    loss : {"linear", "soft_l1", "huber", "cauchy", "arctan"}
        "linear" is least squares; the others give less weight to outliers.
    check : like data, optional
        Records that are not fitted, to see how well the fitted model foretells them.
    most_steps : int, default 100
        Steps of the search, at most.
    time : str, optional
        The column of the times, with their unit if need be ("Zeit_ms ms"); without it the one called t or time.
    starts : int, optional
        From how many places the search begins, of which the best end is taken; the first are the values of the model.
        Without it there are up to 4, the others only where residuals are no noise.
    **fields
        method, step, rtol, atol, max_step, as in ``kn.simulate``.

    Returns
    -------
    Fit
        Values with their uncertainty, what the data do not show, residuals, runs and the fitted system; prints as a
        table.

    Raises
    ------
    ArgumentError
        A name, a column or a unit is wrong.
    Error
        The runs of the start fail.

    Examples
    --------
    >>> pendulum = kn.load("examples/pendulum.yaml")
    >>> run = kn.simulate(pendulum, 2.0, samples=101, parameters={"L": "80 cm"})
    >>> data = {"t": run.t, "angle": run["pivot.q"] * 180 / np.pi}
    >>> fit = kn.identify(pendulum, data, measure={"pivot.q": "angle deg"}, free=["L"])
    >>> round(fit["L"], 4)
    0.8
    """
    for name in fields:
        if name not in FIT_FIELDS:
            raise ArgumentError(unknown("identify: no argument is called", name, FIT_FIELDS))
    if loss not in LOSSES:
        raise ArgumentError(f"loss: {loss!r} is none of {', '.join(LOSSES)}")
    if starts is not None and not (isinstance(starts, int) and starts >= 1):
        raise ArgumentError(f"starts: a whole number from 1 is expected, not {starts!r}")
    began, names = perf_counter(), _read_free(free)
    dynamics = _compile(find_model(model), tuple(names))
    reader = _Reader(dynamics, measure, inputs or {}, parameters or {}, tuple(free_start), time, fields)
    records = reader.read(data, start)
    unknowns = [_read_unknown(dynamics, name, bounds, parameters or {}) for name, bounds in names.items()]
    for each in records:
        _question_times(dynamics, each)
    unknowns += reader.read_starts(records)
    problem = FitProblem(dynamics, records, unknowns)
    _check_counts(problem)
    found = search_from_places(problem, reader.read_noise(noise or {}, problem.channels), loss, most_steps, starts)
    facts = {
        "derivatives": problem.derivatives, "steps": found.steps, "runs": problem.runs_made, "starts": found.starts,
        "best_start": found.best,
    }  # fmt: skip
    at_edge = problem.find_edge(found.x, found.jacobian, found.residuals)
    robust = None if loss == "linear" else (_weights(loss, found.residuals), found.residuals)
    covariance, unshown = find_confidence(unknowns, found.x, found.jacobian, robust)
    fit = Fit(
        dynamics, tuple(unknowns), found.x, covariance, unshown, dict(found.noise),
        tuple(_describe(problem, found)), len(found.residuals), set(noise or {}) >= set(problem.channels),
        tuple(unknowns[k].name for k in found.at_bound),
        tuple(_check_records(reader, check, dict(zip(names, found.x)), found.noise, loss, most_steps)), {},
        at_edge,
    )  # fmt: skip
    fit.facts.update(facts, loss=loss, message=found.message, seconds=perf_counter() - began)
    return fit


def _read_free(free: Any) -> dict[str, Any]:
    """The names of what is free, with bounds where they are given."""
    if isinstance(free, str):
        free = [free]
    names = dict(free) if isinstance(free, Mapping) else dict.fromkeys(free)
    if not names or not all(isinstance(name, str) for name in names):
        raise ArgumentError(f"free: names of parameters or numbers of the model are expected, not {short(free)}")
    return names


def _compile(model: System | Dynamics, names: Sequence[str]) -> Dynamics:
    """The compiled system in which all free numbers take other values."""
    if isinstance(model, Dynamics):
        missing = [name for name in names if not _is_known(model, name)]
        if not missing:
            return model
        model = model.system if model.system.live is None else model.system.live.origin
    own = [name for name in names if name not in model.parameters]
    numbers = find_numbers(model) if own else {}
    for name in own:
        if name not in numbers:
            raise ArgumentError(unknown("free: no parameter or number is called", name, [*model.parameters, *numbers]))
        if numbers[name].structural:
            raise ArgumentError(f"free: {name} cannot be found: it is {numbers[name].reason}")
    return compile_system(model, live=own) if own else find_compiled(model)


def _is_known(dynamics: Dynamics, name: str) -> bool:
    live = name in dynamics.live and not dynamics.live[name].structural
    return live or (name in dynamics.topology.parameters and not is_hidden(name))


def _read_unknown(dynamics: Dynamics, name: str, bounds: Any, parameters: Mapping[str, Any]) -> FreeNumber:
    """A free number of the model: where it begins, and its bounds."""
    system = dynamics.system
    if name in system.parameters and name not in dynamics.topology.parameters:
        raise ArgumentError(f"free: {name} is calculated from other parameters; free those")
    if name in dynamics.live:
        unit, limits, value = dynamics.live[name].unit, None, dynamics.live[name].value
    else:
        unit, limits = str(unit_of(system, name)), system.parameters[name].bounds
        value = read_value(dynamics, name, parameters.get(name, system.nominal(system.parameters[name].value)))
    if bounds is not None:
        try:
            low, high = (read_value(dynamics, name, x) if x is not None else None for x in bounds)
        except (TypeError, ValueError) as error:
            if isinstance(error, Error):
                raise
            raise ArgumentError(f"free: {name}: bounds (low, high) are expected, not {short(bounds)}") from None
        limits = (-math.inf if low is None else low, math.inf if high is None else high)
    low, high = limits or (-math.inf, math.inf)
    if not low < high:
        raise ArgumentError(f"free: {name}: there is nothing between its bounds, {low:g} and {high:g}")
    if not low <= value <= high:
        raise ArgumentError(f"free: {name}: its value {value:g} is not within its bounds, {low:g} and {high:g}")
    width, unit = high - low, "" if unit == "1" else unit
    return FreeNumber(name, value, abs(value) or (width if math.isfinite(width) else 1.0), low, high, unit)


class _Reader:
    """Reads records with what the caller says about their columns."""

    def __init__(
        self, dynamics: Dynamics, measure: Mapping[str, str], inputs: Mapping[str, Any], parameters: Mapping[str, Any],
        free_start: tuple[str, ...], time: str | None, fields: Mapping[str, Any],
    ) -> None:  # fmt: skip
        if not isinstance(measure, Mapping) or not measure:
            raise ArgumentError(f"measure: quantities and their columns are expected, not {short(measure)}")
        self.dynamics, self.measure, self.inputs = dynamics, measure, inputs
        self.parameters, self.free_start, self.time, self.fields = parameters, free_start, time, fields
        self.units = {name: self._unit(name) for name in measure}
        check_names(dynamics, parameters)

    def _unit(self, name: str) -> str:
        """The SI unit of a measured quantity, which is a number."""
        system = self.dynamics.system
        expression = find_expression(system, name)
        if expression is not None:
            return str(find_unit(system, expression))
        quantity = find_quantity(system, name)
        if quantity.parts and quantity.part is None:
            raise ArgumentError(f"measure: {name} has several components; name one, such as {name}.{quantity.parts[0]}")
        return str(unit_of(system, name))

    def read(self, data: Any, start: Any) -> list[FitRecord]:
        """The records of ``data``."""
        records = read_records(data, self.time)
        starts = list(start) if isinstance(start, list | tuple) else [start] * len(records)
        if len(starts) != len(records):
            raise ArgumentError(f"start: there are {len(records)} records and {len(starts)} starts")
        return [self._read_one(record, each) for record, each in zip(records, starts, strict=True)]

    def _read_one(self, record: Record, start: Any) -> FitRecord:
        if start is not None and not isinstance(start, Mapping):
            raise ArgumentError(f"start: values by name are expected, not {short(start)}")
        task = read_task(
            self.dynamics, float(record.t[-1]), t0=float(record.t[0]), times=record.t.tolist(), **self.fields
        )
        measured = {
            name: read_channel(record, str(column), self.units[name] or None) for name, column in self.measure.items()
        }
        given = {name: self._read_input(record, name, raw) for name, raw in self.inputs.items()}
        values = {**self.parameters, **read_courses(self.dynamics, given)}
        read_run_inputs(self.dynamics, {name: values[name] for name in given} or None)  # refuses what is wrong by name
        return FitRecord(record, RowMaker(task, start, ()), measured, values)

    def _read_input(self, record: Record, name: str, raw: Any) -> Any:
        """A column over time, if the text names one; else a value."""
        if not isinstance(raw, str):
            return raw
        is_column = any(
            f"{raw} ".startswith(f"{x} ") for each in record.columns.columns for x in (each.name, each.heading)
        )
        if not is_column and raw.lstrip("+-.")[:1].isdigit():
            return raw
        return read_course_of(self.dynamics.system, name, record, raw)

    def read_starts(self, records: Sequence[FitRecord]) -> list[FreeNumber]:
        """The free start values of each record."""
        found = []
        for name in self.free_start:
            check_names(self.dynamics, {name: 0.0})
            unit = str(unit_of(self.dynamics.system, name))
            for k, each in enumerate(records):
                begin = each.maker.find_start(dict(each.values))[0]
                value = self.dynamics.values(begin.state).get(name, 0.0)
                measured = each.measured.get(name, np.zeros(0))
                measured = measured[np.isfinite(measured)]
                value, spread = (float(measured[0]), float(np.std(measured))) if len(measured) else (float(value), 0.0)
                found.append(FreeNumber(name, value, abs(value) or 0.1 * spread or LEAST_SCALE, unit=unit, record=k))
        return found

    def read_noise(self, noise: Mapping[str, Any], channels: Sequence[str]) -> dict[str, float]:
        """The noise of channels, in SI."""
        read = {}
        for name, raw in noise.items():
            if name not in channels:
                raise ArgumentError(unknown("noise: not among what is measured:", name, channels))
            number, _, unit = raw.strip().partition(" ") if isinstance(raw, str) else (raw, "", "")
            try:
                if isinstance(raw, str):
                    parse_quantity(raw)  # which says what is wrong with a unit
                    if self.units[name] == "rad":
                        refuse_bare_angle(raw)
                value = float(number) * (read_unit("noise", unit.strip(), self.units[name] or None)[0] if unit else 1.0)
            except ModelError as error:
                raise ArgumentError(f"noise: {name}: {error.message}") from None
            except ArgumentError:
                raise
            except (TypeError, ValueError):
                raise ArgumentError(f"noise: {name}: a number, or one with a unit, is expected, not {raw!r}") from None
            if not (math.isfinite(value) and value > 0.0):
                raise ArgumentError(f"noise: {name}: a positive number is expected, not {raw!r}")
            read[name] = value
        return read


def _question_times(dynamics: Dynamics, each: FitRecord) -> None:
    """Ask for the unit of the times where nobody told it, and the record is much longer than the model's motions."""
    t, column = each.record.t, each.record.time
    span = float(t[-1] - t[0])
    if column.unit is not None or span < SHORT:
        return
    try:
        begin, p, inputs = each.maker.find_start(dict(each.values))
        small = linearize_at(dynamics, begin.state, p, inputs_at(inputs, t[0]), anywhere=True)
    except Error:
        return
    rates = np.abs(np.linalg.eigvals(small.A)) if len(small.A) else np.zeros(1)
    slowest = 2.0 * math.pi / rates.min() if rates.min() > STEADY * rates.max() else math.inf
    if span > MUCH_LONGER * slowest:
        ways = " or ".join(repr(f"{column.heading} {unit}") for unit in ("ms", "s"))
        raise ArgumentError(
            f"{each.record.name}: it lasts {span:g} s by its times, and the slowest motion of the model takes about "
            f"{slowest:.2g} s; say in which unit they are: time={ways}"
        )


def _check_counts(problem: FitProblem) -> None:
    """Raise for a channel without samples, and for more unknowns than samples."""
    for name, count in problem.counts.items():
        if count == 0:
            raise ArgumentError(f"measure: {name} has no samples that are numbers")
    total = sum(problem.counts.values())
    if total <= len(problem.unknowns):
        raise ArgumentError(f"data: {total} samples do not tell {len(problem.unknowns)} unknowns and the noise")


def _describe(problem: FitProblem, found: Found) -> Iterable[FittedRecord]:
    """Each record with its run and residuals at the fit."""
    for k, (each, run) in enumerate(zip(problem.records, found.runs, strict=True)):
        own = [(u.name, float(v)) for u, v in zip(problem.unknowns, found.x, strict=True) if u.record == k]
        times = {name: each.record.t[mask] for name, mask in problem.masks[k].items()}
        measured = {name: each.measured[name][mask] for name, mask in problem.masks[k].items()}
        yield FittedRecord(each.record.name, run, times, measured, problem.compare(k, run), dict(own))


def _check_records(
    reader: _Reader, check: Any, values: Mapping[str, float], noise: Mapping[str, float], loss: str, most_steps: int
) -> Iterable[FittedRecord]:
    """Records that were not fitted, with the fitted numbers; their own start values are found for them."""
    if check is None:
        return
    for record in reader.read(check, None):
        record = replace(record, values={**record.values, **values})
        problem = FitProblem(reader.dynamics, [record], reader.read_starts([record]))
        if problem.unknowns:
            found = search(problem, noise, loss, most_steps)
        else:
            run = problem.make_run(0, np.zeros(0))
            if run is None:
                raise Error(f"check: {problem.last_failure}")
            found = Found(np.zeros(0), np.zeros(0), np.zeros((0, 0)), noise, (run,), (), 0, "")
        yield from _describe(problem, found)


def _weights(loss: str, residuals: Array) -> Array:
    """The derivative of a loss, which is the weight of a residual."""
    z = np.square(residuals)
    weights = {
        "soft_l1": 1.0 / np.sqrt(1.0 + z), "huber": 1.0 / np.sqrt(np.maximum(z, 1.0)), "cauchy": 1.0 / (1.0 + z),
        "arctan": 1.0 / (1.0 + z * z),
    }  # fmt: skip
    return np.asarray(weights[loss])
