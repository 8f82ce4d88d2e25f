"""Dimensions of laws: inferred from those of their names, and refused where unlike ones are added or compared."""

import pytest

import kinode as kn
from kinode.expressions.parser import parse
from kinode.expressions.units import DIMENSIONS

TABLES = {"foo": 1}
DIMENSION = {"L": "length", "k": "stiffness", "F": "force", "t": "time", "a": "angle", "A": "area"}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("k*L", "force"),
        ("k*L + F", "force"),
        ("F/k", "length"),
        ("F/k + 1", "length"),
        ("2*L", None),
        ("unknown*L", None),
        ("unknown + L", "length"),
        ("sqrt(A)", "length"),
        ("A^0.5 - L", "length"),
        ("L^2", "area"),
        ("L^a", None),
        ("sin(t)", None),
        ("L + sin(t)", "length"),
        ("atan2(L, L)", "angle"),
        ("where(t < 1, F, 0)", "force"),
        ("max(F, k*L)", "force"),
        ("-abs(F)", "force"),
        ("(L < L)*F", None),
        ("foo(L)", None),
    ],
)
def test_dimensions(text, kind):
    inferred = parse(text, TABLES).dimension(
        lambda name: DIMENSIONS[DIMENSION[name]].dimension if name in DIMENSION else None
    )
    assert inferred == (DIMENSIONS[kind].dimension if kind else None)


@pytest.mark.parametrize("text", ["L + F", "1 + sin(F - L)", "max(L, t)", "L < t", "where(t, L, F)", "atan2(L, F)"])
def test_unlike_dimensions_are_refused(text):
    with pytest.raises(kn.UnitError, match=r"puts a .* and a .* together"):
        parse(text).dimension(lambda name: DIMENSIONS[DIMENSION[name]].dimension)
