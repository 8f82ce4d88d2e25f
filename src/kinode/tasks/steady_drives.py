"""Drives that turn at a given speed while the rest of a system is in equilibrium.

The coordinates of a joint with ``speed=`` are given, not searched for: they stay where the search begins.  With a speed
of zero the joint holds like a locked one.  If it turns evenly, an equilibrium of the other joints is a steady motion,
such as that of a governor, provided that nothing depends on how far the drive has turned.  That is checked.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.errors import ModelError, caller_depth
from kinode.kernels.state import State

CHECKED_TRAVEL = (0.7, 1.9, 3.3, 5.1)  # rad or m, on no symmetry of a machine
TRAVEL_STEPS = 32  # Runge-Kutta steps to each of them, for joints that turn about several axes
STEADY_TOLERANCE = 1e-7  # change of a force, relative to the force scale, that counts as none
CLOSED_TOLERANCE = 1e-7  # closure error after the travel, relative to the size of the mechanism

Forces = Callable[[State], Array]


class SteadyDrives:
    """The joints of a system whose speeds are prescribed, at one time.

    Parameters
    ----------
    dynamics, state, p, inputs
        The system, and where its drives are looked at.

    Attributes
    ----------
    states : frozenset of int
        Indices in z of their coordinates.
    speeds : dict
        The speeds that are not zero, by name.
    """

    def __init__(self, dynamics: Dynamics, state: State, p: Any, inputs: Any) -> None:
        self.dynamics, self.p, self.inputs = dynamics, p, inputs
        z_of = {name: where for name, where in dynamics.topology.z_of.items() if name in dynamics.system.joints}
        self.states = frozenset(k for where in z_of.values() for k in range(where.start, where.stop))
        self.speeds: dict[str, float] = {}
        snapshot = dynamics.snapshot(state, p, inputs) if z_of else None
        for name in z_of:
            assert snapshot is not None
            _, u, u_dot = snapshot.joint_state(name)
            joint = dynamics.system.joints[name]
            if u_dot is not None and np.any(np.asarray(u_dot, dtype=float) != 0.0):
                raise ModelError("its speed changes: the system has no steady state", component=name, field="speed")
            names = [f"{name}.u"] if joint.n_u == 1 else [f"{name}.u.{word}" for word, _ in joint.coordinates]
            self.speeds |= {key: float(speed) for key, speed in zip(names, u, strict=True) if float(speed) != 0.0}

    def check(self, state: State, forces: Forces, scale: float) -> None:
        """Refuse an equilibrium that would not last while the drives turn on.

        ``forces`` gives the forces along all tree coordinates, without those of loops; ``scale`` is their usual size.
        """
        if not self.speeds:
            return
        owner = max(self.speeds, key=lambda name: abs(self.speeds[name])).partition(".u")[0]
        if not self.dynamics.n_u:
            raise ModelError("is driven at a speed, and no other joint is left to come to rest", component=owner)
        for speed in {abs(x) for x in self.speeds.values()}:
            for travel in CHECKED_TRAVEL:
                there = self._advanced(state, travel / speed)
                worst = self._find_change(state, there, forces, scale)
                if worst is not None:
                    message = f"is driven at a speed, and what acts on {worst} changes as it turns"
                    raise ModelError(f"{message}: there is no steady state", component=owner)

    def _find_change(self, state: State, there: State, forces: Forces, scale: float) -> str | None:
        """The joint on which the load is another at another state, or whose loop opens; None if all is the same."""
        dynamics = self.dynamics
        motions = np.eye(dynamics.n_u)
        if dynamics.topology.constrained:
            loops = dynamics.loops
            c, G, _ = loops.evaluate(dynamics.point(there, self.p, self.inputs))
            if abs(c).max(initial=0.0) > CLOSED_TOLERANCE:
                return "its loop"
            _, sizes, V = np.linalg.svd(G)
            motions = V[int((sizes > 1e-9 * sizes.max(initial=0.0)).sum()) :].T
        change = motions @ (motions.T @ (forces(there) - forces(state)))
        if not len(change) or abs(change).max() <= STEADY_TOLERANCE * scale:
            return None
        speeds = [c.joint for c in dynamics.coordinates if c.role == "u"]
        return speeds[int(np.argmax(abs(change)))]

    def _advanced(self, state: State, duration: float) -> State:
        """The state after the drives have turned on for a time in s, while all else stays as it is."""
        here, driven = state.z.copy(), sorted(self.states)
        h = duration / TRAVEL_STEPS

        def rate(z: Array) -> Array:
            y = replace(state, z=z).y
            y_dot = self.dynamics.rate(state.t, y, p=self.p, inputs=self.inputs)
            z_dot = np.zeros_like(z)
            z_dot[driven] = self.dynamics.topology.layout.split(y_dot)[2][driven]
            return z_dot

        for _ in range(TRAVEL_STEPS):
            k1 = rate(here)
            k2 = rate(here + 0.5 * h * k1)
            k3 = rate(here + 0.5 * h * k2)
            here = here + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + rate(here + h * k3))
        return replace(state, z=here)


def note_moving(dynamics: Dynamics, state: State, p: Any, inputs: Any) -> tuple[str, ...]:
    """The joints that a ``motion=`` moves at the time of a state, by a speed or an acceleration; warns of them."""
    driven = [name for name, joint in dynamics.system.joints.items() if joint.motion is not None]
    snapshot = dynamics.snapshot(state, p, inputs) if driven else None
    moving = []
    for name in driven:
        assert snapshot is not None
        _, *rates = snapshot.joint_state(name)
        if any(x is not None and np.any(np.asarray(x, dtype=float) != 0.0) for x in rates):
            moving.append(name)
    if moving:
        message = (
            f"equilibrium: at t = {state.t:g} s {' and '.join(moving)} moves by its motion=; the balance is that of "
            "this instant and does not last; speed= gives a steady motion, t0= another time"
        )
        warnings.warn(message, stacklevel=caller_depth())
    return tuple(moving)
