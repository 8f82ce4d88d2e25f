"""Reactions in systems with redundant constraints: what is not unique is shared by a rule over all that holds.

The compiled reactions come from an independent set of constraint rows, which leaves the others without
load: one of many answers.  Here each is brought to the one that the rule of ``formulations/reaction_uniqueness.py``
chooses, which does not depend on where the loops were cut, and the components that follow from the motion are told
from those that do not.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import Pose
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
    """One state or a row for each, with the accelerations where they are given."""

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
        """Quantities by name that no reaction enters, whose modes are those of the states."""
        found = [find_quantity(dynamics.system, name) for name in names]
        return dict(split_values(dynamics.kernels.call(Kernel("evaluate", tuple(names)), self), found))


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
    """What is added to compiled values, a row for each state, and what is unique throughout.

    Six components of a joint's reaction by its name; the effort of a drive or gear as ``joint.effort``; the
    multipliers of a constraint by its name.
    """

    changes: dict[str, Array]
    unique: dict[str, tuple[bool, ...]]
    elastic: dict[str, bool]  # whether compliances alone decided about the rest
    along: dict[str, Array]  # joint -> six components of unit efforts
    ratios: dict[str, dict[str, float]]  # joint -> the efforts that act along it, and times what

    def of_joint(self, name: str, whole: bool) -> Array:
        """The change of a joint's reaction, or of all that it transmits."""
        change = self.changes[name]
        return change + np.einsum("tij,tj->ti", self.along[name], self.of_effort(name)) if whole else change

    def of_effort(self, name: str) -> Array:
        """The change of what acts along a joint's freedoms."""
        total = np.zeros((len(self.changes[name]), self.along[name].shape[2]))
        for origin, ratio in self.ratios[name].items():
            total = total + ratio * self.changes[origin]
        return total

    def is_unique(self, name: str, whole: bool) -> tuple[bool, ...]:
        """Six times for a joint: whether the component follows from the motion; for each multiplier of others."""
        found = self.unique[name]
        if whole and not all(all(self.unique[origin]) for origin in self.ratios.get(name, {})):
            touched = abs(self.along[name]).max(axis=(0, 2)) > 0.0
            found = tuple(one and not hit for one, hit in zip(found, touched, strict=True))
        return found


class Analyses:
    """What is unique in each of many states, whatever part of the reactions is asked for."""

    def __init__(self, dynamics: Dynamics, states: StateBatch, rows: int) -> None:
        self.each = list(_analyze(dynamics, states, rows))
        self.sizes = dynamics.topology.holding

    def change(self, compiled: Array) -> dict[str, Array]:
        """What the rule adds to all that holds, a row for each state in the order of ``topology.holding``."""
        found = np.zeros_like(compiled)
        for k, (one, _) in enumerate(self.each):
            if one.redundancy:
                N, K = one.rule
                order = self._order
                found[k, order] = one.units * (N @ (K @ (compiled[k, order] / one.units)))
        return {name: found[:, where] for name, where in self._places.items()}

    @cached_property
    def unique(self) -> dict[str, tuple[bool, ...]]:
        """Of each component of all that holds, whether it follows from the motion in all states."""
        sure = {name: np.ones(size, dtype=bool) for name, size in self.sizes.items()}
        for found, _ in self.each:
            for name, flags in {**found.unique, **found.unique_multipliers}.items():
                sure[name] &= flags
        return {name: tuple(bool(x) for x in flags) for name, flags in sure.items()}

    @cached_property
    def elastic(self) -> dict[str, bool]:
        """Whether compliances alone decide about the rest in all states."""
        return {name: all(found.elastic[name] for found, _ in self.each) for name in self.sizes}

    @cached_property
    def along(self) -> dict[str, Array]:
        """Six components of unit efforts of each joint, for each state."""
        names = self.each[0][0].along if self.each else {}
        return {name: np.array([found.along[name] for found, _ in self.each]) for name in names}

    @cached_property
    def _places(self) -> dict[str, slice]:
        ends = np.cumsum(list(self.sizes.values())).tolist()
        return {name: slice(end - size, end) for (name, size), end in zip(self.sizes.items(), ends, strict=True)}

    @cached_property
    def _order(self) -> Array:
        """Where the components are that the analyses list joint by joint, then multipliers."""
        names = self.each[0][0].names
        return np.concatenate([np.arange(self._places[name].start, self._places[name].stop) for name in names])


def is_redundant(dynamics: Dynamics) -> bool:
    """Whether any reaction may not be unique."""
    closure = dynamics.closure if dynamics.topology.constrained else None
    return closure is not None and len(closure.rows) < closure.total


def share(
    dynamics: Dynamics, states: StateBatch, part: str = "total", hold: Support = None, every: Analyses | None = None
) -> ReactionSharing:
    """The way from compiled reactions and multipliers to those that the rule chooses.

    It is linear, so that shared parts add up to the shared total.  ``every`` is known already where
    other parts in the same states were asked for.
    """
    compiled = np.atleast_2d(states.call(dynamics, "holding", LoadOptions(part, hold)))
    every = Analyses(dynamics, states, len(compiled)) if every is None else every
    ratios = every.each[0][1].efforts if every.each else {name: {} for name in dynamics.system.joints}
    return ReactionSharing(every.change(compiled), every.unique, every.elastic, every.along, ratios)


def analyze(dynamics: Dynamics, state: State, *, p: Any = None, inputs: Any = None) -> Uniqueness:
    """The reactions that follow from the motion, at one state in which all loops are closed."""
    return next(_analyze(dynamics, StateBatch.of(dynamics.point(state, p, inputs)), 1))[0]


def find_poses(dynamics: Dynamics, states: StateBatch) -> Iterator[dict[str, Pose]]:
    """Poses of all bodies for each state."""
    names = [f"{body}.{what}" for body in dynamics.system.bodies for what in ("rotation", "position")]
    found = states.evaluate(dynamics, names)
    R, at = (
        {body: found[f"{body}.{what}"].reshape(-1, *shape) for body in dynamics.system.bodies}
        for what, shape in (("rotation", (3, 3)), ("position", (3,)))
    )
    for i in range(len(next(iter(at.values())))):
        yield {"world": Pose(np.eye(3), np.zeros(3)), **{body: Pose(R[body][i], at[body][i]) for body in at}}


def _analyze(dynamics: Dynamics, states: StateBatch, rows: int) -> Iterator[tuple[Uniqueness, JointConstants]]:
    """What is unique in each state."""
    p = np.broadcast_to(np.atleast_2d(states.p), (rows, states.p.shape[-1]))
    unit_loads = None
    if dynamics.topology.constraints:
        shape = (rows, 6 * len(dynamics.system.bodies), -1)
        unit_loads = dynamics.kernels.call(Kernel("unit_loads"), states).reshape(shape)
    structure = None
    for i, poses in enumerate(find_poses(dynamics, states)):
        if structure is None or states.p.ndim == 2:  # parameters may differ from row to row
            structure = JointConstants(dynamics.topology, p[i], dynamics.arguments.resolver(p[i]))
        yield structure.analyze(poses, None if unit_loads is None else unit_loads[i]), structure
