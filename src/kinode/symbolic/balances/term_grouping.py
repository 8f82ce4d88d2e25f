"""A sum of products written as a person would: constants that share a motion are added, motions that share one drawn
together.

    I_Y q_dot + mu Z^2 q_dot + mu Z^2 p r + (I_X - I_Z) p r + mu Z Y p q - J_YZ r_dot - mu Z Y r_dot + J_YZ p q
        = (I_Y + mu Z^2) q_dot + (I_X - I_Z + mu Z^2) p r - (J_YZ + mu Y Z) (r_dot - p q)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinode.symbolic.balances.scalar_terms import SignedTerm
from kinode.symbolic.notation import expanded

Motion = tuple[tuple[Any, Any], ...]  # monomials of the motion, each with a number; the first number is positive


def grouped(expression: Any, motion: Sequence[Any]) -> list[SignedTerm]:
    """The terms of a polynomial in the symbols ``motion``, whose coefficients are polynomials in others."""
    import sympy

    groups: dict[Motion, Any] = {}
    for constant, monomials in _by_constant(expression, motion).items():
        lead = next(iter(monomials.values()))
        shape = tuple((monomial, number / lead) for monomial, number in monomials.items())
        groups[shape] = groups.get(shape, sympy.S.Zero) + lead * constant
    groups = _split(groups)
    alone = [shape for shape in groups if len(shape) == 1]
    return [_term(groups[shape], shape) for shape in (*alone, *(s for s in groups if len(s) > 1))]


def _by_constant(expression: Any, motion: Sequence[Any]) -> dict[Any, dict[Any, Any]]:
    """For each constant factor the monomials of the motion that it stands with, and their numbers."""
    import sympy

    whole = expanded(expression)
    if whole == 0:
        return {}
    constants: dict[Any, dict[Any, Any]] = {}
    for powers, coefficient in sympy.Poly(whole, *motion).terms():
        monomial = sympy.Mul(*(symbol**power for symbol, power in zip(motion, powers, strict=True)))
        for part in sympy.Add.make_args(expanded(coefficient)):
            number, constant = part.as_coeff_Mul()
            constants.setdefault(constant, {})[monomial] = number
    return constants


def _split(groups: dict[Motion, Any]) -> dict[Motion, Any]:
    """The same without groups all of whose motions stand alone elsewhere: their parts are added there."""
    import sympy

    alone = {shape[0][0] for shape in groups if len(shape) == 1}
    result: dict[Motion, Any] = {}
    for shape, constant in groups.items():
        apart = len(shape) > 1 and all(monomial in alone for monomial, _ in shape)
        pieces = [(((monomial, sympy.S.One),), number) for monomial, number in shape] if apart else [(shape, 1)]
        for piece, number in pieces:
            result[piece] = result.get(piece, sympy.S.Zero) + number * constant
    return {shape: constant for shape, constant in result.items() if constant != 0}


def _term(constant: Any, shape: Motion) -> SignedTerm:
    """A constant times the motion that it stands with, the sign in front."""
    import sympy

    inner = sympy.Add(*(number * monomial for monomial, number in shape))
    parts = sympy.Add.make_args(constant)
    negative = 2 * sum(part.could_extract_minus_sign() for part in parts) > len(parts)
    factor = sympy.Add(*(-part for part in parts)) if negative else constant
    return SignedTerm(-1 if negative else 1, factor * inner)
