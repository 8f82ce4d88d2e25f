"""An explanation as it is read: the steps of a derivation, as text for a terminal and in LaTeX."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from kinode.hooks import hook
from kinode.model.system import System
from kinode.structure.topology import Topology
from kinode.symbolic.formula_text import aligned, latex_document
from kinode.symbolic.notation import Notation
from kinode.symbolic.worksheet import Item

WIDTH = 80
INDENT = "  "
DIGITS = 5
ROUNDING = 1e-13  # of the largest number of a unit


@dataclass(frozen=True)
class Step:
    """A step: what it does, its law (as text and in LaTeX), what each body contributes."""

    title: str
    words: str
    law: tuple[str, str] | None = None
    items: tuple[Item, ...] = ()
    notes: tuple[str, ...] = ()
    table: tuple[tuple[str, ...], tuple[tuple[str, ...], ...]] | None = None


@dataclass(frozen=True, eq=False)
class Explanation:
    """How the equations of a system come about; prints as text, ``.latex()`` is for papers, reports hold it too.

    ``steps`` holds the vectors of each body: symbols, formulas (SymPy) and numbers at time ``t``.
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
        """Every formula that is written out, by its symbol, in an order in which they can be computed."""
        pairs = [pair for item in self.items for pair in zip(item.names, item.formulas)]
        return {name: formula for name, formula in pairs if formula is not None}

    @property
    def values(self) -> dict[str, float]:
        """Every number by its symbol."""
        return {name: value for item in self.items for name, value in zip(item.names, item.values)}

    @property
    def items(self) -> list[Item]:
        """The quantities of all steps."""
        return [item for step in self.steps for item in step.items]

    @cached_property
    def _sizes(self) -> dict[str, float]:
        found: dict[str, float] = {}
        for item in self.items:
            for value, unit in zip(item.values, item.units):
                found[unit] = max(found.get(unit, 0.0), abs(value))
        return found

    def rounded(self, value: float, unit: str) -> float:
        """A number without what is rounding beside the largest of its unit."""
        return 0.0 if abs(value) < ROUNDING * self._sizes[unit] else value

    def text(self, width: int = WIDTH, steps: Sequence[str] | None = None) -> str:
        """All steps, or those with these titles; no line is wider than asked for, as far as formulas can be broken."""
        for title in steps or ():
            self[title]
        heading = f"{self.system.name}: how its equations come about; numbers at t = {self.t:g} s"
        lines = textwrap.wrap(heading, width)
        for k, step in enumerate(self.steps):
            if steps is not None and step.title not in steps:
                continue
            lines += ["", f"{k + 1}. {step.title}", *_paragraph(step.words, width)]
            if step.law:
                lines += [f"{INDENT * 2}{line}" for line in step.law[0].splitlines()]
            if step.table:
                lines += [INDENT + line for line in _table(*step.table, width - len(INDENT))]
            for item in step.items:
                lines += list(self._written(item, width))
            for note in step.notes:
                lines += _paragraph(note, width)
        return "\n".join(line.rstrip() for line in lines)

    def __str__(self) -> str:
        return self.text()

    def latex(self, *, document: bool = False) -> str:
        """All steps in LaTeX: sections with align environments, or a whole ``document``."""
        parts = []
        for step in self.steps:
            parts += [rf"\subsection*{{{step.title}}}", _escaped(step.words)]
            if step.law:
                parts.append(rf"\[ {step.law[1]} \]")
            if step.table:
                parts.append(_tabular(*step.table))
            rows = [row for item in step.items for row in self._rows(item)]
            if rows:
                parts.append(aligned(rows))
            parts += [_escaped(note) for note in step.notes]
        body = "\n".join(parts)
        return latex_document(_escaped(self.system.name), body) if document else body

    def _written(self, item: Item, width: int) -> Iterator[str]:
        """An item in lines: formulas to the left, numbers to the right; what is zero together."""
        zero = [k for k, f in enumerate(item.formulas) if f is not None and f == 0]
        rows = zip(item.names, item.formulas, item.values, item.units)
        for k, (name, formula, value, unit) in enumerate(rows):
            if k in zero:
                continue
            number = number_text(self.rounded(value, unit))
            if formula is None:
                yield _right(f"{INDENT * 2}{name} = (long)", number, width)
            elif formula.is_number:
                yield f"{INDENT * 2}{name} = {number}"
            else:
                *lines, last = _wrapped(f"{INDENT * 2}{name} = {formula}", width)
                yield from lines
                if len(last) + 2 + len(number) > width:
                    yield last
                    last = ""
                yield _right(last, number, width)
        if zero:
            stem = item.names[0] if len(item.names) == 1 else item.names[0].rpartition("_")[0]
            parts = ", ".join(item.names[k].rpartition("_")[2] for k in zero)
            whole = len(zero) == len(item.names)
            yield from _paragraph(f"{INDENT}{stem} = 0" if whole else f"{INDENT}{stem}: {parts} = 0", width)

    def _rows(self, item: Item) -> Iterator[str]:
        import sympy

        looks = {sympy.Symbol(name): look.latex for name, look in self.notation.looks.items()}
        for name, formula, value, unit in zip(item.names, item.formulas, item.values, item.units):
            if formula is not None and formula == 0:
                continue
            look = self.notation.looks[name].latex
            number = _latex_number(self.rounded(value, unit)) + _latex_unit(unit)
            if formula is None or formula.is_number:
                yield f"{look} &= {number}"
            else:
                yield f"{look} &= {sympy.latex(formula, symbol_names=looks)} = {number}"

    def html(self) -> str:
        """The steps as HTML with MathML, as reports show them."""
        return str(hook("compose_steps")(self))

    def draw(self, file: Any = None, **options: Any) -> Any:
        """The vector scheme as a drawing; see ``kinode.views.mechanism.vector_scheme.draw_scheme``."""
        return hook("draw_scheme")(self.system, file=file, **options)


# -- text ------------------------------------------------------------------------------------------
def number_text(value: float) -> str:
    """A number beside a formula."""
    return "0" if abs(value) < 1e-300 else f"{value:.{DIGITS}g}"


def _paragraph(words: str, width: int) -> list[str]:
    return textwrap.wrap(words, width, initial_indent=INDENT, subsequent_indent=INDENT)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """Lines of a table; columns that find no room go on in a second line of their row."""
    lines = [tuple(head), *map(tuple, rows)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(head))]
    fit = max(1, sum(1 for k in range(len(head)) if sum(widths[: k + 1]) + 2 * k <= width))
    found = []
    for line in lines:
        cells = [text.ljust(w) for text, w in zip(line, widths)]
        found += ["  ".join(part) for part in (cells[:fit], ["", *cells[fit:]]) if any(x.strip() for x in part)]
    return found


def _right(text: str, number: str, width: int) -> str:
    return f"{text}{number.rjust(width - len(text))}"


def _wrapped(text: str, width: int) -> list[str]:
    """Lines no wider than asked for, broken between terms, else between factors."""
    lines = [""]
    for piece in re.split(r"(?<=[^(]) (?=[-+] )", text):
        if lines[-1] and len(lines[-1]) + 1 + len(piece) > width:
            lines.append(INDENT * 4 + piece)
        else:
            lines[-1] = f"{lines[-1]} {piece}" if lines[-1] else piece
    return [part for line in lines for part in _split(line, width)]


def _split(line: str, width: int) -> list[str]:
    """A line that is too wide, broken behind a factor."""
    found = []
    while len(line) > width:
        cut = line.rfind("*", 12, width)
        if cut < 0:
            break
        found.append(line[: cut + 1])
        line = INDENT * 4 + line[cut + 1 :]
    return [*found, line]


# -- LaTeX -----------------------------------------------------------------------------------------
def _escaped(words: str) -> str:
    return re.sub(r"([_#%&$])", r"\\\1", words)


def _tabular(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [" & ".join(map(_escaped, line)) for line in (head, *rows)]
    return f"\\begin{{tabular}}{{{'l' * len(head)}}}\n" + " \\\\\n".join(lines) + "\n\\end{tabular}"


def _latex_unit(unit: str) -> str:
    return "" if unit == "1" else rf"\ \mathrm{{{unit.replace('*', chr(92) + ',')}}}"


def _latex_number(value: float) -> str:
    text = number_text(value)
    mantissa, mark, exponent = text.partition("e")
    return rf"{mantissa}\cdot 10^{{{int(exponent)}}}" if mark else text
