"""Static shares of reactions in absolute coordinates: the equilibrium of every body.

Without inertia the balances of all bodies are Q + L lam + T e = 0.  Q are weight and loads (T-10.5), L lam the
reactions of joints, drives, gears and constraints as in ``newton_euler``, T e the efforts of the supporting freedoms.
These are all freedoms outside loops, and in loops those that are named (``loop_statics`` finds the joints in loops).
If rows are dependent, the multipliers of least norm are given, as for the total.
"""

from __future__ import annotations

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import SupportError
from kinode.formulations.newton_euler import RANK_TOLERANCE, NewtonEuler, plain
from kinode.multibody.restraints.loop_statics import Freedom, Support, joints_in_loops

LARGEST_IMBALANCE = 1e-8  # share of the loads: with more, the support does not balance them


def static_reactions(bodies: NewtonEuler, hold: Support = None) -> dict[str, tuple[Array, ...]]:
    """Moment and force of each joint, as ``NewtonEuler.reaction`` gives them, and multipliers of each constraint.

    The freedoms ``hold`` support the loops.
    """
    loads = _loads(bodies)
    blocks = {origin: rows.L * rows.scale for origin, rows in bodies.rows.items()}
    supporting = [_effort_wrenches(bodies, freedom) for freedom in _supporting_freedoms(bodies, hold)]
    L = np.column_stack([*blocks.values(), np.zeros((len(loads), 0)), *supporting])
    x = np.linalg.lstsq(L, -loads, rcond=RANK_TOLERANCE)[0]
    # One step of iterative refinement: the residual of each body is exact to its own size, so light bodies are too.
    x = x + np.linalg.lstsq(L, -loads - L @ x, rcond=RANK_TOLERANCE)[0]
    if np.linalg.norm(L @ x + loads) > LARGEST_IMBALANCE * np.linalg.norm(loads):
        raise SupportError("hold: these freedoms do not support the mechanism in this position")
    ends = np.cumsum([block.shape[1] for block in blocks.values()])
    each = dict(zip(blocks, np.split(x, ends)[:-1], strict=True))
    lam = {origin: values * bodies.rows[origin].scale for origin, values in each.items()}
    reactions: dict[str, tuple[Array, ...]] = {}
    for name, joint in bodies.joint_constraints.items():
        wrench = bodies.directions[name] @ lam[name]
        reactions[name] = (joint.R @ wrench[:3], joint.R @ wrench[3:])
    gears = {coupling.constraint: f"{follower}.gear" for follower, coupling in bodies.topology.couplings.items()}
    return {**reactions, **{name: (lam[gears.get(name, name)],) for name in bodies.system.constraints}}


def _loads(bodies: NewtonEuler) -> Array:
    """Weight and loads on all bodies, without gyroscopic terms."""
    return plain(np.concatenate([link.Q for link in bodies.links.values()]))


def _supporting_freedoms(bodies: NewtonEuler, hold: Support) -> list[Freedom]:
    """The supporting freedoms: those named, and those of the state outside loops."""
    loops = joints_in_loops(bodies.topology)
    joints = bodies.system.joints
    alone = [(name, k) for name in bodies.topology.u_of if name not in loops for k in range(joints[name].n_u)]
    return [*alone, *(hold or ())]


def _effort_wrenches(bodies: NewtonEuler, freedom: Freedom) -> Array:
    """The wrenches of a unit effort along a freedom on all bodies; for angles the unit is the characteristic length."""
    name, k = freedom
    joint = bodies.joint_constraints[name]
    return bodies.wrench_columns(joint, joint.T[:, k : k + 1] * bodies.effort_units(joint.joint)[k])
