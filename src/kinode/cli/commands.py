"""The command ``kinode``: run, verify, reactions, equations, explain, show, examples, schema, bench.

Commands only; the work is done below.  What is heavy is imported inside the commands, so that help is quick.  Results
go to stdout, everything else to stderr.  Options and exit codes are those of options.py.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from kinode.cli.options import (
    Base,
    Debug,
    MethodOption,
    Model,
    ReactionPart,
    find_options,
    load_model,
    pairs,
    print_result,
    read_time,
    reporting_errors,
    say,
    write_files,
)
from kinode.errors import SimulationError
from kinode.version import __version__

UNTIL = 10.0  # seconds, where neither the command nor the model says

INTRO = """From the description of a mechanism to its motion and the loads in its joints.

\b
  kinode examples --copy .               get the examples
  kinode run pendulum.yaml               simulate one
  kinode run excavator.yaml --report out write an HTML report
  kinode run arm.urdf --until 5 --show elbow.q
  kinode verify excavator.yaml           derive it in independent ways
  kinode equations pendulum.yaml         print its equations of motion
  kinode reactions rotor.yaml            say what loads its joints
  kinode show motor_axis.yaml            draw its circuit diagram

Each command has its own help: kinode run --help
"""

app = typer.Typer(
    name="kinode",
    help=INTRO,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"kinode {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which version.")
    ] = False,
) -> None:
    pass


@app.command()
@reporting_errors
def run(
    model: Model,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="End, such as 10 or '500 ms'.")] = None,
    method: Annotated[MethodOption | None, typer.Option(help="How to integrate; dopri5 unless the model says.")] = None,
    step: Annotated[str | None, typer.Option(metavar="TIME", help="Step of rk4; of other methods the largest.")] = None,
    rtol: Annotated[float | None, typer.Option(metavar="NUMBER", help="Relative tolerance.")] = None,
    atol: Annotated[float | None, typer.Option(metavar="NUMBER", help="Absolute tolerance.")] = None,
    samples: Annotated[int | None, typer.Option(metavar="N", min=2, help="Keep N evenly spread times.")] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change a parameter.")] = None,
    input_: Annotated[list[str] | None, typer.Option("--input", metavar="NAME=VALUE", help="Set an input.")] = None,
    start: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE", help="Start from another state.")] = None,
    report: Annotated[Path | None, typer.Option(metavar="DIR", help="Write an HTML report into this folder.")] = None,
    save: Annotated[Path | None, typer.Option(metavar="FILE", help="Keep the run as NetCDF.")] = None,
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Write what --show names, or the states.")] = None,
    show: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Print the range of a quantity.")] = None,
    base: Base = "fixed",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors and --show.")] = False,
    debug: Debug = False,
) -> None:  # fmt: skip
    """Simulate a model and print the loads in its joints.

    What the command does not say comes from the model's run section: end,
    method, tolerances. Without one, 10 s are simulated. Options such as --set
    and --show may be given several times.

    \b
    kinode run pendulum.yaml
    kinode run pendulum.yaml --until '20 s' --method dop853 --rtol 1e-10
    kinode run excavator.yaml --set 'digging=90 kN' --report out
    kinode run pendulum.yaml --start 'pivot.q=10 deg' --show pivot.q
    kinode run arm.urdf --samples 1001 --csv arm.csv --show elbow.q
    """
    from kinode.dynamics.compile import compile as compile_system
    from kinode.importers import URDF
    from kinode.model.quantity_names import find_quantity
    from kinode.tasks.simulate import simulate

    system = load_model(model, base)
    if model.suffix.lower() in URDF and not quiet:
        for note in system.notes:  # where kinode's model differs from the file
            say(note)
    names = list(show or ())
    for name in names:
        find_quantity(system, name)
    options = find_options(system, method, step, rtol, atol, samples)
    changed = {"parameters": pairs("--set", set_), "inputs": pairs("--input", input_), "start": pairs("--start", start)}
    options |= {key: value for key, value in changed.items() if value}
    end = system.run_defaults.get("until", UNTIL) if until is None else read_time(system, "--until", until)
    failure: SimulationError | None = None
    try:
        done = simulate(compile_system(system), end, **options)
    except SimulationError as error:
        if error.run is None or debug:
            raise
        failure, done = error, error.run
    files = write_files(done, names, report, save, csv)
    if len(done):
        print_result(done, names, quiet)
    for path in files:
        if not quiet:
            typer.echo(f"wrote {path}")
    if failure is not None:
        say(str(failure))
        raise typer.Exit(1)
    if done.status == "stopped":
        say(f"stopped at t = {float(done.t[-1]) if len(done) else 0.0:g} s")
        raise typer.Exit(130)


@app.command()
@reporting_errors
def verify(
    model: Model,
    states: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="How many random states to compare at.")
    ] = None,
    base: Base = "fixed",
    debug: Debug = False,
) -> None:
    """Derive a model in independent ways and compare them.

    The table says how far the results are apart at random states. Ends with
    exit code 1 if any two disagree.

    \b
    kinode verify excavator.yaml
    kinode verify arm.urdf --states 20
    """
    from kinode.cli.terminal_tables import print_verification
    from kinode.tasks.verify import verify as compare

    found = compare(load_model(model, base), states)
    print_verification(found)
    if not found.ok:
        raise typer.Exit(1)


@app.command()
@reporting_errors
def reactions(
    model: Model,
    joint: Annotated[str | None, typer.Option(metavar="NAME", help="Which joint; all, in short, without.")] = None,
    part: Annotated[
        ReactionPart, typer.Option(help="Which part bearings, spectrum and plot are of.")
    ] = ReactionPart.kinetic,
    causes: Annotated[bool, typer.Option("--causes", help="Who loads the joint: by cause, or by body.")] = False,
    bearings: Annotated[
        str | None, typer.Option(metavar="Z1,Z2", help="Two bearings at these places on the axis.")
    ] = None,
    frequency: Annotated[
        str | None, typer.Option(metavar="FREQ", help="A natural frequency: is it excited?")
    ] = None,
    hold: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Joints that hold loops.")] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw it: PNG, SVG or PDF.")] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="End, such as 10 or '500 ms'.")] = None,
    samples: Annotated[int, typer.Option(metavar="N", min=2, help="Keep N evenly spread times.")] = 2001,
    set_: Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change a parameter.")] = None,
    base: Base = "fixed",
    debug: Debug = False,
) -> None:  # fmt: skip
    """Say what loads a joint, and who.

    The static part is what applied loads ask for, the kinetic part what inertia
    adds; --causes splits it. --plot draws what was asked for: causes, spectrum,
    pressure around a shaft, or the load over time.

    \b
    kinode reactions rotor.yaml
    kinode reactions rotor.yaml --joint shaft --causes --plot causes.png
    kinode reactions rotor.yaml --joint shaft --part total --bearings '0,30 cm'
    kinode reactions rotor.yaml --joint shaft --frequency '55 Hz'
    """
    from kinode.cli.reaction_tables import Question, print_all, print_joint
    from kinode.results.load_spectra import read_frequency
    from kinode.tasks.simulate import simulate

    system = load_model(model, base)
    at = None if bearings is None else tuple(text.strip() for text in bearings.split(","))
    if at is not None and len(at) != 2:
        raise typer.BadParameter(f"two places are expected, Z1,Z2, not {bearings!r}", param_hint="--bearings")
    if joint is None and (causes or bearings or frequency or plot):
        raise typer.BadParameter("which joint? --causes, --bearings, --frequency and --plot ask about one")
    if frequency is not None:
        read_frequency(frequency)
    end = system.run_defaults.get("until", UNTIL) if until is None else read_time(system, "--until", until)
    done = simulate(system, end, times=samples, parameters=pairs("--set", set_) or None)
    if joint is None:
        print_all(done, hold or None)
        return
    print_joint(done, Question(joint, part.value, hold or None, causes, at, frequency, plot))
    if plot is not None:
        typer.echo(f"wrote {plot}")


@app.command()
@reporting_errors
def equations(
    model: Model,
    formulation: Annotated[
        str | None, typer.Option(metavar="NAME", help="lagrange, recursive, quasi_base, rotators or newton_euler.")
    ] = None,
    shape: Annotated[str, typer.Option(metavar="SHAPE", help="expanded, named, or auto: by size.")] = "auto",
    reactions: Annotated[
        str, typer.Option(metavar="JOINTS", help="Joints whose reactions are wanted: elbow,wrist.")
    ] = "",
    latex: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a LaTeX document.")] = None,
    python: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a Python function.")] = None,
    c: Annotated[Path | None, typer.Option("--c", metavar="FILE", help="Write a C function.")] = None,
    base: Base = "fixed",
    debug: Debug = False,
) -> None:
    """Print the equations of motion of a model.

    Small models are written out, large ones with names for what recurs. Files
    are written in place of printing.

    \b
    kinode equations pendulum.yaml
    kinode equations pendulum.yaml --reactions pivot --latex pendulum.tex
    kinode equations four_bar.yaml --formulation newton_euler
    """
    from kinode.cli.terminal_tables import console
    from kinode.symbolic.equations_of_motion import equations as derive

    names = [name.strip() for name in reactions.split(",") if name.strip()]
    found = derive(load_model(model, base), formulation, shape, names)
    files = {latex: lambda: found.latex(document=True), python: found.python, c: found.c}
    for path, write in files.items():
        if path is not None:
            path.write_text(write(), encoding="utf-8")
            typer.echo(f"wrote {path}")
    if not any(files):
        typer.echo(found.text(max(console().width, 40)))


@app.command()
@reporting_errors
def explain(
    model: Model,
    latex: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a LaTeX document.")] = None,
    scheme: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the vector scheme: .svg, .png or .pdf.")
    ] = None,
    base: Base = "fixed",
    debug: Debug = False,
) -> None:
    """Show step by step how the equations come about.

    For each body its vectors and equations, as formulas and as numbers at the
    start. Files are written in place of printing.

    \b
    kinode explain pendulum.yaml
    kinode explain ship_gimbal.yaml --scheme scheme.svg
    """
    from kinode.cli.terminal_tables import console

    system = load_model(model, base)
    if scheme is not None:
        from kinode.views.mechanism.vector_scheme import draw_scheme

        draw_scheme(system, file=scheme)
        typer.echo(f"wrote {scheme}")
    if latex is not None or scheme is None:
        from kinode.symbolic.explain import explain as derive

        found = derive(system)
        if latex is None:
            typer.echo(found.text(max(console().width, 40)))
        else:
            latex.write_text(found.latex(document=True), encoding="utf-8")
            typer.echo(f"wrote {latex}")


@app.command()
@reporting_errors
def show(
    model: Model,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The SVG file; MODEL.svg here, if nothing is said.")
    ] = None,
    width: Annotated[
        float | None, typer.Option(metavar="N", min=240, help="Fold chains that are wider; a part is 40 wide.")
    ] = None,
    text: Annotated[bool, typer.Option("--text", help="Print the model in words; draws with --out only.")] = False,
    base: Base = "fixed",
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
    """
    from kinode.tasks.operating_space import operating_space
    from kinode.views.diagram.circuit_diagram import WIDTH, diagram

    system = load_model(model, base)
    found = operating_space(system) if system.bodies else None
    if text:
        typer.echo(system.summary())
    if not text or out is not None:
        file = out or Path(f"{model.stem}.svg")
        note = "" if found is None else str(found.whole)
        drawn = diagram(system, file, width=WIDTH if width is None else width, note=note)
        crossed = f", {drawn.crossings} crossing{'s' * (drawn.crossings > 1)}" if drawn.crossings else ""
        typer.echo(f"wrote {file}: {len(drawn.components)} components, {len(drawn.links)} links{crossed}")
    if found is not None:
        typer.echo(str(found))


@app.command()
@reporting_errors
def examples(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Which one to print or copy.")] = None,
    copy: Annotated[
        Path | None, typer.Option("--copy", metavar="DIR", help="Write the files into this folder.")
    ] = None,
    debug: Debug = False,
) -> None:
    """List, print or copy the models that come with kinode.

    \b
    kinode examples
    kinode examples pendulum
    kinode examples excavator --copy .
    """
    from kinode.cli.examples import copy_examples, find_example, list_examples
    from kinode.cli.terminal_tables import print_list

    if copy is not None:
        for path in copy_examples(copy, name):
            typer.echo(f"wrote {path}")
    elif name is not None:
        typer.echo(find_example(name).read_text(encoding="utf-8"), nl=False)
    else:
        print_list(list_examples())


@app.command()
@reporting_errors
def schema(
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write to this file.")] = None,
    debug: Debug = False,
) -> None:
    """Print the JSON schema of model files.

    Editors complete and check models by it.

    \b
    kinode schema --out kinode.schema.json
    """
    import json

    from kinode.formats.json_schema import schema as make

    text = json.dumps(make(), indent=2) + "\n"
    if out is None:
        typer.echo(text, nl=False)
    else:
        out.write_text(text, encoding="utf-8")
        typer.echo(f"wrote {out}")


@app.command()
@reporting_errors
def bench(
    model: Annotated[Path | None, typer.Argument(metavar="MODEL", help="A model; else an arm of six joints.")] = None,
    seconds: Annotated[float, typer.Option(metavar="S", min=0.05, help="How long to measure each row.")] = 0.5,
    base: Base = "fixed",
    debug: Debug = False,
) -> None:
    """Measure how fast kinode is on this machine.

    Compiling, calls from Python, batches, steps of a simulation.

    \b
    kinode bench
    kinode bench excavator.yaml --seconds 2
    """
    from kinode.cli.bench import make_arm, measure_system
    from kinode.cli.terminal_tables import print_bench

    system = make_arm() if model is None else load_model(model, base)
    print_bench(system, measure_system(system, seconds))


def main() -> None:
    """The entry point of the command."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    app()
