"""The library and the gallery: files that a model can have as subsystems, examples, and the models of a folder.

The library: the files of the model's folder, and those below ``library`` in it.  A model that lies in a folder called
``library`` has that folder as its library.  Hidden files, views (``*.view.yaml``) and what leads out of the folder are
left out.  In the folder itself only what begins like a model is taken for one; below ``library`` every YAML, JSON and
URDF file is, and one that is wrong says why.

A subsystem that is written out is saved as a file of the library, or components that become one first; all of it is one
step of undo.
Pushed to all pages is ``library``, the same as the answer, when files came, went or were changed.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict

from kinode.atomic_files import is_below, naming_failures, write_bytes
from kinode.editing.draft import ModelDraft, free_name
from kinode.editing.file_boxes import check_box_file, load_file_box, name_of_file, why_no_box, write_box_file
from kinode.editing.gestures import plan_gesture
from kinode.editing.places import Box, box_prefix
from kinode.editing.spans import apply_edits
from kinode.errors import ArgumentError, Error, ModelError, counted
from kinode.example_files import find_examples, first_words
from kinode.formats.load import load
from kinode.formats.yaml_text import Map, read_text
from kinode.importers import ROBOT_FILES
from kinode.model.circuit_topology import find_circuit_topology
from kinode.model.component_store import RESERVED
from kinode.model.system import System
from kinode.player.diagram_data import MOST_NARROW, NARROW, STYLE, WIDE
from kinode.sheets.tables import number
from kinode.studio.document.document_files import (
    ENDING,
    MODELS,
    FileThere,
    ModelView,
    Point,
    find_target,
    new_file,
    view_path,
)
from kinode.studio.document.model_document import FileExists, GestureAnswer
from kinode.studio.editor.checked_model import ModelVersion
from kinode.studio.editor.drawn_circuit import SYMBOL, BoxEntry
from kinode.studio.editor.kinds import Plain, first_sentence
from kinode.studio.editor.sketch import At, LinkKind, Sketcher
from kinode.studio.live.model_watch import Stamp, Watch, find_stamp
from kinode.studio.server.messages import request
from kinode.studio.server.session import Job
from kinode.views.diagram import circuit_symbols
from kinode.views.diagram.circuit_diagram import diagram
from kinode.views.diagram.circuit_graph import Box as DrawnBox

if TYPE_CHECKING:
    from kinode.studio.editor.studio_desk import StudioDesk


MOST_MODELS = 200
_DRAWING = threading.Lock()
LARGEST = 1_000_000  # bytes of a file that is looked into
_MODEL = re.compile(rb"^[\"{\s]*kinode[\"']?\s*:", re.MULTILINE)
_ROBOT = re.compile(rb"<(?:robot|mujoco)\b")


def draw_examples(goes_on: Callable[..., bool] = lambda: True) -> list[GalleryExample]:
    """The examples: file, name, first sentence, and a picture of the circuit."""
    rows = list[GalleryExample]()
    for path in find_examples():
        if path.suffix == ".yaml" and goes_on():
            words = first_words(path)
            rows.append({"file": path.name, "name": path.stem, "words": words, "svg": draw_example(path)})
    return rows


def draw_example(path: Path) -> str:
    """The circuit of an example, drawn once."""
    with _DRAWING:
        return _draw(path)


@cache
def _draw(path: Path) -> str:
    """The circuit of an example as SVG, in the styles of the page; empty where there is none."""
    try:
        system = load(path)
        width = NARROW if len(find_circuit_topology(system).components) <= MOST_NARROW else WIDE
        return STYLE.sub("", diagram(system, width=width, legend=False).svg)
    except Error:
        return ""


def draw_ahead() -> None:
    """Draw all examples in the background, so that the gallery need not wait for them."""
    threading.Thread(target=draw_examples, name="kinode gallery", daemon=True).start()


def find_example(name: str) -> Path:
    """The file of an example by its name; no other file is one."""
    for path in find_examples():
        if path.suffix == ".yaml" and name in (path.name, path.stem):
            return path
    raise ArgumentError(f"file: no example is called {name!r:.60}")


def find_models(folder: Path) -> list[str]:
    """The names of the models that lie in a folder, URDF too; hidden ones and views left out."""
    try:
        files = sorted(path for path in folder.iterdir() if path.suffix.lower() in (*MODELS, *ROBOT_FILES))
    except OSError:
        return []
    shown = (path for path in files if not path.name.startswith(".") and not path.name.lower().endswith(ENDING))
    return [path.name for path in shown if _is_model(path)][:MOST_MODELS]


def find_model(folder: Path, name: str) -> Path:
    """The path of a model that lies in a folder or below it; what is hidden, outside or no model is refused."""
    if "\0" not in name and not any(part.startswith(".") for part in Path(name).parts):
        path = folder / name
        ending = path.suffix.lower() in (*MODELS, *ROBOT_FILES) and not path.name.lower().endswith(ENDING)
        if ending and is_below(path, folder) and _is_model(path):
            return path
    raise ArgumentError(f"file: the folder {folder.name} has no model {name!r:.60}")


def _is_model(path: Path) -> bool:
    try:
        sign = _ROBOT if path.suffix.lower() in ROBOT_FILES else _MODEL
        return path.is_file() and path.stat().st_size <= LARGEST and sign.search(path.read_bytes()) is not None
    except OSError:
        return False


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
    except OSError:
        return
    for path in entries:
        try:
            if path.name.startswith(".") or not is_below(path, folder):
                continue
            if path.is_dir() and depth < DEEPEST and not path.is_symlink():
                yield from _below(path, depth + 1)
            elif path.suffix.lower() in (*MODELS, *ROBOT_FILES) and not path.name.lower().endswith(ENDING):
                yield path
        except OSError:
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
class PartPort(TypedDict):
    """A port of a part."""

    name: str
    kind: LinkKind
    domain: str
    out: bool


PartParameter = dict[Literal["name", "value", "words"], str]
"""A parameter of a part, with its value as text."""


class LibraryPart(TypedDict):
    """A file that a model can have as a subsystem."""

    file: str  # as the model names it
    name: str
    words: str
    ports: list[PartPort]
    parameters: list[PartParameter]
    symbol: str
    size: At
    why: str  # the reason where it cannot be a part; else empty


class Library(TypedDict):
    """The parts of the library, and where it lies as seen from the model."""

    parts: list[LibraryPart]
    folder: str


GalleryExample = dict[Literal["file", "name", "words", "svg"], str]
"""An example, with its circuit as SVG."""


GalleryModel = dict[Literal["file", "name", "words"], str]
"""A model of the folder."""


class LibraryShelf:
    """Describes the files that a model can have as subsystems; what has not changed is not read again."""

    def __init__(self) -> None:
        self._known: dict[tuple[Path, str], tuple[Stamp, LibraryPart]] = {}

    def parts(self, place: Path) -> list[LibraryPart]:
        """All parts that the model at a place can have, and the files that cannot be one, with the reason."""
        known, rows = self._known, {}
        for name in list_files(place):
            stamp = find_stamp(place.parent / name)
            before = known.get((place, name))
            row = before[1] if before is not None and before[0] == stamp else describe_part(place, name)
            rows[(place, name)] = (stamp, row)
        self._known = rows
        return [row for _, row in rows.values()]


def describe_part(place: Path, file: str) -> LibraryPart:
    """A file as a part of the model at a place."""
    row: LibraryPart = {
        "file": file, "name": Path(file).stem, "words": "", "ports": [], "parameters": [], "symbol": "",
        "size": [40, 40], "why": "",
    }  # fmt: skip
    try:
        row["words"] = describe_file(place.parent / file)
        inner = load_file_box(place, file)
        row["words"] = row["words"] or count_words(inner)
        _draw_part(row, inner)
    except Error as error:
        row["why"] = why_no_box(error) if isinstance(error, ModelError) else str(error)
    return row


def _draw_part(row: LibraryPart, inner: System) -> None:
    box_name, whole = free_name(name_of_file(row["file"]), set(RESERVED)), System("model")
    whole.add(box_name, inner)
    sketch = Sketcher(whole, boxes=[BoxEntry(box_name, row["file"])]).draw()
    box = next((each for each in sketch["boxes"] if each["name"] == box_name), None)
    if box is None:
        raise ModelError("there is nothing in it that could be drawn: no body, no part, no signal")
    symbol = DrawnBox(box_name, "part", "subsystem", SYMBOL, box_name, "")
    row["ports"] = [
        {"name": x["name"], "kind": x["kind"], "domain": x["domain"], "out": x["out"]} for x in box["ports"]
    ]
    row["size"], row["symbol"] = box["size"], circuit_symbols.draw(symbol)
    row["parameters"] = [
        {"name": each.name, "value": _value(inner, each.name), "words": each.note} for each in inner.parameters.values()
    ]


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
        return _few_words(notes[0])
    comment = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        comment.append(line.strip("# "))
    return _few_words(" ".join(comment))


def _few_words(text: str) -> str:
    words = first_sentence(text)
    return words if len(words) <= LONGEST_WORDS else f"{words[: LONGEST_WORDS - 1]}…"


def count_words(system: System) -> str:
    """What a model is made of, where its file says nothing of it."""
    counts = [(len(system.bodies), "body", "bodies"), (len(system.joints), "joint", "joints"),
              (len(system.elements), "other part", "other parts")]  # fmt: skip
    said = [counted(n, one, many) for n, one, many in counts if n]
    return f"{', '.join(said)}." if said else ""


class SavedPart(GestureAnswer):
    """A change that made a file of the library."""

    part: str


POLL_SECONDS = 0.7  # between two looks at the folders
LONGEST_NOTE = 400


class LibraryAnswers:
    """Answers the pages of one desk about its library, and watches the folders while a page is there.

    Parameters
    ----------
    desk : StudioDesk
        The document whose folder is looked into.
    """

    def __init__(self, desk: StudioDesk) -> None:
        self.desk = desk
        self._shelf, self._lock = LibraryShelf(), threading.Lock()
        self._stamp: Stamp = ()
        self._told: Library | None = None
        self._watch: Watch | None = None

    # -- what there is -----------------------------------------------------------------------------
    @request("library", lane="library")
    def shelf(self) -> Library:
        """All parts of the library; from then on pages are told of changes."""
        with self._lock:
            if self._watch is None:
                self._watch = Watch(self._find_stamp, self.look_now, POLL_SECONDS).start()
            return self._look()

    def look_now(self) -> None:
        """Tell the pages what there is, if that is new."""
        with self._lock:
            before = self._told
            if (now := self._look()) != before:
                self.desk.session.push({"kind": "library", **now})

    def _look(self) -> Library:
        place = self.desk.document.file.place
        self._stamp = listing_stamp(place)
        where = os.path.relpath(library_folder(place), place.parent)
        self._told = {"parts": self._shelf.parts(place), "folder": LIBRARY if where == "." else where}
        return self._told

    def _find_stamp(self) -> Stamp:
        """The state of the folders; while no page is there nobody looks."""
        return listing_stamp(self.desk.document.file.place) if self.desk.session.clients else self._stamp

    def close(self) -> None:
        """Look no longer."""
        if self._watch is not None:
            self._watch.close()

    # -- a box becomes a file ----------------------------------------------------------------------
    @request("library_save", lane="document", changes=True)
    def save(
        self, job: Job, names: list[str], name: str, words: str = "", box: Box = (), at: Point | None = None,
        overwrite: bool = False,
    ) -> SavedPart | FileExists:  # fmt: skip
        """Write a subsystem, or what ``names`` has, as a file of the library, and let the model read it from there."""
        desk, wanted = self.desk, _check_name(name)
        version, names = desk.version(box), list(dict.fromkeys(names))
        if not all(names) or not names:
            raise ArgumentError("names: the parts that are to be saved are expected")
        file = desk.document.file
        if file.path is None and file.place.parent.absolute() != desk.folder.absolute():
            raise ArgumentError("save the model first: its library lies beside its file")
        folder = library_folder(version.place)
        base = folder.parent if folder != version.place.parent else folder
        try:
            inside = folder.relative_to(base).as_posix()
            target = find_target(base, f"{inside}/{wanted}", None, overwrite)
        except FileThere as there:
            return {"exists": there.name}
        if target == version.place:
            raise ArgumentError(f"{target.name} is the model that is open: choose another name")
        shown = target.relative_to(version.place.parent).as_posix()
        gesture, text = self._plan(version, names, target, shown, words, at)
        view = (
            version.view.inside(box_prefix((*version.box, names[0]))) if len(names) == 1 else _view_of(version, names)
        )
        restore = _Before(target)
        with naming_failures(folder):
            folder.mkdir(exist_ok=True)
        new_file(folder, text, target.name).written(text, view, target)
        try:
            change = desk.document.gesture(gesture)
        except Error:
            restore.back()
            raise
        answer = desk.changed(change, job.seq)
        self.look_now()
        return {**answer, "part": shown}

    def _plan(
        self, version: ModelVersion, names: list[str], target: Path, shown: str, words: str, at: Point | None
    ) -> tuple[Plain, str]:  # fmt: skip
        """The gesture that makes the box a reference, and the text of its file."""
        text, steps, name = version.text, [], names[0]
        places = ModelDraft(text, version.place, box=version.box).places
        if len(names) > 1 or places.section_of(name) != "systems":
            enclosing: Plain = {"do": "enclose", "names": names, "name": name_of_file(target.name)}
            if at is not None:
                enclosing["at"] = at
            plan = plan_gesture(text, _inside(version, enclosing), version.place)
            text = apply_edits(text, plan.edits)
            name = plan.made[0].rpartition(".")[2]
            steps.append(enclosing)
        draft = ModelDraft(text, version.place, box=version.box)
        if len(words) > LONGEST_NOTE:
            raise ArgumentError(f"words: at most {LONGEST_NOTE} letters about the part are expected")
        written = write_box_file(draft, name, target, words)
        check_box_file(written, target, version.place)
        steps.append({"do": "refer", "name": name, "file": shown})
        said = f"save {name} as {shown}"
        return _inside(version, {"do": "all", "gestures": steps, "words": said}), written


class _Before:
    """A file and its view as they were, to be put back."""

    def __init__(self, target: Path) -> None:
        self._files = {path: path.read_bytes() if path.is_file() else None for path in (target, view_path(target))}

    def back(self) -> None:
        """Put them back."""
        for path, data in self._files.items():
            if data is None:
                path.unlink(missing_ok=True)
            else:
                write_bytes(path, data)


def _inside(version: ModelVersion, gesture: Plain) -> Plain:
    return {"do": "in", "box": list(version.box), "gesture": gesture} if version.box else gesture


def _view_of(version: ModelVersion, names: list[str]) -> ModelView:
    """Where components stand that become a part."""
    inside = version.view.inside(box_prefix(version.box))
    return ModelView({name: inside.places[name] for name in names if name in inside.places})


def _check_name(name: str) -> str:
    name = name.strip()
    if not name:
        raise ArgumentError("name: the name of a file is expected")
    if "/" in name or "\\" in name:
        raise ArgumentError(f"name: {name!r:.60} is to be a file in the library, without folders")
    return name
