"""What all writers of a program find before they write it: uses, fused products, early stores, joined stores.

A product that one sum alone uses becomes a part of it: a fused multiply-add, rounded once.  The text says which
products are fused.  Left to the code generator, that would depend on its level, and code of low and of high effort
would give different numbers.  Of a sum of two products one is fused, and which one decides the last bit.  The tape
orders operands by their age, which depends on what else was traced before.  So the choice follows from what the
products are (``set_keys``): a kernel gives the same numbers whether it was traced alone or beside others.

Stores that are done together are those of neighboring entries of a vector, or of one number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache as remember
from typing import Any
from zlib import crc32

from kinode.algebra.named_data import ExternalResult, NamedData
from kinode.algebra.scalars import COMMUTATIVE
from kinode.algebra.trace import Traced
from kinode.jit.program import Store

MASK = (1 << 60) - 1
NOT_A_NUMBER = 0x5DEECE66D  # any odd number


def find_fused(nodes: Sequence[Traced], uses: Sequence[int]) -> tuple[dict[int, int], frozenset[int]]:
    """Sums by index, each with which of its operands is the product; and the indices of these products.

    ``uses`` says how often each node is an operand or a result, by index.
    """
    wide = _find_wide(nodes)
    is_keyed = False
    fused: dict[int, int] = {}
    products: set[int] = set()
    for node in nodes:
        if node.op != "add" and node.op != "sub":
            continue
        best = -1
        for k, arg in enumerate(node.args):
            if type(arg) is not Traced or arg.op != "mul" or uses[arg.index] != 1:
                continue
            if wide and (arg.index in wide) != (node.index in wide):
                continue
            if best >= 0 and not is_keyed:
                set_keys(nodes)
                is_keyed = True
            if best < 0 or abs(arg.key) < abs(node.args[best].key):
                best = k
        if best >= 0:
            fused[node.index] = best
            products.add(node.args[best].index)
    return fused, frozenset(products)


def count_uses(nodes: Sequence[Traced], stored: Iterable[Any]) -> list[int]:
    """How often each node is an operand or a result, by index."""
    uses = [0] * (nodes[-1].index + 1 if nodes else 0)
    for arg in stored:
        if type(arg) is Traced:
            uses[arg.index] += 1
    for node in nodes:
        for arg in node.args:
            if type(arg) is Traced:
                uses[arg.index] += 1
    return uses


def find_early(
    stores: Sequence[Store], nodes: Sequence[Traced], array_of: Callable[[str], str]
) -> dict[int, list[Store]]:
    """The stores that may be done as soon as their values are known, by the index of the value.

    They are those into arrays that nothing reads here; ``array_of`` gives the array of a view.
    """
    early: dict[int, list[Store]] = {}
    if len({(view, position) for view, position, _ in stores}) < len(stores):
        return early  # of several stores into one place the last counts
    read = {array_of(node.args[0]) for node in nodes if node.op == "input"}
    for store in stores:
        view, _, value = store
        if type(value) is Traced and array_of(view) not in read:
            early.setdefault(value.index, []).append(store)
    return early


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


def _key_of(value: Any) -> int:
    """The key of an operand that is no node: a number, the numbers of a table, or an external function."""
    if isinstance(value, (NamedData, ExternalResult)):
        return _number_of(value.name) | 1
    if isinstance(value, tuple):
        return (hash(value) & MASK) | 1
    if value != value:  # Python's number for what is no number is another in every process
        return NOT_A_NUMBER
    key = (hash(abs(value)) & MASK) | 1
    return -key if value < 0 else key


def set_keys(nodes: Sequence[Traced]) -> None:
    """Give each node the number that tells what it computes; that of its opposite is the negative one.

    Nodes of different tapes have the same number if they compute the same from the same inputs, whatever the order of
    operands and the place of signs: ``a - b`` and ``-(b - a)`` are alike.
    """
    for node in nodes:
        if node.key:  # kernels of one tape share most of their nodes
            continue
        op, args = node.op, node.args
        if op == "mul" or op == "add" or op == "sub":  # nearly all of them
            x, y = args
            a = x.key if type(x) is Traced else _key_of(x)
            b = y.key if type(y) is Traced else _key_of(y)
            if op == "mul":
                sign = 1 if (a < 0) == (b < 0) else -1
                a, b = abs(a), abs(b)
                key = hash((2, a, b) if a < b else (2, b, a))
            else:
                if op == "sub":
                    b = -b
                if abs(a) > abs(b):
                    a, b = b, a
                sign = 1 if a > 0 else -1
                key = hash((1, abs(a), b * sign))
            node.key = sign * ((key & MASK) | 1)
        else:
            node.key = _find_rare_key(op, args)


def _find_rare_key(op: str, args: tuple[Any, ...]) -> int:
    """The key of what is no sum and no product."""
    if op == "input":
        return (hash((_number_of(args[0]), args[1])) & MASK) | 1
    operands = [arg.key if type(arg) is Traced else _key_of(arg) for arg in args]
    if op == "neg":
        return -operands[0]
    if op == "inv":
        sign, key = (1 if operands[0] > 0 else -1), hash((3, abs(operands[0])))
    else:
        sign, key = 1, hash((_number_of(op), *(sorted(operands) if op in COMMUTATIVE else operands)))
    return sign * ((key & MASK) | 1)


WIDTH = 4  # numbers that one store writes: those of a register


def join_lanes(stores: Iterable[Store]) -> list[Store]:
    """The stores, with those of all entries of a vector into neighboring places as one store of the vector."""
    joined: list[Store] = []
    waiting: list[Store] = []
    for store in stores:
        view, position, value = store
        if type(value) is Traced and value.op == "lane":
            vector, k, width = value.args
            follows = waiting and (view, position - k, vector) == (*waiting[0][:2], waiting[0][2].args[0])
            if k == 0 or (follows and k == len(waiting)):
                joined += waiting if k == 0 else []
                waiting = [store] if k == 0 else [*waiting, store]
                if len(waiting) == width:
                    joined.append((view, waiting[0][1], vector))
                    waiting = []
                continue
        joined += [*waiting, store]
        waiting = []
    return [*joined, *waiting]


def join_constants(stores: Sequence[Store]) -> list[Store]:
    """The stores, with those of one number into several neighboring places as one store of a tuple."""
    joined: list[Store] = []
    for store in stores:
        view, position, value = store
        if type(value) is not Traced and joined and len(joined[-1][2] if type(joined[-1][2]) is tuple else ()) < WIDTH:
            before_view, before, numbers = joined[-1]
            numbers = numbers if type(numbers) is tuple else (numbers,)
            follows = before_view == view and before + len(numbers) == position
            if follows and type(numbers[0]) is not Traced and all(float(x) == float(value) for x in numbers):
                joined[-1] = (view, before, (*numbers, value))
                continue
        joined.append(store)
    return joined
