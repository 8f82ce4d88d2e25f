"""Contributions: what an acceleration of a point, and the kinetic share of a reaction, consist of.

The acceleration of a point by the joints of its chain.  Tier k is a link with its joint; the chain goes from the world
to the point.  Relative to the tier below, its pole O_k has the position d_k, the velocity v_k and the acceleration a_k,
and the link has the angular velocity w_k and the angular acceleration alpha_k; all are derivatives in the axes of the
tier below.  W_k is the sum of the w up to tier k, E_k = sum (alpha_k + W_(k-1) x w_k) its inertial derivative (T-6.2),
and l_k is the vector from O_k to the point.

    by tier     a = sum_k [ a_k + alpha_k x l_k + w_k x (w_k x l_k) + 2 W_(k-1) x (v_k + w_k x l_k) ]
    by segment  a = sum_k [ a_k + E_(k-1) x d_k + W_(k-1) x (W_(k-1) x d_k) + 2 W_(k-1) x v_k ]        (T-6.4)
                    + E_n x l_n + W_n x (W_n x l_n)

The first, (T-6.13), is (T-6.5) with its terms collected by the joint whose motion causes them: Coriolis' theorem at
every tier.  A tier that does not move relative to the one below contributes nothing.  The sum up to tier k is the
transport acceleration: that of the point if it were fixed to tier k.  The second goes along the radius vectors.  Both
hold for every type of joint.

The kinetic share of a reaction by body: the inertia of one body at a time, with all others massless.  It works for any
joint, and in loops, where it depends on the static support as the kinetic share itself does.  By cause and by term: the
sum of rotators (T-9.12) to (T-9.17), for trees, their joints taken apart into hinges and slides.  In a loop causes are
not defined: the motion of a link is one cause if it is described from one end, and another if it is described from the
other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kinode.algebra.scalars import Array, rate
from kinode.algebra.spatial import ZERO3, cross
from kinode.errors import ArgumentError, listed
from kinode.formulations.scope import hinged_tree
from kinode.formulations.vector_methods import CAUSES, ROTATORS, RotatorMotion
from kinode.model.base.frames import Frame
from kinode.multibody.link_steps import Spatial
from kinode.multibody.loop_statics import INERTIA_OF, Support, joints_in_loops
from kinode.multibody.snapshot import Snapshot
from kinode.structure.topology import Topology
from kinode.structure.tree import WORLD

TERMS = ("relative", "tangential", "centripetal", "Coriolis")
ACCELERATION_BREAKDOWNS = ("tier", "segment")


class ChainSegment(NamedTuple):
    """Motion of a tier relative to the one below, and rotation of that one, in world axes."""

    name: str  # of its joint
    pole: Array
    d: Array
    v: Array
    a: Array
    w: Array
    alpha: Array
    W_below: Array
    E_below: Array


def chain_names(snapshot: Snapshot, frame: Frame) -> tuple[str, ...]:
    """The joints between the world and a frame, starting at the world."""
    tree = snapshot.kinematics.tree
    path = tree.path(snapshot.kinematics.locate_frame(frame)[0])
    return tuple(tree.nodes[i].joint.name for i in reversed(path))


def tiers(snapshot: Snapshot, frame: Frame) -> list[ChainSegment]:
    """The chain of a frame's origin, starting at the world."""
    segments: list[ChainSegment] = []
    pole, W, E, kinematics = ZERO3, ZERO3, ZERO3, snapshot.kinematics
    for name in chain_names(snapshot, frame):
        i = kinematics.node_named[name]
        above = kinematics.link_poses[i].p
        w, alpha, v, a = _relative(snapshot, i)
        segments.append(ChainSegment(name, above, above - pole, v, a, w, alpha, W, E))
        pole, W, E = above, W + w, E + alpha + cross(W, w)
    return segments


def _relative(snapshot: Snapshot, i: int) -> tuple[Array, Array, Array, Array]:
    """w, alpha, v, a of a link relative to the one below: derivatives in the axes of that one, in world components."""
    k = snapshot.kinematics
    node, form = k.tree.nodes[i], k.geometry.forms[i]
    q, u, _ = k.node_states[i]
    if not node.joint.n_u:
        return ZERO3, ZERO3, ZERO3, ZERO3
    S = k.link_kinematics[i].S
    change = rate(lambda x: node.mechanics.motion_subspace(x, form) @ u, q, node.mechanics.rate_map(q, u))
    V = S @ u
    A = S @ snapshot.motion.node_accelerations[i] + change
    # V and A are components in the link's axes, which rotate with w relative to the tier below.
    R = k.link_poses[i].R
    return R @ V[:3], R @ A[:3], R @ V[3:], R @ (A[3:] + cross(V[:3], V[3:]))


def by_tier(snapshot: Snapshot, frame: Frame) -> Array:
    """Contribution of each tier to the acceleration of a frame's origin: (tier, term, xyz)."""
    point = snapshot.pose(frame).p
    rows = []
    for k in tiers(snapshot, frame):
        swing = cross(k.w, point - k.pole)
        rows.append(
            [k.a, cross(k.alpha, point - k.pole), cross(k.w, swing), 2.0 * cross(k.W_below, k.v + swing)],
        )
    return np.array(rows, dtype=object).reshape(-1, len(TERMS), 3)


def by_segment(snapshot: Snapshot, frame: Frame) -> Array:
    """Contribution of each radius vector (T-6.4): from pole to pole, and from the last pole to the point."""
    point = snapshot.pose(frame).p
    rows, pole, W, E = [], ZERO3, ZERO3, ZERO3
    for k in tiers(snapshot, frame):
        turning = [cross(k.E_below, k.d), cross(k.W_below, cross(k.W_below, k.d))]
        rows.append([k.a, *turning, 2.0 * cross(k.W_below, k.v)])
        pole, W, E = k.pole, k.W_below + k.w, k.E_below + k.alpha + cross(k.W_below, k.w)
    arm = point - pole
    rows.append([ZERO3, cross(E, arm), cross(W, cross(W, arm)), ZERO3])
    return np.array(rows, dtype=object).reshape(-1, len(TERMS), 3)


MOST_BODIES_BY_CAUSE = 24  # more would take long to compile
REACTION_BREAKDOWNS = ("cause", "body", "term")


def check_breakdown(topology: Topology, by: str) -> None:
    """Raise an error if this breakdown does not exist, or not for this system."""
    if by not in REACTION_BREAKDOWNS:
        raise ArgumentError(f"by: {listed(REACTION_BREAKDOWNS, 'or')}, not {by!r}")
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
    tops = _loading_joints(topology, joint)
    carried = set[int]().union(*(tree.beyond(node.index) for node in tree.nodes if node.joint.name in tops))
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
