"""``kn.compare``: what differs between two models, or the peaks of two runs side by side."""

from __future__ import annotations

import os
from typing import overload

from kinode.errors import ArgumentError
from kinode.formats.differences.compared_models import compare_sides
from kinode.formats.differences.compared_rows import ModelComparison
from kinode.formats.differences.model_side import read_side
from kinode.model.base.fields import short
from kinode.model.system import System
from kinode.results.side_by_side.compared_runs import RunComparison, compare_runs
from kinode.results.trajectory import Trajectory

Model = System | str | os.PathLike[str]


@overload
def compare(first: Model, second: Model) -> ModelComparison: ...
@overload
def compare(first: Trajectory, second: Trajectory) -> RunComparison: ...
def compare(first: Model | Trajectory, second: Model | Trajectory) -> ModelComparison | RunComparison:
    """Say what differs between two models, or set the peaks of two runs side by side.

    Models are compared by what they mean: 1000 mm and 1 m are equal, and so are laws that differ in the order of their
    terms; comments, order and short forms do not count.  A part that only got another name is one row.

    Parameters
    ----------
    first, second : System, path, or Trajectory
        Two models, as systems or files; or two runs.

    Returns
    -------
    ModelComparison or RunComparison
        ``rows`` has the differences, or the peaks; it prints as a table, and ``to_dict()`` is plain data.

    Raises
    ------
    ArgumentError
        A model and a run cannot be compared.
    ModelError
        A file is no model, or a wrong one.

    Examples
    --------
    >>> one = kn.load("examples/pendulum.yaml")
    >>> two = one.copy()
    >>> _ = two.change("L", value="1.2 m")
    >>> print(kn.compare(one, two))
    pendulum -> pendulum: 1 changed
    ~ L.value  1 m -> 1.2 m (+20 %)
    >>> bool(kn.compare(one, one.copy()))
    False
    """
    if isinstance(first, Trajectory) and isinstance(second, Trajectory):
        return compare_runs(first, second)
    for other in (first, second):
        if isinstance(other, Trajectory):
            one = second if other is first else first
            raise ArgumentError(f"compare: a run is compared with a run, not with {short(one)}; kn.simulate makes one")
    assert not isinstance(first, Trajectory) and not isinstance(second, Trajectory)
    return compare_sides(read_side(first), read_side(second))
