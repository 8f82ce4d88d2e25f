"""What asks for very many steps is named, beforehand where that can be known."""

import re
import warnings

import numpy as np
import pytest

import kinode as kn
from kinode.simulation import run_length
from kinode.simulation.failures import find_chattering


def sampled(period):
    system = kn.System("sampled", gravity=(0, 0, 0))
    system.element("clock", "sample_hold", input="t", period=period)
    system.prismatic("slide", system.world, system.body("body", mass=1.0), axis="x", effort="clock.output")
    return system


def pushed(law, **fields):
    system = kn.System("pushed", gravity=(0, 0, 0))
    system.prismatic("slide", system.world, system.body("body", mass=1.0), axis="x", effort=law, **fields)
    return system


def test_a_clock_that_ticks_more_often_than_there_are_steps_is_refused():
    with pytest.raises(kn.ModelError, match=r"clock\.period: ticks every 1e-09 s, 1\.0e\+10 times from 0 to 10 s"):
        kn.simulate(sampled(1e-9), 10.0)


def test_clocks_and_steps_that_take_long_are_warned_of_beforehand():
    dynamics = kn.compile(sampled(1e-6))
    with pytest.warns(kn.LongRunWarning, match=r"clock\.period: ticks every 1e-06 s, 2\.0e\+07 times") as caught:
        run_length.check_lengths(dynamics, None, 1.0, 0.0, 20.0)
    assert caught[0].filename == __file__
    with pytest.warns(kn.LongRunWarning, match=r"max_step: 1e-08 s are 1\.0e\+08 steps from 0 to 1 s"):
        run_length.check_lengths(dynamics, None, 1e-8, 0.0, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run_length.check_lengths(dynamics, 1e-3, 1.0, 0.0, 1.0)


@pytest.mark.parametrize("method", ["dopri5", "dop853"])
@pytest.mark.parametrize("more", [{}, {"stop_when": "slide.q > 1e9"}])
def test_what_makes_a_run_long_is_named_on_the_way(method, more, monkeypatch):
    monkeypatch.setattr(run_length, "LONG", 1000)
    with pytest.warns(kn.LongRunWarning, match=r"slide\.effort changes within 0\.001 s, 1\.0e\+03 times") as caught:
        kn.simulate(pushed("1e6*sin(2*pi*1000*t)"), 1.0, method=method, **more)
    assert len(caught) == 1 and caught[0].filename == __file__
    with pytest.warns(kn.LongRunWarning, match='no law of time is that fast, so the motion itself is: method="stiff"'):
        kn.simulate(pushed("0", stiffness=1e8, q=0.1), 1.0, method=method, **more)


@pytest.mark.parametrize("method", ["dopri5", "dop853"])
def test_stiff_loops_are_advised_to_take_the_stiff_method_and_it_does_with_less(method, monkeypatch):
    monkeypatch.setattr(run_length, "LONG", 100)
    system = kn.load("examples/four_bar.yaml")
    joint = next(name for name, joint in system.joints.items() if joint.motion is None and joint.n_u == 1)
    system.change(joint, stiffness=1e7, damping=1e4)
    with pytest.warns(kn.LongRunWarning, match='so the motion itself is: method="stiff" may do with less'):
        kn.simulate(system, 0.2, method=method)
    with warnings.catch_warnings():
        warnings.simplefilter("error", kn.LongRunWarning)
        assert kn.simulate(system, 0.2, method="stiff").facts["steps"] < 100


def test_a_long_run_of_the_stiff_method_is_not_advised_to_take_it(monkeypatch):
    monkeypatch.setattr(run_length, "LONG", 100)
    with pytest.warns(kn.LongRunWarning, match="the motion itself is: make springs softer, or rigid") as caught:
        kn.simulate(pushed("0", stiffness=1e6, q=0.1), 1.0, method="stiff")
    assert 'method="stiff"' not in str(caught[0].message)


CHATTERING = (
    ("-10*sign(slide.q + slide.u)", r"slide\.q \+ slide\.u", "dopri5"),
    ("where(slide.q + 0.5*slide.u < 0, 5, -5)", r"slide\.q \+ 0\.5\*slide\.u", "dop853"),
    ("-sign(slide.u)*2 - 5*slide.q", r"slide\.u", "dopri5"),
    ("-10*sign(slide.q + slide.u)", r"slide\.q \+ slide\.u", "stiff"),
)


@pytest.mark.parametrize(("law", "jump", "method"), CHATTERING)
def test_a_law_that_chatters_is_named_early(law, jump, method):
    """The run of 10 s would take hundreds of millions of steps; it is stopped as soon as it has warned."""
    system = pushed(law, q=1.0, u=0.3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run = kn.simulate(system, 10.0, method=method, progress=lambda share: not caught)
    assert len(caught) == 1 and caught[0].filename == __file__
    assert re.search(rf"slide\.effort, .*, switches without end: {jump} is driven back to zero", str(caught[0].message))
    assert run.facts["steps"] < 5e6


def test_the_signal_that_chatters_is_named_where_it_jumps():
    system = pushed("-10*side", q=1.0, u=0.3)
    system.signal("surface", "slide.q + slide.u")
    system.signal("side", "sign(surface)")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kn.simulate(system, 10.0, progress=lambda share: not caught)
    assert "side.law, sign(surface), switches without end: surface is driven back" in str(caught[0].message)


def test_switching_that_goes_on_is_no_chatter(monkeypatch):
    """A ball between two forces passes the switch again and again, at full speed."""
    monkeypatch.setattr(run_length, "EARLY", 50)
    monkeypatch.setattr(run_length, "CHATTER", 10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = kn.simulate(pushed("-5*sign(slide.q)", q=1.0), 20.0)
    assert run.status == "done"


def test_a_sliding_state_is_told_from_others():
    dynamics, none = kn.compile(pushed("-10*sign(slide.q + slide.u)", q=1.0, u=0.3)), np.zeros(0)
    law = find_chattering(dynamics, 0.2, np.array([0.5, -0.5 + 1e-9]), none, none, 1e-6)
    assert law is not None and law.name == "slide.effort"
    assert find_chattering(dynamics, 0.2, np.array([0.5, 0.5]), none, none, 1e-6) is None


def whirled(law):
    """A pendulum on a pendulum, driven by a moment."""
    system = kn.System("whirled", gravity=(0, -9.81, 0))
    upper, lower = (system.body(name, mass=1.0, com=(0.2, 0, 0), inertia=(1, 1, 1)) for name in ("upper", "lower"))
    system.revolute("shoulder", system.world, upper, effort=law)
    system.revolute("elbow", upper.at(1, 0, 0), lower)
    return system


@pytest.mark.parametrize("method", [None, "dopri5", "dop853", "stiff", "newton_euler"])
def test_a_run_that_would_never_reach_its_end_is_ended_soon(method):
    """The moment exp(k t) on an inertia makes turns of the number exp(k t)/k^2: it doubles every ln 2/k."""
    words = r"never reach its end at 2 s: .* doubles every (\S+) s; .*the effort of shoulder, exp\(1000\*t\), has grown"
    with pytest.raises(kn.SimulationError, match=words) as caught:
        how = {"formulation": method} if method == "newton_euler" else {"method": method}
        kn.simulate(whirled("exp(1000*t)"), 2.0, **how)
    run = caught.value.run
    assert float(re.search(words, run.message)[1]) == pytest.approx(np.log(2.0) / 1000.0, rel=0.1)
    assert len(run) - 1 == run.facts["steps"] < 2e5 and 0.015 < run.t[-1] < 0.05


def test_many_steps_alone_do_not_end_a_run(monkeypatch):
    """Speeds that grow as a power of time, or exponentially to a size that can be followed, are no reason."""
    monkeypatch.setattr(run_length, "EARLY", 200)
    assert kn.simulate(whirled("40*exp(4*t)"), 2.0).status == "done"
    monkeypatch.setattr(run_length, "HOPELESS", 0)
    assert kn.simulate(whirled("200*t^2"), 8.0).facts["steps"] > 16 * 200
    with pytest.raises(kn.SimulationError, match="never reach its end"):
        kn.simulate(whirled("40*exp(4*t)"), 2.0)


ENDS = {
    "1/(1 - t)": 1.0,
    "1/(1 - t)^2": 1.0,
    "sqrt(1 - t)": 1.0,
    "log(1 - t)": 1.0,
    "exp(slide.q)": np.pi / np.sqrt(2.0),  # the integral of dq/sqrt(2 (exp(q) - 1))
    "1 + slide.u^3": 2.0 * np.pi / np.sqrt(27.0),  # that of du/(1 + u^3)
    "exp(exp(10*t))": np.log(np.log(np.finfo(float).max)) / 10.0,
}
"""Times in s at which a law has no value, or a mass of 1 kg has run away."""


@pytest.mark.parametrize("method", [None, "dop853", "stiff", "rk4"])
@pytest.mark.parametrize("law", ENDS)
def test_a_law_that_ends_a_run_is_named(law, method):
    """The run so far is there, and the error has the law and the time."""
    model = kn.compile(pushed(law))
    written = re.escape(model.system["slide"].effort[0].text())
    with pytest.raises(kn.SimulationError, match=rf"the effort of slide, {written}, (has grown|is)") as caught:
        kn.simulate(model, 3.0, method=method, step=1e-3 if method == "rk4" else None)
    run = caught.value.run
    assert run.ending.time == pytest.approx(ENDS[law], abs=2e-3) and run.t[-1] == pytest.approx(ENDS[law], abs=4e-3)
    assert run.facts["steps"] < 1e4 and f"t = {run.ending.time:.9g} s" in run.message


def in_a_gap(width):
    """A body that bounces without loss between two ends, at 1 m/s."""
    system = kn.System("gap", gravity=(0, 0, 0))
    stop = {"lower": -width / 2, "upper": width / 2, "restitution": 1.0}
    system.prismatic("slide", system.world, system.body("body", mass=1.0), axis="x", u=1.0, stop=stop)
    return system


ENDLESS = {
    "law": (lambda: pushed("sin(1e9*t)"), r"slide\.effort changes within 6\.28319e-09 s"),
    "motion": (
        lambda: pushed("0", stiffness=1e16, q=0.1),
        r"slide\.[qu]\).* the motion itself is: make springs softer",
    ),
    "impacts": (lambda: in_a_gap(2e-9), r"slide has an event every 2\.0e-09 s: give it more play"),
}


@pytest.mark.parametrize("name", ENDLESS)
@pytest.mark.filterwarnings("ignore::kinode.errors.LongRunWarning")
def test_a_run_with_a_thousand_million_steps_to_come_is_ended_soon(name):
    """Impacts every 2 ns, a sine of 1e9 rad/s, a vibration of 1e8 rad/s: the run of 10 s would take hours."""
    make, words = ENDLESS[name]
    with pytest.raises(
        kn.SimulationError, match=rf"never reach its end at 10 s: .* more would follow; .*{words}"
    ) as caught:
        kn.simulate(make(), 10.0)
    run = caught.value.run
    assert run.facts["steps"] < 3e6 and run.ending.kind.value == "too many steps"


@pytest.mark.filterwarnings("ignore::kinode.errors.LongRunWarning")
def test_a_fast_vibration_that_dies_out_is_no_reason_to_end_a_run(monkeypatch):
    """At the pace of its first looks it would need a hundred times as many steps; it fades as exp(-d t/2)."""
    for name, value in {"EARLY": 200, "LONG": 1000, "NEVER": 1e5, "ALLOWED": 1e5}.items():
        monkeypatch.setattr(run_length, name, value)
    fields = {"stiffness": 1e8, "q": 1e-7}
    assert kn.simulate(pushed("0", **fields, damping=20.0), 10.0, samples=3).status == "done"
    with pytest.raises(kn.SimulationError, match="never reach its end"):
        kn.simulate(pushed("0", **fields), 10.0)
    monkeypatch.setattr(run_length, "LONG", 1_000_000)  # a large one fades without longer steps at first
    assert kn.simulate(pushed("0", stiffness=1e8, q=0.1, damping=20.0), 10.0, samples=3).status == "done"


@pytest.mark.parametrize("law", ["sqrt(1 - t)", "log(1 - t)"])
def test_a_law_without_a_value_is_named_in_absolute_coordinates_too(law):
    with pytest.raises(
        kn.SimulationError, match=rf"of body became not finite: the effort of slide, {re.escape(law)}, is"
    ):
        kn.simulate(pushed(law), 3.0, formulation="newton_euler")


def test_fixed_steps_that_are_too_long_are_named():
    """A vibration of 1e8 rad/s and steps of 1 ms: the amplification is (1e5)^4/24 a step."""
    with pytest.raises(kn.SimulationError, match="not finite: steps of that length may be too long for the motion"):
        kn.simulate(pushed("0", stiffness=1e16, q=0.1), 1.0, method="rk4", step=1e-3)


def test_very_large_speeds_are_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kn.simulate(pushed("1e200"), 1.0, stop_when="t > 0.5").status == "condition"


CURES = {
    "0/(t - 1)": r"the effort of slide, 0/\(t - 1\), divides by t - 1, which comes to zero there",
    "slide.u/(1 - t)": r"divides by 1 - t, which comes to zero there",
    "1 - 1e9*sign(slide.u)": r"slide\.effort, .* switches without end: slide\.u is driven back to zero",
}


@pytest.mark.parametrize("law", CURES)
def test_a_step_that_becomes_too_small_names_the_law(law):
    """Where 0/0 is met, and where a sign holds the body from the start."""
    with pytest.raises(kn.SimulationError, match=f"the step became too small at .*; .*{CURES[law]}"):
        kn.simulate(pushed(law), 3.0)


@pytest.mark.parametrize(
    ("motion", "words"),
    [
        ("sqrt(1 - t)", r"sqrt\(1 - t\), has an acceleration that has grown \S+ times"),
        ("log(1 - t)", r"log\(1 - t\), has an acceleration that has grown \S+ times"),
        ("t^0.5", r"t\^0\.5, has no finite speed there"),
        ("t^1.5", r"t\^1\.5, has no finite acceleration there"),
    ],
)
def test_a_given_motion_without_a_finite_acceleration_is_named(motion, words):
    """What is driven follows at once, and what hangs on it feels the acceleration."""
    system = whirled(None)
    system.change("shoulder", motion=motion)
    with pytest.raises(kn.SimulationError, match=rf"the motion of shoulder, {words}"):
        kn.simulate(system, 3.0)


def test_damping_beyond_any_first_step_is_taken_over_at_the_start():
    """1e20 N s/m on 1 kg: the speed follows the force within 1e-20 s, the position is F t/d."""
    run = kn.simulate(pushed("1e12*(1 + t)", damping=1e20), 10.0)
    assert run.facts["method"] == "auto" and run.facts["steps"] < 200
    assert run["slide.q"][-1] == pytest.approx(60.0 * 1e-8, rel=1e-3)
