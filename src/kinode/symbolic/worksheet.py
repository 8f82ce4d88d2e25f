"""A sheet of working: quantities that are derived one from the other, each with its formula, symbol and number.

Everything stands on one tape.  A quantity that is ``named`` becomes an input of the tape itself, so that what follows
is written with its symbol and stays short, however many bodies there are; constants and bare symbols are passed on as
they are.  The number of a quantity is its formula computed with the numbers of those before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kinode.algebra.normal_form import Harmonic, TooLongError
from kinode.algebra.scalars import Array, Scalar, tidy
from kinode.algebra.trace import Tape, Traced, count_operations, replay
from kinode.symbolic.notation import Notation, SymbolStyle, SymbolWriter

LONGEST = 60  # operations of a formula that is still written out
TRIED = 150  # operations on the tape beyond which nobody tries to


class Item(NamedTuple):
    """A quantity with its components: symbols, formulas (None where too long to be read), numbers."""

    owner: str
    names: tuple[str, ...]
    formulas: tuple[Any, ...]
    values: tuple[float, ...]
    units: tuple[str, ...]
    columns: int = 1  # 3 for a matrix


class Worksheet:
    """The symbols, formulas and numbers of one derivation."""

    def __init__(self, notation: Notation, values: Mapping[str, Array]) -> None:
        self.tape, self.notation, self.writer = Tape(), notation, SymbolWriter(notation)
        self.numbers: dict[tuple[str, int], float] = {
            (role, i): float(x) for role, array in values.items() for i, x in enumerate(np.ravel(array))
        }
        self._harmonics: dict[tuple[str, int], Scalar] = {
            place: Harmonic.symbol(name) for place, name in notation.names.items()
        }
        self.dotted: dict[str, tuple[str, int]] = {"u": ("u", 0), "u_dot": ("u", 1)}  # letters and their dots
        self._count = 0

    def define(
        self, stem: str, owner: str, entries: Array, unit: str | Sequence[str], *, parts: Sequence[str] = "xyz",
        named: bool = True, columns: int = 1, longest: int = LONGEST,
    ) -> tuple[Item, Array]:  # fmt: skip
        """Write a quantity down; gives it as an item, and as numbers for what follows."""
        flat = list(np.asarray(entries, dtype=object).ravel())
        names, formulas, values, passed = [], [], [], []
        for part, x in zip(parts, flat, strict=True):
            name = self._name(stem, owner, part)
            value = float(replay([x], self.numbers)[0])
            names.append(name)
            formulas.append(self.write(x, longest))
            values.append(value)
            if named and isinstance(x, Traced) and x.op != "input":
                place = ("named", self._count)
                self._harmonics[place], self.numbers[place] = Harmonic.symbol(name), value
                x = self.tape.input(*place)
            passed.append(x)
        units = (unit,) * len(names) if isinstance(unit, str) else tuple(unit)
        item = Item(owner, tuple(names), tuple(formulas), tuple(values), units, columns)
        return item, tidy(passed).reshape(np.shape(entries))

    def show(self, stem: str, owner: str, entries: Array, unit: str | Sequence[str], **how: Any) -> Item:
        """Write a quantity down that gets no symbol of its own in what follows."""
        return self.define(stem, owner, entries, unit, named=False, **how)[0]

    def write(self, x: Scalar, longest: int = LONGEST) -> Any:
        """A formula, or None where it would be too long to be read."""
        if sum(count_operations([x]).values()) > TRIED:
            return None
        try:
            harmonic = replay([x], self._harmonics)[0]
        except TooLongError:
            return None
        if isinstance(harmonic, Harmonic) and 2 * len(harmonic.terms) > longest:
            return None
        found = self.writer.write(harmonic)
        return found if found.count_ops() <= longest else None

    def _name(self, stem: str, owner: str, part: str) -> str:
        self._count += 1
        where = owner.replace(".", "_")
        name = "_".join(x for x in (stem, where, part) if x)
        below = f"{where},{part}" if part and where else where or part
        letter, dots = self.dotted.get(stem, (stem, 0))
        return self.notation.name("named", self._count, name, SymbolStyle(letter, dots, below))
