"""Programs to be compiled: straight-line code and loops over tables, on named arrays.

A ``Program`` is the interface between tracing (package ``kernels``) and code generation (``llvm_program.py``).
``interpret`` runs a program in plain Python.  It defines what a program means, and every kernel is tested against it.
This module does not use LLVM.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kinode.algebra.named_data import NamedData
from kinode.algebra.scalars import FLOAT_FUNCTIONS, Scalar
from kinode.algebra.trace import Traced, needed
from kinode.jit.loop.memory import Floats, Ints, floats_of, ints_of

FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    **FLOAT_FUNCTIONS,
    # a vector of several scalars, and one of its entries; in between only sums, products, signs and "where"
    "pack": lambda *entries: np.array(entries),
    "lane": lambda vector, k, width: float(np.broadcast_to(vector, width)[k]),
}
TABLES = frozenset({"interval", "fetch"})  # operations on tables
Store = tuple[str, int, Scalar]  # view, position, value


@dataclass(frozen=True)
class Block:
    """A loop of ``count`` iterations; with a count of one, straight-line code.

    ``views`` maps the name of a view to its array and to one offset for each iteration (None: zero).  A name that is no
    view is the array of that name.  ``cases`` lists the stores of each case, and ``case_of`` has the case of each
    iteration (None: always the first).  In one iteration all loads come before all stores, and the stores are done in
    the listed order.
    """

    count: int
    views: Mapping[str, tuple[str, np.ndarray | None]]
    cases: Sequence[Sequence[Store]]
    case_of: np.ndarray | None = None

    def view(self, name: str) -> tuple[str, np.ndarray | None]:
        """Array and offsets of a view."""
        return self.views.get(name, (name, None))

    def used_views(self) -> set[str]:
        """The views that the cases read or write."""
        names = set()
        for stores in self.cases:
            names |= {view for view, _, _ in stores}
            names |= {node.args[0] for node in needed(value for _, _, value in stores) if node.op == "input"}
        return names


@dataclass(frozen=True)
class Finish:
    """A function of the loop language (``loop/translator.py``) behind a program's blocks, with a table of integers.

    It is called as ``routine(table, work, out)``.  Its machine code is the same for all programs.
    """

    routine: Callable[[Ints, Floats, Floats], None]
    table: tuple[int, ...]

    @property
    def name(self) -> str:
        """Module and name of the function, with a colon between them."""
        return f"{self.routine.__module__}:{self.routine.__name__}"


@dataclass(frozen=True)
class Program:
    """Blocks that run one after the other on the nine arguments and on constant tables.

    ``rare`` marks a program that runs so few times that a fast compilation matters more than fast code.  A program with
    ``finish`` has one lane.
    """

    name: str
    sizes: Mapping[str, int]
    constants: Mapping[str, np.ndarray] = field(default_factory=dict)
    blocks: Sequence[Block] = ()
    rare: bool = False
    finish: Finish | None = None


def find_entries(program: Program, argument: str) -> list[int] | None:
    """The entries of an argument that straight-line code reads; None for loops, which are not analyzed."""
    if len(program.blocks) != 1 or program.blocks[0].count != 1 or program.blocks[0].views:
        return None
    if not program.sizes.get(argument):
        return []
    nodes = needed(value for case in program.blocks[0].cases for _, _, value in case)
    return sorted(node.args[1] for node in nodes if node.op == "input" and node.args[0] == argument)


def find_named(program: Program) -> list[str]:
    """The names of the data that a program reads from where they are filled in."""
    nodes = needed(value for block in program.blocks for case in block.cases for _, _, value in case)
    tables = {node.args[0].name for node in nodes if node.op in TABLES and isinstance(node.args[0], NamedData)}
    return sorted(tables | {node.args[0].function.door.name for node in nodes if node.op == "external"})


def interpret(program: Program, arrays: Mapping[str, np.ndarray]) -> None:
    """Run a program on float arrays, in place and in one lane: slow, and the reference for compiled code."""
    memory = {name: np.asarray(array, dtype=float) for name, array in program.constants.items()}
    memory.update(arrays)
    for block in program.blocks:
        nodes = [needed(value for _, _, value in stores) for stores in block.cases]
        for i in range(block.count):
            case = 0 if block.case_of is None else int(block.case_of[i])
            stores = block.cases[case]
            values = _evaluate([value for _, _, value in stores], nodes[case], block, i, memory)
            for (view, position, _), value in zip(stores, values, strict=True):
                name, offsets = block.view(view)
                memory[name][position + (0 if offsets is None else int(offsets[i]))] = value
    if program.finish is not None:
        table = np.array(program.finish.table, dtype=np.int64)
        program.finish.routine(ints_of(table), floats_of(memory["work"]), floats_of(memory["out"]))


def _evaluate(
    outputs: list[Scalar], nodes: Sequence[Traced], block: Block, i: int, memory: Mapping[str, np.ndarray]
) -> list[float]:
    """The values of the outputs in iteration i; ``nodes`` are those that they need."""
    values: dict[int, float] = {}
    for node in nodes:
        if node.op == "input":
            name, offsets = block.view(node.args[0])
            values[node.index] = float(memory[name][node.args[1] + (0 if offsets is None else int(offsets[i]))])
        else:
            args = (values[arg.index] if type(arg) is Traced else arg for arg in node.args)
            values[node.index] = FUNCTIONS[node.op](*args)
    return [values[x.index] if type(x) is Traced else float(x) for x in outputs]
