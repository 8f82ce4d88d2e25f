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
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from kinode.algebra.scalars import Array, Dual, Scalar, new_level, tidy
from kinode.algebra.spatial import ZERO3, Pose, cross, skew
from kinode.model.base.fields import Value
from kinode.model.base.frames import Frame
from kinode.model.constraints.constraint import POSITIONS, Constraint
from kinode.model.joints.joint import Joint
from kinode.model.system import joint_frame
from kinode.multibody.links.link_steps import Spatial
from kinode.structure.link_geometry import WORLD

if TYPE_CHECKING:
    from kinode.multibody.instant_dynamics import InstantDynamics
    from kinode.structure.spanning_tree import Cut
    from kinode.structure.topology import Topology


class LoopConstraint(Protocol):
    """A constraint as the loops see it; ``units`` are those of its rows, residuals before slips.

    It is ``relative`` if moving all frames that it looks at as one changes nothing.
    """

    name: str
    units: tuple[str, ...]
    relative: bool

    def residual(self, scene: Any) -> Array:
        """What is missing for the constraint to hold, of the poses and joint coordinates that the scene tells."""
        ...

    def slip(self, scene: Any) -> Array:
        """What must not move, of the poses and velocities that the scene tells."""
        ...

    def looks(self, motion: InstantDynamics) -> tuple[list[Frame], list[str]]:
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

    def residual(self, scene: Any) -> Array:
        form = self.joint.form(scene.resolve)
        return np.asarray(self.joint.closure(scene.relative(self.joint), form), dtype=object)

    def slip(self, scene: Any) -> Array:
        return np.empty(0)

    def looks(self, motion: InstantDynamics) -> tuple[list[Frame], list[str]]:
        return [joint_frame(self.joint, side) for side in ("parent", "child")], []


class ElementConstraint:
    """A constraint that is no joint."""

    def __init__(self, constraint: Constraint, units: tuple[str, ...]) -> None:
        self.name, self.units = constraint.name, units
        self.relative = False  # it may count on the world's axes without asking for them
        self.residual, self.slip = constraint.residual, constraint.slip

    def looks(self, motion: InstantDynamics) -> tuple[list[Frame], list[str]]:
        return look(motion, self)


FrameRates = Callable[[Frame], tuple[Array, Array]]


class _Scene:
    """What constraints ask besides poses and coordinates."""

    def __init__(self, motion: InstantDynamics) -> None:
        self.motion, self.system = motion, motion.system
        self.resolve, self.nominal = motion.resolve, motion.system.nominal
        self.law = motion.resolve

    def measured(self, name: str) -> bool:
        """Whether a joint's coordinates follow from poses, since it closes a loop."""
        return name in self.motion.topology.cut_names and not self.system.joints[name].driven

    def wraps(self, name: str) -> bool:
        """Whether a joint's coordinate is an angle that is known up to full turns."""
        return self.measured(name) and self.system.joints[name].coordinates[0][1] == "angle"


class MovingScene(_Scene):
    """Poses and joint coordinates of a motion as dual numbers.

    ``speed`` tells the angular velocity and velocity of a frame, in world axes, ``turn`` the rate of a
    joint's coordinates; with ``then`` (accelerations likewise) everything carries two rates.  ``passing`` says whether
    time goes on meanwhile; for virtual velocities it stands still.
    """

    def __init__(
        self,
        motion: InstantDynamics,
        speed: FrameRates,
        turn: Callable[[str], Array],
        then: Any = None,
        passing: bool = False,
    ) -> None:
        super().__init__(motion)
        self.speed, self.turn, self.then = speed, turn, then
        if passing:
            self.law = self._moving_law
        self.level = new_level()
        self.outer = new_level() if then is not None else None

    def pose(self, frame: Frame) -> Pose:
        """X_WF with its rates."""
        then = None if self.then is None else self.then.speed(frame)
        return self._moving(self.motion.pose(frame), self.speed(frame), then)

    def relative(self, joint: Joint) -> Pose:
        """X_FM of a joint, in canonical axes, with its rates: those of a frame that moves within another."""
        F, M, X = self.motion.cut_pose(joint.name)
        frames = [joint_frame(joint, side) for side in ("parent", "child")]
        (w_F, v_F), (w_M, v_M) = (self.speed(frame) for frame in frames)
        p, w, v = M.p - F.p, w_M - w_F, v_M - v_F
        v_r = v - cross(w_F, p)
        then = None
        if self.then is not None:
            (e_F, a_F), (e_M, a_M) = (self.then.speed(frame) for frame in frames)
            turned, moved = e_M - e_F - cross(w_F, w), a_M - a_F - cross(e_F, p) - cross(w_F, v + v_r)
            then = F.R.T @ turned, F.R.T @ moved
        return self._moving(X, (F.R.T @ w, F.R.T @ v_r), then)

    def _moving(self, X: Pose, speed: Spatial, then: Spatial | None) -> Pose:
        """A pose with its rates, from velocities and accelerations in the axes that it is given in."""
        w, v = speed
        R_dot = skew(w) @ X.R
        if then is None:
            return Pose(self._dual(X.R, R_dot), self._dual(X.p, v))
        R_ddot = skew(then[0]) @ X.R + skew(w) @ R_dot
        return Pose(self._second(X.R, R_dot, R_ddot), self._second(X.p, v, then[1]))

    def joint_q(self, name: str) -> Array:
        """Coordinates of a joint with their rates."""
        if self.measured(name):
            joint = self.system.joints[name]
            return joint.solve_coordinates(self.relative(joint), joint.form(self.resolve))
        q, q_dot = self.motion.joint_state(name)[0], self.turn(name)
        return self._dual(q, q_dot) if self.then is None else self._second(q, q_dot, self.then.turn(name))

    def _moving_law(self, value: Value) -> Scalar:
        """A law of time with its rates."""
        if not self.motion.passes(value):
            return self.resolve(value)
        x, rate, second = self.motion.timely([value], 2)
        found: Scalar = (self._dual(x, rate) if self.then is None else self._second(x, rate, second))[0]
        return found

    def _dual(self, value: Array, rate: Array, level: int | None = None) -> Array:
        return _each(lambda x, y: Dual(x, y, self.level if level is None else level), value, rate)

    def _second(self, value: Array, rate: Array, second: Array) -> Array:
        return self._dual(self._dual(value, rate, self.outer), self._dual(rate, second, self.outer))

    def rates(self, values: Array) -> Array:
        """The rates that came out, of the second order where there are two."""
        first = [_rate(x, self.level) for x in np.asarray(values, dtype=object).ravel()]
        return tidy(first if self.outer is None else [_rate(x, self.outer) for x in first])


class SlipScene(MovingScene):
    """Poses and velocities as slips ask for them; with accelerations everything carries one rate."""

    def _moving(self, X: Pose, speed: Spatial, then: Spatial | None) -> Pose:
        if then is None:
            return X
        return Pose(self._dual(X.R, skew(speed[0]) @ X.R), self._dual(X.p, speed[1]))

    def velocity(self, frame: Frame) -> tuple[Array, Array]:
        """Angular velocity and velocity of a frame, in world axes."""
        w, v = self.speed(frame)
        if self.then is None:
            return w, v
        eps, a = self.then.speed(frame)
        return self._dual(w, eps), self._dual(v, a)

    def rates(self, values: Array) -> Array:
        """The slips themselves, or their rates where there are accelerations."""
        flat = np.asarray(values, dtype=object).ravel()
        return tidy(flat if self.then is None else [_rate(x, self.level) for x in flat])


def row_rates(
    motion: InstantDynamics,
    tie: LoopConstraint,
    speed: FrameRates,
    turn: Callable[[str], Array],
    then: Any = None,
    passing: bool = False,
) -> Array:
    """Rates of all rows of a constraint for some motion of frames and joints, while time stands still or is passing."""
    scene = MovingScene(motion, speed, turn, then, passing)
    held = scene.rates(tie.residual(scene))
    if len(held) == len(tie.units):
        return held
    sliding = SlipScene(motion, speed, turn, then)
    return tidy(np.concatenate([held, sliding.rates(tie.slip(sliding))]))


def _each(make: Callable[[Scalar, Scalar], Scalar], *arrays: Array) -> Array:
    shape = np.shape(arrays[0])
    flat = [np.asarray(array, dtype=object).ravel() for array in arrays]
    found = np.empty(len(flat[0]), dtype=object)
    for i, entries in enumerate(zip(*flat, strict=True)):
        found[i] = make(*entries)
    return found.reshape(shape)


def _rate(x: Scalar, level: int) -> Scalar:
    return x.rate if isinstance(x, Dual) and x.level == level else 0.0


class MotionRates:
    """Rates of frames and joints for some speeds or accelerations of a motion."""

    def __init__(self, speed: FrameRates, turn: Callable[[str], Array]) -> None:
        self.speed, self.turn = speed, turn


def residual(motion: InstantDynamics, tie: LoopConstraint) -> Array:
    """What is missing for a constraint to hold; nothing for slips, which no position can mend."""
    slips = sum(unit not in POSITIONS for unit in tie.units)
    return tidy([*tie.residual(_Still(motion)), *[0.0] * slips])


class _Still(_Scene):
    """A scene of plain poses."""

    def __init__(self, motion: InstantDynamics) -> None:
        super().__init__(motion)
        self.pose = motion.pose

    def relative(self, joint: Joint) -> Pose:
        return self.motion.cut_pose(joint.name)[2]

    def joint_q(self, name: str) -> Array:
        return self.motion.joint_state(name)[0]


def look(motion: InstantDynamics, tie: LoopConstraint) -> tuple[list[Frame], list[str]]:
    """The frames, and the tree joints whose coordinates, a constraint asks for."""
    scene = _Looked(motion)
    tie.residual(scene)
    tie.slip(scene)
    return scene.frames, scene.joints


class _Looked(_Still):
    """A scene that notes what it is asked for."""

    def __init__(self, motion: InstantDynamics) -> None:
        super().__init__(motion)
        self.frames: list[Frame] = []
        self.joints: list[str] = []
        self.pose = self._pose

    def _pose(self, frame: Frame) -> Pose:
        self.frames.append(frame)
        return self.motion.pose(frame)

    def velocity(self, frame: Frame) -> Spatial:
        self.frames.append(frame)
        return ZERO3, ZERO3

    def relative(self, joint: Joint) -> Pose:
        self.frames += [joint_frame(joint, side) for side in ("parent", "child")]
        return super().relative(joint)

    def joint_q(self, name: str) -> Array:
        if self.measured(name):
            self.relative(self.system.joints[name])
        elif name in self.motion.node_named:
            self.joints.append(name)
        return super().joint_q(name)


def drift(motion: InstantDynamics, tie: LoopConstraint) -> Array:
    """Rates of the rows as everything moves now."""
    return row_rates(motion, tie, motion.velocity, motion.joint_rate, passing=True)


def law_rates(motion: InstantDynamics, tie: LoopConstraint) -> Array:
    """Rates of the rows by laws of time alone, while nothing moves: c_t."""

    def turn(name: str) -> Array:
        return np.zeros(motion.system.joints[name].n_q)

    return row_rates(motion, tie, lambda frame: (ZERO3, ZERO3), turn, passing=True)


def bias(motion: InstantDynamics, tie: LoopConstraint) -> Array:
    """Second rate of the residual, and rate of slips, while the accelerations of the state are zero."""
    still, A = motion.unaccelerated

    def second(frame: Frame) -> tuple[Array, Array]:
        node, X = motion.place(frame)
        if node == WORLD:
            return ZERO3, ZERO3
        R, w, (eps, W) = motion.link_poses[node].R, motion.moved[node].w, A[node]
        return R @ eps, R @ (W + cross(eps, X.p) + cross(w, cross(w, X.p))) + motion.gravity

    then = MotionRates(second, lambda name: still[motion.node_named[name]])
    return row_rates(motion, tie, motion.velocity, motion.joint_rate, then, passing=True)


def jacobian(motion: InstantDynamics, tie: LoopConstraint) -> Array:
    """G: rates of the rows for unit speeds of the state, one column for each."""
    G = np.zeros((len(tie.units), motion.topology.n_u), dtype=object)
    G[:] = 0.0
    for column, values in columns(motion, tie).items():
        G[:, column] = values
    return G


def columns(motion: InstantDynamics, tie: LoopConstraint) -> dict[int, Array]:
    """The columns of G that need not be zero, by the speed that they belong to."""
    found: dict[int, Array] = {}
    for i, k, column, ratio in freedoms(motion, tie):
        S, X = motion.moved[i].S, motion.link_poses[i]
        w, v = X.R @ S[:3, k] * ratio, X.R @ S[3:, k] * ratio
        values = _column(motion, tie, i, (w, v, X.p), k, ratio)
        found[column] = found[column] + values if column in found else values
    return found


def freedoms(motion: InstantDynamics, tie: LoopConstraint) -> list[tuple[int, int, int, Scalar]]:
    """Node and number of the freedoms that can move a constraint's rows, the speed that moves each, and its ratio."""
    frames, joints = tie.looks(motion)
    ways = [_carriers(motion, frame) for frame in frames]
    nodes = set[int]().union(*ways)
    if tie.relative:
        nodes -= {i for i in nodes if all(i in way for way in ways)}
    nodes |= {motion.node_named[name] for name in joints}
    found = []
    for i in sorted(nodes):
        joint = motion.tree.nodes[i].joint
        way = motion.state_of(joint.name)
        if way is not None:
            found += [(i, k, way[0] + k, way[1]) for k in range(joint.n_u)]
    return found


def _carriers(motion: InstantDynamics, frame: Frame) -> set[int]:
    """The nodes that carry a frame."""
    found, node = set(), motion.place(frame)[0]
    while node != WORLD:
        found.add(node)
        node = motion.tree.nodes[node].parent
    return found


def _column(
    motion: InstantDynamics, tie: LoopConstraint, i: int, twist: tuple[Array, Array, Array], k: int, ratio: Scalar
) -> Array:
    w, v, at = twist
    name = motion.tree.nodes[i].joint.name

    def speed(frame: Frame) -> tuple[Array, Array]:
        carried = i in _carriers(motion, frame)
        return (w, v + cross(w, motion.pose(frame).p - at)) if carried else (ZERO3, ZERO3)

    def turn(other: str) -> Array:
        joint = motion.system.joints[other]
        unit = np.zeros(joint.n_u, dtype=object)
        unit[:] = 0.0
        if other == name:
            unit[k] = ratio
        return joint.rate_map(motion.joint_state(other)[0], unit)

    return row_rates(motion, tie, speed, turn)
