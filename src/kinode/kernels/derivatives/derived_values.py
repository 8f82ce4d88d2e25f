"""What can be differentiated: rates of the state, efforts, energies and every quantity by name.

u_dot     accelerations                        q_dot, z_dot   rates of coordinates and of other states
rate      rate of the state [q, u, z]          bias           h in M u_dot + h = effort
effort    inverse dynamics, for given u_dot    energy         kinetic energy, and all other energy
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from kinode.algebra.scalars import Array, Scalar
from kinode.kernels import kernel_outputs
from kinode.kernels.kernel_outputs import flat
from kinode.model.quantity_names import find_quantity
from kinode.multibody.given import Given
from kinode.multibody.snapshot import Snapshot
from kinode.structure.topology import Topology


def _bias(snapshot: Snapshot) -> Array:
    """Inverse dynamics without accelerations and friction."""
    at_rest = Given(u_dot=np.zeros(snapshot.topology.n_u), friction={}, joint_states=snapshot.given.joint_states)
    return snapshot.again(at_rest).inverse_effort


WORDS: Mapping[str, Callable[[Snapshot], object]] = {
    "u_dot": lambda snapshot: snapshot.u_dot,
    "q_dot": lambda snapshot: snapshot.q_dot,
    "z_dot": lambda snapshot: snapshot.z_dot,
    "rate": kernel_outputs.rate,
    "effort": lambda snapshot: snapshot.inverse_effort,
    "bias": _bias,
    "energy": lambda snapshot: kernel_outputs.energy(snapshot, ()),
}
"""Functions of a whole system by a word; every other name is that of a quantity."""


def shape_of(topology: Topology, name: str) -> tuple[int, ...]:
    """The shape of what a name stands for; an unknown name raises a LawError."""
    sizes = {
        "u_dot": topology.n_u,
        "q_dot": topology.n_q,
        "z_dot": topology.n_z,
        "rate": topology.layout.n_y,
        "effort": topology.n_u,
        "bias": topology.n_u,
        "energy": 2,
    }
    return (sizes[name],) if name in sizes else find_quantity(topology.system, name).size


def find_values(snapshot: Snapshot, names: tuple[str, ...]) -> list[Scalar]:
    """All entries of what the names stand for, one after the other."""
    values: list[Scalar] = []
    for name in names:
        known = WORDS.get(name)
        values += flat(snapshot.quantity(find_quantity(snapshot.system, name)) if known is None else known(snapshot))
    return values
