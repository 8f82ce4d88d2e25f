"""Columns of measured data: names and units from their headings, numbers in SI when they are asked for.

Every heading of a table, a record or an input is read here, of files and of what Python gives.  A heading may end with
a unit: ``angle [deg]``, ``angle (deg)``, ``angle/deg``, ``angle deg``, ``angle in deg``; or all units stand in a row of
their own below the names.  Whoever names a column may add the unit of its numbers: ``"angle deg"`` is the column angle,
in degrees.  A heading that is named letter for letter comes before a name and a unit.  A unit behind an underscore is
never read, since names end so too (``valve_in``, ``u_N``, ``v_km/h``): a warning says what to write, and so it does
where a heading has a unit that is not written as one (``n U/min``, ``a (deg/s2)``).

Errors name the file, the sheet, the column and the row.
"""

from __future__ import annotations

import datetime
import math
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ModelError, UnitError, caller_depth, find_close, suggest
from kinode.expressions.units import (
    Quantity,
    check_dimension,
    find_meant_unit,
    find_unit_name,
    find_unit_word,
    parse_quantity,
    parse_unit,
)

LARGEST_TABLE = 20_000_000  # cells
_BRACKETS = re.compile(r"^(?P<name>.*?)\s*/?\s*\[(?P<unit>[^\]]*)\]$")
_PARENTHESES = re.compile(r"^(?P<name>.*?\S)\s*/?\s*\((?P<unit>[^()]+)\)$")
_LOOSE = re.compile(r"(?P<slash>\s*/\s*)|\s+(?:in\s+(?=\S))?")  # between a name and a unit without brackets
_WORDS = ("in", "min")  # units that are words too
_PER = ("s", "ms", "h", "min")  # what v_km_h ends with
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_MARKS = re.compile(r"[_\s()\[\]{}<>|,;:]+")  # between the words of a heading
_NO_UNIT = ("", "-", "1")

Row = tuple[int, Sequence[Any]]  # number of the line or row in the file, cells


@dataclass(frozen=True, eq=False)
class MeasuredColumn:
    """One column: its heading as it stands, the name and the unit in it, and its cells as they were read.

    ``said`` is whether the caller told the unit; ``whole``, whether the caller named the column letter for letter by a
    heading whose unit is not in brackets, which may then be a name and no unit.
    """

    heading: str
    name: str
    unit: str | None
    cells: Any  # a sequence or an array
    said: bool = False
    whole: bool = False

    @classmethod
    def of(cls, heading: str, cells: Any, unit: Any = None) -> MeasuredColumn:
        """A column from its heading, and its unit where that stands elsewhere; dates and durations become seconds."""
        name, own = split_heading(heading)
        if hasattr(cells, "dtype"):
            array = np.asarray(cells)
            if array.dtype.kind in "mM":
                array = (array - array[:1] if array.dtype.kind == "M" else array) / np.timedelta64(1, "s")
                own, unit = None, "s"
            cells = array if array.dtype.kind in "fiub" else array.tolist()
        told = unit.strip() if isinstance(unit, str) and unit.strip() not in _NO_UNIT else None
        return cls(heading, name or heading, own if told is None else find_unit_word(told) or told, cells)

    def told(self, unit: str) -> MeasuredColumn:
        """The column with the unit that the caller tells, if there is one."""
        return replace(self, unit=unit, said=True) if unit else self


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

    def find(self, text: str, among: Sequence[MeasuredColumn] | None = None) -> MeasuredColumn:
        """The column that a text names: by its heading or its name, with the unit of its numbers if need be."""
        column, words = self.match(text, among)
        return column.told(" ".join(words))

    def match(self, text: str, among: Sequence[MeasuredColumn] | None = None) -> tuple[MeasuredColumn, tuple[str, ...]]:
        """The column that a text begins with, and the words after it: ``"angle_deg deg"``."""
        columns = self.columns if among is None else among
        for name, words in _readings(text):
            fits = [column for column in columns if column.heading == name]
            fits = fits or [column for column in columns if column.name == name]
            if len(fits) == 1:
                whole = (
                    not words and name != fits[0].name and not _BRACKETS.match(name) and not _PARENTHESES.match(name)
                )
                return replace(fits[0], whole=whole), words
            if fits:
                headings = ", ".join(column.heading for column in fits)
                raise self.error(f"several columns are called {name!r}: {headings}", self.heading_row or None)
            if name in self.left_out:
                raise self.error(f"{name!r} {self.left_out[name]}", None)
        name = split_heading(text)[0]
        if not self.headed:
            first = "line" if self.by_line else "row"
            raise self.error(f"no column is called {name!r}: the first {first} is no header", self.heading_row)
        message = f"{'no column is' if among is None else 'no column of values is'} called {name!r}"
        names = [column.name for column in columns]
        advice = suggest(message, name, find_close(name, names, 3), otherwise=f"; there are {', '.join(names)}")
        raise self.error(advice, self.heading_row or None)

    def numbers(self, column: MeasuredColumn, *, missing: bool = False) -> Array:
        """The numbers of a column as they stand; with ``missing``, empty cells are not-a-number."""
        array = _fast_numbers(column.cells)
        if array is None or not (missing or np.isfinite(array).all()):
            array = np.array([self._number(cell, k, column, missing) for k, cell in enumerate(column.cells)])
        return array

    def numbers_in_si(
        self, column: MeasuredColumn, expected: str | None = None, *, place: str = "", missing: bool = False
    ) -> Array:
        """The numbers of a column in SI units; ``missing`` as of ``numbers``, the rest as of ``settle``."""
        column = self.settle(column, expected, place)
        values = self.numbers(column, missing=missing)
        if column.unit is None:
            return values
        scale, offset = find_scale(column.unit)
        return values * scale + offset

    def settle(self, column: MeasuredColumn, expected: str | None = None, place: str = "") -> MeasuredColumn:
        """The column with the unit that counts, or none.

        Parameters
        ----------
        column : MeasuredColumn
        expected : str, optional
            The SI unit of the quantity that it holds, if that is known; a unit of another dimension is refused, unless
            the heading was named letter for letter: then it is a name.
        place : str
            The argument that names the column, for the warning of a heading whose unit is not read.

        Returns
        -------
        MeasuredColumn
        """
        unit, heading, doubt = column.unit, column.heading, ""
        if unit is None or (column.whole and not expected and unit in _WORDS):
            hint = unit or (None if column.said else find_hint(column.name, expected))
            if hint is not None:
                doubt = f"; if they are in {hint}, write {place}{f'{heading} {hint}'!r}"
                doubt += f", and {f'{heading} {expected}'!r} if not" if expected else ""
        else:
            try:
                find_scale(unit, expected)
                return replace(column, said=True, whole=False)
            except UnitError as error:
                if not column.whole:
                    raise self.error(f"column {column.name!r}: {error}", self.heading_row or None) from None
            doubt = f", since {unit} is no unit of that; write {place}{f'{heading} {expected}'!r} if that is right"
        if doubt:
            taken = f"the numbers of {heading!r} are taken {f'in {expected}' if expected else 'as they stand'}"
            warnings.warn(f"{self.file}: {taken}{doubt}", UserWarning, stacklevel=caller_depth())
        return replace(column, name=heading if column.whole else column.name, unit=None, said=True)

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


def find_scale(unit: str, expected: str | None = None) -> tuple[float, float]:
    """How numbers of a unit become SI: factor and offset; a UnitError where it is none, or not of what is expected."""
    zero, one = parse_quantity(f"0 {unit}"), parse_quantity(f"1 {unit}")
    if zero is None or one is None:
        raise UnitError(f"{unit!r} is no unit")
    if expected:
        _check_unit(one, unit, expected)
    return one.value_si - zero.value_si, zero.value_si


def _check_unit(one: Quantity, unit: str, expected: str) -> None:
    wanted = parse_quantity(f"1 {expected}")
    if wanted is not None and wanted.dimension != one.dimension:
        raise UnitError(f"{unit!r} is no unit of what is measured in {expected}")
    if one.cycles and wanted is not None and not wanted.cycles:
        check_dimension(one, find_unit_name(expected))


def split_heading(heading: str) -> tuple[str, str | None]:
    """The name in a heading, and its unit; outside of brackets a text counts where it is one."""
    text = heading.strip()
    match = _BRACKETS.match(text)
    if match is not None:
        unit = match["unit"].split(",")[0].strip()
        return match["name"], None if unit in _NO_UNIT else unit
    match = _PARENTHESES.match(text)
    if match is not None and _is_unit(match["unit"].strip()):
        return match["name"], match["unit"].strip()
    for mark in _LOOSE.finditer(text):  # the longest unit first: "torque N m"
        name, unit = text[: mark.start()], text[mark.end() :]
        if name and not (mark["slash"] and _is_ratio(name, unit)) and _is_unit(unit):
            return name, unit
    return text, None


def _is_ratio(name: str, unit: str) -> bool:
    """Whether a slash stands within a unit and not before it: in km/h, 1/min, v_km/h, "n U/min", not in t/ms."""
    above = re.split(r"[_\s]", name)[-1]
    is_alone = len(name) == 1 and name != "1"
    return find_unit_word(f"{above}/{unit}") is not None or (not is_alone and (above == "1" or _is_unit(above)))


def _readings(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The ways to read a text that names a column: a heading, or a name and words such as a unit."""
    text = text.strip()
    yield text, ()
    words = () if text.endswith(("]", ")")) else text.split()
    for count in range(1, len(words)):
        behind = words[-count:]
        yield text.rsplit(None, count)[0], tuple(behind[1:] if count > 1 and behind[0] == "in" else behind)
    name, unit = split_heading(text)
    if unit is not None:
        yield name, (unit,)


def find_hint(name: str, expected: str | None = None) -> str | None:
    """A unit other than SI that a heading suggests where none is read: behind an underscore, or misspelt; or all of it.

    >>> [find_hint(name) for name in ("v_km_h", "angle_in_deg", "n (RPM)", "a mm/s2", "lift [mm] left")]
    ['km/h', 'deg', 'rpm', 'mm/s^2', 'mm']
    """
    words = [word for word in _MARKS.split(name) if word]
    texts = re.findall(r"\[([^\]]+)\]", name)
    most = min(3, len(words) - 1) or len(name) > 1  # words of the unit; before it stands a name
    for count in range(most, 0, -1):
        last = words[-count:]
        marks = ("/", "*") if last[-1] in _PER else ("*", "/")
        texts += [mark.join(("*".join(last[:-1]), last[-1])) for mark in marks] if count > 1 else last
    texts.sort(key=lambda text: text.startswith(("in*", "in/")))  # angle_in_deg before torque_in_lbf
    texts += [text.rpartition("/")[2] for text in words[-1:] if "/" in text]
    for unit in filter(None, map(find_meant_unit, texts)):
        try:
            if unit not in _NO_UNIT and find_scale(unit, expected) != (1.0, 0.0):
                return unit
        except UnitError:
            continue
    return None


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
        columns.append(MeasuredColumn.of(heading or str(k + 1), [cells[k] for _, cells in body], units[k]))
    return MeasuredColumns(file, sheet, tuple(columns), [row for row, _ in body], first, headed, by_line, {})


def _is_row_of_units(cells: Sequence[Any]) -> bool:
    """Whether every cell is a unit in brackets, or empty."""
    texts = [cell.strip() for cell in cells if not is_empty(cell) and isinstance(cell, str)]
    full = [cell for cell in cells if not is_empty(cell)]
    return bool(texts) and len(texts) == len(full) and all(re.fullmatch(r"\[[^\]]*\]", text) for text in texts)
