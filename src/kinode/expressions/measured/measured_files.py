"""The one reader of measured data: the ending of a file's name says how it is read.

    .xlsx, .xlsm   Excel; ``file.xlsx#sheet`` or ``sheet=`` names one of several sheets
    .mat           MATLAB, versions 5 to 7.3: vectors of equal length, also within structs
    .parquet, .pq  Parquet
    others         text with columns separated by semicolons, tabs, commas or spaces

Nothing in a file is executed: formulas of Excel give the values that were stored with them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from kinode.errors import ModelError
from kinode.expressions.measured import binary_columns, workbook_columns
from kinode.expressions.measured.measured_columns import MeasuredColumns
from kinode.expressions.measured.text_columns import read_text_columns

LARGEST_FILE = 50_000_000  # bytes
_READERS: Mapping[str, Callable[[Path], MeasuredColumns]] = {
    ".mat": binary_columns.read_mat,
    ".parquet": binary_columns.read_parquet,
    ".pq": binary_columns.read_parquet,
}
_WORKBOOKS = (".xlsx", ".xlsm")
_OTHERS = {".xls": "the format of Excel before 2007", ".ods": "OpenDocument", ".xlsb": "a binary form of Excel"}
SUFFIXES = (".csv", ".tsv", ".txt", ".dat", *_WORKBOOKS, *_READERS)


def read_columns(path: str | os.PathLike[str], sheet: str | int | None = None) -> MeasuredColumns:
    """The columns of a file; ``sheet`` is a name or a number from 1, for Excel."""
    file, named = split_sheet(path)
    if named is not None and sheet is not None:
        raise ModelError(f"the name of the file has a sheet, {named!r}, and sheet= another", file=str(file))
    sheet = named if sheet is None else sheet
    suffix = file.suffix.lower()
    try:
        if file.is_dir():
            raise ModelError("cannot be read: it is a folder", file=str(file))
        if file.stat().st_size > LARGEST_FILE:
            raise ModelError(f"the file is larger than {LARGEST_FILE // 1_000_000} MB", file=str(file))
    except OSError as error:
        raise ModelError(f"the file cannot be read: {error.strerror}", file=str(file)) from None
    if suffix in _OTHERS:
        raise ModelError(f"this is {_OTHERS[suffix]}, which is not read; save it as .xlsx or .csv", file=str(file))
    if suffix in _WORKBOOKS:
        return workbook_columns.read_workbook(file, sheet)
    if sheet is not None:
        raise ModelError(f"there are no sheets in a {suffix or 'text'} file; sheet= is for Excel", file=str(file))
    return _READERS.get(suffix, read_text_columns)(file)


def split_sheet(path: str | os.PathLike[str]) -> tuple[Path, str | None]:
    """A file, and the sheet behind ``#`` in its name."""
    text = os.fspath(path)
    before, mark, after = text.rpartition("#")
    if mark and before.lower().endswith(_WORKBOOKS) and not Path(text).exists():
        return Path(before), after
    return Path(text), None
