"""kinode's own files: YAML 1.2 or JSON to a System and back.

    kinode: 1
    name: pendulum
    bodies: {bob: {mass: 1, com: [0, 0, -1]}}
    joints: {pivot: {kind: revolute, between: [world, bob], axis: y}}

A file is data: nothing in it is executed.  It may name other files (``extends``, the ``file`` of a table or a
subsystem); their paths are relative to its folder.  A file must not reach out of the folder of the first file:
absolute paths and paths that lead out of it are refused unless the caller passes ``trust=True``.  Every error names the
file, the line, the component and the field, if they are known.
"""

from __future__ import annotations

import os
from pathlib import Path

from kinode.atomic_files import write_text
from kinode.errors import Error, ModelError
from kinode.formats.model_loader import VERSION, ModelLoader
from kinode.hooks import hook
from kinode.importers import ROBOT_FILES
from kinode.model.system import System


def load(path: str | os.PathLike[str], *, trust: bool = False) -> System:
    """The system in a YAML or JSON file; with ``trust`` it may name files outside its folder."""
    file = Path(path)
    return ModelLoader(file, file.parent, trust, ()).load()


def loads(text: str, file: str | os.PathLike[str] | None = None, *, trust: bool = False) -> System:
    """The system in a YAML or JSON text, which is from ``file`` if that is given."""
    where = None if file is None else Path(file)
    return ModelLoader(where, None if where is None else where.parent, trust, ()).build_text(text)


def save(system: System, path: str | os.PathLike[str]) -> None:
    """Write a system to a YAML file, from which an equal system loads; or to URDF or MJCF, by the ending."""
    file = Path(path)
    if file.suffix.lower() in ROBOT_FILES:
        kind = {".urdf": "urdf", ".xml": "mjcf", ".mjcf": "mjcf"}.get(file.suffix.lower())
        if kind is None:
            raise ModelError("macros are not written: choose the ending .urdf or .yaml", file=str(file))
        hook("export")(system, kind, file)
        return
    text = dumps(system)
    try:
        write_text(file, text)
    except Error as error:
        raise ModelError(str(error)) from None


def dumps(system: System) -> str:
    """A system as YAML."""
    from kinode.formats.yaml_writer import write_system  # models are read more often

    return write_system(system, VERSION)
