"""What a compliant contact tells the search for events."""

import numpy as np
import pytest

from kinode.algebra.scalars import rate
from kinode.model.base.contact import Contact, ContactLaw

DEEPENING = 3.0  # second derivative of the depth


class Given(Contact):
    """Surfaces of a given depth and speed; a scene is these two."""

    def depth(self, scene):
        return scene.y[0]

    def speed(self, scene):
        return scene.y[1]

    def acceleration(self, scene):
        return DEEPENING


class Numbers:
    def __init__(self, y):
        self.y = y

    def resolve(self, value):
        return value


@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("speed", [-0.7, 0.4])
def test_the_rate_of_the_event_functions_is_their_derivative(side, speed):
    contact = Given("rail", "rail.mode", side, "pushes", ContactLaw(False, 50.0, 4.0))
    y = np.array([0.1, speed])
    for root in contact.roots:
        derivative = rate(lambda y, g=root.g: np.array([g(Numbers(y))], dtype=object), y, np.array([speed, DEEPENING]))
        scale = abs(root.g(Numbers(np.array([0.1, 0.0])))) / 0.1  # of depths
        assert root.rate(Numbers(y)) * scale == pytest.approx(float(derivative[0]), rel=1e-12)
