"""Events for a method that takes its steps elsewhere, by the compiled rules of event_handling.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kinode.ode import compiled_loops
from kinode.ode.event_spec import Array, Discrete, Fired
from kinode.ode.integrate import Job, KernelSpec
from kinode.ode.loops import memory_layout as R
from kinode.ode.loops.chatter import note_seen
from kinode.ode.loops.event_roots import BENT, NEAR, SMALL

FIRST, GROWTH = 1e-4, 2.0  # of the run; of the piece before: where roots count that the state does not tell
HALVES = 10  # times that a step is halved where its roots are not clear
State = Callable[[float], Array]  # the state at a time within the last step


class Served:
    """What is discrete along one run; states are whole, with the entries that only events change at the end."""

    def __init__(
        self, kernel: KernelSpec, arguments: tuple[Array, Array], quaternions: Sequence[int],
        span: tuple[float, float], first_tick: int | None,
    ) -> None:  # fmt: skip
        assert kernel.events is not None
        p, inputs = arguments
        self.job = Job(kernel, int(R.SLOPES) + 1, p.size, inputs.size, quaternions)
        self.job.p[: p.size], self.job.inputs[: inputs.size] = p, inputs
        self.job.memory[[R.T, R.T_NEW, R.T_START, R.T_END]] = span[0], span[0], span[0], span[1]
        self.discrete = Discrete(kernel.events, self.job, span[0], first_tick)
        self.job.layout[R.TICKS_SEEN] = 1  # roots are not looked at in the state that a tick finds
        self.n_held = kernel.events.n_held
        self.spec = kernel.events
        self.told = np.array(self.spec.told, dtype=bool)
        self.reach = self.first = FIRST * (span[1] - span[0])  # pieces in which a step is looked at

    @property
    def tick_time(self) -> float:
        """When the next tick is."""
        return float(self.job.memory[R.TICK_TIME])

    @property
    def next_tick(self) -> int:
        """The first tick that is still to come."""
        return int(self.job.counters[R.TICK])

    def fired(self) -> tuple[Fired, ...]:
        """The events so far."""
        self.discrete.collect()
        return tuple(self.discrete.events)

    def see(self, low: float, high: float) -> None:
        """Look at laws of time only as they are between two times."""
        self.job.memory[[R.EARLIEST, R.LATEST]] = low, high
        self.job.counters[R.FIT] = 0

    def _serve(self, what: int) -> int:
        self.job.layout[R.BUDGET] = what
        return compiled_loops.loop("serve")(self.job.layout.ctypes.data)

    def _fires(self, t: float, y: Array, what: int = R.ASK) -> bool:
        self.job.memory[R.T_NEW], self.job.state[R.Y_NEW] = t, y
        return self._serve(what) != 0

    def find(self, t0: float, t1: float, state: State) -> float | None:
        """When the first root fires between two times; piece by piece where the state does not tell the roots.

        The steps themselves are not made shorter for that, the state between their ends being known anyway.
        """
        if not self.spec.owners:
            return None
        self._fires(t0, state(t0))
        found, at = None, t0
        while found is None and at < t1:
            roots = self._roots()
            told = bool(np.isnan(roots[~self.told]).all())
            end = t1 if told else min(t1, at + self.reach)
            self.reach = self.first if told else self.reach * (GROWTH if end < t1 else 1.0)
            found = self._search((at, roots), end, state, HALVES)
            at = end
        if found is None:
            self.job.counters[R.VAIN] = 0
        return found

    def _search(self, start: tuple[float, Array], end: float, state: State, halves: int) -> float | None:
        """The same from a time and the roots there, with halves looked at again as often as is still allowed."""
        seen = [start]
        for after in (0.5 * (start[0] + end), end):
            if seen[-1][0] < after:
                if self._fires(after, state(after)):
                    return self._bisect(seen[-1][0], after, state)
                seen.append((after, self._roots()))
        if not halves or len(seen) < 3 or not self._unclear(*(g for _, g in seen)):
            return None
        self.reach = min(self.reach, end - start[0])
        found = self._search(seen[0], seen[1][0], state, halves - 1)
        return self._search(seen[1], end, state, halves - 1) if found is None else found

    def _roots(self) -> Array:
        """The roots as they were looked at last; nan for those that do not count."""
        counting = [at < 0 or self.job.state[R.Y_NEW][at] == x for at, x in zip(self.spec.modes, self.spec.values)]
        return np.where(counting, self.discrete.g[: len(counting)], np.nan)

    def _unclear(self, a: Array, b: Array, c: Array) -> bool:
        """Whether roots may have been negative between three places where they are positive, or bend too much."""
        with np.errstate(all="ignore"):
            bend, slope = 2.0 * (a - 2.0 * b + c), 4.0 * b - 3.0 * a - c
            low = a - 0.25 * slope * slope / bend < NEAR * np.minimum(np.minimum(a, b), c)
            size = np.maximum(np.maximum(np.maximum(abs(a), abs(b)), abs(c)), SMALL)
            bent = (abs(bend) > 4.0 * BENT * size) & ~self.told
        return bool(((low & (0.0 < -slope) & (-slope < 2.0 * bend)) | bent).any())

    def _bisect(self, before: float, after: float, state: State) -> float:
        most = np.zeros(len(self.spec.values))
        while before < (middle := 0.5 * (before + after)) < after:
            if self._fires(middle, state(middle)):
                after = middle
            else:
                before, most = middle, np.fmax(most, self._roots())
        self._fires(after, state(after), R.MARK)
        note_seen(self.job.memory, float(most[self._roots() <= 0.0].max(initial=0.0)))
        return after

    def change(self, t: float, y: Array, pending: int) -> tuple[Array, str | None]:
        """The state after what happens at once, and why it cannot go on, if it cannot.

        ``pending`` is FIRED for the event that was found, TICKED for a tick, CHANGED for the start of the run.
        """
        job = self.job
        job.memory[R.T], job.state[R.Y] = t, y
        job.counters[R.PENDING] = R.READY if job.counters[R.STARTED] == 0 else pending
        while (code := self._serve(R.CHANGE)) != R.DONE:
            if code == R.LISTED:
                self.discrete.collect()
            elif code == R.CALLED:
                self.discrete.call()
            elif code == R.NOT_FINITE:
                where = int(job.counters[R.FAILED])
                return job.state[R.Y].copy(), f"component {where} of the state is not finite at t = {t:.9g} s"
            else:
                return job.state[R.Y].copy(), self.discrete.describe(code)
        job.counters[R.PENDING] = R.READY
        return np.array(job.state[R.Y]), None

    def stop(self, t1: float) -> float:
        """Where a step ends at the latest."""
        return min(t1, self.tick_time)
