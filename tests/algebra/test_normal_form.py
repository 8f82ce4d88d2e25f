"""The readable number: sums of harmonics in one normal form."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinode.algebra.scalars import apply, is_number
from kinode.symbolic.normal_form import Harmonic, TooLongError, budget


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_harmonics_compute_as_floats_do(seed):
    """Random expressions: the normal form has the value of the expression."""
    rng = np.random.default_rng(seed)
    values = dict(zip("abcd", rng.uniform(0.5, 1.5, 4), strict=True))
    pool = [(Harmonic.symbol(name), value) for name, value in values.items()]
    for _ in range(12):
        (x, a), (y, b) = (pool[k] for k in rng.integers(len(pool), size=2))
        op = rng.choice(["add", "sub", "mul", "sin", "cos", "neg"])
        args = (x, y) if op in ("add", "sub", "mul") else (x,)
        plain = (a, b)[: len(args)]
        if any(isinstance(v, Harmonic) and len(v.terms) > 40 for v in args):
            continue
        pool.append((apply(op, *args), apply(op, *plain)))
    from kinode.symbolic.writers import SymbolWriter

    for x, value in pool:
        written = SymbolWriter(None).write(x)  # type: ignore[arg-type]
        assert float(written.subs(values)) == pytest.approx(value, rel=1e-8, abs=1e-8)


def test_harmonics_know_that_equal_is_equal():
    a, b = Harmonic.symbol("a"), Harmonic.symbol("b")
    c, s = apply("cos", a), apply("sin", a)
    assert repr(c * c + s * s) == "1"
    assert c * apply("cos", b) - s * apply("sin", b) - apply("cos", a + b) == 0.0
    root = apply("sqrt", a * a + b)
    assert root * root - a * a - b == 0.0


def test_an_oblique_rotation_keeps_lengths_without_noise():
    """Rodrigues' rotation about (1, 2, 3): R'R is the identity, though no entry of the axis is a short fraction."""
    x, y, z = np.array([1.0, 2.0, 3.0]) / np.sqrt(14.0)
    a = Harmonic.symbol("a")
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    R = np.eye(3) + cross * apply("sin", a) + (cross @ cross) * (1.0 - apply("cos", a))
    product = R.T @ R
    for i in range(3):
        for j in range(3):
            entry = product[i, j]
            assert (0 if is_number(entry) else len(entry.terms)) == (1 if i == j else 0), (i, j, entry)


def test_a_small_share_that_does_not_cancel_stays():
    a, b = Harmonic.symbol("a"), Harmonic.symbol("b")
    assert repr(a + 1e-20 * b) == repr(1e-20 * b + a)
    assert len((a + 1e-20 * b).terms) == 2
    assert repr((1.0 + 1e-9) * a - a) == "1/1000000000*a^1"


def test_long_coefficients_do_not_grow():
    a = (1.0 / 3.7 + 0.123456789012345) * Harmonic.symbol("a")
    power = apply("pow", a, 16)
    (value,) = power.terms.values()
    assert value.denominator.bit_length() < 256
    assert float(value) == pytest.approx((1.0 / 3.7 + 0.123456789012345) ** 16, rel=1e-13)


def test_a_budget_ends_what_would_take_too_long():
    waves = [1.0 + apply("cos", Harmonic.symbol(name)) for name in "abcd"]

    def product():
        return waves[0] * waves[1] * waves[2] * waves[3]

    with budget(10_000):
        assert len(product().terms) == 41
    with budget(20), pytest.raises(TooLongError):
        product()
    assert len(product().terms) == 41  # without a budget
