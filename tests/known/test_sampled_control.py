"""Sampled control loops against discrete-time solutions: plants by matrix exponentials, controllers written out."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from scipy import signal, stats
from scipy.linalg import expm

import kinode as kn

TIGHT = {"rtol": 1e-12, "atol": 1e-13}
CLOSE = 1e-9
J, B = 0.4, 0.9
ROTOR = np.array([[-B / J]]), np.array([1 / J])
M, D, K = 1.5, 0.8, 60.0
SLIDER = np.array([[0.0, 1.0], [-K / M, -D / M]]), np.array([0.0, 1 / M])
METHODS = {
    "loose": {"rtol": 1e-4},
    "tight": {"rtol": 1e-11, "atol": 1e-12},
    "dop853": {"method": "dop853"},
    "fixed": {"method": "rk4", "step": 7e-4},
    "stiff": {"method": "stiff"},
}


def rotor(**fields):
    system = kn.System("rotor", gravity=(0, 0, 0))
    disk = system.body("disk", mass=1.0, inertia=(0.3, 0.3, J))
    system.revolute("axle", system.world, disk, axis="z", damping=B, **fields)
    return system


def slider(**fields):
    system = kn.System("slider", gravity=(0, 0, 0))
    mass = system.body("mass", mass=M, inertia=(1, 1, 1))
    system.prismatic("slide", system.world, mass, axis="x", damping=D, stiffness=K, **fields)
    return system


PLANTS = {"rotor": ROTOR, "slider": SLIDER}


@cache
def transition(plant, h):
    """What a time with a constant input does to the states and that input."""
    A, b = PLANTS[plant]
    n = len(b)
    whole = np.zeros((n + 1, n + 1))
    whole[:n, :n], whole[:n, n] = A, b
    return expm(whole * float(h))


def play(plant, clocks, controllers, until, output):
    """The states at the ticks of all clocks, which act in order; ``output(memory)`` is the input of the plant."""
    x, memory, t = np.zeros(len(PLANTS[plant][1])), {}, Fraction(0)
    found = []
    ticks = sorted({phase + k * period for period, phase in clocks for k in range(int(until / period) + 1)})
    for tick in (tick for tick in ticks if tick < until):
        if tick > t:
            x = (transition(plant, tick - t) @ np.append(x, output(memory)))[: len(x)]
        t = tick
        for (period, phase), controller in zip(clocks, controllers, strict=True):
            if t >= phase and (t - phase) % period == 0:
                controller(float(t), x, memory)
        found.append((float(t), *x, output(memory)))
    return np.array(found)


# -- loops --------------------------------------------------------------------------------------------------------
def test_pi_on_a_plant_of_first_order():
    h, P, I = Fraction(1, 50), 2.0, 5.0
    system = rotor(effort="control.output")
    system.sampled_pid("control", "50 Hz", target=1, measured="axle.u", proportional=P, integral=I)

    def control(t, x, memory):
        e = 1 - x[0]
        memory["u"] = P * e + memory.get("I", 0.0)
        memory["I"] = memory.get("I", 0.0) + float(h) * I * e

    exact = play("rotor", [(h, 0)], [control], 3, lambda memory: memory.get("u", 0.0))
    run = kn.simulate(system, 3.0, times=[*exact[:, 0], 3.0], **TIGHT)
    assert run["axle.u"][:-1] == pytest.approx(exact[:, 1], abs=CLOSE)
    assert run["control.output"][:-1] == pytest.approx(exact[:, 2], abs=CLOSE)
    # between ticks the output is held
    fine = kn.simulate(system, 3.0, samples=601, **TIGHT)
    held = fine["control.output"][:-1].reshape(-1, 4)
    assert np.all(held == held[:, :1])


@pytest.mark.parametrize("delay", [0, 2])
def test_pid_with_filter_limits_and_delay(delay):
    h, P, I, T, TF, TT, low, high = Fraction(1, 200), 30.0, 80.0, 4.0, 0.01, 0.05, -40.0, 70.0
    system = slider(effort="control.output")
    system.sampled_pid(
        "control", "5 ms", target="1 + 0.5*t", measured="slide.q", proportional=P, integral=I, derivative=T,
        filter_time=TF, limits=[low, high], tracking_time=TT, proportional_weight=0.8, derivative_weight=0.5,
        feedforward="3*t", delay=delay, initial=2.0,
    )  # fmt: skip

    def control(t, x, memory):
        r, h = 1 + 0.5 * t, 1 / 200
        old = memory.get("old", 0.5)  # of the start, where the slider is at 0
        seen = 0.5 * r - x[0]
        share = memory["D"] = (TF * memory.get("D", 0.0) + T * (seen - old)) / (TF + h)
        memory["old"], integral = seen, memory.get("I", 2.0)
        v = P * (0.8 * r - x[0]) + integral + share + 3 * t
        u = min(max(v, low), high)
        memory["I"] = integral + h * I * (r - x[0]) + h / TT * (u - v)
        memory.setdefault("queue", [0.0] * delay).append(u)
        memory["u"] = memory["queue"].pop(0)

    exact = play("slider", [(h, 0)], [control], 2, lambda memory: memory.get("u", 0.0))
    run = kn.simulate(system, 2.0, times=[*exact[:, 0], 2.0], **TIGHT)
    assert exact[:, 3].max() == high and (exact[:, 3] < 60).sum() > 20  # the limit matters, and is left
    assert run["slide.q"][:-1] == pytest.approx(exact[:, 1], abs=CLOSE)
    assert run["control.output"][:-1] == pytest.approx(exact[:, 3], abs=1e-7)


def test_two_controllers_at_their_own_rates_and_phases():
    """An outer loop at 30 Hz and an inner one at 7 ms: they meet where fractions of a second do."""
    outer, inner = (Fraction(1, 30), Fraction(1, 90)), (Fraction(7, 1000), Fraction(1, 500))
    system = slider(effort="inside.output")
    system.sampled_pid("outside", "30 Hz", phase=1 / 90, error="0.3 - slide.q", proportional=8, integral=30)
    system.sampled_pid("inside", "7 ms", phase="2 ms", error="outside.output - slide.u", proportional=12, feedforward=1)

    def outside(t, x, memory):
        e = 0.3 - x[0]
        memory["v"] = 8 * e + memory.get("I", 0.0)
        memory["I"] = memory.get("I", 0.0) + 30 / 30 * e

    def inside(t, x, memory):
        memory["u"] = 12 * (memory.get("v", 0.0) - x[1]) + 1

    exact = play("slider", [outer, inner], [outside, inside], 3, lambda memory: memory.get("u", 0.0))
    run = kn.simulate(system, 3.0, times=[0.0, *exact[:, 0], 3.0], **TIGHT)
    assert len(exact) > 500
    assert run["slide.q"][1:-1] == pytest.approx(exact[:, 1], abs=CLOSE)
    assert run["inside.output"][1:-1] == pytest.approx(exact[:, 3], abs=CLOSE * 100)


# -- linear systems -----------------------------------------------------------------------------------------------
FILTERS = {
    "low pass": signal.butter(3, 0.2),
    "notch": signal.iirnotch(0.3, 2.0),
    "moving average": ([0.25, 0.25, 0.25, 0.25], [1, 0, 0, 0]),
    "delay and gain": ([2.5], [0.5, 0, 0]),
}


@pytest.mark.parametrize("name", FILTERS)
def test_transfer_function_of_z(name):
    numerator, denominator = FILTERS[name]
    system = rotor(effort=0.0)
    system.sampled_transfer_function(
        "filter", "sin(40*t) + t^2", "10 ms", numerator=list(numerator), denominator=list(denominator)
    )
    t = 0.01 * np.arange(150)
    run = kn.simulate(system, 1.5, times=[*t, 1.5])
    _, exact = signal.dlsim((numerator, denominator, 0.01), np.sin(40 * t) + t**2, t)
    assert run["filter.output"][:-1] == pytest.approx(exact[:, 0], abs=1e-12)


@pytest.mark.parametrize("name", ["low pass", "moving average", "delay and gain"])
def test_a_steady_start_stays(name):
    numerator, denominator = FILTERS[name]
    system = rotor(effort=0.0)
    given = 0.7 * sum(denominator) / sum(numerator)
    system.sampled_transfer_function(
        "filter", given, "10 ms", numerator=list(numerator), denominator=list(denominator), initial=0.7, before=0.7
    )
    assert kn.simulate(system, 0.5, samples=51)["filter.output"] == pytest.approx(0.7, abs=1e-12)


def test_state_space_of_samples():
    rng = np.random.default_rng(5)
    A, B_, C, D_ = (rng.uniform(-0.4, 0.4, size) for size in ((4, 4), (4, 2), (3, 4), (3, 2)))
    x0 = rng.uniform(-1, 1, 4)
    system = rotor(effort=0.0)
    system.sampled_state_space("plant", ["cos(t)", "t"], "10 ms", A=A, B=B_, C=C, D=D_, initial=x0)
    t = np.linspace(0, 0.64, 65)
    run = kn.simulate(system, 0.65, times=[*t, 0.65])
    _, exact, _ = signal.dlsim((A, B_, C, D_, 0.01), np.column_stack([np.cos(t), t]), t, x0=x0)
    assert run["plant.output"][:-1] == pytest.approx(exact, abs=1e-12)
    assert run["plant.output.y2"][:-1] == pytest.approx(exact[:, 1], abs=1e-12)


# -- converters ---------------------------------------------------------------------------------------------------
def test_sampling_rounding_and_delay():
    system = rotor(effort=0.0)
    system.sample_hold("adc", "5*t", "10 ms", phase="3 ms", resolution=0.125, limits=[0, 3], before=-1)
    system.sample_hold("late", "5*t", "10 ms", delay=3, before=-1)
    t = np.linspace(0, 0.999, 1000)
    run = kn.simulate(system, 1.0, times=[*t, 1.0])
    tick = np.floor((t - 0.003 + 1e-9) / 0.01)
    exact = np.where(tick < 0, -1, 0.125 * np.floor(np.minimum(5 * (0.003 + 0.01 * tick), 3) / 0.125 + 0.5))
    assert run["adc.output"][:-1] == pytest.approx(exact, abs=1e-12)
    tick = np.floor((t + 1e-9) / 0.01) - 3
    assert run["late.output"][:-1] == pytest.approx(np.where(tick < 0, -1, 5 * 0.01 * tick), abs=1e-12)


@pytest.fixture(scope="module")
def noisy():
    system = rotor(effort="control.output")
    system.sample_hold("probe", "axle.u", "1 ms", noise=0.2, seed=4)
    system.sample_hold("other", 0, "1 ms", noise=1.0, seed=4)
    system.sampled_pid("control", "2 ms", target=1, measured="probe.output", proportional=1.5)
    return system


@pytest.mark.parametrize("method", METHODS)
def test_noise_does_not_depend_on_how_time_is_stepped(noisy, method):
    times = 0.001 * np.arange(400)
    first = kn.simulate(noisy, 0.4, times=[*times, 0.4])
    run = kn.simulate(noisy, 0.4, times=[*times, 0.4], **METHODS[method])
    assert np.array_equal(run["other.output"], first["other.output"])
    drawn = [(r["probe.output"] - r["axle.u"])[:-1] for r in (run, first)]
    assert drawn[0] == pytest.approx(drawn[1], abs=1e-12)
    assert abs(drawn[0]).max() > 0.3


def test_noise_is_normal_and_white(noisy):
    run = kn.simulate(noisy, 4.0, times=[*(0.001 * np.arange(4000)), 4.0])
    drawn = run["other.output"][:-1]
    assert stats.kstest(drawn, "norm").pvalue > 0.01
    assert stats.kstest((run["probe.output"] - run["axle.u"])[:-1] / 0.2, "norm").pvalue > 0.01
    again = np.correlate(drawn, drawn, "full")[4000:4020] / (drawn @ drawn)
    assert abs(again).max() < 4 / np.sqrt(4000)
    both = (run["probe.output"] - run["axle.u"])[:-1] @ drawn / 0.2 / 4000
    assert abs(both) < 4 / np.sqrt(4000)


# -- functions in Python ------------------------------------------------------------------------------------------
def test_a_function_in_python_is_the_compiled_controller_bit_for_bit():
    """Gains and period are powers of two: machine code rounds a product and a sum at once, which is the same then."""
    compiled = slider(effort="control.output")
    compiled.sampled_pid(
        "control", "128 Hz", error="1 - slide.q", proportional=32, integral=64, limits=[-16, 64], tracking_time=0.25
    )
    python = slider(effort="control.output")
    h = 1 / 128

    def control(t, error, share):
        v = share + 32 * error
        u = min(max(v, -16), 64)
        return {"output": u, "share": share + h * 64 * error + h * 4.0 * (u - v)}

    python.controller("control", control, inputs={"error": "1 - slide.q"}, remembers={"share": 0}, period="128 Hz")
    runs = [kn.simulate(system, 2.0, samples=801) for system in (compiled, python)]
    assert np.array_equal(runs[0]["control.output"], runs[1]["control.output"])
    for name in ("slide.q", "slide.u"):
        assert np.array_equal(runs[0][name], runs[1][name])
    assert np.ptp(runs[0]["control.output"]) > 20


def test_a_function_is_called_once_a_tick_with_what_was_sampled():
    calls = []

    def control(t, x):
        calls.append((t, x))
        return x

    system = rotor(effort=1.0)
    system.controller("control", control, inputs={"x": "2*axle.u"}, period="30 Hz", phase="5 ms", delay=1, before=-1)
    run = kn.simulate(system, 1.0, samples=1001)
    ticks = [float(Fraction(1, 200) + Fraction(k, 30)) for k in range(30)]
    assert [t for t, _ in calls] == ticks
    assert [x for _, x in calls] == pytest.approx([2 / B * (1 - np.exp(-B / J * t)) for t in ticks], abs=1e-6)
    late = [x for _, x in calls]
    assert run["control.output"][0] == -1 and run["control.output"][-1] == late[-2]


def test_a_run_goes_on_as_if_it_had_not_been_stopped(noisy):
    whole = kn.simulate(noisy, 0.4)
    for stop in (0.2, 0.2003):  # on a tick and between two
        begun = kn.simulate(noisy, stop)
        rest = kn.simulate(noisy, 0.4, start=begun)
        assert rest["other.output"][-1] == whole["other.output"][-1]
        assert rest["axle.u"][-1] == pytest.approx(whole["axle.u"][-1], abs=1e-9)


def test_a_saved_run_holds_what_was_sampled(noisy, tmp_path):
    system = noisy.copy()
    system.controller("control2", lambda t, x: 3 * x, inputs={"x": "axle.u"}, period="10 ms")
    run = kn.simulate(system, 0.1, samples=101)
    run.save(tmp_path / "run.nc")
    loaded = kn.Trajectory.load(tmp_path / "run.nc")
    for name in ("probe.output", "control.output", "control2.output"):
        assert np.array_equal(loaded[name], run[name])


def test_the_audit_sees_samples_between_stored_times_and_says_where_it_cannot():
    system = slider(effort="control.output")
    system.sampled_pid("control", "10 ms", phase="3 ms", error="1 - slide.q", proportional=30)
    assert kn.simulate(system, 1.0, rtol=1e-9).audit.relative < 1e-7
    on_ticks = [0.0, *(0.003 + 0.01 * np.arange(100)), 1.0]
    assert kn.simulate(system, 1.0, rtol=1e-9, times=on_ticks).audit.relative < 1e-7
    assert kn.simulate(system, 1.0, rtol=1e-9, samples=5).audit.relative < 1e-7
    called = slider(effort="control.output")  # functions of the user are not called again
    called.controller("control", lambda t, q: 30 * (1 - q), inputs={"q": "slide.q"}, period="10 ms", phase="3 ms")
    assert "ask for closer times" in kn.simulate(called, 1.0, samples=5).audit.trust


def test_small_motions_say_that_samples_are_held_and_rest_is_refused():
    system = slider(effort="2 + part")
    system.signal("part", "0.5*control.output")
    system.sampled_pid("control", "10 ms", error="1 - slide.q", proportional=30)
    system.sample_hold("probe", "slide.q", "10 ms")  # which nothing uses
    small = kn.linearize(system, {"slide.q": 2 / K})
    assert small.held == ("control",)
    assert "control hold" in str(small)
    assert np.sort_complex(small.eigenvalues) == pytest.approx(np.sort_complex(np.linalg.eigvals(SLIDER[0])))
    with pytest.raises(kn.ModelError, match="acts at its samples alone") as caught:
        kn.equilibrium(system)
    assert caught.value.component == "control"
    system.change("part", law="0")
    assert kn.equilibrium(system).values["slide.q"] == pytest.approx(2 / K)
    assert kn.linearize(system, {"slide.q": 2 / K}).held == ()
