"""Runs as tables for other programs: columns with headings and units, ``run.to_excel`` and ``run.to_mat``.

Excel: a sheet that says what run it is, then one sheet for each component, with units in the headings.

MAT, for MATLAB and Octave: ``t`` are the times; one struct for each component, ``elbow.q`` and
``elbow.reaction_force`` are matrices with a row for each time.  The structs ``units`` and ``names`` have the same
fields with the unit and the name in kinode; ``run`` says what run it is.  The files have version 5, in which a variable
has less than 2 GB.
"""

from __future__ import annotations

import io
import keyword
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.atomic_files import write_bytes
from kinode.errors import ArgumentError
from kinode.model.base.parameters import is_hidden
from kinode.model.component_store import claim_name
from kinode.model.quantities import find_expression, find_quantity, unit_of
from kinode.ode.input_table import split_inputs
from kinode.optional_packages import need
from kinode.results.run_quantities import table_names
from kinode.version import __version__

if TYPE_CHECKING:
    from kinode.results.trajectory import Trajectory


EXPRESSIONS = "expressions"  # where quantities belong that are calculated from those of several components


def chosen_names(run: Trajectory, names: Iterable[str] | None) -> list[str]:
    """The quantities of a table; without names those of ``table_names``."""
    if names is None:
        return table_names(run.dynamics)
    listed = [names] if isinstance(names, str) else list(names)
    if not all(isinstance(name, str) for name in listed):
        raise ArgumentError(f"names of quantities are expected, not {listed!r:.80}")
    return listed


def columns_of(run: Trajectory, name: str, values: Array) -> Iterator[tuple[str, Array]]:
    """Heading and values of each column of a quantity: ``elbow.reaction.force.x [N]``."""
    units, parts = run.units(name), run.parts(name)
    less = "".join(f", without {load}" for load in run.left_out(name))
    if values.ndim == 1:
        yield f"{name} [{units}{less}]", values
        return
    head, at, axes = name.partition("@")
    flat = values.reshape(len(values), -1)
    for k, part in enumerate(parts):
        yield f"{head}.{part}{at}{axes} [{units if isinstance(units, str) else units[k]}{less}]", flat[:, k]


def by_component(run: Trajectory, names: Iterable[str]) -> dict[str, list[str]]:
    """The names by the component that each belongs to."""
    found: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        if find_expression(run.system, name) is not None:
            owner = EXPRESSIONS
        else:
            owner = find_quantity(run.system, name).owner or name
        found.setdefault(owner, []).append(name)
    return found


def facts_of(run: Trajectory) -> dict[str, Any]:
    """What run it is: the model, how it ended, how it was computed."""
    facts: dict[str, Any] = {
        "model": run.system.name, "program": f"kinode {__version__}", "status": run.status, "message": run.message,
        "times": len(run.t),
    }  # fmt: skip
    if len(run.t):
        facts |= {"from [s]": float(run.t[0]), "to [s]": float(run.t[-1])}
    known = {key: value for key, value in run.facts.items() if isinstance(value, str | int | float)}
    return facts | known


def values_of(run: Trajectory) -> Mapping[str, list[tuple[str, float, str]]]:
    """Parameters and inputs of a run: name, value, unit; of an input over time the value at the start."""
    topology = run.dynamics.topology
    row, _ = split_inputs(run.inputs)
    given = {"parameters": (topology.parameters, run.p), "inputs": (topology.inputs, row)}
    return {
        word: [
            (name, float(value), str(unit_of(run.system, name)))
            for name, value in zip(names, values, strict=True)
            if not is_hidden(name)
        ]
        for word, (names, values) in given.items()
    }


MOST_ROWS, MOST_COLUMNS = 1_048_576, 16_384  # of a sheet
LONGEST_TITLE = 31
FIRST = "run"


def to_excel(run: Trajectory, path: str | os.PathLike[str], names: Iterable[str] | None) -> None:
    """Write quantities over time as an Excel file; what does not fit a sheet is refused before it is computed."""
    openpyxl = need("openpyxl", "excel", "to_excel")
    if not os.fspath(path).lower().endswith(".xlsx"):
        raise ArgumentError(f"to_excel: the name of the file ends with .xlsx, not {os.path.basename(path)!r}")
    if len(run.t) > MOST_ROWS - 1:
        raise ArgumentError(
            f"to_excel: {len(run.t):,} times are more than the {MOST_ROWS - 1:,} rows below the heading of a sheet; "
            "keep fewer (samples=, every=), or write to_csv or to_mat"
        )
    listed = chosen_names(run, names)
    values = run.evaluate(listed)
    tables = {
        component: [column for name in own for column in columns_of(run, name, values[name])]
        for component, own in by_component(run, listed).items()
    }
    for component, columns in tables.items():
        if len(columns) + 1 > MOST_COLUMNS:
            message = f"{len(columns) + 1:,} columns are more than the {MOST_COLUMNS:,} of a sheet"
            raise ArgumentError(f"to_excel: {component}: {message}; name fewer quantities")
    book = openpyxl.Workbook(write_only=True)
    titles = {FIRST}
    sheet = book.create_sheet(FIRST)
    sheet.column_dimensions["A"].width = sheet.column_dimensions["B"].width = 24
    _write_facts(sheet, run)
    for component, columns in tables.items():
        _write_sheet(book.create_sheet(_title(component, titles)), run.t, columns)
    buffer = io.BytesIO()
    book.save(buffer)
    write_bytes(path, buffer.getvalue())


def _write_facts(sheet: Any, run: Trajectory) -> None:
    for name, value in facts_of(run).items():
        sheet.append([_text(sheet, name), _cell(sheet, value)])
    for word, entries in values_of(run).items():
        if entries:
            sheet.append([])
            sheet.append([_text(sheet, x, bold=True) for x in (word, "value", "unit")])
        for name, value, unit in entries:
            sheet.append([_text(sheet, name), value, _text(sheet, unit)])


def _write_sheet(sheet: Any, t: Array, columns: list[tuple[str, Array]]) -> None:
    headings = ["t [s]", *(heading for heading, _ in columns)]
    for k, heading in enumerate(headings):
        sheet.column_dimensions[_letter(k)].width = max(12, len(heading) + 2)
    sheet.freeze_panes = "B2"
    sheet.page_setup.orientation = "landscape"
    sheet.print_title_rows, sheet.print_title_cols = "1:1", "A:A"  # on every page
    sheet.append([_text(sheet, heading, bold=True, right=True) for heading in headings])
    for row in zip(t.tolist(), *(values.tolist() for _, values in columns)):
        sheet.append([x if math.isfinite(x) else None for x in row])


def _letter(index: int) -> str:
    from openpyxl.utils import get_column_letter

    return str(get_column_letter(index + 1))


def _cell(sheet: Any, value: Any) -> Any:
    return _text(sheet, value) if isinstance(value, str) else value


def _text(sheet: Any, text: str, *, bold: bool = False, right: bool = False) -> Any:
    """A cell of text, also where the text would be read as a formula."""
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Alignment, Font

    printable = "".join(x for x in text if x >= " " or x in "\t\n")[:32_767]
    cell = WriteOnlyCell(sheet, printable)
    cell.data_type = "s"
    if bold:
        cell.font = Font(bold=True)
    if right:  # as the numbers below
        cell.alignment = Alignment(horizontal="right")
    return cell


def _title(component: str, taken: set[str]) -> str:
    """A name of a sheet that Excel takes: short, without its special signs, no two alike but for case."""
    plain = "".join("_" if x in "[]:*?/\\'" else x for x in component)[:LONGEST_TITLE] or "_"
    plain = "history_" if plain.lower() == "history" else plain  # Excel keeps this name for itself
    return claim_name(plain, taken, LONGEST_TITLE, " ({})", str.lower)


LONGEST_NAME = 63
LARGEST = 2**31 - 2**20  # bytes of a variable
RESERVED = ("t", "units", "names", "run")
MATLAB_WORDS = frozenset(
    [
        "break",
        "case",
        "catch",
        "classdef",
        "continue",
        "else",
        "elseif",
        "end",
        "for",
        "function",
        "global",
        "if",
        "otherwise",
        "parfor",
        "persistent",
        "return",
        "spmd",
        "switch",
        "try",
        "while",
        "ans",
        "inf",
        "nan",
        "pi",
        "eps",
    ]
)


def to_mat(run: Trajectory, path: str | os.PathLike[str], names: Iterable[str] | None) -> None:
    """Write quantities over time as a MAT file; what does not fit one is refused."""
    from scipy.io import savemat

    if not os.fspath(path).lower().endswith(".mat"):
        raise ArgumentError(f"to_mat: the name of the file ends with .mat, not {os.path.basename(path)!r}")
    listed = chosen_names(run, names)
    values = run.evaluate(listed)
    data: dict[str, Any] = {"t": run.t.reshape(-1, 1), "run": _facts(run), "units": {"t": "s"}, "names": {"t": "t"}}
    variables = set(RESERVED)
    for component, own in by_component(run, listed).items():
        variable, fields = matlab_name(component, variables), set[str]()
        data[variable] = struct = dict[str, Any]()
        data["units"][variable], data["names"][variable] = units, known = dict[str, str](), dict[str, str]()
        for name in own:
            short = name.removeprefix(f"{component}.").replace("@", "_in_")
            field = matlab_name(short, fields)
            struct[field] = _matrix(values[name])
            unit = run.units(name)
            units[field], known[field] = unit if isinstance(unit, str) else ", ".join(unit), name
        if sum(array.nbytes for array in struct.values()) > LARGEST:
            raise ArgumentError(f"to_mat: {component} has more than the 2 GB of a variable; keep fewer times")
    buffer = io.BytesIO()
    savemat(buffer, data, long_field_names=True, oned_as="column", do_compression=True)
    write_bytes(path, buffer.getvalue())


def _matrix(values: Any) -> Any:
    """A row for each time; a matrix at each time is a page of (time, row, column)."""
    array = np.asarray(values, dtype=float)
    return array.reshape(-1, 1) if array.ndim == 1 else array


def _facts(run: Trajectory) -> dict[str, Any]:
    taken: set[str] = set()
    facts: dict[str, Any] = {matlab_name(key, taken): value for key, value in facts_of(run).items()}
    for word, entries in values_of(run).items():
        fields: set[str] = set()
        facts[word] = {matlab_name(name, fields): value for name, value, _ in entries}
    return {key: value for key, value in facts.items() if value != {}}


def matlab_name(text: str, taken: set[str]) -> str:
    """A name that MATLAB takes, no two alike: letters, digits and underscores, beginning with a letter."""
    words = "".join(x if x.isascii() and x.isalnum() else " " for x in text).split()
    plain = "_".join(words) or "x"
    if not plain[0].isalpha() or plain in MATLAB_WORDS or keyword.iskeyword(plain):
        plain = f"x_{plain}"
    return claim_name(plain, taken, LONGEST_NAME)
