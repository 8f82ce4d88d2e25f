"""Systems of every kind of component, drawn by hypothesis, for round trips and fuzzing."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from joint_contract import needed_fields

import kinode as kn
from kinode.model.base.bodies import Visual
from kinode.model.joints.joint import JOINTS

FLOATS = st.floats(-1e6, 1e6, allow_nan=False)
SMALL = st.floats(-3, 3, allow_nan=False)
POSITIVE = st.floats(1e-3, 1e3, allow_nan=False)
VISIBLE = st.characters(exclude_categories=("C", "Zl", "Zp"))
TEXT = st.text(VISIBLE | st.sampled_from("\n\t"), max_size=20)


def constants(system: kn.System) -> st.SearchStrategy[Any]:
    """Numbers and arithmetic with parameters of no known dimension."""
    names = [name for name, parameter in system.parameters.items() if parameter.dimension is None]
    if not names:
        return SMALL
    texts = st.sampled_from(["{0}", "2*{0} + 1", "-{0}/3", "{0}^2 - 0.1", "max({0}, 2)", "1/(2 + {0}^2)"])
    return SMALL | st.builds(lambda text, name: text.format(name), texts, st.sampled_from(names))


@st.composite
def rotations(draw: st.DrawFn) -> dict[str, Any]:
    way = draw(st.sampled_from(["none", "rpy", "quaternion", "matrix", "turns"]))
    if way == "rpy":
        return {"rpy": draw(st.tuples(SMALL, SMALL, SMALL))}
    if way == "quaternion":
        q = [1.0, *draw(st.tuples(SMALL, SMALL, SMALL))]
        length = sum(x * x for x in q) ** 0.5
        return {"quaternion": [x / length for x in q]}
    if way == "matrix":
        return {"matrix": [[0.6, -0.8, 0.0], [0.8, 0.6, 0.0], [0.0, 0.0, 1.0]]}
    if way == "turns":
        axes = st.sampled_from(["x", "-y", "z", (1.0, 2.0, 2.0)])
        return {"turns": draw(st.lists(st.tuples(axes, SMALL), min_size=1, max_size=3))}
    return {}


@st.composite
def masses(draw: st.DrawFn) -> dict[str, Any]:
    mass = draw(POSITIVE)
    choice = draw(st.integers(0, 5))
    if choice == 0:
        return {"shape": kn.box(draw(POSITIVE), 1.0, 2.0, mass=mass)}
    if choice == 1:
        return {"shape": kn.cylinder(draw(POSITIVE), 1.0, axis="x", density=mass, at=(0, 1, 0))}
    if choice == 2:
        return {"shape": kn.rod(draw(POSITIVE), mass=mass)}
    if choice == 3:
        return {"mass": mass, "shape": kn.sphere(draw(POSITIVE))}
    if choice == 4:
        return {"mass": mass, "com": draw(st.tuples(SMALL, SMALL, SMALL)), "inertia": (3.0, 3.0, 4.0, 0.1, -0.2, 0.3)}
    looks = (
        Visual("mesh", (1.0, 1.0, 1.0), file=draw(TEXT) + ".stl"),
        Visual("box", (1.0, 2.0, 0.5), role="collision"),
    )
    return {"mass": mass, "inertia": {"zz": draw(POSITIVE)}, "meshes": looks}


def is_name(text: str) -> bool:
    return bool(text.strip()) and text.isprintable()


def _fields(draw: st.DrawFn, system: kn.System, kind: str, name: str) -> dict[str, Any]:
    cls = JOINTS[kind]
    n = len(cls.coordinates)
    fields: dict[str, Any] = needed_fields(kind, 0.01)
    if kind == "universal":
        fields["axes"] = draw(st.sampled_from([("x", "y"), ("z", (1.0, 1.0, 0.0))]))
    elif hasattr(cls, "axis"):
        fields["axis"] = draw(st.sampled_from(["x", "-y", "z", (1.0, 2.0, 3.0), (0.0, -0.3, 0.7)]))
    numbers = st.tuples(*[constants(system)] * n)
    laws = st.tuples(*[st.sampled_from([0.5, "sin(t)", "where(t < 1, 2, gust)", "load(t) - level", f"-{name}.u"])] * n)
    if draw(st.booleans()) and n:
        fields["damping"] = draw(numbers)
        if cls.quaternion is None:
            fields["q"] = draw(numbers)
            fields["stiffness"] = draw(numbers)
    if draw(st.booleans()) and n == 1:
        fields["effort"] = draw(laws)
        fields["limits"] = {"lower": -1.0, "upper": draw(st.floats(0, 3)), "speed": "30"}
    if kind == "free":
        fields |= {"position": draw(st.tuples(SMALL, SMALL, SMALL)), "velocity": (0, "1 m/s", 0), **draw(rotations())}
    return fields


def _add_network(draw: st.DrawFn, system: kn.System) -> None:
    """A motor at whatever turns, a spring at whatever slides, on nodes of any name; a kind of its own beside them."""
    bus, rotor = draw(
        st.lists(st.sampled_from(["bus", "no", "on", "y", "N1", "e5"]), min_size=2, max_size=2, unique=True)
    )
    numbers = {"resistance": draw(POSITIVE), "inductance": draw(st.sampled_from([0.0, "2 mH"])), "constant": 0.1}
    parameters = {"damping": {"unit": "N*m*s/rad", "default": draw(POSITIVE), "doc": draw(TEXT)}}
    system.define("rub", base="two_shaft", parameters=parameters, equations={draw(TEXT): "moment = damping*speed"})
    system.element("rubs", "rub", a=rotor, **draw(st.sampled_from([{}, {"damping": 2.0}])))
    system.battery(
        "cell", bus, "gnd", voltage=draw(st.sampled_from([12.0, "12 + gust*0", "10 - level"])), resistance=0.1
    )
    system.dc_motor("engine", bus, "gnd", rotor, **numbers)
    for name, joint in system.joints.items():
        for coordinate, unit in joint.coordinates if joint.quaternion is None else ():
            at = name if joint.n_u == 1 else f"{name}.{coordinate}"
            if unit == "angle":
                system.gearbox(f"gear_{name}_{coordinate}", rotor, at, ratio=draw(POSITIVE))
            else:
                system.slide_spring(f"pull_{name}_{coordinate}", at, stiffness=draw(POSITIVE))
    system.signal("amps", f"engine.current + {bus}.voltage*{rotor}.speed")


@st.composite
def systems(draw: st.DrawFn, name: str | None = None) -> kn.System:
    """A tree with parameters, laws, tables, named frames and elements."""
    gravity = draw(st.tuples(SMALL, SMALL, SMALL))
    system = kn.System(name or draw(st.text(VISIBLE, min_size=1, max_size=20).filter(is_name)), gravity=gravity)
    for i in range(draw(st.integers(0, 3))):
        value = draw(st.sampled_from(["30 deg", "2.5 m", "3 N*m*s", "7", 0.25, "2 1/s", "1e-3 kg"]))
        bounds = draw(st.sampled_from([None, (-1e9, 1e9)]))
        system.parameter(f"p{i}", value, bounds=bounds, note=draw(TEXT))
    if system.parameters:
        system.parameter("double", "2*p0")
    system.input("gust", draw(st.sampled_from([0.0, "3 N", 1e-300])))
    system.table("load", axes=(0.0, 1.0, draw(st.floats(2, 3))), values=(0.0, draw(FLOATS), 1.0), outside="hold")
    if draw(st.booleans()):
        system.table("map", axes=((0, 1), (0, 2)), values=((0, 1), (2, 3)), method="nearest")
    system.signal("level", draw(st.sampled_from(["0.5*gust^2", "load(clamp(t, 0, 1))", 3.0])))
    places = [system.world.at(0, 0, 1, name="top", **draw(rotations()))]
    for i in range(draw(st.integers(1, 4))):
        body = system.body(f"b{i}", **draw(masses()))
        joint = draw(st.sampled_from(sorted(JOINTS)))
        parent = draw(st.sampled_from(places))
        at = draw(st.sampled_from([(0.0, 0.0, 0.0), (1.0, 0.0, 0.5)]))
        system.joint(f"j{i}", joint, parent, body, at=at, **_fields(draw, system, joint, f"j{i}"))
        place = system[f"b{i}"].at(*draw(st.tuples(SMALL, SMALL, SMALL)), name="end", **draw(rotations()))
        places += [place, system.find_frame(f"b{i}.com"), system.find_frame(f"j{i}.child"), system.find_frame(f"b{i}")]
    a, b = draw(st.sampled_from(places)), draw(st.sampled_from(places))
    if a != b:
        system.spring("s", a, b, stiffness=draw(POSITIVE), free_length=0.5)
        system.spring("law", a, b, tension="50*max(0, length - 1) + rate + gust")
    system.force("f", a, (1.0, "gust*cos(t)", "s.length" if "s" in system else 0.0), expressed_in=b)
    system.moment("m", b, ("0.1*b0.angular_velocity.x@b0", 0, "b0.end.position.y"))
    if draw(st.booleans()):
        axis = draw(st.sampled_from(["x", "-z", (1.0, 2.0, 3.0)]))
        system.frame("calm", "nonrolling", on=draw(st.sampled_from(places)), axis=axis, roll=draw(constants(system)))
        laws = draw(st.tuples(*[st.sampled_from([0.5, "sin(t)", "gust*t", "load(t)"])] * 3))
        way = draw(st.sampled_from([{"rpy": laws}, {"turns": (("z", laws[0]), ((0.0, 0.6, 0.8), laws[1]))}, {}]))
        system.frame("guest", "moving", on="calm", position=laws, **way)
        system.moment("roll", b, ("-b0.angular_velocity.x@guest", 0, "calm.roll"), expressed_in="calm")
    if draw(st.booleans()):
        _add_network(draw, system)
    if draw(st.booleans()):
        system.run_defaults = {"until": 3.0, "method": "rk4", "step": "1e-3 s", "times": [0, 1, 2.5]}
    system.notes.extend(draw(st.lists(TEXT, max_size=2)))
    system.check()
    return system
