"""Typesetting of terms: one walk for plain text, LaTeX and MathML, which differ in how pieces are joined.

A typeface says how one language writes the pieces.  Brackets stand where the order of operations asks for them, and
around a vector product inside another.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from kinode.sheets.markup import THIN, Markup, expression_markup, tag
from kinode.sheets.tables import MINUS
from kinode.sheets.terms import (
    Call,
    Cases,
    Cross,
    Dot,
    Family,
    Grid,
    Index,
    IndexCondition,
    IndexedSymbol,
    IndexFunction,
    IndexSet,
    Inverse,
    Negative,
    Norm,
    Number,
    Power,
    Product,
    Quotient,
    ScalarFormula,
    Skew,
    Sum,
    SumOver,
    Transposed,
    UnitVector,
    VectorTerm,
)
from kinode.sheets.text import latex_text, number_printer


def written(term: VectorTerm, face: Typeface) -> str:
    """A term in one language."""
    return face.signed([(isinstance(x, Negative), _part(x, face)) for x in _terms(term)])


def signed_terms(term: VectorTerm, face: Typeface) -> list[tuple[bool, str]]:
    """The terms of a sum, each with whether it is negative, for lines that are broken between them."""
    return [(isinstance(x, Negative), _part(x, face)) for x in _terms(term)]


def index_text(place: Any, face: Typeface) -> str:
    """An index in one language."""
    if isinstance(place, Index):
        return face.letter(place.letter)
    if isinstance(place, IndexFunction):
        return face.index(place.pattern, [index_text(x, face) for x in place.arguments])
    return face.letter(str(place))


def condition_text(condition: IndexCondition | IndexSet, face: Typeface) -> str:
    """When a case holds, or what an index runs over."""
    return face.index(condition.pattern, _index_texts(condition, face))


def _index_texts(condition: IndexCondition | IndexSet, face: Typeface) -> list[str]:
    own = (condition.index,) if isinstance(condition, IndexSet) else ()
    return [index_text(x, face) for x in (*own, *condition.arguments)]


def _terms(term: VectorTerm) -> Sequence[VectorTerm]:
    return term.terms if isinstance(term, Sum) else (term,)


def _part(term: VectorTerm, face: Typeface) -> str:
    """A term of a sum, without its sign."""
    inner = term.term if isinstance(term, Negative) else term
    needs = isinstance(inner, Sum | Negative) or (
        isinstance(inner, ScalarFormula) and inner.binding == 0 and inner is not term
    )
    return face.bracket(written(inner, face)) if needs else _write(inner, face)


def _grouped(term: VectorTerm, least: int, face: Typeface) -> str:
    """A term, in brackets if it holds together less tightly than ``least``."""
    text = written(term, face) if isinstance(term, Sum | Negative) else _write(term, face)
    return text if term.binding >= least and not _negative_number(term) else face.bracket(text)


def _negative_number(term: VectorTerm) -> bool:
    return isinstance(term, Number) and term.value < 0


def _symbol(term: IndexedSymbol, face: Typeface) -> str:
    parts = [index_text(x, face) for x in term.places]
    below, above = (face.index(pattern, parts) if pattern else "" for pattern in (term.family.below, term.family.above))
    return face.symbol(term.family, below, above)


def _sum_over(term: SumOver, face: Typeface) -> str:
    text = _grouped(term.term, 1, face)
    for where in reversed(term.over):
        upper = face.index(where.upper, _index_texts(where, face)) if where.upper else ""
        text = face.sum_over(condition_text(where, face), upper, text)
    return text


def _product(term: Product, face: Typeface) -> str:
    last = len(term.factors) - 1
    parts = []
    for k, factor in enumerate(term.factors):
        open_end = isinstance(factor, SumOver) and k == last
        parts.append(_write(factor, face) if open_end else _grouped(factor, 2, face))
    return face.product(parts)


def _cases(term: Cases, face: Typeface) -> str:
    rows = [
        (written(value, face), "otherwise" if condition is None else condition_text(condition, face))
        for value, condition in term.cases
    ]
    return face.cases(rows)


def _pair(term: Cross | Dot, face: Typeface) -> str:
    sign = "cross" if isinstance(term, Cross) else "dot"
    return face.operator(sign, _grouped(term.left, 2, face), _grouped(term.right, 2, face))


def _number(term: Number, face: Typeface) -> str:
    text = face.number(abs(term.value))
    return face.signed([(True, text)]) if term.value < 0 else text


_WRITERS: dict[type[VectorTerm], Any] = {
    IndexedSymbol: _symbol,
    SumOver: _sum_over,
    Product: _product,
    Cases: _cases,
    Cross: _pair,
    Dot: _pair,
    Number: _number,
    ScalarFormula: lambda t, face: face.formula(t.expression, t.styles),
    Skew: lambda t, face: face.call("S", written(t.vector, face)),
    Transposed: lambda t, face: face.raised(_grouped(t.term, 3, face), "T"),
    Inverse: lambda t, face: face.raised(_grouped(t.term, 3, face), "-1"),
    Power: lambda t, face: face.raised(_grouped(t.term, 3, face), str(t.exponent)),
    Quotient: lambda t, face: face.quotient(written(t.above, face), written(t.below, face)),
    UnitVector: lambda t, face: face.quotient(written(t.vector, face), face.norm(written(t.vector, face))),
    Norm: lambda t, face: face.norm(written(t.vector, face)),
    Call: lambda t, face: face.call(t.function, *(written(x, face) for x in (t.argument, *t.others))),
    Grid: lambda t, face: face.grid([[written(x, face) for x in row] for row in t.rows]),
}


def _write(term: VectorTerm, face: Typeface) -> str:
    text: str = _WRITERS[type(term)](term, face)
    return text


GREEK_NAMES = """alpha beta gamma delta eps zeta eta theta lam mu nu xi rho sigma tau phi psi omega
Gamma Delta Theta Lambda Xi Sigma Phi Psi Omega"""
GREEK_LETTERS = dict(zip(GREEK_NAMES.split(), "αβγδεζηθλμνξρστφψωΓΔΘΛΞΣΦΨΩ", strict=True))
LATEX_GREEK = {"eps": r"\varepsilon", "lam": r"\lambda"}
DIGITS = 6


def decimal(value: float) -> str:
    """A number with as few digits as it needs, at most six."""
    return f"{value:.{DIGITS}g}"


def latex_number(text: str) -> str:
    """A number in LaTeX."""
    mantissa, mark, exponent = text.partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if mark else mantissa


def separated(pattern: str, parts: Sequence[str], long: str = r"\d\d") -> str:
    """A pattern with commas between indices that stand side by side, if one of them has several digits."""

    def between(pair: re.Match[str]) -> str:
        one, two = (parts[int(n)] for n in pair.groups())
        return f"{{{pair[1]}}}," if re.search(long, one) or re.search(long, two) else f"{{{pair[1]}}}"

    return re.sub(r"\{(\d+)\}(?=\{(\d+)\})", between, pattern)


# -- plain text ------------------------------------------------------------------------------------
class Typeface:
    """How pieces of formulas are written: here as text for a terminal, Greek letters by name, cross products with x.

    The other languages say what they write otherwise.
    """

    accents: ClassVar = {
        "dot": "_dot",
        "ddot": "_ddot",
        "ring": "°",
        "rings": "°°",
        "bar": "_bar",
        "tilde": "~",
        "star": "*",
        "": "",
    }

    def index(self, pattern: str, parts: Sequence[str]) -> str:
        """Indices in a pattern."""
        words = {str(k) for k, part in enumerate(parts) if len(part) > 1 and part.isalpha()}
        pattern = re.sub(r"(?<=\w)\{(\d+)\}", lambda m: f"_{m[0]}" if m[1] in words else m[0], pattern)  # n_alpha
        return separated(pattern, parts, r"\w\w").format(*parts)

    def letter(self, index: str) -> str:
        """An index by its letter."""
        return index

    def symbol(self, family: Family, below: str, above: str) -> str:
        """A letter with accent, subscript and superscript."""
        name = family.letter + self.accents[family.accent]
        name += (f"_{below}" if below else "") + (f"^{above}" if above else "")
        return f"d({name})/dt" if family.rate else name

    def number(self, value: float) -> str:
        """A number that is not negative."""
        return decimal(value)

    def formula(self, expression: Any, styles: Mapping[str, Any]) -> str:
        """An expression of SymPy."""
        return str(number_printer("StrPrinter", {"full_prec": False}).doprint(expression))

    def signed(self, parts: Sequence[tuple[bool, str]]) -> str:
        """Terms of a sum, each with whether it is negative."""
        (minus, text), *rest = parts
        return " ".join([f"-{text}" if minus else text, *(f"{'-' if m else '+'} {t}" for m, t in rest)])

    def product(self, factors: Sequence[str]) -> str:
        """Factors one after the other."""
        return " ".join(factors)

    def operator(self, sign: str, left: str, right: str) -> str:
        """Two operands of ``cross`` or ``dot``."""
        return f"{left} {'x' if sign == 'cross' else '.'} {right}"

    def bracket(self, inner: str) -> str:
        """A term in brackets."""
        return f"({inner})"

    def raised(self, base: str, exponent: str) -> str:
        """A power; ``T`` stands for transposed."""
        return f"{base}'" if exponent == "T" else f"{base}^{exponent}"

    def quotient(self, above: str, below: str) -> str:
        """A fraction."""
        whole = r"[\w.|()°*~^]+|\|[^|]*\|"
        top, bottom = (x if re.fullmatch(whole, x) else f"({x})" for x in (above, below))
        return f"{top}/{bottom}"

    def norm(self, inner: str) -> str:
        """A length."""
        return f"|{inner}|"

    def call(self, function: str, *arguments: str) -> str:
        """A function of scalars, or ``S`` of a vector."""
        return f"{function}({', '.join(arguments)})"

    def sum_over(self, below: str, above: str, term: str) -> str:
        """A sum sign."""
        return f"sum[{below}{f' .. {above}' if above else ''}] {term}"

    def cases(self, rows: Sequence[tuple[str, str]]) -> str:
        """Terms, each with its condition."""
        return "; ".join(f"{term} {'' if words == 'otherwise' else 'if '}{words}" for term, words in rows)

    def grid(self, rows: Sequence[Sequence[str]]) -> str:
        """A matrix."""
        if all(len(row) == 1 for row in rows):
            return f"({', '.join(row[0] for row in rows)})"
        return f"[{', '.join('[' + ', '.join(row) + ']' for row in rows)}]"


# -- LaTeX -----------------------------------------------------------------------------------------
class Latex(Typeface):
    """LaTeX; vectors and matrices are bold."""

    accents: ClassVar = {
        "dot": r"\dot{%s}", "ddot": r"\ddot{%s}", "ring": r"\mathring{%s}", "rings": r"\overset{\circ\circ}{%s}",
        "bar": r"\bar{%s}", "tilde": r"\tilde{%s}",
        "star": r"%s^{*}", "": "%s",
    }  # fmt: skip
    relations: ClassVar = {"<=": r"\le ", ">=": r"\ge ", "!=": r"\ne ", "in": r"\in "}

    def index(self, pattern: str, parts: Sequence[str]) -> str:
        pattern = separated(pattern, parts)
        words = re.split(r"(<=|>=|!=|\{\d+\}|\{\{|\}\}|[A-Za-z][\w.]*)", pattern)
        return "".join(self._piece(word, parts) for word in words)

    def _piece(self, word: str, parts: Sequence[str]) -> str:
        if word in self.relations:
            return self.relations[word]
        if placed := re.fullmatch(r"\{(\d+)\}", word):
            return parts[int(placed[1])]
        if word in ("{{", "}}"):
            return latex_text(word[0])
        if re.fullmatch(r"[A-Za-z][\w.]+", word):
            return self.letter(word) if word in GREEK_LETTERS else rf"\text{{ {latex_text(word)} }}"
        return word if re.fullmatch(r"[\w\s(),+\-=<>/|':.\[\]]*", word) and "_" not in word else latex_text(word)

    def letter(self, index: str) -> str:
        if index in GREEK_LETTERS:
            return LATEX_GREEK.get(index, "\\" + index) + " "
        return index if len(index) == 1 else rf"\mathrm{{{latex_text(index)}}}"

    def symbol(self, family: Family, below: str, above: str) -> str:
        name = self.letter(family.letter).strip()
        bold = rf"\boldsymbol{{{name}}}" if family.rank else name
        text = self.accents[family.accent] % bold
        if family.accent == "star" and above:
            text, above = bold, f"*{above}"
        text += (f"_{{{below}}}" if below else "") + (f"^{{{above}}}" if above else "")
        return rf"\frac{{d{text}}}{{dt}}" if family.rate else text

    def number(self, value: float) -> str:
        return latex_number(decimal(value))

    def formula(self, expression: Any, styles: Mapping[str, Any]) -> str:
        names = {x: styles[x.name].latex for x in expression.free_symbols if x.name in styles}
        return str(number_printer("LatexPrinter", {"symbol_names": names}).doprint(expression))

    def product(self, factors: Sequence[str]) -> str:
        return r"\, ".join(factors)

    def operator(self, sign: str, left: str, right: str) -> str:
        return rf"{left} \{'times' if sign == 'cross' else 'cdot'} {right}"

    def bracket(self, inner: str) -> str:
        return rf"\left({inner}\right)"

    def raised(self, base: str, exponent: str) -> str:
        sign = r"\mathsf{T}" if exponent == "T" else exponent
        return rf"{{{base}}}^{{{sign}}}"

    def quotient(self, above: str, below: str) -> str:
        return rf"\frac{{{above}}}{{{below}}}"

    def norm(self, inner: str) -> str:
        return rf"\left|{inner}\right|"

    def call(self, function: str, *arguments: str) -> str:
        name = rf"\{function}" if function in ("sin", "cos", "tan") else rf"\operatorname{{{latex_text(function)}}}"
        return rf"{name}\left({', '.join(arguments)}\right)"

    def sum_over(self, below: str, above: str, term: str) -> str:
        return rf"\sum_{{{below}}}{f'^{{{above}}}' if above else ''} {term}"

    def cases(self, rows: Sequence[tuple[str, str]]) -> str:
        rest = r"\text{otherwise}"
        lines = [rf"{term} & {rest if words == 'otherwise' else words}" for term, words in rows]
        return r"\begin{cases} " + r" \\ ".join(lines) + r" \end{cases}"

    def grid(self, rows: Sequence[Sequence[str]]) -> str:
        columns = max(len(row) for row in rows)
        body = r" \\ ".join(" & ".join(row) for row in rows)
        return rf"\left[\begin{{array}}{{{'c' * columns}}} {body} \end{{array}}\right]"


# -- MathML ----------------------------------------------------------------------------------------
class MathMl(Typeface):
    """MathML for browsers; vectors and matrices are bold."""

    accents: ClassVar = {"dot": "˙", "ddot": "¨", "ring": "∘", "rings": "∘∘", "bar": "¯", "tilde": "~"}
    signs: ClassVar = {"<=": "≤", ">=": "≥", "!=": "≠", " in ": " ∈ "}

    def index(self, pattern: str, parts: Sequence[str]) -> str:
        for sign, shown in self.signs.items():
            pattern = pattern.replace(sign, shown)
        return separated(pattern, parts).format(*parts)

    def letter(self, index: str) -> str:
        return GREEK_LETTERS.get(index, index)

    def symbol(self, family: Family, below: str, above: str) -> str:
        bold = {"style": "font-weight:bold"} if family.rank else {}  # browsers know no bold mathvariant
        letter = tag("mi", self.letter(family.letter), **bold)
        if family.accent == "star":
            above = f"*{above}"
        elif family.accent:
            letter = tag("mover", letter, tag("mo", self.accents[family.accent], stretchy="false"), accent="true")
        if below and above:
            letter = tag("msubsup", letter, tag("mtext", below), tag("mtext", above))
        elif below:
            letter = tag("msub", letter, tag("mtext", below))
        elif above:
            letter = tag("msup", letter, tag("mtext", above))
        return (
            tag("mfrac", tag("mrow", tag("mi", "d"), letter), tag("mrow", tag("mi", "dt"))) if family.rate else letter
        )

    def number(self, value: float) -> str:
        mantissa, mark, exponent = decimal(value).partition("e")
        shown = tag("mn", mantissa)
        if not mark:
            return shown
        power = tag("msup", tag("mn", "10"), tag("mn", str(int(exponent)).replace("-", MINUS)))
        return tag("mrow", shown, tag("mo", "·"), power)

    def formula(self, expression: Any, styles: Mapping[str, Any]) -> str:
        return Markup(expression_markup(expression, styles))

    def signed(self, parts: Sequence[tuple[bool, str]]) -> str:
        pieces: list[str] = []
        for k, (minus, text) in enumerate(parts):
            pieces += [tag("mo", MINUS if minus else "+")] if minus or k else []
            pieces.append(text)
        return pieces[0] if len(pieces) == 1 else tag("mrow", *pieces)

    def product(self, factors: Sequence[str]) -> str:
        return tag("mrow", Markup(THIN.join(factors)))

    def operator(self, sign: str, left: str, right: str) -> str:
        return tag("mrow", left, tag("mo", "\u00d7" if sign == "cross" else "\u00b7"), right)

    def bracket(self, inner: str) -> str:
        return tag("mrow", tag("mo", "("), inner, tag("mo", ")"))

    def raised(self, base: str, exponent: str) -> str:
        return tag("msup", base, tag("mtext", exponent.replace("-", MINUS)))

    def quotient(self, above: str, below: str) -> str:
        return tag("mfrac", above, below)

    def norm(self, inner: str) -> str:
        return tag("mrow", tag("mo", "|"), inner, tag("mo", "|"))

    def call(self, function: str, *arguments: str) -> str:
        between = Markup(tag("mo", ",")).join(arguments)
        return tag("mrow", tag("mi", function), tag("mo", "("), Markup(between), tag("mo", ")"))

    def sum_over(self, below: str, above: str, term: str) -> str:
        sign = tag("mo", "∑")
        under = (
            tag("munderover", sign, tag("mtext", below), tag("mtext", above))
            if above
            else tag("munder", sign, tag("mtext", below))
        )
        return tag("mrow", under, term)

    def cases(self, rows: Sequence[tuple[str, str]]) -> str:
        lines = [tag("mtr", tag("mtd", term), tag("mtd", tag("mtext", words))) for term, words in rows]
        return tag("mrow", tag("mo", "{"), tag("mtable", *lines, columnalign="left"))

    def grid(self, rows: Sequence[Sequence[str]]) -> str:
        lines = [tag("mtr", *(tag("mtd", x) for x in row)) for row in rows]
        return tag("mrow", tag("mo", "["), tag("mtable", *lines), tag("mo", "]"))


PLAIN, LATEX, MATHML = Typeface(), Latex(), MathMl()
