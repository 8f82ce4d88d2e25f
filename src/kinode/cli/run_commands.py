"""The commands that simulate or compare: run, verify, reactions, balance."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinode.cli.options import (
    Base,
    Debug,
    Method,
    Model,
    NoEquations,
    ReactionPart,
    Step,
    TimeColumn,
    Trust,
    XacroArguments,
    XacroPackages,
    exit_if_stopped,
    find_end,
    find_options,
    input_pairs,
    keeping_results,
    load_model,
    pairs,
    print_result,
    reporting_errors,
    say,
    say_notes,
    say_stopped,
    write_files,
)
from kinode.errors import GuessWarning, RunWarning, SimulationError

if TYPE_CHECKING:
    from kinode.model.system import System
    from kinode.results.trajectory import Trajectory


@reporting_errors
def run(
    model: Model,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="End time, such as 10 or '500 ms'.")] = None,
    method: Method = None,
    step: Step = None,
    rtol: Annotated[float | None, typer.Option(metavar="NUMBER", help="Relative tolerance.")] = None,
    atol: Annotated[float | None, typer.Option(metavar="NUMBER", help="Absolute tolerance.")] = None,
    samples: Annotated[int | None, typer.Option(metavar="N", min=2, help="Keep N evenly spread times.")] = None,
    every: Annotated[str | None, typer.Option(metavar="TIME", help="Keep times so far apart.")] = None,
    formulation: Annotated[
        str, typer.Option(metavar="NAME", help="How the equations are derived: recursive, newton_euler, ...")
    ] = "recursive",
    set_: Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change a parameter.")] = None,
    input_: Annotated[
        list[str] | None, typer.Option("--input", metavar="NAME=VALUE", help="Set an input; or FILE.csv:COLUMN.")
    ] = None,
    time: TimeColumn = None,
    start: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE", help="Start from another state.")] = None,
    report: Annotated[Path | None, typer.Option(metavar="DIR", help="Write an HTML report into this folder.")] = None,
    no_equations: NoEquations = False,
    save: Annotated[Path | None, typer.Option(metavar="FILE", help="Keep the run as NetCDF.")] = None,
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Write what --show names, or the states.")] = None,
    excel: Annotated[Path | None, typer.Option(metavar="FILE", help="The same as .xlsx, a sheet a component.")] = None,
    mat: Annotated[Path | None, typer.Option(metavar="FILE", help="The same for MATLAB, as .mat.")] = None,
    show: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Print the range of a quantity.")] = None,
    base: Base = "fixed",
    trust: Trust = False,
    argument: XacroArguments = None,
    package: XacroPackages = None,
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
    kinode run axis.yaml --input 'voltage=log.csv:u_V V' --show axis.q
    """
    from kinode.model.quantity_expressions import find_expression
    from kinode.model.quantity_names import find_quantity

    system = load_model(model, base, trust, argument, package)
    if not quiet:
        say_notes(model, system)
    names = list(show or ())
    for name in names:
        if find_expression(system, name) is None:
            find_quantity(system, name)
    options = find_options(system, method, step, rtol, atol, samples, every)
    changes = {
        "parameters": pairs("--set", set_),
        "inputs": input_pairs(system, input_, time),
        "start": pairs("--start", start),
    }
    options |= {key: value for key, value in changes.items() if value}
    end = find_end(system, until)
    with keeping_results():
        with warnings.catch_warnings():
            if not quiet:  # these are events of the run too, and printed with it
                warnings.simplefilter("ignore", GuessWarning)
                warnings.simplefilter("ignore", RunWarning)
            trajectory, failure = _simulate(system, end, options, debug, formulation)
        say_stopped(trajectory)
        tables = {"to_csv": csv, "to_excel": excel, "to_mat": mat}
        files = write_files(trajectory, names, report, save, tables, not no_equations)
    try:
        if len(trajectory):
            print_result(trajectory, names, quiet)
    finally:  # tables of a long run may be left out by Ctrl-C
        for path in files:
            if not quiet:
                typer.echo(f"wrote {path}")
    if failure is not None:
        say(str(failure))
        raise typer.Exit(1)
    exit_if_stopped(trajectory)


def _simulate(
    system: System, end: float, options: dict[str, Any], debug: bool, formulation: str = "recursive"
) -> tuple[Trajectory, SimulationError | None]:
    """The run, and why it failed on the way, if it did; with ``debug`` a failure is raised."""
    from kinode.dynamics.compile import compile as compile_system
    from kinode.tasks.simulate import simulate

    try:
        return simulate(compile_system(system, formulation), end, **options), None
    except SimulationError as error:
        if error.run is None or debug:
            raise
        return error.run, error


@reporting_errors
def verify(
    model: Model,
    states: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="How many random states to compare at.")
    ] = None,
    base: Base = "fixed",
    trust: Trust = False,
    argument: XacroArguments = None,
    package: XacroPackages = None,
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
    from kinode.tasks.locking.locked_loops import describe_locks
    from kinode.tasks.verify import verify as compare

    system = load_model(model, base, trust, argument, package)
    comparison = compare(system, states)
    print_verification(comparison)
    for words in describe_locks(system):
        typer.echo(words)
    if not comparison.ok:
        raise typer.Exit(1)


@reporting_errors
def reactions(
    model: Model,
    joint: Annotated[str | None, typer.Option(metavar="NAME", help="Which joint; without it a summary of all.")] = None,
    part: Annotated[
        ReactionPart, typer.Option(help="The part that bearings, spectrum and plot show.")
    ] = ReactionPart.kinetic,
    causes: Annotated[bool, typer.Option("--causes", help="Who loads the joint: by cause, or by body.")] = False,
    bearings: Annotated[
        str | None, typer.Option(metavar="Z1,Z2", help="Two bearings at these places on the axis.")
    ] = None,
    frequency: Annotated[
        str | None, typer.Option(metavar="FREQ", help="A natural frequency: is it excited?")
    ] = None,
    hold: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Joints that support closed loops.")] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw it: PNG, SVG or PDF.")] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="End time, such as 10 or '500 ms'.")] = None,
    samples: Annotated[int, typer.Option(metavar="N", min=2, help="Keep N evenly spread times.")] = 2001,
    set_: Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change a parameter.")] = None,
    base: Base = "fixed",
    trust: Trust = False,
    argument: XacroArguments = None,
    package: XacroPackages = None,
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
    from kinode.results.shafts.load_spectra import read_frequency
    from kinode.tasks.simulate import simulate

    system = load_model(model, base, trust, argument, package)
    at = None if bearings is None else tuple(text.strip() for text in bearings.split(","))
    if at is not None and len(at) != 2:
        raise typer.BadParameter(f"two places are expected, Z1,Z2, not {bearings!r}", param_hint="--bearings")
    if joint is None and (causes or bearings or frequency or plot):
        raise typer.BadParameter("which joint? --causes, --bearings, --frequency and --plot ask about one")
    if frequency is not None:
        read_frequency(frequency)
    trajectory = simulate(system, find_end(system, until), samples=samples, parameters=pairs("--set", set_) or None)
    say_stopped(trajectory)
    if joint is None:
        print_all(trajectory, hold or None)
    else:
        print_joint(trajectory, Question(joint, part.value, hold or None, causes, at, frequency, plot))
        if plot is not None:
            typer.echo(f"wrote {plot}")
    exit_if_stopped(trajectory)


@reporting_errors
def balance(
    model: Model,
    of: Annotated[str, typer.Option(metavar="NAME", help="A body, or system.")] = "system",
    about: Annotated[
        str | None, typer.Option(metavar="FRAME", help="A frame or body; the model's first if left out.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw both sides: PNG, SVG or PDF.")] = None,
    moment: Annotated[bool, typer.Option("--moment", help="Draw moments in place of forces.")] = False,
    axis: Annotated[str | None, typer.Option(metavar="AXIS", help="The component to draw: x, y or z.")] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="End time, such as 10 or '500 ms'.")] = None,
    samples: Annotated[int, typer.Option(metavar="N", min=2, help="Keep N evenly spread times.")] = 2001,
    set_: Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change a parameter.")] = None,
    base: Base = "fixed",
    trust: Trust = False,
    argument: XacroArguments = None,
    package: XacroPackages = None,
    debug: Debug = False,
) -> None:  # fmt: skip
    """Balance forces and moments about a moving frame, term by term.

    What acts on a body or on the whole system, and what its motion needs:
    relative, Euler, Coriolis and centrifugal terms about the origin of any
    frame, in its axes.

    \b
    kinode balance asymmetric_shell.yaml --about aero
    kinode balance excavator.yaml --of boom --about base
    kinode balance asymmetric_shell.yaml --about aero --moment --plot m.png
    """
    from kinode.cli.terminal_tables import print_balance
    from kinode.tasks.simulate import simulate

    system = load_model(model, base, trust, argument, package)
    frame = about or next(iter([*system.frames, *system.bodies]), "world")
    system.find_frame(frame)
    trajectory = simulate(system, find_end(system, until), samples=samples, parameters=pairs("--set", set_) or None)
    say_stopped(trajectory)
    balanced = trajectory.balance(of, frame)
    print_balance(balanced)
    if plot is not None:
        balanced.plot(of="moment" if moment else "force", axis=axis, file=plot)
        typer.echo(f"wrote {plot}")
    exit_if_stopped(trajectory)
