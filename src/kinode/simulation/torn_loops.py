"""Ends a run where its drives break a loop.

Constraints that are redundant at the start are left out of the integration.  Where prescribed motions drive a loop in
more ways than it has freedoms, these constraints may be violated later.  Then no closed position satisfies all drives,
and the run ends before.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import Gap
from kinode.ode.ending import Ending, EndKind
from kinode.simulation.solver import CLOSED_TOLERANCE, StateHistory

BATCH_STATES = 512  # states whose closure errors are evaluated in one call


def end_where_loop_opens(dynamics: Dynamics, motion: StateHistory) -> StateHistory:
    """The motion up to the first violated constraint, with an ending that names it; unchanged if there is none."""
    topology = dynamics.topology
    if not topology.constrained or len(dynamics.closure.rows) == dynamics.closure.total:
        return motion
    if not is_driven(dynamics):
        return motion
    loops = dynamics.loops
    for first in range(0, len(motion.t), BATCH_STATES):
        t, y = motion.t[first : first + BATCH_STATES], motion.y[first : first + BATCH_STATES]
        errors = abs(loops.evaluate(dynamics.point_of(t, y, motion.p, motion.inputs))[0])
        violated = np.flatnonzero(errors.max(axis=1, initial=0.0) > CLOSED_TOLERANCE)
        if len(violated):
            k = int(violated[0])
            row = int(np.argmax(errors[k]))
            name, unit = loops.names[row]
            error = Gap(*(float(errors[k, row] * loops.scale[row]) * (unit == kind) for kind in ("length", "angle")))
            event = f"at t = {t[k]:.9g} s the drives tear {name} apart, by {error}"
            message = f"{event}: their laws do not fit together, or the loop is locked (kn.mobility tells)"
            n = first + k
            last = max(n - 1, 0)
            return replace(
                motion, t=motion.t[:n], y=motion.y[:n],
                ending=Ending(EndKind.LOOP_OPEN, float(t[k]), message, name),
                t_end=float(motion.t[last]), y_end=motion.y[last],
            )  # fmt: skip
    return motion


def is_driven(dynamics: Dynamics) -> bool:
    """Whether anything moves by a law of time."""
    known, topology = dynamics.arguments.derived, dynamics.topology
    if "driven" not in known:
        joints = topology.system.joints.values()
        known["driven"] = any(j.driven for j in joints) or any(c.depends_on_time for c in topology.constraints)
    return bool(known["driven"])
