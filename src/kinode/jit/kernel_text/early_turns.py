"""Sines and cosines of loop code, computed before the loops for several angles at a time.

A link has one angle, so that a loop over links would compute one sine after the other.  Angles that are entries of an
argument are known before all loops: a loop of its own takes ``AT_ONCE`` of them in one iteration, where the writer of
code makes vectors of them (``jit/llvm_case.py``), and the others load what it stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kinode.algebra.scalars import Scalar, apply
from kinode.algebra.trace import Tape, Traced, needed
from kinode.jit.program import Block, Program, Store

AT_ONCE = 4  # angles of one iteration
FEWEST = 8  # angles for which it pays
TURNS = ("sin", "cos")
NO_ENTRY = -1
Angle = tuple[str, int]
"""An entry of an argument."""


def compute_turns_early(program: Program) -> Program:
    """The program with sines and cosines of entries of its arguments in front of its loops."""
    written = {block.view(view)[0] for block in program.blocks for case in block.cases for view, _, _ in case}
    outside = set(program.sizes) - written - {"work", "out"}
    angles: dict[Angle, int] = {}
    found = [_angles_of(block, outside) if block.count > 1 else {} for block in program.blocks]
    for turned in found:
        for array, entries in turned.values():
            for entry in entries[entries != NO_ENTRY].tolist():
                angles.setdefault((array, entry), len(angles))
    if len(angles) < FEWEST or program.finish is not None:
        return program
    start = program.sizes["work"]
    blocks = [_loading(block, turned, angles, start) for block, turned in zip(program.blocks, found, strict=True)]
    sizes = {**program.sizes, "work": start + 2 * (len(angles) + AT_ONCE)}
    return replace(program, sizes=sizes, blocks=[*_computing(list(angles), start), *blocks])


def _angles_of(block: Block, outside: set[str]) -> dict[tuple[str, int], tuple[str, np.ndarray]]:
    """The loads whose sines and cosines a block needs, by view and position: array and entry of each iteration.

    The entry is ``NO_ENTRY`` where the case of the iteration needs none: it may lie outside the array.
    """
    found: dict[tuple[str, int], tuple[str, np.ndarray]] = {}
    for number, stores in enumerate(block.cases):
        here = np.ones(block.count, dtype=bool) if block.case_of is None else block.case_of == number
        for node in needed(value for _, _, value in stores):
            if node.op in TURNS and type(node.args[0]) is Traced and node.args[0].op == "input":
                view, position = node.args[0].args
                array, offsets = block.view(view)
                if array in outside and offsets is not None:
                    nothing = np.full(block.count, NO_ENTRY, dtype=np.int64)
                    _, entries = found.setdefault((view, position), (array, nothing))
                    entries[here] = offsets[here] + position
    return found


def _computing(angles: Sequence[Angle], start: int) -> list[Block]:
    """The loops that store sine and cosine of each angle, one for each array."""
    blocks = []
    for array in dict.fromkeys(array for array, _ in angles):
        numbers = [k for k, (name, _) in enumerate(angles) if name == array]
        numbers += numbers[-1:] * (-len(numbers) % AT_ONCE)
        at, entries = start + 2 * np.array(numbers), np.array([angles[k][1] for k in numbers])
        views: dict[str, tuple[str, np.ndarray | None]] = {}
        stores: list[Store] = []
        tape = Tape()
        for k in range(AT_ONCE):
            views |= {f"angle{k}": (array, entries[k::AT_ONCE]), f"turn{k}": ("work", at[k::AT_ONCE])}
            angle = tape.input(f"angle{k}", 0)
            stores += [(f"turn{k}", i, apply(name, angle)) for i, name in enumerate(TURNS)]
        blocks.append(Block(len(numbers) // AT_ONCE, views, [stores]))
    return blocks


def _loading(
    block: Block, turned: dict[tuple[str, int], tuple[str, np.ndarray]], angles: dict[Angle, int], start: int
) -> Block:
    """A block that loads sines and cosines in the place of computing them."""
    if not turned:
        return block
    views = dict(block.views)
    for (view, position), (array, entries) in turned.items():
        numbers = np.array([angles.get((array, entry), 0) for entry in entries.tolist()], dtype=np.int64)
        views[_name(view, position)] = ("work", start + 2 * numbers)
    return replace(block, views=views, cases=[_rewritten(stores, turned) for stores in block.cases])


def _name(view: str, position: int) -> str:
    """The view of sine and cosine of an entry of another view."""
    return f"turn of {view} {position}"


def _rewritten(stores: Sequence[Store], turned: dict[tuple[str, int], tuple[str, np.ndarray]]) -> Sequence[Store]:
    """The stores of a case on a tape of their own, with loads in the place of sines and cosines."""
    tape, copies = Tape(), dict[int, Scalar]()

    def operand(arg: Scalar) -> Scalar:
        return copies[arg.index] if type(arg) is Traced else arg

    for node in needed(value for _, _, value in stores):
        angle = node.args[0]
        if node.op == "input":
            copies[node.index] = tape.input(*node.args)
        elif node.op in TURNS and type(angle) is Traced and angle.op == "input" and angle.args in turned:
            copies[node.index] = tape.input(_name(*angle.args), TURNS.index(node.op))
        elif node.op == "pack":
            copies[node.index] = tape.pack([operand(x) for x in node.args])
        elif node.op == "lane":
            copies[node.index] = tape.lanes(operand(angle), node.args[2])[node.args[1]]
        else:
            copies[node.index] = apply(node.op, *map(operand, node.args))
    return [(view, position, operand(value)) for view, position, value in stores]
