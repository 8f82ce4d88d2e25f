"""What laws of time do within a moment is not stepped over, and what they do at once is met exactly."""

import math

import numpy as np
import pytest

import kinode as kn
from kinode.simulation import time_events
from kinode.simulation.time_events import find_law_times


def pushed(law):
    """A body of 1 kg at rest that a force pushes along x."""
    system = kn.System("pushed", gravity=(0, 0, 0))
    system.parameter("width", "10 ms")
    return push(system, law)


def push(system, law):
    system.prismatic("slide", system.world, system.body("body", mass=1.0), axis="x", effort=law)
    return system


@pytest.mark.parametrize(
    ("law", "speed"),
    [
        ("100*pulse(t - 5, 0.01)", 1.0),
        ("100*pulse(t - 5, width)", 1.0),
        ("100*(step(t - 5) - step(t - 5.01))", 1.0),
        ("100*((t >= 5)*(t < 5.01))", 1.0),
        ("where(t > 5, where(t < 5.01, 100, 0), 0)", 1.0),
        ("200*max(0, 1 - abs(t - 5)/0.005)", 1.0),
        ("100*(smoothstep(t, 5, 5.01) - smoothstep(t, 5.01, 5.02))", 1.0),
        ("10*pulse(t, 0.001, 0.5)", 10 * 0.001 * 20),
        ("10*(square(t - 0.1, 0.5, 0.002) + 1)", 20 * 0.001 * 20),
    ],
)
@pytest.mark.parametrize("method", ["dopri5", "dop853", "stiff"])
def test_a_short_push_gives_its_impulse(law, speed, method):
    run = kn.simulate(pushed(law), 10.0, method=method)
    assert run["slide.u"][-1] == pytest.approx(speed, rel=2e-4)


@pytest.mark.parametrize(
    ("command", "on", "changes"),
    [
        ("square(t, 0.02)", 0.5, 10),
        ("sin(2*pi*50*t)", 0.5, 10),
        ("0.001 + sin(2*pi*50*t)", 0.5 + math.asin(0.001) / math.pi, 10),
        ("pulse(t, 0.001, 0.02)", 0.05, 10),
    ],
)
def test_a_switch_goes_there_and_back(command, on, changes):
    """A charge counts what a switch lets through in 0.1 s; nothing else moves."""
    system = kn.System("chopper")
    system.voltage_source("source", "a", "gnd", voltage=1.0)
    system.switch("switch", "a", "b", command=command, on_resistance=1e-7, off_conductance=1e-9)
    system.resistor("load", "b", "gnd", resistance=1.0)
    system.integrator("charge", input="load.current")
    run = kn.simulate(system, 0.1)
    assert run["charge.output"][-1] == pytest.approx(0.1 * on, rel=1e-4)
    assert len(run.events) == pytest.approx(changes, abs=1)


# A force on 1 kg at rest -> speed and position after 10 s.
EXACT = {
    "3*(t > 2)": (24, 96),
    "3*(t >= 2)": (24, 96),
    "3*step(t - 2)": (24, 96),
    "square(t, 1)": (0, 2.5),
    "sign(sin(2*pi*t))": (0, 2.5),
    "where(command > 0, 2, -2)": (0, 5),
    "pulse(t - 0.3, 0.1, 1)": (1, 5.15),
    "sawtooth(t, 2)": (0, -10 / 3),
    "max(0, t - 3)": (24.5, 343 / 6),
    "shape(t)": (11.5, 51),
    "stairs(t)": (11, 54.5),
    "push*(t > late)": (12, 36),
}


def exact(law):
    system = kn.System("exact", gravity=(0, 0, 0))
    system.signal("command", "square(t, 1)")
    system.parameter("push", 1.0)
    system.parameter("late", 1.0)
    system.table("shape", axes=(0, 2, 4, 6), values=(0, 2, 0, 1.5), outside="hold")
    system.table("stairs", axes=(0, 2, 3), values=(0, 4, 1), method="previous", outside="hold")
    return push(system, law)


@pytest.mark.parametrize("law", EXACT)
@pytest.mark.parametrize("method", ["dopri5", "dop853", "rk4", "stiff"])
def test_between_breaks_a_run_is_as_exact_as_without_them(law, method):
    """Pieces of polynomials, which the explicit methods follow to rounding, in hardly more steps than pieces."""
    step = {"step": 0.3} if method == "rk4" else {}
    run = kn.simulate(exact(law), 10.0, method=method, parameters={"push": 2.0, "late": 4.0}, **step)
    assert (run["slide.u"][-1], run["slide.q"][-1]) == pytest.approx(EXACT[law], rel=1e-12, abs=1e-12)
    if method.startswith("dop"):
        assert len(run.t) < 60


@pytest.mark.parametrize("on", ["t > 2", "t >= 2"])
@pytest.mark.parametrize("method", ["dopri5", "stiff"])
def test_a_shaft_that_sticks_is_let_go_by_a_law(on, method):
    """At 2 s it goes off with 2 rad/s^2, is braked with 4 rad/s^2 from 4 s on, and goes back with 2 from 5 s on."""
    system = kn.System("shaft", gravity=(0, 0, 0))
    body = system.body("body", mass=1, inertia=(1, 1, 1))
    law = f"3*({on}) - 6*step(t - 4)"
    system.revolute("joint", system.world, body, axis="z", effort=law, friction=kn.coulomb(effort=1.0))
    run = kn.simulate(system, 6.0, rtol=1e-10, method=method, times=[0, 2, 4, 6])
    assert run.status == "done"
    assert [event.time for event in run.events] == pytest.approx([2, 5], rel=1e-13)
    assert run["joint.friction.mode"].tolist() == [0, 1, 1, -1]
    assert run["joint.q"] == pytest.approx([0, 0, 4, 5], abs=1e-12 if method == "dopri5" else 1e-7)


def test_samples_on_a_break_see_the_law_at_their_tick():
    """What a clock reads is the law at that time, on the side that its sign says; the motion sees both sides."""
    system = pushed("after.output + 10*from.output")
    system.element("after", "sample_hold", input="t > 0.3", period=0.1)
    system.element("from", "sample_hold", input="t >= 0.3", period=0.1)
    for method in ("dopri5", "stiff"):
        run = kn.simulate(system, 0.5, method=method, times=[0.0, 0.3, 0.4, 0.5])
        assert run["from.output"].tolist() == [0, 1, 1, 1], method
        assert run["after.output"].tolist() == [0, 0, 1, 1], method
        assert run["slide.u"] == pytest.approx([0, 0, 1, 2.1], abs=1e-7), method


def test_conditions_and_energies_know_breaks():
    run = kn.simulate(pushed("1 + square(t, 1)"), 10.0)
    assert run.audit.largest < 1e-11
    run = kn.simulate(pushed("1 + square(t, 1)"), 10.0, stop_when="slide.q > 2.75")
    assert run.t[-1] == pytest.approx(1.0 + math.sqrt(1.25), rel=1e-12)  # 2.5 m and 2 m/s after 2 s, then 2 m/s^2


def find(law, t0, t1):
    system = kn.System("pushed")
    system.table("shape", axes=(0, 2, 4, 6), values=(0, 2, 0, 1.5), outside="hold")
    return find_law_times(kn.compile(push(system, law)), np.zeros(0), np.zeros(0), t0, t1)


def test_breaks_are_known_beforehand():
    def breaks(law, t0=0.0, t1=2.0):
        return find(law, t0, t1).breaks.tolist()

    assert breaks("pulse(t - 1, 0.1, 0.25)", 1.0) == pytest.approx(
        [1, 1.1, 1.25, 1.35, 1.5, 1.6, 1.75, 1.85, 2], rel=1e-14
    )
    assert breaks("abs(sin(pi*t))", 0.25, 2.25) == pytest.approx([0.25, 1, 2, 2.25], rel=1e-14)
    assert len(breaks("sign(sin(2*pi*t))", 0.0, 1000.0)) == 2001
    assert breaks("(t > 1)*(slide.q > 0)") == [0, 1, 2]
    assert breaks("shape(2*t)") == [0, 1, 2]
    assert breaks("floor(t^2)") == pytest.approx([0, 1, math.sqrt(2), math.sqrt(3), 2], rel=1e-14)
    assert breaks("sin(t)*slide.q") == breaks("floor(slide.q)") == []


def test_pulses_whose_width_is_no_law_of_time_are_not_stepped_over():
    """A tenth of each period, from its middle on, for as long as a state says that does not change."""
    system = kn.System("modulated", gravity=(0, 0, 0))
    system.integrator("width", input="0", initial=0.1)
    push(system, "10*pulse(t - 0.05, 0.1*width.output, 0.1)")
    run = kn.simulate(system, 10.0)
    assert run["slide.u"][-1] == pytest.approx(10.0, rel=1e-4)
    assert find("pulse(t, 0.1*slide.q, 0.1)", 0.0, 10.0).longest == pytest.approx(0.0125)


def test_a_law_that_changes_too_often_is_refused_by_name():
    with pytest.raises(kn.ModelError, match=r"slide\.effort: changes 1\.0e\+10 times from 0 to 10 s"):
        kn.simulate(pushed("square(t, 1e-9)"), 10.0)


def test_slow_laws_ask_for_nothing():
    """The steps of a swing are those of its error control, whatever a law does slowly."""
    slow = kn.simulate(pushed("step(t - 2)"), 10.0)
    assert len(slow.t) < 20
    assert np.isfinite(slow["slide.q"]).all()


def test_breaks_are_those_of_the_numbers_of_each_run():
    """A push that ends at T moves a unit mass by T^2/2 + T (1 - T) in a second."""
    system = kn.System("push", gravity=(0, 0, 0))
    system.parameter("T", 0.3)
    system.prismatic("slide", system.world, system.body("mass", mass=1.0), effort="1*(t < T)")
    dynamics = kn.compile(system)
    for T in (0.31, 0.62, 0.62, 0.31):
        run = kn.simulate(dynamics, 1.0, parameters={"T": T}, times=[1.0], rtol=1e-3, atol=1e-3)
        assert run["slide.q"][-1] == pytest.approx(0.5 * T * T + T * (1 - T), rel=1e-12)


# -- searched once -----------------------------------------------------------------------------------
@pytest.fixture
def searches(monkeypatch):
    """The spans that were searched."""
    spans, search = [], time_events._search

    def counted(dynamics, analysis, courses):
        spans.append((analysis.t0, analysis.t1))
        return search(dynamics, analysis, courses)

    monkeypatch.setattr(time_events, "_search", counted)
    return spans


def braked():
    """A body whose brake acts from a time that follows from two parameters; a third has nothing to do with time."""
    system = kn.System("braked", gravity=(0, 0, 0))
    system.parameter("mass", 1.0)
    system.parameter("begin", 1.0)
    system.parameter("length", 0.5)
    system.parameter("end", "begin + length")
    system.input("level", 2.0)
    body = system.body("body", mass="mass")
    system.prismatic("slide", system.world, body, axis="x", effort="level*((t > begin)*(t < end)) + sin(3*t)", u=1.0)
    return system


def test_a_parameter_that_no_law_of_time_names_asks_for_no_search(searches):
    dynamics = kn.compile(braked())
    runs = [kn.simulate(dynamics, 3.0, parameters={"mass": mass}, inputs={"level": mass}) for mass in (1.0, 1.5, 2.0)]
    assert searches == [(0.0, 3.0)]
    assert all(min(abs(run.t - at)) < 1e-12 for run in runs for at in (1.0, 1.5))


def test_a_parameter_that_moves_a_break_moves_it(searches):
    dynamics = kn.compile(braked())
    for values in ({}, {"length": 0.7}, {"begin": 0.9}, {"length": 0.7}, {}):
        begin, length = values.get("begin", 1.0), values.get("length", 0.5)
        times = kn.simulate(dynamics, 3.0, parameters=values).t
        assert min(abs(times - begin)) < 1e-12 and min(abs(times - begin - length)) < 1e-12, values
    assert len(searches) == 3  # each new pair once
    kn.simulate(dynamics, 2.0)
    assert searches[-1] == (0.0, 2.0)


def test_without_laws_of_time_one_search_serves_every_span(searches):
    dynamics = kn.compile(pushed("-3*slide.q"))
    for until in (1.0, 2.0, 3.0):
        kn.simulate(dynamics, until)
    assert len(searches) == 1


@pytest.mark.parametrize("argument", ["t", "t - 7.3", "20 - t"])
@pytest.mark.parametrize("method", ["dopri5", "stiff"])
def test_a_table_that_repeats_pushes_in_every_period(argument, method):
    """A triangle of 1 ms and 10 N once in each of 20 periods: each corner ends a step, in both directions of time."""
    system = kn.System("pushed", gravity=(0, 0, 0))
    system.table("kick", axes=[0, 0.1, 0.1005, 0.101, 0.5], values=[0, 0, 10, 0, 0], outside="repeat")
    run = kn.simulate(push(system, f"kick({argument})"), 10.0, method=method)
    assert run["slide.u"][-1] == pytest.approx(20 * 0.5 * 10 * 0.001, rel=1e-6)


def test_breaks_of_a_table_that_repeats_are_known_beforehand():
    system = kn.System("pushed", gravity=(0, 0, 0))
    system.table("kick", axes=[0.0, 0.25, 1.0], values=[0, 1, 0], outside="repeat")
    dynamics = kn.compile(push(system, "kick(2*t)"))
    law_times = find_law_times(dynamics, np.zeros(0), np.zeros(0), 0.0, 2.0)
    assert law_times.breaks == pytest.approx(np.sort(np.concatenate([np.arange(5) / 2, np.arange(4) / 2 + 0.125])))


def test_a_table_of_an_angle_goes_on_for_many_turns():
    """Cogging by a table of one turn: the work over whole turns is zero, and the motion that of the same sine."""
    angle = np.linspace(0, 2 * math.pi, 73)
    runs = []
    for law in ("cogging(hub.q)", "0.3*sin(4*hub.q)"):
        system = kn.System("rotor", gravity=(0, 0, 0))
        system.table("cogging", axes=angle, values=0.3 * np.sin(4 * angle), method="quintic", outside="repeat")
        rotor = system.body("rotor", mass=1.0, inertia=(0.1, 0.1, 0.1))
        system.revolute("hub", system.world, rotor, u="-3 rad/s", effort=law)
        runs.append(kn.simulate(system, 10.0, samples=101, rtol=1e-10, atol=1e-12)["hub.q"])
    assert runs[0][-1] < -25
    assert runs[0] == pytest.approx(runs[1], abs=1e-4)
