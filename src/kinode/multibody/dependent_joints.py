"""Joints whose coordinates are no entries of the state: those that close loops, and those that follow others.

The coordinates of a cut joint are unknowns of their own while loops are being closed: a loop is closed where the pose
of the joint's frames, as the tree carries them, is the pose that these coordinates stand for.  The difference of the
two poses vanishes nowhere else, whatever the joint.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array, tidy
from kinode.algebra.spatial import cross
from kinode.model.joints.joint import Joint
from kinode.model.system import joint_frame
from kinode.multibody.loop_constraints import CutJointConstraint, carriers_of, freedoms_of

if TYPE_CHECKING:
    from kinode.multibody.kinematics import Kinematics
    from kinode.multibody.snapshot import Snapshot
    from kinode.structure.spanning_tree import Cut
    from kinode.structure.topology import Topology

HEAD, AXES = 18, 21  # numbers of the pose error of a cut joint with its velocity, and of one set of its axes


def followers(topology: Topology) -> tuple[str, ...]:
    """Joints that a gear lets follow another joint, in order of declaration."""
    return tuple(name for name in topology.system.joints if name in topology.couplings)


def n_cut_coordinates(topology: Topology) -> int:
    """Number of coordinates of all cut joints."""
    return sum(cut.joint.n_q for cut in topology.cuts)


def n_cut_steps(topology: Topology) -> int:
    """Number of coordinates of all cut joints, of speeds of the state and of freedoms of cut joints."""
    return n_cut_coordinates(topology) + topology.n_u + sum(cut.joint.n_u for cut in topology.cuts)


def n_loop_rates(topology: Topology) -> int:
    """Number of coordinates of all cut joints, and of rates of all coordinates."""
    return 2 * n_cut_coordinates(topology) + topology.n_q


def loop_columns(kinematics: Kinematics, cut: Cut) -> list[int]:
    """The speeds of the state that move a cut joint."""
    return list(dict.fromkeys(column for _, _, column, _ in freedoms_of(kinematics, CutJointConstraint(cut))))


def pose_errors(snapshot: Snapshot, x: Array) -> Array:
    """How far each cut joint is from the pose that its coordinates stand for, and how speeds change that.

    E = T(x)^-1 X, with its coordinates x and the pose X of the joint's frames.  For each cut joint, one after the
    other: E as rotation matrix and position; [angular velocity of E in its own axes; velocity of its origin] for the
    motion of the state, for unit speeds of the state (``loop_columns``), and for unit speeds of the cut joint.  Then
    coordinate, speed and ratio of each follower.
    """
    kinematics = snapshot.kinematics
    parts: list[Array] = [np.empty(0)]
    start = 0
    for cut in snapshot.topology.cuts:
        parts += _pose_error(kinematics, cut, x[start : start + cut.joint.n_q])
        start += cut.joint.n_q
    for name in followers(snapshot.topology):
        way = kinematics.state_of(name)
        q, u, _ = kinematics.joint_state(name)
        parts.append(tidy([q[0], u[0], 0.0 if way is None else way[1]]))
    return np.concatenate(parts)


def advanced_position(snapshot: Snapshot, x: Array) -> Array:
    """Coordinates of the state, then of the cut joints, after a step along the speeds of both.

    ``x`` are the coordinates of the cut joints, then the step.
    """
    topology, joints = snapshot.topology, snapshot.topology.system.joints
    cut_q, step = np.split(x, [n_cut_coordinates(topology)])
    parts = [
        joints[name].advance(snapshot.kinematics.q[q], step[topology.u_of[name]]) for name, q in topology.q_of.items()
    ]
    at_q, at_u = 0, topology.n_u
    for joint in (cut.joint for cut in topology.cuts):
        parts.append(joint.advance(cut_q[at_q : at_q + joint.n_q], step[at_u : at_u + joint.n_u]))
        at_q, at_u = at_q + joint.n_q, at_u + joint.n_u
    return np.concatenate(parts)


class PoseError:
    """The error E of the pose of one cut joint whose coordinates are q."""

    def __init__(self, kinematics: Kinematics, joint: Joint, q: Array) -> None:
        self.kinematics, self.joint = kinematics, joint
        _, self.M, X = kinematics.cut_pose(joint.name)
        form = joint.form(kinematics.resolve)
        self.E = joint.transform(q, form).inverse() @ X
        self.own = np.asarray(joint.motion_subspace(q, form), dtype=object)

    @cached_property
    def child(self) -> set[int]:
        """The links between the world and the child's frame."""
        return carriers_of(self.kinematics, joint_frame(self.joint, "child"))

    @property
    def head(self) -> Array:
        """E, and its velocity for the motion of the state."""
        velocity = self.kinematics.relative_velocity(self.joint.name, self.kinematics.velocity)
        moving = np.concatenate([velocity[:3], self.E.R @ velocity[3:]])
        return np.concatenate([np.asarray(self.E.R, dtype=object).ravel(), self.E.p, moving])

    @property
    def tail(self) -> Array:
        """Its velocity for unit speeds of the cut joint."""
        E = self.E
        each = [-np.concatenate([E.R.T @ S[:3], S[3:] + cross(S[:3], E.p)]) for S in self.own.T]
        return np.concatenate([np.empty(0), *each])

    def axes(self, sign: float) -> Array:
        """What turns velocities in world axes into those of E, 3 x 3 each for angular and linear, and M's origin."""
        turn = sign * self.M.R.T
        return np.concatenate([turn.ravel(), (self.E.R @ turn).ravel(), self.M.p])

    @property
    def both_axes(self) -> Array:
        """The axes for links that carry the child, and for those that carry the parent."""
        return np.concatenate([self.axes(1.0), self.axes(-1.0)])

    def velocity(self, i: int, w: Array, v: Array, at: Array) -> Array:
        """The velocity of E for a twist of link i, with v the velocity at a point of it."""
        axes = self.axes(1.0 if i in self.child else -1.0)
        turn, shift, p = axes[:9].reshape(3, 3), axes[9:18].reshape(3, 3), axes[18:]
        return np.concatenate([turn @ w, shift @ (v + cross(w, p - at))])  # at M's origin, of whichever side moves


def _pose_error(kinematics: Kinematics, cut: Cut, q: Array) -> list[Array]:
    error = PoseError(kinematics, cut.joint, q)
    columns: dict[int, Array] = {}
    for i, k, column, ratio in freedoms_of(kinematics, CutJointConstraint(cut)):
        S, X = kinematics.link_kinematics[i].S, kinematics.link_poses[i]
        velocity = error.velocity(i, X.R @ S[:3, k] * ratio, X.R @ S[3:, k] * ratio, X.p)
        columns[column] = columns[column] + velocity if column in columns else velocity
    return [error.head, *columns.values(), error.tail]
