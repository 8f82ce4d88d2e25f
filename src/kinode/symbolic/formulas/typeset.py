"""Terms as text for a terminal, in LaTeX and in MathML: one walk for all three, which differ in how pieces are joined.

Brackets stand where the order of operations asks for them, and around a vector product inside another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from kinode.symbolic.formulas.indices import Index, IndexCondition, IndexFunction, IndexSet
from kinode.symbolic.formulas.vector_terms import (
    Call,
    Cases,
    Cross,
    Dot,
    Family,
    Grid,
    IndexedSymbol,
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


class Typeface(Protocol):
    """How pieces of formulas are written in one language."""

    def index(self, pattern: str, parts: Sequence[str]) -> str:
        """Indices in a pattern."""

    def letter(self, index: str) -> str:
        """An index by its letter."""

    def symbol(self, family: Family, below: str, above: str) -> str:
        """A letter with accent, subscript and superscript."""

    def number(self, value: float) -> str:
        """A number that is not negative."""

    def formula(self, expression: Any, styles: Mapping[str, Any]) -> str:
        """An expression of SymPy."""

    def signed(self, parts: Sequence[tuple[bool, str]]) -> str:
        """Terms of a sum, each with whether it is negative."""

    def product(self, factors: Sequence[str]) -> str:
        """Factors one after the other."""

    def operator(self, sign: str, left: str, right: str) -> str:
        """Two operands of ``cross`` or ``dot``."""

    def bracket(self, inner: str) -> str:
        """A term in brackets."""

    def raised(self, base: str, exponent: str) -> str:
        """A power; ``T`` stands for transposed."""

    def quotient(self, above: str, below: str) -> str:
        """A fraction."""

    def norm(self, inner: str) -> str:
        """A length."""

    def call(self, function: str, *arguments: str) -> str:
        """A function of scalars, or ``S`` of a vector."""

    def sum_over(self, below: str, above: str, term: str) -> str:
        """A sum sign."""

    def cases(self, rows: Sequence[tuple[str, str]]) -> str:
        """Terms, each with its condition."""

    def grid(self, rows: Sequence[Sequence[str]]) -> str:
        """A matrix."""


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
