"""A joint in the opposite direction, for a spanning tree that reaches its child body first."""

from __future__ import annotations

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import Pose, skew
from kinode.model.joints.joint import Joint


class Reversed:
    """A joint in the opposite direction: the parent link carries its frame M and the child link its frame F."""

    def __init__(self, joint: Joint) -> None:
        self.joint = joint
        self.n_q, self.n_u, self.kind = joint.n_q, joint.n_u, "-" + joint.kind
        self.quaternion = joint.quaternion

    def transform(self, q: Array, form: Array) -> Pose:
        return self.joint.transform(q, form).inverse()

    def motion_subspace(self, q: Array, form: Array) -> Array:
        """Velocity of F relative to M, at F and in its axes, for unit speeds: minus that of M relative to F."""
        X = self.joint.transform(q, form)
        S = self.joint.motion_subspace(q, form)
        w = X.R @ S[:3]
        v = X.R @ S[3:]
        return np.vstack([-w, skew(X.p).T @ w - v])

    def effort_wrench(self, q: Array, form: Array) -> Array:
        X = self.joint.transform(q, form)
        T = self.joint.effort_wrench(q, form)
        return -np.vstack([X.R @ T[:3] + skew(X.p) @ (X.R @ T[3:]), X.R @ T[3:]])

    def rate_map(self, q: Array, u: Array) -> Array:
        return self.joint.rate_map(q, u)
