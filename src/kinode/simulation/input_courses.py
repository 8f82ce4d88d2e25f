"""The argument ``inputs=`` of runs: constants, and courses over time.

    {"load": "12 N*m", "voltage": (times, values), "gate": (times, values, "held"), "pressure": (times, values, "bar")}

A course is a pair of times in s and values, and after them, in any order, "held" (each value holds until the next
time; without it the course is linear between them) and the unit of the values; or a pandas Series with the times as
its index; or an xarray DataArray over one dimension, whose names and facts may tell units
(``expressions/measured_files``).  Before the first and after the last time a course has the value there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import ArgumentError, Error, ModelError
from kinode.model.base.fields import short, unknown
from kinode.model.quantities import unit_of
from kinode.ode.input_table import InputCourse, Inputs, VaryingInputs, find_table
from kinode.simulation.run_arguments import read_row, read_seconds

HELD, LINEAR = "held", "linear"
EXPECTED = "(times, values), with 'held' or a unit after them if need be"


def read_run_inputs(dynamics: Dynamics, value: Any) -> Inputs:
    """The inputs of a run, of which some may change with time."""
    if isinstance(value, VaryingInputs):
        if len(value.row) != len(dynamics.arguments.topology.inputs):
            raise ArgumentError("inputs: they belong to another model")
        return value
    if not isinstance(value, Mapping) or not any(map(is_course, value.values())):
        row: Array = read_row(dynamics, "inputs", value)
        return row
    names = dynamics.arguments.topology.inputs
    courses = {name: read_course(dynamics, name, raw) for name, raw in value.items() if is_course(raw)}
    constants = {name: raw for name, raw in value.items() if name not in courses}
    row = read_row(dynamics, "inputs", constants or None).copy()
    for name, course in courses.items():
        row[names.index(name)] = course.values[0]
    return VaryingInputs(row, find_table((names.index(name), course) for name, course in courses.items()))


def read_courses(dynamics: Dynamics, values: Mapping[str, Any]) -> dict[str, Any]:
    """Values by name, in which courses are read once, for many runs that share them."""
    return {name: read_course(dynamics, name, raw) if is_course(raw) else raw for name, raw in values.items()}


def is_course(raw: Any) -> bool:
    """Whether a value of an input is meant as a course over time."""
    if isinstance(raw, InputCourse):
        return True
    if isinstance(raw, tuple | list):
        return len(raw) > 1
    return np.ndim(raw) == 1 and (hasattr(raw, "index") or hasattr(raw, "dims"))


def read_course(dynamics: Dynamics, name: str, raw: Any) -> InputCourse:
    """The course of one input, checked, in SI."""
    if name not in dynamics.arguments.topology.inputs:
        raise ArgumentError(unknown("inputs: no input is called", name, dynamics.arguments.topology.inputs))
    if isinstance(raw, InputCourse):
        return raw
    given_times, given_values, words = _split(dynamics, name, raw)
    held, unit = _read_words(name, words)
    times, values = _read_times(dynamics, name, given_times), _read_values(dynamics, name, given_values, unit)
    if times.shape != values.shape:
        raise ArgumentError(f"inputs: {name}: {len(times)} times and {len(values)} values do not fit together")
    for what, array in (("time", times), ("value", values)):
        if not np.isfinite(array).all():
            k = int(np.flatnonzero(~np.isfinite(array))[0])
            raise ArgumentError(f"inputs: {name}: {what} {k} is {array[k]}; leave such samples out")
    if not (np.diff(times) > 0.0).all():
        k = int(np.flatnonzero(np.diff(times) <= 0.0)[0])
        raise ArgumentError(
            f"inputs: {name}: times must rise, and after {times[k]:g} s comes {times[k + 1]:g} s (number {k + 1})"
        )
    for array in (times, values):
        array.flags.writeable = False
    return InputCourse(times, values, held)


def _split(dynamics: Dynamics, name: str, raw: Any) -> tuple[Any, Any, Sequence[Any]]:
    """Times, values, and the words after them."""
    if isinstance(raw, tuple | list):
        times, values, *words = raw
        if np.ndim(times) != 1 or np.ndim(values) != 1 or len(words) > 2:
            raise ArgumentError(f"inputs: {name}: {EXPECTED}, are expected, not {short(raw)}")
        return times, values, words
    from kinode.expressions.measured_columns import MeasuredColumn, MeasuredColumns

    if hasattr(raw, "dims"):  # an xarray DataArray
        along = raw.dims[0]
        if along not in raw.coords:
            raise ArgumentError(f"inputs: {name}: the dimension {along} has no times as its coordinate")
        index = MeasuredColumn.of(str(along), raw.coords[along].values, raw.coords[along].attrs.get("units"))
        column = MeasuredColumn.of(str(raw.name or ""), raw.values, raw.attrs.get("units"))
    else:  # a pandas Series
        index, column = (MeasuredColumn.of(str(x.name or ""), np.asarray(x)) for x in (raw.index, raw))
    read = MeasuredColumns(f"inputs: {name}", "", (index, column), (), 0, True, False, {})
    try:
        column = read.settle(column, str(unit_of(dynamics.system, name)) or None)
        times = index.cells if isinstance(index.cells, list) else read.numbers_in_si(index, "s", missing=True)
    except ModelError as error:
        raise ArgumentError(str(error)) from None
    return times, column.cells, () if column.unit is None else (column.unit,)


def _read_words(name: str, words: Sequence[Any]) -> tuple[bool, str | None]:
    """Whether the course is held, and its unit."""
    ways = [word for word in words if word in (HELD, LINEAR)]
    units = [word for word in words if word not in (HELD, LINEAR)]
    if len(ways) > 1 or len(units) > 1 or not all(isinstance(word, str) for word in units):
        raise ArgumentError(f"inputs: {name}: {EXPECTED}, are expected, not {', '.join(map(short, words))} after them")
    return HELD in ways, units[0] if units else None


def _read_times(dynamics: Dynamics, name: str, given: Any) -> Array:
    listed = list(given)
    if any(isinstance(x, str) for x in listed):
        return np.array([read_seconds(dynamics, f"inputs: {name}", x) for x in listed])
    return _read_numbers(name, "times in s", given)


def _read_values(dynamics: Dynamics, name: str, given: Any, unit: str | None) -> Array:
    """The values in SI: numbers, of a unit if one is given, or texts with units."""
    listed = list(given)
    if any(isinstance(x, str) for x in listed):
        if unit is not None:
            raise ArgumentError(f"inputs: {name}: the values have units of their own, and {unit!r} stands after them")
        return np.array([read_constant(dynamics, name, x) for x in listed])
    values = _read_numbers(name, "values", given)
    if unit is None:
        return values
    scale, offset = read_scale(dynamics, name, unit)
    return values * scale + offset


def read_scale(dynamics: Dynamics, name: str, unit: str) -> tuple[float, float]:
    """How numbers of a unit become SI values of an input: factor and offset."""
    offset = read_constant(dynamics, name, f"0 {unit}")
    return read_constant(dynamics, name, f"1 {unit}") - offset, offset


def read_constant(dynamics: Dynamics, name: str, text: Any) -> float:
    """One value of an input, in SI."""
    try:
        row = dynamics.arguments.read_inputs({name: text})
    except Error as error:
        raise ArgumentError(f"inputs: {name}: {error}") from None
    return float(row[dynamics.arguments.topology.inputs.index(name)])


def _read_numbers(name: str, what: str, given: Any) -> Array:
    try:
        numbers = np.array(given, dtype=float)
    except (TypeError, ValueError):
        raise ArgumentError(f"inputs: {name}: {what} are expected, not {short(given)}") from None
    if numbers.ndim != 1 or not len(numbers):
        raise ArgumentError(f"inputs: {name}: {what} are expected, at least one, not {short(given)}")
    return numbers
