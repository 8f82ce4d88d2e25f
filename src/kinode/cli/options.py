"""What the commands share: their options, how they read a model, and errors as messages with an exit code.

Exit codes: 0 success, 1 a wrong model or a failed simulation, 2 a command that cannot be understood, 130 Ctrl-C.
"""

from __future__ import annotations

import functools
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinode.errors import ArgumentError, Error, SupportError
from kinode.ode.method_table import DEFAULT_METHOD, FORMER_METHODS, METHODS, is_fixed, name_fixed

if TYPE_CHECKING:
    from kinode.model.system import System
    from kinode.results.trajectory import Trajectory


DEFAULT_END = 10.0  # seconds
# a file, with a sheet of it where it is one of Excel, and a column
_COLUMN = re.compile(r"(.+\.(?:csv|tsv|txt|dat|mat|parquet|pq|xls[xm](?:#[^:]+)?)):(.+)", re.IGNORECASE)


if TYPE_CHECKING:

    class MethodOption(StrEnum):
        """The methods of integration by name."""

else:
    MethodOption = StrEnum("MethodOption", {name: name for name in (*METHODS, *FORMER_METHODS)})


class ReactionPart(StrEnum):
    """The parts of a reaction."""

    total = "total"
    static = "static"
    kinetic = "kinetic"


Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model: kinode's YAML or JSON, URDF, xacro or MJCF.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show where in the code an error arose.")]
Method = Annotated[
    MethodOption | None,
    typer.Option(metavar=f"[{'|'.join(METHODS)}]", help=f"Integration method; else the model's or {DEFAULT_METHOD}."),
]
Step = Annotated[
    str | None, typer.Option(metavar="TIME", help=f"Step of {name_fixed()}; of other methods the largest.")
]
Base = Annotated[str, typer.Option("--base", help="How the root of a URDF or MJCF model stands: fixed or free.")]
Trust = Annotated[
    bool,
    typer.Option("--trust", help="Let a model name FMUs and files outside its folder, and xacro run code."),
]
XacroArguments = Annotated[
    list[str] | None, typer.Option("--argument", metavar="NAME=VALUE", help="An argument of a xacro file.")
]
XacroPackages = Annotated[
    list[str] | None, typer.Option("--package", metavar="NAME=FOLDER", help="Where a package of a xacro file is.")
]
NoEquations = Annotated[bool, typer.Option("--no-equations", help="Leave the equations of motion out of the page.")]
TimeColumn = Annotated[
    str | None, typer.Option("--time", metavar="COLUMN", help="Times in these files, with their unit: 'Zeit_ms ms'.")
]


def reporting_errors(command: Callable[..., None]) -> Callable[..., None]:
    """Errors and warnings as messages on stderr, not as stack traces and lines of source; errors have an exit code."""

    @functools.wraps(command)
    def wrapped(*args: Any, **given: Any) -> None:
        try:
            with warnings.catch_warnings():
                warnings.showwarning = lambda message, *_: say(f"warning: {message}")
                command(*args, **given)
        except KeyboardInterrupt:
            say("stopped")
            raise typer.Exit(130) from None
        except BrokenPipeError:
            # The reader of the output has closed it; nothing may be written when the interpreter ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except (Error, OSError) as error:
            if given.get("debug"):
                raise
            say(f"--{error}" if isinstance(error, SupportError) else _words(error))
            raise typer.Exit(2 if isinstance(error, ArgumentError) else 1) from None

    return wrapped


def _words(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def say(text: str) -> None:
    """A message for the user, beside the results."""
    typer.echo(f"kinode: {text}", err=True)


@contextmanager
def keeping_results() -> Iterator[None]:
    """Ctrl-C once stops what runs; what was reached is then kept, even if it is pressed again out of impatience."""
    presses = 0

    def press(number: int, frame: object) -> None:
        nonlocal presses
        presses += 1
        if presses == 2:
            say("stopping: what was reached is being kept; Ctrl-C again gives it up")
            return
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, press)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def say_stopped(run: Trajectory) -> None:
    """Say at once where Ctrl-C stopped a run."""
    if run.status == "stopped":
        say(f"stopped at t = {float(run.t[-1]) if len(run) else 0.0:g} s; what follows is the run up to there")


def exit_if_stopped(run: Trajectory) -> None:
    """Exit code 130 for a run that was stopped by Ctrl-C."""
    if run.status == "stopped":
        raise typer.Exit(130)


def print_result(trajectory: Trajectory, names: list[str], quiet: bool) -> None:
    """The tables of a run, unless ``quiet``, and the range of each named quantity."""
    from kinode.cli.terminal_tables import print_quantities, print_run

    if not quiet:
        print_run(trajectory)
    if names:
        print_quantities(trajectory, names)


def load_model(
    model: Path,
    base: str = "fixed",
    trust: bool = False,
    arguments: list[str] | None = None,
    packages: list[str] | None = None,
) -> System:
    """The system in a file; the error about a missing file hints at an example of that name."""
    from kinode.formats.load import load
    from kinode.model.system import System

    if not model.exists():
        from kinode.example_files import find_examples

        known = {path.stem: path for path in find_examples()}
        hint = f"; kinode examples {model.stem} --copy . writes the example of that name" if model.stem in known else ""
        raise typer.BadParameter(f"there is no file {model}{hint}", param_hint="MODEL")
    if base not in ("fixed", "free"):
        raise typer.BadParameter("fixed or free", param_hint="--base")
    named = pairs("--argument", arguments), pairs("--package", packages)
    system = load(model, base, trust=trust, arguments=named[0], packages=named[1])
    if not isinstance(system, System):
        raise typer.BadParameter(
            f"{model} is a saved run, and no model; in Python kn.load reads it", param_hint="MODEL"
        )
    return system


def say_notes(model: Path, system: System) -> None:
    """Where kinode's model differs from the file of another program."""
    from kinode.importers import ROBOT_FILES

    if model.suffix.lower() in ROBOT_FILES:
        for note in system.notes:
            say(note)


def find_end(system: System, until: str | None) -> float:
    """End time of a run, s: from the command, from the model, or the default."""
    if until is not None:
        return read_time(system, "--until", until)
    return float(system.run_defaults.get("until", DEFAULT_END))


def find_options(
    system: System,
    method: MethodOption | None,
    step: str | None,
    rtol: float | None = None,
    atol: float | None = None,
    samples: int | None = None,
    every: str | None = None,
) -> dict[str, Any]:
    """Options of ``simulate`` from the command line; the others come from the model's run section."""
    given = {
        "method": None if method is None else method.value,
        "step": None if step is None else read_time(system, "--step", step),
        "rtol": rtol, "atol": atol, "samples": samples,
        "every": None if every is None else read_time(system, "--every", every),
    }  # fmt: skip
    options = {name: value for name, value in given.items() if value is not None}
    chosen = options.get("method", system.run_defaults.get("method", DEFAULT_METHOD))
    if "step" in options and not is_fixed(chosen):
        options["max_step"] = options.pop("step")
    return options


def pairs(option: str, texts: list[str] | None) -> dict[str, str]:
    """The names and values of options such as --set k=3."""
    values = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise typer.BadParameter(f"NAME=VALUE is expected, not {text!r}", param_hint=option)
        values[name.strip()] = value.strip()
    return values


def input_pairs(system: System, texts: list[str] | None, time: str | None = None) -> dict[str, Any]:
    """The inputs of --input: a value, or a column of a file over time, ``u=log.csv:u_V V``."""
    values: dict[str, Any] = dict(pairs("--input", texts))
    for name, text in values.items():
        course = _COLUMN.fullmatch(text)
        if course is not None:
            from kinode.studies.fits.measured_records import read_course_of, read_record

            values[name] = read_course_of(system, name, read_record(course[1], time=time), course[2])
    return values


def read_time(system: System, option: str, text: str) -> float:
    """Seconds from a text such as ``500 ms`` or arithmetic with the parameters of the model."""
    try:
        return system.nominal(system.reader("command").number(text, "time", option))
    except Error as error:
        raise typer.BadParameter(getattr(error, "message", str(error)), param_hint=option) from None


def write_files(
    trajectory: Trajectory, names: list[str], report: Path | None, save: Path | None,
    tables: dict[str, Path | None], equations: bool = True,
) -> list[Path]:  # fmt: skip
    """Write the files that the options name; a run that failed on the way is written up to its failure.

    ``tables`` are files by the method of a run that writes them; ``equations`` says whether the report has them.
    """
    files = []
    if report is not None:
        from kinode.report.run_report import report as write_report

        files.append(write_report(trajectory, report, equations=equations))
    if save is not None:
        trajectory.save(save)
        files.append(save)
    for method, path in tables.items():
        if path is not None:
            getattr(trajectory, method)(path, names or None)
            files.append(path)
    return files
