"""Equilibrium while joints are driven at a speed: steady motions against closed forms, and what is refused."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.optimize import brentq

import kinode as kn

G = 9.81


def make_governor(speed: object, axis: str = "z") -> kn.System:
    """A rod of 0.3 m with a point mass, hung 0.2 m beside a shaft."""
    system = kn.System("governor")
    hub, ball = system.body("hub", mass=1, inertia=(0.1, 0.1, 0.1)), system.body("ball", mass=1, com=(0, 0, -0.3))
    system.revolute("spin", system.world, hub, axis=axis, speed=speed)
    system.revolute("arm", hub.at(0.2, 0, 0), ball, axis="y", q=-0.1, damping=0.1)
    return system


def test_a_governor_swings_out_as_far_as_its_speed_asks() -> None:
    rest = kn.equilibrium(make_governor(4.0))
    angle = brentq(lambda a: 16.0 * (0.2 + 0.3 * np.sin(a)) * np.cos(a) - G * np.sin(a), 0, 1.5)
    assert rest.values["arm.q"] == pytest.approx(-angle, abs=1e-9)
    assert rest.drives == {"spin.u": 4.0}
    assert rest.stable
    assert "in steady motion" in str(rest)
    run = kn.simulate(make_governor(4.0), 5.0, start=rest)
    assert run["arm.q"] == pytest.approx(-angle, abs=1e-8)
    assert run["spin.q"][-1] == pytest.approx(20.0)


def test_a_drive_at_standstill_holds_its_angle() -> None:
    """The shaft lies, and stands still half a radian aside: the arm hangs plumb, which its own angle makes up for."""
    system = kn.System("turret")
    hub, ball = system.body("hub", mass=1, inertia=(1, 1, 1)), system.body("ball", mass=1, com=(0, 0, -0.3))
    system.revolute("tilt", system.world, hub, axis="y", speed=0.0, q=0.5)
    system.revolute("arm", hub, ball, axis="y", damping=0.1)
    rest = kn.equilibrium(system)
    assert rest.values == pytest.approx({"tilt.q": 0.5, "arm.q": -0.5})
    assert rest.drives == {}


def test_a_rotor_on_a_free_body_in_springs() -> None:
    system = kn.System("hung")
    frame, rotor = system.body("frame", mass=2, inertia=(1, 1, 1)), system.body("rotor", mass=1, inertia=(1, 1, 2))
    system.free("float", system.world, frame)
    system.revolute("spin", frame, rotor, axis="z", speed=50)
    for k, (x, y) in enumerate(((1, 0), (-0.5, 0.8), (-0.5, -0.8))):
        above = system.world.at(x, y, 1)
        system.spring(f"spring{k}", frame.at(x, y, 0), above, stiffness=400, free_length=0.5, damping=20)
    rest = kn.equilibrium(system)
    reach = sum(kn.simulate(system, 0.01, start=rest)[f"spring{k}.tension"][0] for k in range(3))
    assert reach == pytest.approx(3 * G, rel=1e-9)


def test_a_drive_that_changes_the_loads_is_refused_by_name() -> None:
    with pytest.raises(kn.ModelError, match=r"spin: is driven at a speed, and what acts on arm changes as it turns"):
        kn.equilibrium(make_governor(4.0, axis="y"))
    with pytest.raises(kn.ModelError, match=r"spin.speed: its speed changes"):
        kn.equilibrium(make_governor("3*t"))


def test_every_task_starts_from_an_equilibrium() -> None:
    system = make_governor(4.0)
    rest = kn.equilibrium(system)
    assert kn.equilibrium(system, rest).values == pytest.approx(rest.values, abs=1e-9)
    assert kn.linearize(system, rest).stable
    assert kn.assemble(system, rest).values["arm.q"] == pytest.approx(rest.values["arm.q"])
    assert kn.simulate(system, 3.0, start=rest, t0=2.0).t[0] == 2.0


def test_an_equilibrium_of_another_model_is_no_start() -> None:
    rest = kn.equilibrium(make_governor(4.0))
    other = make_governor(4.0)
    other.revolute("second", other.world, other.body("wheel", mass=1, inertia=(1, 1, 1)))
    with pytest.raises(kn.Error, match=r"another model: it has no second\.q"):
        kn.simulate(other, 1.0, start=rest)
    renamed = kn.System("other")
    hub, ball = renamed.body("hub", mass=1, inertia=(1, 1, 1)), renamed.body("ball", mass=1, com=(0, 0, -0.3))
    renamed.revolute("spin", renamed.world, hub, speed=4.0)
    renamed.revolute("leg", hub, ball, axis="y")
    with pytest.raises(kn.Error, match=r"another model: it has no leg\.q"):
        kn.simulate(renamed, 1.0, start=rest)


def test_a_motion_that_moves_is_said():
    """The balance is that of one instant, with what the motion's speed does then."""

    def governor(**drive):
        system = kn.System("governor", gravity=(0, -9.81, 0))
        shaft, arm = (system.body(name, mass=1, com=com, inertia=(0.1, 0.1, 0.1)) for name, com in
                      (("shaft", (0, 0, 0)), ("arm", (0.3, -0.3, 0))))  # fmt: skip
        system.revolute("spin", system.world, shaft, axis="y", **drive)
        system.revolute("hinge", shaft, arm, axis="z")
        return system

    with pytest.warns(UserWarning, match=r"at t = 2 s spin moves by its motion=.*speed= gives a steady motion"):
        rest = kn.equilibrium(governor(motion="5*t"), t0=2.0)
    assert rest.moving == ("spin",)
    assert "at t = 2 s alone: spin moves" in str(rest) and "at rest" not in str(rest)
    steady = kn.equilibrium(governor(speed=5.0))
    assert rest.values["hinge.q"] == pytest.approx(steady.values["hinge.q"], abs=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kn.equilibrium(governor(motion=0.3)).moving == ()
