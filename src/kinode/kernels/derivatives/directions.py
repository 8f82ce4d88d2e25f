"""The directions of derivatives: unit changes of state, parameters, inputs and efforts, as rates of inputs of a tape.

``q`` counts small motions along the speeds, delta q = N(q) delta, so that a quaternion has three columns (in the axes
of the child) and no column leaves the unit sphere; ``coordinates`` are the entries of q as they stand.
"""

from __future__ import annotations

import numpy as np

from kinode.algebra.scalars import Scalar, is_zero
from kinode.algebra.trace import Tape, Traced
from kinode.kernels.derivatives.request_sizes import count_columns
from kinode.kernels.kernel_options import DerivativeOptions
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
