"""``kn.sweep``: many runs of a model, over what varies; and further runs in whole matrices: ``study.evaluate(X)``."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import RECURSIVE_NAME
from kinode.errors import ArgumentError
from kinode.studies.design import make_design
from kinode.studies.engines import StudyMaking, open_engine
from kinode.studies.store import StudyStore
from kinode.studies.study import Study
from kinode.studies.worker import StudyWorker, set_up_study


def sweep(
    model: Any, over: Any, until: Any = None, *, keep: Any, design: str | None = None, n: int | None = None,
    seed: int = 0, start: Any = None, parameters: Any = None, inputs: Any = None, on: Any = None,
    workers: int | None = None,
    store: str | os.PathLike[str] | None = None, resume: bool = True, progress: Any = None,
    formulation: str = RECURSIVE_NAME, **fields: Any,
) -> Study:  # fmt: skip
    """Make many runs of a model, and keep of each what is asked for.

    Parameters
    ----------
    model : System, Dynamics, str or path, or None
        The model; None where whole models are an axis of ``over``, named ``model``.
    over : mapping, DataFrame or list of mappings
        What varies, by name: parameters, inputs, initial values ("elbow.q"), arguments of ``kn.simulate`` (method,
        step, rtol, atol, max_step, until, t0), or ``model``. For each a list of values, in SI units or as texts with a
        unit; or how values are drawn: ``kn.normal``, ``kn.uniform``, ``kn.between``. Lists make a grid; a table has
        one row for each run.
    until : float or str, optional
        End of the runs in s, or text with a unit.
    keep : str, function, or list of them
        What is kept of each run: a quantity over time ("crank.q"); a number ("main.reaction.force|peak", least, mean,
        rms, final, time_of_peak, quantile(0.95); "main.reaction.force|order(2)"; "shaft|life(25 kN, -15 cm, 15 cm)");
        or a Python function of the run that gives a number. A vector counts by its magnitude.
    design : {"grid", "rows", "random", "latin", "sobol"}, optional
        How values are chosen; a grid, or random samples where values are drawn. With "rows" the lists of ``over`` are
        columns of a table.
    n : int, optional
        How many samples; of a grid with ``kn.between`` how many values of such an axis.
    seed : int, default 0
        Another number gives other samples.
    start : mapping, State, Assembly, Equilibrium or Trajectory, optional
        The start that all runs have in common, as in ``kn.simulate``.
    parameters, inputs : mapping, optional
        Values that all runs have in common, by name; courses of inputs over time as in ``kn.simulate``.
    on : {"threads", "processes"}, str, Client or Executor, optional
        Where runs are made: threads of this process (default), other processes, a Dask cluster ("tcp://host:8786" or
        its Client), or any executor of ``concurrent.futures``.
    workers : int, optional
        How many threads or processes; one for each processor.
    store : path, optional
        A Zarr store, in which every chunk of runs is kept as soon as it is made; needs zarr.
    resume : bool, default True
        Whether a study that is in the store already goes on where it ended.
    progress : bool or function, optional
        Whether a bar is shown, by default on a terminal after a second; or a function that is given the fraction done
        and may return False to end the study.
    formulation : str, optional
        As in ``kn.compile``.
    **fields
        As in ``kn.simulate``: t0, times, samples, every, method, step, rtol, atol, stop_when, max_step.

    Returns
    -------
    Study
        Results by name; a run that failed has a status and a message. After Ctrl-C it has what is done.

    Raises
    ------
    ArgumentError
        A name, a value or a field is wrong, or the store holds another study.
    Error
        The store cannot be written, or another process makes the runs of its study; what is in it stays.

    Examples
    --------
    >>> over = {"pivot.q": ["10 deg", "20 deg", "30 deg"]}
    >>> study = kn.sweep("examples/pendulum.yaml", over, 1.0, keep=["pivot.reaction.force|peak", "pivot.u|rms"])
    >>> study["pivot.reaction.force|peak"].shape
    (3,)
    """
    worker, times = set_up_study(
        model, over, until, keep=keep, design=design, n=n, seed=seed, start=start, parameters=parameters,
        inputs=inputs, formulation=formulation, **fields,
    )  # fmt: skip
    with open_engine(worker, on, workers) as engine:
        making = StudyMaking(worker, engine, times, progress)
        study = making.in_memory() if store is None else making.in_store(StudyStore(store), resume)
    study.evaluation = StudyEvaluation(worker, on, workers)
    return study


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
