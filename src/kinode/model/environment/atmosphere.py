"""The standard atmosphere, for laws to call: ``air_density(altitude)`` and the like.

U.S. Standard Atmosphere 1976, from 5 km below sea level to 86 km above it; altitudes are geometric.  With the
geopotential altitude H = r h / (r + h), temperature T is linear in H on each of seven layers, from the base values
T_b, p_b at H_b, and the pressure balances the weight of the air:

    T = T_b + L (H - H_b)
    p = p_b (T_b / T)^(g M / (R L)),  or  p_b exp(-g M (H - H_b) / (R T_b)) where L = 0

    density p M / (R T),   sound speed sqrt(1.4 R T / M),   dynamic viscosity 1.458e-6 T^1.5 / (T + 110.4)

T is the molecular-scale temperature, which above 80 km exceeds the kinetic one by up to 0.05 %.  Like a table, a
property is NaN outside where that cannot be raised, and differentiable within.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kinode.algebra.scalars import Scalar, exp, fetch, interval, is_number, less_equal, power, rate, sqrt, where
from kinode.errors import LawError
from kinode.expressions.syntax_tree import Expression

LOWEST, HIGHEST = -5_000.0, 86_000.0  # geometric altitude [m]
EARTH_RADIUS = 6_356_766.0  # of the geopotential altitude [m]
GAS = 8314.32 / 28.9644  # R / M [J/(kg K)]
PULL = 9.80665 / GAS  # g M / R [K/m]
# Geopotential altitude of the base of each layer [m] and slope of the temperature in it [K/m].
BASES = (0.0, 11e3, 20e3, 32e3, 47e3, 51e3, 71e3)
SLOPES = (-6.5e-3, 0.0, 1e-3, 2.8e-3, 0.0, -2.8e-3, -2e-3)
EXPONENTS = tuple(PULL / L if L else 0.0 for L in SLOPES)


def _layers() -> tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]]:
    """Temperature and pressure at the base of each layer, and the decay of pressure where the temperature is even."""
    T, p, decay = [288.15], [101_325.0], []
    for k, L in enumerate(SLOPES):
        decay.append(0.0 if L else -PULL / T[k])
        if k + 1 < len(BASES):
            rise = BASES[k + 1] - BASES[k]
            T.append(T[k] + L * rise)
            p.append(p[k] * (T[k] / T[k + 1]) ** EXPONENTS[k] * math.exp(decay[k] * rise))
    return tuple(T), tuple(p), tuple(decay)


TEMPERATURES, PRESSURES, DECAYS = _layers()


def _air(h: Scalar) -> tuple[Scalar, Scalar]:
    """Temperature and pressure.  In each layer one of the two factors of the pressure is 1."""
    H = EARTH_RADIUS * h / (EARTH_RADIUS + h)
    k = interval((*BASES, HIGHEST), H)
    above, T_b = H - fetch(BASES, k), fetch(TEMPERATURES, k)
    T = T_b + fetch(SLOPES, k) * above
    return T, fetch(PRESSURES, k) * power(T_b / T, fetch(EXPONENTS, k)) * exp(fetch(DECAYS, k) * above)


def _temperature(h: Scalar) -> Scalar:
    return _air(h)[0]


def _pressure(h: Scalar) -> Scalar:
    return _air(h)[1]


def _density(h: Scalar) -> Scalar:
    T, p = _air(h)
    return p / (GAS * T)


def _sound_speed(h: Scalar) -> Scalar:
    return sqrt(1.4 * GAS * _air(h)[0])


def _viscosity(h: Scalar) -> Scalar:
    T = _air(h)[0]
    return 1.458e-6 * T * sqrt(T) / (T + 110.4)


@dataclass(frozen=True)
class Property:
    """A property of standard air at an altitude; laws call it as they call a table of one axis."""

    name: str
    find: Callable[[Scalar], Scalar]
    note: str
    axes: tuple[str, ...] = ("altitude",)

    def __call__(self, h: Scalar) -> Scalar:
        return self.call((h,))

    def call(self, args: tuple[Scalar, ...], axes: tuple[int, ...] = ()) -> Scalar:
        """The value, or its derivative by the altitude for each of ``axes``, in any kind of number."""
        (h,) = args
        if type(h) is Expression:
            return Expression("call_derivative", (self.name, axes, h)) if axes else Expression("call", (self.name, h))
        if is_number(h) and not math.isnan(h) and not LOWEST <= h <= HIGHEST:
            message = f"the standard atmosphere reaches from {LOWEST / 1e3:g} km to {HIGHEST / 1e3:g} km"
            raise LawError(f"{message}; the altitude is {h / 1e3:.6g} km", component=self.name)
        value = self._derivative(h, len(axes))
        return where(less_equal(LOWEST, h) * less_equal(h, HIGHEST), value, math.nan)

    def _derivative(self, h: Scalar, order: int) -> Scalar:
        if order == 0:
            return self.find(h)
        slope = lambda y: np.array([self._derivative(y[0], order - 1)], dtype=object)  # noqa: E731
        return rate(slope, np.array([h], dtype=object), np.ones(1))[0]


STANDARD: dict[str, Property] = {
    each.name: each
    for each in (
        Property("air_density", _density, "density of standard air at an altitude in m, kg/m^3"),
        Property("air_pressure", _pressure, "pressure of standard air at an altitude in m, Pa"),
        Property("air_temperature", _temperature, "temperature of standard air at an altitude in m, K"),
        Property("air_sound_speed", _sound_speed, "speed of sound in standard air at an altitude in m, m/s"),
        Property("air_viscosity", _viscosity, "dynamic viscosity of standard air at an altitude in m, Pa s"),
    )
}
air_density, air_pressure, air_temperature = (STANDARD[f"air_{x}"] for x in ("density", "pressure", "temperature"))
air_sound_speed, air_viscosity = STANDARD["air_sound_speed"], STANDARD["air_viscosity"]
