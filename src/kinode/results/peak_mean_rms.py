"""Peak, mean and rms over time.

Means are over time, not over samples, since a run that chooses its steps takes more of them where it moves fast.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinode.algebra.scalars import Array

WILD = np.errstate(over="ignore", invalid="ignore")  # the end of a run that failed may be beyond all numbers
ROUNDING = 1e-9


@dataclass(frozen=True)
class Measure:
    """A magnitude over time."""

    peak: float
    time: float
    mean: float
    rms: float


@WILD
def measure(t: Array, values: Array) -> Measure:
    """Peak of the magnitude, its time, mean and rms over time; rows of vectors count by their length."""
    size = np.abs(values) if values.ndim == 1 else np.linalg.norm(values, axis=1)
    if not len(size) or not np.isfinite(size).any():
        return Measure(np.nan, np.nan, np.nan, np.nan)
    k = int(np.argmax(size >= (1.0 - ROUNDING) * np.nanmax(size)))  # the first of peaks that rounding tells apart
    span = float(t[-1] - t[0])
    if span <= 0:
        return Measure(float(size[k]), float(t[k]), float(size[k]), float(size[k]))
    mean = float(np.trapezoid(size, t)) / span
    square = float(np.trapezoid(size**2, t)) / span
    return Measure(float(size[k]), float(t[k]), mean, float(np.sqrt(square)))
