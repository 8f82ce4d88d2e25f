"""The commands about models as files: export, diff, examples, schema; and bench.

``kinode diff`` says what differs between two models, and what that does to the peaks of their runs.
"""

from __future__ import annotations

import json
import warnings
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from kinode.atomic_files import write_text
from kinode.cli.options import (
    Base,
    Debug,
    Model,
    Trust,
    XacroArguments,
    XacroPackages,
    find_end,
    load_model,
    reporting_errors,
    say,
)

if TYPE_CHECKING:
    from kinode.comparing.models import ComparedRow, ModelComparison, ModelSide
    from kinode.results.compare import RunComparison


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


WIDE = 92  # columns of a terminal for the whole table
STYLES = {"added": "green", "removed": "red", "renamed": "cyan", "changed": "yellow"}


@reporting_errors
def diff(
    first: Annotated[Path, typer.Argument(metavar="MODEL", help="A model: YAML, JSON or URDF.")],
    second: Annotated[Path | None, typer.Argument(metavar="OTHER", help="What it became; else see --commit.")] = None,
    commit: Annotated[
        str, typer.Option("--commit", metavar="REV", help="Without OTHER: the commit that MODEL is compared with.")
    ] = "HEAD",
    peaks: Annotated[bool, typer.Option("--peaks", help="Run both, and set their peaks side by side.")] = False,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="End of both runs.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="End with 1 if anything differs.")] = False,
    trust: Trust = False,
    debug: Debug = False,
) -> None:
    """Say what differs between two models, by what they mean.

    1000 mm and 1 m are equal; comments and order do not count; a part
    that only got another name is one row. With one MODEL: what changed
    in it since its last commit.

    \b
    kinode diff before.yaml after.yaml
    kinode diff axis.yaml
    kinode diff axis.yaml --commit v1.2
    kinode diff before.yaml after.yaml --peaks --until 5
    """
    from kinode.comparing.models import compare_sides

    if second is not None and commit != "HEAD":
        raise typer.BadParameter("is for one MODEL; with OTHER both are files", param_hint="--commit")
    if until is not None and not peaks:
        raise typer.BadParameter("is for --peaks", param_hint="--until")
    with ExitStack() as stack:
        sides = _read_sides(stack, first, second, commit, trust)
        found = compare_sides(*sides)
        runs = _compare_peaks(sides, until) if peaks else None
    if as_json:
        plain = {**found.to_dict(), **({} if runs is None else {"peaks": runs.to_dict()["rows"]})}
        typer.echo(json.dumps(plain, indent=2))
    else:
        print_comparison(found)
        if runs is not None:
            from kinode.cli.terminal_tables import console, print_part

            print_part(console(), replace(runs.peaks, title="peaks"))
    if exit_code and found:
        raise typer.Exit(1)


def _read_sides(
    stack: ExitStack, first: Path, second: Path | None, commit: str, trust: bool
) -> tuple[ModelSide, ModelSide]:
    """Both models; of one alone the committed one is the first."""
    from kinode.comparing.committed_model import committed_model
    from kinode.comparing.models import ModelSide, read_side, side_of_text
    from kinode.formats.load import YAML, load

    for path in (first, second):
        if path is not None and not path.exists():
            raise typer.BadParameter(f"there is no file {path}", param_hint="MODEL" if path is first else "OTHER")
    if second is not None:
        return read_side(first, trust=trust), read_side(second, trust=trust)
    now = read_side(first, trust=trust)
    before = stack.enter_context(committed_model(first, commit))
    if first.suffix.lower() in YAML:
        return side_of_text(before.text, before.place, before.label, trust=trust), now
    return ModelSide(load(before.place, trust=trust), before.label), now


def _compare_peaks(sides: tuple[ModelSide, ModelSide], until: str | None) -> RunComparison:
    from kinode.results.compare import compare_runs
    from kinode.tasks.simulate import simulate

    one, two = (simulate(side.system, find_end(side.system, until)) for side in sides)
    if one.t[-1] != two.t[-1]:
        say(f"the runs end at {one.t[-1]:g} s and {two.t[-1]:g} s: --until gives both one end")
    return compare_runs(one, two, (sides[0].label, sides[1].label))


def print_comparison(found: ModelComparison) -> None:
    """The differences as a table; in a narrow terminal one below the other."""
    from kinode.cli.terminal_tables import console, make_table

    out = console()
    out.print(Text(f"{found.first} -> {found.second}", style="bold"))
    out.print(found.verdict)
    if not found:
        return
    out.print()
    if out.width < WIDE:
        for row in found:
            out.print(_narrow(row))
        return
    out.print(make_table(found.table, [STYLES[row.change.value] for row in found]))


def _narrow(row: ComparedRow) -> Text:
    from kinode.comparing.models import describe_values

    lines = f"  (line {row.lines})" if row.lines else ""
    style: Any = STYLES[row.change.value]
    return Text.assemble((f"{row.change.sign} {row.name}", style), lines, f"\n    {describe_values(row, 60)}")


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
    from kinode.example_files import copy_examples, find_example, list_examples

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
