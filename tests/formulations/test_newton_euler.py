"""Absolute coordinates with every joint a constraint, against the recursive formulation and against published figures.

Tolerances: 1e-9 of the scale as in test_identities.py; 1e-8 against the reference series, which are given to 1e-12 and
are simulated to 1e-12 here.
"""

from __future__ import annotations

import numpy as np
import pytest
from dense_bodies import NewtonEuler
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from joint_contract import needed_fields
from scipy.integrate import solve_ivp
from strategies import Link, Plan, plans, topology_of, turn

import kinode as kn
from kinode.algebra.rotations import UPRIGHT, euler_rates, rotation_from_euler
from kinode.algebra.scalars import rate
from kinode.algebra.spatial import quaternion_from_rotation
from kinode.formulations.reaction_uniqueness import complement
from kinode.model.base.frames import Frame
from kinode.model.joints.joint import JOINTS
from kinode.multibody.snapshot import Snapshot
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import find_topology
from kinode.tasks.verify import random_state
from known.elastic import DEFAULT, ROD, UNDAMPED, elastic, elastic_of_free_bodies, series


def plain(x):
    return np.asarray(x, dtype=float)


def near(a, b, size=0.0):
    a, b = plain(a), plain(b)
    assert a.shape == b.shape
    assert abs(a - b).max(initial=0.0) <= 1e-9 * max(abs(a).max(initial=0.0), abs(b).max(initial=0.0), size, 1.0)


def both(topology, point, **more):
    return Snapshot(topology, point, **more), NewtonEuler(Snapshot(topology, point, **more))


# -- random trees -----------------------------------------------------------------------------------


@given(plans(), st.integers(0, 99))
@examples(16, nightly=100)
def test_trees_move_and_are_held_as_the_recursion_says(plan, seed):
    """Accelerations of joints and bodies, all six components of every reaction, all efforts."""
    topology = topology_of(plan)
    recursive, bodies = both(topology, EvaluationPoint(*random_state(topology, np.random.default_rng(seed))))
    near(bodies.u_dot, recursive.u_dot, size=10.0)
    assert bodies.redundancy == 0
    for name in topology.system.bodies:
        near(np.concatenate(bodies.acceleration(name)), np.concatenate(recursive.acceleration(Frame(name))), size=10.0)
    for name in topology.system.joints:
        near(np.concatenate(bodies.reaction(name)), np.concatenate(recursive.reaction(name)), size=100.0)
        near(bodies.joint_effort(name), recursive.joint_effort(name), size=100.0)
        assert bodies.is_unique(name).all()


@given(plans(), st.integers(0, 99))
@settings(max_examples=20)
def test_inverse_dynamics_by_prescribed_accelerations(plan, seed):
    """The multipliers of the prescribed freedoms are the efforts; so are the reactions that go with them."""
    topology = topology_of(plan)
    rng = np.random.default_rng(seed)
    state, wanted = random_state(topology, rng), rng.normal(size=topology.n_u)
    recursive, bodies = (
        Snapshot(topology, EvaluationPoint(*state), u_dot=wanted),
        NewtonEuler(Snapshot(topology, EvaluationPoint(*state)), wanted),
    )
    near(bodies.u_dot, wanted, size=10.0)
    near(bodies.effort, recursive.inverse_effort, size=100.0)
    for name in topology.system.joints:
        near(np.concatenate(bodies.reaction(name)), np.concatenate(recursive.reaction(name)), size=100.0)


@given(plans(), st.integers(0, 99))
@settings(max_examples=15)
def test_added_efforts_and_wrenches(plan, seed):
    topology = topology_of(plan)
    rng = np.random.default_rng(seed)
    more = {"effort": rng.normal(size=topology.n_u)}
    more["wrenches"] = {name: (rng.normal(size=3), rng.normal(size=3)) for name in topology.system.bodies}
    recursive, bodies = both(topology, EvaluationPoint(*random_state(topology, rng)), **more)
    near(bodies.u_dot, recursive.u_dot, size=10.0)


@given(plans(), st.integers(0, 99))
@settings(max_examples=20)
def test_constraints_hold_for_velocities_and_reactions_do_no_work(plan, seed):
    """L'v is zero but for drives (T-10.8), in every joint on its own: N'V_rel = 0."""
    topology = topology_of(plan)
    _, bodies = both(topology, EvaluationPoint(*random_state(topology, np.random.default_rng(seed))))
    v = np.concatenate([link.v for link in bodies.links.values()])
    for name in topology.system.joints:
        assert abs(bodies.rows[name].L.T @ v).max(initial=0.0) < 1e-12 * max(1.0, abs(v).max())
        power = bodies.multipliers(name) @ (bodies.rows[name].L.T @ v)
        assert abs(power) < 1e-9


@pytest.mark.parametrize("kind", JOINTS)
def test_directions_of_the_reaction_are_those_without_work(kind):
    system = kn.System("one")
    joint = system.joint("joint", kind, system.world, system.body("body", mass=1.0), **needed_fields(kind))
    q, form = joint.neutral_q(), joint.form(system.nominal)
    S = plain(joint.motion_subspace(q + (0.3 if joint.quaternion is None else 0.0), form)).reshape(6, joint.n_u)
    N = complement(S, 0.2)
    assert N.shape == (6, 6 - joint.n_u)
    assert abs(N.T @ S).max(initial=0.0) < 1e-15
    scaled = N / np.repeat([0.2, 1.0], 3)[:, None]
    near(scaled.T @ scaled, np.eye(6 - joint.n_u))


def test_bodies_without_mass_or_inertia_of_their_own():
    """A cross of no mass between two axes, a cart that is a point: M of a body alone has no inverse."""
    system = kn.System("light", gravity=(0, -9.81, 0))
    cart, cross = system.body("cart", mass=2.0), system.body("cross")
    bob = system.body("bob", mass=1.0, com=(0.1, -0.5, 0.2), inertia=(0.1, 0.12, 0.05))
    system.prismatic("rail", system.world, cart, axis="x", stiffness=20.0)
    system.revolute("first", cart, cross, axis="x")
    system.revolute("second", cross, bob, axis="z")
    verification = kn.verify(system, 3)
    assert verification.ok, str(verification)
    assert any(row.two == "newton_euler" and row.quantity == "reactions" for row in verification.rows)


def test_a_freedom_without_inertia_is_refused():
    system = kn.System("nothing")
    system.revolute("hinge", system.world, system.body("point", mass=1.0), axis="z")
    topology = find_topology(system)
    with pytest.raises(kn.ModelError, match="infinite acceleration"):
        NewtonEuler(Snapshot(topology, EvaluationPoint(0.0, np.zeros(1), np.zeros(1)))).u_dot  # noqa: B018


def test_verify_compares_reactions_with_the_recursion():
    plan = Plan((Link("revolute", -1, seed=1), Link("universal", 0, seed=2)), springs=((1, -1),))
    verification = kn.verify(topology_of(plan).system, 2, compiled=False)
    rows = {row.quantity: row for row in verification.rows if (row.one, row.two) == ("recursive", "newton_euler")}
    assert {"accelerations", "inverse dynamics", "reactions"} <= set(rows)
    assert verification.ok, str(verification)


# -- the elastic system with two degrees of freedom -------------------------------------------------


@pytest.mark.parametrize(("case", "text"), [("default", DEFAULT), ("undamped", UNDAMPED), ("rod", ROD)])
def test_elastic_system(case, text):
    """Motion and constraint forces: (T-10.16) by the recursion (compiled) and by multipliers (T-10.9)."""
    system, table = elastic(case), series(text)
    run = kn.simulate(system, 10.0, times=table[:, 0], method="dop853", rtol=1e-12, atol=1e-13)
    motion = np.column_stack([run["hinge.q"], run["hinge.u"], run["rail.q"]])
    assert abs(motion - table[:, 1:4]).max() < 1e-8
    hinge, guide = run["hinge.reaction.force"], run["rail.reaction.force"]
    assert abs(np.column_stack([hinge[:, :2], guide[:, 1]]) - table[:, 4:]).max() < 1e-8
    topology = find_topology(system)
    p = np.array([system.parameter_values()[name] for name in topology.parameters])
    for k, (t, *_, X12, Y12, Y20) in enumerate(table):
        recursive, bodies = both(topology, EvaluationPoint(t, run.q[k], run.u[k], p=p))
        near(bodies.u_dot, recursive.u_dot)
        moment, force = bodies.reaction("hinge")
        assert abs(force - [X12, Y12, 0.0]).max() < 1e-8
        assert abs(moment).max() < 1e-12  # what is out of the plane vanishes
        moment, force = bodies.reaction("rail")
        assert abs(force - [0.0, Y20, 0.0]).max() < 1e-8
        _check_minimal_equations(system, run.q[k], run.u[k], bodies.u_dot, case)


def _check_minimal_equations(system, q, u, u_dot, case):
    """(T-10.15)."""
    phi, x, w, v, w_dot, v_dot = (y[k] for y in (q, u, u_dot) for k in (1, 0))
    arm, c = (np.sqrt(3.0) / 2.0 if case == "rod" else 0.5), (0.0 if case == "undamped" else 5.0)
    along = 6.0 * v_dot + arm * (w_dot * np.cos(phi) - w**2 * np.sin(phi)) + c * v + 250.0 * x
    about = w_dot + arm * v_dot * np.cos(phi) + 9.81 * arm * np.sin(phi)
    assert abs(along) < 1e-11
    assert abs(about) < 1e-11


def test_elastic_system_in_the_general_form():
    """24 first-order equations (T-10.1) to (T-10.10): positions, Euler angles, velocities of two bodies; multipliers.

    Euler angles are regular because of C = Rx(-pi/2): theta = pi/2, phi = 0, psi the angle of the plane motion.
    """
    topology = find_topology(elastic_of_free_bodies())
    assert {cut.joint.name for cut in topology.cuts} == {"rail", "hinge"}

    def at(y):
        R = [rotation_from_euler(*y[k : k + 3], UPRIGHT) for k in (3, 9)]
        q = np.concatenate([y[:3], quaternion_from_rotation(R[0]), y[6:9], quaternion_from_rotation(R[1])])
        return R, NewtonEuler(Snapshot(topology, EvaluationPoint(0.0, q, y[12:])))

    def rates(t, y):
        R, bodies = at(y)
        u = y[12:]
        positions = [R[0] @ u[:3], euler_rates(R[0], u[3:6], UPRIGHT), R[1] @ u[6:9], euler_rates(R[1], u[9:], UPRIGHT)]
        return np.concatenate([*positions, bodies.u_dot])

    y = np.zeros(24)
    y[[4, 10]], y[9] = np.pi / 2, np.pi / 2
    table = series(DEFAULT)[:3]
    run = solve_ivp(rates, (0.0, 1.0), y, method="DOP853", t_eval=table[:, 0], rtol=1e-11, atol=1e-12)
    for (_, angle, speed, x, X12, Y12, Y20), y in zip(table, run.y.T, strict=True):
        _, bodies = at(y)
        assert bodies.redundancy == 0
        assert abs(np.array([y[9], y[23], y[0]]) - [angle, speed, x]).max() < 1e-8
        (hinge_moment, hinge), (guide_moment, guide) = bodies.reaction("hinge"), bodies.reaction("rail")
        assert abs(np.concatenate([hinge - [X12, Y12, 0.0], guide - [0.0, Y20, 0.0]])).max() < 1e-8
        assert abs(np.concatenate([hinge_moment, guide_moment[:2]])).max() < 1e-8
        assert abs(guide_moment[2]) < 1e-8  # the pendulum hangs at the slider's origin
        assert abs(y[[1, 2, 3, 5, 8, 11]]).max() < 1e-9  # the constraints are kept by integration alone


# -- loops ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("kind", JOINTS)
def test_every_joint_closes_a_loop_as_the_recursion_with_multipliers_says(kind, backward):
    """Two flying bodies, each with another on it, held together by the joint, at a pose that it allows."""
    law = frozenset({"damping"})  # which keeps a free joint in the tree
    links = [Link("free", -1, loads=law, seed=1), Link("free", -1, backward=True, loads=law, seed=2)]
    links += [Link("revolute", 0, loads=law, seed=3), Link("prismatic", 1, seed=4)]
    plan, rng = Plan(tuple(links), springs=((0, 1),)), np.random.default_rng(5)
    open_tree = topology_of(plan)
    t, q, u, z = random_state(open_tree, rng)
    system = open_tree.system
    place = [system["body0"].at(*rng.normal(size=3), matrix=turn(rng).tolist()), None]
    other = kn.System("sample")
    sample = other.joint("closing", kind, other.world, other.body("body", mass=1.0), **needed_fields(kind))
    own = rng.normal(size=sample.n_q)
    if sample.quaternion is not None:
        own[sample.quaternion :] /= np.linalg.norm(own[sample.quaternion :])
    C = kn.Pose(plain(sample.axis_rotation(system.nominal, system.nominal)), np.zeros(3))
    X = C @ sample.transform(own, sample.form(system.nominal)) @ C.inverse()
    s = Snapshot(open_tree, EvaluationPoint(t, q, u, z))
    X_BM = s.pose(Frame("body1")).inverse() @ s.pose(place[0]) @ (X.inverse() if backward else X)
    place[1] = system["body1"].at(*plain(X_BM.p), matrix=plain(X_BM.R).tolist())
    system.joint("closing", kind, *(reversed(place) if backward else place), **needed_fields(kind))
    loop = find_topology(system)
    assert loop.cut_names == ("closing",)
    G = plain(Snapshot(loop, EvaluationPoint(t, q, u, z)).constraints.jacobian).reshape(-1, loop.n_u)
    recursive, bodies = both(loop, EvaluationPoint(t, q, u - np.linalg.pinv(G) @ (G @ u), z))
    assert bodies.redundancy == 0
    near(bodies.u_dot, recursive.u_dot, size=10.0)
    for name in system.joints:
        near(np.concatenate(bodies.reaction(name)), np.concatenate(recursive.reaction(name)), size=100.0)


def test_a_door_on_two_hinges():
    """Five redundant rows: moves as on one hinge, together the hinges carry what one would, some of it by choice."""
    doors = []
    for hinges in ((0.3,), (0.3, 1.7)):
        system = kn.System("door", gravity=(0.3, -0.2, -9.81))
        door = system.body("door", mass=20.0, com=(0.45, 0.02, 1.0), inertia=(7.0, 8.4, 1.4))
        for k, z in enumerate(hinges):
            sides = system.world.at(0, 0, z), door.at(0, 0, z)
            system.revolute(f"hinge{k}", *sides, axis="z", damping=1.0 / len(hinges))
        doors.append(
            NewtonEuler(Snapshot(find_topology(system), EvaluationPoint(0.0, np.array([0.4]), np.array([1.1]))))
        )
    one, two = doors
    assert (one.redundancy, two.redundancy) == (0, 5)
    near(one.u_dot, two.u_dot)
    (m0, f0), (m1, f1), (m, f) = two.reaction("hinge0"), two.reaction("hinge1"), one.reaction("hinge0")
    near(f0 + f1, f)
    near(m0 + m1 + np.cross([0, 0, 1.4], f1), m)
    assert not two.is_unique("hinge0")[[0, 1, 3, 4, 5]].any()
    assert two.is_unique("hinge0")[2]  # no moment about the axis, whatever the share
    near(f0[2], f1[2])  # least norm shares the weight equally


def test_multipliers_are_of_least_norm_also_while_redundant_rows_move():
    """A seat on three parallel bars, where rows that depend on each other need an acceleration."""
    system, sense = kn.System("swing", gravity=(0, -9.81, 0)), {}
    seat = system.body("seat", mass=3.0, inertia=(1, 1, 1))
    for k, mass in enumerate((1.0, 2.5, 0.4)):
        bar = system.body(f"bar{k}", mass=mass, com=(0, -0.4, 0), inertia=(0.1, 0.02, 0.1))
        system.revolute(f"top{k}", system.world.at(0.7 * k, 0, 0), bar, axis="z")
        system.revolute(f"end{k}", bar.at(0, -1, 0), seat.at(0.7 * k, 0, 0), axis="z")
        sense |= {f"top{k}": 1.0, f"end{k}": -1.0}
    topology = find_topology(system)
    q, u = (np.array([x * sense[name] for name in topology.u_of]) for x in (0.4, 2.0))
    bodies = NewtonEuler(Snapshot(topology, EvaluationPoint(0.0, q, u)))
    L = np.column_stack([rows.L * rows.scale for rows in bodies.rows.values()])
    lam = np.concatenate([bodies.multipliers(origin) / rows.scale for origin, rows in bodies.rows.items()])
    assert bodies.redundancy == 7
    near(lam, np.linalg.lstsq(L, L @ lam, rcond=1e-9)[0])


def test_a_gear_between_slides_on_a_turning_arm():
    """Both slides have an acceleration along themselves without one of their coordinates."""
    system = kn.System("arm", gravity=(0.2, -9.81, 0.4))
    arm, one, two = (
        system.body(name, mass=mass, com=(0.1, 0.2, 0), inertia=(1, 2, 2.5))
        for name, mass in (("arm", 2.0), ("one", 1.0), ("two", 3.0))
    )
    system.revolute("turn", system.world, arm, axis="z")
    system.prismatic("lead", arm.at(0.3, 0.1, 0), one, axis="x")
    system.prismatic("follow", arm.at(0.2, -0.4, 0), two, axis="y")
    system.constraint("rack", "gear", input="follow", output="lead", ratio=-1.7)
    topology = find_topology(system)
    assert list(topology.u_of) == ["turn", "lead"]
    s, bodies = both(topology, EvaluationPoint(0.0, np.array([0.3, 0.2]), np.array([2.0, -0.7])))
    near(bodies.u_dot, s.u_dot)


CRANK, COUPLER, ROCKER, BASE = 0.3, 0.8, 0.6, 0.9


def four_bar(closed):
    """A four-bar in space: three hinges of the tree, the fourth closes the loop."""
    system = kn.System("four_bar", gravity=(0, -9.81, 0))
    bars = {"crank": CRANK, "coupler": COUPLER, "rocker": ROCKER}
    crank, coupler, rocker = (
        system.body(name, mass=2 * l, com=(0.5 * l, 0.03, 0.01), inertia=(0.01, 0.03, 0.03)) for name, l in bars.items()
    )
    system.revolute("A", system.world, crank, axis="z", effort=3.0)
    system.revolute("D", system.world.at(BASE, 0, 0), rocker, axis="z", damping=0.2)
    system.revolute("B", crank.at(CRANK, 0, 0), coupler, axis="z", stiffness=2.0)
    if closed:
        system.revolute("C", coupler.at(COUPLER, 0, 0), rocker.at(ROCKER, 0, 0), axis="z", damping=0.1)
    return find_topology(system)


def test_a_four_bar_against_joint_coordinates_with_multipliers():
    """M u_dot + h = tau + G'lam, G u_dot = -G_dot u, with G differentiated from the positions of the two ends of C."""
    tree, loop = four_bar(False), four_bar(True)
    a = 0.7
    reach = np.array([BASE, 0.0]) - CRANK * np.array([np.cos(a), np.sin(a)])
    l = np.hypot(*reach)
    b = np.arctan2(reach[1], reach[0]) + np.arccos((COUPLER**2 + l**2 - ROCKER**2) / (2 * COUPLER * l))
    tip = COUPLER * np.array([np.cos(b), np.sin(b)]) - reach
    q = np.array([a, np.arctan2(tip[1], tip[0]), b - a])  # A, D, B

    def ends(q):
        s = Snapshot(tree, EvaluationPoint(0.0, q, np.zeros(3)))
        one, two = (s.pose(Frame(name)) for name in ("coupler", "rocker"))
        return (two.p + ROCKER * two.R[:, 0] - one.p - COUPLER * one.R[:, 0])[:2]

    def jacobian(q):
        return np.array([rate(ends, q, e) for e in np.eye(3)], dtype=object).T

    assert abs(plain(ends(q))).max() < 1e-15
    G = plain(jacobian(q))
    u = np.linalg.svd(G)[2][2] * 3.0
    # Damping of C acts on the tree as moments on its two bodies.
    moment = np.array([0.0, 0.0, -0.1 * (u[1] - u[0] - u[2])])
    s = Snapshot(
        tree, EvaluationPoint(0.0, q, u), wrenches={"rocker": (np.zeros(3), moment), "coupler": (np.zeros(3), -moment)}
    )
    gamma = -plain(rate(lambda x: jacobian(x) @ u, q, u))
    K = np.block([[plain(s.mass_matrix), -G.T], [G, np.zeros((2, 2))]])
    solution = np.linalg.solve(K, np.concatenate([plain(s.bias_effort), gamma]))

    angles = dict(zip("ADBC", [*q, q[1] - q[0] - q[2]], strict=True))
    speeds = dict(zip("ADBC", [*u, u[1] - u[0] - u[2]], strict=True))
    state = [np.array([values[name] for name in loop.u_of]) for values in (angles, speeds)]
    bodies = NewtonEuler(Snapshot(loop, EvaluationPoint(0.0, *state)))
    assert bodies.redundancy == 3
    near([bodies.joint_acceleration(name)[0] for name in "ADB"], solution[:3])
    near(plain(s.pose(Frame("coupler")).R @ bodies.reaction("C")[1])[:2], solution[3:])
    near(bodies.joint_effort("C"), moment[2:])
    for joint in loop.system.joints:
        assert list(bodies.is_unique(joint)) == [False, False, True, True, True, False]
