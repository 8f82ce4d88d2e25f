"""The states of a run at the times of pictures.

Where stored states are at least as close together as the pictures, the nearest ones serve.  Else the run is integrated
once more and kept at the times of the pictures (``repeated_run.py``).  A run that cannot be repeated keeps its stored
states; a note says so.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError
from kinode.kernels.state import State
from kinode.model.base.fields import short
from kinode.results.repeated_run import calls_functions, repeat_run
from kinode.results.run_quantities import RunQuantities
from kinode.results.trajectory import LEAST, MOST

RATE = 60.0  # pictures for each second of a run, where nothing else is asked for
MAX_PICTURES = 1_000_000
ROUNDING = 1e-9  # of the spacing, by which stored states may lie further apart than pictures


class PictureRun(NamedTuple):
    """A run with one state for each picture, and notes on how it was made."""

    run: RunQuantities
    notes: tuple[str, ...] = ()


def find_picture_times(run: RunQuantities, rate: Any, least: int, most: int) -> Array:
    """Even times from the first state of a run to its end, s."""
    for name, count in (("least", least), ("most", most)):
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or not 2 <= count <= MAX_PICTURES:
            raise ArgumentError(f"{name}: a whole number from 2 to {MAX_PICTURES} is expected, not {short(count)}")
    if least > most:
        raise ArgumentError(f"least: {least} pictures are more than most={most}")
    if not len(run):
        return np.empty(0)
    begin, end = float(run.t[0]), max(float(run.t[-1]), run.end.t)
    if not end > begin:
        return np.array([begin])
    count = count_pictures(end - begin, rate, least, most)
    return np.linspace(begin, end, count)


def count_pictures(span: float, rate: Any = None, least: int = LEAST, most: int = MOST) -> int:
    """How many pictures a span of time has: at a rate, or 60 for each second within bounds."""
    if rate is None:
        return min(max(math.ceil(RATE * span) + 1, least), most)
    wanted = span * _read_rate(rate)
    if wanted > MAX_PICTURES:
        raise ArgumentError(f"rate: {wanted:.3g} pictures of {span:g} s are more than {MAX_PICTURES}")
    return max(2, math.ceil(wanted - ROUNDING) + 1)


def _read_rate(rate: Any) -> float:
    if isinstance(rate, bool) or not isinstance(rate, int | float | np.number) or not 0.0 < rate < math.inf:
        raise ArgumentError(f"rate: a positive number of pictures for each second is expected, not {short(rate)}")
    return float(rate)


def find_picture_run(run: RunQuantities, times: Array) -> PictureRun:
    """The run at the times of pictures, or near them where its own states are close enough."""
    if len(times) < 2 or not (np.diff(run.t) >= 0.0).all():
        return PictureRun(run)
    spacing = (times[-1] - times[0]) / (len(times) - 1)
    gaps = np.diff([*run.t, times[-1]])
    if gaps.max() <= spacing * (1.0 + ROUNDING):
        return PictureRun(_select(run, times))
    if calls_functions(run):
        return PictureRun(run, ("pictures are at the stored states: to repeat the run would call its functions again",))
    repeated = _repeat(run, times)
    if repeated is None:
        return PictureRun(run, ("pictures are at the stored states: the run could not be repeated between them",))
    return PictureRun(repeated)


def _select(run: RunQuantities, times: Array) -> RunQuantities:
    """The stored states nearest to some times; of several at one time, the last."""
    after = np.minimum(np.searchsorted(run.t, times, side="right"), len(run) - 1)
    before = np.maximum(after - 1, 0)
    nearest = np.where(times - run.t[before] <= run.t[after] - times, before, after)
    nearest = np.searchsorted(run.t, run.t[nearest], side="right") - 1
    rows = np.unique(nearest)
    if len(rows) == len(run):
        return run
    chosen = type(run)(run.dynamics, run.t[rows], run.y[rows], p=run.p, inputs=run.inputs, ending=run.ending)
    chosen.facts, chosen.begin = run.facts, run.begin
    return chosen


def _repeat(run: RunQuantities, times: Array) -> RunQuantities | None:
    """The run integrated once more and kept at some times; None if it does not come out the same."""
    repeated = repeat_run(run, times)
    if repeated is None or len(repeated) == len(times):
        return repeated
    return _with_end(repeated, repeated.end) if len(repeated) == len(times) - 1 else None


def _with_end(run: RunQuantities, end: State) -> RunQuantities:
    """A run with one more state."""
    t, y = np.append(run.t, end.t), np.vstack([run.y, end.y])
    return type(run)(run.dynamics, t, y, p=run.p, inputs=run.inputs, ending=run.ending)
