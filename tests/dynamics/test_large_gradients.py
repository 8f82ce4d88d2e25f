"""Derivatives of a chain of 100 links, all of them loop code, against each other and against central differences."""

import numpy as np
import pytest

import kinode as kn
from kinode.kernels.kernel_options import DerivativeOptions, Kernel
from kinode.kernels.rolled.rolled_programs import is_loop_code

LINKS = 100
TIP = f"b{LINKS - 1}"
STEP = 1e-5
BY = (("q", None), ("u", None), ("x", None))


@pytest.fixture(scope="module")
def chain():
    """Its dynamics, a state, and a direction."""
    system = kn.System("chain")
    body = system.world
    for i in range(LINKS):
        new = system.body(f"b{i}", mass=1 + 0.1 * (i % 7), com=(0.01, 0.02, 0.05), inertia=(0.003, 0.004, 0.005))
        system.revolute(f"j{i}", body.at(0.005, 0.01, 0.1), new, axis="xyz"[i % 3], damping=0.1)
        body = new
    rng = np.random.default_rng(2)
    return kn.compile(system), rng.normal(size=(2, LINKS)) * [[0.2], [0.5]], rng.normal(size=LINKS)


def assert_close(found, expected, share):
    assert np.shape(found) == np.shape(expected)
    assert abs(np.asarray(found) - expected).max() <= share * abs(np.asarray(expected)).max()


def test_all_of_them_are_loop_code(chain):
    topology = chain[0].topology
    for name in ("second_derivatives", "derivatives_along", "derivatives"):
        assert is_loop_code(topology, Kernel(name, DerivativeOptions(("u_dot",), BY))), name
    assert is_loop_code(topology, Kernel("motion_along", DerivativeOptions(("effort",), BY)))
    assert is_loop_code(topology, Kernel("jacobian_rate", (TIP,)))


def test_gradient_is_that_of_the_recursion_and_of_differences(chain):
    dynamics, (q, u), w = chain
    by = ("q", "u", "effort")
    found = dynamics.gradient(0.0, q, u, of="u_dot", by=by, weights=w)
    columns = dynamics.derivatives(0.0, q, u, of="u_dot", by=by)
    for name in by:
        assert_close(found[name], w @ columns[name], 1e-9)  # rounding, times the condition of a chain of 100 links
    ahead, behind = (w @ dynamics.acceleration(0.0, q + s * w, u) for s in (STEP, -STEP))
    assert_close(found["q"] @ w, (ahead - behind) / (2 * STEP), 1e-5)  # error of differences
    energy = dynamics.gradient(0.0, q, u, of="system.energy", by="u")["u"]
    assert_close(energy, u @ np.linalg.inv(columns["effort"]), 1e-8)  # M u


def test_gradient_of_inverse_dynamics(chain):
    dynamics, (q, u), w = chain
    found = dynamics.gradient(0.0, q, u, of="effort", by=("q", "u", "u_dot"), weights=w, u_dot=w)
    columns = dynamics.derivatives(0.0, q, u, of="effort", by=("q", "u", "u_dot"), u_dot=w)
    for name in ("q", "u", "u_dot"):
        assert_close(found[name], w @ columns[name], 1e-10)


def test_second_derivatives_are_those_of_differences(chain):
    dynamics, (q, u), w = chain
    found = dynamics.second_derivatives(0.0, q, u, of="u_dot", along={"q": w, "u": -w}, then={"q": u})
    ahead, behind = (dynamics.derivatives(0.0, q + s * u, u, of="u_dot", by=("q", "u")) for s in (STEP, -STEP))
    expected = ((ahead["q"] - behind["q"]) @ w - (ahead["u"] - behind["u"]) @ w) / (2 * STEP)
    assert_close(found, expected, 1e-5)  # error of differences


def test_rate_of_a_jacobian(chain):
    dynamics, (q, u), _ = chain
    frame = f"{TIP}.com"
    angular, linear = dynamics.jacobian_rate(frame, 0.0, q, u)
    ahead, behind = (dynamics.jacobian(frame, 0.0, q + s * u) for s in (STEP, -STEP))
    for found, one, other in zip((angular, linear), ahead, behind, strict=True):
        assert_close(found, (one - other) @ u / (2 * STEP), 1e-6)  # error of differences
    assert_close(linear, dynamics.jacobian_rate(f"{frame}.position", 0.0, q, u), 1e-11)


def test_several_functions_of_the_system_at_once(chain):
    """Each has loop code of its own: together they are put together, in the order of the request."""
    dynamics, (q, u), w = chain
    of, by = ("energy", f"{TIP}.position", "u_dot"), ("q", "u")
    f = dynamics.derivatives_of(of, by=by)
    found = f(0.0, q, u)
    assert not dynamics.kernels.has(f.request.kernel)
    for name in of:
        alone = dynamics.derivatives(0.0, q, u, of=name, by=by).matrix
        np.testing.assert_array_equal(found[f.rows[name]], alone)
    out = np.empty((2, *f.shape))
    assert f(0.0, np.array([q, q]), u, out=out) is out
    np.testing.assert_allclose(out[1], found, rtol=1e-12, atol=1e-12 * abs(found).max())
    weights = np.concatenate([np.ones(5), w])
    gradient = dynamics.gradient(0.0, q, u, of=of, by=by, weights=weights)
    assert_close(gradient.matrix[0], weights @ found, 1e-9)  # rounding, times the condition of a chain of 100 links
