"""What a cut joint asks of the tree: Jacobian and second rate are derivatives of its residual, for every joint."""

import numpy as np
import pytest

from kinode.formulations import loops
from kinode.formulations.saddle import solve_saddle
from kinode.formulations.snapshot import Snapshot
from kinode.model.joints import JOINTS
from kinode.model.system import System
from kinode.topology import find_topology

EXTRA = {"screw": {"lead": 0.3}, "universal": {"axes": ("z", "x")}}
CLOSING = sorted(kind for kind, cls in JOINTS.items() if cls.__module__.startswith("kinode.") and kind != "free")


def four_bar(kind, drive=None):
    """A spatial four-bar whose third joint is of the given kind; the joint about y keeps it from being planar."""
    system = System("four_bar", gravity=(0, -9.81, 0))
    a = system.body("a", mass=1, com=(0.1, 0, 0), inertia=(0.01, 0.02, 0.02))
    b = system.body("b", mass=2, com=(0.3, 0, 0), inertia=(0.01, 0.05, 0.05))
    c = system.body("c", mass=1.5, com=(0.2, 0, 0), inertia=(0.01, 0.03, 0.03))
    system.revolute("j1", system.world, a, **({"motion": drive} if drive else {}))
    system.revolute("j2", a.at(0.2, 0, 0), b, axis="y")
    system.revolute("j4", system.world.at(0.5, 0, 0), c)
    system.joint("j3", kind, b.at(0.6, 0, 0), c.at(0.4, 0, 0), **EXTRA.get(kind, {}))
    return find_topology(system)


def measure(topology, q, u, t=0.0):
    (cut,) = topology.cuts
    snapshot = Snapshot(topology, t, q, u)
    functions = (loops.residual, loops.jacobian, loops.drift, loops.bias)
    return [np.asarray(function(snapshot, loops.Closing(cut)), dtype=float) for function in functions]


@pytest.mark.parametrize("kind", CLOSING)
def test_rates_are_derivatives_of_the_residual(kind):
    topology = four_bar(kind)
    rng = np.random.default_rng(3)
    q, u = rng.normal(size=topology.n_q), rng.normal(size=topology.n_u)
    c, G, drift, bias = measure(topology, q, u)
    assert len(c) == 6 - JOINTS[kind]("x", a=None, b=None, **EXTRA.get(kind, {})).n_u
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
    u_dot, lam = solve_saddle(M, G, f, gamma)
    assert M @ u_dot - G.T @ lam == pytest.approx(f, abs=1e-11)
    assert G @ u_dot == pytest.approx(gamma, abs=1e-11)
