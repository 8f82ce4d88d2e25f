"""The tiers of a system as the vector scheme shows them: bodies, poles, vectors and drive units, by number.

Tiers are numbered from 1 in the order of the tree, each after the one that carries it.  A body that a gear couples to
another joint on the same carrier is that joint's drive unit, and has the number of the tier that it turns.  The earth's
center O is the center of a central gravity, or a point of the axis about which the world turns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.model.base.frames import axis_vector
from kinode.model.environment.earth import CentralGravity, EarthRotation
from kinode.model.joints.joint import Joint
from kinode.multibody.given import Given
from kinode.sheets.tables import MINUS, number
from kinode.structure.tree import WORLD, TreeLink

if TYPE_CHECKING:
    from kinode.model.system import System

TIMES_SIGN = "\u00d7"
LAWS = {"effort": "effort law", "stiffness": "spring", "damping": "damper", "friction": "friction",
        "stop": "stop", "backlash": "backlash"}  # fmt: skip


@dataclass(frozen=True, eq=False)
class SchemeDrive:
    """The rotor of a drive: where its pole is on the carrier, and its mass center from there."""

    body: str
    mass: float
    R_D: Array
    R_CD: Array
    ratio: float


@dataclass(eq=False)
class Tier:
    """A body with the joint that carries it; vectors are in m, at the initial state.

    Attributes
    ----------
    k : int
        Its number; 0 for the rotor of a drive unit, which has none of its own.
    R : ndarray
        Radius vector of its pole, from the pole of the carrier, in the carrier's axes.
    R_C : ndarray
        Radius vector of its mass center, from its pole, in its own axes.
    axes : ndarray
        Rotation from its axes to the world's.
    """

    node: TreeLink
    body: str
    mass: float
    R: Array
    R_C: Array
    axes: Array
    kind: str
    role: str
    loads: tuple[str, ...]
    k: int = 0
    unit: SchemeDrive | None = None
    children: list[Tier] = field(default_factory=list)

    @property
    def joint(self) -> Joint:
        return self.node.joint

    @property
    def has_center(self) -> bool:
        """Whether there is a mass center to point at."""
        return self.mass != 0.0

    @property
    def motions(self) -> tuple[str, ...]:
        """The types of its coordinates, angle or length, each once."""
        return tuple(dict.fromkeys(kind for _, kind in self.joint.coordinates))

    @property
    def has_effort(self) -> bool:
        """Whether a drive or a law acts along the joint."""
        joint = self.joint
        laws = (joint.effort, joint.stiffness, joint.damping, joint.friction, joint.ends)
        return joint.driven or self.unit is not None or any(law is not None for law in laws)


@dataclass(frozen=True, eq=False)
class EarthCenter:
    """The center of the earth O, or a point of the axis about which the world turns."""

    name: str
    R: Array  # from O to the world's origin
    turning: Array | None  # angular velocity of the world, in its axes

    @property
    def words(self) -> str:
        if self.turning is None:
            return "center of gravity"
        rate = float(np.linalg.norm(self.turning))
        return f"turns at {number(rate)} rad/s about {vector_text(self.turning / (rate or 1.0), 3)}"


class SchemeTiers:
    """The tiers of a system, its drive units, cut joints and couplings, and the earth's center."""

    def __init__(self, system: System) -> None:
        self.dynamics = Dynamics(system)
        self.system, self.topology = self.dynamics.system, self.dynamics.topology
        self.snapshot = self.dynamics.snapshot(self.dynamics.initial).again(Given(), full=True)
        self.by_node = [self._tier(node) for node in self.topology.full.nodes]
        self.units = self._pair_drives()
        self.tiers = [tier for tier in self.by_node if tier.node.index not in self.units]
        for k, tier in enumerate(self.tiers):
            tier.k = k + 1
            if tier.node.parent != WORLD:
                self.by_node[tier.node.parent].children.append(tier)
        self.roots = [tier for tier in self.tiers if tier.node.parent == WORLD]
        self.earth = self._earth()

    def carrier(self, tier: Tier) -> Tier | None:
        """The tier below; None on the world."""
        return None if tier.node.parent == WORLD else self.by_node[tier.node.parent]

    def _tier(self, node: TreeLink) -> Tier:
        body, joint = node.bodies[0], node.joint
        mass = float(self.system.bodies[body].rigid_inertia(self.snapshot.resolve).mass)
        pole, below, axes = self._pole(node.index), self._pole(node.parent), self._axes(node.index)
        center = self.snapshot.pose(self.system.find_frame(f"{body}.com")).p
        return Tier(
            node, body, mass, R=self._axes(node.parent).T @ (pole - below), R_C=axes.T @ (center - pole), axes=axes,
            kind=f"{joint.kind}{_axis(joint)}", role=self._role(joint), loads=self._loads(body),
        )  # fmt: skip

    def _pole(self, i: int) -> Array:
        return np.zeros(3) if i == WORLD else np.asarray(self.snapshot.kinematics.link_poses[i].p, dtype=float)

    def _axes(self, i: int) -> Array:
        """Rotation from a body's axes to the world's."""
        if i == WORLD:
            return np.eye(3)
        body = self.topology.full.nodes[i].bodies[0]
        R: Array = self.snapshot.kinematics.link_poses[i].R @ self.snapshot.kinematics.geometry.bodies[body].R
        return R.astype(float)

    def _role(self, joint: Joint) -> str:
        if joint.driven:
            return "prescribed"
        relation = self.topology.couplings.get(joint.name)
        if relation is not None:
            return f"geared to {relation.leader}"
        return ", ".join(word for name, word in LAWS.items() if getattr(joint, name) is not None)

    def _loads(self, body: str) -> tuple[str, ...]:
        """The elements that act on a body, without those that act on all."""
        return tuple(
            name
            for name, element in self.system.elements.items()
            if not isinstance(element, EarthRotation | CentralGravity)
            and any(load.on.body == body for load in element.wrenches(self.snapshot))
        )

    def _pair_drives(self) -> set[int]:
        """Give each joint its drive unit: a leaf on the same carrier that a gear couples to the joint."""
        by_joint = {tier.joint.name: tier for tier in self.by_node}
        carriers = {tier.node.parent for tier in self.by_node}
        units: set[int] = set()
        for follower, relation in self.topology.couplings.items():
            unit, leader = by_joint.get(follower), by_joint.get(relation.leader)
            if unit is None or leader is None or leader.unit is not None or unit.node.index in carriers:
                continue
            if unit.node.parent == leader.node.parent:
                ratio = float(self.snapshot.resolve(relation.ratio))
                leader.unit = SchemeDrive(unit.body, unit.mass, unit.R, unit.R_C, ratio)
                units.add(unit.node.index)
        return units

    def _earth(self) -> EarthCenter | None:
        gravity = next((e for e in self.system.elements.values() if isinstance(e, CentralGravity)), None)
        rotation = next((e for e in self.system.elements.values() if isinstance(e, EarthRotation)), None)
        if gravity is not None:
            name, at = gravity.name, gravity.center
        elif rotation is not None:
            name, at = rotation.name, rotation.through
        else:
            return None
        turning = None if rotation is None else np.asarray(rotation.turning(self.snapshot), dtype=float)
        return EarthCenter(name, -np.asarray(self.snapshot.pose(at).p, dtype=float), turning)

    def dashed(self) -> Iterator[tuple[str, str, str]]:
        """What is not in the tree: cut joints, constraints and gears between joints, as name and two bodies."""
        for cut in self.topology.cuts:
            yield cut.joint.name, cut.joint.a.body, cut.joint.b.body
        bodies = {tier.body for tier in self.tiers} | {"world"}
        for constraint in self.topology.constraints:
            ends = [f.body for f in constraint.frames() if f.body in bodies] if hasattr(constraint, "frames") else []
            if len(ends) == 2:
                yield constraint.name, ends[0], ends[1]
        by_joint = {tier.joint.name: tier for tier in self.tiers}
        for follower, relation in self.topology.couplings.items():
            if follower in by_joint and relation.leader in by_joint:
                yield relation.constraint, by_joint[relation.leader].body, by_joint[follower].body


def tier_table(scheme: SchemeTiers) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Heads and rows of the table of tiers: what stands at each number, and its vectors.

    ``R_Ck`` in a head is R with the index Ck.
    """
    loaded = any(tier.loads for tier in scheme.tiers)
    head: tuple[str, ...] = (
        "k", "body", "mass kg", "on", "joint", "R_k m", "R_Ck m", *(["loads"] if loaded else []),
    )  # fmt: skip
    rows: list[tuple[str, ...]] = []
    if scheme.earth is not None:
        own = ("O", scheme.earth.name, "", "", scheme.earth.words, vector_text(scheme.earth.R), "")
        rows.append(own + ("",) * loaded)
    for tier in scheme.tiers:
        carrier = scheme.carrier(tier)
        joint = ", ".join(filter(None, (f"{tier.joint.name}: {tier.kind}", tier.role)))
        center = vector_text(tier.R_C) if tier.has_center else ""
        row = (str(tier.k), tier.body, number(tier.mass) if tier.mass else "", str(carrier.k) if carrier else "world",
               joint, vector_text(tier.R), center)  # fmt: skip
        rows.append(row + ((_listed(tier.loads),) if loaded else ()))
    return head, rows


def drive_table(scheme: SchemeTiers) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Heads and rows of the table of drive units."""
    head = ("k", "drive unit", "mass kg", "turns", "ratio", "R_Dk m", "R_CDk m")
    rows: list[tuple[str, ...]] = [
        (str(tier.k), unit.body, number(unit.mass), tier.joint.name, f"{TIMES_SIGN} {number(unit.ratio)}",
         vector_text(unit.R_D), vector_text(unit.R_CD))
        for tier in scheme.tiers if (unit := tier.unit) is not None
    ]  # fmt: skip
    return head, rows


def vector_text(values: Array, digits: int = 4) -> str:
    """Three numbers as text; what is rounding is written as zero."""
    size = float(np.abs(values).max(initial=0.0))
    shown = [0.0 if abs(x) < 1e-9 * max(size, 1.0) else float(x) for x in values]
    return "0" if not any(shown) else f"({', '.join(f'{x:.{digits}g}' for x in shown)})".replace("-", MINUS)


def _listed(names: Sequence[str], most: int = 2) -> str:
    return ", ".join([*names[:most], f"{len(names) - most} more"] if len(names) > most else names)


def _axis(joint: Joint) -> str:
    axis = getattr(joint, "axis", None)
    if axis is None:
        return ""
    word = "along" if joint.coordinates and joint.coordinates[0][1] == "length" and joint.n_u == 1 else "about"
    if isinstance(axis, str):
        return f" {word} {axis}"
    values = axis_vector(axis)
    texts = [f"{x:.3g}" if isinstance(x, float) else str(x) for x in values]
    return f" {word} ({', '.join(texts)})" if all(len(text) < 7 for text in texts) else ""
