"""dynamics.stepper: the steps of kn.simulate, one at a time."""

from __future__ import annotations

import gc
import pickle
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from own_process import in_own_process

import kinode as kn
from kinode.jit import step_function
from kinode.ode import compiled_loops

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted(path.stem for path in (ROOT / "examples").glob("*.yaml"))
STEPS = {"spinning_shell": 2e-5, "asymmetric_shell": 1e-4}  # s; others take 1 ms
COUNT = 301  # steps: the end is no tick of a clock, so that both give the state after all that happens there


@pytest.fixture(scope="module")
def cart() -> kn.Dynamics:
    return kn.compile(kn.load(ROOT / "examples" / "cart_pole.yaml"))


def hopper(clocked: bool = False) -> kn.System:
    """A ball that falls onto a rigid stop and bounces, with a push as input; a sampler doubles the push."""
    system = kn.System("hopper", gravity=(0, 0, -9.81))
    system.input("push", 0.0)
    ball = system.body("ball", mass=1, inertia=(1, 1, 1))
    effort = "held.output" if clocked else "push"
    system.prismatic("rail", system.world, ball, axis="z", q=0.3, effort=effort,
                     stop={"lower": 0, "upper": 2, "restitution": 0.7})  # fmt: skip
    if clocked:
        system.sample_hold("held", "2*push", 0.01)
    return system


@pytest.mark.parametrize("name", EXAMPLES)
def test_steps_are_those_of_a_run_to_the_last_bit(name):
    dynamics, dt = kn.compile(kn.load(ROOT / "examples" / f"{name}.yaml")), STEPS.get(name, 1e-3)
    run = kn.simulate(dynamics, COUNT * dt, method="rk4", step=dt)
    stepper = dynamics.stepper(dt, until=COUNT * dt)
    events = []
    for _ in range(COUNT):
        stepper.step()
        events += stepper.events
    assert stepper.y.tobytes() == run.end.y.tobytes()
    assert stepper.t == run.end.t
    assert [str(event) for event in events] == [str(event) for event in run.events if event.kind in ("mode", "jump")]


def test_impacts_are_those_of_a_run():
    dynamics = kn.compile(hopper())
    run = kn.simulate(dynamics, 1.5, method="rk4", step=3e-3)
    stepper = dynamics.stepper("3 ms")
    times = []
    for _ in range(500):
        stepper.step()
        times += [event.time for event in stepper.events]
    assert times == [event.time for event in run.events] and len(times) > 2
    assert stepper.y.tobytes() == run.end.y.tobytes()


@pytest.mark.parametrize("method", ["dopri5", "dop853", "stiff"])
def test_a_method_with_error_control_keeps_its_tolerance(method):
    dynamics = kn.compile(kn.load(ROOT / "examples" / "double_pendulum.yaml"))
    stepper = dynamics.stepper(0.05, method=method, rtol=1e-11, atol=1e-13)
    for _ in range(40):
        stepper.step()
    run = kn.simulate(dynamics, 2.0, method=method, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(stepper.y, run.end.y, rtol=1e-8)
    begin = stepper.state
    stepper.step()
    first = stepper.y.copy()
    stepper.reset(begin)
    stepper.step()
    np.testing.assert_allclose(stepper.y, first, rtol=1e-9)
    stepper.reset(begin)
    assert stepper.t == pytest.approx(2.0, abs=1e-12)


@pytest.mark.parametrize("method", ["stiff", "dop853"])
def test_changes_between_steps_with_error_control(cart, method):
    options = {"rtol": 1e-11, "atol": 1e-13}
    steppers = [cart.stepper(0.02, method=name, **options) for name in ("dopri5", method)]
    for k in range(50):
        for stepper in steppers:
            stepper.step({"push": 3.0 * (-1) ** (k // 7)})
    np.testing.assert_allclose(steppers[1].y, steppers[0].y, rtol=1e-7, atol=1e-9)


def test_events_with_error_control():
    dynamics = kn.compile(hopper())
    stepper = dynamics.stepper(0.05, method="dopri5")
    times = []
    for _ in range(30):
        stepper.step()
        times += [event.time for event in stepper.events]
    expected = [event.time for event in kn.simulate(dynamics, 1.5).events]
    np.testing.assert_allclose(times, expected, rtol=1e-8)


def test_inputs_act_from_the_step_on(cart):
    stepper = cart.stepper(1e-2)
    state = cart.initial
    for push in (1.0, 1.0, -3.0, 0.0):
        stepper.step(np.array([push]))
        state = cart.step(state, 1e-2, inputs={"push": push})
        assert stepper.y.tobytes() == state.y.tobytes()


@pytest.mark.parametrize("given", [{"push": 2.0}, {"push": "2 N"}, [2.0], 2.0, 2, (2.0,), np.array([2])])
def test_inputs_in_every_form(cart, given):
    stepper, other = cart.stepper(1e-2), cart.stepper(1e-2)
    stepper.step(given)
    other.step(np.array([2.0]))
    assert (stepper.y == other.y).all() and stepper.inputs[0] == 2.0
    stepper.step()  # inputs are held
    other.step(inputs=[2.0])
    assert (stepper.y == other.y).all()


def test_inputs_are_held_for_clocks_and_impacts():
    """A clock samples the inputs of the step that begins at its tick; parts of a run with constant inputs agree."""
    dynamics = kn.compile(hopper(clocked=True))
    stepper = dynamics.stepper(5e-3)
    for k in range(40):
        push = 3.0 if k >= 20 else 0.0
        stepper.step(np.array([push]))
    parts = [kn.simulate(dynamics, 0.1, method="rk4", step=5e-3)]
    parts.append(kn.simulate(dynamics, 0.2, start=parts[0].end, method="rk4", step=5e-3, inputs={"push": 3.0}))
    np.testing.assert_allclose(stepper.y, parts[1].end.y, rtol=1e-12, atol=1e-14)
    assert 6.0 in stepper.z


@pytest.mark.parametrize("given, words", [
    (np.array([np.nan]), "push is nan"), (np.array([1.0, 2.0]), r"shape \(1,\)"), ({"pull": 1.0}, "pull"),
    ("much", "inputs"),
])  # fmt: skip
def test_wrong_inputs_are_refused_and_nothing_moves(cart, given, words):
    stepper = cart.stepper(1e-2)
    with pytest.raises(kn.Error, match=words):
        stepper.step(given)
    assert stepper.t == 0.0 and stepper.inputs[0] == 0.0
    with pytest.raises(kn.ArgumentError, match="takes one argument"):
        stepper.step([1.0], [2.0])


@in_own_process
def test_a_step_allocates_nothing():
    for name in ("pendulum", "four_bar", "ur5"):
        stepper = kn.compile(kn.load(ROOT / "examples" / f"{name}.yaml")).stepper(1e-3, until=5.0)
        inputs = stepper.inputs.copy()
        given = (inputs,) if inputs.size else ()
        for _ in range(100):
            stepper.step(*given)
        gc.collect()
        tracemalloc.start()
        before, count = tracemalloc.get_traced_memory()[0], sys.getallocatedblocks()
        for _ in range(1000):
            stepper.step(*given)
        blocks, grown = sys.getallocatedblocks() - count, tracemalloc.get_traced_memory()[1] - before
        tracemalloc.stop()
        assert blocks <= 5 and grown < 1000, (name, blocks, grown)  # the loop's own counter


def test_the_state_is_read_where_it_lies():
    stepper = kn.compile(kn.load(ROOT / "examples" / "pendulum.yaml")).stepper(1e-3)
    q, kept = stepper.q, stepper.state
    stepper.step()
    assert q[0] == stepper.q[0] != kept.q[0]
    with pytest.raises(ValueError, match="read-only"):
        q[0] = 1.0
    stepper.reset()
    assert q[0] == kept.q[0] and stepper.t == 0.0


def test_reset_repeats_to_the_last_bit():
    dynamics = kn.compile(kn.load(ROOT / "examples" / "backlash_axis.yaml"))
    stepper = dynamics.stepper(1e-3)
    ends = []
    for _ in range(2):
        for _ in range(300):
            stepper.step()
        ends.append(stepper.y.tobytes())
        stepper.reset()
    assert ends[0] == ends[1]
    begin = kn.simulate(dynamics, 0.1, method="rk4", step=1e-3).end
    stepper.reset(begin)
    assert stepper.t == 0.1
    for _ in range(100):
        stepper.step()
    expected = kn.simulate(dynamics, 0.2, start=begin, method="rk4", step=1e-3).end
    assert stepper.y.tobytes() == expected.y.tobytes()


def test_laws_of_time_break_beyond_the_first_horizon(monkeypatch):
    monkeypatch.setattr("kinode.tasks.stepper.FIRST_INTERVALS", 10)
    system = kn.System("pulses", gravity=(0, 0, 0))
    system.prismatic("rail", system.world, system.body("block", mass=1), effort="where(mod(5*t, 1) < 0.333, 1, 0)")
    dynamics = kn.compile(system)
    stepper = dynamics.stepper(1e-2)
    for _ in range(100):
        stepper.step()
    run = kn.simulate(dynamics, 1.0, method="rk4", step=1e-2)
    np.testing.assert_allclose(stepper.y, run.end.y, rtol=1e-12)


def test_parameters_change_between_steps():
    system = kn.System("oscillator", gravity=(0, 0, 0))
    system.parameter("stiffness", 100.0)
    block = system.body("block", mass=system.parameter("mass", 2.0))
    system.prismatic("rail", system.world, block, q=0.1, effort="-stiffness*rail.q")
    dynamics = kn.compile(system)
    stepper = dynamics.stepper(1e-2)
    stepper.step()
    between = stepper.state
    stepper.change({"stiffness": 400.0})
    stepper.step()
    expected = dynamics.step(between, 1e-2, p={"stiffness": 400.0})
    assert (stepper.y == expected.y).all()
    stepper.change({"mass": 3.0})
    assert list(stepper.parameters[[dynamics.topology.parameters.index(n) for n in ("stiffness", "mass")]]) == [400, 3]
    with pytest.raises(kn.Error, match="mass"):
        stepper.change({"mass": -1.0})
    with pytest.raises(kn.Error, match="stifness"):
        stepper.change({"stifness": 1.0})
    assert stepper.parameters[dynamics.topology.parameters.index("mass")] == 3.0


def test_loops_close_after_a_change_of_parameters():
    dynamics = kn.compile(kn.load(ROOT / "examples" / "stewart_platform.yaml"))
    stepper = dynamics.stepper(1e-3)
    stepper.step()
    stepper.change({"ring": 0.71})
    stepper.step()
    point = dynamics.point_of(stepper.t, stepper.y, stepper.parameters)
    assert dynamics.loops.judge(point, dynamics.closure)[0] < 1e-9


def test_parameters_with_which_loops_cannot_close_are_refused():
    system = kn.System("slider_crank", gravity=(0, -9.81, 0))
    length = system.parameter("length", 0.3)
    crank, rod = (system.body(name, mass=1, inertia=(0.1, 0.1, 0.1)) for name in ("crank", "rod"))
    slider = system.body("slider", mass=1, inertia=(0.1, 0.1, 0.1))
    system.revolute("shaft", system.world, crank, guess=1.0)
    system.revolute("pin", crank.at(0.1, 0, 0), rod, guess=-1.3)
    system.prismatic("rail", system.world.at(0, 0.2, 0), slider, axis="x", guess=0.3)
    system.revolute("wrist", rod.at(length, 0, 0), slider)
    dynamics = kn.compile(system)
    stepper = dynamics.stepper(1e-3)
    stepper.step()
    before = stepper.y.copy()
    with pytest.raises(kn.ArgumentError, match="close the loops"):
        stepper.change({"length": 0.05})
    assert (stepper.y == before).all() and list(stepper.parameters) == [0.3]


def test_watched_quantities_follow_the_steps():
    dynamics = kn.compile(kn.load(ROOT / "examples" / "double_pendulum.yaml"))
    names = ["lower.position", "elbow.reaction.force", "system.energy", "elbow.q"]
    stepper = dynamics.stepper(1e-3)
    readings = stepper.watch(names)
    for _ in range(20):
        stepper.step()
        expected = dynamics.evaluate(names, stepper.t, stepper.q, stepper.u)
        for name in names:
            np.testing.assert_array_equal(readings[name], expected[name])
    assert list(readings) == names and len(readings) == 4
    first = readings["lower.position"].copy()
    stepper.reset()
    assert (readings["lower.position"] != first).any()
    with pytest.raises(kn.Error, match="lowr"):
        stepper.watch("lowr.position")
    with pytest.raises(kn.ArgumentError, match="names"):
        stepper.watch([])


def test_reactions_that_are_not_unique_are_watched_as_they_are_shared():
    system = kn.load(ROOT / "examples" / "four_bar.yaml")
    dynamics, name = kn.compile(system), "pin.reaction.moment"
    stepper = dynamics.stepper(1e-3)
    readings = stepper.watch(name)
    for _ in range(5):
        stepper.step()
    expected = dynamics.evaluate([name], stepper.t, stepper.q, stepper.u)[name]
    assert readings[name] == pytest.approx(expected, rel=1e-11, abs=1e-11)
    system.change("left", compliance={"axial": 1e-8, "radial": 1e-8})
    dynamics = kn.compile(system)
    with pytest.raises(kn.ArgumentError, match="equilibrium alone"):
        dynamics.stepper(1e-3).watch(f"{next(iter(dynamics.system.joints))}.reaction.moment")


@pytest.mark.parametrize("options, words", [
    ({"dt": 0.0}, "dt: a positive time"), ({"dt": "1 kg"}, "dt"), ({"dt": 1e-3, "method": "euler"}, "rk4"),
    ({"dt": 1e-3, "inputs": {"pull": 1}}, "pull"), ({"dt": 1e-3, "start": kn.State(0.0, [0], [0], [])}, "2, 2, 0"),
])  # fmt: skip
def test_wrong_arguments_are_named(cart, options, words):
    with pytest.raises(kn.Error, match=words):
        cart.stepper(**options)


def test_a_failing_step_names_the_joint():
    system = kn.System("burst", gravity=(0, 0, 0))
    system.prismatic("rail", system.world, system.body("block", mass=1), q=1.0, effort="1/(0.02 - t)")
    stepper = kn.compile(system).stepper(1e-2)
    with pytest.raises(kn.SimulationError, match="rail"):
        for _ in range(5):
            stepper.step()


def test_python_runs_the_same_loop(monkeypatch):
    """The loop in Python, and the function without a wrapper of machine code, give the same bits."""
    dynamics = kn.compile(hopper())
    stepper = dynamics.stepper(2e-2)
    monkeypatch.setattr(step_function, "supported", lambda: False)
    source = compiled_loops.find_source("step_fixed")
    other = dynamics.stepper(2e-2)
    monkeypatch.setattr(other, "_advance", source)
    for _ in range(20):
        stepper.step()
        other.step()
    assert stepper.y.tobytes() == other.y.tobytes()


@pytest.mark.parametrize("method", [None, "dopri5"])
def test_a_stepper_has_no_end(method):
    """Its scale of time for chatter is a thousand intervals; it goes on beyond them."""
    stepper = kn.compile(hopper()).stepper(1e-4, method=method)
    for _ in range(1500):
        stepper.step()
    assert stepper.t == pytest.approx(0.15, rel=1e-12)
    run = kn.simulate(hopper(), 0.15, rtol=1e-10, atol=1e-12)
    assert stepper.y == pytest.approx(run.y[-1], abs=1e-7)


def test_python_clocks_are_called():
    calls = []
    system = hopper()

    def sample(t, height):
        calls.append((t, height))
        return height

    system.controller("watch", sample, {"height": "rail.q"}, period=0.02)
    stepper = kn.compile(system).stepper(1e-2)
    for _ in range(10):
        stepper.step()
    assert [t for t, _ in calls] == pytest.approx([0.0, 0.02, 0.04, 0.06, 0.08])
    assert calls[2][1] == pytest.approx(0.3 - 0.5 * 9.81 * 0.04**2)


def test_a_stepper_is_not_pickled(cart):
    stepper = cart.stepper(1e-3)
    with pytest.raises(kn.ArgumentError, match=r"take stepper\.dynamics and stepper\.state"):
        pickle.dumps(stepper)
    with pytest.raises(kn.ArgumentError, match="watch: names of quantities are expected, not 3"):
        stepper.watch(3)
    with pytest.raises(TypeError, match="memory of its own process"):
        pickle.dumps(stepper.step)
