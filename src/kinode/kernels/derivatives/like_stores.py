"""Many stores of the same form as a loop: straight-line code would grow with their number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from kinode.algebra.scalars import Scalar, apply
from kinode.algebra.trace import Tape, Traced, needed, replay
from kinode.jit.program import Block, Store

TABLED = frozenset({"add", "sub", "mul", "store"})  # what may have a number of a table as operand


def roll_stores(stores: Sequence[Store]) -> Iterator[Block]:
    """Loops over stores whose values are the same operations on other entries.

    The stores go to different entries, and their values read none of them.
    """
    forms: dict[tuple[Any, ...], list[Store]] = {}
    for store in stores:
        forms.setdefault((store[0], *_form(store[2])), []).append(store)
    for alike in forms.values():
        yield _roll(alike)


def roll_groups(groups: Iterable[Sequence[Store]], name: str, constants: dict[str, np.ndarray]) -> Iterator[Block]:
    """Loops over groups of stores, whose values are the same operations on other entries and with other numbers.

    The groups run one after the other, in another order; no view stands for an array.  Numbers that are not the same in
    all groups of a loop go to a table among ``constants``, whose name begins with ``name``.
    """
    forms: dict[tuple[Any, ...], list[_Group]] = {}
    for stores in groups:
        group = _Group(stores)
        forms.setdefault(group.form, []).append(group)
    for number, alike in enumerate(forms.values()):
        yield _roll_group(alike, f"{name}{number}", constants)


class _Group:
    """Some stores: their form, the entries that they store and load, and the numbers among their operands."""

    def __init__(self, stores: Sequence[Store]) -> None:
        self.stores = stores
        self.nodes = needed(value for _, _, value in stores)
        self.entries = [(array, position) for array, position, _ in stores]
        self.numbers: list[float] = []
        place: dict[int, int] = {}
        form: list[Any] = []
        for node in self.nodes:
            place[node.index] = len(place)
            if node.op == "input":
                self.entries.append(node.args)
                form.append((node.op, node.args[0]))
            else:
                form.append((node.op, *(self._operand(node.op, arg, place) for arg in node.args)))
        form += [(array, self._operand("store", value, place)) for array, _, value in stores]
        self.form = tuple(form)

    def _operand(self, op: str, arg: object, place: dict[int, int]) -> object:
        """What stands for an operand in the form: a number's place is that in the list of numbers."""
        if type(arg) is Traced:
            return "node", place[arg.index]
        if type(arg) is not float or op not in TABLED:
            return arg
        self.numbers.append(arg)
        return "number"

    def again(self, inputs: Sequence[Scalar], numbers: Sequence[Scalar]) -> list[Scalar]:
        """The values of the stores with other loads and numbers."""
        values: dict[int, Scalar] = {}
        loads, others = iter(inputs), iter(numbers)

        def operand(op: str, arg: Any) -> Scalar:
            if type(arg) is Traced:
                return values[arg.index]
            return arg if type(arg) is not float or op not in TABLED else next(others)

        for node in self.nodes:
            arguments = [operand(node.op, arg) for arg in node.args] if node.op != "input" else []
            values[node.index] = next(loads) if node.op == "input" else apply(node.op, *arguments)
        return [operand("store", value) for _, _, value in self.stores]


def _roll_group(alike: Sequence[_Group], name: str, constants: dict[str, np.ndarray]) -> Block:
    """One loop over groups of one form."""
    tape, first, count = Tape(), alike[0], len(alike)
    numbers = np.array([group.numbers for group in alike]).reshape(count, -1)
    differ = (numbers != numbers[0]).any(axis=0)
    literals: list[Scalar] = list(numbers[0].tolist())
    views: dict[str, tuple[str, np.ndarray | None]] = {}
    if differ.any():
        constants[name] = numbers[:, differ].ravel()
        views["numbers"] = name, int(differ.sum()) * np.arange(count, dtype=np.int64)
        for position, k in enumerate(np.flatnonzero(differ).tolist()):
            literals[k] = tape.input("numbers", position)
    places = np.array([[position for _, position in group.entries] for group in alike], dtype=np.int64)
    sites: list[tuple[str, int]] = []
    known: dict[tuple[str, bytes], tuple[str, int]] = {}  # entries at fixed distances have one view
    for k, (array, position) in enumerate(first.entries):
        moves = places[:, k] - position
        view, start = known.setdefault((array, moves.tobytes()), (f"entry {len(known)}", position))
        views.setdefault(view, (array, places[:, k]))
        sites.append((view, position - start))
    n = len(first.stores)
    values = first.again([tape.input(*site) for site in sites[n:]], literals)
    return Block(count, views, [[(*site, value) for site, value in zip(sites[:n], values, strict=True)]])


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
