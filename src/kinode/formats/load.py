"""``kn.load`` reads a model or a saved run from a file, ``kn.loads`` a model from text.

The ending of a file decides its format; for an unknown ending its content does.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from kinode.errors import ModelError, unreadable
from kinode.hooks import hook
from kinode.importers import ROBOT_FILES
from kinode.model.system import System
from kinode.paused_collection import paused_collection

YAML = (".yaml", ".yml", ".json")
VIEW = ".view.yaml"  # beside a model: where the studio draws its parts
RUN = (".nc", ".nc4", ".h5")
STORE = ".zarr"  # a folder with the runs of a study
HDF5, CLASSIC_NETCDF = b"\x89HDF\r\n\x1a\n", b"CDF"  # how files of runs, and other NetCDF files, begin


def load(
    path: str | os.PathLike[str],
    base: str = "fixed",
    *,
    mimic: bool = True,
    name: str | None = None,
    plugins: Iterable[str | ModuleType] = (),
    trust: bool = False,
    arguments: Mapping[str, Any] | None = None,
    packages: Mapping[str, str | os.PathLike[str]] | None = None,
) -> Any:
    """Read a system from a file: URDF, xacro, MJCF, or kinode's own YAML or JSON; or a run or a study (.nc, .zarr).

    Parameters
    ----------
    path : str or path
        The file.  Its ending says the format, or its content where the ending says nothing.
    base : {"fixed", "free"}, default "fixed"
        How the root of a URDF or MJCF model stands in the world.  A body of an MJCF model that has joints keeps them.
        For other files only "fixed" is allowed.
    mimic : bool, default True
        Whether the mimic joints of a URDF follow the joints that they name; with False they move on their own.
    name : str, optional
        Another name for the system.
    plugins : iterable of modules or their names, default ()
        Modules that register joints and elements.  Only the caller names them; a file cannot.
    trust : bool, default False
        Whether a model file may name files outside its folder, and whether the Python expressions of xacro may run.
    arguments : mapping, optional
        Values of the ``xacro:arg`` of a xacro file.
    packages : mapping of names to folders, optional
        Where the packages are that a xacro file names by ``$(find name)``, and meshes of URDF by ``package://name/``.

    Returns
    -------
    System, Trajectory or Study
        The system; of a saved run, the run, as ``kn.Trajectory.load`` gives it; of a saved study, the study.

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
    if file.name.lower().endswith(VIEW):
        model = f"{file.name[: -len(VIEW)]}.yaml"
        raise ModelError(f"holds where the parts of a drawing stand, and no model; load {model}", file=str(file))
    start = b"" if suffix in (*YAML, *ROBOT_FILES, *RUN, STORE) else _first_bytes(file)
    if suffix in (*RUN, STORE) or start.startswith((HDF5, CLASSIC_NETCDF)):
        if base != "fixed" or name is not None or not mimic:
            raise ModelError("a saved run is loaded as it is; base, mimic and name are for models", file=str(file))
        return hook("load_study")(file) if suffix == STORE else hook("load_results")(file, trust)
    if suffix in ROBOT_FILES or start.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"<":
        from kinode.importers import robot_files

        with paused_collection():
            return robot_files.load(
                file, base, mimic=mimic, name=name, trust=trust, arguments=arguments, packages=packages
            )
    if arguments:
        raise ModelError("arguments are for xacro; this file has none", file=str(file))
    if base != "fixed":
        raise ModelError(
            f'base="{base}" is for URDF and MJCF; this file says itself how its bodies are joined', file=str(file)
        )
    from kinode.formats import yaml_files

    with paused_collection():
        system = yaml_files.load(file, trust=trust)
    if name is not None:
        system.name = name
    return system


def loads(text: str, file: str | os.PathLike[str] | None = None, *, trust: bool = False) -> System:
    """Read a system from YAML or JSON text.

    Parameters
    ----------
    text : str
        The model.
    file : str or path, optional
        The file that the text is from: for error messages, and for the files that it names.
    trust : bool, default False
        Whether the text may name files outside the folder of ``file``.

    Returns
    -------
    System

    Raises
    ------
    ModelError
        The text is not YAML, or its model is wrong; the error has the line, the component and the field.

    Examples
    --------
    >>> bodies = "bodies: {bob: {mass: 1, com: [0, 0, -1]}}"
    >>> joints = "joints: {pin: {kind: revolute, between: [world, bob], axis: y}}"
    >>> list(kn.loads(f"kinode: 1\\n{bodies}\\n{joints}").joints)
    ['pin']
    """
    from kinode.formats import yaml_files

    return yaml_files.loads(text, file, trust=trust)


def _first_bytes(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            return stream.read(256)
    except (OSError, ValueError) as error:
        raise unreadable(file, error) from None
