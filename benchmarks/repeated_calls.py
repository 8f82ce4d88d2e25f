"""Rows about what is called again and again from Python: one step, a run that begins, a sweep, equations.

A step is compared with MuJoCo's, contacts and the rest off. A limit is no peer but a time; the ratio is the share of it
that was used.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from measure import Row, Side, call
from models import mujoco_model, robot, state
from startup import limit, unchecked

STEP = 1e-3
UR5 = "ur5_robot"
EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
CHANGED = (
    ("excavator", "digging", 3e-4), ("ur5", "forearm.mass", 3e-4), ("motor_axis", "reach", 3e-4),
    ("stewart_platform", "ring", 1e-3), ("four_bar", "coupler.mass", 1e-3),
)  # fmt: skip
"""Model, number that changes from run to run, s that a run may take beside its integration."""
ROD = f"""
<mujoco>
  <option timestep="{STEP}" integrator="RK4" gravity="0 -9.81 0">
    <flag contact="disable" constraint="disable" sensor="disable" actuation="disable"/>
  </option>
  <worldbody>
    <body>
      <inertial pos="0 -0.5 0" mass="1" diaginertia="0.08 0.01 0.08"/>
      <joint name="pivot" type="hinge" axis="0 0 1"/>
    </body>
  </worldbody>
</mujoco>
"""


def rod() -> Any:
    """The pendulum of ``ROD``, compiled."""
    import kinode as kn

    system = kn.System("rod", gravity=(0, -9.81, 0))
    body = system.body("bob", mass=1.0, com=(0, -0.5, 0), inertia=(0.08, 0.01, 0.08))
    system.revolute("pivot", system.world, body)
    return kn.compile(system)


def mujoco_step(model: Any, q: Any, u: Any) -> Side:
    """MuJoCo, one step in a call."""
    data = mujoco.MjData(model)

    def start() -> None:
        data.qpos, data.qvel, data.time = q, u, 0.0

    start()
    mujoco.mj_step(model, data)
    value = np.concatenate([data.qpos, data.qvel])
    start()
    return call(mujoco.mj_step, model, data, value=value)


def our_step(dynamics: Any, q: Any, u: Any) -> Side:
    """``dynamics.step``, which makes a new state and leaves the old one."""
    import kinode as kn

    start = kn.State(0.0, q, u, np.zeros(0))
    return call(dynamics.step, start, STEP, value=dynamics.step(start, STEP).y)


def ur5_step() -> Side:
    """One step of the UR5."""
    import ours

    return our_step(ours.compiled(robot(UR5))[1], *state(6))


def short_run(model: str) -> Side:
    """``kn.simulate`` of a system for one step: what it takes before and after."""
    import kinode as kn

    system = kn.load(EXAMPLES / model)
    return unchecked(call(lambda: kn.simulate(system, STEP, method="rk4", step=STEP)))


def changed_run(model: str, number: str) -> Side:
    """``kn.simulate`` of a compiled system for one step, with another value of one number in each run.

    The step itself takes a microsecond: what is measured is all that a run does beside its integration.
    """
    import kinode as kn

    system = kn.load(EXAMPLES / f"{model}.yaml")
    dynamics = kn.compile(system) if number in system.parameters else kn.compile(system, live=[number])
    parameter = dynamics.live[number].parameter if number in dynamics.live else number
    value = float(dynamics.parameters[dynamics.topology.parameters.index(parameter)])

    def run() -> None:
        nonlocal value
        value *= 1.0 + 1e-9
        kn.simulate(dynamics, STEP, method="rk4", step=STEP, parameters={number: value})

    return unchecked(call(run))


def excavator_run(change: float) -> Side:
    """A second of the excavator; each run with another digging force, or all with the same."""
    import kinode as kn

    dynamics = kn.compile(kn.load(EXAMPLES / "excavator.yaml"))
    which, values = dynamics.topology.parameters.index("digging"), np.array(dynamics.parameters)

    def run() -> None:
        values[which] += change
        kn.simulate(dynamics, 1.0, parameters=values)

    return unchecked(call(run))


def followed_start(model: str) -> Side:
    """The start of a system with loops for other parameters, followed from its own."""
    import kinode as kn

    dynamics = kn.compile(kn.load(EXAMPLES / model))
    p = dynamics.parameters * 1.0002
    for _ in range(10):
        dynamics.state(p=p)
    return unchecked(call(lambda: dynamics.state(p=p)))


def oblique_equations() -> Side:
    """Equations and text of one body on an oblique hinge, held by a spring."""
    import kinode as kn

    system = kn.System("oblique_arm")
    arm = system.body("arm", mass=1.3, com=(0.1, 0.2, 0.3), inertia=(0.1, 0.2, 0.25, 0.01, 0.02, 0.03))
    system.revolute("hinge", system.world.at(0.1, 0.2, 0.3, rpy=(0.3, 0.4, 0.5)), arm, axis=(0.3, -0.5, 0.8), q=0.2)
    anchor, tip = system.world.at(0.5, 0.4, 0.3), arm.at(0.3, 0.1, 0.2)
    system.spring("spring", anchor, tip, stiffness=100, free_length=0.4, damping=3)
    return unchecked(call(lambda: str(kn.equations(system))))


def rows() -> list[Row]:
    """The rows of this file."""
    q, u = np.array([0.3]), np.array([0.2])
    one, begin = "one RK4 step, called from Python", "kn.simulate of an unchanged system, one step"
    return [
        Row(f"pendulum: {one}", "mujoco.mj_step", lambda: our_step(rod(), q, u),
            lambda: mujoco_step(mujoco.MjModel.from_xml_string(ROD), q, u)),
        Row(f"pendulum: {one}", "limit", lambda: our_step(rod(), q, u), lambda: limit(5e-6), 1.0, at_most=True),
        Row(f"UR5: {one}", "mujoco.mj_step", ur5_step,
            lambda: mujoco_step(mujoco_model(robot(UR5), STEP), *state(6))),
        *(Row(f"{name}: {begin}", "limit", lambda name=name: short_run(f"{name}.yaml"), lambda: limit(1e-3), 1.0,
              at_most=True, unit="ms") for name in ("pendulum", "four_bar")),
        *(Row(f"{model}: kn.simulate with another {number}, one step", "limit",
              lambda model=model, number=number: changed_run(model, number), lambda most=most: limit(most), 1.0,
              at_most=True, unit="ms") for model, number, most in CHANGED),
        Row("excavator: 1 s, a parameter changed before each run", "same values", lambda: excavator_run(1.0),
            lambda: excavator_run(0.0), 2.0, at_most=True, unit="ms"),
        Row("Stewart platform: start with other parameters", "limit", lambda: followed_start("stewart_platform.yaml"),
            lambda: limit(1e-3), 1.0, at_most=True, unit="ms"),
        Row("oblique hinge with spring: equations as text", "limit", oblique_equations, lambda: limit(1.0), 1.0,
            at_most=True, unit="ms", rounds=5),
    ]  # fmt: skip
