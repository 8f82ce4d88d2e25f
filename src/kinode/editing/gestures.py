"""Gestures of a person at a drawing, as edits of the text of its model.

A gesture is a dictionary with the word ``do``; docs/reference/design.md lists them.  ``plan_gesture`` changes nothing:
it says which characters of the text become which.  What a gesture does not concern stays as it is, to the byte.
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
from kinode.editing.draft import GesturePlan, ModelDraft, set_inherited
from kinode.editing.enclosing import enclose
from kinode.editing.file_boxes import insert_box, refer, take_base
from kinode.editing.places import box_prefix, read_box
from kinode.editing.placing import place
from kinode.editing.removing import delete, rename
from kinode.editing.spans import in_order, read_edits
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
        return _plan_text(text, gesture)
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
    if not isinstance(word, str) or word not in DOING:
        near = find_close(str(word), [*DOING, *VIEW, "text"])
        every = f"; there are {', '.join((*DOING, *VIEW, 'text'))}"
        raise ArgumentError(suggest(f"there is no gesture {word!r:.40}", word, near, otherwise=every))
    DOING[word](draft, gesture, plan)


def _plan_text(text: str, gesture: Mapping[str, Any]) -> GesturePlan:
    """Edits that come from a text editor; the text may be wrong after them."""
    edits = in_order(text, read_edits(gesture.get("edits")))
    return GesturePlan(edits=edits, words="edit text")


def set_field(draft: ModelDraft, gesture: Mapping[str, Any], plan: GesturePlan) -> None:
    """Give a field its value, or take it out."""
    name, path, value = gesture.get("name", ""), gesture.get("path"), gesture.get("value")
    if isinstance(path, str):
        path = [path]
    if not isinstance(name, str) or not isinstance(path, list | tuple) or not path:
        raise ArgumentError("the gesture 'set' needs the name of a component and the path of a field")
    if not all(isinstance(step, str) or type(step) is int for step in path):
        raise ArgumentError("the path of a field is made of names, and of numbers in lists")
    if value is not None and not isinstance(value, str):
        raise ArgumentError("the value is given as text, as it would be typed; null takes the field out")
    shown = ".".join(str(step) for step in (*((name,) if name else ()), *path))
    plan.words = f"take out {shown}" if value is None else f"set {shown}"
    if name and draft.find_origin(name):
        set_inherited(draft, name, tuple(path), value)
        return
    if name and name not in TOP:
        draft.path_of(name)
    elif not name and path[0] not in TOP:
        raise ArgumentError(f"a model has no {path[0]!r}; it has {', '.join(TOP)}")
    elif path[0] == "kinode" and not name:
        raise ArgumentError("the version of the format is what it is")
    where = draft.places.field_path(name, tuple(path))
    if value is None and draft.places.class_of(name, draft.system.kinds) is not None and path == ["kind"]:
        raise ArgumentError(f"{name} needs its kind")
    draft.set(where, value)


def do_all(draft: ModelDraft, gesture: Mapping[str, Any], plan: GesturePlan) -> None:
    """Several gestures as one step."""
    gestures = gesture.get("gestures")
    if not isinstance(gestures, list | tuple):
        raise ArgumentError("the gesture 'all' needs its gestures, a list")
    words = []
    for inner in gestures:
        one = GesturePlan()
        do_gesture(draft, inner, one)
        plan.made += one.made
        plan.removed += one.removed
        plan.renamed |= one.renamed
        words.append(one.words)
        draft.restart()
    plan.words = str(gesture.get("words") or ", ".join(dict.fromkeys(words)))


def do_inside(draft: ModelDraft, gesture: Mapping[str, Any], plan: GesturePlan) -> None:
    """A gesture inside a subsystem; the names that it made, removed and renamed are those of the whole."""
    box, inner = (*draft.box, *read_box(gesture.get("box"))), gesture.get("gesture")
    if not isinstance(inner, Mapping) or inner.get("do") in ("text", "in"):
        raise ArgumentError("the gesture 'in' needs the gesture that is done in its box")
    inside = ModelDraft(draft.text, draft.file, box=box)
    one, edge = GesturePlan(), EdgeNames.of(inside)
    do_gesture(inside, inner, one)
    draft.apply(inside.edited.edits())
    follow_inside(draft, box, edge, one.renamed)
    prefix = box_prefix(box)
    plan.made += [prefix + name for name in one.made]
    plan.removed += [prefix + name for name in one.removed]
    plan.renamed |= {prefix + old: prefix + new for old, new in one.renamed.items()}
    plan.words = f"{one.words} in {'.'.join(box)}"


DOING: Mapping[str, Callable[[ModelDraft, Mapping[str, Any], GesturePlan], None]] = {
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
