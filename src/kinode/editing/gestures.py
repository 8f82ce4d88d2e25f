"""Gestures of a person at a drawing, as edits of the text of its model.

A gesture is a dictionary with the word ``do``; ``GESTURES`` has the function that each is declared by, and the table of
docs/reference/design.md is written from it.  ``plan_gesture`` changes nothing: it says which characters of the text
become which.  What a gesture does not concern stays as it is, to the byte.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from kinode.editing.adding import add_part, join
from kinode.editing.checked_text import CheckedText
from kinode.editing.connecting import connect, disconnect
from kinode.editing.copying import add_group, duplicate, paste, take_entry
from kinode.editing.dissolving import EdgeNames, dissolve, follow_inside
from kinode.editing.draft import GesturePlan, ModelDraft
from kinode.editing.enclosing import enclose
from kinode.editing.file_boxes import insert_box, refer, take_base
from kinode.editing.gesture_words import BoxNames, Edits, FieldPath, Inner, Several, Typed, read_words
from kinode.editing.places import box_prefix
from kinode.editing.placing import place
from kinode.editing.removing import delete, rename
from kinode.editing.spans import Edit, in_order
from kinode.errors import ArgumentError, ModelError, find_close, suggest
from kinode.formats.yaml_files import TOP

VIEW = ("move", "waypoints", "tidy")  # change the drawing alone


def plan_gesture(
    text: str,
    gesture: Mapping[str, Any],
    file: str | os.PathLike[str] | None = None,
    checked: CheckedText | None = None,
) -> GesturePlan:
    """What a gesture changes in the text of a model.

    Parameters
    ----------
    text : str
        The model.
    gesture : mapping
        ``do`` says what: add, group, set, connect, disconnect, delete, rename, duplicate, paste, take, place,
        join, text, all, in, enclose, dissolve, insert, refer, take_base, move, waypoints or tidy.
    file : str or path, optional
        The file that the text is from: for the files that it names.
    checked : CheckedText, optional
        What ``check_text`` said of this text, which saves checking it again.

    Returns
    -------
    GesturePlan

    Raises
    ------
    ArgumentError, ModelError
        The gesture cannot be done, with the reason.

    Examples
    --------
    >>> from kinode.editing.gestures import plan_gesture
    >>> text = "kinode: 1\\nbodies: {arm: {mass: 2}}"
    >>> plan_gesture(text, {"do": "set", "name": "arm", "path": ["mass"], "value": "3 kg"}).edits
    [Edit(start=31, end=32, text='3 kg')]
    """
    if not isinstance(gesture, Mapping):
        raise ArgumentError(f"a gesture is a mapping with the word 'do', not {gesture!r:.60}")
    plan = GesturePlan()
    if gesture.get("do") == "text":
        edit_text(text, plan, **read_words("text", edit_text, gesture))
        return plan
    draft = ModelDraft(text, file, checked)
    do_gesture(draft, gesture, plan)
    plan.edits = draft.edited.edits()
    return plan


def do_gesture(draft: ModelDraft, gesture: Mapping[str, Any], plan: GesturePlan) -> None:
    """Do one gesture in a draft."""
    word = gesture.get("do") if isinstance(gesture, Mapping) else None
    if word in VIEW:
        plan.words = str(word)
        return
    if not isinstance(word, str) or word not in GESTURES:
        near = find_close(str(word), [*GESTURES, *VIEW, "text"])
        every = f"; there are {', '.join((*GESTURES, *VIEW, 'text'))}"
        raise ArgumentError(suggest(f"there is no gesture {word!r:.40}", word, near, otherwise=every))
    GESTURES[word](draft, plan, **read_words(word, GESTURES[word], gesture))


def edit_text(text: str, plan: GesturePlan, *, edits: Edits) -> None:
    """Edits from a text editor; the text may be wrong after them."""
    plan.edits, plan.words = in_order(text, [Edit(*edit) for edit in edits]), "edit text"


def set_field(
    draft: ModelDraft, plan: GesturePlan, *, name: str = "", path: FieldPath, value: Typed | None = None
) -> None:
    """A field, as typed; without a value it is taken out; an empty name is the top of the file."""
    path = (path,) if isinstance(path, str) else path
    if not path:
        raise ArgumentError("the gesture 'set' needs the path of a field")
    shown = ".".join(str(step) for step in (*((name,) if name else ()), *path))
    plan.words = f"take out {shown}" if value is None else f"set {shown}"
    where = draft.field_path(name, path)
    if name and name not in TOP and where[0] != "changes":
        draft.path_of(name)
    elif not name and path[0] not in TOP:
        raise ArgumentError(f"a model has no {path[0]!r}; it has {', '.join(TOP)}")
    elif path[0] == "kinode" and not name:
        raise ArgumentError("the version of the format is what it is")
    if value is None and path == ("kind",) and draft.places.class_of(name, draft.system.kinds) is not None:
        raise ArgumentError(f"{name} needs its kind")
    draft.set(where, value)


def do_all(draft: ModelDraft, plan: GesturePlan, *, gestures: Several, words: str = "") -> None:
    """Several as one step."""
    each = []
    for inner in gestures:
        one = GesturePlan()
        do_gesture(draft, inner, one)
        plan.made += one.made
        plan.removed += one.removed
        plan.renamed |= one.renamed
        each.append(one.words)
        draft.restart()
    plan.words = words or ", ".join(dict.fromkeys(each))


def do_inside(draft: ModelDraft, plan: GesturePlan, *, box: BoxNames, gesture: Inner) -> None:
    """A gesture inside a subsystem that is written out; references outside follow names that change.

    The names that it made, removed and renamed are those of the whole.
    """
    if gesture.get("do") in ("text", "in"):
        raise ArgumentError("the gesture 'in' needs the gesture that is done in its box")
    whole = (*draft.box, *box)
    inside = ModelDraft(draft.text, draft.file, box=whole)
    one, edge = GesturePlan(), EdgeNames.of(inside)
    do_gesture(inside, gesture, one)
    draft.apply(inside.edited.edits())
    follow_inside(draft, whole, edge, one.renamed)
    prefix = box_prefix(whole)
    plan.made += [prefix + name for name in one.made]
    plan.removed += [prefix + name for name in one.removed]
    plan.renamed |= {prefix + old: prefix + new for old, new in one.renamed.items()}
    plan.words = f"{one.words} in {'.'.join(whole)}"


GESTURES: Mapping[str, Callable[..., None]] = {
    "add": add_part,
    "set": set_field,
    "connect": connect,
    "disconnect": disconnect,
    "delete": delete,
    "rename": rename,
    "duplicate": duplicate,
    "paste": paste,
    "group": add_group,
    "take": take_entry,
    "place": place,
    "join": join,
    "all": do_all,
    "in": do_inside,
    "enclose": enclose,
    "dissolve": dissolve,
    "insert": insert_box,
    "refer": refer,
    "take_base": take_base,
}

__all__ = ["GesturePlan", "ModelError", "plan_gesture"]
