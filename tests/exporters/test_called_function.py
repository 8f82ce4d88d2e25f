"""What JAX and PyTorch call back: values and Jacobians with any leading dimensions."""

import numpy as np
import pytest

import kinode as kn
from kinode.exporters.frameworks.called_function import CalledFunction


@pytest.mark.parametrize("name", ["double_pendulum", "motor_axis"])
def test_values_and_jacobians_of_batches(name):
    dynamics = kn.compile(kn.load(f"examples/{name}.yaml"))
    called = CalledFunction(dynamics, "rate")
    own = called.order([], {})
    rng = np.random.default_rng(0)
    given = dict(zip(called.words, own))
    given["u"] = rng.normal(size=(2, 3, dynamics.n_u))
    given["effort"] = rng.normal(size=dynamics.n_u)
    values, matrices = called.values(*given.values()), called.jacobian(*given.values())
    assert values.shape == (2, 3, called.size) and matrices.shape[:2] == (2, 3)
    row = {**given, "u": given["u"][1, 2]}
    n = dynamics.n_q
    u_dot = dynamics.acceleration(0.0, row["q"], row["u"], z=row["z"], effort=row["effort"])
    np.testing.assert_allclose(values[1, 2, n : n + dynamics.n_u], u_dot, rtol=1e-12)
    by_u = dynamics.derivatives(0.0, row["q"], row["u"], of="rate", by="u", z=row["z"], effort=row["effort"])["u"]
    np.testing.assert_allclose(matrices[1, 2][:, called.columns["u"]], by_u, rtol=1e-10, atol=1e-12)


def test_arguments_are_checked():
    called = CalledFunction(kn.compile(kn.load("examples/double_pendulum.yaml")), "effort")
    assert called.words[-1] == "u_dot"
    with pytest.raises(kn.ArgumentError, match="q: it is given twice"):
        called.order([0.0, [1, 2]], {"q": [1, 2]})
    with pytest.raises(kn.ArgumentError, match="8 arguments are given"):
        called.order(range(8), {})
    with pytest.raises(kn.ArgumentError, match=r"u: 2 entries along the last dimension"):
        called.values(0.0, [0, 0], [0, 0, 0], [], [0.5], [], [0, 0])
