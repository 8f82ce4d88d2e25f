"""Any gestures at the document of a studio: refused in words, or done, drawn, and undone to the byte."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest
from gesture_strategies import desk_gestures
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import kinode as kn
from kinode.editing.checked_text import check_text
from kinode.editing.copying import copy_components
from kinode.editing.draft import ModelDraft, read_places
from kinode.studio.document.document_files import open_file
from kinode.studio.document.model_document import ModelDocument
from kinode.studio.editor.checked_model import CheckedVersion, ModelVersion, find_broken
from kinode.studio.editor.completion import complete_text
from kinode.studio.editor.inspection import inspect_component
from kinode.studio.editor.kinds import find_fits
from kinode.studio.editor.sketch import Sketcher

PATHS = [
    path
    for path in sorted((Path(__file__).resolve().parents[3] / "examples").glob("*.yaml"))
    if path.stat().st_size < 6000
]


def look(document: ModelDocument, data: st.DataObject) -> None:
    """Ask all that a page asks of a text: its drawing, a part in full, what fits a port, what may be typed, a copy."""
    version = ModelVersion(document.version, document.text, document.view, document.file.place)
    found = CheckedVersion(version, check_text(version.text, version.place))
    readable = found.checked.readable
    assert found.checked.complete or all(problem.message for problem in found.checked.problems)
    view = document.view
    broken = find_broken(found) if readable else []
    sketch = Sketcher(found.system, broken, view.places, view.waypoints).draw(document.version)
    complete_text(version.text, data.draw(st.integers(0, len(version.text))), found.system)
    if not readable:
        return
    names = sorted({box["owner"] for box in sketch["boxes"]})
    inspect_component(found, sketch, data.draw(st.sampled_from([*names, ""])))
    ported = [box for box in sketch["boxes"] if box["ports"]]
    if ported:
        box = data.draw(st.sampled_from(ported))
        draft = ModelDraft(version.text, version.place, found.checked)
        find_fits(draft, sketch, box["name"], data.draw(st.sampled_from(box["ports"]))["name"])
    if names:
        with contextlib.suppress(kn.Error):
            copied = copy_components(read_places(version.text), [data.draw(st.sampled_from(names))])
            assert check_text(copied).readable


def act(document: ModelDocument, data: st.DataObject) -> None:
    """One change, or one that is refused."""
    what = data.draw(st.sampled_from(["gesture"] * 6 + ["undo", "redo"]))
    readable = check_text(document.text, document.file.place).readable
    gesture: Any = None
    try:
        if what == "undo":
            document.undo()
        elif what == "redo":
            document.redo()
        else:
            gesture = data.draw(desk_gestures(document.text, document.file.place))
            document.gesture(gesture)
    except kn.Error as error:
        assert str(error).strip()
        return
    if readable and what == "gesture" and gesture.get("do") != "text":
        assert check_text(document.text, document.file.place).readable, gesture


@settings(max_examples=40, phases=[Phase.generate])  # what fails is short enough
@given(st.sampled_from(PATHS), st.data())
def test_any_gestures_are_done_or_refused_and_undone_to_the_byte(path: Path, data: st.DataObject) -> None:
    file = open_file(path)
    document = ModelDocument(file)
    for _ in range(data.draw(st.integers(1, 6))):
        act(document, data)
        look(document, data)
    last = document.text, document.view
    while document.state()["canUndo"]:
        document.undo()
    assert (document.text, document.view) == (file.saved, file.view)
    while document.state()["canRedo"]:
        document.redo()
    assert document.state()["canUndo"] or last == (file.saved, file.view)


@pytest.mark.parametrize("steps", [[], [3], ["fly"]], ids=str)
def test_what_is_no_gesture_is_said(steps: list[Any]) -> None:
    document = ModelDocument(open_file(PATHS[0]))
    with pytest.raises(kn.Error):
        document.gesture(steps)  # type: ignore[arg-type]
