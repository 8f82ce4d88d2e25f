"""The parameters of an exported model, and when a change of one acts."""

from __future__ import annotations

from dataclasses import dataclass

from kinode.dynamics.compiled_system import Dynamics
from kinode.exporters.c_code.break_plan import BreakPlan
from kinode.exporters.c_code.start_plan import StartPlan, find_frozen


@dataclass(frozen=True)
class ParameterRecord:
    """A parameter: its name, whether it acts at initialization alone, and whether the start does not follow it."""

    name: str
    fixed: bool
    frozen: bool = False


def find_parameters(
    dynamics: Dynamics, plan: BreakPlan | None, start: StartPlan | None
) -> tuple[ParameterRecord, ...]:  # fmt: skip
    """All parameters in the order of the compiled system.

    Fixed are those that move the start of a model, or the times at which expressions of time break.  Frozen are those
    whose effect on the start C does not compute.
    """
    topology, moving = dynamics.topology, frozenset[str]() if plan is None else plan.parameters
    names, frozen = topology.parameters, find_frozen(dynamics, start)
    if topology.constrained:
        moving |= {names[k] for k in dynamics.start.parameters_that_count}
    return tuple(ParameterRecord(name, name in moving | frozen, name in frozen) for name in names)
