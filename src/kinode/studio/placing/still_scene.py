"""The picture of a model at its start: a run of one picture (player/run_document.py), with what can be placed.

``places`` are frames, mass centers, shapes and joints with the numbers of the text that place them.  ``gaps`` are
joints whose two sides do not meet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal, NotRequired, TypedDict, cast

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import Pose
from kinode.dynamics.compiled_system import Dynamics
from kinode.editing.draft import ModelDraft
from kinode.editing.places import Box, box_prefix, split_box
from kinode.editing.placing import NumberEntry, PlaceFields, find_axis, find_place, plain_places
from kinode.errors import Error
from kinode.model.base.frames import Frame, given_axis
from kinode.model.joints.joint import Joint
from kinode.model.system import System, joint_frame
from kinode.player.load_data import NO_LOAD
from kinode.player.run_document import FORMAT, VERSION
from kinode.player.scene_data import Plain, SceneData
from kinode.studio.placing.still_model import StillModel, pose_array
from kinode.version import __version__

Vec3 = Annotated[list[float], 3]
NOTHING: Plain = {
    "loadParts": [], "loadNotes": [], "series": [], "liveOnly": [], "events": [], "strips": [], "badges": [],
    "diagram": None, "equations": None, "causes": [], "bearings": [], "parameters": [], "facts": [],
    "run": {"status": "done", "message": "", "component": "", "from": 0.0, "to": 0.0},
}  # fmt: skip


class PlaceEntry(TypedDict):
    """A number of the text that places something."""

    text: str
    value: float | None  # in SI
    unit: str
    parameter: str  # by which it follows; empty if it is a number of its own
    off: str  # why it stays; empty if it can be moved


class SentAxis(TypedDict):
    """The axis of a joint in its own axes; ``off`` says why it cannot be turned."""

    text: str
    value: Vec3 | None
    off: str


class PlaceData(TypedDict):
    """A frame, a mass center or a joint with the numbers that place it, in the axes of a body; -1 is the world."""

    kind: Annotated[str, Literal["frame", "center", "joint"]]
    name: str
    body: int
    at: Vec3
    quaternion: Annotated[list[float], 4]
    path: list[str | int]  # of its position in the text
    given: bool  # whether the position is written
    turnPath: list[str | int]
    off: str
    turnOff: str
    entries: list[PlaceEntry]
    turns: list[PlaceEntry]  # roll, pitch, yaw
    axis: NotRequired[SentAxis]  # of a joint


class GapData(TypedDict):
    """A joint whose two sides do not meet, in the world."""

    joint: str
    a: Vec3
    b: Vec3
    length: float
    words: str


class StillRun:
    """A model at its start in the place of a run: one row."""

    def __init__(self, model: StillModel) -> None:
        self._model = model

    @property
    def system(self) -> System:
        """The model."""
        return self._model.system

    @property
    def dynamics(self) -> Dynamics:
        """The completed system."""
        return self._model.dynamics

    @property
    def p(self) -> Any:
        """The values of its parameters."""
        return self._model.dynamics.parameters

    def __len__(self) -> int:
        return 1

    def evaluate(self, names: Iterable[str], /) -> Mapping[str, Array]:
        """Rotations and positions of bodies by name."""
        poses, values = self._model.poses, dict[str, Array]()
        for name in names:
            owner, _, what = name.rpartition(".")
            X = poses[owner]
            values[name] = (X.R if what == "rotation" else X.p)[None]
        return values


def still_document(model: StillModel, draft: ModelDraft | None) -> tuple[Plain, dict[str, Array]]:
    """Header and arrays of the picture; ``draft`` is the text that says what can be placed."""
    scene = SceneData(StillRun(model))
    poses = model.poses
    header: Plain = {
        "format": FORMAT, "version": VERSION, "written": f"kinode {__version__}", "name": model.system.name,
        "label": "", "digest": "", "size": scene.size, "center": scene.center, "up": scene.up, "plane": scene.plane,
        "bodies": scene.bodies, "frames": scene.frames, "elements": scene.elements,
        "joints": [joint | NO_LOAD | {"unique": [True] * 6, "peak": None} for joint in scene.joints()
                   if joint["name"] not in model.loose],
        **NOTHING,
        "places": [] if draft is None else list(_places(model, scene, draft)),
        "gaps": gap_records(model, poses),
        "loose": sorted(model.loose.values()),
        "words": model.words,
    }  # fmt: skip
    arrays = {"t": np.zeros(1), "poses": pose_array(poses.values()), "series": np.zeros((0, 1), dtype=np.float32)}
    return header, arrays


def gap_records(model: StillModel, poses: Mapping[str, Pose]) -> list[GapData]:
    """The joints whose sides do not meet, with where they are in the world."""
    return [
        {"joint": name, "a": _list(a), "b": _list(b), "length": float(np.linalg.norm(b - a)),
         "words": f"{name} is off by {model.closure_errors[name]}"}
        for name, a, b in model.gaps(poses)
    ]  # fmt: skip


# -- what can be placed ----------------------------------------------------------------------------
def _places(model: StillModel, scene: SceneData, draft: ModelDraft) -> Iterator[PlaceData]:
    system = model.given
    inner_drafts: dict[Box, ModelDraft] = {(): draft}
    for name, body in system.bodies.items():
        box, own = split_box(draft.root, name)
        if box not in inner_drafts:
            inner_drafts[box] = ModelDraft(draft.text, draft.file, box=box)
        inside = inner_drafts[box]
        if own not in inside.places.paths:
            continue
        yield from _place(scene, inside, "center", name, body.com)
        for frame in body.frames:
            if frame.name:
                yield from _place(scene, inside, "frame", str(frame), frame)
    for name, joint in system.joints.items():
        if name in draft.places.paths:
            yield from _joint_place(scene, draft, joint)


def _joint_place(scene: SceneData, draft: ModelDraft, joint: Joint) -> Iterator[PlaceData]:
    """A joint at the side whose numbers place it."""
    fields = find_place(draft, "joint", joint.name)
    side = "child" if fields.at[-2:-1] in ((1,), ("b",)) or fields.at[-1:] in ((1,), ("b",)) else "parent"
    frame = joint_frame(joint, side)
    own = fields.at == (*draft.path_of(joint.name), "at")
    if own and not fields.off and not (joint.a.is_plain and joint.b.is_plain):
        words = "its point is given in the axes of its frames: move the frames"
        fields = replace(fields, entries=(), off=words)
    axis, entry = given_axis(joint, draft.system.nominal), find_axis(draft, joint.name)
    turned: SentAxis = {"text": entry.text, "off": entry.off, "value": None if axis is None else _list(axis)}
    record = _record(scene, draft, "joint", joint.name, frame, fields)
    record["axis"] = turned
    yield record


def _place(scene: SceneData, draft: ModelDraft, kind: str, name: str, frame: Frame) -> Iterator[PlaceData]:
    try:
        fields = find_place(draft, kind, name.removeprefix(box_prefix(draft.box)))
        fields = plain_places(fields) if draft.box else fields
    except Error as error:
        fields = PlaceFields((), (), off=str(error), turn_off=str(error))
    if frame.base is not None and kind == "frame":
        words = "it is placed on another frame: move it in the text"
        fields = replace(fields, entries=(), turns=(), off=words, turn_off=words)
    yield _record(scene, draft, kind, name, frame, fields)


def _record(scene: SceneData, draft: ModelDraft, kind: str, name: str, frame: Frame, fields: PlaceFields) -> PlaceData:
    above = [step for box in draft.box for step in ("systems", box, "system")]
    record: Any = {
        "kind": kind, "name": name, **scene.place(frame), "off": fields.off, "turnOff": fields.turn_off,
        "path": [*above, *fields.at], "given": bool(fields.at) and draft.root.find(*fields.at) is not None,
        "turnPath": [*above, *fields.turn] if fields.turn else [],
        "entries": [_entry(entry) for entry in fields.entries], "turns": [_entry(entry) for entry in fields.turns],
    }  # fmt: skip
    return cast(PlaceData, record)


def _entry(entry: NumberEntry) -> PlaceEntry:
    value = entry.value if np.isfinite(entry.value) else None
    return {"text": entry.text, "value": value, "unit": entry.unit, "parameter": entry.parameter, "off": entry.off}


def _list(values: Any) -> list[float]:
    return [float(x) for x in values]
