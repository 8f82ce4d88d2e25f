"""A machine in two forms: all of it in kinode, and with controller, drive and spring as FMUs that kinode has exported.

An arm turned by a drive with a winding, a slide on it held by a spring that hardens.
"""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import kinode as kn

KEPT = tempfile.TemporaryDirectory(prefix="kinode-test-machines-")
ERROR, ERROR_RATE = "0.5*sin(2*t) - elbow.q", "cos(2*t) - elbow.u"
SAME = {
    "elbow.q": "elbow.q",
    "elbow.u": "elbow.u",
    "slide.q": "slide.q",
    "coil.current": "motor.coil_current",
    "pid.integral": "control.pid_integral",
    "pid.output": "control.pid_output",
    "force.output": "spring.force_output",
}
"""Quantities of the first form by those of the second."""


def add_controller(system: kn.System, error: str, rate: str, gain: str) -> None:
    system.pid("pid", error=error, error_rate=rate, proportional=gain, integral=30, derivative=5)


def add_drive(system: kn.System, volts: str, speed: str) -> None:
    system.voltage_source("bridge", "bus", "gnd", voltage=f"{volts} - K*{speed}")
    system.resistor("winding", "bus", "mid", resistance=0.5)
    system.inductor("coil", "mid", "gnd", inductance=0.02)
    system.signal("torque", "K*coil.current")


def add_spring(system: kn.System, x: str, v: str) -> None:
    system.sensor("force", measures=f"-stiffness*{x} - 4*{v} - 50*{x}^3")


@cache
def export_part(name: str, version: str) -> Path:
    """The FMU of a part of the machine."""
    system = kn.System(name)
    match name:
        case "control":
            system.input("e")
            system.input("de")
            system.parameter("P", 25.0)
            add_controller(system, "e", "de", "P")
            outputs = ["pid.output"]
        case "drive":
            system.input("volts")
            system.input("speed")
            system.parameter("K", 0.8)
            add_drive(system, "volts", "speed")
            outputs = ["torque"]
        case _:
            system.input("x")
            system.input("v")
            system.parameter("stiffness", 300.0)
            add_spring(system, "x", "v")
            outputs = ["force.output"]
    file = Path(KEPT.name) / f"{name}_{version}.fmu"
    return kn.export(system, "fmu", file, outputs=outputs, version=version, platforms="host")


def make_machine(version: str | None = None, **fields: object) -> kn.System:
    """The machine: in kinode, or with FMUs of a version."""
    system = kn.System("machine", gravity=(0, -9.81, 0))
    system.parameter("gain", 40.0)
    arm = system.body("arm", mass=2, com=(0.3, 0, 0), inertia=(0.01, 0.1, 0.1))
    tip = system.body("tip", mass=0.5, inertia=(0.001, 0.001, 0.001))
    effort, force = ("torque", "force.output") if version is None else ("motor.torque", "spring.force_output")
    system.revolute("elbow", system.world, arm, axis="z", q=0.2, effort=effort)
    system.prismatic("slide", arm, tip, axis="x", at=(0.6, 0, 0), q=0.05, effort=force)
    if version is None:
        system.parameter("K", 0.8)
        system.parameter("stiffness", 300.0)
        add_controller(system, ERROR, ERROR_RATE, "gain")
        add_drive(system, "pid.output", "elbow.u")
        add_spring(system, "slide.q", "slide.u")
        return system
    parts = {name: export_part(name, version) for name in ("control", "drive", "spring")}
    inputs = {"e": ERROR, "de": ERROR_RATE}
    system.fmu("control", parts["control"], inputs=inputs, parameters={"P": "gain"}, **fields)
    system.fmu("motor", parts["drive"], inputs={"volts": "control.pid_output", "speed": "elbow.u"}, **fields)
    system.fmu("spring", parts["spring"], inputs={"x": "slide.q", "v": "slide.u"}, **fields)
    return system
