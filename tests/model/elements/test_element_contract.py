"""The contract of an element, over the whole registry, in every kind of number.

Loads are minus the gradient of the potential, what acts between bodies adds up to nothing, and every quantity that
an element offers can be asked for.
"""

from __future__ import annotations

import numpy as np
import pytest
from number_kinds import KINDS

from kinode.algebra.scalars import rate
from kinode.algebra.spatial import cross
from kinode.formulations.lagrange import LAGRANGE
from kinode.model.base.element import ELEMENTS
from kinode.model.base.frames import Frame
from kinode.model.system import System
from kinode.multibody.composition import RECURSIVE
from kinode.multibody.snapshot import Snapshot
from kinode.structure.evaluation_point import EvaluationPoint
from kinode.structure.topology import find_topology

EXACT = 1e-11  # rounding of some hundred operations on loads of the order of 10
ONE = {"body": "one", "at": (0.2, -0.3, 0.1), "rpy": (0.3, 0.2, -0.4)}
TWO = {"body": "two", "at": (-0.1, 0.25, 0.4)}
LAWS = ("2*sin(t) - 0.3", "0.5*one.velocity.x", "1.5 + two.angular_velocity.z@two")

FAR = {"body": "world", "at": (0.5, 0.2, -0.4)}
SIZES = {
    "area": 0.5,
    "length": 0.3,
    "density": "1.2 - 0.1*altitude",
    "sound_speed": 3.0,
    "wind": ("0.3*altitude", 0, "sin(t)"),
}
COEFFICIENTS = {
    "force_coefficients": ("-2 - mach", "-3*beta + incidence*roll_ratio", "-4*alpha*density"),
    "moment_coefficients": ("-roll_ratio", "airspeed - pitch_ratio", "beta - yaw_ratio + dynamic_pressure"),
}
BALLISTIC = {
    "drag": "3 + incidence^2", "lift": "2.7*mach", "magnus_force": -0.6, "roll_damping": -0.3, "overturning": 3.5,
    "pitch_damping": -8, "magnus_moment": 0.7,
}  # fmt: skip

# name -> (kind, fields, whether it acts between bodies)
EXAMPLES = {
    "spring": ("spring", {"a": ONE, "b": TWO, "stiffness": 40.0, "free_length": 0.3}, True),
    "spring without free length": ("spring", {"a": ONE, "b": TWO, "stiffness": 40.0}, True),
    "spring and damper": ("spring", {"a": ONE, "b": TWO, "stiffness": 40.0, "free_length": 2, "damping": 3.0}, True),
    "damper to the world": ("spring", {"a": "world", "b": TWO, "damping": 3.0}, True),
    "tension law": ("spring", {"a": ONE, "b": TWO, "tension": "30*length^2 + 2*rate*length"}, True),
    "force": ("force", {"on": ONE, "force": LAWS}, False),
    "force in body axes": ("force", {"on": ONE, "force": LAWS, "expressed_in": ONE}, False),
    "force and reaction": ("force", {"on": ONE, "force": LAWS, "expressed_in": "two", "reaction_on": "two"}, True),
    "moment": ("moment", {"on": ONE, "moment": LAWS}, False),
    "moment and reaction": ("moment", {"on": ONE, "moment": LAWS, "expressed_in": ONE, "reaction_on": "two"}, True),
    "air by coefficients": ("aerodynamic", {"on": ONE, **SIZES, **COEFFICIENTS}, False),
    "air in other axes": ("aerodynamic", {"on": ONE, **SIZES, **COEFFICIENTS, "expressed_in": "two"}, False),
    "wind on a body of revolution": ("ballistic", {"on": ONE, **SIZES, **BALLISTIC}, False),
    "thrust": ("thrust", {"on": ONE, "thrust": "3 + t", "axis": "-z"}, False),
    "pull of a sphere": ("central_gravity", {"center": {"body": "world", "at": (0.5, 0, -3)}, "mu": 50.0}, False),
    "turning world": ("earth_rotation", {"latitude": 0.9, "rate": 0.4, "north": "y", "through": FAR}, False),
}
every_example = pytest.mark.parametrize("example", EXAMPLES)


def make(example):
    """Two free bodies and the element."""
    kind, fields, _ = EXAMPLES[example]
    system = System("two", gravity=(0.0, 0.0, 0.0 if kind == "central_gravity" else -9.81))
    for name in ("one", "two"):
        body = system.body(name, mass=1.0, inertia=(0.1, 0.1, 0.1))
        system.free(f"fly_{name}", system.world, body)
    element = system.element("element", kind, **fields)
    return find_topology(system), element


def random_state(topology, seed=0):
    rng = np.random.default_rng(seed)
    q, u = rng.uniform(-1.0, 1.0, topology.n_q), rng.uniform(-1.0, 1.0, topology.n_u)
    for k in topology.layout.quaternions:
        q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
    return q, u


def total(loads, scene):
    """Force and moment about the world's origin, of all loads together."""
    force, moment = np.zeros(3), np.zeros(3)
    for load in loads:
        at = scene.pose(load.on).p if load.at is None else load.at
        force, moment = force + load.force, moment + load.moment + cross(at, load.force)
    return np.concatenate([force, moment])


def test_every_registered_element_has_an_example():
    assert {kind for kind, _, _ in EXAMPLES.values()} == {kind for kind, cls in ELEMENTS.items() if cls.pushes}


@every_example
@pytest.mark.parametrize("number", KINDS)
def test_loads_in_every_kind_of_number(example, number):
    topology, element = make(example)
    q, u = random_state(topology)

    def loads(t, q, u):
        scene = Snapshot(topology, EvaluationPoint(t[0], q, u))
        return np.concatenate([np.concatenate([x.force, x.moment]) for x in element.wrenches(scene)])

    found = KINDS[number](loads, ([0.7], q, u))
    assert abs(found).max() > 0.01
    assert found == pytest.approx(KINDS["floats"](loads, ([0.7], q, u)), abs=EXACT)


@every_example
def test_what_acts_between_bodies_adds_up_to_nothing(example):
    topology, element = make(example)
    scene = Snapshot(topology, EvaluationPoint(0.7, *random_state(topology)))
    sum_ = total(element.wrenches(scene), scene).astype(float)
    between = EXAMPLES[example][2]
    assert (abs(sum_).max() < EXACT) == between


@every_example
def test_loads_are_the_slope_of_the_potential(example):
    """At rest, so that dampers are silent: in every possible motion the potential loses what the loads do as work."""
    topology, element = make(example)
    q, u = random_state(topology, 1)
    scene = Snapshot(topology, EvaluationPoint(0.0, q, np.zeros(topology.n_u)))
    has_potential = (
        type(element).potential is not ELEMENTS["force"].potential and getattr(element, "tension", None) is None
    )

    def potential(q):
        return np.array([element.potential(Snapshot(topology, EvaluationPoint(0.0, q, u)))], dtype=object)

    slopes, powers = [], []
    for unit in np.eye(topology.n_u):
        moving = Snapshot(topology, EvaluationPoint(0.0, q, unit))
        slopes.append(rate(potential, q, moving.q_dot)[0])
        power = 0.0
        for load in element.wrenches(scene):
            w, v = moving.velocity(load.on)
            v = v if load.at is None else v + cross(w, load.at - moving.pose(load.on).p)
            power += load.force @ v + load.moment @ w
        powers.append(power)
    if has_potential:
        assert powers == pytest.approx(-np.array(slopes, dtype=float), abs=EXACT)
    else:
        assert not np.any(slopes)


@every_example
def test_quantities_can_be_asked_for(example):
    topology, element = make(example)
    q, u = random_state(topology)
    point = EvaluationPoint(0.7, q, u)
    one, two = Snapshot(topology, point), Snapshot(topology, point, formulation=LAGRANGE)
    assert element.quantities
    for name in element.quantities:
        value = np.asarray(one.quantity(f"element.{name}"), dtype=float)
        assert value == pytest.approx(np.asarray(two.quantity(f"element.{name}"), dtype=float), abs=EXACT)


@pytest.mark.parametrize("example", [name for name, (kind, _, _) in EXAMPLES.items() if kind == "spring"])
def test_rate_of_a_spring_is_the_derivative_of_its_length(example):
    topology, element = make(example)
    q, u = random_state(topology, 2)
    now = Snapshot(topology, EvaluationPoint(0.0, q, u))

    def length(q):
        return np.array([element.quantity("length", Snapshot(topology, EvaluationPoint(0.0, q, u)))], dtype=object)

    assert float(rate(length, q, now.q_dot)[0]) == pytest.approx(float(element.quantity("rate", now)), abs=EXACT)


def test_tension_pulls_the_ends_together():
    """FACE: tension = stiffness (length - free_length) + damping rate, positive pulling."""
    topology, element = make("spring and damper")
    scene = Snapshot(topology, EvaluationPoint(0.0, *random_state(topology)))
    line = (scene.pose(element.b).p - scene.pose(element.a).p).astype(float)
    length, speed = np.linalg.norm(line), float(element.quantity("rate", scene))
    tension = 40.0 * (length - 2.0) + 3.0 * speed
    on_a, on_b = element.wrenches(scene)
    assert (on_a.on, on_b.on) == (element.a, element.b)
    assert on_a.force.astype(float) == pytest.approx(tension * line / length)
    assert float(element.quantity("tension", scene)) == pytest.approx(tension)


def test_a_spring_without_free_length_may_have_length_zero():
    system = System("touching", gravity=(0.0, 0.0, 0.0))
    body = system.body("body", mass=1.0, inertia=(1.0, 1.0, 1.0))
    system.free("fly", system.world, body)
    system.spring("spring", system.world, body, stiffness=10.0)
    topology = find_topology(system)
    point = EvaluationPoint(0.0, np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]), np.zeros(6))
    for formulation in (RECURSIVE, LAGRANGE):
        u_dot = Snapshot(topology, point, formulation=formulation).u_dot
        assert u_dot.astype(float) == pytest.approx(np.zeros(6))


def test_a_force_and_its_reaction_act_at_one_point():
    topology, element = make("force and reaction")
    scene = Snapshot(topology, EvaluationPoint(0.7, *random_state(topology)))
    load, reaction = element.wrenches(scene)
    assert reaction.on == Frame("two")
    assert reaction.at.astype(float) == pytest.approx(scene.pose(load.on).p.astype(float))
