"""``kn.export``: a system in another form, as a file.

``EXPORTS`` is the table of all kinds: what joins it is known to ``kn.export``, ``kinode export`` and the studio.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kinode.atomic_files import write_bytes, write_folder
from kinode.errors import ArgumentError
from kinode.exporters.python_script import write_script
from kinode.exporters.robots.mjcf_writer import write_mjcf
from kinode.exporters.robots.urdf_writer import write_urdf
from kinode.formats.load import YAML, load
from kinode.formats.yaml_files import dumps
from kinode.hooks import hook
from kinode.model.base.fields import short, unknown
from kinode.model.system import System

Exported = str | bytes | Mapping[str, str | bytes]
"""What an export gives: the text or the bytes of a file, or the contents of a folder by file name."""


@dataclass(frozen=True)
class ExportOrder:
    """What is to be exported."""

    system: System
    text: str = ""
    """The text that the system is from; empty where that is not known."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Further arguments of ``kn.export``, by name; those that the kind knows."""
    file: Path | None = None
    """Where it will be written; None where that is not known."""


@dataclass(frozen=True)
class ExportKind:
    """A form that a system can be written in: what it is, the ending of its files, and what writes it."""

    words: str
    suffix: str
    """The ending of the file; empty for a folder."""
    write: Callable[[ExportOrder], Exported]
    options: tuple[str, ...] = ()
    """The names of further arguments that it takes."""
    is_text: bool = True
    """Whether it is one file of text."""


def _write_fmu(order: ExportOrder) -> bytes:
    from kinode.exporters.fmu.fmu_export import write_fmu  # compilers and archives serve it alone

    return write_fmu(order.system, order.options)


def _write_library(order: ExportOrder) -> dict[str, str]:
    from kinode.exporters.c_code.c_library import write_library  # the second writer serves it alone

    return write_library(order.system, order.options)


EXPORTS = {
    "yaml": ExportKind(
        "model file, in SI units, with all subsystems written out", ".yaml", lambda order: dumps(order.system)
    ),
    "python": ExportKind(
        "script that builds the same system", ".py", lambda order: write_script(order.system, order.text)
    ),
    "svg": ExportKind(
        "circuit diagram, laid out anew", ".svg", lambda order: str(hook("diagram")(order.system).svg)
    ),
    "urdf": ExportKind(
        "robot of links and joints, as a tree", ".urdf",
        lambda order: write_urdf(order.system, None if order.file is None else order.file.parent),
    ),
    "mjcf": ExportKind("model of MuJoCo", ".xml", lambda order: write_mjcf(order.system)),
    "c": ExportKind(
        "library in C99 with an example, in a folder", "", _write_library,
        ("outputs", "inputs", "method", "step", "rtol", "atol", "jacobian"), is_text=False,
    ),
    "fmu": ExportKind(
        "FMU for Model Exchange and Co-Simulation", ".fmu", _write_fmu,
        ("outputs", "inputs", "version", "platforms", "method", "step", "rtol", "atol", "optimization"), is_text=False,
    ),
}  # fmt: skip


def find_export(kind: object) -> ExportKind:
    """The entry of the table, or an error that names the nearest."""
    if not isinstance(kind, str) or kind not in EXPORTS:
        raise ArgumentError(f"export: {unknown('there is no kind', str(kind), EXPORTS)}")
    return EXPORTS[kind]


def export(
    system: System | str | os.PathLike[str], kind: str, path: str | os.PathLike[str], **options: Any
) -> Path:  # fmt: skip
    """Write a system in another form.

    Parameters
    ----------
    system : System or path
        The system, or a model file.  A script of a YAML file keeps its values as they were typed, and its comments.
    kind : {"yaml", "python", "svg", "urdf", "mjcf", "c", "fmu"}
        A model file; a Python script that builds the same system; the circuit diagram; a robot as URDF; a model of
        MuJoCo; a library in C; an FMU, which other simulators run.  What URDF and MJCF cannot say is named by a
        ``kn.ExportWarning`` and in comments of the file.
    path : path
        The file, or a folder, in which the file gets the name of the system.  A kind that is a folder is written into
        this one.
    **options
        What the kind takes besides.  Of a library in C: ``outputs`` and ``inputs``, lists of names; ``method``,
        ``step``, ``rtol`` and ``atol`` of its integrator; ``jacobian``, whether derivatives are written.  Of an FMU:
        ``outputs`` and ``inputs``; ``version``, "2.0" or "3.0"; ``platforms``, a list of "linux", "linux-arm",
        "windows", "mac", "mac-arm", or "host"; ``method``, ``step``, ``rtol`` and ``atol`` of its co-simulation.

    Returns
    -------
    pathlib.Path
        The file, or the folder.

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
    for name in options:
        if name not in chosen.options:
            raise ArgumentError(f"export: {unknown(f'{kind!r} takes no', name, chosen.options)}")
    file = Path(path)
    if chosen.suffix and file.is_dir():
        file = file / f"{file_name(system.name)}{chosen.suffix}"
    _write(file, chosen.write(ExportOrder(system, text, options, file)))
    return file


def _write(file: Path, contents: Exported) -> None:
    """Write a file or a folder, as a whole."""
    if isinstance(contents, Mapping):
        write_folder(file, {name: x.encode() if isinstance(x, str) else x for name, x in contents.items()})
    else:
        write_bytes(file, contents.encode() if isinstance(contents, str) else contents)


def _load(file: Path) -> tuple[Any, str]:
    """The model of a file, and its text where that is YAML."""
    system = load(file)
    return system, file.read_text(encoding="utf-8-sig") if file.suffix.lower() in YAML else ""


def file_name(name: str) -> str:
    """The name of a system as the name of a file, without separators."""
    return "".join(x if x.isalnum() or x in "._-" else "_" for x in name).strip("._") or "model"
