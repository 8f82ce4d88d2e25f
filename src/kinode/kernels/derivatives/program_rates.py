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
from typing import Any

import numpy as np

from kinode.algebra.scalars import PIECEWISE_CONSTANT, Scalar, apply
from kinode.algebra.trace import Tape, Traced, needed, replay
from kinode.jit.program import Block, Program, Store
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


TABLED = frozenset({"add", "sub", "mul", "store"})  # what may have a number of a table as operand


def roll_stores(stores: Sequence[Store]) -> Iterator[Block]:
    """Loops over stores whose values are the same operations on other entries.

    The stores go to different entries, and their values read none of them.
    """
    forms: dict[tuple[Any, ...], list[Store]] = {}
    for store in stores:
        forms.setdefault((store[0], *_form(store[2])), []).append(store)
    for alike in forms.values():
        yield _roll(alike)


def roll_groups(groups: Iterable[Sequence[Store]], name: str, constants: dict[str, np.ndarray]) -> Iterator[Block]:
    """Loops over groups of stores, whose values are the same operations on other entries and with other numbers.

    The groups run one after the other, in another order; no view stands for an array.  Numbers that are not the same in
    all groups of a loop go to a table among ``constants``, whose name begins with ``name``.
    """
    forms: dict[tuple[Any, ...], list[_Group]] = {}
    for stores in groups:
        group = _Group(stores)
        forms.setdefault(group.form, []).append(group)
    for number, alike in enumerate(forms.values()):
        yield _roll_group(alike, f"{name}{number}", constants)


class _Group:
    """Some stores: their form, the entries that they store and load, and the numbers among their operands."""

    def __init__(self, stores: Sequence[Store]) -> None:
        self.stores = stores
        self.nodes = needed(value for _, _, value in stores)
        self.entries = [(array, position) for array, position, _ in stores]
        self.numbers: list[float] = []
        place: dict[int, int] = {}
        form: list[Any] = []
        for node in self.nodes:
            place[node.index] = len(place)
            if node.op == "input":
                self.entries.append(node.args)
                form.append((node.op, node.args[0]))
            else:
                form.append((node.op, *(self._operand(node.op, arg, place) for arg in node.args)))
        form += [(array, self._operand("store", value, place)) for array, _, value in stores]
        self.form = tuple(form)

    def _operand(self, op: str, arg: object, place: dict[int, int]) -> object:
        """What stands for an operand in the form: a number's place is that in the list of numbers."""
        if type(arg) is Traced:
            return "node", place[arg.index]
        if type(arg) is not float or op not in TABLED:
            return arg
        self.numbers.append(arg)
        return "number"

    def again(self, inputs: Sequence[Scalar], numbers: Sequence[Scalar]) -> list[Scalar]:
        """The values of the stores with other loads and numbers."""
        values: dict[int, Scalar] = {}
        loads, others = iter(inputs), iter(numbers)

        def operand(op: str, arg: Any) -> Scalar:
            if type(arg) is Traced:
                return values[arg.index]
            return arg if type(arg) is not float or op not in TABLED else next(others)

        for node in self.nodes:
            arguments = [operand(node.op, arg) for arg in node.args] if node.op != "input" else []
            values[node.index] = next(loads) if node.op == "input" else apply(node.op, *arguments)
        return [operand("store", value) for _, _, value in self.stores]


def _roll_group(alike: Sequence[_Group], name: str, constants: dict[str, np.ndarray]) -> Block:
    """One loop over groups of one form."""
    tape, first, count = Tape(), alike[0], len(alike)
    numbers = np.array([group.numbers for group in alike]).reshape(count, -1)
    differ = (numbers != numbers[0]).any(axis=0)
    literals: list[Scalar] = list(numbers[0].tolist())
    views: dict[str, tuple[str, np.ndarray | None]] = {}
    if differ.any():
        constants[name] = numbers[:, differ].ravel()
        views["numbers"] = name, int(differ.sum()) * np.arange(count, dtype=np.int64)
        for position, k in enumerate(np.flatnonzero(differ).tolist()):
            literals[k] = tape.input("numbers", position)
    places = np.array([[position for _, position in group.entries] for group in alike], dtype=np.int64)
    sites: list[tuple[str, int]] = []
    known: dict[tuple[str, bytes], tuple[str, int]] = {}  # entries at fixed distances have one view
    for k, (array, position) in enumerate(first.entries):
        moves = places[:, k] - position
        view, start = known.setdefault((array, moves.tobytes()), (f"entry {len(known)}", position))
        views.setdefault(view, (array, places[:, k]))
        sites.append((view, position - start))
    n = len(first.stores)
    values = first.again([tape.input(*site) for site in sites[n:]], literals)
    return Block(count, views, [[(*site, value) for site, value in zip(sites[:n], values, strict=True)]])


def _loads(value: object) -> list[Traced]:
    return [node for node in needed([value]) if node.op == "input"]


def _form(value: object) -> tuple[Any, ...]:
    """The operations of a value, with loads told apart by their arrays alone."""
    if type(value) is not Traced:
        return (value,)
    number: dict[int, int] = {}
    form: list[Any] = []
    for node in needed([value]):
        number[node.index] = len(number)
        args = node.args[:1] if node.op == "input" else [_operand(arg, number) for arg in node.args]
        form.append((node.op, *args))
    return (number[value.index], *form)


def _operand(arg: object, number: dict[int, int]) -> object:
    return ("node", number[arg.index]) if type(arg) is Traced else arg


def _roll(alike: Sequence[Store]) -> Block:
    """One loop over stores of one form."""
    tape, (array, _, value) = Tape(), alike[0]
    views = {"to": (array, np.array([position for _, position, _ in alike], dtype=np.int64))}
    first = _loads(value)
    table = np.array([[node.args[1] for node in _loads(each)] for _, _, each in alike], dtype=np.int64)
    inputs = {}
    for k, node in enumerate(first):
        views[f"from {k}"] = node.args[0], table[:, k]
        inputs[node.args] = tape.input(f"from {k}", 0)
    return Block(len(alike), views, [[("to", 0, replay([value], inputs)[0])]])


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
