"""Loop code without what its model does not need: entries of ``work`` that never change, and entries that nobody reads.

A link is traced with all components of its velocities, wrenches and inertias, since its parent might move in any way.
In a plane mechanism most of them are zero, or act on nothing: no axis of a joint feels them.  Straight-line code finds
that while it is traced, loop code only in the program as a whole, as here:

- An entry into which every store puts the same number is that number.  All entries are taken for numbers first; what a
  store refutes is dropped, until nothing changes.
- An entry that no result depends on is not stored.  None is taken for needed first; what a result or a needed entry
  reads is added, until nothing changes.

Both hold for all iterations of a case together, so that its code stays one, and for the whole run of the program, so
that entries are used for one purpose each (or for purposes that are alike).  Vectors are kept or dropped as a whole.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from kinode.algebra.scalars import FLOAT_FUNCTIONS, Scalar, apply
from kinode.algebra.trace import Tape, Traced, needed
from kinode.jit.program import TABLES, Block, Program, Store

UNKNOWN, NUMBER, CHANGES = range(3)  # what is known of an entry: nothing is stored there yet; one number; others too
Level = float | int | None
"""A number, ``NOTHING`` for what is not stored yet, or None for what changes."""
NOTHING = math.inf  # an infinite number is none that is worth knowing
OUTSIDE = TABLES | {"external"}


def make_lean(program: Program) -> Program:
    """The program without constant entries and dead stores of ``work``; one with a ``finish`` is left as it is."""
    if program.finish is not None or not program.sizes.get("work"):
        return program
    cases = [[_LeanCase(block, *case) for case in _cases_of(block)] for block in program.blocks]
    every = [case for several in cases for case in several]
    _KnownEntries(every, program.sizes["work"]).settle()
    _keep_needed(every, program.sizes["work"])
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


class _LeanCase:
    """The stores of one case of a block; ``levels`` are those of its nodes, ``wanted`` the stores that are kept."""

    def __init__(self, block: Block, number: int, stores: Sequence[Store], iterations: np.ndarray | None) -> None:
        self.block, self.number, self.stores, self.iterations = block, number, stores, iterations
        self.nodes = needed(value for _, _, value in stores)
        self.loads = [node for node in self.nodes if node.op == "input"]
        self.levels: dict[int, Level] = {}
        self.wanted = [False] * len(stores)
        self._offsets: dict[str, np.ndarray] = {}
        self._visited: set[int] = set()

    def entries(self, view: str, position: int) -> np.ndarray | None:
        """The entries of ``work`` that a position of a view stands for in all iterations; None in another array."""
        array, offsets = self.block.view(view)
        if array != "work":
            return None
        if offsets is None:
            return np.array([position])
        if view not in self._offsets:
            self._offsets[view] = np.unique(offsets if self.iterations is None else offsets[self.iterations])
        return self._offsets[view] + position

    def level(self, value: Scalar) -> Level:
        """What is known of a value."""
        return self.levels[value.index] if type(value) is Traced else float(value)

    def evaluate(self) -> None:
        """The levels of all nodes from those of the loads."""
        levels = self.levels
        for node in self.nodes:
            if node.op != "input":
                levels[node.index] = _level_of(node, levels)

    def needs(self, store: int) -> list[Traced]:
        """The loads that a store needs and that no other store needed before."""
        value, found = self.stores[store][2], list[Traced]()
        stack = [value] if type(value) is Traced and self.is_computed(value) else []
        while stack:
            node = stack.pop()
            if node.index in self._visited:
                continue
            self._visited.add(node.index)
            if node.op == "input":
                found.append(node)
                continue
            whole = node.op == "pack"  # loads of a vector are one
            stack += [arg for arg in node.args if type(arg) is Traced and (self.is_computed(arg) or whole)]
        return found

    def is_computed(self, node: Traced) -> bool:
        """Whether a node is no known number."""
        level = self.levels[node.index]
        return level is None or level == NOTHING


def _level_of(node: Traced, levels: dict[int, Level]) -> Level:
    """What is known of a node whose operands are known."""
    op, args = node.op, node.args
    if op == "lane":
        return levels[args[0].index]
    if op in OUTSIDE:
        return None
    known = [levels[arg.index] if type(arg) is Traced else arg for arg in args]
    if op == "mul":
        if 0.0 in known:
            return 0.0
    elif op == "pack":
        if None in known:
            return None
        numbers = {x for x in known if x != NOTHING}
        return None if len(numbers) > 1 else NOTHING if NOTHING in known else numbers.pop()
    if NOTHING in known:
        return NOTHING
    if None in known:
        return None
    value = FLOAT_FUNCTIONS[op](*known)
    return value if math.isfinite(value) else None


class _KnownEntries:
    """What is known of the entries of ``work``."""

    def __init__(self, cases: Sequence[_LeanCase], size: int) -> None:
        self.cases = cases
        self.state = np.full(size, CHANGES, dtype=np.int8)
        self.number = np.zeros(size)
        for case in cases:
            for view, position, _ in case.stores:
                entries = case.entries(view, position)
                if entries is not None:
                    self.state[entries] = UNKNOWN

    def settle(self) -> None:
        """Go through the cases until nothing changes any more."""
        while sum(self._pass(case) for case in self.cases):
            pass

    def _pass(self, case: _LeanCase) -> bool:
        """Evaluate a case with the entries as they are; whether it changes any."""
        if not self._load(case):
            return False
        case.evaluate()
        changed = False
        for view, position, value in case.stores:
            entries = case.entries(view, position)
            if entries is not None:
                changed |= self._store(entries, case.level(value))
        return changed

    def _load(self, case: _LeanCase) -> bool:
        """Find the levels of the loads; whether there is anything new."""
        levels, new = case.levels, not case.levels
        for node in case.loads:
            before = levels.get(node.index, NOTHING)
            if before is None:
                continue
            entries = case.entries(*node.args)
            levels[node.index] = level = None if entries is None else self._find(entries)
            new |= level != before
        return new

    def _find(self, entries: np.ndarray) -> Level:
        """What is known of some entries together."""
        state = self.state[entries]
        if (state == CHANGES).any():
            return None
        numbers = self.number[entries[state == NUMBER]]
        if not len(numbers):
            return NOTHING
        return float(numbers[0]) if (numbers == numbers[0]).all() else None

    def _store(self, entries: np.ndarray, level: Level) -> bool:
        """Note what is stored into some entries; whether that is new."""
        state = self.state[entries]
        if level is None:
            new = bool((state != CHANGES).any())
            if new:
                self.state[entries] = CHANGES
            return new
        if level == NOTHING:
            return False
        fresh, other = state == UNKNOWN, (state == NUMBER) & (self.number[entries] != level)
        self.state[entries[fresh]], self.number[entries[fresh]] = NUMBER, level
        self.state[entries[other]] = CHANGES
        return bool(fresh.any() or other.any())


def _keep_needed(cases: Sequence[_LeanCase], size: int) -> None:
    """Mark the stores that results depend on."""
    live = np.zeros(size, dtype=bool)
    while sum(_spread(case, live) for case in reversed(cases)):
        pass


def _spread(case: _LeanCase, live: np.ndarray) -> bool:
    """Mark the stores of a case that are needed, and what they load; whether there are new ones."""
    new = False
    vectors = {_vector_of(case, k) for k, wanted in enumerate(case.wanted) if wanted} - {None}
    for k, (view, position, _) in enumerate(case.stores):
        if case.wanted[k]:
            continue
        entries = case.entries(view, position)
        if entries is None or live[entries].any() or _vector_of(case, k) in vectors:
            case.wanted[k] = new = True
            for node in case.needs(k):
                entries = case.entries(*node.args)
                if entries is not None:
                    live[entries] = True
    return new


def _vector_of(case: _LeanCase, store: int) -> tuple[str, int] | None:
    """The view and the vector of which a store puts one entry; None for any other store."""
    view, _, value = case.stores[store]
    return (view, value.args[0].index) if type(value) is Traced and value.op == "lane" else None


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


def _rewritten(case: _LeanCase) -> list[Store]:
    """The wanted stores on a tape of their own, with numbers in place of what is known."""
    stores = [store for store, wanted in zip(case.stores, case.wanted, strict=True) if wanted]
    if all(case.wanted) and not any(type(x) is float and x != NOTHING for x in case.levels.values()):
        return stores
    tape, copies = Tape(), dict[int, Scalar]()

    def operand(arg: Scalar) -> Scalar:
        return copies[arg.index] if type(arg) is Traced else arg

    for node in needed(value for _, _, value in stores):
        if not case.is_computed(node):
            copies[node.index] = case.levels[node.index]
        elif node.op == "input":
            copies[node.index] = tape.input(*node.args)
        elif node.op == "pack":
            entries = (tape.input(*x.args) if type(x) is Traced and x.op == "input" else operand(x) for x in node.args)
            copies[node.index] = tape.pack(list(entries))
        elif node.op == "lane":
            vector, k, width = node.args
            copies[node.index] = tape.lanes(operand(vector), width)[k]
        else:
            copies[node.index] = apply(node.op, *map(operand, node.args))
    return [(view, position, operand(value)) for view, position, value in stores]
