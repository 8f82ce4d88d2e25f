"""What a new component begins with: the fields that it needs, with numbers that make sense on a desk."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kinode.expressions.units import DIMENSIONS
from kinode.model.base.fields import Component, Spec
from kinode.model.network.part import Part

BODY = {"shape": "{box: {x: 0.4 m, y: 0.05 m, z: 0.05 m, mass: 1 kg}}"}
# By dimension, as a person would type them.
QUANTITIES = {
    "voltage": "12 V", "resistance": "1 Ohm", "inductance": "10 mH", "capacitance": "100 uF", "current": "1 A",
    "torque_constant": "50 mN*m/A", "flux": "10 mWb", "inertia": "0.01 kg*m^2", "mass": "1 kg", "length": "0.1 m",
    "area": "0.01 m^2", "time": "0.1 s", "angle": "1 deg", "stiffness": "100 N/m", "damping": "1 N*s/m",
    "rotational_stiffness": "100 N*m/rad", "rotational_damping": "0.1 N*m*s/rad", "lead": "5 mm/rev",
}  # fmt: skip
# By shape of the field, where no dimension helps.
SHAPES = {
    "laws": "[0, 0, 0]", "vector": "[0, 0, 0]", "range": "[-1, 1]", "numbers": "[1]", "clock": "10 ms",
    "input_laws": "0", "matrix": "[[1]]", "named_laws": "{value: 0}", "rotor_inertia": "1e-4 kg*m^2", "axis": "z",
}  # fmt: skip
# By kind and field, where the general rule gives nonsense.
SPECIAL = {
    ("transfer_function", "denominator"): "[0.1, 1]",
    ("sampled_transfer_function", "denominator"): "[1, -0.5]",
    ("state_space", "A"): "[[-1]]",
    ("sampled_state_space", "A"): "[[0.5]]",
    ("worm_gear", "efficiency"): "40 %",
    ("worm_gear", "ratio"): "20",
    ("coupled_inductors", "coupling"): "0.5",
    ("relay", "on"): "1",
    ("relay", "off"): "0",
    ("switch", "command"): "1",
    ("lugre", "static"): "1.5 N*m",
    ("slide_lugre", "static"): "1.5 N",
}
ALSO: Mapping[str, Mapping[str, str]] = {  # fields that may be left out one by one, but not all; a rotor that can stick
    "dc_motor": {"inertia": "1e-4 kg*m^2"},
    "pid": {"target": "0", "measured": "0", "proportional": "1"},
    "sampled_pid": {"target": "0", "measured": "0", "proportional": "1"},
    "spring": {"stiffness": "100 N/m", "free_length": "0.1 m"},
    "aerodynamic": {"force_coefficients": "[-0.3, 0, 0]"},
    "ballistic": {"drag": "0.3"},
}


def starting_fields(
    cls: type[Component],
    given: Mapping[str, str],
    node: Callable[[], str],
    frame: Callable[[str], str],
    joints: Sequence[str],
) -> dict[str, str]:  # fmt: skip
    """The fields of a new component: those given, and what else it needs.

    ``node`` gives a fresh node for a port, ``frame`` what a frame field refers to, ``joints`` are those that it
    can act in.
    """
    fields: dict[str, str] = {}
    replaced = {field for name in given if name in cls.alternative_fields for field in cls.alternative_fields[name][0]}
    ports = cls.ports() if issubclass(cls, Part) else {}
    ends = "between" in given
    also = {} if ALSO.get(cls.kind, {}).keys() & given.keys() else ALSO.get(cls.kind, {})
    for name, (declared, spec) in cls.specs().items():
        if name in given:
            fields[name] = given[name]
        elif ends and name in ("a", "b"):
            fields["between"] = given["between"]
        elif name in also:
            fields[name] = also[name]
        elif declared.default is dataclasses.MISSING and name not in replaced:
            if name in ports:
                fields[name] = node()
            elif spec.shape == "frame":
                fields[name] = frame(name)
            elif spec.shape == "joint":
                if joints:
                    fields[name] = next((joint for joint in joints if joint not in fields.values()), joints[0])
            else:
                fields[name] = SPECIAL.get((cls.kind, name)) or starting_value(spec)
    return {**fields, **{name: value for name, value in given.items() if name not in fields}}


def starting_value(spec: Spec) -> str:
    """A first value for a field."""
    if spec.choices:
        return spec.choices[0]
    dimension = spec.dimension or ""
    if spec.shape in SHAPES:
        return SHAPES[spec.shape]
    if spec.shape in ("law", "number") and dimension in QUANTITIES:
        return QUANTITIES[dimension]
    unit = DIMENSIONS[dimension].unit if dimension in DIMENSIONS else "1"
    value = "0" if spec.shape == "law" and not dimension else "1"
    return value if unit == "1" else f"{value} {unit}"


def first_values(cls: type[Any]) -> dict[str, str]:
    """What a palette shows as the first values of a kind, ports and frames apart."""
    return starting_fields(cls, {}, lambda: "n1", lambda _: "world", ())
