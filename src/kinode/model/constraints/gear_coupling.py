"""Gears and racks: coordinates of joints in a fixed ratio.

With a pressure angle the teeth are known (``tooth_mesh``), and their force loads the bearings.  Without one the gear
may be a belt, a bevel or a worm gear: its torques are right, and the forces that it puts into bearings are left out.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinode.algebra.scalars import Array, Scalar, atan2, cos, sin
from kinode.model.base.field_reader import JOINT
from kinode.model.base.fields import Value, number, record, special, unknown
from kinode.model.base.frames import Frame
from kinode.model.base.kinds import register
from kinode.model.constraints.constraint import PARALLEL_ANGLE, Constraint, Relation, law_at_start, scalar_row
from kinode.model.constraints.tooth_mesh import (
    MeshSide,
    ToothMesh,
    carrier_pose,
    find_sides,
    rack_mesh,
    reversed_mesh,
    wheels_mesh,
)
from kinode.model.joints.joint import Joint
from kinode.model.joints.prismatic import Prismatic
from kinode.model.joints.revolute import Revolute

if TYPE_CHECKING:
    from kinode.model.base.scene import ConstraintScene

ORDER = 70  # in lists of kinds
LEAST_DISTANCE = 1e-9  # m: axes that are nearer count as one
PRESSURE_ANGLE = "of the teeth, in their normal section; without it tooth forces are left out of reactions"
HELIX_ANGLE = "of the teeth of the {}, positive for a right-hand helix"
MESH_AT = "middle of the teeth along the axis of the {}, from its joint point on the carrier"
BEVEL = "forces of bevel and worm gears are not known; leave pressure_angle out"


class Transmission(NamedTuple):
    """A gear as a drive sees it: the shaft on the motor's side turns ``ratio`` times as fast as the load moves."""

    constraint: str
    motor: str
    load: str
    ratio: Value


# -- between joints --------------------------------------------------------------------------------
@record
class CoordinateCoupling(Constraint):
    """Two joints of one freedom, of which one follows the other."""

    if TYPE_CHECKING:  # fields of both kinds, which declare them after their own
        pressure_angle: Value | None
        helix_angle: Value
        mesh_at: Value

    def joints(self) -> dict[str, str]:
        """Fields that name joints, and the joints."""
        return self.values_of(JOINT)

    def relation(self, system: Any) -> Relation:
        raise NotImplementedError

    def mesh(self, system: Any, follower: str | None = None) -> ToothMesh | None:
        """The mesh of the teeth, with the joint that follows the other; None if their geometry is not given."""
        if self.pressure_angle is None:
            return None
        relation = self.relation(system)
        relation = relation.reversed() if follower == relation.leader else relation
        sides = find_sides(system, relation.follower, relation.leader)
        if sides is None:
            message = (
                f"{relation.follower} and {relation.leader} do not turn on one body, or on bodies fixed to each other: "
                "where their teeth meet is not known; leave pressure_angle out"
            )
            raise self.error_at("pressure_angle", message)
        one, two, loaded = sides
        geometry = self.mesh_geometry(system, one, two)
        return ToothMesh(self.name, one, two, loaded, self.pressure_angle, self.helix_angle, geometry)

    def mesh_geometry(self, system: Any, follower: MeshSide, leader: MeshSide) -> Any:
        """A function of poses and parameters that gives the pitch point and the directions of the mesh."""
        raise NotImplementedError

    def check_teeth(self, system: Any) -> None:
        """Refuse a mesh that is not possible."""
        if self.pressure_angle is None:
            for field in ("helix_angle", "mesh_at"):
                if getattr(self, field) != 0.0:
                    raise self.error_at(field, "describes teeth: they need a pressure_angle too")
            return
        for field, least in (("pressure_angle", 0.0), ("helix_angle", -math.pi / 2)):
            angle = law_at_start(system, getattr(self, field))
            if not least <= angle < math.pi / 2 or angle == -math.pi / 2:
                span = "from 0 to" if least == 0.0 else "within"
                message = f"must be {span} 90 degrees, not {math.degrees(angle):.4g}; '20 deg' is a text with its unit"
                raise self.error_at(field, message)
        mesh = self.mesh(system)
        assert mesh is not None
        one, two = mesh.follower, mesh.leader
        path = {name: way for name, way in mesh.loaded.items() if name not in (one.joint, two.joint)}
        pose = carrier_pose(system, one.carrier.body, path, two.carrier.body)
        (p, e), (p_two, e_two) = (side.axis(system, pose, system.nominal) for side in (one, two))
        self.check_axes(system, mesh, float(e @ e_two), np.asarray(p - p_two, dtype=float), e)

    def check_axes(self, system: Any, mesh: ToothMesh, cosine: float, between: Array, axis: Array) -> None:
        """Refuse axes on which teeth cannot meet."""
        raise NotImplementedError

    @property
    def transmission(self) -> Transmission:
        """Which joint is on the motor's side and which on the load's, as declared."""
        raise NotImplementedError

    def places(self, system: Any) -> dict[str, Frame]:
        joints = [system.joints[name] for name in self.joints().values()]
        return {side.body: Frame(side.body) for joint in joints for side in (joint.a, joint.b)}

    def rows(self, system: Any) -> tuple[str, ...]:
        return (system.joints[self.relation(system).follower].coordinates[0][1],)

    def residual(self, scene: ConstraintScene) -> Array:
        relation = self.relation(scene.system)
        ratio = scene.resolve(relation.ratio)
        follower, leader = scene.joint_q(relation.follower)[0], scene.joint_q(relation.leader)[0]
        off = follower - ratio * leader - scene.resolve(relation.offset)
        if scene.wraps(relation.follower):
            off = _within_a_turn(off)
        elif scene.wraps(relation.leader):
            off = ratio * _within_a_turn(off / ratio)
        return scalar_row(off)

    def check(self, system: Any) -> None:
        for field, name in self.joints().items():
            joint = system.joints.get(name)
            if joint is None:
                raise self.error_at(field, unknown("no joint is called", name, system.joints))
            if joint.n_u != 1:
                message = f"{joint.name} has {joint.n_u} freedoms; a {self.kind} couples joints with one"
                raise self.error_at(field, message)
        one, two = self.joints().values()
        if one == two:
            raise self.error_at(None, "couples a joint to itself")

    def _check_kinds(self, system: Any, kinds: dict[str, type[Joint]]) -> None:
        """Refuse teeth on joints that are neither hinges nor slides."""
        for field, kind in kinds.items():
            joint = system.joints[getattr(self, field)]
            if not isinstance(joint, kind):
                message = (
                    f"{joint.name} is a {joint.kind} joint, the teeth of a {self.kind} need a {kind.kind} one there"
                )
                raise self.error_at("pressure_angle", f"{message}; leave pressure_angle out")


def _within_a_turn(angle: Scalar) -> Scalar:
    return atan2(sin(angle), cos(angle))


@register("gear", symbol="gear", shortcut=True)
class GearConstraint(CoordinateCoupling):
    """input.q = ratio * output.q + offset, for two joints of one freedom; the input follows, unless it is driven."""

    input: str = special("joint", "the joint that follows", ...)
    output: str = special("joint", "the joint that leads", ...)
    ratio: Value = number(None, "input.q for a unit of output.q")
    offset: Value = number(None, "input.q where output.q is 0", 0.0)
    pressure_angle: Value | None = number("angle", PRESSURE_ANGLE, None)
    helix_angle: Value = number("angle", HELIX_ANGLE.format("input"), 0.0)
    mesh_at: Value = number("length", MESH_AT.format("input"), 0.0)

    def relation(self, system: Any) -> Relation:
        return Relation(self.input, self.output, self.ratio, self.offset)

    @property
    def transmission(self) -> Transmission:
        return Transmission(self.name, self.input, self.output, self.ratio)

    def check(self, system: Any) -> None:
        super().check(system)
        if system.joints[self.input].driven and system.joints[self.output].driven:
            raise self.error_at(None, "both joints have a prescribed motion already")
        if self.ratio == 0.0:
            raise self.error_at("ratio", "must not be zero")
        if self.pressure_angle is not None:
            self._check_kinds(system, {"input": Revolute, "output": Revolute})
        self.check_teeth(system)

    def mesh_geometry(self, system: Any, follower: MeshSide, leader: MeshSide) -> Any:
        if follower.joint == self.input:
            return partial(wheels_mesh, system, follower, leader, self.ratio, self.mesh_at)
        return partial(
            reversed_mesh, partial(wheels_mesh, system, leader, follower, self.ratio, self.mesh_at), system, follower
        )

    def check_axes(self, system: Any, mesh: ToothMesh, cosine: float, between: Array, axis: Array) -> None:
        """Wheels mesh on parallel axes at a distance, inside each other only if one is larger."""
        if abs(cosine) < math.cos(PARALLEL_ANGLE):
            raise self.error_at("pressure_angle", f"{self.input} and {self.output} are not parallel: {BEVEL}")
        distance = float(np.linalg.norm(between - (between @ axis) * axis))
        if distance <= LEAST_DISTANCE:
            message = f"{self.input} and {self.output} have one axis: teeth need a distance between the axes"
            raise self.error_at("pressure_angle", message)
        if law_at_start(system, self.ratio) * cosine * mesh.follower.sense * mesh.leader.sense == 1.0:
            message = (
                "both turn alike: of two wheels that mesh on one side, one is larger (a belt has no teeth to give)"
            )
            raise self.error_at("ratio", message)


@register("rack", symbol="rack", shortcut=True)
class RackConstraint(CoordinateCoupling):
    """rack.q = radius * pinion.q + offset, for a slide and a hinge; a negative radius turns the other way."""

    rack: str = special("joint", "the joint that travels", ...)
    pinion: str = special("joint", "the joint that turns", ...)
    radius: Value = number("length", "travel for a radian of the pinion: its pitch radius")
    offset: Value = number("length", "travel where the pinion's angle is 0", 0.0)
    pressure_angle: Value | None = number("angle", PRESSURE_ANGLE, None)
    helix_angle: Value = number("angle", HELIX_ANGLE.format("pinion"), 0.0)
    mesh_at: Value = number("length", MESH_AT.format("pinion"), 0.0)

    def relation(self, system: Any) -> Relation:
        """The rack follows, unless its travel is prescribed."""
        relation = Relation(self.rack, self.pinion, self.radius, self.offset)
        return relation.reversed() if system.joints[self.rack].driven else relation

    @property
    def transmission(self) -> Transmission:
        return Transmission(self.name, self.pinion, self.rack, 1.0 / self.radius)

    def check(self, system: Any) -> None:
        super().check(system)
        for field, unit in (("rack", "length"), ("pinion", "angle")):
            joint = system.joints[getattr(self, field)]
            if joint.coordinates[0][1] != unit:
                verb = {"length": "travel", "angle": "turn"}[unit]
                raise self.error_at(field, f"{joint.name} does not {verb}")
        if system.joints[self.rack].driven and system.joints[self.pinion].driven:
            raise self.error_at(None, "both joints have a prescribed motion already")
        if self.radius == 0.0:
            raise self.error_at("radius", "must not be zero")
        if self.pressure_angle is not None:
            self._check_kinds(system, {"rack": Prismatic, "pinion": Revolute})
        self.check_teeth(system)

    def mesh_geometry(self, system: Any, follower: MeshSide, leader: MeshSide) -> Any:
        return partial(rack_mesh, system, follower, leader, self.rack, self.radius, self.mesh_at)

    def check_axes(self, system: Any, mesh: ToothMesh, cosine: float, between: Array, axis: Array) -> None:
        """A rack travels across the pinion's axis."""
        if abs(cosine) > math.sin(PARALLEL_ANGLE):
            message = f"{self.rack} does not travel across the axis of {self.pinion}; leave pressure_angle out"
            raise self.error_at("pressure_angle", message)
