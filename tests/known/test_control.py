"""Control loops against independent solutions: python-control, scipy.signal, equations written out.

python-control (Fuller et al., The Python Control Systems Library, CDC 2021) solves linear loops by matrix exponentials.
"""

from __future__ import annotations

import control
import numpy as np
import pytest
from scipy import signal
from scipy.integrate import solve_ivp

import kinode as kn

TIGHT = {"rtol": 1e-11, "atol": 1e-12}
CLOSE = 2e-9  # of responses of size 1: tolerance times some hundred steps
M, B, K = 1.5, 0.8, 6.0  # mass, damping, stiffness
P, I, D, TF = 40.0, 25.0, 9.0, 0.02  # gains and filter time
T = np.linspace(0.0, 4.0, 201)


def slider(**fields):
    """A mass on a spring and damper: x/force = 1/(M s^2 + B s + K)."""
    system = kn.System("slider", gravity=(0, 0, 0))
    mass = system.body("mass", mass=M, inertia=(1, 1, 1))
    system.prismatic("slide", system.world, mass, axis="x", damping=B, stiffness=K, **fields)
    return system


def rotor(**fields):
    """speed/moment = 1/(J s + b) with J = 0.4, b = 0.9."""
    system = kn.System("rotor", gravity=(0, 0, 0))
    disk = system.body("disk", mass=1.0, inertia=(0.3, 0.3, 0.4))
    system.revolute("axle", system.world, disk, axis="z", damping=0.9, **fields)
    return system


def blank():
    """Something that moves by itself, for signals that need no plant."""
    return rotor(effort=0.0)


def simulate(system, start=None, until=T[-1]):
    return kn.simulate(system, until, start=start, times=T, **TIGHT)


S = control.tf("s")


# -- loops --------------------------------------------------------------------------------------------------------
def test_pid_on_a_plant_of_second_order():
    system = slider(effort="pid.output")
    system.pid("pid", error="1 - slide.q", proportional=P, integral=I, derivative=D, filter_time=TF)
    run = simulate(system, {"pid.filtered": 0.0})  # the step comes at t = 0: the filter has not seen it
    C = P + I / S + D * S / (TF * S + 1)
    G = 1 / (M * S**2 + B * S + K)
    assert run["slide.q"] == pytest.approx(control.step_response(control.feedback(C * G), T).outputs, abs=CLOSE)
    forces = np.asarray(control.step_response(control.feedback(C, G), T).outputs)
    assert run["pid.output"] == pytest.approx(forces, abs=CLOSE * abs(forces).max())
    assert run["pid.error"] == pytest.approx(1 - run["slide.q"])


def test_pi_on_a_plant_of_first_order():
    system = rotor(effort="control.output")
    system.pid("control", target="1", measured="axle.u", proportional=2.0, integral=5.0)
    run = simulate(system)
    loop = control.feedback((2 + 5 / S) / (0.4 * S + 0.9))
    assert run["axle.u"] == pytest.approx(control.step_response(loop, T).outputs, abs=CLOSE)


def test_weights_of_the_target():
    b, c = 0.3, 0.0
    system = slider(effort="pid.output")
    system.pid(
        "pid", target=1, measured="slide.q", proportional=P, integral=I, derivative=D, filter_time=TF,
        proportional_weight=b, derivative_weight=c,
    )  # fmt: skip
    run = simulate(system)
    G = 1 / (M * S**2 + B * S + K)
    ahead = b * P + I / S + c * D * S / (TF * S + 1)
    back = P + I / S + D * S / (TF * S + 1)
    loop = control.minreal(ahead * G / (1 + back * G), verbose=False)
    assert run["slide.q"] == pytest.approx(control.step_response(loop, T).outputs, abs=CLOSE)


def test_a_rate_that_is_known_needs_no_filter():
    system = slider(effort="pd.output")
    system.pid("pd", error="1 - slide.q", proportional=P, derivative=D, error_rate="-slide.u", feedforward=K)
    run = simulate(system)
    loop = (P + K) / (M * S**2 + (B + D) * S + K + P)
    assert run["slide.q"] == pytest.approx(control.step_response(loop, T).outputs, abs=CLOSE)


def test_filters_and_sensors_in_the_loop():
    system = slider(effort="drive.output")
    system.sensor("probe", "slide.q", gain=2.0, offset=0.5, lag=0.05)
    system.pid("control", error="1 - (probe.output - 0.5)/2", proportional=3.0, integral=4.0)
    system.filter("drive", "control.output", time_constant=0.1, gain=0.7, initial=0.0)
    run = simulate(system)
    ahead = (3 + 4 / S) * 0.7 / (0.1 * S + 1) / (M * S**2 + B * S + K)
    loop = control.feedback(ahead, 1 / (0.05 * S + 1))
    assert run["slide.q"] == pytest.approx(control.step_response(loop, T).outputs, abs=CLOSE)


def test_poles_of_a_controlled_arm():
    """An arm held against gravity: J e'' + b e' = m g l sin(q0) e + PID of -e, e = q - q0."""
    q0, m, l, J, b, g = 0.6, 2.0, 0.5, 0.9, 0.3, 9.81
    system = kn.System("arm", gravity=(0, -g, 0))
    arm = system.body("arm", mass=m, com=(l, 0, 0), inertia={"zz": J - m * l * l})
    system.revolute("elbow", system.world, arm, axis="z", q=q0, damping=b, effort="pid.output")
    load = m * g * l * np.cos(q0)
    system.pid(
        "pid", target=q0, measured="elbow.q", proportional=P, integral=I, derivative=D, filter_time=TF, initial=load
    )
    small = kn.linearize(system, outputs=["pid.output"])
    plant = 1 / (J * S**2 + b * S - m * g * l * np.sin(q0))
    poles = control.poles(control.minreal(control.feedback((P + I / S + D * S / (TF * S + 1)) * plant), verbose=False))
    assert np.sort_complex(small.eigenvalues) == pytest.approx(np.sort_complex(poles), rel=1e-9)
    assert small.stable
    assert set(small.states) == {"elbow.q", "elbow.u", "pid.integral", "pid.filtered"}
    assert small.C[0] @ [x in ("elbow.q",) for x in small.states] == pytest.approx(-(P + D / TF))


# -- limits -------------------------------------------------------------------------------------------------------
LOW, HIGH, KP, KI, J_, B_ = -0.5, 2.0, 6.0, 20.0, 0.4, 0.9


def saturated(tracking):
    """The loop of the rotor written out, the integral share x among its states."""

    def rate(t, y):
        speed, x = y
        v = KP * (2.0 - speed) + x
        u = min(max(v, LOW), HIGH)
        return [(u - B_ * speed) / J_, KI * (2.0 - speed) + (0.0 if tracking is None else (u - v) / tracking)]

    return solve_ivp(rate, (0, T[-1]), (0, 0), rtol=1e-11, atol=1e-12, max_step=0.01, t_eval=T).y


@pytest.mark.parametrize("tracking", [None, 0.1])
def test_limits_empty_the_integral(tracking):
    """Left out, the tracking time is proportional/integral."""
    system = rotor(effort="control.output")
    fields = {} if tracking is None else {"tracking_time": tracking}
    system.pid("control", error="2 - axle.u", proportional=KP, integral=KI, limits=[LOW, HIGH], **fields)
    speed, share = saturated(tracking or KP / KI)
    run = simulate(system)
    assert run["axle.u"] == pytest.approx(speed, abs=1e-8)  # at a corner the rate of convergence is lost
    assert run["control.integral"] == pytest.approx(share, abs=1e-7)
    assert run["control.output"].min() >= LOW and run["control.output"].max() <= HIGH
    assert run["control.unlimited"].max() > HIGH + 1


def test_without_tracking_the_integral_would_run_away():
    """The same loop integrates its error while the limit holds; with tracking the share stays near the limits."""
    (_, kept), (_, lost) = saturated(KP / KI), saturated(None)
    assert lost.max() > 6 * HIGH
    assert kept.max() < 2 * HIGH


def test_saturation_and_dead_zone():
    system = blank()
    system.saturation("hard", "3*sin(t)", limits=[-1, 2])
    system.saturation("round", "3*sin(t)", limits=[-1, 2], smoothing=0.1)
    system.dead_zone("dead", "3*sin(t)", zone=[-1, 2])
    run = simulate(system)
    x = 3 * np.sin(T)
    assert run["hard.output"] == pytest.approx(np.clip(x, -1, 2))
    assert run["dead.output"] == pytest.approx(x - np.clip(x, -1, 2))
    off = run["round.output"] - run["hard.output"]
    assert 0.01 < abs(off).max() <= 0.05 + 1e-12  # half the width at a corner
    assert abs(off[abs(x - 0.5) < 0.1]).max() < 0.003


def test_rate_limit():
    """A step of 1 is followed in a straight line until the lag of the time constant takes over."""
    rise, tau = 2.0, 0.05
    system = blank()
    system.rate_limit("slow", "step(t)", rise=rise, time_constant=tau, initial=0)
    system.rate_limit("down", "-step(t)", rise=9, fall=rise, time_constant=tau, initial=0)
    run = simulate(system)
    turn = (1 - rise * tau) / rise
    exact = np.where(T < turn, rise * T, 1 - rise * tau * np.exp(-(T - turn) / tau))
    assert run["slow.output"] == pytest.approx(exact, abs=1e-7)
    assert run["down.output"] == pytest.approx(-exact, abs=1e-7)


def test_an_integrator_stops_at_its_limits_and_leaves_them_at_once():
    system = blank()
    system.integrator("free", "cos(t)", gain=2, initial=0.5)
    system.integrator("held", "cos(t)", limits=[-0.3, 0.6])
    run = kn.simulate(system, 6.0, times=np.linspace(0, 6, 301), **TIGHT)
    t = run.t
    assert run["free.output"] == pytest.approx(0.5 + 2 * np.sin(t), abs=CLOSE)
    end = np.arcsin(1) - 0  # the input turns; up to there the limit of 0.6 holds from sin(t) = 0.6 on
    fall = 0.6 + np.sin(t) - 1
    exact = np.where(t < end, np.minimum(np.sin(t), 0.6), np.maximum(fall, -0.3))
    back = t > 1.5 * np.pi  # the input turns again
    exact[back] = np.minimum(-0.3 + np.sin(t[back]) + 1, 0.6)
    assert run["held.output"] == pytest.approx(exact, abs=1e-6)


# -- linear systems -----------------------------------------------------------------------------------------------
SYSTEMS = {
    "lag": ([2], [0.3, 1]),
    "resonance": ([1, 3], [1, 0.4, 9]),
    "lead": ([0.2, 1], [0.01, 1]),
    "double integrator": ([1], [1, 0, 0]),
    "fast and slow": ([1e7, 2e12], [1, 2e4, 1e8 + 1e3, 1e8]),
    "fifth order": ([1, 2, 3, 4], [1, 5, 30, 80, 200, 150]),
    "same order": ([3, 1, 2], [1, 2, 5]),
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_transfer_function_for_steps_and_ramps(name):
    numerator, denominator = SYSTEMS[name]
    system = blank()
    for wave in ("1", "t"):
        system.transfer_function("jump" if wave == "1" else "grow", wave, numerator=numerator, denominator=denominator)
    run = simulate(system)
    for part, given in (("jump", np.ones_like(T)), ("grow", T)):  # lsim is exact for inputs that are linear between
        _, exact, _ = signal.lsim((numerator, denominator), given, T)
        assert run[f"{part}.output"] == pytest.approx(exact, abs=CLOSE * max(1.0, abs(exact).max()))


@pytest.mark.parametrize("name", sorted(SYSTEMS.keys() - {"lead", "same order"}))
def test_impulse_response_is_that_of_a_state(name):
    A, B_, C, D_ = signal.tf2ss(*SYSTEMS[name])
    system = blank()
    system.state_space("plant", "0", A=A, B=B_, C=C, D=D_, initial=B_.ravel())
    run = kn.simulate(system, T[-1], times=T, rtol=1e-11, atol=1e-18)  # a state of 1e-8 is an output of 1e4
    _, exact = signal.impulse(SYSTEMS[name], T=T)
    assert run["plant.output"] == pytest.approx(exact, abs=CLOSE * abs(exact).max())


def test_state_space_with_several_inputs_and_outputs():
    rng = np.random.default_rng(5)
    A = rng.uniform(-1, 1, (4, 4)) - 1.5 * np.eye(4)
    B_, C, D_ = rng.uniform(-1, 1, (4, 2)), rng.uniform(-1, 1, (3, 4)), rng.uniform(-1, 1, (3, 2))
    x0 = rng.uniform(-1, 1, 4)
    system = blank()
    system.state_space("plant", ["1 - t", "0.5*t"], A=A, B=B_, C=C, D=D_, initial=x0, outputs=["a", "b", "c"])
    run = simulate(system)
    _, exact, x = signal.lsim((A, B_, C, D_), np.column_stack([1 - T, 0.5 * T]), T, X0=x0)
    assert run["plant.output"] == pytest.approx(exact, abs=CLOSE)
    assert run["plant.output.b"] == pytest.approx(exact[:, 1], abs=CLOSE)
    assert run["plant.x3"] == pytest.approx(x[:, 2], abs=CLOSE)


def test_states_of_a_fast_transfer_function_have_the_size_of_its_output():
    system = blank()
    numerator, denominator = [1e12], [1, 2e4, 3e8, 2e12]
    system.transfer_function("servo", "1", numerator=numerator, denominator=denominator)
    run = kn.simulate(system, 2e-3, samples=50)
    assert 0.1 < abs(run.z[:, :3]).max() < 10


@pytest.mark.parametrize("name", ["lag", "resonance", "lead", "double integrator", "fifth order", "same order"])
def test_a_steady_start_stays(name):
    numerator, denominator = SYSTEMS[name]
    system = blank()
    steady = 0.7 * denominator[-1] / numerator[-1]  # the input that goes with an output of 0.7
    system.transfer_function("part", steady, numerator=numerator, denominator=denominator, initial=0.7)
    assert simulate(system)["part.output"] == pytest.approx(0.7, abs=1e-9)


def test_gains_follow_parameters_without_compiling_again():
    system = slider(effort="pid.output")
    system.parameter("gain", 10.0)
    system.pid("pid", error="1 - slide.q", proportional="gain", integral="0.5*gain")
    dynamics = kn.compile(system)
    for gain in (10.0, 30.0):
        run = kn.simulate(dynamics, T[-1], times=T, parameters={"gain": gain}, **TIGHT)
        loop = control.feedback((gain + 0.5 * gain / S) / (M * S**2 + B * S + K))
        assert run["slide.q"] == pytest.approx(control.step_response(loop, T).outputs, abs=CLOSE)


def test_accelerometer_and_load_cell():
    """Behind a lag laws may use what the laws themselves decide: x'' and the force in the joint, M x'' of it."""
    system = slider(effort="2 - 0.5*probe.output")
    system.sensor("probe", "mass.acceleration.x", lag=0.05)
    system.filter("cell", "slide.effort", time_constant=0.02, initial=0)
    run = simulate(system, {"probe.output": 0.0})
    lagged = S**2 / (0.05 * S + 1)
    motion = 2 / (M * S**2 + B * S + K + 0.5 * lagged)
    shown = control.step_response(control.minreal(motion * lagged, verbose=False), T).outputs
    assert run["probe.output"] == pytest.approx(shown, abs=CLOSE)
    force = control.minreal(motion * M * S**2 / (0.02 * S + 1), verbose=False)  # all that acts along the slide
    assert run["cell.output"] == pytest.approx(control.step_response(force, T).outputs, abs=CLOSE)


def test_states_of_controllers_have_symbols_of_their_own():
    system = slider(effort="pid.output")
    system.pid("pid", error="1 - slide.q", proportional=3, integral=2)
    assert "z_pid_integral" in str(kn.equations(system))


def test_every_formulation_has_the_same_loop():
    system = slider(effort="pid.output")
    system.pid("pid", error="1 - slide.q", proportional=P, integral=I, derivative=D, filter_time=TF, limits=[-50, 50])
    assert kn.verify(system).ok


def test_signals_need_no_bodies():
    """A filter on its own: the linear system is that of its coefficients."""
    system = kn.System("filter")
    system.input("w", 0.0)
    system.transfer_function("f", "w", numerator=[2, 1, 5], denominator=[1, 0.7, 9, 4])
    small = kn.linearize(system, outputs=["f.output"])
    above, below = signal.ss2tf(small.A, small.B, small.C, small.D)
    assert np.allclose(above, [[0, 2, 1, 5]], atol=1e-12) and np.allclose(below, [1, 0.7, 9, 4], atol=1e-12)
