"""The result of an integrator: states, ending, events and passes of singular positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kinode.ode.endings import Ending, EndKind
from kinode.ode.kernel_spec import Fired
from kinode.ode.loops.run_codes import Lost

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SingularPass:
    """A pass of a singular position, or near it: time in s, distance as a share of the largest one, state."""

    t: float
    share: float
    y: Array


class LostColumns(NamedTuple):
    """From when on columns are no derivatives, why, and the event function to name."""

    time: float  # s
    why: Lost
    function: int


@dataclass(frozen=True)
class OdeSolution:
    """The states ``y[k]`` at the times ``t[k]`` in s, and how the run ended."""

    t: Array
    y: Array
    ending: Ending
    steps: int
    rejected: int
    evaluations: int
    t_end: float
    """Time of the last accepted state; with given ``times`` it may lie beyond the last of them."""
    y_end: Array
    next_step: float
    """The step in s that the method would try next (``first_step`` of a continued run)."""
    passes: tuple[SingularPass, ...] = ()
    """Passes near singular positions, if the method monitors them."""
    events: tuple[Fired, ...] = ()
    """Time, event function, and mode before and after each event."""
    next_tick: int | None = None
    """The first clock tick to come (``first_tick`` of a continued run)."""

    bound_from: float | None = None
    """Time in s from which on stability bounded the steps of an explicit method, if it did."""
    taken_over: float | None = None
    """Time in s at which a method for stiff problems took the run over, if one did."""

    columns: Array | None = None
    """Derivatives of the states, ``columns[k, j]`` by the j-th of what was asked for, if any were."""
    columns_lost: LostColumns | None = None
    """Where they ended, if they did."""

    @property
    def success(self) -> bool:
        """Whether the end was reached."""
        return self.ending.kind is EndKind.DONE
