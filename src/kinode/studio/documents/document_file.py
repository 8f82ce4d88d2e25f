"""The file of a document: read and written as a whole, with its byte order mark and line breaks as they were.

Beside it lies its view (view_file.py).  A document without a file has a place where it would be: for the files that its
text names, and as the name that saving proposes.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from pathlib import Path

from kinode.atomic_files import write_bytes, write_text
from kinode.errors import ArgumentError, Error, ModelError, unreadable
from kinode.formats.yaml_text import LARGEST_TEXT
from kinode.importers import ROBOT_FILES
from kinode.studio.documents.view_file import ENDING, ModelView, read_view, view_path, write_view

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
        return _decode(_read(self.path))[0]

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
    text, mark, windows = _decode(_read(path))
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


def find_target(folder: Path, name: object, own: Path | None, overwrite: bool) -> Path:
    """The path below a folder that a page names for saving; what lies outside or would be overwritten is refused."""
    if not isinstance(name, str) or not name.strip() or "\0" in name:
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


def _read(path: Path) -> bytes:
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
