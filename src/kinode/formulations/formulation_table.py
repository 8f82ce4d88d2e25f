"""The table of formulations: each takes the same numbers and gives outputs of the same names.

A formulation is one entry of ``FORMULATIONS``; ``verify`` compares all that apply to a system, on all common outputs.

    u_dot                accelerations of the state
    z_dot                time derivatives of the other states: currents, shafts, controllers
    mass_matrix          M
    bias                 h of M u_dot + h = added effort; h includes the efforts of the model, but not friction
    effort               inverse dynamics: the effort to be added to those of the model for ``numbers.u_dot``
    kinetic_energy, potential_energy    network components included; electric and thermal energy count as potential
    momentum, angular_momentum    of all bodies, about the world's origin, in world axes
    reactions            {joint: (moment, force)}: a on b, about b's joint point, in a's joint axes;
                         {constraint: (multipliers,)}
    static_reactions     the same without inertia; the freedoms ``numbers.hold`` support the loops
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array, tidy
from kinode.formulations.component_circuit import CIRCUIT
from kinode.formulations.eliminated_motion import NEWTON_EULER, static_reactions
from kinode.formulations.free_flight import FreeFlight, find_observer
from kinode.formulations.lagrange import HAMILTON, LAGRANGE
from kinode.formulations.scope import SCOPES
from kinode.formulations.vector_methods import QUASI_BASE, ROTATORS
from kinode.multibody.loop_statics import Support
from kinode.multibody.snapshot import RECURSIVE, Composition, Snapshot
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import Topology

OUTPUTS = (
    "u_dot", "z_dot", "mass_matrix", "bias", "effort", "kinetic_energy", "potential_energy", "momentum",
    "angular_momentum", "reactions", "static_reactions",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class InstantValues(EvaluationPoint):
    """A point of evaluation with the further arguments of a formulation.

    ``u_dot`` are the accelerations for inverse dynamics, ``hold`` the static support of loops.
    """

    u_dot: Array | None = None
    hold: Support = None


@dataclass(frozen=True)
class Formulation:
    """A derivation of the equations; ``applies`` returns the reason why it does not apply to a system, or None."""

    name: str
    outputs: frozenset[str]
    applies: Callable[[Topology], str | None]
    evaluate: Callable[[Topology, InstantValues, Collection[str]], dict[str, Any]]


FORMULATIONS: dict[str, Formulation] = {}


def register_formulation(formulation: Formulation) -> Formulation:
    """Add a formulation to the table."""
    unknown = formulation.outputs - set(OUTPUTS)
    if unknown:
        raise ValueError(f"{formulation.name}: no output is called {', '.join(sorted(unknown))}")
    FORMULATIONS[formulation.name] = formulation
    return formulation


_SNAPSHOT_OUTPUTS: dict[str, Callable[[Snapshot], Any]] = {
    "u_dot": lambda s: s.u_dot,
    "z_dot": lambda s: s.z_dot,
    "mass_matrix": lambda s: s.mass_matrix,
    "bias": lambda s: -s.with_friction({}).bias_effort,
    "kinetic_energy": lambda s: s.energies["kinetic"],
    "potential_energy": lambda s: sum(x for kind, x in s.energies.items() if kind != "kinetic"),
    "momentum": lambda s: s.momenta[0],
    "angular_momentum": lambda s: s.momenta[1],
    "reactions": lambda s: _reactions(s),
}


def _reactions(s: Snapshot, part: str = "total", hold: Support = None) -> dict[str, tuple[Array, ...]]:
    """Reactions of all joints and multipliers of all constraints."""
    statics = None if part == "total" else s.statics(hold)
    multipliers = {name: (s.multipliers_of(name, statics),) for name in s.system.constraints}
    joints = (*s.full.kinematics.node_named, *s.topology.cut_names)
    return {**{name: s.reaction(name, part, hold=hold) for name in joints}, **multipliers}


def _from_snapshot(
    formulation: Composition,
) -> Callable[[Topology, InstantValues, Collection[str]], dict[str, Any]]:
    def evaluate(topology: Topology, numbers: InstantValues, wanted: Collection[str]) -> dict[str, Any]:
        n = numbers
        free = Snapshot(topology, n, formulation=formulation)
        outputs = {name: read(free) for name, read in _SNAPSHOT_OUTPUTS.items() if name in wanted}
        if "static_reactions" in wanted:
            outputs["static_reactions"] = _reactions(free, "static", n.hold)
        if "effort" in wanted:
            u_dot = np.zeros(topology.n_u) if n.u_dot is None else n.u_dot
            outputs["effort"] = Snapshot(topology, n, u_dot=u_dot, formulation=formulation).inverse_effort
        return {name: tidy(value) if isinstance(value, np.ndarray) else value for name, value in outputs.items()}

    return evaluate


register_formulation(Formulation("recursive", frozenset(OUTPUTS), SCOPES["recursive"], _from_snapshot(RECURSIVE)))
# Its inverse dynamics is M u_dot + bias by definition, and networks are condensed by the same code as in the recursion:
# comparing these outputs would check nothing.
LAGRANGE_OUTPUTS = frozenset(OUTPUTS) - {"effort", "reactions", "static_reactions", "z_dot"}
register_formulation(Formulation("lagrange", LAGRANGE_OUTPUTS, SCOPES["lagrange"], _from_snapshot(LAGRANGE)))


# Poses, energies and the mass matrix are those of lagrange: comparing them would check nothing.
HAMILTON_OUTPUTS = frozenset({"u_dot", "bias"})
register_formulation(Formulation("hamilton", HAMILTON_OUTPUTS, SCOPES["hamilton"], _from_snapshot(HAMILTON)))


def _from_bodies(topology: Topology, numbers: InstantValues, wanted: Collection[str]) -> dict[str, Any]:
    outputs = _from_snapshot(NEWTON_EULER)(topology, numbers, set(wanted) - {"static_reactions"})
    if "static_reactions" in wanted:
        outputs["static_reactions"] = static_reactions(Snapshot(topology, numbers), numbers.hold)
    return outputs


# Other outputs come from the same code as in the recursion: comparing them would check nothing.
BODY_OUTPUTS = frozenset({"u_dot", "effort", "reactions", "static_reactions"})
register_formulation(Formulation("newton_euler", BODY_OUTPUTS, SCOPES["newton_euler"], _from_bodies))


# Static shares and the potential energy come from the same code as in the recursion: comparing them checks nothing.
CIRCUIT_OUTPUTS = frozenset(OUTPUTS) - {"static_reactions", "potential_energy"}
register_formulation(Formulation("circuit", CIRCUIT_OUTPUTS, SCOPES["circuit"], _from_snapshot(CIRCUIT)))


def _from_flight(topology: Topology, numbers: InstantValues, wanted: Collection[str]) -> dict[str, Any]:
    n = numbers
    flight = FreeFlight(Snapshot(topology, n), find_observer(topology))
    read: dict[str, Callable[[], Any]] = {
        "u_dot": lambda: flight.u_dot,
        "mass_matrix": lambda: flight.equations[0],
        "bias": lambda: flight.equations[1],
        "effort": lambda: flight.effort(np.zeros(topology.n_u) if n.u_dot is None else n.u_dot),
        "kinetic_energy": lambda: flight.kinetic_energy + flight.snapshot.network.energy("kinetic"),
        "momentum": lambda: flight.momenta[1],
        "angular_momentum": lambda: flight.momenta[0],
        "reactions": lambda: {node.joint.name: flight.reaction(node, flight.u_dot) for node in topology.full.nodes},
        "static_reactions": lambda: {node.joint.name: flight.static_reaction(node) for node in topology.full.nodes},
    }
    outputs = {name: value() for name, value in read.items() if name in wanted}
    return {name: tidy(value) if isinstance(value, np.ndarray) else value for name, value in outputs.items()}


FLIGHT_OUTPUTS = frozenset(OUTPUTS) - {"potential_energy", "z_dot"}
register_formulation(Formulation("free_flight", FLIGHT_OUTPUTS, SCOPES["free_flight"], _from_flight))


CHAIN_OUTPUTS = frozenset(OUTPUTS) - {"z_dot"}
register_formulation(Formulation("quasi_base", CHAIN_OUTPUTS, SCOPES["quasi_base"], _from_snapshot(QUASI_BASE)))
register_formulation(Formulation("rotators", CHAIN_OUTPUTS, SCOPES["rotators"], _from_snapshot(ROTATORS)))


COMPOSITIONS: dict[str, Composition] = {
    "recursive": RECURSIVE, "lagrange": LAGRANGE, "hamilton": HAMILTON, "newton_euler": NEWTON_EULER,
    "circuit": CIRCUIT, "quasi_base": QUASI_BASE, "rotators": ROTATORS,
}  # fmt: skip
"""The formulations that compute in every scalar type, so that they can be compiled and written as formulas."""
