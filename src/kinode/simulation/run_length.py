"""Warnings of runs with very many steps, which name the cause; before the run where it is known.

A clock needs a step in each of its periods, and a sine some ten.  The steps that the motion itself needs show only
during the run, and so does a law that chatters.
"""

from __future__ import annotations

import math
import warnings

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import LongRunWarning, ModelError
from kinode.ode.method_table import IntegrationMethod, find_stiff_method
from kinode.ode.runs.input_table import Inputs
from kinode.ode.runs.loop_run import OnLong
from kinode.simulation.call_site import caller_depth
from kinode.simulation.chattering_laws import find_chattering
from kinode.simulation.time_events import find_shortest_sine

LONG = 10_000_000
"""Steps after which a run is called long."""
ALLOWED = 100_000_000
"""Steps that a clock may ask of a run."""
EARLY = 20_000
"""Steps after which a run is looked at for laws that chatter; then after twice as many, and so on."""
EARLY_STIFF = 1000
"""The same for methods of stiff systems, whose steps take longer."""
CHATTER_STEPS = 20
"""Steps of the present pace within which a law that chatters switches."""
CHATTER = 1_000_000
"""Steps that a run would need at its present pace before a law is said to chatter."""
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
        self.due = min(EARLY_STIFF if method.stiff else EARLY, LONG)  # steps until the next look
        self._last = (math.inf, 0)  # time and steps of the last look
        self._begin = math.inf

    def watch(self, steps: int, t0: float, t1: float) -> dict[str, tuple[int, OnLong]]:
        """The argument ``on_long`` of a piece of a run, before which ``steps`` were taken; empty after a warning."""
        if self.warned:
            return {}
        self._begin = min(self._begin, t0)
        if self._last[0] == math.inf:
            self._last = t0, 0

        def look(t: float, y: Array, count: int) -> int | None:
            self._look(t, y, steps + count, t1)
            return None if self.warned else max(1, self.due - steps)

        return {"on_long": (max(1, self.due - steps), look)}

    def _look(self, t: float, y: Array, steps: int, t1: float) -> None:
        pace = abs(t - self._last[0]) / max(1, steps - self._last[1])  # s for a step
        if abs(t1 - t) > CHATTER * pace:
            law = find_chattering(self.dynamics, t, y, self.p, self.inputs, CHATTER_STEPS * pace)
            if law is not None:
                self.warned = True
                _warn(f"{steps:.0e} steps were taken until t = {t:.9g} s, of {self._begin:g} to {t1:g} s; {law}")
                return
        self._last = t, steps
        if steps >= LONG:
            self.warned = True
            warn_long(self.dynamics, self.p, self.inputs, (self._begin, t1), t, self.method)
        self.due = min(max(2 * steps, self.due), LONG) if steps < LONG else 2 * steps


def warn_long(
    dynamics: Dynamics, p: Array, inputs: Inputs, span: tuple[float, float], t: float, method: IntegrationMethod
) -> None:
    """Warn that a run has had very many steps: how far it came, and the fastest clock or expression in it."""
    t0, t1 = span
    message = f"{LONG:.0e} steps were taken until t = {t:.9g} s, of {t0:g} to {t1:g} s"
    clocks = [(period, f"{owner}.period") for period, owner in _clocks(dynamics)]
    period, name = min([*clocks, find_shortest_sine(dynamics, p, inputs, t0, t1)])
    if (t - t0) / period > LONG / STEPS_PER_PERIOD:
        message = f"{message}; {name} changes within {period:g} s, {(t1 - t0) / period:.1e} times in the run"
    else:
        message = f"{message}; no law of time is that fast, so the motion itself is: {_advise(method)}"
    _warn(message)


def _advise(method: IntegrationMethod) -> str:
    """What may make the steps of a fast motion longer: a method for stiff systems, unless the run has one."""
    if not method.stiff:
        return f'method="{find_stiff_method()}" may do with less'
    return "make springs softer, or rigid, or add damping; a looser rtol needs fewer steps too"


def _clocks(dynamics: Dynamics) -> list[tuple[float, str]]:
    """Period in s and component of each clock."""
    events = dynamics.topology.events
    return [(float(entry.sampler.period), entry.owner) for entry in (events.samplers if events is not None else ())]


def _warn(message: str) -> None:
    """Warn at the line of the user's code."""
    warnings.warn(message, LongRunWarning, stacklevel=caller_depth())
