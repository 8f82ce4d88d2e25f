"""Hamilton's equations against the recursion, on random trees with quaternions, gears and prescribed motions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joint_contract import needed_fields
from strategies import plans, topology_of

import kinode as kn
from kinode.formulations.formulation_table import FORMULATIONS
from kinode.formulations.lagrange import HAMILTON, HamiltonMotion
from kinode.model.joints.joint import JOINTS
from kinode.multibody.snapshot import Snapshot
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import find_topology
from kinode.symbolic.traced_derivation import structure_constants
from kinode.tasks.verify import random_state

CROSS = np.array(
    [[[0, 0, 0], [0, 0, 1], [0, -1, 0]], [[0, 0, -1], [0, 0, 0], [1, 0, 0]], [[0, 1, 0], [-1, 0, 0], [0, 0, 0]]]
)


@given(plans(), st.integers(0, 99))
@settings(max_examples=8)
def test_accelerations_are_those_of_the_recursion(plan, seed):
    topology = topology_of(plan)
    if topology.n_u > 8 or FORMULATIONS["hamilton"].applies(topology):
        return
    point = EvaluationPoint(*random_state(topology, np.random.default_rng(seed)))
    wanted, ours = (
        np.asarray(s.u_dot, dtype=float)
        for s in (Snapshot(topology, point), Snapshot(topology, point, formulation=HAMILTON))
    )
    assert abs(wanted - ours).max(initial=0.0) <= 1e-9 * max(abs(wanted).max(initial=0.0), 10.0)


@pytest.mark.parametrize("kind", JOINTS)
def test_speeds_that_are_rates_of_coordinates_commute(kind):
    system = kn.System("one")
    joint = system.joint("joint", kind, system.world, system.body("body", mass=1.0), **needed_fields(kind))
    c = structure_constants(joint)
    assert c.shape == (joint.n_u,) * 3
    if joint.quaternion is None:
        assert not c.any()
    else:  # angular velocities in child axes: -w x p
        np.testing.assert_array_equal(c[-3:, -3:, -3:], CROSS)


def test_the_energy_is_not_the_hamiltonian_of_a_driven_cart():
    """Cart with x = s(t): H = (p - m l s' cos)^2 / (2 J) - m s'^2 / 2 - m g l cos, T + V is not."""
    system = kn.System("driven", gravity=(0, -9.81, 0))
    cart = system.body("cart", mass=2.0)
    bob = system.body("bob", mass=1.0, com=(0, -0.5, 0), inertia=(0.1, 0.1, 0.1))
    system.prismatic("rail", system.world, cart, axis="x", motion="0.1*sin(2*t)")
    system.revolute("pin", cart, bob, axis="z")
    topology = find_topology(system)
    t, q, u = 0.3, 0.7, 1.3
    motion = Snapshot(topology, EvaluationPoint(t, np.array([q]), np.array([u])), formulation=HAMILTON).motion
    assert isinstance(motion, HamiltonMotion)
    speed = 0.2 * np.cos(2 * t)
    p = 0.35 * u + 0.5 * speed * np.cos(q)
    H = (p - 0.5 * speed * np.cos(q)) ** 2 / 0.7 - 1.5 * speed**2 - 4.905 * np.cos(q)
    np.testing.assert_allclose(motion.momenta, [p], rtol=1e-14)
    np.testing.assert_allclose(motion.hamiltonian(motion.kinematics.x, motion.momenta), H, rtol=1e-14)


def test_more_momenta_than_it_takes_are_refused():
    system = kn.System("long")
    body = system.world
    for k in range(13):
        link = system.body(f"b{k}", mass=1.0, com=(0.1, 0, 0))
        system.revolute(f"j{k}", body, link, axis="z")
        body = link
    with pytest.raises(kn.Error, match="13 momenta"):
        kn.equations(system, "hamilton")
