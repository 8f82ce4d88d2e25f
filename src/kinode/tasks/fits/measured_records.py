"""Measured records: columns over time from a CSV file, a DataFrame, an xarray Dataset, a run or a mapping of arrays.

The time is the column or dimension called t or time, else the first column, or the index of a DataFrame.  The header of
a CSV column may have its unit in brackets, as in the files that ``run.to_csv`` writes: ``elbow.q [rad]``.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError, UnitError
from kinode.expressions.units import parse_quantity
from kinode.model.base.fields import short, unknown
from kinode.records import dataclass

TIME_NAMES = ("t", "time")
_HEADER = re.compile(r"^(?P<name>.*?)\s*\[(?P<unit>[^\]]*)\]$")


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
    """

    name: str
    t: Array
    columns: Mapping[str, Column]

    def find(self, text: str) -> tuple[Column, tuple[str, ...]]:
        """The column that a text begins with, and the words after it: ``"angle_deg deg"``."""
        name, words = text.strip(), list[str]()
        while name not in self.columns and " " in name:
            name, _, word = name.rpartition(" ")
            name = name.rstrip()
            words.insert(0, word)
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
        path = Path(data)
        return _compose(path.name, *_read_csv(path))
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
    raise ArgumentError(
        f"{name}: a CSV file, a DataFrame, a Dataset or columns by name are expected, not {short(data)}"
    )


def _has_time(columns: Mapping[str, Any]) -> bool:
    return any(name in TIME_NAMES for name in (_split_header(header)[0] for header in columns))


def _split_header(header: str) -> tuple[str, str | None]:
    match = _HEADER.match(header.strip())
    return (match["name"], match["unit"].split(",")[0].strip()) if match else (header.strip(), None)


def _split_headers(columns: Mapping[str, Column]) -> dict[str, Column]:
    """Columns by name, with the units of their headers."""
    named = {}
    for header, column in columns.items():
        name, unit = _split_header(header)
        named[name] = Column(column.values, unit or column.unit)
    return named


def _read_csv(path: Path) -> tuple[dict[str, Column], Array | None]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            text = stream.read()
    except OSError as error:
        raise ArgumentError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ArgumentError(f"{path}: it is no text in UTF-8") from None
    first = text.partition("\n")[0]
    delimiter = next((mark for mark in (",", ";", "\t") if mark in first), ",")
    rows = [row for row in csv.reader(text.splitlines(), delimiter=delimiter) if row]
    if len(rows) < 2:
        raise ArgumentError(f"{path.name}: a line of names and lines of numbers are expected")
    headers = [header.strip() for header in rows[0]]
    if len(set(headers)) < len(headers):
        twice = next(header for header in headers if headers.count(header) > 1)
        raise ArgumentError(f"{path.name}: two columns are called {twice!r}")
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(headers):
            raise ArgumentError(
                f"{path.name}: line {number} has {len(row)} entries, and there are {len(headers)} names"
            )
    columns = {
        header: Column(_numbers(path.name, header, [row[k].strip() or "nan" for row in rows[1:]]))
        for k, header in enumerate(headers)
    }
    named = _split_headers(columns)
    return named, None if _has_time(columns) else columns[headers[0]].values


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


def _compose(name: str, columns: dict[str, Column], times: Array | None) -> Record:
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
    return Record(name, t, columns)


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
