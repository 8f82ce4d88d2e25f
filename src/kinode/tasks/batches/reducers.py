"""One number from a quantity over a run: ``"elbow.reaction.force|peak"``.

A vector counts by its magnitude, a number with its sign.  The peak of a number is its value of largest size.  Means are
over time (trapezoids between the states that the run keeps), not over states: a run has more of them where it moves
fast.  A quantity that is not finite somewhere has no such number: nan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError, find_close, suggest
from kinode.model.quantity_expressions import find_expression, find_unit, unit_of
from kinode.model.quantity_names import find_quantity
from kinode.model.system import System
from kinode.results.peak_mean_rms import EQUAL_PEAKS
from kinode.results.trajectory import Trajectory

Reducer = Callable[[Array, Array], float]
"""From times and values, both (time,), to a number."""


def _peak_index(values: Array) -> int:
    """Where the size is largest, the first of equal ones."""
    size = np.abs(values)
    return int(np.argmax(size >= (1.0 - EQUAL_PEAKS) * size.max()))


def _mean(t: Array, values: Array) -> float:
    span = float(t[-1] - t[0])
    return float(np.trapezoid(values, t)) / span if span > 0.0 else float(values[-1])


REDUCERS: Mapping[str, Reducer] = {
    "peak": lambda t, values: float(values[_peak_index(values)]),
    "least": lambda t, values: float(values.min()),
    "mean": _mean,
    "rms": lambda t, values: float(np.sqrt(_mean(t, values**2))),
    "final": lambda t, values: float(values[-1]),
    "time_of_peak": lambda t, values: float(t[_peak_index(values)]),
}
"""What a quantity is reduced by, by name."""
BY_SIZE = frozenset({"peak", "rms"})
"""Reducers whose results are compared by their size: a peak of -3 N is less than one of 5 N."""


@dataclass(frozen=True)
class Reduction:
    """A quantity, or an expression of quantities, and what it is reduced by."""

    text: str
    """As it was asked for."""
    quantity: str
    by: str
    unit: str

    def reduce(self, t: Array, values: Array) -> float:
        """The number from the values at the times of a run; vectors are (time, ...)."""
        if not len(t):
            return np.nan
        sizes = values if values.ndim == 1 else np.linalg.norm(values.reshape(len(values), -1), axis=1)
        return REDUCERS[self.by](t, sizes) if np.isfinite(sizes).all() else np.nan


def read_reduction(system: System, text: str) -> Reduction:
    """A text such as "elbow.reaction.force|peak".

    Raises
    ------
    ArgumentError
        The text names no reducer.
    LawError
        There is no such quantity.

    Examples
    --------
    >>> from kinode.tasks.batches.reducers import read_reduction
    >>> read_reduction(kn.load("examples/double_pendulum.yaml"), "elbow.reaction.force|peak").unit
    'N'
    """
    known = ", ".join(REDUCERS)
    if not isinstance(text, str):
        raise ArgumentError(f"of: a text such as 'elbow.reaction.force|peak' is expected, not {text!r}")
    quantity, bar, by = (part.strip() for part in text.rpartition("|"))
    if not bar:
        raise ArgumentError(f"of: what is {by} reduced by? Write {by}|peak, or one of {known} after the bar")
    if by not in REDUCERS:
        raise ArgumentError(suggest(f"of: {text}: {by!r} is none of {known}", by, find_close(by, REDUCERS)))
    expression = find_expression(system, quantity)
    if expression is None:
        find_quantity(system, quantity)
        unit = unit_of(system, quantity)
    else:
        unit = find_unit(system, expression)
    if by == "time_of_peak":
        unit = "s"
    if isinstance(unit, tuple):
        raise ArgumentError(f"of: {text}: the parts of {quantity} have different units and no common size; name a part")
    return Reduction(text, quantity, by, unit)


def reduce_run(run: Trajectory, reductions: Iterable[Reduction]) -> dict[str, float]:
    """All reductions of a run, by their texts; the quantities are evaluated together."""
    wanted = list(reductions)
    values = run.evaluate(dict.fromkeys(each.quantity for each in wanted))
    return {each.text: each.reduce(run.t, values[each.quantity]) for each in wanted}
