"""The arm with axes in MuJoCo: a Python loop has the controllers at 1 kHz, the currents and Stribeck's curve.

Rotors are the ``armature`` of their joints and viscous losses their ``damping``, exactly; gears are rigid.  Friction is
``frictionloss``, a soft constraint: what should stick creeps.  During a step Python holds what it worked out before it:
the mean of the current, which is exact while the speed does not change, and the friction for the speed.  With friction
as hard as a step allows, its solutions tend to kinode's in proportion to the step.
"""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

import mujoco
import numpy as np

import circuit_models as axis
from event_models import SHAFT, SLIDING, STATIC, STRIBECK
from models import mujoco_model, robot

TICKS = 1000  # of the controllers in a second
GAIN = axis.CONSTANT * axis.RATIO  # moment at a joint for a unit of current
LEAST = SLIDING + axis.RATIO * SHAFT["effort"]
MORE = STATIC + axis.RATIO * SHAFT["static_effort"] - LEAST
SOFT = (0.02, 1.0), (0.9, 0.95, 0.001, 0.5, 2.0)  # MuJoCo's default
HARD = (1e-9, 1.0), (0.9999, 0.9999, 0.001, 0.5, 2.0)  # the time constant is raised to two steps by MuJoCo
INTEGRATORS = {"Euler": mujoco.mjtIntegrator.mjINT_EULER, "RK4": mujoco.mjtIntegrator.mjINT_RK4}


@cache
def model(integrator: str, friction: bool) -> Any:
    """The arm with rotors, losses and friction."""
    found = copy.deepcopy(mujoco_model(robot("ur5_robot"), 1e-3))
    found.opt.integrator = INTEGRATORS[integrator]
    found.dof_armature[:] = axis.RATIO**2 * axis.ROTOR
    found.dof_damping[:] = axis.RATIO**2 * axis.VISCOUS
    if friction:
        found.dof_frictionloss[:] = LEAST
        for name in ("CONSTRAINT", "FRICTIONLOSS", "WARMSTART"):
            found.opt.disableflags &= ~int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}"))
    return found


class Controllers:
    """The six controllers, by the differences of kinode's ``sampled_pid``; targets are worked out in advance."""

    def __init__(self) -> None:
        t = np.arange(round(axis.UNTIL * TICKS))[:, None] / TICKS
        self.targets = axis.REACH * (1.0 - np.cos(axis.RATE * t))
        self.integral, self.derivative, self.previous = np.zeros((3, 6))
        slow = axis.FILTER + 1 / TICKS
        self.fades, self.rises, self.adds, self.gains = axis.FILTER / slow, axis.D / slow, axis.I / TICKS, axis.P

    def __call__(self, tick: int, q: np.ndarray) -> np.ndarray:
        """Voltages from a tick on."""
        off = self.targets[tick] - q
        self.derivative = self.fades * self.derivative + self.rises * (off - self.previous)
        voltage = self.gains * off + self.integral + self.derivative
        self.integral, self.previous = self.integral + self.adds * off, off
        return voltage


def run(integrator: str, parts: int = 1, stribeck: bool = True, hard: bool = False) -> np.ndarray:
    """Joint angles at the ends of ten seconds, with so many steps from tick to tick."""
    arm, control = model(integrator, True), Controllers()
    data, step = mujoco.MjData(arm), 1.0 / TICKS / parts
    arm.opt.timestep = step
    arm.dof_frictionloss[:] = LEAST
    arm.dof_solref[:], arm.dof_solimp[:] = HARD if hard else SOFT
    decay = np.exp(-step * axis.RESISTANCE / axis.INDUCTANCE)
    mean = (1.0 - decay) / (step * axis.RESISTANCE / axis.INDUCTANCE)
    gain, resistance, current, found = GAIN, axis.RESISTANCE, np.zeros(6), []
    for tick in range(round(axis.UNTIL * TICKS)):
        voltage = control(tick, data.qpos)
        for _ in range(parts):
            speed = data.qvel
            steady = (voltage - gain * speed) / resistance
            fading = current - steady
            current = steady + decay * fading
            data.qfrc_applied = gain * (steady + mean * fading)
            if stribeck:
                arm.dof_frictionloss = LEAST + MORE * np.exp(-((speed / STRIBECK) ** 2))
            mujoco.mj_step(arm, data)
        if (tick + 1) % TICKS == 0:
            found.append(data.qpos.copy())
    return np.array(found)


def run_smooth(until: float, parts: int) -> np.ndarray:
    """Joint angles at the end, without friction: Runge-Kutta over arm and currents together in Python."""
    arm, control = model("RK4", False), Controllers()
    data, h = mujoco.MjData(arm), 1.0 / TICKS / parts
    y = np.zeros((3, 6))  # angles, speeds, currents

    def rates(y: np.ndarray, voltage: np.ndarray) -> np.ndarray:
        q, u, current = y
        data.qpos, data.qvel, data.qfrc_applied = q, u, GAIN * current
        mujoco.mj_forward(arm, data)
        return np.array((u, data.qacc, (voltage - axis.RESISTANCE * current - GAIN * u) / axis.INDUCTANCE))

    for tick in range(round(until * TICKS)):
        voltage = control(tick, y[0])
        for _ in range(parts):
            k1 = rates(y, voltage)
            k2 = rates(y + h / 2 * k1, voltage)
            k3 = rates(y + h / 2 * k2, voltage)
            k4 = rates(y + h * k3, voltage)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y[0]
