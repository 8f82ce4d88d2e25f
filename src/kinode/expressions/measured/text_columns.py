"""Columns of a text file: separated by semicolons, tabs, commas or spaces; lines that begin with # are comments."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

from kinode.errors import ModelError
from kinode.expressions.measured.measured_columns import MeasuredColumns, Row, compose_rows


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


def _rows(file: str, text: str) -> Iterator[Row]:
    count, mark = 0, ""
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.strip(" \r\n") if "\t" in line else line.strip()
        if not line.strip() or line.startswith("#"):
            continue
        if not count:
            mark = next((each for each in ";\t," if each in line), "")
        cells = _split(line, mark)
        count = count or len(cells)
        if len(cells) != count:
            hint = "; decimals follow a point" if mark == "," and len(cells) > count else ""
            message = f"the lines before have {count} columns, this line {len(cells)}{hint}"
            raise ModelError(message, file=file, line=number)
        yield number, cells


def _split(line: str, mark: str) -> list[str]:
    if mark:
        try:
            return [cell.strip() for cell in next(csv.reader([line], delimiter=mark, skipinitialspace=True))]
        except csv.Error:
            return [cell.strip() for cell in line.split(mark)]
    return re.sub(r"\s+(?=\[)", "", line).split()  # a unit stays with its name
