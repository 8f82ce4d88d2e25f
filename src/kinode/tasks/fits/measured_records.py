"""Measured records: columns over time from a file, a DataFrame, an xarray Dataset, a run or a mapping of arrays.

The time is the column or dimension called t or time, else the first column, or the index of a DataFrame.  The header of
a column may have its unit in brackets, as in the files that ``run.to_csv`` writes: ``elbow.q [rad]``.  Files are those
of ``expressions/measured``: text, Excel (``log.xlsx#sheet``), MAT, Parquet.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError, ModelError, UnitError
from kinode.expressions.measured.measured_columns import split_heading
from kinode.expressions.measured.measured_files import read_columns
from kinode.expressions.units import parse_quantity
from kinode.model.base.fields import short, unknown
from kinode.records import dataclass

TIME_NAMES = ("t", "time")


@dataclass(frozen=True, eq=False)
class Column:
    """One measured quantity: its values, and its unit where the data tell one."""

    values: Array
    unit: str | None = None


@dataclass(frozen=True, eq=False)
class Record:
    """One recorded run.

    Attributes
    ----------
    name : str
        For messages: the file, or its number.
    t : array
        Times in s, rising.
    columns : mapping of str to Column
    refused : mapping of str to str
        Columns of the file that are no numbers, and why.
    """

    name: str
    t: Array
    columns: Mapping[str, Column]
    refused: Mapping[str, str] = field(default_factory=dict)

    def find(self, text: str) -> tuple[Column, tuple[str, ...]]:
        """The column that a text begins with, and the words after it: ``"angle_deg deg"``."""
        name, words = text.strip(), list[str]()
        while name not in self.columns and name not in self.refused and " " in name:
            name, _, word = name.rpartition(" ")
            name = name.rstrip()
            words.insert(0, word)
        if name in self.refused:
            raise ArgumentError(self.refused[name])
        if name not in self.columns:
            raise ArgumentError(unknown(f"{self.name}: no column is called", name, self.columns))
        return self.columns[name], tuple(words)


def read_records(data: Any) -> list[Record]:
    """The records of the argument ``data``: one, or a list of them."""
    several = isinstance(data, list | tuple)
    records = list(data) if several else [data]
    if not records:
        raise ArgumentError("data: at least one record is expected")
    return [read_record(each, f"record {k}" if several else "data") for k, each in enumerate(records)]


def read_record(data: Any, name: str = "data") -> Record:
    """One record."""
    if isinstance(data, Record):
        return data
    if isinstance(data, str | os.PathLike):
        return _read_file(data)
    if hasattr(data, "to_xarray") and hasattr(data, "dynamics"):  # a run
        raise ArgumentError(f"{name}: name the quantities of the run that were measured: run.to_xarray([...])")
    if hasattr(data, "data_vars"):
        return _compose(name, *_read_dataset(name, data))
    if hasattr(data, "columns") and hasattr(data, "index"):
        columns = {str(key): Column(_numbers(name, str(key), data[key])) for key in data.columns}
        return _compose(name, _split_headers(columns), None if _has_time(columns) else np.asarray(data.index))
    if isinstance(data, Mapping):
        columns = {str(key): Column(_numbers(name, str(key), values)) for key, values in data.items()}
        if not _has_time(columns):
            raise ArgumentError(f"{name}: no column is called t or time")
        return _compose(name, _split_headers(columns), None)
    raise ArgumentError(f"{name}: a file, a DataFrame, a Dataset or columns by name are expected, not {short(data)}")


def _has_time(columns: Mapping[str, Any]) -> bool:
    return any(name in TIME_NAMES for name in (split_heading(header)[0] for header in columns))


def _split_headers(columns: Mapping[str, Column]) -> dict[str, Column]:
    """Columns by name, with the units of their headers."""
    named = {}
    for header, column in columns.items():
        name, unit = split_heading(header)
        named[name] = Column(column.values, unit or column.unit)
    return named


def _read_file(path: str | os.PathLike[str]) -> Record:
    """A record from a file of text, Excel, MAT or Parquet."""
    try:
        file = read_columns(path)
        if not file.headed or not len(file.rows):
            raise file.error("a line of names and lines of numbers are expected")
        columns, refused = {}, {}
        for column in file.columns:
            if column.name in columns or column.name in refused:
                raise file.error(f"two columns are called {column.name!r}", file.heading_row or None)
            try:
                columns[column.name] = Column(file.numbers(column, missing=True), column.unit)
            except ModelError as error:
                refused[column.name] = str(error)
        first = file.columns[0]
        if not _has_time(columns) and first.name not in columns:
            file.numbers(first)
    except ModelError as error:
        raise ArgumentError(str(error)) from None
    return _compose(Path(path).name, columns, None if _has_time(columns) else _time_of(columns, first.name), refused)


def _time_of(columns: dict[str, Column], name: str) -> Array:
    """The times in the first column, in s."""
    column = columns[name]
    return column.values * (1.0 if column.unit is None else read_unit(name, column.unit, "s")[0])


def _read_dataset(name: str, data: Any) -> tuple[dict[str, Column], Array]:
    """The variables of an xarray Dataset over its one dimension."""
    along = next((dim for dim in TIME_NAMES if dim in data.dims), next(iter(data.dims), None))
    if along is None or along not in data.coords:
        raise ArgumentError(f"{name}: the Dataset has no dimension with times as its coordinate")
    columns = {
        str(key): Column(_numbers(name, str(key), values.values), values.attrs.get("units") or None)
        for key, values in data.data_vars.items()
        if values.dims == (along,)
    }
    return columns, np.asarray(data.coords[along].values)


def _numbers(record: str, column: str, values: Any) -> Array:
    try:
        return np.array(values, dtype=float)
    except (TypeError, ValueError):
        raise ArgumentError(f"{record}: the column {column!r} has entries that are no numbers") from None


def _compose(
    name: str, columns: dict[str, Column], times: Array | None, refused: Mapping[str, str] | None = None
) -> Record:
    """The record, its times checked and in s."""
    if times is None:
        key = next(each for each in columns if each in TIME_NAMES)
        column = columns[key]
        times = column.values * read_unit(name, column.unit or "s", "s")[0]
    t = _numbers(name, "t", times)
    if t.ndim != 1 or len(t) < 2 or not np.isfinite(t).all():
        raise ArgumentError(f"{name}: at least two times, all finite, are expected")
    if not (np.diff(t) > 0.0).all():
        k = int(np.flatnonzero(np.diff(t) <= 0.0)[0])
        raise ArgumentError(f"{name}: times must rise, and after {t[k]:g} s comes {t[k + 1]:g} s (row {k + 1})")
    for key, column in columns.items():
        if column.values.shape != t.shape:
            raise ArgumentError(f"{name}: {key} has {column.values.size} values, and there are {len(t)} times")
    return Record(name, t, columns, refused or {})


def read_unit(record: str, unit: str, expected: str | None) -> tuple[float, float]:
    """How numbers of a unit become SI: factor and offset; a unit of another dimension than expected is refused."""
    try:
        zero, one = parse_quantity(f"0 {unit}"), parse_quantity(f"1 {unit}")
        wanted = None if not expected else parse_quantity(f"1 {expected}")
    except UnitError as error:
        raise ArgumentError(f"{record}: {error}") from None
    if zero is None or one is None:
        raise ArgumentError(f"{record}: {unit!r} is no unit")
    if wanted is not None and wanted.dimension != one.dimension:
        raise ArgumentError(f"{record}: {unit!r} is no unit of what is measured in {expected}")
    return one.value_si - zero.value_si, zero.value_si


def read_course_of(record: Record, text: str) -> tuple[Any, ...]:
    """A column as the course of an input, as ``kn.simulate`` takes it: ``"u_V V"``, ``"gate held"``."""
    column, words = record.find(text)
    units = [word for word in words if word not in ("held", "linear")]
    own = () if units or not column.unit else (column.unit,)
    return record.t, column.values, *words, *own


def read_channel(record: Record, text: str, expected: str | None) -> Array:
    """A column in SI, from its name and, where neither its header nor the model tells it, its unit."""
    column, words = record.find(text)
    unit = _one_unit(record, text, words) or column.unit
    if not unit:
        return column.values
    scale, offset = read_unit(record.name, unit, expected)
    return np.asarray(column.values * scale + offset)


def _one_unit(record: Record, text: str, words: Sequence[str]) -> str | None:
    if len(words) > 1:
        raise ArgumentError(f"{record.name}: a column and its unit are expected, not {text!r}")
    return words[0] if words else None
