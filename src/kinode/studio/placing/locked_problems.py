"""A mechanism that is locked, as problems of its text: which loop, which joints, and the changes that free it."""

from __future__ import annotations

from typing import Any

from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import Error
from kinode.formats.editing.box_places import find_box, split_box
from kinode.formats.editing.checked_text import Problem
from kinode.formats.editing.cures import Cure
from kinode.formats.editing.entry_places import EntryPlaces
from kinode.formats.editing.spans.chunked_spans import reread_spans
from kinode.model.system import System
from kinode.tasks.locking.locked_loops import FreeingChange, LockedLoop, find_locked_loops

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
