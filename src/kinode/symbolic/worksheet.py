"""A worksheet: quantities that are derived one from another, each with its symbol, formula and number.

All quantities are on one tape.  A quantity that is ``named`` becomes an input of the tape.  Later formulas contain its
symbol and stay short, however many bodies there are.  Constants and bare symbols are used directly.  The number of a
quantity is its formula, evaluated with the numbers of earlier quantities.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kinode.algebra.normal_form import Harmonic, TooLongError
from kinode.algebra.scalars import Array, Scalar, tidy
from kinode.algebra.trace import Tape, Traced, count_operations, replay
from kinode.symbolic.notation import Notation, SymbolStyle, SymbolWriter

LONGEST_FORMULA = 60  # operations of a formula that is written out
LARGEST_TRIED = 150  # operations on the tape up to which writing is tried


class Item(NamedTuple):
    """A quantity with its components.

    Attributes
    ----------
    owner : str
        Body, joint or constraint.
    names : tuple of str
        Symbols.
    formulas : tuple
        SymPy expressions; None if too long to be read.
    values : tuple of float
        Numbers, in SI.
    units : tuple of str
        SI units.
    columns : int
        3 for a matrix, else 1.
    """

    owner: str
    names: tuple[str, ...]
    formulas: tuple[Any, ...]
    values: tuple[float, ...]
    units: tuple[str, ...]
    columns: int = 1


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

    def define(
        self, stem: str, owner: str, entries: Array, unit: str | Sequence[str], *, parts: Sequence[str] = "xyz",
        named: bool = True, columns: int = 1, longest: int = LONGEST_FORMULA,
    ) -> tuple[Item, Array]:  # fmt: skip
        """Write a quantity; returns its item, and its entries for later formulas."""
        flat = list(np.asarray(entries, dtype=object).ravel())
        names, formulas, values, passed = [], [], [], []
        for part, x in zip(parts, flat, strict=True):
            name = self._name(stem, owner, part)
            value = float(replay([x], self.numbers)[0])
            names.append(name)
            formulas.append(self.write(x, longest))
            values.append(value)
            if named and isinstance(x, Traced) and x.op != "input":
                entry = ("named", self._count)
                self._harmonics[entry], self.numbers[entry] = Harmonic.symbol(name), value
                x = self.tape.input(*entry)
            passed.append(x)
        units = (unit,) * len(names) if isinstance(unit, str) else tuple(unit)
        item = Item(owner, tuple(names), tuple(formulas), tuple(values), units, columns)
        return item, tidy(passed).reshape(np.shape(entries))

    def show(self, stem: str, owner: str, entries: Array, unit: str | Sequence[str], **how: Any) -> Item:
        """Write a quantity that is not used as a symbol in later formulas."""
        return self.define(stem, owner, entries, unit, named=False, **how)[0]

    def write(self, x: Scalar, longest: int = LONGEST_FORMULA) -> Any:
        """The formula of a scalar; None if it is too long to be read."""
        if sum(count_operations([x]).values()) > LARGEST_TRIED:
            return None
        try:
            harmonic = replay([x], self._harmonics)[0]
        except TooLongError:
            return None
        if isinstance(harmonic, Harmonic) and 2 * len(harmonic.terms) > longest:
            return None
        formula = self.writer.write(harmonic)
        return formula if formula.count_ops() <= longest else None

    def _name(self, stem: str, owner: str, part: str) -> str:
        self._count += 1
        where = owner.replace(".", "_")
        name = "_".join(x for x in (stem, where, part) if x)
        below = f"{where},{part}" if part and where else where or part
        letter, dots = self.dotted.get(stem, (stem, 0))
        return self.notation.name("named", self._count, name, SymbolStyle(letter, dots, below))
