"""One number from a quantity over a run: ``"elbow.reaction.force|peak"``, ``"motor.current|quantile(0.95)"``.

A vector counts by its magnitude, a number with its sign.  The peak of a number is its value of largest size.  Means are
over time (trapezoids between the states that the run keeps), not over states: a run has more of them where it moves
fast.  A quantity that is not finite somewhere has no such number: nan.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError, find_close, suggest
from kinode.model.quantity_expressions import find_expression, find_unit, unit_of
from kinode.model.quantity_names import find_quantity
from kinode.model.system import System
from kinode.results.peak_mean_rms import EQUAL_PEAKS, find_sizes
from kinode.results.trajectory import Trajectory

Reducer = Callable[..., float]
"""From times and values, both (time,), and the numbers in its brackets, to a number."""
_CALL = re.compile(r"(\w+)\s*(?:\((.*)\))?")


class Kept(Protocol):
    """What is kept of a run."""

    @property
    def text(self) -> str:
        """As it was asked for."""

    @property
    def unit(self) -> str:
        """Its unit in SI."""

    @property
    def quantity(self) -> str:
        """The quantity that it needs; "" for none."""

    @property
    def size(self) -> tuple[int, ...]:
        """Shape of what is kept."""

    def take(self, run: Trajectory, values: Mapping[str, Array]) -> Any:
        """What is kept, from the run and the quantities over it."""


def _peak_index(values: Array) -> int:
    """Where the size is largest, the first of equal ones."""
    size = np.abs(values)
    return int(np.argmax(size >= (1.0 - EQUAL_PEAKS) * size.max()))


def _mean(t: Array, values: Array) -> float:
    span = float(t[-1] - t[0])
    return float(np.trapezoid(values, t)) / span if span > 0.0 else float(values[-1])


def _quantile(t: Array, values: Array, share: float) -> float:
    """The value that a quantity stays below for a share of the time; it is linear between the states."""
    if len(t) < 2 or t[-1] <= t[0]:
        return float(values[-1])
    levels = np.unique(values)
    low, high = np.minimum(values[:-1], values[1:]), np.maximum(values[:-1], values[1:])
    spans, widths = np.diff(t), np.where(high > low, high - low, 1.0)

    def time_below(level: float) -> float:
        return float(np.sum(spans * np.where(high > low, np.clip((level - low) / widths, 0.0, 1.0), level >= low)))

    wanted = share * float(spans.sum())
    below, above = 0, len(levels) - 1
    if time_below(levels[0]) >= wanted:
        return float(levels[0])
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (middle, above) if time_below(levels[middle]) < wanted else (below, middle)
    least, most = time_below(levels[below]), time_below(np.nextafter(levels[above], -math.inf))
    if most <= wanted or most <= least:
        return float(levels[above])
    return float(levels[below] + (wanted - least) / (most - least) * (levels[above] - levels[below]))


REDUCERS: Mapping[str, Reducer] = {
    "peak": lambda t, values: float(values[_peak_index(values)]),
    "least": lambda t, values: float(values.min()),
    "mean": _mean,
    "rms": lambda t, values: float(np.sqrt(_mean(t, values**2))),
    "final": lambda t, values: float(values[-1]),
    "time_of_peak": lambda t, values: float(t[_peak_index(values)]),
    "quantile": _quantile,
}
"""What a quantity is reduced by, by name."""
BRACKETS: Mapping[str, str] = {"quantile": "a share of the time, such as quantile(0.95)"}
"""Reducers that need a number in brackets, and which."""
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
    number: tuple[float, ...] = ()
    """What stands in brackets."""
    size: tuple[int, ...] = ()

    def take(self, run: Trajectory, values: Mapping[str, Array]) -> float:
        """The number of a run."""
        return self.reduce(run.t, values[self.quantity])

    def reduce(self, t: Array, values: Array) -> float:
        """The number from the values at the times of a run; vectors are (time, ...)."""
        if not len(t):
            return np.nan
        sizes = values if values.ndim == 1 else find_sizes(values)
        return REDUCERS[self.by](t, sizes, *self.number) if np.isfinite(sizes).all() else np.nan


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
    call = _CALL.fullmatch(by)
    by, bracket = (call[1], call[2]) if call else (by, None)
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
    return Reduction(text, quantity, by, unit, _read_bracket(text, by, bracket))


def _read_bracket(text: str, by: str, bracket: str | None) -> tuple[float, ...]:
    """The number in the brackets of a reducer."""
    if by not in BRACKETS:
        if bracket is not None:
            raise ArgumentError(f"of: {text}: {by} has no brackets")
        return ()
    try:
        share = float(bracket or "")
    except ValueError:
        share = math.nan
    if not 0.0 <= share <= 1.0:
        raise ArgumentError(f"of: {text}: {by} needs {BRACKETS[by]}")
    return (share,)


def reduce_run(run: Trajectory, kept: Iterable[Kept]) -> dict[str, Any]:
    """All that is kept of a run, by its texts; the quantities are evaluated together."""
    wanted = list(kept)
    values = run.evaluate(dict.fromkeys(each.quantity for each in wanted if each.quantity))
    return {each.text: each.take(run, values) for each in wanted}
