"""Machines with drives against closed forms, and against equations written by hand here and solved by SciPy."""

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from wired import MOTOR, TIGHT, assert_near, fed

import kinode as kn

G = 9.81
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


ARM = {"mass": 3.0, "reach": 0.4, "inertia": 0.2}  # inertia about the mass center


def arm(voltage=24.0, kind="gearbox", motor=MOTOR, **gear):
    """An arm on a hinge, weight and all, turned by a motor through a gear with drag."""
    system = kn.System("arm", gravity=(0, -G, 0))
    body = system.body("arm", mass=ARM["mass"], com=(ARM["reach"], 0, 0), inertia={"zz": ARM["inertia"]})
    system.revolute("elbow", system.world, body, q=-0.5, damping=0.3)
    system.element("supply", "voltage_source", plus="bus", minus="gnd", voltage=voltage)
    system.element("motor", "dc_motor", plus="bus", minus="gnd", shaft="rotor", **motor)
    system.element("gear", kind, input="rotor", output="elbow", ratio=-30.0, coulomb=0.002, slip=0.5, **gear)
    return system


def test_a_motor_lifts_an_arm():
    R, L, K, J, b, n = 1.2, 0.01, 0.05, 2e-4, 1e-4, -30.0
    m, l, inertia = ARM["mass"], ARM["reach"], ARM["inertia"] + ARM["mass"] * ARM["reach"] ** 2

    def rates(t, x):
        q, w, i = x
        drag = b * n * w + 0.002 * np.tanh(n * w / 0.5)
        moment = n * (K * i - drag) - 0.3 * w - m * G * l * np.cos(q)
        return [w, moment / (inertia + n * n * J), (-20 + 8 * np.sin(3 * t) - R * i - K * n * w) / L]

    run = kn.simulate(arm("-20 + 8*sin(3*t)"), 3.0, samples=101, **TIGHT)
    exact = solve_ivp(rates, (0, 3), [-0.5, 0, 0], "DOP853", run.t, rtol=1e-12, atol=1e-13).y
    for name, values in zip(("elbow.q", "elbow.u", "motor.current"), exact, strict=True):
        assert_near(run[name], values)
    assert_near(run["rotor.angle"], n * exact[0])
    assert run.audit.relative < 1e-9


def test_a_motor_lifts_an_arm_through_a_gear_that_gives_and_rubs():
    """The gear begins without twist: the rotor stands and turns as the arm does."""
    R, L, K, J, b, n, eta = 1.2, 0.01, 0.05, 2e-4, 1e-4, -30.0, 0.8
    m, l, inertia = ARM["mass"], ARM["reach"], ARM["inertia"] + ARM["mass"] * ARM["reach"] ** 2
    system = arm("-20 + 8*sin(3*t)", "elastic_gearbox", stiffness=800, damping=2, efficiency=eta, viscous=1e-5)
    system.change("elbow", u=0.7)

    def rates(t, x):
        q, w, i, angle, speed = x
        load = 800 * (angle / n - q) + 2 * (speed / n - w)
        drag = (b + 1e-5) * speed + (0.002 + (1 / eta - 1) * abs(load / n)) * np.tanh(speed / 0.5)
        lift = (load - 0.3 * w - m * G * l * np.cos(q)) / inertia
        return [w, lift, (-20 + 8 * np.sin(3 * t) - R * i - K * speed) / L, speed, (K * i - load / n - drag) / J]

    run = kn.simulate(system, 2.0, samples=101, **TIGHT)
    begin = [-0.5, 0.7, 0, n * -0.5, n * 0.7]
    exact = solve_ivp(rates, (0, 2), begin, "DOP853", run.t, rtol=1e-12, atol=1e-13).y
    for name, values in zip(("elbow.q", "elbow.u", "motor.current", "rotor.angle", "rotor.speed"), exact, strict=True):
        assert_near(run[name], values)


def test_every_derivation_knows_the_motor():
    assert kn.verify(arm("-20 + 8*sin(3*t)")).ok


@pytest.mark.parametrize("inductance", [0.0, 0.01])
def test_a_motor_holds_an_arm(inductance):
    """n K V/R = m g l cos q, below the level where the weight grows with the angle."""
    rest = kn.equilibrium(arm(-6.0, motor={**MOTOR, "inductance": inductance, "inertia": 1e-5}))
    lift = 30 * 0.05 * 6.0 / 1.2
    assert rest.values["elbow.q"] == pytest.approx(-np.arccos(lift / (ARM["mass"] * G * ARM["reach"])), rel=1e-8)
    assert rest.stable


def test_a_controller_holds_an_arm_at_its_target():
    """The integral finds the voltage: the weight at the target, over the gear, the constant and the resistance."""
    system = arm("-1*controller.output")
    pid = {"error": "0.3 - elbow.q", "proportional": 30, "integral": 40, "derivative": 2, "error_rate": "-elbow.u"}
    system.element("controller", "pid", **pid)
    rest = kn.equilibrium(system)
    current = -ARM["mass"] * G * ARM["reach"] * np.cos(0.3) / (30 * 0.05)
    assert rest.values["elbow.q"] == pytest.approx(0.3, rel=1e-9)
    assert rest.values["motor.current"] == pytest.approx(current, rel=1e-9)
    assert rest.values["controller.integral"] == pytest.approx(-1.2 * current, rel=1e-9)
    assert rest.stable


def test_a_motor_without_load_settles_at_its_speed():
    """The angle of the shaft goes on, and nothing depends on it."""
    rest = kn.equilibrium(fed())
    assert rest.values["shaft.speed"] == pytest.approx(24 * 0.05 / (0.05**2 + 1.2 * 2e-4), rel=1e-9)
    assert rest.stable
    with pytest.raises(kn.ArgumentError, match=r"(shaft.speed|motor.current) would not stay"):
        kn.linearize(fed())


def test_two_axes_share_a_supply():
    """Both motors pull the bus down: the battery's voltage is common, whichever arm moves."""
    system = kn.System("two", gravity=(0, 0, 0))
    system.element("battery", "battery", plus="bus", minus="gnd", voltage=24, resistance=0.2)
    for k, inertia in enumerate((0.3, 0.7)):
        body = system.body(f"arm{k}", mass=1, inertia=(1, 1, inertia))
        system.revolute(f"hinge{k}", system.world, body)
        motor = {**MOTOR, "inductance": 0, "inertia": 0}
        system.element(f"motor{k}", "dc_motor", plus="bus", minus="gnd", shaft=f"hinge{k}", **motor)
    run = kn.simulate(system, 20.0, samples=51, **TIGHT)
    R, K, b, r = 1.2, 0.05, 1e-4, 0.2
    # i_k = (v - K w_k)/R, v = 24 - r (i_0 + i_1)
    mix = np.linalg.inv(R * np.eye(2) + r * np.ones((2, 2)))
    A = np.diag([1 / 0.3, 1 / 0.7]) @ (-K * mix * K - b * np.eye(2))
    drive = np.diag([1 / 0.3, 1 / 0.7]) @ (K * mix @ [24.0, 24.0])
    steady = np.linalg.solve(A, -drive)
    speeds = np.array([steady - expm(A * t) @ steady for t in run.t])
    assert_near(run["hinge0.u"], speeds[:, 0])
    assert_near(run["hinge1.u"], speeds[:, 1])


def test_a_run_that_takes_away_a_state_is_told_which():
    system = fed()
    system.parameter("L", 0.01)
    system.change("motor", inductance="L")
    with pytest.raises(kn.ModelError, match=r"motor.inductance: L is zero, .* write the number 0"):
        kn.simulate(system, 0.1, parameters={"L": 0.0})


@pytest.mark.parametrize(
    ("kind", "port", "effort", "expected"),
    [("moment_source", "slide.angle", "moment", (0.0, 0.5)), ("force_source", "slide.travel", "force", (0.125, 0.0))],
)
def test_parts_act_along_one_of_several_freedoms(kind, port, effort, expected):
    system = kn.System("screwdriver", gravity=(0, 0, 0))
    system.cylindrical("slide", system.world, system.body("rod", mass=4, inertia=(1, 1, 1)))
    system.element("push", kind, a=port, **{effort: 1.0})
    run = kn.simulate(system, 1.0, samples=3, **TIGHT)
    assert run["slide.q"][-1] == pytest.approx(expected, abs=1e-12)


def test_a_motor_turns_a_loop():
    """A crank that a motor turns, against the same moment and inertia in the joint and in a body."""
    runs = []
    for by_hand in (False, True):
        system = kn.System("four_bar", gravity=(0, -G, 0))
        crank = system.body("crank", mass=1, com=(0.1, 0, 0), inertia=(0.01, 0.02, 0.02))
        coupler = system.body("coupler", mass=2, com=(0.3, 0, 0), inertia=(0.01, 0.05, 0.05))
        rocker = system.body("rocker", mass=1.5, com=(0.2, 0, 0), inertia=(0.01, 0.03, 0.03))
        R, K, n = MOTOR["resistance"], MOTOR["constant"], 20.0
        law = f"{n * K / R}*(24 - {n * K}*left.u) - {n * n * MOTOR['viscous']}*left.u" if by_hand else None
        system.revolute("left", system.world, crank, q="50 deg", effort=law)
        system.revolute("pin", crank.at(0.2, 0, 0), coupler, guess="-30 deg")
        system.revolute("right", system.world.at(0.5, 0, 0), rocker, guess="70 deg")
        system.revolute("top", coupler.at(0.6, 0, 0), rocker.at(0.4, 0, 0))
        if by_hand:
            rotor = system.body("rotor", inertia={"zz": n * n * MOTOR["inertia"]})
            system.fixed("on_the_crank", crank, rotor)
        else:
            system.element("supply", "voltage_source", plus="bus", minus="gnd", voltage=24)
            motor = {**MOTOR, "inductance": 0}
            system.element("motor", "dc_motor", plus="bus", minus="gnd", shaft="shaft", **motor)
            system.element("gear", "gearbox", input="shaft", output="left", ratio=n)
        runs.append(kn.simulate(system, 1.0, samples=21, **TIGHT))
    for name in ("left.q", "right.q", "left.u_dot", "top.reaction.force"):
        assert_near(runs[0][name], runs[1][name], 1e-8)


def test_the_axis_of_the_examples_follows_its_path():
    run = kn.simulate(EXAMPLES / "motor_axis.yaml", rtol=1e-8)
    late = run.t > 3.6
    assert np.abs(run["elbow.q"] - run["target"])[late].max() < 2e-3
    assert np.abs(run["gear.twist"]).max() < 0.01
    assert run["battery.drawn"][-1] == pytest.approx(np.trapezoid(run["battery.current"], run.t), rel=1e-3)
    lost = sum(run[f"{part}.lost"] for part in ("battery", "motor", "gear"))
    assert lost.min() >= 0
    assert run.audit.relative < 1e-6
