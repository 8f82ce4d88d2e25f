"""Answers for building in 3D, and what is said about the mobility of the model.

The newest scene and the newest pull win; nothing of it waits for a run, or is waited for by gestures.  A mechanism that
is locked is a problem of its text: which loop, which joints, and the changes that free it (`find_lock_problems`).
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypedDict, cast

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.editing.checked_text import CheckedText, Cure, Problem, check_text
from kinode.editing.chunked_spans import reread_spans
from kinode.editing.draft import ModelDraft
from kinode.editing.gestures import plan_gesture
from kinode.editing.places import EntryPlaces, find_box, split_box
from kinode.editing.spans import apply_edits
from kinode.errors import ArgumentError, AssemblyError, Error, ModelError
from kinode.model.system import System
from kinode.studio.document.model_document import Gesture
from kinode.studio.placing.pulling import Pull, start_gesture
from kinode.studio.placing.shape_fields import ShapeData, describe_shape
from kinode.studio.placing.still_model import StillModel, pose_array
from kinode.studio.placing.still_scene import GapData, PlaceData, gap_records, still_document
from kinode.studio.server.messages import Arrays, request
from kinode.studio.server.session import Job
from kinode.tasks.loop_locking import FreeingChange, LockedLoop, find_locked_loops
from kinode.tasks.mobility import Mobility, component_words, mobility

if TYPE_CHECKING:
    from kinode.studio.editor.studio_desk import StudioDesk


WARNING = "warning"


def find_lock_problems(system: System, text: str) -> list[Problem]:
    """Warnings for loops that cannot move where that is surely not meant.

    It is not where nothing else moves, or where a motion, a speed or a part drives a joint of the loop; a frame of
    bars in a mechanism that moves is no fault.
    """
    if len(system.joints) <= len(system.bodies):  # no loops
        return []
    try:
        found = find_locked_loops(Dynamics(system))
    except (Error, ArithmeticError, ValueError):
        return []
    return [_problem(loop, text) for loop in found if _is_fault(system, loop, found)]


def _is_fault(system: System, loop: LockedLoop, found: tuple[LockedLoop, ...]) -> bool:
    held = {name for each in found for name in each.locked}
    others = [name for name, joint in system.joints.items() if joint.n_u and name not in held]
    acted = {node.joint for node in system.nodes.values() if node.joint is not None}
    return bool(loop.driven) or not others or bool(acted & set(loop.locked))


def _problem(loop: LockedLoop, text: str) -> Problem:
    name = loop.changes[0].joint if loop.changes else loop.locked[0]
    root = reread_spans(text)
    box, inner = split_box(root, name)
    span, line = EntryPlaces(text, find_box(root, box)).find(inner, "")
    cures = tuple(cure for change in loop.changes if (cure := find_cure(change, text)) is not None)
    return Problem(loop.words, WARNING, name, line=line, span=span, cures=cures, box=box)


def find_cure(change: FreeingChange, text: str) -> Cure | None:
    """The gesture that makes a change; None where the joint is in no entry of this text."""
    root = reread_spans(text)
    box, inner = split_box(root, change.joint)
    inherited = not box and root.find("extends") is not None and change.field != "kind"
    if inner not in EntryPlaces(text, find_box(root, box)).paths and not inherited:
        return None
    gesture: dict[str, Any] = {"do": "set", "name": inner, "path": [change.field], "value": change.value}
    if change.value == "spherical":  # which has no axis
        gesture = {"do": "all", "gestures": [gesture, {**gesture, "path": ["axis"], "value": None}]}
    cure = Cure(change.words, gesture)
    return cure.inside(box) if box else cure


FREE = 6


class SentCure(TypedDict):
    """A change that may mend a problem."""

    words: str
    gesture: Gesture


class ExplainedMobility(TypedDict):
    """The freedoms of a model."""

    counts: list[tuple[str, str]]
    sentences: list[str]
    badges: dict[str, str]
    loose: list[str]
    cures: list[SentCure]  # what frees a locked loop


class EmptyScene(TypedDict):
    """In the place of a scene: there is no body yet."""

    empty: bool
    at: int  # the version of the text


class PlacesHeader(TypedDict):
    """What the header of a scene has beside that of a run (player/run_document.py)."""

    places: list[PlaceData]
    gaps: list[GapData]
    loose: list[str]
    words: str
    at: int
    said: NotRequired[str]  # of a gesture that is not done: its words


class PulledHeader(TypedDict):
    """What a pull led to: coordinates by name, how far the point is from its goal, joints that do not meet."""

    at: int
    values: dict[str, list[float]]
    left: float
    words: str
    gaps: list[GapData]


class StartAnswer(TypedDict):
    """What writes the pulled position into the text."""

    gesture: Gesture
    words: str


PlaceFrame = dict[Literal["name", "body"], str]
"""A named frame of a body."""


class MobilityData(ExplainedMobility):
    """The freedoms of a version, and where its loops are open."""

    gaps: list[GapData]
    at: int  # the version of the text


def explain_mobility(model: StillModel, whole: bool, text: str = "") -> ExplainedMobility:
    """The freedoms of a model, and its redundant constraints, as plain data.

    Parameters
    ----------
    model : StillModel
    whole : bool
        Whether nothing is missing: then the system itself is counted, with all that ties its joints.
    text : str
        That of the model: where changes are written that free what is locked.

    Returns
    -------
    dict
        ``counts`` as rows of words and numbers, ``sentences``, ``badges`` by joint, ``cures`` with words and gesture.

    Raises
    ------
    AssemblyError
        The loops cannot be closed.
    """
    found = mobility(model.given if whole else model.dynamics)
    floating = FREE * len(model.loose)
    badges: dict[str, str] = {}
    for group in found.redundancies:
        for name, parts in group.carried.items():
            joint = name.removesuffix(".effort") if name not in model.given.joints else name
            words = f"redundant: {component_words(parts)}"
            badges[joint] = f"{badges[joint]}; {words}" if joint in badges else words
    for joint in (name for loop in found.locked for name in loop.locked):
        badges[joint] = f"locked; {badges[joint]}" if joint in badges else "locked"
    return {
        "counts": list(_rows(found, floating)),
        "sentences": list(_sentences(found, model, floating)),
        "badges": badges,
        "loose": sorted(model.loose.values()),
        "cures": write_cures(
            cure
            for loop in found.locked
            for change in loop.changes
            if text and (cure := find_cure(change, text)) is not None
        ),
    }


def write_cures(cures: Iterable[Cure]) -> list[SentCure]:
    """Cures as they are sent."""
    return [{"words": cure.words, "gesture": cast(Gesture, cure.gesture)} for cure in cures]


def _rows(found: Mobility, floating: int) -> Iterator[tuple[str, str]]:
    yield ("bodies", str(found.bodies))
    yield ("joints", str(found.joints - floating // FREE))
    yield ("loops", str(found.loops))
    yield ("degrees of freedom", str(found.freedoms - floating))
    yield ("counted in space", str(found.spatial - floating))
    if found.planar is not None:
        yield ("counted in the plane", str(found.planar))
    yield ("redundant constraints", str(found.redundant))
    if found.driven:
        yield ("driven freedoms", str(found.driven))
    if found.tied:
        yield ("tied freedoms", str(found.tied))


def _sentences(found: Mobility, model: StillModel, floating: int) -> Iterator[str]:
    for body in sorted(model.loose.values()):
        yield f"{body} is not joined to the world yet: its six freedoms are not counted."
    freedoms = found.freedoms - floating
    if not freedoms:
        yield "Nothing can move but what is driven." if found.driven else "Nothing can move."
    elif freedoms == 1:
        yield "One number says where all of it is."
    else:
        yield f"{freedoms} independent numbers say where all of it is."
    yield from (loop.words for loop in found.locked)
    if found.singular:
        here = found.freedoms_at_start - floating
        yield f"The start is a singular position: it has {here} freedoms, positions near it {freedoms}."
    for group in found.redundancies:
        carried = "; ".join(f"{name} ({component_words(parts)})" for name, parts in group.carried.items())
        count = "One constraint is" if group.count == 1 else f"{group.count} constraints are"
        yield f"{count} redundant: the motion is the same without, but the loads are not unique in {carried}."
    if found.redundancies:
        yield (
            "A joint with more freedoms in the loop (spherical or universal for revolute, cylindrical for prismatic) "
            "takes redundant constraints away; so does a compliance of the joints, for the loads."
        )


Vector = tuple[float, float, float]
PULLED = "pulled"  # what a page remembers: its pull, the position it led to, and the text that it is of


class PlaceDesk:
    """Holds the model at its start, and answers the pages.

    Parameters
    ----------
    desk : StudioDesk
        The document, and what it means.
    """

    def __init__(self, desk: StudioDesk) -> None:
        self.desk = desk
        self._lock = threading.RLock()
        self._known: tuple[CheckedText, StillModel] | None = None

    def model(self, checked: CheckedText) -> StillModel:
        """The model of a checked text at its start; that of the last text is kept."""
        with self._lock:
            if self._known is not None and self._known[0].system in (checked.system,):  # the same, or equal
                return self._known[1]
        if not checked.system.bodies:
            raise ModelError("there is no body yet")
        model = StillModel(checked.system)
        with self._lock:
            self._known = checked, model
        return model

    # -- answers -----------------------------------------------------------------------------------
    @request("place_scene")
    def scene(self, gesture: Gesture | None = None) -> tuple[PlacesHeader, Arrays] | EmptyScene:
        """The model at its start, or as a gesture would make it."""
        found = self.desk.checked()
        if gesture is None:
            if not found.system.bodies:
                return {"empty": True, "at": found.of.version}
            model = self.model(found.checked)
            header, arrays = still_document(model, ModelDraft(found.of.text, found.of.place, found.checked))
            return cast(PlacesHeader, {**header, "at": found.of.version}), arrays
        plan = plan_gesture(found.of.text, gesture, found.of.place, found.checked)
        text = apply_edits(found.of.text, plan.edits)
        checked = check_text(text, found.of.place)
        if not checked.system.bodies:
            raise ModelError("there is no body yet")
        near = self.model(found.checked) if found.system.bodies else None
        model = StillModel(checked.system, near)
        header, arrays = still_document(model, ModelDraft(text, found.of.place, checked))
        return cast(PlacesHeader, {**header, "at": found.of.version, "said": plan.words}), arrays

    @request("place_pull")
    def pull(self, job: Job, body: str, at: Vector, goal: Vector, anew: bool = False) -> tuple[PulledHeader, Arrays]:
        """Pull a body by a point; the first request of a drag begins where the model starts."""
        found, point = self.desk.checked(), np.array(at, dtype=float)
        model = self.model(found.checked)
        before: tuple[Pull, Array] | None = job.client.memory.get(PULLED)
        with self._lock:
            pull, x = Pull(model, body, point) if before is None else before[0], None
            if before is not None and pull.model is model and not anew:
                x = before[1]
            if pull.model is not model or pull.body != body or not np.array_equal(pull.at, point):
                pull = Pull(model, body, point)
            pulled = pull.to(np.array(goal, dtype=float), x)
        job.client.memory[PULLED] = (pull, pulled.x)
        header: PulledHeader = {
            "at": found.of.version, "values": model.values(pulled.x), "left": pulled.left, "words": pulled.words,
            "gaps": gap_records(model, pulled.poses),
        }  # fmt: skip
        return header, {"poses": pose_array(pulled.poses.values())}

    @request("place_start")
    def start(self, job: Job) -> StartAnswer:
        """What would make the pulled position the start."""
        found, before = self.desk.checked(), job.client.memory.get(PULLED)
        if before is None or before[0].model is not self.model(found.checked):
            raise ArgumentError("nothing was pulled since the model was changed")
        draft = ModelDraft(found.of.text, found.of.place, found.checked)
        with self._lock:
            gesture, words = start_gesture(before[0].model, before[1], draft)
        return {"gesture": cast(Gesture, gesture), "words": "; ".join(words)}

    @request("place_frames", lane="place_frames")
    def frames(self) -> dict[Literal["frames"], list[PlaceFrame]]:
        """The named frames of bodies, where a part can stand."""
        bodies = self.desk.checked().system.bodies
        return {"frames": [{"name": str(x), "body": name} for name, b in bodies.items() for x in b.frames if x.name]}

    @request("shape", lane="shape")
    def shape(self, name: str) -> ShapeData:
        """The shape of a body as a form, and what it gives."""
        found = self.desk.checked()
        return describe_shape(found.system, ModelDraft(found.of.text, found.of.place, found.checked), name)

    @request("mobility")
    def mobility(self) -> MobilityData:
        """Freedoms and redundant constraints."""
        found = self.desk.checked()
        model = self.model(found.checked)
        try:
            explained = explain_mobility(model, found.checked.complete, found.of.text)
        except AssemblyError as error:
            explained = {"counts": [], "sentences": [str(error)], "badges": {}, "loose": [], "cures": []}
        return {**explained, "gaps": gap_records(model, model.poses), "at": found.of.version}
