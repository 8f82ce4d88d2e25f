"""Network initialization: initial states from initial values of derived quantities.

The twist of a spring, or the speed of a shaft that is geared to another, is a function of the states.  States without
an initial value of their own get the smallest change with which all initial values of derived quantities hold.  A value
that cannot hold is refused.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinode.algebra.scalars import Array, rate, tidy
from kinode.dynamics.initialization.initial_values import InitialValues
from kinode.errors import ModelError
from kinode.model.base.frames import Resolve
from kinode.model.network.part import PartInitialValue
from kinode.multibody.snapshot import Snapshot
from kinode.structure.evaluation_point import EvaluationPoint
from kinode.structure.network_blocks import Network, single_order
from kinode.structure.network_records import ExpressionOrNumber
from kinode.structure.topology import Topology

NEWTON_STEPS = 10  # at most; one is enough where quantities are linear in the states
VALUE_TOLERANCE = 1e-9  # relative error of an initial value that holds


def start_network(
    topology: Topology, point: EvaluationPoint, requested: InitialValues, resolve: Resolve
) -> EvaluationPoint:
    """The point with the initial values of all network components.

    Quantities that are zero by default (``zero_by_default`` of a component: the twist of a gear) start at zero where
    no initial value determines them.
    """
    network = topology.network
    if network is None:
        return point
    parts = network.parts.items()
    zeros = [network.formula(name, quantity) for name, part in parts for quantity in part.zero_by_default]
    if not network.starts and not zeros:
        return point
    direct = {single_order(start.quantity) for start in network.starts}
    given = {(s.variable, s.order) for s in network.states if f"{s.owner}.{s.name}" in requested.given_states}
    starts = [start for start in network.starts if single_order(start.quantity) not in given]
    fixed = direct | given
    index_of = {c.name: c.index for c in topology.coordinates if c.role == "z"}
    free = [index_of[f"{s.owner}.{s.name}"] for s in network.states if (s.variable, s.order) not in fixed]
    wanted = np.array([float(resolve(start.value)) for start in starts])
    quantities = _NetworkQuantities(topology, point, [start.quantity for start in starts])
    z, r = point.z.copy(), quantities(point.z) - wanted
    for _ in range(NEWTON_STEPS):
        if _holds(r, wanted).all() or not free:
            break
        z[free] += np.linalg.lstsq(quantities.slopes(z, free), -r, rcond=1e-10)[0]
        r = quantities(z) - wanted
    wrong = np.flatnonzero(~_holds(r, wanted))
    if len(wrong):
        k = int(wrong[0])
        raise _conflict(network, starts[k], wanted[k], wanted[k] + r[k])
    defaults = _NetworkQuantities(topology, point, zeros)
    if zeros and free and (r := defaults(z)).any():
        _, sizes, V = np.linalg.svd(quantities.slopes(z, free))
        N = V[int((sizes > 1e-10 * sizes.max(initial=0.0)).sum()) :].T  # steps that do not change the initial values
        z[free] += N @ np.linalg.lstsq(defaults.slopes(z, free) @ N, -r, rcond=1e-10)[0]
    return point.replaced(z=z)


class _NetworkQuantities:
    """Quantities of the network as functions of z."""

    def __init__(self, topology: Topology, point: EvaluationPoint, quantities: Sequence[ExpressionOrNumber]) -> None:
        self.topology, self.point, self.quantities = topology, point, quantities

    def __call__(self, z: Array) -> Array:
        return np.asarray(self._values(z), dtype=float)

    def _values(self, z: Array) -> Array:
        """The quantities, in the kind of number that z has."""
        if not self.quantities:
            return np.zeros(0)
        condensed = Snapshot(self.topology, self.point.replaced(z=z)).condensed
        assert condensed is not None
        return tidy([condensed.evaluate(quantity) for quantity in self.quantities])

    def slopes(self, z: Array, along: Sequence[int]) -> Array:
        """Their derivatives by some entries of z."""
        slopes = np.zeros((len(self.quantities), len(along)))
        for k, index in enumerate(along if self.quantities else ()):
            slopes[:, k] = rate(self._values, z, np.eye(len(z))[index])
        return slopes


def _holds(r: Array, wanted: Array) -> Array:
    """Mask of the initial values that hold; ``r`` are their errors."""
    holds: Array = np.abs(r) <= VALUE_TOLERANCE * (1.0 + np.abs(wanted))
    return holds


def _conflict(network: Network, start: PartInitialValue, wanted: float, actual: float) -> ModelError:
    """The error of an initial value that contradicts the others."""
    order = single_order(start.quantity)
    joint = network.joint_of.get(order[0]) if order else None
    message = f"{wanted:g} cannot be: it follows from the rest of the network, and is {actual:.6g} at the start"
    if joint is not None:
        field = "q" if order and order[1] < network.rows.speed_order(order[0]) else "u"
        message = f"{wanted:g} cannot be: the joint {joint[0]} begins with {actual:.6g}; give it {field}= there"
    return ModelError(f"{message}; leave it out, or give others that fit", component=start.part, field=start.field)
