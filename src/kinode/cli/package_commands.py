"""The commands about kinode itself: examples, schema, bench."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kinode.atomic_files import write_text
from kinode.cli.options import (
    Base,
    Debug,
    Trust,
    XacroArguments,
    XacroPackages,
    load_model,
    reporting_errors,
)


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
    from kinode.cli.terminal_tables import print_list
    from kinode.studio.example_files import copy_examples, find_example, list_examples

    if copy is not None:
        for path in copy_examples(copy, name):
            typer.echo(f"wrote {path}")
    elif name is not None:
        typer.echo(find_example(name).read_text(encoding="utf-8"), nl=False)
    else:
        print_list(list_examples())


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
        write_text(out, text)
        typer.echo(f"wrote {out}")


@reporting_errors
def bench(
    model: Annotated[Path | None, typer.Argument(metavar="MODEL", help="A model; else an arm of six joints.")] = None,
    seconds: Annotated[float, typer.Option(metavar="S", min=0.05, help="How long to measure each row.")] = 0.5,
    base: Base = "fixed",
    trust: Trust = False,
    argument: XacroArguments = None,
    package: XacroPackages = None,
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

    system = make_arm() if model is None else load_model(model, base, trust, argument, package)
    print_bench(system, measure_system(system, seconds))
