"""Checks after a run, in order.  Each returns the motion unchanged or with another ending.

The first explains a failure in mechanical words.  Others look for an invalid state among those that were kept; the run
then ends before it.  The last looks for parts that cannot be what they are used as.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from kinode.dynamics.compiled_system import Dynamics
from kinode.ode.ending import Ending, EndKind
from kinode.simulation.parameter_guards import end_where_impossible
from kinode.simulation.solver import StateHistory
from kinode.simulation.torn_loops import end_where_loop_opens


def end_where_parts_remember(dynamics: Dynamics, motion: StateHistory) -> StateHistory:
    """The motion with an ending that names a part whose functions remember more than their arguments."""
    known = dynamics.arguments.derived
    if "parts with doors" not in known:
        known["parts with doors"] = [element for element in dynamics.system.elements.values() if element.doors]
    parts = known["parts with doors"]
    if not parts or motion.ending.failed or not len(motion.t):
        return motion
    from kinode.multibody.snapshot import Snapshot  # few models have such parts

    snapshot = Snapshot(dynamics.topology, dynamics.point_of(motion.t_end, motion.y_end, motion.p, motion.inputs))
    for part in parts:
        words = part.find_memory(snapshot, motion.t_end - float(motion.t[0]))
        if words is not None:
            message = f"the numbers of this run cannot be trusted: {part.name}: {words}"
            return replace(motion, ending=Ending(EndKind.FAILED, motion.t_end, message, part.name))
    return motion


def explain_failed(dynamics: Dynamics, motion: StateHistory) -> StateHistory:
    """The motion with an ending that names the component and the cause, if it failed."""
    if not motion.ending.failed:
        return motion
    from kinode.simulation.failures import explain_failure

    return explain_failure(dynamics, motion)


Check = Callable[[Dynamics, StateHistory], StateHistory]
CHECKS: tuple[Check, ...] = (
    explain_failed,
    end_where_loop_opens,
    end_where_impossible,
    end_where_parts_remember,
)


def check_run(dynamics: Dynamics, motion: StateHistory) -> StateHistory:
    """The motion after all checks."""
    for check in CHECKS:
        motion = check(dynamics, motion)
    return motion
