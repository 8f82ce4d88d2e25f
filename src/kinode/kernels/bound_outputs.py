"""Bounds of laws and event functions while the arguments in them stay within given ranges.

A law is a function of time and of named quantities: joint coordinates, positions of points, currents.  Sums and
products of these are as smooth as the state from which they follow by mechanics.  They are the arguments of the
functions around them, which need not be smooth: comparisons, ``max``, ``exp``, tables.  So a step gets its arguments
with their rates (kernel ``arguments``), and from ranges of the arguments bounds of the law by interval arithmetic
(kernel ``bounds``), without the mechanics.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from kinode.algebra.intervals import Interval, interval_of
from kinode.algebra.scalars import ARITHMETIC, Array, Dual, Scalar, apply
from kinode.algebra.trace import Tape, Traced, needed, replay
from kinode.expressions.parser import parse
from kinode.kernels.kernel_options import BoundOptions
from kinode.model.quantities import QuantityName
from kinode.multibody.snapshot import Snapshot
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import Topology

NAMED = "named"  # array of a tape: the quantities by name
CONSTANT = frozenset({"p", "inputs"})  # arrays of a tape that do not change in a run
STATE = ("q", "u", "z")
TAME = frozenset({"sin", "cos", "tanh", "atan", "exp", "sinh", "cosh"})
"""Functions that change no faster than on a scale of 1: a change of their argument by less hides nothing."""
TAME_WIDTH = 0.5
"""Range of the argument of such a function in a step, within which it is as smooth as its argument."""


class BoundedValues(NamedTuple):
    """Laws and event functions on a tape, their arguments (nodes of the same tape), and the names in these."""

    values: list[Scalar]
    arguments: list[Traced]
    names: list[str]


class _NamedArguments(Snapshot):
    """An instant at which every named quantity is an input of the tape."""

    def __init__(self, topology: Topology, point: EvaluationPoint, tape: Tape) -> None:
        self.tape, self.names = tape, dict[str, int]()
        super().__init__(topology, point)

    def quantity(self, name: str | QuantityName) -> Scalar:
        """The input of the tape that stands for the quantity."""
        text = name if isinstance(name, str) else name.text
        return self.tape.input(NAMED, self.names.setdefault(text, len(self.names)))


def trace_bounded(topology: Topology, tape: Tape, options: BoundOptions) -> BoundedValues:
    """The laws and event functions of the options on a tape."""
    snapshot = _NamedArguments(topology, topology.layout.traced_point(tape), tape)
    counts, table = topology.system.call_counts(), topology.events
    values = [snapshot.resolve(parse(text, counts)) for text in options.laws]
    values += [table.roots[k].root.g(snapshot) for k in options.event_functions if table is not None]
    return BoundedValues(values, _find_arguments(values), list(snapshot.names))


def _find_arguments(values: list[Scalar]) -> list[Traced]:
    """The largest smooth parts of values, which their other operations use."""
    constant, smooth, arguments = set[int](), set[int](), dict[int, Traced]()
    for node in needed(values):
        operands = [arg for arg in node.args if type(arg) is Traced]
        if node.op == "input":
            (constant if node.args[0] in CONSTANT else smooth).add(node.index)
        elif all(arg.index in constant for arg in operands):
            constant.add(node.index)
        elif node.op in ARITHMETIC and all(arg.index in constant or arg.index in smooth for arg in operands):
            smooth.add(node.index)
        else:
            arguments.update((arg.index, arg) for arg in operands if arg.index in smooth)
    arguments.update((x.index, x) for x in values if type(x) is Traced and x.index in smooth)
    return list(arguments.values())


def find_widths(topology: Topology, options: BoundOptions) -> tuple[float, ...]:
    """For each argument, the longest range in which it hides nothing of a law; 0 where a law may have corners.

    A law is tame if it is made of sums and products, and of sines and the like of arguments themselves.
    """
    values, arguments, _ = trace_bounded(topology, Tape(), options)
    widths = {node.index: math.inf for node in arguments}
    below: dict[int, frozenset[int]] = {}  # arguments of a node
    for node in needed(values[: len(options.laws)]):
        operands = [arg for arg in node.args if type(arg) is Traced]
        below[node.index] = frozenset({node.index} & widths.keys()).union(*(below[arg.index] for arg in operands))
        of_arguments = all(arg.index in widths for arg in operands)
        if node.op not in ARITHMETIC and node.op != "input":
            width = TAME_WIDTH if node.op in TAME and of_arguments else 0.0
            widths.update((k, min(width, widths[k])) for k in below[node.index])
    return tuple(widths.values())


def bounds(snapshot: Snapshot, tape: Tape, x: Array, options: BoundOptions) -> list[Scalar]:
    """The least, then the largest value of each law and event function.

    ``x`` has the least value of each argument, then the largest.
    """
    values, arguments, _ = trace_bounded(snapshot.topology, tape, options)
    known: dict[int, Scalar] = {node.index: Interval(x[k], x[len(arguments) + k]) for k, node in enumerate(arguments)}
    intervals = [interval_of(value) for value in _evaluate(values, known)]
    return [interval.low for interval in intervals] + [interval.high for interval in intervals]


def _evaluate(values: list[Scalar], known: dict[int, Scalar]) -> list[Scalar]:
    """Values of a tape from those of nodes that are known, by index."""
    for node in needed(values):
        if node.index not in known:
            operands = (known[arg.index] if type(arg) is Traced else arg for arg in node.args)
            known[node.index] = node if node.op == "input" else apply(node.op, *operands)
    return [known[value.index] if type(value) is Traced else value for value in values]


def arguments(snapshot: Snapshot, tape: Tape, x: Array, options: BoundOptions) -> list[Scalar]:
    """The arguments of laws and event functions, and their rates; ``x`` is the rate of the state."""
    bounded, point = trace_bounded(snapshot.topology, tape, options), snapshot.point
    named = named_quantities(snapshot, bounded)
    seeds: dict[tuple[str, int], Scalar] = {("t", 0): Dual(point.t, 1.0)}
    for name in STATE:
        for i, value in enumerate(getattr(point, name)):
            seeds[name, i] = Dual(value, x[len(seeds) - 1])
    duals = [
        value if isinstance(value, Dual) else Dual(value) for value in replay(replay(bounded.arguments, named), seeds)
    ]
    return [dual.value for dual in duals] + [dual.rate for dual in duals]


def argument_laws(snapshot: Snapshot, tape: Tape, x: Array, options: BoundOptions) -> list[Scalar]:
    """The laws for given arguments; ``x`` has these."""
    values, arguments, _ = trace_bounded(snapshot.topology, tape, options)
    return _evaluate(values[: len(options.laws)], {node.index: x[k] for k, node in enumerate(arguments)})


def named_quantities(snapshot: Snapshot, bounded: BoundedValues) -> dict[tuple[str, int], Scalar]:
    """The quantities that stand by name on a tape, by the mechanics of a snapshot."""
    return {(NAMED, k): snapshot.quantity(name) for k, name in enumerate(bounded.names)}


def count_operations(topology: Topology, options: BoundOptions) -> tuple[int, int]:
    """The operations of laws and event functions and of their arguments, and the number of arguments."""
    nodes, bounded = _trace_whole(topology, options)
    return len(nodes), len(bounded.arguments)


def reads_inputs(topology: Topology, options: BoundOptions, entries: frozenset[int]) -> bool:
    """Whether laws and event functions depend on some of the inputs, also through the quantities that they name."""
    nodes, _ = _trace_whole(topology, options)
    return any(node.op == "input" and node.args[0] == "inputs" and node.args[1] in entries for node in nodes)


def _trace_whole(topology: Topology, options: BoundOptions) -> tuple[list[Traced], BoundedValues]:
    """All operations of laws and event functions, the mechanics of the quantities in them included."""
    tape = Tape()
    bounded = trace_bounded(topology, tape, options)
    snapshot = Snapshot(topology, topology.layout.traced_point(tape))
    outputs = replay(bounded.values, named_quantities(snapshot, bounded))
    return list(needed(outputs)), bounded
