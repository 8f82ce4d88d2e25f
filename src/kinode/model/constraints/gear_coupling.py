"""Gears and racks: coordinates of joints in a fixed ratio."""

from __future__ import annotations

from typing import Any

from kinode.algebra.scalars import Array, Scalar, atan2, cos, sin
from kinode.errors import ModelError
from kinode.model.base.fields import Value, number, record, special, unknown
from kinode.model.base.frames import Frame
from kinode.model.base.registration import register
from kinode.model.base.scene import ConstraintScene
from kinode.model.constraints.constraint import Constraint, Relation, scalar_row

ORDER = 70  # in lists of kinds


# -- between joints --------------------------------------------------------------------------------
@record
class CoordinateCoupling(Constraint):
    """Two joints of one freedom, of which one follows the other."""

    def joints(self) -> dict[str, str]:
        """Fields that name joints, and the joints."""
        return {
            name: getattr(self, field.name) for name, (field, spec) in self.specs().items() if spec.shape == "joint"
        }

    def relation(self, system: Any) -> Relation:
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
                message = unknown("no joint is called", name, system.joints)
                raise ModelError(message, component=self.name, field=field)
            if joint.n_u != 1:
                message = f"{joint.name} has {joint.n_u} freedoms; a {self.kind} couples joints with one"
                raise ModelError(message, component=self.name, field=field)
        one, two = self.joints().values()
        if one == two:
            raise ModelError("couples a joint to itself", component=self.name)


def _within_a_turn(angle: Scalar) -> Scalar:
    return atan2(sin(angle), cos(angle))


@register("gear", symbol="gear")
class GearConstraint(CoordinateCoupling):
    """input.q = ratio * output.q + offset, for two joints of one freedom; the input follows, unless it is driven."""

    input: str = special("joint", "the joint that follows", ...)
    output: str = special("joint", "the joint that leads", ...)
    ratio: Value = number(None, "input.q for a unit of output.q")
    offset: Value = number(None, "input.q where output.q is 0", 0.0)

    def relation(self, system: Any) -> Relation:
        return Relation(self.input, self.output, self.ratio, self.offset)

    def check(self, system: Any) -> None:
        super().check(system)
        if system.joints[self.input].driven and system.joints[self.output].driven:
            raise ModelError("both joints have a prescribed motion already", component=self.name)
        if self.ratio == 0.0:
            raise ModelError("must not be zero", component=self.name, field="ratio")


@register("rack", symbol="rack")
class RackConstraint(CoordinateCoupling):
    """rack.q = radius * pinion.q + offset, for a slide and a hinge; a negative radius turns the other way."""

    rack: str = special("joint", "the joint that travels", ...)
    pinion: str = special("joint", "the joint that turns", ...)
    radius: Value = number("length", "travel for a radian of the pinion: its pitch radius")
    offset: Value = number("length", "travel where the pinion's angle is 0", 0.0)

    def relation(self, system: Any) -> Relation:
        """The rack follows, unless its travel is prescribed."""
        relation = Relation(self.rack, self.pinion, self.radius, self.offset)
        return relation.reversed() if system.joints[self.rack].driven else relation

    def check(self, system: Any) -> None:
        super().check(system)
        for field, unit in (("rack", "length"), ("pinion", "angle")):
            joint = system.joints[getattr(self, field)]
            if joint.coordinates[0][1] != unit:
                verb = {"length": "travel", "angle": "turn"}[unit]
                raise ModelError(f"{joint.name} does not {verb}", component=self.name, field=field)
        if system.joints[self.rack].driven and system.joints[self.pinion].driven:
            raise ModelError("both joints have a prescribed motion already", component=self.name)
        if self.radius == 0.0:
            raise ModelError("must not be zero", component=self.name, field="radius")
