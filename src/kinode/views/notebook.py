"""What a notebook shows of systems, runs and loads: their sheets, in HTML.

Nothing long is computed here; a run shows what it has stored.
"""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import Error
from kinode.kernels.state import Wrench
from kinode.model.summary import list_sections, list_totals
from kinode.model.system import System
from kinode.results.run_summary import coordinates_table, events_table
from kinode.results.trajectory import Trajectory
from kinode.sheets.markup import MOST_ROWS, Markup, folded, notebook, tag
from kinode.sheets.tables import Sheet, Table, number, word_table
from kinode.views.diagram.circuit_diagram import diagram

MOST_DRAWN = 40  # components of a circuit that is drawn


def notebook_html(thing: System | Trajectory | Wrench) -> str:
    """What a notebook shows of a system, a run or a load."""
    return notebook(_sheet(thing))


@singledispatch
def _sheet(thing: object) -> Sheet:
    raise TypeError(f"a notebook shows {type(thing).__name__} as text")


@_sheet.register
def _system(system: System) -> Sheet:
    sections = [word_table(("", ""), rows, title) for title, rows in list_sections(system)]
    notes = tag("ul", *(tag("li", note) for note in system.notes[:MOST_ROWS]))
    last = [folded("notes", len(system.notes), notes)] if system.notes else []
    return Sheet(system.name, parts=[*list_totals(system), *_drawn(system), *sections, *last])


def _drawn(system: System) -> list[Markup]:
    """The circuit diagram of a system that is small enough to be drawn at once."""
    if not 0 < len(system.components) <= MOST_DRAWN:
        return []
    try:
        picture = Markup(diagram(system, legend=False).svg)
    except Error:  # the system is not complete yet
        return []
    style = "max-width: 100%; overflow: auto; background: white; color: black"
    return [folded("circuit", 1, tag("div", picture, style=style))]


@_sheet.register
def _trajectory(run: Trajectory) -> Sheet:
    span = (
        f": {number(float(run.t[0]))} to {number(float(run.t[-1]))} s, {len(run)} times" if len(run) else ": no times"
    )
    facts = run.facts
    how = [str(facts["method"])] if "method" in facts else []
    how += [f"{name} {facts[name]:g}" for name in ("rtol", "atol", "step") if isinstance(facts.get(name), float)]
    how += [f"{facts['steps']} steps"] if "steps" in facts else []
    tables = [coordinates_table(run), events_table(run.events).pick((0, 1, 4))]
    shown = [table for table in tables if table.rows]
    example = tables[0].rows[0][0] if tables[0].rows else "t"
    last = f'{len(run.names())} quantities: run["{example}"], run.names(); run.plot(), run.audit'
    return Sheet(run.system.name, span, [f"{run.status}: {run.message}", ", ".join(how), *shown, last])


@_sheet.register
def _wrench(wrench: Wrench) -> Sheet:
    flags = wrench.components or (not wrench.shared,) * 6
    left_out = getattr(wrench, "left_out", ())
    rows = []
    for k, (word, unit, values) in enumerate((("force", "N", wrench.force), ("moment", "N*m", wrench.moment))):
        marks = [number(x) + "*" * (not flag) for x, flag in zip(_shown(values), flags[3 * k : 3 * k + 3])]
        size = np.linalg.norm(np.atleast_2d(values), axis=1)
        rows.append((word, *marks, number(float(size.max(initial=0.0))), unit))
    several = np.ndim(wrench.force) > 1
    head = ("largest" if several else "", "x", "y", "z", "magnitude", "unit")
    where = f" on {wrench.on}, about {wrench.at}, in the axes of {wrench.frame}"
    notes = [f"{len(wrench.force)} times; largest by size, each component by itself"] if several else []
    if not all(flags):
        notes.append(f"* not determined by equilibrium alone{': ' * bool(wrench.shared)}{wrench.shared}")
    if left_out:
        notes.append(f"without {', '.join(left_out)}")
    return Sheet("Wrench", where, [Table(head, rows, "wnnnnu"), *notes])


def _shown(values: Array) -> list[float]:
    """The components; of several times, of each the value of largest size."""
    rows = np.atleast_2d(np.asarray(values, dtype=float))
    if not len(rows):
        return [0.0] * 3
    return [float(column[np.argmax(abs(column))]) for column in rows.T]
