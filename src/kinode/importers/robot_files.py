"""Robot files: XML whose content says whether it is URDF or MJCF, and xacro, which becomes URDF.

The ending is no sign: models of both come as .xml.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kinode.errors import ModelError, unreadable
from kinode.importers import urdf, xml_reader
from kinode.importers.xacro_files import expand, is_xacro
from kinode.model.system import System


def load(
    path: str | os.PathLike[str],
    base: str = "fixed",
    *,
    mimic: bool = True,
    name: str | None = None,
    trust: bool = False,
    arguments: Mapping[str, Any] | None = None,
    packages: Mapping[str, str | os.PathLike[str]] | None = None,
) -> System:
    """The system in a file of URDF, xacro or MJCF (see ``kn.load``)."""
    file = Path(path)
    try:
        data = file.read_bytes()
    except (OSError, ValueError) as error:
        raise unreadable(file, error) from None
    root = xml_reader.parse(data, str(file))
    if root.tag == "mujoco":
        if arguments or packages:
            raise ModelError("arguments and packages are for xacro; this is a model of MuJoCo", file=str(file))
        from kinode.importers import mjcf

        return mjcf.load(file, root, base, name=name, trust=trust)
    if is_xacro(file, root):
        text = expand(file, trust, arguments or {}, packages or {})
        return urdf.read(text, base, mimic=mimic, name=name, file=str(file), packages=packages)
    if arguments:
        raise ModelError("arguments are for xacro; this is plain URDF", file=str(file))
    return urdf.read(root, base, mimic=mimic, name=name, file=str(file), packages=packages)
