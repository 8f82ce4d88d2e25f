"""What a compliant stop tells the search for events."""

import numpy as np
import pytest

import kinode as kn
from kinode.algebra.scalars import rate
from kinode.model.joints.end_stops import Range


@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("u", [-0.7, 0.4])
def test_the_rate_of_a_push_is_its_derivative(side, u):
    system = kn.System("stop")
    body = system.body("block", mass=1.0, inertia=(1, 1, 1))
    stop = {"lower": -0.2, "upper": 0.3, "stiffness": 50.0, "damping": 4.0}
    joint, u_dot = system.prismatic("rail", system.world, body, axis="x", stop=stop), 3.0

    def at(y):
        return Range(joint, system.nominal, y[:1], y[1:], 0.0)

    y = np.array([0.1, u])
    derivative = rate(lambda y: np.array([at(y).push(side)], dtype=object), y, np.array([u, u_dot]))
    assert float(at(y).push_rate(side, u_dot)) == pytest.approx(float(derivative[0]), rel=1e-14)
