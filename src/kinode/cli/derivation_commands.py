"""The commands that show what a model is: equations, explain, show, and circuit, the list of its components."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
    say_notes,
)
from kinode.errors import counted

if TYPE_CHECKING:
    from kinode.model.system import System
    from kinode.symbolic.circuit.whole_circuit import Circuit
    from kinode.symbolic.explanation import Explanation


MOST_PARTS = 100  # of an elimination, each with a budget of its own


@reporting_errors
def equations(
    model: Model,
    formulation: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="lagrange, recursive, hamilton, quasi_base, rotators, newton_euler or circuit."
        ),
    ] = None,
    shape: Annotated[str, typer.Option(metavar="SHAPE", help="expanded, named, vectors, or auto: by size.")] = "auto",
    reactions: Annotated[
        str, typer.Option(metavar="JOINTS", help="Joints whose reactions are wanted: elbow,wrist.")
    ] = "",
    elimination: Annotated[
        bool, typer.Option("--elimination", help="The matrices that eliminate the constraint forces.")
    ] = False,
    frame: Annotated[
        str | None, typer.Option(metavar="NAME", help="Balances about this frame or body, in its axes.")
    ] = None,
    latex: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a LaTeX document.")] = None,
    python: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a Python function.")] = None,
    c: Annotated[Path | None, typer.Option("--c", metavar="FILE", help="Write a C function.")] = None,
    values: Annotated[
        bool, typer.Option("--values", help="Of vectors, an elimination or balances: values at the start.")
    ] = False,
    base: Base = "fixed",
    trust: Trust = False,
    argument: XacroArguments = None,
    package: XacroPackages = None,
    debug: Debug = False,
) -> None:
    """Print the equations of motion of a model.

    Small models are written out, large ones with names for what recurs. The
    shape vectors writes the reactions of joints as sums over bodies, by
    quasi_base or rotators. Files are written in place of printing.

    \b
    kinode equations pendulum.yaml
    kinode equations pendulum.yaml --reactions pivot --latex pendulum.tex
    kinode equations four_bar.yaml --formulation newton_euler
    kinode equations elastic_system.yaml --elimination
    kinode equations ur5.yaml --shape vectors --reactions elbow_joint --values
    kinode equations asymmetric_shell.yaml --frame aero
    """
    from kinode.cli.terminal_tables import console
    from kinode.symbolic.equations import equations as derive
    from kinode.symbolic.equations import find_elimination

    names = [name.strip() for name in reactions.split(",") if name.strip()]
    system = load_model(model, base, trust, argument, package)
    if frame is not None:
        _print_balances(system, frame, formulation, shape, names, latex, {"python": python, "c": c}, values)
        return
    width = max(console().width, 40)
    with counting_operations():
        derived = derive(system, formulation or ("newton_euler" if elimination else None), shape, names)
        printed: Any = find_elimination(derived) if elimination else derived
        files = {latex: lambda: printed.latex(document=True), python: printed.python, c: printed.c}
        texts = {path: write() for path, write in files.items() if path is not None}
        text = "" if texts else printed.text(width)
    for path, content in texts.items():
        write_text(path, content)
        typer.echo(f"wrote {path}")
    if not texts:
        typer.echo(text)
    if values:
        print_values(printed, width)


@contextmanager
def counting_operations() -> Iterator[None]:
    """A line on a terminal that counts the operations of what is written out, where it takes longer than a second."""
    from kinode.simulation.progress_bar import Progress
    from kinode.symbolic.normal_form import budget
    from kinode.symbolic.printed_equations import LARGEST_BUDGET

    most = MOST_PARTS * LARGEST_BUDGET
    words = f"writing out: {{:,.0f}} operations, at most {LARGEST_BUDGET:,} a part".format
    with Progress(0.0, LARGEST_BUDGET, None, words) as bar, budget(most, bar):
        yield


def print_values(derived: object, width: int) -> None:
    """The values of all symbols of reactions in vectors, or of the matrices of an elimination, at the start."""
    from kinode.symbolic.elimination_matrices import EliminationMatrices
    from kinode.symbolic.vectors.vector_equations import VectorEquations

    if isinstance(derived, EliminationMatrices):
        typer.echo(f"\nValues at the start, {derived.at().text(width)}")
        return
    if not isinstance(derived, VectorEquations):
        raise typer.BadParameter("is for --shape vectors, --elimination and --frame", param_hint="--values")
    start = derived.dynamics.initial
    at_start = derived.values(start.t, start.q, start.u, z=start.z)
    typer.echo(f"\nValues at the start, in the null base\n{at_start.text(width)}")


def _print_balances(
    system: System, frame: str, formulation: str | None, shape: str, names: list[str], latex: Path | None,
    code: dict[str, Path | None], values: bool,
) -> None:  # fmt: skip
    """Balances about a frame: as text, or as a LaTeX document; and the values of their symbols at the start."""
    from kinode.cli.terminal_tables import console
    from kinode.symbolic.balances.frame_equations import frame_equations
    from kinode.symbolic.printed_equations import writing_out

    for option, path in code.items():
        if path is not None:
            raise typer.BadParameter(
                "balances about a frame are printed, or written with --latex", param_hint=f"--{option}"
            )
    with writing_out(system):
        sheet = frame_equations(system, frame, formulation, shape, names)
    width = max(console().width, 40)
    if latex is None:
        typer.echo(sheet.text(width))
    else:
        write_text(latex, sheet.latex(document=True))
        typer.echo(f"wrote {latex}")
    if values:
        typer.echo(f"\nValues at the start\n{sheet.values().text(width)}")


@reporting_errors
def explain(
    model: Model,
    latex: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a LaTeX document.")] = None,
    scheme: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the vector scheme: .svg, .png or .pdf.")
    ] = None,
    chart: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the flow chart: .svg, .png, .pdf, or .txt.")
    ] = None,
    base: Base = "fixed",
    trust: Trust = False,
    argument: XacroArguments = None,
    package: XacroPackages = None,
    debug: Debug = False,
) -> None:
    """Show step by step how the equations come about.

    For each body its vectors and equations, as formulas and as numbers at the
    start. Files are written in place of printing.

    \b
    kinode explain pendulum.yaml
    kinode explain ship_gimbal.yaml --scheme scheme.svg
    kinode explain ship_gimbal.yaml --chart chart.svg
    """
    from kinode.cli.terminal_tables import console

    system = load_model(model, base, trust, argument, package)
    if scheme is not None:
        from kinode.views.mechanism.vector_scheme import draw_scheme

        draw_scheme(system, file=scheme)
        typer.echo(f"wrote {scheme}")
    if latex is not None or chart is not None or scheme is None:
        from kinode.symbolic.explain import explain as derive

        derivation = derive(system)
        if chart is not None:
            _write_chart(derivation, chart)
        if latex is not None:
            write_text(latex, derivation.latex(document=True))
            typer.echo(f"wrote {latex}")
        if latex is None and chart is None:
            typer.echo(derivation.text(max(console().width, 40)))


def _write_chart(derivation: Explanation, path: Path) -> None:
    """The flow chart, as text where the file says so."""
    from kinode.views.mechanism.flow_chart import FlowChart, draw_chart

    if path.suffix == ".txt":
        write_text(path, f"{FlowChart(derivation)}\n")
    else:
        draw_chart(derivation, file=path)
    typer.echo(f"wrote {path}")


@reporting_errors
def show(
    model: Model,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The SVG file; MODEL.svg in this folder if left out.")
    ] = None,
    width: Annotated[
        float | None, typer.Option(metavar="N", min=240, help="Fold chains that are wider; a part is 40 wide.")
    ] = None,
    text: Annotated[bool, typer.Option("--text", help="Print the model in words; draws with --out only.")] = False,
    numbers: Annotated[bool, typer.Option("--numbers", help="Number nodes and branches.")] = False,
    scalar: Annotated[bool, typer.Option("--scalar", help="Draw the scalar links of vector links.")] = False,
    kinematic: Annotated[bool, typer.Option("--kinematic", help="Vector links carry information only.")] = False,
    base: Base = "fixed",
    trust: Trust = False,
    argument: XacroArguments = None,
    package: XacroPackages = None,
    debug: Debug = False,
) -> None:
    """Draw the circuit diagram of a model, and say how it can move.

    Solid bodies SB, kinematic nodes KN, sources E, dynamic components DC,
    electrical parts and signals, and their links. The class of the operating
    space tells which rotations R and translations T there are.

    \b
    kinode show motor_axis.yaml
    kinode show excavator.yaml --out excavator.svg --width 800
    kinode show pendulum.yaml --text
    kinode show four_bar.yaml --numbers --scalar
    """
    from kinode.tasks.loop_locking import describe_locks
    from kinode.tasks.operating_space import operating_space
    from kinode.views.diagram.circuit_diagram import WIDTH, diagram

    system = load_model(model, base, trust, argument, package)
    space = operating_space(system) if system.bodies else None
    if text:
        typer.echo(system.summary())
    else:
        say_notes(model, system)
    if not text or out is not None:
        file = out or Path(f"{model.stem}.svg")
        note = "" if space is None else str(space.whole)
        mode, across = "kinematic" if kinematic else "dynamic", WIDTH if width is None else width
        drawn = diagram(system, file, width=across, note=note, numbers=numbers, scalar=scalar, mode=mode)
        crossed = f", {counted(drawn.crossings, 'crossing')}" if drawn.crossings else ""
        typer.echo(f"wrote {file}: {len(drawn.components)} components, {len(drawn.links)} links{crossed}")
    if space is not None:
        typer.echo(str(space))
        for words in describe_locks(system):
            typer.echo(words)


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
    from kinode.sheets.tables import word_table
    from kinode.symbolic.circuit.whole_circuit import circuit as derive

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
        typer.echo("\n".join(word_table(*listing.incidence.table()).lines()))
    elif values:
        _print_values(listing, width)
    else:
        typer.echo(shown.text(width))


def _print_values(listing: Circuit, width: int) -> None:
    """Every variable with its value and unit, and how well equations and Tellegen's sum hold."""
    from kinode.sheets.tables import word_table

    now = listing.evaluate()
    rows = [(name, "  ".join(f"{x + 0.0:.6g}" for x in now[name]), v.unit) for name, v in listing.variables.items()]
    typer.echo("\n".join(word_table(("", "", ""), rows).lines(width)))
    size, row = now.worst
    typer.echo(f"equations hold to {size:.1e} ({row})")
    typer.echo(f"sum of potential times flow {now.tellegen:.1e} W")
