"""Matrices with names of rows and columns, as text: a table where it fits, else a list of the entries."""

from __future__ import annotations

from collections.abc import Sequence

from kinode.symbolic.formula_text import wrapped

GAP = "  "
ZERO = ("0", "0.0")


def write_matrix(
    title: str, cells: Sequence[Sequence[str]], rows: Sequence[str], columns: Sequence[str], width: int, *,
    by_column: bool = False,
) -> list[str]:  # fmt: skip
    """The lines of a matrix: a table with dots for zeros, or the entries by row, or ``by_column``."""
    lines = ["", f"{title}, {len(rows)} x {len(columns)}"]
    if all(cell in ZERO for row in cells for cell in row):
        return [*lines, GAP + "all zero"]
    shown = [["." if cell in ZERO else cell for cell in row] for row in cells]
    table = [["", *columns], *([name, *row] for name, row in zip(rows, shown, strict=True))]
    widths = [max(len(row[k]) for row in table) for k in range(len(table[0]))]
    if sum(widths) + len(GAP) * len(widths) <= width:
        return lines + [_table_row(row, widths) for row in table]
    if by_column:
        shown, rows, columns = [list(column) for column in zip(*shown, strict=True)], columns, rows
    size = max(len(name) for name in rows)
    for name, row in zip(rows, shown, strict=True):
        entries = [f"{column}: {cell}" for column, cell in zip(columns, row, strict=True) if cell != "."]
        lines += _listed(GAP + name.ljust(size) + GAP, entries, width)
    return lines


def write_vector(title: str, cells: Sequence[str], names: Sequence[str], width: int) -> list[str]:
    """The lines of a vector; zeros are left out."""
    entries = [(name, cell) for name, cell in zip(names, cells, strict=True) if cell not in ZERO]
    lines = [line for name, cell in entries for line in wrapped(f"{GAP}{name} = {cell}", width)]
    return ["", f"{title}, {len(names)} x 1", *(lines or [GAP + "all zero"])]


def _table_row(row: Sequence[str], widths: Sequence[int]) -> str:
    name, *cells = row
    aligned = [cell.rjust(size) for cell, size in zip(cells, widths[1:], strict=True)]
    return (GAP + name.ljust(widths[0]) + GAP + GAP.join(aligned)).rstrip()


def _listed(head: str, entries: Sequence[str], width: int) -> list[str]:
    """Entries after a name, separated by commas, on as many lines as they need; nothing if there are none."""
    lines: list[str] = []
    for k, entry in enumerate(entries):
        text = entry + ("," if k < len(entries) - 1 else "")
        if lines and len(lines[-1]) + 1 + len(text) <= width:
            lines[-1] += f" {text}"
        else:
            first, *rest = wrapped(text, max(width - len(head), 20))
            lines += [(" " * len(head) if lines else head) + first, *(" " * len(head) + line for line in rest)]
    return lines
