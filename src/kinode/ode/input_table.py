"""Inputs that change during a run: their courses over time, for Python and for the compiled loops.

A course is made of linear pieces.  Between samples it is linear or held; before the first and after the last sample it
has the value of that sample.  So a piece is a start, a value and a slope, and a held one has the slope zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from kinode.jit.loop.memory import floats_of, ints_of
from kinode.ode.loops.courses import CourseMemory

Array = npt.NDArray[np.float64]
LOOK_SHARE = 1e-6
"""Share of the shortest piece, over which the change of event functions by inputs is found."""
SMOOTH_KINK = 1e-5
"""Change of slope at a sample, times the shorter interval beside it, as a share of the course's range: a smaller one is
no break, and left to the error control.  Measured: with 10,000 samples of noise a break at each takes a fifth of the
evaluations that error control takes without any; with as many samples of a slow sine it takes seven times as many."""
STRAIGHT = 1e-12
"""The same for a sample on the line through its neighbours, which no step has to see."""
LONGEST_STEP = 8
"""Pieces without breaks that a step may pass at most."""


@dataclass(frozen=True, eq=False)
class InputCourse:
    """The values of one input over time.

    Attributes
    ----------
    times, values : array
        The samples: times in s, rising, and values in SI.
    held : bool
        Whether each value holds until the next sample; else the course is linear between samples.
    """

    times: Array
    values: Array
    held: bool = False

    @cached_property
    def slopes(self) -> Array:
        """The slope after each sample."""
        slopes = np.zeros(len(self.times))
        if not self.held:
            slopes[:-1] = np.diff(self.values) / np.diff(self.times)
        return slopes

    def at(self, t: Any) -> Array:
        """The values at some times."""
        k = np.maximum(np.searchsorted(self.times, t, side="right") - 1, 0)
        return np.asarray(self.values[k] + self.slopes[k] * np.maximum(np.asarray(t) - self.times[k], 0.0))

    @cached_property
    def _kinks(self) -> Array:
        """The change of slope at each sample, times the shorter interval beside it, as a share of the range."""
        before, widths = np.append(0.0, self.slopes[:-1]), np.diff(self.times, prepend=-math.inf, append=math.inf)
        span = float(np.ptp(self.values))
        changes = np.abs(self.slopes - before) * np.minimum(widths[:-1], widths[1:])
        return np.asarray(changes / (span if span > 0.0 else math.inf))

    @cached_property
    def breaks(self) -> Array:
        """The samples at which it jumps, or at which its slope changes by more than error control passes unseen."""
        if self.held:
            return np.asarray(self.times[1:][np.diff(self.values) != 0.0])
        return np.asarray(self.times[self._kinks > SMOOTH_KINK]) if len(self.times) > 1 else np.zeros(0)

    @cached_property
    def longest(self) -> float:
        """The longest step in s that still sees all pieces between two breaks."""
        if self.held or len(self.times) < 2 or not ((self._kinks > STRAIGHT) & (self._kinks <= SMOOTH_KINK)).any():
            return math.inf
        return LONGEST_STEP * float(np.diff(self.times).min())

    def __repr__(self) -> str:
        """The same text for the same samples; a study knows its store by it."""
        import hashlib  # it loads a library, which a run without a course need not wait for

        digest = hashlib.sha256(self.times.tobytes() + self.values.tobytes()).hexdigest()[:16]
        return f"InputCourse({len(self.times)} samples, {'held' if self.held else 'linear'}, {digest})"


Pairs = tuple[tuple[int, InputCourse], ...]


class CourseTable:
    """The courses of all inputs that change in a run, as arrays for the loops; ``find_table`` makes them.

    Parameters
    ----------
    pairs : tuple
        The index of each such input among all inputs, and its course.
    """

    def __init__(self, pairs: Pairs) -> None:
        self.pairs, courses = pairs, [course for _, course in pairs]
        self._entries = np.array([k for k, _ in pairs], dtype=np.int64)
        self._starts = np.cumsum([0, *(len(course.times) for course in courses)]).astype(np.int64)
        self._pieces = [
            np.concatenate([getattr(course, name) for course in courses]) for name in ("times", "values", "slopes")
        ]

    @property
    def entries(self) -> frozenset[int]:
        """The indices of the inputs with a course."""
        return frozenset(k for k, _ in self.pairs)

    def breaks(self, t0: float, t1: float) -> Array:
        """The breaks of all courses within a run, and its ends."""
        every = np.concatenate([[t0, t1], *(course.breaks for _, course in self.pairs)])
        return np.unique(every[(every >= t0) & (every <= t1)])

    @property
    def longest(self) -> float:
        """The longest step in s that samples the pieces of all courses."""
        return min(course.longest for _, course in self.pairs)

    def fill(self, courses: CourseMemory, at: npt.NDArray[np.int64], g: Array) -> None:
        """Give a loop the courses; ``at`` and ``g`` are its work arrays: one for each course, and for event functions.

        The loop begins at the first piece of each.
        """
        at[:] = self._starts[:-1]
        courses.count, courses.at, courses.g = len(self.pairs), ints_of(at), floats_of(g)
        courses.entries, courses.starts = ints_of(self._entries), ints_of(self._starts)
        courses.times, courses.values, courses.slopes = map(floats_of, self._pieces)
        shortest = min(float(np.diff(course.times).min(initial=math.inf)) for _, course in self.pairs)
        courses.look = LOOK_SHARE * shortest if math.isfinite(shortest) else LOOK_SHARE


_TABLES: WeakValueDictionary[Pairs, CourseTable] = WeakValueDictionary()
_LOCK = Lock()


def find_table(pairs: Iterable[tuple[int, InputCourse]]) -> CourseTable:
    """The table of some courses; the same one for the same courses, so that what runs share is found again."""
    key = tuple(sorted(pairs, key=lambda pair: pair[0]))
    with _LOCK:
        table = _TABLES.get(key)
        if table is None:
            table = _TABLES[key] = CourseTable(key)
        return table


@dataclass(frozen=True, eq=False)
class VaryingInputs:
    """All inputs of a run of which some have a course; it stands where a vector of inputs does."""

    row: Array
    """The constant ones; those with a course have their first value here."""
    table: CourseTable

    def at(self, t: Any) -> Array:
        """The inputs at a time, or with one row for each of several."""
        rows = np.empty((*np.shape(t), len(self.row)))
        rows[...] = self.row
        for k, course in self.table.pairs:
            rows[..., k] = course.at(t)
        return rows


Inputs = Array | VaryingInputs
"""The inputs of a run: a vector, or some that change."""


def inputs_at(inputs: Inputs, t: Any) -> Array:
    """The inputs at a time, whether they change or not."""
    return inputs.at(t) if isinstance(inputs, VaryingInputs) else inputs


def name_inputs(names: Iterable[str], inputs: Inputs) -> dict[str, Any]:
    """The inputs by name: numbers, and courses of those that change."""
    row, courses = split_inputs(inputs)
    values: list[Any] = row.tolist()
    for k, course in () if courses is None else courses.pairs:
        values[k] = course
    return dict(zip(names, values, strict=True))


def split_inputs(inputs: Inputs) -> tuple[Array, CourseTable | None]:
    """The vector of a run's inputs, and the courses of those that change."""
    return (inputs.row, inputs.table) if isinstance(inputs, VaryingInputs) else (inputs, None)
