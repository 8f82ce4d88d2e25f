"""Who loads a joint: the kinetic part of its reaction as a sum with names, by body, by cause or term by term.

By body it is the inertia of one body at a time, all others being without inertia: any joint, and loops too, where the
share depends on who holds as the kinetic part itself does.  By cause it is the sum of rotators [SPEC 3.12-3.17], which
knows hinges and slides of a tree alone: in a loop the same motion of a rod is one cause when it is described from one
end and another from the other.
"""

from __future__ import annotations

from kinode.errors import ArgumentError
from kinode.formulations.formulation_table import FORMULATIONS
from kinode.formulations.vector_rotators import CAUSES, ROTATORS, RotatorMotion
from kinode.multibody.links.link_steps import Spatial
from kinode.multibody.restraints.loop_statics import INERTIA_OF, Support, joints_in_loops
from kinode.multibody.snapshot import Snapshot
from kinode.structure.link_geometry import WORLD
from kinode.structure.topology import Topology

WAYS = ("cause", "body", "term")


def check_way(topology: Topology, by: str) -> None:
    """Refuse what cannot be told apart in a system."""
    if by not in WAYS:
        raise ArgumentError(f"by: {', '.join(WAYS[:-1])} or {WAYS[-1]}, not {by!r}")
    reason = None if by == "body" else FORMULATIONS["rotators"].applies(topology)
    if reason is not None:
        raise ArgumentError(f"by: {by}s are told apart by the method of rotators, and {reason}; by='body' always works")


def bodies_behind(topology: Topology, joint: str) -> tuple[str, ...]:
    """The bodies whose inertia can load a joint: those that it carries; in a loop, any that moves."""
    tree = topology.full
    if joint in joints_in_loops(topology):
        return tuple(body for body in topology.system.bodies if tree.node_of[body] != WORLD)
    top, found = next(node.index for node in tree.nodes if node.joint.name == joint), set[int]()
    for node in tree.nodes:
        if node.index == top or node.parent in found:
            found.add(node.index)
    return tuple(body for body in topology.system.bodies if tree.node_of[body] in found)


def contributions(snapshot: Snapshot, joint: str, by: str, hold: Support = None) -> dict[str, Spatial]:
    """(moment, force) of the joint's reaction for each contribution: a on b, about b's joint point, in a's axes."""
    if by == "body":
        behind = bodies_behind(snapshot.topology, joint)
        return {body: snapshot.joint_wrench(joint, INERTIA_OF + body, hold=hold)[1] for body in behind}
    s = snapshot
    moving = Snapshot(s.topology, s.point, u_dot=s.u_dot, friction=s.friction_efforts, formulation=ROTATORS).motion
    assert isinstance(moving, RotatorMotion)
    sums: dict[str, Spatial] = {}
    for term, (moment, force) in moving.joint_terms(joint):
        name = term.cause if by == "cause" else f"{term.body}: {term.name}"
        M, F = sums.get(name, (0.0, 0.0))
        sums[name] = (M + moment, F + force)
    return sums if by == "term" else {cause: sums[cause] for cause in CAUSES if cause in sums}
