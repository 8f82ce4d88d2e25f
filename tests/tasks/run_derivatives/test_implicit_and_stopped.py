"""Derivatives of runs by the implicit method, and of runs that end by a condition."""

import numpy as np
import pytest

import kinode as kn

TIGHT = {"rtol": 1e-9, "atol": 1e-11}
STIFF = """
kinode: 1
gravity: [0, 0, 0]
parameters: {k: 50 N/m, c: 4000 N*s/m}
bodies: {slow: {mass: 2, inertia: [1, 1, 1]}}
joints: {rail: {kind: prismatic, between: [world, slow], axis: x, q: 0.1, stiffness: k, damping: c}}
"""


@pytest.mark.parametrize("model, names, until", [
    ("double_pendulum", ["L", "elbow.q"], 0.3),
    ("brake_arm", ["grip"], 1.0),  # events
    ("four_bar", ["left.q"], 0.2),  # a loop
    ("motor_axis", ["reach"], 0.1),  # a network
])  # fmt: skip
def test_implicit_and_explicit_methods_agree(model, names, until):
    """To 1e-7 of the largest derivative; both are within some tens of their tolerance."""
    dynamics, t = kn.compile(kn.load(f"examples/{model}.yaml")), np.linspace(0.0, until, 6)
    explicit, implicit = (
        kn.simulate(dynamics, until, times=t, sensitivity=names, method=method, **TIGHT).columns.values
        for method in ("dopri5", "stiff")
    )
    assert np.abs(implicit - explicit).max() < 1e-7 * np.abs(explicit).max()
    assert np.abs(explicit).max() > 0.0


def test_a_stiff_system_in_closed_form():
    """m x'' + c x' + k x = 0 from rest, overdamped: x(t; k, c) by its two roots, differentiated by small changes."""

    def x(t, k, c, m=2.0, x0=0.1):
        root = np.sqrt(c * c - 4 * m * k)
        slow, fast = -2.0 * k / (c + root), (-c - root) / (2 * m)
        return x0 * (fast * np.exp(slow * t) - slow * np.exp(fast * t)) / (fast - slow)

    run = kn.simulate(kn.loads(STIFF), 20.0, samples=11, method="stiff", sensitivity=["k", "c"], **TIGHT)
    assert run.facts["steps"] < 300  # stability would ask an explicit one for thousands
    for name, size, value in (("k", 1e-3, 50.0), ("c", 1e-1, 4000.0)):
        near = [{"k": 50.0, "c": 4000.0, name: value + sign * size} for sign in (1.0, -1.0)]
        expected = (x(run.t, **near[0]) - x(run.t, **near[1])) / (2 * size)
        assert np.abs(run.sensitivity("rail.q", name) - expected).max() < 1e-6 * np.abs(expected).max()


@pytest.mark.parametrize("stop", ["lower.position.y > -0.3*L", "t > 0.3*L + 0.1"])
@pytest.mark.parametrize("output", [{}, {"samples": 21}])
def test_the_end_of_a_stopped_run_moves(stop, output):
    """Against differences of the ends of runs that are tight."""
    dynamics, tight = kn.compile(kn.load("examples/double_pendulum.yaml")), {"rtol": 1e-10, "atol": 1e-12}
    run = kn.simulate(dynamics, 3.0, stop_when=stop, sensitivity=["L", "elbow.q"], **output, **tight)
    plain = kn.simulate(dynamics, 3.0, stop_when=stop, **output, **tight)
    assert run.status == "condition" and run.t[-1] == plain.t[-1] and run.message == plain.message
    assert run.sensitivity("elbow.q", "L").shape == run.t.shape
    length, angle = dynamics.parameters[0], dynamics.values(dynamics.initial)["elbow.q"]
    for name, change in (("L", lambda e: {"parameters": {"L": length + e}}),
                         ("elbow.q", lambda e: {"start": {"elbow.q": angle + e}})):  # fmt: skip
        ends = [kn.simulate(dynamics, 3.0, stop_when=stop, **change(e), **tight).t[-1] for e in (1e-5, -1e-5)]
        assert run.facts["end_by"][name] == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-6, abs=1e-7)


def test_a_condition_that_never_becomes_true():
    arm = kn.load("examples/double_pendulum.yaml")
    run = kn.simulate(arm, 0.1, stop_when="elbow.q > 10", sensitivity="L", samples=3)
    free = kn.simulate(arm, 0.1, sensitivity="L", samples=3)
    assert run.status == "done" and run.facts["end_by"] == {}
    assert np.array_equal(run.columns.values, free.columns.values)
