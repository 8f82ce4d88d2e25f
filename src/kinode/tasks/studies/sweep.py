"""``kn.sweep``: many runs of a model, over what varies."""

from __future__ import annotations

import os
from typing import Any

from kinode.dynamics.compiled_formulations import RECURSIVE_NAME
from kinode.tasks.studies.study import Study
from kinode.tasks.studies.study_engines import open_engine
from kinode.tasks.studies.study_evaluation import StudyEvaluation
from kinode.tasks.studies.study_making import StudyMaking
from kinode.tasks.studies.study_setup import set_up_study
from kinode.tasks.studies.study_store import StudyStore


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
