"""Results as tables on a terminal: compact, narrow in a narrow terminal, without color where none is wanted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from kinode.results.joint_loads import compute_loads, describe_loads
from kinode.results.run_summary import coordinates_table, describe_status, events_table, loads_table
from kinode.sheets.tables import Sheet, Strong, Table, number, range_table, word_table
from kinode.simulation.event_log import REMARKS

if TYPE_CHECKING:
    from kinode.results.trajectory import Trajectory
    from kinode.tasks.verify import Verification

MOST_ROWS = 24  # of a table


def make_table(table: Table, styles: Sequence[str] = ()) -> RichTable:
    """A table, its first cells in these styles.  Text is not read as markup."""
    table = table.typeset()
    shown = RichTable(
        title=Text(table.title, style="bold") if table.title else None,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        show_header=any(table.heads),
        pad_edge=False,
        show_edge=False,
    )
    for word, left in zip(table.heads, table.left, strict=True):
        if left:
            shown.add_column(Text(word), overflow="fold")
        else:
            shown.add_column(Text(word), justify="right", no_wrap=True)
    for k, (first, *cells) in enumerate(table.rows):
        shown.add_row(Text(first, style=styles[k] if styles else ""), *map(Text, cells))
    return shown


def is_too_wide(out: Console, table: Table) -> bool:
    """Whether a table has no room; between columns there are three places, in text two."""
    return max(map(len, table.lines())) + len(table.head) - 1 > out.width


def print_part(out: Console, part: Table | str) -> None:
    """A table, after an empty line, or a line; of a table that is too wide the columns that say most."""
    if isinstance(part, str):
        out.print(Text(part, style="bold" if isinstance(part, Strong) else ""))
        return
    if part.narrow and is_too_wide(out, part):
        part = part.pick(part.narrow)
    out.print()
    out.print(make_table(part))


def print_sheet(out: Console, sheet: Sheet) -> None:
    """All of a sheet."""
    out.print(Text.assemble((sheet.title, "bold"), sheet.rest))
    for part in sheet.parts:
        print_part(out, part)


def console() -> Console:
    """Where results go."""
    return Console(highlight=False, soft_wrap=False)


def print_run(run: Trajectory) -> None:
    """A run in short: how it ended, events, loads in joints, coordinates, the energy audit."""
    out = console()
    facts = run.facts
    span = f"{number(float(run.t[-1] - run.t[0]))} s simulated"
    took = f" in {number(facts['seconds'], 2)} s" if "seconds" in facts else ""
    how = ", ".join(str(x) for x in (facts.get("method"), f"{facts.get('steps', 0)} steps") if x)
    out.print(Text.assemble((run.system.name, "bold"), f": {span}{took} ({how}), {describe_status(run)}"))
    if "stiff" in facts:
        out.print(Text(f"stiff: {facts['stiff']}"))
    _print_events(out, run)
    loads = compute_loads(run)
    if loads:
        peaks = loads_table(loads[:MOST_ROWS], {})
        head = ("joint", ("force", "N"), ("at", "s"), ("moment", "N*m"), ("at", "s"), "effort")
        rows = [[*row[:3], *row[7:9], row[11] or row[10]] for row in peaks.rows]
        print_part(out, Table(head, rows, title=f"{peaks.title}, peaks", narrow=(0, 1, 3, 5)))
        print_rest(out, len(loads), "joints; --report shows them all")
        for note in describe_loads(loads):
            out.print(Text(note))
    coordinates = coordinates_table(run, MOST_ROWS)
    if coordinates.rows:
        print_part(out, coordinates)
        print_rest(out, sum(c.role in ("q", "z") for c in run.dynamics.coordinates), "coordinates")
    out.print()
    out.print(Text.assemble(("energy audit ", "bold"), run.audit.trust.removeprefix("trust: ")))
    if run.audit.drift is not None:
        out.print(Text.assemble(("drift ", "bold"), str(run.audit.drift).removeprefix("drift: ")))


def _print_events(out: Console, run: Trajectory) -> None:
    """Events: singular positions in a line, remarks as they are, changes in a table."""
    singular = [event for event in run.events if event.kind == "singular"]
    if singular:
        times = ", ".join(number(event.time) for event in singular[:MOST_ROWS])
        names = ", ".join(dict.fromkeys(name for event in singular for name in event.components))
        out.print(Text(f"singular positions of {names} at s: {times}"))
        print_rest(out, len(singular), "of them; --report shows them all")
    for event in run.events:
        if event.kind in REMARKS:
            out.print(Text(event.message))
    changes = [event for event in run.events if event.kind != "singular" and event.kind not in REMARKS]
    if changes:
        print_part(out, events_table(changes[:MOST_ROWS]).pick((0, 1, 2, 3)))
        print_rest(out, len(changes), "events; --report shows them all")


def print_rest(out: Console, count: int, words: str) -> None:
    """How many rows a table leaves out, if any."""
    if count > MOST_ROWS:
        out.print(f"and {count - MOST_ROWS} more {words}")


def print_quantities(run: Trajectory, names: Sequence[str]) -> None:
    """Start, end and range of any quantities, by part."""
    from kinode.views.plots.time_plots import find_lines

    run.evaluate(names)
    lines = [line for name in names for line in find_lines(run, name)]
    console().print(make_table(range_table("quantities", [(x.name, x.values, x.unit) for x in lines], 6)))


def print_verification(comparison: Verification) -> None:
    """The tables of verify; in a narrow terminal one column for all derivations: the largest difference."""
    out = console()
    sheet, parts = comparison.sheet, []
    for part in sheet.parts:
        if isinstance(part, Table) and is_too_wide(out, part):
            most = [(row[0], max(filter(None, row[1:]), key=lambda cell: float(cell.rstrip("!")))) for row in part.rows]
            part = Table((part.head[0], "most"), most)
        parts.append(part)
    states, _, verdict = sheet.rest.partition(": ")
    print_sheet(out, replace(sheet, rest=states, parts=[*parts, Strong(verdict)]))


def print_list(items: Sequence[tuple[str, str]]) -> None:
    """Names with a sentence each."""
    console().print(make_table(word_table(("", ""), items), ["bold"] * len(items)))
