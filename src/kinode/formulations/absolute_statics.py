"""Static parts of reactions in absolute coordinates: every body in balance, nothing collected along a tree.

Without inertia the balances of all bodies are Q + L lam + T e = 0: Q weight and loads [4.5], L lam the reactions of
joints, drives, gears and constraints as in ``newton_euler``, T e the efforts of the freedoms that hold.  These are all
that no loop touches, and in loops those that are named (``loop_statics.py`` says which loops touch what).  Where rows
depend on each other the multipliers of least norm are given, as for the total.
"""

from __future__ import annotations

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError
from kinode.formulations.newton_euler import RANK, NewtonEuler, plain
from kinode.multibody.restraints.loop_statics import Freedom, Support, joints_in_loops

OPEN = 1e-8  # a balance that is open by more than this share of the loads is not held


def static_reactions(bodies: NewtonEuler, hold: Support = None) -> dict[str, tuple[Array, ...]]:
    """Moment and force of each joint, as ``NewtonEuler.reaction`` gives them, and multipliers of each constraint."""
    loads = _loads(bodies)
    blocks = {origin: rows.L * rows.scale for origin, rows in bodies.rows.items()}
    efforts = np.column_stack([np.zeros((len(loads), 0)), *(_effort(bodies, f) for f in _holding(bodies, hold))])
    L = np.column_stack([*blocks.values(), efforts])
    x = np.linalg.lstsq(L, -loads, rcond=RANK)[0]
    # As for the total: what is left of each balance is as exact as its own numbers, and joints without load stay so.
    x = x + np.linalg.lstsq(L, -loads - L @ x, rcond=RANK)[0]
    if np.linalg.norm(L @ x + loads) > OPEN * np.linalg.norm(loads):
        raise ArgumentError("hold: what is held does not hold the mechanism in this position")
    ends = np.cumsum([block.shape[1] for block in blocks.values()])
    each = dict(zip(blocks, np.split(x, ends)[:-1], strict=True))
    lam = {origin: part * bodies.rows[origin].scale for origin, part in each.items()}
    found: dict[str, tuple[Array, ...]] = {}
    for name, joint in bodies.holds.items():
        wrench = bodies.directions[name] @ lam[name]
        found[name] = (joint.R @ wrench[:3], joint.R @ wrench[3:])
    gears = {coupling.constraint: f"{follower}.gear" for follower, coupling in bodies.topology.couplings.items()}
    return {**found, **{name: (lam[gears.get(name, name)],) for name in bodies.system.constraints}}


def _loads(bodies: NewtonEuler) -> Array:
    """Weight and loads on all bodies, without what their own turning asks for."""
    return plain(np.concatenate([link.Q for link in bodies.links.values()]))


def _holding(bodies: NewtonEuler, hold: Support) -> list[Freedom]:
    """The freedoms that hold: those named, and those of the state that no loop touches."""
    loops = joints_in_loops(bodies.topology)
    joints = bodies.system.joints
    alone = [(name, k) for name in bodies.topology.u_of if name not in loops for k in range(joints[name].n_u)]
    return [*alone, *(hold or ())]


def _effort(bodies: NewtonEuler, freedom: Freedom) -> Array:
    """What a unit effort along a freedom does to all bodies; for angles the unit is the length of the model."""
    name, k = freedom
    joint = bodies.holds[name]
    return bodies._columns(joint, joint.T[:, k : k + 1] * bodies._units(joint.joint)[k])
