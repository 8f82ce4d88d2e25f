"""The command ``kinode`` and its commands, in the order in which its help lists them.

What is heavy is imported inside the commands, so that help is quick.  Results go to stdout, everything else to stderr.
Options and exit codes are those of options.py.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from kinode.cli.derivation_commands import circuit, equations, explain, show
from kinode.cli.exchange_commands import bench, diff, examples, export, schema
from kinode.cli.load_commands import balance, reactions
from kinode.cli.run_commands import identify, run, sweep, verify
from kinode.cli.view_commands import studio, view
from kinode.version import __version__

INTRO = """From the description of a mechanism to its motion and the loads in its joints.

\b
  kinode examples --copy .               get the examples
  kinode run pendulum.yaml               simulate one
  kinode run excavator.yaml --report out write an HTML report
  kinode view excavator.yaml             see it move, with its joint loads
  kinode studio                          draw a circuit or mechanism, run it
  kinode run arm.urdf --until 5 --show elbow.q
  kinode sweep slider_crank.yaml --over 'n=500 rpm..3000 rpm:26'
  kinode identify arm.yaml log.csv --measure 'elbow.q=angle deg' --free J
  kinode verify excavator.yaml           derive it in independent ways
  kinode equations pendulum.yaml         print its equations of motion
  kinode reactions rotor.yaml            say what loads its joints
  kinode balance quadcopter.yaml         balance forces about a frame
  kinode show motor_axis.yaml            draw its circuit diagram
  kinode diff axis.yaml                  what changed since the last commit
  kinode export arm.yaml --to python     write it as a Python script

Each command has its own help: kinode run --help
"""

app = typer.Typer(
    name="kinode",
    help=INTRO,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"kinode {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


for command in (
    run,
    view,
    studio,
    sweep,
    identify,
    verify,
    reactions,
    balance,
    equations,
    explain,
    circuit,
    show,
    diff,
    export,
    examples,
    schema,
):
    app.command()(command)
app.command(hidden=True, context_settings={"ignore_unknown_options": True})(bench)


def main() -> None:
    """The entry point of the command."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    app()
