"""Bytecode of a list of operations: groups of the same operation on many operands.

An interpreter loses most of its time where it turns from one operation to the next, because the processor cannot
foresee which it will be.  So operations that do not depend on each other are sorted: by level of dependence, and within
a level by what they do.  A group is a code, how many results it has, where the first of them goes, which function of a
library is called (else 0), and the operands of each.  Results of a group are neighbors in memory; before all results
come the constants.  Sorting changes no number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinode.jit.bytecode.operation_list import CODES, NAMES, WIDTH, OperationList, count_operands

HEAD = 4  # numbers at the beginning of a group
STORE = len(CODES)  # the code of a group of results: operand and position in ``out``
FUNCTIONS = ("exp", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "log", "atan2", "pow")  # called by address
_COUNTS = np.array([count_operands(NAMES[code]) for code in range(len(CODES))] + [2])
_FUNCTIONS = np.array([FUNCTIONS.index(name) if name in FUNCTIONS else 0 for name in CODES] + [0])


class Bytecode(NamedTuple):
    """What the interpreter reads."""

    groups: np.ndarray  # of int32; the last has the code "end"
    constants: np.ndarray
    size: int  # of the memory for constants and results
    functions: tuple[str, ...]  # that are called


def make_bytecode(listed: OperationList) -> Bytecode:
    """The bytecode of a list of operations."""
    n, n_constants = len(listed.codes), len(listed.constants)
    order = np.lexsort((listed.codes, listed.levels))
    place = np.empty(n, dtype=np.int32)
    place[order] = n_constants + np.arange(n, dtype=np.int32)

    def placed(operands: np.ndarray) -> np.ndarray:
        return np.where(operands < 0, -1 - operands, place[operands]) if n else -1 - operands

    codes, levels = listed.codes[order], listed.levels[order]
    operands = listed.operands.reshape(n, WIDTH)[order]
    plain = codes != CODES["input"]
    operands[plain] = placed(operands[plain])
    stored = np.zeros((len(listed.stores), WIDTH), dtype=np.int32)
    stored[:, 0], stored[:, 1] = placed(listed.stores[:, 1]), listed.stores[:, 0]
    codes = np.concatenate([codes, np.full(len(stored), STORE, dtype=np.int32)])
    levels = np.concatenate([levels, np.full(len(stored), n + 1, dtype=np.int32)])
    first = np.ones(len(codes), dtype=bool)  # of a group
    first[1:] = (codes[1:] != codes[:-1]) | (levels[1:] != levels[:-1])
    groups = _write_groups(codes, np.concatenate([operands, stored]), np.flatnonzero(first), n_constants)
    functions = tuple(name for name in FUNCTIONS if (listed.codes == CODES[name]).any())
    return Bytecode(groups, listed.constants, n_constants + n, functions)


def _write_groups(codes: np.ndarray, operands: np.ndarray, first: np.ndarray, n_constants: int) -> np.ndarray:
    """The numbers of all groups; ``first`` are the places of their first operations."""
    kinds = codes[first]
    counts = np.diff(np.append(first, len(codes)))
    widths = _COUNTS[kinds]
    lengths = HEAD + counts * widths
    starts = np.concatenate([[0], np.cumsum(lengths)])
    groups = np.zeros(starts[-1] + HEAD, dtype=np.int32)  # zeros at the end: the code "end"
    starts = starts[:-1]
    groups[starts], groups[starts + 1], groups[starts + 2] = kinds, counts, n_constants + first
    groups[starts + 3] = _FUNCTIONS[kinds]
    width = np.repeat(widths, counts)
    at = np.repeat(starts + HEAD, counts) + (np.arange(len(codes)) - np.repeat(first, counts)) * width
    for k in range(WIDTH):
        chosen = width > k
        groups[at[chosen] + k] = operands[chosen, k]
    return groups
