"""Loops whose joints cannot move, in words, with the changes that would let them move.

A loop is looked at without its drives: the question is whether its joints allow the motion at all.  Tried as cures are
other axes of its slides and hinges, each in a model that is assembled anew, and joints with one freedom more.  Gears
and other constraints are not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import Pose
from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.redundant_reactions import find_poses
from kinode.dynamics.state_batches.state_batch import StateBatch
from kinode.errors import AssemblyError, Error
from kinode.formulations.reaction_uniqueness import ConstraintDirections, JointConstants
from kinode.kernels.state import State
from kinode.model.joints.joint import AxialJoint, Joint
from kinode.model.system import System, joint_frame
from kinode.simulation.torn_loops import is_driven
from kinode.structure.evaluation_point import EvaluationPoint
from kinode.tasks.locking.loop_screws import JointScrews, LoopBlock, find_blocks, joint_screws

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
        held = f"The loop of {_listed(self.joints)} is locked" if whole else f"{self.locked[0]} is locked in its loop"
        which = "none of its joints can move" if whole else f"the loop of {_listed(self.joints)} does not let it move"
        parts = [f"{held}: {which}."]
        if self.driven:
            parts.append(f"{_listed(self.driven)} {'is' if len(self.driven) == 1 else 'are'} driven all the same.")
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


def _listed(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
