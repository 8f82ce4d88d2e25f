"""The argument ``start=`` of tasks: values by name, a state, what another task found, or a run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import ArgumentError
from kinode.kernels.state import State
from kinode.model.base.fields import short
from kinode.ode.ode_arguments import all_finite, normalized

SAME_VALUE = 1e-9  # difference of a coordinate by name and in the state: more, and they belong to different models


class StateResult(Protocol):
    """What a task found: a state, and its coordinates by name.  An ``Assembly`` is one, and an ``Equilibrium``."""

    @property
    def state(self) -> State: ...
    @property
    def values(self) -> dict[str, float]: ...


def find_start_time(start: Any, t0: float | None) -> float:
    """The time at which a run begins: the one that is given, that of the start, or 0."""
    if t0 is not None or start is None:
        return 0.0 if t0 is None else float(t0)
    states = (getattr(start, "end", None), getattr(start, "state", None), start)
    return next((float(state.t) for state in states if isinstance(state, State)), 0.0)


def find_start(dynamics: Dynamics, start: Any, t0: float | None, p: Array, inputs: Array) -> State:
    """The start state.

    ``start`` is None (the model's own), a mapping of names to values that replace the model's, a ``State``, the result
    of ``kn.assemble`` or ``kn.equilibrium``, or a run, whose end it continues.
    """
    if hasattr(start, "end") and isinstance(start.end, State):
        t0 = start.end.t if t0 is None else t0
        start = start.dynamics.values(start.end)
    elif isinstance(getattr(start, "state", None), State):
        _check_model(dynamics, start)
        start = start.state
    if isinstance(start, State):
        state = start if t0 is None else replace(start, t=float(t0))
        sizes = tuple(len(part) for part in (state.q, state.u, state.z))
        if sizes != (dynamics.n_q, dynamics.n_u, dynamics.n_z):
            expected = f"{dynamics.n_q}, {dynamics.n_u}, {dynamics.n_z}"
            raise ArgumentError(f"start: q, u, z of {expected} numbers are expected, not {', '.join(map(str, sizes))}")
    elif start is None or isinstance(start, Mapping):
        state = dynamics.state(start, t=0.0 if t0 is None else float(t0), p=p, inputs=inputs)
    else:
        expected = "values by name, a State, an assembly, an equilibrium or a run are expected"
        raise ArgumentError(f"start: {expected}, not {short(start)}")
    y = state.y
    if not math.isfinite(state.t) or not all_finite(y):
        bad = [c.name for c, value in zip(dynamics.coordinates, y) if not math.isfinite(value)] or ["t"]
        raise ArgumentError(f"start: {bad[0]} is not finite")
    events = dynamics.arguments.topology.events
    if events is not None:
        events.check_modes(state.z)
    layout = dynamics.arguments.topology.layout
    return State(float(state.t), *layout.split(normalized(y, layout.quaternions)))


def _check_model(dynamics: Dynamics, result: StateResult) -> None:
    """Refuse the result of another model: its numbers would be taken for other coordinates."""
    known = {c.name: float(result.state.q[c.index]) for c in dynamics.coordinates if c.role == "q" and _has(result, c)}
    names = [c.name for c in dynamics.coordinates if c.role == "q"]
    alien = [x for x in names if x not in known or x not in result.values]
    alien += [x for x in names if x not in alien and abs(known[x] - result.values[x]) > SAME_VALUE]
    if alien or len(names) != len(result.state.q):
        what = f"it has no {alien[0]}" if alien and alien[0] not in result.values else "its coordinates are others"
        raise ArgumentError(f"start: it was found for another model: {what}; give its values by name")


def _has(result: StateResult, coordinate: Any) -> bool:
    return bool(coordinate.index < len(result.state.q))
