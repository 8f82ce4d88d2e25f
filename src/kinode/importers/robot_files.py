"""Robot files: XML whose content says whether it is URDF or MJCF, and xacro, which becomes URDF.

The ending is no sign: models of both come as .xml.  xacro, URDF with macros, is expanded by the package xacro.  Macros
hold Python expressions, and includes name any file: expanding a file is running a program.  It needs the caller's
``trust=True``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr
from io import StringIO
from pathlib import Path
from threading import Lock
from typing import Any

from kinode.errors import TRUST, ModelError, unreadable
from kinode.importers import urdf, xml_reader
from kinode.importers.xml_reader import XmlElement
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


ENDING = ".xacro"
REFUSED = f"is xacro, whose macros run Python expressions; {TRUST}"
_EXPANDING = Lock()  # the package keeps its state in global variables


def is_xacro(file: Path, root: XmlElement) -> bool:
    """Whether a document holds macros: by its ending, or by an element or attribute of xacro."""
    if file.suffix.lower() == ENDING:
        return True
    stack = [root]
    while stack:
        element = stack.pop()
        if element.tag.startswith("xacro:"):
            return True
        stack.extend(element.children)
    return False


def expand(
    file: Path, trust: bool, arguments: Mapping[str, Any], packages: Mapping[str, str | os.PathLike[str]]
) -> str:
    """The URDF of a xacro file; ``arguments`` are its xacro:arg, ``packages`` the folders that $(find name) means."""
    from kinode.optional_packages import need

    if not trust:
        raise ModelError(REFUSED, file=str(file))
    xacro = need("xacro", "xacro", "a file with macros")
    substitution_args = need("xacro.substitution_args", "xacro", "a file with macros")
    given = {str(name): _text(value) for name, value in arguments.items()}
    folders = {name: str(Path(folder).resolve()) for name, folder in packages.items()}
    with _EXPANDING, _finding(substitution_args, folders), redirect_stderr(StringIO()):
        try:
            document = xacro.process_file(str(file), mappings=given)
        except Exception as error:  # the package raises what its expressions raise
            where = [str(name) for name in getattr(xacro, "filestack", ()) or () if name]
            at = f" (in {where[-1]})" if where and where[-1] != str(file) else ""
            message = f"xacro cannot expand the file: {' '.join(str(error).split()) or type(error).__name__}{at}"
            raise ModelError(message, file=str(file)) from None
    return str(document.documentElement.toprettyxml(indent="  "))


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@contextmanager
def _finding(module: Any, folders: Mapping[str, str]) -> Iterator[None]:
    """$(find name) looks among the folders first; beyond them where ROS keeps its packages, if it is there."""
    inside = vars(module)  # the package has no other way to say where packages are
    before: Callable[[str], str] = inside["_eval_find"]

    def find(name: str) -> str:
        if name in folders:
            return folders[name]
        try:
            return before(name)
        except Exception:
            raise module.SubstitutionException(
                f'the package {name!r} is not known; name its folder: packages={{"{name}": "path"}}'
            ) from None

    inside["_eval_find"] = inside["_eval_dict"]["find"] = find
    try:
        yield
    finally:
        inside["_eval_find"] = inside["_eval_dict"]["find"] = before
