"""Parts along a line: mass, springs, losses, levers, racks, sources; positions and forces, no angles and moments.

What has a twin on shafts takes its equations from there, in other words (``along``).  A load takes the ``force`` that
acts on it at a; a source delivers it there, and takes it back at b.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from kinode.model.base.element import register_element
from kinode.model.base.fields import Value, law, number, record
from kinode.model.joints.coulomb_friction import SLIP
from kinode.model.network.part import Part, Row, port
from kinode.model.network.rotational import (
    AngleSource,
    MomentSource,
    ShaftDamper,
    ShaftInertia,
    ShaftLoss,
    ShaftSpring,
    SpeedSource,
)
from kinode.model.network.two_port import Names, Rows, SlideEnds, TwoSlide, along, names_along, rows_along


@register_element
@record
class SlideMass(Part):
    """A mass that moves along a line."""

    kind: ClassVar[str] = "slide_mass"
    positive: ClassVar[tuple[str, ...]] = ("mass",)
    symbol: ClassVar[str] = "slide_mass"
    slide: str = port("translational", "node, or joint that slides")
    mass: Value = number("mass", "force for a unit of acceleration")
    initial_position: Value | None = number("length", "position at the start", None, aside=True)
    initial_speed: Value | None = number("velocity", "speed at the start", None, aside=True)
    names: ClassVar[Names] = names_along(ShaftInertia.names)
    starts: ClassVar[Mapping[str, str]] = names_along(ShaftInertia.starts)
    rows: ClassVar[Rows] = rows_along(ShaftInertia.rows)
    stored: ClassVar[str] = along(ShaftInertia.stored)
    stores: ClassVar[str] = "kinetic"


@register_element
@record
class SlideSpring(TwoSlide):
    """A spring along a line, with damping beside it where it is given; the force on it at a grows with a - b."""

    kind: ClassVar[str] = "slide_spring"
    positive: ClassVar[tuple[str, ...]] = ShaftSpring.positive
    symbol: ClassVar[str] = "spring"
    unsigned: ClassVar[tuple[str, ...]] = ShaftSpring.unsigned
    stiffness: Value = number("stiffness", "force for a unit of position")
    damping: Value = number("damping", "force for a unit of speed", 0.0)
    free_length: Value = number("length", "position of a over b without load", 0.0)
    initial_position: Value | None = number("length", "position at the start, of a over b", None, aside=True)
    starts: ClassVar[Mapping[str, str]] = names_along(ShaftSpring.starts)
    rows: ClassVar[Rows] = rows_along(ShaftSpring.rows)
    stored: ClassVar[str] = along(ShaftSpring.stored)
    lost: ClassVar[str] = along(ShaftSpring.lost)


@register_element
@record
class SlideDamper(TwoSlide):
    """A force in proportion to the speed."""

    kind: ClassVar[str] = "slide_damper"
    unsigned: ClassVar[tuple[str, ...]] = ShaftDamper.unsigned
    symbol: ClassVar[str] = "damper"
    damping: Value = number("damping", "force for a unit of speed")
    rows: ClassVar[Rows] = rows_along(ShaftDamper.rows)
    lost: ClassVar[str] = along(ShaftDamper.lost)


@register_element
@record
class SlideLoss(TwoSlide):
    """Losses of a guide: a force in proportion to the speed, and one against it, which fades below ``slip``."""

    kind: ClassVar[str] = "slide_loss"
    positive: ClassVar[tuple[str, ...]] = ShaftLoss.positive
    symbol: ClassVar[str] = "smooth_friction"
    unsigned: ClassVar[tuple[str, ...]] = ShaftLoss.unsigned
    viscous: Value = number("damping", "force for a unit of speed", 0.0)
    coulomb: Value = number("force", "force at any speed", 0.0)
    slip: Value = number("velocity", "speed below which the latter fades", SLIP["length"])
    rows: ClassVar[Rows] = rows_along(ShaftLoss.rows)
    lost: ClassVar[str] = along(ShaftLoss.lost)


@register_element
@record
class Lever(Part):
    """Two points of a lever on a fixed pivot; arms on both sides of it have different signs.  For small angles."""

    kind: ClassVar[str] = "lever"
    nonzero: ClassVar[tuple[str, ...]] = ("arm_a", "arm_b")
    symbol: ClassVar[str] = "lever"
    a: str = port("translational", "node, or joint that slides, at one arm")
    b: str = port("translational", "node, or joint that slides, at the other")
    arm_a: Value = number("length", "from the pivot to a")
    arm_b: Value = number("length", "from the pivot to b")
    rows: ClassVar[Rows] = (
        Row("one angle for both arms", "arm_b*a.position = arm_a*b.position", "a.position"),
        Row("moments about the pivot", "arm_a*a.force + arm_b*b.force = 0", "b.force"),
    )


@register_element
@record
class Pinion(Part):
    """A pinion that moves a rack by ``radius`` for a radian; a screw likewise, with lead/(2*pi)."""

    kind: ClassVar[str] = "pinion"
    nonzero: ClassVar[tuple[str, ...]] = ("radius",)
    symbol: ClassVar[str] = "pinion"
    shaft: str = port("rotational", "shaft of the pinion, or joint that turns")
    rack: str = port("translational", "the rack: a node, or joint that slides")
    radius: Value = number("length", "travel of the rack for a radian; negative the other way")
    offset: Value = number("length", "travel where the pinion's angle is 0", 0.0)
    rows: ClassVar[Rows] = (
        Row("travel of the rack", "rack.position = radius*shaft.angle + offset", "shaft.angle"),
        Row("moment of the force on the rack", "shaft.moment + radius*rack.force = 0", "rack.force"),
    )


@register_element
@record
class VelocitySource(SlideEnds):
    """Holds a velocity, whatever force it takes; ``force`` is what it delivers."""

    kind: ClassVar[str] = "velocity_source"
    velocity: Value = law("velocity", "of a over b: a number or a law", ...)
    symbol: ClassVar[str] = "velocity_source"
    initial_position: Value | None = number("length", "position at the start, of a over b", None, aside=True)
    names: ClassVar[Names] = {**names_along(SpeedSource.names), "speed": "a.speed - b.speed"}
    starts: ClassVar[Mapping[str, str]] = names_along(SpeedSource.starts)
    rows: ClassVar[Rows] = (Row("velocity that it holds", "a.speed - b.speed = velocity", "a.speed"),)


@register_element
@record
class PositionSource(SlideEnds):
    """Holds a position, whatever force it takes; ``force`` is what it delivers."""

    kind: ClassVar[str] = "position_source"
    position: Value = law("length", "of a over b: a number or a law", ...)
    symbol: ClassVar[str] = "position_source"
    names: ClassVar[Names] = names_along(AngleSource.names)
    rows: ClassVar[Rows] = rows_along(AngleSource.rows)


@register_element
@record
class ForceSource(SlideEnds):
    """Delivers a force at a, whatever speed it takes."""

    kind: ClassVar[str] = "force_source"
    force: Value = law("force", "on a, against b: a number or a law", ...)
    symbol: ClassVar[str] = "force_source"
    names: ClassVar[Names] = names_along(MomentSource.names)
    rows: ClassVar[Rows] = rows_along(MomentSource.rows)
