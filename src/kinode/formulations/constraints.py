"""All constraints of an instant together: residuals, rates, multipliers, and what they do to bodies and coordinates.

``topology.rows`` names the rows that are used, an independent set of all; without it all are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array, tidy
from kinode.formulations import loops
from kinode.formulations.loops import Closing, MovingScene, Tie
from kinode.model.elements import Load
from kinode.model.frames import Frame

if TYPE_CHECKING:
    from kinode.formulations.motion import Motion


class Constraints:
    """The constraints of one motion."""

    def __init__(self, motion: Motion) -> None:
        self.motion = motion
        self.ties: list[Closing] = [Closing(cut) for cut in motion.topology.cuts]

    def every(self, function: Callable[[Motion, Tie], Array]) -> Array:
        """A function of each constraint, all rows."""
        return np.concatenate([np.asarray(function(self.motion, tie), dtype=object) for tie in self.ties])

    def chosen(self, function: Callable[[Motion, Tie], Array]) -> Array:
        """The same, the independent rows alone."""
        values = self.every(function)
        rows = self.motion.topology.rows
        return values if rows is None else values[list(rows)]

    @cached_property
    def jacobian(self) -> Array:
        return self.chosen(loops.jacobian)

    @cached_property
    def _solution(self) -> tuple[Array, Array]:
        motion = self.motion
        gamma = -self.chosen(loops.bias)
        return loops.solve_saddle(motion.mass_matrix, self.jacobian, motion.bias_effort, gamma)

    @property
    def accelerations(self) -> Array:
        """u_dot of the state."""
        return self._solution[0]

    @property
    def multipliers(self) -> Array:
        """One for each independent row: M u_dot = tau - h + G' lam."""
        return self._solution[1]

    def projected(self) -> tuple[Array, Array]:
        """q and u on the constraints: one Newton step of each, the shortest in the metric of the mass matrix."""
        motion = self.motion
        n, m = motion.topology.n_u, len(self.jacobian)
        solve = loops.saddle_solver(motion.mass_matrix, self.jacobian)
        step, _ = solve(np.zeros(n), -self.chosen(loops.residual))
        q = motion.advanced_q(step)
        there = motion.at(q=q)
        change, _ = solve(np.zeros(n), -there.constraints.chosen(loops.drift))
        assert len(change) == n and m >= 0
        return q, tidy(motion.u + change)

    def loads(self, multipliers: Array) -> list[Load]:
        """What the constraints do to bodies: force and moment at the frames that they hold."""
        rows = self.motion.topology.rows
        values = np.zeros(sum(len(loops.residual(self.motion, tie)) for tie in self.ties), dtype=object)
        values[:] = 0.0
        values[list(range(len(values)) if rows is None else rows)] = multipliers
        found, start = [], 0
        for tie in self.ties:
            count = len(loops.residual(self.motion, tie))
            found += self._loads_of(tie, values[start : start + count])
            start += count
        return found

    def _loads_of(self, tie: Tie, lam: Array) -> list[Load]:
        """By virtual power: lam . c_dot for the six unit velocities of each frame that the constraint looks at."""
        motion = self.motion
        frames = _frames_of(motion, tie)
        found = []
        for frame in frames:
            parts = []
            for k in range(6):
                unit = np.eye(6)[k]

                def speed(other: Frame, frame: Frame = frame, unit: Array = unit) -> tuple[Array, Array]:
                    return (unit[:3], unit[3:]) if other == frame else (np.zeros(3), np.zeros(3))

                scene = MovingScene(motion, speed, lambda name: np.zeros(motion.system.joints[name].n_q))
                parts.append(sum((a * b for a, b in zip(lam, scene.rates(tie.residual(scene)), strict=True)), 0.0))
            found.append(Load(frame, tidy(parts[3:]), tidy(parts[:3])))
        return found


def _frames_of(motion: Motion, tie: Tie) -> list[Frame]:
    """The frames that a constraint looks at."""
    seen: list[Frame] = []

    def speed(frame: Frame) -> tuple[Array, Array]:
        if frame not in seen:
            seen.append(frame)
        return np.zeros(3), np.zeros(3)

    scene = MovingScene(motion, speed, lambda name: np.zeros(motion.system.joints[name].n_q))
    tie.residual(scene)
    return seen
