"""Many stores of the same form as a loop: straight-line code would grow with their number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from kinode.algebra.trace import Tape, Traced, needed, replay
from kinode.jit.program import Block, Store


def roll_stores(stores: Sequence[Store]) -> Iterator[Block]:
    """Loops over stores whose values are the same operations on other entries.

    The stores go to different entries, and their values read none of them.
    """
    forms: dict[tuple[Any, ...], list[Store]] = {}
    for store in stores:
        forms.setdefault((store[0], *_form(store[2])), []).append(store)
    for alike in forms.values():
        yield _roll(alike)


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
