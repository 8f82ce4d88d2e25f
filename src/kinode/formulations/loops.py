"""Constraints on the coordinates of a tree: joints that close loops, and whatever else ties bodies together.

A constraint gives residuals c of poses and joint coordinates that vanish when it holds, or slips s, linear in
velocities, that vanish while it does (nonholonomic), or both.  Rates along the motion are exact, since the
poses and velocities it is asked with are dual numbers:

    G         rates of c for unit speeds of the state; s at unit speeds
    drift     rate of c as everything moves now, driven joints included: G u + c_t; s now
    bias      second rate of c, rate of s, while the accelerations of the state are zero: G u_dot + bias = 0

With all rows together, M u_dot = tau - h + G' lam and G u_dot = -bias.  The rows are those of all
constraints; which of them are independent is for the caller to find.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from kinode.algebra.scalars import Array, Dual, Scalar, is_number, new_level, tidy
from kinode.algebra.spatial import ZERO3, Pose, cross, skew
from kinode.formulations import recursive
from kinode.geometry import WORLD
from kinode.model.constraints import POSITIONS, Constraint
from kinode.model.frames import Frame
from kinode.model.joints import Joint
from kinode.model.system import joint_frame

if TYPE_CHECKING:
    from kinode.formulations.motion import Motion
    from kinode.topology import Cut, Topology


class Tie(Protocol):
    """A constraint as the loops see it; ``units`` are those of its rows, residuals before slips."""

    name: str
    units: tuple[str, ...]

    def residual(self, scene: Any) -> Array:
        """What is missing for the constraint to hold, of the poses and joint coordinates that the scene tells."""
        ...

    def slip(self, scene: Any) -> Array:
        """What must not move, of the poses and velocities that the scene tells."""
        ...


def ties_of(topology: Topology) -> list[Tie]:
    """All constraints in the order of their rows."""
    closings: list[Tie] = [Closing(cut) for cut in topology.cuts]
    return closings + [tie_of(topology, c) for c in topology.constraints]


def tie_of(topology: Topology, constraint: Constraint) -> Tie:
    """A constraint that is no joint, as rows, also where none are needed since one joint follows another."""
    return Holding(constraint, constraint.rows(topology.system))


class Closing:
    """A cut joint as a constraint: the pose of its frame M in its frame F is one that it allows."""

    def __init__(self, cut: Cut) -> None:
        self.joint = cut.joint
        self.name, self.units = cut.joint.name, cut.units

    def residual(self, scene: Any) -> Array:
        form = self.joint.form(scene.resolve)
        return np.asarray(self.joint.closure(_pose_of(self.joint, scene), form), dtype=object)

    def slip(self, scene: Any) -> Array:
        return np.empty(0)


class Holding:
    """A constraint that is no joint."""

    def __init__(self, constraint: Constraint, units: tuple[str, ...]) -> None:
        self.name, self.units = constraint.name, units
        self.residual, self.slip = constraint.residual, constraint.slip


def _pose_of(joint: Joint, scene: Any) -> Pose:
    """X_FM in canonical axes, from the poses of the two frames."""
    C = Pose(joint.axis_rotation(scene.resolve, scene.nominal), ZERO3)
    F, M = (scene.pose(joint_frame(joint, side)) @ C for side in ("parent", "child"))
    X: Pose = F.inverse() @ M
    return X


Rates = Callable[[Frame], tuple[Array, Array]]


class _Scene:
    """What constraints ask besides poses and coordinates."""

    def __init__(self, motion: Motion) -> None:
        self.motion, self.system = motion, motion.system
        self.resolve, self.nominal = motion.resolve, motion.system.nominal

    def measured(self, name: str) -> bool:
        """Whether a joint's coordinates follow from poses, since it closes a loop."""
        return name in self.motion.topology.cut_names and not self.system.joints[name].driven

    def wraps(self, name: str) -> bool:
        """Whether a joint's coordinate is an angle that is known up to full turns."""
        return self.measured(name) and self.system.joints[name].coordinates[0][1] == "angle"


class MovingScene(_Scene):
    """Poses and joint coordinates of a motion as dual numbers.

    ``speed`` tells the angular velocity and velocity of a frame, in world axes, ``turn`` the rate of a
    joint's coordinates; with ``then`` (accelerations likewise) everything carries two rates.
    """

    def __init__(self, motion: Motion, speed: Rates, turn: Callable[[str], Array], then: Any = None) -> None:
        super().__init__(motion)
        self.speed, self.turn, self.then = speed, turn, then
        self.level = new_level()
        self.outer = new_level() if then is not None else None

    def pose(self, frame: Frame) -> Pose:
        """X_WF with its rates."""
        X, (w, v) = self.motion.pose(frame), self.speed(frame)
        R_dot = skew(w) @ X.R
        if self.then is None:
            return Pose(self._dual(X.R, R_dot), self._dual(X.p, v))
        eps, a = self.then.speed(frame)
        R_ddot = skew(eps) @ X.R + skew(w) @ R_dot
        return Pose(self._second(X.R, R_dot, R_ddot), self._second(X.p, v, a))

    def joint_q(self, name: str) -> Array:
        """Coordinates of a joint with their rates."""
        if self.measured(name):
            joint = self.system.joints[name]
            return joint.solve_coordinates(_pose_of(joint, self), joint.form(self.resolve))
        q, q_dot = self.motion.joint_state(name)[0], self.turn(name)
        return self._dual(q, q_dot) if self.then is None else self._second(q, q_dot, self.then.turn(name))

    def _dual(self, value: Array, rate: Array, level: int | None = None) -> Array:
        return _each(lambda x, y: Dual(x, y, self.level if level is None else level), value, rate)

    def _second(self, value: Array, rate: Array, second: Array) -> Array:
        return self._dual(self._dual(value, rate, self.outer), self._dual(rate, second, self.outer))

    def rates(self, values: Array) -> Array:
        """The rates that came out, of the second order where there are two."""
        first = [_rate(x, self.level) for x in np.asarray(values, dtype=object).ravel()]
        return tidy(first if self.outer is None else [_rate(x, self.outer) for x in first])


class SlipScene(MovingScene):
    """Poses and velocities as slips ask for them; with accelerations everything carries one rate."""

    def pose(self, frame: Frame) -> Pose:
        X = self.motion.pose(frame)
        if self.then is None:
            return X
        w, v = self.speed(frame)
        return Pose(self._dual(X.R, skew(w) @ X.R), self._dual(X.p, v))

    def velocity(self, frame: Frame) -> tuple[Array, Array]:
        """Angular velocity and velocity of a frame, in world axes."""
        w, v = self.speed(frame)
        if self.then is None:
            return w, v
        eps, a = self.then.speed(frame)
        return self._dual(w, eps), self._dual(v, a)

    def rates(self, values: Array) -> Array:
        """The slips themselves, or their rates where there are accelerations."""
        flat = np.asarray(values, dtype=object).ravel()
        return tidy(flat if self.then is None else [_rate(x, self.level) for x in flat])


def row_rates(motion: Motion, tie: Tie, speed: Rates, turn: Callable[[str], Array], then: Any = None) -> Array:
    """Rates of all rows of a constraint for some motion of frames and joints."""
    scene = MovingScene(motion, speed, turn, then)
    held = scene.rates(tie.residual(scene))
    if len(held) == len(tie.units):
        return held
    sliding = SlipScene(motion, speed, turn, then)
    return tidy(np.concatenate([held, sliding.rates(tie.slip(sliding))]))


def _each(make: Callable[[Scalar, Scalar], Scalar], *arrays: Array) -> Array:
    shape = np.shape(arrays[0])
    flat = [np.asarray(array, dtype=object).ravel() for array in arrays]
    found = np.empty(len(flat[0]), dtype=object)
    for i, entries in enumerate(zip(*flat, strict=True)):
        found[i] = make(*entries)
    return found.reshape(shape)


def _rate(x: Scalar, level: int) -> Scalar:
    return x.rate if isinstance(x, Dual) and x.level == level else 0.0


class _Moving:
    """Rates of frames and joints for some speeds or accelerations of a motion."""

    def __init__(self, speed: Rates, turn: Callable[[str], Array]) -> None:
        self.speed, self.turn = speed, turn


def residual(motion: Motion, tie: Tie) -> Array:
    """What is missing for a constraint to hold; nothing for slips, which no position can mend."""
    slips = sum(unit not in POSITIONS for unit in tie.units)
    return tidy([*tie.residual(_Still(motion)), *[0.0] * slips])


class _Still(_Scene):
    """A scene of plain poses."""

    def __init__(self, motion: Motion) -> None:
        super().__init__(motion)
        self.pose = motion.pose

    def joint_q(self, name: str) -> Array:
        return self.motion.joint_state(name)[0]


def drift(motion: Motion, tie: Tie) -> Array:
    """Rates of the rows as everything moves now."""
    return row_rates(motion, tie, motion.velocity, motion.joint_rate)


def bias(motion: Motion, tie: Tie) -> Array:
    """Second rate of the residual, and rate of slips, while the accelerations of the state are zero."""
    still = motion.spread(np.zeros(motion.topology.n_u))
    A = recursive.accelerate_tree(motion.tree.nodes, motion.geometry, motion.moved, still, motion.base)
    by_joint = {node.joint.name: values for node, values in zip(motion.tree.nodes, still, strict=True)}

    def second(frame: Frame) -> tuple[Array, Array]:
        node, X = motion.place(frame)
        if node == WORLD:
            return ZERO3, ZERO3
        R, w, (eps, W) = motion.link_poses[node].R, motion.moved[node].w, A[node]
        return R @ eps, R @ (W + cross(eps, X.p) + cross(w, cross(w, X.p))) + motion.gravity

    then = _Moving(second, lambda name: by_joint[name])
    return row_rates(motion, tie, motion.velocity, motion.joint_rate, then)


def jacobian(motion: Motion, tie: Tie) -> Array:
    """G: rates of the rows for unit speeds of the state, one column for each."""
    columns = []
    for i, k, ratio in _freedoms(motion):
        carried = _carried(motion, i)
        S, X = motion.moved[i].S, motion.link_poses[i]
        w = X.R @ S[:3, k] * ratio
        v = X.R @ S[3:, k] * ratio
        name = motion.tree.nodes[i].joint.name
        columns.append(_column(motion, tie, carried, (w, v, X.p), name, k, ratio))
    G = np.zeros((len(tie.units), motion.topology.n_u), dtype=object)
    G[:] = 0.0
    for (i, k, _), column in zip(_freedoms(motion), columns, strict=True):
        way = motion.state_of(motion.tree.nodes[i].joint.name)
        assert way is not None
        G[:, way[0] + k] = G[:, way[0] + k] + column
    return G


def _freedoms(motion: Motion) -> list[tuple[int, int, Scalar]]:
    """Node, number and ratio of every freedom that a speed of the state moves."""
    found = []
    for node in motion.tree.nodes:
        way = motion.state_of(node.joint.name)
        if way is not None:
            found += [(node.index, k, way[1]) for k in range(node.joint.n_u)]
    return found


def _carried(motion: Motion, i: int) -> set[int]:
    """A node and all that it carries."""
    found = {i}
    for node in motion.tree.nodes[i + 1 :]:
        if node.parent in found:
            found.add(node.index)
    return found


def _column(
    motion: Motion, tie: Tie, carried: set[int], twist: tuple[Array, Array, Array], name: str, k: int, ratio: Scalar
) -> Array:
    w, v, at = twist

    def speed(frame: Frame) -> tuple[Array, Array]:
        node, _ = motion.place(frame)
        return (w, v + cross(w, motion.pose(frame).p - at)) if node in carried else (ZERO3, ZERO3)

    def turn(other: str) -> Array:
        joint = motion.system.joints[other]
        unit = np.zeros(joint.n_u, dtype=object)
        unit[:] = 0.0
        if other == name:
            unit[k] = ratio
        return joint.rate_map(motion.joint_state(other)[0], unit)

    return row_rates(motion, tie, speed, turn)


def solve_saddle(M: Array, G: Array, f: Array, gamma: Array) -> tuple[Array, Array]:
    """u_dot and lam of M u_dot = f + G' lam, G u_dot = gamma."""
    return saddle_solver(M, G)(f, gamma)


def saddle_solver(M: Array, G: Array) -> Callable[[Array, Array], tuple[Array, Array]]:
    """Solves for any right-hand sides with one factorization, by L D L' without pivoting.

    Each multiplier is eliminated after the coordinates that its row touches, so that its pivot is there;
    among what may go next the one with the fewest neighbors goes (minimum degree), which keeps the code of
    many small loops linear in their number.
    """
    n, m = len(M), len(G)
    K = np.zeros((n + m, n + m), dtype=object)
    K[:] = 0.0
    K[:n, :n] = M
    K[n:, :n] = G
    K[:n, n:] = G.T
    order = elimination_order(K, n)
    pivots, columns = _factor(K[np.ix_(order, order)])

    def solve(f: Array, gamma: Array) -> tuple[Array, Array]:
        right = np.concatenate([f, gamma]).astype(object)
        result = np.empty(n + m, dtype=object)
        result[order] = _substitute(pivots, columns, right[order])
        return tidy(result[:n]), tidy(-result[n:])

    return solve


def elimination_order(K: Array, n: int) -> list[int]:
    """Minimum degree, with every multiplier (index n and above) after the coordinates that it touches."""
    size = len(K)
    near = [{j for j in range(size) if j != i and not _is_zero(K[i, j])} for i in range(size)]
    waits = {i: {j for j in near[i] if j < n} for i in range(n, size)}
    left = set(range(size))
    order: list[int] = []
    while left:
        ready = [i for i in left if i < n or not waits[i] & left]
        pick = min(ready, key=lambda i: (len(near[i] & left), i))
        left.discard(pick)
        order.append(pick)
        around = near[pick] & left
        for i in around:
            near[i] |= around - {i}
    return order


def _is_zero(x: Scalar) -> bool:
    return is_number(x) and bool(x == 0)


Column = dict[int, Scalar]


def _factor(K: Array) -> tuple[list[Scalar], list[Column]]:
    """L D L' of a symmetric K in an order in which no pivot vanishes: inverse pivots, columns of L without zeros."""
    n = len(K)
    work = np.array(K, dtype=object)
    pivots: list[Scalar] = []
    columns: list[Column] = []
    for j in range(n):
        inverse = 1.0 / work[j, j]
        below = [i for i in range(j + 1, n) if not _is_zero(work[i, j])]
        factor = {i: work[i, j] * inverse for i in below}
        for i in below:
            for k in below:
                if k <= i:
                    work[i, k] = work[i, k] - factor[i] * work[k, j]
        pivots.append(inverse)
        columns.append(factor)
    return pivots, columns


def _substitute(pivots: list[Scalar], columns: list[Column], b: Array) -> Array:
    x = np.array(b, dtype=object)
    for j, column in enumerate(columns):
        for i, value in column.items():
            x[i] = x[i] - value * x[j]
    for j in reversed(range(len(x))):
        x[j] = x[j] * pivots[j]
        for i, value in columns[j].items():
            x[j] = x[j] - value * x[i]
    return x
