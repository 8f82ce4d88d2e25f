"""All constraints of an instant together: residuals, rates, multipliers, and what they do to bodies and coordinates.

``topology.rows`` names the rows that are used, an independent set of all; without it all are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array, Scalar, tidy
from kinode.algebra.sparse_ldl import Row, Saddle
from kinode.algebra.spatial import cross
from kinode.model.base.element import Load
from kinode.model.base.frames import Frame
from kinode.model.constraints.constraint import POSITIONS
from kinode.multibody.restraints import loop_constraints
from kinode.multibody.restraints.loop_constraints import LoopConstraint

if TYPE_CHECKING:
    from kinode.multibody.instant_dynamics import InstantDynamics


GOLDEN = 0.618033988749895


class Constraints:
    """The constraints of one motion."""

    def __init__(self, motion: InstantDynamics) -> None:
        self.motion = motion
        self.ties = loop_constraints.loop_constraints_of(motion.topology)

    def every(self, function: Callable[[InstantDynamics, LoopConstraint], Array]) -> Array:
        """A function of each constraint, all rows."""
        return np.concatenate([np.asarray(function(self.motion, tie), dtype=object) for tie in self.ties])

    def chosen(self, function: Callable[[InstantDynamics, LoopConstraint], Array]) -> Array:
        """The same, the independent rows alone."""
        values = self.every(function)
        rows = self.motion.topology.rows
        return values if rows is None else values[list(rows)]

    @property
    def all_rows(self) -> list[Row]:
        """G: all rows, without the entries of speeds that cannot move them."""
        found: list[Row] = []
        for tie in self.ties:
            columns = loop_constraints.columns(self.motion, tie)
            found += [{j: values[k] for j, values in columns.items()} for k in range(len(tie.units))]
        return found

    @property
    def pattern(self) -> list[tuple[int, int]]:
        """Row and column of the entries of all rows, one after the other, without computing them."""
        found: list[tuple[int, int]] = []
        row = 0
        for tie in self.ties:
            columns = dict.fromkeys(column for _, _, column, _ in loop_constraints.freedoms(self.motion, tie))
            found += [(row + k, j) for k in range(len(tie.units)) for j in columns]
            row += len(tie.units)
        return found

    @cached_property
    def rows(self) -> list[Row]:
        """The independent rows of G."""
        found, chosen = self.all_rows, self.motion.topology.rows
        return found if chosen is None else [found[k] for k in chosen]

    @property
    def jacobian(self) -> Array:
        """G with all its entries."""
        G = np.zeros((len(self.rows), self.motion.topology.n_u), dtype=object)
        G[:] = 0.0
        for row, entries in zip(G, self.rows, strict=True):
            row[list(entries)] = list(entries.values())
        return G

    @cached_property
    def solve(self) -> Saddle:
        """Accelerations and multipliers from generalized forces and what the rows are to be."""
        locking = self.motion.locking
        return Saddle(self.motion.mass_rows, self.rows, locking.rows, locking.stuck)

    def share(self, other: Constraints) -> None:
        """Take over what no effort changes from the same instant with other efforts."""
        self.__dict__.update(rows=other.rows, solve=other.solve)

    @cached_property
    def _solution(self) -> tuple[Array, Array]:
        motion = self.motion
        gamma = [*-self.chosen(loop_constraints.bias), *motion.locking.gamma]
        u_dot, lam = self.solve(motion.bias_effort, tidy(gamma))
        return motion.locking.still(u_dot), lam

    @property
    def accelerations(self) -> Array:
        """u_dot of the state."""
        return self._solution[0]

    @property
    def multipliers(self) -> Array:
        """One for each independent row: M u_dot = tau - h + G' lam."""
        if self.motion.multipliers is not None:
            return self.motion.multipliers
        return self._solution[1][: len(self.rows)]

    @property
    def holding(self) -> Array:
        """What locks hold with."""
        pairs = zip(self.motion.locking.stuck, self._solution[1][len(self.rows) :], strict=True)
        return tidy([s * h for s, h in pairs])

    def projected(self) -> tuple[Array, Array, Scalar]:
        """q and u on the constraints: one Newton step of each, the shortest in the metric of the mass matrix.

        Rows of slips hold speeds alone: which positions can be reached is not for them to say.  Behind them stands the
        effective mass b' (G M^-1 G')^-1 b for some rates b of the rows, before the step: it grows without bound where
        the rows become dependent.  The rates are irregular, so that no symmetry of a mechanism hides it.
        """
        motion, locking = self.motion, self.motion.locking
        none, unlocked = np.zeros(motion.topology.n_u), np.zeros(len(locking.locks))
        solve_positions = self.solve
        held = [k for k, unit in enumerate(self.units) if unit in POSITIONS]
        if len(held) < len(self.rows):
            held_rows = [self.rows[k] for k in held]
            solve_positions = Saddle(motion.mass_rows, held_rows, locking.rows, locking.stuck)
        step, _ = solve_positions(none, np.concatenate([-self.chosen(loop_constraints.residual)[held], unlocked]))
        q = motion.advanced_q(locking.still(step))
        there = motion.at(motion.point.replaced(q=q))
        change, _ = self.solve(none, tidy([*-there.constraints.chosen(loop_constraints.drift), *there.locking.drift]))
        number = np.arange(1, len(self.rows) + 1)
        probe = np.where(np.sin(number**2) < 0, -1.0, 1.0) * (1.0 + number * GOLDEN % 1.0)
        return q, locking.still(motion.u + change), self.solve.effective_mass(probe)

    @property
    def units(self) -> list[str]:
        """The units of the independent rows."""
        topology = self.motion.topology
        units = [unit for _, unit in topology.row_units]
        return units if topology.rows is None else [units[k] for k in topology.rows]

    def loads(self, multipliers: Array, name: str | None = None) -> list[Load]:
        """What the constraints, or the one of a name, do to bodies: force and moment at the frames that they hold."""
        each = self.spread(multipliers)
        chosen = [tie for tie in self.ties if name is None or tie.name == name]
        return [load for tie in chosen for load in self.loads_of(tie, each[tie.name])]

    def spread(self, multipliers: Array) -> dict[str, Array]:
        """The multipliers of all rows of each constraint; rows that are not used carry nothing."""
        rows = self.motion.topology.rows
        values = np.zeros(sum(len(tie.units) for tie in self.ties), dtype=object)
        values[:] = 0.0
        values[list(range(len(values)) if rows is None else rows)] = multipliers
        ends = np.cumsum([len(tie.units) for tie in self.ties])[:-1]
        return dict(zip((tie.name for tie in self.ties), np.split(values, ends), strict=True))

    def loads_of(self, tie: LoopConstraint, lam: Array) -> list[Load]:
        """By virtual power: lam . c_dot for the six unit velocities of each frame that the constraint looks at.

        A tree joint whose coordinate it looks at stands for its two frames.
        """
        found = []
        for frame, rates in self._virtual_rates(tie):
            parts = [sum((a * b for a, b in zip(lam, each, strict=True)), 0.0) for each in rates]
            found.append(Load(frame, tidy(parts[3:]), tidy(parts[:3])))
        return found

    def unit_loads(self) -> Array:
        """Moment about the origin of each body and force, in world axes, for unit multipliers: 6 bodies x rows.

        The rows of joints that close loops are left out: their reactions stand for them.
        """
        motion = self.motion
        bodies = {name: 6 * k for k, name in enumerate(motion.system.bodies)}
        ties = [tie for tie in self.ties if tie.name not in motion.topology.cut_names]
        found = np.zeros((6 * len(bodies), sum(len(tie.units) for tie in ties)), dtype=object)
        start = 0
        for tie in ties:
            for frame, rates in self._virtual_rates(tie):
                if frame.body in bodies:
                    k, arm = bodies[frame.body], motion.pose(frame).p - motion.pose(Frame(frame.body)).p
                    for j, (*moment, x, y, z) in enumerate(zip(*rates, strict=True), start):
                        force = tidy([x, y, z])
                        found[k : k + 3, j] += tidy(moment) + cross(arm, force)
                        found[k + 3 : k + 6, j] += force
            start += len(tie.units)
        return found

    def _virtual_rates(self, tie: LoopConstraint) -> list[tuple[Frame, list[Array]]]:
        """The frames that a constraint looks at, and its rates for the six unit velocities of each."""
        motion = self.motion
        found = []
        for frame in _frames_of(motion, tie):
            each = []
            for unit in np.eye(6):

                def speed(other: Frame, frame: Frame = frame, unit: Array = unit) -> tuple[Array, Array]:
                    return (unit[:3], unit[3:]) if other == frame else (np.zeros(3), np.zeros(3))

                each.append(loop_constraints.row_rates(motion, tie, speed, partial(_turn, motion, speed)))
            found.append((frame, each))
        return found


def _frames_of(motion: InstantDynamics, tie: LoopConstraint) -> list[Frame]:
    """The frames that a constraint looks at."""
    seen: list[Frame] = []

    def speed(frame: Frame) -> tuple[Array, Array]:
        if frame not in seen:
            seen.append(frame)
        return np.zeros(3), np.zeros(3)

    loop_constraints.row_rates(motion, tie, speed, partial(_turn, motion, speed))
    return seen


def _turn(motion: InstantDynamics, speed: loop_constraints.FrameRates, name: str) -> Array:
    """Rate of a joint's coordinates from velocities of its frames."""
    q = motion.joint_state(name)[0]
    return motion.system.joints[name].rate_map(q, motion.relative_speeds(name, q, speed))
