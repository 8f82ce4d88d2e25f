"""Rows of velocities that only repeat others: those of redundant loops, with the flows that they leave open."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.structure.topology import find_topology
from kinode.symbolic.circuit_listing.circuit_analysis import IncidenceWriter, find_repeated
from kinode.symbolic.circuit_listing.circuit_state import CircuitState
from kinode.symbolic.circuit_listing.circuit_variables import POTENTIAL, scalar_names
from kinode.symbolic.circuit_listing.component_rows import ComponentRow

if TYPE_CHECKING:
    from kinode.multibody.snapshot import Snapshot
    from kinode.symbolic.circuit_listing.whole_circuit import Circuit


def find_redundant(circuit: Circuit) -> tuple[list[int], list[str]]:
    """Scalar equations of loops that repeat others at the start, and the flows that they leave open.

    Structure does not show which rows of a plane loop are redundant; numbers do.  The rows of the joints that close
    loops come last, so that they are the ones set aside.
    """
    if not find_topology(circuit.system).cuts and not circuit.system.constraints:
        return [], []
    rows = _velocity_rows(circuit)
    repeated = [rows.places[i] for i in find_repeated(rows.matrix, rows.order)]
    return [i for i, _, _ in repeated], [_dual(circuit, row, k) for _, row, k in repeated]


def find_free_speeds(circuit: Circuit) -> tuple[list[int], list[str]]:
    """Scalar equations that repeat others, and the speeds of joints that no source, constraint or loop prescribes."""
    rows = _velocity_rows(circuit)
    speeds = [
        circuit.unknowns.speed(link)
        for name in circuit.system.joints
        for link in circuit.components[name].links
        if link.freedom is not None
    ]
    units = np.zeros((len(speeds), rows.matrix.shape[1]))
    for k, name in enumerate(speeds):
        units[k, rows.columns[circuit.unknowns.variables[name].first - 1]] = 1.0
    count = len(rows.order)
    repeated = find_repeated(np.vstack([rows.matrix, units]), [*rows.order, *range(count, count + len(speeds))])
    free = [name for k, name in enumerate(speeds) if count + k not in repeated]
    return [rows.places[i][0] for i in repeated if i < count], free


class _VelocityRows(NamedTuple):
    """Rows of velocities at the start: their matrix, the order in which they count, and where they stand.

    ``columns`` has the column of each scalar variable that is a rate; ``places`` for each row its number among all
    scalar equations, its equation and its number there.
    """

    matrix: Array
    order: list[int]
    places: list[tuple[int, ComponentRow, int]]
    columns: dict[int, int]


def _velocity_rows(circuit: Circuit) -> _VelocityRows:
    topology, variables = find_topology(circuit.system), circuit.unknowns.variables
    dynamics = Dynamics(circuit.system)
    snapshot = dynamics.snapshot(dynamics.initial)
    start = CircuitState(circuit, 0.0, {}, snapshot)
    writer = IncidenceWriter(circuit.meanings, variables, start_positions(snapshot), start.geometry)
    rates = [v for v in variables.values() if v.sort == POTENTIAL or ".com.velocity" in v.name]
    columns = {v.first - 1 + k: 0 for v in rates for k in range(v.size)}
    columns = {number: k for k, number in enumerate(columns)}
    speed_of = _speeds_of_coordinates(circuit)
    matrix: list[Array] = [np.zeros((0, len(columns)))]
    places: list[tuple[int, ComponentRow, int]] = []
    early: list[int] = []
    late: list[int] = []
    first = 0
    for _, row in circuit.rows:
        if row.dual:
            part = np.zeros((row.size, len(columns)))
            slopes = {number: slope for number, _, slope in writer.slopes(row)}
            if not any(number in columns for number in slopes):  # a prescribed position: its rate has the same slopes
                slopes = {speed_of[number]: slope for number, slope in slopes.items() if number in speed_of}
            for number in slopes.keys() & columns.keys():
                part[:, columns[number]] = slopes[number]
            closes = row.owner in topology.cut_names or row.owner in circuit.system.constraints
            (late if closes else early).extend(range(len(places), len(places) + row.size))
            places += [(first + k, row, k) for k in range(row.size)]
            matrix.append(part)
        first += row.size
    return _VelocityRows(np.vstack(matrix), [*early, *late], places, columns)


def _speeds_of_coordinates(circuit: Circuit) -> dict[int, int]:
    """Numbers of coordinates whose rates are speeds, and of these: a prescribed position is one of its rate too."""
    numbers = {}
    for name, joint in circuit.system.joints.items():
        if joint.quaternion is None and joint.n_q == joint.n_u:
            for k, link in enumerate(x for x in circuit.components[name].links if x.freedom is not None):
                speed = circuit.unknowns.variables[circuit.unknowns.speed(link)].first - 1
                numbers[circuit.unknowns.variables[f"{name}.q"].first - 1 + k] = speed
    return numbers


def _dual(circuit: Circuit, row: ComponentRow, k: int) -> str:
    """The scalar flow that belongs to the k-th scalar of a row of velocities."""
    multiplier = row.dual.endswith(".reaction")
    name = row.dual + ("" if multiplier or row.size == 1 else circuit.axes_suffix)
    if multiplier:
        same = [other for _, other in circuit.rows if other.dual == row.dual]
        k = next(i for i, other in enumerate(same) if other is row)
    return scalar_names(circuit.system, circuit.unknowns.variables[name])[k]


def start_positions(snapshot: Snapshot) -> dict[tuple[str, int], Array]:
    """The coordinates of all joints at an instant."""
    names = [f"{name}.q" for name, joint in snapshot.system.joints.items() if joint.n_u]
    return {(name, 0): np.atleast_1d(np.asarray(snapshot.quantity(name), dtype=float)) for name in names}
