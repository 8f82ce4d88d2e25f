"""The value of every quantity by name: one function for each sort of quantity.

A ``QuantityName`` has the owner, the quantity and the axes; the functions here read its value from the parts of a
snapshot.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.rotations import euler_angles, euler_rates
from kinode.algebra.scalars import Array, Scalar, sqrt
from kinode.algebra.spatial import ZERO3, cross, dot, quaternion_of, rpy_from_rotation
from kinode.errors import ModelError
from kinode.model.base.frames import Frame
from kinode.model.constraints.constraint import POSITIONS
from kinode.model.constraints.gear_coupling import CoordinateCoupling
from kinode.model.network.joint_sources import JointDrive
from kinode.model.quantities import QuantityName
from kinode.model.system import joint_frame
from kinode.multibody import loop_constraints
from kinode.multibody.power import element_power
from kinode.structure.topology import Topology

if TYPE_CHECKING:
    from kinode.multibody.snapshot import Snapshot

ROTATIONS: Mapping[str, Callable[[Array], Array]] = {
    "rpy": rpy_from_rotation,
    "euler": euler_angles,
    "quaternion": quaternion_of,
}


def _in_axes(snapshot: Snapshot, vector: Array, axes: Frame | None) -> Array:
    return vector if axes is None else snapshot.pose(axes).R.T @ vector


def _frame(snapshot: Snapshot, name: QuantityName) -> Any:
    frame = name.frame
    assert frame is not None
    observer = snapshot.system.frames.get(frame.body) if frame.is_plain else None
    match name.quantity:
        case "velocity" if observer is not None and observer.follows_velocity:
            return _in_axes(snapshot, observer.origin_velocity(snapshot), name.axes)
        case "acceleration" if observer is not None and observer.follows_velocity:
            return _in_axes(snapshot, observer.origin_acceleration(snapshot), name.axes)
        case "position":
            return _in_axes(snapshot, snapshot.pose(frame).p, name.axes)
        case "velocity" | "angular_velocity":
            return _in_axes(snapshot, snapshot.velocity(frame)[name.quantity == "velocity"], name.axes)
        case "acceleration" | "angular_acceleration":
            return _in_axes(snapshot, snapshot.acceleration(frame)[name.quantity == "acceleration"], name.axes)
    R = snapshot.pose(frame).R if name.axes is None else snapshot.pose(name.axes).R.T @ snapshot.pose(frame).R
    if name.quantity == "euler_rates":
        w = snapshot.velocity(frame)[0] - (ZERO3 if name.axes is None else snapshot.velocity(name.axes)[0])
        return euler_rates(R, snapshot.pose(frame).R.T @ w)
    return ROTATIONS[name.quantity](R) if name.quantity in ROTATIONS else R


def _whole(snapshot: Snapshot, name: QuantityName) -> Any:
    """A quantity of the whole system."""
    if name.quantity == "energy":
        return sum(snapshot.energies.values(), 0.0)
    if name.quantity.endswith("_energy"):
        return snapshot.energies[name.quantity.removesuffix("_energy")]
    if name.quantity == "gravity":
        return _in_axes(snapshot, snapshot.gravity, name.axes)
    P, L, first, mass = snapshot.momenta
    vector = {"momentum": P, "angular_momentum": L, "com": first / mass}[name.quantity]
    return _in_axes(snapshot, vector, name.axes)


def body_momenta(snapshot: Snapshot, body: str) -> tuple[Array, Array, Array]:
    """Momentum of a body, angular momentum about its mass center, and the mass center, in world axes."""
    record = snapshot.system.bodies[body]
    X, (w, v) = snapshot.pose(record.com), snapshot.velocity(record.com)
    J = record.central_inertia(snapshot.resolve)
    return snapshot.resolve(record.mass) * v, X.R @ (J @ (X.R.T @ w)), X.p


def _body(snapshot: Snapshot, name: QuantityName) -> Array:
    """Momentum of a body, or its angular momentum about its mass center."""
    return _in_axes(snapshot, body_momenta(snapshot, name.owner)[name.quantity == "angular_momentum"], name.axes)


def _carried(snapshot: Snapshot, name: QuantityName) -> Array:
    """Momentum of the bodies that a joint carries, or their angular momentum about its point on their side."""
    bodies, side = find_carried(snapshot.topology, name.owner)
    pole = snapshot.pose(side).p
    P, L = ZERO3, ZERO3
    for body in bodies:
        own, spin, center = body_momenta(snapshot, body)
        P, L = P + own, L + spin + cross(center - pole, own)
    return _in_axes(snapshot, L if name.quantity == "angular_momentum" else P, name.axes)


def find_carried(topology: Topology, joint: str) -> tuple[tuple[str, ...], Frame]:
    """The bodies that a joint carries, and the frame of the joint on their side."""
    for cut in topology.cuts:
        if joint in (cut.joint.name, *cut.loop):
            message = f"it is part of the loop that {cut.joint.name} closes: it carries no bodies of its own"
            raise ModelError(message, component=joint)
    top = next(node for node in topology.full.nodes if node.joint.name == joint)
    carried = topology.full.beyond(top.index)
    bodies = tuple(body for body in topology.system.bodies if topology.full.node_of[body] in carried)
    return bodies, joint_frame(top.joint, "parent" if top.reversed else "child")


def _ground(snapshot: Snapshot, name: QuantityName) -> Array:
    """Force on the world, or moment about its origin: of the joints, constraints and elements that hold on to it."""
    world, system = Frame("world"), snapshot.system
    moment, force = ZERO3, ZERO3
    for joint in system.joints.values():
        if "world" in (joint.a.body, joint.b.body):
            # Tooth forces load wheels and carriers in pairs: with or without them the sum is the same (T-5.11).
            whole = snapshot.reactions.wrench_without_teeth(joint.name)[0]
            own = snapshot.reactions.seen(joint.name, whole, "world", world, world)
            moment, force = moment + own[0], force + own[1]
    loads = [load for load in snapshot.loads.outer_loads if load.on.body == "world"]
    for constraint in snapshot.topology.constraints:
        if not isinstance(constraint, CoordinateCoupling):  # the effort of a gear is in the wrenches of its joints
            rows = loop_constraints.loop_constraint_of(snapshot.topology, constraint)
            each = snapshot.constraints.loads_of(rows, snapshot.multipliers_of(constraint.name))
            loads += [load for load in each if load.on.body == "world"]
    for load in loads:
        at = snapshot.pose(load.on).p if load.at is None else load.at
        moment, force = moment + load.moment + cross(at, load.force), force + load.force
    return _in_axes(snapshot, force if name.quantity == "force" else moment, name.axes)


def _element(snapshot: Snapshot, name: QuantityName) -> Any:
    element = snapshot.system.elements[name.owner]
    if name.quantity == "power":
        return element_power(snapshot, element)
    value = element.quantity(name.quantity, snapshot)
    return _in_axes(snapshot, value, name.axes) if name.parts else value


def _drive(snapshot: Snapshot, name: QuantityName) -> Scalar:
    """A quantity of a source of motion on a joint: it delivers the effort of the joint's drive."""
    drive = snapshot.system.elements[name.owner]
    assert isinstance(drive, JointDrive)
    joint, k, sign = drive.link
    domain, (port, _, word) = drive.domain, name.quantity.rpartition(".")
    if word in ("stored", "lost"):
        return 0.0
    q, u, _ = snapshot.joint_state(joint)
    there = (1.0 if port == drive.port else 0.0) if port else sign  # of its potentials: a over b, or at one end
    if word in (domain.flow, "power"):
        effort = snapshot.efforts.share(joint, "drive")[k]
        if word == "power":
            return -effort * u[k]
        return sign * effort if not port else -effort if port == drive.port else effort
    return there * (q[k] if word == domain.position else u[k])


def _joint(snapshot: Snapshot, name: QuantityName) -> Any:
    joint, key = snapshot.system.joints[name.owner], name.quantity
    if key in ("q", "u"):
        q, u, _ = snapshot.joint_state(joint.name)
        state = u if key == "u" else q
        return state if name.parts else state[0]
    value: Array
    if key == "u_dot":
        value = snapshot.joint_acceleration(joint.name)
    elif key in ("power", "power.drive"):
        effort = snapshot.joint_effort(joint.name) if key == "power" else snapshot.efforts.share(joint.name, "drive")
        return dot(effort, snapshot.joint_state(joint.name)[1]) if joint.n_u else 0.0
    elif key == "effort":
        value = snapshot.joint_effort(joint.name)
    elif key.startswith("effort."):
        value = snapshot.efforts.share(joint.name, key.removeprefix("effort."))
    else:
        return _wrench(snapshot, name)
    return value if name.parts else value[0] if len(value) else 0.0


def _wrench(snapshot: Snapshot, name: QuantityName) -> Any:
    """The reaction of a joint, or its whole wrench."""
    kind, _, part = name.quantity.partition(".")
    moment, force = snapshot.reaction(name.owner, whole=kind == "wrench", expressed_in=name.axes)
    return part_of_wrench(snapshot, name.owner, part, moment, force)


def part_of_wrench(snapshot: Snapshot, joint: str, part: str, moment: Array, force: Array) -> Any:
    """Force or moment of a joint, or the force along its axis or across it."""
    if part not in ("axial", "radial"):
        return moment if part == "moment" else force
    rotation = snapshot.system.joints[joint].axis_rotation(snapshot.resolve, snapshot.system.nominal)
    axis = rotation @ np.array([0.0, 0.0, 1.0])
    along = dot(axis, force)
    if part == "axial":
        return along
    across = force - along * axis
    return sqrt(dot(across, across))


def _constraint(snapshot: Snapshot, name: QuantityName) -> Any:
    kinematics = snapshot.kinematics
    constraint = loop_constraints.loop_constraint_of(snapshot.topology, snapshot.system.constraints[name.owner])
    value: Array
    if name.quantity == "residual":
        slips = [unit not in POSITIONS for unit in constraint.units]
        value = loop_constraints.residual(kinematics, [constraint])[0]
        value = np.where(slips, loop_constraints.drift(kinematics, [constraint])[0], value) if any(slips) else value
    elif name.quantity == "reaction":
        value = snapshot.multipliers_of(name.owner)
    else:
        return _wrench_on(snapshot, name, snapshot.multipliers_of(name.owner))
    return value if name.parts else value[0]


def unit_wrenches(snapshot: Snapshot, name: QuantityName) -> list[Scalar]:
    """The force or moment of a constraint on a body, as its name requests it, for each unit multiplier."""
    count = len(snapshot.system.constraints[name.owner].rows(snapshot.system))
    each = [np.asarray(_wrench_on(snapshot, name, lam), dtype=object).ravel() for lam in np.eye(count)]
    return [x for values in each for x in (values if name.part is None else values[[name.part]])]


def _wrench_on(snapshot: Snapshot, name: QuantityName, lam: Array) -> Array:
    """Force of a constraint on a body, or moment about the constraint's frame on it, in world axes or others."""
    constraint, about = snapshot.system.constraints[name.owner], name.frame
    assert about is not None
    mesh, teeth = snapshot.topology.meshes.get(name.owner), snapshot.kinematics.tooth_forces
    if mesh is None:
        loads = snapshot.constraints.loads_of(loop_constraints.loop_constraint_of(snapshot.topology, constraint), lam)
    else:
        loads = teeth.loads(mesh, teeth.forces[mesh.constraint].force(lam[0]))
    total = ZERO3
    for load in loads:
        if load.on.body == about.body:
            arm = (snapshot.pose(load.on).p if load.at is None else load.at) - snapshot.pose(about).p
            moment = name.quantity.endswith("moment")
            total = total + (load.moment + cross(arm, load.force) if moment else load.force)
    return _in_axes(snapshot, total, name.axes)


def _link(snapshot: Snapshot, name: QuantityName) -> Any:
    from kinode.multibody.link_values import link_value  # needs the component circuit, which few runs ask for

    return link_value(snapshot, name)


VALUES: Mapping[str, Callable[[Snapshot, QuantityName], Any]] = {
    "time": lambda snapshot, name: snapshot.t,
    "parameter": lambda snapshot, name: snapshot.lookup(name.owner),
    "input": lambda snapshot, name: snapshot.lookup(name.owner),
    "signal": lambda snapshot, name: snapshot.lookup(name.owner),
    "held": lambda snapshot, name: snapshot.discrete_states(name.owner)[name.quantity],
    "observer": lambda snapshot, name: snapshot.system.frames[name.owner].quantity(name.quantity, snapshot),
    "part": lambda snapshot, name: snapshot.network.quantity(name.owner, name.quantity),
    "node": lambda snapshot, name: snapshot.network.quantity(name.owner, name.quantity),
    "frame": _frame,
    "system": _whole,
    "ground": _ground,
    "body": _body,
    "carried": _carried,
    "element": _element,
    "joint": _joint,
    "drive": _drive,
    "constraint": _constraint,
    "link": _link,
}
"""The sorts of quantities (``QuantityName.sort``) and what gives their values."""
