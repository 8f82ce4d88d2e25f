"""The kernels of derivatives, as straight-line code: a matrix, columns along directions, the gradient of one number.

What can be differentiated is, besides every quantity by name:

    u_dot     accelerations                        q_dot, z_dot   rates of coordinates and of other states
    rate      rate of the state [q, u, z]          bias           h in M u_dot + h = effort
    effort    inverse dynamics, for given u_dot    energy         kinetic energy, and all other energy
    closure_rates  rates of all constraint rows

Directions are unit changes of state, parameters, inputs and efforts, as rates of inputs of a tape.  ``q`` counts small
motions along the speeds, delta q = N(q) delta, so that a quaternion has three columns (in the axes of the child) and no
column leaves the unit sphere; ``coordinates`` are the entries of q as they stand.

A matrix has a row for each result and a column for each direction.  Each column is a forward sweep over the tape
(``tape_sweeps.py``).  Results that depend on accelerations are differentiated through the equations of motion
(``motion_equations.py``).  Columns are written one after the other, so that a result is stored soon after its operands
are computed.  The gradient of one number by many takes a sweep backward over its operations, and one over those of
inverse dynamics: a few times the operations of the number itself, however many columns there are.  Second derivatives
are forward sweeps over forward sweeps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import prod

import numpy as np

from kinode.algebra.scalars import Array, Scalar, is_zero
from kinode.algebra.trace import Tape, Traced, needed
from kinode.kernels import kernel_outputs
from kinode.kernels.derivatives.derivative_words import count_columns, shape_of
from kinode.kernels.derivatives.motion_equations import UNKNOWNS, MotionEquations, find_equations
from kinode.kernels.derivatives.tape_sweeps import NO_VALUES, sweep_backward, sweep_forward
from kinode.kernels.kernel_options import DerivativeOptions, SharedNames, SharingOptions
from kinode.kernels.kernel_outputs import direction_sizes, flat, joint_directions
from kinode.model.quantities import QuantityName, find_quantity
from kinode.multibody import loop_constraints
from kinode.multibody.given import Given
from kinode.multibody.snapshot import Snapshot
from kinode.structure.topology import Topology

# The words, with the array of the tape that each stands for.
ARRAYS = {"q": "q", "coordinates": "q", "u": "u", "z": "z", "t": "t", "p": "p", "inputs": "inputs", "x": "x"}
Direction = dict[int, Scalar]
"""Rates of inputs of a tape by the index of their nodes."""


def unit_directions(topology: Topology, tape: Tape, options: DerivativeOptions) -> list[Direction]:
    """A direction for each column of the result.  Discrete states do not change: their directions are empty."""
    directions: list[Direction] = []
    for word, position in options.by:
        positions = range(count_columns(topology, word)) if position is None else (position,)
        if word == "q":
            tangents = tangent_directions(topology, tape)
            directions += [tangents[k] for k in positions]
        else:
            fixed = _first_discrete(topology) if word == "z" else None
            nodes = (tape.input(ARRAYS[word], k) for k in positions)
            directions += [{} if fixed is not None and node.args[1] >= fixed else {node.index: 1.0} for node in nodes]
    return directions


def _first_discrete(topology: Topology) -> int:
    """Where the discrete states begin in z."""
    return topology.n_z - (topology.events.n_held if topology.events else 0)


def tangent_directions(topology: Topology, tape: Tape) -> list[Direction]:
    """For each speed, the rates of the coordinates while it is one and all others are zero."""
    directions: list[Direction] = [{} for _ in range(topology.n_u)]
    coordinates = tape.inputs("q", topology.n_q)
    for name, where in topology.q_of.items():
        joint, speeds = topology.system.joints[name], topology.u_of[name]
        nodes = coordinates[where]
        for k in range(joint.n_u):
            rates = joint.rate_map(nodes, np.eye(joint.n_u)[k])
            directions[speeds.start + k] = _moving(nodes, rates)
    return directions


def _moving(nodes: np.ndarray, rates: np.ndarray) -> Direction:
    return {node.index: rate for node, rate in zip(nodes, rates, strict=True) if not is_zero(rate)}


def along(topology: Topology, tape: Tape, options: DerivativeOptions, factors: np.ndarray) -> Direction:
    """The sum of the unit directions, each times its factor."""
    total: Direction = {}
    for direction, factor in zip(unit_directions(topology, tape, options), factors, strict=True):
        for index, rate in direction.items():
            total[index] = total.get(index, 0.0) + rate * factor
    return total


def is_input(node: object, array: str) -> bool:
    """Whether a node is an entry of a named array of the tape."""
    return type(node) is Traced and node.op == "input" and node.args[0] == array


def _bias(snapshot: Snapshot) -> Array:
    """Inverse dynamics without accelerations and friction."""
    at_rest = Given(u_dot=np.zeros(snapshot.topology.n_u), friction={}, joint_states=snapshot.given.joint_states)
    return snapshot.again(at_rest).inverse_effort


def _closure_rates(snapshot: Snapshot) -> Array:
    """Rates of all constraint rows: G u, and what moves by itself."""
    return snapshot.constraints.every(loop_constraints.drift) if snapshot.topology.constrained else np.empty(0)


WORDS: Mapping[str, Callable[[Snapshot], object]] = {
    "u_dot": lambda snapshot: snapshot.u_dot,
    "q_dot": lambda snapshot: snapshot.q_dot,
    "z_dot": lambda snapshot: snapshot.z_dot,
    "rate": kernel_outputs.rate,
    "effort": lambda snapshot: snapshot.inverse_effort,
    "bias": _bias,
    "energy": kernel_outputs.energy,
    "closure_rates": _closure_rates,
}
"""Functions of a whole system, by the words of ``OF_SYSTEMS``."""


def find_values(snapshot: Snapshot, names: tuple[str, ...], sharing: SharingOptions | None = None) -> list[Scalar]:
    """All entries of what the names stand for, one after the other; with ``sharing``, redundant reactions shared."""
    values: list[Scalar] = []
    find_quantity_value: Callable[[QuantityName], object] = snapshot.quantity
    if sharing is not None:
        from kinode.kernels.derivatives.shared_quantities import SharedLoads, find_shared  # which few models need

        find_quantity_value = partial(find_shared, snapshot, SharedLoads(snapshot, sharing))
    for name in names:
        known = WORDS.get(name)
        values += flat(find_quantity_value(find_quantity(snapshot.system, name)) if known is None else known(snapshot))
    return values


def find_named_values(snapshot: Snapshot, options: tuple[str, ...] | SharedNames) -> list[Scalar]:
    """The same, with names and sharing in one record."""
    whole = options if isinstance(options, SharedNames) else SharedNames(options, None)
    return find_values(snapshot, whole.names, whole.sharing)


WIDTH = 4  # directions that are computed at once: the numbers in a register of the processor


class Differentiated:
    """Results of an instant on a tape, ready to be differentiated along any direction."""

    def __init__(
        self, snapshot: Snapshot, tape: Tape, options: DerivativeOptions, *, through_equations: bool = True,
        find_results: Callable[[Snapshot], list[Scalar]] | None = None,
    ) -> None:  # fmt: skip
        """``through_equations``: whether accelerations are differentiated through the equations of motion.
        ``find_results`` computes other results than those of the options."""
        equations = find_equations(snapshot, tape) if through_equations else None
        instant = snapshot if equations is None else equations.instant
        of_options = partial(find_values, names=options.of, sharing=options.sharing)
        self.results = (of_options if find_results is None else find_results)(instant)
        self.nodes = needed(self.results)
        depends = any(is_input(node, UNKNOWNS) for node in self.nodes)
        self.equations: MotionEquations | None = equations if depends else None
        self.values: dict[int, Scalar] = {}
        if self.equations is not None:
            self.values = dict(self.equations.values)
            self.equations.evaluate(self.results, self.values)

    def along(self, direction: Direction) -> list[Scalar]:
        """The derivatives of all results along a direction."""
        seeds: Mapping[int, Scalar] = direction
        if self.equations is not None and direction:
            seeds = {**direction, **self.equations.changes(direction)}
        rates = sweep_forward(self.nodes, seeds, self.values)
        return [rates.get(x.index, 0.0) if type(x) is Traced else 0.0 for x in self.results]


def derivatives(snapshot: Snapshot, tape: Tape, options: DerivativeOptions) -> Array:
    """The matrix of derivatives of all results by all directions; neighboring columns are computed at once."""
    results = Differentiated(snapshot, tape, options)
    columns: list[list[Scalar]] = []
    for group in neighbors(unit_directions(snapshot.topology, tape, options)):
        rates = results.along(pack_directions(tape, group))
        entries = [tape.lanes(rate, len(group)) if len(group) > 1 else [rate] for rate in rates]
        columns += [[each[k] for each in entries] for k in range(len(group))]
    matrix = np.zeros((len(results.results), len(columns)), dtype=object)
    for k, column in enumerate(columns):
        matrix[:, k] = column
    return matrix


def neighbors(directions: Sequence[Direction]) -> list[Sequence[Direction]]:
    """The directions in groups that are computed together."""
    return [directions[k : k + WIDTH] for k in range(0, len(directions), WIDTH)]


def pack_directions(tape: Tape, group: Sequence[Direction]) -> Direction:
    """Several directions as one, whose rates are vectors."""
    if len(group) == 1:
        return group[0]
    indices = sorted({index for direction in group for index in direction})
    return {index: tape.pack([direction.get(index, 0.0) for direction in group]) for index in indices}


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
    """The argument of derivatives of shared loads: efforts, changes of loads; factors of columns, rates of changes."""
    return count_along(topology, options) + 2 * sum(topology.holding.values())


def count_joint_directions(topology: Topology) -> int:
    """The number of entries of ``stress_directions`` without the origins of bodies."""
    return sum(direction_sizes(topology))


def count_factors(topology: Topology, options: DerivativeOptions) -> int:
    """The argument of second derivatives: efforts, then the factors of all columns in each of two directions."""
    return topology.n_u + 2 * count_directions(topology, options)


def gradient(snapshot: Snapshot, tape: Tape, x: Array, options: DerivativeOptions) -> list[Scalar]:
    """The derivatives of the weighted sum of all results by each direction, by a sweep backward."""
    of = Differentiated(snapshot, tape, options)
    seeds: dict[int, Scalar] = {}
    for result, weight in zip(of.results, x[snapshot.topology.n_u :], strict=True):
        if type(result) is Traced:
            seeds[result.index] = seeds.get(result.index, 0.0) + weight
    found = sweep_backward(of.nodes, seeds, of.values)
    if of.equations is not None:
        own = of.equations.sensitivities([found.get(node.index, 0.0) for node in of.equations.unknowns])
        found = {index: found.get(index, 0.0) + own.get(index, 0.0) for index in found.keys() | own.keys()}
    directions = unit_directions(snapshot.topology, tape, options)
    return [sum((rate * found.get(index, 0.0) for index, rate in each.items()), 0.0) for each in directions]


def count_along(topology: Topology, options: DerivativeOptions) -> int:
    """The argument of derivatives along a direction: efforts, then the factors of all columns."""
    return topology.n_u + count_directions(topology, options)


def derivatives_along(snapshot: Snapshot, tape: Tape, x: Array, options: DerivativeOptions) -> list[Scalar]:
    """The derivatives of all results along one direction that is known when the code runs.

    For one direction in a tree the recursion itself has fewer operations: they grow with the links, not with pairs.
    """
    return _along(snapshot, tape, x[snapshot.topology.n_u :], options)


def rate_along(snapshot: Snapshot, tape: Tape, x: Array) -> list[Scalar]:
    """The derivative of the rate of the state along one direction of the state, its coordinates as they stand."""
    return _along(snapshot, tape, x, RATE_BY_STATE)


def _along(snapshot: Snapshot, tape: Tape, factors: Array, options: DerivativeOptions) -> list[Scalar]:
    direction = along(snapshot.topology, tape, options, factors)
    of = Differentiated(snapshot, tape, options, through_equations=snapshot.topology.constrained)
    return of.along(direction)


def shared_along(snapshot: Snapshot, tape: Tape, x: Array, options: DerivativeOptions) -> list[Scalar]:
    """The same of quantities whose changes by sharing are given, of loads of joints and of their directions, where the
    changes move too; and behind them the loads."""
    from kinode.kernels.derivatives.shared_quantities import GivenChanges, find_shared

    topology, sharing = snapshot.topology, options.sharing
    n, n_loads, count = topology.n_u, sum(topology.holding.values()), count_directions(topology, options)
    changes, start = x[n : n + n_loads], n + n_loads
    assert sharing is not None

    def find_results(instant: Snapshot) -> list[Scalar]:
        changed, system = GivenChanges(instant, sharing, changes), instant.system
        named = [v for name in options.of for v in flat(find_shared(instant, changed, find_quantity(system, name)))]
        loads = [v for name in topology.holding for v in instant.holding(name)]
        return named + loads + [v for name in system.joints for v in joint_directions(instant, name)]

    of = Differentiated(snapshot, tape, options, find_results=find_results)
    direction = along(topology, tape, options, x[start : start + count])
    direction |= {node.index: rate for node, rate in zip(changes, x[start + count :], strict=True)}
    first = count_results(topology, options)
    loads = of.results[first : first + n_loads]
    return of.along(direction) + [of.values.get(v.index, v) if type(v) is Traced else v for v in loads]


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
