"""The contract of an element, over the whole registry; and what is said of springs and forces."""

from __future__ import annotations

import numpy as np
import pytest
from element_contract import (
    AERODYNAMIC,
    BALLISTIC,
    CHECKS,
    EXACT,
    ONE,
    TWO,
    ElementExample,
    make_element,
    random_state,
)

import kinode as kn
from kinode.algebra.scalars import rate
from kinode.formulations.lagrange import LAGRANGE
from kinode.model.base.element import ELEMENTS
from kinode.model.base.frames import Frame
from kinode.multibody.snapshot import RECURSIVE, Snapshot
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import find_topology

LAWS = ("2*sin(t) - 0.3", "0.5*one.velocity.x", "1.5 + two.angular_velocity.z@two")

FAR = {"body": "world", "at": (0.5, 0.2, -0.4)}
SIZES = {
    "area": 0.5,
    "length": 0.3,
    "density": "1.2 - 0.1*altitude",
    "sound_speed": 3.0,
    "wind": ("0.3*altitude", 0, "sin(t)"),
}
EXAMPLES = {
    name: ElementExample(*example)
    for name, example in {
        "spring": ("spring", {"a": ONE, "b": TWO, "stiffness": 40.0, "free_length": 0.3}, True),
        "spring without free length": ("spring", {"a": ONE, "b": TWO, "stiffness": 40.0}, True),
        "spring and damper": (
            "spring",
            {"a": ONE, "b": TWO, "stiffness": 40.0, "free_length": 2, "damping": 3.0},
            True,
        ),
        "damper to the world": ("spring", {"a": "world", "b": TWO, "damping": 3.0}, True),
        "tension law": ("spring", {"a": ONE, "b": TWO, "tension": "30*length^2 + 2*rate*length"}, True),
        "force": ("force", {"on": ONE, "force": LAWS}, False),
        "force in body axes": ("force", {"on": ONE, "force": LAWS, "expressed_in": ONE}, False),
        "force and reaction": ("force", {"on": ONE, "force": LAWS, "expressed_in": "two", "reaction_on": "two"}, True),
        "moment": ("moment", {"on": ONE, "moment": LAWS}, False),
        "moment and reaction": ("moment", {"on": ONE, "moment": LAWS, "expressed_in": ONE, "reaction_on": "two"}, True),
        "air by coefficients": ("aerodynamic", {"on": ONE, **SIZES, **AERODYNAMIC}, False),
        "air in other axes": ("aerodynamic", {"on": ONE, **SIZES, **AERODYNAMIC, "expressed_in": "two"}, False),
        "wind on a body of revolution": ("ballistic", {"on": ONE, **SIZES, **BALLISTIC}, False),
        "thrust": ("thrust", {"on": ONE, "thrust": "3 + t", "axis": "-z"}, False),
        "pull of a sphere": ("central_gravity", {"center": {"body": "world", "at": (0.5, 0, -3)}, "mu": 50.0}, False),
        "turning world": ("earth_rotation", {"latitude": 0.9, "rate": 0.4, "north": "y", "through": FAR}, False),
    }.items()
}


def test_every_registered_element_has_an_example():
    assert {example.kind for example in EXAMPLES.values()} == {kind for kind, cls in ELEMENTS.items() if cls.pushes}


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_contract(example, check):
    check(EXAMPLES[example])


@pytest.mark.parametrize("example", [name for name, example in EXAMPLES.items() if example.kind == "spring"])
def test_rate_of_a_spring_is_the_derivative_of_its_length(example):
    topology, element = make_element(EXAMPLES[example])
    q, u = random_state(topology, 2)
    now = Snapshot(topology, EvaluationPoint(0.0, q, u))

    def length(q):
        return np.array([element.quantity("length", Snapshot(topology, EvaluationPoint(0.0, q, u)))], dtype=object)

    assert float(rate(length, q, now.q_dot)[0]) == pytest.approx(float(element.quantity("rate", now)), abs=EXACT)


def test_tension_pulls_the_ends_together():
    """tension = stiffness (length - free_length) + damping rate, positive pulling."""
    topology, element = make_element(EXAMPLES["spring and damper"])
    scene = Snapshot(topology, EvaluationPoint(0.0, *random_state(topology)))
    line = (scene.pose(element.b).p - scene.pose(element.a).p).astype(float)
    length, speed = np.linalg.norm(line), float(element.quantity("rate", scene))
    tension = 40.0 * (length - 2.0) + 3.0 * speed
    on_a, on_b = element.wrenches(scene)
    assert (on_a.on, on_b.on) == (element.a, element.b)
    assert on_a.force.astype(float) == pytest.approx(tension * line / length)
    assert float(element.quantity("tension", scene)) == pytest.approx(tension)


def test_a_spring_without_free_length_may_have_length_zero():
    system = kn.System("touching", gravity=(0.0, 0.0, 0.0))
    body = system.body("body", mass=1.0, inertia=(1.0, 1.0, 1.0))
    system.free("fly", system.world, body)
    system.spring("spring", system.world, body, stiffness=10.0)
    topology = find_topology(system)
    point = EvaluationPoint(0.0, np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]), np.zeros(6))
    for formulation in (RECURSIVE, LAGRANGE):
        u_dot = Snapshot(topology, point, formulation=formulation).u_dot
        assert u_dot.astype(float) == pytest.approx(np.zeros(6))


def test_a_force_and_its_reaction_act_at_one_point():
    topology, element = make_element(EXAMPLES["force and reaction"])
    scene = Snapshot(topology, EvaluationPoint(0.7, *random_state(topology)))
    load, reaction = element.wrenches(scene)
    assert reaction.on == Frame("two")
    assert reaction.at.astype(float) == pytest.approx(scene.pose(load.on).p.astype(float))
