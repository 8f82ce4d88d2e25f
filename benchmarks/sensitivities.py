"""Derivatives of a run: a free swing of the UR5 for 10 s by five masses, against the plain run.

``python benchmarks/sensitivities.py``.  The plain run is that of the same compiled system, whose masses are parameters.
Central differences by five parameters take ten runs more.  Times are processor times, the least of several.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import kinode as kn
from models import robot, state

UR5, SECONDS, ROUNDS = "ur5_robot", 10.0, 7
LINKS = ("shoulder_link", "upper_arm_link", "forearm_link", "wrist_1_link", "wrist_2_link")
METHODS: dict[str, dict[str, Any]] = {
    "rk4": {"method": "rk4", "step": 1e-3},
    "dopri5": {"method": "dopri5"},
    "dop853": {"method": "dop853"},
}


def least(work: Callable[[], Any]) -> float:
    """The least processor time of several rounds, in s."""
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    """One row for each method."""
    names = [f"{link}.mass" for link in LINKS]
    dynamics = kn.compile(kn.load(robot(UR5)), live=names)
    q, _ = state(6)
    joints = [c.name for c in dynamics.coordinates if c.role == "q"]
    start = dict(zip(joints, q.tolist(), strict=True))
    times = np.linspace(0.0, SECONDS, 101)
    for name, options in METHODS.items():
        arguments = {"start": start, "times": times, "progress": False, **options}
        plain = kn.simulate(dynamics, SECONDS, **arguments)
        with_columns = kn.simulate(dynamics, SECONDS, sensitivity=names, **arguments)
        one = least(lambda a=arguments: kn.simulate(dynamics, SECONDS, **a))
        both = least(lambda a=arguments: kn.simulate(dynamics, SECONDS, sensitivity=names, **a))
        steps = f"{plain.facts['steps']} and {with_columns.facts['steps']} steps"
        print(f"UR5, 10 s, {name}: plain {1e3 * one:.1f} ms, by 5 masses {1e3 * both:.1f} ms, {steps}: "
              f"{both / one:.1f} times (asked 8 at most; differences 11)")  # fmt: skip


if __name__ == "__main__":
    main()
