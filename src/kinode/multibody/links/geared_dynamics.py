"""Articulated bodies with gears: the accelerations of a large tree some of whose joints follow others.

A gear between a follower f and a leader l adds an unknown effort lam along f, and -ratio lam along l, so that

    C u_dot = 0,    C' lam the efforts,    C = [... 1 at f, -ratio at l ...]

Articulated bodies factorize the mass matrix of the tree without gears, M^-1 = P' D^-1 P, where P tau are the shares of
the inward pass (``JointFactor.share``).  Unit efforts of each gear go once through the links between its joints and the
world, s = P c, and the rows of a small symmetric matrix are C M^-1 C' = sum of s' D^-1 s over these links.  The time is
proportional to the links and to the gears; by the mass matrix it grows with the third power of the links.

Every joint has to move something with mass by itself; the mass matrix does not need that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from kinode.algebra.scalars import Array, Scalar
from kinode.algebra.spatial import solve_spd
from kinode.multibody.links import link_steps
from kinode.multibody.links.link_steps import JointFactor, LinkKinematics, Spatial
from kinode.multibody.links.recursive_dynamics import gather_tree, unfold_tree
from kinode.structure.link_geometry import WORLD, Geometry, TreeLink


class GearedPair(NamedTuple):
    """The node of a joint that follows, that of the joint whose speed is a state, and the ratio of their speeds."""

    follower: int
    leader: int
    ratio: Scalar


def geared_dynamics(
    nodes: Sequence[TreeLink],
    geometry: Geometry,
    links: Sequence[LinkKinematics],
    tau: Sequence[Array],
    loads: Sequence[Spatial | None],
    base: Spatial,
    prescribed: Sequence[Array | None],
    gears: Sequence[GearedPair],
    armature: Mapping[int, Array] | None = None,
) -> tuple[list[Array], list[Spatial]]:
    """Accelerations of joints and links from efforts and loads, of a tree with gears."""
    factors = gather_tree(nodes, geometry, links, tau, loads, prescribed, None, armature)
    shares = [_unit_shares(nodes, geometry, links, factors, gear) for gear in gears]
    alone = _accelerations_at(nodes, geometry, links, factors, base, prescribed, gears)
    missing = np.array([gear.ratio * alone[gear.leader] - alone[gear.follower] for gear in gears], dtype=object)
    efforts = solve_spd(_compliance(factors, shares), missing)
    for effort, share in zip(efforts, shares, strict=True):
        for i, s in share.items():
            factor = factors[i]
            assert factor is not None
            factors[i] = factor._replace(share=factor.share + s * effort)
    return unfold_tree(nodes, geometry, links, factors, base, prescribed)


def _unit_shares(
    nodes: Sequence[TreeLink],
    geometry: Geometry,
    links: Sequence[LinkKinematics],
    factors: Mapping[int, JointFactor | None],
    gear: GearedPair,
) -> dict[int, Array]:
    """What a unit effort of a gear is along each joint between it and the world, inward; by node."""
    along: dict[int, Scalar] = {gear.follower: 1.0}
    along[gear.leader] = along.get(gear.leader, 0.0) - gear.ratio
    carried: dict[int, Spatial] = {}
    shares: dict[int, Array] = {}
    for i in sorted(_paths(nodes, along), reverse=True):
        factor, p = factors[i], carried.get(i)
        if factor is not None:
            share = np.zeros(links[i].S.shape[1], dtype=object) + along.get(i, 0.0)
            if p is not None:
                share = share - links[i].S.T @ np.concatenate(p)
            shares[i] = share
            push = factor.U @ (factor.D_inverse @ share)
            p = (push[:3], push[3:]) if p is None else (p[0] + push[:3], p[1] + push[3:])
        parent = nodes[i].parent
        if parent == WORLD or p is None:
            continue
        lifted = link_steps.lift_wrench(geometry.placements[i], links[i], p)
        before = carried.get(parent)
        carried[parent] = lifted if before is None else (before[0] + lifted[0], before[1] + lifted[1])
    return shares


def _paths(nodes: Sequence[TreeLink], ends: Mapping[int, Scalar]) -> set[int]:
    """The nodes between some of them and the world, themselves included."""
    found: set[int] = set()
    for i in ends:
        while i != WORLD and i not in found:
            found.add(i)
            i = nodes[i].parent
    return found


def _accelerations_at(
    nodes: Sequence[TreeLink],
    geometry: Geometry,
    links: Sequence[LinkKinematics],
    factors: Mapping[int, JointFactor | None],
    base: Spatial,
    prescribed: Sequence[Array | None],
    gears: Sequence[GearedPair],
) -> dict[int, Scalar]:
    """The accelerations of the geared joints without the efforts of the gears."""
    ends = {end: 1.0 for gear in gears for end in (gear.follower, gear.leader)}
    some = [nodes[i] for i in sorted(_paths(nodes, ends))]
    joints, _ = unfold_tree(some, geometry, links, factors, base, prescribed)
    return {node.index: u_dot[0] for node, u_dot in zip(some, joints, strict=True) if node.index in ends}


def _compliance(factors: Mapping[int, JointFactor | None], shares: Sequence[Mapping[int, Array]]) -> Array:
    """C M^-1 C': the relative acceleration at one gear for a unit effort of another."""
    n = len(shares)
    rows = np.zeros((n, n), dtype=object)
    rows[:] = 0.0
    for g, one in enumerate(shares):
        responses = {i: factor.D_inverse @ s for i, s in one.items() if (factor := factors[i]) is not None}
        for h, two in enumerate(shares[: g + 1]):
            for i, response in responses.items():
                if i in two:
                    rows[g, h] = rows[g, h] + two[i] @ response
            rows[h, g] = rows[g, h]
    return rows
