"""What an integrator gives: the rows that were reached, how the run ended, and what it met."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kinode.ode.ending import Ending, EndKind
from kinode.ode.event_spec import Fired

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SingularPass:
    """A singular position that a run passed, or nearly: when, how near as a share of the farthest, in which state."""

    t: float
    share: float
    y: Array


@dataclass(frozen=True)
class OdeSolution:
    """What was reached: one row of ``y`` for each of the times ``t``, and how it ended."""

    t: Array
    y: Array
    ending: Ending
    steps: int
    rejected: int
    evaluations: int
    t_end: float
    """Time of the last accepted state; with ``times`` given it may lie beyond the last row."""
    y_end: Array
    next_step: float
    """The step that the method would have tried next, to go on with (``first_step``)."""
    passes: tuple[SingularPass, ...] = ()
    """Passes near singular positions, as far as the method looks for them."""
    events: tuple[Fired, ...] = ()
    """Time, event function, and mode before and after each event."""
    next_tick: int | None = None
    """The first tick of clocks that is still to come, to go on with (``first_tick``)."""

    @property
    def success(self) -> bool:
        """Whether the end was reached."""
        return self.ending.kind is EndKind.DONE
