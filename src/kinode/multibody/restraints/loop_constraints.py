"""Loop constraints: the constraints on the coordinates of a tree, of cut joints and of constraint elements.

A holonomic constraint has residuals c of poses and joint coordinates; a nonholonomic one has slips s, linear in
velocities; a constraint may have both.  They vanish while the constraint is satisfied.  Rates along the motion are
exact, since the constraint is evaluated with poses and velocities as dual numbers:

    G         rates of c for unit speeds of the state; s at unit speeds
    drift     rate of c as everything moves now, driven joints and laws of time included: G u + c_t; s now
    bias      second rate of c, rate of s, while the accelerations of the state are zero: G u_dot + bias = 0

With all rows together, M u_dot = tau - h + G' lam and G u_dot = -bias.  The rows are those of all constraints,
dependent ones included.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol

import numpy as np

from kinode.algebra.scalars import Array, Scalar, tidy
from kinode.algebra.spatial import ZERO3, cross
from kinode.model.base.frames import Frame
from kinode.model.base.scene import SlidingScene
from kinode.model.constraints.constraint import POSITIONS, Constraint
from kinode.model.joints.joint import Joint
from kinode.model.system import joint_frame
from kinode.multibody.links.bundles import map_alike
from kinode.multibody.restraints.constraint_scenes import (
    FramePair,
    FrameRates,
    LoopScene,
    MotionRates,
    MovingScene,
    RecordingScene,
    SlipScene,
    StillScene,
    closure_rates,
)
from kinode.structure.link_geometry import WORLD

if TYPE_CHECKING:
    from kinode.multibody.kinematics import Kinematics
    from kinode.structure.spanning_tree import Cut
    from kinode.structure.topology import Topology


class LoopConstraint(Protocol):
    """Constraint rows of a cut joint or of a constraint element; ``units`` are those of its rows, residuals first.

    It is ``relative`` if a rigid motion of all its frames together does not change the rows.
    """

    name: str
    units: tuple[str, ...]
    relative: bool

    def residual(self, scene: LoopScene, /) -> Array:
        """Residuals of the poses and joint coordinates of the scene; zero if the constraint is satisfied."""
        ...

    def slip(self, scene: SlidingScene, /) -> Array:
        """Slips: velocities that must be zero, from the poses and velocities of the scene."""
        ...

    def find_dependencies(self, kinematics: Kinematics) -> tuple[list[Frame], list[str]]:
        """The frames, and the tree joints by their coordinates, that the rows depend on."""
        ...


def loop_constraints_of(topology: Topology) -> list[LoopConstraint]:
    """All constraints in the order of their rows."""
    cut_joints: list[LoopConstraint] = [CutJointConstraint(cut) for cut in topology.cuts]
    return cut_joints + [loop_constraint_of(topology, element) for element in topology.constraints]


def loop_constraint_of(topology: Topology, constraint: Constraint) -> LoopConstraint:
    """The rows of a constraint element, also of one that the tree satisfies by itself (one joint follows another)."""
    return ElementConstraint(constraint, constraint.rows(topology.system))


class CutJointConstraint:
    """A cut joint as a constraint: its closure, which vanishes for the poses X_FM that the joint allows."""

    def __init__(self, cut: Cut) -> None:
        self.joint = cut.joint
        self.name, self.units, self.relative = cut.joint.name, cut.units, True

    def residual(self, scene: LoopScene) -> Array:
        form = self.joint.form(scene.resolve)
        return np.asarray(self.joint.closure(scene.relative(self.joint), form), dtype=object)

    def slip(self, scene: SlidingScene) -> Array:
        return np.empty(0)

    def find_dependencies(self, kinematics: Kinematics) -> tuple[list[Frame], list[str]]:
        return [joint_frame(self.joint, side) for side in ("parent", "child")], []


class ElementConstraint:
    """A constraint element, which is no joint."""

    def __init__(self, constraint: Constraint, units: tuple[str, ...]) -> None:
        self.constraint, self.name, self.units = constraint, constraint.name, units
        self.relative = False  # its residual may use world axes without reading the pose of a frame

    def residual(self, scene: LoopScene) -> Array:
        return self.constraint.residual(scene)

    def slip(self, scene: SlidingScene) -> Array:
        return self.constraint.slip(scene)

    def find_dependencies(self, kinematics: Kinematics) -> tuple[list[Frame], list[str]]:
        return find_dependencies(kinematics, self)


def row_rates(
    kinematics: Kinematics,
    constraint: LoopConstraint,
    speed: FrameRates,
    turn: Callable[[str], Array],
    then: MotionRates | None = None,
    passing: bool = False,
) -> Array:
    """Rates of all rows of a constraint for some motion of frames and joints; ``passing``: time advances too."""
    scene = MovingScene(kinematics, speed, turn, then, passing)
    positions = scene.rates(constraint.residual(scene))
    if len(positions) == len(constraint.units):
        return positions
    sliding = SlipScene(kinematics, speed, turn, then)
    return tidy(np.concatenate([positions, sliding.rates(constraint.slip(sliding))]))


def all_row_rates(
    kinematics: Kinematics,
    moved: Sequence[tuple[LoopConstraint, MotionRates]],
    then: MotionRates | None = None,
    passing: bool = False,
) -> list[Array]:
    """The same of several constraints, each for a motion of its own; cut joints that are alike side by side."""
    kinematics.place_cuts(one.name for one, _ in moved if isinstance(one, CutJointConstraint))
    found: dict[int, Array] = {}
    cuts: dict[int, Joint] = {}
    calls: list[tuple[Array, FramePair]] = []
    for k, (constraint, motion) in enumerate(moved):
        if isinstance(constraint, CutJointConstraint):
            scene = MovingScene(kinematics, motion.speed, motion.turn, then, passing)
            cuts[k] = joint = constraint.joint
            calls.append((joint.form(scene.resolve), scene.pair(joint)))
        else:
            found[k] = row_rates(kinematics, constraint, motion.speed, motion.turn, then, passing)
    found.update(zip(cuts, map_alike(closure_rates, calls, list(cuts.values())), strict=True))
    return [found[k] for k in range(len(moved))]


def residual(kinematics: Kinematics, constraints: Sequence[LoopConstraint]) -> list[Array]:
    """The residual of each row; zero for slips, which do not depend on the position."""
    kinematics.place_cuts(one.name for one in constraints if isinstance(one, CutJointConstraint))
    scene = StillScene(kinematics)
    found = []
    for constraint in constraints:
        slips = sum(unit not in POSITIONS for unit in constraint.units)
        found.append(tidy([*constraint.residual(scene), *[0.0] * slips]))
    return found


def find_dependencies(kinematics: Kinematics, constraint: LoopConstraint) -> tuple[list[Frame], list[str]]:
    """The frames, and the tree joints by their coordinates, that a constraint reads; found by evaluating it once."""
    scene = RecordingScene(kinematics)
    constraint.residual(scene)
    constraint.slip(scene)
    return scene.frames, scene.joints


def drift(kinematics: Kinematics, constraints: Sequence[LoopConstraint]) -> list[Array]:
    """Rates of the rows along the actual motion: G u + c_t."""
    motion = MotionRates(kinematics.velocity, kinematics.joint_rate)
    return all_row_rates(kinematics, [(constraint, motion) for constraint in constraints], passing=True)


def law_rates(kinematics: Kinematics, constraints: Sequence[LoopConstraint]) -> list[Array]:
    """Rates of the rows by expressions of time alone, with all bodies at rest: c_t."""

    def turn(name: str) -> Array:
        return np.zeros(kinematics.system.joints[name].n_q)

    still = MotionRates(lambda frame: (ZERO3, ZERO3), turn)
    return all_row_rates(kinematics, [(constraint, still) for constraint in constraints], passing=True)


def frame_bias(kinematics: Kinematics, frame: Frame) -> tuple[Array, Array]:
    """Angular acceleration and acceleration of a frame while the accelerations of the state are zero."""
    node, X = kinematics.locate_frame(frame)
    if node == WORLD:
        return ZERO3, ZERO3
    R, w = kinematics.link_poses[node].R, kinematics.link_kinematics[node].w
    eps, W = kinematics.unaccelerated[1][node]
    return R @ eps, R @ (W + cross(eps, X.p) + cross(w, cross(w, X.p))) + kinematics.gravity


def bias(kinematics: Kinematics, constraints: Sequence[LoopConstraint]) -> list[Array]:
    """Second rate of the residual, and rate of slips, while the accelerations of the state are zero."""
    still = kinematics.unaccelerated[0]
    motion = MotionRates(kinematics.velocity, kinematics.joint_rate)
    then = MotionRates(partial(frame_bias, kinematics), lambda name: still[kinematics.node_named[name]])
    return all_row_rates(kinematics, [(constraint, motion) for constraint in constraints], then, passing=True)


def jacobian(kinematics: Kinematics, constraint: LoopConstraint) -> Array:
    """G: rates of the rows for unit speeds of the state, one column for each."""
    G = np.zeros((len(constraint.units), kinematics.topology.n_u), dtype=object)
    G[:] = 0.0
    for column, values in columns(kinematics, [constraint])[0].items():
        G[:, column] = values
    return G


def columns(kinematics: Kinematics, constraints: Sequence[LoopConstraint]) -> list[dict[int, Array]]:
    """The columns of G that can be nonzero, by the index of their speed, for each constraint."""
    moving = [(k, *freedom) for k, one in enumerate(constraints) for freedom in freedoms(kinematics, one)]
    motions = [(constraints[k], freedom_rates(kinematics, i, a, ratio)) for k, i, a, _, ratio in moving]
    by_speed: list[dict[int, Array]] = [{} for _ in constraints]
    for (k, _, _, column, _), values in zip(moving, all_row_rates(kinematics, motions), strict=True):
        known = by_speed[k].get(column)
        by_speed[k][column] = values if known is None else known + values
    return by_speed


def freedoms(kinematics: Kinematics, constraint: LoopConstraint) -> list[tuple[int, int, int, Scalar]]:
    """Freedoms that can change a constraint's rows: node, number in its joint, index of its speed, ratio to it."""
    frames, joints = constraint.find_dependencies(kinematics)
    carriers = [carriers_of(kinematics, frame) for frame in frames]
    nodes = set[int]().union(*carriers)
    if constraint.relative:
        nodes -= {i for i in nodes if all(i in each for each in carriers)}
    nodes |= {kinematics.node_named[name] for name in joints}
    moving = []
    for i in sorted(nodes):
        joint = kinematics.tree.nodes[i].joint
        state = kinematics.state_of(joint.name)
        if state is not None:
            start, ratio = state
            moving += [(i, k, start + k, ratio) for k in range(joint.n_u)]
    return moving


def carriers_of(kinematics: Kinematics, frame: Frame) -> set[int]:
    """The nodes of the tree between the world and a frame."""
    carriers, node = set(), kinematics.tree.node_of[frame.body]
    while node != WORLD:
        carriers.add(node)
        node = kinematics.tree.nodes[node].parent
    return carriers


def freedom_rates(kinematics: Kinematics, i: int, k: int, ratio: Scalar) -> MotionRates:
    """Rates of frames and joints while freedom k of node i alone moves, at the speed ``ratio``."""
    S, X = kinematics.link_kinematics[i].S, kinematics.link_poses[i]
    w, v = X.R @ S[:3, k] * ratio, X.R @ S[3:, k] * ratio
    name = kinematics.tree.nodes[i].joint.name

    def speed(frame: Frame) -> tuple[Array, Array]:
        carried = i in carriers_of(kinematics, frame)
        return (w, v + cross(w, kinematics.pose(frame).p - X.p)) if carried else (ZERO3, ZERO3)

    def turn(other: str) -> Array:
        joint = kinematics.system.joints[other]
        unit = np.zeros(joint.n_u, dtype=object)
        unit[:] = 0.0
        if other == name:
            unit[k] = ratio
        return joint.rate_map(kinematics.joint_state(other)[0], unit)

    return MotionRates(speed, turn)
