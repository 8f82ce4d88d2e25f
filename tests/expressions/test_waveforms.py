"""Waveforms of laws, against those of scipy.signal, in text, in traced numbers and under differentiation."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from number_kinds import KINDS
from scipy import signal

import kinode as kn
from kinode.expressions.parser import parse

T = np.linspace(-2.0, 3.0, 1777) + 1e-4  # never on a corner
SHAPES = {
    "square(t, 0.7)": lambda t: signal.square(2 * np.pi * t / 0.7),
    "square(t, 0.7, 0.3)": lambda t: signal.square(2 * np.pi * t / 0.7, 0.3),
    "sawtooth(t, 0.7)": lambda t: signal.sawtooth(2 * np.pi * t / 0.7),
    "triangle(t, 0.7)": lambda t: signal.sawtooth(2 * np.pi * (t / 0.7 + 0.25), 0.5),
    "pulse(t, 0.2)": lambda t: 1.0 * ((t >= 0) & (t < 0.2)),
    "pulse(t - 0.1, 0.2, 0.7)": lambda t: (t >= 0.1) * (signal.square(2 * np.pi * (t - 0.1) / 0.7, 2 / 7) + 1) / 2,
    "chirp(t, 1.5, 6, 2)*pulse(t, 2)": lambda t: signal.chirp(t, 1.5, 2.0, 6.0, phi=-90) * ((t >= 0) & (t < 2)),
}


def values(text, times):
    return np.array([float(parse(text).evaluate({"t": t}.__getitem__)) for t in times])


@pytest.mark.parametrize("text", SHAPES)
def test_shape(text):
    assert values(text, T) == pytest.approx(SHAPES[text](T), abs=1e-12)


@pytest.mark.parametrize("text", SHAPES)
def test_in_every_kind_of_number_and_as_text(text):
    law, (exact,) = parse(text), values(text, [0.4321])
    for kind in KINDS.keys() - {"symbols"}:
        value = KINDS[kind](lambda t: np.array([law.evaluate(lambda name: t[0])], dtype=object), ([0.4321],))
        assert value[0] == pytest.approx(exact, abs=1e-14)
    t = sympy.Symbol("t")
    assert float(law.evaluate(lambda name: t).subs(t, 0.4321)) == pytest.approx(exact, abs=1e-13)
    assert parse(law.text()) == law


@pytest.mark.parametrize("text", SHAPES)
def test_derivative_within_the_pieces(text):
    rate = parse(text).derivative("t")
    h = 1e-6
    slope = (values(text, T + h) - values(text, T - h)) / (2 * h)
    smooth = abs(slope) < 1e3  # no jump between the two
    derivative = np.array([rate if isinstance(rate, float) else float(rate.evaluate({"t": t}.__getitem__)) for t in T])
    assert smooth.mean() > 0.99
    assert derivative[smooth] == pytest.approx(slope[smooth], abs=1e-5)


def test_a_chirp_goes_on_at_its_last_frequency_and_comes_with_its_first():
    assert values("chirp(t, 2, 5, 3)", [3.5]) == pytest.approx(np.sin(2 * np.pi * (3.5 * 3 + 5 * 0.5)))
    assert values("chirp(t, 2, 5, 3)", [-0.3]) == pytest.approx(np.sin(2 * np.pi * 2 * -0.3))


def test_pulses_begin_and_end_on_time():
    assert list(values("pulse(t, 0.25, 1)", [-0.75, 0.0, 0.2, 0.25, 1.0, 1.25])) == [0, 1, 1, 0, 1, 0]


@pytest.mark.parametrize("text", ["pulse(t)", "pulse(t, 1, 2, 3)", "square(t)", "chirp(t, 1, 2)"])
def test_the_number_of_arguments_is_told(text):
    with pytest.raises(kn.LawError, match=r"takes . to . arguments|takes . argument"):
        parse(text)


def test_a_period_of_zero_is_refused():
    with pytest.raises(kn.LawError, match="divides by zero"):
        parse("square(t, 0)")
