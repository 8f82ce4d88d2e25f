"""Warnings of runs with very many steps, which name the cause; before the run where it is known.

A clock needs a step in each of its periods, and a sine some ten.  The steps that the motion itself needs show only
during the run, and so does a law that chatters.  A run that would never reach its end is ended: one whose steps become
shorter and shorter, as of a body that is driven ever faster, or stay so short that it would need many times as many as
a run may have.
"""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import LongRunWarning, ModelError, caller_depth
from kinode.ode.endings import Ending, EndKind
from kinode.ode.input_table import Inputs
from kinode.ode.method_table import IntegrationMethod, find_stiff_method
from kinode.ode.run import OnLong
from kinode.simulation.time_events import find_shortest_sine

if TYPE_CHECKING:
    from kinode.simulation.failures import ChatteringLaw

LONG = 10_000_000
"""Steps after which a run is called long."""
ALLOWED = 100_000_000
"""Steps that a run may have (ode/integrate.py), and that a clock may ask of it."""
EARLY = 20_000
"""Steps after which a run is looked at for laws that chatter; then after twice as many, and so on."""
EARLY_STIFF = 1000
"""The same for methods of stiff systems, whose steps take longer."""
CHATTER_STEPS = 20
"""Steps of the present pace within which a law that chatters switches."""
CHATTER = 1_000_000
"""Steps that a run would need at its present pace before a law is said to chatter."""
HOPELESS = 5000
"""First looks' steps that a run may still need at its present pace, where that falls as fast as ever."""
FALLING = 0.9
"""The number of steps grows exponentially where its relative growth, in 1/s, does not fall below that share of..."""
FALLING_LOOKS = 3
"""... what it was so many looks before."""
NEVER = 10 * ALLOWED
"""Steps to come, by the pace of the last looks, with which a run would never reach its end where no cause is known that
lasts, as a sine; else ALLOWED.  No pace tells that a fast vibration fades, as long as it is large: without such a cause
LONG steps are taken before, or fewer where more than NEVER are to come, in proportion."""
STEADY_LOOKS = 5
"""The looks that tell the pace, and how fast it changes: 16 times as many steps at the last as at the first."""
EVENTS_SHARE = 0.1
"""Share of the steps: so many events make these the cause."""
STEPS_PER_PERIOD = 1000.0
"""Most steps that one period explains: an expression or clock that is slower is not the cause."""


def check_lengths(dynamics: Dynamics, step: float | None, max_step: float, t0: float, t1: float) -> None:
    """Refuse clocks that tick more often than a run may have steps; warn of settings that need very many."""
    for name, length in (("step", step or math.inf), ("max_step", max_step)):
        if (t1 - t0) / length > LONG:
            _warn(f"{name}: {length:g} s are {(t1 - t0) / length:.1e} steps from {t0:g} to {t1:g} s")
    for period, owner in _clocks(dynamics):
        ticks = (t1 - t0) / period
        ticking = f"ticks every {period:g} s, {ticks:.1e} times from {t0:g} to {t1:g} s"
        if ticks > ALLOWED:
            message = f"{ticking}, and a run may have {ALLOWED:.0e} steps: take a longer period, or a shorter run"
            raise ModelError(message, component=owner, field="period")
        if ticks > LONG:
            _warn(f"{owner}.period: {ticking}: the run takes at least as many steps")


class LengthWatch:
    """Looks at a run from time to time while it goes on, and warns once of a law that chatters, or of its length."""

    def __init__(self, dynamics: Dynamics, p: Array, inputs: Inputs, method: IntegrationMethod) -> None:
        self.dynamics, self.p, self.inputs, self.method = dynamics, p, inputs, method
        self.warned = False
        self.first = EARLY_STIFF if method.stiff else EARLY
        self.due = min(self.first, LONG)  # steps until the next look
        self._last = (math.inf, 0)  # time and steps of the last look
        self._growth: list[float] = []  # of the number of steps between looks, relative, in 1/s
        self._paces: list[tuple[float, float]] = []  # the middle of the time between looks, and s for a step there
        self._begin = math.inf
        self._eventful = False  # whether events take the steps

    def watch(self, steps: int, t0: float, t1: float) -> dict[str, tuple[int, OnLong]]:
        """The argument ``on_long`` of a piece of a run, before which ``steps`` were taken."""
        self._begin = min(self._begin, t0)
        if self._last[0] == math.inf:
            self._last = t0, 0

        def look(t: float, y: Array, count: int, events: int) -> int | Ending:
            self._eventful = events > EVENTS_SHARE * count
            ending = self._look(t, y, steps + count, t1)
            return max(1, self.due - steps) if ending is None else ending

        return {"on_long": (max(1, self.due - steps), look)}

    def _look(self, t: float, y: Array, steps: int, t1: float) -> Ending | None:
        """Warn of the run where that is due; the ending of one that would never reach its end."""
        last, before = self._last
        pace = abs(t - last) / max(1, steps - before)  # s for a step
        self._last, self.due = (t, steps), min(max(2 * steps, self.due), LONG) if steps < LONG else 2 * steps
        self._growth.append(math.log(steps / before) / abs(t - last) if before and t != last else 0.0)
        self._paces.append((0.5 * (last + t), pace))
        to_come = self._find_steps_to_come(t, t1)
        grows = self._grows() and abs(t1 - t) > HOPELESS * self.first * pace
        if grows or (to_come > ALLOWED and self._is_lasting(t, y, t1, steps, to_come, pace)):
            message = f"the run would never reach its end at {t1:g} s: {steps:,} steps were taken until t = {t:.9g} s"
            rest = f"their number doubles every {math.log(2.0) / self._growth[-1]:.2g} s" if grows else ""
            message = f"{message}, and {rest or f'some {to_come:.0e} more would follow'}"
            return Ending(EndKind.TOO_MANY_STEPS, t, message)
        if self.warned:
            return None
        if abs(t1 - t) > CHATTER * pace:
            law = self._find_chattering(t, y, pace)
            if law is not None:
                self.warned = True
                _warn(f"{steps:.0e} steps were taken until t = {t:.9g} s, of {self._begin:g} to {t1:g} s; {law}")
                return None
        if steps >= LONG or to_come > ALLOWED:
            self.warned = True
            span = (self._begin, t1)
            warn_long(self.dynamics, self.p, self.inputs, span, (t, steps, to_come), self.method)
        return None

    def _is_lasting(self, t: float, y: Array, t1: float, steps: int, to_come: float, pace: float) -> bool:
        """Whether steps as short as those of the last looks may be expected for the rest of the run."""
        if self._eventful or (to_come > NEVER and steps * to_come >= LONG * NEVER):
            return True
        if find_fast_law(self.dynamics, self.p, self.inputs, (self._begin, t1), t, steps) is not None:
            return True
        return self._find_chattering(t, y, pace) is not None

    def _find_chattering(self, t: float, y: Array, pace: float) -> ChatteringLaw | None:
        """The law that chatters at a state, if one does."""
        from kinode.simulation.failures import find_chattering  # few runs are so long

        return find_chattering(self.dynamics, t, y, self.p, self.inputs, CHATTER_STEPS * pace)

    def _find_steps_to_come(self, t: float, t1: float) -> float:
        """How many steps the rest of the run takes if their length goes on to change as over the last looks.

        A length that grows does so exponentially: a vibration that dies out soon needs few steps more.
        """
        if len(self._paces) < STEADY_LOOKS:
            return 0.0
        (early, before), (late, pace) = self._paces[-STEADY_LOOKS], self._paces[-1]
        left = abs(t1 - t)
        if pace == 0.0 or early == late:
            return math.inf
        growth = math.log(pace / before) / abs(late - early) if before else 0.0  # 1/s
        return left / pace if growth <= 0.0 else -math.expm1(-growth * left) / growth / pace

    def _grows(self) -> bool:
        """Whether the number of steps has grown exponentially with time, or faster, over the last looks."""
        last = self._growth[-FALLING_LOOKS:]
        return len(last) == FALLING_LOOKS and min(last) >= FALLING * max(last[0], 1e-300)


def warn_long(
    dynamics: Dynamics, p: Array, inputs: Inputs, span: tuple[float, float], reached: tuple[float, int, float],
    method: IntegrationMethod,
) -> None:  # fmt: skip
    """Warn that a run has had, or will have, very many steps: how far it came, and what is so fast in it.

    ``reached`` is the time, the steps until then, and the steps to come as far as they are known.
    """
    (t0, t1), (t, steps, to_come) = span, reached
    message = f"{steps:.0e} steps were taken until t = {t:.9g} s, of {t0:g} to {t1:g} s"
    if to_come > ALLOWED:
        message = f"{message}, and some {to_come:.0e} more would follow, where a run may have {ALLOWED:.0e}"
    fast = find_fast_law(dynamics, p, inputs, span, t, steps)
    _warn(f"{message}; {fast or f'no law of time is that fast, so the motion itself is: {advise(method)}'}")


def find_fast_law(
    dynamics: Dynamics, p: Array, inputs: Inputs, span: tuple[float, float], t: float, steps: int
) -> str | None:
    """The clock or expression of time that explains the steps that a run took until a time, in words."""
    t0, t1 = span
    clocks = [(period, f"{owner}.period") for period, owner in _clocks(dynamics)]
    period, name = min([*clocks, find_shortest_sine(dynamics, p, inputs, t0, t1)])
    if abs(t - t0) / period <= steps / STEPS_PER_PERIOD:
        return None
    return f"{name} changes within {period:g} s, {abs(t1 - t0) / period:.1e} times in the run"


def advise(method: IntegrationMethod) -> str:
    """What may make the steps of a fast motion longer: a method for stiff systems, unless the run has one."""
    if not method.stiff and method.then is None:
        return f'method="{find_stiff_method()}" may do with less'
    return "make springs softer, or rigid, or add damping; a looser rtol needs fewer steps too"


def _clocks(dynamics: Dynamics) -> list[tuple[float, str]]:
    """Period in s and component of each clock."""
    events = dynamics.topology.events
    return [(float(entry.sampler.period), entry.owner) for entry in (events.samplers if events is not None else ())]


def _warn(message: str) -> None:
    """Warn at the line of the user's code."""
    warnings.warn(message, LongRunWarning, stacklevel=caller_depth())
