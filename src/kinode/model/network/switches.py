"""Electrical parts that are on or off: diodes, switches.

What is on has a small resistance, what is off a small conductance (mode 1 and 0), so that no node floats and the
equations keep their pivots:

    voltage = mode drop + (mode on_resistance + (1 - mode)/off_conductance) current

With the defaults, 1 mOhm and 1 nS, 10 A cost 0.1 W and 100 V leak 0.1 uA.  In series with an inductance what is off
makes the system stiff (inductance times off_conductance is its time constant): use method="stiff" there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from kinode.algebra.scalars import Scalar, less, where
from kinode.model.base.events import Root
from kinode.model.base.fields import POSITIVE, UNSIGNED, Value, law, number, record
from kinode.model.base.kinds import register
from kinode.model.base.scene import LawScene
from kinode.model.network.part import Row
from kinode.model.network.two_port import TwoPole

ORDER = 220  # in lists of kinds

EVENT_SCALE = 1e-3  # A, V: scale of the event functions


@record
class OnOff(TwoPole):
    """A two-pole that conducts or blocks."""

    modes: ClassVar[tuple[str, ...]] = ("mode",)
    on_resistance: Value = number("resistance", "while it conducts", 1e-3, range=POSITIVE)
    off_conductance: Value = number("conductance", "while it does not", 1e-9, range=POSITIVE)
    lost: ClassVar[str] = "voltage*current"


@register("diode", symbol="diode", shortcut=True)
class Diode(OnOff):
    """Conducts from plus to minus, where the voltage exceeds its ``drop``."""

    drop: Value = number("voltage", "over it where it begins to conduct", 0.0, range=UNSIGNED)
    rows: ClassVar[tuple[Row, ...]] = (
        Row(
            "conducting or blocking",
            "voltage = mode*drop + (mode*on_resistance + (1 - mode)/off_conductance)*current",
            "current",
        ),
    )

    @property
    def event_functions(self) -> tuple[Root, ...]:
        return (
            Root("mode", 1.0, 0.0, self._conducting, words=("conducts", "blocks"), by_state=True),
            Root("mode", 0.0, 1.0, self._blocking, words=("blocks", "conducts"), by_state=True),
        )

    def _conducting(self, scene: LawScene) -> Scalar:
        return scene.lookup(f"{self.name}.current") / EVENT_SCALE

    def _blocking(self, scene: LawScene) -> Scalar:
        return (scene.law(self.drop) - scene.lookup(f"{self.name}.voltage")) / EVENT_SCALE


@register("switch", symbol="switch", shortcut=True)
class Switch(OnOff):
    """Conducts while its ``command`` is above zero."""

    command: Value = law(None, "a law: closed while it is above zero", ...)
    rows: ClassVar[tuple[Row, ...]] = (
        Row("open or closed", "voltage = (mode*on_resistance + (1 - mode)/off_conductance)*current", "current"),
    )

    @property
    def event_functions(self) -> tuple[Root, ...]:
        return (
            Root("mode", 1.0, 0.0, self._command, words=("is closed", "is open"), by_state=True),
            Root("mode", 0.0, 1.0, self._released, words=("is open", "is closed"), by_state=True),
        )

    def consistent_values(self, scene: LawScene) -> Mapping[str, Any]:
        return {"mode": less(0.0, scene.law(self.command))}

    def _command(self, scene: LawScene) -> Scalar:
        """Positive while the command is above zero; at zero it is not, so that one of 0 and 1 opens the switch."""
        command = scene.law(self.command)
        return where(less(0.0, command), command, -1.0)

    def _released(self, scene: LawScene) -> Scalar:
        return -self._command(scene)
