"""Closed loops as products of screws: can the joints of a loop move, or only begin to?

Around one position a joint is a product of exponentials of its freedoms, each a screw in the world's axes; a loop is
closed where the product around it is one.  The motions that the loop allows to first order are the null space of its
screws.  Whether such a motion goes on is found by walking: a step along it, then Newton's iteration back to a closed
loop.  Where that leads back to the start, the loop is only shaky: it gives way to first order, and does not move.

Lengths are divided by the size of the loop.  Drives, gears and other constraints are not part of it: what is asked is
whether the joints alone allow a motion.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from kinode.algebra.scalars import Array
from kinode.formulations.reaction_uniqueness import ConstraintDirections

RANK = 1e-8  # singular values below this share of the largest are zero
STEP = 0.05  # rad, or sizes of the loop: of one step away
MOVED = 1e-3  # of the step: a joint that moves less stays still
WENT_ON = 0.3  # of the step: what is nearer to the start after closing has come back
CLOSED = 1e-10  # residual of a closed loop
NEWTON = 60  # steps; one that comes back halves its way with each
TRIES = 8  # directions
SMALL_ANGLE = 1e-8


@dataclass(frozen=True, eq=False)
class JointScrews:
    """A joint as an edge between two bodies, with its freedoms as columns [angular; linear] in the world's axes."""

    name: str
    a: str
    b: str
    columns: Array


def joint_screws(name: str, found: ConstraintDirections, origin: Array, size: float) -> JointScrews:
    """The freedoms of a joint about an origin, lengths divided by a size."""
    angular, linear = found.R_WM @ found.S[:3], found.R_WM @ found.S[3:]
    arm = np.asarray(found.p_WM, dtype=float) - origin
    linear = (linear + np.cross(arm, angular.T).T) / size
    columns = np.vstack([angular, linear])
    norms = np.linalg.norm(columns, axis=0)
    return JointScrews(name, found.joint.a.body, found.joint.b.body, columns / np.where(norms > 0, norms, 1.0))


class LoopBlock:
    """Loops that share joints: they move, or are locked, together.

    Parameters
    ----------
    joints : list of JointScrews
        All joints of the loops.
    cycles : list
        Around each loop: numbers of joints, and 1 from a to b or -1 from b to a.
    """

    def __init__(self, joints: Sequence[JointScrews], cycles: Sequence[Sequence[tuple[int, int]]]) -> None:
        self.joints, self.cycles = list(joints), cycles
        counts = [joint.columns.shape[1] for joint in self.joints]
        starts = np.concatenate([[0], np.cumsum(counts)])
        self.where = [slice(int(a), int(b)) for a, b in pairwise(starts)]
        self.size = int(starts[-1])

    @property
    def names(self) -> list[str]:
        """The joints by name."""
        return [joint.name for joint in self.joints]

    def residual(self, theta: Array) -> tuple[Array, Array]:
        """What is left of each loop after its joints have moved by theta, and how that changes with theta."""
        r, J = np.zeros(6 * len(self.cycles)), np.zeros((6 * len(self.cycles), self.size))
        for k, cycle in enumerate(self.cycles):
            R, p, rows = np.eye(3), np.zeros(3), slice(6 * k, 6 * k + 6)
            for index, sign in cycle:
                columns, where = self.joints[index].columns, self.where[index]
                order = range(columns.shape[1]) if sign > 0 else range(columns.shape[1] - 1, -1, -1)
                for c in order:
                    w, v = R @ columns[:3, c], R @ columns[3:, c]
                    J[rows, where.start + c] = sign * np.concatenate([w, v + np.cross(p, w)])
                    turn, shift = _exponential(columns[:, c], sign * theta[where.start + c])
                    R, p = R @ turn, R @ shift + p
            r[rows] = np.concatenate([0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]), p])
        return r, J

    def first_motions(self, fixed: Sequence[str] = ()) -> Array:
        """Motions that all loops allow to first order, as columns; some joints may be kept still."""
        J = self.residual(np.zeros(self.size))[1]
        free = np.ones(self.size, dtype=bool)
        for joint, where in zip(self.joints, self.where):
            free[where] = joint.name not in fixed
        null = _null_space(J[:, free])
        motions = np.zeros((self.size, null.shape[1]))
        motions[free] = null
        return motions

    def finite_motions(self) -> Iterator[Array]:
        """Positions that walks away from the start reach; none where the loops are locked."""
        first = self.first_motions()
        if not first.shape[1]:
            return
        rng = np.random.default_rng(0)
        ways = [first @ rng.normal(size=first.shape[1]) for _ in range(TRIES if first.shape[1] > 1 else 1)]
        for way in [*ways, *first.T]:
            for sign in (1.0, -1.0):
                theta = self._walk(sign * STEP * way / np.linalg.norm(way))
                if theta is not None:
                    yield theta

    def moving(self) -> set[str]:
        """The joints that move on some way."""
        movable = {joint.name for joint in self.joints if joint.columns.shape[1]}
        found: set[str] = set()
        for theta in self.finite_motions():
            for joint, where in zip(self.joints, self.where):
                if abs(theta[where]).max(initial=0.0) > MOVED * STEP:
                    found.add(joint.name)
            if found == movable:
                break
        return found

    def _walk(self, theta: Array) -> Array | None:
        """A closed position near theta; None where there is none but the start."""
        far = WENT_ON * float(np.linalg.norm(theta))
        for _ in range(NEWTON):
            r, J = self.residual(theta)
            if float(abs(r).max()) < CLOSED:
                break
            theta = theta - np.linalg.lstsq(J, r, rcond=RANK)[0]
            if float(np.linalg.norm(theta)) < far:
                return None
        else:
            return None
        return theta if float(np.linalg.norm(theta)) >= far else None


def find_blocks(joints: Sequence[JointScrews]) -> Iterator[LoopBlock]:
    """The loops of a mechanism, those that share joints together."""
    groups: list[tuple[set[int], list[list[tuple[int, int]]]]] = []
    for cycle in _find_cycles(joints):
        members, own = {index for index, _ in cycle}, [cycle]
        for group in [group for group in groups if group[0] & members]:
            members |= group[0]
            own += group[1]
            groups.remove(group)
        groups.append((members, own))
    for members, own in groups:
        order = sorted(members)
        number = {index: k for k, index in enumerate(order)}
        yield LoopBlock(
            [joints[index] for index in order], [[(number[index], sign) for index, sign in cycle] for cycle in own]
        )


def _find_cycles(joints: Sequence[JointScrews]) -> list[list[tuple[int, int]]]:
    """Around each joint that is not in a spanning tree of the bodies, the loop that it closes."""
    above: dict[str, tuple[str, int, int] | None] = {}
    closing: set[int] = set(range(len(joints)))
    for root in dict.fromkeys(["world", *(body for joint in joints for body in (joint.a, joint.b))]):
        if root in above:
            continue
        above[root] = None
        waiting = [root]
        while waiting:
            here = waiting.pop(0)
            for k, joint in enumerate(joints):
                for near, far, sign in ((joint.a, joint.b, 1), (joint.b, joint.a, -1)):
                    if near == here and far not in above:
                        above[far] = (here, k, sign)
                        closing.discard(k)
                        waiting.append(far)
    cycles = []
    for k in sorted(closing):
        down, up = _way_up(above, joints[k].a), _way_up(above, joints[k].b)
        while down and up and down[-1] == up[-1]:
            down.pop()
            up.pop()
        cycles.append([*down[::-1], (k, 1), *((index, -sign) for index, sign in up)])
    return cycles


def _way_up(above: Mapping[str, tuple[str, int, int] | None], body: str) -> list[tuple[int, int]]:
    """The joints from a body to the root of its tree, each with its sign from the root to the body."""
    way = []
    step = above[body]
    while step is not None:
        way.append((step[1], step[2]))
        step = above[step[0]]
    return way


def _exponential(column: Array, angle: float) -> tuple[Array, Array]:
    """Rotation and translation of a screw after an angle."""
    w, v = column[:3], column[3:]
    rate = float(np.linalg.norm(w))
    turned = rate * angle
    if abs(turned) < SMALL_ANGLE:
        return np.eye(3) + angle * _skew(w), angle * v
    K = _skew(w / rate)
    s, c = np.sin(turned), 1.0 - np.cos(turned)
    V = turned * np.eye(3) + c * K + (turned - s) * K @ K
    return np.eye(3) + s * K + c * K @ K, V @ v / rate


def _skew(w: Array) -> Array:
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def _null_space(A: Array) -> Array:
    if not A.shape[1]:
        return np.zeros((0, 0))
    _, sizes, Vt = np.linalg.svd(A)
    rank = int(np.sum(sizes > RANK * sizes.max(initial=0.0))) if sizes.size else 0
    motions: Array = Vt[rank:].T
    return motions
