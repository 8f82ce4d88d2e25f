"""Reactions in systems with redundant constraints: a rule distributes the components that are not unique.

The compiled reactions come from an independent set of constraint rows; the other rows carry no load.  That is one of
many solutions, and it depends on where the loops were cut.  The rule of ``formulations/reaction_uniqueness.py`` chooses
one that does not.  This module computes the change from the first to the second, and which components are unique: by
mesh analysis of all states (internal_stresses.py), and by singular values where that finds a rank doubtful.

Operations on a tape share by a rule for one pattern of redundancy (formulations/equal_stiffness.py), with as many
coordinates locked as the mechanism has freedoms.  The pattern is found at a few states, and proved at each:

- all pivots are far from zero: with the locks there is no further freedom, so there are no further stresses;
- the locks transmit nothing in a trial load: there are no fewer freedoms, so there are no fewer stresses;
- the trial load changes the shared components and no others: the same components take part in the stresses.

The function with this proof serves the numbers of long runs too, wherever it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import Pose
from kinode.dynamics.reactions.internal_stresses import LoadedLoops, StressTables, find_stresses
from kinode.dynamics.reactions.world_stiffness import JointTables
from kinode.dynamics.state_batch import StateBatch
from kinode.errors import ModelError
from kinode.formulations.reaction_uniqueness import UNIQUE, JointConstants, Uniqueness
from kinode.kernels.derivatives.derivative_words import is_held_by_joints
from kinode.kernels.kernel_options import Kernel, LoadOptions, SharingOptions
from kinode.kernels.kernel_outputs import trial_loads
from kinode.kernels.tree_size import is_large
from kinode.multibody.loop_statics import Support

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics
    from kinode.kernels.state import State
    from kinode.structure.state_layout import EvaluationPoint


FEWEST_STATES = 200  # for which a function is compiled
REFERENCES = 5  # states at which ranks are found
MOST_FLEXIBLE = 1e8  # inverse pivot
UNTOUCHED = 0.1 * UNIQUE  # change of a unique component by a trial load of size 1


def share_certified(
    dynamics: Dynamics, states: EvaluationPoint, options: SharingOptions, x: Array
) -> tuple[Array, npt.NDArray[np.bool_]]:
    """The change of components ``x``, with moments over the length, and at which states it is proved to be right."""
    shared = np.array(options.shared, dtype=bool)
    kernel, change = Kernel("load_sharing", options), np.zeros_like(x)
    if len(x) < FEWEST_STATES and is_large(dynamics.topology) and is_held_by_joints(dynamics.topology):
        result = _share_in_numbers(dynamics, states, options, x)
    else:
        result = dynamics.kernels.call(kernel, states, x)
    n_shared, n = int(shared.sum()), len(shared)
    change[:, shared] = result[:, :n_shared]
    trial = np.abs(result[:, n_shared : n_shared + n])
    flexibility, locked = result[:, -2], result[:, -1]
    certified = (flexibility < MOST_FLEXIBLE) & (np.sqrt(np.abs(locked)) < UNTOUCHED) & np.isfinite(change).all(axis=1)
    certified &= (trial[:, ~shared] < UNTOUCHED).all(axis=1) & (trial[:, shared] > UNIQUE).all(axis=1)
    return change, certified


def find_joint_tables(dynamics: Dynamics, options: SharingOptions) -> JointTables:
    """The tables of a system for sharing in numbers."""
    return dynamics.kernels.once(("joint tables", options), lambda: JointTables(dynamics.topology, options))


def _share_in_numbers(dynamics: Dynamics, states: EvaluationPoint, options: SharingOptions, x: Array) -> Array:
    """The result of the kernel ``load_sharing``, without code that grows with the mechanism."""
    tables, shared = find_joint_tables(dynamics, options), np.array(options.shared, dtype=bool)
    directions = np.atleast_2d(dynamics.kernels.call(Kernel("stress_directions"), states))
    result = np.full((len(x), int(shared.sum()) + len(shared) + 2), np.inf)
    for k, (own, loads) in enumerate(zip(np.broadcast_to(directions, (len(x), directions.shape[1])), x, strict=True)):
        if not np.isfinite(own).all():
            continue
        stiffness = tables.at_state(own)
        if stiffness.flexibility < MOST_FLEXIBLE:
            change, _ = stiffness.share(loads)
            trial, locked = stiffness.share(trial_loads(len(shared)))
            result[k] = np.concatenate([change[shared], trial, [stiffness.flexibility, locked]])
    return result


def find_options(tables: StressTables, directions: Array, unit_loads: Array | None) -> SharingOptions | None:
    """What is shared in most of some states, and coordinates that lock the mechanism in all of these."""
    stresses = find_stresses(tables, directions, unit_loads, np.zeros((len(directions), tables.n)))
    patterns, counts = np.unique(~stresses.unique[~stresses.doubtful], axis=0, return_counts=True)
    if not len(counts):
        return None
    shared = patterns[np.argmax(counts)]
    alike = np.flatnonzero((stresses.unique != shared).all(axis=1) & ~stresses.doubtful)
    loaded = LoadedLoops(tables, directions[alike], None if unit_loads is None else unit_loads[alike])
    motions = loaded.find_motions()
    locks = _choose_locks([motion for motion in motions if len(motion) == len(motions[0])])
    names = [(node.joint.name, k) for node in tables.topology.full.nodes for k in range(node.joint.n_u)]
    return SharingOptions(tables.length, tuple(names[k] for k in locks), tuple(map(bool, shared)))


def _choose_locks(motions: list[Array]) -> list[int]:
    """Coordinates that lock all motions, well in each of the states: by orthogonalization with common pivots."""
    left, locks = [motion.copy() for motion in motions], []
    for _ in range(len(motions[0])):
        pivot = int(np.argmax(np.min([np.linalg.norm(motion, axis=0) for motion in left], axis=0)))
        locks.append(pivot)
        for motion in left:
            column = motion[:, pivot] / max(float(np.linalg.norm(motion[:, pivot])), 1e-300)
            motion -= np.outer(column, column @ motion)
    return locks


@dataclass(frozen=True, eq=False)
class ReactionSharing:
    """What the rule adds to compiled values, with a row for each state, and what is unique in all states.

    Keys are those of ``topology.holding``: a joint for the six components of its reaction, ``joint.effort`` for the
    effort of a drive or gear, a constraint for its multipliers.
    """

    changes: dict[str, Array]
    unique: dict[str, tuple[bool, ...]]
    elastic: dict[str, bool]  # whether compliances alone determine the components that are not unique
    along: Callable[[str], Array]  # six components of unit efforts of a joint
    loads: dict[str, Array]  # the compiled values, before the change
    n_u: dict[str, int]  # of each joint
    ratios: dict[str, dict[str, float]]  # joint -> {effort that acts along its freedoms: factor}

    def of_joint(self, name: str, whole: bool) -> Array:
        """The change of a joint's reaction; with ``whole`` the efforts along its freedoms are added."""
        change = self.changes[name]
        return change + np.einsum("tij,tj->ti", self.along(name), self.of_effort(name)) if whole else change

    def of_effort(self, name: str) -> Array:
        """The change of the efforts along a joint's freedoms."""
        total = np.zeros((len(self.changes[name]), self.n_u[name]))
        for origin, ratio in self.ratios[name].items():
            total = total + ratio * self.changes[origin]
        return total

    def is_unique(self, name: str, whole: bool) -> tuple[bool, ...]:
        """Whether each component of a joint's reaction, or each multiplier of a constraint, is unique."""
        unique = self.unique[name]
        if whole and not all(all(self.unique[origin]) for origin in self.ratios.get(name, {})):
            touched = abs(self.along(name)).max(axis=(0, 2)) > 0.0
            unique = tuple(flag and not hit for flag, hit in zip(unique, touched, strict=True))
        return unique


class Analyses:
    """The uniqueness analysis of each state of a batch; it serves the total, static and kinetic shares alike.

    Many states are analyzed by a function compiled for what is shared at some of them, where it proves that this is
    right.  Mesh analysis finds the ranks of the others.  Those that it finds doubtful are analyzed by singular values.
    """

    def __init__(self, dynamics: Dynamics, states: StateBatch, rows: int) -> None:
        self.dynamics, self.states, self.rows = dynamics, states, rows
        topology = dynamics.topology
        p = states.p if states.p.ndim == 1 else states.p[0] if rows else np.zeros(states.p.shape[1])
        self.tables = _find_tables(dynamics, p)
        self.constants = self.tables.constants
        own_constants = bool(topology.couplings) or bool(self.constants.roots)  # that are not in the directions
        self._is_full = np.full(rows, states.p.ndim == 2 and own_constants)
        self._full: dict[int, Uniqueness] = {}
        self._unique = np.ones((rows, self.tables.n), dtype=bool)
        self._elastic = np.ones((rows, self.tables.n), dtype=bool)
        self._is_analyzed = False

    def _some(self, rows: Array) -> StateBatch:
        """Some of the states."""
        if len(rows) == self.rows:
            return self.states
        arrays = {
            name: value[rows] if np.ndim(value) == (1 if name == "t" else 2) else value
            for name, value in ((name, getattr(self.states, name)) for name in ("t", "q", "u", "z", "p", "inputs"))
        }
        return StateBatch(**arrays)

    def directions(self, rows: Array) -> Array:
        """Frames, freedoms and efforts of all joints in some states."""
        kernel = Kernel("stress_directions")
        return np.atleast_2d(self.dynamics.kernels.call(kernel, self._some(rows))).reshape(len(rows), -1)

    def unit_loads(self, rows: Array) -> Array | None:
        """The wrenches of constraint elements for unit multipliers, in some states."""
        if not self.dynamics.topology.constraints:
            return None
        return np.atleast_2d(self.dynamics.kernels.call(Kernel("unit_loads"), self._some(rows))).reshape(len(rows), -1)

    def change(self, compiled: Array) -> dict[str, Array]:
        """What the rule adds to compiled values; their columns are in the order of ``topology.holding``."""
        x = compiled / self.tables.units
        if self.options is not None:
            change, certified = share_certified(self.dynamics, self.states, self.options, x)
            left = np.flatnonzero(~certified)
            self._unique[:] = self._elastic[:] = ~np.array(self.options.shared, dtype=bool)
        else:
            change, left = np.zeros((self.rows, self.tables.n)), np.arange(self.rows)
        if len(left):
            change[left] = self._analyze(left, x[left])
        self._take_full()
        for row, analysis in self._full.items():
            change[row] = self._in_order(analysis.change(x[row, self._order(analysis)]), analysis)
        change *= self.tables.units
        sizes = self.dynamics.topology.holding
        return {name: change[:, at : at + sizes[name]] for name, at in self.tables.starts.items()}

    @cached_property
    def options(self) -> SharingOptions | None:
        """What is shared at most states, where they are many."""
        if self.rows < FEWEST_STATES or self.constants.roots or self.states.p.ndim == 2:
            return None

        def find() -> SharingOptions | None:
            rows = np.unique(np.linspace(0, self.rows - 1, REFERENCES).astype(int))
            return find_options(self.tables, self.directions(rows), self.unit_loads(rows))

        return self.dynamics.kernels.once("usual pattern", find)

    def _analyze(self, part: Array, x: Array) -> Array:
        """Uniqueness of some states, and the change of the components ``x`` by the rule."""
        stresses = find_stresses(self.tables, self.directions(part), self.unit_loads(part), x)
        self._unique[part], self._elastic[part] = stresses.unique, stresses.elastic
        if not self._is_analyzed:
            self._is_full[part] |= stresses.doubtful
        return stresses.change

    def _take_full(self) -> None:
        """Analyze the doubtful states by singular values."""
        if not self._is_analyzed:
            self._full = {row: self.analyze_fully(row) for row in np.flatnonzero(self._is_full).tolist()}
        self._is_analyzed = True
        for row, analysis in self._full.items():
            flags = {**analysis.unique, **analysis.unique_multipliers}
            for name, at in self.tables.starts.items():
                self._unique[row, at : at + len(flags[name])] = flags[name]
                self._elastic[row, at : at + len(flags[name])] = analysis.elastic[name]

    def analyze_fully(self, row: int) -> Uniqueness:
        """The analysis of one state by singular values."""
        states = self.states if self.states.n_rows is None else StateBatch.of(self.states.row(row))
        return next(_analyze(self.dynamics, states, 1))[0]

    def _order(self, analysis: Uniqueness) -> Array:
        """The columns of the compiled values in the order of an analysis: joint by joint, then multipliers."""
        starts, sizes = self.tables.starts, self.dynamics.topology.holding
        return np.concatenate([np.arange(starts[name], starts[name] + sizes[name]) for name in analysis.names])

    def _in_order(self, values: Array, analysis: Uniqueness) -> Array:
        """Values of an analysis in the order of ``topology.holding``."""
        ordered = np.zeros(self.tables.n)
        ordered[self._order(analysis)] = values
        return ordered

    @property
    def unique_by_state(self) -> Array:
        """Whether each component is unique, with a row for each state; the columns are those of the compiled values."""
        if not self._is_analyzed:
            self.change(np.zeros((self.rows, self.tables.n)))
        return self._unique

    @cached_property
    def unique(self) -> dict[str, tuple[bool, ...]]:
        """Whether each component is unique in all states, by the names of ``topology.holding``."""
        flags: list[bool] = np.all(self.unique_by_state, axis=0).tolist()
        sizes = self.dynamics.topology.holding
        return {name: tuple(flags[at : at + sizes[name]]) for name, at in self.tables.starts.items()}

    @cached_property
    def elastic(self) -> dict[str, bool]:
        """Whether compliances alone determine what is not unique, in all states."""
        flags: Array = np.asarray(np.all(self._elastic, axis=0))
        sizes = self.dynamics.topology.holding
        return {name: bool(flags[at : at + sizes[name]].all()) for name, at in self.tables.starts.items()}

    def along(self, joint: str) -> Array:
        """Six components of unit efforts of a joint, for each state."""
        return self.tables.along(self._all_directions, joint)

    @cached_property
    def _all_directions(self) -> Array:
        return self.directions(np.arange(self.rows))


def _find_tables(dynamics: Dynamics, p: Array) -> StressTables:
    """The tables of a system with these parameters; those of the last ones are kept."""
    last: dict[bytes, StressTables] = dynamics.kernels.once("stress tables", dict)
    tables = last.get(p.tobytes())
    if tables is None:
        last.clear()
        constants = JointConstants(dynamics.topology, p, dynamics.arguments.resolver(p))
        tables = last[p.tobytes()] = StressTables(dynamics.topology, constants)
    return tables


def share(
    dynamics: Dynamics, states: StateBatch, part: str = "total", hold: Support = None, every: Analyses | None = None
) -> ReactionSharing:
    """The change from compiled reactions and multipliers to those that the rule chooses.

    The rule is linear, so that static and kinetic shares add up to the total.  ``every`` are the analyses of the same
    states, where they are known from another share.
    """
    compiled = np.atleast_2d(states.call(dynamics, "holding", LoadOptions(part, hold)))
    analyses = Analyses(dynamics, states, len(compiled)) if every is None else every
    check_teeth(dynamics, analyses)
    change = analyses.change(compiled)
    sizes, n_u = dynamics.topology.holding, {name: joint.n_u for name, joint in dynamics.system.joints.items()}
    loads = {name: compiled[:, at : at + sizes[name]] for name, at in analyses.tables.starts.items()}
    return ReactionSharing(
        change, analyses.unique, analyses.elastic, analyses.along, loads, n_u, analyses.constants.efforts
    )


def check_teeth(dynamics: Dynamics, analyses: Analyses) -> None:
    """Refuse tooth forces that are not unique: which flank carries them is not known, and they are not linear."""
    followers = {coupling.constraint: f"{name}.effort" for name, coupling in dynamics.topology.couplings.items()}
    for name in dynamics.topology.meshes:
        if not all(analyses.unique[followers.get(name, name)]):
            message = "its tooth force is not unique: gears and joints hold the same freedom more than once"
            raise ModelError(f"{message}; leave pressure_angle out (see kn.mobility)", component=name)


def analyze(dynamics: Dynamics, state: State, *, p: Any = None, inputs: Any = None) -> Uniqueness:
    """Which reactions are unique, at one state in which all loops are closed."""
    return next(_analyze(dynamics, StateBatch.of(dynamics.point(state, p, inputs)), 1))[0]


def find_poses(dynamics: Dynamics, states: StateBatch) -> Iterator[dict[str, Pose]]:
    """Poses of all bodies, world included, for each state."""
    names = [f"{body}.{quantity}" for body in dynamics.system.bodies for quantity in ("rotation", "position")]
    values = states.evaluate(dynamics, names)
    R, p = (
        {body: values[f"{body}.{quantity}"].reshape(-1, *shape) for body in dynamics.system.bodies}
        for quantity, shape in (("rotation", (3, 3)), ("position", (3,)))
    )
    for i in range(len(next(iter(p.values())))):
        yield {"world": Pose(np.eye(3), np.zeros(3)), **{body: Pose(R[body][i], p[body][i]) for body in p}}


def _analyze(dynamics: Dynamics, states: StateBatch, rows: int) -> Iterator[tuple[Uniqueness, JointConstants]]:
    """The uniqueness analysis of each state, and the joint constants that it was made with."""
    p = np.broadcast_to(np.atleast_2d(states.p), (rows, states.p.shape[-1]))
    unit_loads = None
    if dynamics.topology.constraints:
        shape = (rows, 6 * len(dynamics.system.bodies), -1)
        unit_loads = dynamics.kernels.call(Kernel("unit_loads"), states).reshape(shape)
    structure = None
    for i, poses in enumerate(find_poses(dynamics, states)):
        if structure is None or states.p.ndim == 2:  # a batch may have other parameters for each state
            structure = JointConstants(dynamics.topology, p[i], dynamics.arguments.resolver(p[i]))
        yield structure.analyze(poses, None if unit_loads is None else unit_loads[i]), structure
