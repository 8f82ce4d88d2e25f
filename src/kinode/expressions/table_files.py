"""Reads a table of one axis from a text file: the first column is the axis, the others are values.

A header is optional.  If there are several columns of values, ``column`` selects one: by its name in the header, or by
its number (1 is the first after the axis).
"""

from __future__ import annotations

import math
import os
import re
from pathlib import Path

from kinode.errors import ModelError

LARGEST_FILE = 50_000_000  # bytes


def read_table_file(
    path: str | os.PathLike[str], column: str | int | None = None
) -> tuple[tuple[tuple[float, ...]], tuple[float, ...]]:
    """Axes and values of a text file with columns separated by commas, semicolons, tabs or spaces.

    Empty lines and lines that begin with # are skipped.  ``Table(name, *read_table_file(path))`` makes the table.
    """
    file = os.fspath(path)
    axis: list[float] = []
    values: list[float] = []
    count = index = 0  # number of columns, and the index of the one that is read
    for line, text in enumerate(_read_text(file).splitlines(), start=1):
        text = text.strip()
        if not text or text.startswith("#"):
            continue
        cells = _split(text)
        numbers = [_read_number(cell) for cell in cells]
        if not count:
            header = cells if all(number is None for number in numbers) else None
            count, index = len(cells), _find_column(column, cells, header, text, file, line)
            if header is not None:
                continue
        if len(cells) != count:
            raise ModelError(_count_message(text, count, len(cells)), file=file, line=line)
        x, value = (_finite(cells[k], numbers[k], file, line) for k in (0, index))
        if axis and x <= axis[-1]:
            raise ModelError(f"the axis must increase: {x:.12g} follows {axis[-1]:.12g}", file=file, line=line)
        axis.append(x)
        values.append(value)
    if len(axis) < 2:
        raise ModelError(f"a table needs at least 2 points; there are {len(axis)}", file=file)
    return (tuple(axis),), tuple(values)


def _find_column(
    column: str | int | None, cells: list[str], header: list[str] | None, text: str, file: str, line: int
) -> int:
    """The index of the column of values, from the first line."""
    count = len(cells)
    if column is None:
        if count != 2:
            raise ModelError(_count_message(text, 2, count), file=file, line=line)
        return 1
    if isinstance(column, str):
        if header is None:
            raise ModelError(f"no column is called {column!r}: the first line is no header", file=file, line=line)
        if header[1:].count(column) != 1:
            many = "several columns are" if column in header[1:] else "no column of values is"
            names = ", ".join(header[1:])
            raise ModelError(f"{many} called {column!r}; there are {names}", file=file, line=line)
        return header.index(column, 1)
    if isinstance(column, bool) or not isinstance(column, int) or not 1 <= column < count:
        message = f"there is no column {column!r}; the first after the axis is 1, the last {count - 1}"
        raise ModelError(message, file=file, line=line)
    return column


def _finite(cell: str, number: float | None, file: str, line: int) -> float:
    if number is None:
        raise ModelError(f"{cell!r} is not a finite number", file=file, line=line)
    return number


def _read_text(file: str) -> str:
    try:
        if os.path.getsize(file) > LARGEST_FILE:
            raise ModelError(f"the file is larger than {LARGEST_FILE // 1_000_000} MB", file=file)
        return Path(file).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ModelError(f"the file cannot be read: {error.strerror}", file=file) from error
    except UnicodeDecodeError as error:
        raise ModelError("the file is not text in UTF-8", file=file) from error


def _split(text: str) -> list[str]:
    for mark in (";", "\t", ","):
        if mark in text:
            return [cell.strip().strip('"') for cell in text.split(mark)]
    return re.split(r"\s+", text)


def _count_message(text: str, needed: int, count: int) -> str:
    if needed != 2:
        return f"the lines before have {needed} columns, this line {count}"
    message = f"a table file has 2 columns, this line {count}"
    if "," in text and count in (3, 4):
        return f"{message}; decimals follow a point, and column= says which of several is meant"
    return f"{message}; say which by column=; tables of more axes are given by values"


def _read_number(cell: str) -> float | None:
    if not re.fullmatch(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", cell, re.ASCII):
        return None
    value = float(cell)
    return value if math.isfinite(value) else None
