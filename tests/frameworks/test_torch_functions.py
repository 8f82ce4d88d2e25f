"""Functions of PyTorch: values, derivatives, batches, refusals."""

import copy
import pickle
import threading

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
    with pytest.raises(kn.ArgumentError, match="second derivatives are not offered"):
        torch.autograd.gradgradcheck(lambda q: rate(q=q), (q,))
    with pytest.raises(kn.ArgumentError, match="second derivatives are not offered"):
        torch.func.hessian(lambda q: rate(q=q).sum())(q.detach())


def test_forward_mode(rate):
    at = state((3,))
    assert torch.autograd.gradcheck(
        lambda *x: rate(**dict(zip(at, x))), tuple(at.values()), check_forward_ad=True, check_batched_grad=True
    )
    q = at["q"].detach()[0]
    forward, reverse = torch.func.jacfwd(lambda q: rate(q=q))(q), torch.func.jacrev(lambda q: rate(q=q))(q)
    assert torch.allclose(forward, reverse, rtol=1e-12, atol=1e-12)


def test_types_of_arguments(rate):
    single, double = torch.zeros(2), torch.zeros(2, dtype=torch.float64)
    assert rate(q=single, u=double).dtype == rate(q=double, u=single).dtype == torch.float64
    assert rate(q=torch.zeros(2, dtype=torch.int64)).dtype == torch.float64
    x = torch.zeros(4, 2, requires_grad=True)
    rate(q=x).sum().backward()
    assert x.grad.dtype == torch.float32
    with pytest.raises(kn.ArgumentError, match=r"q: real numbers are expected, not torch\.complex128"):
        rate(q=torch.zeros(2, dtype=torch.complex128))


def test_compilers_of_torch(rate):
    q = state()["q"]
    value = torch.compile(lambda q: rate(q=2 * q).sin().sum(), backend="eager")(q)
    assert torch.equal(value, rate(q=2 * q).sin().sum())
    value.backward()
    assert torch.isfinite(q.grad).all()
    with pytest.raises(kn.ArgumentError, match=r"torch\.jit\.trace would keep the numbers of one call"):
        torch.jit.trace(lambda q: rate(q=q), (q.detach(),))


def test_threads_agree(rate):
    q = state((200,))["q"].detach()
    found = [None] * 4

    def work(k):
        x = q.clone().requires_grad_()
        value = rate(q=x)
        value.sum().backward()
        found[k] = value.detach(), x.grad

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(torch.equal(a, b) for one in found for a, b in zip(one, found[0]))


def test_networks_that_have_it_are_copied_and_saved(rate):
    class Learned(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.rate, self.push = rate, torch.nn.Parameter(torch.ones(2, dtype=torch.float64))

        def forward(self, q):
            return self.rate(q=q, effort=self.push)

    q, learned = state()["q"], Learned()
    assert torch.equal(copy.deepcopy(learned)(q), learned(q))
    assert torch.equal(pickle.loads(pickle.dumps(rate))(q=q), rate(q=q))
