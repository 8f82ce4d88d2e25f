"""``dynamics.step``: one step of a stepper that each thread keeps, from any state."""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import ArgumentError
from kinode.kernels.state import State
from kinode.tasks.real_time.stepper import Stepper


class Steppers(threading.local):
    """The stepper of each thread."""

    def __init__(self, dynamics: Dynamics) -> None:
        self.own = SingleStepper(dynamics)


class SingleStepper:
    """Takes single steps of a compiled system."""

    def __init__(self, dynamics: Dynamics) -> None:
        self._stepper = Stepper(dynamics, 1.0, start=dynamics.initial)
        self._arguments, self._changed = dynamics.arguments, False
        self._has_events = dynamics.topology.events is not None
        self._sizes = dynamics.n_q, dynamics.n_u, dynamics.n_z
        self._shapes = tuple((size,) for size in self._sizes)

    def advance(self, state: State, dt: float, p: Any, inputs: Any) -> State:
        """The state a time dt later."""
        q, u, z = state.q, state.u, state.z
        try:
            fits = (q.shape, u.shape, z.shape) == self._shapes
        except AttributeError:  # lists
            q, u, z = (np.array(values, dtype=float) for values in (q, u, z))
            state = State(state.t, q, u, z)
            fits = (q.shape, u.shape, z.shape) == self._shapes
        if not fits:
            expected = ", ".join(map(str, self._sizes))
            raise ArgumentError(f"step: a state with q, u, z of {expected} numbers is expected")
        if dt == 0.0 or not math.isfinite(dt) or (dt < 0.0 and self._has_events):
            raise ArgumentError(f"dt: a positive time in seconds is expected, not {dt!r}")
        stepper = self._stepper
        if p is not None or inputs is not None or self._changed:
            read, self._changed = self._arguments, p is not None or inputs is not None
            stepper.set_values(_row("p", read.read_parameters(p)), _row("inputs", read.read_inputs(inputs)))
        stepper.place(state, dt)
        stepper.step()
        return State(state.t + dt, stepper.q.copy(), stepper.u.copy(), stepper.z.copy())


def _row(name: str, values: Array) -> Array:
    if values.ndim != 1:
        raise ArgumentError(f"step: {name}: one value for each name is expected, not a batch")
    return values


def find_steppers(dynamics: Dynamics) -> Steppers:
    """The steppers of a compiled system, one for each thread."""
    return Steppers(dynamics)
