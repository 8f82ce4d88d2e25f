"""``kn.load``: reads a model file; the suffix decides the format, for an unknown suffix the content."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from kinode.errors import ModelError, unreadable
from kinode.importers import URDF
from kinode.model.system import System

YAML = (".yaml", ".yml", ".json")


def load(
    path: str | os.PathLike[str],
    base: str = "fixed",
    *,
    mimic: bool = True,
    name: str | None = None,
    plugins: Iterable[str | ModuleType] = (),
    trust: bool = False,
) -> System:
    """Load a system from a file: URDF (.urdf, .xml), or kinode's own YAML or JSON.

    Parameters
    ----------
    path : str or path
        The file.
    base : {"fixed", "free"}
        How the root link of a URDF is connected to the world: rigidly, or by a free joint.
    mimic : bool
        Whether the mimic joints of a URDF become gears (default); False lets them move independently.
    name : str, optional
        Name of the system; default is the name in the file.
    plugins : iterable of str or module
        Modules, or their names, that register types of joints and elements.  A file cannot name plug-ins.
    trust : bool
        Whether a YAML file may name files outside its folder (default: it may not).

    Returns
    -------
    System

    Raises
    ------
    ModelError
        If the file cannot be read or the model is wrong; it names the file, line, component and field.

    Examples
    --------
    >>> arm = kn.load("examples/ur5.urdf")  # doctest: +SKIP
    """
    for plugin in plugins:
        if isinstance(plugin, str):
            importlib.import_module(plugin)
    file = Path(path)
    suffix = file.suffix.lower()
    if suffix in URDF or (suffix not in YAML and _starts_as_xml(file)):
        from kinode.importers import urdf

        return urdf.load(file, base, mimic=mimic, name=name)
    if base != "fixed":
        raise ModelError(f'base="{base}" is for URDF; this file says itself how its bodies are joined', file=str(file))
    from kinode.formats import yaml_files

    system: System = yaml_files.load(file, trust=trust)
    if name is not None:
        system.name = name
    return system


def _starts_as_xml(file: Path) -> bool:
    try:
        with file.open("rb") as stream:
            start = stream.read(256)
    except (OSError, ValueError) as error:
        raise unreadable(file, error) from None
    return start.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"<"
