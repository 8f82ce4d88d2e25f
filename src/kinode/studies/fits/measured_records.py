"""Measured records: columns over time from a file, a DataFrame, an xarray Dataset, a run or a mapping of arrays.

The time is the column that the caller names, else the column or dimension called t or time, else the first column of a
file, or the index of a DataFrame.  Headings and units are those of ``expressions/measured_files``, and so are files:
text, Excel (``log.xlsx#sheet``), MAT, Parquet.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError, ModelError
from kinode.expressions.measured_columns import MeasuredColumn, MeasuredColumns, find_scale
from kinode.expressions.measured_files import read_columns
from kinode.model.base.fields import short, unknown
from kinode.model.quantities import unit_of
from kinode.model.system import System

TIME_NAMES = ("t", "time")
WAYS = ("held", "linear")


@dataclass(frozen=True, eq=False)
class Record:
    """One recorded run.

    Attributes
    ----------
    name : str
        For messages: the file, or its number.
    t : array
        Times in s, rising.
    columns : MeasuredColumns
    time : MeasuredColumn
        The column of the times.
    """

    name: str
    t: Array
    columns: MeasuredColumns
    time: MeasuredColumn

    def numbers(self, column: MeasuredColumn, expected: str | None, place: str) -> Array:
        """The numbers of a column in SI; not-a-number where nothing was measured."""
        with _as_argument_errors():
            return self.columns.numbers_in_si(column, expected, place=place, missing=True)


@contextmanager
def _as_argument_errors() -> Iterator[None]:
    try:
        yield
    except ModelError as error:
        raise ArgumentError(str(error)) from None


def read_records(data: Any, time: str | None = None) -> list[Record]:
    """The records of the argument ``data``: one, or a list of them."""
    several = isinstance(data, list | tuple)
    records = list(data) if several else [data]
    if not records:
        raise ArgumentError("data: at least one record is expected")
    return [read_record(each, f"record {k}" if several else "data", time) for k, each in enumerate(records)]


def read_record(data: Any, name: str = "data", time: str | None = None) -> Record:
    """One record; ``time`` names the column of its times, with their unit if need be: ``"Zeit_ms ms"``."""
    if isinstance(data, Record):
        return data
    with _as_argument_errors():
        columns, first = _read_columns(data, name)
        name, named = columns.file, first if time is None else columns.find(time)
        if named is None:
            raise ArgumentError(f"{name}: no column is called t or time; time= names another, and its unit")
        column = columns.settle(named, "s", "time=")
        return _compose(name, columns, column, columns.numbers_in_si(column))


def _read_columns(data: Any, name: str) -> tuple[MeasuredColumns, MeasuredColumn | None]:
    """The columns of a record, and that of the times where the caller names none."""
    if isinstance(data, str | os.PathLike):
        columns = read_columns(data)
        if not columns.headed or not len(columns.rows):
            raise columns.error("a line of names and lines of numbers are expected")
        columns = replace(columns, file=Path(data).name, heading_row=0)
        return columns, _find_time(columns.columns) or columns.columns[0]
    if hasattr(data, "to_xarray") and hasattr(data, "dynamics"):  # a run
        raise ArgumentError(f"{name}: name the quantities of the run that were measured: run.to_xarray([...])")
    index = None
    if hasattr(data, "data_vars"):
        along = next((dim for dim in TIME_NAMES if dim in data.dims), next(iter(data.dims), None))
        if along is None or along not in data.coords:
            raise ArgumentError(f"{name}: the Dataset has no dimension with times as its coordinate")
        index = _column(along, data.coords[along].values, data.coords[along].attrs)
        found = [_column(key, x.values, x.attrs) for key, x in data.data_vars.items() if x.dims == (along,)]
    elif hasattr(data, "columns") and hasattr(data, "index"):
        index = _column(data.index.name or "index", data.index)
        found = [_column(key, data[key]) for key in data.columns]
    elif isinstance(data, Mapping):
        found = [_column(key, values) for key, values in data.items()]
    else:
        expected = "a file, a DataFrame, a Dataset or columns by name are expected"
        raise ArgumentError(f"{name}: {expected}, not {short(data)}")
    first = index if hasattr(data, "data_vars") else _find_time(found) or index
    every = tuple(found if index is None else [*found, index])
    rows = range(len(every[0].cells) if every else 0)
    return MeasuredColumns(name, "", every, rows, 0, True, False, {}), first


def _column(heading: Any, values: Any, facts: Mapping[str, Any] | None = None) -> MeasuredColumn:
    """A column of values that Python gives."""
    cells = values if hasattr(values, "dtype") else np.asarray(values)
    return MeasuredColumn.of(str(heading), cells, (facts or {}).get("units"))


def _find_time(columns: Sequence[MeasuredColumn]) -> MeasuredColumn | None:
    return next((column for column in columns if column.name in TIME_NAMES), None)


def _compose(name: str, columns: MeasuredColumns, time: MeasuredColumn, t: Array) -> Record:
    """The record, its times checked."""
    if t.ndim != 1 or len(t) < 2 or not np.isfinite(t).all():
        raise ArgumentError(f"{name}: at least two times, all finite, are expected")
    if not (np.diff(t) > 0.0).all():
        k = int(np.flatnonzero(np.diff(t) <= 0.0)[0])
        raise ArgumentError(f"{name}: times must rise, and after {t[k]:g} s comes {t[k + 1]:g} s (row {k + 1})")
    for column in columns.columns:
        if len(column.cells) != len(t):
            raise ArgumentError(f"{name}: {column.name} has {len(column.cells)} values, and there are {len(t)} times")
    return Record(name, t, columns, time)


def read_unit(record: str, unit: str, expected: str | None) -> tuple[float, float]:
    """How numbers of a unit become SI: factor and offset; a unit of another dimension than expected is refused."""
    try:
        return find_scale(unit, expected)
    except ModelError as error:
        raise ArgumentError(f"{record}: {error}") from None


def read_course_of(system: System, name: str, record: Record, text: str) -> tuple[Any, ...]:
    """A column as the course of an input, as ``kn.simulate`` takes it, in SI: ``"u_V V"``, ``"gate held"``."""
    if name not in system.inputs:
        raise ArgumentError(unknown("inputs: no input is called", name, system.inputs))
    with _as_argument_errors():
        column, words = record.columns.match(text)
    column = column.told(" ".join(word for word in words if word not in WAYS))
    values = record.numbers(column, str(unit_of(system, name)) or None, "")
    return record.t, values, *(word for word in words if word in WAYS)


def read_channel(record: Record, text: str, expected: str | None) -> Array:
    """A column in SI, from its name and its unit, where the caller, the heading or the data tell one."""
    with _as_argument_errors():
        column = record.columns.find(text)
    return record.numbers(column, expected, "")
