"""The files of a document: the model's text, and beside it ``model.view.yaml``, where its parts stand in the studio.

The text is read and written as a whole, with its byte order mark and line breaks as they were.  A document without a
file has a place where it would be: for the files that its text names, and as the name that saving proposes.

The view also holds points through which links run.  It is written when the model is saved.  Without it parts are placed
automatically.  It is never needed to read the model, and never taken for one.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kinode.atomic_files import write_bytes, write_text
from kinode.errors import ArgumentError, Error, ModelError, unreadable
from kinode.formats.yaml_text import LARGEST_TEXT, Map, read_text
from kinode.formats.yaml_writer import write_scalar
from kinode.importers import ROBOT_FILES

ENDING = ".view.yaml"
VERSION = 1
FARTHEST = 1e6  # of a part from the origin
MOST_PLACES = 20_000
Point = tuple[float, float]


@dataclass(frozen=True)
class ModelView:
    """Positions of parts that were placed by hand, and waypoints of links; the names are those of the model."""

    places: Mapping[str, Point] = field(default_factory=dict)
    waypoints: Mapping[str, tuple[Point, ...]] = field(default_factory=dict)

    def moved(self, places: Mapping[str, Point]) -> ModelView:
        """With parts at other places."""
        return replace(self, places={**self.places, **places})

    def routed(self, link: str, points: tuple[Point, ...] | None) -> ModelView:
        """With other waypoints of a link; none: its line is found automatically."""
        others = {name: given for name, given in self.waypoints.items() if name != link}
        return replace(self, waypoints=others if not points else {**others, link: points})

    def renamed(self, names: Mapping[str, str]) -> ModelView:
        """With other names; those of what is in a subsystem begin with the name of that."""

        def new(name: str) -> str:
            head = name
            while head not in names and "." in head:
                head = head.rpartition(".")[0]
            return names[head] + name[len(head) :] if head in names else name

        return ModelView(
            {new(name): at for name, at in self.places.items()},
            {new(name): points for name, points in self.waypoints.items()},
        )

    def without(self, prefix: str) -> ModelView:
        """Without the places and waypoints of a subsystem; an empty prefix is that of the whole."""
        return ModelView(
            {name: at for name, at in self.places.items() if not name.startswith(prefix)},
            {name: points for name, points in self.waypoints.items() if not name.startswith(prefix)},
        )

    def inside(self, prefix: str) -> ModelView:
        """The places and waypoints of a subsystem, by the names in it."""
        if not prefix:
            return self
        cut = len(prefix)
        return ModelView(
            {name[cut:]: at for name, at in self.places.items() if name.startswith(prefix)},
            {name[cut:]: points for name, points in self.waypoints.items() if name.startswith(prefix)},
        )

    def __bool__(self) -> bool:
        return bool(self.places or self.waypoints)


def view_path(file: Path) -> Path:
    """The file beside a model that says where its parts stand."""
    return file.with_name(f"{file.stem}{ENDING}")


def read_view(file: Path) -> ModelView:
    """The view beside a model, empty where there is none; what cannot be read is an Error that names the file."""
    path = view_path(file)
    try:
        if not path.is_file():
            return ModelView()
        if path.stat().st_size > LARGEST_TEXT:
            raise Error(f"{path.name}: the file is too large")
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise Error(f"{path.name}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    return parse_view(text, path.name)


def parse_view(text: str, name: str = "view") -> ModelView:
    """The view in a text."""
    data = read_text(text, name)
    if not isinstance(data, Map) or data.get("kinode_view") != VERSION:
        raise Error(f"{name}: the positions of parts begin with kinode_view: {VERSION}")
    places = _mapping(data.get("places"), f"{name}: places")
    lines = _mapping(data.get("links"), f"{name}: links")
    if len(places) + len(lines) > MOST_PLACES:
        raise Error(f"{name}: more than {MOST_PLACES} places")
    return ModelView(
        {part: read_point(at, f"{name}: {part}") for part, at in places.items()},
        {link: read_points(points, f"{name}: {link}") for link, points in lines.items()},
    )


def write_view(view: ModelView, model: str) -> str:
    """The text of a view file."""
    lines = [
        f"# Where the parts of {model} stand in the studio; without this file they are placed automatically.",
        f"kinode_view: {VERSION}",
    ]
    if view.places:
        lines.append("places:")
        lines += [f"  {write_scalar(name)}: [{x:g}, {y:g}]" for name, (x, y) in sorted(view.places.items())]
    if view.waypoints:
        lines.append("links:")
        for name, points in sorted(view.waypoints.items()):
            shown = ", ".join(f"[{x:g}, {y:g}]" for x, y in points)
            lines.append(f"  {write_scalar(name)}: [{shown}]")
    return "\n".join([*lines, ""])


def read_point(raw: Any, where: str) -> Point:
    """A position [x, y] from a file or a page."""
    numbers = isinstance(raw, list | tuple) and len(raw) == 2
    if not numbers or not all(isinstance(x, int | float) and not isinstance(x, bool) for x in raw):
        raise Error(f"{where}: a position is [x, y], not {raw!r:.60}")
    if not all(math.isfinite(x) and abs(x) <= FARTHEST for x in raw):
        raise Error(f"{where}: [{raw[0]:g}, {raw[1]:g}] is too far away")
    return float(raw[0]), float(raw[1])


def read_points(raw: Any, where: str) -> tuple[Point, ...]:
    """Several positions."""
    if not isinstance(raw, list | tuple):
        raise Error(f"{where}: a list of positions is expected, not {raw!r:.60}")
    return tuple(read_point(point, where) for point in raw)


def _mapping(raw: Any, where: str) -> Mapping[str, Any]:
    if raw is None:
        return {}
    if not isinstance(raw, Mapping):
        raise Error(f"{where} are a mapping of names")
    return raw


MODELS = (".yaml", ".yml", ".json")
MARK = "\ufeff"
START = "kinode: 1\nname: model\n"


@dataclass(frozen=True)
class DocumentFile:
    """What a document was read from: its path, None before it is first saved, and the text and view that are saved.

    ``place`` is the path that it would have; ``mark`` a byte order mark, ``windows`` whether all its lines end in CRLF,
    which the text of the document does not show.
    """

    path: Path | None
    place: Path
    saved: str
    view: ModelView
    mark: bool = False
    windows: bool = False
    words: str = ""
    """What could not be read beside it."""
    named: bool = False
    """Whether a person gave the place of a new model, so that it is saved there unasked."""

    @property
    def name(self) -> str:
        """The name of the file, or the one that saving proposes."""
        return self.place.name

    def encode(self, text: str) -> bytes:
        """A text as it stands in the file."""
        return ((MARK if self.mark else "") + (text.replace("\n", "\r\n") if self.windows else text)).encode()

    def on_disk(self) -> str | None:
        """The text that the file has now; None if there is none."""
        if self.path is None or not self.path.exists():
            return None
        return _decode(_read_file(self.path))[0]

    def written(self, text: str, view: ModelView, path: Path | None = None) -> DocumentFile:
        """Write text and view, and return the file as it is then; a failure is an Error, and the old file stays."""
        target = path or self.path
        if target is None:
            raise ArgumentError("save: a new model needs the name of a file, such as axis.yaml")
        write_bytes(target, self.encode(text))
        _write_view(target, view)
        return replace(self, path=target, place=target, saved=text, view=view, words="", named=False)


class FileThere(ArgumentError):
    """A file that would be overwritten."""

    def __init__(self, name: str) -> None:
        super().__init__(f"path: {name} is there already")
        self.name = name


def open_file(path: Path) -> DocumentFile:
    """The file of a model, with what is saved in it; a URDF or MJCF begins a new model that extends it."""
    if path.suffix.lower() in ROBOT_FILES:
        name = path.stem if path.stem.isidentifier() else "model"
        text = f"kinode: 1\nname: {name}\nextends: {path.name}\n"
        return DocumentFile(None, path.with_suffix(".yaml"), text, ModelView())
    if path.suffix.lower() not in MODELS or path.name.lower().endswith(ENDING):
        raise ModelError("the studio opens models in YAML, JSON, URDF or MJCF", file=str(path))
    text, mark, windows = _decode(_read_file(path))
    view, words = ModelView(), ""
    try:
        view = read_view(path)
    except Error as error:
        words = str(error)
    return DocumentFile(path, path, text, view, mark, windows, words)


def new_file(folder: Path, text: str = START, name: str | None = None) -> DocumentFile:
    """A model that has no file yet; a name is where it is to be saved."""
    return DocumentFile(None, folder / (name or "model.yaml"), text, ModelView(), named=name is not None)


def copy_of(example: Path) -> DocumentFile:
    """An example as a new model without a file, at whose place the files that it names are found."""
    return replace(open_file(example), path=None)


def find_target(folder: Path, name: str, own: Path | None, overwrite: bool) -> Path:
    """The path below a folder that a page names for saving; what lies outside or would be overwritten is refused."""
    if not name.strip() or "\0" in name:
        raise ArgumentError(f"path: the name of a file is expected, not {name!r:.60}")
    path = folder / name.strip()
    if not path.suffix:
        path = path.with_name(f"{path.name}.yaml")
    try:
        inside = path.resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError) as error:
        raise ArgumentError(f"path: {name!r} cannot be used: {error}") from None
    if not inside or any(part.startswith(".") for part in Path(name.strip()).parts):
        raise ArgumentError(f"path: {name!r} is outside the folder {folder.name}, or hidden")
    if path.suffix.lower() not in MODELS or path.name.lower().endswith(ENDING):
        raise ArgumentError(f"path: a model ends in .yaml, .yml or .json, and {path.name} does not")
    if path.exists() and path != own and not overwrite:
        raise FileThere(path.name)
    return path


def _read_file(path: Path) -> bytes:
    try:
        if not path.is_file():
            raise ModelError("cannot be read: there is no such file", file=str(path))
        if path.stat().st_size > LARGEST_TEXT:
            raise ModelError(f"the file is larger than {LARGEST_TEXT // 1_000_000} MB", file=str(path))
        return path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from None


def _decode(data: bytes) -> tuple[str, bool, bool]:
    """The text of a file, whether it has a byte order mark, and whether all its lines end in CRLF."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise ModelError("the file is not text in UTF-8") from None
    mark = text.startswith(MARK)
    text = text.removeprefix(MARK)
    windows = "\r\n" in text and "\r" not in text.replace("\r\n", "") and "\n" not in text.replace("\r\n", "")
    return text.replace("\r\n", "\n") if windows else text, mark, windows


def _write_view(model: Path, view: ModelView) -> None:
    path = view_path(model)
    if view:
        write_text(path, write_view(view, model.name))
        return
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)
