"""kn.simulate: methods agree, stops are found, what goes wrong is told with the run so far."""

import math
import os
import signal
import subprocess
import sys
from functools import partial

import numpy as np
import pytest

import kinode as kn
from kinode.jit import compiler

TIGHT = {"method": "dop853", "rtol": 1e-11, "atol": 1e-12}


def pendulum(**joint):
    system = kn.System("pendulum", gravity=(0, -9.81, 0))
    length = system.parameter("L", "1 m")
    bob = system.body("bob", mass=1.0, com=(0, -length, 0), inertia=(0.1, 0.1, 0.1))
    system.input("torque", 0.0)
    system.revolute("pin", system.world, bob, axis="z", **{"effort": "torque", **joint})
    return system


def mixed():
    """All that a state can hold: angles, quaternions, free flight, prescribed speeds, quaternions of those."""
    system = kn.System("mixed", gravity=(0, 0, -9.81))
    places = {
        "base": (5.0, (0, 0, 0)),
        "arm": (1.0, (0.3, 0, 0)),
        "ball": (0.5, (0, 0, -0.4)),
        "spun": (1.0, (0.1, 0, 0)),
    }
    base, arm, ball, spun = (
        system.body(name, mass=mass, com=com, inertia=(0.1, 0.15, 0.2)) for name, (mass, com) in places.items()
    )
    system.free("flight", system.world, base, velocity=(1, 0, 5), angular_velocity=(0.3, 2.0, 0.1))
    system.revolute("hinge", base, arm, axis="y", damping=0.05)
    system.spherical("socket", arm.at(0.6, 0, 0), ball, u=(1.0, 2.0, 3.0))
    system.spherical("spin", base.at(0, 0, 0.3), spun, speed=("1", "0.3*t", "sin(t)"))
    return system


@pytest.mark.parametrize(("options", "tolerance"), [
    ({}, 1e-5), ({"rtol": 1e-11, "atol": 1e-12}, 1e-8), ({"method": "rk4", "step": 1e-3}, 1e-7),
    ({"method": "stiff", "rtol": 1e-9, "atol": 1e-11}, 1e-4),
])  # fmt: skip
def test_methods_agree(options, tolerance):
    reference = kn.simulate(mixed(), 2.0, samples=21, **TIGHT)
    run = kn.simulate(mixed(), 2.0, samples=21, **options)
    assert np.array_equal(run.t, reference.t)
    assert run.y == pytest.approx(reference.y, abs=tolerance)
    assert (run.status, run.message) == ("done", "reached the end")


@pytest.mark.parametrize("options", [{}, {"method": "dop853"}, {"method": "rk4", "step": 0.01}, {"method": "stiff"}])
def test_quaternions_are_unit(options):
    run = kn.simulate(mixed(), 3.0, **options)
    for quaternion in (run["flight.q"][:, 3:], run["socket.q"], run["spin.q"]):
        assert np.abs(np.linalg.norm(quaternion, axis=1) - 1).max() < 1e-14


def test_times():
    system = pendulum(q=1.0)
    assert kn.simulate(system, 2.0, samples=5).t == pytest.approx([0, 0.5, 1, 1.5, 2], abs=0)
    assert kn.simulate(system, 2.0, every=0.4).t == pytest.approx([0, 0.4, 0.8, 1.2, 1.6, 2.0], abs=1e-15)
    assert kn.simulate(system, 2.0, every=0.7).t == pytest.approx([0, 0.7, 1.4])
    assert kn.simulate(system, 2.0, times=[0.5, 1.5]).t.tolist() == [0.5, 1.5]
    own = kn.simulate(system, "2000 ms")
    assert (own.t[0], own.t[-1]) == (0.0, 2.0)
    assert kn.simulate(system, 3.0, t0=2.5).t[0] == 2.5
    one = kn.simulate(system, 0.0)
    assert len(one) == 1
    assert one["pin.q"] == pytest.approx([1.0])


def test_run_section_fills_in_what_is_left_out():
    system = pendulum(q=1.0)
    system.run_defaults = {"until": "2 s", "t0": "0.5 s", "rtol": 1e-6, "step": "20 ms", "times": [0.5, 1.0, 2.0]}
    run = kn.simulate(system)
    assert run.t.tolist() == [0.5, 1.0, 2.0] and run.facts["rtol"] == 1e-6
    assert np.diff(kn.simulate(system, times=np.linspace(1.0, 2.0, 5)).t).max() == 0.25
    assert kn.simulate(system, 1.5).t.tolist() == [0.5, 1.0]
    more = kn.simulate(system, 3.0, start=run, samples=2, rtol=1e-9)
    assert more.t.tolist() == [2.0, 3.0] and more.facts["rtol"] == 1e-9
    assert kn.simulate(system, method="rk4").facts["step"] == 0.02
    with pytest.raises(kn.ArgumentError, match="until: a time in seconds is expected"):
        kn.simulate(pendulum())


def test_max_step():
    assert np.diff(kn.simulate(pendulum(q=1.0), 2.0, max_step=0.01).t).max() <= 0.01 * (1 + 1e-5)


def test_start():
    dynamics = kn.compile(pendulum(q=1.0))
    by_name = kn.simulate(dynamics, 1.0, start={"pin.q": "30 deg", "pin.u": 2.0})
    assert (by_name["pin.q"][0], by_name["pin.u"][0]) == (math.radians(30), 2.0)
    state = kn.simulate(dynamics, 1.0, start=dynamics.state({"pin.q": math.radians(30), "pin.u": 2.0}))
    assert np.array_equal(state.y, by_name.y)


def test_parameters_and_inputs_compile_nothing(monkeypatch):
    """A longer pendulum swings as a longer one does; the code is the same."""
    dynamics = kn.compile(pendulum(q=0.1))
    kn.simulate(dynamics, 1.0)["bob.com.position"]
    built = []
    whole = compiler.build
    monkeypatch.setattr(compiler, "build", lambda *args, **options: built.append(args) or whole(*args, **options))
    run = kn.simulate(dynamics, 5.0, parameters={"L": "2 m"}, inputs={"torque": 0.5}, samples=11)
    assert run["bob.com.position"] == pytest.approx(
        2 * np.column_stack([np.sin(run["pin.q"]), -np.cos(run["pin.q"]), 0 * run.t])
    )
    assert run["torque"] == pytest.approx(np.full(11, 0.5))
    assert built == []
    other = pendulum(q=0.1)
    other.change("L", value=2.0)
    other.change("torque", value=0.5)
    assert np.array_equal(kn.simulate(other, 5.0, samples=11).y, run.y)


def test_a_step_of_rk4_is_that_of_dynamics():
    dynamics = kn.compile(mixed())
    run = kn.simulate(dynamics, 0.01, method="rk4", step=0.01)
    state = dynamics.step(dynamics.state(), 0.01)
    assert state.t == run.end.t
    assert state.y == pytest.approx(run.end.y, abs=1e-13)


# -- stopping ----------------------------------------------------------------------------------------
def falling():
    system = kn.System("stone", gravity=(0, 0, -10.0))
    stone = system.body("stone", mass=1.0, inertia=(1, 1, 1))
    system.free("flight", system.world, stone, position=(0, 0, 5.0), velocity=(1, 0, 0))
    return system


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"samples": 11},
        {"times": [0.2, 5.0]},
        {"method": "dop853"},
        {"method": "stiff"},
        {"method": "rk4", "step": 0.3},
    ],
)
@pytest.mark.parametrize(
    "condition",
    [
        "stone.position.z < 0",
        "-stone.position.z",
        "0 >= stone.position.z",
        "(stone.position.z < 0)*(stone.position.x > 0.5)",
    ],
)
def test_stop_when(options, condition):
    """A stone falls 5 m in 1 s; the flight is a parabola, which explicit methods follow exactly."""
    run = kn.simulate(falling(), 100.0, stop_when=condition, **options)
    assert run.status == "condition"
    assert condition in run.message
    assert run.t[-1] == pytest.approx(1.0, abs=1e-7 if options.get("method") == "stiff" else 1e-11)
    assert run["stone.position"][-1] == pytest.approx([1, 0, 0], abs=1e-7)
    assert run.end.t == run.t[-1]
    if options.get("times") == 11:
        assert run.t.tolist() == [0.0, run.t[-1]]


def test_stop_within_a_step_and_out_again():
    """The bob passes a narrow gate far within a step; both ends of the step lie outside."""
    run = kn.simulate(pendulum(q=1.0), 10.0, stop_when="cos(1000*pin.q) > 2")
    assert run.status == "done"
    run = kn.simulate(pendulum(q=0.5), 10.0, stop_when="pin.q < -0.4999")
    assert run.status == "condition"
    assert run["pin.q"][-1] == pytest.approx(-0.4999, abs=1e-12)
    assert run.t[-1] < 2.0


def test_a_condition_must_become_true():
    """True at the start is not becoming true: it stops at the next time."""
    run = kn.simulate(pendulum(q=0.5), 10.0, stop_when="pin.q > 0.4", **TIGHT)
    assert run.status == "condition"
    period = 2 * run.t[np.argmin(run["pin.q"])]
    assert 0.5 * period < run.t[-1] < period
    assert run["pin.u"][-1] > 0
    assert kn.simulate(pendulum(q=0.0), 1.0, stop_when="pin.q < 1").status == "done"


def test_stop_of_a_driven_system():
    run = kn.simulate(pendulum(motion="sin(t)", effort=None), 10.0, stop_when="pin.q < 0")
    assert run.t[-1] == pytest.approx(math.pi, abs=1e-12)


# -- what goes wrong ---------------------------------------------------------------------------------
def test_driven_only():
    run = kn.simulate(pendulum(motion="sin(t)", effort=None), 2.0)
    assert len(run) == 1000
    assert run["pin.q"] == pytest.approx(np.sin(run.t), abs=1e-15)
    assert kn.simulate(pendulum(speed="t", effort=None), 2.0)["pin.q"][-1] == pytest.approx(2.0, abs=1e-9)


@pytest.mark.parametrize("options", [{}, {"method": "dop853"}, {"method": "stiff"}, {"method": "rk4", "step": 1e-3}])
def test_outside_a_table(options):
    system = pendulum(effort=None)
    system.table("curve", axes=[-1, 0, 1], values=[1, 2, 4])
    system.change("pin", effort="curve(2*pin.q)")
    with pytest.raises(
        kn.SimulationError, match=r"at t = 0\.\d+ s the acceleration of pin \(pin.u\) .* effort of pin .* table curve"
    ) as caught:
        kn.simulate(system, 5.0, **options)
    run = caught.value.run
    assert run.status == "failed"
    assert len(run) > 2
    assert 0.49 < run["pin.q"][-1] <= 0.5
    assert run.message == str(caught.value)


def test_a_law_without_value():
    with pytest.raises(
        kn.SimulationError,
        match=r"at t = 1 s the acceleration of pin \(pin.u\) .* the effort of pin, sqrt\(1 - t\), is nan",
    ) as caught:
        kn.simulate(pendulum(effort="sqrt(1 - t)"), 5.0)
    assert caught.value.run.t[-1] == pytest.approx(1.0, abs=1e-9)


def test_zero_divided_by_zero_is_no_zero():
    with pytest.raises(kn.SimulationError, match=r"the effort of pin, 0/\(t - t\), is nan"):
        kn.simulate(pendulum(effort="0/(t-t)"), 1.0)


def test_a_motion_that_runs_away():
    with pytest.raises(
        kn.SimulationError, match=r"the speed of pin \(pin.u\), then \S+ rad/s, changes fastest"
    ) as caught:
        kn.simulate(pendulum(effort="pin.u^3", u=5.0), 5.0)
    assert caught.value.run["pin.u"][-1] > 1e6


@pytest.mark.parametrize(("until", "options", "words"), [
    (-1.0, {}, "until: -1 s lies before the start at 0 s"),
    (1.0, {"t0": 2.0}, "until: 1 s lies before the start at 2 s"),
    (math.nan, {}, "until: a time in seconds"),
    (None, {}, "until: a time in seconds"),
    ("5 N", {}, "a time is needed"),
    (1.0, {"times": [0, 2]}, "times: from 0 to 1 s are simulated, 0 to 2"),
    (1.0, {"times": [0.5, 0.2]}, "times: must not go back"),
    (1.0, {"samples": 1}, "samples: at least 2"),
    (1.0, {"samples": 2.5}, "samples: a whole number of times"),
    (1.0, {"samples": True}, "samples: a whole number of times"),
    (1.0, {"every": -0.1}, "every: a positive time"),
    (1.0, {"every": "5 mm"}, "every"),
    (1.0, {"times": "10 ms"}, "times: a list of numbers is expected; samples= takes how many, every= how far apart"),
    (1.0, {"times": [0.0, 1.0], "samples": 3}, "times, samples: give one of them"),
    (1.0, {"samples": 3, "every": 0.1}, "samples, every: give one of them"),
    (1.0, {"times": [[0.0]]}, "times: finite numbers in a row"),
    (1.0, {"rtol": 0.0}, "rtol: a positive number"),
    (1.0, {"atol": -1.0}, "atol: a positive number"),
    (1.0, {"atol": [1e-6] * 3}, "atol: expected one number or 2"),
    (1.0, {"method": "rk5"}, "method: there is no 'rk5'; did you mean dopri5. The methods are dopri5, auto"),
    (1.0, {"method": "rk4"}, 'step: method "rk4" needs'),
    (1.0, {"step": 0.1}, "step: .auto. chooses its steps itself"),
    (1.0, {"max_step": 0}, "max_step: a positive number"),
    (1.0, {"start": {"pin.x": 1.0}}, "no coordinate 'pin.x'"),
    (1.0, {"start": 3}, "start: values by name, a State"),
    (1.0, {"parameters": {"K": 1.0}}, "no parameter 'K'"),
    (1.0, {"parameters": {"L": "1 kg"}}, "1 kg is in kg; m is needed"),
    (1.0, {"inputs": {"force": 1.0}}, "no input is called 'force'"),
    (1.0, {"stop_when": "pin.x > 0"}, "pin has no quantity 'x'"),
    (1.0, {"stop_when": "bob.position"}, "stop_when: bob.position has several components"),
    (1.0, {"stop_when": "2 > 1"}, "never changes"),
    (1.0, {"stop_when": lambda t: t}, "stop_when: an expression as text is expected"),
    (1.0, {"samples": 10**12}, "samples: 1e[+]12 are more than memory holds"),
    (1.0, {"every": 1e-12}, "every: 1e[+]12 are more than memory holds"),
    (1.0, {"atol": {"pin.q": 1e-6}}, "atol: a number, or one for each state"),
])  # fmt: skip
def test_wrong_arguments(until, options, words):
    with pytest.raises(kn.Error, match=words):
        kn.simulate(pendulum(), until, **options)


def test_wrong_models():
    with pytest.raises(kn.ArgumentError, match="a System, a compiled one or a file"):
        kn.simulate(3, 1.0)
    with pytest.raises(kn.Error, match=r"none\.yaml"):
        kn.simulate("none.yaml", 1.0)


def test_a_function_may_stop_the_run():
    fractions = []
    with pytest.warns(kn.errors.LongRunWarning, match="step: "):
        run = kn.simulate(
            mixed(), 1e5, method="rk4", step=1e-3, every=10.0, progress=lambda x: fractions.append(x) or False
        )
    assert (run.status, len(fractions)) == ("stopped", 1)
    assert run.end.t == pytest.approx(1e5 * fractions[0], rel=1e-6)


INTERRUPTED = """
import os, signal, threading, sys, time
sys.path.insert(0, {folder!r})
from test_simulate import mixed
import kinode as kn
signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs are born deaf to it
dynamics = kn.compile(mixed())
kn.simulate(dynamics, 0.1, **{options})
def interrupt(after=time.process_time() + 0.3):
    while time.process_time() < after:  # of work, not of waiting for a busy machine
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
run = kn.simulate(dynamics, 3e5, **{options})
print(run.status, len(run) > 10, 0 < run.end.t < 3e5, run.message.startswith("interrupted at t ="))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGINT") or os.name != "posix", reason="signals as on POSIX")
@pytest.mark.parametrize("options", [{}, {"method": "stiff"}, {"stop_when": "t > 2.9e5"}])
def test_control_c_returns_the_run(options):
    code = INTERRUPTED.format(folder=os.path.dirname(__file__), options=options)
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert found.stdout.split() == ["stopped", "True", "True", "True"], found.stderr


def test_parameters_that_no_body_can_have():
    system = kn.System("bob")
    bob = system.body("bob", mass=system.parameter("m", "1 kg"), com=(0, 0, -1))
    system.revolute("pin", system.world, bob, axis="y")
    assert kn.simulate(system, 0.1, parameters={"m": 2.0}).status == "done"
    tasks = (partial(kn.simulate, until=0.1), kn.equilibrium, kn.linearize, kn.assemble)
    for task in tasks:
        for given in ({"m": -1.0}, [-1.0]):
            with pytest.raises(kn.ModelError, match=r"bob\.mass: must not be negative, and is -1"):
                task(system, parameters=given)


@pytest.mark.parametrize("task", [partial(kn.simulate, until=0.1), kn.equilibrium, kn.linearize, kn.assemble])
def test_parameters_that_no_part_can_have(task):
    system = kn.System("circuit")
    system.parameter("R", "2 ohm")
    system.voltage_source("battery", "a", "gnd", voltage=1.0)
    system.resistor("load", "a", "b", resistance="R")
    system.capacitor("store", "b", "gnd", capacitance=1.0)
    with pytest.raises(kn.ModelError, match=r"load\.resistance: "):
        task(system, parameters={"R": -1.0})


@pytest.mark.parametrize(("place", "error"), [((0, 0, 0), kn.ModelError), ((0, 0, -1), kn.SimulationError)])
def test_a_spring_whose_ends_meet(place, error):
    """At the pin they always do; at the bob where the run starts."""
    system = kn.System("bob")
    bob = system.body("bob", mass=1.0, com=(0, 0, -1))
    system.revolute("pin", system.world, bob, axis="y")
    system.spring("band", bob.at(*place), system.world.at(*place), stiffness=100, free_length=0.2)
    with pytest.raises(error, match="band: its ends meet"):
        kn.simulate(system, 0.1)


# -- starts beyond rigid ends ----------------------------------------------------------------------
def dropped(**fields):
    """A body that can fall onto what ends its range."""
    system = kn.System("dropped", gravity=(0, 0, -9.81))
    system.parameter("height", "0.5 m")
    system.prismatic("x", system.world, system.body("ball", mass=1, inertia=(1, 1, 1)), axis="z", **fields)
    return system


@pytest.mark.parametrize(
    ("fields", "start", "words"),
    [
        ({"stop": {"lower": 0, "restitution": 0.5}}, -2, "x.stop: the joint starts at -2, beyond its rigid end at 0"),
        ({"stop": {"lower": -1, "upper": "2*height"}}, 1.001, "x.stop: .* 1.001, beyond its rigid end at 1"),
        ({"backlash": {"play": 0.2}}, 0.11, "x.backlash: .* 0.11, beyond its rigid end at 0.1"),
    ],
)
def test_a_start_beyond_a_rigid_end_is_refused_by_name(fields, start, words):
    system = dropped(**fields)
    with pytest.raises(kn.ModelError, match=words):
        kn.simulate(system, 1.0, start={"x.q": start})


def test_a_start_in_a_compliant_end_is_a_compressed_spring():
    run = kn.simulate(dropped(stop={"lower": 0, "stiffness": 1e4}), 0.001, start={"x.q": -0.1})
    assert run["x.u"][-1] == pytest.approx(0.99, rel=0.01)  # (k depth / m - g) t


@pytest.mark.parametrize("method", ["dopri5", "rk4", "stiff"])
def test_runs_with_impacts_can_be_continued_wherever_they_end(method):
    """Also right at an impact, and at rest on the end, where a run is beyond it by rounding."""
    system = dropped(q=1.0, stop={"lower": "height", "restitution": 0.5})
    how = {"method": method, **({"step": 1e-3} if method == "rk4" else {})}
    whole = kn.simulate(system, 2.0, **how)
    hits = [event.time for event in whole.events][:5]
    for until in (*hits, 2.0):
        part = kn.simulate(system, until, **how)
        assert kn.simulate(system, 2.5, start=part, **how).end.q[0] == pytest.approx(0.5, abs=1e-9)
