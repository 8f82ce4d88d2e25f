"""The words of derivatives and their sizes: what is differentiated, and what by."""

from __future__ import annotations

from kinode.model.quantity_names import find_quantity
from kinode.structure.topology import Topology

OF_SYSTEMS = ("u_dot", "q_dot", "z_dot", "rate", "effort", "bias", "energy", "closure_rates")
"""Words for functions of a whole system (``derived_values.py``); every other name is that of a quantity."""


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
        "closure_rates": len(topology.row_units) if topology.constrained else 0,
    }
    return (sizes[name],) if name in sizes else find_quantity(topology.system, name).size


def count_columns(topology: Topology, word: str) -> int:
    """The number of entries of ``by``."""
    return {
        "q": topology.n_u,
        "coordinates": topology.n_q,
        "u": topology.n_u,
        "z": topology.n_z,
        "t": 1,
        "p": len(topology.parameters),
        "inputs": len(topology.inputs),
        "x": topology.n_u,
    }[word]
