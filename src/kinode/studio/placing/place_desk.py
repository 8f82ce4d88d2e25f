"""Answers for building in 3D.

===========  ===========================  =====================================================================
kind         fields                       answer
===========  ===========================  =====================================================================
place_scene  gesture                      the model at its start as a packet; after a gesture that is not done
place_pull   body, at, goal, anew         poses while a body is pulled, as a packet; coordinates, words
place_start                               gesture: what writes the pulled position into the text; words
place_frames                              frames: the named frames of bodies
shape        name                         the shape of a body as a form; mass and inertia as numbers
mobility                                  freedoms, loops, redundant constraints, in words and by joint
===========  ===========================  =====================================================================

The newest scene and the newest pull win; nothing of it waits for a run, or is waited for by gestures.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError, AssemblyError, ModelError
from kinode.formats.editing.checked_text import CheckedText, check_text
from kinode.formats.editing.gestures import plan_gesture
from kinode.formats.editing.model_draft import ModelDraft
from kinode.formats.editing.text_edits import apply_edits
from kinode.studio.live_pages.session import Answer, Job
from kinode.studio.placing.mobility_words import explain_mobility
from kinode.studio.placing.pulling import Pull
from kinode.studio.placing.shape_fields import describe_shape
from kinode.studio.placing.start_here import start_gesture
from kinode.studio.placing.still_model import StillModel, pose_array
from kinode.studio.placing.still_scene import gap_records, still_document

if TYPE_CHECKING:
    from kinode.studio.drawing.studio_desk import StudioDesk

PULLED = "pulled"  # what a page remembers: its pull, the position it led to, and the text that it is of
EMPTY = {"bodies": [], "empty": True}


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
    def scene(self, job: Job) -> Answer:
        """The model at its start, or as a gesture would make it."""
        found, gesture = self.desk.checked(), job.fields.get("gesture")
        if gesture is None:
            if not found.system.bodies:
                return {**EMPTY, "at": found.of.version}
            model = self.model(found.checked)
            header, arrays = still_document(model, ModelDraft(found.of.text, found.of.place, found.checked))
            return {**header, "at": found.of.version}, arrays
        plan = plan_gesture(found.of.text, gesture, found.of.place, found.checked)
        text = apply_edits(found.of.text, plan.edits)
        checked = check_text(text, found.of.place)
        if not checked.system.bodies:
            raise ModelError("there is no body yet")
        near = self.model(found.checked) if found.system.bodies else None
        model = StillModel(checked.system, near)
        header, arrays = still_document(model, ModelDraft(text, found.of.place, checked))
        return {**header, "at": found.of.version, "said": plan.words}, arrays

    def pull(self, job: Job) -> Answer:
        """Pull a body by a point; the first request of a drag begins where the model starts."""
        found, fields = self.desk.checked(), job.fields
        model = self.model(found.checked)
        body, at, goal = fields.get("body"), _vector(fields, "at"), _vector(fields, "goal")
        if not isinstance(body, str):
            raise ArgumentError(f"body: a name is expected, not {body!r:.40}")
        before: tuple[Pull, Array] | None = job.client.memory.get(PULLED)
        with self._lock:
            pull, x = Pull(model, body, at) if before is None else before[0], None
            if before is not None and pull.model is model and fields.get("anew") is not True:
                x = before[1]
            if pull.model is not model or pull.body != body or not np.array_equal(pull.at, at):
                pull = Pull(model, body, at)
            pulled = pull.to(goal, x)
        job.client.memory[PULLED] = (pull, pulled.x)
        header = {
            "at": found.of.version, "values": model.values(pulled.x), "left": pulled.left, "words": pulled.words,
            "gaps": gap_records(model, pulled.poses),
        }  # fmt: skip
        return header, {"poses": pose_array(pulled.poses.values())}

    def start(self, job: Job) -> Answer:
        """What would make the pulled position the start."""
        found, before = self.desk.checked(), job.client.memory.get(PULLED)
        if before is None or before[0].model is not self.model(found.checked):
            raise ArgumentError("nothing was pulled since the model was changed")
        draft = ModelDraft(found.of.text, found.of.place, found.checked)
        with self._lock:
            gesture, words = start_gesture(before[0].model, before[1], draft)
        return {"gesture": gesture, "words": "; ".join(words)}

    def frames(self, job: Job) -> Answer:
        """The named frames of bodies, where a part can stand."""
        bodies = self.desk.checked().system.bodies
        return {"frames": [{"name": str(x), "body": name} for name, b in bodies.items() for x in b.frames if x.name]}

    def shape(self, job: Job) -> Answer:
        """The shape of a body, and what it gives."""
        found, name = self.desk.checked(), job.fields.get("name")
        if not isinstance(name, str):
            raise ArgumentError(f"name: the name of a body is expected, not {name!r:.40}")
        return describe_shape(found.system, ModelDraft(found.of.text, found.of.place, found.checked), name)

    def mobility(self, job: Job) -> Answer:
        """Freedoms and redundant constraints."""
        found = self.desk.checked()
        model = self.model(found.checked)
        try:
            explained = explain_mobility(model, found.checked.complete, found.of.text)
        except AssemblyError as error:
            explained = {"counts": [], "sentences": [str(error)], "badges": {}, "loose": [], "cures": [], "text": ""}
        return {**explained, "gaps": gap_records(model, model.poses), "at": found.of.version}


def add_place_answers(desk: StudioDesk) -> PlaceDesk:
    """Answer what pages ask that build in 3D."""
    place = PlaceDesk(desk)
    for kind, answer in {
        "place_scene": place.scene, "place_pull": place.pull, "place_start": place.start, "mobility": place.mobility,
    }.items():  # fmt: skip
        desk.session.handle(kind, answer)
    for kind, answer in {"shape": place.shape, "place_frames": place.frames}.items():
        desk.session.handle(kind, answer, lane=kind)
    return place


def _vector(fields: Mapping[str, Any], key: str) -> Array:
    raw = fields.get(key)
    if isinstance(raw, list) and len(raw) == 3 and all(isinstance(x, int | float) and math.isfinite(x) for x in raw):
        return np.array(raw, dtype=float)
    raise ArgumentError(f"{key}: three numbers are expected, not {raw!r:.60}")
