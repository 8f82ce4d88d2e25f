"""``kinode studio``: draw a model on a page, run it and watch it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kinode.cli.options import Debug, Trust, reporting_errors


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
    from kinode.studio.drawing.studio_view import serve_studio

    serve_studio(
        model, read_only=read_only, port=port, plugins=plugins or (), verify=not no_verify, browser=not no_browser,
        trust=trust, say=typer.echo,
    )  # fmt: skip
