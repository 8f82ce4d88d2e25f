"""Network initialization: initial states from initial values of derived quantities.

The twist of a spring, or the speed of a shaft that is geared to another, follows from the states.  States without an
initial value of their own are moved as little as it takes until every initial value holds.  A value that cannot hold
is refused.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.initialization.initial_values import InitialValues
from kinode.errors import ModelError
from kinode.model.base.frames import Resolve
from kinode.model.network.part import PartInitialValue
from kinode.multibody.snapshot import Snapshot
from kinode.structure.evaluation_point import EvaluationPoint
from kinode.structure.network_blocks import Network, single_order
from kinode.structure.network_equations import ExpressionOrNumber
from kinode.structure.topology import Topology

ROUNDS = 10  # of Newton steps; one does where quantities are linear in states
HOLDS = 1e-9  # relative


def start_network(
    topology: Topology, point: EvaluationPoint, wishes: InitialValues, resolve: Resolve
) -> EvaluationPoint:
    """The point with the initial values of all parts.

    Quantities that are zero by default (``at_ease`` of a part: the twist of a gear) start at zero where nothing else
    decides about them.
    """
    network = topology.network
    if network is None:
        return point
    parts = network.parts.items()
    eases = [network.formula(name, quantity) for name, part in parts for quantity in part.zero_by_default]
    if not network.starts and not eases:
        return point
    direct = {single_order(start.quantity) for start in network.starts}
    said = {(s.variable, s.order) for s in network.states if f"{s.owner}.{s.name}" in wishes.said}
    starts = [start for start in network.starts if single_order(start.quantity) not in said]
    held = direct | said
    places = {c.name: c.index for c in topology.coordinates if c.role == "z"}
    loose = [places[f"{s.owner}.{s.name}"] for s in network.states if (s.variable, s.order) not in held]
    wanted = np.array([float(resolve(start.value)) for start in starts])
    given = _NetworkQuantities(topology, point, [start.quantity for start in starts])
    z, r = point.z.copy(), given(point.z) - wanted
    for _ in range(ROUNDS):
        if _holds(r, wanted).all() or not loose:
            break
        z[loose] += np.linalg.lstsq(given.slopes(z, loose), -r, rcond=1e-10)[0]
        r = given(z) - wanted
    wrong = np.flatnonzero(~_holds(r, wanted))
    if len(wrong):
        k = int(wrong[0])
        raise _refused(network, starts[k], wanted[k], wanted[k] + r[k])
    if eases and loose:
        ease = _NetworkQuantities(topology, point, eases)
        _, sizes, V = np.linalg.svd(given.slopes(z, loose))
        N = V[int((sizes > 1e-10 * sizes.max(initial=0.0)).sum()) :].T  # what leaves the initial values as they are
        z[loose] += N @ np.linalg.lstsq(ease.slopes(z, loose) @ N, -ease(z), rcond=1e-10)[0]
    return point.replaced(z=z)


class _NetworkQuantities:
    """Quantities of the network as functions of z."""

    def __init__(self, topology: Topology, point: EvaluationPoint, quantities: Sequence[ExpressionOrNumber]) -> None:
        self.topology, self.point, self.quantities = topology, point, quantities

    def __call__(self, z: Array) -> Array:
        condensed = Snapshot(self.topology, self.point.replaced(z=z)).condensed
        assert condensed is not None
        return np.array([float(condensed.evaluate(quantity)) for quantity in self.quantities])

    def slopes(self, z: Array, along: Sequence[int]) -> Array:
        """Their changes for unit changes of some states: exact where they are linear."""
        found = np.zeros((len(self.quantities), len(along)))
        for k, index in enumerate(along):
            unit = np.eye(len(z))[index]
            found[:, k] = (self(z + unit) - self(z - unit)) / 2
        return found


def _holds(r: Array, wanted: Array) -> Array:
    found: Array = np.abs(r) <= HOLDS * (1.0 + np.abs(wanted))
    return found


def _refused(network: Network, start: PartInitialValue, wanted: float, found: float) -> ModelError:
    """An initial value that contradicts what else is given."""
    order = single_order(start.quantity)
    joint = network.joint_of.get(order[0]) if order else None
    message = f"{wanted:g} cannot be: it follows from the rest of the network, and is {found:.6g} at the start"
    if joint is not None:
        field = "q" if order and order[1] == 0 else "u"
        message = f"{wanted:g} cannot be: the joint {joint[0]} begins with {found:.6g}; give it {field}= there"
    return ModelError(f"{message}; leave it out, or give others that fit", component=start.part, field=start.field)
