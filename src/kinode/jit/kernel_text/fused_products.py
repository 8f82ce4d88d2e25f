"""Finds the products that become part of the one sum that uses them: a fused multiply-add, rounded once.

The text says which products are fused.  Left to the code generator, that would depend on its level, and code of low and
of high effort would give different numbers.

Of a sum of two products one is fused, and which one decides the last bit.  The tape orders operands by their age, which
depends on what else was traced before.  So the choice follows from what the products are (``_Keys``): a kernel gives
the same numbers whether it was traced alone or beside others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache as remember
from typing import Any
from zlib import crc32

from kinode.algebra.named_data import NamedData
from kinode.algebra.trace import COMMUTATIVE, Traced


def find_fused(nodes: Sequence[Traced], stored: Iterable[Any]) -> tuple[dict[int, int], frozenset[int]]:
    """Sums by index, each with which of its operands is the product; and the indices of these products."""
    uses: dict[int, int] = {}
    for value in stored:
        if type(value) is Traced:
            uses[value.index] = uses.get(value.index, 0) + 1
    for node in nodes:
        for arg in node.args:
            if type(arg) is Traced:
                uses[arg.index] = uses.get(arg.index, 0) + 1
    wide = _find_wide(nodes)
    keys = _Keys(nodes)
    fused: dict[int, int] = {}
    products: set[int] = set()
    for node in nodes:
        if node.op not in ("add", "sub"):
            continue
        is_wide = node.index in wide
        found = [
            k
            for k, arg in enumerate(node.args)
            if type(arg) is Traced and arg.op == "mul" and uses[arg.index] == 1 and (arg.index in wide) == is_wide
        ]
        if found:
            k = found[0] if len(found) == 1 else min(found, key=lambda k: keys.of[node.args[k].index])
            fused[node.index] = k
            products.add(node.args[k].index)
    return fused, frozenset(products)


def _find_wide(nodes: Sequence[Traced]) -> set[int]:
    """The nodes that are vectors of several scalars."""
    wide: set[int] = set()
    if not any(node.op == "pack" for node in nodes):
        return wide
    for node in nodes:
        if node.op == "pack" or (
            node.op != "lane" and any(type(arg) is Traced and arg.index in wide for arg in node.args)
        ):
            wide.add(node.index)
    return wide


@remember
def _number_of(name: str) -> int:
    """A number for a text: the same in every process, unlike Python's own."""
    return crc32(name.encode())


class _Keys:
    """A number for each node that tells what it computes, up to its sign.

    Two nodes of different tapes have the same number if they compute the same from the same inputs, whatever the order
    of operands and the place of signs: ``a - b`` and ``-(b - a)`` are alike.  ``of`` has the numbers by index, and
    ``negative`` the nodes that are the opposite of what their number stands for.
    """

    def __init__(self, nodes: Sequence[Traced]) -> None:
        self.of: dict[int, int] = {}
        self.negative: set[int] = set()
        for node in nodes:
            self.of[node.index] = self._find(node)

    def _find(self, node: Traced) -> int:
        op, args = node.op, node.args
        if op == "input":
            return hash((_number_of(args[0]), args[1]))
        if op in ("add", "sub", "mul"):
            (a, minus_a), (b, minus_b) = self._signed(args[0]), self._signed(args[1])
            if a > b:
                a, b, minus_a, minus_b, swapped = b, a, minus_b, minus_a, True
            else:
                swapped = False
            if op == "mul":
                self._mark(node, minus_a != minus_b)
                return hash((2, a, b))
            if op == "sub":
                minus_a, minus_b = (not minus_a, minus_b) if swapped else (minus_a, not minus_b)
            self._mark(node, minus_a)
            return hash((1, a, b, minus_a != minus_b))
        if op in ("neg", "inv"):
            key, minus = self._signed(args[0])
            self._mark(node, minus != (op == "neg"))
            return key if op == "neg" else hash((3, key))
        keys = [key if not minus else ~key for key, minus in map(self._signed, args)]
        return hash((_number_of(op), *(sorted(keys) if op in COMMUTATIVE else keys)))

    def _mark(self, node: Traced, negative: bool) -> None:
        if negative:
            self.negative.add(node.index)

    def _signed(self, value: Any) -> tuple[int, bool]:
        """The number of an operand, and whether the operand is the opposite of it."""
        if type(value) is Traced:
            return self.of[value.index], value.index in self.negative
        if isinstance(value, NamedData):
            return _number_of(value.name), False
        if isinstance(value, tuple):
            return hash(value), False
        return hash(abs(value)), value < 0
