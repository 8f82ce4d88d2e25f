"""Random numbers from plain arithmetic, for every scalar type: the generator MRG32k3a.

P. L'Ecuyer, "Good parameters and implementations for combined multiple recursive random number generators", Operations
Research 47 (1999) 159-164.  The state is six integers.  All products stay below 2^53, so floats hold them exactly and
the sequence is the same on every machine.  The period is about 2^191.

It is a source of noise for simulation, not of secrets.

Why our own: the numbers are drawn inside compiled code, and the generator's state is part of the discrete state of the
model.  A run can therefore stop and continue at any time, and a batch has one sequence for each run.  NumPy's
generators keep their state in a Python object that compiled code cannot reach.  A uniform number costs 31 floating
point operations, a normal one 67.  A random generator among LLVM's intrinsics, with its state in the caller's memory,
would make this module obsolete.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

from kinode.algebra.scalars import Scalar, cos, floor, less, log, sqrt, where

M1, M2 = 4294967087.0, 4294944443.0
SIZE = 6


def seeded(text: str) -> list[float]:
    """The initial state for a text; different texts give unrelated states."""
    digest = hashlib.sha256(text.encode()).digest()
    words = [int.from_bytes(digest[4 * k : 4 * k + 4], "big") for k in range(SIZE)]
    return [float(1 + word % (int(M1 if k < 3 else M2) - 1)) for k, word in enumerate(words)]


def draw_uniform(state: Sequence[Scalar]) -> tuple[Scalar, list[Scalar]]:
    """A uniform number between 0 and 1, both excluded, and the next state."""
    a0, a1, a2, b0, b1, b2 = state
    a = _remainder(1403580.0 * a1 - 810728.0 * a0, M1)
    b = _remainder(527612.0 * b2 - 1370589.0 * b0, M2)
    apart = a - b
    return where(less(0.0, apart), apart, apart + M1) * (1.0 / (M1 + 1.0)), [a1, a2, a, b1, b2, b]


def draw_normal(state: Sequence[Scalar]) -> tuple[Scalar, list[Scalar]]:
    """A normal number of mean 0 and deviation 1 (Box, Muller 1958), and the next state."""
    one, state = draw_uniform(state)
    two, state = draw_uniform(state)
    return sqrt(-2.0 * log(one)) * cos(2.0 * math.pi * two), list(state)


def _remainder(x: Scalar, m: float) -> Scalar:
    """x modulo m, exact for integers below 2^53: a quotient that was rounded to the wrong integer is corrected."""
    left = x - m * floor(x * (1.0 / m))
    left = where(less(left, 0.0), left + m, left)
    return where(less(left, m), left, left - m)
