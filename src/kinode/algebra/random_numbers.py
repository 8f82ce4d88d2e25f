"""Random numbers from plain arithmetic, the same in every kind of number: the generator MRG32k3a.

P. L'Ecuyer, Good parameters and implementations for combined multiple recursive random number generators, Operations
Research 47 (1999) 159-164.  Six whole numbers are its state; all products stay below 2^53, so that floats hold them
exactly and the sequence is the same on every machine.  Its period is about 2^191.  Why no library: the numbers are
drawn within compiled code, and their state is part of the state of the system, so that a run can be continued anywhere.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

from kinode.algebra.scalars import Scalar, cos, floor, less, log, sqrt, where

M1, M2 = 4294967087.0, 4294944443.0
SIZE = 6


def seeded(text: str) -> list[float]:
    """A state that belongs to a text; texts that differ in anything give unrelated ones."""
    digest = hashlib.sha256(text.encode()).digest()
    words = [int.from_bytes(digest[4 * k : 4 * k + 4], "big") for k in range(SIZE)]
    return [float(1 + word % (int(M1 if k < 3 else M2) - 1)) for k, word in enumerate(words)]


def draw_uniform(state: Sequence[Scalar]) -> tuple[Scalar, list[Scalar]]:
    """A number between 0 and 1, both excluded, and the state after it."""
    a0, a1, a2, b0, b1, b2 = state
    a = _remainder(1403580.0 * a1 - 810728.0 * a0, M1)
    b = _remainder(527612.0 * b2 - 1370589.0 * b0, M2)
    apart = a - b
    return where(less(0.0, apart), apart, apart + M1) * (1.0 / (M1 + 1.0)), [a1, a2, a, b1, b2, b]


def draw_normal(state: Sequence[Scalar]) -> tuple[Scalar, list[Scalar]]:
    """A number of the normal distribution with deviation 1, by Box and Muller, and the state after it."""
    one, state = draw_uniform(state)
    two, state = draw_uniform(state)
    return sqrt(-2.0 * log(one)) * cos(2.0 * math.pi * two), list(state)


def _remainder(x: Scalar, m: float) -> Scalar:
    """x modulo m, exact for whole numbers below 2^53 though the quotient may be rounded across a whole number."""
    left = x - m * floor(x * (1.0 / m))
    left = where(less(left, 0.0), left + m, left)
    return where(less(left, m), left, left - m)
