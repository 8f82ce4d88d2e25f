"""The arguments of a law along the steps of a run, and the parts of steps in which the law may be positive.

As in loops/step_bounds.py: the path of an argument in a step is the cubic through both ends and their rates.  Its
control points give the range of the argument in a part of the step, and interval arithmetic the bounds of the law
there.  Here many steps are searched at a time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.kernels.kernel_options import BoundOptions, Kernel
from kinode.ode.runs.input_table import Inputs

PADDING = 0.01  # of the range of an argument in a part of a step: more than a cubic differs from the motion
HALVINGS = 5  # of a step
MAX_PARTS = 1 << 14  # of steps, at a time


@dataclass(frozen=True, eq=False)
class ArgumentPaths:
    """Cubics of the arguments over each step.

    ``options`` name one law, with the number of its arguments.  The coefficients have one row for each step and one
    column for each argument; the parameter goes from 0 to 1.
    """

    dynamics: Dynamics
    options: BoundOptions
    start: Array
    linear: Array
    square: Array
    cubic: Array
    z: Array
    """The states besides q and u at the start of each step."""
    p: Array
    inputs: Inputs

    def find_possible(self) -> Array:
        """For each step, whether the law may be positive within it."""
        count = len(self.start)
        step, part, possible = np.arange(count), np.zeros(count), np.zeros(count, dtype=bool)
        for halving in range(HALVINGS + 1):
            keep = ~(self._upper_bounds(step, part * 0.5**halving, (part + 1) * 0.5**halving) <= 0.0)
            step, part = step[keep], part[keep]
            if halving == HALVINGS or 2 * len(step) > MAX_PARTS:
                break
            step, part = np.repeat(step, 2), np.stack([2 * part, 2 * part + 1], axis=1).ravel()
        possible[step] = True
        return possible

    def _upper_bounds(self, step: Array, a: Array, b: Array) -> Array:
        """Upper bounds of the law in parts of steps, from share a to share b."""
        linear, square, cubic = self.linear[step], self.square[step], self.cubic[step]
        points = []
        for at, other in ((a[:, None], b[:, None]), (b[:, None], a[:, None])):
            point = self.start[step] + at * (linear + at * (square + at * cubic))
            points += [point, point + (other - at) / 3.0 * (linear + at * (2.0 * square + 3.0 * at * cubic))]
        low, high = np.minimum.reduce(points), np.maximum.reduce(points)
        padding = PADDING * (high - low)
        ranges = np.hstack([low - padding, high + padding])
        layout = self.dynamics.topology.layout
        y = np.hstack([np.zeros((len(step), layout.n_y - self.z.shape[1])), self.z[step]])
        point = self.dynamics.point_of(np.zeros(len(step)), y, self.p, self.inputs)
        bounds: Array = self.dynamics.kernels.call(Kernel("bounds", self.options), point, ranges)[:, 1]
        return bounds


def find_paths(
    dynamics: Dynamics, options: BoundOptions, steps: tuple[Array, Array, Array], rates: tuple[Array, Array],
    p: Array, inputs: Inputs,
) -> ArgumentPaths:  # fmt: skip
    """The paths of a law's arguments along steps.

    Parameters
    ----------
    steps : start and end of each step in s (a row each), and all states: one more than there are steps.
    rates : time derivatives of the state after the start and before the end of each step.
    """
    (begin, end), y = np.asarray(steps[:2]), steps[2]
    n, h, kernel = options.n_arguments, (end - begin)[:, None], Kernel("arguments", options)
    before, after = (
        dynamics.kernels.call(kernel, dynamics.point_of(t, states, p, inputs), rate)
        for t, states, rate in ((begin, y[:-1], rates[0]), (end, y[1:], rates[1]))
    )
    linear, change = h * before[:, n : 2 * n], after[:, :n] - before[:, :n]
    cubic = linear + h * after[:, n : 2 * n] - 2.0 * change
    z = y[:-1, dynamics.topology.layout.role_slices["z"]]
    return ArgumentPaths(dynamics, options, before[:, :n], linear, change - linear - cubic, cubic, z, p, inputs)
