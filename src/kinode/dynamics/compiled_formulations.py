"""The formulations that can be compiled, by name."""

from __future__ import annotations

from kinode.errors import ArgumentError, find_close, suggest
from kinode.multibody.composition import RECURSIVE, Composition
from kinode.structure.topology import Topology

RECURSIVE_NAME, NEWTON_EULER_NAME = "recursive", "newton_euler"
COMPILED_FORMULATIONS = (
    RECURSIVE_NAME, "circuit", NEWTON_EULER_NAME, "lagrange", "hamilton", "quasi_base", "rotators"
)  # fmt: skip


def check_formulation(formulation: str) -> None:
    """Raise for a name that is none of a formulation that can be compiled."""
    if formulation in COMPILED_FORMULATIONS:
        return
    names = ", ".join(COMPILED_FORMULATIONS)
    message = f"compile: the formulations that can be compiled are {names}, not {formulation!r}"
    if formulation == "free_flight":
        raise ArgumentError(f"{message}; free_flight balances one instant about a moving frame: kn.verify compares it")
    raise ArgumentError(suggest(message, formulation, find_close(str(formulation), COMPILED_FORMULATIONS)))


def find_composition(formulation: str, topology: Topology) -> Composition:
    """The parts of a snapshot by which a formulation computes motion and reactions; an error if it does not apply."""
    check_formulation(formulation)
    if formulation == RECURSIVE_NAME:
        return RECURSIVE
    if formulation == "circuit":
        from kinode.formulations.circuit.component_circuit import CIRCUIT

        return CIRCUIT
    # imports all formulations, which few runs need
    from kinode.formulations.formulation_table import COMPOSITIONS, FORMULATIONS, without_events

    reason = FORMULATIONS[formulation].applies(topology)
    if formulation == NEWTON_EULER_NAME:
        reason = reason or without_events(topology)
    if reason:
        raise ArgumentError(f"{formulation} does not apply to {topology.system.name}: {reason}")
    return COMPOSITIONS[formulation]
