"""The parameters of an exported model, and when a change of one acts."""

from __future__ import annotations

from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.initialization.start_dependence import find_start_parameters
from kinode.exporters.c_code.break_plan import BreakPlan
from kinode.records import dataclass


@dataclass(frozen=True)
class ParameterRecord:
    """A parameter: its name, whether it acts at initialization alone, and whether the start does not follow it."""

    name: str
    fixed: bool
    frozen: bool = False


def find_parameters(dynamics: Dynamics, plan: BreakPlan | None) -> tuple[ParameterRecord, ...]:
    """All parameters in the order of the compiled system.

    Fixed are those that move the assembly of loops, or the times at which expressions of time break.
    """
    topology, moving = dynamics.topology, frozenset() if plan is None else plan.parameters
    names = topology.parameters
    if topology.constrained and topology.network is None:
        moving |= {names[k] for k in find_start_parameters(topology)}
    return tuple(ParameterRecord(name, name in moving) for name in names)
