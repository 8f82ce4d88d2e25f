"""HTML and MathML by tags, tables, and expressions of SymPy as MathML, which browsers typeset.

Text is escaped unless it is ``Markup`` already.  Expressions are written by SymPy's printer, with kinode's styles of
symbols.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kinode.sheets.terms import GREEK, SymbolStyle
from kinode.sheets.text import positive_first


class Markup(str):
    """Text that is HTML already and is not escaped again."""

    __slots__ = ()


def escape(text: object) -> Markup:
    """Any text as HTML; what is markup stays as it is."""
    return text if isinstance(text, Markup) else Markup(html.escape(str(text), quote=True))


def tag(name: str, *parts: object, **attributes: str) -> Markup:
    """An element; a trailing _ is dropped from the names of attributes (class_)."""
    given = "".join(f' {key.rstrip("_")}="{escape(value)}"' for key, value in attributes.items())
    return Markup(f"<{name}{given}>{join(parts)}</{name}>")


def join(parts: Iterable[object]) -> Markup:
    """Parts one after the other."""
    return Markup("".join(escape(part) for part in parts))


def table(
    head: Sequence[object], rows: Iterable[Sequence[object]], *, numbers: Sequence[int] = (), caption: str = "",
    dense: bool = False,
) -> Markup:  # fmt: skip
    """A table that scrolls by itself where it is too wide; ``numbers`` are the columns aligned to the right.

    With many columns it is set ``dense``: closer, and with heads of several lines.
    """

    def cells(name: str, row: Sequence[object]) -> Markup:
        return join(tag(name, cell, class_="n") if k in numbers else tag(name, cell) for k, cell in enumerate(row))

    top = tag("thead", tag("tr", cells("th", head)))
    body = tag("tbody", *(tag("tr", cells("td", row)) for row in rows))
    title = tag("caption", caption) if caption else ""
    return tag("div", tag("table", title, top, body), class_="wide dense" if dense else "wide")


MINUS = "\u2212"
THIN = '<mspace width="0.17em"/>'


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
