"""Warnings of runs with very many steps, which name the cause; before the run where it is known.

A clock needs a step in each of its periods, and a sine some ten.  The steps that the motion itself needs show only
during the run.
"""

from __future__ import annotations

import math
import warnings

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import LongRunWarning, ModelError
from kinode.ode.method_table import find_stiff_method
from kinode.simulation.call_site import caller_depth
from kinode.simulation.time_events import find_shortest_sine

LONG = 10_000_000
"""Steps after which a run is called long."""
ALLOWED = 100_000_000
"""Steps that a clock may ask of a run."""
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


def warn_long(dynamics: Dynamics, p: Array, inputs: Array, span: tuple[float, float], t: float) -> None:
    """Warn that a run has had very many steps: how far it came, and the fastest clock or expression in it."""
    t0, t1 = span
    message = f"{LONG:.0e} steps were taken until t = {t:.9g} s, of {t0:g} to {t1:g} s"
    clocks = [(period, f"{owner}.period") for period, owner in _clocks(dynamics)]
    period, name = min([*clocks, find_shortest_sine(dynamics, p, inputs, t0, t1)])
    if (t - t0) / period > LONG / STEPS_PER_PERIOD:
        message = f"{message}; {name} changes within {period:g} s, {(t1 - t0) / period:.1e} times in the run"
    else:
        message = f"{message}; no law of time is that fast, so the motion itself is: {_advise(dynamics)}"
    _warn(message)


def _advise(dynamics: Dynamics) -> str:
    """What may make the steps of a fast motion longer: a method for stiff systems, where one serves the model."""
    method = find_stiff_method(dynamics.topology.constrained)
    if method is not None:
        return f'method="{method}" may do with less'
    return "make stiff springs and strong dampers softer, or rigid; methods for stiff systems do not keep loops closed"


def _clocks(dynamics: Dynamics) -> list[tuple[float, str]]:
    """Period in s and component of each clock."""
    events = dynamics.topology.events
    return [(float(entry.sampler.period), entry.owner) for entry in (events.samplers if events is not None else ())]


def _warn(message: str) -> None:
    """Warn at the line of the user's code."""
    warnings.warn(message, LongRunWarning, stacklevel=caller_depth())
