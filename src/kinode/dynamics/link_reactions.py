"""How the distribution of redundant reactions changes the flows of the component circuit's links."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.joint_reactions import constraint_change, first_parameters, transform_change
from kinode.dynamics.state_batches.state_batch import StateBatch
from kinode.kernels.kernel_options import ReactionOptions
from kinode.model.circuit_links.circuit_topology import VECTOR, WORLD, CircuitLink, find_circuit_topology
from kinode.model.constraints.gear_coupling import CoordinateCoupling
from kinode.model.quantity_names import QuantityName, find_quantity

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics
    from kinode.dynamics.redundant_reactions import ReactionSharing


def link_change(dynamics: Dynamics, name: QuantityName, states: StateBatch, sharing: ReactionSharing) -> Array:
    """The change of a link variable; that of a potential is zero.  One row for each state."""
    topology = find_circuit_topology(dynamics.system)
    number, _, quantity = name.quantity.partition(".")
    component = topology.components[name.owner]
    link, sign = topology.link(component.name, int(number)), 1.0
    zero = np.zeros((len(np.atleast_1d(states.t)), 3 if link.kind == VECTOR else 1))
    if link.kind != VECTOR:
        change = _along(dynamics, link, states, sharing) if quantity == link.words.flow else None
        return zero if change is None else change
    if quantity not in ("force", "moment"):
        return zero[:, : 1 if name.part is not None else 3]
    if component.role == "SB" or component.name == WORLD:
        link, sign = topology.other_end(link), -1.0
    change = _vector(dynamics, link, name, quantity, states, sharing)
    change = zero if change is None else sign * change
    return change if name.part is None else change[:, [name.part]]


def _vector(
    dynamics: Dynamics, link: CircuitLink, name: QuantityName, quantity: str, states: StateBatch,
    sharing: ReactionSharing,
) -> Array | None:  # fmt: skip
    """The change of force or moment on a joint or a constraint at a vector link; None if it is loaded by elements."""
    system = dynamics.system
    assert link.frame is not None
    axes = name.text.partition("@")[2] or link.frame.body
    if link.component in system.joints:
        first = link.number == 1
        about = f"{link.component}.{'parent' if first else 'child'}"
        wanted = ReactionOptions(whole=True, about=about, axes=axes, joints=(link.component,))
        whole = sharing.of_joint(link.component, True)
        change = transform_change(dynamics, states, link.component, whole, wanted, opposite=first)
        return -change[:, :3] if quantity == "force" else -change[:, 3:]
    if link.component in system.constraints:
        text = f"{link.component}.on.{link.frame.body}.{quantity}@{axes}"
        return -constraint_change(dynamics, find_quantity(system, text), states, sharing)
    return None


def _along(dynamics: Dynamics, link: CircuitLink, states: StateBatch, sharing: ReactionSharing) -> Array | None:
    """The change of the flow at an energy link on a joint's freedom; None if there is none."""
    system, k = dynamics.system, link.freedom
    if k is None:
        return None
    topology = find_circuit_topology(system)
    joint = topology.at_joint(link).component
    component = topology.components[link.component]
    if component.name == joint:
        return sharing.of_effort(joint)[:, [k]]
    if component.owner == joint and component.field in ("motion", "speed"):
        return -sharing.changes[f"{joint}.effort"][:, [k]]
    coupling = system.constraints.get(component.name)
    if not isinstance(coupling, CoordinateCoupling):
        return None
    relation = coupling.relation(system)
    change = constraint_change(dynamics, find_quantity(system, f"{coupling.name}.reaction"), states, sharing)
    ratio = dynamics.arguments.resolver(first_parameters(states.p))(relation.ratio)
    return np.asarray((-1.0 if joint == relation.follower else ratio) * change.reshape(-1, 1))
