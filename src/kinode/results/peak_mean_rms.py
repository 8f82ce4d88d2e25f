"""Peak, mean and rms of a quantity over time.

Means are over time, not over samples: a run with variable steps has more samples where it moves fast.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinode.algebra.scalars import Array

IGNORE_OVERFLOW = np.errstate(over="ignore", invalid="ignore")  # a run that failed may end with infinite values
EQUAL_PEAKS = 1e-9  # share of the peak: values this close to it are equal to it


@dataclass(frozen=True)
class Measure:
    """A magnitude over time.

    Attributes
    ----------
    peak : float
        The largest magnitude.
    time : float
        Its time, s.
    mean, rms : float
        Over time.
    """

    peak: float
    time: float
    mean: float
    rms: float


def find_sizes(values: Array) -> Array:
    """The lengths of vectors, (time, n), or of what has more dimensions."""
    rows = values.reshape(len(values), -1)
    squares = np.zeros(len(rows))
    for column in rows.T:  # one after the other, as the compiled loop of many runs does (swift_runs/peak_loop.py)
        squares += column * column
    sizes: Array = np.sqrt(squares)
    return sizes


@IGNORE_OVERFLOW
def measure(t: Array, values: Array) -> Measure:
    """Peak, time of the peak, mean and rms of a magnitude; vectors (time, n) count by their length."""
    size = np.abs(values) if values.ndim == 1 else find_sizes(values)
    if not len(size) or not np.isfinite(size).any():
        return Measure(np.nan, np.nan, np.nan, np.nan)
    k = int(np.argmax(size >= (1.0 - EQUAL_PEAKS) * np.nanmax(size)))  # the first of equal peaks
    span = float(t[-1] - t[0])
    if span <= 0:
        return Measure(float(size[k]), float(t[k]), float(size[k]), float(size[k]))
    mean = float(np.trapezoid(size, t)) / span
    square = float(np.trapezoid(size**2, t)) / span
    return Measure(float(size[k]), float(t[k]), mean, float(np.sqrt(square)))
