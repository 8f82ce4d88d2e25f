"""Sharing of redundant reactions by least norm, (T-5.6), as the loads in joints of equal stiffness.

Let E x be the balances of all bodies for unknown loads x: reactions of joints, efforts of drives and gears, and
multipliers.  The x of least norm with E x = r is E' v with K v = r.  K = E E' is the stiffness matrix of bodies in
equally stiff joints and v are their displacements.  K has a block for each pair of bodies with a joint between them and
is as sparse as the mechanism.  Balances are about the origins of the bodies in their own axes, where most blocks are
constant.

K is singular, because a mechanism moves.  As many of its freedoms are locked as it has: a lock is a further unknown
effort.  It does not change the result, since the given loads are in equilibrium without it.

Every unknown of a joint is a vector [force; moment over the length] in the canonical axes of frame M.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kinode.algebra.scalars import Array, Scalar, is_zero, maximum, sqrt
from kinode.algebra.sparse_ldl import Factor
from kinode.algebra.spatial import Pose, skew
from kinode.model.constraints.constraint import ANGULAR
from kinode.model.joints.joint import Joint
from kinode.model.system import joint_frame
from kinode.multibody.loop_constraints import loop_constraints_of
from kinode.multibody.snapshot import Snapshot

Column = dict[int, Scalar]  # balance -> entry
FORCE = slice(0, 3)
MOMENT = slice(3, 6)


@dataclass(frozen=True, eq=False)
class Side:
    """One body of a joint: the row of its balances, frame M in its axes, and the sign of the load."""

    row: int
    R: Array
    arm: Array  # over the length
    sign: float

    def balance(self, load: Array) -> Array:
        """[Moment over the length; force] about the origin, in the axes of the body."""
        force, moment = self.R @ load[FORCE], self.R @ load[MOMENT]
        return self.sign * np.concatenate([moment + skew(self.arm) @ force, force])

    def load(self, v: Array) -> Array:
        """The transpose of ``balance``."""
        return self.sign * np.concatenate([self.R.T @ (v[3:] - skew(self.arm) @ v[:3]), self.R.T @ v[:3]])


@dataclass(frozen=True, eq=False)
class StiffJoint:
    """The unknown reaction of a joint: it does no work along the freedoms."""

    sides: tuple[Side, ...]
    R_FM: Array  # to the given axes of F
    freedoms: list[Array]  # orthonormal
    efforts: list[Array]  # loads of unit efforts, with moments over the length

    def without_freedoms(self, load: Array) -> Array:
        """The part of a load that does no work along the freedoms."""
        for s in self.freedoms:
            load = load - s * _dot(s, load)
        return load

    def stiffness(self) -> list[tuple[int, int, Array]]:
        """The blocks of K: row, column, entries."""
        columns = [[side.balance(s) for s in self.freedoms] for side in self.sides]
        blocks = []
        for i, one in enumerate(self.sides):
            for j, other in enumerate(self.sides[: i + 1]):
                block = _whole_stiffness(one, other)
                for c, d in zip(columns[i], columns[j], strict=True):
                    block = block - np.outer(c, d)
                blocks.append((one.row, other.row, block))
        return blocks

    def find_column(self, load: Array) -> Column:
        """The balances of a load."""
        return {side.row + k: x for side in self.sides for k, x in enumerate(side.balance(load)) if not is_zero(x)}


def _whole_stiffness(one: Side, other: Side) -> Array:
    """The block of a joint without freedoms between two of its sides."""
    if one is other:
        arm, unit = skew(one.arm), np.eye(3)
        return np.block([[unit - arm @ arm, arm], [-arm, unit]])
    R, left, right = one.R @ other.R.T, skew(one.arm), skew(other.arm)
    return one.sign * other.sign * np.block([[R - left @ R @ right, left @ R], [-(R @ right), R]])


class EqualStiffness:
    """K of a snapshot with locked freedoms: ``locks`` are pairs of a joint and the index of its coordinate."""

    def __init__(self, snapshot: Snapshot, length: float, locks: Sequence[tuple[str, int]]) -> None:
        self.snapshot, self.system, self.length = snapshot, snapshot.system, length
        self.rows = {body: 6 * k for k, body in enumerate(self.system.bodies)}
        self.joints = {name: self._joint(joint) for name, joint in self.system.joints.items()}
        self.extras = self._find_extras()
        self.locks = [self._effort(name, k) for name, k in locks]

    def _joint(self, joint: Joint) -> StiffJoint:
        resolve = self.snapshot.resolve
        axes, form = joint.axis_rotation(resolve, self.system.nominal), joint.form(resolve)
        F, M = (joint_frame(joint, side).pose(resolve) @ Pose(axes, np.zeros(3)) for side in ("parent", "child"))
        q = self.snapshot.kinematics.joint_state(joint.name)[0]
        if joint.name in self.snapshot.topology.cut_names:
            X_WF, X_WM = (self.snapshot.pose(joint_frame(joint, side)) for side in ("parent", "child"))
            X = Pose(axes, np.zeros(3)).inverse() @ (X_WF.inverse() @ X_WM) @ Pose(axes, np.zeros(3))
        else:
            X = joint.transform(q, form)
        ends = (Side(self.rows.get(joint.b.body, -1), M.R, M.p / self.length, 1.0),
                Side(self.rows.get(joint.a.body, -1), F.R @ X.R, (F.p + F.R @ X.p) / self.length, -1.0))  # fmt: skip
        S, T = joint.motion_subspace(q, form), joint.effort_wrench(q, form)
        units = [self.length if kind == "angle" else 1.0 for _, kind in joint.coordinates]
        freedoms = _orthonormal([np.concatenate([s[3:], self.length * s[:3]]) for s in np.transpose(S)])
        efforts = [
            np.concatenate([t[3:], t[:3] / self.length]) * unit for t, unit in zip(np.transpose(T), units, strict=True)
        ]
        return StiffJoint(tuple(side for side in ends if side.row >= 0), axes @ X.R, freedoms, efforts)

    def _effort(self, name: str, k: int) -> Column:
        """The balances of a unit effort of a joint."""
        return self.joints[name].find_column(self.joints[name].efforts[k])

    def _find_extras(self) -> dict[str, list[Column]]:
        """The balances of unit efforts and multipliers, by their names in ``topology.holding``."""
        couplings, extras = self.snapshot.topology.couplings, {}
        for name, joint in self.system.joints.items():
            if joint.driven and joint.n_u:
                extras[f"{name}.effort"] = [self._effort(name, k) for k in range(joint.n_u)]
        for name, coupling in couplings.items():
            units = [self._unit(joint) for joint in (name, coupling.leader)]
            ratio = self.snapshot.resolve(coupling.ratio) * (units[0] / units[1])
            column = self._effort(name, 0)
            for row, x in self._effort(coupling.leader, 0).items():
                column[row] = column.get(row, 0.0) - ratio * x
            extras[f"{name}.effort"] = [column]
        return {**extras, **self._find_multipliers()}

    def _find_multipliers(self) -> dict[str, list[Column]]:
        """The balances of unit multipliers of constraint elements."""
        topology = self.snapshot.topology
        if not topology.constraints:
            return {}
        loads, multipliers, start = self.snapshot.constraints.unit_loads(), {}, 0
        turns = {body: self.snapshot.pose(self.system.find_frame(body)).R.T for body in self.rows}
        for constraint in loop_constraints_of(topology):
            if constraint.name not in topology.cut_names:
                columns: list[Column] = []
                for unit in constraint.units:
                    load, scale = loads[:, start], self.length if unit in ANGULAR else 1.0
                    start += 1
                    column: Column = {}
                    for body, row in self.rows.items():
                        moment, force = turns[body] @ load[row : row + 3], turns[body] @ load[row + 3 : row + 6]
                        entries = enumerate([*(moment * (scale / self.length)), *(force * scale)])
                        column.update({row + k: x for k, x in entries if not is_zero(x)})
                    columns.append(column)
                multipliers[constraint.name] = columns
        return multipliers

    def _unit(self, joint: str) -> float:
        return self.length if self.system.joints[joint].coordinates[0][1] == "angle" else 1.0

    @cached_property
    def factor(self) -> Factor:
        """K = L D L'."""
        K: list[Column] = [{} for _ in range(6 * len(self.rows))]
        for joint in self.joints.values():
            for row, column, block in joint.stiffness():
                for (i, j), x in np.ndenumerate(block):
                    if not is_zero(x):
                        K[row + i][column + j] = K[row + i].get(column + j, 0.0) + x
                        if row != column:
                            K[column + j][row + i] = K[row + i][column + j]
        for c in (*(column for columns in self.extras.values() for column in columns), *self.locks):
            for i, x in c.items():
                for j, y in c.items():
                    K[i][j] = K[i].get(j, 0.0) + x * y
        return Factor(K, len(K))

    @property
    def flexibility(self) -> Scalar:
        """The largest of the inverse pivots: how near a further freedom is."""
        largest: Scalar = 0.0
        for inverse in self.factor.inverse.values():
            largest = maximum(largest, maximum(inverse, -inverse))
        return largest

    def share(self, x: dict[str, Array]) -> tuple[dict[str, Array], Scalar]:
        """The part of given components that is no internal stress less them, and the size of the efforts of locks.

        Components are those of ``topology.holding``, with moments over the length.
        """
        right: list[Scalar] = [0.0] * (6 * len(self.rows))
        given = {}
        for name, joint in self.joints.items():
            turned = np.concatenate([joint.R_FM.T @ x[name][FORCE], joint.R_FM.T @ x[name][MOMENT]])
            given[name] = joint.without_freedoms(turned)
            for row, value in joint.find_column(given[name]).items():
                right[row] = right[row] + value
        for name, columns in self.extras.items():
            for column, size in zip(columns, x[name], strict=True):
                for row, value in column.items():
                    right[row] = right[row] + value * size
        v = self.factor.solve(right)
        change = {}
        for name, joint in self.joints.items():
            load = sum((side.load(v[side.row : side.row + 6]) for side in joint.sides), np.zeros(6))
            load = joint.without_freedoms(load) - given[name]
            change[name] = np.concatenate([joint.R_FM @ load[FORCE], joint.R_FM @ load[MOMENT]])
        for name, columns in self.extras.items():
            change[name] = np.array([_along(c, v) - size for c, size in zip(columns, x[name], strict=True)])
        locked = sum((_along(column, v) ** 2 for column in self.locks), 0.0)
        return change, locked


def _along(column: Column, v: Array) -> Scalar:
    return sum((x * v[row] for row, x in column.items()), 0.0)


def _dot(a: Array, b: Array) -> Scalar:
    return sum((x * y for x, y in zip(a, b, strict=True)), 0.0)


def _orthonormal(vectors: Sequence[Array]) -> list[Array]:
    """The same space, by Gram and Schmidt."""
    basis: list[Array] = []
    for vector in vectors:
        for e in basis:
            vector = vector - e * _dot(e, vector)
        basis.append(vector / sqrt(_dot(vector, vector)))
    return basis
