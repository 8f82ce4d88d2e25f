"""Runs of one compiled system one after the other: what they share is kept, and no run sees another."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import kinode as kn
from kinode.simulation.run_kernels import MOST_KEPT, find_kernel

EXAMPLES = Path(__file__).parents[2] / "examples"
CHANGED = {
    "motor_axis": ("reach", 0.05), "backlash_axis": ("ratio", 0.3), "stewart_platform": ("ring", 0.2),
    "double_pendulum": ("L", 0.3), "brake_arm": ("off", 0.6),
}  # fmt: skip


def load(name: str) -> tuple[kn.System, str, float]:
    system, (number, until) = kn.load(EXAMPLES / f"{name}.yaml"), CHANGED[name]
    return system, number, until


def same(one: kn.Trajectory, two: kn.Trajectory) -> bool:
    return np.array_equal(one.t, two.t) and np.array_equal(one.y, two.y) and one.events == two.events


@pytest.mark.parametrize("name", CHANGED)
def test_a_run_does_not_depend_on_those_before(name):
    """Runs with other values between leave the bits of a run as they are, events among them."""
    system, number, until = load(name)
    dynamics = kn.compile(system)
    dynamics.start.settle()
    own = system.parameter_values()[number]
    changes = [{number: own * factor} for factor in (1.0, 1.001, 1.0, 0.999, 1.001)]
    runs = [kn.simulate(dynamics, until, parameters=change) for change in changes]
    assert same(runs[0], runs[2]) and same(runs[1], runs[4])
    assert not np.array_equal(runs[0].y[-1], runs[3].y[-1])
    for run, change in zip(runs, changes, strict=True):
        assert run.parameters[number] == change[number]
        other = kn.compile(system)
        other.start.settle()
        assert same(run, kn.simulate(other, until, parameters=change))


def test_threads_have_memory_of_their_own():
    """Runs of one compiled system in several threads at a time."""
    dynamics = kn.compile(kn.load(EXAMPLES / "double_pendulum.yaml"))
    starts = [{"elbow.q": 0.1 * k} for k in range(16)]
    alone = [kn.simulate(dynamics, 2.0, start=start) for start in starts]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda start: kn.simulate(dynamics, 2.0, start=start), starts))
    assert all(same(one, two) for one, two in zip(alone, together, strict=True))


def test_a_vector_of_parameters_may_change_after_the_run():
    """A run keeps the values that it had."""
    dynamics = kn.compile(kn.load(EXAMPLES / "excavator.yaml"))
    values = np.array(dynamics.parameters)
    first = kn.simulate(dynamics, 0.1, parameters=values)
    values *= 1.001
    second = kn.simulate(dynamics, 0.1, parameters=values)
    assert np.array_equal(first.p, dynamics.parameters) and np.array_equal(second.p, values)
    assert not np.array_equal(first.y[-1], second.y[-1])


def test_wrong_values_are_refused_in_every_run():
    """What was checked for one run is checked again for other values."""
    system = kn.System("arm")
    m = system.parameter("m", "2 kg")
    body = system.body("arm", mass=m, com=(0.3, 0, 0), inertia=(0.01, 0.02, 0.02))
    system.revolute("hinge", system.world, body, axis="y")
    dynamics = kn.compile(system)
    for _ in range(2):
        kn.simulate(dynamics, 0.1, parameters={"m": 1.5})
        with pytest.raises(kn.ModelError, match="must not be negative"):
            kn.simulate(dynamics, 0.1, parameters={"m": -1.0})
        with pytest.raises(kn.Error, match="must be finite"):
            kn.simulate(dynamics, 0.1, start={"hinge.q": np.nan})


def test_few_are_kept():
    """Runs to many different ends do not fill the memory."""

    dynamics = kn.compile(kn.load(EXAMPLES / "pendulum.yaml"))
    for k in range(3 * MOST_KEPT):
        kn.simulate(dynamics, 0.01 * (k + 1))
    assert len(dynamics.kernels.once("prepared runs", dict)) == MOST_KEPT
    kernel = find_kernel(dynamics, dynamics.parameters, dynamics.inputs, False)
    assert kernel is find_kernel(dynamics, dynamics.parameters, dynamics.inputs, False)
