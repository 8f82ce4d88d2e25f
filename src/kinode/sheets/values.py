"""Values of terms: the formulas that are printed, evaluated.

Symbols that a definition stands for are evaluated by it, once for each value of their indices; all others are given.
The numbers may be floats or traced scalars, so that a printed formula can become a kernel too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from kinode.algebra.scalars import apply, sqrt
from kinode.sheets.terms import (
    Bindings,
    Call,
    Cases,
    Cross,
    Definition,
    Dot,
    Family,
    Grid,
    Index,
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
    bound,
)

Given = Mapping[Family, Callable[..., Any]]
SMALLEST_DIRECTION = 1e-12  # of the size that it is compared with: a shorter vector has no direction


class TermValues:
    """Evaluates terms, with definitions and given symbols.

    Parameters
    ----------
    definitions : iterable of Definition
        The first one of a family counts, for all its indices; later ones are other ways to write it.  Equations whose
        left side is no symbol are passed over.
    given : mapping
        For every other family a function of its indices.
    """

    def __init__(self, definitions: Iterable[Definition], given: Given) -> None:
        self.given = given
        self.definitions: dict[Family, Definition] = {}
        for definition in definitions:
            if isinstance(definition.left, IndexedSymbol) and definition.left.family not in given:
                self.definitions.setdefault(definition.left.family, definition)
        self._known: dict[Family, dict[tuple[Any, ...], Any]] = {}

    def __call__(self, term: VectorTerm, bindings: Bindings | None = None) -> Any:
        """The value of a term; ``bindings`` are the values of its free indices by letter."""
        return _EVALUATORS[type(term)](self, term, bindings or {})

    def symbol(self, symbol: IndexedSymbol) -> Any:
        """The value of a symbol whose indices have values."""
        return self._value(symbol.family, symbol.places)

    def _symbol(self, term: IndexedSymbol, b: Bindings) -> Any:
        return self._value(term.family, tuple([b[x.letter] if type(x) is Index else bound(x, b) for x in term.places]))

    def _value(self, family: Family, places: tuple[Any, ...]) -> Any:
        known = self._known.setdefault(family, {})
        if places not in known:
            known[places] = self._evaluated(family, places)
        return known[places]

    def _evaluated(self, family: Family, places: tuple[Any, ...]) -> Any:
        if family in self.given:
            return self.given[family](*places)
        definition = self.definitions.get(family)
        if definition is None:
            raise KeyError(f"{family.letter} is neither defined nor given")
        left = definition.left
        assert isinstance(left, IndexedSymbol)
        letters = {place.letter: at for place, at in zip(left.places, places) if isinstance(place, Index)}
        return self(definition.right, letters)

    # -- the kinds of terms ------------------------------------------------------------------------
    def _sum(self, term: Sum, b: Bindings) -> Any:
        total = self(term.terms[0], b)
        for part in term.terms[1:]:
            total = total + self(part, b)
        return total

    def _product(self, term: Product, b: Bindings) -> Any:
        """Factors from the right, so that matrices meet vectors and not matrices."""
        *others, last = [self(factor, b) for factor in term.factors]
        for factor in reversed(others):
            both = getattr(factor, "ndim", 0) and getattr(last, "ndim", 0)
            last = factor @ last if both else factor * last
        return last

    def _sum_over(self, term: SumOver, b: Bindings, depth: int = 0) -> Any:
        if depth == len(term.over):
            return self(term.term, b)
        where = term.over[depth]
        total: Any = None
        for value in where.values(b):
            part = self._sum_over(term, {**b, where.index.letter: value}, depth + 1)
            total = part if total is None else total + part
        return (0.0, np.zeros(3), np.zeros((3, 3)))[term.rank] if total is None else total

    def _cases(self, term: Cases, b: Bindings) -> Any:
        for value, condition in term.cases:
            if condition is None or condition.check(b):
                result = self(value, b)
                return result if np.ndim(result) or not term.rank else np.full((3,) * term.rank, result)
        raise ValueError("no case of a formula holds")

    def _grid(self, term: Grid, b: Bindings) -> Any:
        entries = [[np.atleast_1d(self(x, b)) if term.rank == 1 else self(x, b) for x in row] for row in term.rows]
        if term.rank == 1:
            return np.concatenate([row[0] for row in entries])
        whole = [[x if np.ndim(x) == 2 else np.reshape(x, (-1, 1)) for x in row] for row in entries]
        return np.block(whole)

    def _formula(self, term: ScalarFormula, b: Bindings) -> Any:
        if term.value is None:
            raise ValueError(f"{term.expression} has no value")
        return term.value(b)


class SymbolValues(TermValues):
    """Evaluates terms; one function gives the values of all symbols."""

    def __init__(self, value: Callable[[IndexedSymbol], Any]) -> None:
        super().__init__((), {})
        self._function = value

    def _evaluated(self, family: Family, places: tuple[Any, ...]) -> Any:
        return self._function(IndexedSymbol(family, places))


def skew(a: Any) -> Any:
    """The matrix of a vector product."""
    x, y, z = a
    return np.array([[0.0 * x, -z, y], [z, 0.0 * x, -x], [-y, x, 0.0 * x]])


def _cross(a: Any, b: Any) -> Any:
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


_EVALUATORS: dict[type[VectorTerm], Callable[[TermValues, Any, Bindings], Any]] = {
    IndexedSymbol: TermValues._symbol,
    Number: lambda e, t, b: t.value,
    Negative: lambda e, t, b: -e(t.term, b),
    Sum: TermValues._sum,
    Product: TermValues._product,
    SumOver: TermValues._sum_over,
    Cases: TermValues._cases,
    Grid: TermValues._grid,
    ScalarFormula: TermValues._formula,
    Cross: lambda e, t, b: _cross(e(t.left, b), e(t.right, b)),
    Dot: lambda e, t, b: np.dot(e(t.left, b), e(t.right, b)),
    Skew: lambda e, t, b: skew(e(t.vector, b)),
    Transposed: lambda e, t, b: np.transpose(e(t.term, b)),
    Inverse: lambda e, t, b: np.linalg.inv(e(t.term, b)),
    Power: lambda e, t, b: _power(e(t.term, b), t.exponent),
    Quotient: lambda e, t, b: e(t.above, b) / e(t.below, b),
    UnitVector: lambda e, t, b: _direction(e(t.vector, b), e(t.size, b)),
    Norm: lambda e, t, b: sqrt(np.dot(*(e(t.vector, b),) * 2)),
    Call: lambda e, t, b: apply(t.function, *(e(x, b) for x in (t.argument, *t.others))),
}


def _direction(vector: Any, size: Any) -> Any:
    length = float(np.linalg.norm(vector))
    least = SMALLEST_DIRECTION * float(np.linalg.norm(size))
    return vector / length if length > least else np.zeros(3)


def _power(base: Any, exponent: int) -> Any:
    if np.ndim(base) < 2:
        return base**exponent
    result = base
    for _ in range(exponent - 1):
        result = result @ base
    return result
