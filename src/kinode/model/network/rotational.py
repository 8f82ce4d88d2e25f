"""Parts on shafts: inertia, springs, losses, gears, sources; angles and moments along one axis.

A load takes the ``moment`` that acts on it at a; a source delivers it there, and takes it back at b.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from kinode.model.base.fields import NONZERO, POSITIVE, UNSIGNED, Value, law, number, record
from kinode.model.base.kinds import register
from kinode.model.joints.coulomb_friction import SLIP
from kinode.model.network.part import Formula, Part, Row, port
from kinode.model.network.two_port import Names, Rows, ShaftEnds, TwoShaft

ORDER = 140  # in lists of kinds


@register("shaft_inertia", symbol="shaft_inertia", shortcut=True)
class ShaftInertia(Part):
    """A wheel or rotor on a shaft."""

    shaft: str = port("rotational", "shaft, or joint that turns")
    inertia: Value = number("inertia", "moment for a unit of angular acceleration", range=POSITIVE)
    initial_angle: Value | None = number("angle", "angle of the shaft at the start", None, aside=True)
    initial_speed: Value | None = number("angular_velocity", "speed of the shaft at the start", None, aside=True)
    names: ClassVar[Names] = {"angle": "shaft.angle", "speed": "shaft.speed", "moment": "shaft.moment"}
    starts: ClassVar[Mapping[str, str]] = {"shaft.angle": "initial_angle", "shaft.speed": "initial_speed"}
    rows: ClassVar[Rows] = (Row("law of inertia", "shaft.moment = inertia*der(shaft.speed)", "shaft.moment"),)
    stored: ClassVar[str] = "inertia*speed^2/2"
    stores: ClassVar[str] = "kinetic"


@register("shaft_spring", symbol="spring", shortcut=True)
class ShaftSpring(TwoShaft):
    """A torsion spring, with damping beside it where it is given."""

    stiffness: Value = number("rotational_stiffness", "moment for a unit of angle", range=POSITIVE)
    damping: Value = number("rotational_damping", "moment for a unit of speed", 0.0, range=UNSIGNED)
    free_angle: Value = number("angle", "angle without load", 0.0)
    initial_angle: Value | None = number("angle", "angle at the start, of a over b", None, aside=True)
    starts: ClassVar[Mapping[str, str]] = {"angle": "initial_angle"}
    rows: ClassVar[Rows] = (Row("spring", "moment = stiffness*(angle - free_angle) + damping*speed", "a.moment"),)
    stored: ClassVar[str] = "stiffness*(angle - free_angle)^2/2"
    lost: ClassVar[str] = "damping*speed^2"


@register("shaft_damper", symbol="damper", shortcut=True)
class ShaftDamper(TwoShaft):
    """A moment in proportion to the speed."""

    damping: Value = number("rotational_damping", "moment for a unit of speed", range=UNSIGNED)
    rows: ClassVar[Rows] = (Row("damper", "moment = damping*speed", "a.moment"),)
    lost: ClassVar[str] = "damping*speed^2"


@register("shaft_loss", symbol="smooth_friction", shortcut=True)
class ShaftLoss(TwoShaft):
    """Losses of a bearing: a moment in proportion to the speed, and one against it, which fades below ``slip``."""

    viscous: Value = number("rotational_damping", "moment for a unit of speed", 0.0, range=UNSIGNED)
    coulomb: Value = number("moment", "moment at any speed", 0.0, range=UNSIGNED)
    slip: Value = number("angular_velocity", "speed below which the latter fades", SLIP["angle"], range=POSITIVE)
    rows: ClassVar[Rows] = (Row("losses", "moment = viscous*speed + coulomb*tanh(speed/slip)", "a.moment"),)
    lost: ClassVar[str] = "viscous*speed^2 + coulomb*speed*tanh(speed/slip)"


@record
class Wheels(Part):
    """Input and output turn in a housing, which takes the difference of their moments; drag acts at the input."""

    toothed: ClassVar[tuple[str, ...]] = ("input", "output")
    input: str = port("rotational", "shaft on the side of the motor")
    output: str = port("rotational", "shaft on the side of the load")
    housing: str = port("rotational", "what holds the gear", "world")
    ratio: Value = number(
        "dimensionless", "turns of the input for one of the output, seen from the housing", range=NONZERO
    )
    offset: Value = number("angle", "angle of the input where that of the output is 0", 0.0)
    viscous: Value = number("rotational_damping", "drag for a unit of input speed", 0.0, range=UNSIGNED)
    coulomb: Value = number("moment", "drag at any input speed", 0.0, range=UNSIGNED)
    names: ClassVar[Names] = {
        "input_angle": Formula("input.angle - housing.angle", "angle"),
        "output_angle": Formula("output.angle - housing.angle", "angle"),
        "input_speed": Formula("input.speed - housing.speed", "angular_velocity"),
        "output_speed": Formula("output.speed - housing.speed", "angular_velocity"),
    }
    common: ClassVar[Rows] = (
        Row("moments on the gear", "input.moment + output.moment + housing.moment = 0", "housing.moment"),
    )


@record
class Gear(Wheels):
    """A gear whose drag fades at low speed."""

    slip: Value = number("angular_velocity", "input speed below which coulomb fades", SLIP["angle"], range=POSITIVE)


@register("gearbox", symbol="gearbox", shortcut=True)
class Gearbox(Gear):
    """A rigid gear; with a housing that turns, a planetary one.  Its losses depend on speed alone."""

    names: ClassVar[Names] = {"drag": "viscous*input_speed + coulomb*tanh(input_speed/slip)"}
    rows: ClassVar[Rows] = (
        Row("ratio of the angles", "input_angle = ratio*output_angle + offset", "input.angle"),
        Row("ratio of the moments", "output.moment = ratio*(drag - input.moment)", "output.moment"),
    )
    lost: ClassVar[str] = "drag*input_speed"


@register("elastic_gearbox", symbol="elastic_gearbox", shortcut=True)
class ElasticGearbox(Gear):
    """A gear that gives by ``twist``, seen at its output, and rubs in proportion to what it transmits.

    Driven from the input it loses the share 1 - efficiency; the same friction acts when it is driven back, so that
    2 - 1/efficiency of the power arrives then, and none below an efficiency of 1/2: the gear locks.
    """

    stiffness: Value = number("rotational_stiffness", "moment at the output for a unit of twist", range=POSITIVE)
    damping: Value = number(
        "rotational_damping", "moment at the output for a unit of twist a second", 0.0, range=UNSIGNED
    )
    efficiency: Value = number("dimensionless", "share of the power that reaches the output", 1.0, range=POSITIVE)
    initial_twist: Value | None = number("angle", "twist at the start; none where nothing decides it", None, aside=True)
    starts: ClassVar[Mapping[str, str]] = {"twist": "initial_twist"}
    zero_by_default: ClassVar[tuple[str, ...]] = ("twist", "twist_speed")
    names: ClassVar[Names] = {
        "twist": Formula("(input_angle - offset)/ratio - output_angle", "angle"),
        "twist_speed": Formula("input_speed/ratio - output_speed", "angular_velocity"),
        "load": Formula("stiffness*twist + damping*twist_speed", "moment"),
        "rubbing": Formula("coulomb + (1/efficiency - 1)*abs(load/ratio)", "moment"),
        "drag": "viscous*input_speed + rubbing*tanh(input_speed/slip)",
    }
    rows: ClassVar[Rows] = (
        Row("moment at the output", "output.moment = -load", "output.moment"),
        Row("moment at the input", "input.moment = load/ratio + drag", "input.moment"),
    )
    stored: ClassVar[str] = "stiffness*twist^2/2"
    lost: ClassVar[str] = "damping*twist_speed^2 + drag*input_speed"

    def locks_itself(self, nominal: Callable[[Any], Any]) -> bool:
        """Whether friction takes all the power when it is driven from the output."""
        return bool(nominal(self.efficiency) <= 0.5)

    def find_wrong(self, field: str, value: float) -> str | None:
        return f"is above 0 and at most 1, not {value:g}" if field == "efficiency" and value > 1 else None


@register("speed_source", symbol="speed_source", shortcut=True)
class SpeedSource(ShaftEnds):
    """Holds a speed, whatever moment it takes; ``moment`` is what it delivers.  On a joint it is its ``speed=``."""

    is_source: ClassVar[bool] = True
    drives: ClassVar[tuple[str, str] | None] = ("speed", "speed")
    speed: Value = law("angular_velocity", "of a over b: a number or a law", ...)
    initial_angle: Value | None = number("angle", "angle at the start, of a over b", None, aside=True)
    names: ClassVar[Names] = {"angle": "a.angle - b.angle", "moment": "-a.moment"}
    starts: ClassVar[Mapping[str, str]] = {"angle": "initial_angle"}
    rows: ClassVar[Rows] = (Row("speed that it holds", "a.speed - b.speed = speed", "a.speed"),)


@register("angle_source", symbol="angle_source", shortcut=True)
class AngleSource(ShaftEnds):
    """Holds an angle, whatever moment it takes; ``moment`` is what it delivers.  On a joint it is its ``motion=``."""

    is_source: ClassVar[bool] = True
    drives: ClassVar[tuple[str, str] | None] = ("motion", "angle")
    angle: Value = law("angle", "of a over b: a number or a law", ...)
    names: ClassVar[Names] = {"speed": "a.speed - b.speed", "moment": "-a.moment"}
    rows: ClassVar[Rows] = (Row("angle that it holds", "a.angle - b.angle = angle", "a.angle"),)


@register("moment_source", symbol="moment_source", shortcut=True)
class MomentSource(ShaftEnds):
    """Delivers a moment at a, whatever speed it takes."""

    is_source: ClassVar[bool] = True
    moment: Value = law("moment", "on a, against b: a number or a law", ...)
    names: ClassVar[Names] = {"angle": "a.angle - b.angle", "speed": "a.speed - b.speed"}
    rows: ClassVar[Rows] = (Row("moment that it delivers", "a.moment = -moment", "a.moment"),)
