"""The common part of all printed equations: symbols, lines of text, and outputs of generated code.

Equations print as text for a terminal, in LaTeX and as MathML; long sums are broken between their terms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from kinode.dynamics.reactions.lost_values import find_left_out
from kinode.errors import ArgumentError
from kinode.sheets.markup import MINUS, Markup, join, printer_of, tag
from kinode.sheets.sheet import PrintedText
from kinode.sheets.terms import SymbolStyle
from kinode.sheets.text import (
    HOLDS_WHILE,
    LATEX_LINE,
    aligned,
    latex_document,
    latex_text,
    number_printer,
    plain_text,
    terms_in,
    wrapped,
)
from kinode.symbolic.normal_form import TooLongError, budget
from kinode.symbolic.notation import Notation
from kinode.symbolic.source_code import write_c, write_python
from kinode.symbolic.writers import Namer, SymbolWriter

if TYPE_CHECKING:
    from kinode.model.system import System
    from kinode.structure.topology import Topology


LARGEST_BUDGET = 2_000_000  # operations that formulas which were asked for may take


class EquationLine(NamedTuple):
    """One equation: the terms of its left and right sides, in the order of writing."""

    left: list[Any]
    right: list[Any]


class Section(NamedTuple):
    """Lines under a title."""

    title: str
    lines: list[EquationLine]


class Reaction(NamedTuple):
    """Force and moment of a joint's reaction: by a on b, about b's joint point, in a's joint axes."""

    force: Any
    moment: Any


class Printed(PrintedText):
    """Equations that print as text, LaTeX, MathML, Python and C.

    ``sections`` are the lines of text, ``outputs`` the matrices that the generated code computes.  What has no such
    lines overrides ``_write_text``, ``_write_latex`` and ``_write_mathml``.
    """

    system: System
    formulation: str
    shape: str
    law = ""  # the equation that the outputs belong to

    def __init__(self, topology: Topology, notation: Notation, formulation: str, shape: str) -> None:
        self.system, self.topology, self.notation = topology.system, topology, notation
        self.formulation, self.shape = formulation, shape
        self._writer: SymbolWriter | Namer = Namer(notation) if shape == "named" else SymbolWriter(notation)

    @property
    def symbols(self) -> dict[str, Any]:
        """All SymPy symbols by name."""
        return self.notation.symbols

    @property
    def intermediates(self) -> list[tuple[Any, Any]]:
        """Named intermediate values, each with its formula, in an order in which they can be computed."""
        return self._writer.intermediates

    @property
    def conditions(self) -> list[Any]:
        """What has to stay positive for the formulas to hold, such as the length of a spring along a slide."""
        return self._writer.conditions

    @property
    def unknowns(self) -> list[Any]:
        """The symbols that the equations are solved for."""
        raise NotImplementedError

    @property
    def heading(self) -> str:
        """The first line of the text."""
        raise NotImplementedError

    @property
    def sections(self) -> list[Section]:
        """The groups of lines of the text."""
        raise NotImplementedError

    @property
    def outputs(self) -> dict[str, Any]:
        """The matrices that the generated code computes, by name."""
        raise NotImplementedError

    @property
    def arguments(self) -> tuple[str, ...]:
        """The arrays that the generated code takes, besides time and parameters."""
        raise NotImplementedError

    @cached_property
    def reactions(self) -> dict[str, Reaction]:
        """Reactions of the requested joints."""
        return {}

    @property
    def operations(self) -> int:
        """Number of operations of all formulas."""
        parts = [expr for _, expr in self.intermediates] + [x for matrix in self.outputs.values() for x in matrix]
        parts += [x for reaction in self.reactions.values() for part in reaction for x in part]
        return int(sum(part.count_ops() for part in parts))

    def latex(self, *, document: bool = False) -> str:
        """The equations in LaTeX.

        Parameters
        ----------
        document : bool
            Whether to write a complete document; default are align environments.

        Returns
        -------
        str
        """
        return self._write_latex(document)

    def mathml(self) -> str:
        """The equations as HTML with MathML, which browsers typeset.

        Returns
        -------
        str
        """
        return self._write_mathml()

    def python(self, module: str = "math") -> str:
        """Python source of a function of t, q, u, ... that returns a dictionary of the outputs.

        Parameters
        ----------
        module : {"math", "numpy"}
            The library of the generated code; with "numpy" every argument may be an array.

        Returns
        -------
        str
            Source code; parameters of the system are keyword arguments with their present values.

        Examples
        --------
        >>> exec(kn.equations(kn.load("examples/pendulum.yaml")).python())
        >>> pendulum(0.0, [0.0], [0.0], L=2.0)["bias"]
        [9.81]
        """
        return write_python(self, module)

    def c(self) -> str:
        """C99 source of the same function.

        Returns
        -------
        str
        """
        return write_c(self)

    def _repr_latex_(self) -> str:
        return self.latex()

    # -- writing -----------------------------------------------------------------------------------
    def _write_text(self, width: int) -> str:
        return write_text(self, width)

    def _write_latex(self, document: bool) -> str:
        return write_latex(self, document)

    def _write_mathml(self) -> str:
        return equations_markup(self)

    def _named_lines(self) -> list[EquationLine]:
        return [EquationLine([symbol], terms_of(formula)) for symbol, formula in self.intermediates]

    def _reaction_section(self, joint: str) -> Section:
        """The components of a reaction that are not identically zero."""
        import sympy

        lines = []
        for letter, word, vector in zip("FM", ("force", "moment"), self.reactions[joint], strict=True):
            for axis, entry in zip("xyz", vector, strict=True):
                if entry != 0:
                    name = f"{joint}.reaction.{word}.{axis}"
                    self.notation.styles[name] = SymbolStyle(letter, 0, axis, joint)
                    lines.append(EquationLine([sympy.Symbol(name)], terms_of(entry)))
        rest = "" if len(lines) == 6 else ", the rest is zero" if lines else ": zero"
        left_out = "".join(f", without {load}" for load in find_left_out(self.topology).get(joint, ()))
        return Section(f"reaction of {joint}{left_out}{rest}", lines)


@contextmanager
def writing_out(system: System) -> Iterator[None]:
    """Write formulas out within the largest budget; where it does not last, say so in the user's words."""
    try:
        with budget(LARGEST_BUDGET):
            yield
    except TooLongError:
        message = "written out, the equations have thousands of terms; shape='named' gives names to what recurs"
        raise ArgumentError(f"{system.name}: {message}") from None


def terms_of(expr: Any) -> list[Any]:
    """The terms of a sum, in the order in which SymPy shows them."""
    return list(expr.as_ordered_terms()) if expr.is_Add else [expr]


def matrix(entries: Sequence[Any], columns: int) -> Any:
    """A SymPy matrix from its entries by rows."""
    import sympy

    return sympy.ImmutableMatrix(len(entries) // columns if columns else 0, columns, list(entries))


# -- terminal --------------------------------------------------------------------------------------
def write_text(printed: Printed, width: int) -> str:
    """The equations in SymPy's plain notation, with a title over each section."""
    lines = [printed.heading]
    for section in printed.sections:
        lines += ["", section.title] if section.title else []
        for line in section.lines:
            lines += wrapped(f"  {_joined(line.left)} = {_joined(line.right)}", width)
    if printed.conditions:
        lines += ["", HOLDS_WHILE]
        lines += [line for x in printed.conditions for line in wrapped(f"  {_joined(terms_in(x))} > 0", width)]
    return "\n".join(lines)


def _joined(terms: Sequence[Any]) -> str:
    """The terms, joined by their signs."""
    texts = [plain_text(term) for term in terms]
    signed = [f"- {text[1:].lstrip()}" if text.startswith("-") else f"+ {text}" for text in texts[1:]]
    return " ".join([texts[0], *signed])


# -- LaTeX -----------------------------------------------------------------------------------------
def write_latex(printed: Printed, document: bool) -> str:
    """An align environment for each section, or a document with all of them."""
    parts = []
    for section in printed.sections:
        if document and section.title:
            parts.append(rf"\subsection*{{{latex_text(section.title)}}}")
        rows = [_row(line, printed) for line in section.lines]
        if rows:
            parts.append(aligned(rows))
    if printed.conditions:
        rows = [rf"{latex_of(printed, x)} &> 0" for x in printed.conditions]
        parts.append(aligned([rf"\text{{{HOLDS_WHILE}}}\quad " + rows[0], *rows[1:]]))
    body = "\n".join(parts)
    return latex_document(printed.heading, body) if document else body


def _row(line: EquationLine, printed: Printed) -> str:
    """One line, aligned at the equals sign; a long left side takes lines of its own."""
    left, right = (_broken(terms, printed) for terms in line)
    if len(left) == 1:
        return rf"{left[0]} &= " + r" \\ &\quad ".join(right)
    return r"& " + r" \\ &\quad ".join(left) + r" \\ &\qquad = " + r" \\ &\qquad\quad ".join(right)


def latex_of(printed: Printed, expr: Any) -> str:
    """An expression in LaTeX, with the styles of its symbols."""
    import sympy

    styles = {sympy.Symbol(name): style.latex for name, style in printed.notation.styles.items()}
    return str(number_printer("LatexPrinter", {"symbol_names": styles}).doprint(expr))


def _broken(terms: Sequence[Any], printed: Printed) -> list[str]:
    """A sum in lines of about ``LATEX_LINE`` characters."""
    lines = [""]
    for k, term in enumerate(terms):
        text = latex_of(printed, term)
        text = text if text.startswith("-") or not k else f"+ {text}"
        if lines[-1] and len(lines[-1]) + len(text) > LATEX_LINE:
            lines.append("")
        lines[-1] = f"{lines[-1]} {text}".strip()
    return lines


LONGEST_LINE = 16  # operations a line, after which a sum goes on in the next


def equations_markup(printed: Printed) -> Markup:
    """All sections of printed equations."""
    printer = printer_of(printed.notation.styles)
    parts: list[Markup] = []
    for section in printed.sections:
        if section.title:
            parts.append(tag("h3", section.title))
        rows = [row for line in section.lines for row in _rows(line, printer)]
        if not rows:
            continue
        body = tag("mtable", *rows, displaystyle="true")
        parts.append(tag("div", tag("math", body, display="block", style="text-align:left"), class_="wide"))
    for x in printed.conditions:
        shown = tag("math", Markup(printer(x)), tag("mo", ">"), tag("mn", "0"))
        parts.append(tag("p", HOLDS_WHILE + " ", shown))
    return join(parts)


def _rows(line: EquationLine, printer: Any) -> list[Markup]:
    """An equation on as many lines as it needs."""
    rows: list[list[Markup]] = [[]]
    size = 0
    for side, terms in enumerate(line):
        if side:
            rows[-1].append(tag("mo", "="))
        for k, term in enumerate(terms):
            count = int(term.count_ops()) + 1
            if size and term != 0 and size + count > LONGEST_LINE:
                rows.append([tag("mspace", width="2em")])
                size = 0
            size += count
            negative = term.could_extract_minus_sign()
            if negative or k:
                rows[-1].append(tag("mo", MINUS if negative else "+"))
            rows[-1].append(_grouped(-term if negative else term, printer))
    return [tag("mtr", tag("mtd", *row, style="text-align:left; padding:0.25em 0")) for row in rows]


def _grouped(term: Any, printer: Any) -> Markup:
    """A term; in brackets where it is a sum."""
    shown = Markup(printer(term))
    return tag("mrow", tag("mo", "("), shown, tag("mo", ")")) if term.is_Add else shown
