"""Rows of velocities that only repeat others: those of redundant loops, with the flows that they leave open."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.model.system import System
from kinode.structure.topology import find_topology
from kinode.symbolic.circuit_listing.circuit_analysis import IncidenceWriter, find_repeated
from kinode.symbolic.circuit_listing.circuit_variables import POTENTIAL, scalar_names
from kinode.symbolic.circuit_listing.component_rows import ComponentRow

if TYPE_CHECKING:
    from kinode.symbolic.circuit_listing.whole_circuit import Circuit


def find_redundant(circuit: Circuit) -> tuple[list[int], list[str]]:
    """Scalar equations of loops that repeat others at the start, and the flows that they leave open.

    Structure does not show which rows of a plane loop are redundant; numbers do.  The rows of the joints that close
    loops come last, so that they are the ones set aside.
    """
    topology = find_topology(circuit.system)
    if not topology.cuts and not topology.constraints:
        return [], []
    variables, count = circuit.variables, circuit.unknowns.count
    writer = IncidenceWriter(circuit.meanings, variables, start_positions(circuit.system))
    rates = {v.first - 1 + k for v in variables.values() if v.sort == POTENTIAL for k in range(v.size)}
    rates |= {v.first - 1 + k for v in variables.values() if ".com.velocity" in v.name for k in range(3)}
    speed_of = _speeds_of_coordinates(circuit)
    matrix: list[Array] = []
    places: list[tuple[int, ComponentRow, int]] = []
    early: list[int] = []
    late: list[int] = []
    first = 0
    for _, row in circuit.rows:
        if row.dual:
            part = np.zeros((row.size, count))
            for number, _, slopes in writer.slopes(row):
                column = speed_of.get(number, number)
                part[:, column] = slopes if column in rates else 0.0
            closes = row.owner in topology.cut_names or row.owner in circuit.system.constraints
            (late if closes else early).extend(range(len(places), len(places) + row.size))
            places += [(first + k, row, k) for k in range(row.size)]
            matrix.append(part)
        first += row.size
    repeated = [places[i] for i in find_repeated(np.vstack(matrix), [*early, *late])]
    return [i for i, _, _ in repeated], [_dual(circuit, row, k) for _, row, k in repeated]


def _speeds_of_coordinates(circuit: Circuit) -> dict[int, int]:
    """Numbers of coordinates whose rates are speeds, and of these: a prescribed position is one of its rate too."""
    numbers = {}
    for name, joint in circuit.system.joints.items():
        if joint.quaternion is None and joint.n_q == joint.n_u:
            for k, link in enumerate(x for x in circuit.components[name].links if x.freedom is not None):
                speed = circuit.variables[circuit.unknowns.speed(link)].first - 1
                numbers[circuit.variables[f"{name}.q"].first - 1 + k] = speed
    return numbers


def _dual(circuit: Circuit, row: ComponentRow, k: int) -> str:
    """The scalar flow that belongs to the k-th scalar of a row of velocities."""
    multiplier = row.dual.endswith(".reaction")
    name = row.dual + ("" if multiplier or row.size == 1 else circuit.axes_suffix)
    if multiplier:
        same = [other for _, other in circuit.rows if other.dual == row.dual]
        k = next(i for i, other in enumerate(same) if other is row)
    return scalar_names(circuit.system, circuit.variables[name])[k]


def start_positions(system: System) -> dict[tuple[str, int], Array]:
    """The coordinates of all joints at the assembled start."""
    dynamics = Dynamics(system)
    names = [f"{name}.q" for name, joint in system.joints.items() if joint.n_u]
    snapshot = dynamics.snapshot(dynamics.initial)
    return {(name, 0): np.atleast_1d(np.asarray(snapshot.quantity(name), dtype=float)) for name in names}
