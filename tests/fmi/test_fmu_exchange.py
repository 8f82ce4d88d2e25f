"""FMUs for Model Exchange, integrated by kinode with their events."""

import numpy as np
import pytest
from small_fmus import make_fmu

import kinode as kn

G, E = 9.81, 0.7


def make_ball(version, **fields):
    system = kn.System("s")
    system.fmu("ball", make_fmu("ball", version), **{"period": "10 ms", **fields})
    return system


def bounce(t):
    """Height of the ball: a first fall from 1 m, then arcs whose speeds shrink by E."""
    at, speed = np.sqrt(2 / G), np.sqrt(2 * G)
    if t < at:
        return 1 - G * t**2 / 2
    while True:
        speed *= E
        if t < at + 2 * speed / G:
            return speed * (t - at) - G * (t - at) ** 2 / 2
        at += 2 * speed / G


@pytest.mark.parametrize("version", [2, 3])
def test_a_ball_bounces(version):
    run = kn.simulate(make_ball(version), 1.9, every=0.01)
    expected = np.array([bounce(t) for t in run.t[:-1]])
    assert len({round(x, 3) for x in expected}) > 50 and bounce(1.89) != 0
    # three impacts, each located to rounding; between them the arcs are exact for the method
    np.testing.assert_allclose(run["ball.h"][:-1], expected, atol=1e-7)


@pytest.mark.parametrize("version", [2, 3])
def test_time_events_happen_when_they_are_due(version):
    system = make_ball(version, parameters={"g": 0, "push": 3}, period="0.3 s")  # no gravity, a push every second
    run = kn.simulate(system, 2.9, every=0.3)
    t = run.t[:-1]
    expected = 1 + 3 * np.maximum(t - 1, 0) + 3 * np.maximum(t - 2, 0)
    np.testing.assert_allclose(run["ball.h"][:-1], expected, atol=1e-9)


@pytest.mark.parametrize("version", [2, 3])
def test_a_lag_is_exact_and_answers_at_once(version):
    system = kn.System("s")
    system.fmu(
        "lag", make_fmu("lag", version), inputs={"u": "sin(3*t)"}, parameters={"tau": 0.2, "lag.gain": 2},
        period="10 ms", interface="model_exchange",
    )  # fmt: skip
    run = kn.simulate(system, 0.5, every=0.01)
    x = [0.25]
    for k in range(49):
        target = 2 * np.sin(0.03 * k)
        x.append(target + (x[-1] - target) * np.exp(-0.01 / 0.2))
    np.testing.assert_allclose(run["lag.y"][:50], x, atol=1e-7)


def test_events_without_end_are_said(monkeypatch):
    monkeypatch.setattr("kinode.fmi.fmu_instance.MOST_EVENTS", 3)
    with pytest.raises(kn.Error, match=r"ball: the FMU ball_2.fmu takes more than 3 events from t = 0 s to 1.5 s"):
        kn.simulate(make_ball(2, period="1.5 s"), 2.0)


def test_the_interface_that_is_not_there_is_said():
    with pytest.raises(kn.ModelError, match=r"ball\.interface: the FMU is not for Co-Simulation"):
        make_ball(2, interface="co_simulation")
    with pytest.raises(kn.ModelError, match="co_simulation, model_exchange"):
        make_ball(2, interface="both")
