"""Which parts a formulation that can be compiled puts a snapshot together from."""

from __future__ import annotations

from kinode.errors import ArgumentError
from kinode.multibody.composition import RECURSIVE, Composition


def find_composition(formulation: str) -> Composition:
    """The parts of a snapshot by which a formulation computes motion and reactions."""
    if formulation == "recursive":
        return RECURSIVE
    if formulation != "circuit":
        names = "'recursive' and 'circuit'"
        raise ArgumentError(f"compile: the formulations that can be compiled are {names}, not {formulation!r}")
    from kinode.formulations.circuit.component_circuit import CIRCUIT

    return CIRCUIT
