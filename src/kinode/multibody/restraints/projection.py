"""A state brought back to its constraints, from which rounding and the integrator have let it drift."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array, Scalar, tidy
from kinode.algebra.sparse_ldl import Saddle
from kinode.model.constraints.constraint import POSITIONS
from kinode.multibody.restraints import loop_constraints

if TYPE_CHECKING:
    from kinode.multibody.snapshot import Snapshot

GOLDEN = 0.618033988749895


def project(snapshot: Snapshot) -> tuple[Array, Array, Scalar]:
    """q and u on the constraints: one Newton step of each, the shortest in the metric of the mass matrix.

    Rows of slips hold speeds alone: which positions can be reached is not for them to say.  Behind them stands the
    effective mass b' (G M^-1 G')^-1 b for some rates b of the rows, before the step: it grows without bound where
    the rows become dependent.  The rates are irregular, so that no symmetry of a mechanism hides it.
    """
    kinematics, locks, solve = snapshot.kinematics, snapshot.lock_rows, snapshot.motion.matrix.solve
    constraints = kinematics.constraints
    none, unlocked = np.zeros(kinematics.topology.n_u), np.zeros(len(locks.locks))
    solve_positions = solve
    held = [k for k, unit in enumerate(constraints.units) if unit in POSITIONS]
    if len(held) < len(constraints.rows):
        held_rows = [constraints.rows[k] for k in held]
        solve_positions = Saddle(snapshot.mass_rows, held_rows, locks.rows, locks.stuck)
    residual = constraints.chosen(loop_constraints.residual)[held]
    step, _ = solve_positions(none, np.concatenate([-residual, unlocked]))
    q = kinematics.advanced_q(locks.still(step))
    there = snapshot.at(snapshot.point.replaced(q=q))
    drift = there.constraints.chosen(loop_constraints.drift)
    change, _ = solve(none, tidy([*-drift, *there.lock_rows.drift]))
    number = np.arange(1, len(constraints.rows) + 1)
    probe = np.where(np.sin(number**2) < 0, -1.0, 1.0) * (1.0 + number * GOLDEN % 1.0)
    return q, locks.still(kinematics.u + change), solve.effective_mass(probe)
