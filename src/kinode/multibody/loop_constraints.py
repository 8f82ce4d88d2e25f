"""Loop constraints: the constraints on the coordinates of a tree, of cut joints and of constraint elements.

A holonomic constraint has residuals c of poses and joint coordinates; a nonholonomic one has slips s, linear in
velocities; a constraint may have both.  They vanish while the constraint is satisfied.  Rates along the motion are
exact, since the constraint is evaluated with poses and velocities as dual numbers:

    G         rates of c for unit speeds of the state; s at unit speeds
    drift     rate of c as everything moves now, driven joints and laws of time included: G u + c_t; s now
    bias      second rate of c, rate of s, while the accelerations of the state are zero: G u_dot + bias = 0

With all rows together, M u_dot = tau - h + G' lam and G u_dot = -bias.  The rows are those of all constraints,
dependent ones included; ``Constraints`` takes the independent ones, ``topology.rows``, unless that is None.  Nothing
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
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from kinode.algebra.scalars import Array, Scalar, inverse, less, sqrt, tidy, where
from kinode.algebra.sparse_ldl import Row
from kinode.algebra.spatial import ZERO3, cross
from kinode.model.base.element import Load
from kinode.model.base.frames import Frame
from kinode.model.base.scene import SlidingScene
from kinode.model.constraints.constraint import POSITIONS, Constraint
from kinode.model.joints.joint import Joint
from kinode.model.system import joint_frame
from kinode.multibody.bundles import map_alike
from kinode.multibody.constraint_scenes import (
    FramePair,
    FrameRates,
    LoopScene,
    MotionRates,
    MovingScene,
    RecordingScene,
    SlipScene,
    StillScene,
    closure_rates,
)
from kinode.structure.tree import WORLD

if TYPE_CHECKING:
    from kinode.multibody.kinematics import Kinematics
    from kinode.structure.spanning_tree import Cut
    from kinode.structure.topology import Topology


class LoopConstraint(Protocol):
    """Constraint rows of a cut joint or of a constraint element; ``units`` are those of its rows, residuals first.

    It is ``relative`` if a rigid motion of all its frames together does not change the rows.
    """

    name: str
    units: tuple[str, ...]
    relative: bool

    def residual(self, scene: LoopScene, /) -> Array:
        """Residuals of the poses and joint coordinates of the scene; zero if the constraint is satisfied."""
        ...

    def slip(self, scene: SlidingScene, /) -> Array:
        """Slips: velocities that must be zero, from the poses and velocities of the scene."""
        ...

    def find_dependencies(self, kinematics: Kinematics) -> tuple[list[Frame], list[str]]:
        """The frames, and the tree joints by their coordinates, that the rows depend on."""
        ...


def loop_constraints_of(topology: Topology) -> list[LoopConstraint]:
    """All constraints in the order of their rows."""
    cut_joints: list[LoopConstraint] = [CutJointConstraint(cut) for cut in topology.cuts]
    return cut_joints + [loop_constraint_of(topology, element) for element in topology.constraints]


def loop_constraint_of(topology: Topology, constraint: Constraint) -> LoopConstraint:
    """The rows of a constraint element, also of one that the tree satisfies by itself (one joint follows another)."""
    return ElementConstraint(constraint, constraint.rows(topology.system))


class CutJointConstraint:
    """A cut joint as a constraint: its closure, which vanishes for the poses X_FM that the joint allows."""

    def __init__(self, cut: Cut) -> None:
        self.joint = cut.joint
        self.name, self.units, self.relative = cut.joint.name, cut.units, True

    def residual(self, scene: LoopScene) -> Array:
        form = self.joint.form(scene.resolve)
        return np.asarray(self.joint.closure(scene.relative(self.joint), form), dtype=object)

    def slip(self, scene: SlidingScene) -> Array:
        return np.empty(0)

    def find_dependencies(self, kinematics: Kinematics) -> tuple[list[Frame], list[str]]:
        return [joint_frame(self.joint, side) for side in ("parent", "child")], []


class ElementConstraint:
    """A constraint element, which is no joint."""

    def __init__(self, constraint: Constraint, units: tuple[str, ...]) -> None:
        self.constraint, self.name, self.units = constraint, constraint.name, units
        self.relative = False  # its residual may use world axes without reading the pose of a frame

    def residual(self, scene: LoopScene) -> Array:
        return self.constraint.residual(scene)

    def slip(self, scene: SlidingScene) -> Array:
        return self.constraint.slip(scene)

    def find_dependencies(self, kinematics: Kinematics) -> tuple[list[Frame], list[str]]:
        return find_dependencies(kinematics, self)


def row_rates(
    kinematics: Kinematics,
    constraint: LoopConstraint,
    speed: FrameRates,
    turn: Callable[[str], Array],
    then: MotionRates | None = None,
    passing: bool = False,
) -> Array:
    """Rates of all rows of a constraint for some motion of frames and joints; ``passing``: time advances too."""
    scene = MovingScene(kinematics, speed, turn, then, passing)
    positions = scene.rates(constraint.residual(scene))
    if len(positions) == len(constraint.units):
        return positions
    sliding = SlipScene(kinematics, speed, turn, then)
    return tidy(np.concatenate([positions, sliding.rates(constraint.slip(sliding))]))


def all_row_rates(
    kinematics: Kinematics,
    moved: Sequence[tuple[LoopConstraint, MotionRates]],
    then: MotionRates | None = None,
    passing: bool = False,
) -> list[Array]:
    """The same of several constraints, each for a motion of its own; cut joints that are alike side by side."""
    kinematics.place_cuts(one.name for one, _ in moved if isinstance(one, CutJointConstraint))
    found: dict[int, Array] = {}
    cuts: dict[int, Joint] = {}
    calls: list[tuple[Array, FramePair]] = []
    for k, (constraint, motion) in enumerate(moved):
        if isinstance(constraint, CutJointConstraint):
            scene = MovingScene(kinematics, motion.speed, motion.turn, then, passing)
            cuts[k] = joint = constraint.joint
            calls.append((joint.form(scene.resolve), scene.pair(joint)))
        else:
            found[k] = row_rates(kinematics, constraint, motion.speed, motion.turn, then, passing)
    found.update(zip(cuts, map_alike(closure_rates, calls, list(cuts.values())), strict=True))
    return [found[k] for k in range(len(moved))]


def residual(kinematics: Kinematics, constraints: Sequence[LoopConstraint]) -> list[Array]:
    """The residual of each row; zero for slips, which do not depend on the position."""
    kinematics.place_cuts(one.name for one in constraints if isinstance(one, CutJointConstraint))
    scene = StillScene(kinematics)
    found = []
    for constraint in constraints:
        slips = sum(unit not in POSITIONS for unit in constraint.units)
        found.append(tidy([*constraint.residual(scene), *[0.0] * slips]))
    return found


def find_dependencies(kinematics: Kinematics, constraint: LoopConstraint) -> tuple[list[Frame], list[str]]:
    """The frames, and the tree joints by their coordinates, that a constraint reads; found by evaluating it once."""
    scene = RecordingScene(kinematics)
    constraint.residual(scene)
    constraint.slip(scene)
    return scene.frames, scene.joints


def drift(kinematics: Kinematics, constraints: Sequence[LoopConstraint]) -> list[Array]:
    """Rates of the rows along the actual motion: G u + c_t."""
    motion = MotionRates(kinematics.velocity, kinematics.joint_rate)
    return all_row_rates(kinematics, [(constraint, motion) for constraint in constraints], passing=True)


def law_rates(kinematics: Kinematics, constraints: Sequence[LoopConstraint]) -> list[Array]:
    """Rates of the rows by expressions of time alone, with all bodies at rest: c_t."""

    def turn(name: str) -> Array:
        return np.zeros(kinematics.system.joints[name].n_q)

    still = MotionRates(lambda frame: (ZERO3, ZERO3), turn)
    return all_row_rates(kinematics, [(constraint, still) for constraint in constraints], passing=True)


def frame_bias(kinematics: Kinematics, frame: Frame) -> tuple[Array, Array]:
    """Angular acceleration and acceleration of a frame while the accelerations of the state are zero."""
    node, X = kinematics.locate_frame(frame)
    if node == WORLD:
        return ZERO3, ZERO3
    R, w = kinematics.link_poses[node].R, kinematics.link_kinematics[node].w
    eps, W = kinematics.unaccelerated[1][node]
    return R @ eps, R @ (W + cross(eps, X.p) + cross(w, cross(w, X.p))) + kinematics.gravity


def bias(kinematics: Kinematics, constraints: Sequence[LoopConstraint]) -> list[Array]:
    """Second rate of the residual, and rate of slips, while the accelerations of the state are zero."""
    still = kinematics.unaccelerated[0]
    motion = MotionRates(kinematics.velocity, kinematics.joint_rate)
    then = MotionRates(partial(frame_bias, kinematics), lambda name: still[kinematics.node_named[name]])
    return all_row_rates(kinematics, [(constraint, motion) for constraint in constraints], then, passing=True)


def jacobian(kinematics: Kinematics, constraint: LoopConstraint) -> Array:
    """G: rates of the rows for unit speeds of the state, one column for each."""
    G = np.zeros((len(constraint.units), kinematics.topology.n_u), dtype=object)
    G[:] = 0.0
    for column, values in jacobian_columns(kinematics, [constraint])[0].items():
        G[:, column] = values
    return G


def jacobian_columns(kinematics: Kinematics, constraints: Sequence[LoopConstraint]) -> list[dict[int, Array]]:
    """The columns of G that can be nonzero, by the index of their speed, for each constraint."""
    moving = [(k, *freedom) for k, one in enumerate(constraints) for freedom in freedoms_of(kinematics, one)]
    motions = [(constraints[k], freedom_rates(kinematics, i, a, ratio)) for k, i, a, _, ratio in moving]
    by_speed: list[dict[int, Array]] = [{} for _ in constraints]
    for (k, _, _, column, _), values in zip(moving, all_row_rates(kinematics, motions), strict=True):
        known = by_speed[k].get(column)
        by_speed[k][column] = values if known is None else known + values
    return by_speed


def freedoms_of(kinematics: Kinematics, constraint: LoopConstraint) -> list[tuple[int, int, int, Scalar]]:
    """Freedoms that can change a constraint's rows: node, number in its joint, index of its speed, ratio to it."""
    frames, joints = constraint.find_dependencies(kinematics)
    carriers = [carriers_of(kinematics, frame) for frame in frames]
    nodes = set[int]().union(*carriers)
    if constraint.relative:
        nodes -= {i for i in nodes if all(i in each for each in carriers)}
    nodes |= {kinematics.node_named[name] for name in joints}
    moving = []
    for i in sorted(nodes):
        joint = kinematics.tree.nodes[i].joint
        state = kinematics.state_of(joint.name)
        if state is not None:
            start, ratio = state
            moving += [(i, k, start + k, ratio) for k in range(joint.n_u)]
    return moving


def carriers_of(kinematics: Kinematics, frame: Frame) -> set[int]:
    """The nodes of the tree between the world and a frame."""
    return set(kinematics.tree.path(kinematics.tree.node_of[frame.body]))


def freedom_rates(kinematics: Kinematics, i: int, k: int, ratio: Scalar) -> MotionRates:
    """Rates of frames and joints while freedom k of node i alone moves, at the speed ``ratio``."""
    S, X = kinematics.link_kinematics[i].S, kinematics.link_poses[i]
    w, v = X.R @ S[:3, k] * ratio, X.R @ S[3:, k] * ratio
    name = kinematics.tree.nodes[i].joint.name

    def speed(frame: Frame) -> tuple[Array, Array]:
        carried = i in carriers_of(kinematics, frame)
        return (w, v + cross(w, kinematics.pose(frame).p - X.p)) if carried else (ZERO3, ZERO3)

    def turn(other: str) -> Array:
        joint = kinematics.system.joints[other]
        unit = np.zeros(joint.n_u, dtype=object)
        unit[:] = 0.0
        if other == name:
            unit[k] = ratio
        return joint.rate_map(kinematics.joint_state(other)[0], unit)

    return MotionRates(speed, turn)


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
        self.loop_constraints = loop_constraints_of(kinematics.topology)

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
        columns_of = jacobian_columns(self.kinematics, self.loop_constraints)
        for constraint, columns in zip(self.loop_constraints, columns_of, strict=True):
            rows += [{j: values[k] for j, values in columns.items()} for k in range(len(constraint.units))]
        return rows

    @property
    def pattern(self) -> list[tuple[int, int]]:
        """Row and column of each entry of ``all_rows``, without computing the entries."""
        entries: list[tuple[int, int]] = []
        row = 0
        for constraint in self.loop_constraints:
            freedoms = freedoms_of(self.kinematics, constraint)
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

                each.append(row_rates(kinematics, constraint, speed, partial(_turn, kinematics, speed)))
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

    row_rates(kinematics, constraint, speed, partial(_turn, kinematics, speed))
    return frames


def _turn(kinematics: Kinematics, speed: FrameRates, name: str) -> Array:
    """Rate of a joint's coordinates from velocities of its frames."""
    q = kinematics.joint_state(name)[0]
    return kinematics.system.joints[name].rate_map(q, kinematics.relative_speeds(name, q, speed))
