"""An MJCF file to MuJoCo's compiled model, which has defaults, includes, angles and inertias of geoms resolved.

A model may come from anywhere.  Before MuJoCo opens anything, ``check_files`` reads the document and what it includes,
and refuses a file outside the folder of the model.  Textures and skins are never opened: nothing needs them here.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kinode.errors import TRUST, ModelError, unreadable
from kinode.importers import xml_reader
from kinode.importers.xml_reader import XmlElement
from kinode.optional_packages import need

DEEPEST_INCLUDES = 30
FOLDERS = ("meshdir", "texturedir", "assetdir")
UNOPENED = ("texture", "skin")
_LINE = re.compile(r",?\s*line (\d+)")
_ELEMENT = re.compile(r"\s*Element (?:name )?'([^']*)'(?:, id \d+)?")


def import_mujoco() -> Any:
    """The package, or an error that says how it is installed."""
    return need("mujoco", "mjcf", "a model of MuJoCo")


def compile_file(file: Path, root: XmlElement, trust: bool, notes: list[str]) -> tuple[Any, Any]:
    """MuJoCo's specification and compiled model of a file that was parsed; ``notes`` gets what MuJoCo warns of."""
    check_files(file, root, trust)
    mujoco = import_mujoco()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            spec = _specify(mujoco, file, root)
            for texture in spec.textures:
                texture.file, texture.cubefiles, texture.builtin = "", [], mujoco.mjtBuiltin.mjBUILTIN_FLAT
                texture.width = texture.height = texture.nchannel = 3
            for skin in list(spec.skins):
                spec.delete(skin)
            # Ranges of muscles, which are left out here, would be found by simulations.
            spec.compiler.LRopt.mode = mujoco.mjtLRMode.mjLRMODE_NONE
            model = spec.compile()
        except (ValueError, mujoco.FatalError, mujoco.UnexpectedError) as error:
            raise _located(str(error), file) from None
    notes.extend(f"MuJoCo warns: {' '.join(str(warning.message).split())}" for warning in said)
    return spec, model


def _specify(mujoco: Any, file: Path, root: XmlElement) -> Any:
    """MuJoCo's specification of a file; it opens those called .xml alone, others it gets as text."""
    if file.suffix.lower() == ".xml":
        return mujoco.MjSpec.from_file(str(file))
    folder = file.parent
    named = [element.attributes["file"] for element in _walk(root) if element.tag == "include"]
    inner = [path for path, _ in _included(file, root, folder, 0)]
    texts = {
        name: (folder / name).read_bytes() for name in [*named, *(x.relative_to(folder).as_posix() for x in inner)]
    }
    spec = mujoco.MjSpec.from_string(file.read_text(encoding="utf-8-sig"), include=texts)
    spec.modelfiledir = f"{folder.resolve()}{os.sep}"
    return spec


def check_files(file: Path, root: XmlElement, trust: bool) -> None:
    """Refuse a document that names a file outside its folder, unless the caller trusts it."""
    if not trust:
        _check_scope(file, root, file.parent.resolve(), 0)


def _check_scope(file: Path, root: XmlElement, folder: Path, depth: int) -> None:
    """Check a model with what it includes, which share their compiler settings, and the models that it attaches."""
    documents = [(file, root), *_included(file, root, folder, depth)]
    elements = [(where, element) for where, top in documents for element in _walk(top)]
    settings = [element.attributes for _, element in elements if element.tag == "compiler"]
    named = {given[name] for given in settings for name in FOLDERS if name in given} or {""}
    for where, element in elements:
        if element.tag in (*UNOPENED, "include"):
            continue
        for name, value in element.attributes.items():
            if name.startswith("file"):
                for below in {""} if element.tag == "model" else named:
                    _require_inside(
                        folder, folder / below / value, where, element, f"{below}{'/' * bool(below)}{value}"
                    )
        if element.tag == "model" and "file" in element.attributes:
            path, top = _read(file, element, folder, depth)
            _check_scope(path, top, folder, depth + 1)


def _included(file: Path, root: XmlElement, folder: Path, depth: int) -> Iterator[tuple[Path, XmlElement]]:
    """The documents that a document includes."""
    for element in _walk(root):
        if element.tag == "include" and "file" in element.attributes:
            path, top = _read(file, element, folder, depth)
            yield path, top
            yield from _included(path, top, folder, depth + 1)


def _read(file: Path, element: XmlElement, folder: Path, depth: int) -> tuple[Path, XmlElement]:
    """The document that an element names."""
    name = element.attributes["file"]
    path = folder / name
    if not path.exists() and (file.parent / name).exists():
        path = file.parent / name
    _require_inside(folder, path, file, element, name)
    if depth >= DEEPEST_INCLUDES:
        raise ModelError("files include files too deep, or in a circle", file=str(file), line=element.line)
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None
    return path, xml_reader.parse(data, str(path))


def _require_inside(folder: Path, path: Path, file: Path, element: XmlElement, name: str) -> None:
    inside = path.resolve().is_relative_to(folder)
    if not inside or Path(name).is_absolute():
        message = f"{name!r} is outside the folder of the model; {TRUST}"
        raise ModelError(message, component=element.attributes.get("name"), file=str(file), line=element.line)


def _walk(element: XmlElement) -> Iterator[XmlElement]:
    """All elements in the order of the document; bodies may be nested deeper than Python's stack."""
    waiting = [element]
    while waiting:
        current = waiting.pop()
        yield current
        waiting.extend(reversed(current.children))


def _located(text: str, file: Path) -> ModelError:
    """MuJoCo's message as an error with line and element."""
    line, element = _LINE.search(text), _ELEMENT.search(text)
    message = _ELEMENT.sub("", _LINE.sub("", text))
    message = " ".join(message.split()).removeprefix("XML ").removeprefix("Error: ").removeprefix("Error: ")
    name = element[1] if element and element[1] else None
    number = int(line[1]) if line and int(line[1]) else None
    return ModelError(f"MuJoCo refuses the model: {message}", component=name, file=str(file), line=number)
