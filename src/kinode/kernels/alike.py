"""Many alike, one traced: loops over things that share their code, with a row of numbers for each of them.

A number that is the same for all is a literal of the code.  The others stand in a table, or are computed in the prelude
of the program where they depend on parameters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array, Scalar, apply, is_number
from kinode.algebra.trace import Tape, Traced, needed
from kinode.jit.program import Block, Store

WHOLE = (0.0, 1.0, -1.0)  # numbers that simplify operations
TABLED = frozenset({"add", "sub", "mul", "store"})  # what may have a number of a table as operand


def pattern_of(values: Iterable[Scalar]) -> tuple[float | None, ...]:
    """The numbers that simplify operations; None for any other, and for what depends on parameters."""
    return tuple(float(x) if is_number(x) and x in WHOLE else None for x in values)


class Columns:
    """The numbers of things that are alike, a thing in each row.

    ``literals`` are the same for all, by column; ``tabled`` are the columns of the table, ``computed`` those that
    depend on parameters.
    """

    def __init__(self, rows: Array) -> None:
        self.rows = rows
        self.literals: dict[int, float] = {}
        self.tabled: list[int] = []
        self.computed: list[int] = []
        for k, column in enumerate(rows.T):
            if rows.dtype == object and not all(map(is_number, column)):
                self.computed.append(k)
            elif (column == column[0]).all():
                self.literals[k] = float(column[0])
            else:
                self.tabled.append(k)

    @cached_property
    def table(self) -> Array:
        """The numbers that are not the same for all."""
        return self.rows[:, self.tabled].astype(float)

    @property
    def prelude(self) -> list[Scalar]:
        """The numbers that depend on parameters, one row after the other."""
        return list(self.rows[:, self.computed].ravel())

    def starts(self, columns: Sequence[int], first: int = 0) -> np.ndarray:
        """Where the numbers of each row begin that are in some columns, and stand one row after the other."""
        return first + len(columns) * np.arange(len(self.rows), dtype=np.int64)

    def traced(self, tape: Tape) -> Array:
        """The numbers of the one that is traced: from the views ``row``, of the table, and ``prow``, of the prelude."""
        values = np.empty(self.rows.shape[1], dtype=object)
        for k, x in self.literals.items():
            values[k] = x
        for view, several in (("row", self.tabled), ("prow", self.computed)):
            for position, k in enumerate(several):
                values[k] = tape.input(view, position)
        return values


def roll_stores(stores: Sequence[Store]) -> Iterator[Block]:
    """Loops over stores whose values are the same operations on other entries, with the same numbers.

    The stores go to different entries, and their values read none of them.
    """
    for alike in _find_alike(_Group([store], frozenset()) for store in stores):
        yield _roll(alike, "", {})


def roll_groups(groups: Iterable[Sequence[Store]], name: str, constants: dict[str, np.ndarray]) -> Iterator[Block]:
    """Loops over groups of stores, whose values are the same operations on other entries and with other numbers.

    The groups run one after the other, in another order; no view stands for an array.  Tables of numbers go to
    ``constants``, under names that begin with ``name``.
    """
    for number, alike in enumerate(_find_alike(_Group(stores, TABLED) for stores in groups)):
        yield _roll(alike, f"{name}{number}", constants)


class _Group:
    """Some stores: their form, the entries that they store and load, and the numbers among their operands.

    Numbers are part of the form but for operands of the operations that are ``tabled``.
    """

    def __init__(self, stores: Sequence[Store], tabled: frozenset[str]) -> None:
        self.stores, self.tabled = stores, tabled
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
        if type(arg) is not float or op not in self.tabled:
            return arg
        self.numbers.append(arg)
        return "number"

    def again(self, inputs: Sequence[Scalar], numbers: Iterable[Scalar]) -> list[Scalar]:
        """The values of the stores with other loads and numbers."""
        values: dict[int, Scalar] = {}
        loads, others = iter(inputs), iter(numbers)

        def operand(op: str, arg: Any) -> Scalar:
            if type(arg) is Traced:
                return values[arg.index]
            return arg if type(arg) is not float or op not in self.tabled else next(others)

        for node in self.nodes:
            arguments = [operand(node.op, arg) for arg in node.args] if node.op != "input" else []
            values[node.index] = next(loads) if node.op == "input" else apply(node.op, *arguments)
        return [operand("store", value) for _, _, value in self.stores]


def _find_alike(groups: Iterable[_Group]) -> Iterable[list[_Group]]:
    """The groups of each form."""
    forms: dict[tuple[Any, ...], list[_Group]] = {}
    for group in groups:
        forms.setdefault(group.form, []).append(group)
    return forms.values()


def _roll(alike: Sequence[_Group], name: str, constants: dict[str, np.ndarray]) -> Block:
    """One loop over groups of one form."""
    tape, first, count = Tape(), alike[0], len(alike)
    columns = Columns(np.array([group.numbers for group in alike]).reshape(count, -1))
    views: dict[str, tuple[str, np.ndarray | None]] = {}
    if columns.tabled:
        constants[name] = columns.table.ravel()
        views["row"] = name, columns.starts(columns.tabled)
    places = np.array([[position for _, position in group.entries] for group in alike], dtype=np.int64)
    sites: list[tuple[str, int]] = []
    known: dict[tuple[str, bytes], tuple[str, int]] = {}  # entries at fixed distances have one view
    for k, (array, position) in enumerate(first.entries):
        moves = places[:, k] - position
        view, start = known.setdefault((array, moves.tobytes()), (f"entry {len(known)}", position))
        views.setdefault(view, (array, places[:, k]))
        sites.append((view, position - start))
    n = len(first.stores)
    values = first.again([tape.input(*site) for site in sites[n:]], columns.traced(tape))
    return Block(count, views, [[(*site, value) for site, value in zip(sites[:n], values, strict=True)]])
