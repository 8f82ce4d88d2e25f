"""The command ``kinode identify``: numbers of a model from measurements."""

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
    find_options,
    load_model,
    pairs,
    reporting_errors,
)
from kinode.errors import ArgumentError


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
    from kinode.tasks.fits.identify import identify as fit_model

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
