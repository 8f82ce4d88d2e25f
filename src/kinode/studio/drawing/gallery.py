"""The gallery of the studio: the examples with pictures of their circuits, and the models of a folder."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path

from kinode.errors import ArgumentError, Error
from kinode.formats.load import load
from kinode.importers import ROBOT_FILES
from kinode.model.circuit_links.circuit_topology import find_circuit_topology
from kinode.studio.diagram_data import MOST_NARROW, NARROW, WIDE
from kinode.studio.documents.document_file import MODELS
from kinode.studio.documents.view_file import ENDING
from kinode.studio.drawing.kind_boxes import Plain
from kinode.studio.example_files import find_examples, first_words
from kinode.views.diagram.circuit_diagram import diagram

MOST_MODELS = 200
_DRAWING = threading.Lock()
LARGEST = 1_000_000  # bytes of a file that is looked into
_STYLE = re.compile(r"<style>.*?</style>\n?", re.DOTALL)
_MODEL = re.compile(rb"^[\"{\s]*kinode[\"']?\s*:", re.MULTILINE)
_ROBOT = re.compile(rb"<(?:robot|mujoco)\b")


def list_examples(goes_on: Callable[..., bool] = lambda: True) -> list[Plain]:
    """The examples: file, name, first sentence, and a picture of the circuit."""
    rows = []
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
        return _STYLE.sub("", diagram(system, width=width, legend=False).svg)
    except Error:
        return ""


def draw_ahead() -> None:
    """Draw all examples in the background, so that the gallery need not wait for them."""
    threading.Thread(target=list_examples, name="kinode gallery", daemon=True).start()


def find_example(name: object) -> Path:
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


def find_model(folder: Path, name: object) -> Path:
    """The path of a model that lies in a folder or below it; what is hidden, outside or no model is refused."""
    if isinstance(name, str) and "\0" not in name and not any(part.startswith(".") for part in Path(name).parts):
        path = folder / name
        try:
            inside = path.resolve().is_relative_to(folder.resolve())
        except (OSError, ValueError, RuntimeError):
            inside = False
        ending = path.suffix.lower() in (*MODELS, *ROBOT_FILES) and not path.name.lower().endswith(ENDING)
        if inside and ending and _is_model(path):
            return path
    raise ArgumentError(f"file: the folder {folder.name} has no model {name!r:.60}")


def _is_model(path: Path) -> bool:
    try:
        sign = _ROBOT if path.suffix.lower() in ROBOT_FILES else _MODEL
        return path.is_file() and path.stat().st_size <= LARGEST and sign.search(path.read_bytes()) is not None
    except OSError:
        return False
