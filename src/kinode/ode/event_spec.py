"""The events of a model for an integrator: kernels and tables of event functions and clocks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Call = Callable[[float, Array, Sequence[int]], None]


class Fired(NamedTuple):
    """An event function that triggered."""

    time: float  # s
    function: int  # index of the event function
    before: float  # value of its mode
    after: float


@dataclass(frozen=True, eq=False)
class EventSpec:
    """Addresses of compiled event functions, reset maps and samples, and their tables.

    The kernels have the signature of a rate. ``functions`` gives all event functions, then their time derivatives.
    ``reset`` and ``sample`` give the whole state; x is 1 for the event function that triggered, or for the clocks that
    tick. The address of a kernel that is not needed is 0.
    """

    owners: tuple[str, ...]
    """The component of each event function."""
    modes: tuple[int, ...]
    """Index in y of the mode of each event function; -1 for none."""
    values: tuple[float, ...]
    """The value of the mode for which the event function is active."""
    of_state: tuple[bool, ...] = ()
    """Whether ``cheap`` gives the event function, without accelerations; it gives 0 for the others."""
    functions: int = 0
    cheap: int = 0
    reset: int = 0
    sample: int = 0
    n_discrete: int = 0
    """Discrete states: entries at the end of y that only events change."""
    ticks: tuple[tuple[int, int], ...] = ()
    """Period and phase of each clock in ticks."""
    tick: Fraction = Fraction(1)
    """Length of a tick in s."""
    modes_depend: bool = True
    """Whether event functions depend on states that clocks change; if not, a tick leaves all modes as they are."""
    in_python: tuple[bool, ...] = ()
    """Whether a clock is a Python function; ``call(t, y, clocks)`` calls some of them, and changes y."""
    call: Call | None = None

    def first_tick(self, t0: float) -> int:
        """The first tick at a time or after it."""
        k = max(0, math.ceil(Fraction(t0) / self.tick))
        while k > 0 and self.time_of(k - 1) >= t0:
            k -= 1
        return k

    def time_of(self, k: int) -> float:
        """The time of a tick in s."""
        return float(k * self.tick.numerator) / float(self.tick.denominator)

    def seconds_after(self, t0: float, k: int) -> float:
        """The time from t0 to a tick in s, exact; zero for the tick whose time is t0 in floats."""
        return 0.0 if self.time_of(k) == t0 else float(k * self.tick - Fraction(t0))

    def due(self, k: int) -> list[int]:
        """The clocks that tick at a tick."""
        return [s for s, (period, phase) in enumerate(self.ticks) if k >= phase and (k - phase) % period == 0]
