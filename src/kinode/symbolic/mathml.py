"""Equations as MathML, which browsers typeset: SymPy's printer with kinode's styles of symbols."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kinode.symbolic.formula_text import HOLDS_WHILE
from kinode.symbolic.markup import Markup, join, tag
from kinode.symbolic.notation import GREEK, SymbolStyle

if TYPE_CHECKING:
    from kinode.symbolic.printed_equations import EquationLine, Printed

MINUS = "\u2212"
THIN = '<mspace width="0.17em"/>'
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


def symbol_markup(style: SymbolStyle) -> Markup:
    """A letter with dots, an index below and one above."""
    letter = tag("mi", style.letter if style.plain else GREEK.get(style.letter, ("", style.letter))[1])
    if style.tilde:
        letter = tag("mover", letter, tag("mo", "~", stretchy="false"), accent="true")
    if style.dots:
        letter = tag("mover", letter, tag("mo", "˙" if style.dots == 1 else "¨", stretchy="false"), accent="true")
    below, above = (tag("mtext", word) for word in (style.below, style.above))
    if style.below and style.above:
        return tag("msubsup", letter, below, above)
    if style.below:
        return tag("msub", letter, below)
    return tag("msup", letter, above) if style.above else letter


def positive_first(terms: Sequence[Any]) -> list[Any]:
    """The terms of a sum, beginning with a positive one if there is one."""
    k = next((k for k, term in enumerate(terms) if not term.could_extract_minus_sign()), 0)
    return [terms[k], *terms[:k], *terms[k + 1 :]]


def printer_of(styles: Mapping[str, SymbolStyle]) -> Any:
    """A function from an expression to markup: SymPy's printer with kinode's styles of symbols."""
    from xml.dom.minidom import parseString

    from sympy.printing.mathml import MathMLPresentationPrinter

    base: Any = MathMLPresentationPrinter

    class Printer(base):  # type: ignore[misc]
        def _as_ordered_terms(self, expr: Any, order: Any = None) -> Any:
            return positive_first(super()._as_ordered_terms(expr, order=order))

        def _print_Symbol(self, sym: Any, style: str = "plain") -> Any:
            symbol_style = styles.get(sym.name)
            if symbol_style is None:
                split = re.fullmatch(r"([A-Za-z])_?(\d+|[A-Za-z]{1,2})", sym.name) if len(sym.name) > 1 else None
                symbol_style = SymbolStyle(split[1], 0, split[2]) if split else SymbolStyle(sym.name)
            return parseString(symbol_markup(symbol_style)).documentElement

        def _print_Float(self, e: Any) -> Any:
            number = super()._print_Float(e)
            if len(number.childNodes) == 3 and number.firstChild.firstChild.data == "1.0":  # of 1.0 * 10^-24
                for _ in range(2):
                    number.removeChild(number.firstChild)
            return number

    def write(expr: Any) -> str:
        markup = str(Printer()._print(expr).toxml())
        markup = markup.replace("<mo>-</mo>", f"<mo>{MINUS}</mo>")
        return markup.replace("<mo>&InvisibleTimes;</mo>", THIN).replace("&amp;InvisibleTimes;", "&#8290;")

    return write
