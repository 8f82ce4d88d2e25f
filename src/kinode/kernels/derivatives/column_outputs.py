"""Columns of derivatives beside the result of a kernel, along directions that are known when the code runs.

Each column has a rate for every entry of the state, discrete ones too, and unit rate of one parameter or input.  So a
rate becomes that of the state and its sensitivities together, and a reset map, a sample or a projection maps both.
The columns are forward sweeps over the tape of the kernel (``tape_sweeps.py``), four at once.

``x`` of the kernel is followed by the rates of time and the slopes of all inputs over time, if time has rates, and by
the columns, one after the other.  The results are as many entries as the state has, their columns, then all other
entries; event functions are followed by the columns of all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kinode.algebra.scalars import PIECEWISE_CONSTANT, Array, Scalar
from kinode.algebra.trace import Tape, Traced, needed
from kinode.kernels.derivatives.derivative_outputs import Differentiated, Direction, neighbors, pack_directions
from kinode.kernels.derivatives.tape_sweeps import NO_VALUES, sweep_forward
from kinode.kernels.kernel_options import ColumnOptions, DerivativeOptions
from kinode.kernels.kernel_outputs import rate
from kinode.kernels.kernel_table import count_x
from kinode.kernels.kernel_traces import outputs_of
from kinode.multibody.snapshot import Snapshot
from kinode.structure.topology import Topology

STATE = ("q", "u", "z")
DECISIONS = PIECEWISE_CONSTANT - {"fetch"}
"""Operations with which a law can jump."""
OF_STATES = frozenset({"rate", "projection", "jump", "sample"})
"""Kernels whose result begins with a state, or with its rate."""


def count_rates(topology: Topology, options: ColumnOptions) -> int:
    """Rates of time, slopes of inputs, and the entries of all columns."""
    of_time = len(options.by) + len(topology.inputs) if options.with_time else 0
    return of_time + len(options.by) * topology.layout.n_y


def count_arguments(topology: Topology, options: ColumnOptions) -> int:
    """The argument of the kernel itself, then what moves."""
    return count_x(topology, options.of) + count_rates(topology, options)


def columns(snapshot: Snapshot, tape: Tape, x: Array, options: ColumnOptions) -> list[Scalar]:
    """The results of a kernel and their columns."""
    own = count_x(snapshot.topology, options.of)
    values, columns = outputs_of(options.of, snapshot, tape, x[:own]), list[list[Scalar]]()
    along = _find_derivative(snapshot, tape, options, values)
    for group in neighbors(_directions(snapshot.topology, tape, x[own:], options)):
        changes = along(pack_directions(tape, group))
        entries = [tape.lanes(x, len(group)) if len(group) > 1 else [x] for x in changes]
        columns += [[each[k] for each in entries] for k in range(len(group))]
    n = snapshot.topology.layout.n_y if options.of.name in OF_STATES else len(values)
    return [*values[:n], *(x for column in columns for x in column[:n]), *values[n:]]


def switches(snapshot: Snapshot) -> list[Scalar]:
    """Zero, then the results of all comparisons, signs and the like by which continuous states decide the rate."""
    table, n_z = snapshot.topology.events, snapshot.topology.n_z
    first_discrete = n_z - (0 if table is None else table.n_held)
    moving, found = set[int](), list[Scalar]([0.0])
    for node in needed(rate(snapshot)):
        if node.op == "input":
            array, position = node.args
            depends = array in STATE and (array != "z" or position < first_discrete)
        else:
            depends = any(type(arg) is Traced and arg.index in moving for arg in node.args)
        if depends and node.op in DECISIONS:
            found.append(node)
        elif depends and node.op not in PIECEWISE_CONSTANT:
            moving.add(node.index)
    return found


def _find_derivative(
    snapshot: Snapshot, tape: Tape, options: ColumnOptions, values: Sequence[Scalar]
) -> Callable[[Direction], list[Scalar]]:
    """The function that gives the rates of all results along a direction."""
    if options.of.name == "rate":  # one direction in a tree has fewer operations by the recursion itself
        of_rate = DerivativeOptions(("rate",), ())
        return Differentiated(snapshot, tape, of_rate, through_equations=snapshot.topology.constrained).along
    if options.of.name == "evaluate":
        assert isinstance(options.of.options, tuple)
        return Differentiated(snapshot, tape, DerivativeOptions(options.of.options, ())).along
    nodes = needed(values)

    def along(direction: Direction) -> list[Scalar]:
        rates = sweep_forward(nodes, direction, NO_VALUES)
        return [rates.get(x.index, 0.0) if type(x) is Traced else 0.0 for x in values]

    return along


def _directions(topology: Topology, tape: Tape, rates: Array, options: ColumnOptions) -> list[Direction]:
    """The direction of each column."""
    layout, m = topology.layout, len(options.by)
    nodes = [node for name in STATE for node in tape.inputs(name, getattr(topology, f"n_{name}"))]
    slopes: Array | list[Scalar] = rates[m : m + len(topology.inputs)] if options.with_time else []
    first, n = (m + len(slopes) if options.with_time else 0), layout.n_y
    directions: list[Direction] = []
    for k, by in enumerate(options.by):
        own = rates[first + k * n : first + (k + 1) * n]
        direction: Direction = {node.index: rate for node, rate in zip(nodes, own, strict=True)}
        if options.with_time:
            direction[tape.input("t", 0).index] = rates[k]
            direction |= {tape.input("inputs", j).index: rates[k] * slope for j, slope in enumerate(slopes)}
        if by is not None:
            index = tape.input(*by).index
            direction[index] = direction.get(index, 0.0) + 1.0
        directions.append(direction)
    return directions
