"""An equation in scalars, term by term: printed as a formula, and a SymPy expression that vanishes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kinode.symbolic.balances.scalar_terms import SignedTerm, total
from kinode.symbolic.formulas.vector_terms import (
    Definition,
    Negative,
    Number,
    ScalarFormula,
    Sum,
    VectorTerm,
    multiplied,
)
from kinode.symbolic.notation import SymbolStyle


@dataclass(frozen=True)
class TermBlock:
    """Terms with a common factor in front: m (u_dot + q w - r v)."""

    terms: tuple[SignedTerm, ...]
    factor: Any = 1

    @property
    def expression(self) -> Any:
        """The block as one expression."""
        return self.factor * total(self.terms)


@dataclass(frozen=True)
class BalanceLine:
    """left = right, each side a sum of blocks of terms.

    Attributes
    ----------
    name : str
        What the equation is of: F_X, M_Y_member.
    left, right : tuple of TermBlock
        The sides.
    number : str
        Number in the source.
    defines : bool
        Whether the left side is a symbol that the right side stands for.
    """

    name: str
    left: tuple[TermBlock, ...]
    right: tuple[TermBlock, ...]
    number: str = ""
    defines: bool = False
    words: str = ""

    @property
    def difference(self) -> Any:
        """Left minus right: zero."""
        return _sum_of(self.left) - _sum_of(self.right)

    @property
    def terms(self) -> list[Any]:
        """The terms of the right side as they are printed, without common factors."""
        return [term.signed for block in self.right for term in block.terms]

    def definition(self, styles: Mapping[str, SymbolStyle]) -> Definition:
        """The equation as it is printed."""
        return Definition(_side(self.left, styles), _side(self.right, styles), self.number, self.words)


def _sum_of(blocks: Sequence[TermBlock]) -> Any:
    import sympy

    return sympy.Add(*(block.expression for block in blocks))


def _side(blocks: Sequence[TermBlock], styles: Mapping[str, SymbolStyle]) -> VectorTerm:
    parts: list[VectorTerm] = []
    for block in blocks:
        terms = [_leaf(term, styles) for term in block.terms]
        if block.factor == 1:
            parts += terms
        elif terms:
            inner = terms[0] if len(terms) == 1 else Sum(tuple(terms))
            parts.append(multiplied(ScalarFormula(block.factor, styles), inner))
    if not parts:
        return Number(0.0)
    return parts[0] if len(parts) == 1 else Sum(tuple(parts))


def _leaf(term: SignedTerm, styles: Mapping[str, SymbolStyle]) -> VectorTerm:
    formula = ScalarFormula(term.expression, styles)
    return Negative(formula) if term.sign < 0 else formula


def plain_equation(name: str, left: Any, right: Sequence[SignedTerm], number: str = "", words: str = "") -> BalanceLine:
    """A symbol and what it stands for."""
    return BalanceLine(name, (block([SignedTerm(1, left)]),), (block(right),), number, True, words)


def block(terms: Sequence[SignedTerm], factor: Any = 1) -> TermBlock:
    """A block of terms."""
    return TermBlock(tuple(terms), factor)
