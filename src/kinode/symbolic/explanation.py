"""The result of ``kn.explain``: the steps of a derivation, as text for a terminal and in LaTeX, and their worksheet.

A worksheet holds quantities that are derived one from another, each with its symbol, formula and number, all on one
tape.  A quantity that is ``named`` becomes an input of the tape.  Later formulas contain its symbol and stay short,
however many bodies there are.  Constants and bare symbols are used directly.  The number of a quantity is its formula,
evaluated with the numbers of earlier quantities.  A formula that would be longer than a line is taken apart: parts of
it get names of their own, y1, y2, ..., and stand before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from kinode.algebra.scalars import Array, Scalar, tidy
from kinode.algebra.trace import Tape, Traced, count_operations, replay
from kinode.hooks import hook
from kinode.model.system import System
from kinode.sheets.markup import join, tag
from kinode.sheets.sheet import FormulaSheet, PrintedSheet, SheetSection
from kinode.sheets.tables import UNLIMITED
from kinode.sheets.terms import Definition, Number, ScalarFormula, SymbolStyle, formula_sum
from kinode.sheets.text import latex_document
from kinode.structure.topology import Topology
from kinode.symbolic.normal_form import Harmonic, TooLongError, budget
from kinode.symbolic.notation import Notation
from kinode.symbolic.writers import SymbolWriter

WIDTH = 80  # characters of a line
DIGITS = 5  # significant digits of numbers
SHOWN_AS_ZERO = 1e-13  # relative to the largest number with the same unit: smaller ones are rounding errors


@dataclass(frozen=True)
class Step:
    """A step of a derivation.

    Attributes
    ----------
    title, words : str
        Name and description.
    law : tuple of str, optional
        Its general formula, as text and in LaTeX.
    items : tuple of Item
        Symbols, formulas and numbers of each body or joint.
    notes : tuple of str
        Remarks.
    table : tuple, optional
        Head and rows.
    """

    title: str
    words: str
    law: tuple[str, str] | None = None
    items: tuple[Item, ...] = ()
    notes: tuple[str, ...] = ()
    table: tuple[tuple[str, ...], tuple[tuple[str, ...], ...]] | None = None


@dataclass(frozen=True, eq=False)
class Explanation(PrintedSheet):
    """The derivation of the equations of motion of a system, step by step; ``kn.explain`` returns it.

    It prints as text.  ``explanation["Accelerations"]`` is the step of that title.

    Attributes
    ----------
    steps : tuple of Step
        The steps, with symbols, formulas (SymPy) and numbers of each body.
    t : float
        Time of the numbers, s.
    """

    system: System
    topology: Topology
    notation: Notation
    steps: tuple[Step, ...]
    t: float

    def __getitem__(self, title: str) -> Step:
        for step in self.steps:
            if step.title == title:
                return step
        raise KeyError(f"{title!r} is none of the steps {', '.join(step.title for step in self.steps)}")

    @property
    def formulas(self) -> dict[str, Any]:
        """All formulas by symbol, in an order in which they can be computed."""
        return {name: formula for item in self.items for name, formula in zip(item.names, item.formulas)}

    @property
    def values(self) -> dict[str, float]:
        """All numbers by symbol."""
        return {name: value for item in self.items for name, value in zip(item.names, item.values)}

    @property
    def items(self) -> list[Item]:
        """The quantities of all steps."""
        return [item for step in self.steps for item in step.items]

    @cached_property
    def _sizes(self) -> dict[str, float]:
        sizes: dict[str, float] = {}
        for item in self.items:
            for value, unit in zip(item.values, item.units):
                sizes[unit] = max(sizes.get(unit, 0.0), abs(value))
        return sizes

    def rounded(self, value: float, unit: str) -> float:
        """The number, or zero if it is a rounding error compared to the largest number of the same unit."""
        return 0.0 if abs(value) <= SHOWN_AS_ZERO * self._sizes[unit] else value

    def text(self, width: int = WIDTH, steps: Sequence[str] | None = None) -> str:
        """The steps as text.

        Parameters
        ----------
        width : int
            Characters of a line; default 80.  A formula that cannot be broken may be wider.
        steps : sequence of str, optional
            Titles of the steps to show; default is all.

        Returns
        -------
        str

        Examples
        --------
        >>> explanation = kn.explain(kn.load("examples/pendulum.yaml"))
        >>> explanation.text(steps=["Angular velocities"]).splitlines()[2]
        '4. Angular velocities'
        """
        if steps is None:
            return self._sheet.text(width)
        shown = [self[title] for title in steps]
        sections = [section for step, section in zip(self.steps, self.sections) if step in shown]
        return FormulaSheet(self._sheet.heading, tuple(sections)).text(width)

    def latex(self, *, document: bool = False) -> str:
        """The steps in LaTeX.

        Parameters
        ----------
        document : bool
            Whether to write a complete document; default are sections with align environments.

        Returns
        -------
        str
        """
        sections = (replace(section, title=step.title) for step, section in zip(self.steps, self.sections))
        body = FormulaSheet("", tuple(sections)).latex_body(told=True)
        return latex_document(self.system.name, body) if document else body

    def html(self) -> str:
        """The steps as HTML with MathML, each to be unfolded, as in reports.

        Returns
        -------
        str
        """
        return join(tag("details", tag("summary", x.title), x.mathml()) for x in self.sections)

    @cached_property
    def sections(self) -> tuple[SheetSection, ...]:
        """The steps as sections of a sheet, numbered."""
        return tuple(
            SheetSection(
                f"{k + 1}. {step.title}", step.words, tuple(x for item in step.items for x in self._lines(item)),
                step.table, law=step.law, notes=step.notes,
            )
            for k, step in enumerate(self.steps)
        )  # fmt: skip

    @cached_property
    def _sheet(self) -> FormulaSheet:
        heading = f"{self.system.name}: how its equations come about; numbers at t = {self.t:g} s"
        return FormulaSheet(heading, self.sections)

    def _lines(self, item: Item) -> Iterator[Definition]:
        """An equation for each component with its number, the owner before the first; one for all that are zero."""
        import sympy

        zero, owner = [], item.owner
        for name, formula, value, unit in zip(item.names, item.formulas, item.values, item.units):
            if formula == 0:
                zero.append(name)
                continue
            left, right = (formula_sum([x], self.notation.styles) for x in (sympy.Symbol(name), formula))
            shown = self.rounded(value, unit)
            yield Definition(left, right, words=owner, value=f"{shown:.{DIGITS}g}", unit=unit)
            owner = ""
        if zero:
            stem = zero[0] if len(item.names) == 1 else zero[0].rpartition("_")[0]
            parts = ", ".join(name.rpartition("_")[2] for name in zero)
            whole = stem if len(zero) == len(item.names) else f"{stem}: {parts}"
            yield Definition(ScalarFormula(sympy.Symbol(whole)), Number(0), value="0")

    def chart(self, file: Any = None, **options: Any) -> Any:
        """Draw the flow chart of the derivation: what happened at each box.

        Parameters
        ----------
        file : str or path, optional
            Where to save it: .svg, .png or .pdf; default is to show it.
        **options
            Options of ``kinode.views.mechanism.flow_chart.draw_chart``.

        Returns
        -------
        Figure
        """
        return hook("draw_chart")(self, file=file, **options)

    def draw(self, file: Any = None, **options: Any) -> Any:
        """Draw the vector scheme of the system.

        Parameters
        ----------
        file : str or path, optional
            Where to save the drawing; default is to show it.
        **options
            Options of ``kinode.views.mechanism.vector_scheme.draw_scheme``.

        Returns
        -------
        Figure
        """
        return hook("draw_scheme")(self.system, file=file, **options)


LONGEST_FORMULA = 60  # operations of a formula that is written out
LARGEST_TRIED = 150  # operations on the tape up to which writing is tried
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
