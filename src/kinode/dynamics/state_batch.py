"""States with parameters and inputs as one record; kernels called for them, quantities that stand among the states."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from kinode.algebra.scalars import Array
from kinode.kernels.kernel_options import Kernel
from kinode.model.quantities import QuantityName, find_quantity
from kinode.structure.state_layout import EvaluationPoint

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics


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
        size = math.prod(name.size)
        part = whole[..., start : start + size]
        values.append((name.text, part.reshape((*whole.shape[:-1], *name.size))))
        start += size
    return values


class StoredColumns(NamedTuple):
    """Where a quantity stands in the state vector [q, u, z]."""

    columns: slice
    vector: bool
    """Whether it has parts; else it is one number."""


def find_stored(dynamics: Dynamics, name: QuantityName) -> StoredColumns | None:
    """The columns of a coordinate, a speed or another state of a joint, or of a held value; None for others."""
    topology, roles = dynamics.topology, dynamics.topology.layout.role_slices
    if name.needs == "events":
        index = roles["z"].start + next(c.index for c in dynamics.coordinates if c.name == name.text)
        return StoredColumns(slice(index, index + 1), False)
    if name.quantity not in ("q", "u") or name.owner not in dynamics.system.joints:
        return None
    slices, base = (topology.q_of, roles["q"]) if name.quantity == "q" else (topology.u_of, roles["u"])
    if name.owner not in slices:
        if name.quantity == "u" or name.owner not in topology.z_of:
            return None
        slices, base = topology.z_of, roles["z"]
    first, last = (base.start + end for end in (slices[name.owner].start, slices[name.owner].stop))
    if name.part is not None:
        first += name.part
        return StoredColumns(slice(first, first + 1), False)
    return StoredColumns(slice(first, last), True) if name.parts else StoredColumns(slice(first, first + 1), False)
