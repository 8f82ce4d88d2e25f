"""Motors: from voltages to the moment of a shaft, with their losses.

A motor delivers ``moment`` to its shaft: its ``electric_moment``, with inertia and drag of its own taken off.  Its drag
has a part in proportion to the speed (bearings, eddy currents: a moment b w loses b w^2) and one at any speed (brushes,
hysteresis), which fades below ``slip``.  The ``inertia`` of its rotor counts on the shaft; a rotor on a carrier that
turns itself is a body: ``system.drive`` makes one, and the motor's shaft is the joint ``<drive>.shaft``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from kinode.model.base.field_reader import Reader
from kinode.model.base.fields import POSITIVE, UNSIGNED, Alternative, Spec, Value, law, number, record
from kinode.model.base.kinds import register
from kinode.model.joints.coulomb_friction import SLIP
from kinode.model.network.part import Formula, Part, Row, Unknown, port
from kinode.model.network.two_port import Names, Rows, TwoPole

ORDER = 160  # in lists of kinds

CONSTANT_NAMES = {
    "torque_constant": Alternative(("constant",), Spec("number", "torque_constant", "the same as constant")),
    "back_emf_constant": Alternative(("constant",), Spec("number", "torque_constant", "the same as constant")),
    "speed_constant": Alternative(("constant",), Spec("number", "speed_constant", "the inverse of constant")),
}
SAME_CONSTANT = ("constant", *CONSTANT_NAMES)


@record
class Motor(Part):
    """A shaft with the rotor's inertia and drag."""

    shaft: str = port("rotational", "shaft, or joint that turns")
    inertia: Value = number("inertia", "of the rotor", 0.0, range=UNSIGNED)
    viscous: Value = number("rotational_damping", "drag for a unit of speed", 0.0, range=UNSIGNED)
    coulomb: Value = number("moment", "drag at any speed", 0.0, range=UNSIGNED)
    slip: Value = number("angular_velocity", "speed below which the latter fades", SLIP["angle"], range=POSITIVE)
    names: ClassVar[Names] = {
        "angle": Formula("shaft.angle", "angle"),
        "speed": Formula("shaft.speed", "angular_velocity"),
        "moment": Formula("-shaft.moment", "moment"),
        "drag": Formula("viscous*shaft.speed + coulomb*tanh(shaft.speed/slip)", "moment"),
    }


@register("dc_motor", symbol="dc_motor", shortcut=True)
class DcMotor(Motor, TwoPole):
    """A motor with brushes: resistance, inductance, and one constant for its moment and its back EMF.

    In SI units N*m/A and V*s/rad are the same number, else the motor would make or lose power by turning.  It may be
    given as ``torque_constant``, ``back_emf_constant``, or ``speed_constant``, which is its inverse: "120 rpm/V".
    """

    alternative_fields: ClassVar[Mapping[str, Alternative]] = CONSTANT_NAMES
    structural: ClassVar[tuple[str, ...]] = ("inductance", "inertia")
    resistance: Value = law("resistance", "of the winding: a number, or a law of its temperature", ..., range=UNSIGNED)
    constant: Value = number("torque_constant", "moment for a unit of current, and voltage for a unit of speed")
    inductance: Value = number("inductance", "of the winding; 0: the current follows at once", 0.0, range=UNSIGNED)
    initial_current: Value | None = number("current", "current at the start", None, aside=True)
    unknowns: ClassVar[Mapping[str, Unknown]] = {"current": Unknown("current", "initial_current")}
    names: ClassVar[Names] = {
        "back_emf": Formula("constant*shaft.speed", "voltage"),
        "electric_moment": Formula("constant*current", "moment"),
    }
    rows: ClassVar[Rows] = (
        Row("voltage of the winding", "voltage = resistance*current + inductance*der(current) + back_emf"),
        Row("moment of the rotor", "moment = electric_moment - drag - inertia*der(shaft.speed)", "shaft.moment"),
    )
    stores: ClassVar[Mapping[str, str]] = {"electric": "inductance*current^2/2", "kinetic": "inertia*speed^2/2"}
    stored: ClassVar[str] = " + ".join(stores.values())
    lost: ClassVar[str] = "resistance*current^2 + drag*speed"

    @classmethod
    def gather(cls, reader: Reader, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """The motor constant, given by any of its names."""
        names = [field for field in SAME_CONSTANT if given.get(field) is not None]
        if not names or names == ["constant"]:
            return given
        if len(names) > 1:
            message = f"is the same constant as {names[0]} in SI units: give one of them"
            raise reader.fail(names[1], message)
        inverse = names == ["speed_constant"]
        value = reader.number(given[names[0]], "speed_constant" if inverse else "torque_constant", names[0])
        if value == 0.0:
            raise reader.fail(names[0], "must not be zero")
        return {
            **{k: v for k, v in given.items() if k not in SAME_CONSTANT},
            "constant": 1.0 / value if inverse else value,
        }


@record
class Synchronous(Motor):
    """The two axes of a synchronous machine with permanent magnets, in the frame of its rotor.

    u_d = R i_d + L_d i_d' - p w L_q i_q,  u_q = R i_q + L_q i_q' + p w (L_d i_d + flux),
    moment = scaling p (flux + (L_d - L_q) i_d) i_q,  power = scaling (u_d i_d + u_q i_q),
    with p pole pairs (Krause, Wasynczuk, Sudhoff: Analysis of Electric Machinery, chapter 4).  ``scaling`` is 3/2 where
    d and q are as long as the phases' amplitudes, 1 where the transform keeps power.  Phase a has its magnet's axis at
    angle 0; ``inductance`` gives both axes.
    """

    alternative_fields: ClassVar[Mapping[str, Alternative]] = {
        "inductance": Alternative(("inductance_d", "inductance_q"), Spec("number", "inductance", "of both axes"))
    }
    structural: ClassVar[tuple[str, ...]] = ("inductance_d", "inductance_q", "inertia")
    resistance: Value = law("resistance", "of a phase: a number, or a law of its temperature", ..., range=UNSIGNED)
    inductance_d: Value = number("inductance", "along the magnets", range=UNSIGNED)
    inductance_q: Value = number("inductance", "across the magnets", range=UNSIGNED)
    flux: Value = number("flux", "of the magnets through the winding")
    pole_pairs: Value = number("dimensionless", "electrical turns for one of the rotor", range=POSITIVE)
    scaling: Value = number("dimensionless", "1.5 for amplitudes, 1 for equal power", 1.5)
    initial_current_d: Value | None = number("current", "along the magnets at the start", None, aside=True)
    initial_current_q: Value | None = number("current", "across them at the start", None, aside=True)
    unknowns: ClassVar[Mapping[str, Unknown]] = {
        "current_d": Unknown("current", "initial_current_d"),
        "current_q": Unknown("current", "initial_current_q"),
    }
    stores: ClassVar[Mapping[str, str]] = {
        "electric": "scaling*(inductance_d*current_d^2 + inductance_q*current_q^2)/2",
        "kinetic": "inertia*speed^2/2",
    }
    stored: ClassVar[str] = " + ".join(stores.values())
    lost: ClassVar[str] = "scaling*resistance*(current_d^2 + current_q^2) + drag*speed"
    names: ClassVar[Names] = {
        f"current_{phase}": Formula(
            f"sqrt(2*scaling/3)*(current_d*cos(pole_pairs*angle - {k}*2*pi/3)"
            f" - current_q*sin(pole_pairs*angle - {k}*2*pi/3))",
            "current",
        )
        for k, phase in enumerate("abc")
    } | {
        "electric_moment": Formula(
            "scaling*pole_pairs*(flux + (inductance_d - inductance_q)*current_d)*current_q", "moment"
        )
    }
    common: ClassVar[Rows] = (
        Row(
            "voltage along the magnets",
            "voltage_d = resistance*current_d + inductance_d*der(current_d) - pole_pairs*speed*inductance_q*current_q",
        ),
        Row(
            "voltage across the magnets",
            "voltage_q = resistance*current_q + inductance_q*der(current_q)"
            " + pole_pairs*speed*(inductance_d*current_d + flux)",
        ),
        Row(
            "moment of the rotor",
            "moment = electric_moment - drag - inertia*der(shaft.speed)",
            "shaft.moment",
        ),
    )

    @classmethod
    def gather(cls, reader: Reader, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """``inductance`` for both axes."""
        if given.get("inductance") is None:
            return given
        for axis in ("inductance_d", "inductance_q"):
            if given.get(axis) is not None:
                raise reader.fail(axis, "inductance gives both axes already")
        rest = {key: value for key, value in given.items() if key != "inductance"}
        return {**rest, "inductance_d": given["inductance"], "inductance_q": given["inductance"]}

    def find_wrong(self, field: str, value: float) -> str | None:
        wrong = field == "scaling" and value not in (1.0, 1.5)
        return f"is 1.5 for amplitudes or 1 for equal power, not {value:g}" if wrong else None


@register("brushless_motor", symbol="brushless_motor", shortcut=True)
class BrushlessMotor(Synchronous):
    """A brushless motor whose voltages along and across its magnets are given, as by an ideal amplifier."""

    voltage_d: Value = law("voltage", "along the magnets: a number or a law", 0.0)
    voltage_q: Value = law("voltage", "across the magnets: a number or a law", ...)
    supplied: ClassVar[str] = "scaling*(voltage_d*current_d + voltage_q*current_q)"


@register("inverter_motor", symbol="inverter_motor", shortcut=True)
class InverterMotor(Synchronous, TwoPole):
    """A brushless motor with an ideal inverter, which makes its voltages out of a bus and takes the power from there.

    ``modulation`` is what share of the bus voltage the axes get; an inverter with space vectors reaches 1/sqrt(3) in
    amplitudes, and 1/sqrt(2) with a scaling of 1.
    """

    modulation_d: Value = law("dimensionless", "share of the bus along the magnets: a number or a law", 0.0)
    modulation_q: Value = law("dimensionless", "share of the bus across the magnets: a number or a law", ...)
    names: ClassVar[Names] = {
        f"voltage_{axis}": Formula(f"modulation_{axis}*(plus.voltage - minus.voltage)", "voltage") for axis in "dq"
    }
    rows: ClassVar[Rows] = (
        Row("power of the inverter", "current = scaling*(modulation_d*current_d + modulation_q*current_q)", "current"),
    )
