"""Exact derivatives of large systems, whose code is loops: by the recursion, or column by column."""

import numpy as np
import pytest
from mechanisms import ring

import kinode as kn
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.rolled.rolled_programs import is_loop_code
from kinode.multibody.snapshot import Snapshot
from kinode.structure.state_layout import EvaluationPoint

NEAR = 2e-7  # of differences, relative to the largest entry of a block


def chain(n=45, *, loaded=False):
    """A chain of links on turning axes; a spring and a law of effort make the recursion not apply."""
    system = kn.System("chain", gravity=(0, -9.81, 0))
    system.parameter("k", 30.0)
    before = system.world
    for i in range(n):
        link = system.body(f"b{i}", mass=0.1, com=(0.05, 0.01, 0), inertia=(1e-4, 2e-4, 2e-4))
        system.revolute(f"j{i}", before, link, axis="zxy"[i % 3], stiffness=2.0, damping=0.1)
        before = link.at(0.1, 0, 0)
    if loaded:
        system.spring("pull", before, system.world.at(1, 1, 0), stiffness="k", free_length=0.3)
        system.spring("tie", system["b5"], system["b30"].at(0, 0.1, 0), stiffness=20.0, free_length=0.3, damping=0.5)
        system.change("j3", effort="-0.2*k*sin(j5.q)")
    return system


def slope(function, x, columns, step=1e-5):
    """Central differences of a function along some unit vectors."""
    units = np.eye(len(x))[columns]
    return np.array([(function(x + step * e) - function(x - step * e)) / (2 * step) for e in units]).T


def assert_near(found, expected):
    assert abs(found - expected).max() <= NEAR * max(1.0, abs(expected).max())


def test_the_rate_jacobian_of_a_large_tree_by_the_recursion():
    dynamics = kn.compile(chain())
    y = np.random.default_rng(0).uniform(-0.5, 0.5, 90)
    J = dynamics.rate_jacobian(0.0, y)
    assert not dynamics.kernels.has(Kernel("derivatives_along"))
    assert_near(J[:, ::11], slope(lambda y: dynamics.rate(0.0, y), y, range(0, 90, 11)))
    np.testing.assert_array_equal(dynamics.rate_jacobian(0.0, np.array([y, 2 * y]))[0], J)


def test_loads_and_laws_and_parameters_of_a_large_tree():
    dynamics = kn.compile(chain(loaded=True))
    rng = np.random.default_rng(1)
    q, u, e = 0.3 * rng.normal(size=45), rng.normal(size=45), 0.1 * rng.normal(size=45)
    d = dynamics.derivatives(0.0, q, u, by=("q", "u", "effort", "p"), effort=e)
    assert is_loop_code(dynamics.topology, Kernel("derivatives_along", d.request.options))
    some = range(0, 45, 7)
    assert_near(d["q"][:, ::7], slope(lambda q: dynamics.acceleration(0.0, q, u, effort=e), q, some))
    assert_near(d["u"][:, ::7], slope(lambda u: dynamics.acceleration(0.0, q, u, effort=e), u, some))
    assert_near(d["effort"] @ dynamics.mass_matrix(0.0, q), np.eye(45))
    assert_near(d["p"], slope(lambda k: dynamics.acceleration(0.0, q, u, effort=e, p=k), np.array([30.0]), [0]))
    energy = dynamics.derivatives(0.0, q, u, of="system.energy", by=("q", "u"))
    assert_near(energy["u"], dynamics.mass_matrix(0.0, q) @ u)


def test_a_spring_between_two_bodies_of_a_large_tree():
    """Nothing cancels while it is not yet known where the loops leave the poses of bodies."""
    dynamics = kn.compile(chain(loaded=True))
    q, u = 0.3 * np.random.default_rng(4).normal(size=(2, 45))
    snapshot = Snapshot(dynamics.topology, EvaluationPoint(0.0, q, u, np.empty(0), dynamics.parameters, np.empty(0)))
    np.testing.assert_allclose(dynamics.acceleration(0.0, q, u), snapshot.u_dot.astype(float), rtol=1e-9, atol=1e-9)


@pytest.fixture(scope="module")
def large_ring():
    return kn.compile(ring(44, "revolute"))


def test_large_loops(large_ring):
    dynamics, state = large_ring, large_ring.initial
    assert is_loop_code(dynamics.topology, Kernel("rate"))
    y = state.y.copy()
    y[dynamics.n_q :] += 0.1 * np.random.default_rng(2).normal(size=dynamics.n_u)
    J = dynamics.rate_jacobian(0.0, y)
    some = range(0, len(y), 9)
    assert_near(J[:, ::9], slope(lambda y: dynamics.rate(0.0, y), y, some))


def test_large_loops_are_integrated_by_the_stiff_method_with_exact_derivatives(large_ring):
    options = {"times": [0.0, 0.05, 0.1], "rtol": 1e-8, "atol": 1e-10}
    runs = [kn.simulate(large_ring, 0.1, method=method, **options) for method in ("stiff", "dopri5")]
    assert large_ring.kernels.made >= {Kernel("direction")}
    assert abs(runs[0].q - runs[1].q).max() < 1e-6
