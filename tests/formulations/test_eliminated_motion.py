"""The elimination of constraint forces in every scalar type, and absolute coordinates, against the recursion.

Tolerances: 1e-9 of the scale as in test_identities.py.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joint_contract import needed_fields
from strategies import plans, topology_of

import kinode as kn
from kinode.algebra.spatial import rotation_from_quaternion
from kinode.formulations.absolute_kinematics import ABSOLUTE, AbsoluteKinematics, AbsoluteLayout
from kinode.formulations.eliminated_motion import NEWTON_EULER, EliminatedMotion, find_light_bodies
from kinode.formulations.elimination_rows import find_directions
from kinode.formulations.scope import without_events
from kinode.model.base.frames import Frame
from kinode.model.joints.joint import JOINTS
from kinode.multibody.snapshot import Snapshot
from kinode.structure.state_layout import EvaluationPoint
from kinode.tasks.verify import random_state
from loop_models import bennett, four_bar


def plain(x):
    return np.asarray(x, dtype=float)


def near(a, b, size=0.0):
    a, b = plain(a), plain(b)
    assert a.shape == b.shape
    assert abs(a - b).max(initial=0.0) <= 1e-9 * max(abs(a).max(initial=0.0), abs(b).max(initial=0.0), size, 1.0)


def compare(one, two):
    """Accelerations of joints and bodies, all reactions and efforts."""
    near(two.u_dot, one.u_dot, size=10.0)
    for name in one.system.bodies:
        near(np.concatenate(two.acceleration(Frame(name))), np.concatenate(one.acceleration(Frame(name))), size=10.0)
    for name in one.system.joints:
        near(np.concatenate(two.reaction(name)), np.concatenate(one.reaction(name)), size=100.0)
        near(two.joint_effort(name), one.joint_effort(name), size=100.0)


@given(plans(), st.integers(0, 99))
@settings(max_examples=10)
def test_trees_move_and_are_held_as_the_recursion_says(plan, seed):
    topology = topology_of(plan)
    point = EvaluationPoint(*random_state(topology, np.random.default_rng(seed)))
    compare(Snapshot(topology, point), Snapshot(topology, point, formulation=NEWTON_EULER))


@given(plans(), st.integers(0, 99))
@settings(max_examples=5)
def test_inverse_dynamics_is_that_of_the_recursion(plan, seed):
    topology = topology_of(plan)
    rng = np.random.default_rng(seed)
    point, wanted = EvaluationPoint(*random_state(topology, rng)), rng.normal(size=topology.n_u)
    one, two = (
        Snapshot(topology, point, u_dot=wanted, formulation=f)
        for f in (Snapshot(topology, point).formulation, NEWTON_EULER)
    )
    near(two.inverse_effort, one.inverse_effort, size=100.0)
    for name in topology.system.joints:
        near(np.concatenate(two.reaction(name)), np.concatenate(one.reaction(name)), size=100.0)


@given(plans(), st.integers(0, 99))
@settings(max_examples=8)
def test_absolute_states_have_the_rates_of_the_tree(plan, seed):
    """The joints are measured as they are in the tree, v_dot and x_dot are the rates of v and x."""
    topology = topology_of(plan)
    point = EvaluationPoint(*random_state(topology, np.random.default_rng(seed)))
    layout = AbsoluteLayout(topology)
    y = layout.from_joints(point)
    n_x, n_v = layout.n_x, layout.n_v
    there = point.replaced(q=y[:n_x], u=y[n_x : n_x + n_v], z=y[n_x + n_v :])
    tree, bodies = Snapshot(topology, point), Snapshot(topology, there, formulation=ABSOLUTE)
    assert isinstance(bodies.kinematics, AbsoluteKinematics)
    assert isinstance(bodies.motion, EliminatedMotion)
    for name, where in topology.q_of.items():
        q, u, _ = bodies.joint_state(name)
        joint = topology.system.joints[name]
        if joint.quaternion is None:
            near(q, point.q[where], size=10.0)
        near(u, point.u[topology.u_of[name]], size=10.0)
        near(
            joint.transform(plain(q), joint.form(tree.resolve)).R,
            joint.transform(point.q[where], joint.form(tree.resolve)).R,
        )
    v_dot, x_dot = bodies.motion.elimination.solution[0], plain(bodies.kinematics.x_dot)
    for k, name in enumerate(topology.system.bodies):
        R, v = rotation_from_quaternion(y[7 * k + 3 : 7 * k + 7]), y[n_x + 6 * k :][:6]
        alpha, a = tree.acceleration(Frame(name))
        near(R @ v_dot[6 * k :][:3], alpha, size=10.0)
        near(R @ (v_dot[6 * k + 3 :][:3] + np.cross(v[:3], v[3:])), a, size=10.0)
        near(x_dot[7 * k :][:3], tree.velocity(Frame(name))[1], size=10.0)
    for positions, rates in bodies.kinematics.find_drift().values():
        assert abs(plain(positions)).max(initial=0.0) < 1e-9
        assert abs(plain(rates)).max(initial=0.0) < 1e-8


@pytest.mark.parametrize("make", [four_bar, bennett])
def test_loops_leave_out_redundant_rows(make):
    """As many rows as the freedoms of free bodies less those of the mechanism."""
    dynamics = kn.Dynamics(make())
    topology, start = dynamics.topology, dynamics.initial
    speeds = np.linalg.svd(plain(Snapshot(topology, dynamics.point(start)).constraints.jacobian))[2][-1]
    start.u[:] = speeds
    point = dynamics.point(start)
    one, two = Snapshot(topology, point), Snapshot(topology, point, formulation=NEWTON_EULER)
    compare(one, two)
    near(two.multipliers, one.multipliers, size=10.0)
    rows = two.motion.elimination.rows.rows
    assert len({row.name for row in rows}) == len(rows) == 6 * len(topology.system.bodies) - 1


@pytest.mark.parametrize("kind", JOINTS)
@pytest.mark.parametrize("oblique", [False, True])
def test_directions_do_no_work_along_the_freedoms(kind, oblique):
    system = kn.System("one")
    fields = needed_fields(kind)
    if oblique and "axis" in JOINTS[kind].specs():
        fields = {**fields, "axis": (1, 2, 3)}
    joint = system.joint("joint", kind, system.world, system.body("body", mass=1.0), **fields)
    directions = find_directions(system, joint)
    if kind in ("screw", "universal"):
        assert directions is None
        return
    q, form = joint.advance(joint.neutral_q(), 0.4 + np.zeros(joint.n_u)), joint.form(system.nominal)
    R = plain(joint.axis_rotation(system.nominal, system.nominal)) @ plain(joint.transform(q, form).R)
    S = np.kron(np.eye(2), R) @ plain(joint.motion_subspace(q, form)).reshape(6, joint.n_u)
    assert directions.N.shape == (6, 6 - joint.n_u)
    assert abs(directions.N.T @ S).max(initial=0.0) < 1e-14
    near(directions.N.T @ directions.N, np.eye(6 - joint.n_u))
    assert directions.own_axes == (oblique and "axis" in JOINTS[kind].specs() and joint.n_u not in (0, 6))


def test_bodies_without_inertia():
    system = kn.System("light", gravity=(0, -9.81, 0))
    cart, cross = system.body("cart", mass=2.0), system.body("cross")
    bob = system.body("bob", mass=1.0, com=(0.1, -0.5, 0.2), inertia=(0.1, 0.12, 0.05))
    system.prismatic("rail", system.world, cart, axis="x", stiffness=20.0, motion="0.1*sin(t)")
    system.revolute("first", cart, cross, axis="x")
    system.revolute("second", cross, bob, axis="z")
    dynamics = kn.Dynamics(system)
    assert find_light_bodies(system) == ["cart", "cross"]
    point = EvaluationPoint(0.3, np.array([0.3, -0.4]), np.array([1.0, 2.0]))
    compare(Snapshot(dynamics.topology, point), Snapshot(dynamics.topology, point, formulation=NEWTON_EULER))


def test_what_it_cannot_take_is_named():
    system = kn.load("examples/brake_arm.yaml")
    assert "shoulder_brake" in str(without_events(kn.Dynamics(system).topology))
    with pytest.raises(kn.Error, match=r"brake_arm: it has no events.*shoulder_brake"):
        kn.compile(system, formulation="newton_euler")
