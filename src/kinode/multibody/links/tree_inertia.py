"""Inertia of a tree of links: mass matrix, momentum, kinetic and potential energy, from its kinematics."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array, Scalar
from kinode.algebra.sparse_ldl import Row
from kinode.algebra.spatial import dot
from kinode.model.joints.joint import Joint
from kinode.multibody.links import link_steps, recursive_dynamics

if TYPE_CHECKING:
    from kinode.multibody.kinematics import Kinematics


def find_mass_rows(kinematics: Kinematics) -> list[Row]:
    """The rows of the mass matrix, by composite inertias, without those of joints that do not carry each other."""
    M: list[Row] = [{} for _ in range(kinematics.topology.n_u)]
    states = [kinematics.state_of(node.joint.name) for node in kinematics.tree.nodes]

    blocks = recursive_dynamics.mass_matrix(kinematics.tree.nodes, kinematics.geometry, kinematics.link_kinematics)
    for i, j, block in blocks:
        if states[i] is None or states[j] is None:
            continue
        (a, ratio_a), (b, ratio_b) = states[i], states[j]  # type: ignore[misc]
        block = block * (ratio_a * ratio_b)
        for k in range(block.shape[0]):
            for l in range(block.shape[1]):
                M[a + k][b + l] = M[a + k].get(b + l, 0.0) + block[k, l]
                if i != j:
                    M[b + l][a + k] = M[b + l].get(a + k, 0.0) + block[k, l]
    return M


def sum_links(kinematics: Kinematics) -> Array:
    """Kinetic energy, momentum, angular momentum, first moment and mass of the links, 11 numbers."""
    total: Array = np.zeros(11)
    for inertia, link, v, X in zip(
        kinematics.geometry.inertias,
        kinematics.link_kinematics,
        kinematics.link_velocities,
        kinematics.link_poses,
        strict=True,
    ):
        total = total + np.concatenate(link_steps.momentum_sums(inertia, link.w, v, X))
    return total


def potential_energy(kinematics: Kinematics) -> Scalar:
    """Of gravity and joint stiffness; that of gravity is zero at the world's origin [J]."""
    total: Scalar = -dot(kinematics.gravity, kinematics.sums[7:10])
    return total + kinematics.spring_energy


def find_spring_energy(kinematics: Kinematics, joints: Iterable[Joint]) -> Scalar:
    """The energy of the stiffness of joints [J]."""
    total: Scalar = 0.0
    for joint in joints:
        if joint.stiffness is not None:
            q = kinematics.joint_state(joint.name)[0]
            neutral = np.zeros(joint.n_u) if joint.neutral is None else [kinematics.resolve(x) for x in joint.neutral]
            for k, x, x0 in zip(joint.stiffness, q, neutral, strict=True):
                total = total + 0.5 * kinematics.resolve(k) * (x - x0) * (x - x0)
    return total
