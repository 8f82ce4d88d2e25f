"""Reactions of chains with axes that do not meet, by every method, against the figures of the reference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import plans, topology_of

import kinode as kn
from kinode.formulations import vector_methods
from kinode.formulations.vector_methods import CAUSES, QUASI_BASE
from kinode.multibody.snapshot import RECURSIVE, Composition, Snapshot
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import find_topology
from kinode.tasks.verify import random_state
from known.joint_reactions import BASE, HINGES, MASS_MOMENTS, REACTIONS, ROTATORS, SLIDE, U_DOT, Q, U

CHAINS = {"3R": HINGES, "RPR": SLIDE}
WAYS = {"recursive": RECURSIVE, "quasi_base": QUASI_BASE, "rotators": vector_methods.ROTATORS}


def chain(name: str) -> kn.System:
    system = kn.System("chain")
    at = system.world.at(*BASE)
    for k, (kind, axis, mass, center, end, inertia) in enumerate(CHAINS[name], 1):
        names = dict(zip(("xx", "yy", "zz", "xy", "xz", "yz"), inertia, strict=True))
        body = system.body(f"body{k}", mass=mass, com=center, inertia=names)
        system.joint(f"joint{k}", {"R": "revolute", "P": "prismatic"}[kind], at, body, axis=axis)
        at = body.at(*end)
    return system


def instant(way: Composition, name: str, u=U, u_dot=U_DOT, **more) -> Snapshot:
    point = EvaluationPoint(0.0, np.array(Q[name]), np.array(u))
    return Snapshot(find_topology(chain(name)), point, u_dot=np.array(u_dot), formulation=way, **more)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("name", CHAINS)
def test_reference(name, way):
    now = instant(way, name)
    world = now.system.find_frame("world")
    efforts = now.inverse_effort
    for k in (1, 2, 3):
        for part in ("total", "static", "kinetic"):
            force, moment, effort = REACTIONS[name, k, part]
            M, F = now.reaction(f"joint{k}", part, expressed_in=world)
            np.testing.assert_allclose(F.astype(float), force, rtol=0, atol=1e-10)
            np.testing.assert_allclose(M.astype(float), moment, rtol=0, atol=1e-10)
            if part == "total":
                assert float(efforts[k - 1]) == pytest.approx(effort, abs=1e-10)


def test_mass_moments():
    """Those of the terms with the acceleration of one hinge: S, J and D of a body for its axis."""
    terms = [x for each in instant(WAYS["rotators"], "3R").motion.terms for x in each]
    own = {(x.moment_of, x.axes): x.mass_moment for x in terms if x.cause == vector_methods.ACCELERATION}
    for name, value in MASS_MOMENTS.items():
        found = own[f"{name[0]}(body{name[1]})", (f"joint{name[-1]}",)]
        np.testing.assert_allclose(found.astype(float), value, rtol=0, atol=1e-12)


# Which vector each rotator of (T-9.21) turns, and the hinges that it is of.
TURNED = {
    "R1": ("rho1", 1), "R20": ("r12", 1), "R2": ("rho2", 1), "R21": ("rho2", 2), "R22": ("rho2", 1, 2),
    "R3": ("r23", 1), "R31": ("r23", 2), "R32": ("r23", 1, 2), "R33": ("rho3", 1), "R34": ("rho3", 2),
    "R35": ("rho3", 1, 2), "R36": ("rho3", 3), "R37": ("rho3", 1, 3), "R38": ("rho3", 2, 3),
}  # fmt: skip


@pytest.mark.parametrize("name", TURNED)
def test_rotators(name):
    now = instant(WAYS["rotators"], "3R").motion
    links = now.kinematics.links
    which, *axes = TURNED[name]
    last = int(which[-1]) - 1
    if which.startswith("rho"):
        b, carried = links[last].center - links[last].pole, links[: last + 1]
    else:
        b, carried = links[last].pole - links[last - 1].pole, links[:last]
    wanted = tuple(f"joint{k}" for k in axes)
    found = [c for c in now.changes(carried, b, now.kinematics.speeds, now.accelerations) if c.axes == wanted]
    assert len(found) == (2 if len(axes) == 1 else 1)
    rotator = sum(c.product for c in found) / found[0].size
    np.testing.assert_allclose(rotator.astype(float), ROTATORS[name], rtol=0, atol=1e-12)


@settings(max_examples=20)
@given(plans(most=5), st.integers(0, 99))
def test_random_trees(plan, seed):
    """Every part of every reaction, by both methods and by the recursion, on trees with drives, gears and loads."""
    topology = topology_of(plan)
    t, q, u, z = random_state(topology, np.random.default_rng(seed))
    ways = [Snapshot(topology, EvaluationPoint(t, q, u, z), formulation=way) for way in WAYS.values()]
    for name in topology.system.joints:
        for part in ("total", "static", "kinetic"):
            one, *others = (np.concatenate(now.reaction(name, part)).astype(float) for now in ways)
            size = 1.0 + max(abs(np.concatenate(ways[0].reaction(j, "static"))).max() for j in topology.system.joints)
            growth = 1.0 + float(abs(np.asarray(ways[0].u_dot, dtype=float)).max(initial=0.0))
            for other in others:
                np.testing.assert_allclose(other, one, rtol=1e-9, atol=1e-11 * size * growth)


@settings(max_examples=15)
@given(plans(most=4), st.integers(0, 99))
def test_terms_add_up(plan, seed):
    """The kinetic part is the sum of its named terms; each names a cause, a body behind the joint and hinges."""
    topology = topology_of(plan)
    t, q, u, z = random_state(topology, np.random.default_rng(seed))
    now = Snapshot(topology, EvaluationPoint(t, q, u, z), formulation=WAYS["rotators"])
    for name in topology.system.joints:
        whole = np.concatenate(now.reaction(name, "kinetic")).astype(float)
        terms = now.motion.joint_terms(name)
        total = sum((np.concatenate(wrench) for _, wrench in terms), np.zeros(6)).astype(float)
        np.testing.assert_allclose(total, whole, rtol=0, atol=1e-10 * (1 + abs(whole).max()))
        assert {term.cause for term, _ in terms} <= set(CAUSES)
        assert {term.body for term, _ in terms} <= set(topology.system.bodies)


def test_a_disc_that_stands_still_on_a_turning_ring():
    """Turning against each other about one axis, the body stands still: all causes cancel, none vanishes alone."""
    system = kn.System("still")
    ring = system.body("ring", mass=1.0, inertia=(0.1, 0.1, 0.2))
    disc = system.body("disc", mass=2.0, com=(0.1, 0, 0), inertia=(0.02, 0.02, 0.04))
    system.revolute("outer", system.world, ring)
    system.revolute("inner", ring, disc)
    point = EvaluationPoint(0.0, np.zeros(2), np.array([3.0, -3.0]))
    now = Snapshot(find_topology(system), point, u_dot=np.zeros(2), formulation=WAYS["rotators"]).motion
    terms = [term for term in now.terms[1] if abs(term.force).max() > 0]
    assert len({term.cause for term in terms}) == 2  # centrifugal twice, Coriolis once
    total = sum(term.force for term in terms)
    np.testing.assert_allclose(total.astype(float), 0, atol=1e-14)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("name", CHAINS)
def test_static_and_kinetic(name, way):
    """The static part is the reaction at rest; the kinetic part grows with the square of a common speed."""
    now, still = instant(way, name), instant(way, name, u=np.zeros(3), u_dot=np.zeros(3))
    fast = instant(way, name, u=3 * np.array(U), u_dot=9 * np.array(U_DOT))
    for joint in ("joint1", "joint2", "joint3"):
        static, rest, slow, quick = (
            np.concatenate(x.reaction(joint, part)).astype(float)
            for x, part in ((now, "static"), (still, "total"), (now, "kinetic"), (fast, "kinetic"))
        )
        np.testing.assert_allclose(static, rest, rtol=0, atol=1e-11)
        np.testing.assert_allclose(quick, 9 * slow, rtol=0, atol=1e-11)
        np.testing.assert_allclose(np.concatenate(still.reaction(joint, "kinetic")).astype(float), 0, atol=1e-13)


SPEED = 50.0


def rotor(com=(0, 0, 0), inertia=(0.02, 0.02, 0.03), gravity=(0, 0, 0)) -> Snapshot:
    """A rotor on a shaft along z, turning steadily."""
    system = kn.System("rotor", gravity=gravity)
    disc = system.body("disc", mass=4.0, com=com, inertia=inertia)
    system.revolute("shaft", system.world, disc)
    point = EvaluationPoint(0.0, np.zeros(1), np.array([SPEED]))
    return Snapshot(find_topology(system), point, u_dot=np.zeros(1), formulation=WAYS["rotators"])


def test_a_balanced_rotor_has_no_kinetic_pressure():
    moment, force = rotor(com=(0, 0, 0.1)).reaction("shaft", "kinetic")
    assert not np.any(moment.astype(float))
    assert not np.any(force.astype(float))


def test_static_unbalance():
    """m e w^2 toward the axis, by the centrifugal term alone."""
    now = rotor(com=(2e-3, 0, 0))
    moment, force = now.reaction("shaft", "kinetic")
    np.testing.assert_allclose(force.astype(float), [-4.0 * 2e-3 * SPEED**2, 0, 0], rtol=1e-14)
    np.testing.assert_allclose(moment.astype(float), 0, atol=1e-14)
    terms = now.motion.joint_terms("shaft")
    assert {term.cause for term, (M, F) in terms if np.any(F.astype(float))} == {"centrifugal"}


def test_couple_unbalance():
    """J_yz and J_xz times w^2 (Timoshenko and Young, Advanced Dynamics, article on unbalance of rotors)."""
    moment, force = rotor(inertia=(0.02, 0.02, 0.03, 0, 1.5e-4, 0)).reaction("shaft", "kinetic")
    np.testing.assert_allclose(force.astype(float), 0, atol=1e-14)
    np.testing.assert_allclose(moment.astype(float), [0, 1.5e-4 * SPEED**2, 0], rtol=1e-12)
