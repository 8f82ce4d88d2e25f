"""Derivatives of a program along a direction, as a program: every number gets a rate beside it.

Loop code is differentiated as it stands, so that its derivatives have the same loops, and their time to compile does
not depend on the number of links.  A case of a block is swept forward once (``tape_sweeps.py``); the rates of what it
loads and stores are entries of ``work`` behind those of the program itself.

Which entries have rates is found before: those that depend on an argument with a rate.  Entries that one case of a
block reads at one place in different iterations are marked together, so that the code of the case is the same for all
of them.  A program of rates can be differentiated again.  Many stores of the same form are a loop: straight-line code
would grow with their number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from kinode.algebra.scalars import PIECEWISE_CONSTANT, Scalar
from kinode.algebra.trace import Traced, needed
from kinode.jit.program import Block, Program, Store
from kinode.kernels.alike import roll_stores
from kinode.kernels.derivatives.tape_sweeps import NO_VALUES, sweep_forward

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


def differentiate_program(program: Program, head: Sequence[Store], n_x: int) -> Program:
    """The program whose results are the rates of those of another.

    Parameters
    ----------
    program : Program
        It does not read its results, and has no ``finish``.
    head : sequence of stores
        The rates of arguments, by name of the argument and position in it; those that are not listed do not change.
    n_x : int
        The size of ``x``, of which the program itself reads the beginning.
    """
    assert program.finish is None, "the function behind the blocks has no derivative"
    return _Differentiation(program, head).program(n_x)


class _Differentiation:
    """One program and which of its entries have rates.

    In ``work`` the program itself comes first, then its rates, then those of arguments.
    """

    def __init__(self, program: Program, head: Sequence[Store]) -> None:
        self.source, self.head = program, head
        self.moving = MovingEntries(program, [(name, position) for name, position, _ in head])
        start, self.starts = 2 * program.sizes.get("work", 0), {"work": program.sizes.get("work", 0)}
        for name in dict.fromkeys(name for name, _, _ in head):
            self.starts[name], start = start, start + program.sizes[name]
        self.size = start

    # -- the program of rates ----------------------------------------------------------------------
    def _blocks(self) -> Iterator[Block]:
        """The blocks, each with rates beside its numbers."""
        for block, cases in zip(self.source.blocks, self.moving.cases, strict=True):
            views = dict(block.views)
            stores = [self._stores(case, views) for case in cases]
            if any(stores):
                yield replace(block, views=views, cases=stores)

    def program(self, n_x: int) -> Program:
        """The whole program."""
        sizes = {**self.source.sizes, "x": n_x, "work": self.size}
        blocks = [*self._head(), *self._blocks()]
        return Program(self.source.name, sizes, self.source.constants, blocks, self.source.rare)

    def _stores(self, case: ProgramCase, views: dict[str, tuple[str, np.ndarray | None]]) -> list[Store]:
        """The stores of a case and of its rates; results themselves are left out."""
        seeds = {}
        for node in case.loads:
            view, position = node.args
            if self.moving.is_marked(case.entries(view, position)):
                seeds[node.index] = node.tape.input(*self._rate_of(case.block, view, position, views))
        rates = sweep_forward(case.nodes, seeds, NO_VALUES)
        stores: list[Store] = []
        for view, position, value in case.stores:
            array, entries = case.entries(view, position)
            rate: Scalar = rates.get(value.index, 0.0) if type(value) is Traced else 0.0
            if array == "out" or self.moving.is_marked((array, entries)):
                stores.append((*self._rate_of(case.block, view, position, views), rate))
        return stores + [store for store in case.stores if case.block.view(store[0])[0] != "out"]

    def _rate_of(
        self, block: Block, view: str, position: int, views: dict[str, tuple[str, np.ndarray | None]]
    ) -> tuple[str, int]:
        """View and position of the rate of an entry."""
        array, offsets = block.view(view)
        if array == "out":
            return view, position
        start = self.starts[array]
        if offsets is None:
            return "work", start + position
        name = f"{view} +{start}"  # other names than in a program of rates that is differentiated again
        views.setdefault(name, ("work", offsets + start))
        return name, position

    def _head(self) -> Iterator[Block]:
        """The loops that store the rates of arguments."""
        given = {(name, position): value for name, position, value in self.head}
        stores: list[Store] = []
        for name in self.starts:
            for position in np.flatnonzero(self.moving.marked[name]).tolist() if name != "work" else ():
                value = given.get((name, position), 0.0)
                known = type(value) is Traced or not value
                assert known, "the rate of an argument is a number that is known when code runs"
                stores.append(("work", self.starts[name] + position, value))
        yield from roll_stores(stores)
