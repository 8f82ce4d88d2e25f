"""Quantities that stand among the states of a run, so that nothing has to be computed for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kinode.model.quantity_names import QuantityName

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics


class StoredColumns(NamedTuple):
    """Where a quantity stands in the state vector [q, u, z]."""

    columns: slice
    vector: bool
    """Whether it has parts; else it is one number."""


def find_stored(dynamics: Dynamics, name: QuantityName) -> StoredColumns | None:
    """The columns of a coordinate, a speed or another state of a joint, or of a held value; None for others."""
    topology, roles = dynamics.topology, dynamics.topology.layout.role_slices
    if name.sort == "held":
        index = roles["z"].start + next(c.index for c in dynamics.coordinates if c.name == name.text)
        return StoredColumns(slice(index, index + 1), False)
    if name.sort != "joint" or name.quantity not in ("q", "u"):
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
