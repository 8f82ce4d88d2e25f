"""The commands about kinode itself: examples, schema; and what answers who asks for bench."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kinode.atomic_files import write_text
from kinode.cli.options import Debug, reporting_errors, say


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


def bench(arguments: Annotated[list[str] | None, typer.Argument(hidden=True)] = None) -> None:
    """Say where kinode is measured."""
    say("speed is measured in a clone of the repository, beside other programs: make bench")
    raise typer.Exit(2)
