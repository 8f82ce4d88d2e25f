"""Gradients of large closed loops: weighted sums of columns, each of loop code; against differences."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from mechanisms import net, ring

import kinode as kn
from kinode.kernels.kernel_options import DerivativeOptions, Kernel
from kinode.kernels.rolled.rolled_programs import is_loop_code

STEP = 1e-5
BY = ("q", "u", "effort", "p", "inputs", "t", "z")


def loaded_ring(n, kind):
    """A ring with springs, a parameter in masses and laws, an input, a filter."""
    system = ring(n, kind)
    k = system.parameter("k", 0.3)
    system.input("push", 0.2)
    for i in range(0, n, 4):
        tie = system.world.at(1, 0.3 * i, 0.2)
        system.spring(f"s{i}", system[f"rod{i}"].at(0.3, 0.1, 0), tie, stiffness=2 + i, free_length=0.1, damping=0.2)
    system.change("rod3", mass=k)
    system.spring("law", system["rod2"].at(0.5, 0, 0), system["rod9"], stiffness="20*k", free_length=0.2)
    system.force("out", system["rod5"].at(1, 0, 0), ("push*sin(t)", 1, "k*lag.output"))
    system.filter("lag", "rod7.velocity.x", time_constant=0.2)
    return system


def moving(dynamics, seed=3):
    """A state whose speeds keep no loop closed, added efforts, other states."""
    rng, start = np.random.default_rng(seed), dynamics.initial
    return start.q, rng.normal(size=dynamics.n_u), rng.normal(size=dynamics.n_u), rng.normal(size=len(start.z))


@pytest.fixture(scope="module", params=["revolute", "spherical"])
def closed(request):
    return kn.compile(loaded_ring(40 if request.param == "revolute" else 14, request.param))


@pytest.mark.parametrize("of", ["u_dot", "rate", "energy", ("rod8.acceleration", "law.tension", "rod11.position")])
def test_a_gradient_needs_no_code_but_that_of_columns(closed, of):
    q, u, e, z = moving(closed)
    forward = closed.derivatives(0.4, q, u, of=of, by=BY, effort=e, z=z)
    w = np.random.default_rng(5).normal(size=len(forward.matrix))
    gradient = closed.gradient(0.4, q, u, of=of, by=BY, effort=e, z=z, weights=w)
    assert is_loop_code(closed.topology, Kernel("derivatives_along", gradient.request.options))
    assert not any(kernel.name == "gradient" for kernel in closed.kernels.made)
    np.testing.assert_allclose(gradient.matrix[0], w @ forward.matrix, rtol=1e-12, atol=1e-12 * abs(w).max())


def test_efforts_for_given_accelerations(closed):
    """Against differences: columns forward, and their weighted sum."""
    q, u, x, z = moving(closed)
    by = ("q", "u", "u_dot", "p", "inputs")
    forward = closed.derivatives(0.4, q, u, of="effort", by=by, u_dot=x, z=z)
    assert is_loop_code(closed.topology, Kernel("motion_along", forward.request.options))
    w, d = np.random.default_rng(1).normal(size=(2, closed.n_u))
    gradient = closed.gradient(0.4, q, u, of="effort", by=by, u_dot=x, z=z, weights=w)
    np.testing.assert_allclose(gradient.matrix[0], w @ forward.matrix, rtol=1e-12, atol=1e-12 * abs(w).max())
    for name, role in (("u", 1), ("u_dot", 2)):
        ahead, behind = (
            closed.effort(0.4, *(v + s * d if k == role else v for k, v in enumerate((q, u, x))), z=z)
            for s in (STEP, -STEP)
        )
        expected = (ahead - behind) / (2 * STEP)
        assert forward[name] @ d == pytest.approx(expected, rel=1e-6, abs=1e-6 * abs(expected).max())


def test_several_functions_at_once(closed):
    q, u, e, z = moving(closed)
    of, at = ("energy", "u_dot", "rod8.acceleration"), {"effort": e, "z": z}
    w = np.random.default_rng(2).normal(size=2 + closed.n_u + 3)
    whole = closed.gradient(0.4, q, u, of=of, by=("q", "p"), weights=w, **at)
    parts = np.split(w, [2, 2 + closed.n_u])
    each = [
        closed.gradient(0.4, q, u, of=name, by=("q", "p"), weights=part, **at).matrix
        for name, part in zip(of, parts, strict=True)
    ]
    np.testing.assert_allclose(whole.matrix, sum(each), rtol=1e-12, atol=1e-12 * abs(whole.matrix).max())


def test_prepared_gradients_in_batches_threads_and_other_processes(closed):
    q, u, e, z = moving(closed)
    w = np.random.default_rng(4).normal(size=closed.n_u)
    g = closed.gradient_of("u_dot", by=("q", "u", "k", "push"), weights=w)
    states = u * np.linspace(0.5, 1.5, 9)[:, None]
    batch = g(0.4, np.tile(q, (9, 1)), states, e, z=z)
    with ThreadPoolExecutor(3) as pool:
        each = list(pool.map(lambda row: g(0.4, q, row, e, z=z), states))
    np.testing.assert_allclose(batch, each, rtol=1e-11, atol=1e-11 * abs(batch).max())
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(g))(0.4, q, u, e, z=z), g(0.4, q, u, e, z=z))
    assert g.columns["k"] == slice(2 * closed.n_u, 2 * closed.n_u + 1)


def test_a_net_by_differences():
    """200 rows through 210 links; by effort the gradient is a motion: M^-1 (w - G' lam)."""
    dynamics = kn.compile(net(10, 10))
    rng, start = np.random.default_rng(7), dynamics.initial
    w, d = rng.normal(size=(2, dynamics.n_u))
    u = rng.normal(size=dynamics.n_u)
    g = dynamics.gradient_of("u_dot", by=("q", "u", "effort"), weights=w)
    assert is_loop_code(dynamics.topology, Kernel("derivatives_along", g.request.options))
    found = g.blocks(g(0.0, start.q, u))
    for name, at in (
        ("q", ((start.q + s * d, u) for s in (STEP, -STEP))),
        ("u", ((start.q, u + s * d) for s in (STEP, -STEP))),
    ):
        ahead, behind = (w @ dynamics.acceleration(0.0, *state) for state in at)
        assert found[name] @ d == pytest.approx((ahead - behind) / (2 * STEP), rel=1e-5)  # error of differences
    one, two = (dynamics.acceleration(0.0, start.q, u, effort=e) for e in (w, 0 * w))
    # u_dot is affine in efforts, and K^-1 is symmetric
    np.testing.assert_allclose(found["effort"], one - two, rtol=1e-9, atol=1e-9 * abs(one - two).max())


def test_positions_where_a_ring_lies_flat_have_no_derivative():
    """All rods in one line, forth and back: their joints may leave it to either side."""
    n = 40
    dynamics = kn.compile(ring(n, "revolute"))
    q = np.zeros(n)
    q[n // 2] = np.pi
    by = (("q", None),)
    assert is_loop_code(dynamics.topology, Kernel("derivatives_along", DerivativeOptions(("u_dot",), by)))
    with pytest.raises(kn.ArgumentError, match="u_dot: this state is a singular position, with 1 more freedom"):
        dynamics.gradient(0.0, q, np.ones(n), of="u_dot", by="q", weights=np.ones(n))
    assert np.isfinite(dynamics.gradient(0.0, q, np.ones(n), of="system.energy", by=("q", "u")).matrix).all()
