"""Electrical parts: what stands between nodes of a circuit.

A load takes the ``current`` that flows in at plus and out at minus; a source delivers it at plus.  The ``voltage`` is
that of plus over minus.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from kinode.model.base.fields import NONZERO, POSITIVE, UNSIGNED, Value, law, number, record
from kinode.model.base.kinds import register
from kinode.model.network.part import Row, Unknown, port
from kinode.model.network.two_port import Names, PoleEnds, Rows, TwoPole

ORDER = 100  # in lists of kinds


@register("resistor", symbol="resistor", shortcut=True)
class Resistor(TwoPole):
    """Ohm's resistor; a law makes it a switch, a potentiometer or a hot wire."""

    resistance: Value = law("resistance", "voltage for a unit of current, or a law", ..., range=POSITIVE)
    rows: ClassVar[Rows] = (Row("Ohm's law", "voltage = resistance*current", "current"),)
    lost: ClassVar[str] = "resistance*current^2"


@register("capacitor", symbol="capacitor", shortcut=True)
class Capacitor(TwoPole):
    """A capacitor; its voltage is a state."""

    capacitance: Value = number("capacitance", "charge for a unit of voltage", range=POSITIVE)
    initial_voltage: Value | None = number("voltage", "voltage at the start", None, aside=True)
    unknowns: ClassVar[Mapping[str, Unknown]] = {"voltage": Unknown("voltage", "initial_voltage")}
    rows: ClassVar[Rows] = (Row("charge that it takes", "current = capacitance*der(voltage)", "der(voltage)"),)
    stored: ClassVar[str] = "capacitance*voltage^2/2"
    stores: ClassVar[str] = "electric"


@register("inductor", symbol="inductor", shortcut=True)
class Inductor(TwoPole):
    """A coil; its current is a state."""

    inductance: Value = number("inductance", "voltage for a unit of current a second", range=POSITIVE)
    initial_current: Value | None = number("current", "current at the start", None, aside=True)
    unknowns: ClassVar[Mapping[str, Unknown]] = {"current": Unknown("current", "initial_current")}
    rows: ClassVar[Rows] = (Row("law of induction", "voltage = inductance*der(current)", "der(current)"),)
    stored: ClassVar[str] = "inductance*current^2/2"
    stores: ClassVar[str] = "electric"


@register("voltage_source", symbol="voltage_source", shortcut=True)
class VoltageSource(PoleEnds):
    """Holds a voltage, whatever current it takes; ``current`` is what it delivers."""

    is_source: ClassVar[bool] = True
    voltage: Value = law("voltage", "of plus over minus: a number or a law", ...)
    names: ClassVar[Names] = {"current": "-plus.current"}
    rows: ClassVar[Rows] = (Row("voltage that it holds", "plus.voltage - minus.voltage = voltage", "plus.voltage"),)


@register("current_source", symbol="current_source", shortcut=True)
class CurrentSource(PoleEnds):
    """Delivers a current at plus, whatever voltage it takes."""

    is_source: ClassVar[bool] = True
    current: Value = law("current", "out of plus: a number or a law", ...)
    names: ClassVar[Names] = {"voltage": "plus.voltage - minus.voltage"}
    rows: ClassVar[Rows] = (Row("current that it delivers", "plus.current = -current", "plus.current"),)


@register("battery", symbol="battery", shortcut=True)
class Battery(PoleEnds):
    """A voltage behind an inner resistance; ``drawn`` counts the charge that it has delivered.

    Its voltage may be a law of it: ``voltage="12.6 - 0.4*pack.drawn/3600"``, in V and C.
    """

    voltage: Value = law("voltage", "without load: a number or a law", ...)
    resistance: Value = number("resistance", "inner resistance", range=UNSIGNED)
    initial_drawn: Value | None = number("charge", "charge drawn before the start", None, aside=True)
    unknowns: ClassVar[Mapping[str, Unknown]] = {"drawn": Unknown("charge", "initial_drawn")}
    names: ClassVar[Names] = {"current": "-plus.current", "terminal_voltage": "plus.voltage - minus.voltage"}
    rows: ClassVar[Rows] = (
        Row("voltage under load", "plus.voltage - minus.voltage = voltage + resistance*plus.current", "plus.voltage"),
        Row("charge drawn", "der(drawn) = -plus.current", "der(drawn)"),
    )
    lost: ClassVar[str] = "resistance*current^2"
    supplied: ClassVar[str] = "voltage*current"


@record
class TwoPairs(TwoPole):
    """Two pairs of nodes; the second takes ``second_current`` in at second_plus."""

    second_plus: str = port("electrical", "node at the positive end of the second side")
    second_minus: str = port("electrical", "node at its negative end")
    names: ClassVar[Names] = {
        "second_voltage": "second_plus.voltage - second_minus.voltage",
        "second_current": "second_plus.current",
    }
    common: ClassVar[Rows] = (
        Row(
            "current through the second side",
            "second_plus.current + second_minus.current = 0",
            "second_minus.current",
        ),
    )


@register("transformer", symbol="transformer", shortcut=True)
class Transformer(TwoPairs):
    """An ideal transformer: voltages as the turns, currents the other way, nothing lost; direct current passes too."""

    ratio: Value = number("dimensionless", "turns of the first winding for one of the second", range=NONZERO)
    rows: ClassVar[Rows] = (
        Row("ratio of the voltages", "voltage = ratio*second_voltage", "plus.voltage"),
        Row("ratio of the currents", "second_current = -ratio*current", "second_plus.current"),
    )


@register("bridge", symbol="bridge", shortcut=True)
class Bridge(TwoPairs):
    """An ideal bridge of switches between a bus and a load: it passes on a share of the voltage, all of the power."""

    modulation: Value = law("dimensionless", "voltage of the second side for that of the first: -1 to 1, or a law", ...)
    rows: ClassVar[Rows] = (
        Row("voltage of the load", "second_voltage = modulation*voltage", "second_plus.voltage"),
        Row("current of the bus", "current = -modulation*second_current", "plus.current"),
    )


@register("coupled_inductors", symbol="coupled_inductors", shortcut=True)
class CoupledInductors(TwoPairs):
    """Two coils that share ``coupling`` of their flux: a transformer that has to be magnetized."""

    inductance: Value = number("inductance", "of the first coil by itself", range=POSITIVE)
    second_inductance: Value = number("inductance", "of the second coil by itself", range=POSITIVE)
    coupling: Value = number("dimensionless", "share of the flux in common: between -1 and 1")
    initial_current: Value | None = number("current", "in the first coil at the start", None, aside=True)
    initial_second_current: Value | None = number("current", "in the second coil at the start", None, aside=True)
    unknowns: ClassVar[Mapping[str, Unknown]] = {
        "current": Unknown("current", "initial_current"),
        "second_current": Unknown("current", "initial_second_current"),
    }
    rows: ClassVar[Rows] = (
        Row(
            "induction in the first coil",
            "voltage = inductance*der(current) + coupling*sqrt(inductance*second_inductance)*der(second_current)",
            "der(current)",
        ),
        Row(
            "induction in the second coil",
            "second_voltage = coupling*sqrt(inductance*second_inductance)*der(current)"
            " + second_inductance*der(second_current)",
            "der(second_current)",
        ),
    )
    stored: ClassVar[str] = (
        "inductance*current^2/2 + coupling*sqrt(inductance*second_inductance)*current*second_current"
        " + second_inductance*second_current^2/2"
    )
    stores: ClassVar[str] = "electric"

    def find_wrong(self, field: str, value: float) -> str | None:
        if field != "coupling" or -1.0 < value < 1.0:
            return None
        return f"is between -1 and 1, not {value:g}; a transformer couples completely"
