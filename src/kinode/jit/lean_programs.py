"""Loop code without what its model does not need: entries of ``work`` that never change, and entries that nobody reads.

A link is traced with all components of its velocities, wrenches and inertias, since its parent might move in any way.
In a plane mechanism most of them are zero, or act on nothing: no axis of a joint feels them.  Straight-line code finds
that while it is traced, loop code only in the program as a whole, as here:

- An entry into which every store puts the same number is that number.  All entries are taken for numbers first; what a
  store refutes is dropped, until nothing changes.
- An entry that no result depends on is not stored.  None is taken for needed first; what a result or a needed entry
  reads is added, until nothing changes.

Both hold for all iterations of a case together, so that its code stays one, and for the whole run of the program: an
entry with several purposes is a number only if it is the same in all of them.  Vectors are kept or dropped as a whole.

What is known of a value is its level: a finite number, ``CHANGES``, or ``UNKNOWN`` as long as nothing is stored there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from kinode.algebra.scalars import FLOAT_FUNCTIONS, Scalar, apply
from kinode.algebra.trace import Tape, Traced, needed
from kinode.jit.program import TABLES, Block, Program, Store

CHANGES, UNKNOWN = math.inf, -math.inf
OUTSIDE = TABLES | {"external"}  # operations whose results are not looked into


def make_lean(program: Program) -> Program:
    """The program without constant entries and dead stores of ``work``; one with a ``finish`` is left as it is."""
    size = program.sizes.get("work", 0)
    if program.finish is not None or not size:
        return program
    cases = [[_LeanCase(block, *case) for case in _cases_of(block)] for block in program.blocks]
    every = [case for several in cases for case in several]
    _find_numbers(every, size)
    _keep_needed(every, size)
    blocks = (_rebuilt(block, several) for block, several in zip(program.blocks, cases, strict=True))
    return replace(program, blocks=[block for block in blocks if block is not None])


def _cases_of(block: Block) -> Iterator[tuple[int, Sequence[Store], np.ndarray | None]]:
    """The cases that have iterations: number, stores, iterations (None: all)."""
    if block.case_of is None:
        if block.count:
            yield 0, block.cases[0], None
        return
    for k, stores in enumerate(block.cases):
        iterations = np.flatnonzero(block.case_of == k)
        if len(iterations):
            yield k, stores, iterations


class _Places:
    """The entries of ``work`` that some accesses stand for in all iterations, one access after the other."""

    def __init__(self, entries: Sequence[np.ndarray]) -> None:
        self.counts = np.array([len(several) for several in entries], dtype=np.int64)
        self.starts = np.cumsum(self.counts) - self.counts
        self.entries = np.concatenate(entries) if entries else np.zeros(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self.counts)

    def of(self, access: int) -> np.ndarray:
        """The entries of one access."""
        start = self.starts[access]
        return self.entries[start : start + self.counts[access]]

    def some(self, chosen: np.ndarray) -> _Places:
        """Those of some accesses, which a mask chooses."""
        return _Places([self.of(k) for k in chosen.nonzero()[0].tolist()])


class _LeanCase:
    """The stores of one case of a block; ``levels`` are those of its nodes, ``wanted`` the stores that are kept."""

    def __init__(self, block: Block, number: int, stores: Sequence[Store], iterations: np.ndarray | None) -> None:
        self.block, self.number, self.stores, self._iterations = block, number, stores, iterations
        nodes = needed(value for _, _, value in stores)
        loads = [node for node in nodes if node.op == "input"]
        self.nodes = [node for node in nodes if node.op != "input"]
        self.levels: dict[int, float] = dict.fromkeys((node.index for node in loads), CHANGES)
        self.wanted = [block.view(view)[0] != "work" for view, _, _ in stores]
        self._offsets: dict[str, np.ndarray] = {}
        self.loads = [node for node in loads if block.view(node.args[0])[0] == "work"]
        self.load_of = {node.index: k for k, node in enumerate(self.loads)}
        self.loaded = _Places([self._entries(*node.args) for node in self.loads])
        self.into_work = [k for k, outside in enumerate(self.wanted) if not outside]
        self.stored = _Places([self._entries(*stores[k][:2]) for k in self.into_work])
        self.visited: dict[int, Traced] = {}

    def _entries(self, view: str, position: int) -> np.ndarray:
        """The entries that a position of a view stands for."""
        offsets = self.block.view(view)[1]
        if offsets is None:
            return np.array([position])
        if view not in self._offsets:
            self._offsets[view] = np.unique(offsets if self._iterations is None else offsets[self._iterations])
        return self._offsets[view] + position

    def is_number(self, value: Traced) -> bool:
        """Whether a value is known."""
        return math.isfinite(self.levels[value.index])

    def visit(self, value: Scalar) -> Iterator[int]:
        """The loads that a value needs and that were not needed before."""
        stack = [value] if type(value) is Traced and not self.is_number(value) else []
        while stack:
            node = stack.pop()
            if node.index in self.visited:
                continue
            self.visited[node.index] = node
            if node.index in self.load_of:
                yield self.load_of[node.index]
            elif node.op != "input":  # loads of a vector are one
                whole, args = node.op == "pack", (arg for arg in node.args if type(arg) is Traced)
                stack += [arg for arg in args if whole or not self.is_number(arg)]


# -- numbers -----------------------------------------------------------------------------------------------------------
class _Watch:
    """A case whose loads are not all known to change yet, and what it stored so far."""

    def __init__(self, case: _LeanCase) -> None:
        self.case = case
        self.open, self.places = np.arange(len(case.loads)), case.loaded
        self.found = np.full(len(case.loads), np.nan)
        self.given = np.full(len(case.into_work), UNKNOWN)
        self.is_new = True

    def load(self, low: np.ndarray, high: np.ndarray) -> bool:
        """Find the levels of the loads from the bounds of entries; whether there is anything new."""
        new, self.is_new = self.is_new, False
        if not len(self.open):
            return new
        least = np.minimum.reduceat(low[self.places.entries], self.places.starts)
        most = np.maximum.reduceat(high[self.places.entries], self.places.starts)
        found = np.where(least == most, least + 0.0, np.where(least > most, UNKNOWN, CHANGES))
        changed = found != self.found
        for k in changed.nonzero()[0].tolist():
            self.case.levels[self.case.loads[self.open[k]].index] = float(found[k])
        still = found != CHANGES
        if not still.all():
            self.open, self.places, found = self.open[still], self.places.some(still), found[still]
        self.found = found
        return new or bool(changed.any())

    def store(self, low: np.ndarray, high: np.ndarray) -> None:
        """Evaluate the case and widen the bounds of the entries that it stores into."""
        case, levels = self.case, self.case.levels
        for node in case.nodes:
            levels[node.index] = _level_of(node, levels)
        values = (case.stores[k][2] for k in case.into_work)
        given = np.array([_level_of_operand(x, levels) for x in values], dtype=float)
        new = given != self.given
        if new.any():
            places = case.stored if new.all() else case.stored.some(new)
            each = np.repeat(given[new], places.counts)
            np.minimum.at(low, places.entries, np.where(np.isinf(each), -each, each))
            np.maximum.at(high, places.entries, each)
        self.given = given


def _find_numbers(cases: Sequence[_LeanCase], size: int) -> None:
    """Find the levels of all nodes: go through the cases until nothing changes any more."""
    low, high = np.full(size, -math.inf), np.full(size, math.inf)  # bounds of what is stored in each entry
    for case in cases:
        low[case.stored.entries], high[case.stored.entries] = math.inf, -math.inf
    watched, busy = [_Watch(case) for case in cases], True
    while busy:
        busy = False
        for watch in watched:
            if watch.load(low, high):
                watch.store(low, high)
                busy = True


def _level_of_operand(value: Scalar, levels: dict[int, float]) -> float:
    """What is known of an operand; infinity and what is no number count as changing."""
    if type(value) is Traced:
        return levels[value.index]
    number = float(value)
    return number if math.isfinite(number) else CHANGES


def _level_of(node: Traced, levels: dict[int, float]) -> float:
    """What is known of a node whose operands are known."""
    op, args = node.op, node.args
    if op == "lane":
        return levels[args[0].index]
    if op in OUTSIDE:
        return CHANGES
    known = [_level_of_operand(arg, levels) for arg in args]
    if op == "mul":
        if 0.0 in known:
            return 0.0
    elif op == "pack":
        numbers = {x for x in known if x != UNKNOWN}
        if len(numbers) > 1 or CHANGES in numbers:
            return CHANGES
    if UNKNOWN in known:
        return UNKNOWN
    if CHANGES in known:
        return CHANGES
    value: float = known[0] if op == "pack" else FLOAT_FUNCTIONS[op](*known)
    return value if math.isfinite(value) else CHANGES


# -- needed stores -----------------------------------------------------------------------------------------------------
def _keep_needed(cases: Sequence[_LeanCase], size: int) -> None:
    """Mark the stores that results depend on."""
    live = np.zeros(size, dtype=bool)
    for case in cases:
        for (_, _, value), outside in zip(case.stores, case.wanted, strict=True):
            if outside:
                _need(case, value, live)
    while sum(_spread(case, live) for case in reversed(cases)):
        pass


def _need(case: _LeanCase, value: Scalar, live: np.ndarray) -> None:
    """Mark the entries that a value needs."""
    for load in case.visit(value):
        live[case.loaded.of(load)] = True


def _spread(case: _LeanCase, live: np.ndarray) -> bool:
    """Mark the stores of a case that are needed, and what they load; whether there are new ones."""
    if not case.into_work:
        return False
    read = np.logical_or.reduceat(live[case.stored.entries], case.stored.starts)
    chosen = [k for k, found in zip(case.into_work, read.tolist(), strict=True) if found and not case.wanted[k]]
    if not chosen:
        return False
    vectors = {_vector_of(case, k) for k in chosen} - {None}
    chosen += [k for k in case.into_work if vectors and _vector_of(case, k) in vectors]
    for k in chosen:
        case.wanted[k] = True
        _need(case, case.stores[k][2], live)
    return True


def _vector_of(case: _LeanCase, store: int) -> tuple[str, int] | None:
    """The view and the vector of which a store puts one entry; None for any other store."""
    view, _, value = case.stores[store]
    return (view, value.args[0].index) if type(value) is Traced and value.op == "lane" else None


# -- the program that is left ------------------------------------------------------------------------------------------
def _rebuilt(block: Block, cases: Sequence[_LeanCase]) -> Block | None:
    """The block with the stores that are wanted; None if there are none."""
    stores: list[Sequence[Store]] = [()] * len(block.cases)
    for case in cases:
        stores[case.number] = _rewritten(case)
    filled = [k for k, several in enumerate(stores) if several]
    if not filled:
        return None
    if block.case_of is None or len(filled) == len(cases):
        return replace(block, cases=stores)
    kept = np.flatnonzero(np.isin(block.case_of, filled))
    views = {name: (array, None if at is None else at[kept]) for name, (array, at) in block.views.items()}
    return Block(len(kept), views, stores, block.case_of[kept])


def _rewritten(case: _LeanCase) -> Sequence[Store]:
    """The wanted stores on a tape of their own, with numbers in place of what is known."""
    if all(case.wanted) and not any(map(math.isfinite, case.levels.values())):
        return case.stores
    tape, copies = Tape(), dict[int, Scalar]()

    def operand(arg: Scalar) -> Scalar:
        if type(arg) is not Traced:
            return arg
        return case.levels[arg.index] if case.is_number(arg) else copies[arg.index]

    for index in sorted(case.visited):
        node = case.visited[index]
        match node.op:
            case "input":
                copies[index] = tape.input(*node.args)
            case "pack":
                entries = (copies[x.index] if type(x) is Traced and x.op == "input" else operand(x) for x in node.args)
                copies[index] = tape.pack(list(entries))
            case "lane":
                vector, k, width = node.args
                copies[index] = tape.lanes(operand(vector), width)[k]
            case op:
                copies[index] = apply(op, *map(operand, node.args))
    wanted = (store for store, kept in zip(case.stores, case.wanted, strict=True) if kept)
    return [(view, position, operand(value)) for view, position, value in wanted]
