"""Clocks: ticks on an exact grid, samples that hold what was there, functions of Python called once a tick."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from discrete import METHODS, Called, G, ball, known_kinds

import kinode as kn
from kinode.simulation.solver import Options, Solver


@pytest.fixture(autouse=True)
def kinds():
    with known_kinds():
        yield


@pytest.mark.parametrize("period", [Fraction(1, 30), Fraction(1, 1000), Fraction(7, 3000)])
def test_ticks_stay_on_their_grid(period):
    """A million of them are where the exact numbers are, rounded once."""
    system = kn.System("slider", gravity=(0, 0, 0))
    system.prismatic("slide", system.world, system.body("body", mass=1.0, inertia=(1, 1, 1)), axis="z", u=1.0)
    system.element("clock", kind="clock", of="t", period=float(period))
    system.element("half", kind="clock", of="t", period=float(2 * period), phase=float(period))
    until = float(period * 1_000_000 + period / 2)
    run = kn.simulate(system, until, times=[0.0, until])
    assert run["clock.count"][-1] == 1_000_001
    assert run["half.count"][-1] == 500_000
    assert run["clock.value"][-1] == float(period * 1_000_000)
    assert run["half.value"][-1] == float(period * 999_999)


@pytest.mark.parametrize("method", METHODS)
def test_samples_hold_what_was_there_at_the_tick(method):
    system = ball()
    system.element("clock", kind="clock", of="slide.q", period=0.05)
    run = kn.simulate(system, 0.4, method=method, **METHODS[method])
    for k in range(8):
        at = np.flatnonzero(run.t == k / 20)
        assert len(at) == (2 if k else 1)
        assert run["clock.value"][at[-1]] == run["slide.q"][at[-1]]
        assert run["clock.count"][at[-1]] == k + 1
    assert run["clock.count"][-1] == 8  # the tick at the end belongs to the run that goes on
    more = kn.simulate(system, 0.5, start=run, method=method, **METHODS[method])
    assert more["clock.count"][0] == 9
    assert more["clock.count"][-1] == 10


@pytest.mark.parametrize("method", METHODS)
def test_asked_times_at_ticks_have_the_samples_of_the_tick(method):
    """Also where the times asked for are sums of floats, and ticks are not."""
    system = ball(q=100.0)
    system.element("clock", kind="clock", of="t", period=1e-3)
    times = 1e-3 * np.arange(1000)
    assert (times != np.arange(1000) / 1000).any()
    run = kn.simulate(system, 1.0, times=times, method=method, **METHODS[method])
    assert np.array_equal(run.t, times)
    assert np.array_equal(run["clock.count"], np.arange(1000) + 1)
    assert np.array_equal(run["clock.value"], np.arange(1000) / 1000)


@pytest.mark.parametrize("method", METHODS)
def test_clocks_tick_where_nothing_is_integrated(method):
    system = kn.System("driven")
    system.revolute("pin", system.world, system.body("disk", mass=1.0, inertia=(1, 1, 1)), axis="z", motion="t^2")
    system.element("clock", kind="clock", of="pin.q", period=0.25)
    run = kn.simulate(system, 1.0, method=method, **METHODS[method])
    assert run["clock.count"][[0, -1]].tolist() == [1, 4]
    assert run["clock.value"][-1] == 0.75**2
    stopped = kn.simulate(system, 1.0, stop_when="clock.count > 2.5", method=method, **METHODS[method])
    assert stopped.t[-1] == 0.5


def test_a_sampler_in_python_is_called_once_a_tick(monkeypatch):
    asked = []

    def function(t, values):
        asked.append((t, values["slide.q"]))
        return 2.0 * values["slide.q"]

    monkeypatch.setattr(Called, "function", staticmethod(function))
    system = ball()
    system.element("control", kind="called", period=0.1, reads="slide.q")
    system.element("clock", kind="clock", of="control.value", period=0.1)
    for method, options in METHODS.items():
        asked.clear()
        run = kn.simulate(system, 0.35, method=method, **options)
        assert [t for t, _ in asked] == [0.0, 0.1, 0.2, 3 / 10]
        assert [q for _, q in asked] == pytest.approx([1.0 - 0.5 * G * t * t for t, _ in asked], abs=1e-7)
        assert run["control.value"][-1] == 2.0 * asked[-1][1]
        assert run["clock.value"][-1] == 2.0 * asked[-2][1]  # machine code first, functions behind


def test_what_a_sampler_in_python_does_wrong_is_told(monkeypatch):
    system = ball()
    system.element("control", kind="called", period=0.1, reads="slide.q")
    for function, said in (
        (lambda t, values: math.nan, "control: its function gives at t = 0 s value = nan"),
        (lambda t, values: 1 / 0, "control: its function fails at t = 0 s with ZeroDivisionError"),
        (lambda t, values: "much", "control: its function gives at t = 0 s 'much', and a number is expected"),
    ):
        monkeypatch.setattr(Called, "function", staticmethod(function))
        with pytest.raises(kn.Error, match=said):
            kn.simulate(system, 0.35)


def driven_axis(motor, target="0.3*sin(4*t)"):
    """A beam with friction that a controller of 200 Hz moves, by its moment or through the current of a motor."""
    system = kn.System("axis", gravity=(0, 0, 0))
    law = "pid.output" if not motor else None
    body = system.body("beam", mass=1.0, inertia={"zz": 0.1})
    system.revolute("joint", system.world, body, friction=kn.coulomb(effort=0.4, static_effort=0.6), effort=law)
    gains = {"proportional": 8.0, "derivative": 0.8, "filter_time": 0.01}
    system.element("pid", "sampled_pid", period="200 Hz", target=target, measured="joint.q", **gains)
    if motor:
        system.element("amplifier", "voltage_source", plus="coil", minus="gnd", voltage="pid.output")
        electric = {"resistance": 1.0, "inductance": 5e-3, "constant": 1.0}
        system.element("motor", "dc_motor", plus="coil", minus="gnd", shaft="joint", **electric)
    return system


@pytest.mark.parametrize("motor", [False, True])
@pytest.mark.parametrize("method", ["dopri5", "rk4"])
def test_ticks_that_no_root_sees_leave_the_modes_alone(method, motor):
    dynamics = kn.compile(driven_axis(motor))
    given = {"step": 1e-3} if method == "rk4" else {"rtol": 1e-9, "atol": 1e-11}
    solver = Solver(dynamics, dynamics.parameters, dynamics.inputs, Options(method=method, **given))
    events, start = solver.kernel.events, dynamics.state()
    assert events.modes_depend is not motor  # the current of a motor does not jump when its voltage does
    y, runs = np.concatenate([start.q, start.u, start.z]), []
    for seen in (True, events.modes_depend):
        solver.kernel = replace(solver.kernel, events=replace(events, modes_depend=seen))
        runs.append(solver.run(y, 0.0, 2.0, np.linspace(0.1, 2.0, 20)))
    one, other = runs
    assert len(one.events) == len(other.events) > 4 and [e[1:] for e in one.events] == [e[1:] for e in other.events]
    assert np.allclose([e[0] for e in one.events], [e[0] for e in other.events], rtol=0, atol=1e-12)
    assert np.allclose(one.y, other.y, rtol=0, atol=1e-9)


def test_a_fixed_step_that_ends_with_a_tick_takes_four_slopes():
    system = driven_axis(True)
    system.change("joint", friction=None)
    run = kn.simulate(system, 1.0, method="rk4", step=5e-3, times=[1.0])
    assert run.facts["evaluations"] <= 4 * run.facts["steps"] + 1
    inside = kn.simulate(system, 1.0, method="rk4", step=5e-3, times=np.linspace(0.0012, 1.0, 77))
    assert inside["joint.q"][-1] == run["joint.q"][-1]  # what is looked at between does not change the run


@pytest.mark.parametrize("method", ["dopri5", "rk4"])
def test_a_sample_that_is_no_number_ends_the_run(method):
    system = driven_axis(False, target="sqrt(0.5 - t)")
    system.change("joint", effort=None)  # nothing but the sample itself feels it
    given = {"step": 1e-3} if method == "rk4" else {}
    with pytest.raises(kn.SimulationError, match="pid") as caught:
        kn.simulate(system, 1.0, method=method, **given)
    assert caught.value.run.t[-1] == pytest.approx(0.505, abs=0.006)


def test_samples_see_the_time_of_the_model_in_a_run_that_begins_later():
    system = kn.System("late")
    system.prismatic("rail", system.world, system.body("block", mass=1.0, inertia=(1, 1, 1)), axis="x")
    for name, law in (("now", "t"), ("after", "t > 5.3"), ("since", "t >= 5.3")):
        system.element(name, "sample_hold", input=law, period=0.1)
    run = kn.simulate(system, 5.5, t0=5.0, times=[5.0, 5.15, 5.3, 5.4])
    assert run["now.output"].tolist() == [5.0, 5.1, 5.3, 5.4]
    assert run["after.output"].tolist() == [0, 0, 0, 1]
    assert run["since.output"].tolist() == [0, 0, 1, 1]
