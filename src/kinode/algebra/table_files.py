"""Reading a table of one axis from a text file: two columns, the axis and the values, with or without a header."""

from __future__ import annotations

import math
import os
import re
from pathlib import Path

from kinode.errors import ModelError

LARGEST_FILE = 50_000_000


def read_table_file(path: str | os.PathLike[str]) -> tuple[tuple[tuple[float, ...]], tuple[float, ...]]:
    """Axes and values of a file of two columns, between which stands a comma, a semicolon, a tab or a space.

    Lines that are empty or begin with # are left out.  ``Table(name, *read_table_file(path))`` makes the table.
    """
    file = os.fspath(path)
    axis: list[float] = []
    values: list[float] = []
    may_be_header = True
    for line, text in enumerate(_read_text(file).splitlines(), start=1):
        text = text.strip()
        if not text or text.startswith("#"):
            continue
        cells = _split(text)
        if len(cells) != 2:
            raise ModelError(_count_message(text, len(cells)), file=file, line=line)
        numbers = [_read_number(cell) for cell in cells]
        if may_be_header and numbers == [None, None]:
            may_be_header = False
            continue
        may_be_header = False
        for cell, number in zip(cells, numbers, strict=True):
            if number is None:
                raise ModelError(f"{cell!r} is not a finite number", file=file, line=line)
        x, value = (number for number in numbers if number is not None)
        if axis and x <= axis[-1]:
            raise ModelError(f"the axis must increase: {x:.12g} follows {axis[-1]:.12g}", file=file, line=line)
        axis.append(x)
        values.append(value)
    if len(axis) < 2:
        raise ModelError(f"a table needs at least 2 points; there are {len(axis)}", file=file)
    return (tuple(axis),), tuple(values)


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


def _count_message(text: str, count: int) -> str:
    said = f"a table file has 2 columns, this line {count}"
    if "," in text and count in (3, 4):
        return f"{said}; decimals follow a point"
    return f"{said}; tables of more axes are given by values"


def _read_number(cell: str) -> float | None:
    if not re.fullmatch(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", cell, re.ASCII):
        return None
    value = float(cell)
    return value if math.isfinite(value) else None
