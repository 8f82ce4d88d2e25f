"""All constraints of an instant together: residuals, rates, and the loads of their multipliers.

``topology.rows`` are the indices of the independent rows, which alone are used; if it is None, all rows are.  Nothing
here depends on efforts: a motion solves for the multipliers.

In an overconstrained loop in space (Bennett's, Bricard's) no choice of rows stays independent over a full turn.  The
rows of such a group, c with Jacobian G of rank r, are replaced by r combinations Q'c.  The columns of Q are an
orthonormal basis of the column space of G in the position at hand, by Gram-Schmidt with pivoting.  Q'G has the singular
values of G, so that it loses its rank only where the loop itself does.  The motion depends on the column space alone,
and not on the columns that pivoting takes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kinode.algebra.scalars import Array, inverse, less, sqrt, tidy, where
from kinode.algebra.sparse_ldl import Row
from kinode.algebra.spatial import cross
from kinode.model.base.element import Load
from kinode.model.base.frames import Frame
from kinode.multibody.restraints import loop_constraints
from kinode.multibody.restraints.constraint_scenes import FrameRates
from kinode.multibody.restraints.loop_constraints import LoopConstraint

if TYPE_CHECKING:
    from kinode.multibody.kinematics import Kinematics

GOLDEN_RATIO = 0.618033988749895  # its multiples modulo 1 are spread evenly and never repeat

RowFunction = Callable[["Kinematics", Sequence[LoopConstraint]], list[Array]]
"""The rows of each constraint."""


class Combined(NamedTuple):
    """Combinations of a group of rows: their places among the independent rows, weights, and rows of G."""

    of: list[int]
    places: list[int]
    weights: Array
    rows: list[Row]


class Constraints:
    """The constraints of one instant."""

    def __init__(self, kinematics: Kinematics) -> None:
        self.kinematics = kinematics
        self.loop_constraints = loop_constraints.loop_constraints_of(kinematics.topology)

    def every(self, function: RowFunction) -> Array:
        """The values of a function of the constraints, for all rows."""
        values = function(self.kinematics, self.loop_constraints)
        return np.concatenate([np.asarray(rows, dtype=object) for rows in values])

    def chosen(self, function: RowFunction) -> Array:
        """The same, for the independent rows alone."""
        return self.combine(self.every(function))

    def combine(self, values: Array) -> Array:
        """The values of the independent rows, from those of all rows."""
        rows = self.kinematics.topology.rows
        if rows is None:
            return values
        combined = values[list(rows)]
        for group in self.combined:
            combined[group.places] = group.weights @ values[group.of]
        return combined

    @cached_property
    def combined(self) -> list[Combined]:
        """The groups of rows that are combined."""
        topology, every = self.kinematics.topology, self.all_rows if self.kinematics.topology.groups else []
        chosen, found = topology.rows or (), []
        for group in topology.groups:
            speeds = sorted(set[int]().union(*(every[k] for k in group.rows)))
            scale = np.array([topology.scale[k] for k in group.rows])
            G = np.array([[every[k].get(j, 0.0) for j in speeds] for k in group.rows], dtype=object)
            weights = _orthonormal(G / scale[:, None], group.rank) / scale
            places = [place for place, k in enumerate(chosen) if k in group.rows]
            rows = [dict(zip(speeds, row, strict=True)) for row in weights @ G]
            found.append(Combined(list(group.rows), places, weights, rows))
        return found

    @property
    def all_rows(self) -> list[Row]:
        """G: all rows, without the entries of speeds that they do not depend on."""
        rows: list[Row] = []
        columns_of = loop_constraints.columns(self.kinematics, self.loop_constraints)
        for constraint, columns in zip(self.loop_constraints, columns_of, strict=True):
            rows += [{j: values[k] for j, values in columns.items()} for k in range(len(constraint.units))]
        return rows

    @property
    def pattern(self) -> list[tuple[int, int]]:
        """Row and column of each entry of ``all_rows``, without computing the entries."""
        entries: list[tuple[int, int]] = []
        row = 0
        for constraint in self.loop_constraints:
            freedoms = loop_constraints.freedoms(self.kinematics, constraint)
            columns = dict.fromkeys(column for _, _, column, _ in freedoms)
            entries += [(row + k, j) for k in range(len(constraint.units)) for j in columns]
            row += len(constraint.units)
        return entries

    @cached_property
    def rows(self) -> list[Row]:
        """The independent rows of G."""
        every, chosen = self.all_rows, self.kinematics.topology.rows
        rows = every if chosen is None else [every[k] for k in chosen]
        for group in self.combined:
            for place, row in zip(group.places, group.rows, strict=True):
                rows[place] = row
        return rows

    @property
    def probe_rates(self) -> Array:
        """Irregular rates of the independent rows, which no symmetry of a mechanism matches."""
        rates = probe_rates(len(self.units)).astype(object)
        for group in self.combined:
            rates[group.places] = group.weights @ probe_rates(len(group.of))
        return rates

    @property
    def jacobian(self) -> Array:
        """G of the independent rows as a dense matrix."""
        G = np.zeros((len(self.rows), self.kinematics.topology.n_u), dtype=object)
        G[:] = 0.0
        for row, entries in zip(G, self.rows, strict=True):
            row[list(entries)] = list(entries.values())
        return G

    @property
    def units(self) -> list[str]:
        """The units of the independent rows."""
        topology = self.kinematics.topology
        units = [unit for _, unit in topology.row_units]
        return units if topology.rows is None else [units[k] for k in topology.rows]

    def loads(self, multipliers: Array, name: str | None = None) -> list[Load]:
        """Forces and moments on the frames of all constraints, or of the one called ``name``."""
        each = self.scatter(multipliers)
        chosen = [constraint for constraint in self.loop_constraints if name is None or constraint.name == name]
        return [load for constraint in chosen for load in self.loads_of(constraint, each[constraint.name])]

    def scatter(self, multipliers: Array) -> dict[str, Array]:
        """The multipliers of all rows, by the name of their constraint; zero for dependent rows outside of groups."""
        rows = self.kinematics.topology.rows
        values = np.zeros(sum(len(constraint.units) for constraint in self.loop_constraints), dtype=object)
        values[:] = 0.0
        values[list(range(len(values)) if rows is None else rows)] = multipliers
        for group in self.combined:
            values[group.of] = np.asarray(multipliers)[group.places] @ group.weights
        ends = np.cumsum([len(constraint.units) for constraint in self.loop_constraints])[:-1]
        return dict(zip((constraint.name for constraint in self.loop_constraints), np.split(values, ends), strict=True))

    def loads_of(self, constraint: LoopConstraint, lam: Array) -> list[Load]:
        """Loads of a constraint by virtual power: lam . c_dot for the six unit velocities of each of its frames.

        If the constraint reads the coordinate of a tree joint, the two frames of the joint are loaded.
        """
        loads = []
        for frame, rates in self.virtual_rates(constraint):
            powers = [sum((a * b for a, b in zip(lam, each, strict=True)), 0.0) for each in rates]
            loads.append(Load(frame, tidy(powers[3:]), tidy(powers[:3])))
        return loads

    def unit_loads(self) -> Array:
        """Moment about the origin of each body and force, in world axes, for unit multipliers: 6 bodies x rows.

        The rows of cut joints are left out: their reactions are unknowns of their own.
        """
        kinematics = self.kinematics
        bodies = {name: 6 * k for k, name in enumerate(kinematics.system.bodies)}
        cut_names = kinematics.topology.cut_names
        constraints = [constraint for constraint in self.loop_constraints if constraint.name not in cut_names]
        loads = np.zeros((6 * len(bodies), sum(len(constraint.units) for constraint in constraints)), dtype=object)
        start = 0
        for constraint in constraints:
            for frame, rates in self.virtual_rates(constraint):
                if frame.body in bodies:
                    k, arm = bodies[frame.body], kinematics.pose(frame).p - kinematics.pose(Frame(frame.body)).p
                    for j, (*moment, x, y, z) in enumerate(zip(*rates, strict=True), start):
                        force = tidy([x, y, z])
                        loads[k : k + 3, j] += tidy(moment) + cross(arm, force)
                        loads[k + 3 : k + 6, j] += force
            start += len(constraint.units)
        return loads

    def virtual_rates(self, constraint: LoopConstraint) -> list[tuple[Frame, list[Array]]]:
        """The frames of a constraint, and the rates of its rows for the six unit velocities of each."""
        kinematics = self.kinematics
        rates = []
        for frame in frames_of(kinematics, constraint):
            each = []
            for unit in np.eye(6):

                def speed(other: Frame, frame: Frame = frame, unit: Array = unit) -> tuple[Array, Array]:
                    return (unit[:3], unit[3:]) if other == frame else (np.zeros(3), np.zeros(3))

                each.append(
                    loop_constraints.row_rates(kinematics, constraint, speed, partial(_turn, kinematics, speed))
                )
            rates.append((frame, each))
        return rates


def _orthonormal(G: Array, rank: int) -> Array:
    """An orthonormal basis of the column space of G, as rows; each begins with the largest of what is left."""
    left, basis = G.T, []
    for _ in range(rank):
        size, largest = left[0] @ left[0], left[0]
        for column in left[1:]:
            other = column @ column
            larger = less(size, other)
            size = where(larger, other, size)
            largest = np.array([where(larger, a, b) for a, b in zip(column, largest, strict=True)], dtype=object)
        direction = largest * inverse(sqrt(size))
        basis.append(direction)
        left = left - np.outer(left @ direction, direction)
    return np.array(basis, dtype=object)


def probe_rates(count: int) -> Array:
    """Irregular rates of some rows."""
    numbers = np.arange(1, count + 1)
    probe: Array = np.where(np.sin(numbers**2) < 0, -1.0, 1.0) * (1.0 + numbers * GOLDEN_RATIO % 1.0)
    return probe


def frames_of(kinematics: Kinematics, constraint: LoopConstraint) -> list[Frame]:
    """The frames whose velocities change a constraint's rows."""
    frames: list[Frame] = []

    def speed(frame: Frame) -> tuple[Array, Array]:
        if frame not in frames:
            frames.append(frame)
        return np.zeros(3), np.zeros(3)

    loop_constraints.row_rates(kinematics, constraint, speed, partial(_turn, kinematics, speed))
    return frames


def _turn(kinematics: Kinematics, speed: FrameRates, name: str) -> Array:
    """Rate of a joint's coordinates from velocities of its frames."""
    q = kinematics.joint_state(name)[0]
    return kinematics.system.joints[name].rate_map(q, kinematics.relative_speeds(name, q, speed))
