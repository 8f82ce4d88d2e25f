"""Pulling a body by a point: the mechanism follows through its freedoms, its loops stay closed.

The point goes as near to where it is pulled as the joints let it: Gauss-Newton steps for |p(x) - goal|^2 within the
null space of the loop equations, each followed by the closing of the loops (T-4.5; the rows are those of assembly).
Driven joints stay.  What is pulled is not in the text until someone says so: ``start_gesture`` writes it there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import Pose
from kinode.errors import ArgumentError
from kinode.kernels.kernel_options import Kernel
from kinode.structure.loop_closure import CLOSED_ENOUGH, RANK
from kinode.studio.placing.still_model import StillModel

STEPS = 20
HALVINGS = 6
NEAR_ENOUGH = 1e-6  # of the characteristic length
DAMPING = 3e-3  # of the largest slope: freedoms that hardly move the point stay
LEAST_GAIN = 1e-4  # of the distance: less is not worth another step
LONGEST = 0.6  # rad, or characteristic lengths, of one step


@dataclass(frozen=True, eq=False)
class Pulled:
    """Where a pull led: coordinates, poses, and how far the point is from where it was pulled."""

    x: Array
    poses: dict[str, Pose]
    left: float
    words: str


class Pull:
    """A body that is held at a point of it.

    Parameters
    ----------
    model : StillModel
    body : str
    at : 3 numbers
        The point, in the body's axes, m.

    Raises
    ------
    ArgumentError
        There is no such body, or nothing lets it move.

    Examples
    --------
    >>> from kinode.studio.placing.pulling import Pull
    >>> from kinode.studio.placing.still_model import StillModel
    >>> model = StillModel(kn.load("examples/pendulum.yaml"))
    >>> pulled = Pull(model, "bar", (0.5, 0.0, 0.0)).to((0.0, 2.0, 0.0))
    >>> pulled.words
    'bar reaches no further'
    """

    def __init__(self, model: StillModel, body: str, at: Array) -> None:
        if body not in model.system.bodies:
            raise ArgumentError(f"body: there is no body {body!r:.60}")
        self.model, self.body, self.at = model, body, np.asarray(at, dtype=float)
        self._problem = model.assembler.problem
        self._problem.poses.layout.uncompiled_calls = 0  # a drag asks many times
        self._kernels = model.dynamics.start.open_kernels
        self._pose, self._jacobian = Kernel("pose", (body,)), Kernel("jacobian", (body,))
        self._kernels.prepare([self._pose, self._jacobian])
        self._free = np.ones(self._problem.n_u, dtype=bool)
        for name in model.loose:
            self._free[self._problem.u_of[name]] = False
        if body in model.loose.values() or not self._free.any():
            raise ArgumentError(f"{body} is not joined to anything: it has no freedom to be pulled through")

    def to(self, goal: Array, x: Array | None = None) -> Pulled:
        """Where the mechanism goes if the point is pulled to a place of the world, from a position that is closed."""
        problem, goal = self._problem, np.asarray(goal, dtype=float)
        x = self.model.x if x is None else x
        lever, p = self._point(x)
        for _ in range(STEPS):
            away = goal - p
            if np.linalg.norm(away) <= NEAR_ENOUGH * problem.length:
                break
            step = self._step(x, lever, away)
            there = None if step is None else self._walk(x, step, goal, float(np.linalg.norm(away)))
            if there is None:
                break
            x = there
            lever, p = self._point(x)
        left = float(np.linalg.norm(goal - p))
        far = left > 1e-3 * problem.length
        return Pulled(x, self.model.poses_at(x), left, f"{self.body} reaches no further" if far else "")

    def _walk(self, x: Array, step: Array, goal: Array, away: float) -> Array | None:
        """The position after as much of a step as brings the point nearer; None if nothing does."""
        share = 1.0
        for _ in range(HALVINGS):
            there, error = self._close(self._problem.advance(x, share * step))
            if error <= CLOSED_ENOUGH and np.linalg.norm(goal - self._point(there)[1]) < away * (1 - LEAST_GAIN):
                return there
            share *= 0.5
        return None

    def _point(self, x: Array) -> tuple[Array, Array]:
        """From the body's origin to the point, and the point itself, in the world."""
        out = self._kernels.call(self._pose, self.model.point(x))
        lever = out[:9].reshape(3, 3) @ self.at
        return lever, out[9:] + lever

    def _step(self, x: Array, lever: Array, away: Array) -> Array | None:
        """The step along the speeds that brings the point nearer, within the loops; None if there is none."""
        problem, n_tree = self._problem, self.model.dynamics.start.open_topology.n_u
        J6 = self._kernels.call(self._jacobian, self.model.point(x)).reshape(6, n_tree)
        J = np.zeros((3, problem.n_u))
        J[:, :n_tree] = J6[3:] - np.cross(lever, J6[:3].T).T
        units = problem.units[: problem.n_u]
        J = (J * units)[:, self._free]
        tangent = self._tangent(x, units)
        U, sizes, V = np.linalg.svd(J @ tangent, full_matrices=False)
        if not len(sizes) or sizes[0] <= 1e-12:
            return None
        gain = sizes / (sizes**2 + (DAMPING * sizes[0]) ** 2)
        step = np.zeros(problem.n_u)
        step[self._free] = tangent @ (V.T @ (gain * (U.T @ away)))
        longest = float(abs(step).max())
        return units * step * min(1.0, LONGEST / longest) if longest > 0 else None

    def _tangent(self, x: Array, units: Array) -> Array:
        """Directions in which the loops stay closed, as columns."""
        n = int(self._free.sum())
        if not self._problem.bound:
            return np.eye(n)
        A = (self._problem.equations(x)[1] * units)[:, self._free]
        _, sizes, V = np.linalg.svd(A)
        return np.asarray(V[int((sizes > RANK * sizes.max(initial=0.0)).sum()) :].T)

    def _close(self, x: Array) -> tuple[Array, float]:
        if not self._problem.bound:
            return x, 0.0
        error = 0.0
        for group in self.model.assembler.loop_groups(self._free):
            x, off = self.model.assembler.close(group, x, None)
            error = max(error, off)
        return x, error
