"""Derivatives of a program along a direction, as a program: every number gets a rate beside it.

Loop code is differentiated as it stands, so that its derivatives have the same loops, and their time to compile does
not depend on the number of links.  A case of a block is swept forward once (``tape_sweeps.py``); the rates of what it
loads and stores are entries of ``work`` behind those of the program itself.

Which entries have rates is found before: those that depend on an argument with a rate.  Entries that one case reads at
one place in different iterations have rates together, so that the code of the case is the same for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from kinode.algebra.scalars import Scalar
from kinode.algebra.trace import Tape, Traced, needed
from kinode.jit.program import Block, Program, Store
from kinode.kernels.derivatives.tape_sweeps import NO_VALUES, PIECEWISE_CONSTANT, sweep_forward

Entries = tuple[str, np.ndarray]
"""An array and positions in it."""


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


class _Case:
    """The stores of one case of a block, and the iterations in which they are done."""

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


class _Differentiation:
    """One program and which of its entries have rates.

    In ``work`` the program itself comes first, then its rates, then those of arguments.
    """

    def __init__(self, program: Program, head: Sequence[Store]) -> None:
        self.source, self.head = program, head
        self.cases = [[_Case(block, *case) for case in _cases_of(block)] for block in program.blocks]
        self.has_rate = {name: np.zeros(size, dtype=bool) for name, size in program.sizes.items()}
        start, self.starts = 2 * program.sizes.get("work", 0), {"work": program.sizes.get("work", 0)}
        for name in dict.fromkeys(name for name, _, _ in head):
            self.starts[name], start = start, start + program.sizes[name]
        self.size = start
        for name, position, _ in head:
            self.has_rate[name][position] = True
        while self._spread():
            pass

    # -- which entries have rates ------------------------------------------------------------------
    def _spread(self) -> bool:
        """Mark entries that depend on marked ones; whether there are new ones."""
        return sum(self._spread_in(case) for cases in self.cases for case in cases) > 0

    def _spread_in(self, case: _Case) -> bool:
        loads = {node.index: case.entries(*node.args) for node in case.loads}
        assert all(array != "out" for array, _ in loads.values()), "the program reads its results"
        moving = {index for index, entries in loads.items() if self._is_marked(entries)}
        marked = [self._mark(loads[index]) for index in moving]
        moving = case.moving(moving)
        for view, position, value in case.stores:
            entries = case.entries(view, position)
            if (type(value) is Traced and value.index in moving) or self._is_marked(entries):
                marked.append(self._mark(entries))
        return any(marked)

    def _is_marked(self, entries: Entries) -> bool:
        array, positions = entries
        return array in self.has_rate and bool(self.has_rate[array][positions].any())

    def _mark(self, entries: Entries) -> bool:
        array, positions = entries
        new = not self.has_rate[array][positions].all()
        if new:
            self.has_rate[array][positions] = True
        return new

    # -- the program of rates ----------------------------------------------------------------------
    def _blocks(self) -> Iterator[Block]:
        """The blocks, each with rates beside its numbers."""
        for block, cases in zip(self.source.blocks, self.cases, strict=True):
            views = dict(block.views)
            stores = [self._stores(case, views) for case in cases]
            if any(stores):
                yield replace(block, views=views, cases=stores)

    def program(self, n_x: int) -> Program:
        """The whole program."""
        sizes = {**self.source.sizes, "x": n_x, "work": self.size}
        blocks = [*self._head(), *self._blocks()]
        return Program(self.source.name, sizes, self.source.constants, blocks, self.source.rare)

    def _stores(self, case: _Case, views: dict[str, tuple[str, np.ndarray | None]]) -> list[Store]:
        """The stores of a case and of its rates; results themselves are left out."""
        seeds = {}
        for node in case.loads:
            view, position = node.args
            if self._is_marked(case.entries(view, position)):
                seeds[node.index] = node.tape.input(*self._rate_of(case.block, view, position, views))
        rates = sweep_forward(case.nodes, seeds, NO_VALUES)
        stores: list[Store] = []
        for view, position, value in case.stores:
            array, entries = case.entries(view, position)
            rate: Scalar = rates.get(value.index, 0.0) if type(value) is Traced else 0.0
            if array == "out" or self._is_marked((array, entries)):
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
        name = f"rate {view}"
        views.setdefault(name, ("work", offsets + start))
        return name, position

    def _head(self) -> Iterator[Block]:
        """The blocks that store the rates of arguments: copies of entries of x as a loop, others as they are."""
        copied, others, zeros = [], [], []
        given = {(name, position): value for name, position, value in self.head}
        for name in self.starts:
            if name == "work":
                continue
            for position in np.flatnonzero(self.has_rate[name]).tolist():
                at, value = self.starts[name] + position, given.get((name, position), 0.0)
                if type(value) is Traced and value.op == "input" and value.args[0] == "x":
                    copied.append((at, value.args[1]))
                elif type(value) is Traced:
                    others.append(("work", at, value))
                else:
                    zeros.append((at, value))
        assert not any(value for _, value in zeros), "the rate of an argument is a number that is known when code runs"
        if copied:
            table = np.array(copied, dtype=np.int64)
            views = {"to": ("work", table[:, 0]), "from": ("x", table[:, 1])}
            yield Block(len(table), views, [[("to", 0, Tape().input("from", 0))]])
        if zeros:
            positions = np.array([position for position, _ in zeros], dtype=np.int64)
            yield Block(len(positions), {"to": ("work", positions)}, [[("to", 0, 0.0)]])
        for k in range(0, len(others), STORES_PER_BLOCK):
            yield Block(1, {}, [others[k : k + STORES_PER_BLOCK]])


def _cases_of(block: Block) -> Iterator[tuple[Sequence[Store], np.ndarray | None]]:
    """The stores of each case with its iterations; None for all of them."""
    for k, stores in enumerate(block.cases):
        yield stores, None if block.case_of is None else np.flatnonzero(block.case_of == k)


STORES_PER_BLOCK = 48  # of straight-line code: memory operations of one block cost LLVM more than quadratic time
