"""The gesture ``join``: a joint between two places; frames that are missing are added to the bodies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kinode.errors import ArgumentError
from kinode.formats.editing.actions.added_parts import add_part, name_of_kind, read_fields
from kinode.formats.editing.actions.gesture_plan import (
    GesturePlan,
    check_new_name,
    free_name,
    names_in_use,
    read_text_of,
)
from kinode.formats.editing.actions.number_entries import format_number
from kinode.formats.editing.actions.placement import read_step, read_vector, write_axis
from kinode.formats.editing.model_draft import ModelDraft
from kinode.model.base.frames import FRAME_WORDS, LETTERS
from kinode.model.joints.joint import JOINTS

AT = 1e-9  # m: a place so near to a body's origin is the body itself


def join(draft: ModelDraft, gesture: Mapping[str, Any], plan: GesturePlan) -> None:
    """Add a joint: ``kind``, sides ``a`` and ``b``, ``axis`` as a letter or three numbers, ``name``, ``fields``.

    A side is {frame: arm.tip}, {body: arm}, or a place {body: arm, at: [x, y, z]} in the body's axes, in SI, which
    becomes a frame of the body; on the world it is written where it is used.
    """
    kind = read_text_of(gesture, "kind")
    if kind not in JOINTS:
        raise ArgumentError(f"there is no joint {kind!r}; there are {', '.join(sorted(JOINTS))}")
    name = gesture.get("name")
    taken = names_in_use(draft)
    name = free_name(name_of_kind(kind), taken) if name is None else check_new_name(name, taken)
    step = read_step(gesture, "step", 1e-3)
    sides = [_side(draft, gesture, side, name, step) for side in ("a", "b")]
    if _body_of(sides[0]) == _body_of(sides[1]):
        raise ArgumentError(f"both places are on {_body_of(sides[0])}: a joint joins two bodies")
    fields = {"between": f"[{sides[0]}, {sides[1]}]"}
    axis = gesture.get("axis")
    if axis is not None and "axis" in JOINTS[kind].specs():
        fields["axis"] = _axis(gesture)
    add_part(
        draft,
        {"do": "add", "kind": kind, "name": name, "fields": {**fields, **read_fields(gesture.get("fields"))}},
        plan,
    )
    plan.words = f"join {_body_of(sides[0])} and {_body_of(sides[1])} by {name}"


def _axis(gesture: Mapping[str, Any]) -> str:
    axis = gesture["axis"]
    if isinstance(axis, str):
        if axis not in LETTERS:
            raise ArgumentError(f"axis: one of {', '.join(LETTERS)}, or three numbers, not {axis!r:.40}")
        return axis
    return write_axis(read_vector(gesture, "axis") or [])


def _side(draft: ModelDraft, gesture: Mapping[str, Any], side: str, joint: str, step: float) -> str:
    """What stands in ``between`` for one side."""
    raw = gesture.get(side)
    if not isinstance(raw, Mapping) or not ({"frame", "body"} & raw.keys()):
        raise ArgumentError(f"{side}: {{frame: arm.tip}} or {{body: arm, at: [x, y, z]}} is expected")
    frame = raw.get("frame")
    if frame is not None:
        if not isinstance(frame, str) or "." not in frame:
            raise ArgumentError(f"{side}: {frame!r:.40} is no frame: write body.frame")
        draft.system.find_frame(frame)
        return frame
    body = raw.get("body")
    if not isinstance(body, str) or (body != "world" and body not in draft.system.bodies):
        raise ArgumentError(f"{side}: there is no body {body!r:.40}")
    at = read_vector(raw, "at")
    if at is None or max(map(abs, at)) < max(AT, 0.5 * step):
        return body
    numbers = "[" + ", ".join(format_number(x, step) for x in at) + "]"
    if body == "world":
        return f"{{body: world, at: {numbers}}}"
    path = (*draft.path_of(body), "frames")
    known = draft.root.find(*path)
    taken = {*(known.entries if known is not None else ()), *FRAME_WORDS}
    own = free_name(joint, taken)
    draft.set((*path, own), numbers)
    draft.restart()
    return f"{body}.{own}"


def _body_of(side: str) -> str:
    return "world" if side.startswith("{") else side.rpartition(".")[0] or side
