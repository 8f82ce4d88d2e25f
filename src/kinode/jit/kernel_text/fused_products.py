"""Finds the products that become part of the one sum that uses them: a fused multiply-add, rounded once.

The text says which products are fused.  Left to the code generator, that would depend on its level, and code of low and
of high effort would give different numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from kinode.algebra.trace import Traced


def find_fused(nodes: Sequence[Traced], stored: Iterable[Any]) -> tuple[dict[int, int], frozenset[int]]:
    """Sums by index, each with which of its operands is the product; and the indices of these products."""
    uses = Counter(x.index for x in stored if type(x) is Traced)
    uses.update(arg.index for node in nodes for arg in node.args if type(arg) is Traced)
    wide = _find_wide(nodes)
    fused: dict[int, int] = {}
    products: set[int] = set()
    for node in nodes:
        if node.op not in ("add", "sub"):
            continue
        for k, arg in enumerate(node.args):
            is_product = type(arg) is Traced and arg.op == "mul" and uses[arg.index] == 1
            if is_product and (arg.index in wide) == (node.index in wide):
                fused[node.index] = k
                products.add(arg.index)
                break
    return fused, frozenset(products)


def _find_wide(nodes: Sequence[Traced]) -> set[int]:
    """The nodes that are vectors of several scalars."""
    wide: set[int] = set()
    for node in nodes:
        if node.op == "pack" or (
            node.op != "lane" and any(type(arg) is Traced and arg.index in wide for arg in node.args)
        ):
            wide.add(node.index)
    return wide
