"""The gesture ``add``: a component of a kind with what it needs to begin with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kinode.errors import ArgumentError, find_close, suggest
from kinode.formats.editing.actions.gesture_plan import (
    GesturePlan,
    check_new_name,
    free_name,
    fresh_nodes,
    names_in_use,
    read_text_of,
)
from kinode.formats.editing.actions.starting_values import BODY, starting_fields
from kinode.formats.editing.model_draft import ModelDraft
from kinode.model.base.element import ELEMENTS
from kinode.model.base.observers.moving_frames import FRAMES
from kinode.model.component_store import RESERVED
from kinode.model.constraints.constraint import CONSTRAINTS
from kinode.model.drive_unit import DriveUnit
from kinode.model.joints.joint import JOINTS

PLAIN = {"body": "bodies", "parameter": "parameters", "input": "inputs", "signal": "signals", "table": "tables",
         "frame": "frames", "drive": "drives"}  # fmt: skip
FIRST = {
    "body": BODY, "parameter": {"value": "1"}, "input": {"value": "0"}, "signal": {"law": "sin(2*pi*t)"},
    "table": {"axes": "[0, 1]", "values": "[0, 1]"}, "frame": {"at": "[0, 0, 0]"},
}  # fmt: skip


def add_part(draft: ModelDraft, gesture: Mapping[str, Any], plan: GesturePlan) -> None:
    """Add a component of a kind."""
    kind = read_text_of(gesture, "kind")
    section = find_section(draft, kind, gesture.get("section"))
    taken = names_in_use(draft)
    name = gesture.get("name")
    name = free_name(name_of_kind(kind), taken) if name is None else check_new_name(name, taken)
    given = read_fields(gesture.get("fields"))
    fields = _fields(draft, kind, section, given, taken | {name})
    if kind not in PLAIN:
        fields = {"kind": kind, **fields}
    draft.add(section, name, fields)
    plan.made.append(name)
    plan.words = f"add {name}"


def read_fields(raw: Any) -> dict[str, str]:
    """The fields of a gesture: names with values as typed."""
    if raw is None:
        return {}
    if not isinstance(raw, Mapping) or not all(isinstance(x, str) for pair in raw.items() for x in pair):
        raise ArgumentError("fields are a mapping of names to values as they would be typed")
    return {key: value for key, value in raw.items() if key != "kind"}


def known_kinds(draft: ModelDraft) -> dict[str, Mapping[str, Any]]:
    """The classes of all kinds, by section."""
    elements = {**ELEMENTS, **draft.system.kinds}
    return {"joints": JOINTS, "constraints": CONSTRAINTS, "elements": elements, "frames": FRAMES}


def find_section(draft: ModelDraft, kind: str, wanted: Any = None) -> str:
    """The section that components of a kind stand in."""
    known = known_kinds(draft)
    if isinstance(wanted, str) and kind in known.get(wanted, {}):
        return wanted
    if kind in PLAIN:
        return PLAIN[kind]
    for section, kinds in known.items():
        if kind in kinds:
            return section
    near = find_close(kind, [*PLAIN, *(kind for kinds in known.values() for kind in kinds)], 3)
    raise ArgumentError(suggest(f"there is no kind {kind!r}", kind, near))


def name_of_kind(kind: str) -> str:
    """The name for a first component of a kind: its last word, such as motor, where that is free to be a name."""
    word = kind.rpartition("_")[2]
    return kind if word in RESERVED or len(word) < 3 else word


def _fields(draft: ModelDraft, kind: str, section: str, given: dict[str, str], taken: set[str]) -> dict[str, str]:
    """The fields of the new entry, as typed."""
    if kind in FIRST:
        if kind == "body":
            return given if given else dict(BODY)
        return {**FIRST[kind], **given}
    classes = {**known_kinds(draft), "drives": {"drive": DriveUnit}}[section]
    system = draft.system
    bodies = [name for name in draft.places.paths if draft.places.section_of(name) == "bodies"]
    joints = [name for name, joint in system.joints.items() if joint.n_u == 1 and name in draft.places.paths]
    joined = {end.body for joint in system.joints.values() for end in (joint.a, joint.b)}
    loose = [name for name in bodies if name not in joined]
    nodes = fresh_nodes(taken)

    def frame(field: str) -> str:
        second = field == "b" or section != "joints"
        if section == "joints":
            return (loose or bodies)[-1] if second and bodies else "world"
        return "world" if field == "a" or not bodies else bodies[-1]

    if kind == "line" and bodies:
        given = {"start": "world", "end": bodies[-1], **given}
    if section == "joints" and not bodies and not {"between", "a", "b"} & given.keys():
        raise ArgumentError("a joint joins two bodies, or a body and the world: add a body first")
    if section == "joints" and not {"between", "a", "b"} & given.keys():
        given = {"between": f"[world, {(loose or bodies)[-1]}]", **given}
    return starting_fields(classes[kind], given, lambda: next(nodes), frame, joints[::-1])
