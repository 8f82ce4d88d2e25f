"""Tooth forces of gears at one instant, and what they add to the reactions of joints.

The motion knows a gear by its effort lam along the following joint, and -ratio lam along the leading one.  The teeth
transmit the same power by a force F = lam g + |lam| h on the following wheel, and -F on the other (T-5.9).  The
difference does no work along any freedom: it is balanced by the reactions of the two joints, and by fixed joints
between their carriers, without any other change (T-5.11).

Shares of a reaction (static, kinetic, of one body) use the flank that carries the whole load, so that they add up.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array, tidy
from kinode.algebra.spatial import cross
from kinode.model.base.element import Load
from kinode.model.base.frames import Frame
from kinode.model.constraints.tooth_mesh import ToothForce, ToothMesh
from kinode.model.system import joint_frame
from kinode.multibody.link_steps import Spatial

if TYPE_CHECKING:
    from kinode.multibody.kinematics import Kinematics


class ToothForces:
    """The meshes of one instant."""

    def __init__(self, kinematics: Kinematics) -> None:
        self.kinematics, self.system = kinematics, kinematics.system
        self.meshes = kinematics.topology.meshes

    @cached_property
    def forces(self) -> dict[str, ToothForce]:
        """Point and directions of the force of each mesh, by the name of its constraint."""
        k = self.kinematics
        return {name: mesh.tooth_force(k.pose, k.resolve) for name, mesh in self.meshes.items()}

    def at(self, joint: str) -> list[ToothMesh]:
        """The meshes whose forces load a joint."""
        return [mesh for mesh in self.meshes.values() if joint in mesh.loaded]

    def loads(self, mesh: ToothMesh, force: Array) -> list[Load]:
        """A tooth force on the following wheel, and its opposite on the other, at the pitch point."""
        point, none = self.forces[mesh.constraint].point, np.zeros(3)
        pairs = ((mesh.follower, force), (mesh.leader, -force))
        return [Load(Frame(side.wheel), each, none, at=point) for side, each in pairs]

    def reaction(self, name: str, mesh: ToothMesh, force: Array) -> Spatial:
        """What a tooth force adds to the reaction of a joint: (moment, force) by a on b, about M, in F's given axes."""
        k, joint = self.kinematics, self.system.joints[name]
        F, M = (k.pose(joint_frame(joint, side)) for side in ("parent", "child"))
        R = M.R @ joint.axis_rotation(k.resolve, self.system.nominal)
        moment = cross(self.forces[mesh.constraint].point - M.p, force)
        wrench = np.concatenate([R.T @ moment, R.T @ force]) * -mesh.loaded[name]
        if joint.n_u:
            q, form = k.joint_state(name)[0], joint.form(k.resolve)
            wrench = wrench - joint.effort_wrench(q, form) @ (joint.motion_subspace(q, form).T @ wrench)
        back = F.R.T @ R
        return back @ wrench[:3], back @ wrench[3:]

    def apart(self, name: str) -> Array:
        """[moment; force] that the separating force of each mesh adds to a joint's reaction, for |lam| = 1: 6 x n."""
        meshes = self.at(name)
        if not meshes:
            return np.zeros((6, 0))
        columns = [self.reaction(name, mesh, self.forces[mesh.constraint].apart) for mesh in meshes]
        return tidy(np.column_stack([np.concatenate(column) for column in columns]))
