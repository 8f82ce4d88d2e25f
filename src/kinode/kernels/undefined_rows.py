"""Names the constraint that has no defined rows in a position, such as a disc that lies flat on its ground.

Compiled code gives numbers that are not finite there.  The model is evaluated once more in Python to find whose.
"""

from __future__ import annotations

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import AssemblyError
from kinode.multibody.loop_constraints import ElementConstraint, LoopConstraint, jacobian, loop_constraints_of, residual
from kinode.multibody.snapshot import Snapshot
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import Topology

USUAL = "is not defined in this position: start a little beside it"


def check_rows(topology: Topology, point: EvaluationPoint, rows: Array) -> None:
    """Refuse rows that are not finite although the state is."""
    if np.isfinite(rows).all() or not all(np.isfinite(x).all() for x in (point.q, point.u, point.z)):
        return
    for constraint in loop_constraints_of(topology):
        if not _is_defined(topology, point, constraint):
            words = constraint.constraint.undefined if isinstance(constraint, ElementConstraint) else ""
            raise AssemblyError(f"{constraint.name}: {words or USUAL}")


def _is_defined(topology: Topology, point: EvaluationPoint, constraint: LoopConstraint) -> bool:
    """Whether residuals and Jacobian of a constraint are finite."""
    kinematics = Snapshot(topology, point).kinematics
    try:
        with np.errstate(all="ignore"):
            values = [residual(kinematics, [constraint])[0], jacobian(kinematics, constraint)]
            return all(bool(np.isfinite(x.astype(float)).all()) for x in values)
    except (ArithmeticError, ValueError):
        return False
