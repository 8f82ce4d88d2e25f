"""The kernels of derivatives, as straight-line code: a matrix with a row for each result, a column for each direction.

Each column is a forward sweep over the tape (``tape_sweeps.py``).  Results that depend on accelerations are
differentiated through the equations of motion (``motion_equations.py``).  Columns are written one after the other, so
that a result is stored soon after its operands are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from kinode.algebra.scalars import Array, Scalar
from kinode.algebra.trace import Tape, Traced, needed
from kinode.kernels.derivatives.derived_values import find_values
from kinode.kernels.derivatives.directions import Direction, is_input, unit_directions
from kinode.kernels.derivatives.motion_equations import UNKNOWNS, MotionEquations, find_equations
from kinode.kernels.derivatives.tape_sweeps import sweep_forward
from kinode.kernels.kernel_options import DerivativeOptions
from kinode.multibody.snapshot import Snapshot

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


def derivatives(snapshot: Snapshot, tape: Tape, x: Array, options: DerivativeOptions) -> Array:
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
