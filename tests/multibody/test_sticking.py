"""Joints that are stuck: against dense solutions without the stuck speeds, in every kind of number and formulation."""

from __future__ import annotations

import numpy as np
import pytest
from dense_bodies import NewtonEuler
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from number_kinds import KINDS
from strategies import SIMPLE, build, plans

import kinode as kn
from kinode.algebra.trace import count_operations
from kinode.formulations.formulation_table import FORMULATIONS, InstantValues
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.kernel_traces import trace
from kinode.multibody import loop_constraints
from kinode.multibody.snapshot import Snapshot
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import find_topology
from kinode.tasks.verify import random_state

SLOW = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


def roughened(system, friction):
    """Friction in every joint of one freedom that no law of time moves."""
    for name, joint in list(system.joints.items()):
        if joint.kind in SIMPLE and not joint.driven:
            system.change(name, friction=friction(joint.kind))
    return system


def steady(kind):
    return kn.coulomb(effort=0.3)


def loaded(kind):
    sizes = {"revolute": {"radius": 0.01, "length": 0.3}, "screw": {"radius": 0.02}}.get(kind, {})
    return kn.coulomb(0.1, static_coefficient=0.15, effort=0.2, **sizes)


def some_state(topology, seed):
    """A random state with random modes: stuck joints may move, at a speed that stays as it is."""
    rng = np.random.default_rng(seed)
    t, q, u, z = random_state(topology, rng)
    for where in topology.layout.discrete_of.values():
        z[where] = rng.integers(-1, 2, where.stop - where.start)
    return t, q, u, z


def stuck_rows(snapshot):
    """e of each lock that holds, over the speeds of the state."""
    locking = snapshot.locking
    found = np.zeros((len(locking.locks), snapshot.topology.n_u))
    for row, entries in zip(found, locking.lock_rows.rows, strict=True):
        for j, x in entries.items():
            row[j] = float(x)
    return found[[float(s) == 1.0 for s in locking.lock_rows.stuck]]


def floats(values):
    return np.asarray(values, dtype=float)


@SLOW
@given(plans(most=5), st.integers(0, 10**6))
def test_stuck_speeds_are_removed_from_trees_and_gears(plan, seed):
    topology = find_topology(roughened(build(plan), steady))
    state = some_state(topology, seed)
    snapshot = Snapshot(topology, EvaluationPoint(*state))
    if not snapshot.locking.locks:
        return
    E, M, f = stuck_rows(snapshot), floats(snapshot.mass_matrix), floats(snapshot.bias_effort)
    still = np.any(E != 0, axis=0)
    moving = ~still
    u_dot = np.zeros(len(f))
    u_dot[moving] = np.linalg.solve(M[np.ix_(moving, moving)], f[moving])
    found = floats(snapshot.u_dot)
    assert not found[still].any()  # exactly
    np.testing.assert_allclose(found, u_dot, rtol=1e-9, atol=1e-9 * (1 + abs(u_dot).max()))
    held = np.zeros(len(f))
    for name, effort in snapshot.locking.by_joint.items():
        start, ratio = snapshot.kinematics.state_of(name)
        held[start] += float(ratio) * float(effort)
    scale = 1 + abs(f).max() + abs(M @ u_dot).max()
    np.testing.assert_allclose(held, M @ u_dot - f, atol=1e-7 * scale)  # what is held twice has a floor of 1e-9


@SLOW
@given(plans(most=4), st.integers(0, 10**6))
def test_newton_and_euler_hold_with_rows_and_feel_the_same_loads(plan, seed):
    topology = find_topology(roughened(build(plan), loaded))
    state = some_state(topology, seed)
    one, two = Snapshot(topology, EvaluationPoint(*state)), NewtonEuler(Snapshot(topology, EvaluationPoint(*state)))
    u_dot = floats(one.u_dot)
    if not np.isfinite(u_dot).all():
        return  # the friction jams
    scale = 1 + abs(u_dot).max(initial=0.0)
    np.testing.assert_allclose(floats(two.u_dot), u_dot, atol=1e-8 * scale)
    if topology.couplings:
        return  # what two locks on one gear hold with is not unique
    for name in topology.system.joints:
        moment, force = one.reaction(name)
        np.testing.assert_allclose(
            floats(np.concatenate(two.reaction(name))), floats([*moment, *force]), atol=1e-7 * scale
        )
        np.testing.assert_allclose(floats(two.joint_effort(name)), floats(one.joint_effort(name)), atol=1e-7 * scale)


def chain(friction=steady, n=3):
    system = kn.System("chain", gravity=(0, -9.81, 0))
    last = system.world
    for k in range(n):
        body = system.body(f"b{k}", mass=1 + k, com=(0.2, 0.1, 0.05 * k), inertia=(0.1, 0.12, 0.13))
        system.revolute(f"j{k}", last, body, axis="zxyzyx"[k], friction=friction("revolute"))
        last = body.at(0.4, 0, 0.1)
    return system


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("modes", [(1, 0, -1), (0, 0, 1), (0, 0, 0)])
def test_every_kind_of_number_sticks(kind, modes):
    topology = find_topology(chain())
    rng = np.random.default_rng(3)
    q, u = rng.normal(size=3), rng.normal(size=3)

    def outputs(q, u, z):
        snapshot = Snapshot(topology, EvaluationPoint(0.0, q, u, z))
        return np.array([*snapshot.u_dot, *snapshot.locking.efforts], dtype=object)

    found = KINDS[kind](outputs, [q, u, np.array(modes, dtype=float)])
    reference = KINDS["floats"](outputs, [q, u, np.array(modes, dtype=float)])
    np.testing.assert_allclose(found, reference, rtol=1e-9, atol=1e-9)
    assert [x == 0 for x in found[:3]] == [m == 0 for m in modes]


@pytest.mark.parametrize("way", ["newton_euler", "circuit", "quasi_base", "rotators"])
def test_every_formulation_sticks(way):
    topology = find_topology(chain(loaded))
    for seed in range(5):
        state = some_state(topology, seed)
        numbers = InstantValues(*state, np.empty(0), np.empty(0))
        wanted = ("u_dot", "reactions")
        one, two = (FORMULATIONS[name].evaluate(topology, numbers, wanted) for name in ("recursive", way))
        np.testing.assert_allclose(floats(two["u_dot"]), floats(one["u_dot"]), atol=1e-9)
        for name in topology.system.joints:
            for a, b in zip(one["reactions"][name], two["reactions"][name], strict=True):
                np.testing.assert_allclose(floats(b), floats(a), atol=1e-8)


def four_bar(rough):
    """The last of four hinges closes the loop; some of them stick."""
    system = kn.System("four_bar", gravity=(0, -9.81, 0))
    crank = system.body("crank", mass=1, com=(0.1, 0, 0), inertia=(0.01, 0.02, 0.02))
    coupler = system.body("coupler", mass=2, com=(0.3, 0, 0), inertia=(0.01, 0.05, 0.05))
    rocker = system.body("rocker", mass=1.5, com=(0.2, 0, 0), inertia=(0.01, 0.03, 0.03))
    frictions = {name: kn.coulomb(effort=effort) for name, effort in rough.items()}
    system.revolute("left", system.world, crank, q=0.9, friction=frictions.get("left"))
    system.revolute("pin", crank.at(0.2, 0, 0), coupler, guess=-0.5, friction=frictions.get("pin"))
    system.revolute("right", system.world.at(0.5, 0, 0), rocker, guess=1.2, friction=frictions.get("right"))
    system.revolute("top", coupler.at(0.6, 0, 0), rocker.at(0.4, 0, 0), friction=frictions.get("top"))
    return system


@pytest.mark.parametrize("rough", [("left",), ("pin",), ("top",), ("left", "right"), ("left", "pin", "right", "top")])
def test_a_loop_of_one_freedom_is_held_by_any_of_its_joints(rough):
    """By virtual power: what holds it does, times the rates of the joints, what gravity does."""
    dynamics = kn.compile(four_bar(dict.fromkeys(rough, 10.0)))
    state = dynamics.initial
    snapshot = Snapshot(dynamics.topology, EvaluationPoint(0.0, state.q, 0 * state.u, np.zeros(dynamics.n_z)))
    assert abs(floats(snapshot.u_dot)).max() < 1e-9
    free = Snapshot(dynamics.topology, EvaluationPoint(0.0, state.q, 0 * state.u, np.ones(dynamics.n_z)), friction={})
    G, f = floats(free.constraints.jacobian), floats(free.bias_effort)
    rates = np.linalg.svd(G)[2][-1]  # the one motion that the loop allows
    power = 0.0
    for name, effort in snapshot.locking.by_joint.items():
        row = snapshot.lock_rows.columns(name)
        power += float(effort) * sum(float(x) * rates[j] for j, x in row.items())
    assert power == pytest.approx(-(f @ rates), rel=1e-6)
    two = NewtonEuler(snapshot)
    assert abs(floats(two.u_dot)).max() < 1e-9


def test_where_one_joint_sticks_the_others_slide_on():
    """A five-bar keeps one of its two freedoms: G and the stuck rows, in a dense solution."""
    system = kn.System("five_bar", gravity=(0, -9.81, 0))
    names = ("a", "b", "c", "d")
    bodies = [
        system.body(n, mass=1 + k, com=(0.1, 0.02 * k, 0), inertia=(0.02, 0.02, 0.02)) for k, n in enumerate(names)
    ]
    ends = [bodies[0].at(0.3, 0, 0), bodies[1].at(0.4, 0, 0), bodies[2].at(0.4, 0, 0), bodies[3].at(0.3, 0, 0)]
    system.revolute("j0", system.world, bodies[0], q=2.0, u=0.7, friction=kn.coulomb(effort=0.4))
    system.revolute("j1", ends[0], bodies[1], guess=-1.2, friction=kn.coulomb(effort=0.4))
    system.revolute("j3", system.world.at(0.4, 0, 0), bodies[3], q=1.0, u=-0.4)
    system.revolute("j2", ends[3], bodies[2], guess=1.0)
    system.revolute("j4", ends[1], ends[2], friction=kn.coulomb(effort=0.4))
    dynamics = kn.compile(system)
    state = dynamics.initial
    for modes in ([0, 1, 1], [1, 0, -1], [-1, 1, 0], [0, 0, 1], [0, 1, 0]):
        snapshot = Snapshot(dynamics.topology, EvaluationPoint(0.0, state.q, state.u, np.array(modes, dtype=float)))
        E = stuck_rows(snapshot)
        G, M, f = (floats(x) for x in (snapshot.constraints.jacobian, snapshot.mass_matrix, snapshot.bias_effort))
        gamma = [
            *-floats(snapshot.constraints.chosen(loop_constraints.bias)),
            *[g for g, s in zip(snapshot.lock_rows.gamma, snapshot.lock_rows.stuck, strict=True) if s],
        ]
        A = np.vstack([G, E])
        K = np.block([[M, -A.T], [A, np.zeros((len(A), len(A)))]])
        dense = np.linalg.solve(K, np.concatenate([f, floats(gamma)]))
        np.testing.assert_allclose(floats(snapshot.u_dot), dense[: len(f)], atol=1e-9)
        held = [float(h) for h, s in zip(snapshot.locking.efforts, snapshot.lock_rows.stuck, strict=True) if s]
        np.testing.assert_allclose(held, dense[-len(E) :], atol=1e-8)


def test_sticking_costs_a_few_operations():
    def count(friction, kernel):
        system = chain(n=6)
        for name in list(system.joints):
            system.change(name, friction=friction)
        return sum(count_operations(trace(find_topology(system), Kernel(kernel))).values())

    smooth, rough = count(None, "acceleration"), count(kn.coulomb(effort=0.3), "acceleration")
    assert rough <= 1.2 * smooth  # the parent may carry all of a link: zero rows of articulated inertias do not fold


def test_reactions_that_depend_on_how_a_loop_came_to_rest_are_said_to_be_so():
    for rough, unique in ((("left",), True), (("left", "right"), False)):
        dynamics = kn.compile(four_bar(dict.fromkeys(rough, 10.0)))
        state = dynamics.initial
        found = dynamics.reactions(0.0, state.q, state.u)["pin"]  # without modes: those that fit
        components = found.components or (False,) * 6
        assert components[0] is unique, rough  # along x; across the plane the loop is redundant in any case
        assert (found.shared == "how it came to rest") is not unique
        run = kn.simulate(dynamics, 0.1, samples=3)
        assert (run.reaction("pin").shared == "how it came to rest") is not unique


@pytest.mark.parametrize("what", ["compliant", "rigid", "brake"])
def test_large_trees_are_written_out(what):
    """Loops of machine code over the links know joints' own laws alone: the same numbers with and without."""
    system = kn.System("chain")
    last = system.world
    for k in range(42):
        body = system.body(f"b{k}", mass=1, com=(0.1, 0, 0), inertia=(0.01, 0.01, 0.01))
        system.revolute(f"j{k}", last, body, axis="y")
        last = body.at(0.2, 0, 0)
    ends = {"compliant": {"stiffness": 100.0}, "rigid": {"restitution": 0.5}}.get(what)
    if ends is None:
        system.brake("brake", "j3", 5.0)
    else:
        system.change("j20", stop={"upper": 0.1, **ends})
    dynamics = kn.compile(system)
    q, u = np.linspace(0, 1, 42), np.linspace(1, -1, 42)
    for mode in (0.0, 1.0):
        z = np.array([mode])
        plain = floats(Snapshot(dynamics.topology, EvaluationPoint(0.0, q, u, z)).u_dot)
        np.testing.assert_allclose(
            dynamics.acceleration(0.0, q, u, z=z), plain, rtol=1e-6, atol=1e-8 * abs(plain).max()
        )
