"""The command that lists the component circuit of a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kinode.atomic_files import write_text
from kinode.cli.options import (
    Base,
    Debug,
    Model,
    Trust,
    XacroArguments,
    XacroPackages,
    load_model,
    reporting_errors,
)

if TYPE_CHECKING:
    from kinode.symbolic.circuit_listing.whole_circuit import Circuit


@reporting_errors
def circuit(
    model: Model,
    basis: Annotated[str, typer.Option(metavar="AXES", help="body: axes of each body; global: world axes.")] = "body",
    kinematic: Annotated[bool, typer.Option("--kinematic", help="Equations of the kinematic problem alone.")] = False,
    scalar: Annotated[bool, typer.Option("--scalar", help="Take vector links apart into scalar ones.")] = False,
    incidence: Annotated[
        bool, typer.Option("--incidence", help="Print branches with the nodes at their ends.")
    ] = False,
    values: Annotated[bool, typer.Option("--values", help="Print every link variable at the start.")] = False,
    latex: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a LaTeX document.")] = None,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the whole circuit as JSON.")] = None,
    base: Base = "fixed",
    trust: Trust = False,
    argument: XacroArguments = None,
    package: XacroPackages = None,
    debug: Debug = False,
) -> None:
    """List the component circuit of a model.

    Components by role, nodes, branches, every equation of the whole network in
    link variables, how often it is differentiated and what it is solved for.
    Files are written in place of printing.

    \b
    kinode circuit motor_axis.yaml
    kinode circuit four_bar.yaml --values
    kinode circuit pendulum.yaml --scalar
    kinode circuit motor_axis.yaml --json circuit.json --latex circuit.tex
    """
    from kinode.cli.terminal_tables import console
    from kinode.symbolic.circuit_listing.whole_circuit import circuit as derive

    listing = derive(load_model(model, base, trust, argument, package), basis, "kinematic" if kinematic else "dynamic")
    shown = listing.scalar() if scalar else listing
    if latex is not None:
        write_text(latex, shown.latex(document=True))
        typer.echo(f"wrote {latex}")
    if json is not None:
        listing.to_json(json)
        typer.echo(f"wrote {json}")
    if latex is not None or json is not None:
        return
    width = max(console().width, 40)
    if incidence:
        head, rows = listing.incidence.table()
        widths = [max(len(row[k]) for row in (head, *rows)) for k in range(len(head))]
        for row in (head, *rows):
            typer.echo("  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True)).rstrip())
    elif values:
        _print_values(listing, width)
    else:
        typer.echo(shown.text(width))


def _print_values(listing: Circuit, width: int) -> None:
    """Every variable with its value and unit, and how well equations and Tellegen's sum hold."""
    now = listing.evaluate()
    rows = [(name, "  ".join(f"{x + 0.0:.6g}" for x in now[name]), v.unit) for name, v in listing.variables.items()]
    widths = [max(len(row[k]) for row in rows) for k in range(2)]
    for name, numbers, unit in rows:
        wide = f"{name:<{widths[0]}}  {numbers:<{widths[1]}}  {unit}"
        close = f"{name}  {numbers}  {unit}"
        typer.echo(
            wide if sum(widths) + 12 <= width else close if len(close) <= width else f"{name}\n    {numbers}  {unit}"
        )
    size, row = now.worst
    typer.echo(f"equations hold to {size:.1e} ({row})")
    typer.echo(f"sum of potential times flow {now.tellegen:.1e} W")
