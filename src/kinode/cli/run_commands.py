"""The commands that make runs of a model: run, verify, sweep, identify."""

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
from kinode.errors import ArgumentError, GuessWarning, RunWarning, SimulationError

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
    from kinode.model.quantities import find_expression, find_quantity

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
    from kinode.tasks.loop_locking import describe_locks
    from kinode.tasks.verify import verify as compare

    system = load_model(model, base, trust, argument, package)
    comparison = compare(system, states)
    print_verification(comparison)
    for words in describe_locks(system):
        typer.echo(words)
    if not comparison.ok:
        raise typer.Exit(1)


DEFAULT_KEEP = "reaction.force|peak"


@reporting_errors
def sweep(
    model: Model,
    over: Annotated[list[str], typer.Option("--over", metavar="NAME=VALUES", help="What varies; see below.")],
    keep: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", help="What is kept; else the peak force of each joint.")
    ] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="End time, such as 10 or '500 ms'.")] = None,
    design: Annotated[str | None, typer.Option(help="grid, rows, random, latin or sobol.")] = None,
    n: Annotated[int | None, typer.Option("-n", metavar="N", min=1, help="How many samples.")] = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Another number gives other samples.")] = 0,
    method: Method = None,
    step: Step = None,
    set_: Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Of all runs.")] = None,
    input_: Annotated[
        list[str] | None, typer.Option("--input", metavar="NAME=VALUE", help="Of all runs; or FILE.csv:COLUMN.")
    ] = None,
    time: TimeColumn = None,
    start: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE", help="Start of all runs.")] = None,
    processes: Annotated[bool, typer.Option("--processes", help="Use processes in the place of threads.")] = False,
    workers: Annotated[int | None, typer.Option(metavar="N", min=1, help="How many threads or processes.")] = None,
    cluster: Annotated[str | None, typer.Option(metavar="ADDRESS", help="A Dask cluster: tcp://host:8786.")] = None,
    store: Annotated[Path | None, typer.Option(metavar="DIR", help="Keep runs in a Zarr store; goes on.")] = None,
    save: Annotated[Path | None, typer.Option(metavar="FILE", help="Keep the study as NetCDF.")] = None,
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Write one row for each run.")] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Plot the results: .png, .svg or .pdf.")] = None,
    report: Annotated[Path | None, typer.Option(metavar="DIR", help="Write an HTML report.")] = None,
    base: Base = "fixed",
    trust: Trust = False,
    argument: XacroArguments = None,
    package: XacroPackages = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
    debug: Debug = False,
) -> None:  # fmt: skip
    """Make many runs of a model, over what varies.

    What varies is a parameter, an input, an initial value, or an argument of
    the simulation. Its values are a list (1,2,5), a range with a number of
    values (0.4..0.6:21), or drawn: normal(mean, sigma), uniform(low, high),
    between(low, high). Units may follow: '400 mm..600 mm:21'.

    \b
    kinode sweep slider_crank.yaml --over 'n=500 rpm..3000 rpm:26' --plot n.png
    kinode sweep pendulum.yaml --over 'pivot.q=10 deg,20 deg' --keep 'pivot.u|peak'
    kinode sweep arm.yaml --over 'L=normal(0.5 m, 1 mm)' -n 1000 --report out
    kinode sweep arm.yaml --over k=100..900:81 --store arm.zarr   may be killed
    """
    from kinode.studies.axes import read_axis_text
    from kinode.studies.sweep import sweep as make_study

    system = load_model(model, base, trust, argument, package)
    wanted = list(keep or ()) or [f"{joint}.{DEFAULT_KEEP}" for joint in system.joints]
    if not wanted:
        raise ArgumentError("keep: the model has no joints; say what is kept, as in --keep 'source.current|peak'")
    axes = dict(read_axis_text(text, "--over") for text in over)
    study = make_study(
        system, axes, find_end(system, until), keep=wanted, design=design, n=n, seed=seed,
        start=pairs("--start", start) or None, parameters=pairs("--set", set_),
        inputs=input_pairs(system, input_, time), on=cluster or ("processes" if processes else None),
        workers=workers, store=store,
        **find_options(system, method, step),
    )  # fmt: skip
    files: list[Path] = []
    for file, write in ((save, study.save), (csv, study.to_csv)):
        if file is not None:
            write(file)
            files.append(file)
    if plot is not None:
        study.plot(file=plot)
        files.append(plot)
    if report is not None:
        files.append(Path(study.report(report)))
    if not quiet:
        typer.echo(str(study))
        for file in files:
            typer.echo(f"wrote {file}")
    if not study.complete:
        say("stopped; what is done is kept" if store else "stopped before all runs were made")
        raise typer.Exit(130)


@reporting_errors
def identify(
    model: Model,
    data: Annotated[list[Path], typer.Argument(metavar="DATA...", help="Records: CSV files with a time.")],
    measure: Annotated[
        list[str], typer.Option(metavar="QUANTITY=COLUMN", help="What a column measures; its unit may follow.")
    ],
    free: Annotated[list[str], typer.Option(metavar="NAME", help="What is to be found; NAME=LOW..HIGH has bounds.")],
    input_: Annotated[
        list[str] | None, typer.Option("--input", metavar="NAME=COLUMN", help="An input's column; or a value.")
    ] = None,
    time: TimeColumn = None,
    free_start: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A start value that is found for each record.")
    ] = None,
    start: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE", help="A start value of all records.")] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change a parameter.")] = None,
    noise: Annotated[
        list[str] | None, typer.Option(metavar="QUANTITY=VALUE", help="Noise of a channel; else it is found.")
    ] = None,
    loss: Annotated[str, typer.Option(help="linear, soft_l1, huber, cauchy or arctan.")] = "linear",
    starts: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="From how many places the search begins; else as needed.")
    ] = None,
    check: Annotated[list[Path] | None, typer.Option(metavar="FILE", help="A record that is not fitted.")] = None,
    method: Method = None,
    step: Step = None,
    save: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the fitted model.")] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Plot records and residuals.")] = None,
    report: Annotated[Path | None, typer.Option(metavar="DIR", help="Write an HTML report.")] = None,
    base: Base = "fixed",
    trust: Trust = False,
    argument: XacroArguments = None,
    package: XacroPackages = None,
    debug: Debug = False,
) -> None:  # fmt: skip
    """Fit numbers of a model to measurements.

    The model is simulated along each record; the numbers are found for which
    the runs differ least from what was measured, with their 95 % intervals,
    and what the data do not show is named.

    \b
    kinode identify arm.yaml log.csv --measure 'elbow.q=angle_deg deg' --free J
    kinode identify axis.yaml a.csv b.csv --time 'Zeit_ms ms' --measure motor.current=i \\
        --input 'voltage=u_V V' --free k --free 'c=0..2' --check c.csv
    """
    from kinode.studies.fits.identify import identify as fit_model

    system = load_model(model, base, trust, argument, package)
    fit = fit_model(
        system, [str(path) for path in data], measure=pairs("--measure", measure),
        free=dict(_read_free(text) for text in free), inputs=pairs("--input", input_), free_start=free_start or (),
        start=pairs("--start", start) or None, parameters=pairs("--set", set_), noise=pairs("--noise", noise),
        loss=loss, time=time, starts=starts, check=[str(path) for path in check] if check else None,
        **find_options(system, method, step),
    )  # fmt: skip
    typer.echo(str(fit))
    files: list[Path] = []
    if save is not None:
        fit.system.save(save)
        files.append(save)
    if plot is not None:
        fit.plot(file=plot)
        files.append(plot)
    if report is not None:
        files.append(Path(fit.report(report)))
    for file in files:
        typer.echo(f"wrote {file}")


def _read_free(text: str) -> tuple[str, tuple[str | None, str | None] | None]:
    """A free number, with its bounds if they are given."""
    name, sign, bounds = (part.strip() for part in text.partition("="))
    if not sign:
        return name, None
    low, dots, high = (part.strip() for part in bounds.partition(".."))
    if not name or not dots or not (low or high):
        raise ArgumentError(f"--free: NAME or NAME=LOW..HIGH is expected, not {text!r}")
    return name, (low or None, high or None)
