"""Values at which operations break: zero, whole numbers, the corners of a table; and which of them lie in a range."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from kinode.algebra.scalars import Array

MAX_BREAKS = 10_000_000  # of one expression in one run


class TooManyBreaksError(Exception):
    """An expression has more breaks than can be followed."""

    def __init__(self, count: float) -> None:
        self.count = count


@dataclass(frozen=True, eq=False)
class Levels:
    """Values of an argument at which a function of it breaks: sorted numbers, again in each period if there is one."""

    numbers: Array
    period: float = math.inf

    def between(self, low: Array, high: Array) -> tuple[Array, Array]:
        """The index of the first level from low to high, and how many there are."""
        first = self._count_below(low, "left")
        return first, self._count_below(high, "right") - first

    def _count_below(self, x: Array, side: Literal["left", "right"]) -> Array:
        """The number of levels below x, counted from the first number; with the side "right", also one at x."""
        if not len(self.numbers) or not math.isfinite(self.period):
            turns = np.zeros_like(x)
        else:
            turns = np.floor((x - self.numbers[0]) / self.period)
            x = x - turns * self.period
        count: Array = turns * len(self.numbers) + np.searchsorted(self.numbers, x, side)
        return count

    def value(self, index: Array) -> Array:
        turns = np.floor(index / len(self.numbers))
        numbers = self.numbers[(index - turns * len(self.numbers)).astype(np.int64)]
        values: Array = numbers + turns * self.period if math.isfinite(self.period) else numbers
        return values


ZERO = Levels(np.zeros(1))
INTEGERS = Levels(np.zeros(1), 1.0)


def find_levels(levels: Levels, low: Array, high: Array) -> tuple[Array, Array]:
    """All levels in some ranges: for each the index of its range, and its value."""
    first, count = levels.between(low, high)
    count = np.where(np.isfinite(count), np.maximum(count, 0.0), 0.0)
    if count.sum() > MAX_BREAKS:
        raise TooManyBreaksError(float(count.sum()))
    counts = count.astype(np.int64)
    interval = np.repeat(np.arange(len(counts)), counts)
    start = np.cumsum(counts) - counts
    return interval, levels.value(first[interval] + (np.arange(len(interval)) - start[interval]))
