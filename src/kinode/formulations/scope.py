"""Which systems each formulation applies to; where one does not, the reason in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kinode.model.base.fields import Component
from kinode.model.joints.joint import Joint
from kinode.structure.topology import Topology

MOST_SPEEDS = 100
MOST_BODIES = 300
MOST_MOMENTA = 12
FLYING_BODIES = 40


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


def few_bodies(topology: Topology) -> str | None:
    """The reason why a formulation with equations of all bodies does not apply, or would take long."""
    count = len(topology.system.bodies)
    if count > MOST_BODIES:
        return f"its equations of {count} bodies would take long (at most {MOST_BODIES})"
    return bodies_only(topology)


def class_five_pairs(topology: Topology) -> str | None:
    """The reason why these methods do not apply, or None."""
    other = [joint.name for joint in topology.system.joints.values() if not joint.has_pairs]
    return f"it takes joints apart into hinges and slides, and cannot do so with {', '.join(other)}" if other else None


def hinged_tree(most: int) -> Callable[[Topology], str | None]:
    """A check for methods for trees of hinges, slides and screws with at most so many bodies."""

    def applies(topology: Topology) -> str | None:
        count = len(topology.system.bodies)
        if count > most:
            return f"its sums over {count} bodies would take long (at most {most})"
        return tree_only(topology) or class_five_pairs(topology)

    return applies


def few_momenta(topology: Topology) -> str | None:
    """The reason why Hamilton's formulation does not apply, or would take long (its time grows with the cube)."""
    if topology.n_u > MOST_MOMENTA:
        return f"with {topology.n_u} momenta it would take long (at most {MOST_MOMENTA})"
    return small_tree(topology)


def few_components(topology: Topology) -> str | None:
    """The reason why a circuit would take long in plain Python, or None."""
    count = len(topology.system.bodies)
    return None if count <= MOST_BODIES else f"its rows of {count} bodies would take long (at most {MOST_BODIES})"


def flying_tree(topology: Topology) -> str | None:
    """The reason why the balances about a moving frame do not apply, or would take long; or None."""
    if len(topology.system.bodies) > FLYING_BODIES:
        return f"its balances of {len(topology.system.bodies)} bodies would take long (at most {FLYING_BODIES})"
    return small_tree(topology)


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


SCOPES: Mapping[str, Callable[[Topology], str | None]] = {
    "recursive": lambda topology: None,
    "lagrange": small_tree,
    "hamilton": few_momenta,
    "newton_euler": few_bodies,
    "circuit": few_components,
    "free_flight": flying_tree,
    "quasi_base": hinged_tree(60),
    "rotators": hinged_tree(12),
}
"""The reason why a formulation does not apply to a system, or None."""
