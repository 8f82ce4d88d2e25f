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
    """Read a system from a file: URDF (.urdf, .xml), or kinode's own YAML or JSON.

    Parameters
    ----------
    path : str or path
        The file.  Its ending says the format, or its content where the ending says nothing.
    base : {"fixed", "free"}, default "fixed"
        How the root link of a URDF stands in the world.  For other files only "fixed" is allowed.
    mimic : bool, default True
        Whether the mimic joints of a URDF follow the joints that they name; with False they move on their own.
    name : str, optional
        Another name for the system.
    plugins : iterable of modules or their names, default ()
        Modules that register joints and elements.  Only the caller names them; a file cannot.
    trust : bool, default False
        Whether a YAML file may name files outside its folder.

    Returns
    -------
    System

    Raises
    ------
    ModelError
        The file cannot be read, or its model is wrong; the error has the file, the line, the component and the field.

    Examples
    --------
    >>> system = kn.load("examples/pendulum.yaml")
    >>> list(system.joints)
    ['pivot']
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
