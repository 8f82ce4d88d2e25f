"""Drives that tear a loop apart on the way.

Constraints that others imply at the start are left out of the motion.  Where laws of time move a loop in more ways than
it has freedoms, they may not be implied later: then no motion fulfills all laws, and the run ends before.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import Gap
from kinode.multibody.power import depends_on_time
from kinode.ode.ending import Ending, EndKind
from kinode.simulation.solver import OPEN, StateHistory

ROWS = 512  # states that are looked at together


def end_where_torn(dynamics: Dynamics, motion: StateHistory) -> StateHistory:
    """The motion, or as much of it as fulfills all constraints; its message then says which does not hold."""
    topology = dynamics.topology
    driven = any(j.driven for j in topology.system.joints.values()) or any(map(depends_on_time, topology.constraints))
    if not (topology.constrained and driven and len(dynamics.closure.rows) < dynamics.closure.total):
        return motion
    loops = dynamics.loops
    for first in range(0, len(motion.t), ROWS):
        t, y = motion.t[first : first + ROWS], motion.y[first : first + ROWS]
        off = abs(loops.evaluate(dynamics.point_of(t, y, motion.p, motion.inputs))[0])
        torn = np.flatnonzero(off.max(axis=1, initial=0.0) > OPEN)
        if len(torn):
            k = int(torn[0])
            row = int(np.argmax(off[k]))
            name, unit = loops.names[row]
            gap = Gap(*(float(off[k, row] * loops.scale[row]) * (unit == kind) for kind in ("length", "angle")))
            message = f"at t = {t[k]:.9g} s the drives tear {name} apart, by {gap}: their laws do not fit together"
            n = first + k
            last = max(n - 1, 0)
            return replace(
                motion, t=motion.t[:n], y=motion.y[:n],
                ending=Ending(EndKind.LOOP_OPEN, float(t[k]), message, name),
                t_end=float(motion.t[last]), y_end=motion.y[last],
            )  # fmt: skip
    return motion
