"""Electrical parts: what stands between nodes of a circuit."""

from __future__ import annotations

from typing import ClassVar

from kinode.model.element import register_element
from kinode.model.fields import Value, number, record
from kinode.model.part import Row, TwoPole


@register_element
@record
class Resistor(TwoPole):
    """Ohm's resistor."""

    kind: ClassVar[str] = "resistor"
    resistance: Value = number("resistance", "voltage for a unit of current")
    rows: ClassVar[tuple[Row, ...]] = (Row("Ohm's law", "voltage = resistance*current", "current"),)
    lost: ClassVar[str] = "resistance*current^2"
