"""``kn.export``: a system in another form, as a file.

``EXPORTS`` is the table of all kinds; one that joins it is known to ``kn.export``, to ``kinode export`` and to the studio.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from kinode.atomic_files import write_text
from kinode.errors import ArgumentError
from kinode.exporters.python_script import write_script
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
    write: Callable[[System], str]


def _draw(system: System) -> str:
    return str(hook("diagram")(system).svg)


EXPORTS = {
    "yaml": ExportKind("model file, in SI units, with all subsystems written out", ".yaml", dumps),
    "python": ExportKind("Python script that builds the same system", ".py", write_script),
    "svg": ExportKind("circuit diagram", ".svg", _draw),
}


def find_export(kind: object) -> ExportKind:
    """The entry of the table, or an error that names the nearest."""
    if not isinstance(kind, str) or kind not in EXPORTS:
        raise ArgumentError(f"export: {unknown('there is no kind', str(kind), EXPORTS)}")
    return EXPORTS[kind]


def export(system: System, kind: str, path: str | os.PathLike[str]) -> Path:
    """Write a system in another form.

    Parameters
    ----------
    system : System
        The system.
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
    >>> folder = getfixture("tmp_path")
    >>> file = kn.export(kn.load("examples/pendulum.yaml"), "python", folder)
    >>> file.name, 'pendulum.revolute("pivot", pendulum.world, rod' in file.read_text()
    ('pendulum.py', True)
    """
    if not isinstance(system, System):
        raise ArgumentError(f"export: a System is expected, not {short(system)}; kn.load reads one from a file")
    chosen = find_export(kind)
    file = Path(path)
    if file.is_dir():
        file = file / f"{file_name(system.name)}{chosen.suffix}"
    write_text(file, chosen.write(system))
    return file


def file_name(name: str) -> str:
    """The name of a system as the name of a file, without separators."""
    return "".join(x if x.isalnum() or x in "._-" else "_" for x in name).strip("._") or "model"
