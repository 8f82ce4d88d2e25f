"""Derivatives over the whole registry: every kind of part, signal, brake and law, by everything, forward and backward.

Joints and constraints, and elements that load bodies, have theirs in the contracts of their families.  Here everything
else stands on one mechanism: a hinge and a slide, with a resistor, a damper or a mass at every free node.  Discrete
states are consistent with the state, and kinks are away.
"""

from copy import deepcopy

import numpy as np
import pytest
from derivative_checks import ALL, check_derivatives, random_point, run_kernel

import kinode as kn
from formats.test_every_kind import SIGNALS, remember
from kinode.expressions.function_table import FUNCTIONS
from kinode.expressions.lookup_tables import METHODS
from kinode.kernels.derivatives.derivative_words import count_columns
from kinode.kernels.kernel_options import DerivativeOptions, Kernel
from kinode.model.base.element import ELEMENTS
from model.network.test_part_contract import BY_KIND

CLOSE = 1e-12  # backward against forward, relative to the sum of the sizes of all terms
BRAKES = {
    "brake": {"joint": "hinge", "capacity": "k", "command": "0.5 + 0.2*sin(slide.q) + w"},
    "slide_brake": {"joint": "slide", "capacity": "2*k", "command": "0.5 + w"},
    "clutch": {"first": "hinge", "second": "wheel", "capacity": "k", "command": "0.5 + w", "ratio": "-k/3"},
    "lugre": {
        "joint": "hinge", "sliding": "k", "static": "1.2*k", "stribeck_speed": "T", "stiffness": 30, "damping": 2,
    },
    "slide_lugre": {"joint": "slide", "sliding": "k", "static": 3, "stribeck_speed": 0.3, "stiffness": "9*k"},
}  # fmt: skip
TIES = {
    "electrical": {"capacitor": {"minus": "gnd", "capacitance": "x"}, "resistor": {"minus": "gnd", "resistance": "k"}},
    "rotational": {"shaft_inertia": {"inertia": "x"}, "shaft_damper": {"damping": "k"}},
    "translational": {"slide_mass": {"mass": "x"}, "slide_damper": {"damping": "k"}},
}
PORTS = {"shaft_inertia": "shaft", "shaft_damper": "a", "slide_mass": "slide", "slide_damper": "a"}
JOINT_OF = {"rotational": "hinge", "translational": "slide"}
LINKS = ("frame_link", "turn_link")  # what they lead must not store anything at once
ARGUMENTS = ("0.3 + 0.2*hinge.q + 0.1*slide.u", "0.8 + 0.1*swing.q", "1.9 + 0.1*k", "2.7 + t")


def mechanism():
    """A hinge with a wheel on it, and a slide with a hinge on it; parameters, an input and a signal."""
    system = kn.System("mechanism", gravity=(0.3, -9.81, 0.2))
    for name, value in (("k", 2.0), ("T", 0.15), ("x", 0.37)):
        system.parameter(name, value)
    system.input("w", 0.3)
    arm, disk, cart, bob = (
        system.body(name, mass=m, com=(0.1, 0.05, 0), inertia=(0.2, 0.3, 0.4))
        for name, m in {"arm": "k", "disk": 1.5, "cart": 1.2, "bob": 0.7}.items()
    )
    system.revolute("hinge", system.world, arm, axis="z")
    system.revolute("wheel", arm.at("x", 0, 0), disk, axis=(0, 1, 2))
    system.prismatic("slide", system.world, cart, axis="x")
    system.revolute("swing", cart.at(0, "x", 0), bob, axis="z")
    system.signal("sig", "k*sin(hinge.q) + 0.4*slide.u + w")
    return system


def with_part(kind):
    """A part between nodes that store and lose energy; the second one of a kind is a joint."""
    system, fields = mechanism(), dict(BY_KIND[kind].fields)
    for name, domain in ELEMENTS[kind].ports().items():
        if fields.get(name) == "s2":
            fields[name] = JOINT_OF[domain.kind]
    if kind in LINKS:
        fields["on"] = "arm"
    system.element("part", kind, **fields)
    for name, node in list(system.nodes.items()):
        for tie, more in TIES[node.kind].items():
            if kind not in LINKS or "damping" in more:
                system.element(f"{tie}_{name}", tie, **more, **{PORTS.get(tie, "plus"): name})
    return system


def with_signal(kind):
    """A signal that drives a joint by its outputs."""
    system = mechanism()
    fields = {name: _renamed(value) for name, value in SIGNALS[kind].items()}
    system.element("part", kind, **fields, **({"function": remember} if kind == "controller" else {}))
    outputs = ["part.output.one", "part.output.two"] if "outputs" in fields else ["part.output"]
    outputs = ["part.y"] if kind == "fmu" else outputs
    system.change("swing", effort=" + ".join(outputs))
    return system


def _renamed(value):
    """The laws of a signal, with the hinge of this mechanism."""
    if isinstance(value, dict):
        return {name: _renamed(x) for name, x in value.items()}
    if isinstance(value, list):
        return [_renamed(x) for x in value]
    return value.replace("j.q", "hinge.q") if isinstance(value, str) else value


def check(system, seed=0, **more):
    """All blocks against differences, and a sweep backward against them."""
    dynamics = kn.compile(system)
    topology = dynamics.topology
    point = random_point(topology, dynamics.parameters, dynamics.inputs, dynamics.initial.z, seed)
    matrix = check_derivatives(topology, point, **more)
    by = tuple((word, 0 if word == "t" else None) for word in ALL if count_columns(topology, word))
    weights, x = np.random.default_rng(1).normal(size=len(matrix)), np.linspace(-1.0, 1.3, topology.n_u)
    kernel = Kernel("gradient", DerivativeOptions(more.get("of", ("rate",)), by))
    backward = run_kernel(topology, kernel, point, np.concatenate([x, weights]))
    assert (abs(backward - weights @ matrix) <= CLOSE * (abs(weights) @ abs(matrix) + 1.0)).all()
    return matrix


def test_every_kind_is_here_or_in_a_contract():
    parts = {kind for kind, cls in ELEMENTS.items() if issubclass(cls, kn.Part)}
    assert set(BY_KIND) == parts
    assert {kind for kind, cls in ELEMENTS.items() if not cls.pushes} - parts == {*SIGNALS, *BRAKES}


@pytest.mark.parametrize("kind", list(BY_KIND))
def test_every_part(kind):
    check(with_part(kind))


@pytest.mark.parametrize("kind", list(SIGNALS))
def test_every_signal(kind):
    check(with_signal(kind), seed=2)  # with 0 and 1 the integrator is just at its limit


@pytest.mark.parametrize("kind", list(BRAKES))
def test_every_brake(kind):
    system = mechanism()
    system.element("part", kind, **BRAKES[kind])
    check(system)


@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_every_function_of_laws(name):
    """Away from kinks, where all of them are smooth."""
    function = FUNCTIONS[name]
    count = function.least if function.most is None else function.most
    arguments = (f"0.1*({ARGUMENTS[0]})", *ARGUMENTS[1:]) if name in ("asin", "acos") else ARGUMENTS
    system = mechanism()
    system.change("swing", effort=f"k*{name}({', '.join(arguments[:count])})")
    check(system)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("axes", [1, 2])
def test_every_kind_of_table(method, axes):
    grid = [-3.0, -1.7, -0.4, 0.5, 1.4, 3.0]
    values = np.random.default_rng(axes).normal(size=(6,) * axes)
    system = mechanism()
    system.table("map", axes=[grid] * axes, values=values.tolist(), method=method, outside="hold")
    system.change("swing", effort=f"map({', '.join(ARGUMENTS[:axes])})")
    check(system)


FRICTION = {"coefficient": 0.2, "radius": 0.05, "length": 0.3, "effort": "0.3*k", "preload": 4.0}
ENDS = {
    "friction": {"friction": {"coulomb": {**FRICTION, "static_effort": "0.4*k", "stribeck_speed": 0.2}}},
    "smooth friction": {"friction": {"coulomb": {**FRICTION, "slip": 0.3}}},
    "stop": {"stop": {"lower": -0.02, "upper": 0.02, "stiffness": "40*k", "damping": 3.0}},
    "backlash": {"backlash": {"play": "0.1*x", "stiffness": 70.0, "damping": 2.0}},
}


@pytest.mark.parametrize("law", list(ENDS))
@pytest.mark.parametrize("joint", ["hinge", "slide"])
def test_every_law_in_a_joint(law, joint):
    system = mechanism()
    fields = deepcopy(ENDS[law])
    if joint == "slide" and "friction" in fields:
        del fields["friction"]["coulomb"]["radius"]
    system.change(joint, **fields)
    check(system)
