"""Courses of inputs in the file of a run: all samples one after the other, with the input that each belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kinode.ode.runs.input_table import CourseTable, InputCourse, find_table
from kinode.results.run_file_reader import finite

if TYPE_CHECKING:
    import xarray

HELD_NOTE = "1 where each value holds until the next time, 0 where the course is linear between times"


def write_courses(data: xarray.Dataset, names: Sequence[str], table: CourseTable) -> None:
    """Add the courses of inputs to the data of a run."""
    of_course = [names[k] for k, _ in table.pairs]
    counts = [len(course.times) for _, course in table.pairs]
    data.coords["course"] = ("course", of_course)
    data["course_samples"] = ("course", np.array(counts, dtype=np.int64))
    held = np.array([course.held for _, course in table.pairs], dtype=np.int8)
    data["course_held"] = ("course", held, {"note": HELD_NOTE})
    for name, unit in (("times", "s"), ("values", "")):
        joined = np.concatenate([getattr(course, name) for _, course in table.pairs])
        data[f"course_{name}"] = ("course_sample", joined, {"units": unit} if unit else {})


def read_courses(data: xarray.Dataset, names: Sequence[str]) -> CourseTable:
    """The courses of inputs from the data of a run; raises ``ValueError`` for what is none."""
    of_course, counts = [str(name) for name in data["course"].values], data["course_samples"].values.astype(int)
    times, values = (finite(np.asarray(data[f"course_{x}"].values, dtype=float), x) for x in ("times", "values"))
    known = len(set(of_course)) == len(of_course) and set(of_course) <= set(names)
    if not known or not len(counts) or counts.min() < 1 or times.shape != values.shape or counts.sum() != times.size:
        raise ValueError("its courses of inputs are not those of the model")
    pairs, ends = [], np.cumsum(counts)
    for name, held, end, count in zip(of_course, data["course_held"].values, ends, counts, strict=True):
        span = slice(end - count, end)
        if not (np.diff(times[span]) > 0.0).all():
            raise ValueError(f"the times of {name} do not rise")
        pairs.append((names.index(name), InputCourse(times[span].copy(), values[span].copy(), bool(held))))
    return find_table(pairs)
