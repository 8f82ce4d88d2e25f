"""Values that are drawn: ``kn.normal``, ``kn.uniform``, and a range to explore, ``kn.between``.

A design gives each run a number between 0 and 1 for each axis; a distribution makes a value of it.  So random samples,
Latin hypercubes and Sobol points are one mechanism.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError

ReadNumber = Callable[[Any], float]
"""From a number, or a text with a unit, to a number in SI units."""


@dataclass(frozen=True)
class Distribution:
    """How the values of an axis are spread: its kind, and two values as they were given.

    Attributes
    ----------
    kind : {"normal", "uniform", "between"}
    first, second : float or str
        Mean and standard deviation, or the two ends.
    """

    kind: str
    first: Any
    second: Any

    def __str__(self) -> str:
        return f"{self.kind}({self.first}, {self.second})"

    @property
    def random(self) -> bool:
        """Whether it is a spread; the ends of a range to explore are none."""
        return self.kind != "between"

    def numbers(self, name: str, read: ReadNumber) -> tuple[float, float]:
        """Its two values in SI units."""
        first, second = read(self.first), read(self.second)
        if self.kind == "normal":
            second = self._difference(read)
            if not (math.isfinite(first) and math.isfinite(second) and second > 0.0):
                raise ArgumentError(f"{name}: {self}: the standard deviation is a positive number")
        elif not (math.isfinite(first) and math.isfinite(second) and first < second):
            raise ArgumentError(f"{name}: {self}: the first end lies below the second")
        return first, second

    def _difference(self, read: ReadNumber) -> float:
        """The standard deviation; of a unit with an offset (degC) a difference counts from its zero."""
        if not isinstance(self.second, str):
            return read(self.second)
        number, _, unit = self.second.strip().partition(" ")
        try:
            float(number)
        except ValueError:
            return read(self.second)
        return read(self.second) - read(f"0 {unit}")

    def values(self, shares: Array, numbers: tuple[float, float]) -> Array:
        """The values below which the given shares of all values lie, in SI units."""
        first, second = numbers
        if self.kind != "normal":
            return np.asarray(first + shares * (second - first))
        from scipy.special import ndtri

        least = np.finfo(float).tiny
        return np.asarray(first + second * ndtri(np.clip(shares, least, 1.0 - 2.0**-53)))


def normal(mean: float | str, sigma: float | str) -> Distribution:
    """Values of a normal distribution, for an axis of ``kn.sweep``.

    Parameters
    ----------
    mean, sigma : float or str
        Mean and standard deviation, in SI units or as text with a unit.

    Returns
    -------
    Distribution

    Examples
    --------
    >>> print(kn.normal("500 mm", "0.1 mm"))
    normal(500 mm, 0.1 mm)
    """
    return Distribution("normal", mean, sigma)


def uniform(low: float | str, high: float | str) -> Distribution:
    """Values that are as likely anywhere between two ends, for an axis of ``kn.sweep``.

    Parameters
    ----------
    low, high : float or str
        The ends, in SI units or as text with a unit.

    Returns
    -------
    Distribution

    Examples
    --------
    >>> print(kn.uniform(0.1, 0.3))
    uniform(0.1, 0.3)
    """
    return Distribution("uniform", low, high)


def between(low: float | str, high: float | str) -> Distribution:
    """A range to explore, for an axis of ``kn.sweep``; unlike ``kn.uniform`` it is no statement of likelihood.

    Parameters
    ----------
    low, high : float or str
        The ends, in SI units or as text with a unit.

    Returns
    -------
    Distribution

    Examples
    --------
    >>> print(kn.between("0.4 m", "0.6 m"))
    between(0.4 m, 0.6 m)
    """
    return Distribution("between", low, high)
