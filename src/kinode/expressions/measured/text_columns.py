"""Columns of a text file: separated by semicolons, tabs, commas or spaces; lines that begin with # are comments.

Between semicolons decimals may follow a comma, as programs in many countries write them: where no number of the file
has a point.  A first line ``sep=;`` is Excel's, and names the separator.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

from kinode.errors import ModelError
from kinode.expressions.measured.measured_columns import MeasuredColumns, Row, compose_rows

_SEPARATOR = re.compile(r"sep=([;\t,])", re.IGNORECASE)
_COMMA = re.compile(r"([+-]?\d*),(\d+(?:[eE][+-]?\d+)?)", re.ASCII)
_POINT = re.compile(r"[+-]?[\d,]*\.[\d,]*(?:[eE][+-]?\d+)?", re.ASCII)


def read_text_columns(path: Path) -> MeasuredColumns:
    """The columns of a text file in UTF-8."""
    file = str(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ModelError(f"the file cannot be read: {error.strerror}", file=file) from None
    except UnicodeDecodeError:
        raise ModelError("the file is not text in UTF-8", file=file) from None
    return compose_rows(file, "", _rows(file, text), by_line=True)


def _rows(file: str, text: str) -> list[Row]:
    count, mark = 0, ""
    rows: list[Row] = []
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.strip(" \r\n") if "\t" in line else line.strip()
        if not line.strip() or line.startswith("#"):
            continue
        named = None if count or mark else _SEPARATOR.fullmatch(line)
        if named is not None:
            mark = named[1]
            continue
        if not count and not mark:
            mark = next((each for each in ";\t," if each in line), "")
        cells = _split(line, mark)
        count = count or len(cells)
        if len(cells) != count:
            hint = "; decimals follow a point" if mark == "," and len(cells) > count else ""
            message = f"the lines before have {count} columns, this line {len(cells)}{hint}"
            raise ModelError(message, file=file, line=number)
        rows.append((number, cells))
    return _with_points(rows) if mark == ";" else rows


def _with_points(rows: list[Row]) -> list[Row]:
    """The rows with decimal points; commas are left where they cannot be told from separators of thousands."""
    cells = [str(cell) for _, row in rows for cell in row]
    if any(_POINT.fullmatch(cell) for cell in cells) or not any(_COMMA.fullmatch(cell) for cell in cells):
        return rows
    return [(number, [_COMMA.sub(r"\1.\2", x) if _COMMA.fullmatch(x) else x for x in row]) for number, row in rows]


def _split(line: str, mark: str) -> list[str]:
    if mark:
        try:
            return [cell.strip() for cell in next(csv.reader([line], delimiter=mark, skipinitialspace=True))]
        except csv.Error:
            return [cell.strip() for cell in line.split(mark)]
    return re.sub(r"\s+(?=[\[(])", "", line).split()  # a unit stays with its name
