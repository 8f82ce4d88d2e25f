"""When the first event function triggers within a step of a solver beyond the loops.

The rules are those of the loops (event_triggers.py). Such a step is not taken anew where event functions change too
much in it, since the state between its ends is known anyway: it is looked at piece by piece.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kinode.ode import compiled_loops
from kinode.ode.event_spec import Array
from kinode.ode.loop_run import LoopRun
from kinode.ode.loops.chatter import note_seen

FIRST, GROWTH = 1e-4, 2.0  # of the run; of the piece before: where the state does not tell the active functions
HALVES = 10  # times that a step is halved where its event functions are not clear
State = Callable[[float], Array]  # the state at a time within the last step


class EventSearch:
    """Looks for the events of a run in one step after the other."""

    def __init__(self, run: LoopRun) -> None:
        assert run.events is not None
        self.run, self.events, self.memory = run, run.events, run.memory
        self.modes = np.array(run.events.spec.modes, dtype=np.int64)
        self.values = np.array(run.events.spec.values)
        step = run.memory.step
        self.reach = self.first = FIRST * (step.t_end - step.t_start)  # pieces in which a step is looked at

    def _triggers(self, t: float, y: Array) -> bool:
        self.memory.step.t_new, self.run.y_new[:] = t, y
        return compiled_loops.loop("check_events")(self.memory) != 0

    def _active(self) -> Array:
        """The event functions as they were evaluated last; nan for those that are not active."""
        active = (self.modes < 0) | (self.run.y_new[self.modes] == self.values)
        return np.where(active, self.events.g[: len(active)], np.nan)

    def find(self, t0: float, t1: float, state: State) -> float | None:
        """When the first function triggers between two times; None if none does."""
        if not len(self.modes):
            return None
        self._triggers(t0, state(t0))
        hit, at = None, t0
        while hit is None and at < t1:
            told = self.memory.events.n_costly == 0
            end = t1 if told else min(t1, at + self.reach)
            self.reach = self.first if told else self.reach * (GROWTH if end < t1 else 1.0)
            hit = self._search((at, self._active()), end, state, HALVES)
            at = end
        if hit is None:
            self.memory.chatter.vain = 0
        return hit

    def _search(self, start: tuple[float, Array], end: float, state: State, halves: int) -> float | None:
        """The same from a time and the functions there, with halves searched again as often as is still allowed."""
        seen = [start]
        for after in (0.5 * (start[0] + end), end):
            if seen[-1][0] < after:
                if self._triggers(after, state(after)):
                    return self._bisect(seen[-1][0], after, state)
                seen.append((after, self._active()))
        if not halves or len(seen) < 3 or not self._may_hide_events(seen[0][1], seen[1][1]):
            return None
        self.reach = min(self.reach, end - start[0])
        hit = self._search(seen[0], seen[1][0], state, halves - 1)
        return self._search(seen[1], end, state, halves - 1) if hit is None else hit

    def _may_hide_events(self, before: Array, half: Array) -> bool:
        """Whether a function may have been negative between three places where it is positive, or bends too much."""
        self.events.g_before[:], self.events.g_half[:] = before, half
        return compiled_loops.loop("check_between")(self.memory) != 0

    def _bisect(self, before: float, after: float, state: State) -> float:
        most = np.zeros(len(self.modes))
        while before < (middle := 0.5 * (before + after)) < after:
            if self._triggers(middle, state(middle)):
                after = middle
            else:
                before, most = middle, np.fmax(most, self._active())
        self._triggers(after, state(after))
        note_seen(self.memory, float(most[self._active() <= 0.0].max(initial=0.0)))
        return after
