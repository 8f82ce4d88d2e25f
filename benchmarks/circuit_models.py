"""Circuits of the tables: an arm with six electric axes, in kinode and with MuJoCo, and networks of any size.

Each axis of the arm is a PID controller, a voltage source, a motor (resistance, inductance, rotor) and a gear.  With
MuJoCo a rotor is the ``armature`` of its joint, exactly, and Python has the controllers and the currents.
"""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

import numpy as np

import kinode as kn
from models import mujoco_model, robot

UNTIL = 10.0
SEEN = np.linspace(1.0, UNTIL, 10)  # times at which joint angles are compared
RESISTANCE, INDUCTANCE, CONSTANT, ROTOR, VISCOUS = 0.6, 1.2e-3, 0.06, 4e-5, 2e-5  # a motor of some 200 W
RATIO, FILTER = 100.0, 5e-3
P, I, D = (
    np.array(x) for x in ((300.0, 300.0, 250.0, 60.0, 60.0, 40.0), (200.0,) * 6, (12.0, 12.0, 9.0, 1.5, 1.5, 1.0))
)
REACH, RATE = np.array((0.8, 0.5, 0.7, 0.9, 0.6, 1.0)), np.array((0.9, 1.1, 1.3, 1.7, 1.9, 2.3))


def make_arm() -> kn.System:
    """The UR5 with its axes, each following a sine."""
    system = kn.load(robot("ur5_robot"))
    moving = [name for name, joint in system.joints.items() if joint.n_u]
    for k, joint in enumerate(moving):
        system.change(joint, damping=None)
        system.element(
            f"pid{k}", "pid", target=f"{REACH[k]}*(1 - cos({RATE[k]}*t))", measured=f"{joint}.q",
            proportional=float(P[k]), integral=float(I[k]), derivative=float(D[k]), filter_time=FILTER,
        )  # fmt: skip
        system.element(f"amplifier{k}", "voltage_source", plus=f"coil{k}", minus="gnd", voltage=f"pid{k}.output")
        system.element(
            f"motor{k}", "dc_motor", plus=f"coil{k}", minus="gnd", shaft=f"rotor{k}", resistance=RESISTANCE,
            inductance=INDUCTANCE, constant=CONSTANT, inertia=ROTOR, viscous=VISCOUS,
        )  # fmt: skip
        system.element(f"gear{k}", "gearbox", input=f"rotor{k}", output=joint, ratio=RATIO)
    return system


@cache
def arm() -> Any:
    """The arm, compiled."""
    return kn.compile(make_arm())


def simulate(method: str, rtol: float) -> np.ndarray:
    """Joint angles at the times that are compared, as a user asks for them."""
    run = kn.simulate(arm(), UNTIL, times=SEEN, method=method, rtol=rtol, atol=rtol / 100)
    return run.q


def drive(t: float, q: np.ndarray, u: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Moments on the joints and rates of currents, integrals and filters: z has a row of each."""
    current, integral, filtered = z
    error = REACH * (1.0 - np.cos(RATE * t)) - q
    slope = (error - filtered) / FILTER
    voltage = P * error + integral + D * slope
    rates = np.empty_like(z)
    rates[0] = (voltage - RESISTANCE * current - (CONSTANT * RATIO) * u) / INDUCTANCE
    rates[1] = I * error
    rates[2] = slope
    return (CONSTANT * RATIO) * current - (VISCOUS * RATIO**2) * u, rates


@cache
def bare_model(step: float, rotors: bool = True) -> Any:
    """MuJoCo's arm, with the rotors in its joints."""
    model = copy.deepcopy(mujoco_model(robot("ur5_robot"), 1e-3))
    model.opt.timestep = step
    model.dof_armature[:] = RATIO**2 * ROTOR if rotors else 0.0
    return model


def once_a_step(step: float) -> np.ndarray:
    """``mj_step`` with RK4 in a loop, the drives worked out before each step and their moments held during it."""
    import mujoco

    model = bare_model(step)
    data = mujoco.MjData(model)
    z = np.zeros((3, 6))
    every, found = round(1.0 / step), []
    for k in range(1, round(UNTIL / step) + 1):
        t, q, u = data.time, data.qpos, data.qvel
        _, k1 = drive(t, q, u, z)
        moment, k2 = drive(t + step / 2, q + step / 2 * u, u, z + step / 2 * k1)
        data.qfrc_applied = moment
        z = z + step * k2
        mujoco.mj_step(model, data)
        if k % every == 0:
            found.append(data.qpos.copy())
    return np.array(found)


def within_steps(step: float) -> np.ndarray:
    """Classical Runge-Kutta over arm and drives together in Python, ``mj_forward`` giving the accelerations."""
    import mujoco

    model = bare_model(step)
    data = mujoco.MjData(model)
    q, u, z = np.zeros(6), np.zeros(6), np.zeros((3, 6))
    every, found, h = round(1.0 / step), [], step

    def rates(t: float, q: np.ndarray, u: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        moment, z_dot = drive(t, q, u, z)
        data.qpos, data.qvel, data.qfrc_applied = q, u, moment
        mujoco.mj_forward(model, data)
        return data.qacc.copy(), z_dot

    for k in range(1, round(UNTIL / h) + 1):
        t = (k - 1) * h
        a1, z1 = rates(t, q, u, z)
        u2 = u + h / 2 * a1
        a2, z2 = rates(t + h / 2, q + h / 2 * u, u2, z + h / 2 * z1)
        u3 = u + h / 2 * a2
        a3, z3 = rates(t + h / 2, q + h / 2 * u2, u3, z + h / 2 * z2)
        u4 = u + h * a3
        a4, z4 = rates(t + h, q + h * u3, u4, z + h * z3)
        q = q + h / 6 * (u + 2 * u2 + 2 * u3 + u4)
        u = u + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        z = z + h / 6 * (z1 + 2 * z2 + 2 * z3 + z4)
        if k % every == 0:
            found.append(q)
    return np.array(found)


def bare_loop(step: float) -> None:
    """MuJoCo's own loop over the arm alone: no drives, no Python."""
    import mujoco

    model = bare_model(step, rotors=False)
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, round(UNTIL / step))


def ladder(count: int) -> kn.System:
    """A line of resistors, each with a capacitor to ground behind it."""
    system = kn.System(f"ladder_{count}")
    system.element("source", "voltage_source", plus="n0", minus="gnd", voltage="sin(30*t)")
    for k in range((count - 1) // 2):
        system.element(f"r{k}", "resistor", plus=f"n{k}", minus=f"n{k + 1}", resistance=1.0 + 0.1 * (k % 7))
        system.element(f"c{k}", "capacitor", plus=f"n{k + 1}", minus="gnd", capacitance=1e-3)
    return system


def manipulator() -> kn.System:
    """The two-segment manipulator of the component circuit method: 104 equations."""
    system = kn.System("manipulator", gravity=(0, 0, 0))
    one = system.body("one", mass=8, com=(0.28, 0.01, 0), inertia={"zz": 0.27})
    two = system.body("two", mass=5, com=(0.22, -0.015, 0), inertia={"zz": 0.11})
    system.revolute("first", system.world, one, q=0.3, speed="1.2*sin(0.8*t) + 0.5*cos(1.7*t)")
    system.revolute("second", one.at(0.6, 0.03, 0), two, q=0.9, u=-0.4, damping=0.8)
    system.force("load", two.at(0.5, -0.025, 0), (4, -6, 0))
    return system


def wired_arm() -> kn.System:
    """The arm with six drives, and a harness of resistors to each: about 200 components."""
    system = make_arm()
    for axis in range(6):
        system.voltage_source(f"supply{axis}", f"w{axis}_0", "gnd", voltage=5.0)
        for k in range(24):
            end = f"w{axis}_{k + 1}" if k < 23 else "gnd"
            system.resistor(f"wire{axis}_{k}", f"w{axis}_{k}", end, resistance=0.01)
    return system


def train(count: int) -> kn.System:
    """Shafts of rotors, springs, dampers and gears in turn behind a motor."""
    system = kn.System(f"train_{count}")
    system.element("source", "voltage_source", plus="bus", minus="gnd", voltage=24.0)
    system.element(
        "motor", "dc_motor", plus="bus", minus="gnd", shaft="s0", resistance=1.0, inductance=1e-3, constant=0.05,
        inertia=1e-4,
    )  # fmt: skip
    for k in range((count - 2) // 4):
        system.element(f"spring{k}", "shaft_spring", a=f"s{k}", b=f"e{k}", stiffness=500.0)
        system.element(f"damper{k}", "shaft_damper", a=f"s{k}", b=f"e{k}", damping=0.1)
        system.element(f"gear{k}", "gearbox", input=f"e{k}", output=f"s{k + 1}", ratio=1.1)
        system.element(f"rotor{k}", "shaft_inertia", shaft=f"s{k + 1}", inertia=1e-3)
    return system
