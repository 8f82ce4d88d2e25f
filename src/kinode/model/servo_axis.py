"""Ready axes: motor, amplifier, gear and controller as one subsystem, to be connected to a joint and to a supply.

    robot.add("elbow_axis", kn.axis("medium", load="2 kg*m^2"), connect={"supply": "bus", "output": "elbow"},
              bind={"target": "0.5*sin(t)"})

The controller is the usual cascade: a position loop asks for a speed, a speed loop for a current, and a current loop
for a voltage.  Its gains are parameters that follow from those of motor, gear and load, so that an axis with another
gear is tuned as well: each loop is several times as fast as the one around it.  The sizes are round numbers of the
order that light robots have; they are no product's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kinode.errors import ModelError
from kinode.model.base.fields import missing_fields, unknown, unknown_fields
from kinode.model.system import System

# What an axis is made of: name -> (value, dimension, note); the value None has to be given or come from the size.
NUMBERS: dict[str, tuple[Any, str, str]] = {
    "resistance": (None, "resistance", "of the winding"),
    "inductance": (None, "inductance", "of the winding"),
    "constant": (None, "torque_constant", "moment for a unit of current, and voltage for a unit of speed"),
    "inertia": (None, "inertia", "of the rotor"),
    "viscous": ("0 N*m*s/rad", "rotational_damping", "drag of the rotor for a unit of speed"),
    "coulomb": ("0 N*m", "moment", "drag of the rotor at any speed"),
    "slip": ("1 rad/s", "angular_velocity", "speed of the rotor below which drag fades"),
    "ratio": (None, "dimensionless", "turns of the motor for one of the joint"),
    "stiffness": (None, "rotational_stiffness", "of the gear, at the joint; left out: rigid"),
    "damping": ("0 N*m*s/rad", "rotational_damping", "of the gear, at the joint"),
    "efficiency": (1.0, "dimensionless", "of the elastic gear"),
    "voltage": (None, "voltage", "of the supply, for which the amplifier is set"),
    "peak_current": (None, "current", "that the amplifier allows"),
    "load": (None, "inertia", "inertia that the joint is expected to turn"),
    "bandwidth": ("", "angular_velocity", "of the position loop, one over its time constant"),
}
POSITIVE = ("inductance", "inertia", "voltage", "peak_current", "load", "bandwidth", "stiffness")
NOT_ZERO = ("constant", "ratio", "lead")
SIZES: dict[str, dict[str, Any]] = {
    "small": {
        "resistance": "0.6 Ohm", "inductance": "0.4 mH", "constant": "0.06 N*m/A", "inertia": "1.2e-5 kg*m^2",
        "viscous": "1e-5 N*m*s/rad", "coulomb": "5 mN*m", "ratio": 100, "voltage": "48 V", "peak_current": "10 A",
        "load": "0.1 kg*m^2",
    },
    "medium": {
        "resistance": "0.3 Ohm", "inductance": "0.3 mH", "constant": "0.1 N*m/A", "inertia": "5e-5 kg*m^2",
        "viscous": "3e-5 N*m*s/rad", "coulomb": "15 mN*m", "ratio": 100, "voltage": "48 V", "peak_current": "25 A",
        "load": "1 kg*m^2",
    },
    "large": {
        "resistance": "0.15 Ohm", "inductance": "0.25 mH", "constant": "0.12 N*m/A", "inertia": "1.5e-4 kg*m^2",
        "viscous": "6e-5 N*m*s/rad", "coulomb": "30 mN*m", "ratio": 120, "voltage": "48 V", "peak_current": "50 A",
        "load": "5 kg*m^2",
    },
}  # fmt: skip
SPEED_LOOP, CURRENT_LOOP = 4.0, 8.0  # bandwidth of each loop over that of the loop around it
FASTEST_POSITION_LOOP = 20.0  # 1/s, bandwidth
RESONANCE_MARGIN = 5.0  # natural frequency of the load on an elastic gear over the bandwidth of the position loop


def axis(size: str | None = None, *, name: str = "axis", lead: Any = None, **numbers: Any) -> System:
    """An axis to be added at a joint: nodes ``supply`` and ``output``, inputs ``target`` and ``target_speed``.

    ``size`` (small, medium, large) gives the numbers that are left out: resistance, inductance, constant, inertia,
    viscous, coulomb, slip of the motor; ratio, stiffness, damping, efficiency of the gear; voltage and peak_current of
    the amplifier; load and bandwidth (20 1/s, less for a soft gear), for which the controller is tuned.  With a
    ``lead``, travel for a turn of the gear's output, the axis moves a joint that slides, and the load is a mass.
    """
    system = System(name, gravity=(0.0, 0.0, 0.0))
    given = _choose_numbers(size, numbers, name, lead)
    system.input("target", "0 m" if lead is not None else "0 rad")
    system.input("target_speed", "0 m/s" if lead is not None else "0 rad/s")
    for key, value in given.items():
        if key != "bandwidth":
            dimension = "mass" if key == "load" and lead is not None else NUMBERS[key][1]
            _declare(system, key, value, dimension, NUMBERS[key][2])
    _add_gains(system, lead, given["bandwidth"])
    system.element("amplifier", "bridge", plus="supply", minus="gnd", second_plus="coil", second_minus="gnd",
                   modulation="current.output/voltage")  # fmt: skip
    system.element(
        "motor", "dc_motor", plus="coil", minus="gnd", shaft="rotor",
        **{key: key for key in ("resistance", "inductance", "constant", "inertia", "viscous", "coulomb", "slip")},
    )  # fmt: skip
    output = "output" if lead is None else "nut"
    if "stiffness" in given:
        system.element(
            "gear", "elastic_gearbox", input="rotor", output=output,
            **{key: key for key in ("ratio", "stiffness", "damping", "efficiency", "slip")},
        )  # fmt: skip
    else:
        system.element("gear", "gearbox", input="rotor", output=output, ratio="ratio")
    if lead is not None:
        system.element("screw", "pinion", shaft="nut", rack="output", radius="reach")
    _add_controller(system, lead)
    return system


def _choose_numbers(size: str | None, numbers: Mapping[str, Any], name: str, lead: Any) -> dict[str, Any]:
    """Every number of the axis; given ones replace those of the size."""
    if size is not None and size not in SIZES:
        raise ModelError(
            unknown("no axis has the size", size, SIZES) + f"; there are {', '.join(SIZES)}", component=name
        )
    wrong = [key for key in numbers if key not in NUMBERS]
    if wrong:
        raise ModelError(unknown_fields("an axis", wrong, NUMBERS), component=name, field=wrong[0])
    ready = dict(SIZES[size]) if size is not None else {}
    if lead is not None:
        ready.pop("load", None)
    chosen: dict[str, Any] = {}
    elastic = "stiffness" in numbers
    for key, (default, _, _) in NUMBERS.items():
        value = numbers.get(key, ready.get(key, default))
        if key in ("stiffness", "damping", "efficiency") and not elastic:
            if key in numbers:
                raise ModelError("is for a gear with a stiffness", component=name, field=key)
            continue
        chosen[key] = value
    missing = [key for key, value in chosen.items() if value is None]
    if missing:
        several = len(missing) > 1
        message = missing_fields(missing) if several else "is needed and was not given"
        raise ModelError(message, component=name, field=None if several else missing[0])
    return chosen


def _declare(system: System, key: str, value: Any, dimension: str, note: str) -> None:
    """Declare a parameter after checking its unit, and its sign where a wrong one makes the controller unstable."""
    reader = system.reader(system.name)
    number = system.nominal(reader.number(value, dimension, key))
    if key in POSITIVE and not number > 0.0:
        raise reader.fail(key, f"must be positive, and is {number:g}")
    if key in NOT_ZERO and number == 0.0:
        raise reader.fail(key, "must not be zero")
    system.parameter(key, f"{number!r} m" if dimension == "lead" else value, note=note)


def _add_gains(system: System, lead: Any, bandwidth: Any) -> None:
    """Gains from the bandwidths w of the loops: J w for speed, L w and R w for current.

    The default bandwidth with an elastic gear stays below the natural frequency of the load on the gear.
    """
    if lead is None:
        system.parameter("reduction", "ratio", note="angle of the rotor for a unit of the joint's coordinate")
    else:
        _declare(system, "lead", lead, "lead", "travel for a turn of the gear's output")
        system.parameter("reach", "lead/(2*pi)")
        system.parameter("reduction", "ratio/reach", note="angle of the rotor for a unit of the joint's coordinate")
    if bandwidth == "":
        swing = "stiffness/load" if lead is None else "stiffness/(load*reach^2)"
        bandwidth = (
            f"min({FASTEST_POSITION_LOOP:g}, sqrt({swing})/{RESONANCE_MARGIN:g})"
            if "stiffness" in system.parameters
            else f"{FASTEST_POSITION_LOOP:g} 1/s"
        )
    _declare(system, "bandwidth", bandwidth, *NUMBERS["bandwidth"][1:])
    system.parameter("speed_bandwidth", f"{SPEED_LOOP:g}*bandwidth")
    system.parameter("current_bandwidth", f"{CURRENT_LOOP:g}*speed_bandwidth")
    system.parameter("speed_gain", "(inertia + load/reduction^2)*speed_bandwidth/constant")


def _add_controller(system: System, lead: Any) -> None:
    """Position, speed and current, one inside the other; the back EMF is fed forward."""
    where = "output.angle" if lead is None else "output.position"
    system.signal("wanted_speed", f"bandwidth*(target - {where}) + target_speed")
    system.element(
        "speed", "pid", target="reduction*wanted_speed", measured="rotor.speed", proportional="speed_gain",
        integral="speed_gain*speed_bandwidth/4", limits=["-peak_current", "peak_current"],
    )  # fmt: skip
    system.element(
        "current", "pid", target="speed.output", measured="motor.current",
        proportional="inductance*current_bandwidth", integral="resistance*current_bandwidth",
        feedforward="constant*rotor.speed", limits=["-voltage", "voltage"],
    )  # fmt: skip
