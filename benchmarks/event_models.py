"""Events of the tables: one axis, an arm with six of them, and an oscillator whose ends are met often, or never.

An axis is a PID controller at 1 kHz, a motor with inductance, a gear and Stribeck friction that sticks, at the motor's
shaft and at the joint.  The gear has backlash, or is rigid, which makes one friction of the two.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import kinode as kn
from circuit_models import (
    CONSTANT,
    FILTER,
    INDUCTANCE,
    RATE,
    RATIO,
    REACH,
    RESISTANCE,
    ROTOR,
    SEEN,
    UNTIL,
    VISCOUS,
    D,
    I,
    P,
)
from models import robot

PLAY, STIFFNESS, DAMPING = 5e-4, 2e4, 20.0  # of a gear, at its output
SHAFT = {"effort": 0.02, "static_effort": 0.03, "stribeck_speed": 2.0}  # friction of a motor's shaft
SLIDING = np.array((4.0, 4.0, 4.0, 1.0, 1.0, 1.0))  # N m, of the joints
STATIC, STRIBECK = 1.4 * SLIDING, SHAFT["stribeck_speed"] / RATIO


def add_axis(system: kn.System, k: int, joint: str, gear: str, period: str | None = "1 kHz") -> None:
    """Drive a joint along a sine; without a period control is continuous."""
    pid = {"kind": "pid"} if period is None else {"kind": "sampled_pid", "period": period}
    gains = {"proportional": float(P[k]), "integral": float(I[k]), "derivative": float(D[k]), "filter_time": FILTER}
    system.element(f"pid{k}", **pid, target=f"{REACH[k]}*(1 - cos({RATE[k]}*t))", measured=f"{joint}.q", **gains)
    system.element(f"amplifier{k}", "voltage_source", plus=f"coil{k}", minus="gnd", voltage=f"pid{k}.output")
    electric = {"resistance": RESISTANCE, "inductance": INDUCTANCE, "constant": CONSTANT, "viscous": VISCOUS}
    motor: dict[str, Any] = {"kind": "dc_motor", "plus": f"coil{k}", "minus": "gnd", "shaft": f"rotor{k}", **electric}
    ends = {"input": f"rotor{k}", "output": joint, "ratio": RATIO}
    if gear == "rigid":
        system.element(f"motor{k}", **motor, inertia=ROTOR)
        system.element(f"gear{k}", "gearbox", **ends)
        return
    system.revolute(f"rotor{k}", system.world, system.body(f"wheel{k}", mass=0.1, inertia={"zz": ROTOR}))
    system.element(f"motor{k}", **motor)
    play = {"play": PLAY} if gear == "backlash" else {}
    kind = "backlash_gear" if gear == "backlash" else "elastic_gearbox"
    system.element(f"gear{k}", kind, **ends, **play, stiffness=STIFFNESS, damping=DAMPING)


def rub(system: kn.System, k: int, joint: str, gear: str) -> None:
    """Give an axis its frictions; behind a rigid gear that of the shaft counts at the joint."""
    sliding, static = SLIDING[k], STATIC[k]
    if gear == "rigid":
        sliding, static = sliding + RATIO * SHAFT["effort"], static + RATIO * SHAFT["static_effort"]
    else:
        system.change(f"rotor{k}", friction=kn.coulomb(**SHAFT))
    system.change(joint, friction=kn.coulomb(effort=sliding, static_effort=static, stribeck_speed=STRIBECK))


def make_axis(gear: str, period: str | None = "1 kHz", friction: bool = True) -> kn.System:
    """One axis that swings a beam."""
    system = kn.System("axis", gravity=(0, 0, 0))
    system.revolute("joint", system.world, system.body("beam", mass=6.0, com=(0.3, 0, 0), inertia={"zz": 0.5}))
    add_axis(system, 0, "joint", gear, period)
    if friction:
        rub(system, 0, "joint", gear)
    return system


def make_arm(gear: str, friction: bool = True) -> kn.System:
    """The UR5 with six axes."""
    system = kn.load(robot("ur5_robot"))
    moving = [name for name, joint in system.joints.items() if joint.n_u]
    for k, joint in enumerate(moving):
        system.change(joint, damping=None, friction=None)
        add_axis(system, k, joint, gear)
        if friction:
            rub(system, k, joint, gear)
    return system


def make_oscillator(end: float | None) -> kn.System:
    """A mass on a spring, moved about by a force, between two ends that give."""
    system = kn.System("oscillator", gravity=(0, 0, 0))
    stop = None if end is None else {"lower": -end, "upper": end, "stiffness": 1e4, "damping": 5.0}
    slide = {"stiffness": 40.0, "damping": 0.4, "effort": "8*sin(9*t)"}
    system.prismatic("slide", system.world, system.body("mass", mass=1.0), **slide, stop=stop)
    return system


@cache
def arm(gear: str, friction: bool = True) -> Any:
    """The arm, compiled."""
    return kn.compile(make_arm(gear, friction))


def simulate(gear: str, friction: bool = True, **settings: Any) -> Any:
    """A run of the arm, whose joint angles are kept at the times that are compared."""
    return kn.simulate(arm(gear, friction), UNTIL, times=SEEN, **settings)


def angles(run: Any) -> np.ndarray:
    """Joint angles of a run, without those of rotors."""
    return np.stack([run[f"{name}.q"] for name, joint in run.system.joints.items() if joint.n_u][:6], axis=1)
