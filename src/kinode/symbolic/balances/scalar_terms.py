"""The components of the balances, term by term: along an axis a, with b and c the next ones in turn.

The acceleration of o, of a point that moves in XYZ, and of a point of a rigid body; and Euler's terms of a rigid body
about its mass center, in its own axes or in axes that share one of them (T-8.8) to (T-8.13), (32) to (37).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from kinode.symbolic.balances.parallel_symbols import Tensor

Triple = Sequence[Any]


class SignedTerm(NamedTuple):
    """A term of a sum with its sign in front."""

    sign: int
    expression: Any

    @property
    def signed(self) -> Any:
        """The term."""
        return self.sign * self.expression


def next_axes(a: int) -> tuple[int, int]:
    """The axes that follow in turn."""
    return (a + 1) % 3, (a + 2) % 3


def without_zeros(terms: Iterable[tuple[int, Any]]) -> list[SignedTerm]:
    """The terms that are not zero, as expressions of SymPy."""
    import sympy

    shown = [SignedTerm(sign, sympy.sympify(expression)) for sign, expression in terms]
    return [term for term in shown if term.expression != 0]


def total(terms: Iterable[SignedTerm]) -> Any:
    """The sum."""
    import sympy

    return sympy.Add(*(term.signed for term in terms))


# -- accelerations ---------------------------------------------------------------------------------
def origin_terms(a: int, V: Triple, V1: Triple, W: Triple) -> list[SignedTerm]:
    """A_0 = V° + Omega x V."""
    b, c = next_axes(a)
    return without_zeros([(1, V1[a]), (1, W[b] * V[c]), (-1, W[c] * V[b])])


def point_terms(a: int, x: Triple, x1: Triple, x2: Triple, W: Triple, W1: Triple) -> list[SignedTerm]:
    """acc(x) = x°° + Omega° x x + 2 Omega x x° + Omega x (Omega x x), collected by the components of x."""
    b, c = next_axes(a)
    return without_zeros(
        [
            (1, x2[a]),
            (1, x[c] * (W1[b] + W[c] * W[a])),
            (-1, x[b] * (W1[c] - W[a] * W[b])),
            (-1, x[a] * (W[b] ** 2 + W[c] ** 2)),
            (1, 2 * W[b] * x1[c]),
            (-1, 2 * W[c] * x1[b]),
        ]
    )


# -- moments ---------------------------------------------------------------------------------------
def euler_terms(i: int, tensor: Tensor, w: Triple, w1: Triple) -> list[SignedTerm]:
    """I eps + w x I w about the mass center, in the body's own axes."""
    j, k = next_axes(i)
    I, J = tensor.I, tensor.product
    return without_zeros(
        [
            (1, I[i] * w1[i]),
            (1, (I[k] - I[j]) * w[j] * w[k]),
            (-1, J(i, j) * (w1[j] - w[i] * w[k])),
            (-1, J(i, k) * (w1[k] + w[i] * w[j])),
            (1, J(j, k) * (w[k] ** 2 - w[j] ** 2)),
        ]
    )


def rolled_euler_terms(
    a: int, axis: int, tensor: Tensor, w: Triple, w1: Triple, seen: Triple, phi: Any
) -> list[SignedTerm]:
    """The same along ``axis`` of axes in which the body has rolled by phi about the shared axis ``a``.

    ``seen`` are the components of w in these axes.
    """
    import sympy

    if axis == a:
        return euler_terms(a, tensor, w, w1)
    b, c = next_axes(a)
    I, J = tensor.I, tensor.product
    cos, sin = sympy.cos(phi), sympy.sin(phi)
    cross_ab, cross_ac = J(a, b), J(a, c)
    if axis == b:
        return without_zeros(
            [
                (1, I[b] * w1[b] * cos),
                (-1, I[c] * w1[c] * sin),
                (-1, w[a] * (I[b] * w[b] * sin + I[c] * w[c] * cos)),
                (1, I[a] * w[a] * seen[c]),
                (-1, cross_ab * (w1[a] + w[b] * w[c]) * cos),
                (1, cross_ab * (w[a] ** 2 - w[b] ** 2) * sin),
                (1, cross_ac * (w1[a] - w[b] * w[c]) * sin),
                (1, cross_ac * (w[a] ** 2 - w[c] ** 2) * cos),
                (1, J(b, c) * (w1[b] + w[a] * w[c]) * sin),
                (-1, J(b, c) * (w1[c] - w[a] * w[b]) * cos),
            ]
        )
    return without_zeros(
        [
            (1, I[c] * w1[c] * cos),
            (1, I[b] * w1[b] * sin),
            (1, w[a] * (I[b] * w[b] * cos - I[c] * w[c] * sin)),
            (-1, I[a] * w[a] * seen[b]),
            (-1, cross_ab * (w1[a] + w[b] * w[c]) * sin),
            (-1, cross_ab * (w[a] ** 2 - w[b] ** 2) * cos),
            (-1, cross_ac * (w1[a] - w[b] * w[c]) * cos),
            (1, cross_ac * (w[a] ** 2 - w[c] ** 2) * sin),
            (-1, J(b, c) * (w1[b] + w[a] * w[c]) * cos),
            (-1, J(b, c) * (w1[c] - w[a] * w[b]) * sin),
        ]
    )


def momentum_terms(a: int, H: Triple, H1: Triple, W: Triple) -> list[SignedTerm]:
    """H° + Omega x H."""
    b, c = next_axes(a)
    return without_zeros([(1, H1[a]), (1, W[b] * H[c]), (-1, W[c] * H[b])])


def arm_terms(a: int, x: Triple, F: Triple) -> list[SignedTerm]:
    """x x F."""
    b, c = next_axes(a)
    return without_zeros([(1, x[b] * F[c]), (-1, x[c] * F[b])])
