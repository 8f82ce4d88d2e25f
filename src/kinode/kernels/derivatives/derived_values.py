"""Values of what can be differentiated: rates of the state, efforts, energies and every quantity by name.

u_dot     accelerations                        q_dot, z_dot   rates of coordinates and of other states
rate      rate of the state [q, u, z]          bias           h in M u_dot + h = effort
effort    inverse dynamics, for given u_dot    energy         kinetic energy, and all other energy
    closure_rates  rates of all constraint rows
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from kinode.algebra.scalars import Array, Scalar
from kinode.kernels import kernel_outputs
from kinode.kernels.kernel_options import SharedNames, SharingOptions
from kinode.kernels.kernel_outputs import flat
from kinode.model.quantity_names import QuantityName, find_quantity
from kinode.multibody.given import Given
from kinode.multibody.restraints import loop_constraints
from kinode.multibody.snapshot import Snapshot


def _bias(snapshot: Snapshot) -> Array:
    """Inverse dynamics without accelerations and friction."""
    at_rest = Given(u_dot=np.zeros(snapshot.topology.n_u), friction={}, joint_states=snapshot.given.joint_states)
    return snapshot.again(at_rest).inverse_effort


def _closure_rates(snapshot: Snapshot) -> Array:
    """Rates of all constraint rows: G u, and what moves by itself."""
    return snapshot.constraints.every(loop_constraints.drift) if snapshot.topology.constrained else np.empty(0)


WORDS: Mapping[str, Callable[[Snapshot], object]] = {
    "u_dot": lambda snapshot: snapshot.u_dot,
    "q_dot": lambda snapshot: snapshot.q_dot,
    "z_dot": lambda snapshot: snapshot.z_dot,
    "rate": kernel_outputs.rate,
    "effort": lambda snapshot: snapshot.inverse_effort,
    "bias": _bias,
    "energy": lambda snapshot: kernel_outputs.energy(snapshot, ()),
    "closure_rates": _closure_rates,
}
"""Functions of a whole system, by the words of ``OF_SYSTEMS``."""


def find_values(snapshot: Snapshot, names: tuple[str, ...], sharing: SharingOptions | None = None) -> list[Scalar]:
    """All entries of what the names stand for, one after the other; with ``sharing``, redundant reactions shared."""
    values: list[Scalar] = []
    find_quantity_value: Callable[[QuantityName], object] = snapshot.quantity
    if sharing is not None:
        from kinode.kernels.derivatives.shared_quantities import SharedLoads, find_shared  # which few models need

        find_quantity_value = partial(find_shared, snapshot, SharedLoads(snapshot, sharing))
    for name in names:
        known = WORDS.get(name)
        values += flat(find_quantity_value(find_quantity(snapshot.system, name)) if known is None else known(snapshot))
    return values


def find_named_values(snapshot: Snapshot, names: tuple[str, ...] | SharedNames) -> list[Scalar]:
    """The same, with names and sharing in one record."""
    whole = names if isinstance(names, SharedNames) else SharedNames(names, None)
    return find_values(snapshot, whole.names, whole.sharing)
