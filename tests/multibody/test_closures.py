"""What a cut joint asks of the tree: Jacobian and second rate are derivatives of its residual, for every joint."""

import numpy as np
import pytest
from joint_contract import needed_fields

import kinode as kn
from kinode.algebra.sparse_ldl import Saddle, sparse
from kinode.model.joints.joint import JOINTS
from kinode.multibody import loop_constraints
from kinode.multibody.snapshot import Snapshot
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import find_topology

CLOSING = sorted(kind for kind, cls in JOINTS.items() if cls.__module__.startswith("kinode.") and kind != "free")


def four_bar(kind, drive=None):
    """A spatial four-bar whose third joint is of the given kind; the joint about y keeps it from being planar."""
    system = kn.System("four_bar", gravity=(0, -9.81, 0))
    a = system.body("a", mass=1, com=(0.1, 0, 0), inertia=(0.01, 0.02, 0.02))
    b = system.body("b", mass=2, com=(0.3, 0, 0), inertia=(0.01, 0.05, 0.05))
    c = system.body("c", mass=1.5, com=(0.2, 0, 0), inertia=(0.01, 0.03, 0.03))
    system.revolute("j1", system.world, a, **({"motion": drive} if drive else {}))
    system.revolute("j2", a.at(0.2, 0, 0), b, axis="y")
    system.revolute("j4", system.world.at(0.5, 0, 0), c)
    axes = {"axes": ("z", "x")} if "axes" in JOINTS[kind].specs() else {}
    system.joint("j3", kind, b.at(0.6, 0, 0), c.at(0.4, 0, 0), **needed_fields(kind), **axes)
    return find_topology(system)


def measure(topology, q, u, t=0.0):
    (cut,) = topology.cuts
    snapshot = Snapshot(topology, EvaluationPoint(t, q, u))
    constraint = loop_constraints.CutJointConstraint(cut)
    c, drift, bias = (
        np.asarray(function(snapshot.kinematics, [constraint])[0], dtype=float)
        for function in (loop_constraints.residual, loop_constraints.drift, loop_constraints.bias)
    )
    return c, np.asarray(loop_constraints.jacobian(snapshot.kinematics, constraint), dtype=float), drift, bias


@pytest.mark.parametrize("kind", CLOSING)
def test_rates_are_derivatives_of_the_residual(kind):
    topology = four_bar(kind)
    rng = np.random.default_rng(3)
    q, u = rng.normal(size=topology.n_q), rng.normal(size=topology.n_u)
    c, G, drift, bias = measure(topology, q, u)
    assert len(c) == 6 - len(JOINTS[kind].coordinates)
    h = 1e-6
    steps = h * np.eye(topology.n_q)
    columns = [(measure(topology, q + s, u)[0] - measure(topology, q - s, u)[0]) / (2 * h) for s in steps]
    assert G == pytest.approx(np.column_stack(columns), abs=1e-8)  # central differences: h^2 and rounding/h
    assert drift == pytest.approx(G @ u, abs=1e-12)
    h = 1e-4
    second = (measure(topology, q + h * u, u)[0] - 2 * c + measure(topology, q - h * u, u)[0]) / h**2
    assert bias == pytest.approx(second, abs=1e-5)  # h^2 times fourth derivatives, and rounding/h^2


def test_a_driven_joint_moves_the_closure_by_itself():
    topology = four_bar("revolute", drive="0.3 + 0.7*t + 0.2*t^2")
    rng = np.random.default_rng(4)
    q, u, t, h = rng.normal(size=2), rng.normal(size=2), 0.4, 1e-4
    before, _, _, _ = measure(topology, q - h * u, u, t - h)
    now, _, drift, bias = measure(topology, q, u, t)
    after, _, _, _ = measure(topology, q + h * u, u, t + h)
    assert drift == pytest.approx((after - before) / (2 * h), abs=1e-7)
    assert bias == pytest.approx((after - 2 * now + before) / h**2, abs=1e-5)


def test_the_saddle_point_system_is_solved_in_an_order_without_vanishing_pivots():
    rng = np.random.default_rng(5)
    n, m = 7, 3
    L = rng.normal(size=(n, n))
    M, G, f, gamma = L @ L.T + np.eye(n), rng.normal(size=(m, n)), rng.normal(size=n), rng.normal(size=m)
    G[0, 3:] = 0.0
    u_dot, lam = Saddle(sparse(M), sparse(G))(f, gamma)
    assert M @ u_dot - G.T @ lam == pytest.approx(f, abs=1e-11)
    assert G @ u_dot == pytest.approx(gamma, abs=1e-11)


@pytest.mark.parametrize("seed", range(5))
def test_sparse_elimination_gives_what_a_dense_solver_gives(seed):
    """Many small loops in a row: blocks of coordinates that rows tie to their neighbors."""
    rng = np.random.default_rng(seed)
    blocks = int(rng.integers(2, 9))
    n, m = 3 * blocks, 2 * (blocks - 1)
    M, G = np.zeros((n, n)), np.zeros((m, n))
    for b in range(blocks):
        L = rng.normal(size=(3, 3))
        M[3 * b : 3 * b + 3, 3 * b : 3 * b + 3] = L @ L.T + np.eye(3)
    for k in range(blocks - 1):
        G[2 * k : 2 * k + 2, 3 * k : 3 * k + 6] = rng.normal(size=(2, 6))
    f, gamma = rng.normal(size=n), rng.normal(size=m)
    u_dot, lam = Saddle(sparse(M), sparse(G))(f, gamma)
    dense = np.linalg.solve(np.block([[M, -G.T], [G, np.zeros((m, m))]]), np.concatenate([f, gamma]))
    assert np.concatenate([u_dot, lam]) == pytest.approx(dense, rel=1e-9, abs=1e-9)


def test_what_carries_a_whole_loop_has_no_column():
    """A loop on a carriage: moving the carriage cannot open it, and costs no operations."""
    system = kn.System("carried", gravity=(0, -9.81, 0))
    base = system.body("base", mass=1, inertia=(1, 1, 1))
    a, b = (system.body(name, mass=1, com=(0.1, 0, 0), inertia=(0.01, 0.02, 0.02)) for name in "ab")
    system.prismatic("slide", system.world, base, axis="x")
    system.revolute("left", base, a)
    system.revolute("right", base.at(0.3, 0, 0), b)
    system.revolute("top", a.at(0.2, 0, 0), b.at(0.2, 0, 0))
    topology = find_topology(system)
    snapshot = Snapshot(topology, EvaluationPoint(0.0, np.array([0.4, 1.0, 2.0]), np.zeros(3)))
    (columns,) = loop_constraints.jacobian_columns(
        snapshot.kinematics, [loop_constraints.CutJointConstraint(topology.cuts[0])]
    )
    assert sorted(columns) == [topology.u_of["left"].start, topology.u_of["right"].start]


def test_accelerations_that_the_loop_does_not_make_are_refused():
    """Which joints would make them is not known, and reactions would depend on it."""
    dynamics = kn.compile(kn.load("examples/four_bar.yaml"))
    start = dynamics.initial
    own = dynamics.acceleration(0.0, start.q, start.u)
    given, left_out = (dynamics.reactions(0.0, start.q, start.u, x)["pin"].force for x in (own, None))
    np.testing.assert_allclose(given, left_out, rtol=1e-12, atol=1e-12)
    with pytest.raises(kn.ArgumentError, match="u_dot: where constraints close loops"):
        dynamics.reactions(0.0, start.q, start.u, 2 * own)
