"""The contract of an element that loads bodies.

Loads are minus the gradient of the potential, what acts between bodies adds up to nothing, and every quantity that an
element offers can be asked for, in every kind of number.  ``check_element`` holds an example to all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from derivative_checks import check_derivatives, random_point
from number_kinds import KINDS

import kinode as kn
from kinode.algebra.scalars import rate
from kinode.algebra.spatial import cross
from kinode.formulations.lagrange import LAGRANGE
from kinode.multibody.snapshot import Snapshot
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import Topology, find_topology

AERODYNAMIC = {
    "force_coefficients": ("-2 - mach", "-3*beta + incidence*roll_ratio", "-4*alpha*density"),
    "moment_coefficients": ("-roll_ratio", "airspeed - pitch_ratio", "beta - yaw_ratio + dynamic_pressure"),
}
BALLISTIC = {
    "drag": "3 + incidence^2", "lift": "2.7*mach", "magnus_force": -0.6, "roll_damping": -0.3, "overturning": 3.5,
    "pitch_damping": -8, "magnus_moment": 0.7,
}  # fmt: skip

EXACT = 1e-11  # rounding of some hundred operations on loads of the order of 10
ONE = {"body": "one", "at": (0.2, -0.3, 0.1), "rpy": (0.3, 0.2, -0.4)}
TWO = {"body": "two", "at": (-0.1, 0.25, 0.4)}


class ElementExample(NamedTuple):
    """An element on the bodies ``one`` and ``two``, and whether it acts between bodies."""

    kind: str
    fields: Mapping[str, Any]
    between: bool


def make_element(example: ElementExample) -> tuple[Topology, kn.Element]:
    """Two free bodies and the element."""
    system = kn.System("two", gravity=(0.0, 0.0, 0.0 if example.kind == "central_gravity" else -9.81))
    for name in ("one", "two"):
        body = system.body(name, mass=1.0, inertia=(0.1, 0.1, 0.1))
        system.free(f"fly_{name}", system.world, body)
    element = system.element("element", example.kind, **example.fields)
    return find_topology(system), element


def random_state(topology: Topology, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    q, u = rng.uniform(-1.0, 1.0, topology.n_q), rng.uniform(-1.0, 1.0, topology.n_u)
    for k in topology.layout.quaternions:
        q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
    return q, u


def total(loads: Sequence[kn.Load], scene: Snapshot) -> np.ndarray:
    """Force and moment about the world's origin, of all loads together."""
    force, moment = np.zeros(3), np.zeros(3)
    for load in loads:
        at = scene.pose(load.on).p if load.at is None else load.at
        force, moment = force + load.force, moment + load.moment + cross(at, load.force)
    return np.concatenate([force, moment])


# -- the contract --------------------------------------------------------------------------------------------
def loads_in_every_kind_of_number(example: ElementExample) -> None:
    topology, element = make_element(example)
    q, u = random_state(topology)

    def loads(t: np.ndarray, q: np.ndarray, u: np.ndarray) -> np.ndarray:
        scene = Snapshot(topology, EvaluationPoint(t[0], q, u))
        return np.concatenate([np.concatenate([x.force, x.moment]) for x in element.wrenches(scene)])

    exact = KINDS["floats"](loads, ([0.7], q, u))
    assert abs(exact).max() > 0.01
    for number, compute in KINDS.items():
        assert abs(compute(loads, ([0.7], q, u)) - exact).max() < EXACT, number


def what_acts_between_bodies_adds_up_to_nothing(example: ElementExample) -> None:
    topology, element = make_element(example)
    scene = Snapshot(topology, EvaluationPoint(0.7, *random_state(topology)))
    sum_ = total(element.wrenches(scene), scene).astype(float)
    assert (abs(sum_).max() < EXACT) == example.between


def loads_are_the_slope_of_the_potential(example: ElementExample) -> None:
    """At rest, so that dampers are silent: in every possible motion the potential loses what the loads do as work."""
    topology, element = make_element(example)
    q, u = random_state(topology, 1)
    scene = Snapshot(topology, EvaluationPoint(0.0, q, np.zeros(topology.n_u)))

    def potential(q: np.ndarray) -> np.ndarray:
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
    if type(element).potential is not kn.Element.potential and getattr(element, "tension", None) is None:
        assert abs(np.array(powers, dtype=float) + np.array(slopes, dtype=float)).max() < EXACT
    else:
        assert not np.any(slopes)


def quantities_can_be_asked_for(example: ElementExample) -> None:
    topology, element = make_element(example)
    point = EvaluationPoint(0.7, *random_state(topology))
    one, two = Snapshot(topology, point), Snapshot(topology, point, formulation=LAGRANGE)
    assert element.quantities
    for name in element.quantities:
        values = (np.asarray(by.quantity(f"element.{name}"), dtype=float) for by in (one, two))
        assert np.allclose(*values, rtol=1e-6, atol=EXACT), name


def its_loads_have_derivatives(example: ElementExample) -> None:
    topology, _ = make_element(example)
    start = np.array(list(topology.system.parameter_values().values()))
    point = random_point(topology, start, np.empty(0), np.zeros(topology.n_z))
    check_derivatives(topology, point, of=("u_dot",))


CHECKS: tuple[Callable[[ElementExample], None], ...] = (
    loads_in_every_kind_of_number, what_acts_between_bodies_adds_up_to_nothing, loads_are_the_slope_of_the_potential,
    quantities_can_be_asked_for, its_loads_have_derivatives,
)  # fmt: skip


def check_element(example: ElementExample) -> None:
    """Hold an element to the whole contract."""
    for check in CHECKS:
        check(example)
