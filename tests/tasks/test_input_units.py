"""Units of inputs: values in another one are refused wherever inputs are given."""

from __future__ import annotations

import numpy as np
import pytest

import kinode as kn


def test_an_input_takes_values_in_its_unit():
    """A value in another unit is refused by name, wherever inputs are given; one without a unit is in SI."""
    system = kn.System("cart")
    push, free = system.input("push", "5 N"), system.input("free", 0.0)
    system.prismatic("rail", system.world, system.body("cart", mass=2), axis="x", effort=push + free)
    dynamics = kn.compile(system)
    same = [kn.simulate(dynamics, 1.0, inputs={"push": value})["rail.q"][-1] for value in (3.0, "3 N", "0.003 kN")]
    assert same == pytest.approx([0.75] * 3)
    assert kn.simulate(dynamics, 1.0, inputs={"free": "1 N"})["rail.q"][-1] == pytest.approx(1.5)
    stepper, q = dynamics.stepper(0.01), np.zeros(1)
    for use in (
        lambda value: kn.simulate(dynamics, 1.0, inputs=value),
        lambda value: dynamics.acceleration(0.0, q, q, inputs=value),
        lambda value: stepper.step(value),
        lambda value: kn.linearize(dynamics, inputs=value),
    ):
        with pytest.raises(kn.Error, match=r"push.*3 mm is in m; N is needed"):
            use({"push": "3 mm"})
