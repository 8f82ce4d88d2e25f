"""The command ``kinode sweep``: many runs of a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kinode.cli.options import (
    Base,
    Debug,
    Method,
    Model,
    Step,
    TimeColumn,
    Trust,
    XacroArguments,
    XacroPackages,
    find_end,
    find_options,
    input_pairs,
    load_model,
    pairs,
    reporting_errors,
    say,
)
from kinode.errors import ArgumentError

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
    from kinode.tasks.studies.study_axes import read_axis_text
    from kinode.tasks.studies.sweep import sweep as make_study

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
