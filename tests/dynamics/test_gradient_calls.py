"""``dynamics.gradient``, ``gradient_of``, ``second_derivatives`` and ``jacobian_rate``, against ``derivatives``."""

import numpy as np
import pytest
from compiled_examples import compiled_example
from mechanisms import four_bars

import kinode as kn


@pytest.fixture(scope="module")
def pendulum():
    return compiled_example("double_pendulum")


@pytest.fixture(scope="module")
def walker():
    return compiled_example("walker")


Q, U, E = np.array([0.3, -0.7]), np.array([0.5, 1.1]), np.array([0.2, -0.4])
SYSTEMS = ("double_pendulum", "walker", "quadcopter", "four_bar", "motor_axis", "brake_arm")


def state_of(dynamics, seed=0):
    rng = np.random.default_rng(seed)
    start = dynamics.initial
    q = start.q if dynamics.topology.constrained else start.q + 0.2 * rng.normal(size=dynamics.n_q)
    for k in dynamics.topology.layout.quaternions:
        q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
    return q, start.u + 0.3 * rng.normal(size=dynamics.n_u), rng.normal(size=dynamics.n_u), start.z


@pytest.mark.parametrize("name", SYSTEMS)
def test_backward_is_forward(name):
    dynamics = compiled_example(name)
    q, u, e, z = state_of(dynamics)
    by = ("q", "coordinates", "u", "z", "t", "p", "inputs", "effort")
    forward = dynamics.derivatives(0.2, q, u, of=("rate", "energy"), by=by, effort=e, z=z)
    weights = np.random.default_rng(1).normal(size=len(forward.matrix))
    backward = dynamics.gradient(0.2, q, u, of=("rate", "energy"), by=by, effort=e, z=z, weights=weights)
    scale = abs(weights) @ abs(forward.matrix) + 1.0
    assert (abs(backward.matrix[0] - weights @ forward.matrix) <= 1e-12 * scale).all()
    assert backward["q"].shape == (dynamics.n_u,)


def test_gradient_of_one_number(pendulum):
    gradient = pendulum.gradient(0.0, Q, U, of="system.energy", by=("q", "u", "p"))
    d = pendulum.derivatives(0.0, Q, U, of="system.energy", by=("q", "u", "p"))
    np.testing.assert_allclose(gradient.matrix, d.matrix, rtol=1e-12, atol=1e-14)
    assert gradient["u"] == pytest.approx(pendulum.mass_matrix(0.0, Q) @ U, rel=1e-12)
    batch = pendulum.gradient(0.0, np.array([Q, U]), np.array([U, Q]), of="system.energy", by=("q", "u", "p"))
    np.testing.assert_array_equal(batch.matrix[0], gradient.matrix)
    out = np.empty((1, 5))
    assert pendulum.gradient(0.0, Q, U, of="system.energy", by=("q", "u", "p"), out=out).matrix is out


def test_a_prepared_gradient_gives_the_vector(walker):
    q, u, e, _ = state_of(walker)
    weights = np.random.default_rng(2).normal(size=walker.n_u)
    by = ("q", "u", "effort")
    g = walker.gradient_of("u_dot", by=by, weights=weights)
    expected = walker.gradient(0.0, q, u, of="u_dot", by=by, weights=weights)
    np.testing.assert_array_equal(g(0.0, q, u), expected.matrix[0])
    np.testing.assert_array_equal(g(0, list(q), u), expected.matrix[0])
    loaded = walker.gradient(0.0, q, u, of="u_dot", by=by, weights=weights, effort=e).matrix[0]
    np.testing.assert_array_equal(g(0.0, q, u, e), loaded)
    np.testing.assert_array_equal(g(0.0, q, u, effort=e), loaded)
    np.testing.assert_allclose(g(0.0, q, u, weights=3 * weights), 3 * expected.matrix[0], rtol=1e-12)
    out = np.empty(g.shape)
    assert g(0.0, q, u, out=out) is out
    np.testing.assert_array_equal(g.blocks(out)["u"], expected["u"])
    assert g.columns == walker.derivatives_of("u_dot", by=by).columns
    assert g(0.0, np.array([q, q]), np.array([u, u])).shape == (2, *g.shape)
    one = walker.gradient_of("system.energy", by="u")
    assert walker.gradient_of("system.energy", by="u") is one
    np.testing.assert_allclose(one(0.0, q, u), walker.mass_matrix(0.0, q) @ u, rtol=1e-12)
    assert "one number" in g.__doc__


def test_prepared_gradients_of_given_motion_and_without_weights(pendulum):
    g = pendulum.gradient_of("effort")
    assert repr(g) == "<gradient of effort by q, u, u_dot: g(t, q, u, u_dot)>"
    weights = np.array([0.3, -2.0])
    expected = pendulum.gradient(0.0, Q, U, of="effort", u_dot=E, weights=weights).matrix[0]
    np.testing.assert_array_equal(g(0.0, Q, U, E, weights=weights), expected)
    np.testing.assert_array_equal(pendulum.gradient_of("effort", weights=weights)(0.0, Q, U, u_dot=E), expected)
    with pytest.raises(kn.ArgumentError, match="weights: effort has 2 entries"):
        g(0.0, Q, U, E)
    with pytest.raises(kn.ArgumentError, match="u_dot: needed"):
        g(0.0, Q, U, weights=weights)
    with pytest.raises(kn.ArgumentError, match="u_dot is expected, once"):
        g(0.0, Q, U, effort=E, weights=weights)
    with pytest.raises(kn.ArgumentError, match="weights: shape"):
        pendulum.gradient_of("u_dot", weights=[1.0])


def test_gradient_of_given_motion(pendulum):
    weights = np.array([0.3, -2.0])
    gradient = pendulum.gradient(0.0, Q, U, of="effort", u_dot=E, weights=weights)
    d = pendulum.derivatives(0.0, Q, U, of="effort", u_dot=E)
    np.testing.assert_allclose(gradient.matrix[0], weights @ d.matrix, rtol=1e-12)
    assert gradient["u_dot"].shape == (2,)


def test_gradients_that_are_none(pendulum):
    with pytest.raises(kn.ArgumentError, match="weights: u_dot has 2 entries, and a gradient is that of one number"):
        pendulum.gradient(0.0, Q, U, of="u_dot")
    with pytest.raises(kn.ArgumentError, match="weights: shape"):
        pendulum.gradient(0.0, Q, U, of="u_dot", weights=[1.0, 2.0, 3.0])
    with pytest.raises(kn.ArgumentError, match="not both"):
        pendulum.gradient(0.0, Q, U, of="system.energy", effort=E, u_dot=E)


@pytest.mark.parametrize("name", ["double_pendulum", "walker", "quadcopter", "four_bar", "motor_axis"])
def test_second_derivatives_are_slopes_of_first_ones(name):
    dynamics = compiled_example(name)
    q, u, e, z = state_of(dynamics)
    rng = np.random.default_rng(3)
    a, b, c = (rng.normal(size=dynamics.n_u) for _ in range(3))

    def first(step):
        moved = dynamics.topology.advance_q(q, step * c)
        d = dynamics.derivatives(0.0, moved, u + step * a, effort=e, z=z, by=("q", "u"))
        return d["q"] @ a + d["u"] @ b

    steps = {-2: 1 / 12, -1: -2 / 3, 1: 2 / 3, 2: -1 / 12}
    expected = sum(weight * first(1e-3 * k) for k, weight in steps.items()) / 1e-3
    found = dynamics.second_derivatives(0.0, q, u, effort=e, z=z, along={"q": a, "u": b}, then={"q": c, "u": a})
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-8 * (1.0 + abs(expected).max()))


def test_second_derivatives_of_many_states_are_those_of_each(pendulum):
    along, then = {"q": [1.0, -0.5]}, {"u": [0.3, 2.0]}
    many = pendulum.second_derivatives(0.0, np.array([Q, U, E]), np.array([U, Q, Q]), along=along, then=then)
    each = [pendulum.second_derivatives(0.0, q, u, along=along, then=then) for q, u in ((Q, U), (U, Q), (E, Q))]
    np.testing.assert_allclose(many, each, rtol=1e-13)


def test_kinetic_energy_has_the_mass_matrix_as_its_second_derivatives(walker):
    q, u, _, _ = state_of(walker)
    M = walker.mass_matrix(0.0, q)
    a, b = np.random.default_rng(0).normal(size=(2, walker.n_u))
    found = walker.second_derivatives(0.0, q, u, of="energy", along={"u": a}, then={"u": b})
    assert found[0] == pytest.approx(a @ M @ b, rel=1e-12)


def test_directions_that_are_none(pendulum):
    with pytest.raises(kn.ArgumentError, match="along: a direction by name is expected"):
        pendulum.second_derivatives(0.0, Q, U, along=[1.0, 0.0])
    with pytest.raises(kn.ArgumentError, match=r"along: q: shape \(2,\)"):
        pendulum.second_derivatives(0.0, Q, U, along={"q": [1.0, 0.0, 0.0]})
    with pytest.raises(kn.ArgumentError, match="then: no parameter or input is called 'qq'; did you mean q"):
        pendulum.second_derivatives(0.0, Q, U, along={"q": [1.0, 0.0]}, then={"qq": [1.0, 0.0]})
    with pytest.raises(kn.ArgumentError, match=r"rows: q \(3, 2\), effort and directions \(2, 6\)"):
        pendulum.second_derivatives(0.0, np.zeros((3, 2)), U, along={"q": np.eye(2)})
    with pytest.raises(kn.ArgumentError, match="of: one quantity that follows from the state"):
        pendulum.second_derivatives(0.0, Q, U, of="effort", along={"q": [1.0, 0.0]})


@pytest.mark.parametrize("name", ["double_pendulum", "walker", "quadcopter"])
def test_rate_of_a_jacobian(name):
    dynamics = compiled_example(name)
    q, u, _, _ = state_of(dynamics)
    body = list(dynamics.system.bodies)[-1]
    angular, linear = dynamics.jacobian_rate(body, 0.0, q, u)

    def velocity(step):
        J_w, J_v = dynamics.jacobian(body, 0.0, dynamics.topology.advance_q(q, step * u))
        return np.concatenate([J_w @ u, J_v @ u])

    steps = {-2: 1 / 12, -1: -2 / 3, 1: 2 / 3, 2: -1 / 12}
    expected = sum(weight * velocity(1e-3 * k) for k, weight in steps.items()) / 1e-3
    np.testing.assert_allclose(np.concatenate([angular, linear]), expected, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(dynamics.jacobian_rate(f"{body}.position", 0.0, q, u), linear, rtol=1e-9, atol=1e-11)
    with pytest.raises(kn.ArgumentError, match="depends on speeds"):
        dynamics.jacobian_rate(f"{body}.velocity", 0.0, q, u)


def test_one_number_has_second_derivatives_too(pendulum):
    along = {"u": [1.0, 0.0]}
    found = pendulum.second_derivatives(0.0, Q, U, of="system.energy", along=along)
    assert found.shape == ()
    assert found == pytest.approx(pendulum.mass_matrix(0.0, Q)[0, 0], rel=1e-12)
    two = pendulum.second_derivatives(0.0, np.array([Q, Q]), U, of="system.energy", along=along)
    np.testing.assert_array_equal(two, [found, found])
    assert pendulum.jacobian_rate("elbow.q", 0.0, Q, U) == 0.0


def test_there_are_no_derivatives_in_a_singular_position():
    """A parallelogram whose bars lie in one line: it may open to either side."""
    dynamics = kn.compile(four_bars(1))
    start, flat = dynamics.initial, np.full(3, np.pi / 2)
    beside = np.array([start.q, flat])
    words = "u_dot: this state is a singular position, with 1 more freedom than at positions beside it"
    with pytest.raises(kn.ArgumentError, match=words):
        dynamics.derivatives(0.0, flat, start.u)
    with pytest.raises(kn.ArgumentError, match=words):
        dynamics.gradient(0.0, flat, start.u, of="u_dot", by="q", weights=np.ones(3))
    with pytest.raises(kn.ArgumentError, match=words):
        dynamics.second_derivatives(0.0, flat, start.u, along={"q": np.ones(3)})
    prepared = dynamics.derivatives_of(), dynamics.gradient_of("u_dot", by="q", weights=np.ones(3))
    for function in prepared:
        assert np.isfinite(function(0.0, start.q, start.u)).all()
        for out in ({}, {"out": np.empty(function.shape)}):
            with pytest.raises(kn.ArgumentError, match=words):
                function(0.0, flat, start.u, **out)
    with pytest.raises(kn.ArgumentError, match="u_dot: state 1 is a singular position"):
        dynamics.derivatives(0.0, beside, start.u)
    assert np.isfinite(dynamics.derivatives(0.0, flat, start.u, of="energy", by=("q", "u")).matrix).all()
    assert np.isnan(dynamics.derivatives(0.0, np.nan * flat, start.u).matrix).any()


@pytest.mark.parametrize(
    "law", ["-u*sqrt(u*u)", "-q*sqrt(q*q)", "-2*abs(q)^0.5*q", "-(1 - cos(q))^1.5 - asin(1 - q*q)"]
)
def test_a_root_of_zero_spoils_no_other_column(law):
    """At zero these laws have the slope zero in the middle; a product of zero and infinity stood there, and beside."""
    system = kn.System("slide")
    law = law.replace("sqrt", "S").replace("q", "rail.q").replace("u", "rail.u").replace("S", "sqrt")
    system.prismatic("rail", system.world, system.body("block", mass=2.0), axis="x", effort=law)
    dynamics, at = kn.compile(system), (0.0, np.zeros(1), np.zeros(1))
    by = ("q", "u", "effort")
    np.testing.assert_array_equal(abs(dynamics.derivatives(*at, by=by).matrix), [[0.0, 0.0, 0.5]])
    np.testing.assert_array_equal(abs(dynamics.gradient(*at, of="u_dot", by=by).matrix), [[0.0, 0.0, 0.5]])
    twice = dynamics.second_derivatives(*at, along={"q": [1.0], "effort": [1.0]})
    assert np.isfinite(twice).all()


def test_a_slope_without_bound_is_no_number_of_use():
    """sqrt(q) at zero: huge, so that nobody takes it for a slope; below zero, where there is no root, nan."""
    system = kn.System("slide")
    system.prismatic("rail", system.world, system.body("block", mass=1.0), axis="x", effort="-sqrt(rail.q)")
    dynamics = kn.compile(system)
    d = dynamics.derivatives(0.0, [0.0], [0.0])
    assert d["q"] < -1e90
    assert (d["u"], d["effort"]) == (0.0, 1.0)
    assert np.isnan(dynamics.derivatives(0.0, [-1.0], [0.0])["q"])


def test_functions_of_frames_are_kept_by_name(pendulum, walker):
    for dynamics, frame in ((pendulum, "lower.tip"), (walker, next(iter(walker.system.bodies)))):
        q, u, _, _ = state_of(dynamics)
        place = dynamics.system.find_frame(frame)
        for call in (dynamics.pose, dynamics.jacobian):
            for direct, checked in zip(call(frame, 0.0, q), call(place, 0.0, list(q)), strict=True):
                np.testing.assert_array_equal(direct, checked)
            first = call(frame, 0.0, q)[1]
            call(frame, 0.0, q + 0.1)
            np.testing.assert_array_equal(first, call(frame, 0.0, q)[1])
        for direct, checked in zip(
            dynamics.jacobian_rate(frame, 0.0, q, u), dynamics.jacobian_rate(place, 0.0, list(q), u), strict=True
        ):
            np.testing.assert_array_equal(direct, checked)
        both = dynamics.jacobian(frame, 0.0, np.array([q, q]))[1]
        assert both.shape == (2, 3, dynamics.n_u)
        name = f"{frame}.position"
        rows = dynamics.jacobian_rate(name, 0.0, np.array([q, q]), np.array([u, u]))
        np.testing.assert_allclose(rows[1], dynamics.jacobian_rate(name, 0.0, q, u), rtol=1e-12, atol=1e-14)
        np.testing.assert_array_equal(rows[0], dynamics.jacobian_rate(name, 0.0, q, list(u)))
    with pytest.raises(kn.ModelError, match="no body or frame is called 'lowest'"):
        pendulum.jacobian("lowest", 0.0, Q)
    with pytest.raises(kn.ArgumentError, match="q"):
        pendulum.jacobian("lower", 0.0, [0.1])
