"""Network initialization: initial states from initial values of derived quantities.

The twist of a spring, or the speed of a shaft that is geared to another, is a function of the states.  States without
an initial value of their own get the smallest change with which all initial values of derived quantities hold.  A value
that cannot hold is refused.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinode.algebra.scalars import Array, rate, tidy
from kinode.dynamics.starts.initial_values import InitialValues
from kinode.dynamics.starts.start_quantities import StartQuantities
from kinode.errors import ModelError
from kinode.kernels.start_outputs import network_values
from kinode.model.base.frames import Resolve
from kinode.model.network.part import PartInitialValue
from kinode.multibody.snapshot import Snapshot
from kinode.structure.network_blocks import Network
from kinode.structure.network_records import single_order
from kinode.structure.state_layout import EvaluationPoint

NEWTON_STEPS = 10  # at most; one is enough where quantities are linear in the states
VALUE_TOLERANCE = 1e-9  # relative error of an initial value that holds
RANK_TOLERANCE = 1e-10  # singular values below this share of the largest count as zero


def start_network(
    start_quantities: StartQuantities, point: EvaluationPoint, requested: InitialValues, resolve: Resolve
) -> EvaluationPoint:
    """The point with the initial values of all network components.

    Quantities that are zero by default (``zero_by_default`` of a component: the twist of a gear) start at zero where
    no initial value determines them.
    """
    network = start_quantities.topology.network
    if network is None or not (network.starts or start_quantities.n_zero):
        return point
    which, free = start_quantities.plan(requested.given_states)
    quantities = _NetworkQuantities(start_quantities, point, which)
    z = _solve_values(quantities, [network.starts[k] for k in which], free, resolve) if which else point.z
    n_given, n_zero = start_quantities.n_given, start_quantities.n_zero
    if not (n_zero and free):
        return point.replaced(z=z)
    defaults = _NetworkQuantities(start_quantities, point, range(n_given, n_given + n_zero))
    r = defaults(z)
    if r.any():
        z = z.copy()
        _, sizes, V = np.linalg.svd(quantities.slopes(z, free))
        rank = int((sizes > RANK_TOLERANCE * sizes.max(initial=0.0)).sum())
        N = V[rank:].T  # steps that do not change the initial values
        z[free] += N @ np.linalg.lstsq(defaults.slopes(z, free) @ N, -r, rcond=RANK_TOLERANCE)[0]
    return point.replaced(z=z)


def _solve_values(
    quantities: _NetworkQuantities, starts: Sequence[PartInitialValue], free: Sequence[int], resolve: Resolve
) -> Array:
    """z with the smallest change of its free entries with which initial values hold; else an error names one."""
    wanted = np.array([float(resolve(start.value)) for start in starts])
    z = quantities.point.z.copy()
    r = quantities(z) - wanted
    for _ in range(NEWTON_STEPS):
        if _holds(r, wanted).all() or not free:
            break
        z = z.copy()  # the quantities of the last z are kept
        z[free] += np.linalg.lstsq(quantities.slopes(z, free), -r, rcond=RANK_TOLERANCE)[0]
        r = quantities(z) - wanted
    wrong = np.flatnonzero(~_holds(r, wanted))
    if len(wrong):
        k, network = int(wrong[0]), quantities.quantities.topology.network
        assert network is not None
        raise _conflict(network, starts[k], wanted[k], wanted[k] + r[k])
    return z


class _NetworkQuantities:
    """Some quantities of the network as functions of z."""

    def __init__(self, quantities: StartQuantities, point: EvaluationPoint, which: Sequence[int]) -> None:
        self.quantities, self.point, self.which = quantities, point, list(which)

    def __call__(self, z: Array) -> Array:
        if not self.which:
            return np.zeros(0)
        there = self.point if z is self.point.z else self.point.replaced(z=z)
        return self.quantities.network(there)[self.which]

    def _values(self, z: Array) -> Array:
        """The quantities, in the kind of number that z has."""
        snapshot = Snapshot(self.quantities.topology, self.point.replaced(z=z))
        values = network_values(snapshot)
        return tidy([values[k] for k in self.which])

    def slopes(self, z: Array, along: Sequence[int]) -> Array:
        """Their derivatives by some entries of z."""
        slopes = np.zeros((len(self.which), len(along)))
        for k, index in enumerate(along if self.which else ()):
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
