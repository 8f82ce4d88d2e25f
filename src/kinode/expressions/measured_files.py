"""Files of measured data: the ending of a file's name says how it is read.

    .xlsx, .xlsm   Excel; ``file.xlsx#sheet`` or ``sheet=`` names one of several sheets
    .mat           MATLAB, versions 5 to 7.3: vectors of equal length, also within structs
    .parquet, .pq  Parquet
    others         text with columns separated by semicolons, tabs, commas or spaces

Nothing in a file is executed: formulas of Excel give the values that were stored with them.

Text: lines that begin with # are comments.  Between semicolons decimals may follow a comma, as programs in many
countries write them: where no number of the file has a point.  A first line ``sep=;`` is Excel's, and names the
separator.

Excel (openpyxl): rows above the table with fewer than two cells are titles.  The table ends at the first row below it
that is empty; numbers that go on behind it are an error, and no end.  Columns of numbers without a heading, such as
those under merged cells, count.  A cell that is shown in per cent holds its hundredth.

MAT: the vectors of one length are columns: that of a vector called t or time, else the most frequent.  Those in structs
are called ``run.elbow.q``; the columns of a matrix ``force.1``, ``force.2`` ...  A struct ``units`` has units under the
same names, as ``run.to_mat`` writes them.  In a Parquet file units stand in the names, or in the metadata of a column
as ``units`` or ``unit``.
"""

from __future__ import annotations

import csv
import os
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from kinode.errors import ModelError
from kinode.expressions.measured_columns import (
    LARGEST_TABLE,
    MeasuredColumn,
    MeasuredColumns,
    Row,
    compose_rows,
    is_empty,
    read_number,
)
from kinode.optional_packages import need

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


_TIMES = ("t", "time")


def read_mat(path: Path) -> MeasuredColumns:
    """The vectors of a MAT file."""
    from scipy.io import loadmat

    file = str(path)
    try:
        with path.open("rb") as stream:
            is_hdf = b"MATLAB 7.3" in stream.read(128)
        values = _read_hdf(path) if is_hdf else loadmat(path, simplify_cells=True)
    except Exception as error:  # a file that others made: whatever the readers stumble over
        raise ModelError(f"is no MAT file that can be read: {error}", file=file) from None
    values = {name: value for name, value in values.items() if isinstance(name, str) and not name.startswith("__")}
    units = values.pop("units") if isinstance(values.get("units"), Mapping) else {}
    return _compose(file, dict(_leaves(values, "")), dict(_leaves(units, "")))


def _leaves(values: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    """All that is no struct, by its dotted name."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _compose(file: str, values: Mapping[str, Any], units: Mapping[str, Any]) -> MeasuredColumns:
    vectors, left_out = {}, {}
    for name, value in values.items():
        array = np.asarray(value)
        if array.dtype.kind in "fiub" and array.ndim in (1, 2) and array.size > 1:
            vectors[name] = array
        else:
            left_out[name] = "is no vector of numbers"
    length = _find_length(vectors)
    columns = []
    for name, array in vectors.items():
        own = units.get(name)
        if len(array) != length:
            left_out[name] = f"has {len(array)} rows, and the others {length}"
        elif array.ndim == 1:
            columns.append(MeasuredColumn.of(name, array, own))
        else:
            names = [f"{name}.{k + 1}" for k in range(array.shape[1])]
            columns += [MeasuredColumn.of(each, array[:, k], own) for k, each in enumerate(names)]
    if not columns:
        raise ModelError("holds no vectors of numbers; tables and objects of MATLAB are saved as structs", file=file)
    return MeasuredColumns(file, "", tuple(columns), range(1, length + 1), 0, True, False, left_out)


def _find_length(vectors: Mapping[str, Any]) -> int:
    for name, array in vectors.items():
        if name.rpartition(".")[2] in _TIMES:
            return len(array)
    counts = Counter(len(array) for array in vectors.values())
    return counts.most_common(1)[0][0] if counts else 0


def _read_hdf(path: Path) -> dict[str, Any]:
    """Variables of a file of version 7.3, as loadmat gives those of earlier ones: no references, no objects."""
    import h5py

    def read(group: Any) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, item in group.items():
            if name.startswith("#"):
                continue
            if isinstance(item, h5py.Group):
                found[name] = read(item)
            elif item.size <= LARGEST_TABLE:
                value = item[()].T
                is_text = item.attrs.get("MATLAB_class") == b"char"
                found[name] = "".join(map(chr, value.ravel())) if is_text else _squeezed(value)
        return found

    with h5py.File(path, "r") as opened:
        return read(opened)


def _squeezed(value: Any) -> Any:
    array = np.asarray(value)
    return array.ravel() if array.ndim == 2 and 1 in array.shape else array


def read_parquet(path: Path) -> MeasuredColumns:
    """The columns of a Parquet file."""
    parquet = need("pyarrow.parquet", "parquet", f"{path.name}: a Parquet file")
    file = str(path)
    try:
        opened = parquet.ParquetFile(path)
        if opened.metadata.num_rows * opened.metadata.num_columns > LARGEST_TABLE:
            raise ModelError(f"has more than {LARGEST_TABLE:,} cells", file=file)
        table = opened.read()
    except ModelError:
        raise
    except Exception as error:  # a file that others made: whatever the reader stumbles over
        raise ModelError(f"is no Parquet file that can be read: {error}", file=file) from None
    columns = [
        MeasuredColumn.of(field.name, _cells(values), _unit_of(field))
        for field, values in zip(table.schema, table.columns, strict=True)
    ]
    return MeasuredColumns(file, "", tuple(columns), range(1, table.num_rows + 1), 0, True, False, {})


def _unit_of(field: Any) -> str:
    metadata: Mapping[bytes, bytes] = field.metadata or {}
    return (metadata.get(b"units") or metadata.get(b"unit") or b"").decode("utf-8", "replace")


def _cells(values: Any) -> Any:
    """The cells of a column: an array where all are numbers, else a list with None for what is missing."""
    to_numpy: Callable[[], Any] = values.to_numpy
    array = to_numpy() if not values.null_count else None
    return array if array is not None and array.dtype.kind in "fiu" else values.to_pylist()


LARGEST_FILE = 50_000_000  # bytes
_READERS: Mapping[str, Callable[[Path], MeasuredColumns]] = {
    ".mat": read_mat,
    ".parquet": read_parquet,
    ".pq": read_parquet,
}
_WORKBOOKS = (".xlsx", ".xlsm")
_OTHERS = {".xls": "the format of Excel before 2007", ".ods": "OpenDocument", ".xlsb": "a binary form of Excel"}


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
        return read_workbook(file, sheet)
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
