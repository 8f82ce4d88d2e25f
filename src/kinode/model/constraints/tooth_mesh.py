"""The mesh of two gears, or of a pinion and a rack: where the teeth touch, and the direction of their force.

Both wheels are carried by one body.  At the pitch point P their velocities relative to the carrier are equal.  For a
unit speed of the joint that follows, its wheel moves there with v, and an effort lam of the gear along this joint is

    F = lam g + |lam| h,      F . v = lam                                               (T-5.9)

on the following wheel at P, and -F on the other.  g has the tangential force v / v^2 and the axial force, by the helix
angle beta; h pushes the wheels apart, by the pressure angle alpha of the normal section:

    axial = F_t tan(beta),    radial = |F_t| tan(alpha) / cos(beta)                     (T-5.10)

Axial and radial force do no work.  Which flank carries the load is the sign of lam: the radial force has none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array, Scalar, absolute, cos, sign, sqrt, tan
from kinode.algebra.spatial import Pose, cross, dot
from kinode.model.base.frames import Frame, Resolve
from kinode.model.joints.fixed import Fixed

if TYPE_CHECKING:
    from kinode.model.base.fields import Value
    from kinode.model.joints.joint import Joint

FindPose = Callable[[Frame], Pose]


@dataclass(frozen=True)
class MeshSide:
    """One of the two joints of a mesh: the body with the teeth, and the joint's frame on the carrier."""

    joint: str
    wheel: str
    carrier: Frame
    forward: bool  # whether the wheel is the joint's b, so that it moves with +u seen from the carrier

    def axis(self, system: Any, pose: FindPose, resolve: Resolve) -> tuple[Array, Array]:
        """A point of the joint's axis, and its direction."""
        X = pose(self.carrier)
        C = system.joints[self.joint].axis_rotation(resolve, system.nominal)
        return X.p, X.R @ C[:, 2]

    @property
    def sense(self) -> float:
        """Sign of the wheel's motion seen from the carrier, for a positive speed of the joint."""
        return 1.0 if self.forward else -1.0


@dataclass(frozen=True)
class MeshGeometry:
    """Pitch point and directions of one position, in world axes.

    ``velocity`` is that of the following wheel at the pitch point, relative to the carrier, for a unit speed of its
    joint; ``axis`` and ``outward`` belong to the wheel that the helix angle is given for; ``apart`` is the direction in
    which the following wheel is pushed.
    """

    point: Array
    velocity: Array
    axis: Array
    outward: Array
    apart: Array


@dataclass(frozen=True)
class ToothForce:
    """The force on the following wheel for an effort lam of the gear: lam * push + |lam| * apart, at ``point``."""

    point: Array
    push: Array
    apart: Array

    def force(self, effort: Scalar, flank: Scalar | None = None) -> Array:
        """The force for an effort; ``flank`` is the sign of the whole effort where this is a share of it."""
        force: Array = effort * self.push + (absolute(effort) if flank is None else flank * effort) * self.apart
        return force


@dataclass(frozen=True)
class ToothMesh:
    """A mesh with known geometry.

    ``loaded`` are the joints whose reactions take the tooth force: both joints, and fixed joints between their
    carriers.  The sign is 1 where the following wheel is on the side of the joint's b, else -1.
    """

    constraint: str
    follower: MeshSide
    leader: MeshSide
    loaded: Mapping[str, float]
    pressure_angle: Value
    helix_angle: Value
    geometry: Callable[[FindPose, Resolve], MeshGeometry]

    def tooth_force(self, pose: FindPose, resolve: Resolve) -> ToothForce:
        """Point and directions of the force, in world axes."""
        at = self.geometry(pose, resolve)
        alpha, beta = resolve(self.pressure_angle), resolve(self.helix_angle)
        push = at.velocity / dot(at.velocity, at.velocity)
        tangent = cross(at.axis, at.outward)
        along = -1.0 * tan(beta) * dot(push, tangent)
        apart = tan(alpha) / cos(beta) * sqrt(dot(push, push))
        return ToothForce(at.point, push + along * at.axis, apart * at.apart)


# -- geometry --------------------------------------------------------------------------------------
def wheels_mesh(
    system: Any, follower: MeshSide, leader: MeshSide, ratio: Value, mesh_at: Value, pose: FindPose, resolve: Resolve
) -> MeshGeometry:
    """Two wheels on parallel axes: the pitch point divides their distance by the ratio.

    With i the ratio of the speeds about one direction, P - O_follower = (O_follower - O_leader) / (i - 1): between the
    axes for i < 0 (external), beyond them for i > 0 (internal).
    """
    (O_f, e), (O_l, e_l) = (side.axis(system, pose, resolve) for side in (follower, leader))
    i = resolve(ratio) * dot(e, e_l) * (follower.sense * leader.sense)
    across = O_f - O_l
    across = across - dot(across, e) * e
    distance = sqrt(dot(across, across))
    arm = across / (i - 1.0)
    point = O_f + arm + resolve(mesh_at) * e
    outward = across / distance * sign(i - 1.0)
    return MeshGeometry(point, follower.sense * cross(e, arm), e, outward, across / distance * (-1.0 * sign(i)))


def reversed_mesh(
    mesh: Callable[[FindPose, Resolve], MeshGeometry], system: Any, follower: MeshSide, pose: FindPose, resolve: Resolve
) -> MeshGeometry:
    """The same mesh of two wheels with the other wheel following."""
    at, (origin, e) = mesh(pose, resolve), follower.axis(system, pose, resolve)
    return replace(at, velocity=follower.sense * cross(e, at.point - origin), apart=-1.0 * at.apart)


def rack_mesh(
    system: Any, follower: MeshSide, leader: MeshSide, rack: str, radius: Value, mesh_at: Value,
    pose: FindPose, resolve: Resolve,
) -> MeshGeometry:  # fmt: skip
    """A pinion and a rack: the pitch point is beside the pinion's axis, where it moves along the rack."""
    slide, pinion = (follower, leader) if follower.joint == rack else (leader, follower)
    (_, along), (O, e) = (side.axis(system, pose, resolve) for side in (slide, pinion))
    r = resolve(radius) * (slide.sense * pinion.sense)
    beside = cross(along, e)
    outward = beside * sign(r)
    velocity = slide.sense * along if follower is slide else pinion.sense * cross(e, r * beside)
    away = outward if follower is slide else -1.0 * outward
    return MeshGeometry(O + r * beside + resolve(mesh_at) * e, velocity, e, outward, away)


# -- carriers --------------------------------------------------------------------------------------
def find_sides(system: Any, follower: str, leader: str) -> tuple[MeshSide, MeshSide, dict[str, float]] | None:
    """Both sides of a mesh, and the joints that its force loads; None without a common carrier, or with two."""
    joints = [system.joints[name] for name in (follower, leader)]
    matches = []
    for ways in ((True, True), (True, False), (False, True), (False, False)):
        one, two = (_side(joint, forward) for joint, forward in zip(joints, ways, strict=True))
        path = find_fixed_path(system, one.carrier.body, two.carrier.body)
        if path is not None:
            loaded = {one.joint: one.sense, **path, two.joint: -two.sense}
            matches.append((one, two, loaded))
    return matches[0] if len(matches) == 1 else None


def _side(joint: Joint, forward: bool) -> MeshSide:
    carrier, wheel = (joint.a, joint.b) if forward else (joint.b, joint.a)
    return MeshSide(joint.name, wheel.body, carrier.shifted(joint.at), forward)


def find_fixed_path(system: Any, start: str, end: str) -> dict[str, float] | None:
    """The fixed joints from one body to another, 1 for those whose b is nearer to the start; None without a path."""
    paths: dict[str, dict[str, float]] = {start: {}}
    bodies = [start]
    fixed = [joint for joint in system.joints.values() if isinstance(joint, Fixed)]
    for body in bodies:
        for joint in fixed:
            a, b = joint.a.body, joint.b.body
            for near, far, way in ((b, a, 1.0), (a, b, -1.0)):
                if near == body and far not in paths:
                    paths[far] = {**paths[body], joint.name: way}
                    bodies.append(far)
    return paths.get(end)


def carrier_pose(system: Any, start: str, path: Mapping[str, float], end: str) -> FindPose:
    """Nominal poses of frames on the bodies at both ends of a path of fixed joints, seen from the first."""
    X = Pose(np.eye(3), np.zeros(3))
    for name, way in path.items():
        joint = system.joints[name]
        F, M = (side.shifted(joint.at).pose(system.nominal) for side in (joint.a, joint.b))
        X = X @ (M @ F.inverse() if way > 0 else F @ M.inverse())
    poses = {end: X, start: Pose(np.eye(3), np.zeros(3))}
    return lambda frame: poses[frame.body] @ frame.pose(system.nominal)
