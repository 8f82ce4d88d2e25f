"""What happens at instants, as an integrator takes it: kernels and tables of event functions and clocks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Call = Callable[[float, Array, Sequence[int]], None]
Fired = tuple[float, int, float, float]  # when, which event function, its mode before and after


@dataclass(frozen=True, eq=False)
class EventSpec:
    """Compiled event functions, reset maps and samples with the signature of a rate, and what they belong to.

    ``functions`` gives all event functions and behind them their rates; ``reset`` and ``sample`` give the whole state,
    x being 1 for the event function that triggered, or for the clocks that tick. A kernel that is not needed is 0.
    """

    owners: tuple[str, ...]
    """The component of each event function."""
    modes: tuple[int, ...]
    """Where in y the mode of each event function is; -1 for none."""
    values: tuple[float, ...]
    """The value of the mode for which the event function is active."""
    of_state: tuple[bool, ...] = ()
    """Those that ``cheap`` gives, the others being 0: they need no accelerations."""
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
    """Whether event functions depend on what clocks change: else a tick leaves all modes as they are."""
    in_python: tuple[bool, ...] = ()
    """The clocks that are called, by ``call(t, y, which)``, which changes y."""
    call: Call | None = None

    def first_tick(self, t0: float) -> int:
        """The first tick that is not before a time."""
        k = max(0, math.ceil(Fraction(t0) / self.tick))
        while k > 0 and self.time_of(k - 1) >= t0:
            k -= 1
        return k

    def time_of(self, k: int) -> float:
        """When a tick is."""
        return float(k * self.tick.numerator) / float(self.tick.denominator)

    def due(self, k: int) -> list[int]:
        """The clocks that a tick belongs to."""
        return [s for s, (period, phase) in enumerate(self.ticks) if k >= phase and (k - phase) % period == 0]
