"""Short spellings of the builder: ``system.revolute(...)`` for ``system.joint(..., "revolute", ...)``, and so on.

A kind that a plug-in registers has no spelling and needs none.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

from kinode.errors import ModelError
from kinode.model.base.element import ELEMENTS, Element
from kinode.model.joints.joint import Joint


class Shortcut:
    """A part of a network by its kind: ``system.resistor("r1", "bus", "gnd", resistance="10 Ohm")``.

    What its ports are connected to may stand behind the name, in the order in which the kind declares them.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __get__(self, system: Any, owner: Any = None) -> Callable[..., Element]:
        kind, cls = self.kind, ELEMENTS[self.kind]
        specs = cls.specs()
        ports = [name for name, (_, spec) in specs.items() if spec.shape == "port"]

        def spelled(name: str, *ends: Any, **fields: Any) -> Element:
            if len(ends) > len(ports):
                said = f"a {kind} has {len(ports)} ports ({', '.join(ports)}), not {len(ends)}"
                raise ModelError(said, component=name)
            given = dict(zip(ports, ends, strict=False))
            for port in given.keys() & fields.keys():
                raise ModelError("is given twice, by its place and by its name", component=name, field=port)
            made: Element = system.element(name, kind, **given, **fields)
            return made

        spelled.__name__, spelled.__doc__ = kind, cls.__doc__
        empty = inspect.Parameter.empty
        spelled.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [
                inspect.Parameter("name", inspect.Parameter.POSITIONAL_OR_KEYWORD),
                *(
                    inspect.Parameter(
                        name,
                        inspect.Parameter.POSITIONAL_OR_KEYWORD if name in ports else inspect.Parameter.KEYWORD_ONLY,
                        default=empty if field.default is dataclasses.MISSING else field.default,
                    )
                    for name, (field, _) in sorted(specs.items(), key=lambda item: item[0] not in ports)
                ),
            ],
            __validate_parameters__=False,  # a port that may be left out may stand before one that may not
        )
        return spelled


class Shortcuts:
    """What ``System`` adds to ``joint`` and ``element``."""

    def joint(self, name: str, kind: str, a: Any, b: Any, **fields: Any) -> Joint:
        raise NotImplementedError

    def element(self, name: str, kind: str, **fields: Any) -> Element:
        raise NotImplementedError

    def fixed(self, name: str, a: Any, b: Any, **fields: Any) -> Joint:
        """Hold b rigidly to a."""
        return self.joint(name, "fixed", a, b, **fields)

    def revolute(self, name: str, a: Any, b: Any, **fields: Any) -> Joint:
        """Let b turn about an axis."""
        return self.joint(name, "revolute", a, b, **fields)

    def prismatic(self, name: str, a: Any, b: Any, **fields: Any) -> Joint:
        """Let b slide along an axis."""
        return self.joint(name, "prismatic", a, b, **fields)

    def cylindrical(self, name: str, a: Any, b: Any, **fields: Any) -> Joint:
        """Let b slide along an axis and turn about it."""
        return self.joint(name, "cylindrical", a, b, **fields)

    def screw(self, name: str, a: Any, b: Any, **fields: Any) -> Joint:
        """Let b turn about an axis and advance by ``lead`` for each turn."""
        return self.joint(name, "screw", a, b, **fields)

    def universal(self, name: str, a: Any, b: Any, **fields: Any) -> Joint:
        """Let b turn about axes[0] of a and axes[1] of b."""
        return self.joint(name, "universal", a, b, **fields)

    def spherical(self, name: str, a: Any, b: Any, **fields: Any) -> Joint:
        """Let b turn freely about a point."""
        return self.joint(name, "spherical", a, b, **fields)

    def planar(self, name: str, a: Any, b: Any, **fields: Any) -> Joint:
        """Let b slide in a plane and turn about its normal."""
        return self.joint(name, "planar", a, b, **fields)

    def free(self, name: str, a: Any, b: Any, **fields: Any) -> Joint:
        """Let b move freely; initial position=, rpy= or quaternion=, velocity=, angular_velocity=."""
        return self.joint(name, "free", a, b, **fields)

    def drive(self: Any, name: str, joint: Any, **fields: Any) -> Joint:
        """Gear a motor to a joint: rotor of its own inertia, turning ``ratio`` times as fast, in a shaft on ``on``."""
        from kinode.model.drive_unit import add_drive

        return add_drive(self, name, {"joint": joint, **fields})

    def spring(self, name: str, a: Any, b: Any, **fields: Any) -> Element:
        """A spring and damper between two points."""
        return self.element(name, "spring", a=a, b=b, **fields)

    def force(self, name: str, on: Any, force: Any, **fields: Any) -> Element:
        """A force on a body at a point."""
        return self.element(name, "force", on=on, force=force, **fields)

    def moment(self, name: str, on: Any, moment: Any, **fields: Any) -> Element:
        """A moment on a body."""
        return self.element(name, "moment", on=on, moment=moment, **fields)

    def aerodynamic(self, name: str, on: Any, **fields: Any) -> Element:
        """Air on a body by six coefficients along its axes."""
        return self.element(name, "aerodynamic", on=on, **fields)

    def ballistic(self, name: str, on: Any, **fields: Any) -> Element:
        """Air on a body of revolution: drag, lift, overturning, damping, Magnus."""
        return self.element(name, "ballistic", on=on, **fields)

    def thrust(self, name: str, on: Any, thrust: Any, **fields: Any) -> Element:
        """A push along an axis of the frame that it acts at."""
        return self.element(name, "thrust", on=on, thrust=thrust, **fields)

    def central_gravity(self, name: str, **fields: Any) -> Element:
        """The pull of a sphere on every body."""
        return self.element(name, "central_gravity", **fields)

    def pid(self, name: str, **fields: Any) -> Element:
        """A controller of an error: P, PI, PD or PID by the gains that are given."""
        return self.element(name, "pid", **fields)

    def filter(self, name: str, input: Any, **fields: Any) -> Element:
        """A lag of first order."""
        return self.element(name, "filter", input=input, **fields)

    def integrator(self, name: str, input: Any, **fields: Any) -> Element:
        """The integral of a signal."""
        return self.element(name, "integrator", input=input, **fields)

    def transfer_function(self, name: str, input: Any, **fields: Any) -> Element:
        """A linear system by numerator and denominator."""
        return self.element(name, "transfer_function", input=input, **fields)

    def state_space(self, name: str, inputs: Any, **fields: Any) -> Element:
        """A linear system by its matrices A, B, C, D."""
        return self.element(name, "state_space", inputs=inputs, **fields)

    def saturation(self, name: str, input: Any, **fields: Any) -> Element:
        """A signal kept within limits."""
        return self.element(name, "saturation", input=input, **fields)

    def rate_limit(self, name: str, input: Any, **fields: Any) -> Element:
        """A signal that changes no faster than it may."""
        return self.element(name, "rate_limit", input=input, **fields)

    def dead_zone(self, name: str, input: Any, **fields: Any) -> Element:
        """A signal without what lies within a zone."""
        return self.element(name, "dead_zone", input=input, **fields)

    def sensor(self, name: str, measures: Any, **fields: Any) -> Element:
        """What an instrument shows of a quantity."""
        return self.element(name, "sensor", measures=measures, **fields)

    def sample_hold(self, name: str, input: Any, period: Any, **fields: Any) -> Element:
        """A signal sampled and held: with noise, rounded, later by whole samples."""
        return self.element(name, "sample_hold", input=input, period=period, **fields)

    def sampled_pid(self, name: str, period: Any, **fields: Any) -> Element:
        """A PID controller at the ticks of a clock."""
        return self.element(name, "sampled_pid", period=period, **fields)

    def sampled_transfer_function(self, name: str, input: Any, period: Any, **fields: Any) -> Element:
        """A linear system of samples by numerator and denominator in z."""
        return self.element(name, "sampled_transfer_function", input=input, period=period, **fields)

    def sampled_state_space(self, name: str, inputs: Any, period: Any, **fields: Any) -> Element:
        """A linear system of samples by its matrices A, B, C, D."""
        return self.element(name, "sampled_state_space", inputs=inputs, period=period, **fields)

    def controller(self, name: str, function: Any, *, inputs: Any, period: Any, **fields: Any) -> Element:
        """A Python function of sampled signals, f(t, **signals), called once at each tick."""
        return self.element(name, "controller", function=function, inputs=inputs, period=period, **fields)

    def earth_rotation(self, name: str, latitude: Any, **fields: Any) -> Element:
        """The world turns as a place on the earth does."""
        return self.element(name, "earth_rotation", latitude=latitude, **fields)

    def brake(self, name: str, joint: Any, capacity: Any, **fields: Any) -> Element:
        """A brake in a joint that turns, applied by a law ``command`` from 0 to 1; it holds what it stopped."""
        return self.element(name, "brake", joint=joint, capacity=capacity, **fields)

    def slide_brake(self, name: str, joint: Any, capacity: Any, **fields: Any) -> Element:
        """A brake in a joint that slides."""
        return self.element(name, "slide_brake", joint=joint, capacity=capacity, **fields)

    def clutch(self, name: str, first: Any, second: Any, capacity: Any, **fields: Any) -> Element:
        """A clutch between two joints that turn, applied by a law ``command`` from 0 to 1."""
        return self.element(name, "clutch", first=first, second=second, capacity=capacity, **fields)

    def lugre(self, name: str, joint: Any, **fields: Any) -> Element:
        """LuGre friction in a joint that turns: sliding, static, stribeck_speed, stiffness and damping of bristles."""
        return self.element(name, "lugre", joint=joint, **fields)

    def slide_lugre(self, name: str, joint: Any, **fields: Any) -> Element:
        """LuGre friction in a joint that slides."""
        return self.element(name, "slide_lugre", joint=joint, **fields)

    def relay(self, name: str, input: Any, on: Any, off: Any, **fields: Any) -> Element:
        """Hysteresis: on above one level of its input, off below a lower one."""
        return self.element(name, "relay", input=input, on=on, off=off, **fields)

    # -- parts of networks: name, ports in order, fields -------------------------------------------------
    resistor = Shortcut("resistor")
    capacitor = Shortcut("capacitor")
    inductor = Shortcut("inductor")
    voltage_source = Shortcut("voltage_source")
    current_source = Shortcut("current_source")
    battery = Shortcut("battery")
    transformer = Shortcut("transformer")
    bridge = Shortcut("bridge")
    coupled_inductors = Shortcut("coupled_inductors")
    diode = Shortcut("diode")
    switch = Shortcut("switch")
    dc_motor = Shortcut("dc_motor")
    brushless_motor = Shortcut("brushless_motor")
    inverter_motor = Shortcut("inverter_motor")
    shaft_inertia = Shortcut("shaft_inertia")
    shaft_spring = Shortcut("shaft_spring")
    shaft_damper = Shortcut("shaft_damper")
    shaft_loss = Shortcut("shaft_loss")
    shaft_friction = Shortcut("shaft_friction")
    gearbox = Shortcut("gearbox")
    elastic_gearbox = Shortcut("elastic_gearbox")
    backlash_gear = Shortcut("backlash_gear")
    worm_gear = Shortcut("worm_gear")
    speed_source = Shortcut("speed_source")
    angle_source = Shortcut("angle_source")
    moment_source = Shortcut("moment_source")
    slide_mass = Shortcut("slide_mass")
    slide_spring = Shortcut("slide_spring")
    slide_damper = Shortcut("slide_damper")
    slide_loss = Shortcut("slide_loss")
    slide_friction = Shortcut("slide_friction")
    lever = Shortcut("lever")
    frame_link = Shortcut("frame_link")
    turn_link = Shortcut("turn_link")
    pinion = Shortcut("pinion")
    velocity_source = Shortcut("velocity_source")
    position_source = Shortcut("position_source")
    force_source = Shortcut("force_source")
