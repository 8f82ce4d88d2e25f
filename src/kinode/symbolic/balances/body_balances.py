"""Balances of each body and of the system about the origin of a frame, in components of its axes, in scalars.

Axes of each body are placed at its mass center, so that r_j leads to it and rho_j = 0:

    F_j + m_j g = m_j ( A_0 + acc(r_j) ),    M_jo = H_j° + Omega x H_j + r_j x F_j                          (T-8.7)

F_j and M_jo are without weight.  A body that keeps its axes parallel to the carrier of the frame, or rolls in the frame
with it, is written with p, q, r and its tensor (32) to (37); any other with its moment of momentum in XYZ.

Components are written term by term, along an axis a with b and c the next ones in turn: the acceleration of o, of a
point that moves in XYZ, of a point of a rigid body; and Euler's terms of a rigid body about its mass center, in its own
axes or in axes that share one of them (T-8.8) to (T-8.13).  A line is printed as a formula, and is a SymPy expression
that vanishes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from kinode.sheets.terms import Definition, Negative, Number, ScalarFormula, Sum, SymbolStyle, VectorTerm, multiplied
from kinode.symbolic.balances.balance_symbols import (
    PLACES,
    XYZ,
    BalanceSymbols,
    ParallelSymbols,
    Tensor,
    component,
    tensor_of,
)
from kinode.symbolic.balances.frame_carrier import FrameCarrier

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
def rate_terms(a: int, V: Triple, V1: Triple, W: Triple) -> list[SignedTerm]:
    """V° + Omega x V: of the velocity of o its acceleration A_0, of a moment of momentum its rate."""
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


def arm_terms(a: int, x: Triple, F: Triple) -> list[SignedTerm]:
    """x x F."""
    b, c = next_axes(a)
    return without_zeros([(1, x[b] * F[c]), (-1, x[c] * F[b])])


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


class BodyBalances:
    """The equations of the bodies and of the system; bodies that are fixed to each other are one."""

    def __init__(self, carrier: FrameCarrier) -> None:
        self.carrier, self.symbols = carrier, BalanceSymbols(carrier)
        self.V, self.V1 = self.symbols.velocity(), self.symbols.velocity_rate()
        self.W = self.symbols.turning()
        self.parallel = {
            name: ParallelSymbols(self.symbols, name)
            for name, bodies in self.symbols.groups.items()
            if bodies[0] in carrier.parallel
        }
        self._definitions: dict[str, BalanceLine] = {}

    def is_rigid(self, group: str) -> bool:
        """Whether a body does not move in the carrier."""
        return group in self.parallel and self.parallel[group].is_fixed

    def is_written(self, group: str) -> bool:
        """Whether the position of a body is written in offsets and travels."""
        if group not in self.parallel:
            return False
        return self.is_rigid(group) if self.carrier.shared is not None else self.parallel[group].is_aligned

    # -- pieces ------------------------------------------------------------------------------------
    @cached_property
    def seen_spin(self) -> tuple[Any, ...]:
        """Angular velocity of the carrier in the axes of a frame in which it rolls."""
        a, w = self.carrier.shared, self.symbols.spin()
        return tuple(w[k] if k == a else self.W[k] for k in range(3))

    @cached_property
    def seen_spin_rate(self) -> tuple[Any, ...]:
        """Angular acceleration of the carrier in these axes."""
        import sympy

        a, w1, phi = self.carrier.shared, self.symbols.spin_rate(), self.symbols.roll()[0]
        assert a is not None
        b, c = next_axes(a)
        rates = {
            a: w1[a],
            b: w1[b] * sympy.cos(phi) - w1[c] * sympy.sin(phi),
            c: w1[b] * sympy.sin(phi) + w1[c] * sympy.cos(phi),
        }
        return tuple(rates[k] for k in range(3))

    def position(self, group: str) -> tuple[Any, ...]:
        """The mass center of a body from o, in XYZ."""
        if not self.is_written(group):
            return self.symbols.place(group)[0]
        own = self.parallel[group].position
        for symbol, parts in self.parallel[group].definitions:
            self._define(plain_equation(str(symbol), symbol, without_zeros((1, x) for x in parts)))
        return own if self.carrier.shared is None else self._rolled_position(group, own)

    def _rolled_position(self, group: str, own: tuple[Any, ...]) -> tuple[Any, ...]:
        """y = y_cg cos phi - z_cg sin phi, z = y_cg sin phi + z_cg cos phi (25)."""
        import sympy

        a, phi = self.carrier.shared, self.symbols.roll()[0]
        assert a is not None
        b, c = next_axes(a)
        cos, sin = sympy.cos(phi), sympy.sin(phi)
        formulas = {b: [(1, own[b] * cos), (-1, own[c] * sin)], c: [(1, own[b] * sin), (1, own[c] * cos)]}
        place = list(own)
        name, below = self.symbols.tag(group)
        for k, formula in formulas.items():
            terms = without_zeros(formula)
            if not terms:
                place[k] = 0
                continue
            words = f"mass center of {self.symbols.called(group)} from o along {XYZ[k]} of {self.carrier.name}"
            place[k] = self.symbols.make(
                f"{PLACES[k]}{name}", SymbolStyle(PLACES[k], below=below), words, "m",
                component(self.symbols.place_value(group), k),
            )  # fmt: skip
            self._define(plain_equation(str(place[k]), place[k], terms, "(25)"))
        return tuple(place)

    def _define(self, equation: BalanceLine) -> None:
        self._definitions.setdefault(equation.name, equation)

    def acceleration(self, group: str, axis: int) -> list[SignedTerm]:
        """The acceleration of a body's mass center relative to o."""
        zero = (0, 0, 0)
        if not self.is_written(group):
            return point_terms(axis, *self.symbols.place(group), self.W, self.symbols.turning_rate())
        own = self.parallel[group]
        if self.carrier.shared is None:
            x = self.position(group)
            return point_terms(axis, x, own.rate, own.second_rate, self.W, self.symbols.turning_rate())
        if axis == self.carrier.shared:
            return point_terms(axis, own.position, zero, zero, self.symbols.spin(), self.symbols.spin_rate())
        return point_terms(axis, self.position(group), zero, zero, self.seen_spin, self.seen_spin_rate)

    def spin_terms(self, groups: list[str], axis: int) -> list[SignedTerm]:
        """H° + Omega x H of bodies, each about its mass center; tensors of parallel bodies are added."""
        parallel = [group for group in groups if group in self.parallel]
        terms = self._tensor_terms(self.tensor(parallel), axis) if parallel else []
        for group in groups:
            if group not in self.parallel:
                terms += rate_terms(axis, *self.symbols.momentum(group), self.W)
        return terms

    def tensor(self, groups: list[str]) -> Tensor:
        """The sum of the tensors of parallel bodies, each about its own mass center."""
        tensor, sums = tensor_of(self.symbols, groups)
        for symbol, parts in sums:
            self._define(plain_equation(str(symbol), symbol, without_zeros((1, x) for x in parts)))
        return tensor

    def _tensor_terms(self, tensor: Tensor, axis: int) -> list[SignedTerm]:
        w, w1, shared = self.symbols.spin(), self.symbols.spin_rate(), self.carrier.shared
        if shared is None:
            return euler_terms(axis, tensor, w, w1)
        return rolled_euler_terms(shared, axis, tensor, w, w1, self.seen_spin, self.symbols.roll()[0])

    # -- equations ---------------------------------------------------------------------------------
    def body(self, group: str) -> list[BalanceLine]:
        """Six equations of a body; numbered if it is the only one, and rolls in the frame."""
        name, _ = self.symbols.tag(group)
        F, M = self.symbols.outer(group)
        m, g = self.symbols.mass(group), self.symbols.gravity()
        spinning = self.symbols.alone and self.carrier.shared == 0
        equations = []
        for k in range(3):
            left = _with_weight(F[k], m, g[k])
            terms = [*rate_terms(k, self.V, self.V1, self.W), *self.acceleration(group, k)]
            equations.append(BalanceLine(f"F_{XYZ[k]}{name}", left, (block(terms, m),), f"({32 + k})" * spinning))
        for k in range(3):
            terms = [*self.spin_terms([group], k), *arm_terms(k, self.position(group), F)]
            left = (block(without_zeros([(1, M[k])])),)
            equations.append(BalanceLine(f"M_{XYZ[k]}{name}", left, (block(terms),), f"({35 + k})" * spinning))
        return equations

    def whole(self) -> list[BalanceLine]:
        """Six equations of the system."""
        groups = list(self.symbols.groups)
        F, M = self.symbols.outer()
        m, g = self.symbols.total_mass(), self.symbols.gravity()
        equations = []
        for k in range(3):
            left = _with_weight(F[k], m, g[k])
            blocks: list[TermBlock] = [block(rate_terms(k, self.V, self.V1, self.W), m)]
            blocks += [block(self.acceleration(group, k), self.symbols.mass(group)) for group in groups]
            right = tuple(x for x in blocks if x.terms)
            equations.append(BalanceLine(f"F_{XYZ[k]}", left, right))
        for k in range(3):
            terms = self.spin_terms(groups, k)
            for group in groups:
                terms += arm_terms(k, self.position(group), self.symbols.outer(group)[0])
            equations.append(BalanceLine(f"M_{XYZ[k]}", (block(without_zeros([(1, M[k])])),), (block(terms),)))
        return equations

    # -- definitions -------------------------------------------------------------------------------
    def frame(self) -> list[BalanceLine]:
        """How the components in XYZ follow from those in body axes, and how XYZ rolls (27), (T-8.14)."""
        import sympy

        a = self.carrier.shared
        if a is None:
            return []
        w, (phi, phi_dot) = self.symbols.spin(), self.symbols.roll()
        b, c = next_axes(a)
        cos, sin = sympy.cos(phi), sympy.sin(phi)
        lines = {
            a: [(1, w[a]), (-1, phi_dot)],
            b: [(1, w[b] * cos), (-1, w[c] * sin)],
            c: [(1, w[b] * sin), (1, w[c] * cos)],
        }
        equations = [plain_equation(str(self.W[k]), self.W[k], without_zeros(lines[k]), "(27)") for k in range(3)]
        return [*equations, self._closure(a, c)]

    def _closure(self, a: int, c: int) -> BalanceLine:
        import sympy

        if self.carrier.closure == "nonrolling":
            words = f"the frame does not roll: phi_dot = {'pqr'[a]}"
            return plain_equation("closure", self.W[a], without_zeros([(1, sympy.S.Zero)]), words=words)
        theta = self.symbols.make(
            "theta", SymbolStyle("theta"), f"rise of axis {XYZ[a]} over the level plane", "rad", lambda m: pitch(m)
        )
        words = "the next axis stays level"
        return plain_equation("closure", self.W[a], without_zeros([(-1, self.W[c] * sympy.tan(theta))]), words=words)

    @property
    def definitions(self) -> list[BalanceLine]:
        """What symbols stand for that the equations use."""
        return list(self._definitions.values())


def _with_weight(force: Any, mass: Any, g: Any) -> tuple[TermBlock, ...]:
    """F + m g."""
    blocks = (block(without_zeros([(1, force)])), block(without_zeros([(1, g)]), mass))
    return tuple(x for x in blocks if x.terms)


def pitch(m: Any) -> float:
    """theta of a fixed-plane frame: tan theta = -(e . Z) / (third axis . Z), Z being its upright direction."""
    import numpy as np

    from kinode.model.base.frames import axis_vector

    a = m.carrier.shared
    upright = np.array(axis_vector(m.system.frames[m.frame.body].upright), dtype=float)
    along = m.R.T @ upright
    return float(np.arctan2(-along[a], along[(a + 2) % 3]))
