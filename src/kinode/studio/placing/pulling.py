"""Pulling a body by a point: the mechanism follows through its freedoms, its loops stay closed.

The point goes as near to where it is pulled as the joints let it: Gauss-Newton steps for |p(x) - goal|^2 within the
null space of the loop equations, each followed by the closing of the loops (T-4.5; the rows are those of assembly).
Driven joints stay.  What is pulled is not in the text until someone says so: ``start_gesture`` writes it there.

As start values a tree gets ``q`` of each joint that moved.  In loops the other joints follow: as many joints get an
exact ``q`` as there are freedoms, those first that have one.  The others get a ``guess`` where the loops would close
another way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import Pose
from kinode.editing.checked_text import check_text
from kinode.editing.draft import ModelDraft
from kinode.editing.gestures import plan_gesture
from kinode.editing.placing import NumberEntry, format_number, read_entry, write_value
from kinode.editing.spans import apply_edits
from kinode.errors import ArgumentError
from kinode.formats.yaml_text import NodeKind, SpanNode
from kinode.kernels.kernel_options import Kernel
from kinode.model.joints.joint import Joint
from kinode.structure.loop_closure import CLOSED_ENOUGH, RANK
from kinode.studio.placing.still_model import StillModel

STEPS = 20
HALVINGS = 6
NEAR_ENOUGH = 1e-6  # of the characteristic length
DAMPING = 3e-3  # of the largest slope: freedoms that hardly move the point stay
LEAST_GAIN = 1e-4  # of the distance: less is not worth another step
LONGEST = 0.6  # rad, or characteristic lengths, of one step


@dataclass(frozen=True, eq=False)
class Pulled:
    """Where a pull led: coordinates, poses, and how far the point is from where it was pulled."""

    x: Array
    poses: dict[str, Pose]
    left: float
    words: str


class Pull:
    """A body that is held at a point of it.

    Parameters
    ----------
    model : StillModel
    body : str
    at : 3 numbers
        The point, in the body's axes, m.

    Raises
    ------
    ArgumentError
        There is no such body, or nothing lets it move.

    Examples
    --------
    >>> from kinode.studio.placing.pulling import Pull
    >>> from kinode.studio.placing.still_model import StillModel
    >>> model = StillModel(kn.load("examples/pendulum.yaml"))
    >>> pulled = Pull(model, "bar", (0.5, 0.0, 0.0)).to((0.0, 2.0, 0.0))
    >>> pulled.words
    'bar reaches no further'
    """

    def __init__(self, model: StillModel, body: str, at: Array) -> None:
        if body not in model.system.bodies:
            raise ArgumentError(f"body: there is no body {body!r:.60}")
        self.model, self.body, self.at = model, body, np.asarray(at, dtype=float)
        self._problem = model.assembler.problem
        self._problem.poses.layout.uncompiled_calls = 0  # a drag asks many times
        self._kernels = model.dynamics.start.open_kernels
        self._pose, self._jacobian = Kernel("pose", (body,)), Kernel("jacobian", (body,))
        self._kernels.prepare([self._pose, self._jacobian])
        self._free = np.ones(self._problem.n_u, dtype=bool)
        for name in model.loose:
            self._free[self._problem.u_of[name]] = False
        if body in model.loose.values() or not self._free.any():
            raise ArgumentError(f"{body} is not joined to anything: it has no freedom to be pulled through")

    def to(self, goal: Array, x: Array | None = None) -> Pulled:
        """Where the mechanism goes if the point is pulled to a place of the world, from a position that is closed."""
        problem, goal = self._problem, np.asarray(goal, dtype=float)
        x = self.model.x if x is None else x
        lever, p = self._point(x)
        for _ in range(STEPS):
            away = goal - p
            if np.linalg.norm(away) <= NEAR_ENOUGH * problem.length:
                break
            step = self._step(x, lever, away)
            there = None if step is None else self._walk(x, step, goal, float(np.linalg.norm(away)))
            if there is None:
                break
            x = there
            lever, p = self._point(x)
        left = float(np.linalg.norm(goal - p))
        far = left > 1e-3 * problem.length
        return Pulled(x, self.model.poses_at(x), left, f"{self.body} reaches no further" if far else "")

    def _walk(self, x: Array, step: Array, goal: Array, away: float) -> Array | None:
        """The position after as much of a step as brings the point nearer; None if nothing does."""
        share = 1.0
        for _ in range(HALVINGS):
            there, error = self._close(self._problem.advance(x, share * step))
            if error <= CLOSED_ENOUGH and np.linalg.norm(goal - self._point(there)[1]) < away * (1 - LEAST_GAIN):
                return there
            share *= 0.5
        return None

    def _point(self, x: Array) -> tuple[Array, Array]:
        """From the body's origin to the point, and the point itself, in the world."""
        out = self._kernels.call(self._pose, self.model.point(x))
        lever = out[:9].reshape(3, 3) @ self.at
        return lever, out[9:] + lever

    def _step(self, x: Array, lever: Array, away: Array) -> Array | None:
        """The step along the speeds that brings the point nearer, within the loops; None if there is none."""
        problem, n_tree = self._problem, self.model.dynamics.start.open_topology.n_u
        J6 = self._kernels.call(self._jacobian, self.model.point(x)).reshape(6, n_tree)
        J = np.zeros((3, problem.n_u))
        J[:, :n_tree] = J6[3:] - np.cross(lever, J6[:3].T).T
        units = problem.units[: problem.n_u]
        J = (J * units)[:, self._free]
        tangent = self._tangent(x, units)
        U, sizes, V = np.linalg.svd(J @ tangent, full_matrices=False)
        if not len(sizes) or sizes[0] <= 1e-12:
            return None
        gain = sizes / (sizes**2 + (DAMPING * sizes[0]) ** 2)
        step = np.zeros(problem.n_u)
        step[self._free] = tangent @ (V.T @ (gain * (U.T @ away)))
        longest = float(abs(step).max())
        return units * step * min(1.0, LONGEST / longest) if longest > 0 else None

    def _tangent(self, x: Array, units: Array) -> Array:
        """Directions in which the loops stay closed, as columns."""
        n = int(self._free.sum())
        if not self._problem.bound:
            return np.eye(n)
        A = (self._problem.equations(x)[1] * units)[:, self._free]
        _, sizes, V = np.linalg.svd(A)
        return np.asarray(V[int((sizes > RANK * sizes.max(initial=0.0)).sum()) :].T)

    def _close(self, x: Array) -> tuple[Array, float]:
        if not self._problem.bound:
            return x, 0.0
        error = 0.0
        for group in self.model.assembler.loop_groups(self._free):
            x, off = self.model.assembler.close(group, x, None)
            error = max(error, off)
        return x, error


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
