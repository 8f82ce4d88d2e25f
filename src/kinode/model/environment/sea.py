"""Irregular seas: a spectrum of waves as a sum of harmonics with random phases, and motions that follow it as laws.

    elevation(t) = sum a_i cos(w_i t + e_i),   a_i^2/2 = the spectrum's area over the i-th of equal cells of frequency

with the spectra of Pierson and Moskowitz in the form of the ITTC (Bretschneider), for significant height H and peak
period T, w_p = 2 pi/T,

    S(w) = 5/16 H^2 w_p^4/w^5 exp(-5/4 (w_p/w)^4)

and of JONSWAP, the same times peak^exp(-(w/w_p - 1)^2/(2 s^2)), s = 0.07 below w_p and 0.09 above, scaled to the same
height.  Each frequency lies at random in its cell, so that the sum does not repeat.  A motion is the sum with each
harmonic taken through a response amplitude operator, a complex number for each frequency.

The sea is long-crested and met at its own frequencies: the shift by the ship's speed is not part of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from kinode.algebra.scalars import Array, Scalar, cos, is_number, sin
from kinode.errors import ModelError
from kinode.expressions.syntax_tree import Expression
from kinode.model.base.field_reader import Reader
from kinode.model.base.fields import Value, short, unknown

Spectrum = Literal["jonswap", "pierson_moskowitz"]
SPECTRA = ("jonswap", "pierson_moskowitz")
QUANTITIES = ("elevation", "slope")
BAND = (0.5, 4.0)  # of frequencies over that of the peak: 99.5 percent of the energy
MOST_COMPONENTS = 1000  # harmonics
GRAVITY = 9.80665  # for the length of waves in deep water


def sea_state(
    height: Any, period: Any, *, spectrum: Spectrum = "jonswap", peak: Any = 3.3, components: int = 40, seed: int = 0
) -> SeaState:
    """A sea of significant wave height and peak period; the same seed gives the same sea."""
    reader = Reader("sea_state", parameters={}, tables=(), frame=_no_frame, symbols=_no_frame)
    numbers = [("height", height, "length"), ("period", period, "time"), ("peak", peak, "dimensionless")]
    values = {}
    for field, raw, dimension in numbers:
        value = reader.number(raw, dimension, field)
        if isinstance(value, Expression):
            raise reader.fail(field, f"a plain number is expected, not {short(raw)}")
        if not value > 0:
            raise reader.fail(field, f"must be positive, and is {value:g}")
        values[field] = value
    if spectrum not in SPECTRA:
        raise reader.fail("spectrum", f"{unknown('there is no', spectrum, SPECTRA)}; choose {' or '.join(SPECTRA)}")
    for field, count, least, most in (("components", components, 1, MOST_COMPONENTS), ("seed", seed, 0, 2**63)):
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or not least <= count <= most:
            raise reader.fail(field, f"a whole number from {least} to {most} is expected, not {short(count)}")
    sharpness = values["peak"] if spectrum == "jonswap" else 1.0
    return _make(values["height"], values["period"], sharpness, int(components), int(seed))


def _no_frame(*_: Any) -> Any:
    raise ModelError("plain numbers are expected", component="sea_state")


def density(w: Array, height: float, period: float, peak: float = 1.0) -> Array:
    """The spectrum S(w) of the elevation, m^2 s, before it is scaled to its height where the peak is not 1."""
    w_p = 2 * np.pi / period
    r = w / w_p
    plain = 5 / 16 * height**2 / w_p * r**-5.0 * np.exp(-1.25 * r**-4.0)
    width = np.where(r <= 1.0, 0.07, 0.09)
    sharpened: Array = plain * peak ** np.exp(-0.5 * ((r - 1.0) / width) ** 2)
    return sharpened


def _make(height: float, period: float, peak: float, count: int, seed: int) -> SeaState:
    random = np.random.default_rng(seed)
    edges = 2 * np.pi / period * np.linspace(*BAND, count + 1)
    fine = np.linspace(edges[:-1], edges[1:], max(9, 2000 // count))
    energy = np.trapezoid(density(fine, height, period, peak), fine, axis=0)
    energy *= height**2 / 16 / energy.sum()
    offsets = random.uniform(size=count)
    return SeaState(
        frequencies=edges[:-1] + offsets * np.diff(edges),
        amplitudes=np.sqrt(2 * energy),
        phases=random.uniform(0, 2 * np.pi, count),
    )


@dataclass(frozen=True, eq=False)
class SeaState:
    """The harmonics of a sea: frequencies in rad/s, amplitudes in m, phases."""

    frequencies: Array
    amplitudes: Array
    phases: Array

    @property
    def elevation(self) -> Value:
        """The height of the water as a law of time."""
        return self.motion(1.0)

    def motion(
        self, response: Any = 1.0, *, of: Literal["elevation", "slope"] = "elevation",
        period: float | None = None, damping: float | None = None,
    ) -> Value:  # fmt: skip
        """A motion that follows the waves, as a law of time.

        ``response`` is its amplitude for a wave of 1 m, or with of="slope" of slope 1: a number, or a function of the
        frequencies in rad/s, which may be complex (e^iwt, a lag has a negative argument).  With ``period`` and
        ``damping`` (of the critical) it is that of an oscillator with the static response given: the roll of a hull.
        """
        scaled = self._operator(response) * self._own(period, damping)
        if of not in QUANTITIES:
            raise ModelError(unknown("waves have no", of, QUANTITIES), component="sea_state", field="of")
        if of == "slope":
            scaled = scaled * (-1j / GRAVITY) * self.frequencies**2
        waves = scaled * self.amplitudes
        total: Scalar = 0.0
        for (cosine, sine), wave in zip(self._harmonics, waves.tolist(), strict=True):
            total = total + (wave.real * cosine - wave.imag * sine)
        law: Value = total
        return law

    @cached_property
    def _harmonics(self) -> list[tuple[Scalar, Scalar]]:
        """Cosine and sine of each angle: the same parts in all motions."""
        t = Expression("name", ("t",))
        angles = [w * t + phase for w, phase in zip(self.frequencies.tolist(), self.phases.tolist(), strict=True)]
        return [(cos(angle), sin(angle)) for angle in angles]

    def _operator(self, response: complex | Callable[[Array], Any]) -> Array:
        """The response to each harmonic."""
        given = response(self.frequencies) if callable(response) else response
        try:
            amplitude = np.broadcast_to(np.asarray(given, dtype=complex), self.frequencies.shape)
        except (TypeError, ValueError):
            amplitude = np.array([np.nan])
        if not np.isfinite(amplitude).all():
            message = "is a finite number, real or complex, or a function that gives one for each frequency"
            raise ModelError(message, component="sea_state", field="response")
        return amplitude

    def _own(self, period: float | None, damping: float | None) -> Array:
        """The oscillator's magnification 1/(1 - r^2 + 2 i damping r), r the frequency over its own."""
        if (period is None) != (damping is None):
            missing = "period" if period is None else "damping"
            raise ModelError("period and damping go together", component="sea_state", field=missing)
        if period is None or damping is None:
            return np.ones_like(self.frequencies)
        for field, value in (("period", period), ("damping", damping)):
            if not is_number(value) or not value > 0:
                raise ModelError(f"must be a positive number, not {short(value)}", component="sea_state", field=field)
        r = self.frequencies * period / (2 * np.pi)
        return np.asarray(1.0 / (1.0 - r**2 + 2j * damping * r))
