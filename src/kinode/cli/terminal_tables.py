"""Results as tables on a terminal: compact, narrow in a narrow terminal, without color where none is wanted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kinode.report.model_section import describe_status
from kinode.results.joint_loads import compute_loads, describe_loads
from kinode.simulation.event_log import REMARKS
from kinode.views.style import number, pretty_unit, range_row

if TYPE_CHECKING:
    from kinode.results.run_balance import RunBalance
    from kinode.results.trajectory import Trajectory
    from kinode.tasks.verify import Verification

MOST_ROWS = 24  # of a table


def make_table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]], *, left: Sequence[int] = (0,)) -> Table:
    """A table; columns are numbers unless they stand in ``left``.  Text is not read as markup."""
    table = Table(
        title=Text(title, style="bold") if title else None,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        show_edge=False,
    )
    for k, word in enumerate(head):
        if k in left:
            table.add_column(Text(word), overflow="fold")
        else:
            table.add_column(Text(word), justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


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
        rows = [
            [x.joint, number(x.force.peak), number(x.force.time, 3), number(x.moment.peak), number(x.moment.time, 3),
             "" if x.driving is None else f"{number(x.driving.peak)} {pretty_unit(x.effort_unit)}"]
            for x in loads[:MOST_ROWS]
        ]  # fmt: skip
        out.print()
        out.print(make_table("joint loads, peaks", ["joint", "force N", "at s", "moment N·m", "at s", "effort"], rows))
        print_rest(out, len(loads), "joints; --report shows them all")
        for note in describe_loads(loads):
            out.print(Text(note))
    _print_ends(out, run)
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
        rows = [[number(e.time, 6), e.component, e.was, e.becomes] for e in changes[:MOST_ROWS]]
        out.print()
        out.print(make_table("events", ["at s", "component", "from", "to"], rows, left=(1, 2, 3)))
        print_rest(out, len(changes), "events; --report shows them all")


def _print_ends(out: Console, run: Trajectory) -> None:
    coordinates = [c for c in run.dynamics.coordinates if c.role in ("q", "z")]
    if not coordinates:
        return
    values = run.evaluate(c.name for c in coordinates[:MOST_ROWS])
    rows = [range_row(name, v, str(run.units(name))) for name, v in values.items()]
    out.print()
    out.print(make_table("coordinates", ["name", "start", "end", "least", "most", "unit"], rows, left=(0, 5)))
    print_rest(out, len(coordinates), "coordinates")


def print_rest(out: Console, count: int, words: str) -> None:
    """How many rows a table leaves out, if any."""
    if count > MOST_ROWS:
        out.print(f"and {count - MOST_ROWS} more {words}")


def print_quantities(run: Trajectory, names: Sequence[str]) -> None:
    """Start, end and range of any quantities, by part."""
    from kinode.views.plots.time_plots import find_lines

    run.evaluate(names)
    rows = [range_row(line.name, line.values, line.unit, 6) for name in names for line in find_lines(run, name)]
    out = console()
    out.print(make_table("quantities", ["name", "start", "end", "least", "most", "unit"], rows, left=(0, 5)))


def print_verification(comparison: Verification) -> None:
    """The table of verify."""
    out = console()
    states, _, verdict = comparison.verdict.partition(": ")
    out.print(Text(f"{comparison.name}{states}", style="bold"))
    for head, rows in comparison.tables:
        out.print()
        if out.width < 90:  # one column for all derivations: the largest difference
            head, rows = [head[0], "most"], [[row[0], _most(row[1:])] for row in rows]
        out.print(make_table("", head, rows))
    for words in comparison.failures:
        out.print(Text(words, style="bold"))
    for words in comparison.notes:
        out.print(Text(words))
    out.print(Text(verdict, style="bold"))


def _most(cells: Sequence[str]) -> str:
    return max((cell for cell in cells if cell), key=lambda cell: float(cell.rstrip("!")))


def print_balance(balance: RunBalance) -> None:
    """Both sides of a balance, term by term; peaks alone in a narrow terminal."""
    out = console()
    out.print(Text(f"{balance.of}: balance about the origin of {balance.about}, in its axes", style="bold"))
    columns = range(5) if out.width >= 66 else (0, 1, 3)
    head = ["", "force N", "rms N", "moment N·m", "rms N·m"]
    for words, side in (("acting", balance.acting), ("needed by the motion", balance.motion)):
        out.print()
        rows = [[row[k] for k in columns] for row in balance.side_rows(side)]
        out.print(make_table(words, [head[k] for k in columns], rows))
    force, moment = balance.residuals
    out.print()
    out.print(Text(f"residual: {force} N, {moment} N·m; {number(balance.residual, 2)} of the largest term"))


def print_list(items: Sequence[tuple[str, str]]) -> None:
    """Names with a sentence each."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, words in items:
        table.add_row(Text(name, style="bold"), Text(words))
    console().print(table)
