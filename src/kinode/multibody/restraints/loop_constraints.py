"""Constraints on the coordinates of a tree: joints that close loops, and whatever else ties bodies together.

A constraint gives residuals c of poses and joint coordinates that vanish when it holds, or slips s, linear in
velocities, that vanish while it does (nonholonomic), or both.  Rates along the motion are exact, since the
poses and velocities it is asked with are dual numbers:

    G         rates of c for unit speeds of the state; s at unit speeds
    drift     rate of c as everything moves now, driven joints and laws of time included: G u + c_t; s now
    bias      second rate of c, rate of s, while the accelerations of the state are zero: G u_dot + bias = 0

With all rows together, M u_dot = tau - h + G' lam and G u_dot = -bias.  The rows are those of all
constraints; which of them are independent is for the caller to find.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import numpy as np

from kinode.algebra.scalars import Array, Scalar, tidy
from kinode.algebra.spatial import ZERO3, cross
from kinode.model.base.frames import Frame
from kinode.model.base.scene import SlidingScene
from kinode.model.constraints.constraint import POSITIONS, Constraint
from kinode.model.system import joint_frame
from kinode.multibody.restraints.constraint_scenes import (
    FrameRates,
    LookingScene,
    LoopScene,
    MotionRates,
    MovingScene,
    SlipScene,
    StillScene,
)
from kinode.structure.link_geometry import WORLD

if TYPE_CHECKING:
    from kinode.multibody.kinematics import Kinematics
    from kinode.structure.spanning_tree import Cut
    from kinode.structure.topology import Topology


class LoopConstraint(Protocol):
    """A constraint as the loops see it; ``units`` are those of its rows, residuals before slips.

    It is ``relative`` if moving all frames that it looks at as one changes nothing.
    """

    name: str
    units: tuple[str, ...]
    relative: bool

    def residual(self, scene: LoopScene, /) -> Array:
        """What is missing for the constraint to hold, of the poses and joint coordinates that the scene tells."""
        ...

    def slip(self, scene: SlidingScene, /) -> Array:
        """What must not move, of the poses and velocities that the scene tells."""
        ...

    def looks(self, kinematics: Kinematics) -> tuple[list[Frame], list[str]]:
        """The frames, and the tree joints whose coordinates, it looks at."""
        ...


def loop_constraints_of(topology: Topology) -> list[LoopConstraint]:
    """All constraints in the order of their rows."""
    closings: list[LoopConstraint] = [CutJointConstraint(cut) for cut in topology.cuts]
    return closings + [loop_constraint_of(topology, c) for c in topology.constraints]


def loop_constraint_of(topology: Topology, constraint: Constraint) -> LoopConstraint:
    """A constraint that is no joint, as rows, also where none are needed since one joint follows another."""
    return ElementConstraint(constraint, constraint.rows(topology.system))


class CutJointConstraint:
    """A cut joint as a constraint: the pose of its frame M in its frame F is one that it allows."""

    def __init__(self, cut: Cut) -> None:
        self.joint = cut.joint
        self.name, self.units, self.relative = cut.joint.name, cut.units, True

    def residual(self, scene: LoopScene) -> Array:
        form = self.joint.form(scene.resolve)
        return np.asarray(self.joint.closure(scene.relative(self.joint), form), dtype=object)

    def slip(self, scene: SlidingScene) -> Array:
        return np.empty(0)

    def looks(self, kinematics: Kinematics) -> tuple[list[Frame], list[str]]:
        return [joint_frame(self.joint, side) for side in ("parent", "child")], []


class ElementConstraint:
    """A constraint that is no joint."""

    def __init__(self, constraint: Constraint, units: tuple[str, ...]) -> None:
        self.constraint, self.name, self.units = constraint, constraint.name, units
        self.relative = False  # it may count on the world's axes without asking for them

    def residual(self, scene: LoopScene) -> Array:
        return self.constraint.residual(scene)

    def slip(self, scene: SlidingScene) -> Array:
        return self.constraint.slip(scene)

    def looks(self, kinematics: Kinematics) -> tuple[list[Frame], list[str]]:
        return look(kinematics, self)


def row_rates(
    kinematics: Kinematics,
    tie: LoopConstraint,
    speed: FrameRates,
    turn: Callable[[str], Array],
    then: MotionRates | None = None,
    passing: bool = False,
) -> Array:
    """Rates of all rows of a constraint for some motion of frames and joints, while time stands still or is passing."""
    scene = MovingScene(kinematics, speed, turn, then, passing)
    held = scene.rates(tie.residual(scene))
    if len(held) == len(tie.units):
        return held
    sliding = SlipScene(kinematics, speed, turn, then)
    return tidy(np.concatenate([held, sliding.rates(tie.slip(sliding))]))


def residual(kinematics: Kinematics, tie: LoopConstraint) -> Array:
    """What is missing for a constraint to hold; nothing for slips, which no position can mend."""
    slips = sum(unit not in POSITIONS for unit in tie.units)
    return tidy([*tie.residual(StillScene(kinematics)), *[0.0] * slips])


def look(kinematics: Kinematics, tie: LoopConstraint) -> tuple[list[Frame], list[str]]:
    """The frames, and the tree joints whose coordinates, a constraint asks for."""
    scene = LookingScene(kinematics)
    tie.residual(scene)
    tie.slip(scene)
    return scene.frames, scene.joints


def drift(kinematics: Kinematics, tie: LoopConstraint) -> Array:
    """Rates of the rows as everything moves now."""
    return row_rates(kinematics, tie, kinematics.velocity, kinematics.joint_rate, passing=True)


def law_rates(kinematics: Kinematics, tie: LoopConstraint) -> Array:
    """Rates of the rows by laws of time alone, while nothing moves: c_t."""

    def turn(name: str) -> Array:
        return np.zeros(kinematics.system.joints[name].n_q)

    return row_rates(kinematics, tie, lambda frame: (ZERO3, ZERO3), turn, passing=True)


def bias(kinematics: Kinematics, tie: LoopConstraint) -> Array:
    """Second rate of the residual, and rate of slips, while the accelerations of the state are zero."""
    still, A = kinematics.unaccelerated

    def second(frame: Frame) -> tuple[Array, Array]:
        node, X = kinematics.place(frame)
        if node == WORLD:
            return ZERO3, ZERO3
        R, w, (eps, W) = kinematics.link_poses[node].R, kinematics.link_kinematics[node].w, A[node]
        return R @ eps, R @ (W + cross(eps, X.p) + cross(w, cross(w, X.p))) + kinematics.gravity

    then = MotionRates(second, lambda name: still[kinematics.node_named[name]])
    return row_rates(kinematics, tie, kinematics.velocity, kinematics.joint_rate, then, passing=True)


def jacobian(kinematics: Kinematics, tie: LoopConstraint) -> Array:
    """G: rates of the rows for unit speeds of the state, one column for each."""
    G = np.zeros((len(tie.units), kinematics.topology.n_u), dtype=object)
    G[:] = 0.0
    for column, values in columns(kinematics, tie).items():
        G[:, column] = values
    return G


def columns(kinematics: Kinematics, tie: LoopConstraint) -> dict[int, Array]:
    """The columns of G that need not be zero, by the speed that they belong to."""
    by_speed: dict[int, Array] = {}
    for i, k, column, ratio in freedoms(kinematics, tie):
        S, X = kinematics.link_kinematics[i].S, kinematics.link_poses[i]
        w, v = X.R @ S[:3, k] * ratio, X.R @ S[3:, k] * ratio
        values = _column(kinematics, tie, i, (w, v, X.p), k, ratio)
        by_speed[column] = by_speed[column] + values if column in by_speed else values
    return by_speed


def freedoms(kinematics: Kinematics, tie: LoopConstraint) -> list[tuple[int, int, int, Scalar]]:
    """Node and number of the freedoms that can move a constraint's rows, the speed that moves each, and its ratio."""
    frames, joints = tie.looks(kinematics)
    ways = [_carriers(kinematics, frame) for frame in frames]
    nodes = set[int]().union(*ways)
    if tie.relative:
        nodes -= {i for i in nodes if all(i in way for way in ways)}
    nodes |= {kinematics.node_named[name] for name in joints}
    moving = []
    for i in sorted(nodes):
        joint = kinematics.tree.nodes[i].joint
        way = kinematics.state_of(joint.name)
        if way is not None:
            moving += [(i, k, way[0] + k, way[1]) for k in range(joint.n_u)]
    return moving


def _carriers(kinematics: Kinematics, frame: Frame) -> set[int]:
    """The nodes that carry a frame."""
    carriers, node = set(), kinematics.place(frame)[0]
    while node != WORLD:
        carriers.add(node)
        node = kinematics.tree.nodes[node].parent
    return carriers


def _column(
    kinematics: Kinematics, tie: LoopConstraint, i: int, twist: tuple[Array, Array, Array], k: int, ratio: Scalar
) -> Array:
    w, v, at = twist
    name = kinematics.tree.nodes[i].joint.name

    def speed(frame: Frame) -> tuple[Array, Array]:
        carried = i in _carriers(kinematics, frame)
        return (w, v + cross(w, kinematics.pose(frame).p - at)) if carried else (ZERO3, ZERO3)

    def turn(other: str) -> Array:
        joint = kinematics.system.joints[other]
        unit = np.zeros(joint.n_u, dtype=object)
        unit[:] = 0.0
        if other == name:
            unit[k] = ratio
        return joint.rate_map(kinematics.joint_state(other)[0], unit)

    return row_rates(kinematics, tie, speed, turn)
