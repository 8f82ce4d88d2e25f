"""Freedoms without inertia: forward dynamics would give them infinite acceleration.

Inverse dynamics and kinematics are possible, so that the error is stored and raised by forward dynamics alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import RigidInertia
from kinode.errors import ModelError
from kinode.structure.link_geometry import WORLD, Geometry, Tree, TreeLink
from kinode.structure.spanning_tree import Cut

ZERO_INERTIA = 1e-14  # of the largest inertia: smaller ones are rounding
GENERIC_Q = 0.37  # rad or m, added to the neutral position, which may be symmetric


def find_massless_freedom(
    tree: Tree, geometry: Geometry, moving: Collection[str], cuts: Iterable[Cut]
) -> ModelError | None:
    """The error of the first freedom without inertia; None where all have inertia.

    ``moving`` are the joints to check: neither driven, nor geared, nor with inertia from a network.
    """
    nodes = tree.nodes
    heavy = [False] * len(nodes)  # whether anything beyond the link has inertia
    for node in reversed(nodes):
        i, inertia = node.index, geometry.inertias[node.index]
        own = float(inertia.mass) > 0 or bool(np.any(np.asarray(inertia.J, dtype=float)))
        if node.joint.name in moving and not heavy[i] and not _resists(node, inertia, geometry.forms[i]):
            what = "inertia about its axis" if own else "mass"
            message = (
                f"{node.bodies[0]} has no {what} and carries nothing: the joint would give it infinite acceleration"
            )
            if any(node.joint.name in cut.loop for cut in cuts):
                message = (
                    f"{node.bodies[0]} has no {what} and its loop is cut behind it, where kinode needs some; "
                    "give it a little, or put a distance constraint in place of a massless rod"
                )
            return ModelError(message, component=node.joint.name)
        if node.parent != WORLD:
            heavy[node.parent] = heavy[node.parent] or heavy[i] or own
    return None


def _resists(node: TreeLink, inertia: RigidInertia, form: Array) -> bool:
    """Whether a link alone has inertia along every freedom of its joint, at a generic position."""
    q = node.joint.neutral_q()
    if node.joint.quaternion is None:
        q = q + GENERIC_Q
    S = np.asarray(node.mechanics.motion_subspace(q, form), dtype=float)
    whole = inertia.articulated()
    I = np.asarray(np.block([[whole.J, whole.H], [whole.H.T, whole.M]]), dtype=float)
    inertias = np.linalg.eigvalsh(S.T @ I @ S)
    return bool(inertias[0] > ZERO_INERTIA * max(inertias[-1], abs(I).max(), 1e-300))
