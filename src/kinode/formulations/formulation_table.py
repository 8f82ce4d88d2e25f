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
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array, tidy
from kinode.formulations.absolute_bodies.eliminated_motion import NEWTON_EULER
from kinode.formulations.absolute_statics import static_reactions
from kinode.formulations.canonical.hamilton import HAMILTON
from kinode.formulations.chain_kinematics import class_five_pairs
from kinode.formulations.circuit.component_circuit import CIRCUIT
from kinode.formulations.free_flight import FreeFlight, find_observer
from kinode.formulations.lagrange import LAGRANGE
from kinode.formulations.newton_euler import NewtonEuler
from kinode.formulations.quasi_base_vectors import QUASI_BASE
from kinode.formulations.vector_rotators import ROTATORS
from kinode.model.base.fields import Component
from kinode.model.joints.joint import Joint
from kinode.multibody.composition import RECURSIVE, Composition
from kinode.multibody.restraints.loop_statics import Support
from kinode.multibody.snapshot import Snapshot
from kinode.records import dataclass
from kinode.structure.evaluation_point import EvaluationPoint
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


def tree_only(topology: Topology) -> str | None:
    """The reason why a formulation for trees does not apply, or None."""
    if topology.cuts:
        return f"the system has loops, closed by {', '.join(topology.cut_names)}"
    if topology.constraints:
        return f"the system has constraints: {', '.join(c.name for c in topology.constraints)}"
    return bodies_only(topology)


def bodies_only(topology: Topology) -> str | None:
    """The reason why a formulation does not apply that has no inertia except that of bodies, or None."""
    if not topology.system.bodies:
        return "there are no bodies"
    heavy = () if topology.network is None else sorted(topology.network.heavy)
    return f"parts add inertia to {', '.join(heavy)}, which no body has" if heavy else None


MOST_SPEEDS = 100


def _can_lock(component: Component) -> bool:
    """Whether a component can lock joints; compliant end stops cannot."""
    if isinstance(component, Joint):
        return component.ends is not None and component.ends.rigid
    return type(component).locks is not Component.locks


def small_tree(topology: Topology) -> str | None:
    """The reason why Lagrange's formulation does not apply, or would take minutes (its time grows quadratically)."""
    if topology.n_u > MOST_SPEEDS:
        return f"with {topology.n_u} speeds it would take minutes (at most {MOST_SPEEDS})"
    with_friction = [name for name, joint in topology.system.joints.items() if joint.friction is not None]
    if with_friction:
        return f"it has no reactions for the friction to depend on: {', '.join(with_friction)}"
    locking = [name for name in topology.layout.discrete_of if _can_lock(topology.system[name])]
    if locking:
        return f"it cannot hold joints still: {', '.join(locking)}"
    return tree_only(topology)


MOST_BODIES = 300


def few_bodies(topology: Topology) -> str | None:
    """The reason why a formulation with dense equations of all bodies does not apply, or would take long."""
    count = len(topology.system.bodies)
    if count > MOST_BODIES:
        return f"its dense equations of {count} bodies would take long (at most {MOST_BODIES})"
    return bodies_only(topology)


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


register_formulation(Formulation("recursive", frozenset(OUTPUTS), lambda topology: None, _from_snapshot(RECURSIVE)))
# Its inverse dynamics is M u_dot + bias by definition, and networks are condensed by the same code as in the recursion:
# comparing these outputs would check nothing.
LAGRANGE_OUTPUTS = frozenset(OUTPUTS) - {"effort", "reactions", "static_reactions", "z_dot"}
register_formulation(Formulation("lagrange", LAGRANGE_OUTPUTS, small_tree, _from_snapshot(LAGRANGE)))


MOST_MOMENTA = 12


def few_momenta(topology: Topology) -> str | None:
    """The reason why Hamilton's formulation does not apply, or would take long (its time grows with the cube)."""
    if topology.n_u > MOST_MOMENTA:
        return f"with {topology.n_u} momenta it would take long (at most {MOST_MOMENTA})"
    return small_tree(topology)


# Poses, energies and the mass matrix are those of lagrange: comparing them would check nothing.
HAMILTON_OUTPUTS = frozenset({"u_dot", "bias"})
register_formulation(Formulation("hamilton", HAMILTON_OUTPUTS, few_momenta, _from_snapshot(HAMILTON)))


def _from_bodies(topology: Topology, numbers: InstantValues, wanted: Collection[str]) -> dict[str, Any]:
    n = numbers
    snapshot = Snapshot(topology, n)
    free = NewtonEuler(snapshot)
    outputs: dict[str, Any] = {}
    if "u_dot" in wanted:
        outputs["u_dot"] = free.u_dot
    if "reactions" in wanted:
        multipliers = {name: (free.constraint_multipliers(name),) for name in topology.system.constraints}
        outputs["reactions"] = {**{name: free.reaction(name) for name in free.joint_constraints}, **multipliers}
    if "static_reactions" in wanted:
        outputs["static_reactions"] = static_reactions(free, n.hold)
    if "effort" in wanted:
        outputs["effort"] = NewtonEuler(snapshot, np.zeros(topology.n_u) if n.u_dot is None else n.u_dot).effort
    return outputs


def without_events(topology: Topology) -> str | None:
    """The reason why a run of all bodies in absolute coordinates is not possible, or None."""
    with_friction = [name for name, joint in topology.system.joints.items() if joint.friction is not None]
    if with_friction:
        return f"its reactions do not know of the friction that depends on them: {', '.join(with_friction)}"
    if topology.meshes:
        return f"which flank of the teeth carries the load is not linear: {', '.join(topology.meshes)}"
    if topology.events is not None:
        owners = [*topology.layout.discrete_of]
        return f"it has no events, and these change their mode or are sampled: {', '.join(owners)}"
    return None


BODY_OUTPUTS = frozenset({"u_dot", "effort", "reactions", "static_reactions"})
register_formulation(Formulation("newton_euler", BODY_OUTPUTS, few_bodies, _from_bodies))


def few_components(topology: Topology) -> str | None:
    """The reason why a circuit would take long in plain Python, or None."""
    count = len(topology.system.bodies)
    return None if count <= MOST_BODIES else f"its rows of {count} bodies would take long (at most {MOST_BODIES})"


# Static shares and the potential energy come from the same code as in the recursion: comparing them checks nothing.
CIRCUIT_OUTPUTS = frozenset(OUTPUTS) - {"static_reactions", "potential_energy"}
register_formulation(Formulation("circuit", CIRCUIT_OUTPUTS, few_components, _from_snapshot(CIRCUIT)))


FLYING_BODIES = 40


def flying_tree(topology: Topology) -> str | None:
    """The reason why the balances about a moving frame do not apply, or would take long; or None."""
    if len(topology.system.bodies) > FLYING_BODIES:
        return f"its balances of {len(topology.system.bodies)} bodies would take long (at most {FLYING_BODIES})"
    return small_tree(topology)


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
register_formulation(Formulation("free_flight", FLIGHT_OUTPUTS, flying_tree, _from_flight))


def hinged_tree(most: int) -> Callable[[Topology], str | None]:
    """A check for methods for trees of hinges, slides and screws with at most so many bodies."""

    def applies(topology: Topology) -> str | None:
        count = len(topology.system.bodies)
        if count > most:
            return f"its sums over {count} bodies would take long (at most {most})"
        return tree_only(topology) or class_five_pairs(topology)

    return applies


CHAIN_OUTPUTS = frozenset(OUTPUTS) - {"z_dot"}
register_formulation(Formulation("quasi_base", CHAIN_OUTPUTS, hinged_tree(60), _from_snapshot(QUASI_BASE)))
register_formulation(Formulation("rotators", CHAIN_OUTPUTS, hinged_tree(12), _from_snapshot(ROTATORS)))


COMPOSITIONS: dict[str, Composition] = {
    "recursive": RECURSIVE, "lagrange": LAGRANGE, "hamilton": HAMILTON, "newton_euler": NEWTON_EULER,
    "circuit": CIRCUIT, "quasi_base": QUASI_BASE, "rotators": ROTATORS,
}  # fmt: skip
"""The formulations that compute in every scalar type, so that they can be compiled and written as formulas."""
