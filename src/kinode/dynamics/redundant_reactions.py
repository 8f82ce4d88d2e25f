"""Reactions in systems with redundant constraints: a rule distributes the components that are not unique.

The compiled reactions come from an independent set of constraint rows; the other rows carry no load.  That is one of
many solutions, and it depends on where the loops were cut.  The rule of ``formulations/reaction_uniqueness.py`` chooses
one that does not.  This module computes the change from the first to the second, and which components are unique.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import Pose
from kinode.errors import ModelError
from kinode.formulations.reaction_uniqueness import JointConstants, Uniqueness
from kinode.kernels.kernel_options import Kernel, LoadOptions
from kinode.model.quantity_names import QuantityName, find_quantity
from kinode.multibody.restraints.loop_statics import Support
from kinode.structure.evaluation_point import EvaluationPoint

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics
    from kinode.kernels.state import State


@dataclass(frozen=True, eq=False)
class StateBatch(EvaluationPoint):
    """One state or a batch of states, with accelerations where they are given."""

    u_dot: Array | None = None

    @classmethod
    def of(cls, point: EvaluationPoint, u_dot: Array | None = None) -> StateBatch:
        """The states of a point."""
        return cls(point.t, point.q, point.u, point.z, point.p, point.inputs, u_dot)

    def call(self, dynamics: Dynamics, name: str, options: Hashable = ()) -> Array:
        """A kernel that gives reactions, for the accelerations of the model or the given ones."""
        kernel = Kernel(name if self.u_dot is None else f"{name}_of_motion", options)
        return dynamics.kernels.call(kernel, self, self.u_dot)

    def evaluate(self, dynamics: Dynamics, names: Sequence[str]) -> dict[str, Array]:
        """Quantities by name that do not depend on reactions, in the modes of the states."""
        quantities = [find_quantity(dynamics.system, name) for name in names]
        return dict(split_values(dynamics.kernels.call(Kernel("evaluate", tuple(names)), self), quantities))


def split_values(whole: Array, names: Sequence[QuantityName]) -> list[tuple[str, Array]]:
    """The result of the kernel ``evaluate`` by name, each value in its own shape."""
    values, start = [], 0
    for name in names:
        size = int(np.prod(name.size))
        part = whole[..., start : start + size]
        values.append((name.text, part.reshape((*whole.shape[:-1], *name.size))))
        start += size
    return values


@dataclass(frozen=True, eq=False)
class ReactionSharing:
    """What the rule adds to compiled values, with a row for each state, and what is unique in all states.

    Keys are those of ``topology.holding``: a joint for the six components of its reaction, ``joint.effort`` for the
    effort of a drive or gear, a constraint for its multipliers.
    """

    changes: dict[str, Array]
    unique: dict[str, tuple[bool, ...]]
    elastic: dict[str, bool]  # whether compliances alone determine the components that are not unique
    along: dict[str, Array]  # joint -> six components of unit efforts
    ratios: dict[str, dict[str, float]]  # joint -> {effort that acts along its freedoms: factor}

    def of_joint(self, name: str, whole: bool) -> Array:
        """The change of a joint's reaction; with ``whole`` the efforts along its freedoms are added."""
        change = self.changes[name]
        return change + np.einsum("tij,tj->ti", self.along[name], self.of_effort(name)) if whole else change

    def of_effort(self, name: str) -> Array:
        """The change of the efforts along a joint's freedoms."""
        total = np.zeros((len(self.changes[name]), self.along[name].shape[2]))
        for origin, ratio in self.ratios[name].items():
            total = total + ratio * self.changes[origin]
        return total

    def is_unique(self, name: str, whole: bool) -> tuple[bool, ...]:
        """Whether each component of a joint's reaction, or each multiplier of a constraint, is unique."""
        unique = self.unique[name]
        if whole and not all(all(self.unique[origin]) for origin in self.ratios.get(name, {})):
            touched = abs(self.along[name]).max(axis=(0, 2)) > 0.0
            unique = tuple(flag and not hit for flag, hit in zip(unique, touched, strict=True))
        return unique


class Analyses:
    """The uniqueness analysis of each state of a batch; it serves the total, static and kinetic shares alike."""

    def __init__(self, dynamics: Dynamics, states: StateBatch, rows: int) -> None:
        self.each = list(_analyze(dynamics, states, rows))
        self.sizes = dynamics.topology.holding

    def change(self, compiled: Array) -> dict[str, Array]:
        """What the rule adds to compiled values; their columns are in the order of ``topology.holding``."""
        changes = np.zeros_like(compiled)
        for k, (analysis, _) in enumerate(self.each):
            if analysis.redundancy:
                N, K = analysis.rule
                order = self._order
                changes[k, order] = analysis.units * (N @ (K @ (compiled[k, order] / analysis.units)))
        return {name: changes[:, where] for name, where in self._columns.items()}

    @cached_property
    def unique(self) -> dict[str, tuple[bool, ...]]:
        """Whether each component is unique in all states, by the names of ``topology.holding``."""
        unique = {name: np.ones(size, dtype=bool) for name, size in self.sizes.items()}
        for analysis, _ in self.each:
            for name, flags in {**analysis.unique, **analysis.unique_multipliers}.items():
                unique[name] &= flags
        return {name: tuple(bool(x) for x in flags) for name, flags in unique.items()}

    @cached_property
    def elastic(self) -> dict[str, bool]:
        """Whether compliances alone determine what is not unique, in all states."""
        return {name: all(analysis.elastic[name] for analysis, _ in self.each) for name in self.sizes}

    @cached_property
    def along(self) -> dict[str, Array]:
        """Six components of unit efforts of each joint, for each state."""
        names = self.each[0][0].along if self.each else {}
        return {name: np.array([analysis.along[name] for analysis, _ in self.each]) for name in names}

    @cached_property
    def _columns(self) -> dict[str, slice]:
        """The columns of each name of ``topology.holding`` in the compiled values."""
        ends = np.cumsum(list(self.sizes.values())).tolist()
        return {name: slice(end - size, end) for (name, size), end in zip(self.sizes.items(), ends, strict=True)}

    @cached_property
    def _order(self) -> Array:
        """The columns of the compiled values in the order of the analyses: joint by joint, then multipliers."""
        columns = [self._columns[name] for name in self.each[0][0].names]
        return np.concatenate([np.arange(where.start, where.stop) for where in columns])


def is_redundant(dynamics: Dynamics) -> bool:
    """Whether constraint rows are redundant, so that reactions may not be unique."""
    closure = dynamics.closure if dynamics.topology.constrained else None
    return closure is not None and len(closure.rows) < closure.total


def share(
    dynamics: Dynamics, states: StateBatch, part: str = "total", hold: Support = None, every: Analyses | None = None
) -> ReactionSharing:
    """The change from compiled reactions and multipliers to those that the rule chooses.

    The rule is linear, so that static and kinetic shares add up to the total.  ``every`` are the analyses of the same
    states, where they are known from another share.
    """
    compiled = np.atleast_2d(states.call(dynamics, "holding", LoadOptions(part, hold)))
    analyses = Analyses(dynamics, states, len(compiled)) if every is None else every
    _check_teeth(dynamics, analyses)
    ratios = analyses.each[0][1].efforts if analyses.each else {name: {} for name in dynamics.system.joints}
    return ReactionSharing(analyses.change(compiled), analyses.unique, analyses.elastic, analyses.along, ratios)


def _check_teeth(dynamics: Dynamics, analyses: Analyses) -> None:
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
