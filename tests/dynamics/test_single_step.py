"""dynamics.step: one classical Runge-Kutta step in machine code."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import kinode as kn
from kinode.kernels.kernel_options import Kernel


def gyro() -> kn.System:
    """A body on a ball joint, driven by an input, with a parameter and a state of its own."""
    system = kn.System("gyro")
    length = system.parameter("length", 0.3)
    system.input("push", 0.0)
    top = system.body("top", mass=1.0, com=(0, 0, length), inertia=(0.02, 0.03, 0.01))
    system.spherical("ball", system.world, top, u=(1, 2, 20))
    slider = system.body("slider", mass=1.0)
    system.prismatic("slide", system.world, slider, effort="push - 3*slide.q", u=0.2)
    return system


def classical(dynamics: kn.Dynamics, state: kn.State, h: float, **given) -> np.ndarray:
    """The textbook's four stages in Python, projected and normalized."""
    t, y = state.t, state.y
    k1 = dynamics.rate(t, y, **given)
    k2 = dynamics.rate(t + h / 2, y + h / 2 * k1, **given)
    k3 = dynamics.rate(t + h / 2, y + h / 2 * k2, **given)
    k4 = dynamics.rate(t + h, y + h * k3, **given)
    y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    if dynamics.topology.constrained:
        for _ in range(2):
            y = dynamics.kernels.call(Kernel("projection"), dynamics.point_of(t + h, y))[:-1]
    for start in dynamics.topology.layout.quaternions:
        y[start : start + 4] /= np.linalg.norm(y[start : start + 4])
    return y


@pytest.mark.parametrize("model", ["pendulum", "four_bar", "motor_axis"])
def test_is_the_classical_step(model):
    dynamics = kn.compile(kn.load(f"examples/{model}.yaml"))
    state = dynamics.initial
    for _ in range(3):
        expected = classical(dynamics, state, 2e-3)
        state = dynamics.step(state, 2e-3)
        np.testing.assert_allclose(state.y, expected, rtol=1e-11, atol=1e-13)
    assert state.t == pytest.approx(6e-3)


def test_takes_parameters_and_inputs_for_one_step_only():
    dynamics = kn.compile(gyro())
    state = dynamics.initial
    for given in ({}, {"inputs": {"push": 5.0}}, {"p": {"length": 0.5}}, {"p": np.array([0.4])}, {}):
        step = dynamics.step(state, 1e-2, **given)
        np.testing.assert_allclose(step.y, classical(dynamics, state, 1e-2, **given), rtol=1e-12, atol=1e-14)


def test_leaves_the_state_it_was_given():
    dynamics = kn.compile(gyro())
    state = dynamics.initial
    before = state.y
    first = dynamics.step(state, 1e-2)
    kept = first.y
    dynamics.step(first, 1e-2)
    assert (state.y == before).all() and (first.y == kept).all()


def test_takes_lists():
    dynamics = kn.compile(kn.load("examples/pendulum.yaml"))
    plain = kn.State(0.0, [0.3], [0.1], [])
    arrays = kn.State(0.0, np.array([0.3]), np.array([0.1]), np.empty(0))
    assert (dynamics.step(plain, 1e-2).y == dynamics.step(arrays, 1e-2).y).all()


def test_threads_have_memory_of_their_own():
    dynamics = kn.compile(gyro())

    def walk(seed: int) -> np.ndarray:
        state = dynamics.state({"slide.q": 0.1 * seed})
        for _ in range(200):
            state = dynamics.step(state, 1e-3)
        return state.y

    alone = [walk(seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(walk, range(4)))
    assert all((a == b).all() for a, b in zip(alone, together, strict=True))


def test_a_state_that_is_not_finite_is_named():
    dynamics = kn.compile(gyro())
    with pytest.raises(kn.SimulationError, match=r"coordinate slide \(slide\.q\) became not finite"):
        dynamics.step(kn.State(0.0, dynamics.initial.q, np.array([1.0, 2.0, 3.0, np.inf]), np.empty(0)), 1e-2)


def test_a_step_that_opens_the_loops_is_refused():
    dynamics = kn.compile(kn.load("examples/four_bar.yaml"))
    with pytest.raises(kn.SimulationError, match="take shorter steps"):
        dynamics.step(dynamics.initial, 3.0)


@pytest.mark.parametrize("u", [np.zeros(1), np.zeros((1, 4)), np.float64(0.0)])
def test_states_of_other_sizes_are_refused(u):
    dynamics = kn.compile(gyro())
    with pytest.raises(kn.ArgumentError, match="q, u, z of 5, 4, 0 numbers"):
        dynamics.step(kn.State(0.0, dynamics.initial.q, u, np.empty(0)), 1e-2)
    with pytest.raises(kn.ArgumentError, match="not a batch"):
        dynamics.step(dynamics.initial, 1e-2, inputs=np.zeros((2, 1)))


def test_the_models_own_values_cannot_be_changed_by_accident():
    dynamics = kn.compile(gyro())
    with pytest.raises(ValueError, match="read-only"):
        dynamics.parameters[0] = 1.0
