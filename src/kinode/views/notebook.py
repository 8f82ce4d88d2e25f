"""What a notebook shows of systems and results: tables in HTML, for ``_repr_html_``.

All text is escaped.  Styles stand at the elements themselves, without colors: a notebook has its own, light or dark.
Nothing long is computed here; a run shows what it has stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import singledispatch

import numpy as np

from kinode.algebra.scalars import Array
from kinode.comparing.models import ModelComparison, describe_values
from kinode.dynamics.starts.assembly import Assembly
from kinode.errors import Error
from kinode.kernels.state import Wrench
from kinode.model.summary import list_sections, list_totals
from kinode.model.system import System
from kinode.results.compare import RunComparison
from kinode.results.energy_audit import Audit
from kinode.results.trajectory import Trajectory
from kinode.sheets.markup import Markup, join, tag
from kinode.studies.study import Study
from kinode.tasks.verify import Verification
from kinode.views.diagram.circuit_diagram import diagram
from kinode.views.style import number, pretty_unit, range_row

MOST_ROWS = 30  # of a table; more are counted
MOST_DRAWN = 40  # components of a circuit that is drawn
LEFT = "text-align: left; vertical-align: top; padding: 0.15em 0.8em 0.15em 0"
RIGHT = "text-align: right; vertical-align: top; padding: 0.15em 0.8em 0.15em 0; font-variant-numeric: tabular-nums"
TABLE = "border-collapse: collapse; margin: 0.2em 0 0.6em 0"
HEAD = "border-bottom: 1px solid currentColor; font-weight: 600"


@singledispatch
def notebook_html(thing: object) -> str:
    """The table of a system or a result."""
    raise TypeError(f"a notebook shows {type(thing).__name__} as text")


# -- pieces ----------------------------------------------------------------------------------------
def _table(head: Sequence[str], rows: Iterable[Sequence[object]], words: Sequence[int] = (0,)) -> Markup:
    """A table; ``words`` are the columns aligned to the left, the others are numbers."""
    lines = list(rows)

    def cells(name: str, row: Sequence[object], more: str = "") -> Markup:
        styles = [(LEFT if k in words else RIGHT) + more for k in range(len(row))]
        return join(tag(name, cell, style=style) for cell, style in zip(row, styles, strict=True))

    top = tag("thead", tag("tr", cells("th", head, f"; {HEAD}"))) if any(head) else ""
    body = tag("tbody", *(tag("tr", cells("td", row)) for row in lines[:MOST_ROWS]))
    more = len(lines) - MOST_ROWS
    rest = _line(f"... and {more} more") if more > 0 else ""
    return join([tag("table", top, body, style=TABLE), rest])


def _line(*parts: object) -> Markup:
    return tag("div", *parts)


def _title(name: str, *words: object) -> Markup:
    return _line(tag("strong", name), *words)


def _compose(*parts: object) -> str:
    return str(tag("div", *parts, class_="kinode", style="line-height: 1.35"))


def _section(title: str, table: Markup, count: int) -> Markup:
    """A table that can be folded away; a long one begins folded."""
    attributes = {} if count > MOST_ROWS else {"open": "open"}
    shown = tag("summary", f"{title} ({count})" if count > 1 else title, style="cursor: pointer; font-weight: 600")
    return tag("details", shown, table, **attributes)


# -- what is shown ---------------------------------------------------------------------------------
@notebook_html.register
def _system(system: System) -> str:
    sections = [
        _section(title, _table(("", ""), rows, words=(0, 1)), len(rows)) for title, rows in list_sections(system)
    ]
    if system.notes:
        notes = tag("ul", *(tag("li", note) for note in system.notes[:MOST_ROWS]))
        sections.append(_section("notes", notes, len(system.notes)))
    totals = (_line(text) for text in list_totals(system))
    return _compose(_title(system.name), *totals, *_drawn(system), *sections)


def _drawn(system: System) -> list[Markup]:
    """The circuit diagram of a system that is small enough to be drawn at once."""
    if not 0 < len(system.components) <= MOST_DRAWN:
        return []
    try:
        picture = Markup(diagram(system, legend=False).svg)
    except Error:  # the system is not complete yet
        return []
    style = "max-width: 100%; overflow: auto; background: white; color: black"
    return [_section("circuit", tag("div", picture, style=style), 1)]


@notebook_html.register
def _study(study: Study) -> str:
    rows = [(*row, *[""] * (5 - len(row))) for row in study.rows]
    failures = [(*(entry[name] for name in study.axes), entry["message"]) for entry in study.failures]
    parts: list[object] = [_title("study", f": {study.head}"), _table(("", "least", "mean", "largest", "unit"), rows)]
    if failures:
        parts.append(_section("runs that failed", _table((*study.axes, "why"), failures), len(failures)))
    return _compose(*parts, *(_line(note) for note in study.notes))


@notebook_html.register
def _trajectory(run: Trajectory) -> str:
    span = (
        f": {number(float(run.t[0]))} to {number(float(run.t[-1]))} s, {len(run)} times" if len(run) else ": no times"
    )
    facts = run.facts
    how = [str(facts["method"])] if "method" in facts else []
    how += [f"{name} {facts[name]:g}" for name in ("rtol", "atol", "step") if isinstance(facts.get(name), float)]
    how += [f"{facts['steps']} steps"] if "steps" in facts else []
    parts: list[object] = [_title(run.system.name, span), _line(f"{run.status}: {run.message}"), _line(", ".join(how))]
    names = [c.name for c in run.dynamics.coordinates if c.role in ("q", "z")] if len(run) else []
    rows = [range_row(name, v, str(run.units(name))) for name, v in run.evaluate(names).items()]
    if rows:
        table = _table(("coordinate", "start", "end", "least", "most", "unit"), rows, words=(0, 5))
        parts.append(_section("coordinates", table, len(rows)))
    if run.events:
        changes = [(number(e.time, 6), e.component, e.message) for e in run.events]
        table = _table(("at s", "component", "event"), changes, words=(1, 2))
        parts.append(_section("events", table, len(changes)))
    example = names[0] if names else "t"
    parts.append(_line(f'{len(run.names())} quantities: run["{example}"], run.names(); run.plot(), run.audit'))
    return _compose(*parts)


@notebook_html.register
def _audit(audit: Audit) -> str:
    rows = [("change of energy", audit.change), *((f"work of {cause}", work) for cause, work in audit.work.items())]
    rows.append(("defect", audit.defect))
    table = _table(("", "J"), [(words, f"{value:.6e}") for words, value in rows])
    verdicts = [audit.trust, *([] if audit.drift is None else [str(audit.drift)])]
    return _compose(_title("energy audit"), table, *map(_line, verdicts))


@notebook_html.register
def _verification(verification: Verification) -> str:
    def cell(text: str) -> object:
        return tag("strong", text, title="these disagree") if text.endswith("!") else text

    tables = [
        _table(head, [[row[0], *(cell(text) for text in row[1:])] for row in rows])
        for head, rows in verification.tables
    ]
    return _compose(
        _title(verification.name, verification.verdict),
        *tables,
        *(_line(tag("strong", text)) for text in verification.failures),
        *(_line(text) for text in verification.notes),
    )


@notebook_html.register
def _model_comparison(found: ModelComparison) -> str:
    rows = [
        (
            f"{row.change.sign} {row.change.value}",
            row.name,
            describe_values(row),
            row.line_before or "",
            row.line_after or "",
        )
        for row in found
    ]
    head = ("", "part and field", "value", "line before", "line after")
    table = [_table(head, rows, words=(0, 1, 2))] if rows else []
    return _compose(_title(f"{found.first} -> {found.second}", f": {found.verdict}"), *table)


@notebook_html.register
def _run_comparison(found: RunComparison) -> str:
    head, rows = found.table
    table = _table(head, [[*row[:3], pretty_unit(row[3]), row[4]] for row in rows])
    return _compose(_title(f"{found.first} -> {found.second}", ": peaks"), table)


@notebook_html.register
def _wrench(wrench: Wrench) -> str:
    flags = wrench.components or (not wrench.shared,) * 6
    left_out = getattr(wrench, "left_out", ())
    rows = []
    for k, (word, unit, values) in enumerate((("force", "N", wrench.force), ("moment", "N·m", wrench.moment))):
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
    return _compose(_title("Wrench", where), _table(head, rows, words=(0, 5)), *(_line(text) for text in notes))


def _shown(values: Array) -> list[float]:
    """The components; of several times, of each the value of largest size."""
    rows = np.atleast_2d(np.asarray(values, dtype=float))
    if not len(rows):
        return [0.0] * 3
    return [float(column[np.argmax(abs(column))]) for column in rows.T]


@notebook_html.register
def _assembly(assembly: Assembly) -> str:
    head, *rows = assembly.rows
    return _compose(_line(assembly.title), _table(head, rows, words=(0, 3)))
