"""Projection of a state onto its constraints: removes the drift of rounding and integration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array, Scalar, tidy
from kinode.algebra.sparse_ldl import Saddle
from kinode.model.constraints.constraint import POSITIONS
from kinode.multibody.restraints import loop_constraints

if TYPE_CHECKING:
    from kinode.multibody.snapshot import Snapshot


def project(snapshot: Snapshot) -> tuple[Array, Array, Scalar]:
    """q and u on the constraints, by one Newton step each (the shortest in the metric of the mass matrix).

    Slips restrict speeds alone, so their rows are left out of the step of q.  The third value is the effective mass
    b' (G M^-1 G')^-1 b before the step, for certain rates b of the rows: it grows without bound where the rows become
    dependent.  The rates b are irregular, so that no symmetry of a mechanism can hide this.
    """
    kinematics, locks, solve = snapshot.kinematics, snapshot.lock_rows, snapshot.motion.matrix.solve
    constraints = kinematics.constraints
    no_force, no_lock_rates = np.zeros(kinematics.topology.n_u), np.zeros(len(locks.locks))
    solve_positions = solve
    position_rows = [k for k, unit in enumerate(constraints.units) if unit in POSITIONS]
    if len(position_rows) < len(constraints.rows):
        held_rows = [constraints.rows[k] for k in position_rows]
        solve_positions = Saddle(snapshot.mass_rows, held_rows, locks.rows, locks.stuck)
    residual = constraints.chosen(loop_constraints.residual)[position_rows]
    step, _ = solve_positions(no_force, np.concatenate([-residual, no_lock_rates]))
    q = kinematics.advanced_q(locks.still(step))
    projected = snapshot.at(snapshot.point.replaced(q=q))
    drift = constraints.combine(projected.constraints.every(loop_constraints.drift))
    change, _ = solve(no_force, tidy([*-drift, *projected.lock_rows.drift]))
    return q, locks.still(kinematics.u + change), solve.effective_mass(constraints.probe_rates)
