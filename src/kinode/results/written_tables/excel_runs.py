"""``run.to_excel``: a sheet that says what run it is, then one sheet for each component, with units in the headings."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from kinode.algebra.scalars import Array
from kinode.atomic_files import write_bytes
from kinode.errors import ArgumentError
from kinode.optional_packages import need
from kinode.results.written_tables.written_columns import by_component, chosen_names, columns_of, facts_of, values_of

if TYPE_CHECKING:
    from kinode.results.trajectory import Trajectory

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
    title, count = plain, 1
    while title.lower() in taken:
        count += 1
        end = f" ({count})"
        title = plain[: LONGEST_TITLE - len(end)] + end
    taken.add(title.lower())
    return title
