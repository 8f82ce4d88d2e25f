"""A position that was pulled, as start values of the text: which joints get them, and how they are written.

A tree gets ``q`` of each joint that moved.  In loops the other joints follow: as many joints get an exact ``q`` as
there are freedoms, those first that have one.  The others get a ``guess`` where the loops would close another way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.formats.editing.actions.number_entries import NumberEntry, format_number, read_entry, write_value
from kinode.formats.editing.checked_text import check_text
from kinode.formats.editing.gestures import plan_gesture
from kinode.formats.editing.model_draft import ModelDraft
from kinode.formats.editing.text_edits import apply_edits
from kinode.formats.span_nodes import NodeKind, SpanNode
from kinode.model.joints.joint import Joint
from kinode.structure.loop_closure import RANK
from kinode.studio.placing.still_model import StillModel

Gesture = dict[str, Any]
ANGLE_STEP = np.pi / 1800.0  # 0.1 degree
LENGTH_STEP = 1e-4  # of the characteristic length
TURN_STEP = 1e-4  # of a quaternion's numbers
MOVED = 0.5
SAME = 0.02  # rad, or characteristic lengths: rounded start values lead there


def start_gesture(model: StillModel, x: Array, draft: ModelDraft) -> tuple[Gesture | None, list[str]]:
    """The gesture that makes a position the start, and what it leaves out, in words; None where nothing moved."""
    moved = list(_find_moved(model, x, draft))
    words = [f"{joint.name} comes from another file" for joint, _ in moved if joint.name not in draft.places.paths]
    exact = _exact_joints(model, x, draft)
    gestures = dict[str, list[Gesture]]()
    for joint, q in moved:
        if joint.name in draft.places.paths:
            try:
                gestures[joint.name] = list(_writing(model, draft, joint, q, "q" if joint.name in exact else "guess"))
            except ValueError as error:
                words.append(str(error))
    if not gestures:
        return None, words
    alone = _all([each for name, each in gestures.items() if name in exact or _has_guess(draft, name)])
    if _leads_to(model, x, draft, alone):
        return alone, words
    return _all(gestures.values()), words


def _find_moved(model: StillModel, x: Array, draft: ModelDraft) -> Iterator[tuple[Joint, list[float]]]:
    before = model.values(model.x)
    for name, q in model.values(x).items():
        joint = model.system.joints[name]
        if _has_moved(joint, np.array(before[name]), np.array(q), _steps(model, joint)):
            yield joint, q


def _all(gestures: Iterable[list[Gesture]]) -> Gesture:
    return {"do": "all", "gestures": [one for each in gestures for one in each], "words": "start here"}


def _has_guess(draft: ModelDraft, name: str) -> bool:
    return draft.root.find(*draft.places.field_path(name, ("guess",))) is not None


def _leads_to(model: StillModel, x: Array, draft: ModelDraft, gesture: Gesture) -> bool:
    """Whether the model starts at a position after a gesture: the loops are closed there, and not in another way."""
    if not model.assembler.problem.bound:
        return True
    if not gesture["gestures"]:
        return False
    plan = plan_gesture(draft.text, gesture, draft.file)
    there = StillModel(check_text(apply_edits(draft.text, plan.edits), draft.file).system)
    wanted, length = model.poses_at(x), model.assembler.problem.length
    return all(
        np.linalg.norm(X.p - there.poses[name].p) < SAME * length and abs(X.R - there.poses[name].R).max() < SAME
        for name, X in wanted.items()
    )


def _exact_joints(model: StillModel, x: Array, draft: ModelDraft) -> set[str]:
    """The joints whose coordinates are given exactly."""
    problem = model.assembler.problem
    names = [name for name in problem.u_of if problem.joints[name].n_u and name not in model.loose]
    if not problem.bound:
        return set(names)
    rows = problem.equations(x)[1] * problem.units[: problem.n_u]
    given = [name for name in names if draft.root.find(*draft.places.field_path(name, ("q",))) is not None]
    chosen: set[str] = set(given)
    rank = _rank(_with(rows, problem.u_of, chosen))
    tree = [name for name in names if name in model.dynamics.start.open_topology.u_of]
    for name in tree:
        if name in chosen:
            continue
        wider = _with(rows, problem.u_of, chosen | {name})
        if _rank(wider) == rank + problem.joints[name].n_u:
            chosen.add(name)
            rank += problem.joints[name].n_u
    return chosen


def _with(rows: Array, u_of: Any, names: set[str]) -> Array:
    """Rows of loops, and one for each freedom that is given."""
    unit = np.eye(rows.shape[1])
    return np.vstack([rows, *(unit[u_of[name]] for name in sorted(names))])


def _rank(A: Array) -> int:
    sizes = np.linalg.svd(A, compute_uv=False)
    return int((sizes > RANK * sizes.max(initial=0.0)).sum())


def _steps(model: StillModel, joint: Joint) -> list[float]:
    length = LENGTH_STEP * model.assembler.problem.length
    by_kind = {"angle": ANGLE_STEP, "length": length, "dimensionless": TURN_STEP}
    return [by_kind[kind] for _, kind in joint.coordinate_names]


def _has_moved(joint: Joint, before: Array, after: Array, steps: list[float]) -> bool:
    if joint.quaternion is not None:  # q and -q are one turn
        turn = slice(joint.quaternion, joint.quaternion + 4)
        if before[turn] @ after[turn] < 0:
            after = after.copy()
            after[turn] = -after[turn]
    return bool((abs(after - before) > MOVED * np.array(steps)).any())


def _writing(model: StillModel, draft: ModelDraft, joint: Joint, q: list[float], field: str) -> Iterator[Gesture]:
    """The gestures that write the coordinates of one joint."""
    name, steps = joint.name, _steps(model, joint)
    path = draft.places.field_path(name, ("q",))
    entry = draft.root.find(*path[:-1])
    given = entry.entries if entry is not None else {}
    if joint.kind == "free" and "q" not in given:
        yield _set(name, "position", "[" + ", ".join(format_number(v, s) for v, s in zip(q[:3], steps[:3])) + "]")
        for other in ("rpy", "matrix", "turns", "rotation"):
            if other in given:
                yield {"do": "set", "name": name, "path": [other], "value": None}
        yield _set(name, "quaternion", "[" + ", ".join(format_number(v, TURN_STEP) for v in q[3:]) + "]")
        return
    field = "q" if "q" in given else "guess" if "guess" in given and field != "q" else field
    texts = [
        _text(draft, name, _item(given[field].node, k) if field in given else None, kind, value, step)
        for k, ((_, kind), value, step) in enumerate(zip(joint.coordinate_names, q, steps, strict=True))
    ]
    yield _set(name, field, texts[0] if len(texts) == 1 else "[" + ", ".join(texts) + "]")


def _item(node: SpanNode, k: int) -> SpanNode | None:
    if node.kind is NodeKind.LIST:
        return node.items[k] if k < len(node.items) else None
    return node if k == 0 else None


def _text(draft: ModelDraft, name: str, node: SpanNode | None, kind: str, value: float, step: float) -> str:
    entry = NumberEntry("", 0.0, "deg" if kind == "angle" else "") if node is None else read_entry(draft, node)
    if entry.parameter or entry.off:
        raise ValueError(f"{name} starts at {entry.text}, which stays")
    return write_value(value, step, entry.unit)


def _set(name: str, field: str, value: str) -> Gesture:
    return {"do": "set", "name": name, "path": [field], "value": value}
