"""Joint reactions: balance of every body, nothing along the freedoms, the stated conventions, welds, statics.

The balance is taken with velocities from differentiated poses (lagrange.py), which share no recursion with the
reactions.  Reactions against equivalent constraints come with the constraints.
"""

from __future__ import annotations

import numpy as np
import pytest
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from joint_contract import needed_fields
from strategies import Link, Plan, build, plans, topology_of

import kinode as kn
from kinode.algebra.scalars import rate
from kinode.algebra.spatial import cross
from kinode.formulations.lagrange import LAGRANGE
from kinode.model.base.frames import Frame
from kinode.model.joints.joint import JOINTS
from kinode.multibody.snapshot import Snapshot
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import find_topology
from kinode.tasks.verify import random_state

WORLD = Frame("world")
G = 9.81


def plain(x):
    return np.asarray(x, dtype=float)


def near(a, b, size=1.0):
    """To 1e-9 of the largest force: loads of the order of 10 to 100 N, some hundred operations."""
    a, b = plain(a), plain(b)
    assert a.shape == b.shape
    assert abs(a - b).max(initial=0.0) <= 1e-9 * max(abs(a).max(initial=0.0), abs(b).max(initial=0.0), size)


def at_origin(snapshot, name, **how):
    """[moment; force] by a on b of all that a joint transmits, about the world's origin, in world axes."""
    return plain(np.concatenate(snapshot.reaction(name, about=WORLD, expressed_in=WORLD, **how)))


def momentum_rates(topology, now):
    """Rate of [angular momentum about the world's origin; momentum] of each body, from differentiated poses."""
    y = np.concatenate([[now.t], now.q, now.u, now.z])
    y_dot = np.concatenate([[1.0], now.q_dot, now.u_dot, now.z_dot])
    a, b = 1 + topology.n_q, 1 + topology.n_q + topology.n_u

    def momenta(x):
        e = Snapshot(topology, EvaluationPoint(x[0], x[1:a], x[a:b], x[b:]), formulation=LAGRANGE).kinematics
        rows = []
        for link in e.links:
            X, motion = e.body_poses[link.body], e.body_motions[link.body]
            P, place = link.mass * motion.v, X.p + X.R @ link.center
            rows.append(np.concatenate([cross(place, P) + X.R @ (link.J @ motion.w), P]))
        return np.array(rows)

    names = [link.body for link in Snapshot(topology, now.point, formulation=LAGRANGE).kinematics.links]
    return dict(zip(names, plain(rate(momenta, y, y_dot)), strict=True))


@given(plans(), st.integers(0, 99))
@examples(16, nightly=100)
def test_what_acts_on_a_body_changes_its_momentum(plan, seed):
    """Joints, elements and gravity on every body, those in welds included: Newton and Euler, body by body."""
    topology = topology_of(plan)
    system = topology.system
    now = Snapshot(topology, EvaluationPoint(*random_state(topology, np.random.default_rng(seed))))
    total = {name: np.zeros(6) for name in [*system.bodies, "world"]}
    for name, joint in system.joints.items():
        wrench = at_origin(now, name, whole=True)
        total[joint.b.body] += wrench
        total[joint.a.body] -= wrench
    for element in system.elements.values():
        for load in element.wrenches(now):
            at = now.pose(load.on).p if load.at is None else load.at
            total[load.on.body] += plain(np.concatenate([load.moment + cross(at, load.force), load.force]))
    for name, body in system.bodies.items():
        weight = system.nominal(body.mass) * plain(now.gravity)
        total[name] += plain(np.concatenate([cross(now.pose(body.com).p, weight), weight]))
    for name, change in momentum_rates(topology, now).items():
        near(total[name], change, size=10.0)


def geared(drive):
    """Two hinges and a slide on a branch, tied by a gear, the leader driven or not."""
    links = (
        Link("revolute", -1, False, drive, frozenset({"effort", "damping"}), seed=1),
        Link("spherical", 0, True, seed=2),
        Link("prismatic", 0, True, "none", frozenset({"stiffness", "effort"}), seed=3),
    )
    return Plan(links, springs=((1, 2),), forces=(2,), gear=(0, 2))


@pytest.mark.parametrize("drive", ["none", "motion", "speed"])
def test_the_drive_of_a_gear_moves_what_the_gear_moves(drive):
    """Power: what a drive puts in, with all other forces, is what the kinetic energy gains; verify says so."""
    found = kn.verify(build(geared(drive)), 3, compiled=False)
    assert found.ok, str(found)
    topology = topology_of(geared(drive))
    now = Snapshot(topology, EvaluationPoint(*random_state(topology, np.random.default_rng(1))))
    ratio = -1.7
    leader, follower = (plain(now.joint_effort(f"joint{i}")) for i in (0, 2))
    own, moved = (now.efforts.shares(f"joint{i}") for i in (0, 2))
    passive = own["spring"] + own["damping"]
    drive_effort = plain(now.quantity("joint0.effort.drive"))
    if drive == "none":  # the gear takes from one joint what it gives to the other, times the ratio
        near(leader - passive - own["drive"], -ratio * (follower - sum(moved.values())), size=10.0)
        near(drive_effort, own["drive"][0] + ratio * moved["drive"][0])
    else:  # the drive also carries what the gear passes on
        needed = (leader - passive + ratio * (follower - sum(moved.values())))[0]
        near(drive_effort, needed + ratio * moved["drive"][0], size=10.0)


@pytest.mark.parametrize("quantity", ["joint0.effort", "joint0.effort.drive", "joint2.effort", "joint2.effort.gear"])
def test_a_law_cannot_use_the_effort_in_a_gear(quantity):
    """It depends on accelerations, or on what drives other joints, and so on the law itself."""
    system = build(geared("none"))
    system.force("push", "body1", ("joint2.effort.drive", 0.0, 0.0))
    find_topology(system)
    system.force("pull", "body1", (quantity, 0.0, 0.0))
    with pytest.raises(kn.LawError, match="accelerations"):
        find_topology(system)


@given(st.one_of(plans(), st.sampled_from([geared(drive) for drive in ("none", "motion")])), st.integers(0, 99))
@settings(max_examples=20)
def test_a_reaction_does_no_work(plan, seed):
    """Zero along the freedoms; what is left of the wrench is the effort, in the directions that the joint says."""
    topology = topology_of(plan)
    now = Snapshot(topology, EvaluationPoint(*random_state(topology, np.random.default_rng(seed))))
    for name, joint in topology.system.joints.items():
        q = plain(now.joint_state(name)[0])
        form = joint.form(now.resolve)
        R = plain(joint.axis_rotation(now.resolve, topology.system.nominal)) @ plain(joint.transform(q, form).R)
        reaction = np.concatenate([R.T @ plain(part) for part in now.reaction(name)])
        whole = np.concatenate([R.T @ plain(part) for part in now.reaction(name, whole=True)])
        S = plain(joint.motion_subspace(q, form))
        near(S.T @ reaction, np.zeros(joint.n_u), size=abs(whole).max() + 1.0)
        effort = plain(now.joint_effort(name))
        near(whole - reaction, plain(joint.effort_wrench(q, form)) @ effort, size=abs(whole).max() + 1.0)


@given(plans(), st.integers(0, 99))
@settings(max_examples=20)
def test_static_and_kinetic_parts_add_up(plan, seed):
    topology = topology_of(plan)
    now = Snapshot(topology, EvaluationPoint(*random_state(topology, np.random.default_rng(seed))))
    for name in topology.system.joints:
        parts = {part: np.concatenate(now.reaction(name, part)) for part in ("total", "static", "kinetic")}
        near(parts["static"] + parts["kinetic"], parts["total"], size=10.0)


@given(plans(driven=False), st.integers(0, 99))
@settings(max_examples=15)
def test_the_static_part_is_what_holds_the_system_at_rest(plan, seed):
    """At rest and held there, nothing but the static part is left."""
    topology = topology_of(plan)
    t, q, u, z = random_state(topology, np.random.default_rng(seed))
    held = Snapshot(topology, EvaluationPoint(t, q, 0.0 * u, z), u_dot=0.0 * u)
    for name in topology.system.joints:
        near(np.concatenate(held.reaction(name, "static")), np.concatenate(held.reaction(name)), size=10.0)
        near(np.concatenate(held.reaction(name, "kinetic")), np.zeros(6), size=1.0)


@given(plans(most=4), st.integers(0, 99))
@settings(max_examples=15)
def test_on_about_and_axes_are_what_they_say(plan, seed):
    topology = topology_of(plan)
    now = Snapshot(topology, EvaluationPoint(*random_state(topology, np.random.default_rng(seed))))
    for name, joint in topology.system.joints.items():
        parent, child = (topology.system.find_frame(f"{name}.{side}") for side in ("parent", "child"))
        moment, force = (plain(x) for x in now.reaction(name))
        R_WF, p_F, p_M = plain(now.pose(parent).R), plain(now.pose(parent).p), plain(now.pose(child).p)
        near(np.concatenate(now.reaction(name, about=child, expressed_in=parent)), np.concatenate([moment, force]))
        near(np.concatenate(now.reaction(name, on=joint.a.body)), -np.concatenate([moment, force]))
        moved = plain(now.reaction(name, about=parent, expressed_in=WORLD)[0])
        near(moved, R_WF @ moment + np.cross(p_M - p_F, R_WF @ force), size=10.0)


# -- known by hand ----------------------------------------------------------------------------------


def hung(kind, backward, **fields):
    """A body of 2 kg, its center 0.3 m along x of the joint, on the world; held still."""
    system = kn.System("hung", gravity=(0.0, 0.0, -G))
    body = system.body("body", mass=2.0, com=(0.3, 0.0, 0.0), inertia=(0.1, 0.1, 0.1))
    ends = (body, system.world) if backward else (system.world, body)
    system.joint("joint", kind, *ends, **fields, **needed_fields(kind, 0.2))
    topology = find_topology(system)
    q = JOINTS[kind].neutral_q(system["joint"])
    return Snapshot(topology, EvaluationPoint(0.0, q, np.zeros(topology.n_u)), u_dot=np.zeros(topology.n_u))


@pytest.mark.parametrize("kind", JOINTS)
@pytest.mark.parametrize("backward", [False, True])
def test_a_joint_carries_the_weight(kind, backward):
    """All that it transmits, whatever it leaves free: m g up, and m g times the arm against tipping."""
    held = hung(kind, backward)
    moment, force = (plain(x) for x in held.reaction("joint", whole=True))
    sign = -1.0 if backward else 1.0
    near(force, [0.0, 0.0, sign * 2.0 * G])
    near(moment, [0.0, -sign * 0.3 * 2.0 * G, 0.0])


@pytest.mark.parametrize("backward", [False, True])
def test_a_hinge_leaves_the_moment_about_its_axis_to_the_effort(backward):
    held = hung("revolute", backward, axis="y")
    sign = -1.0 if backward else 1.0
    moment, force = (plain(x) for x in held.reaction("joint"))
    near(force, [0.0, 0.0, sign * 2.0 * G])
    near(moment, np.zeros(3))
    near(held.joint_effort("joint"), [-sign * 0.3 * 2.0 * G])


@pytest.mark.parametrize("backward", [False, True])
def test_a_slide_leaves_the_force_along_its_axis_to_the_effort(backward):
    held = hung("prismatic", backward)
    sign = -1.0 if backward else 1.0
    moment, force = (plain(x) for x in held.reaction("joint"))
    near(force, np.zeros(3))
    near(moment, [0.0, -sign * 0.3 * 2.0 * G, 0.0])
    near(held.joint_effort("joint"), [sign * 2.0 * G])


def test_a_free_body_needs_nothing():
    plan = Plan((Link("free", -1, seed=3),))
    topology = topology_of(plan)
    now = Snapshot(topology, EvaluationPoint(*random_state(topology, np.random.default_rng(0))))
    near(np.concatenate(now.reaction("joint0")), np.zeros(6))
    near(np.concatenate(now.reaction("joint0", whole=True)), np.zeros(6))


def test_the_axis_of_a_turning_rotor_stays_in_the_parent_axes():
    """FACE: in child axes a shaft's constant weight would seem to rotate."""
    system = kn.System("shaft", gravity=(0.0, -G, 0.0))
    system.revolute("bearing", system.world, system.body("shaft", mass=3.0, inertia=(0.1, 0.1, 0.02)), axis="z")
    topology = find_topology(system)
    for angle in (0.0, 0.7, 2.0):
        moment, force = Snapshot(topology, EvaluationPoint(0.0, np.array([angle]), np.array([5.0]))).reaction("bearing")
        near(force, [0.0, 3.0 * G, 0.0])
        near(moment, np.zeros(3))


# -- welds ------------------------------------------------------------------------------------------


@given(plans(most=4, loaded=False, driven=False), st.integers(0, 99), st.booleans())
@settings(max_examples=15)
def test_a_body_welded_of_two_moves_as_one(plan, seed, backward):
    """Half of a body's mass moved to a body that is welded on: the motion and the other reactions stay."""
    whole = build(plan)
    body = whole.bodies["body0"]
    split = build(plan)
    mass = body.mass / 2.0
    half = tuple(np.array(body.inertia) / 2.0)
    split.change("body0", mass=mass, inertia=half)
    other = split.body("half", mass=mass, inertia=half)
    place = split["body0"].at(*body.center_of_mass)
    split.fixed("weld", *((other, place) if backward else (place, other)))
    one, two = find_topology(whole), find_topology(split)
    state = random_state(one, np.random.default_rng(seed))
    a, b = Snapshot(one, EvaluationPoint(*state)), Snapshot(two, EvaluationPoint(*state))
    near(a.u_dot, b.u_dot, size=10.0)
    for name in whole.joints:
        near(at_origin(a, name), at_origin(b, name), size=10.0)
    change = momentum_rates(two, b)["half"]
    weight = mass * plain(b.gravity)
    weld = at_origin(b, "weld") * (-1.0 if backward else 1.0)
    near(weld + np.concatenate([np.cross(plain(b.pose(Frame("half")).p), weight), weight]), change, size=10.0)
