"""Parts along a line: mass, springs, losses, levers, racks, sources; positions and forces, no angles and moments.

What has a twin on shafts takes its equations from there, in other words (``along``).  A load takes the ``force`` that
acts on it at a; a source delivers it there, and takes it back at b.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from kinode.model.base.fields import NONZERO, POSITIVE, UNSIGNED, Value, law, number
from kinode.model.base.kinds import register
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

ORDER = 210  # in lists of kinds


@register("slide_mass", symbol="slide_mass", shortcut=True)
class SlideMass(Part):
    """A mass that moves along a line."""

    slide: str = port("translational", "node, or joint that slides")
    mass: Value = number("mass", "force for a unit of acceleration", range=POSITIVE)
    initial_position: Value | None = number("length", "position at the start", None, aside=True)
    initial_speed: Value | None = number("velocity", "speed at the start", None, aside=True)
    names: ClassVar[Names] = names_along(ShaftInertia.names)
    starts: ClassVar[Mapping[str, str]] = names_along(ShaftInertia.starts)
    rows: ClassVar[Rows] = rows_along(ShaftInertia.rows)
    stored: ClassVar[str] = along(ShaftInertia.stored)
    stores: ClassVar[str] = "kinetic"


@register("slide_spring", symbol="spring", shortcut=True)
class SlideSpring(TwoSlide):
    """A spring along a line, with damping beside it where it is given; the force on it at a grows with a - b."""

    stiffness: Value = number("stiffness", "force for a unit of position", range=POSITIVE)
    damping: Value = number("damping", "force for a unit of speed", 0.0, range=UNSIGNED)
    free_length: Value = number("length", "position of a over b without load", 0.0)
    initial_position: Value | None = number("length", "position at the start, of a over b", None, aside=True)
    starts: ClassVar[Mapping[str, str]] = names_along(ShaftSpring.starts)
    rows: ClassVar[Rows] = rows_along(ShaftSpring.rows)
    stored: ClassVar[str] = along(ShaftSpring.stored)
    lost: ClassVar[str] = along(ShaftSpring.lost)


@register("slide_damper", symbol="damper", shortcut=True)
class SlideDamper(TwoSlide):
    """A force in proportion to the speed."""

    damping: Value = number("damping", "force for a unit of speed", range=UNSIGNED)
    rows: ClassVar[Rows] = rows_along(ShaftDamper.rows)
    lost: ClassVar[str] = along(ShaftDamper.lost)


@register("slide_loss", symbol="smooth_friction", shortcut=True)
class SlideLoss(TwoSlide):
    """Losses of a guide: a force in proportion to the speed, and one against it, which fades below ``slip``."""

    viscous: Value = number("damping", "force for a unit of speed", 0.0, range=UNSIGNED)
    coulomb: Value = number("force", "force at any speed", 0.0, range=UNSIGNED)
    slip: Value = number("velocity", "speed below which the latter fades", SLIP["length"], range=POSITIVE)
    rows: ClassVar[Rows] = rows_along(ShaftLoss.rows)
    lost: ClassVar[str] = along(ShaftLoss.lost)


@register("lever", symbol="lever", shortcut=True)
class Lever(Part):
    """Two points of a lever on a fixed pivot; arms on both sides of it have different signs.  For small angles."""

    a: str = port("translational", "node, or joint that slides, at one arm")
    b: str = port("translational", "node, or joint that slides, at the other")
    arm_a: Value = number("length", "from the pivot to a", range=NONZERO)
    arm_b: Value = number("length", "from the pivot to b", range=NONZERO)
    rows: ClassVar[Rows] = (
        Row("one angle for both arms", "arm_b*a.position = arm_a*b.position", "a.position"),
        Row("moments about the pivot", "arm_a*a.force + arm_b*b.force = 0", "b.force"),
    )


@register("pinion", symbol="pinion", shortcut=True)
class Pinion(Part):
    """A pinion that moves a rack by ``radius`` for a radian; a screw likewise, with lead/(2*pi)."""

    toothed: ClassVar[tuple[str, ...]] = ("shaft", "rack")
    shaft: str = port("rotational", "shaft of the pinion, or joint that turns")
    rack: str = port("translational", "the rack: a node, or joint that slides")
    radius: Value = number("length", "travel of the rack for a radian; negative the other way", range=NONZERO)
    offset: Value = number("length", "travel where the pinion's angle is 0", 0.0)
    rows: ClassVar[Rows] = (
        Row("travel of the rack", "rack.position = radius*shaft.angle + offset", "shaft.angle"),
        Row("moment of the force on the rack", "shaft.moment + radius*rack.force = 0", "rack.force"),
    )


@register("velocity_source", symbol="velocity_source", shortcut=True)
class VelocitySource(SlideEnds):
    """Holds a velocity, whatever force it takes; ``force`` is what it delivers.  On a joint it is its ``speed=``."""

    is_source: ClassVar[bool] = True
    drives: ClassVar[tuple[str, str] | None] = ("speed", "velocity")
    velocity: Value = law("velocity", "of a over b: a number or a law", ...)
    initial_position: Value | None = number("length", "position at the start, of a over b", None, aside=True)
    names: ClassVar[Names] = {**names_along(SpeedSource.names), "speed": "a.speed - b.speed"}
    starts: ClassVar[Mapping[str, str]] = names_along(SpeedSource.starts)
    rows: ClassVar[Rows] = (Row("velocity that it holds", "a.speed - b.speed = velocity", "a.speed"),)


@register("position_source", symbol="position_source", shortcut=True)
class PositionSource(SlideEnds):
    """Holds a position, whatever force it takes; ``force`` is what it delivers.  On a joint it is its ``motion=``."""

    is_source: ClassVar[bool] = True
    drives: ClassVar[tuple[str, str] | None] = ("motion", "position")
    position: Value = law("length", "of a over b: a number or a law", ...)
    names: ClassVar[Names] = names_along(AngleSource.names)
    rows: ClassVar[Rows] = rows_along(AngleSource.rows)


@register("force_source", symbol="force_source", shortcut=True)
class ForceSource(SlideEnds):
    """Delivers a force at a, whatever speed it takes."""

    is_source: ClassVar[bool] = True
    force: Value = law("force", "on a, against b: a number or a law", ...)
    names: ClassVar[Names] = names_along(MomentSource.names)
    rows: ClassVar[Rows] = rows_along(MomentSource.rows)
