"""Reads a table of one axis from a file: one column is the axis, another has the values.

The axis is the first column, or the one called ``over``.  If there are several columns of values, ``column`` selects
one: by its name in the heading, or by its number (1 is the first after the axis).  Units in the headings, or behind
these names, make the numbers SI.  ``measured_files.py`` says which files are read, ``measured_columns.py`` how headings
are.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.errors import ModelError

if TYPE_CHECKING:
    from kinode.expressions.measured_columns import MeasuredColumn, MeasuredColumns


def read_table_source(axes: Any, values: Any, file: Any, **choice: Any) -> tuple[Any, Any, tuple[str, ...]]:
    """Axes and values of a table as given, or from a file, and its columns; ``choice`` are more arguments for files."""
    if (file is None) == (values is None):
        raise ModelError("takes values or a file")
    if file is not None and axes is not None:
        raise ModelError("the file gives the axes too; leave them out", field="axes")
    for field, value in choice.items():
        if file is None and value is not None:
            raise ModelError("is for files", field=field)
    if file is None and axes is None:
        raise ModelError("needs its axes", field="axes")
    return (axes, values, ()) if file is None else _read_file(file, **choice)


def read_table_file(
    path: str | os.PathLike[str],
    column: str | int | None = None,
    *,
    sheet: str | int | None = None,
    over: str | None = None,
) -> tuple[tuple[tuple[float, ...]], tuple[float, ...]]:
    """Axes and values of a file; ``Table(name, *read_table_file(path))`` makes the table."""
    return _read_file(path, column, sheet=sheet, over=over)[:2]


def _read_file(
    path: str | os.PathLike[str],
    column: str | int | None = None,
    *,
    sheet: str | int | None = None,
    over: str | None = None,
) -> tuple[tuple[tuple[float, ...]], tuple[float, ...], tuple[str, ...]]:
    """Axes, values, and what their columns are called with the units that were read."""
    from kinode.expressions.measured_files import read_columns  # few models name files

    columns = read_columns(path, sheet)
    if not columns.columns:
        raise columns.error("a table needs at least 2 points; there are 0")
    axis = columns.settle(columns.columns[0] if over is None else columns.find(over), place="over=")
    values = columns.settle(_find_column(columns, axis, column), place="column=")
    x, y = columns.numbers_in_si(axis), columns.numbers_in_si(values)
    if len(x) < 2:
        raise columns.error(f"a table needs at least 2 points; there are {len(x)}")
    falls = np.flatnonzero(np.diff(x) <= 0.0)
    if len(falls):
        k = int(falls[0]) + 1
        raise columns.error(f"the axis must increase: {x[k]:.12g} follows {x[k - 1]:.12g}", columns.place(k))
    words = tuple(f"{each.name} in {each.unit}" if each.unit else f"{each.name}, no unit" for each in (axis, values))
    return (tuple(x.tolist()),), tuple(y.tolist()), words if columns.headed else ()


def _find_column(columns: MeasuredColumns, axis: MeasuredColumn, column: str | int | None) -> MeasuredColumn:
    """The column of values."""
    others = [each for each in columns.columns if each.cells is not axis.cells]
    if column is None:
        if len(others) != 1:
            raise columns.error(_count_message(len(columns.columns)), columns.heading_row)
        return others[0]
    if isinstance(column, str):
        return columns.find(column, others)
    if isinstance(column, bool) or not isinstance(column, int) or not 1 <= column <= len(others):
        message = f"there is no column {column!r}; the first after the axis is 1, the last {len(others)}"
        raise columns.error(message, columns.heading_row)
    return others[column - 1]


def _count_message(count: int) -> str:
    message = f"a table file has 2 columns, this one {count}"
    hint = "decimals follow a point, and column= says which of several is meant" if count in (3, 4) else ""
    return f"{message}; {hint or 'say which by column=; tables of more axes are given by values'}"
