"""A worksheet: quantities that are derived one from another, each with its symbol, formula and number.

All quantities are on one tape.  A quantity that is ``named`` becomes an input of the tape.  Later formulas contain its
symbol and stay short, however many bodies there are.  Constants and bare symbols are used directly.  The number of a
quantity is its formula, evaluated with the numbers of earlier quantities.  A formula that would be longer than a line
is taken apart: parts of it get names of their own, y1, y2, ..., and stand before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kinode.algebra.normal_form import Harmonic, TooLongError, budget
from kinode.algebra.scalars import Array, Scalar, tidy
from kinode.algebra.trace import Tape, Traced, count_operations, replay
from kinode.symbolic.notation import Notation, SymbolStyle, SymbolWriter

LONGEST_FORMULA = 60  # operations of a formula that is written out
LARGEST_TRIED = 150  # operations on the tape up to which writing is tried
UNLIMITED = 10**9
FORMULA_BUDGET = 100_000  # operations of the normal form that one formula may take
MOST_TERMS = 6  # of a part of a long formula


class Item(NamedTuple):
    """A quantity with its components.

    Attributes
    ----------
    owner : str
        Body, joint or constraint.
    names : tuple of str
        Symbols.
    formulas : tuple
        SymPy expressions.
    values : tuple of float
        Numbers, in SI.
    units : tuple of str
        SI units.
    columns : int
        3 for a matrix, else 1.
    where : tuple of Item
        Parts of the formulas that have names of their own; they stand before it.
    """

    owner: str
    names: tuple[str, ...]
    formulas: tuple[Any, ...]
    values: tuple[float, ...]
    units: tuple[str, ...]
    columns: int = 1
    where: tuple[Item, ...] = ()

    def with_parts(self) -> list[Item]:
        """Its named parts, and the item itself, in the order of writing."""
        return [*self.where, self]


class Worksheet:
    """The symbols, formulas and numbers of one derivation."""

    def __init__(self, notation: Notation, values: Mapping[str, Array]) -> None:
        self.tape, self.notation, self.writer = Tape(), notation, SymbolWriter(notation)
        self.numbers: dict[tuple[str, int], float] = {
            (role, i): float(x) for role, array in values.items() for i, x in enumerate(np.ravel(array))
        }
        self._harmonics: dict[tuple[str, int], Scalar] = {
            entry: Harmonic.symbol(name) for entry, name in notation.names.items()
        }
        self.dotted: dict[str, tuple[str, int]] = {"u": ("u", 0), "u_dot": ("u", 1)}  # stem: letter and number of dots
        self._count = 0
        self._parts: dict[int, Scalar] = {}  # nodes of the tape that have names of their own
        self._n_parts = 0

    def define(
        self, stem: str, owner: str, entries: Array, unit: str | Sequence[str], *, parts: Sequence[str] = "xyz",
        named: bool = True, columns: int = 1, longest: int = LONGEST_FORMULA,
    ) -> tuple[Item, Array]:  # fmt: skip
        """Write a quantity; returns its item, and its entries for later formulas."""
        flat = list(np.asarray(entries, dtype=object).ravel())
        names, formulas, values, passed = [], [], [], []
        where: list[Item] = []
        for part, x in zip(parts, flat, strict=True):
            name = self._name(stem, owner, part)
            value = float(replay([x], self.numbers)[0])
            names.append(name)
            formulas.append(self._formula(x, owner, longest, where))
            values.append(value)
            if named and isinstance(x, Traced) and x.op != "input":
                entry = ("named", self._count)
                self._harmonics[entry], self.numbers[entry] = Harmonic.symbol(name), value
                x = self.tape.input(*entry)
            passed.append(x)
        units = (unit,) * len(names) if isinstance(unit, str) else tuple(unit)
        item = Item(owner, tuple(names), tuple(formulas), tuple(values), units, columns, tuple(where))
        return item, tidy(passed).reshape(np.shape(entries))

    def show(self, stem: str, owner: str, entries: Array, unit: str | Sequence[str], **how: Any) -> Item:
        """Write a quantity that is not used as a symbol in later formulas."""
        return self.define(stem, owner, entries, unit, named=False, **how)[0]

    def _formula(self, x: Scalar, owner: str, longest: int, where: list[Item]) -> Any:
        """The formula of a scalar; if it is long, with names for parts of it, which are added to ``where``."""
        formula = self.write(x, longest)
        if formula is None:
            self._take_apart(x, owner, where)
            formula = self.write(x, UNLIMITED)
        return formula

    def _take_apart(self, x: Scalar, owner: str, where: list[Item]) -> None:
        """Give names to parts of a scalar until no formula has more than ``MOST_TERMS`` terms written out."""
        sizes: dict[int, Size] = {}
        for node in self._open_nodes(x):
            if node.op == "input" or node.index in self._parts:
                sizes[node.index] = SYMBOL
                continue
            args = [arg for arg in node.args if type(arg) is Traced]
            while (size := _written_size(node.op, [sizes[arg.index] for arg in args])).terms > MOST_TERMS:
                largest = max(args, key=lambda arg: sizes[arg.index])
                if sizes[largest.index] == SYMBOL:
                    break
                where.append(self._name_part(largest, owner))
                sizes[largest.index] = SYMBOL
            sizes[node.index] = size

    def _open_nodes(self, x: Scalar) -> list[Traced]:
        """The nodes that a scalar needs, without those behind a part that has a name, in the order of computing."""
        visited: dict[int, Traced] = {}
        stack = [x] if isinstance(x, Traced) else []
        while stack:
            node = stack.pop()
            if node.index in visited:
                continue
            visited[node.index] = node
            if node.index not in self._parts:
                stack += [arg for arg in node.args if type(arg) is Traced]
        return [visited[index] for index in sorted(visited)]

    def _name_part(self, node: Traced, owner: str) -> Item:
        """An item for a node of the tape, which has a name from now on."""
        self._n_parts += 1
        formula = self.write(node, UNLIMITED)
        name = self.notation.name("part", self._n_parts, f"y{self._n_parts}", SymbolStyle("y", 0, str(self._n_parts)))
        self._parts[node.index] = Harmonic.symbol(name)
        value = float(replay([node], self.numbers)[0])
        return Item(owner, (name,), (formula,), (value,), ("",))

    def named_sum(
        self, stem: str, owner: str, labels: Sequence[str], numbers: Sequence[float], unit: str, value: float
    ) -> Item:
        """The sum of the accelerations, each times a coefficient by name, and of a last named number."""
        import sympy

        *factors, rest = [sympy.Symbol(label) for label in labels]
        formula = sympy.Add(*(a * x for a, x in zip(factors, self.notation.of("u_dot"), strict=True)), rest)
        where = []
        for label, number in zip(labels, numbers, strict=True):
            letter, _, below = label.partition("_")
            self.notation.name("coefficient", len(self.notation.names), label, SymbolStyle(letter, 0, below))
            where.append(Item(owner, (label,), (sympy.Float(number, 15),), (number,), ("",)))
        name = self._name(stem, owner, "")
        return Item(owner, (name,), (formula,), (value,), (unit,), 1, tuple(where))

    def write(self, x: Scalar, longest: int = LONGEST_FORMULA) -> Any:
        """The formula of a scalar; None if it is too long to be read."""
        if longest < UNLIMITED and sum(count_operations([x]).values()) > LARGEST_TRIED:
            return None
        try:
            with budget(FORMULA_BUDGET):
                harmonic = replay([x], self._harmonics, dict(self._parts))[0]
                if isinstance(harmonic, Harmonic) and 2 * len(harmonic.terms) > longest:
                    return None
                formula = self.writer.write(harmonic)
        except TooLongError:
            return None
        return formula if formula.count_ops() <= longest else None

    def _name(self, stem: str, owner: str, part: str) -> str:
        self._count += 1
        where = owner.replace(".", "_")
        name = "_".join(x for x in (stem, where, part) if x)
        below = f"{where},{part}" if part and where else where or part
        letter, dots = self.dotted.get(stem, (stem, 0))
        return self.notation.name("named", self._count, name, SymbolStyle(letter, dots, below))


class Size(NamedTuple):
    """About how long an expression is when it is written out: its terms, and whether it has sines or cosines."""

    terms: int
    waves: bool


SYMBOL = Size(1, False)


def _written_size(op: str, args: Sequence[Size]) -> Size:
    """The size of an operation for the sizes of its arguments; a product of sines is a sum of two."""
    terms, waves = [size.terms for size in args], [size.waves for size in args]
    if op == "mul" and len(args) > 1:
        return Size(terms[0] * terms[1] * (2 if all(waves) else 1), any(waves))
    if op in ("add", "sub"):
        return Size(sum(terms) + (2 - len(args)), any(waves))
    return Size(max(terms, default=1), any(waves) or op in ("sin", "cos"))
