"""What asks for very many steps is named, beforehand where that can be known."""

import re
import warnings

import numpy as np
import pytest

import kinode as kn
from kinode.errors import LongRunWarning
from kinode.simulation import run_length
from kinode.simulation.chattering_laws import find_chattering


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
    with pytest.warns(LongRunWarning, match=r"clock\.period: ticks every 1e-06 s, 2\.0e\+07 times") as caught:
        run_length.check_lengths(dynamics, None, 1.0, 0.0, 20.0)
    assert caught[0].filename == __file__
    with pytest.warns(LongRunWarning, match=r"max_step: 1e-08 s are 1\.0e\+08 steps from 0 to 1 s"):
        run_length.check_lengths(dynamics, None, 1e-8, 0.0, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run_length.check_lengths(dynamics, 1e-3, 1.0, 0.0, 1.0)


@pytest.mark.parametrize("method", ["dopri5", "dop853"])
@pytest.mark.parametrize("more", [{}, {"stop_when": "slide.q > 1e9"}])
def test_what_makes_a_run_long_is_named_on_the_way(method, more, monkeypatch):
    monkeypatch.setattr(run_length, "LONG", 1000)
    with pytest.warns(LongRunWarning, match=r"slide\.effort changes within 0\.001 s, 1\.0e\+03 times") as caught:
        kn.simulate(pushed("1e6*sin(2*pi*1000*t)"), 1.0, method=method, **more)
    assert len(caught) == 1 and caught[0].filename == __file__
    with pytest.warns(LongRunWarning, match='no law of time is that fast, so the motion itself is: method="stiff"'):
        kn.simulate(pushed("0", stiffness=1e8, q=0.1), 1.0, method=method, **more)


@pytest.mark.parametrize("method", ["dopri5", "dop853"])
def test_stiff_loops_are_advised_to_take_the_stiff_method_and_it_does_with_less(method, monkeypatch):
    monkeypatch.setattr(run_length, "LONG", 100)
    system = kn.load("examples/four_bar.yaml")
    joint = next(name for name, joint in system.joints.items() if joint.motion is None and joint.n_u == 1)
    system.change(joint, stiffness=1e7, damping=1e4)
    with pytest.warns(LongRunWarning, match='so the motion itself is: method="stiff" may do with less'):
        kn.simulate(system, 0.2, method=method)
    with warnings.catch_warnings():
        warnings.simplefilter("error", LongRunWarning)
        assert kn.simulate(system, 0.2, method="stiff").facts["steps"] < 100
    with pytest.raises(kn.ArgumentError, match="loops closed; use dopri5 or auto or dop853 or stiff"):
        kn.simulate(system, 0.2, method="cvode")


def test_a_long_run_of_the_stiff_method_is_not_advised_to_take_it(monkeypatch):
    monkeypatch.setattr(run_length, "LONG", 100)
    with pytest.warns(LongRunWarning, match="the motion itself is: make springs softer, or rigid") as caught:
        kn.simulate(pushed("0", stiffness=1e6, q=0.1), 1.0, method="stiff")
    assert 'method="stiff"' not in str(caught[0].message)


CHATTERING = (
    ("-10*sign(slide.q + slide.u)", r"slide\.q \+ slide\.u", "dopri5"),
    ("where(slide.q + 0.5*slide.u < 0, 5, -5)", r"slide\.q \+ 0\.5\*slide\.u", "dop853"),
    ("-sign(slide.u)*2 - 5*slide.q", r"slide\.u", "dopri5"),
    ("-10*sign(slide.q + slide.u)", r"slide\.q \+ slide\.u", "stiff"),
)


@pytest.mark.parametrize(("law", "jump", "method"), CHATTERING)
def test_a_law_that_chatters_is_named_early(law, jump, method, monkeypatch):
    """The run of 10 s would take hundreds of millions of steps; it is stopped as soon as it has warned."""
    monkeypatch.setattr(run_length, "EARLY_STIFF", 200)
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
