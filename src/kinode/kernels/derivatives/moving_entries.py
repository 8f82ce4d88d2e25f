"""Which entries of the arrays of a program depend on some of its arguments.

Entries that one case of a block reads at one place in different iterations are marked together, so that the code of the
case is the same for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from kinode.algebra.trace import Traced, needed
from kinode.jit.program import Block, Program, Store
from kinode.kernels.derivatives.tape_sweeps import PIECEWISE_CONSTANT

Entries = tuple[str, np.ndarray]
"""An array and positions in it."""


class ProgramCase:
    """The stores of one case of a block, and the iterations in which they are done; None for all of them."""

    def __init__(self, block: Block, stores: Sequence[Store], iterations: np.ndarray | None) -> None:
        self.block, self.stores, self.iterations = block, stores, iterations
        self.nodes = needed(value for _, _, value in stores)
        self.loads = [node for node in self.nodes if node.op == "input"]

    def entries(self, view: str, position: int) -> Entries:
        """The entries that a position of a view stands for, in all iterations."""
        array, offsets = self.block.view(view)
        if offsets is None:
            return array, np.array([position])
        return array, position + (offsets if self.iterations is None else offsets[self.iterations])

    def moving(self, loads: set[int]) -> set[int]:
        """The nodes that depend on some of the loads, all by index."""
        found = set(loads)
        for node in self.nodes:
            depends = any(type(arg) is Traced and arg.index in found for arg in node.args)
            if depends and node.op not in PIECEWISE_CONSTANT:
                found.add(node.index)
        return found


class MovingEntries:
    """The entries of a program that depend on some arguments, which are given by name and position.

    ``cases`` are those of each block.  The program does not read its results.
    """

    def __init__(self, program: Program, arguments: Iterable[tuple[str, int]]) -> None:
        self.cases = [[ProgramCase(block, *case) for case in _cases_of(block)] for block in program.blocks]
        self.marked = {name: np.zeros(size, dtype=bool) for name, size in program.sizes.items()}
        for name, position in arguments:
            self.marked[name][position] = True
        while self._spread():
            pass

    def _spread(self) -> bool:
        """Mark entries that depend on marked ones; whether there are new ones."""
        return sum(self._spread_in(case) for cases in self.cases for case in cases) > 0

    def _spread_in(self, case: ProgramCase) -> bool:
        loads = {node.index: case.entries(*node.args) for node in case.loads}
        assert all(array != "out" for array, _ in loads.values()), "the program reads its results"
        moving = {index for index, entries in loads.items() if self.is_marked(entries)}
        marked = [self._mark(loads[index]) for index in moving]
        moving = case.moving(moving)
        for view, position, value in case.stores:
            entries = case.entries(view, position)
            if (type(value) is Traced and value.index in moving) or self.is_marked(entries):
                marked.append(self._mark(entries))
        return any(marked)

    def is_marked(self, entries: Entries) -> bool:
        """Whether some of the entries depend on the arguments."""
        array, positions = entries
        return array in self.marked and bool(self.marked[array][positions].any())

    def _mark(self, entries: Entries) -> bool:
        array, positions = entries
        new = not self.marked[array][positions].all()
        if new:
            self.marked[array][positions] = True
        return new


def _cases_of(block: Block) -> Iterator[tuple[Sequence[Store], np.ndarray | None]]:
    """The stores of each case with its iterations; None for all of them."""
    for k, stores in enumerate(block.cases):
        yield stores, None if block.case_of is None else np.flatnonzero(block.case_of == k)
