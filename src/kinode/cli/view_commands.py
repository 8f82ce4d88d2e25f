"""The commands that open a page: view, a model or stored runs in the player; studio, a model to draw, run and watch."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinode.cli.options import (
    Base,
    Debug,
    Method,
    NoEquations,
    Trust,
    XacroArguments,
    XacroPackages,
    find_end,
    find_options,
    load_model,
    pairs,
    reporting_errors,
    say,
    say_stopped,
)

if TYPE_CHECKING:
    from kinode.model.system import System
    from kinode.results.trajectory import Trajectory


RUN_FILES = (".nc",)


@reporting_errors
def view(
    files: Annotated[list[Path], typer.Argument(metavar="MODEL|RUN.nc ...", help="A model, or stored runs.")],
    until: Annotated[str | None, typer.Option(metavar="TIME", help="End time, such as 10 or '500 ms'.")] = None,
    method: Method = None,
    set_: Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change a parameter.")] = None,
    start: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE", help="Start from another state.")] = None,
    keep: Annotated[list[str] | None, typer.Option(metavar="NAME", help="A further quantity to plot.")] = None,
    rate: Annotated[float | None, typer.Option(metavar="HZ", help="Pictures for a second of the run.")] = None,
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Write an .html file, open nothing.")] = None,
    video: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a .webm or .mp4 film.")] = None,
    live: Annotated[bool, typer.Option("--live", help="Change numbers on the page; the run follows.")] = False,
    verify: Annotated[bool, typer.Option("--verify", help="Compare independent derivations too.")] = False,
    no_equations: NoEquations = False,
    base: Base = "fixed",
    trust: Trust = False,
    argument: XacroArguments = None,
    package: XacroPackages = None,
    debug: Debug = False,
) -> None:  # fmt: skip
    """Show a run moving, with the loads in its joints, in the browser.

    A model is simulated first. Several stored runs of one model are shown
    beside each other. A file that --output writes needs nothing else: it opens
    from a mail. With --live every number of the model can be dragged.

    \b
    kinode view excavator.yaml
    kinode view pendulum.yaml --output pendulum.html
    kinode view a.nc b.nc
    kinode view motor_axis.yaml --live
    kinode view four_bar.yaml --video four_bar.webm
    """
    if live:
        reading = {"trust": trust, "arguments": pairs("--argument", argument), "packages": pairs("--package", package)}
        _view_live(files, until, pairs("--set", set_), base, reading, not no_equations)
        return
    read = partial(load_model, base=base, trust=trust, arguments=argument, packages=package)
    runs = [_find_run(file, until, method, set_, start, rate, read, trust, debug) for file in files]
    labels = [file.name for file in files] if len(files) > 1 else []
    from kinode.studio.live.view import view as show

    if video is not None:
        from kinode.player.film import write_video

        typer.echo(f"wrote {write_video(runs[0], video)}")
        if output is None:
            return
    path = show(
        runs[0], output, beside=runs[1:], keep=keep or (), rate=rate, verify=verify, labels=labels, browser=False,
        equations=not no_equations,
    )  # fmt: skip
    if output is None and webbrowser.open(path.resolve().as_uri()):
        typer.echo(f"opened {path}")
        return
    typer.echo(f"wrote {path}")
    if output is None:
        say("no browser was found on this machine: open the file in one (--output FILE chooses its place)")


def _find_run(
    file: Path, until: str | None, method: Method, set_: list[str] | None, start: list[str] | None,
    rate: float | None, read: Callable[[Path], System], trust: bool, debug: bool,
) -> Trajectory:  # fmt: skip
    """The run of a file: stored, or simulated with as many times as there are pictures."""
    from kinode.errors import SimulationError
    from kinode.results.picture_states import count_pictures
    from kinode.results.run_files import load_run
    from kinode.tasks.simulate import simulate

    if file.suffix.lower() in RUN_FILES:
        return load_run(file, trust)
    system = read(file)
    end = find_end(system, until)
    begin = float(system.run_defaults.get("t0", 0.0))
    options = find_options(system, method, None, None, None, count_pictures(end - begin, rate))
    changes = {"parameters": pairs("--set", set_), "start": pairs("--start", start)}
    options |= {key: value for key, value in changes.items() if value}
    try:
        run: Trajectory = simulate(system, end, **options)
    except SimulationError as error:
        if error.run is None or debug:
            raise
        say(str(error))
        run = error.run
    say_stopped(run)
    return run


def _view_live(
    files: list[Path], until: str | None, values: dict[str, str], base: Base, reading: dict[str, Any], equations: bool
) -> None:
    if len(files) != 1 or files[0].suffix.lower() in RUN_FILES:
        raise typer.BadParameter("--live takes one model file")
    from kinode.studio.live.live_view import serve_model

    serve_model(files[0], until=until, values=values, base=base, reading=reading, equations=equations)


@reporting_errors
def studio(
    model: Annotated[Path | None, typer.Argument(metavar="MODEL", help="A model: YAML, JSON or URDF.")] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Refuse changes.")] = False,
    port: Annotated[int, typer.Option(metavar="PORT", help="The port to serve at; 0 takes a free one.")] = 0,
    plugins: Annotated[
        list[str] | None, typer.Option("--plugins", metavar="MODULE", help="Import kinds of components.")
    ] = None,
    no_verify: Annotated[
        bool, typer.Option("--no-verify", help="Compare derivations on request, not after each change.")
    ] = False,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address, open nothing.")] = False,
    trust: Trust = False,
    debug: Debug = False,
) -> None:
    """Draw a mechanism or a circuit in the browser, run it and watch it.

    Without MODEL the page begins with a gallery of examples. Diagram, fields
    and text are views of one file, whose comments stay as they are. Nothing
    is lost: what is not saved is offered when the model is opened again.

    \b
    kinode studio
    kinode studio axis.yaml
    kinode studio arm.urdf
    kinode studio axis.yaml --plugins my_joints
    """
    from kinode.studio.editor.studio_view import serve_studio

    serve_studio(
        model, read_only=read_only, port=port, plugins=plugins or (), verify=not no_verify, browser=not no_browser,
        trust=trust, say=typer.echo,
    )  # fmt: skip
