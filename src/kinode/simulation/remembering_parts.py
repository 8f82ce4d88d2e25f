"""Ends a run whose parts bring functions that remember more than their arguments: its numbers cannot be trusted."""

from __future__ import annotations

from dataclasses import replace

from kinode.dynamics.compiled_system import Dynamics
from kinode.multibody.snapshot import Snapshot
from kinode.ode.ending import Ending, EndKind
from kinode.simulation.solver import StateHistory


def end_where_parts_remember(dynamics: Dynamics, motion: StateHistory) -> StateHistory:
    """The motion with an ending that names such a part; unchanged if there is none."""
    parts = [element for element in dynamics.system.elements.values() if element.doors]
    if not parts or motion.ending.failed or not len(motion.t):
        return motion
    snapshot = Snapshot(dynamics.topology, dynamics.point_of(motion.t_end, motion.y_end, motion.p, motion.inputs))
    for part in parts:
        words = part.find_memory(snapshot, motion.t_end - float(motion.t[0]))
        if words is not None:
            message = f"the numbers of this run cannot be trusted: {part.name}: {words}"
            return replace(motion, ending=Ending(EndKind.FAILED, motion.t_end, message, part.name))
    return motion
