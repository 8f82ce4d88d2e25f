"""The readable number: sums of harmonics in one normal form."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinode.algebra.normal_form import Harmonic
from kinode.algebra.scalars import apply


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
    from kinode.symbolic.notation import SymbolWriter

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
