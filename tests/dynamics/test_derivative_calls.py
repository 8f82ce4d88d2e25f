"""``dynamics.derivatives`` and what is prepared by ``derivatives_of``: blocks, batches, given arrays, errors."""

import copy
import pickle

import numpy as np
import pytest
from compiled_examples import compiled_example

import kinode as kn
from kinode.dynamics.derivatives import prepared_derivatives
from loop_models import beam


@pytest.fixture(scope="module")
def pendulum():
    return compiled_example("double_pendulum")


@pytest.fixture(scope="module")
def walker():
    return compiled_example("walker")


Q, U, E = np.array([0.3, -0.7]), np.array([0.5, 1.1]), np.array([0.2, -0.4])


def slope(function, x, step=1e-6):
    """Central differences of a function of a vector, a column for each entry."""
    return np.array([(function(x + step * e) - function(x - step * e)) / (2 * step) for e in np.eye(len(x))]).T


def test_blocks_of_accelerations(pendulum):
    d = pendulum.derivatives(0.1, Q, U, effort=E)
    assert d.of == ("u_dot",) and d.by == ("q", "u", "effort")
    near = {"rtol": 1e-7, "atol": 1e-7}
    np.testing.assert_allclose(d["q"], slope(lambda q: pendulum.acceleration(0.1, q, U, effort=E), Q), **near)
    np.testing.assert_allclose(d["u"], slope(lambda u: pendulum.acceleration(0.1, Q, u, effort=E), U), **near)
    np.testing.assert_allclose(d["effort"], np.linalg.inv(pendulum.mass_matrix(0.1, Q)), rtol=1e-12)
    assert d.matrix.shape == (2, 6)
    assert repr(d) == "<Derivatives of u_dot by q, u, effort>"


def test_blocks_are_views(pendulum):
    d = pendulum.derivatives(0.1, Q, U)
    assert np.shares_memory(d["u"], d.matrix)


def test_blocks_of_inverse_dynamics(pendulum):
    d = pendulum.derivatives(0.1, Q, U, of="effort", u_dot=E)
    assert d.by == ("q", "u", "u_dot")
    np.testing.assert_allclose(d["q"], slope(lambda q: pendulum.effort(0.1, q, U, E), Q), rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(d["u_dot"], pendulum.mass_matrix(0.1, Q), rtol=1e-12)


def test_shapes_follow_those_of_the_quantities(pendulum):
    parameter = pendulum.topology.parameters[0]
    names = ("lower.position", "lower.rotation", "system.energy", "energy", "elbow.reaction.force")
    d = pendulum.derivatives(0.1, Q, U, of=names, by=("q", "u", "t", "p", parameter))
    assert d["lower.position", "q"].shape == (3, 2)
    assert d["lower.rotation", "u"].shape == (3, 3, 2)
    assert d["system.energy", "q"].shape == (2,)
    assert d["energy", "t"].shape == (2,)
    assert d["lower.position", parameter].shape == (3,)
    assert d["system.energy", parameter].shape == ()
    assert d["q"].shape == (3 + 9 + 1 + 2 + 3, 2)
    assert d["p"].shape == (18, 1)
    single = pendulum.derivatives(0.1, Q, U, of="lower.position", by="q")
    np.testing.assert_array_equal(single["q"], d["lower.position", "q"])
    np.testing.assert_allclose(single["q"], pendulum.jacobian("lower", 0.1, Q)[1], atol=1e-13)
    assert d.matrix.shape == (18, 2 + 2 + 1 + 1 + 1)


def test_a_batch_is_the_single_states(walker):
    rng = np.random.default_rng(0)
    rows = 70
    q, u, e = (
        rng.uniform(-1, 1, (rows, walker.n_q)),
        rng.uniform(-1, 1, (rows, walker.n_u)),
        rng.normal(size=walker.n_u),
    )
    d = walker.derivatives(0.0, q, u, effort=e)
    assert d["q"].shape == (rows, walker.n_u, walker.n_u)
    for k in (0, 33, 69):
        one = walker.derivatives(0.0, q[k], u[k], effort=e)
        np.testing.assert_array_equal(d.matrix[k], one.matrix)
    out = np.empty(d.matrix.shape)
    assert walker.derivatives(0.0, q, u, effort=e, out=out).matrix is out
    np.testing.assert_array_equal(out, d.matrix)
    assert repr(d).endswith(f"{rows} times>")


def test_a_prepared_function_gives_the_matrix(walker):
    rng = np.random.default_rng(1)
    q, u, e = rng.uniform(-1, 1, walker.n_q), rng.uniform(-1, 1, walker.n_u), rng.normal(size=walker.n_u)
    f = walker.derivatives_of("u_dot", by=("q", "u", "effort"))
    assert walker.derivatives_of("u_dot", by=["q", "u", "effort"]) is f
    expected = walker.derivatives(0.0, q, u, effort=e).matrix
    np.testing.assert_array_equal(f(0.0, q, u, e), expected)
    np.testing.assert_array_equal(f(0.0, q, u, effort=e), expected)
    np.testing.assert_array_equal(f(0, list(q), u, e), expected)
    np.testing.assert_array_equal(f(0.0, q, u), walker.derivatives(0.0, q, u).matrix)
    out = np.empty(f.shape)
    assert f(0.0, q, u, e, out=out) is out
    np.testing.assert_array_equal(out, expected)
    assert f(0.0, np.array([q, q]), np.array([u, u]), e).shape == (2, *f.shape)
    n = walker.n_u
    assert f.columns == {"q": slice(0, n), "u": slice(n, 2 * n), "effort": slice(2 * n, 3 * n)}
    assert f.rows == {"u_dot": slice(0, n)}
    np.testing.assert_array_equal(f.blocks(out)["u"], expected[:, f.columns["u"]])
    assert "matrix of derivatives" in f.__doc__


def test_prepared_inverse_dynamics_needs_accelerations(pendulum):
    f = pendulum.derivatives_of("effort")
    np.testing.assert_array_equal(f(0.0, Q, U, E), pendulum.derivatives(0.0, Q, U, of="effort", u_dot=E).matrix)
    with pytest.raises(kn.ArgumentError, match="u_dot: needed"):
        f(0.0, Q, U)
    with pytest.raises(kn.ArgumentError, match="u_dot is expected, once"):
        f(0.0, Q, U, effort=E)


def test_other_parameters_and_inputs(pendulum):
    name = pendulum.topology.parameters[0]
    value = 1.3 * pendulum.parameters[0]
    d = pendulum.derivatives(0.0, Q, U, by=name, p={name: value})

    def acceleration(x):
        return pendulum.acceleration(0.0, Q, U, p={name: float(x[0])})

    np.testing.assert_allclose(d[name], slope(acceleration, np.array([value]))[:, 0], rtol=1e-6)


def test_live_numbers_are_parameters():
    pendulum = kn.System("pendulum", gravity=(0, -9.81, 0))
    bob = pendulum.body("bob", mass=2.0, com=(0, -0.5, 0))
    pendulum.revolute("pivot", pendulum.world, bob)
    dynamics = kn.compile(pendulum, live=["bob.com", "bob.mass"])
    d = dynamics.derivatives(0.0, [0.1], [0.0], by=("bob.com.y", "bob.mass", "q"))
    assert d["bob.com.y"][0] == pytest.approx(-9.81 * np.sin(0.1) / 0.25, rel=1e-12)  # u_dot = 9.81 sin q / y
    assert d["bob.mass"][0] == pytest.approx(0.0, abs=1e-12)
    assert d["q"][0, 0] == pytest.approx(-9.81 * np.cos(0.1) / 0.5, rel=1e-12)
    with pytest.raises(kn.ArgumentError, match=r"bob\.com\.x is .*; there is no derivative by it"):
        dynamics.derivatives(0.0, [0.1], [0.0], by="bob.com.x")


def test_a_loop_and_its_rate_jacobian():
    dynamics = compiled_example("four_bar")
    state = dynamics.initial
    J = dynamics.rate_jacobian(0.0, state.y)
    np.testing.assert_allclose(J, slope(lambda y: dynamics.rate(0.0, y), state.y), rtol=1e-6, atol=1e-6)
    d = dynamics.derivatives(0.0, state.q, state.u, of="rate", by=("coordinates", "u"))
    np.testing.assert_array_equal(d.matrix, J)


def test_rate_jacobian_of_a_batch_of_states(walker):
    y = np.random.default_rng(0).uniform(-1, 1, (3, walker.n_q + walker.n_u))
    J = walker.rate_jacobian(0.0, y)
    np.testing.assert_array_equal(J[1], walker.rate_jacobian(0.0, y[1]))


def test_modes_are_fitted_to_the_state_and_the_effort():
    dynamics = compiled_example("brake_arm")
    state = dynamics.initial
    e = np.array([3.0, -50.0])
    z = dynamics.modes(0.0, state.q, state.u)
    given = dynamics.derivatives(0.0, state.q, state.u, z=z)
    np.testing.assert_array_equal(dynamics.derivatives(0.0, state.q, state.u).matrix, given.matrix)
    f = dynamics.derivatives_of("u_dot", by="effort")
    assert repr(f) == "<derivatives of u_dot by effort: f(t, q, u, effort)>"
    block = f(0.0, state.q, state.u, e)
    moved = slope(lambda x: dynamics.acceleration(0.0, state.q, state.u, effort=x), e)
    np.testing.assert_allclose(block, moved, atol=1e-6)
    assert block.any()


def test_a_system_without_freedoms_has_empty_blocks():
    dynamics = compiled_example("rlc")
    d = dynamics.derivatives(0.0, [], [], of=("rate", "u_dot"), by=("q", "z"), z=dynamics.initial.z)
    assert d["u_dot", "q"].shape == (0, 0)
    assert d["rate", "z"].shape == (2, 2)
    assert dynamics.derivatives(0.0, [], []).matrix.shape == (0, 0)


def test_a_copy_in_another_process_prepares_its_own(pendulum):
    pendulum.derivatives_of("u_dot")
    copy = pickle.loads(pickle.dumps(pendulum))
    np.testing.assert_array_equal(copy.derivatives(0.0, Q, U).matrix, pendulum.derivatives(0.0, Q, U).matrix)


@pytest.mark.parametrize("name", ["double_pendulum", "four_bar", "brake_arm"])
@pytest.mark.parametrize("again", [copy.deepcopy, lambda f: pickle.loads(pickle.dumps(f))], ids=["copy", "pickle"])
def test_prepared_functions_go_to_other_processes(name, again):
    dynamics = compiled_example(name)
    start, by = dynamics.initial, ("q", "p")
    weights = np.arange(1.0, 1.0 + dynamics.n_u)
    at = 0.0, start.q, start.u
    f, g = dynamics.derivatives_of("u_dot", by=by), dynamics.gradient_of("u_dot", by=by, weights=weights)
    np.testing.assert_array_equal(again(f)(*at), f(*at))
    np.testing.assert_array_equal(again(g)(*at), g(*at))
    assert again(f).columns == f.columns and again(g).blocks(g(*at))["q"].shape == (dynamics.n_u,)
    motion = dynamics.derivatives_of("effort")
    np.testing.assert_array_equal(again(motion)(*at, weights), motion(*at, weights))
    np.testing.assert_array_equal(again(dynamics.acceleration)(*at), dynamics.acceleration(*at))


WRONG = {
    "of nothing": ({"of": ()}, "of: a name or several are expected"),
    "of a number": ({"of": 3}, "of: a name or several are expected"),
    "by twice": ({"by": ("q", "q")}, "by: q is named twice"),
    "by unknown": ({"by": "effrt"}, "by: no parameter or input is called 'effrt'; did you mean effort"),
    "both": ({"effort": E, "u_dot": E}, "accelerations are given, or efforts are, not both"),
    "effort by effort": ({"of": "effort", "by": "effort", "u_dot": E}, "by: effort follows from given accelerations"),
    "effort without motion": ({"of": "effort"}, "u_dot: needed and not given"),
    "effort with effort": ({"of": "effort", "effort": E}, "effort: it follows from u_dot here"),
    "given accelerations": ({"of": "u_dot", "u_dot": E}, "of: u_dot cannot be differentiated"),
    "long effort": ({"effort": np.zeros(3)}, r"effort: shape \(2,\) or \(rows, 2\) is expected"),
    "out of another shape": ({"out": np.zeros((6, 2))}, r"out: an array of floats of shape \(2, 6\) is expected"),
    "out of integers": ({"out": np.zeros((2, 6), dtype=int)}, r"out: an array of floats of shape \(2, 6\) is expected"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said(pendulum, case):
    arguments, message = WRONG[case]
    with pytest.raises(kn.ArgumentError, match=message):
        pendulum.derivatives(0.0, Q, U, **arguments)


def test_an_unknown_quantity_is_refused(pendulum):
    with pytest.raises(kn.LawError, match="lowr"):
        pendulum.derivatives(0.0, Q, U, of="lowr.position")


def test_unknown_blocks_are_refused(pendulum):
    d = pendulum.derivatives(0.0, Q, U)
    with pytest.raises(kn.ArgumentError, match="there is no block by 'z'"):
        d["z"]
    with pytest.raises(kn.ArgumentError, match="there is no block of 'rate'"):
        d["rate", "q"]


def test_out_that_cannot_be_written_is_refused(pendulum):
    out = np.zeros((2, 6))
    out.flags.writeable = False
    with pytest.raises(kn.ArgumentError, match="out: an array that can be written to"):
        pendulum.derivatives_of()(0.0, Q, U, out=out)


def test_a_weight_that_two_supports_share_does_not_change():
    dynamics = kn.compile(beam("fixed", "fixed"))
    d = dynamics.derivatives(0.0, dynamics.initial.q, dynamics.initial.u, of="left.reaction.force", by=("q", "t"))
    assert d["left.reaction.force", "q"] == pytest.approx(0.0, abs=1e-12)
    assert d["left.reaction.force", "t"] == pytest.approx(0.0, abs=1e-12)


def chain(n):
    """n links in a row, one of them on a spherical joint."""
    system = kn.System("chain", gravity=(0.3, 0.1, -9.81))
    last = system.world
    for k in range(n):
        body = system.body(f"b{k}", mass=1 + 0.1 * (k % 3), com=(0.1, 0.02, 0), inertia=(0.01, 0.02, 0.03))
        if k == 3:
            system.spherical(f"j{k}", last.at(0.3, 0, 0), body)
        else:
            system.revolute(f"j{k}", last if k == 0 else last.at(0.3, 0, 0), body, axis="xyz"[k % 3], damping=0.1)
        last = body
    return system


@pytest.mark.parametrize("by", [("q", "u", "effort", "t"), ("coordinates", "u")])
def test_many_columns_are_computed_one_by_one(by, monkeypatch):
    """The same matrix, where straight-line code of all columns would be long."""
    dynamics = kn.compile(chain(8))
    rng = np.random.default_rng(0)
    q, u, e = (
        rng.uniform(-1, 1, (3, dynamics.n_q)),
        rng.uniform(-1, 1, (3, dynamics.n_u)),
        rng.normal(size=dynamics.n_u),
    )
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1)[:, None]
    expected = dynamics.derivatives(0.0, q, u, of=("rate", "b7.position"), by=by, effort=e)
    monkeypatch.setattr(prepared_derivatives, "MOST_ENTRIES", 10)
    turns = kn.compile(chain(8))
    found = turns.derivatives(0.0, q, u, of=("rate", "b7.position"), by=by, effort=e)
    assert not turns.kernels.has(found.request.kernel)
    np.testing.assert_allclose(found.matrix, expected.matrix, rtol=1e-9, atol=1e-9)
    single = turns.derivatives(0.0, q[1], u[1], of=("rate", "b7.position"), by=by, effort=e)
    np.testing.assert_allclose(single.matrix, found.matrix[1], rtol=1e-12, atol=1e-12)
    assert single.matrix.flags.c_contiguous


@pytest.mark.parametrize("of", ["effort", "b7.acceleration", ("j2.reaction.moment", "effort")])
def test_derivatives_of_given_motion_are_computed_row_by_row(of, monkeypatch):
    """The same matrix, backward, where straight-line code of all columns would be long."""
    dynamics = kn.compile(chain(8))
    rng = np.random.default_rng(0)
    q, u, a = (rng.uniform(-1, 1, (3, n)) for n in (dynamics.n_q, dynamics.n_u, dynamics.n_u))
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1)[:, None]
    expected = dynamics.derivatives(0.0, q, u, of=of, u_dot=a)
    monkeypatch.setattr(prepared_derivatives, "MOST_ENTRIES", 10)
    turns = kn.compile(chain(8))
    found = turns.derivatives(0.0, q, u, of=of, u_dot=a)
    assert not turns.kernels.has(found.request.kernel)
    np.testing.assert_allclose(found.matrix, expected.matrix, rtol=1e-12, atol=1e-12)
    single = turns.derivatives(0.0, q[1], u[1], of=of, u_dot=a[1])
    np.testing.assert_array_equal(single.matrix, found.matrix[1])


def test_batches_of_different_lengths_are_refused_column_by_column_too(monkeypatch):
    monkeypatch.setattr(prepared_derivatives, "MOST_ENTRIES", 1)
    turns = kn.compile(kn.load("examples/double_pendulum.yaml"))
    three, two = np.zeros((3, 2)), np.zeros((2, 2))
    with pytest.raises(kn.ArgumentError, match="rows: q has 3, u has 3, effort has 2"):
        turns.derivatives(0.0, three, three, effort=two)
    with pytest.raises(kn.ArgumentError, match="rows: q has 3, u has 3, t has 2"):
        turns.derivatives(np.zeros(2), three, three)
    assert turns.derivatives(0.0, three[:0], two[:0]).matrix.shape == (0, 2, 6)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ("standing", "y: numbers are expected"),
        (None, "y: needed"),
        (np.zeros(3), r"y: shape \(4,\)"),
        (np.zeros(5), r"y: shape \(4,\)"),
        (np.zeros(4) + 1j, "y: numbers are expected"),
    ],
)
def test_states_that_are_none(pendulum, y, message):
    for function in (pendulum.rate_jacobian, pendulum.rate):
        with pytest.raises(kn.ArgumentError, match=message):
            function(0.0, y)


@pytest.mark.parametrize("q", [Q + 0.5j, np.array([1, 2], dtype="m8[s]")])
def test_imaginary_parts_and_units_of_time_are_not_dropped(pendulum, q):
    with pytest.raises(kn.ArgumentError, match="q: numbers are expected"):
        pendulum.derivatives_of("u_dot")(0.0, q, U)
