"""The breakdown of the kinetic share of a joint's reaction: by body, by cause or by term.

By body: the inertia of one body at a time, with all others massless.  It works for any joint, and in loops, where it
depends on the static support as the kinetic share itself does.

By cause and by term: the sum of rotators (T-9.12) to (T-9.17), for trees, their joints taken apart into hinges and
slides.  In a loop causes are not defined: the motion of a link is one cause if it is described from one end, and
another if it is described from the other.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinode.algebra.spatial import ZERO3
from kinode.errors import ArgumentError
from kinode.formulations.scope import hinged_tree
from kinode.formulations.vector_rotators import CAUSES, ROTATORS, RotatorMotion
from kinode.multibody.links.link_steps import Spatial
from kinode.multibody.restraints.loop_statics import INERTIA_OF, Support, joints_in_loops
from kinode.multibody.snapshot import Snapshot
from kinode.structure.link_geometry import WORLD
from kinode.structure.topology import Topology

MOST_BODIES_BY_CAUSE = 24  # more would take long to compile
REACTION_BREAKDOWNS = ("cause", "body", "term")


def check_breakdown(topology: Topology, by: str) -> None:
    """Raise an error if this breakdown does not exist, or not for this system."""
    if by not in REACTION_BREAKDOWNS:
        raise ArgumentError(f"by: {', '.join(REACTION_BREAKDOWNS[:-1])} or {REACTION_BREAKDOWNS[-1]}, not {by!r}")
    reason = None if by == "body" else hinged_tree(MOST_BODIES_BY_CAUSE)(topology)
    if by != "body" and reason is None and topology.meshes:
        reason = f"it does not know tooth forces ({', '.join(topology.meshes)})"
    if reason is not None:
        raise ArgumentError(f"by: {by}s are told apart by the method of rotators, and {reason}; by='body' always works")


def bodies_behind(topology: Topology, joint: str) -> tuple[str, ...]:
    """The bodies whose inertia can load a joint: those that it carries; in a loop, all that move."""
    tree = topology.full
    if joint in joints_in_loops(topology):
        return tuple(body for body in topology.system.bodies if tree.node_of[body] != WORLD)
    tops, carried = _loading_joints(topology, joint), set[int]()
    for node in tree.nodes:
        if node.joint.name in tops or node.parent in carried:
            carried.add(node.index)
    return tuple(body for body in topology.system.bodies if tree.node_of[body] in carried)


def _loading_joints(topology: Topology, joint: str) -> set[str]:
    """A joint of the tree, and the followers of gears whose tooth forces load it: what these move loads it too."""
    followers = [mesh.follower.joint for mesh in topology.meshes.values() if joint in mesh.loaded]
    for name in followers:
        followers += [follower for follower, coupling in topology.couplings.items() if coupling.leader == name]
    return {joint, *followers}


def contributions(snapshot: Snapshot, joint: str, by: str, hold: Support = None) -> dict[str, Spatial]:
    """(moment, force) of each contribution to a joint's reaction: a on b, about b's joint point, in a's joint axes."""
    return contributions_of_joints(snapshot, [joint], by, hold)[joint]


def contributions_of_joints(
    snapshot: Snapshot, joints: Sequence[str], by: str, hold: Support = None
) -> dict[str, dict[str, Spatial]]:
    """The contributions to the reactions of several joints; the motion is taken apart once for all of them."""
    if by == "body":
        behind = {joint: bodies_behind(snapshot.topology, joint) for joint in joints}
        return {
            joint: {body: snapshot.joint_wrench(joint, INERTIA_OF + body, hold=hold)[1] for body in bodies}
            for joint, bodies in behind.items()
        }
    s = snapshot
    motion = Snapshot(s.topology, s.point, u_dot=s.u_dot, friction=s.friction_efforts, formulation=ROTATORS).motion
    assert isinstance(motion, RotatorMotion)
    return {joint: _sum_of_terms(motion, joint, by) for joint in joints}


def _sum_of_terms(motion: RotatorMotion, joint: str, by: str) -> dict[str, Spatial]:
    """The contributions of causes or terms: sums over the terms of the bodies that a joint carries."""
    link, sums = motion.kinematics.carried_by(joint), dict[str, Spatial]()
    for term in motion.terms_behind(joint):
        name = term.cause if by == "cause" else f"{term.body}: {term.name}"
        (moment, force), (M, F) = term.about(link.pole), sums.get(name, (ZERO3, ZERO3))
        sums[name] = (M + moment, F + force)
    wrenches = {name: motion.kinematics.as_given(link, wrench)[1] for name, wrench in sums.items()}
    return wrenches if by == "term" else {cause: wrenches[cause] for cause in CAUSES if cause in wrenches}
