"""Checks after a run, in order: each takes the motion, and gives it back as it is or with another ending.

A failure is put into the words of mechanics first. What is then found wrong in the states that were kept ends the run
before, and counts instead.
"""

from __future__ import annotations

from collections.abc import Callable

from kinode.dynamics.compiled_system import Dynamics
from kinode.simulation.failures import explain_failure
from kinode.simulation.parameter_guards import end_where_impossible
from kinode.simulation.solver import StateHistory
from kinode.simulation.torn_loops import end_where_torn

Check = Callable[[Dynamics, StateHistory], StateHistory]
CHECKS: tuple[Check, ...] = (explain_failure, end_where_torn, end_where_impossible)


def check_run(dynamics: Dynamics, motion: StateHistory) -> StateHistory:
    """The motion after all checks."""
    for check in CHECKS:
        motion = check(dynamics, motion)
    return motion
