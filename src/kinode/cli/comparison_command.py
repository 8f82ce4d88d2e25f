"""``kinode diff``: what differs between two models, and what that does to the peaks of their runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from kinode.cli.options import Debug, Trust, find_end, reporting_errors, say

if TYPE_CHECKING:
    from kinode.formats.differences.compared_rows import ComparedRow, ModelComparison
    from kinode.formats.differences.model_side import ModelSide
    from kinode.results.side_by_side.compared_runs import RunComparison

WIDE = 92  # columns of a terminal for the whole table
WIDEST = 40  # characters of a value in the table
STYLES = {"added": "green", "removed": "red", "renamed": "cyan", "changed": "yellow"}


@reporting_errors
def diff(
    first: Annotated[Path, typer.Argument(metavar="MODEL", help="A model: YAML, JSON or URDF.")],
    second: Annotated[Path | None, typer.Argument(metavar="OTHER", help="What it became; else see --commit.")] = None,
    commit: Annotated[
        str, typer.Option("--commit", metavar="REV", help="Without OTHER: the commit that MODEL is compared with.")
    ] = "HEAD",
    peaks: Annotated[bool, typer.Option("--peaks", help="Run both, and set their peaks side by side.")] = False,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="End of both runs.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="End with 1 if anything differs.")] = False,
    trust: Trust = False,
    debug: Debug = False,
) -> None:
    """Say what differs between two models, by what they mean.

    1000 mm and 1 m are equal; comments and order do not count; a part
    that only got another name is one row. With one MODEL: what changed
    in it since its last commit.

    \b
    kinode diff before.yaml after.yaml
    kinode diff axis.yaml
    kinode diff axis.yaml --commit v1.2
    kinode diff before.yaml after.yaml --peaks --until 5
    """
    from kinode.formats.differences.compared_models import compare_sides

    if second is not None and commit != "HEAD":
        raise typer.BadParameter("is for one MODEL; with OTHER both are files", param_hint="--commit")
    if until is not None and not peaks:
        raise typer.BadParameter("is for --peaks", param_hint="--until")
    with ExitStack() as stack:
        sides = _read_sides(stack, first, second, commit, trust)
        found = compare_sides(*sides)
        runs = _compare_peaks(sides, until) if peaks else None
    if as_json:
        plain = {**found.to_dict(), **({} if runs is None else {"peaks": runs.to_dict()["rows"]})}
        typer.echo(json.dumps(plain, indent=2))
    else:
        print_comparison(found)
        if runs is not None:
            print_peaks(runs)
    if exit_code and found:
        raise typer.Exit(1)


def _read_sides(
    stack: ExitStack, first: Path, second: Path | None, commit: str, trust: bool
) -> tuple[ModelSide, ModelSide]:
    """Both models; of one alone the committed one is the first."""
    from kinode.formats.differences.committed_model import committed_model
    from kinode.formats.differences.model_side import ModelSide, read_side, side_of_text
    from kinode.formats.load import YAML, load

    for path in (first, second):
        if path is not None and not path.exists():
            raise typer.BadParameter(f"there is no file {path}", param_hint="MODEL" if path is first else "OTHER")
    if second is not None:
        return read_side(first, trust=trust), read_side(second, trust=trust)
    now = read_side(first, trust=trust)
    before = stack.enter_context(committed_model(first, commit))
    if first.suffix.lower() in YAML:
        return side_of_text(before.text, before.place, before.label, trust=trust), now
    return ModelSide(load(before.place, trust=trust), before.label), now


def _compare_peaks(sides: tuple[ModelSide, ModelSide], until: str | None) -> RunComparison:
    from kinode.results.side_by_side.compared_runs import compare_runs
    from kinode.tasks.simulate import simulate

    one, two = (simulate(side.system, find_end(side.system, until)) for side in sides)
    if one.t[-1] != two.t[-1]:
        say(f"the runs end at {one.t[-1]:g} s and {two.t[-1]:g} s: --until gives both one end")
    return compare_runs(one, two, (sides[0].label, sides[1].label))


def print_comparison(found: ModelComparison) -> None:
    """The differences as a table; in a narrow terminal one below the other."""
    from kinode.cli.terminal_tables import console, make_table

    out = console()
    out.print(Text(f"{found.first} -> {found.second}", style="bold"))
    out.print(found.verdict)
    if not found:
        return
    out.print()
    if out.width < WIDE:
        for row in found:
            out.print(_narrow(row))
        return
    table = make_table("", ["", "part", "field", "before", "after", "change", "lines"], (), left=(0, 1, 2, 3, 4))
    for row in found:
        sign, *cells = _cells(row)
        table.add_row(Text(sign, style=STYLES[row.change.value]), *(Text(cell) for cell in cells))
    out.print(table)


def _cells(row: ComparedRow) -> Iterator[str]:
    from kinode.formats.differences.compared_rows import RowChange, describe_percent, shorten

    yield f"{row.change.sign} {row.change.value}"
    yield row.part or "model"
    yield row.field
    renamed = row.change is RowChange.RENAMED
    yield shorten(row.before, WIDEST) or ("" if row.change is RowChange.ADDED else "default")
    yield "" if renamed and not row.field else shorten(row.after, WIDEST) or (
        "" if row.change is RowChange.REMOVED else "default"
    )  # fmt: skip
    yield "" if row.percent is None else describe_percent(row.percent)
    yield _lines(row)


def _lines(row: ComparedRow) -> str:
    """Both lines, or the one that there is."""
    known = [str(line) for line in (row.line_before, row.line_after) if line is not None]
    return known[0] if len(set(known)) == 1 else " -> ".join(known)


def _narrow(row: ComparedRow) -> Text:
    from kinode.formats.differences.compared_rows import describe_values

    lines = f"  (line {_lines(row)})" if _lines(row) else ""
    style: Any = STYLES[row.change.value]
    return Text.assemble((f"{row.change.sign} {row.name}", style), lines, f"\n    {describe_values(row, 60)}")


def print_peaks(found: RunComparison) -> None:
    """Peaks of both runs; without units in a narrow terminal."""
    from kinode.cli.terminal_tables import console, make_table
    from kinode.views.style import pretty_unit

    out = console()
    head, rows = found.table
    rows = [[*row[:3], pretty_unit(row[3]), row[4]] for row in rows]
    keep = range(5) if out.width >= 60 else (0, 1, 2, 4)
    out.print()
    out.print(make_table("peaks", [head[k] for k in keep], [[row[k] for k in keep] for row in rows]))
