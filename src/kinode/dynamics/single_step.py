"""One step of the classical Runge-Kutta method, without error control."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.errors import ArgumentError
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.state import State

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics


def take_step(dynamics: Dynamics, state: State, dt: float, p: Any, inputs: Any) -> State:
    """The state a time dt later; refused where events could lie within the step."""
    topology = dynamics.topology
    if (table := topology.events) is not None:
        owner = (*table.owners, *(entry.owner for entry in table.samplers))[0]
        message = "changes at once, which a single step does not see; simulate until t + dt with start=state instead"
        raise ArgumentError(f"step: {owner} {message}")
    t, y = state.t, state.y
    k1 = dynamics.rate(t, y, p=p, inputs=inputs)
    k2 = dynamics.rate(t + dt / 2, y + dt / 2 * k1, p=p, inputs=inputs)
    k3 = dynamics.rate(t + dt / 2, y + dt / 2 * k2, p=p, inputs=inputs)
    k4 = dynamics.rate(t + dt, y + dt * k3, p=p, inputs=inputs)
    y = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    if topology.constrained:
        y = dynamics.kernels.call(Kernel("projection"), dynamics.point_of(t + dt, y, p, inputs))[:-1]
    for start in topology.layout.quaternions:
        y[start : start + 4] /= np.linalg.norm(y[start : start + 4])
    return State(t + dt, *topology.layout.split(y))
