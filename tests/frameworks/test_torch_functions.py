"""Functions of PyTorch: values, derivatives, batches, refusals."""

import numpy as np
import pytest
import torch

import kinode as kn


@pytest.fixture(scope="module")
def dynamics():
    return kn.compile(kn.load("examples/double_pendulum.yaml"))


@pytest.fixture(scope="module")
def rate(dynamics):
    return dynamics.to_torch()


def state(rows=()):
    rng = np.random.default_rng(0)
    return {w: torch.tensor(rng.normal(size=(*rows, 2)), requires_grad=True) for w in ("q", "u", "effort")}


def test_values_and_derivatives(dynamics, rate):
    at = state()
    numbers = {word: x.detach().numpy() for word, x in at.items()}
    value = rate(**at)
    expected = dynamics.acceleration(0.0, numbers["q"], numbers["u"], effort=numbers["effort"])
    np.testing.assert_allclose(value.detach(), [*numbers["u"], *expected], rtol=1e-13)
    own = dynamics.derivatives(0.0, numbers["q"], numbers["u"], of="rate", by=("coordinates", "u", "effort"),
                               effort=numbers["effort"])  # fmt: skip
    found = torch.autograd.functional.jacobian(lambda *x: rate(**dict(zip(at, x))), tuple(at.values()))
    for block, name in zip(found, ("coordinates", "u", "effort")):
        np.testing.assert_allclose(block, own[name], rtol=1e-12, atol=1e-12)
    assert torch.autograd.gradcheck(lambda *x: rate(**dict(zip(at, x))), tuple(at.values()))


def test_batches(dynamics, rate):
    at = state((3, 4))
    value = rate(**at)
    assert value.shape == (3, 4, 4)
    one = rate(**{word: x[1, 2] for word, x in at.items()})
    assert torch.allclose(value[1, 2], one, rtol=1e-12)
    value.sum().backward()
    assert at["q"].grad.shape == (3, 4, 2)
    shared = rate(q=at["q"], u=torch.zeros(2, dtype=torch.float64))
    assert shared.shape == (3, 4, 4)
    flat = at["q"].detach().reshape(12, 2)
    mapped = torch.func.vmap(lambda q: rate(q=q))(flat)
    assert torch.allclose(mapped, rate(q=flat))
    slopes = torch.func.vmap(torch.func.grad(lambda q: rate(q=q).sum()))(flat)
    assert slopes.shape == (12, 2)


def test_single_precision_and_quantities(dynamics):
    position = dynamics.to_torch(["lower.position", "lower.rotation"])(q=torch.zeros(5, 2))
    assert position["lower.position"].shape == (5, 3) and position["lower.rotation"].shape == (5, 3, 3)
    assert position["lower.position"].dtype == torch.float32
    effort = dynamics.to_torch("effort")(q=np.zeros(2), u=np.zeros(2), u_dot=np.ones(2))
    np.testing.assert_allclose(effort, dynamics.effort(0.0, np.zeros(2), np.zeros(2), np.ones(2)), rtol=1e-12)


def test_second_derivatives_are_refused_in_words(rate):
    q = state()["q"]
    (slope,) = torch.autograd.grad(rate(q=q).sum(), q, create_graph=True)
    with pytest.raises(kn.ArgumentError, match="second derivatives are not offered"):
        slope.sum().backward()
    with pytest.raises(kn.ArgumentError, match="u: 2 entries"):
        rate(u=torch.zeros(3))
