"""The states of a run at the times of pictures.

Where stored states are at least as close together as the pictures, the nearest ones serve.  Else the run is integrated
once more, from where it began and with its own method and tolerances, and kept at the times of the pictures: the same
steps, so that events, modes, loops and clocks are those of the run.  A run that does not come out the same, or that
must not be repeated because it calls functions of the user, keeps its stored states; a note says so.
"""

from __future__ import annotations

import math
import warnings
from typing import Any, NamedTuple

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError, Error, SimulationError
from kinode.hooks import hook
from kinode.kernels.state import State
from kinode.model.base.fields import short
from kinode.results.run_quantities import RunQuantities
from kinode.results.trajectory import LEAST, MOST
from kinode.simulation.solver import split

RATE = 60.0  # pictures for each second of a run, where nothing else is asked for
MAX_PICTURES = 1_000_000
SAME_END = 1e-5  # of the range of a state, by which the end of a repeated run may differ
ROUNDING = 1e-9  # of the spacing, by which stored states may lie further apart than pictures
RUN_OPTIONS = ("method", "step", "rtol", "atol", "max_step")


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
    if any(entry.sampler.call is not None for entry in _samplers(run)):
        return PictureRun(run, ("pictures are at the stored states: to repeat the run would call its functions again",))
    repeated = _repeat(run, times)
    if repeated is None:
        return PictureRun(run, ("pictures are at the stored states: the run could not be repeated between them",))
    return PictureRun(repeated)


def _samplers(run: RunQuantities) -> Any:
    events = run.dynamics.topology.events
    return () if events is None else events.samplers


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
    options = {name: run.facts[name] for name in RUN_OPTIONS if name in run.facts}
    begin = _find_begin(run)
    if "method" not in options or begin is None:
        return None
    end = run.end if run.end.t >= run.t[-1] else split(run.dynamics, float(run.t[-1]), run.y[-1])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the run itself has said it
            repeated: RunQuantities = hook("simulate")(
                run.dynamics, end.t, start=begin, times=times, parameters=run.p, inputs=run.inputs, progress=False,
                **options,
            )  # fmt: skip
    except SimulationError as error:  # a run that failed may fail again within its last step
        repeated = error.run
    except Error:
        return None
    if len(repeated) < len(times):
        repeated = _with_end(repeated, end) if len(repeated) == len(times) - 1 else repeated
    scale = np.ptp(np.vstack([run.y, end.y]), axis=0) + 1e-9 * (1.0 + np.abs(run.y).max(axis=0))
    differs = len(repeated) < len(times) or bool((np.abs(repeated.y[-1] - end.y) > SAME_END * scale).any())
    return None if differs else repeated


def _find_begin(run: RunQuantities) -> State | None:
    """Where to integrate from: the run's own start; else its first state, unless a clock may have ticked there."""
    if run.begin is not None:
        return run.begin
    return None if len(_samplers(run)) else split(run.dynamics, float(run.t[0]), run.y[0])


def _with_end(run: RunQuantities, end: State) -> RunQuantities:
    """A run with one more state."""
    t, y = np.append(run.t, end.t), np.vstack([run.y, end.y])
    return type(run)(run.dynamics, t, y, p=run.p, inputs=run.inputs, ending=run.ending)
