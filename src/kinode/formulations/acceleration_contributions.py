"""The breakdown of the acceleration of a point by the joints of its chain.

Tier k is a link with its joint; the chain goes from the world to the point.  Relative to the tier below, its pole O_k
has the position d_k, the velocity v_k and the acceleration a_k, and the link has the angular velocity w_k and the
angular acceleration alpha_k; all are derivatives in the axes of the tier below.  W_k is the sum of the w up to tier k,
E_k = sum (alpha_k + W_(k-1) x w_k) its inertial derivative (T-6.2), and l_k is the vector from O_k to the point.

    by tier     a = sum_k [ a_k + alpha_k x l_k + w_k x (w_k x l_k) + 2 W_(k-1) x (v_k + w_k x l_k) ]
    by segment  a = sum_k [ a_k + E_(k-1) x d_k + W_(k-1) x (W_(k-1) x d_k) + 2 W_(k-1) x v_k ]        (T-6.4)
                    + E_n x l_n + W_n x (W_n x l_n)

The first, (T-6.13), is (T-6.5) with its terms collected by the joint whose motion causes them: Coriolis' theorem at
every tier.  A tier that does not move relative to the one below contributes nothing.  The sum up to tier k is the
transport acceleration: that of the point if it were fixed to tier k.  The second goes along the radius vectors.  Both
hold for every type of joint.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinode.algebra.scalars import Array, rate
from kinode.algebra.spatial import ZERO3, cross
from kinode.model.base.frames import Frame
from kinode.multibody.snapshot import Snapshot
from kinode.structure.link_geometry import WORLD

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
    names, kinematics = [], snapshot.kinematics
    i = kinematics.locate_frame(frame)[0]
    while i != WORLD:
        names.append(kinematics.tree.nodes[i].joint.name)
        i = kinematics.tree.nodes[i].parent
    return tuple(reversed(names))


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
