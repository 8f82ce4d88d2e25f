"""Square roots of squares in formulas: lengths that do not pass zero are written without a root.

The length of a spring along a slide is sqrt((q + a)^2).  sqrt(r^2) is r while r is positive, and -r while it is
negative: which of the two follows from the start of the system, and the conditions under which it holds are kept.
``normal_form.taking_roots`` asks for the sign.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from kinode.algebra.scalars import Scalar
from kinode.algebra.trace import replay
from kinode.errors import Error
from kinode.structure.topology import Topology
from kinode.symbolic.normal_form import PLAIN, Atom, Harmonic, Key, Monomial, atom_of_function, text_of

OVER = "over"  # the function of an atom that is the reciprocal of a root, with which products cancel
MOST_TERMS = 12  # of a polynomial whose square is recognized


def polynomial_root(x: Harmonic) -> Harmonic | None:
    """The polynomial r of symbols with x = r^2, found term by term from the largest monomial; else None."""
    atoms = sorted({atom for mono, _ in x.terms for atom, _ in mono})
    if not atoms or any(atom.function for atom in atoms) or any(wave is not PLAIN for _, wave in x.terms):
        return None
    if min(power for mono, _ in x.terms for _, power in mono) < 1:
        return None
    rest, root = x, Harmonic({})
    first: tuple[tuple[int, ...], Fraction] | None = None
    for _ in range(MOST_TERMS):
        key = max(rest.terms, key=lambda key: _exponents(atoms, key))
        degrees, value = _exponents(atoms, key), rest.terms[key]
        if first is None:
            number = _square_root(value)
            if number is None or any(d % 2 for d in degrees):
                return None
            powers = tuple(d // 2 for d in degrees)
            first = powers, number
        else:
            powers, number = tuple(d - e for d, e in zip(degrees, first[0], strict=True)), value / (2 * first[1])
            if min(powers) < 0:
                return None
        mono = tuple((atom, d) for atom, d in zip(atoms, powers, strict=True) if d)
        root = Harmonic({**root.terms, (mono, PLAIN): number})
        left: Scalar = x - root * root
        if not isinstance(left, Harmonic):
            return root
        rest = left
    return None


def _exponents(atoms: list[Atom], key: Key) -> tuple[int, ...]:
    """The powers of the atoms in a monomial: their order is that of the monomials."""
    given = dict(key[0])
    return tuple(given.get(atom, 0) for atom in atoms)


def _square_root(value: Fraction) -> Fraction | None:
    """The root of a fraction, if it is one."""
    if value <= 0:
        return None
    top, bottom = math.isqrt(value.numerator), math.isqrt(value.denominator)
    return Fraction(top, bottom) if Fraction(top * top, bottom * bottom) == value else None


def reciprocal(root: Harmonic) -> Harmonic:
    """1 / root as an atom that cancels."""
    return Harmonic({(((atom_of_function(OVER, (root,)), 1),), PLAIN): Fraction(1)})


def cancel(terms: dict[Key, Fraction]) -> dict[Key, Fraction]:
    """The terms with the largest monomial m of a root r = c m + rest replaced in m / r = (1 - rest / r) / c."""
    open_terms, closed = list(terms.items()), dict[Key, Fraction]()
    while open_terms:
        (mono, wave), value = open_terms.pop()
        step = _find_quotient(mono)
        if step is None:
            total = closed.get((mono, wave), Fraction(0)) + value
            closed[mono, wave] = total
            if not total:
                del closed[mono, wave]
            continue
        over, lead, factor, rest = step
        less = _times(_times(mono, [(over, -1)]), [(atom, -power) for atom, power in lead])
        open_terms.append(((less, wave), value / factor))
        for (other, _), number in rest:
            open_terms.append(((_times(_times(less, other), [(over, 1)]), wave), -value * number / factor))
    return closed


def _find_quotient(mono: Monomial) -> tuple[Atom, Monomial, Fraction, list[tuple[Key, Fraction]]] | None:
    """A reciprocal in a monomial whose root's largest monomial divides it; that, its factor, and the rest of r."""
    powers = dict(mono)
    for over in powers:
        if over.function == OVER:
            terms: dict[Key, Fraction] = over.args[0].terms
            atoms = sorted({atom for key in terms for atom, _ in key[0]})
            lead = max(terms, key=lambda key: _exponents(atoms, key))
            if all(powers.get(atom, 0) >= power for atom, power in lead[0]):
                return over, lead[0], terms[lead], [item for item in terms.items() if item[0] != lead]
    return None


def _times(mono: Monomial, factors: Iterable[tuple[Atom, int]]) -> Monomial:
    """A product of powers of atoms."""
    powers = dict(mono)
    for atom, power in factors:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted((atom, power) for atom, power in powers.items() if power))


def value_of(x: Harmonic, values: dict[str, float]) -> float:
    """A polynomial of symbols at given values."""
    total = 0.0
    for (mono, _), number in x.terms.items():
        total += float(number) * math.prod(values[atom.text] ** power for atom, power in mono)
    return total


class KnownSigns:
    """Finds roots of squares, with their signs at the start; ``conditions`` are the roots that it took."""

    def __init__(self, topology: Topology, names: dict[tuple[str, int], str]) -> None:
        self._topology, self._names = topology, names
        self._values: dict[tuple[str, int], float] | None = None
        self.conditions: dict[str, Harmonic] = {}

    def find_root(self, x: Harmonic) -> Harmonic | None:
        """The positive root of a square; None if x is no square, or the root has no sign at the start."""
        root = polynomial_root(x)
        if root is None:
            return None
        try:
            value = value_of(root, self._start())
        except KeyError:  # a name that is no part of the state, such as a friction effort
            return None
        if value == 0.0:
            return None
        positive: Harmonic = root if value > 0.0 else -root
        self.conditions[text_of(positive)] = positive
        return positive

    def sign_of(self, x: Scalar) -> int:
        """The sign of a traced scalar at the start; 0 where it vanishes or is not known."""
        try:
            value = float(replay([x], self._start_entries())[0])
        except (KeyError, TypeError):
            return 0
        return (value > 0.0) - (value < 0.0)

    def invert(self, x: Harmonic) -> Harmonic | None:
        """The reciprocal of a root that was taken; None for all others."""
        return reciprocal(x) if text_of(x) in self.conditions else None

    def reduced(self, terms: dict[Key, Fraction]) -> dict[Key, Fraction]:
        """The terms with quotients by roots cancelled."""
        if not any(atom.function == OVER for mono, _ in terms for atom, _ in mono):
            return terms
        return cancel(terms)

    def _start(self) -> dict[str, float]:
        """The values of all names at the start."""
        return {self._names[entry]: value for entry, value in self._start_entries().items()}

    def _start_entries(self) -> dict[tuple[str, int], float]:
        if self._values is None:
            self._values = start_values(self._topology)
        return self._values


def start_values(topology: Topology) -> dict[tuple[str, int], float]:
    """Time, state, parameters and inputs at the assembled start, by array and index; empty if it cannot be found."""
    from kinode.dynamics.compiled_system import Dynamics

    try:
        dynamics = Dynamics(topology.system)
        point = dynamics.point(dynamics.initial)
    except Error:
        return {}
    arrays: dict[str, Any] = {"q": point.q, "u": point.u, "z": point.z, "p": point.p, "inputs": point.inputs}
    values = {(name, i): float(x) for name, array in arrays.items() for i, x in enumerate(array)}
    return {("t", 0): 0.0, **values}
