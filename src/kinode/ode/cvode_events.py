"""Finds the first event within a step of an external solver.

The rules are those of the loops (event_triggers.py). The loops repeat a step in which event functions change too much.
An external solver gives the state between the ends of its step, so such a step is searched piece by piece instead.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kinode.ode import compiled_loops
from kinode.ode.kernel_spec import Array
from kinode.ode.loops.instants import note_peak
from kinode.ode.run import LoopRun

FIRST_PIECE = 1e-4  # share of the run: first piece of a search, where event functions need accelerations
GROWTH = 2.0  # of a piece compared with the one before
MAX_HALVINGS = 10  # of a piece in which event functions may hide an event
State = Callable[[float], Array]
"""Gives the state at a time within the last step."""


class EventSearch:
    """Finds the events of a run, step by step."""

    def __init__(self, run: LoopRun) -> None:
        assert run.events is not None
        self.run, self.events, self.memory = run, run.events, run.memory
        self.modes = np.array(run.events.spec.modes, dtype=np.int64)
        self.values = np.array(run.events.spec.values)
        step = run.memory.step
        self.at_start = np.zeros(len(self.modes))
        self.piece = self.first_piece = FIRST_PIECE * (step.t_end - step.t_start)  # s

    def _triggers(self, t: float, y: Array) -> bool:
        """Whether an event function triggers at a state."""
        self.memory.step.t_new, self.run.y_new[:] = t, y
        return compiled_loops.loop("check_events")(self.memory) != 0

    def _active(self) -> Array:
        """The event functions of the last evaluation; nan for those that are not active."""
        active = (self.modes < 0) | (self.run.y_new[self.modes] == self.values)
        return np.where(active, self.events.g[: len(active)], np.nan)

    def find(self, t0: float, t1: float, state: State) -> float | None:
        """The time at which the first function triggers between two times; None if none does."""
        if not len(self.modes):
            return None
        self._triggers(t0, state(t0))
        self.at_start = self.events.g[: len(self.modes)].copy()
        hit, begin = None, t0
        while hit is None and begin < t1:
            cheap = self.memory.events.n_costly == 0
            end = t1 if cheap else min(t1, begin + self.piece)
            self.piece = self.first_piece if cheap else self.piece * (GROWTH if end < t1 else 1.0)
            hit = self._search((begin, self._active()), end, state, MAX_HALVINGS)
            begin = end
        if hit is None:
            self.memory.chatter.stalled = 0
        return hit

    def confirm(self, before: float, after: float, state: State) -> float | None:
        """The first trigger between two times, of an event that bounds found; None if none triggers on the motion."""
        return self._bisect(before, after, state) if self._triggers(after, state(after)) else None

    def _search(self, start: tuple[float, Array], end: float, state: State, halvings: int) -> float | None:
        """The first trigger from ``start`` (time, functions there) to ``end``, with so many halvings left."""
        samples = [start]
        for after in (0.5 * (start[0] + end), end):
            if samples[-1][0] < after:
                if self._triggers(after, state(after)):
                    return self._bisect(samples[-1][0], after, state)
                samples.append((after, self._active()))
        if not halvings or len(samples) < 3 or not self._may_hide_events(samples[0][1], samples[1][1]):
            return None
        self.piece = min(self.piece, end - start[0])
        hit = self._search(samples[0], samples[1][0], state, halvings - 1)
        return self._search(samples[1], end, state, halvings - 1) if hit is None else hit

    def _may_hide_events(self, before: Array, half: Array) -> bool:
        """Whether a function that is positive at three times may be negative between them, or is too curved."""
        self.events.g_before[:], self.events.g_half[:] = before, half
        return compiled_loops.loop("check_between")(self.memory) != 0

    def _bisect(self, before: float, after: float, state: State) -> float:
        """The first time of a trigger between two times, to the last bit."""
        peaks = np.zeros(len(self.modes))
        while before < (middle := 0.5 * (before + after)) < after:
            if self._triggers(middle, state(middle)):
                after = middle
            else:
                before, peaks = middle, np.fmax(peaks, self._active())
        self._triggers(after, state(after))
        note_peak(self.memory, float(peaks[self._active() <= 0.0].max(initial=0.0)))
        return after
