"""Steps in real time: ``dynamics.stepper`` beside MuJoCo's ``mj_step``, and how much the time of a step varies.

    python benchmarks/stepper.py              the ratios, then the jitter over a million steps
    python benchmarks/stepper.py --steps 1e5  fewer steps

Each step of the jitter is timed by itself with ``time.perf_counter_ns``, whose own time is in it; what the machine does
beside is in the largest values of both programs. The axis with its motor, bridge, controller and elastic gear is
compared with its arm alone in MuJoCo.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np

from measure import Row, Side, call, cells, machine, run
from models import mujoco_model, robot, state
from repeated_calls import EXAMPLES, ROD, STEP, UR5, mujoco_step, rod

ARM = ROD.replace(
    'pos="0 -0.5 0" mass="1" diaginertia="0.08 0.01 0.08"', 'pos="0.35 0 0" mass="3" diaginertia="1 1 0.15"'
)
PERCENTILES = (50.0, 99.0, 99.9, 99.99, 100.0)
PENDULUM = np.array([0.3]), np.array([0.2])


def our_stepper(dynamics: Any, q: Any, u: Any) -> Any:
    """The stepper of a system at a state."""
    import kinode as kn

    return dynamics.stepper(STEP, start=kn.State(0.0, q, u, np.zeros(0)))


def stepper_side(stepper: Any) -> Side:
    """One step in a call; the value is the state after the first."""
    stepper.step()
    value = np.array(stepper.y)
    stepper.reset()
    return call(stepper.step, value=value)


def ur5_stepper() -> Any:
    """The stepper of the UR5."""
    import ours

    return our_stepper(ours.compiled(robot(UR5))[1], *state(6))


def axis_stepper() -> Any:
    """The stepper of the axis with its drive."""
    import kinode as kn

    return kn.compile(kn.load(EXAMPLES / "motor_axis.yaml")).stepper(STEP, until=2000.0)


def unvalued(side: Side) -> Side:
    """A side whose state is not compared: the peer has no drive."""
    return Side(side.time)


def arm_data() -> tuple[Any, Any, Any]:
    """MuJoCo's model of the axis without its drive, and a state."""
    return mujoco.MjModel.from_xml_string(ARM), np.array([0.3]), np.array([0.0])


def rows() -> list[Row]:
    """The rows of this file."""
    one = "one step of a stepper (RK4)"
    return [
        Row(f"pendulum: {one}", "mujoco.mj_step", lambda: stepper_side(our_stepper(rod(), *PENDULUM)),
            lambda: mujoco_step(mujoco.MjModel.from_xml_string(ROD), *PENDULUM), 3.0),
        Row(f"UR5: {one}", "mujoco.mj_step", lambda: stepper_side(ur5_stepper()),
            lambda: mujoco_step(mujoco_model(robot(UR5), STEP), *state(6)), 5.0),
        Row(f"motor_axis: {one}", "mujoco.mj_step, arm alone", lambda: unvalued(stepper_side(axis_stepper())),
            lambda: mujoco_step(*arm_data()), 3.0),
    ]  # fmt: skip


def jitter(step: Callable[[], Any], count: int) -> np.ndarray:
    """The times of single steps in us."""
    times, clock = np.empty(count), time.perf_counter_ns
    for k in range(count):
        start = clock()
        step()
        times[k] = clock() - start
    return times * 1e-3


def mujoco_stepping(model: Any, q: Any, u: Any) -> Callable[[], None]:
    """MuJoCo's step as a function without arguments."""
    data = mujoco.MjData(model)
    data.qpos, data.qvel = q, u
    step = mujoco.mj_step
    return lambda: step(model, data)


def main() -> None:
    """Print the ratios and the percentiles."""
    parser = argparse.ArgumentParser(description="Steps in real time, beside MuJoCo's.")
    parser.add_argument("--steps", type=float, default=1e6, help="steps whose times are kept")
    count = int(parser.parse_args().steps)
    print(machine())
    for row in rows():
        result = run(row)
        print(" | ".join(cells(result)), result.trouble)
    print(f"\njitter over {count} steps, us: " + ", ".join(f"{p:g} %" for p in PERCENTILES))
    ur5 = mujoco_model(robot(UR5), STEP)
    pairs: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        "pendulum": (our_stepper(rod(), *PENDULUM).step,
                     mujoco_stepping(mujoco.MjModel.from_xml_string(ROD), *PENDULUM)),
        "UR5": (ur5_stepper().step, mujoco_stepping(ur5, *state(6))),
        "motor_axis": (axis_stepper().step, mujoco_stepping(*arm_data())),
    }  # fmt: skip
    for name, sides in pairs.items():
        for program, step in zip(("kinode", "mujoco"), sides):
            figures = np.percentile(jitter(step, count), PERCENTILES)
            print(f"{name:12s} {program}: " + ", ".join(f"{x:.2f}" for x in figures))


if __name__ == "__main__":
    main()
