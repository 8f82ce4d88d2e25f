"""Checks of an integrator's arguments; errors say which argument is wrong and what is expected."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
RTOL = 1e-8
"""Default relative tolerance. Errors of a run are some fifty times the tolerance (a double pendulum after 10 s: 6e-7),
so that results hold to 1e-6; that takes twice the evaluations of a tolerance of 1e-6, whose results hold to 1e-4."""
ATOL = 1e-10
"""Default absolute tolerance, in the units of the state (rad, m, rad/s, m/s)."""
SMALLEST_SCALE = 1e-300
"""Least absolute tolerance: a component that is exactly zero still needs a scale to be divided by."""


def all_finite(values: Array) -> bool:
    """Whether all entries of a vector are finite: then its square is, unless that overflows."""
    with np.errstate(over="ignore"):
        square = values.dot(values)
    return math.isfinite(square) or bool(np.isfinite(values).all())


def normalized(y: Array, quaternions: Sequence[int]) -> Array:
    """A copy of a state with normalized quaternions, which begin at the given indices."""
    copy = y.copy()
    for start in quaternions:
        copy[start : start + 4] /= np.linalg.norm(copy[start : start + 4])
    return copy


def flat(name: str, values: npt.ArrayLike | None) -> Array:
    """The values as a flat array; None gives an empty one."""
    array = np.zeros(0) if values is None else np.asarray(values, dtype=np.float64)
    if array.ndim > 1:
        raise ValueError(f"{name}: expected a list of numbers, got an array of shape {array.shape}")
    return array.reshape(-1)


def check_times(times: npt.ArrayLike, t0: float, t1: float) -> Array:
    """The requested times as an array: finite, in the order of the run, within it."""
    array = np.ascontiguousarray(times, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"times: expected a list of numbers, got an array of shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError("times: every time must be finite")
    sign = 1.0 if t1 >= t0 else -1.0
    if array.size and ((np.diff(array) * sign < 0).any() or (array[0] - t0) * sign < 0 or (array[-1] - t1) * sign > 0):
        raise ValueError(f"times: must go from {t0:g} to {t1:g} in that order, got {array[0]:g} to {array[-1]:g}")
    return array


def check_start(y0: npt.ArrayLike, n: int, t0: float, t1: float) -> Array:
    """The initial state as an array; times and state must be finite and of the right size."""
    start = np.array(y0, dtype=np.float64)
    if start.shape != (n,):
        raise ValueError(f"y0: expected {n} numbers, got an array of shape {start.shape}")
    if not (math.isfinite(t0) and math.isfinite(t1)):
        raise ValueError(f"t0, t1: must be finite, got {t0} and {t1}")
    if not all_finite(start):
        bad = np.flatnonzero(~np.isfinite(start))
        raise ValueError(f"y0: component {bad[0]} is {start[bad[0]]}")
    return start


def check_tolerances(rtol: float, atol: npt.ArrayLike | float, n: int) -> Array:
    """The absolute tolerance of each component of the state; checks ``rtol`` too."""
    if not rtol >= 0.0 or not math.isfinite(rtol):
        raise ValueError(f"rtol: must not be negative, got {rtol}")
    if isinstance(atol, float) and 0.0 < atol < math.inf:
        return np.full(n, max(atol, SMALLEST_SCALE))
    absolute = np.asarray(atol, dtype=np.float64)
    if absolute.shape not in ((), (n,)):
        raise ValueError(f"atol: expected one number or {n}, got an array of shape {absolute.shape}")
    if not (absolute >= 0).all() or not np.isfinite(absolute).all():
        raise ValueError("atol: must not be negative")
    if rtol == 0.0 and not (absolute > 0).all():
        raise ValueError("atol: must be positive where rtol is 0")
    return np.ascontiguousarray(np.broadcast_to(np.maximum(absolute, SMALLEST_SCALE), (n,)))


def without_discrete(absolute: Array, n_discrete: int) -> Array:
    """Absolute tolerances without the discrete states at the end, for which they are infinite."""
    tolerances = absolute.copy()
    tolerances[len(tolerances) - n_discrete :] = math.inf
    return tolerances


def with_columns(absolute: Array, scales: Sequence[float]) -> Array:
    """Absolute tolerances of a state and of its columns: a change by the scale is one of the state."""
    return np.concatenate([absolute, *(absolute / scale for scale in scales)])


def check_quaternions(quaternions: Sequence[int], n: int) -> None:
    """Raise for a quaternion that is not within the state: in q, or in z where a speed is prescribed."""
    for index in quaternions:
        if not 0 <= index <= n - 4:
            raise ValueError(f"quaternions: each begins at an index from 0 to {n - 4}, got {index}")


def count_steps(t0: float, t1: float, step: float | None) -> int:
    """Number of equal steps, none longer than ``step``."""
    if step is None or not (math.isfinite(step) and step > 0):
        raise ValueError(f"step: a method of fixed step needs a positive one in seconds, got {step}")
    return max(1, math.ceil(abs(t1 - t0) / step * (1.0 - 1e-10)))
