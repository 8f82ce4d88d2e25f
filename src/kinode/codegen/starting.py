"""Where a network begins: initial values of parts that are not just those of one state.

What a spring is wound up by, or the speed of a shaft that is geared to another, follows from the states: those whose
start nobody gives are moved, as little as it takes, until every initial value holds.  One that cannot hold is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.codegen.records import State
from kinode.codegen.wishes import Wishes
from kinode.errors import ModelError
from kinode.model.part import Start
from kinode.network.analysis import Network, single_order

if TYPE_CHECKING:
    from kinode.codegen.dynamics import Dynamics

ROUNDS = 10  # of Newton steps; one does where quantities are linear in states
HOLDS = 1e-9  # relative


def start_network(dynamics: Dynamics, state: State, wishes: Wishes, p: Any, inputs: Any) -> State:
    """The state with the initial values of all parts."""
    network = dynamics.topology.network
    if network is None or not network.starts:
        return state
    direct = {single_order(start.quantity) for start in network.starts}
    said = {(s.variable, s.order) for s in network.states if f"{s.owner}.{s.name}" in wishes.said}
    starts = [start for start in network.starts if single_order(start.quantity) not in said]
    held = direct | said
    places = {c.name: c.index for c in dynamics.coordinates if c.role == "z"}
    loose = [places[f"{s.owner}.{s.name}"] for s in network.states if (s.variable, s.order) not in held]
    resolve = dynamics._resolver(p)
    wanted = np.array([float(resolve(start.value)) for start in starts])

    def miss(z: Array) -> Array:
        there = State(state.t, state.q, state.u, z)
        return _quantities(dynamics, there, starts, p, inputs) - wanted

    z, r = state.z, miss(state.z)
    for _ in range(ROUNDS):
        if _holds(r, wanted).all() or not loose:
            break
        slopes = np.zeros((len(r), len(loose)))
        for k, index in enumerate(loose):
            unit = np.zeros(len(z))
            unit[index] = 1.0
            slopes[:, k] = (miss(z + unit) - miss(z - unit)) / 2
        step = np.zeros(len(z))
        step[loose] = np.linalg.lstsq(slopes, -r, rcond=1e-10)[0]
        z = z + step
        r = miss(z)
    wrong = np.flatnonzero(~_holds(r, wanted))
    if len(wrong):
        k = int(wrong[0])
        raise _refused(network, starts[k], wanted[k], wanted[k] + r[k])
    return State(state.t, state.q, state.u, z)


def _holds(r: Array, wanted: Array) -> Array:
    return np.abs(r) <= HOLDS * (1.0 + np.abs(wanted))


def _quantities(dynamics: Dynamics, state: State, starts: Sequence[Start], p: Any, inputs: Any) -> Array:
    snapshot = dynamics.snapshot(state, p, inputs)
    condensed = snapshot.condensed
    assert condensed is not None
    return np.array([float(condensed.evaluate(start.quantity)) for start in starts])


def _refused(network: Network, start: Start, wanted: float, found: float) -> ModelError:
    """An initial value that contradicts what else is given."""
    order = single_order(start.quantity)
    joint = network.joint_of.get(order[0]) if order else None
    message = f"{wanted:g} cannot be: it follows from the rest of the network, and is {found:.6g} at the start"
    if joint is not None:
        field = "q" if order and order[1] == 0 else "u"
        message = f"{wanted:g} cannot be: the joint {joint[0]} begins with {found:.6g}; give it {field}= there"
    return ModelError(f"{message}; leave it out, or give others that fit", component=start.part, field=start.field)
