"""Joints whose coordinates are not in the state: cut joints, and followers of gears.

Their coordinates q follow from the poses of their frames or from the leading joint, and their speeds are linear in
those of the state: u_joint = H u + contributions of drives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import ZERO3, cross
from kinode.model.base.frames import Frame
from kinode.structure.link_geometry import WORLD

if TYPE_CHECKING:
    from kinode.multibody.kinematics import Kinematics
    from kinode.multibody.snapshot import Snapshot
    from kinode.structure.topology import Topology


def measured_joints(topology: Topology) -> tuple[str, ...]:
    """Joints that move, are not prescribed, and are not in the state, in order of declaration."""
    joints = topology.system.joints
    return tuple(name for name, joint in joints.items() if joint.n_u and not joint.driven and name not in topology.q_of)


def measures(snapshot: Snapshot) -> tuple[Array, Array, Array]:
    """Coordinates and speeds of all measured joints, and the matrix H, one column for each speed of the state."""
    kinematics, names = snapshot.kinematics, measured_joints(snapshot.topology)
    states = [kinematics.joint_state(name) for name in names]
    rows = [_along_state(kinematics, name) for name in names]
    q, u = (np.concatenate([state[k] for state in states]).astype(object) for k in (0, 1))
    return q, u, np.vstack(rows)


def _along_state(kinematics: Kinematics, name: str) -> Array:
    """Speeds of a joint for unit speeds of the state."""
    topology = kinematics.topology
    H = np.zeros((kinematics.system.joints[name].n_u, topology.n_u), dtype=object)
    H[:] = 0.0
    if name in topology.couplings:
        state = kinematics.state_of(name)
        if state is not None:
            H[0, state[0]] = state[1]
        return H
    loop = next(cut.loop for cut in topology.cuts if cut.joint.name == name)
    for i, node in enumerate(kinematics.tree.nodes):
        state = kinematics.state_of(node.joint.name)
        if node.joint.name not in loop or state is None:
            continue
        for k in range(node.joint.n_u):
            column = state[0] + k
            H[:, column] = H[:, column] + _speeds_of(kinematics, name, i, k) * state[1]
    return H


def _speeds_of(kinematics: Kinematics, name: str, i: int, k: int) -> Array:
    """Speeds of a cut joint for a unit speed of freedom k of node i."""
    S, X = kinematics.link_kinematics[i].S, kinematics.link_poses[i]
    w, v = X.R @ S[:3, k], X.R @ S[3:, k]

    def velocity(frame: Frame) -> tuple[Array, Array]:
        node, _ = kinematics.locate_frame(frame)
        while node not in (i, WORLD):
            node = kinematics.tree.nodes[node].parent
        return (w, v + cross(w, kinematics.pose(frame).p - X.p)) if node == i else (ZERO3, ZERO3)

    return kinematics.relative_speeds(name, kinematics.joint_state(name)[0], velocity)
