"""``kinode export``: a model in another form."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer

from kinode.cli.options import (
    Base,
    Debug,
    Model,
    Trust,
    XacroArguments,
    XacroPackages,
    load_model,
    reporting_errors,
    say,
)


@reporting_errors
def export(
    model: Model,
    to: Annotated[str, typer.Option("--to", metavar="KIND", help="c, fmu, mjcf, python, svg, urdf or yaml.")],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The file; named after MODEL, in this folder, if left out.")
    ] = None,
    outputs: Annotated[
        list[str] | None, typer.Option("--output", metavar="NAME", help="c, fmu: an output; may be repeated.")
    ] = None,
    inputs: Annotated[
        list[str] | None, typer.Option("--input", metavar="NAME", help="c, fmu: an input; all, if left out.")
    ] = None,
    version: Annotated[str | None, typer.Option("--fmi", metavar="VERSION", help="fmu: 2.0 or 3.0.")] = None,
    platforms: Annotated[
        list[str] | None,
        typer.Option("--platform", metavar="NAME", help="fmu: linux, linux-arm, windows, mac, mac-arm or host."),
    ] = None,
    base: Base = "fixed",
    trust: Trust = False,
    argument: XacroArguments = None,
    package: XacroPackages = None,
    debug: Debug = False,
) -> None:
    """Write a model in another form.

    python: a script that builds the same system. svg: the circuit diagram.
    yaml: one file, in SI units, with all subsystems and other files in it.
    c: a folder with a library in C99 and an example.
    fmu: Model Exchange and Co-Simulation for other simulators.
    urdf, mjcf: robots for other programs; what they cannot say is named.

    \b
    kinode export arm.yaml --to python
    kinode export motor_axis.yaml --to svg --out axis.svg
    kinode export arm.urdf --to yaml
    kinode export four_bar.yaml --to mjcf
    kinode export arm.yaml --to c --out arm_in_c
    kinode export arm.yaml --to fmu --output elbow.q --output elbow.reaction.force
    """
    from kinode.errors import ArgumentError, ExportWarning
    from kinode.exporters.export import export as write
    from kinode.exporters.export import find_export

    chosen = find_export(to)
    file = out or Path(f"{model.stem}{chosen.suffix or f'_{to}'}")
    if out is None and file.exists() and file.resolve() == model.resolve():
        raise ArgumentError(f"--out: {file} is the model itself; name another file")
    plain = base == "fixed" and not (trust or argument or package)
    source = model if plain else load_model(model, base, trust, argument, package)
    given = {"outputs": outputs, "inputs": inputs, "version": version, "platforms": platforms}
    options = {name: value for name, value in given.items() if value}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", ExportWarning)
        file = write(source, to, file, **options)
    for warning in said:
        say(str(warning.message))
    typer.echo(f"wrote {file}: {chosen.words}")
