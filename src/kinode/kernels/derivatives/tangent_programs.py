"""Derivatives of a program along a direction, as a program: every number gets a rate beside it.

Loop code is differentiated as it stands, so that its derivatives have the same loops, and their time to compile does
not depend on the number of links.  A case of a block is swept forward once (``tape_sweeps.py``); the rates of what it
loads and stores are entries of ``work`` behind those of the program itself.

Which entries have rates is found before: those that depend on an argument with a rate (``moving_entries.py``).  A
program of rates can be differentiated again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from kinode.algebra.scalars import Scalar
from kinode.algebra.trace import Traced
from kinode.jit.program import Block, Program, Store
from kinode.kernels.derivatives.like_stores import roll_stores
from kinode.kernels.derivatives.moving_entries import MovingEntries, ProgramCase
from kinode.kernels.derivatives.tape_sweeps import NO_VALUES, sweep_forward


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
