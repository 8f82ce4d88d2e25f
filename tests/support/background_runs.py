"""Runs of a compiled system in the background, with values by name."""

import numpy as np

from kinode.studies.batch import Batch, RowMaker, check_names
from kinode.studies.kept_results import read_reduction
from kinode.tasks.simulate import read_task


def run_many(dynamics, values, until=None, *, of, start=None, order=None, threads=2, on_row=None, **fields):
    """A batch with values by name for each run, or a table of columns; ``of`` is what is kept of each."""
    if isinstance(values, dict):
        columns = [np.asarray(column).tolist() for column in values.values()]
        values = [dict(zip(values, row, strict=True)) for row in zip(*columns, strict=True)]
    names = {name: row[name] for row in reversed(values) for name in row}
    kept = [read_reduction(dynamics.system, text) for text in ([of] if isinstance(of, str) else of)]
    maker = RowMaker(read_task(dynamics, until, **fields), start, kept)
    check_names(dynamics, names)
    maker.check(names)
    dynamics.start.settle()
    return Batch(maker.make, values, range(len(values)) if order is None else order, threads, on_row)
