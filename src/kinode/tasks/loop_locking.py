"""Locked loops: whose joints cannot move, in words, with the changes that would let them move.

A loop is looked at without its drives: the question is whether its joints allow the motion at all.  Tried as cures are
other axes of its slides and hinges, each in a model that is assembled anew, and joints with one freedom more.  Gears
and other constraints are not looked at.

Around one position a joint is a product of exponentials of its freedoms, each a screw in the world's axes; a loop is
closed where the product around it is one.  The motions that the loop allows to first order are the null space of its
screws.  Whether such a motion goes on is found by walking: a step along it, then Newton's iteration back to a closed
loop.  Where that leads back to the start, the loop is only shaky: it gives way to first order, and does not move.
Lengths are divided by the size of the loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import Pose
from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.reactions.redundancy import find_poses
from kinode.dynamics.state_batch import StateBatch
from kinode.errors import AssemblyError, Error, listed
from kinode.formulations.reaction_uniqueness import ConstraintDirections, JointConstants
from kinode.kernels.state import State
from kinode.model.joints.joint import AxialJoint, Joint
from kinode.model.system import System, joint_frame
from kinode.simulation.run_checks import is_driven
from kinode.structure.state_layout import EvaluationPoint

KNOWN = ("fixed", "revolute", "prismatic", "cylindrical", "screw", "universal", "spherical", "planar", "free")
MOST_JOINTS = 40  # of loops that are looked at
MOST_CHANGES = 3
PARALLEL = 1e-6  # sine of the angle up to which directions are parallel
MORE_FREEDOM = {"prismatic": ("cylindrical",), "revolute": ("cylindrical", "spherical"), "universal": ("spherical",)}


@dataclass(frozen=True)
class FreeingChange:
    """A change of one joint that lets a locked loop move: its field, ``axis`` or ``kind``, and the value."""

    joint: str
    field: str
    value: str

    @property
    def words(self) -> str:
        """What to do."""
        if self.field == "axis":
            return f"give {self.joint} the axis {self.value}"
        return f"make {self.joint} {self.value}"


@dataclass(frozen=True)
class LockedLoop:
    """Joints of one or several loops that cannot move.

    Attributes
    ----------
    joints : tuple of str
        All joints of the loops.
    locked : tuple of str
        Those that have freedoms and cannot move.
    driven : tuple of str
        Those of them whose motion or speed is prescribed.
    shaky : bool
        Whether they give way to first order at the start, and then stick.
    reason : str
        What is in the way, where that can be told; else empty.
    changes : tuple of FreeingChange
        Each of them alone lets the locked joints move.
    """

    joints: tuple[str, ...]
    locked: tuple[str, ...]
    driven: tuple[str, ...]
    shaky: bool
    reason: str
    changes: tuple[FreeingChange, ...]
    infinitesimal: int = 0
    """Freedoms that it has to first order with its drives held, and has not in truth."""

    @property
    def words(self) -> str:
        """What is locked, and what would free it."""
        whole = set(self.locked) == set(self.joints) or len(self.locked) > 1
        held = f"The loop of {listed(self.joints)} is locked" if whole else f"{self.locked[0]} is locked in its loop"
        which = "none of its joints can move" if whole else f"the loop of {listed(self.joints)} does not let it move"
        parts = [f"{held}: {which}."]
        if self.driven:
            parts.append(f"{listed(self.driven)} {'is' if len(self.driven) == 1 else 'are'} driven all the same.")
        if self.shaky:
            parts.append("At the start it gives way a little, but no position near it is closed.")
        if self.reason:
            parts.append(self.reason)
        if self.changes:
            parts.append(f"To free it, {', or '.join(change.words for change in self.changes)}.")
        else:
            parts.append("A joint with more freedoms, or another place of one, would free it.")
        return " ".join(parts)


def find_locked_loops(dynamics: Dynamics, poses: Mapping[str, Pose] | None = None) -> tuple[LockedLoop, ...]:
    """The loops of a system whose joints cannot move.

    Parameters
    ----------
    dynamics : Dynamics
    poses : mapping, optional
        Of the bodies, with all loops closed; those at the start if left out.
    """
    system = dynamics.system
    if len(system.joints) < 2 or not dynamics.topology.cuts:
        return ()
    positions = _Positions.of(dynamics, poses)
    found = []
    for block in positions.blocks:
        joints = [system.joints[name] for name in block.names]
        if len(joints) > MOST_JOINTS or any(joint.kind not in KNOWN for joint in joints):
            continue
        movable = [joint.name for joint in joints if joint.n_u]
        moving = block.moving()
        locked = [name for name in movable if name not in moving]
        driven = [name for name in locked if system.joints[name].driven]
        if locked and (not moving or driven):
            found.append(_explain(positions, block, tuple(locked if not moving else driven), tuple(driven)))
    return tuple(found)


def describe_locks(system: System) -> tuple[str, ...]:
    """What is locked in a system, in words; nothing where its loops cannot be closed."""
    if len(system.joints) <= len(system.bodies):  # no loops
        return ()
    try:
        return tuple(loop.words for loop in find_locked_loops(Dynamics(system)))
    except AssemblyError:
        return ()


def describe_rest(dynamics: Dynamics, start: State, p: Array, inputs: Array) -> tuple[tuple[tuple[str, ...], str], ...]:
    """Why nothing in a system that is not driven can move, and joints that are there twice: names, and words."""
    known = dynamics.arguments.derived
    if "rest" not in known:
        known["rest"] = (
            *_find_stillness(dynamics, dynamics.point(start, p, inputs)),
            *_find_twins(dynamics.system),
        )
    found: tuple[tuple[tuple[str, ...], str], ...] = known["rest"]
    return found


def _find_stillness(dynamics: Dynamics, start: EvaluationPoint) -> Iterator[tuple[tuple[str, ...], str]]:
    joints = dynamics.system.joints
    movable = tuple(name for name, joint in joints.items() if joint.n_u)
    if not (dynamics.topology.constrained and movable) or dynamics.closure.freedoms or is_driven(dynamics):
        return
    (poses,) = find_poses(dynamics, StateBatch.of(start))
    loops = find_locked_loops(dynamics, poses)
    words = " ".join(loop.words for loop in loops) or "Its joints and constraints leave no freedom; see kn.mobility."
    yield movable, f"nothing in {dynamics.system.name} can move, and nothing is driven. {words}"


def _find_twins(system: System) -> Iterator[tuple[tuple[str, ...], str]]:
    """Joints of one kind between the same bodies, in the same places and about the same axes."""
    joints = [joint for joint in system.joints.values() if joint.n_u]
    for k, joint in enumerate(joints):
        for twin in joints[:k]:
            if joint.kind != twin.kind or {joint.a.body, joint.b.body} != {twin.a.body, twin.b.body}:
                continue
            if all(_coincide(system, joint, twin, body) for body in (twin.a.body, twin.b.body)):
                one = f"both are {joint.kind} joints between {twin.a.body} and {twin.b.body} in the same place"
                words = f"{joint.name} repeats {twin.name}: {one}. How they share the load is not known; leave one out."
                yield (twin.name, joint.name), words
                break


def _coincide(system: System, one: Joint, two: Joint, body: str) -> bool:
    """Whether the frames of two joints on a body are in one place, with the same axes as far as these count."""
    places = []
    for joint in (one, two):
        X = joint_frame(joint, "parent" if joint.a.body == body else "child").pose(system.nominal)
        R = np.asarray(X.R @ joint.axis_rotation(system.nominal, system.nominal), dtype=float)
        axes = {"spherical": 0.0 * R, "universal": R}.get(joint.kind, np.outer(R[:, 2], R[:, 2]))
        pitch = getattr(joint, "lead", 0.0)
        places.append(np.array([*np.asarray(X.p, dtype=float), *axes.ravel(), float(system.nominal(pitch))]))
    return bool(np.abs(places[0] - places[1]).max() < PARALLEL)


@dataclass(frozen=True, eq=False)
class _Positions:
    """The joints of a system in one position, as screws."""

    system: System
    directions: dict[str, ConstraintDirections]
    blocks: list[LoopBlock]
    origin: Array
    size: float

    @classmethod
    def of(cls, dynamics: Dynamics, poses: Mapping[str, Pose] | None) -> _Positions:
        system = dynamics.system
        if poses is None:
            (poses,) = find_poses(dynamics, StateBatch.of(dynamics.point(dynamics.initial)))
        known = {"world": Pose(np.eye(3), np.zeros(3)), **poses}
        constants = JointConstants(dynamics.topology, dynamics.parameters, system.nominal)
        directions = {name: constants.constraint_directions(name, known) for name in system.joints}
        points = np.array([found.p_WM for found in directions.values()], dtype=float)
        origin, size = points.mean(axis=0), float(np.ptp(points, axis=0).max()) or 1.0
        screws = [joint_screws(name, found, origin, size) for name, found in directions.items()]
        return cls(system, directions, list(find_blocks(screws)), origin, size)


def _explain(at: _Positions, block: LoopBlock, locked: tuple[str, ...], driven: tuple[str, ...]) -> LockedLoop:
    held = [name for name in block.names if at.system.joints[name].driven]
    first = block.first_motions()
    return LockedLoop(
        joints=tuple(name for name in block.names if at.system.joints[name].n_u),
        locked=locked,
        driven=driven,
        shaky=bool(first.shape[1]) and len(locked) > len(driven),
        reason=_find_reason(at, block),
        changes=tuple(_find_changes(at, block, locked)),
        infinitesimal=block.first_motions(held).shape[1] if not block.moving() else 0,
    )


def _find_reason(at: _Positions, block: LoopBlock) -> str:
    """A slide along the direction about which all others turn; else nothing."""
    turns = [screws.columns[:3, k] for screws in block.joints for k in range(screws.columns.shape[1])]
    turns = [turn / np.linalg.norm(turn) for turn in turns if np.linalg.norm(turn) > PARALLEL]
    if not turns or any(np.linalg.norm(np.cross(turns[0], turn)) > PARALLEL for turn in turns):
        return ""
    for screws in block.joints:
        slide = screws.columns[3:]
        if at.system.joints[screws.name].kind != "prismatic":
            continue
        if np.linalg.norm(np.cross(turns[0], slide[:, 0] / np.linalg.norm(slide[:, 0]))) <= PARALLEL:
            return f"{screws.name} slides at right angles to the plane in which the others move."
    return ""


def _find_changes(at: _Positions, block: LoopBlock, locked: tuple[str, ...]) -> Iterator[FreeingChange]:
    """Changes of one joint, each of which lets the locked joints move; those of slides first."""
    found = 0
    joints = sorted((at.system.joints[name] for name in block.names), key=lambda joint: joint.kind != "prismatic")
    for joint in joints:
        if isinstance(joint, AxialJoint) and found < MOST_CHANGES:
            for axis in ("x", "y", "z"):
                if found < MOST_CHANGES and _moves_with_axis(at.system, joint.name, axis, locked):
                    found += 1
                    yield FreeingChange(joint.name, "axis", axis)
        if found and joint.kind == "prismatic":
            return  # a slide that was turned: nothing else need be changed
    for joint in joints if not found else ():
        for kind in MORE_FREEDOM.get(joint.kind, ()):
            if found < MOST_CHANGES and _moves_with_kind(at, block, joint.name, kind, locked):
                found += 1
                yield FreeingChange(joint.name, "kind", kind)


def _moves_with_axis(system: System, name: str, axis: str, locked: tuple[str, ...]) -> bool:
    """Whether locked joints move in a model where one joint has another axis."""
    changed = system.copy()
    try:
        changed.change(name, axis=axis)
        if changed.joints[name] == system.joints[name]:
            return False
        blocks = _Positions.of(Dynamics(changed), None).blocks
    except (Error, ArithmeticError, ValueError, np.linalg.LinAlgError):
        return False
    return any(set(locked) <= block.moving() for block in blocks if set(locked) <= set(block.names))


def _moves_with_kind(at: _Positions, block: LoopBlock, name: str, kind: str, locked: tuple[str, ...]) -> bool:
    """Whether locked joints move if one joint has more freedoms."""
    found = at.directions[name]
    S = {
        "cylindrical": np.eye(6)[:, [2, 5]],
        "spherical": np.eye(6)[:, :3],
    }[kind]
    more = joint_screws(name, replace(found, S=S), at.origin, at.size)
    joints: list[JointScrews] = [more if screws.name == name else screws for screws in block.joints]
    return set(locked) <= LoopBlock(joints, block.cycles).moving()


RANK = 1e-8  # singular values below this share of the largest are zero
STEP = 0.05  # rad, or sizes of the loop: of one step away
MOVED = 1e-3  # of the step: a joint that moves less stays still
WENT_ON = 0.3  # of the step: what is nearer to the start after closing has come back
CLOSED = 1e-10  # residual of a closed loop
NEWTON = 60  # steps; one that comes back halves its way with each
TRIES = 8  # directions
SMALL_ANGLE = 1e-8


@dataclass(frozen=True, eq=False)
class JointScrews:
    """A joint as an edge between two bodies, with its freedoms as columns [angular; linear] in the world's axes."""

    name: str
    a: str
    b: str
    columns: Array


def joint_screws(name: str, found: ConstraintDirections, origin: Array, size: float) -> JointScrews:
    """The freedoms of a joint about an origin, lengths divided by a size."""
    angular, linear = found.R_WM @ found.S[:3], found.R_WM @ found.S[3:]
    arm = np.asarray(found.p_WM, dtype=float) - origin
    linear = (linear + np.cross(arm, angular.T).T) / size
    columns = np.vstack([angular, linear])
    norms = np.linalg.norm(columns, axis=0)
    return JointScrews(name, found.joint.a.body, found.joint.b.body, columns / np.where(norms > 0, norms, 1.0))


class LoopBlock:
    """Loops that share joints: they move, or are locked, together.

    Parameters
    ----------
    joints : list of JointScrews
        All joints of the loops.
    cycles : list
        Around each loop: numbers of joints, and 1 from a to b or -1 from b to a.
    """

    def __init__(self, joints: Sequence[JointScrews], cycles: Sequence[Sequence[tuple[int, int]]]) -> None:
        self.joints, self.cycles = list(joints), cycles
        counts = [joint.columns.shape[1] for joint in self.joints]
        starts = np.concatenate([[0], np.cumsum(counts)])
        self.where = [slice(int(a), int(b)) for a, b in pairwise(starts)]
        self.size = int(starts[-1])

    @property
    def names(self) -> list[str]:
        """The joints by name."""
        return [joint.name for joint in self.joints]

    def residual(self, theta: Array) -> tuple[Array, Array]:
        """What is left of each loop after its joints have moved by theta, and how that changes with theta."""
        r, J = np.zeros(6 * len(self.cycles)), np.zeros((6 * len(self.cycles), self.size))
        for k, cycle in enumerate(self.cycles):
            R, p, rows = np.eye(3), np.zeros(3), slice(6 * k, 6 * k + 6)
            for index, sign in cycle:
                columns, where = self.joints[index].columns, self.where[index]
                order = range(columns.shape[1]) if sign > 0 else range(columns.shape[1] - 1, -1, -1)
                for c in order:
                    w, v = R @ columns[:3, c], R @ columns[3:, c]
                    J[rows, where.start + c] = sign * np.concatenate([w, v + np.cross(p, w)])
                    turn, shift = _exponential(columns[:, c], sign * theta[where.start + c])
                    R, p = R @ turn, R @ shift + p
            r[rows] = np.concatenate([0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]), p])
        return r, J

    def first_motions(self, fixed: Sequence[str] = ()) -> Array:
        """Motions that all loops allow to first order, as columns; some joints may be kept still."""
        J = self.residual(np.zeros(self.size))[1]
        free = np.ones(self.size, dtype=bool)
        for joint, where in zip(self.joints, self.where):
            free[where] = joint.name not in fixed
        null = _null_space(J[:, free])
        motions = np.zeros((self.size, null.shape[1]))
        motions[free] = null
        return motions

    def finite_motions(self) -> Iterator[Array]:
        """Positions that walks away from the start reach; none where the loops are locked."""
        first = self.first_motions()
        if not first.shape[1]:
            return
        rng = np.random.default_rng(0)
        ways = [first @ rng.normal(size=first.shape[1]) for _ in range(TRIES if first.shape[1] > 1 else 1)]
        for way in [*ways, *first.T]:
            for sign in (1.0, -1.0):
                theta = self._walk(sign * STEP * way / np.linalg.norm(way))
                if theta is not None:
                    yield theta

    def moving(self) -> set[str]:
        """The joints that move on some way."""
        movable = {joint.name for joint in self.joints if joint.columns.shape[1]}
        found: set[str] = set()
        for theta in self.finite_motions():
            for joint, where in zip(self.joints, self.where):
                if abs(theta[where]).max(initial=0.0) > MOVED * STEP:
                    found.add(joint.name)
            if found == movable:
                break
        return found

    def _walk(self, theta: Array) -> Array | None:
        """A closed position near theta; None where there is none but the start."""
        far = WENT_ON * float(np.linalg.norm(theta))
        for _ in range(NEWTON):
            r, J = self.residual(theta)
            if float(abs(r).max()) < CLOSED:
                break
            theta = theta - np.linalg.lstsq(J, r, rcond=RANK)[0]
            if float(np.linalg.norm(theta)) < far:
                return None
        else:
            return None
        return theta if float(np.linalg.norm(theta)) >= far else None


def find_blocks(joints: Sequence[JointScrews]) -> Iterator[LoopBlock]:
    """The loops of a mechanism, those that share joints together."""
    groups: list[tuple[set[int], list[list[tuple[int, int]]]]] = []
    for cycle in _find_cycles(joints):
        members, own = {index for index, _ in cycle}, [cycle]
        for group in [group for group in groups if group[0] & members]:
            members |= group[0]
            own += group[1]
            groups.remove(group)
        groups.append((members, own))
    for members, own in groups:
        order = sorted(members)
        number = {index: k for k, index in enumerate(order)}
        yield LoopBlock(
            [joints[index] for index in order], [[(number[index], sign) for index, sign in cycle] for cycle in own]
        )


def _find_cycles(joints: Sequence[JointScrews]) -> list[list[tuple[int, int]]]:
    """Around each joint that is not in a spanning tree of the bodies, the loop that it closes."""
    above: dict[str, tuple[str, int, int] | None] = {}
    closing: set[int] = set(range(len(joints)))
    for root in dict.fromkeys(["world", *(body for joint in joints for body in (joint.a, joint.b))]):
        if root in above:
            continue
        above[root] = None
        waiting = [root]
        while waiting:
            here = waiting.pop(0)
            for k, joint in enumerate(joints):
                for near, far, sign in ((joint.a, joint.b, 1), (joint.b, joint.a, -1)):
                    if near == here and far not in above:
                        above[far] = (here, k, sign)
                        closing.discard(k)
                        waiting.append(far)
    cycles = []
    for k in sorted(closing):
        down, up = _way_up(above, joints[k].a), _way_up(above, joints[k].b)
        while down and up and down[-1] == up[-1]:
            down.pop()
            up.pop()
        cycles.append([*down[::-1], (k, 1), *((index, -sign) for index, sign in up)])
    return cycles


def _way_up(above: Mapping[str, tuple[str, int, int] | None], body: str) -> list[tuple[int, int]]:
    """The joints from a body to the root of its tree, each with its sign from the root to the body."""
    way = []
    step = above[body]
    while step is not None:
        way.append((step[1], step[2]))
        step = above[step[0]]
    return way


def _exponential(column: Array, angle: float) -> tuple[Array, Array]:
    """Rotation and translation of a screw after an angle."""
    w, v = column[:3], column[3:]
    rate = float(np.linalg.norm(w))
    turned = rate * angle
    if abs(turned) < SMALL_ANGLE:
        return np.eye(3) + angle * _skew(w), angle * v
    K = _skew(w / rate)
    s, c = np.sin(turned), 1.0 - np.cos(turned)
    V = turned * np.eye(3) + c * K + (turned - s) * K @ K
    return np.eye(3) + s * K + c * K @ K, V @ v / rate


def _skew(w: Array) -> Array:
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def _null_space(A: Array) -> Array:
    if not A.shape[1]:
        return np.zeros((0, 0))
    _, sizes, Vt = np.linalg.svd(A)
    rank = int(np.sum(sizes > RANK * sizes.max(initial=0.0))) if sizes.size else 0
    motions: Array = Vt[rank:].T
    return motions
