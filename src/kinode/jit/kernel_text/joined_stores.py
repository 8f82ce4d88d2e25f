"""Stores of a program's block that are done together: neighboring entries of a vector, or of one number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kinode.algebra.trace import Traced
from kinode.jit.program import Store

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
