"""``kn.export``: a system in another form, as a file.

``EXPORTS`` is the table of all kinds: what joins it is known to ``kn.export``, ``kinode export`` and the studio.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kinode.atomic_files import write_text
from kinode.errors import ArgumentError
from kinode.exporters.python_script import write_script
from kinode.formats.load import YAML, load
from kinode.formats.yaml_files import dumps
from kinode.hooks import hook
from kinode.model.base.fields import short, unknown
from kinode.model.system import System
from kinode.records import dataclass


@dataclass(frozen=True)
class ExportKind:
    """A form that a system can be written in: what it is, the ending of its files, and what writes it."""

    words: str
    suffix: str
    write: Callable[[System, str], str]
    """From the system, and the text that it is from, which is empty where that is not known."""


def _write_yaml(system: System, text: str) -> str:
    return dumps(system)


def _draw(system: System, text: str) -> str:
    return str(hook("diagram")(system).svg)


EXPORTS = {
    "yaml": ExportKind("model file, in SI units, with all subsystems written out", ".yaml", _write_yaml),
    "python": ExportKind("Python script that builds the same system", ".py", write_script),
    "svg": ExportKind("circuit diagram", ".svg", _draw),
}


def find_export(kind: object) -> ExportKind:
    """The entry of the table, or an error that names the nearest."""
    if not isinstance(kind, str) or kind not in EXPORTS:
        raise ArgumentError(f"export: {unknown('there is no kind', str(kind), EXPORTS)}")
    return EXPORTS[kind]


def export(system: System | str | os.PathLike[str], kind: str, path: str | os.PathLike[str]) -> Path:
    """Write a system in another form.

    Parameters
    ----------
    system : System or path
        The system, or a model file.  A script of a YAML file keeps its values as they were typed, and its comments.
    kind : {"yaml", "python", "svg"}
        A model file; a Python script that builds the same system; the circuit diagram.
    path : path
        The file, or a folder, in which the file gets the name of the system.

    Returns
    -------
    pathlib.Path
        The file.

    Examples
    --------
    >>> file = kn.export("examples/pendulum.yaml", "python", "pendulum.py")
    >>> 'kn.System("pendulum"' in file.read_text()
    True
    """
    text = ""
    if isinstance(system, str | os.PathLike):
        system, text = _load(Path(system))
    if not isinstance(system, System):
        raise ArgumentError(f"export: a System or a model file is expected, not {short(system)}")
    chosen = find_export(kind)
    file = Path(path)
    if file.is_dir():
        file = file / f"{file_name(system.name)}{chosen.suffix}"
    write_text(file, chosen.write(system, text))
    return file


def _load(file: Path) -> tuple[Any, str]:
    """The model of a file, and its text where that is YAML."""
    system = load(file)
    return system, file.read_text(encoding="utf-8-sig") if file.suffix.lower() in YAML else ""


def file_name(name: str) -> str:
    """The name of a system as the name of a file, without separators."""
    return "".join(x if x.isalnum() or x in "._-" else "_" for x in name).strip("._") or "model"
