"""All constraints of an instant together: residuals, rates, and what their multipliers do to bodies and coordinates.

``topology.rows`` names the rows that are used, an independent set of all; without it all are.  Nothing here depends on
efforts: the multipliers are those of a motion, which solves for them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array, tidy
from kinode.algebra.sparse_ldl import Row
from kinode.algebra.spatial import cross
from kinode.model.base.element import Load
from kinode.model.base.frames import Frame
from kinode.multibody.restraints import loop_constraints
from kinode.multibody.restraints.constraint_scenes import FrameRates
from kinode.multibody.restraints.loop_constraints import LoopConstraint

if TYPE_CHECKING:
    from kinode.multibody.kinematics import Kinematics


class Constraints:
    """The constraints of one instant."""

    def __init__(self, kinematics: Kinematics) -> None:
        self.kinematics = kinematics
        self.ties = loop_constraints.loop_constraints_of(kinematics.topology)

    def every(self, function: Callable[[Kinematics, LoopConstraint], Array]) -> Array:
        """A function of each constraint, all rows."""
        return np.concatenate([np.asarray(function(self.kinematics, tie), dtype=object) for tie in self.ties])

    def chosen(self, function: Callable[[Kinematics, LoopConstraint], Array]) -> Array:
        """The same, the independent rows alone."""
        values = self.every(function)
        rows = self.kinematics.topology.rows
        return values if rows is None else values[list(rows)]

    @property
    def all_rows(self) -> list[Row]:
        """G: all rows, without the entries of speeds that cannot move them."""
        rows: list[Row] = []
        for tie in self.ties:
            columns = loop_constraints.columns(self.kinematics, tie)
            rows += [{j: values[k] for j, values in columns.items()} for k in range(len(tie.units))]
        return rows

    @property
    def pattern(self) -> list[tuple[int, int]]:
        """Row and column of the entries of all rows, one after the other, without computing them."""
        places: list[tuple[int, int]] = []
        row = 0
        for tie in self.ties:
            columns = dict.fromkeys(column for _, _, column, _ in loop_constraints.freedoms(self.kinematics, tie))
            places += [(row + k, j) for k in range(len(tie.units)) for j in columns]
            row += len(tie.units)
        return places

    @cached_property
    def rows(self) -> list[Row]:
        """The independent rows of G."""
        every, chosen = self.all_rows, self.kinematics.topology.rows
        return every if chosen is None else [every[k] for k in chosen]

    @property
    def jacobian(self) -> Array:
        """G with all its entries."""
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
        """What the constraints, or the one of a name, do to bodies: force and moment at the frames that they hold."""
        each = self.spread(multipliers)
        chosen = [tie for tie in self.ties if name is None or tie.name == name]
        return [load for tie in chosen for load in self.loads_of(tie, each[tie.name])]

    def spread(self, multipliers: Array) -> dict[str, Array]:
        """The multipliers of all rows of each constraint; rows that are not used carry nothing."""
        rows = self.kinematics.topology.rows
        values = np.zeros(sum(len(tie.units) for tie in self.ties), dtype=object)
        values[:] = 0.0
        values[list(range(len(values)) if rows is None else rows)] = multipliers
        ends = np.cumsum([len(tie.units) for tie in self.ties])[:-1]
        return dict(zip((tie.name for tie in self.ties), np.split(values, ends), strict=True))

    def loads_of(self, tie: LoopConstraint, lam: Array) -> list[Load]:
        """By virtual power: lam . c_dot for the six unit velocities of each frame that the constraint looks at.

        A tree joint whose coordinate it looks at stands for its two frames.
        """
        loads = []
        for frame, rates in self._virtual_rates(tie):
            powers = [sum((a * b for a, b in zip(lam, each, strict=True)), 0.0) for each in rates]
            loads.append(Load(frame, tidy(powers[3:]), tidy(powers[:3])))
        return loads

    def unit_loads(self) -> Array:
        """Moment about the origin of each body and force, in world axes, for unit multipliers: 6 bodies x rows.

        The rows of joints that close loops are left out: their reactions stand for them.
        """
        kinematics = self.kinematics
        bodies = {name: 6 * k for k, name in enumerate(kinematics.system.bodies)}
        ties = [tie for tie in self.ties if tie.name not in kinematics.topology.cut_names]
        loads = np.zeros((6 * len(bodies), sum(len(tie.units) for tie in ties)), dtype=object)
        start = 0
        for tie in ties:
            for frame, rates in self._virtual_rates(tie):
                if frame.body in bodies:
                    k, arm = bodies[frame.body], kinematics.pose(frame).p - kinematics.pose(Frame(frame.body)).p
                    for j, (*moment, x, y, z) in enumerate(zip(*rates, strict=True), start):
                        force = tidy([x, y, z])
                        loads[k : k + 3, j] += tidy(moment) + cross(arm, force)
                        loads[k + 3 : k + 6, j] += force
            start += len(tie.units)
        return loads

    def _virtual_rates(self, tie: LoopConstraint) -> list[tuple[Frame, list[Array]]]:
        """The frames that a constraint looks at, and its rates for the six unit velocities of each."""
        kinematics = self.kinematics
        rates = []
        for frame in _frames_of(kinematics, tie):
            each = []
            for unit in np.eye(6):

                def speed(other: Frame, frame: Frame = frame, unit: Array = unit) -> tuple[Array, Array]:
                    return (unit[:3], unit[3:]) if other == frame else (np.zeros(3), np.zeros(3))

                each.append(loop_constraints.row_rates(kinematics, tie, speed, partial(_turn, kinematics, speed)))
            rates.append((frame, each))
        return rates


def _frames_of(kinematics: Kinematics, tie: LoopConstraint) -> list[Frame]:
    """The frames that a constraint looks at."""
    seen: list[Frame] = []

    def speed(frame: Frame) -> tuple[Array, Array]:
        if frame not in seen:
            seen.append(frame)
        return np.zeros(3), np.zeros(3)

    loop_constraints.row_rates(kinematics, tie, speed, partial(_turn, kinematics, speed))
    return seen


def _turn(kinematics: Kinematics, speed: FrameRates, name: str) -> Array:
    """Rate of a joint's coordinates from velocities of its frames."""
    q = kinematics.joint_state(name)[0]
    return kinematics.system.joints[name].rate_map(q, kinematics.relative_speeds(name, q, speed))
