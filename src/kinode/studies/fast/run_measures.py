"""What is kept of many runs of one system, without a ``Trajectory`` for each.

Quantities are evaluated as ``run.evaluate`` does, peaks and last values by a compiled loop, and the rest by the
reducers of ``kept_results.py``.  The numbers are those of single runs to the last bit.  What needs more than states and
quantities by name (life, orders, functions of the run, shares of redundant reactions) is not served.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache as remember
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.reactions.lost_values import is_shared
from kinode.dynamics.state_batch import StoredColumns, find_stored, split_values
from kinode.jit.code_cache import source_digest
from kinode.jit.loop.memory import floats_of, ints_of
from kinode.jit.machine_code import ARGUMENTS
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.kernel_table import find_row
from kinode.model.quantities import QuantityExpression, QuantityName, find_expression, find_quantity
from kinode.ode.compiled_loops import CompiledLoop, load_loops
from kinode.ode.input_table import Inputs, inputs_at
from kinode.ode.run_events import provide_arrays
from kinode.results.run_quantities import EQUAL_PEAKS
from kinode.structure.state_layout import EvaluationPoint
from kinode.studies.fast import fast_loops
from kinode.studies.fast.fast_loops import ReduceMemory, RowKernel
from kinode.studies.kept_results import Kept

COMPILED = {"peak": 0, "least": 1, "final": 2, "time_of_peak": 3}
"""Reducers of the compiled loop, by their codes there."""
NO_ROWS = np.zeros((1, 1))
LOADING = Lock()
"""One thread at a time compiles a loop."""


@remember
def _load() -> CompiledLoop:
    source = source_digest("studies/fast") or None
    return load_loops(source, ("reduce_rows",), lambda name: getattr(fast_loops, name))["reduce_rows"]


def _loop() -> CompiledLoop:
    with LOADING:
        return _load()


class RowTimes(NamedTuple):
    """The times of a run, which is all that reducers take from it."""

    t: Array


class RunMeasures:
    """What is kept of each run, by where it comes from.

    Parameters
    ----------
    dynamics : Dynamics
        The compiled system.
    kept : sequence of Kept
        What is kept; ``serves`` tells whether it can be.
    """

    def __init__(self, dynamics: Dynamics, kept: Sequence[Kept]) -> None:
        self.dynamics, self.kept = dynamics, tuple(kept)
        system = dynamics.system
        self._expressions: dict[str, QuantityExpression] = {}
        names = dict[str, QuantityName]()
        for text in dict.fromkeys(each.quantity for each in self.kept):
            expression = find_expression(system, text)
            if expression is not None:
                self._expressions[text] = expression
            for name in [text] if expression is None else expression.names:
                names[name] = find_quantity(system, name)
        self._stored = {text: find_stored(dynamics, name) for text, name in names.items()}
        self._computed = [name for text, name in names.items() if self._stored[text] is None]
        self._kernel = Kernel("evaluate", tuple(name.text for name in self._computed))
        firsts = np.cumsum([0, *(math.prod(name.size) for name in self._computed)]).tolist()
        self._starts = dict(zip((name.text for name in self._computed), firsts))
        self._table = [self._find_entry(each, names) for each in self.kept]
        self.in_loop = [k for k, entry in enumerate(self._table) if entry is not None]
        """What the compiled loop reduces; the rest is reduced in Python."""
        self.in_python = [k for k, entry in enumerate(self._table) if entry is None]

    @staticmethod
    def serves(dynamics: Dynamics, kept: Sequence[Kept]) -> bool:
        """Whether states and quantities by name are all that is needed."""
        return all(each.quantity for each in kept) and all(
            _is_plain(dynamics, name) for each in kept for name in _find_names(dynamics, each.quantity)
        )

    def _find_entry(self, kept: Kept, names: Mapping[str, QuantityName]) -> tuple[int, int, int, int] | None:
        """The row of the loop's table; None for what is reduced in Python."""
        if kept.by not in COMPILED or kept.quantity not in names:
            return None
        stored = self._stored[kept.quantity]
        if stored is not None:
            width = stored.columns.stop - stored.columns.start if stored.vector else 0
            return 0, stored.columns.start, width, COMPILED[kept.by]
        size = names[kept.quantity].size
        return 1, self._starts[kept.quantity], math.prod(size) if size else 0, COMPILED[kept.by]

    def open(self) -> Measuring:
        """The measuring of one thread."""
        return Measuring(self)

    def evaluate(self, t: Array, y: Array, p: Array, inputs: Inputs) -> Array:
        """The computed quantities at the states of a run, side by side."""
        if not self._computed:
            return NO_ROWS
        q, u, z = self.dynamics.topology.layout.split(y)
        return self.dynamics.kernels.call(self._kernel, EvaluationPoint(t, q, u, z, p, inputs_at(inputs, t)))

    def compose(self, reduced: Array, t: Array, y: Array, out: Array) -> list[Any]:
        """What is kept of a run: what the loop has reduced, and what the reducers in Python give."""
        kept: list[Any] = [None] * len(self.kept)
        for k, value in zip(self.in_loop, reduced.tolist()):
            kept[k] = value
        if not self.in_python:
            return kept
        values = dict(split_values(out, self._computed)) if self._computed else {}
        values |= {text: _pick(y, where) for text, where in self._stored.items() if where is not None}
        for text, expression in self._expressions.items():
            values[text] = expression.evaluate(self.dynamics.system, values, len(t))
        for k in self.in_python:
            kept[k] = self.kept[k].take(RowTimes(t), values)  # type: ignore[arg-type]
        return kept

    @property
    def table(self) -> Array:
        """The table of the compiled loop."""
        return np.array([entry for entry in self._table if entry is not None], dtype=np.int64).reshape(-1)

    @property
    def is_computing(self) -> bool:
        """Whether something is to be computed from the states."""
        return bool(self._computed)

    def lay_out(self, kernel: RowKernel, reduce: ReduceMemory) -> None:
        """Give a compiled loop the kernel of the quantities, and the table of reductions."""
        topology, lanes = self.dynamics.topology, self.dynamics.kernels.lanes
        if self._computed:
            code = self.dynamics.kernels.machine(self._kernel, lanes if find_row(self._kernel).lanes else 1)
            kernel.address, kernel.lanes, kernel.n_out = code.address, code.lanes, code.sizes["out"]
            kernel.n_q, kernel.n_u, kernel.n_z = topology.n_q, topology.n_u, topology.n_z
            for name, array in zip(ARGUMENTS, provide_arrays(*(max(1, code.sizes[n]) * code.lanes for n in ARGUMENTS))):
                setattr(kernel, name, floats_of(array))
        reduce.count, reduce.equal = len(self.in_loop), 1.0 - EQUAL_PEAKS
        count = reduce.count + 1
        reduce.table = ints_of(np.append(self.table, 0))
        reduce.results, reduce.largest, reduce.least = (floats_of(np.zeros(count)) for _ in range(3))
        reduce.peak_row, reduce.known = (ints_of(np.zeros(count, dtype=np.int64)) for _ in range(2))


class Measuring:
    """Measures one run after another, in memory of its own."""

    def __init__(self, measures: RunMeasures) -> None:
        self.measures, self._call, self._memory = measures, _loop(), ReduceMemory()
        measures.lay_out(RowKernel(), self._memory)
        self._results = np.zeros(len(measures.in_loop) + 1)
        self._memory.results = floats_of(self._results)

    def measure(self, t: Array, y: Array, p: Array, inputs: Inputs) -> list[Any] | None:
        """What is kept of a run, in the order of what was asked for; None for one that is to be made by itself."""
        measures, memory = self.measures, self._memory
        try:
            out = measures.evaluate(t, y, p, inputs)
            if measures.in_loop:
                memory.rows, memory.y_width, memory.out_width = len(t), y.shape[1], out.shape[1]
                memory.t, memory.y, memory.out = floats_of(t), floats_of(y), floats_of(out)
                self._call(memory)
            return measures.compose(self._results, t, y, out)
        except Exception:  # it comes again in the run by itself, which says it
            return None


def _pick(y: Array, where: StoredColumns) -> Array:
    return y[:, where.columns] if where.vector else y[:, where.columns.start]


def _find_names(dynamics: Dynamics, text: str) -> Sequence[str]:
    expression = find_expression(dynamics.system, text)
    return (text,) if expression is None else expression.names


def _is_plain(dynamics: Dynamics, text: str) -> bool:
    """Whether a quantity is a state, or the result of a kernel at a state as it is."""
    name = find_quantity(dynamics.system, text)
    if name.sort in ("time", "parameter", "input") or is_shared(dynamics, name):
        return False
    turns = name.quantity == "q" and name.owner in dynamics.topology.cut_names  # made continuous along a run
    return find_stored(dynamics, name) is not None or not turns
