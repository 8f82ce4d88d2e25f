"""From the arguments of ``kn.sweep`` to a worker that can make any run of the study."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compile import find_compiled
from kinode.dynamics.compiled_formulations import RECURSIVE_NAME
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import ArgumentError
from kinode.simulation.input_courses import read_courses
from kinode.simulation.output_times import find_output_times
from kinode.simulation.task_arguments import read_row, read_seconds
from kinode.tasks.batches.value_sets import check_names
from kinode.tasks.simulate import check_fields, find_begin, read_task
from kinode.tasks.studies.kept_results import keeps_courses, read_all_kept
from kinode.tasks.studies.study_axes import label_axes, read_axes, read_models, read_table
from kinode.tasks.studies.study_design import Design, make_design
from kinode.tasks.studies.study_plan import StudyPlan, StudyWorker

COURSE_SAMPLES = 501
"""Times of quantities over time, where the caller says nothing."""


def set_up_study(
    model: Any, over: Any, until: Any = None, *, keep: Any, design: str | None = None, n: int | None = None,
    seed: int = 0, start: Any = None, parameters: Any = None, inputs: Any = None, formulation: str = RECURSIVE_NAME,
    **fields: Any,
) -> tuple[StudyWorker, Array]:  # fmt: skip
    """What makes the runs of a study, and the times of what is kept over time; the arguments are those of `sweep`."""
    check_fields("sweep", fields)
    columns, is_table = read_table(over)
    models, names = read_models(model, columns)
    compiled = [each if isinstance(each, Dynamics) else find_compiled(each, formulation) for each in models]
    taken = [each.text for each in read_all_kept(compiled[0].system, keep, 0)]
    axes = label_axes(read_axes(compiled, names, columns, model is None), taken)
    chosen = make_design(axes, "rows" if is_table and design is None else design, n, _check_seed(seed))
    fields = {name: value for name, value in fields.items() if value is not None and name not in chosen.roles}
    times, fields = _find_times(compiled[0], chosen, until, keep, start, fields)
    wanted = (keep,) if isinstance(keep, str) or callable(keep) else tuple(keep)
    systems = tuple(each.system for each in compiled)
    common = {**(parameters or {}), **read_courses(compiled[0], inputs or {})}
    check_names(compiled[0], common)
    form = compiled[0].formulation
    plan = StudyPlan(systems, tuple(names), until, start, fields, wanted, len(times), chosen, common, form)
    return StudyWorker(plan, compiled), times


def _check_seed(seed: Any) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ArgumentError(f"seed: a whole number from 0 is expected, not {seed!r}")
    return int(seed)


def _find_times(
    dynamics: Dynamics, design: Design, until: Any, keep: Any, start: Any, fields: dict[str, Any]
) -> tuple[Array, dict[str, Any]]:
    """The times of what is kept over time, and the fields that ask for them."""
    kept = read_all_kept(dynamics.system, keep, 0)
    if not keeps_courses(kept):
        return np.zeros(0), fields
    varying = [name for name in ("until", "t0") if name in design.roles]
    if varying:
        course = next(each.text for each in kept if each.size)
        raise ArgumentError(f"keep: {course} over time needs the same times in all runs, and {varying[0]} varies")
    first = design.rows(0, 1)[0]
    task = read_task(dynamics, until, **fields, **{k: v for k, v in first.items() if design.roles[k] == "field"})
    if start is None or isinstance(start, Mapping):
        begin = read_seconds(dynamics, "t0", fields.get("t0", task.defaults.get("t0", 0.0)))
    else:
        begin = find_begin(task, start, read_row(dynamics, "p", None), read_row(dynamics, "inputs", None)).state.t
    end = read_seconds(dynamics, "until", task.until)
    times = find_output_times(dynamics, task.defaults, task.requested, begin, end)
    if times is not None:
        return times, fields
    fields = {**fields, "samples": COURSE_SAMPLES}
    return np.linspace(begin, end, COURSE_SAMPLES), fields
