"""Evaluation contexts of constraints: poses and coordinates of an instant, as plain numbers or with their rates.

A constraint computes its residuals from the poses of a scene.  If these are dual numbers, so are the residuals, and
their dual parts are the exact rates of the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol

import numpy as np

from kinode.algebra.scalars import Array, Dual, Scalar, new_level, tidy
from kinode.algebra.spatial import ZERO3, Pose, cross, skew
from kinode.model.base.fields import Value
from kinode.model.base.frames import Frame, Resolve
from kinode.model.base.scene import ConstraintScene
from kinode.model.joints.joint import Joint
from kinode.model.system import joint_frame
from kinode.multibody.link_steps import Spatial

if TYPE_CHECKING:
    from kinode.multibody.kinematics import Kinematics


FrameRates = Callable[[Frame], tuple[Array, Array]]
"""Angular and linear rate of a frame, in world axes."""


class MotionRates(NamedTuple):
    """Rates of frames and joints for some speeds or accelerations of a motion."""

    speed: FrameRates
    turn: Callable[[str], Array]


class LoopScene(ConstraintScene, Protocol):
    """The scene of a constraint, with the relative pose of a cut joint's frames as well."""

    def relative(self, joint: Joint, /) -> Pose:
        """X_FM of a joint, in canonical axes."""
        ...


class _SceneConstants:
    """What all scenes of constraints have in common: numbers of fields, and how joints are measured."""

    def __init__(self, kinematics: Kinematics) -> None:
        self.kinematics, self.system = kinematics, kinematics.system
        self.resolve, self.nominal = kinematics.resolve, kinematics.system.nominal
        self.law: Resolve = kinematics.resolve

    def measured(self, name: str) -> bool:
        """Whether a joint is cut, so that its coordinates follow from the poses of its frames."""
        return name in self.kinematics.topology.cut_names and not self.system.joints[name].driven

    def wraps(self, name: str) -> bool:
        """Whether a joint's coordinate is an angle that is known up to full turns."""
        return self.measured(name) and self.system.joints[name].coordinates[0][1] == "angle"


class RateLevels:
    """Levels of dual numbers for the rates of a motion, and for its accelerations if they are ``second``."""

    def __init__(self, second: bool) -> None:
        self.level = new_level()
        self.outer = new_level() if second else None

    def moving(self, X: Pose, speed: Spatial, then: Spatial | None) -> Pose:
        """A pose with its rates, from velocities and accelerations in the axes that it is given in."""
        w, v = speed
        R_dot = skew(w) @ X.R
        if then is None:
            return Pose(self.dual(X.R, R_dot), self.dual(X.p, v))
        R_ddot = skew(then[0]) @ X.R + skew(w) @ R_dot
        return Pose(self.second(X.R, R_dot, R_ddot), self.second(X.p, v, then[1]))

    def dual(self, value: Array, rate: Array, level: int | None = None) -> Array:
        """Numbers with one rate."""
        return _each(lambda x, y: Dual(x, y, self.level if level is None else level), value, rate)

    def second(self, value: Array, rate: Array, second: Array) -> Array:
        """Numbers with two."""
        return self.dual(self.dual(value, rate, self.outer), self.dual(rate, second, self.outer))

    def rates(self, values: Array) -> Array:
        """The rates of values computed from such numbers; the second ones if there are two."""
        first = [_rate(x, self.level) for x in np.asarray(values, dtype=object).ravel()]
        return tidy(first if self.outer is None else [_rate(x, self.outer) for x in first])


class SlipLevels(RateLevels):
    """The same for slips: without accelerations nothing has rates, with them everything has one."""

    def moving(self, X: Pose, speed: Spatial, then: Spatial | None) -> Pose:
        if then is None:
            return X
        return Pose(self.dual(X.R, skew(speed[0]) @ X.R), self.dual(X.p, speed[1]))


class FramePair(NamedTuple):
    """Two frames of a joint: their poses F and M, that of M in F, their speeds, and accelerations where wanted."""

    poses: tuple[Pose, Pose, Pose]
    speeds: tuple[Spatial, Spatial]
    then: tuple[Spatial, Spatial] | None

    def moving(self, levels: RateLevels) -> Pose:
        """X_FM with its rates: those of a frame that moves within another."""
        F, M, X = self.poses
        (w_F, v_F), (w_M, v_M) = self.speeds
        p, w, v = M.p - F.p, w_M - w_F, v_M - v_F
        v_r = v - cross(w_F, p)
        then = None
        if self.then is not None:
            (e_F, a_F), (e_M, a_M) = self.then
            e_r, a_r = e_M - e_F - cross(w_F, w), a_M - a_F - cross(e_F, p) - cross(w_F, v + v_r)
            then = F.R.T @ e_r, F.R.T @ a_r
        return levels.moving(X, (F.R.T @ w, F.R.T @ v_r), then)


def closure_rates(joint: Joint, form: Array, pair: FramePair) -> Array:
    """Rates of the rows of a cut joint; its second ones if the pair of its frames has accelerations."""
    levels = RateLevels(pair.then is not None)
    return levels.rates(np.asarray(joint.closure(pair.moving(levels), form), dtype=object))


class MovingScene(_SceneConstants):
    """Poses and joint coordinates of a motion as dual numbers.

    ``speed`` gives the angular velocity and velocity of a frame, in world axes, ``turn`` the rate of a joint's
    coordinates.  ``then`` gives the accelerations in the same way; with it everything carries two rates.  ``passing``
    says whether time advances; for virtual velocities it does not.
    """

    levels_type: ClassVar[type[RateLevels]] = RateLevels

    def __init__(
        self,
        kinematics: Kinematics,
        speed: FrameRates,
        turn: Callable[[str], Array],
        then: MotionRates | None = None,
        passing: bool = False,
    ) -> None:
        super().__init__(kinematics)
        self.speed, self.turn, self.then = speed, turn, then
        if passing:
            self.law = self._moving_law
        self.levels = self.levels_type(then is not None)

    def pose(self, frame: Frame) -> Pose:
        """X_WF with its rates."""
        then = None if self.then is None else self.then.speed(frame)
        return self.levels.moving(self.kinematics.pose(frame), self.speed(frame), then)

    def pair(self, joint: Joint) -> FramePair:
        """The frames of a joint, in canonical axes."""
        frame_a, frame_b = (joint_frame(joint, side) for side in ("parent", "child"))
        then = None if self.then is None else (self.then.speed(frame_a), self.then.speed(frame_b))
        return FramePair(self.kinematics.cut_pose(joint.name), (self.speed(frame_a), self.speed(frame_b)), then)

    def relative(self, joint: Joint) -> Pose:
        """X_FM of a joint, in canonical axes, with its rates."""
        return self.pair(joint).moving(self.levels)

    def joint_q(self, name: str) -> Array:
        """Coordinates of a joint with their rates."""
        if self.measured(name):
            joint = self.system.joints[name]
            return joint.solve_coordinates(self.relative(joint), joint.form(self.resolve))
        q, q_dot = self.kinematics.joint_state(name)[0], self.turn(name)
        return self.levels.dual(q, q_dot) if self.then is None else self.levels.second(q, q_dot, self.then.turn(name))

    def _moving_law(self, value: Value) -> Scalar:
        """A law of time with its rates."""
        if not self.kinematics.laws.passes(value):
            return self.resolve(value)
        x, rate, second = self.kinematics.timely([value], 2)
        moving: Scalar = (self.levels.dual(x, rate) if self.then is None else self.levels.second(x, rate, second))[0]
        return moving

    def rates(self, values: Array) -> Array:
        """The rates of values computed in this scene; the second ones if there are two."""
        return self.levels.rates(values)


class SlipScene(MovingScene):
    """Poses and velocities for slips; with accelerations everything carries one rate."""

    levels_type = SlipLevels

    def velocity(self, frame: Frame) -> tuple[Array, Array]:
        """Angular velocity and velocity of a frame, in world axes."""
        w, v = self.speed(frame)
        if self.then is None:
            return w, v
        eps, a = self.then.speed(frame)
        return self.levels.dual(w, eps), self.levels.dual(v, a)

    def rates(self, values: Array) -> Array:
        """The slips themselves, or their rates where there are accelerations."""
        flat = np.asarray(values, dtype=object).ravel()
        return tidy(flat if self.then is None else [_rate(x, self.levels.level) for x in flat])


class StillScene(_SceneConstants):
    """A scene of plain poses."""

    def pose(self, frame: Frame) -> Pose:
        """X_WF."""
        return self.kinematics.pose(frame)

    def relative(self, joint: Joint) -> Pose:
        """X_FM of a joint, in canonical axes."""
        return self.kinematics.cut_pose(joint.name)[2]

    def joint_q(self, name: str) -> Array:
        """Coordinates of a joint."""
        return self.kinematics.joint_state(name)[0]


class RecordingScene(StillScene):
    """A scene that records which frames and joints a constraint reads."""

    def __init__(self, kinematics: Kinematics) -> None:
        super().__init__(kinematics)
        self.frames: list[Frame] = []
        self.joints: list[str] = []

    def pose(self, frame: Frame) -> Pose:
        """X_WF; records the frame."""
        self.frames.append(frame)
        return super().pose(frame)

    def velocity(self, frame: Frame) -> Spatial:
        """Zero; records the frame.  Which frames a slip reads does not depend on their velocities."""
        self.frames.append(frame)
        return ZERO3, ZERO3

    def relative(self, joint: Joint) -> Pose:
        """X_FM of a joint; records its frames."""
        self.frames += [joint_frame(joint, side) for side in ("parent", "child")]
        return super().relative(joint)

    def joint_q(self, name: str) -> Array:
        """Coordinates of a joint; records the joint, or the frames if it is cut."""
        if self.measured(name):
            self.relative(self.system.joints[name])
        elif name in self.kinematics.node_named:
            self.joints.append(name)
        return super().joint_q(name)


def _each(make: Callable[[Scalar, Scalar], Scalar], *arrays: Array) -> Array:
    shape = np.shape(arrays[0])
    flat = [np.asarray(array, dtype=object).ravel() for array in arrays]
    made = np.empty(len(flat[0]), dtype=object)
    for i, entries in enumerate(zip(*flat, strict=True)):
        made[i] = make(*entries)
    return made.reshape(shape)


def _rate(x: Scalar, level: int) -> Scalar:
    return x.rate if isinstance(x, Dual) and x.level == level else 0.0
