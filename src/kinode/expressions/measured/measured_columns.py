"""Columns of a file with measured data: names and units from the headings, numbers when they are asked for.

A heading may end with a unit in brackets, ``angle [deg]`` or ``angle (deg)``; or all units stand in a row of their own
below the names.  Errors name the file, the sheet, the column and the row.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ModelError, UnitError
from kinode.expressions.units import parse_quantity, parse_unit
from kinode.records import dataclass

LARGEST_TABLE = 20_000_000  # cells
_BRACKETS = re.compile(r"^(?P<name>.*?)\s*\[(?P<unit>[^\]]*)\]$")
_PARENTHESES = re.compile(r"^(?P<name>.*?\S)\s+\((?P<unit>[^()]+)\)$")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_NO_UNIT = ("", "-", "1")

Row = tuple[int, Sequence[Any]]  # number of the line or row in the file, cells


@dataclass(frozen=True, eq=False)
class MeasuredColumn:
    """One column: its heading as it stands, the name and the unit in it, and its cells as they were read."""

    heading: str
    name: str
    unit: str | None
    cells: Any  # a sequence or an array


@dataclass(frozen=True, eq=False)
class MeasuredColumns:
    """The columns of a file.

    Attributes
    ----------
    file, sheet : str
        For messages; the sheet is empty where there are none.
    columns : tuple of MeasuredColumn
    rows : sequence of int
        The line or row of each entry in the file.
    heading_row : int
        That of the names; where there are none, of the first entry.
    headed : bool
        Whether the columns have names.
    by_line : bool
        Whether rows are lines of a text.
    left_out : dict
        What else the file holds, and why it is no column.
    """

    file: str
    sheet: str
    columns: tuple[MeasuredColumn, ...]
    rows: Sequence[int]
    heading_row: int
    headed: bool
    by_line: bool
    left_out: dict[str, str]

    def error(self, message: str, row: int | None = None) -> ModelError:
        """An error that names the file, the sheet and the row."""
        if self.by_line:
            return ModelError(message, file=self.file, line=row)
        sheet = f"sheet {self.sheet!r}: " if self.sheet else ""
        return ModelError(f"{sheet}{message if row is None else f'row {row}: {message}'}", file=self.file)

    def place(self, index: int) -> int:
        """The row of an entry."""
        return int(self.rows[index])

    def find(self, name: str, among: Sequence[MeasuredColumn] | None = None) -> MeasuredColumn:
        """The column of a name, with or without its unit."""
        columns = self.columns if among is None else among
        fits = [column for column in columns if name in (column.name, column.heading)]
        if len(fits) == 1:
            return fits[0]
        if not self.headed:
            first = "line" if self.by_line else "row"
            raise self.error(f"no column is called {name!r}: the first {first} is no header", self.heading_row)
        if name in self.left_out:
            raise self.error(f"{name!r} {self.left_out[name]}", None)
        many = "several columns are" if fits else "no column is" if among is None else "no column of values is"
        there = ", ".join(column.name for column in columns)
        raise self.error(f"{many} called {name!r}; there are {there}", self.heading_row)

    def numbers(self, column: MeasuredColumn, *, missing: bool = False) -> Array:
        """The numbers of a column as they stand; with ``missing``, empty cells are not-a-number."""
        array = _fast_numbers(column.cells)
        if array is None or not (missing or np.isfinite(array).all()):
            array = np.array([self._number(cell, k, column, missing) for k, cell in enumerate(column.cells)])
        return array

    def numbers_in_si(self, column: MeasuredColumn) -> Array:
        """The numbers of a column in SI units, all of them finite."""
        values = self.numbers(column)
        if column.unit is None:
            return values
        try:
            scale, offset = find_scale(column.unit)
        except UnitError as error:
            raise self.error(f"column {column.name!r}: {error}", self.heading_row) from None
        return values * scale + offset

    def _number(self, cell: Any, k: int, column: MeasuredColumn, missing: bool) -> float:
        number = read_number(cell)
        if number is not None:
            return number
        if missing and is_empty(cell):
            return math.nan
        what = describe_cell(cell, formulas=bool(self.sheet))
        name = f"column {column.name!r}: " if self.headed and not self.by_line else ""
        raise self.error(f"{name}{what}", self.place(k))


def describe_cell(cell: Any, *, formulas: bool) -> str:
    """Why a cell is no number."""
    if is_empty(cell):
        return "the cell is empty" + (", or a formula whose value the file does not have" if formulas else "")
    if isinstance(cell, datetime.date | datetime.time | datetime.timedelta):
        return f"{cell} is a date or time of day; write seconds since the start"
    comma = isinstance(cell, str) and re.fullmatch(r"[+-]?\d+,\d+", cell.strip())
    return f"{cell!r} is not a finite number" + ("; decimals follow a point" if comma else "")


def is_empty(cell: Any) -> bool:
    """Whether a cell holds nothing."""
    return cell is None or (isinstance(cell, str) and not cell.strip())


def read_number(cell: Any) -> float | None:
    """The finite number in a cell; None for anything else."""
    if isinstance(cell, str):
        text = cell.strip()
        value = float(text) if _NUMBER.fullmatch(text) else math.nan
    elif isinstance(cell, bool) or not isinstance(cell, int | float | np.number):
        return None
    else:
        value = float(cell)
    return value if math.isfinite(value) else None


def _fast_numbers(cells: Any) -> Array | None:
    """The numbers of cells that are an array of numbers already."""
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "fiub":
        return np.asarray(cells, dtype=float)
    return None


def find_scale(unit: str) -> tuple[float, float]:
    """How numbers of a unit become SI: factor and offset; raises a UnitError."""
    zero, one = parse_quantity(f"0 {unit}"), parse_quantity(f"1 {unit}")
    if zero is None or one is None:
        raise UnitError(f"{unit!r} is no unit")
    return one.value_si - zero.value_si, zero.value_si


def split_heading(heading: str) -> tuple[str, str | None]:
    """The name in a heading, and its unit; text in parentheses counts where it is one."""
    text = heading.strip()
    match = _BRACKETS.match(text)
    if match is not None:
        unit = match["unit"].split(",")[0].strip()
        return match["name"], None if unit in _NO_UNIT else unit
    match = _PARENTHESES.match(text)
    if match is not None and _is_unit(match["unit"].strip()):
        return match["name"], match["unit"].strip()
    return text, None


def _is_unit(text: str) -> bool:
    if text in _NO_UNIT:
        return False
    try:
        parse_unit(text)
    except UnitError:
        return False
    return True


def compose_rows(file: str, sheet: str, rows: Iterable[Row], by_line: bool) -> MeasuredColumns:
    """Columns from rows of cells, all of one length: an optional heading, an optional row of units, numbers."""
    listed = list(rows)
    count = len(listed[0][1]) if listed else 0
    headed = bool(listed) and all(read_number(cell) is None for cell in listed[0][1])
    first = listed[0][0] if listed else 1
    headings = [str(cell).strip() if not is_empty(cell) else "" for cell in listed[0][1]] if headed else [""] * count
    body = listed[1:] if headed else listed
    units: list[str | None] = [None] * count
    if headed and body and _is_row_of_units(body[0][1]):
        units = [split_heading(str(cell or ""))[1] for cell in body[0][1]]
        body = body[1:]
    columns = []
    for k, heading in enumerate(headings):
        name, unit = split_heading(heading)
        columns.append(MeasuredColumn(heading, name or str(k + 1), unit or units[k], [cells[k] for _, cells in body]))
    return MeasuredColumns(file, sheet, tuple(columns), [row for row, _ in body], first, headed, by_line, {})


def _is_row_of_units(cells: Sequence[Any]) -> bool:
    """Whether every cell is a unit in brackets, or empty."""
    texts = [cell.strip() for cell in cells if not is_empty(cell) and isinstance(cell, str)]
    full = [cell for cell in cells if not is_empty(cell)]
    return bool(texts) and len(texts) == len(full) and all(re.fullmatch(r"\[[^\]]*\]", text) for text in texts)
