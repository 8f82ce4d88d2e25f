"""What a consistent start takes from one instant: values of following states, and quantities of the network.

Components give the first by ``consistent_values``; the second have initial values of their own, or are zero by default.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinode.algebra.scalars import Scalar
from kinode.model.base.fields import Component
from kinode.structure.network_records import ExpressionOrNumber
from kinode.structure.topology import Topology

if TYPE_CHECKING:
    from kinode.multibody.snapshot import Snapshot


def find_followers(topology: Topology) -> list[str]:
    """The components with following states."""
    system, default = topology.system, Component.consistent_values
    owners = dict.fromkeys((*topology.z_of, *topology.layout.discrete_of))
    return [name for name in owners if name in system and type(system[name]).consistent_values is not default]


def consistent_values(snapshot: Snapshot) -> dict[str, Scalar]:
    """The values that following states take, by name."""
    values: dict[str, Scalar] = {}
    for name in find_followers(snapshot.topology):
        for state, value in snapshot.system[name].consistent_values(snapshot).items():
            values[f"{name}.{state}"] = value
    return values


def find_zeros(topology: Topology) -> list[ExpressionOrNumber]:
    """The quantities of the network that start at zero where no initial value determines them."""
    network = topology.network
    parts = {} if network is None else network.parts
    return [] if network is None else [network.formula(n, x) for n, part in parts.items() for x in part.zero_by_default]


def network_values(snapshot: Snapshot) -> list[Scalar]:
    """The quantities of the network with initial values, then those that are zero by default."""
    network, condensed = snapshot.topology.network, snapshot.condensed
    if network is None or condensed is None:
        return []
    quantities = [*(start.quantity for start in network.starts), *find_zeros(snapshot.topology)]
    return [condensed.evaluate(quantity) for quantity in quantities]


def start_quantities(snapshot: Snapshot) -> list[Scalar]:
    """Values of following states, then quantities of the network."""
    return [*consistent_values(snapshot).values(), *network_values(snapshot)]
