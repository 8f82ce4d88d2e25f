"""Columns of a sheet of an Excel file, through openpyxl.

Rows above the table with fewer than two cells are titles.  The table ends at the first row below it that is empty;
numbers that go on behind it are an error, and no end.  Columns of
numbers without a heading, such as those under merged cells, count.
Formulas count with the values that Excel stored with them.  A cell that is shown in per cent holds its hundredth.
"""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from kinode.errors import ModelError
from kinode.expressions.measured.measured_columns import (
    LARGEST_TABLE,
    MeasuredColumns,
    Row,
    compose_rows,
    is_empty,
    read_number,
)
from kinode.optional_packages import need

LARGEST_UNPACKED = 500_000_000  # bytes


def read_workbook(path: Path, sheet: str | int | None) -> MeasuredColumns:
    """The columns of one sheet; of several sheets one has to be named."""
    file = str(path)
    openpyxl = need("openpyxl", "excel", f"{path.name}: an Excel file")
    _check_size(path)
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except Exception as error:  # a package that others made: whatever it stumbles over
        raise ModelError(f"is no Excel file that can be read: {error}", file=file) from None
    try:
        name = _find_sheet(file, book.sheetnames, sheet)
        if name not in [each.title for each in book.worksheets]:
            raise ModelError(f"sheet {name!r} is a chart, and holds no cells", file=file)
        first, rows = _table(file, name, book[name])
        columns = _without_shown_percent(book[name], first, compose_rows(file, name, rows, by_line=False))
    finally:
        book.close()
    if not columns.columns:
        raise columns.error("there is no table of at least two columns")
    return columns


def _check_size(path: Path) -> None:
    try:
        with zipfile.ZipFile(path) as parts:
            unpacked = sum(part.file_size for part in parts.infolist())
    except (OSError, zipfile.BadZipFile):
        raise ModelError("is no Excel file that can be read", file=str(path)) from None
    if unpacked > LARGEST_UNPACKED:
        raise ModelError(f"unpacked it is larger than {LARGEST_UNPACKED // 1_000_000} MB", file=str(path))


def _find_sheet(file: str, names: Sequence[str], sheet: str | int | None) -> str:
    listed = ", ".join(names)
    if sheet is None:
        if len(names) == 1:
            return names[0]
        raise ModelError(f"there are {len(names)} sheets; say which by sheet=: {listed}", file=file)
    if isinstance(sheet, str) and sheet in names:
        return sheet
    if isinstance(sheet, int) and not isinstance(sheet, bool) and 1 <= sheet <= len(names):
        return names[sheet - 1]
    raise ModelError(f"there is no sheet {sheet!r}; there are {listed}", file=file)


def _table(file: str, name: str, sheet: Any) -> tuple[int, list[Row]]:
    """The first column of the table in a sheet, and its rows, without the empty columns on both sides."""
    rows: list[tuple[int, list[Any]]] = []
    cells = 0
    for number, values in enumerate(sheet.iter_rows(values_only=True), start=1):
        full = [k for k, value in enumerate(values) if not is_empty(value)]
        if not rows and len(full) < 2:
            continue
        if not full:
            _require_end(file, name, number, sheet)
            break
        rows.append((number, list(values)))
        cells += len(values)
        if cells > LARGEST_TABLE:
            raise ModelError(f"sheet {name!r} has more than {LARGEST_TABLE:,} cells", file=file)
    if not rows:
        return 0, []
    used = {k for k, value in enumerate(rows[0][1]) if not is_empty(value)}
    used |= {k for _, values in rows for k, value in enumerate(values) if read_number(value) is not None}
    first, last = min(used), max(used) + 1
    return first, [
        (number, [values[k] if k < len(values) else None for k in range(first, last)]) for number, values in rows
    ]


def _require_end(file: str, name: str, gap: int, sheet: Any) -> None:
    """Refuse a table that goes on behind an empty row: what is behind would be lost."""
    for number, values in enumerate(sheet.iter_rows(min_row=gap + 1, values_only=True), start=gap + 1):
        full = [value for value in values if not is_empty(value)]
        if full:
            if len(full) > 1 and all(read_number(value) is not None for value in full):
                message = f"row {gap} is empty, and numbers go on in row {number}; a table has no empty rows"
                raise ModelError(f"sheet {name!r}: {message}", file=file)
            return


def _without_shown_percent(sheet: Any, first: int, found: MeasuredColumns) -> MeasuredColumns:
    """The columns, of which those shown in per cent, and headed so, hold fractions."""
    if not found.rows or all(column.unit != "%" for column in found.columns):
        return found
    (row,) = sheet.iter_rows(min_row=found.rows[0], max_row=found.rows[0])
    shown = ["%" in str(getattr(cell, "number_format", "")) for cell in row[first : first + len(found.columns)]]
    columns = tuple(
        replace(column, unit=None) if column.unit == "%" and percent else column
        for column, percent in zip(found.columns, shown)
    )
    return replace(found, columns=columns)
