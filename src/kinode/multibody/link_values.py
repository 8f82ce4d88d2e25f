"""Variables of the links of the component circuit at an instant: potentials and flows (T-7.13).

The flow at a link is what acts on the component there.  Vector links are in the axes of the body that they are on,
moments about the origin of the link's frame.  Links that meet at a node have one potential, and flows that sum to zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array, Scalar, apply
from kinode.algebra.spatial import ZERO3, cross, dot
from kinode.model.base.frames import Frame
from kinode.model.circuit_topology import POWER, VECTOR, WORLD, CircuitComponent, CircuitLink, find_circuit_topology
from kinode.model.constraints.gear_coupling import CoordinateCoupling
from kinode.model.joints.joint import EFFECTS
from kinode.multibody import loop_constraints

if TYPE_CHECKING:
    from kinode.model.base.element import Load
    from kinode.model.quantities import QuantityName
    from kinode.multibody.snapshot import Snapshot


def link_value(snapshot: Snapshot, name: QuantityName) -> Any:
    """The value of a link variable that was asked for by name."""
    topology = find_circuit_topology(snapshot.system)
    component = topology.components[name.owner]
    number, _, quantity = name.quantity.partition(".")
    link = topology.link(component.name, int(number))
    if quantity == POWER:
        return _power_into(snapshot, component, link)
    if link.kind != VECTOR:
        domain = link.words
        return _flow(snapshot, component, link) if quantity == domain.flow else _potential(snapshot, link, quantity)
    assert link.frame is not None
    word, _, size = quantity.partition(".")
    if word in ("velocity", "angular_velocity"):
        vector = snapshot.velocity(link.frame)[word == "velocity"]
    else:
        vector = vector_flow(snapshot, component, link)[word == "force"]
    if size:
        return apply("sqrt", dot(vector, vector))
    axes = snapshot.pose(Frame(link.frame.body) if name.axes is None else name.axes).R.T
    return axes @ vector


def _power_into(snapshot: Snapshot, component: CircuitComponent, link: CircuitLink) -> Scalar:
    """Power into a component through one of its links [W]."""
    if link.kind == VECTOR:
        assert link.frame is not None
        w, v = snapshot.velocity(link.frame)
        moment, force = vector_flow(snapshot, component, link)
        total: Scalar = dot(force, v) + dot(moment, w)
        return total
    flow = _flow(snapshot, component, link)
    return flow * _potential(snapshot, link, link.words.potential) if link.words.product_is_power else flow


def power_names(link: CircuitLink) -> list[str]:
    """The link variables that the power through a link is made of."""
    if link.kind == VECTOR:
        words = ["velocity", "angular_velocity", "force", "moment"]
    else:
        words = [link.words.flow, *([link.words.potential] if link.words.product_is_power else [])]
    return [f"{link.name}.{word}" for word in words]


def link_power(link: CircuitLink, value: Callable[[str], Any]) -> Any:
    """The power into a component through a link, W, from its ``power_names``: at an instant or at many."""
    values = [value(name) for name in power_names(link)]
    if link.kind == VECTOR:
        v, w, f, m = values
        return np.sum(v * f + w * m, axis=-1)
    return math.prod(values)


# -- vector links ----------------------------------------------------------------------------------
def vector_flow(snapshot: Snapshot, component: CircuitComponent, link: CircuitLink) -> tuple[Array, Array]:
    """Moment and force on a component at a vector link, in world axes."""
    if component.role == "SB" or component.name == WORLD:
        topology = find_circuit_topology(snapshot.system)
        other = topology.other_end(link)
        moment, force = vector_flow(snapshot, topology.components[other.component], other)
        return -moment, -force
    system, frame = snapshot.system, link.frame
    assert frame is not None
    if component.name in system.joints:
        wrench = snapshot.reactions.wrench_without_teeth(component.name)[0]
        on = system.joints[component.name].a.body if link.number == 1 else None
        moment, force = snapshot.reactions.seen(component.name, wrench, on, frame, Frame(WORLD))
        return -moment, -force
    if component.name in system.constraints:
        loads = _constraint_loads(snapshot, component.name)
    else:
        loads = list(system.elements[component.name].wrenches(snapshot))
    first = next(x for x in component.links if x.frame is not None and x.frame.body == frame.body)
    own = [load for load in loads if load.on == frame or (link == first and not _is_linked(component, load))]
    own = [load for load in own if load.on.body == frame.body]
    moment, force = summed(snapshot, own, frame)
    return -moment, -force


def _constraint_loads(snapshot: Snapshot, name: str) -> list[Load]:
    """The loads of a constraint on bodies; a gear has none, its efforts act along joints."""
    constraint = snapshot.system.constraints[name]
    if isinstance(constraint, CoordinateCoupling):
        return []
    rows = loop_constraints.loop_constraint_of(snapshot.topology, constraint)
    return list(snapshot.constraints.loads_of(rows, snapshot.multipliers_of(name)))


def _is_linked(component: CircuitComponent, load: Load) -> bool:
    return any(link.frame == load.on for link in component.links)


def summed(snapshot: Snapshot, loads: list[Load], about: Frame) -> tuple[Array, Array]:
    """Moment about a frame's origin and force of loads, in world axes."""
    moment, force, origin = ZERO3, ZERO3, snapshot.pose(about).p
    for load in loads:
        at = snapshot.pose(load.on).p if load.at is None else load.at
        moment, force = moment + load.moment + cross(at - origin, load.force), force + load.force
    return moment, force


def other_loads(snapshot: Snapshot, body: str) -> tuple[Array, Array]:
    """Moment about a body's mass center and force of elements that load it without a link: fields, buoyancy, drag."""
    components = find_circuit_topology(snapshot.system).components
    loads = []
    for name, element in snapshot.system.elements.items():
        linked = {link.frame.body for link in components[name].links if link.frame is not None}
        if body not in linked:
            loads += [load for load in element.wrenches(snapshot) if load.on.body == body]
    return summed(snapshot, loads, snapshot.system.bodies[body].com)


# -- energy links ----------------------------------------------------------------------------------
def _potential(snapshot: Snapshot, link: CircuitLink, quantity: str) -> Scalar:
    """Potential, or its integral, of the node of an energy link."""
    topology = find_circuit_topology(snapshot.system)
    if topology.nodes[link.node].reference:
        return link.words.reference_of(quantity)
    if link.freedom is not None:
        joint = topology.at_joint(link).component
        q, u, _ = snapshot.joint_state(joint)
        if quantity == link.words.potential:
            return u[link.freedom]
        if snapshot.system.joints[joint].quaternion is None:
            return q[link.freedom]
    return snapshot.network.quantity(link.node, quantity)


def _flow(snapshot: Snapshot, component: CircuitComponent, link: CircuitLink) -> Scalar:
    """Flow into a component at an energy link."""
    system, k = snapshot.system, link.freedom
    if component.role == "part":
        return snapshot.network.quantity(component.name, f"{link.port}.{link.words.flow}")
    assert k is not None
    joint = find_circuit_topology(system).at_joint(link).component
    if component.name == joint:
        return snapshot.joint_effort(joint)[k]
    if component.owner == joint:
        field, efforts = component.field, snapshot.efforts
        if field == "effort":
            return -efforts.shares(joint)["drive"][k]
        effect = next(effect for effect in EFFECTS if field in effect.fields)
        share = efforts.own_share(joint, effect.share)[k]
        return efforts.shares(joint)["drive"][k] - share if field in ("motion", "speed") else -share
    if component.name in system.constraints:
        coupling = system.constraints[component.name]
        assert isinstance(coupling, CoordinateCoupling)
        relation = coupling.relation(system)
        along = snapshot.multipliers_of(component.name)[0]
        return -along if joint == relation.follower else snapshot.resolve(relation.ratio) * along
    return -snapshot.efforts.element_effort(component.name, joint)
