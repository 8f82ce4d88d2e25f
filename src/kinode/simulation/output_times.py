"""The times at which a run is kept: given one by one, as a number of samples, or as a spacing."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import ArgumentError
from kinode.simulation.call_site import caller_depth
from kinode.simulation.task_arguments import read_seconds

MOST_TIMES = 10**9
WAYS = ("times", "samples", "every")


def find_output_times(
    dynamics: Dynamics, known: Mapping[str, Any], given: Mapping[str, Any], t0: float, until: float
) -> Array | None:
    """The times that a run is kept at; None for the method's own steps.

    Parameters
    ----------
    known : defaults of the model; they count where the caller gives none of ``times``, ``samples``, ``every``.
    given : what the caller gives of these three, None for what is left out.
    t0, until : start and end of the run in s.
    """
    asked = {way: given[way] for way in WAYS if given.get(way) is not None}
    if len(asked) > 1:
        raise ArgumentError(f"{', '.join(asked)}: give one of them; each says at which times the run is kept")
    if not asked:
        asked = {way: known[way] for way in WAYS if way in known}
        if "times" in asked:
            within = [t for t in asked["times"] if t0 <= t <= until]
            asked = {"times": within} if within else {}
    for way, value in asked.items():
        way, value = _read_old_spelling(way, value)
        if way == "samples":
            return _spread(value, t0, until)
        if way == "every":
            return _space(read_seconds(dynamics, "every", value), t0, until)
        return _read_list(value, t0, until)
    return None


def _read_old_spelling(way: str, value: Any) -> tuple[str, Any]:
    """``times=601`` stands for ``samples=601``, ``times=0.01`` for ``every=0.01``; both warn."""
    if way != "times" or isinstance(value, bool) or not isinstance(value, int | float | np.integer):
        return way, value
    way = "every" if isinstance(value, float) else "samples"
    meant = "a spacing" if way == "every" else "a number of samples"
    message = f"times={value!r} as {meant} is an old spelling; write {way}={value!r} (times= takes a list of times)"
    warnings.warn(message, FutureWarning, stacklevel=caller_depth())
    return way, value


def _spread(count: Any, t0: float, until: float) -> Array:
    """So many times, evenly spaced, both ends included."""
    if isinstance(count, bool) or not isinstance(count, int | np.integer):
        raise ArgumentError(f"samples: a whole number of times is expected, not {count!r}")
    if count < 2:
        raise ArgumentError(f"samples: at least 2 are needed, start and end, not {count}")
    _check_count("samples", int(count))
    return np.linspace(t0, until, int(count))


def _space(gap: float, t0: float, until: float) -> Array:
    """Times from the start on, so far apart; the end is among them if it is a multiple."""
    if not (math.isfinite(gap) and gap > 0):
        raise ArgumentError(f"every: a positive time in seconds is expected, not {gap!r}")
    count = (until - t0) / gap * (1 + 1e-12)
    _check_count("every", count)
    times: Array = np.minimum(t0 + gap * np.arange(math.floor(count) + 1), until)
    return times


def _read_list(times: Any, t0: float, until: float) -> Array:
    """Times one by one: finite, in order, within the run."""
    if isinstance(times, bool):
        raise ArgumentError(f"times: numbers are expected, not {times}")
    try:
        array = np.array(times, dtype=float)
    except (TypeError, ValueError):
        raise ArgumentError(
            "times: a list of numbers is expected; samples= takes how many, every= how far apart"
        ) from None
    if array.ndim != 1 or not array.size or not np.isfinite(array).all():
        raise ArgumentError(f"times: finite numbers in a row are expected, not an array of shape {array.shape}")
    if (np.diff(array) < 0).any():
        raise ArgumentError("times: must not go back")
    if array[0] < t0 or array[-1] > until:
        span = f"from {t0:g} to {until:g} s are simulated"
        raise ArgumentError(f"times: {span}, {array[0]:g} to {array[-1]:g} are asked for")
    return array


def _check_count(way: str, count: float) -> None:
    if count > MOST_TIMES:
        raise ArgumentError(f"{way}: {count:.3g} are more than memory holds; at most {MOST_TIMES:.0e} can be kept")
