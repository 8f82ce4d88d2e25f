"""Loads that reactions leave out because the model does not say where they act: forces of teeth, belts and chains.

A gear or rack without ``pressure_angle`` couples two joints; a network's gear or pinion acts on joints alike.
Its efforts along them are right, and so is the motion, unless friction depends on the load of their bearings.
Where its force acts is not known: the reactions of the joints that would take it are marked, and if reactions are
shared in redundant loops, those of all joints of the loops that have one of these.

A motor geared to a joint with prescribed motion gives nothing: what the motion needs is the effort of that joint, and
the model does not say that it comes through the gear.  The motor's efforts say that they are without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinode.model.constraints.constraint import find_transmissions
from kinode.model.constraints.gear_coupling import CoordinateCoupling
from kinode.model.quantity_names import JOINT_WRENCHES, POWERS, QuantityName
from kinode.multibody.restraints.loop_statics import find_loops

if TYPE_CHECKING:
    from kinode.structure.topology import Topology

TOOTH_FORCE = ("tooth force",)
MOTOR_EFFORTS = frozenset({"effort", "effort.drive", "effort.gear", *POWERS})


def find_left_out(topology: Topology) -> dict[str, tuple[str, ...]]:
    """What is left out of the reactions of joints, by joint; joints whose reactions are complete have no entry."""
    joints = set(topology.joints_without_teeth)
    if not joints:
        return {}
    if topology.rows is not None and len(topology.rows) < len(topology.row_units):
        loops = find_loops(topology)
        while more := set[str]().union(*(loop for loop in loops if loop & joints)) - joints:
            joints |= more
    return {name: TOOTH_FORCE for name in topology.system.joints if name in joints}


def left_out_of(topology: Topology, name: QuantityName) -> tuple[str, ...]:
    """What is left out of a quantity: of wrenches of joints, of friction by them, of forces of gears, of motors."""
    if name.sort == "joint" and name.quantity in MOTOR_EFFORTS:
        return tuple(f"effort of {load}" for load in _prescribed_loads(topology, name.owner))
    if name.sort == "joint":
        friction = topology.system.joints[name.owner].friction
        pressed = friction is not None and (friction.coefficient != 0.0 or friction.static_coefficient is not None)
        if name.quantity in JOINT_WRENCHES or (pressed and name.quantity == "effort.friction"):
            return find_left_out(topology).get(name.owner, ())
    if name.sort == "constraint" and name.quantity.startswith("on."):
        constraint = topology.system.constraints[name.owner]
        if isinstance(constraint, CoordinateCoupling) and constraint.pressure_angle is None:
            return TOOTH_FORCE
    return ()


def _prescribed_loads(topology: Topology, motor: str) -> tuple[str, ...]:
    """The joints with prescribed motion that a joint would turn through its gears."""
    gears, joints = find_transmissions(topology.system), topology.system.joints
    turned = [motor]
    for name in turned:
        if not joints[name].driven:
            turned += [gear.load for gear in gears if gear.motor == name and gear.load not in turned]
    return tuple(name for name in turned[1:] if joints[name].driven)
