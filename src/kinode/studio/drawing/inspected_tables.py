"""Lookup tables for the inspector: their cells as written, and curves that show how they go on between and outside.

============= ======== ==========================================================================================
kind          fields   answer
============= ======== ==========================================================================================
inspect_table name     table: axes, values, method, outside, file, line, curves; or why it cannot be shown as cells
============= ======== ==========================================================================================
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.errors import ArgumentError, Error
from kinode.expressions.lookup_tables import METHODS, OUTSIDE, Table
from kinode.formats.yaml_text import plain_value
from kinode.studio.drawing.checked_model import CheckedVersion, places_in
from kinode.studio.drawing.kind_boxes import Plain
from kinode.studio.live_pages.session import Answer, Job

if TYPE_CHECKING:
    from kinode.studio.drawing.studio_desk import StudioDesk

BEYOND = 0.2  # of the length of an axis: how far outside of it a curve is drawn
POINTS = 161
MOST_CURVES = 12
MOST_CELLS = 4000


def add_table_answers(desk: StudioDesk) -> None:
    """Let a desk answer about tables."""

    def answer(job: Job) -> Answer:
        return {"table": inspect_table(desk.checked(), job.fields.get("name"))}

    desk.session.handle("inspect_table", answer, lane="inspect_table")


def inspect_table(found: CheckedVersion, name: Any) -> Plain:
    """A table of the text; what is wrong with it stands at its cells, and it is drawn where it is right."""
    node = places_in(found.of.text).root.find("tables", name) if isinstance(name, str) else None
    if node is None:
        raise ArgumentError(f"there is no table {name!r:.60}")
    raw = plain_value(node)
    given = raw if isinstance(raw, dict) else {}
    table = found.system.tables.get(name)
    axes, values = _axes(given.get("axes")), given.get("values")
    reason = _why_no_cells(given, axes, values, () if table is None else table.columns)
    return {
        "name": name, "line": node.line, "method": given.get("method") or METHODS[0], "methods": list(METHODS),
        "outside": given.get("outside") or OUTSIDE[0], "outsides": list(OUTSIDE), "file": given.get("file") or "",
        "axes": [] if reason else axes, "values": [] if reason else _rows(axes, values), "reason": reason,
        "curves": [] if table is None else find_curves(table), "broken": found.checked.broken.get(name, ""),
    }  # fmt: skip


def _axes(raw: Any) -> list[list[Any]]:
    if not isinstance(raw, list) or not raw:
        return []
    return [list(axis) for axis in raw] if all(isinstance(axis, list) for axis in raw) else [list(raw)]


def _why_no_cells(given: Plain, axes: list[list[Any]], values: Any, columns: tuple[str, ...]) -> str:
    """Why a table is not shown as cells; empty where it is.  Of a file, the columns and the units that were read."""
    if given.get("file"):
        return f"Its numbers are in the file {given['file']}{': ' if columns else ''}{'; '.join(columns)}."
    if len(axes) > 2:
        return f"It has {len(axes)} axes: its numbers are in the text."
    if not axes or not isinstance(values, list):
        return "It has no axes or values yet: write them in the text."
    if math.prod(len(axis) for axis in axes) > MOST_CELLS:
        return "It is too large for a grid: its numbers are in the text."
    return ""


def _rows(axes: list[list[Any]], values: Any) -> list[list[Any]]:
    """The values as rows: one for each point of the first axis; what is missing is None."""
    width = 1 if len(axes) == 1 else len(axes[1])
    nested = any(isinstance(row, list) for row in values)
    flat = [cell for row in values for cell in (_padded(row, width) if isinstance(row, list) else [row])]
    if len(axes) == 1 and nested:
        flat = [row[0] if isinstance(row, list) and row else None for row in values]
    cells = [*flat, *[None] * (len(axes[0]) * width - len(flat))]
    return [cells[k * width : (k + 1) * width] for k in range(len(axes[0]))]


def _padded(row: list[Any], width: int) -> list[Any]:
    return [*row[:width], *[None] * (width - len(row))]


def find_curves(table: Table) -> list[Plain]:
    """The table over its last axis, between its points and outside; one curve for each point of the first of two."""
    if len(table.axes) > 2:
        return []
    along = table.axes[-1]
    length = along[-1] - along[0]
    beyond = 0.0 if table.outsides[-1] == "error" else BEYOND * length
    x = np.unique([*np.linspace(along[0] - beyond, along[-1] + beyond, POINTS), *along])
    first = [()] if len(table.axes) == 1 else [(value,) for value in table.axes[0]]
    curves = []
    for at in first[:: max(1, -(-len(first) // MOST_CURVES))]:
        try:
            y = [float(table.evaluate(*at, float(value))) for value in x]
        except (Error, ArithmeticError):
            return []
        small = 1e-12 * max((abs(v) for v in y if math.isfinite(v)), default=0.0)  # rounding of splines
        shown = [None if not math.isfinite(v) else 0.0 if abs(v) <= small else v for v in y]
        curves.append({"at": list(at), "x": x.tolist(), "y": shown})
    return curves
