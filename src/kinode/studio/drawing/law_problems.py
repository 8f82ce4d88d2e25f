"""What is wrong with a law while it is typed: its dimension, its names, its brackets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kinode.errors import Error
from kinode.formats.editing.checked_text import check_text
from kinode.formats.editing.gestures import plan_gesture
from kinode.formats.editing.text_edits import apply_edits
from kinode.studio.drawing.checked_model import CheckedVersion
from kinode.studio.drawing.kind_boxes import Plain

LARGEST = 200_000  # characters of a text that is checked at every key


def find_law_problem(found: CheckedVersion, field: Any, law: str, completion: Plain) -> str:
    """Why a field would refuse what is typed; empty where it would not, or where a word is still being typed.

    Parameters
    ----------
    found : CheckedVersion
        The text as it is.
    field : mapping
        ``name`` of the component and ``path`` of the field; without them nothing is checked.
    law : str
        What is typed.
    completion : dict
        What it may go on with.
    """
    if not isinstance(field, Mapping) or not law.strip() or len(found.of.text) > LARGEST:
        return ""
    name, path = field.get("name"), field.get("path")
    if not isinstance(name, str) or not isinstance(path, list) or not path or _goes_on(law, completion):
        return ""
    text = found.of.text
    try:
        gesture = {"do": "set", "name": name, "path": path, "value": law}
        edits = plan_gesture(text, gesture, found.of.place, found.checked).edits
    except Error as error:
        return str(error)
    for problem in check_text(apply_edits(text, edits), found.of.place).problems:
        if problem.component == name and problem.field.partition(".")[0].partition("[")[0] == str(path[0]):
            return problem.message
    return ""


def _goes_on(law: str, completion: Plain) -> bool:
    """Whether the last word is the beginning of one that is known."""
    word = law[completion["from"] :]
    labels = [option["label"] for option in completion["options"]]
    return bool(word) and word not in labels and any(label.startswith(word) for label in labels)
