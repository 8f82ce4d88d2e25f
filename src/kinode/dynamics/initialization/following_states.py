"""Where states begin that follow others: the output of a filter where its input is, and the like.

Components say so by ``settled``; what a start gives by name stays.  One may follow another, so that the values are
found in rounds until nothing changes; a ring of followers has no such place and keeps what the rounds leave.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.kernels.state import State
from kinode.model.base.fields import Component

if TYPE_CHECKING:
    from kinode.dynamics.compile import Dynamics

ROUNDS = 50


def settle(dynamics: Dynamics, state: State, said: Collection[str], p: Any, inputs: Any) -> State:
    """The state with the followers where they settle; those in ``said`` stay as they are."""
    topology, system = dynamics.topology, dynamics.system
    owners = dict.fromkeys((*topology.z_of, *topology.layout.discrete_of))
    followers = [name for name in owners if name in system and type(system[name]).settled is not Component.settled]
    places = {c.name: c.index for c in topology.coordinates if c.role == "z" and c.name not in said}
    for _ in range(ROUNDS if followers else 0):
        scene, z = dynamics.snapshot(state, p, inputs), state.z.copy()
        for name in followers:
            for part, value in system[name].settled(scene).items():
                if f"{name}.{part}" in places:
                    z[places[f"{name}.{part}"]] = float(value)
        if np.array_equal(z, state.z):
            break
        state = State(state.t, state.q, state.u, z)
    return state
