"""Functions of JAX: values, derivatives of both modes, batches, refusals."""

import copy
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kinode as kn

jax.config.update("jax_enable_x64", True)


@pytest.fixture(scope="module")
def dynamics():
    return kn.compile(kn.load("examples/double_pendulum.yaml"))


@pytest.fixture(scope="module")
def rate(dynamics):
    return dynamics.to_jax()


STATE = {"q": np.array([0.3, -0.4]), "u": np.array([1.0, 0.5]), "effort": np.array([0.7, -0.2])}


def test_values_and_derivatives(dynamics, rate):
    own = dynamics.derivatives(0.0, STATE["q"], STATE["u"], of="rate", by=("coordinates", "u", "effort", "p"),
                               effort=STATE["effort"])  # fmt: skip
    value = jax.jit(lambda q: rate(q=q, u=STATE["u"], effort=STATE["effort"]))(STATE["q"])
    expected = dynamics.acceleration(0.0, STATE["q"], STATE["u"], effort=STATE["effort"])
    np.testing.assert_allclose(value, [*STATE["u"], *expected], rtol=1e-13)
    for word, name in (("q", "coordinates"), ("u", "u"), ("effort", "effort")):
        one = lambda x, word=word: rate(**{**STATE, word: x})  # noqa: E731
        for mode in (jax.jacfwd, jax.jacrev):
            np.testing.assert_allclose(mode(one)(STATE[word]), own[name], rtol=1e-12, atol=1e-12)
    by_p = jax.jacrev(lambda p: rate(**STATE, p=p))(dynamics.parameters)
    np.testing.assert_allclose(by_p, own["p"].reshape(4, -1), rtol=1e-12, atol=1e-12)


def test_batches_are_one_call(dynamics, monkeypatch):
    function = dynamics.to_jax("u_dot")
    q, shapes, call = np.random.default_rng(0).normal(size=(7, 2)), [], function.called.values
    monkeypatch.setattr(function.called, "values", lambda *a: (shapes.append(np.shape(a[1])), call(*a))[1])
    values = jax.vmap(lambda q: function(q=q))(q)
    np.testing.assert_allclose(values, dynamics.acceleration(0.0, q, np.zeros((7, 2))), rtol=1e-12)
    assert shapes == [(7, 2)]
    assert jax.vmap(jax.grad(lambda q: function(q=q).sum()))(q).shape == (7, 2)
    twice = jax.vmap(jax.vmap(lambda q: function(q=q)))(q[:6].reshape(3, 2, 2))
    np.testing.assert_allclose(twice.reshape(6, 2), values[:6], rtol=1e-12)


def test_quantities_and_inverse_dynamics(dynamics):
    several = dynamics.to_jax(["lower.position", "elbow.reaction.force", "lower.rotation"])(q=STATE["q"], u=STATE["u"])
    own = dynamics.evaluate(list(several), 0.0, STATE["q"], STATE["u"])
    for name, value in several.items():
        np.testing.assert_allclose(value, own[name], rtol=1e-12, atol=1e-13)
    effort = dynamics.to_jax("effort")(q=STATE["q"], u=STATE["u"], u_dot=jnp.ones(2))
    np.testing.assert_allclose(effort, dynamics.effort(0.0, STATE["q"], STATE["u"], np.ones(2)), rtol=1e-12)


def test_gradients_through_a_rollout(rate):
    def end(tau):
        def step(y, _):
            return y + 0.01 * rate(q=y[:2], u=y[2:], effort=tau), None

        return (jax.lax.scan(step, jnp.array([0.1, 0.2, 0.0, 0.0]), None, length=20)[0] ** 2).sum()

    slope, h = jax.jit(jax.grad(end))(jnp.zeros(2)), 1e-5
    for k in range(2):
        e = h * np.eye(2)[k]
        assert float(slope[k]) == pytest.approx(float(end(e) - end(-e)) / (2 * h), rel=1e-6)


def test_refusals(rate):
    with pytest.raises(kn.ArgumentError, match="second derivatives are not offered"):
        jax.hessian(lambda q: rate(q=q).sum())(STATE["q"])
    with pytest.raises(kn.ArgumentError, match=r"q: one state is expected, not shape \(3, 2\); jax.vmap takes many"):
        rate(q=np.zeros((3, 2)))
    with pytest.raises(kn.ArgumentError, match="q: 2 entries"):
        rate(q=np.zeros(3))
    with pytest.raises(kn.ArgumentError, match="no argument is called 'x'"):
        rate(x=1)


def test_it_is_copied_and_saved(rate):
    value = rate(**STATE)
    for other in (copy.deepcopy(rate), pickle.loads(pickle.dumps(rate))):
        np.testing.assert_array_equal(other(**STATE), value)


def test_complex_numbers_are_refused(rate):
    with pytest.raises(kn.ArgumentError, match="q: real numbers are expected, not complex128"):
        rate(q=jnp.zeros(2, dtype=complex) + 1j)


def test_the_precision_of_the_call_counts(dynamics):
    """A function that was made before ``jax_enable_x64`` was said counts in double precision after."""
    jax.config.update("jax_enable_x64", False)
    try:
        function = dynamics.to_jax()
        single = function(**STATE)
        slope = jax.jacrev(lambda q: function(q=q))(jnp.asarray(STATE["q"]))
        assert single.dtype == slope.dtype == np.float32
    finally:
        jax.config.update("jax_enable_x64", True)
    double = function(**STATE)
    assert double.dtype == np.float64
    np.testing.assert_allclose(single, double, rtol=1e-5)
