"""Loads that reactions leave out because the model does not say where they act: forces of teeth, belts and chains.

A gear or rack without ``pressure_angle`` couples two joints.  Its efforts along them are right, and so is the motion.
Where its force acts is not known: the reactions of the joints that would take it are marked.  These are the two joints
and fixed ones between their carriers; without a common carrier, all joints between the four bodies; and if reactions
are shared in redundant loops, all joints of the loops that have one of these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinode.model.constraints.gear_coupling import CoordinateCoupling
from kinode.model.constraints.tooth_mesh import find_sides
from kinode.model.quantity_names import JOINT_WRENCHES, QuantityName
from kinode.multibody.restraints.loop_statics import find_carriers, find_loops

if TYPE_CHECKING:
    from kinode.structure.topology import Topology

TOOTH_FORCE = ("tooth force",)


def find_left_out(topology: Topology) -> dict[str, tuple[str, ...]]:
    """What is left out of the reactions of joints, by joint; joints whose reactions are complete have no entry."""
    constraints = topology.system.constraints.values()
    gears = [c for c in constraints if isinstance(c, CoordinateCoupling) and c.pressure_angle is None]
    if not gears:
        return {}
    joints = set[str]().union(*(_joints_of(topology, gear) for gear in gears))
    if topology.rows is not None and len(topology.rows) < len(topology.row_units):
        loops = find_loops(topology)
        while more := set[str]().union(*(loop for loop in loops if loop & joints)) - joints:
            joints |= more
    return {name: TOOTH_FORCE for name in topology.system.joints if name in joints}


def left_out_of(topology: Topology, name: QuantityName) -> tuple[str, ...]:
    """What is left out of a quantity: of wrenches of joints, of friction that depends on them, of forces of gears."""
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


def _joints_of(topology: Topology, gear: CoordinateCoupling) -> set[str]:
    """The joints that would take the force of a gear."""
    system, (one, two) = topology.system, gear.joints().values()
    sides = find_sides(system, one, two)
    if sides is not None:
        return set(sides[2])
    bodies = [side.body for name in (one, two) for side in (system.joints[name].a, system.joints[name].b)]
    carriers = [find_carriers(topology, body) for body in bodies]
    return {one, two} | (set[str]().union(*carriers) - set[str].intersection(*carriers))
