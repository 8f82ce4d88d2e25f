"""The formulations that can be compiled, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinode.errors import ArgumentError, find_close, suggest
from kinode.structure.topology import Topology

if TYPE_CHECKING:  # new code alone needs it
    from kinode.multibody.composition import Composition

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


def check_applies(formulation: str, topology: Topology) -> None:
    """Raise where a formulation does not apply to a system."""
    if formulation in (RECURSIVE_NAME, "circuit"):
        return
    from kinode.formulations.scope import SCOPES, without_events  # few runs need it

    reason = SCOPES[formulation](topology)
    if formulation == NEWTON_EULER_NAME:
        reason = reason or without_events(topology)
    if reason:
        raise ArgumentError(f"{formulation} does not apply to {topology.system.name}: {reason}")


def find_composition(formulation: str) -> Composition:
    """The parts of a snapshot by which a formulation computes motion and reactions."""
    if formulation == RECURSIVE_NAME:
        from kinode.multibody.composition import RECURSIVE

        return RECURSIVE
    if formulation == "circuit":
        from kinode.formulations.circuit.component_circuit import CIRCUIT

        return CIRCUIT
    from kinode.formulations.formulation_table import COMPOSITIONS

    return COMPOSITIONS[formulation]
