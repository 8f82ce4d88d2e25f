"""Random systems with every element that loads bodies, and with brakes, friction, shafts and constraints.

Numbers are short, axes mostly along x, y, z, and some numbers are parameters: so systems are that are written out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from element_contract import AERODYNAMIC, BALLISTIC

import kinode as kn
from kinode.model.joints.joint import JOINTS

AIR = {
    "area": 0.5, "length": 0.3, "density": "1.2 - 0.1*altitude", "sound_speed": 3.0, "altitude": "2 + t",
    "wind": ("0.3*altitude", 0, "sin(t)"),
}  # fmt: skip
PUSHING = (
    "spring", "spring", "spring", "damper", "tension", "force", "moment", "thrust", "central_gravity", "earth_rotation",
    "aerodynamic", "ballistic",
)  # fmt: skip
ON_SHAFTS = ("brake", "lugre", "shaft_spring", "shaft_damper", "shaft_loss", "shaft_friction", "dc_motor", "gearbox")
CONSTRAINTS = ("distance", "point_on_plane", "point_on_line")
PLAIN = ("revolute", "revolute", "prismatic", "planar", "planar", "universal", "cylindrical", "screw")


def random_system(seed: int) -> kn.System:
    """A tree of one to three bodies with one to three of what acts on them."""
    rng = np.random.default_rng((seed, 33))
    system = kn.System("random", gravity=(0, -9.81, 0) if rng.random() < 0.8 else (0, 0, 0))
    names = ["world"]
    for k in range(int(rng.integers(1, 4))):
        kind = str(rng.choice(PLAIN)) if rng.random() < 0.85 else str(rng.choice(list(JOINTS)))
        _add_body(system, rng, k, kind, str(rng.choice(names)))
        names.append(f"body{k}")
    shafts = [joint.name for joint in system.joints.values() if joint.kind == "revolute"]
    for k in range(int(rng.integers(1, 4))):
        draw = rng.random()
        if draw < 0.2 and shafts:
            _add_on_shaft(system, rng, k, str(rng.choice(ON_SHAFTS)), str(rng.choice(shafts)))
        elif draw < 0.3:
            _add_constraint(system, rng, k, str(rng.choice(CONSTRAINTS)), names)
        else:
            _add_element(system, rng, k, PUSHING[(seed + k) % len(PUSHING)], names)
    return system


def _short(rng: np.random.Generator, low: float, high: float) -> float:
    return round(float(rng.uniform(low, high)) * 20) / 20


def _place(rng: np.random.Generator) -> tuple[float, float, float]:
    return tuple(_short(rng, -0.6, 0.6) if rng.random() < 0.7 else 0.0 for _ in range(3))


def _number(system: kn.System, rng: np.random.Generator, name: str, value: float) -> Any:
    """A number, or a parameter of this value."""
    return system.parameter(name, value) if rng.random() < 0.3 else value


def _at(system: kn.System, rng: np.random.Generator, name: str) -> Any:
    body = system.world if name == "world" else system.bodies[name]
    return body.at(*_place(rng))


def _add_body(system: kn.System, rng: np.random.Generator, k: int, kind: str, parent: str) -> None:
    mass = _number(system, rng, f"m{k}", 1.0 + _short(rng, 0, 5))
    body = system.body(f"body{k}", mass=mass, com=_place(rng), inertia=tuple(0.2 + _short(rng, 0, 0.1) for _ in "xyz"))
    fields: dict[str, Any] = {"lead": 0.1} if kind == "screw" else {}
    oblique = rng.random() < 0.1
    if kind == "universal":
        fields["axes"] = ("x", "z")
    elif "axis" in JOINTS[kind].specs():
        fields["axis"] = (1, 2, -0.5) if oblique else "z" if rng.random() < 0.6 else str(rng.choice(["x", "y", "-z"]))
    if kind in ("revolute", "prismatic"):
        fields |= {"damping": _number(system, rng, f"c{k}", 0.3), "stiffness": 20.0} if rng.random() < 0.3 else {}
        fields |= {"motion": "0.3*sin(2*t) + 0.1"} if rng.random() < 0.1 else {}
    place = {"rpy": (0, 0, 0.5)} if rng.random() < 0.1 else {}
    p = _place(rng)
    on = system.world.at(*p, **place) if parent == "world" else system.bodies[parent].at(*p, **place)
    system.joint(f"joint{k}", kind, on, body, **fields)


def _add_element(system: kn.System, rng: np.random.Generator, k: int, kind: str, names: list[str]) -> None:
    name, two = f"load{k}", [str(x) for x in rng.permutation(names)[:2]]
    on = next(x for x in two if x != "world")
    a, b, place = _at(system, rng, two[0]), _at(system, rng, two[1]), _at(system, rng, on)
    stiffness = _number(system, rng, f"k{k}", 40.0)
    fields: dict[str, Any] = {
        "spring": {"a": a, "b": b, "stiffness": stiffness, "damping": 3.0, "free_length": 0.3},
        "damper": {"a": a, "b": b, "stiffness": 0, "damping": _number(system, rng, f"d{k}", 15.0)},
        "tension": {"a": a, "b": b, "tension": "30*length^2 + 2*rate*length"},
        "force": {"on": place, "force": ("2*sin(t) - 0.3", "0.5", f"-0.2*{on}.velocity.x")},
        "moment": {"on": place, "moment": ("0.3", "cos(t)", 1.5), "expressed_in": on},
        "thrust": {"on": place, "thrust": "3 + t", "axis": "-z"},
        "central_gravity": {"center": system.world.at(0.5, 0, -3), "mu": 50.0},
        "earth_rotation": {"latitude": 0.9, "rate": 0.4, "north": "y"},
        "aerodynamic": {"on": place, **AIR, **AERODYNAMIC},
        "ballistic": {"on": place, **AIR, **BALLISTIC},
    }[kind]
    if kind == "central_gravity":
        system.gravity = (0, 0, 0)
    if kind in ("central_gravity", "earth_rotation") and any(x.kind == kind for x in system.elements.values()):
        return
    system.element(name, {"damper": "spring", "tension": "spring"}.get(kind, kind), **fields)


def _add_on_shaft(system: kn.System, rng: np.random.Generator, k: int, kind: str, joint: str) -> None:
    name = f"part{k}"
    if kind == "brake":
        system.element(name, kind, joint=joint, capacity=2.0, command="0.5 + 0.5*sin(t)")
    elif kind == "lugre":
        system.element(name, kind, joint=joint, sliding=1.0, static=1.5, stribeck_speed=0.1, stiffness=1000.0)
    elif kind == "dc_motor":
        system.element(f"source{k}", "voltage_source", plus=f"bus{k}", minus="gnd", voltage="12*sin(t)")
        electric = {"plus": f"bus{k}", "minus": "gnd", "resistance": 0.5, "constant": 0.1, "inductance": 0.01}
        system.element(name, kind, shaft=joint, **electric)
    elif kind == "gearbox":
        system.element(f"rotor{k}", "shaft_inertia", shaft=f"fast{k}", inertia=0.01)
        system.element(name, kind, input=f"fast{k}", output=joint, ratio=10)
    else:
        fields = {
            "shaft_spring": {"stiffness": 30.0, "damping": 0.2}, "shaft_damper": {"damping": 0.3},
            "shaft_loss": {"viscous": 0.1, "coulomb": 0.5}, "shaft_friction": {"coulomb": 0.5, "viscous": 0.1},
        }[kind]  # fmt: skip
        system.element(f"flywheel{k}", "shaft_inertia", shaft=f"free{k}", inertia=0.02)
        system.element(name, kind, a=f"free{k}", b=joint, **fields)


def _add_constraint(system: kn.System, rng: np.random.Generator, k: int, kind: str, names: list[str]) -> None:
    a, b = _at(system, rng, "world"), _at(system, rng, names[-1])
    fields: dict[str, Any] = {"distance": {"distance": 0.7}, "point_on_plane": {"normal": "z"}, "point_on_line": {}}[
        kind
    ]
    if kind == "distance":
        system.constraint(f"tie{k}", kind, a=a, b=b, **fields)
        return
    specs = {"point_on_plane": {"point": b, "plane": a}, "point_on_line": {"point": b, "line": a}}[kind]
    system.constraint(f"tie{k}", kind, **specs)
