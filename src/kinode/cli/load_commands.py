"""The commands about loads: reactions, balance."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kinode.cli.options import (
    Base,
    Debug,
    Model,
    ReactionPart,
    Trust,
    XacroArguments,
    XacroPackages,
    exit_if_stopped,
    find_end,
    load_model,
    pairs,
    reporting_errors,
    say_stopped,
)


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
    from kinode.results.load_spectra import read_frequency
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
    from kinode.cli.terminal_tables import console, print_sheet
    from kinode.sheets.tables import number
    from kinode.tasks.simulate import simulate

    system = load_model(model, base, trust, argument, package)
    frame = about or next(iter([*system.frames, *system.bodies]), "world")
    system.find_frame(frame)
    trajectory = simulate(system, find_end(system, until), samples=samples, parameters=pairs("--set", set_) or None)
    say_stopped(trajectory)
    balanced = trajectory.balance(of, frame)
    print_sheet(console(), balanced.sheet)
    typer.echo(f"the residual is {number(balanced.residual, 2)} of the largest term")
    if plot is not None:
        balanced.plot(of="moment" if moment else "force", axis=axis, file=plot)
        typer.echo(f"wrote {plot}")
    exit_if_stopped(trajectory)
