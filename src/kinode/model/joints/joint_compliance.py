"""Compliance of a joint under its reaction, which decides how redundant joints share a load.

It does not affect the motion: bodies and joints stay rigid.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.model.base.field_reader import Reader
from kinode.model.base.fields import Value, Vector, unknown
from kinode.model.base.frames import Resolve

UNITS = {
    "force": "compliance",
    "moment": "rotational_compliance",
    "axial": "compliance",
    "radial": "compliance",
    "tilt": "rotational_compliance",
    "torsion": "rotational_compliance",
}
BY_COMPONENT, BY_AXIS = ("force", "moment"), ("axial", "radial", "tilt", "torsion")


@dataclass(frozen=True)
class Compliance:
    """Displacement for a unit force and turn for a unit moment, none of them negative; what is not given is rigid.

    ``force`` and ``moment`` hold three numbers each, in the parent's joint axes, like the reaction; ``axial`` and
    ``torsion`` are along and about the axis of the joint, ``radial`` and ``tilt`` across it.
    """

    force: Vector | None = None
    moment: Vector | None = None
    axial: Value | None = None
    radial: Value | None = None
    tilt: Value | None = None
    torsion: Value | None = None

    def given(self) -> dict[str, Any]:
        """The parts that were given."""
        return {name: value for name in UNITS if (value := getattr(self, name)) is not None}

    def root(self, C: Array, resolve: Resolve) -> Array:
        """W with the energy |W x|^2 / 2 of a reaction x = [force; moment]; C turns to axes with z along the joint's."""

        def roots(*values: Value | None) -> Array:
            return np.sqrt([0.0 if value is None else float(resolve(value)) for value in values])

        W = np.zeros((6, 6))
        if any(getattr(self, name) is not None for name in BY_AXIS):
            W[:3, :3] = roots(self.radial, self.radial, self.axial)[:, None] * C.T
            W[3:, 3:] = roots(self.tilt, self.tilt, self.torsion)[:, None] * C.T
        else:
            W[:3, :3] = np.diag(roots(*(self.force or (None,) * 3)))
            W[3:, 3:] = np.diag(roots(*(self.moment or (None,) * 3)))
        return W


def read_compliance(reader: Reader, raw: Any, field: str, *, axial: bool) -> Compliance:
    """From a mapping; ``axial`` of a joint that has one axis."""
    if isinstance(raw, Compliance):
        return raw
    words = (*BY_COMPONENT, *(BY_AXIS if axial else ()))
    if not isinstance(raw, Mapping) or not raw:
        raise reader.fail(field, f"a mapping with some of {', '.join(words)} is expected")
    for name in raw:
        if name not in words:
            raise reader.fail(field, unknown("has no part", name, words))
    if set(raw) & set(BY_COMPONENT) and set(raw) & set(BY_AXIS):
        raise reader.fail(field, "takes either force and moment, or axial, radial, tilt and torsion")

    def read(name: str, value: Any) -> Value:
        number = reader.number(value, UNITS[name], f"{field}.{name}")
        if isinstance(number, float) and number < 0:
            raise reader.fail(f"{field}.{name}", f"must not be negative, not {number:g}")
        return number

    def read_part(name: str, value: Any) -> Any:
        if name in BY_AXIS:
            return read(name, value)
        if isinstance(value, (list, tuple, np.ndarray)):
            return reader.sequence(value, 3, f"{field}.{name}", lambda item: read(name, item))
        return (read(name, value),) * 3

    return Compliance(**{name: read_part(name, value) for name, value in raw.items() if value is not None})
