"""Kernels of derivatives that take weights or directions as arguments.

The gradient of one number by many takes a sweep backward over its operations, and one over those of inverse dynamics:
a few times the operations of the number itself, however many columns there are.  Second derivatives are forward sweeps
over forward sweeps.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from kinode.algebra.scalars import Array, Scalar
from kinode.algebra.trace import Tape, Traced, needed
from kinode.kernels.derivatives.derivative_outputs import Differentiated
from kinode.kernels.derivatives.directions import along, unit_directions
from kinode.kernels.derivatives.request_sizes import count_columns, shape_of
from kinode.kernels.derivatives.tape_sweeps import NO_VALUES, Rates, sweep_backward, sweep_forward
from kinode.kernels.kernel_options import DerivativeOptions
from kinode.kernels.kernel_outputs import direction_sizes, flat, joint_directions
from kinode.model.quantity_names import find_quantity
from kinode.multibody.given import Given
from kinode.multibody.snapshot import Snapshot
from kinode.structure.topology import Topology

RATE_BY_STATE = DerivativeOptions(("rate",), (("coordinates", None), ("u", None), ("z", None)))


def count_results(topology: Topology, options: DerivativeOptions) -> int:
    """The number of entries of all that is differentiated."""
    return sum(prod(shape_of(topology, name)) for name in options.of)


def count_directions(topology: Topology, options: DerivativeOptions) -> int:
    """The number of columns."""
    return sum(count_columns(topology, word) if position is None else 1 for word, position in options.by)


def count_weights(topology: Topology, options: DerivativeOptions) -> int:
    """The argument of a gradient: efforts or accelerations, then a weight for each result."""
    return topology.n_u + count_results(topology, options)


def count_shared(topology: Topology, options: DerivativeOptions) -> int:
    """The argument of a gradient of shared loads: efforts, changes of loads; weights of results, loads, directions."""
    loads, directions = sum(topology.holding.values()), count_joint_directions(topology)
    return count_weights(topology, options) + 2 * loads + directions


def count_joint_directions(topology: Topology) -> int:
    """The number of entries of ``stress_directions`` without the origins of bodies."""
    return sum(direction_sizes(topology))


def count_factors(topology: Topology, options: DerivativeOptions) -> int:
    """The argument of second derivatives: efforts, then the factors of all columns in each of two directions."""
    return topology.n_u + 2 * count_directions(topology, options)


def gradient(snapshot: Snapshot, tape: Tape, x: Array, options: DerivativeOptions) -> list[Scalar]:
    """The derivatives of the weighted sum of all results by each direction, by a sweep backward."""
    found = _sensitivities(Differentiated(snapshot, tape, options), x[snapshot.topology.n_u :])
    directions = unit_directions(snapshot.topology, tape, options)
    return [sum((rate * found.get(index, 0.0) for index, rate in each.items()), 0.0) for each in directions]


def _sensitivities(of: Differentiated, weights: Array) -> Rates:
    """The sensitivities of the weighted sum of all results to inputs, by index."""
    seeds: dict[int, Scalar] = {}
    for result, weight in zip(of.results, weights, strict=True):
        if type(result) is Traced:
            seeds[result.index] = seeds.get(result.index, 0.0) + weight
    found = sweep_backward(of.nodes, seeds, of.values)
    if of.equations is not None:
        own = of.equations.sensitivities([found.get(node.index, 0.0) for node in of.equations.unknowns])
        found = {index: found.get(index, 0.0) + own.get(index, 0.0) for index in found.keys() | own.keys()}
    return found


def shared_gradient(snapshot: Snapshot, tape: Tape, x: Array, options: DerivativeOptions) -> list[Scalar]:
    """The same of quantities whose changes by sharing are given, of loads of joints and of their directions: by each
    direction, then by each change; and behind them the loads."""
    from kinode.kernels.derivatives.shared_quantities import GivenChanges, find_shared

    n, n_loads, sharing = snapshot.topology.n_u, sum(snapshot.topology.holding.values()), options.sharing
    changes = x[n : n + n_loads]
    assert sharing is not None

    def find_results(instant: Snapshot) -> list[Scalar]:
        changed, system = GivenChanges(instant, sharing, changes), instant.system
        named = [v for name in options.of for v in flat(find_shared(instant, changed, find_quantity(system, name)))]
        loads = [v for name in instant.topology.holding for v in instant.holding(name)]
        return named + loads + [v for name in system.joints for v in joint_directions(instant, name)]

    of = Differentiated(snapshot, tape, options, find_results=find_results)
    found, directions = _sensitivities(of, x[n + n_loads :]), unit_directions(snapshot.topology, tape, options)
    directions += [{node.index: 1.0} for node in changes]
    gradient = [sum((rate * found.get(index, 0.0) for index, rate in each.items()), 0.0) for each in directions]
    start = count_results(snapshot.topology, options)
    loads = of.results[start : start + n_loads]
    return gradient + [of.values.get(v.index, v) if type(v) is Traced else v for v in loads]


def count_along(topology: Topology, options: DerivativeOptions) -> int:
    """The argument of derivatives along a direction: efforts, then the factors of all columns."""
    return topology.n_u + count_directions(topology, options)


def derivatives_along(snapshot: Snapshot, tape: Tape, x: Array, options: DerivativeOptions) -> list[Scalar]:
    """The derivatives of all results along one direction that is known when the code runs.

    For one direction in a tree the recursion itself has fewer operations: they grow with the links, not with pairs.
    """
    return _along(snapshot, tape, x[snapshot.topology.n_u :], options)


def rate_along(snapshot: Snapshot, tape: Tape, x: Array, options: object) -> list[Scalar]:
    """The derivative of the rate of the state along one direction of the state, its coordinates as they stand."""
    return _along(snapshot, tape, x, RATE_BY_STATE)


def _along(snapshot: Snapshot, tape: Tape, factors: Array, options: DerivativeOptions) -> list[Scalar]:
    direction = along(snapshot.topology, tape, options, factors)
    of = Differentiated(snapshot, tape, options, through_equations=snapshot.topology.constrained)
    return of.along(direction)


def second_derivatives(snapshot: Snapshot, tape: Tape, x: Array, options: DerivativeOptions) -> list[Scalar]:
    """The derivatives along a second direction of those along a first one."""
    n, count = snapshot.topology.n_u, count_directions(snapshot.topology, options)
    first = along(snapshot.topology, tape, options, x[n : n + count])
    second = along(snapshot.topology, tape, options, x[n + count :])
    rates = Differentiated(snapshot, tape, options).along(first)
    return _rates_of(rates, second)


def _rates_of(results: Sequence[Scalar], direction: dict[int, Scalar]) -> list[Scalar]:
    """The derivatives of nodes along a direction."""
    rates = sweep_forward(needed(results), direction, NO_VALUES)
    return [rates.get(x.index, 0.0) if type(x) is Traced else 0.0 for x in results]


def jacobian_rate(snapshot: Snapshot, options: tuple[str, ...]) -> Array:
    """Angular and linear acceleration of a frame without accelerations of the state."""
    still = Given(u_dot=np.zeros(snapshot.topology.n_u), friction={})
    return np.concatenate(snapshot.again(still).acceleration(snapshot.system.find_frame(options[0])))
