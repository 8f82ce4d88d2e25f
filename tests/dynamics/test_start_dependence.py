"""Parameters that a start cannot depend on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kinode as kn
from kinode.dynamics.starts.initial_values import read_initial_values

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted(path.stem for path in (ROOT / "examples").glob("*.yaml"))


@pytest.mark.parametrize("name", EXAMPLES)
def test_starts_do_not_change_with_parameters_that_do_not_count(name):
    dynamics = kn.compile(kn.load(ROOT / "examples" / f"{name}.yaml"))
    counting = dynamics.start.counting
    rest = np.setdiff1d(np.arange(len(dynamics.parameters)), counting)
    p = dynamics.parameters.copy()
    p[rest] *= 1.1
    assert dynamics.start.is_own(p) and all(not dynamics.start.is_own(_changed(dynamics, k)) for k in counting)
    requested = read_initial_values(dynamics.arguments, {}, dynamics.arguments.resolver(p))
    there = dynamics.solve_start(requested, 0.0, p, None)
    np.testing.assert_allclose(there.y, dynamics.initial.y, rtol=1e-13, atol=1e-13)


def _changed(dynamics: kn.Dynamics, k: int) -> np.ndarray:
    p = dynamics.parameters.copy()
    p[k] = 1.01 * p[k] + 0.01
    return p


def mechanism() -> kn.System:
    system = kn.System("arm", gravity=(0, 0, -9.81))
    for name, value in {"length": 0.4, "mass": 2.0, "offset": 0.1, "k": 30.0, "rest": 0.2, "gain": 2.0}.items():
        system.parameter(name, value)
    system.parameter("twice", "2*length")
    system.signal("lead", "offset + 0.1*t")
    upper = system.body("upper", mass="mass", com=("length/2", 0, 0), inertia=(0.1, 0.1, "0.05*mass"))
    lower = system.body("lower", mass=1.0, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1))
    system.revolute("shoulder", system.world, upper, axis="y", effort="-gain*shoulder.q")
    system.revolute("elbow", upper.at("twice", 0, 0), lower, axis="y", motion="lead")
    system.spring("spring", system.world.at(0, 0, 1), lower.at(0.1, 0, 0), stiffness="k", free_length="rest")
    return system


def test_names_are_followed_through_signals_and_parameters():
    dynamics = kn.compile(mechanism())
    names = [dynamics.topology.parameters[k] for k in dynamics.start.parameters_that_count]
    assert set(names) == {"length", "offset"}


def test_every_parameter_counts_where_a_state_follows_from_others():
    system = mechanism()
    system.filter("filtered", "gain*shoulder.q", time_constant=0.1)
    dynamics = kn.compile(system)
    assert len(dynamics.start.parameters_that_count) == len(dynamics.parameters)
    changed = dynamics.state(p={"gain": 3.0}).z
    assert changed.shape == dynamics.initial.z.shape


def test_parameters_that_quantities_of_a_start_do_not_read_do_not_count():
    dynamics = kn.compile(kn.load(ROOT / "examples" / "motor_axis.yaml"))
    reach = dynamics.topology.parameters.index("reach")
    for k in range(2):
        there = dynamics.state(p={"reach": 0.3 + 0.01 * k})
        np.testing.assert_array_equal(there.y, dynamics.initial.y)
    assert dynamics.start.is_own(_changed(dynamics, reach))
    system = mechanism()
    system.filter("filtered", "gain*shoulder.q", time_constant=0.1)
    dynamics = kn.compile(system)
    for k in range(8):
        gain = 2.0 + k
        assert dynamics.state({"shoulder.q": 0.5}, p={"gain": gain}).z[-1] == pytest.approx(0.5 * gain)
    names = {dynamics.topology.parameters[k] for k in dynamics.start.counting}
    assert names == {"length", "offset", "gain"}


@pytest.mark.parametrize(("kind", "speed", "q"), [
    ("spherical", ("0.1", "t", "0.3"), (0.6, 0.0, 0.8, 0.0)), ("revolute", "0.1*t", (0.4,)),
])  # fmt: skip
def test_coordinates_that_follow_a_given_speed_are_set_together_or_one_by_one(kind, speed, q):
    system = kn.System("turntable")
    body = system.body("table", mass=1, inertia=(1, 1, 1))
    getattr(system, kind)("hub", system.world, body, speed=speed)
    dynamics = kn.compile(system)
    np.testing.assert_array_equal(dynamics.state({"hub.q": q if len(q) > 1 else q[0]}).z, q)
    each = dict(zip((c.name for c in dynamics.coordinates if c.role == "z"), q, strict=True))
    np.testing.assert_array_equal(dynamics.state(each).z, q)
