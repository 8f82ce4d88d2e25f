"""The start of a model in the text of its C: its memory, and the function that follows the parameters."""

from __future__ import annotations

from collections.abc import Mapping

from kinode.dynamics.initialization.warm_starts.newton_loop import NOT_SOLVED
from kinode.exporters.c_code.start_loop import CONTRADICTION, TORN
from kinode.exporters.c_code.start_plan import StartPlan

START_STATUS = 29
START_FAILED, NETWORK_FAILED, SPEEDS_FAILED = (START_STATUS + code for code in (NOT_SOLVED, CONTRADICTION, TORN))
"""Status of a start whose loops do not close, whose network does not have the initial values that it is given, or whose
exact speeds do not fit together."""


def declare_start(name: str, plan: StartPlan | None) -> list[str]:
    """Members of the model."""
    if plan is None:
        return []
    return [f"    {name}_loop_start_memory start;", plan.image.members(f"{name}_loop_int")]


def write_start_tables(name: str, plan: StartPlan | None) -> list[str]:
    """Constant tables."""
    return [] if plan is None else [plan.image.tables(name, f"{name}_loop_int")]


def set_start(name: str, plan: StartPlan | None, numbers: Mapping[str, int]) -> list[str]:
    """Statements that lay the memory out; ``numbers`` are those of its programs."""
    if plan is None:
        return []
    return [
        plan.image.assignments(name, "m->start"),
        *(f"    m->start.{field} = {number};" for field, number in numbers.items()),
    ]


def bind_start(plan: StartPlan | None) -> list[str]:
    """Statements that set its pointers."""
    return [] if plan is None else [plan.image.bindings("m->start")]


def change_start(plan: StartPlan | None) -> list[str]:
    """Statements for parameters, inputs or a time that are not the model's own."""
    if plan is None:
        return ["        KN_CLOSE_LOOPS(m);"]
    return [
        "        m->start.warm.time[0] = m->run.step.origin;",
        "        const int64_t failed = KN_FIND_START(&m->start);",
        f"        if (failed) return {START_STATUS} + (int)failed;",
    ]
