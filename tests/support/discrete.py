"""Small discrete elements for the tests of events: a floor to bounce on, a thermostat, a clock, a latch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

import kinode as kn
from kinode.algebra.scalars import less
from kinode.algebra.spatial import ZERO3
from kinode.model.base.element import ELEMENTS
from kinode.model.base.fields import Value, frame, record, special

METHODS = {
    "dopri5": {"rtol": 1e-10, "atol": 1e-12}, "dop853": {"rtol": 1e-10, "atol": 1e-12},
    "rk4": {"step": 1e-3}, "stiff": {"rtol": 1e-10, "atol": 1e-12},
}  # fmt: skip
G = 9.81


def ball(name="slide", system=None, **joint):
    """A ball that falls along z."""
    system = kn.System("ball", gravity=(0, 0, -G)) if system is None else system
    body = system.body(f"{name}_ball", mass=1.0, inertia=(1, 1, 1))
    system.prismatic(name, system.world, body, axis="z", **{"q": 1.0, **joint})
    return system


class Quiet(kn.Element):
    """An element without loads."""

    def wrenches(self, scene: Any) -> Any:
        return ()


@record
class Floor(Quiet):
    """What slides along a joint bounces where its coordinate is zero."""

    kind: ClassVar[str] = "floor"
    joint: str = special("text", "who bounces", "slide")
    restitution: Value = kn.number(None, "speed after, of the speed before", 0.8)

    @property
    def event_functions(self) -> tuple[kn.Root, ...]:
        def g(scene: Any) -> Any:
            return scene.joint_state(self.joint)[0][0]

        def rate(scene: Any) -> Any:
            return scene.joint_state(self.joint)[1][0]

        return (kn.Root(None, 0.0, 0.0, g, rate, ("flies", "bounces")),)

    def reset(self, scene: Any, fired: Any) -> Any:
        u = scene.joint_state(self.joint)[1][0]
        return {f"{self.joint}.u": -scene.law(self.restitution) * u}


@record
class Wall(Floor):
    """The same where all speeds follow that of the joint."""

    kind: ClassVar[str] = "wall"

    def reset(self, scene: Any, fired: Any) -> Any:
        return {"u": -scene.law(self.restitution) * scene.u}


@record
class Table(Floor):
    """The same, but what comes slower than the least speed stays: the table then carries the weight."""

    kind: ClassVar[str] = "table"
    least: Value = kn.number("velocity", "speed that is not thrown back", 1e-6)
    weight: Value = kn.number("force", "of what bounces", 9.81)
    on: Any = frame("who bounces")

    @property
    def discrete_states(self) -> tuple[tuple[str, str], ...]:
        return (("mode", "dimensionless"),)

    @property
    def event_functions(self) -> tuple[kn.Root, ...]:
        (flight,) = super().event_functions
        pushes = kn.Root("mode", 1.0, 0.0, lambda scene: scene.law(self.weight), words=("lies", "flies"))
        return (kn.Root("mode", 0.0, 1.0, flight.g, flight.rate, ("flies", "lies")), pushes)

    def reset(self, scene: Any, fired: Any) -> Any:
        u, least = scene.joint_state(self.joint)[1][0], scene.law(self.least)
        rests = less(-least, u)
        return {f"{self.joint}.u": kn.where(rests, 0.0, -scene.law(self.restitution) * u), "mode": rests}

    def wrenches(self, scene: Any) -> Any:
        push = scene.discrete_states(self.name)["mode"] * scene.law(self.weight)
        return (kn.Load(self.on, np.array([0.0, 0.0, push], dtype=object), ZERO3),)


@record
class Thermostat(Quiet):
    """A room whose heater is on (mode 1) until it is warm, then off (0) until it is cold.

    T' = (mode power - T) / tau
    """

    kind: ClassVar[str] = "thermostat"
    quantities: ClassVar[dict[str, str]] = {"T": "dimensionless"}
    single: ClassVar[frozenset[str]] = frozenset(quantities)
    power: Value = kn.number(None, "temperature that the heater leads to", 3.0)
    tau: Value = kn.number("time", "time constant", 0.5)
    cold: Value = kn.number(None, "heats below", 1.0)
    warm: Value = kn.number(None, "stops above", 2.0)

    @property
    def states(self) -> tuple[tuple[str, str], ...]:
        return (("T", "dimensionless"),)

    @property
    def discrete_states(self) -> tuple[tuple[str, str], ...]:
        return (("mode", "dimensionless"),)

    def initial_discrete_states(self, resolve: Any) -> np.ndarray:
        return np.ones(1)

    def quantity(self, name: str, scene: Any) -> Any:
        return scene.other_states(self.name)[0]

    def state_rates(self, scene: Any) -> np.ndarray:
        T, mode = scene.other_states(self.name)[0], scene.discrete_states(self.name)["mode"]
        return np.array([(mode * scene.law(self.power) - T) / scene.law(self.tau)], dtype=object)

    @property
    def event_functions(self) -> tuple[kn.Root, ...]:
        def until_warm(scene: Any) -> Any:
            return scene.law(self.warm) - scene.other_states(self.name)[0]

        def until_cold(scene: Any) -> Any:
            return scene.other_states(self.name)[0] - scene.law(self.cold)

        return (
            kn.Root("mode", 1.0, 0.0, until_warm, words=("heats", "rests")),
            kn.Root("mode", 0.0, 1.0, until_cold, words=("rests", "heats")),
        )


@record
class Latch(Quiet):
    """Notes the first time that a law becomes negative: its mode goes from 0 to 1 and stays."""

    kind: ClassVar[str] = "latch"
    of: Value = kn.law(None, "the law", ...)

    @property
    def discrete_states(self) -> tuple[tuple[str, str], ...]:
        return (("mode", "dimensionless"), ("time", "time"))

    @property
    def event_functions(self) -> tuple[kn.Root, ...]:
        return (kn.Root("mode", 0.0, 1.0, lambda scene: scene.law(self.of), words=("waits", "latches")),)

    def reset(self, scene: Any, fired: Any) -> Any:
        return {"time": scene.t}


@record
class Clock(Quiet):
    """Holds a law as it was at the last tick, and counts the ticks."""

    kind: ClassVar[str] = "clock"
    of: Value = kn.law(None, "the law", 0.0)
    period: Value = kn.number("time", "from tick to tick", 0.1)
    phase: Value = kn.number("time", "of the first tick", 0.0)

    @property
    def discrete_states(self) -> tuple[tuple[str, str], ...]:
        return (("value", "dimensionless"), ("count", "dimensionless"))

    @property
    def clocks(self) -> tuple[kn.Sampler, ...]:
        return (kn.Sampler(kn.exact_seconds(float(self.period)), kn.exact_seconds(float(self.phase))),)

    def sample(self, scene: Any, ticked: Any) -> Any:
        return {"value": scene.law(self.of), "count": scene.discrete_states(self.name)["count"] + 1.0}


@record
class Called(Quiet):
    """A clock whose value is given by a function in Python."""

    kind: ClassVar[str] = "called"
    period: Value = kn.number("time", "from tick to tick", 0.1)
    reads: str = special("text", "what the function is given", "t")
    function: ClassVar[Any] = staticmethod(lambda t, values: 0.0)

    @property
    def discrete_states(self) -> tuple[tuple[str, str], ...]:
        return (("value", "dimensionless"),)

    @property
    def clocks(self) -> tuple[kn.Sampler, ...]:
        def call(t: float, values: Any) -> Any:
            return {"value": type(self).function(t, values)}

        return (kn.Sampler(kn.exact_seconds(float(self.period)), Fraction(0), (self.reads,), call),)


@record
class Flutter(Quiet):
    """Two modes, neither of which can stay."""

    kind: ClassVar[str] = "flutter"

    @property
    def discrete_states(self) -> tuple[tuple[str, str], ...]:
        return (("mode", "dimensionless"),)

    @property
    def event_functions(self) -> tuple[kn.Root, ...]:
        def g(scene: Any) -> Any:
            return 0.3 - scene.t

        return (kn.Root("mode", 0.0, 1.0, g), kn.Root("mode", 1.0, 0.0, g))


KINDS = (Floor, Wall, Table, Thermostat, Latch, Clock, Called, Flutter)


@contextmanager
def known_kinds() -> Iterator[None]:
    """The kinds are known inside."""
    ELEMENTS.update({cls.kind: cls for cls in KINDS})
    try:
        yield
    finally:
        for cls in KINDS:
            del ELEMENTS[cls.kind]
