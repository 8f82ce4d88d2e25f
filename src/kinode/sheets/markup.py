"""HTML and MathML by tags: tables and sheets for pages and notebooks, expressions of SymPy, which browsers typeset.

Text is escaped unless it is ``Markup`` already.  Expressions are written by SymPy's printer, with kinode's styles of
symbols.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from kinode.sheets.tables import MINUS, Sheet, Strong, Table
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


# -- tables and sheets -------------------------------------------------------------------------------
CELL = "vertical-align: top; padding: 0.15em 0.8em 0.15em 0; text-align: "
NOTEBOOK = (CELL + "left", CELL + "right; font-variant-numeric: tabular-nums", "border-bottom: 1px solid currentColor")
MOST_ROWS = 30  # of a table in a notebook; more are counted


def table(shown: Table, *, dense: bool = False) -> Markup:
    """A table of a page, which scrolls by itself where it is too wide.

    With many columns it is set ``dense``: closer, and with heads of several lines.
    """
    return tag("div", _table(shown, {}, {"class_": "n"}, {}), class_="wide dense" if dense else "wide")


def notebook(sheet: Sheet) -> str:
    """A sheet in a notebook: without colors, which a notebook has itself, and with its style at the elements.

    A table with a title can be folded away; a long one begins folded.
    """
    parts = [tag("div", tag("strong", sheet.title), sheet.rest)] if sheet.title else []
    for part in filter(None, sheet.parts):
        if isinstance(part, Table):
            count = len(part.rows)
            shown = _table(replace(part, rows=part.rows[:MOST_ROWS]), *({"style": style} for style in NOTEBOOK))
            rest = tag("div", f"... and {count - MOST_ROWS} more") if count > MOST_ROWS else ""
            parts.append(folded(part.title, count, shown, rest) if part.title else join([shown, rest]))
        else:
            parts.append(part if isinstance(part, Markup) else tag("div", _cell(part)))
    return str(tag("div", *parts, class_="kinode", style="line-height: 1.35"))


def folded(title: str, count: int, *parts: object) -> Markup:
    """What can be folded away in a notebook, under its title; what is long begins folded."""
    shown = tag("summary", f"{title} ({count})" if count > 1 else title, style="cursor: pointer; font-weight: 600")
    return tag("details", shown, *parts, **({} if count > MOST_ROWS else {"open": "open"}))


def _table(shown: Table, left: dict[str, str], right: dict[str, str], head: dict[str, str]) -> Markup:
    """The elements of a table; given are the attributes of cells flush left and right, and of the row of the head."""
    shown = shown.typeset()

    def cells(name: str, row: Sequence[Any]) -> Markup:
        looks = (left if is_left else right for is_left in shown.left)
        return join(tag(name, _cell(cell), **given) for cell, given in zip(row, looks, strict=True))

    top = tag("thead", tag("tr", cells("th", shown.head), **head)) if any(shown.heads) else ""
    return tag("table", top, tag("tbody", *(tag("tr", cells("td", row)) for row in shown.rows)))


def _cell(cell: Any) -> Any:
    """A cell or a line: of a head with a unit, the unit below the words; what stands out in bold."""
    if isinstance(cell, tuple):
        words, unit = cell
        below = tag("span", unit, class_="unit")
        return join([words, Markup("<br>"), below]) if words else below
    if isinstance(cell, Strong):
        return tag("strong", cell, **({"title": cell.why} if cell.why else {}))
    return cell


# -- formulas --------------------------------------------------------------------------------------
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


def expression_markup(expression: Any, styles: Mapping[str, SymbolStyle]) -> str:
    """An expression by SymPy's printer with kinode's styles of symbols."""
    markup = str(_printer_class()(styles)._print(expression).toxml())
    markup = markup.replace("<mo>-</mo>", f"<mo>{MINUS}</mo>")
    return markup.replace("<mo>&InvisibleTimes;</mo>", THIN).replace("&amp;InvisibleTimes;", "&#8290;")


@cache
def _printer_class() -> Any:
    from xml.dom.minidom import parseString

    from sympy.printing.mathml import MathMLPresentationPrinter

    base: Any = MathMLPresentationPrinter

    class Printer(base):  # type: ignore[misc]
        def __init__(self, styles: Mapping[str, SymbolStyle]) -> None:
            super().__init__()
            self.styles = styles

        def _as_ordered_terms(self, expr: Any, order: Any = None) -> Any:
            return positive_first(super()._as_ordered_terms(expr, order=order))

        def _print_Symbol(self, sym: Any, style: str = "plain") -> Any:
            symbol_style = self.styles.get(sym.name)
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

    return Printer
