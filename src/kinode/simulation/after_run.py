"""Checks after a run, in order.  Each returns the motion unchanged or with another ending.

The first explains a failure in mechanical words.  Others look for an invalid state among those that were kept; the run
then ends before it.  The last looks for parts that cannot be what they are used as.
"""

from __future__ import annotations

from collections.abc import Callable

from kinode.dynamics.compiled_system import Dynamics
from kinode.simulation.failures import explain_failure
from kinode.simulation.parameter_guards import end_where_impossible
from kinode.simulation.remembering_parts import end_where_parts_remember
from kinode.simulation.solver import StateHistory
from kinode.simulation.torn_loops import end_where_loop_opens

Check = Callable[[Dynamics, StateHistory], StateHistory]
CHECKS: tuple[Check, ...] = (explain_failure, end_where_loop_opens, end_where_impossible, end_where_parts_remember)


def check_run(dynamics: Dynamics, motion: StateHistory) -> StateHistory:
    """The motion after all checks."""
    for check in CHECKS:
        motion = check(dynamics, motion)
    return motion
