"""The files that a model can have as subsystems: those of its folder, and those below ``library`` in it.

A model that lies in a folder called ``library`` has that folder as its library.  Hidden files, views
(``*.view.yaml``) and what leads out of the folder are left out.  In the folder itself only what begins like a model
is taken for one; below ``library`` every YAML, JSON and URDF file is, and one that is wrong says why.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from kinode.errors import Error, ModelError
from kinode.formats.editing.actions.gesture_plan import free_name
from kinode.formats.editing.boxing.file_boxes import load_file_box, name_of_file, why_no_box
from kinode.formats.yaml_text import Map, read_text
from kinode.importers import ROBOT_FILES
from kinode.model.component_store import RESERVED
from kinode.model.system import System
from kinode.studio.documents.document_file import MODELS
from kinode.studio.documents.view_file import ENDING
from kinode.studio.drawing.gallery import find_models
from kinode.studio.drawing.kind_boxes import Plain
from kinode.studio.drawing.sketch import Sketcher
from kinode.studio.live_pages.model_watch import Stamp, find_stamp
from kinode.studio.subsystems.closed_boxes import SYMBOL, BoxEntry
from kinode.views.diagram import circuit_symbols
from kinode.views.diagram.circuit_graph import Box
from kinode.views.style import number

LIBRARY = "library"
MOST_PARTS = 200
DEEPEST = 3  # folders below the library
MOST_LISTED = 2000  # files that are looked at
LONGEST_WORDS = 240


def library_folder(place: Path) -> Path:
    """The library of the model that is, or would be, at a place."""
    return place.parent if place.parent.name == LIBRARY else place.parent / LIBRARY


def list_files(place: Path) -> list[str]:
    """The files that may be parts of the model at a place, as its text names them; itself left out."""
    folder = place.parent
    own = [] if library_folder(place) == folder else [name for name in find_models(folder) if name != place.name]
    names = [path.relative_to(folder).as_posix() for path in _below(library_folder(place)) if path != place]
    return [*names, *own][:MOST_PARTS]


def _below(folder: Path, depth: int = 0) -> Iterator[Path]:
    """The model files of a library and its folders that are not hidden and lie within it."""
    try:
        entries = sorted(folder.iterdir())[:MOST_LISTED]
        root = folder.resolve()
    except (OSError, RuntimeError):
        return
    for path in entries:
        try:
            if path.name.startswith(".") or not path.resolve().is_relative_to(root):
                continue
            if path.is_dir() and depth < DEEPEST and not path.is_symlink():
                yield from _below(path, depth + 1)
            elif path.suffix.lower() in (*MODELS, *ROBOT_FILES) and not path.name.lower().endswith(ENDING):
                yield path
        except (OSError, RuntimeError):
            continue


def listing_stamp(place: Path) -> Stamp:
    """What tells two states of the folders apart: names, times and sizes of all files that may be parts."""
    found = []
    folder = place.parent
    for base, deep in ((folder, False), (library_folder(place), True)):
        paths = _below(base) if deep else sorted(_plain_files(base))
        for path in paths:
            try:
                status = os.stat(path)
            except OSError:
                continue
            found.append((str(path), status.st_mtime_ns, status.st_size))
    return ((str(place), 0, 0), *found)


def _plain_files(folder: Path) -> Iterator[Path]:
    try:
        for entry in os.scandir(folder):
            if Path(entry.name).suffix.lower() in (*MODELS, *ROBOT_FILES):
                yield Path(entry.path)
    except OSError:
        return


# -- one part --------------------------------------------------------------------------------------
class LibraryShelf:
    """Describes the files that a model can have as subsystems; what has not changed is not read again."""

    def __init__(self) -> None:
        self._known: dict[tuple[Path, str], tuple[Stamp, Plain]] = {}

    def parts(self, place: Path) -> list[Plain]:
        """All parts that the model at a place can have, and the files that cannot be one, with the reason."""
        known, rows = self._known, {}
        for name in list_files(place):
            stamp = find_stamp(place.parent / name)
            before = known.get((place, name))
            row = before[1] if before is not None and before[0] == stamp else describe_part(place, name)
            rows[(place, name)] = (stamp, row)
        self._known = rows
        return [row for _, row in rows.values()]


def describe_part(place: Path, file: str) -> Plain:
    """A file as a part of the model at a place.

    Returns
    -------
    dict
        ``file``, ``name``, ``words``: one sentence; ``ports`` and ``parameters``; ``symbol`` and ``size`` of its box;
        ``why``: the reason where it cannot be a part, else empty.
    """
    row: Plain = {
        "file": file, "name": Path(file).stem, "words": "", "ports": [], "parameters": [], "symbol": "",
        "size": [40, 40], "why": "",
    }  # fmt: skip
    try:
        row["words"] = describe_file(place.parent / file)
        inner = load_file_box(place, file)
        row["words"] = row["words"] or count_words(inner)
        return row | _draw_part(inner, file)
    except ModelError as error:
        return row | {"why": why_no_box(error)}
    except Error as error:
        return row | {"why": str(error)}


def _draw_part(inner: System, file: str) -> Plain:
    box_name, whole = free_name(name_of_file(file), set(RESERVED)), System("model")
    whole.add(box_name, inner)
    sketch = Sketcher(whole, boxes=[BoxEntry(box_name, file)]).draw()
    box = next((each for each in sketch["boxes"] if each["name"] == box_name), None)
    if box is None:
        raise ModelError("there is nothing in it that could be drawn: no body, no part, no signal")
    symbol = Box(box_name, "part", "subsystem", SYMBOL, box_name, "")
    ports = [{key: port[key] for key in ("name", "kind", "domain", "out")} for port in box["ports"]]
    return {"ports": ports, "size": box["size"], "symbol": circuit_symbols.draw(symbol), "parameters": [
        {"name": each.name, "value": _value(inner, each.name), "words": each.note} for each in inner.parameters.values()
    ]}  # fmt: skip


def _value(system: System, name: str) -> str:
    given = system.parameters[name]
    unit = "" if given.dimension is None else given.dimension.unit
    return f"{number(system.nominal(given.value))} {unit}".strip()


def describe_file(path: Path) -> str:
    """One sentence about a model: its first note, else the comment that it begins with."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError):
        return ""
    if path.suffix.lower() in ROBOT_FILES:
        return ""
    try:
        data = read_text(text, path.name)
    except ModelError:
        data = None
    notes = data.get("notes") if isinstance(data, Map) else None
    if isinstance(notes, list) and notes and isinstance(notes[0], str):
        return first_sentence(notes[0])
    comment = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        comment.append(line.strip("# "))
    return first_sentence(" ".join(comment))


def first_sentence(text: str) -> str:
    """The first sentence of a text."""
    words = " ".join(text.split())
    end = words.find(". ")
    words = words[: end + 1] if end >= 0 else words
    return words if len(words) <= LONGEST_WORDS else f"{words[: LONGEST_WORDS - 1]}…"


def count_words(system: System) -> str:
    """What a model is made of, where its file says nothing of it."""
    counts = [(len(system.bodies), "body", "bodies"), (len(system.joints), "joint", "joints"),
              (len(system.elements), "other part", "other parts")]  # fmt: skip
    said = [f"{n} {one if n == 1 else many}" for n, one, many in counts if n]
    return f"{', '.join(said)}." if said else ""
