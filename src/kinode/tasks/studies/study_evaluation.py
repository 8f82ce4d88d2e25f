"""Further runs of a study's model, in whole matrices: ``study.evaluate(X)``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError
from kinode.tasks.studies.study import Study
from kinode.tasks.studies.study_design import make_design
from kinode.tasks.studies.study_engines import open_engine
from kinode.tasks.studies.study_plan import StudyWorker


class StudyEvaluation:
    """The compiled models of a study, and where its runs are made."""

    def __init__(self, worker: StudyWorker, on: Any, workers: int | None) -> None:
        self.worker, self.on, self.workers = worker, on, workers

    def evaluate(self, study: Study, X: Any) -> Array:
        """The single numbers of runs with other values, one row for each run."""
        rows = np.atleast_2d(np.asarray(X, dtype=float))
        names = study.names
        if rows.ndim != 2 or rows.shape[1] != len(names):
            raise ArgumentError(f"evaluate: rows of {len(names)} values are expected, of {', '.join(names)}")
        known = {axis.title: axis for axis in self.worker.plan.design.axes}
        others = [title for title in known if title not in names]
        if others:
            raise ArgumentError(f"evaluate: {others[0]} has no numbers for values; make a study without it")
        axes = [replace(known[name], values=rows[:, k].tolist(), spread=None) for k, name in enumerate(names)]
        plan = replace(self.worker.plan, design=make_design(axes, "rows", None, 0))
        worker = StudyWorker(plan, self.worker.dynamics)
        results = np.full((len(rows), len(study.scalars)), np.nan)

        def take(result: Any) -> None:
            span = slice(result.first, result.first + len(result))
            for k, text in enumerate(study.scalars):
                results[span, k] = result.results[text]

        with open_engine(worker, self.on, self.workers) as engine:
            size = max(1, min(256, -(-len(rows) // (4 * engine.workers))))
            spans = ((first, min(first + size, len(rows))) for first in range(0, len(rows), size))
            engine.make(spans, take, lambda done: True)
        return results
