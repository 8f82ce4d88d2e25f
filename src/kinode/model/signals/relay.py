"""Hysteresis: a relay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kinode.algebra.scalars import Scalar, less
from kinode.model.base.events import Root
from kinode.model.base.fields import Value, law, number
from kinode.model.base.kinds import register
from kinode.model.base.scene import LawScene, PositionScene
from kinode.model.signals.continuous import SignalPart

ORDER = 180  # in lists of kinds


@register("relay", symbol="relay", shortcut=True)
class Relay(SignalPart):
    """Gives ``high`` once its input rises above ``on``, and ``low`` once it falls below ``off``."""

    input: Value = law(None, "the signal that goes in", ...)
    on: Value = number(None, "above this it switches on")
    off: Value = number(None, "below this it switches off")
    high: Value = number(None, "output while it is on", 1.0)
    low: Value = number(None, "output while it is off", 0.0)
    initial: Value = number("dimensionless", "1 if it starts on between the two, 0 if off", 0.0, aside=True)

    def check(self) -> None:
        super().check()
        if isinstance(self.on, float) and isinstance(self.off, float) and self.off >= self.on:
            raise self.error_at("off", f"{self.off:g} is not below the {self.on:g} of on")

    @property
    def discrete_states(self) -> tuple[tuple[str, str], ...]:
        return (("mode", "dimensionless"),)

    def consistent_values(self, scene: LawScene) -> Mapping[str, Any]:
        x, on, off = (scene.law(value) for value in (self.input, self.on, self.off))
        inside = (1.0 - less(on, x)) * (1.0 - less(x, off))
        return {"mode": less(on, x) + inside * scene.law(self.initial)}

    @property
    def immediate(self) -> frozenset[str]:
        return frozenset()  # its output is what it remembers

    @property
    def late(self) -> frozenset[str]:
        return frozenset({"input"})

    @property
    def event_functions(self) -> tuple[Root, ...]:
        return (
            Root("mode", 1.0, 0.0, self._stays_on, words=("is on", "is off")),
            Root("mode", 0.0, 1.0, self._stays_off, words=("is off", "is on")),
        )

    def _share(self, x: Scalar, scene: LawScene) -> Scalar:
        """In parts of the distance between its two levels."""
        return x / (scene.law(self.on) - scene.law(self.off))

    def _stays_on(self, scene: LawScene) -> Scalar:
        return self._share(scene.law(self.input) - scene.law(self.off), scene)

    def _stays_off(self, scene: LawScene) -> Scalar:
        return self._share(scene.law(self.on) - scene.law(self.input), scene)

    def quantity(self, name: str, scene: PositionScene) -> Scalar:
        mode = scene.discrete_states(self.name)["mode"]
        if name == "mode":
            return mode
        return mode * scene.law(self.high) + (1.0 - mode) * scene.law(self.low)
