"""Units of inputs: values in another one are refused wherever inputs are given."""

from __future__ import annotations

import numpy as np
import pandas
import pytest
import xarray

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


def test_names_and_facts_of_a_course_tell_its_units():
    """The same course as two arrays in SI, and as pandas and xarray give it in other units."""
    system = kn.System("cart")
    push = system.input("push", "5 N")
    system.prismatic("rail", system.world, system.body("cart", mass=2), axis="x", effort=push)
    dynamics, t = kn.compile(system), np.linspace(0.0, 1.0, 11)
    force = 3.0 + np.sin(5 * t)
    times = pandas.Index(1e3 * t, name="t [ms]")
    courses = {
        "heading": pandas.Series(1e-3 * force, index=times, name="push [kN]"),
        "durations": pandas.Series(force, index=pandas.to_timedelta(t, unit="s")),
        "facts": xarray.DataArray(
            1e3 * force, dims="t", coords={"t": ("t", 1e3 * t, {"units": "ms"})}, attrs={"units": "mN"}
        ),
    }
    expected = kn.simulate(dynamics, 1.0, inputs={"push": (t, force)})["rail.q"][-1]
    for kind, course in courses.items():
        assert kn.simulate(dynamics, 1.0, inputs={"push": course})["rail.q"][-1] == pytest.approx(expected), kind
    with pytest.warns(UserWarning, match="taken in N; if they are in kN, write 'push_kN kN'"):
        kn.simulate(dynamics, 1.0, inputs={"push": courses["durations"].rename("push_kN")})
    with pytest.raises(kn.Error, match=r"push.*3 mm is in m|'mm' is no unit of what is measured in N"):
        kn.simulate(dynamics, 1.0, inputs={"push": courses["durations"].rename("push [mm]")})
