"""No law acts, and no event function changes its sign, between two evaluations unseen."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinode as kn
from kinode.kernels.bound_outputs import TAME_WIDTH, find_widths
from kinode.ode import compiled_loops
from kinode.ode.loops import step_bounds
from kinode.simulation.watched_laws import find_watched

METHODS = ["dopri5", "dop853", "stiff"]


def slider(speed=0.0, gravity=0.0, **joint):
    """A body of 1 kg on a slide along x; nothing else acts on it."""
    system = kn.System("slider", gravity=(-gravity, 0, 0))
    system.prismatic("j", system.world, system.body("body", mass=1.0), axis="x", u=speed, **joint)
    return system


def speed_after(work):
    """The speed of 1 kg that had 1 m/s, after some work in J."""
    return math.sqrt(1.0 + 2.0 * work)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("law", "speed", "expected"),
    [
        ("abs(j.q - 30) < 1", 1.0, speed_after(2.0)),
        ("max(0, 1 - abs(j.q - 71.3)/0.01)", 1.0, speed_after(0.01)),
        ("exp(-((j.q - 50)/0.01)**2)", 1.0, speed_after(0.01 * math.sqrt(math.pi))),
        ("exp(-((t - 50)/0.1)**2)", 0.0, 0.1 * math.sqrt(math.pi)),
        ("10/cosh(1000*(t - 12.3))", 0.0, 0.01 * math.pi),
        ("tanh(1000*(j.q - 30)) - tanh(1000*(j.q - 31))", 1.0, speed_after(2.0)),
    ],
)
def test_a_narrow_law_gives_its_work(law, speed, expected, method):
    run = kn.simulate(slider(speed, effort=law), 100.0, method=method)
    assert run["j.u"][-1] == pytest.approx(expected, rel=1e-5)


def test_a_law_that_names_a_signal_is_seen():
    system = slider(1.0, effort="push")
    system.signal("push", "abs(offset) < 1")
    system.signal("offset", "j.q - 30")
    assert kn.simulate(system, 100.0)["j.u"][-1] == pytest.approx(speed_after(2.0), rel=1e-5)


def test_a_law_of_a_point_is_seen():
    """The tip of a turning arm passes a small window; the arm itself turns evenly."""
    system = kn.System("arm", gravity=(0, 0, 0))
    arm = system.body("arm", mass=1.0, inertia=(1, 1, 1))
    arm.at(1, 0, 0, name="tip")
    system.revolute("pivot", system.world, arm, axis="z", u=1.0, effort="abs(arm.tip.position.x) < 1e-3")
    run = kn.simulate(system, 2.0)
    assert run["pivot.u"][-1] ** 2 == pytest.approx(1.0 + 2 * 2 * math.asin(1e-3), rel=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_a_switch_that_is_passed_closes_and_opens(method):
    system = slider(1.0)
    system.voltage_source("source", "a", "gnd", voltage=1.0)
    system.switch("key", "a", "b", command="1 - abs(j.q - 30)")
    system.resistor("load", "b", "gnd", resistance=1.0)
    run = kn.simulate(system, 100.0, method=method)
    assert [event.time for event in run.events] == pytest.approx([29.0, 31.0])


@pytest.mark.parametrize("method", [*METHODS, "rk4"])
@pytest.mark.parametrize("below", [1e-2, 4e-5, 1e-9])
def test_a_stop_just_below_the_apex_of_a_throw_is_met(method, below):
    g, speed = 9.81, 3.0
    upper = 0.5 * speed**2 / g - below
    system = slider(speed, gravity=g, stop={"upper": upper, "restitution": 0.5})
    run = kn.simulate(system, 0.6, method=method, **({"step": 0.2} if method == "rk4" else {}))
    met = (speed - math.sqrt(2 * g * below)) / g
    assert run.events[0].time == pytest.approx(met, abs=1e-7)


def test_a_stop_just_above_the_apex_is_not_met():
    g, speed = 9.81, 3.0
    system = slider(speed, gravity=g, stop={"upper": 0.5 * speed**2 / g + 1e-9, "restitution": 0.5})
    assert not kn.simulate(system, 0.6).events


def test_nothing_changes_where_nothing_can_be_missed():
    """A model without narrow laws has no bounds, and the same steps as ever; smooth laws cost no steps."""
    plain, smooth = slider(1.0, stiffness=10.0), slider(1.0, effort="-10*j.q")
    assert find_watched(kn.compile(plain)) is None
    assert find_watched(kn.compile(smooth)) is None
    sine = slider(1.0, effort="-10*sin(j.q)")
    assert find_watched(kn.compile(sine)).laws == ("sin(j.q)",)
    runs = [kn.simulate(model, 20.0) for model in (smooth, slider(1.0, effort="-10*j.q + 0*tanh(j.q)"))]
    assert len(runs[0]) == len(runs[1])
    np.testing.assert_array_equal(runs[0]["j.q"], runs[1]["j.q"])


def window():
    """A slider, compiled once, that a force pushes within a window of its path."""
    system = kn.System("window", gravity=(0, 0, 0))
    for name in ("at", "width", "force"):
        system.parameter(name, 1.0)
    law = "force*(abs(j.q - at) < width)"
    system.prismatic("j", system.world, system.body("b", mass=1.0), axis="x", u=1.0, effort=law)
    return kn.compile(system)


WINDOW = window()


@given(at=st.floats(1, 99), width=st.floats(-5, 0).map(lambda x: 10.0**x), force=st.floats(0.1, 3))
def test_a_window_anywhere_gives_its_work(at, width, force):
    run = kn.simulate(WINDOW, 120.0, parameters={"at": at, "width": width, "force": force})
    passed = at + width - max(at - width, 0.0)
    assert run["j.u"][-1] == pytest.approx(speed_after(force * passed), rel=1e-4)


ROUTINE = {
    "a law that rests at times": {"stiffness": 400.0, "effort": "-max(0, 10*j.q - 0.3)"},
    "a sine": {"effort": "-3*sin(j.q)"},
    "friction and stops": {
        "friction": {"coulomb": {"effort": 0.5}},
        "stop": {"lower": -1.0, "upper": 1.0, "restitution": 0.5},
        "effort": "2*cos(t)",
    },
}


@pytest.mark.parametrize("joint", ROUTINE.values(), ids=list(ROUTINE))
def test_what_is_known_of_a_box_spares_bounds_and_changes_no_bit(joint, monkeypatch):
    """The loop in Python, without boxes and with bounds of sines, against the compiled one."""
    system, calls = slider(1.0, **joint), {"settled": 0, "steps": 0}

    def count(run):
        calls["steps"] += 1
        plain(run)
        calls["settled"] += run.bounds.tame or (run.bounds.laws_settled and run.bounds.functions_settled > 0)

    compiled = kn.simulate(system, 1.0)
    plain = step_bounds.prepare_bounds
    monkeypatch.setattr(compiled_loops, "loop", compiled_loops.find_source)
    monkeypatch.setattr("kinode.ode.loops.adaptive_step.prepare_bounds", count)
    kn.simulate(system, 1.0)
    assert calls["settled"] > 0.3 * calls["steps"] > 0
    monkeypatch.setattr(step_bounds, "_settle", lambda run: None)
    monkeypatch.setattr("kinode.kernels.bound_outputs.TAME", frozenset())
    bounded = kn.simulate(kn.compile(system), 1.0)
    assert np.array_equal(compiled.t, bounded.t) and np.array_equal(compiled.y, bounded.y)


@pytest.mark.parametrize(
    ("law", "widths"),
    [
        ("sin(3*j.q)", [TAME_WIDTH]),
        ("2*sin(j.q)*cos(j.u)", [TAME_WIDTH, TAME_WIDTH]),
        ("max(0, sin(j.q))", [0.0]),
        ("exp(1000*sin(j.q))", [0.0]),
        ("abs(j.q - 30) < 1", [0.0]),
        ("sin(j.q) + max(j.u, 0)", [TAME_WIDTH, 0.0]),
        ("1/(j.q - 2)", [0.0]),
    ],
)
def test_only_sines_and_their_like_need_no_bounds(law, widths):
    dynamics = kn.compile(slider(effort=law))
    assert sorted(find_widths(dynamics.topology, find_watched(dynamics))) == sorted(widths)


@pytest.mark.parametrize("speed", [10.0, 100.0])
def test_a_sine_that_turns_often_within_a_step_is_met(speed):
    """Its mean force is zero: what is left is a tiny ripple, however fast it is passed."""
    run = kn.simulate(slider(speed, effort="sin(50*j.q)"), 1.0)
    energy = 0.5 * run["j.u"] ** 2 + np.cos(50 * run["j.q"]) / 50
    assert energy == pytest.approx(energy[0], rel=1e-7)
