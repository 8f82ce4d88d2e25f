"""Cubics through stored states: where the power along them has corners, and the work if nothing better is to be had."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array
from kinode.kernels.kernel_options import Kernel
from kinode.simulation.time_events import TIME_ROUNDING

if TYPE_CHECKING:
    from kinode.results.run_quantities import RunQuantities

SCAN, ZOOMS = 6, 3  # parts of an interval in which a corner is looked for, and how often
CLOSEST = 1e-6  # of a corner to the ends of the part that it splits


@dataclass(frozen=True, eq=False)
class StateCubics:
    """Cubics through the states at the ends of some intervals, with the rates there; discrete states are held."""

    begin: Array
    end: Array
    y: tuple[Array, Array]
    slopes: tuple[Array, Array]  # times the lengths
    first_discrete: int

    @classmethod
    def of(cls, run: RunQuantities, rows: Array) -> StateCubics:
        n, h, events = run.y.shape[1], np.diff(run.t)[rows][:, None], run.dynamics.topology.events
        begin, end = (side[rows] for side in interval_sides(run))
        y = run.y[rows], run.y[rows + 1]
        slopes = h * rates_and_powers(run, begin, y[0])[:, :n], h * rates_and_powers(run, end, y[1])[:, :n]
        return cls(begin, end, y, slopes, n - (events.n_held if events is not None else 0))

    def some(self, rows: Array) -> StateCubics:
        """Those of some of the intervals."""
        (y0, y1), (d0, d1) = self.y, self.slopes
        chosen = [x[rows] for x in (self.begin, self.end, y0, y1, d0, d1)]
        return StateCubics(chosen[0], chosen[1], (chosen[2], chosen[3]), (chosen[4], chosen[5]), self.first_discrete)

    def at(self, shares: Array) -> Array:
        """States at shares of the intervals: interval, share, entry."""
        s = shares[:, :, None]
        a, b, c, d = (1 + 2 * s) * (1 - s) ** 2, s * (1 - s) ** 2, s * s * (3 - 2 * s), s * s * (s - 1)
        (y0, y1), (d0, d1) = self.y, self.slopes
        y: Array = a * y0[:, None] + b * d0[:, None] + c * y1[:, None] + d * d1[:, None]
        y[:, :, self.first_discrete :] = y0[:, None, self.first_discrete :]
        return y


def find_corners(run: RunQuantities, cubics: StateCubics, low: Array, high: Array) -> Array:
    """Where the power has its sharpest corner between two shares of each interval, as a share of the interval.

    The power is evaluated along cubics at equal distances; the two points where it bends most enclose the corner.  The
    search is repeated between their neighbours.
    """
    n, first, last = run.y.shape[1], low + CLOSEST * (high - low), high - CLOSEST * (high - low)
    corners, distances = low, np.linspace(0.0, 1.0, SCAN + 1)
    for _ in range(ZOOMS):
        s = low[:, None] + distances * (high - low)[:, None]
        t = cubics.begin[:, None] + s * (cubics.end - cubics.begin)[:, None]
        power = rates_and_powers(run, t.ravel(), cubics.at(s).reshape(-1, n))[:, n:].reshape(*s.shape, -1)
        bends = np.diff(power, n=2, axis=1)  # at the points 1 to SCAN - 1
        sharpest = np.argmax(np.abs(bends).max(axis=1), axis=1)
        bend = np.abs(np.take_along_axis(bends, sharpest[:, None, None], axis=2)[:, :, 0])
        pair = np.argmax(bend[:, :-1] + bend[:, 1:], axis=1)
        left, right = (np.take_along_axis(bend, pair[:, None] + k, axis=1)[:, 0] for k in (0, 1))
        inside = np.divide(right, left + right, out=np.full(len(low), 0.5), where=left + right > 0.0)
        cell = (high - low) / SCAN
        corners = low + (1.0 + pair + inside) * cell
        low, high = low + (0.75 + pair) * cell, low + (2.25 + pair) * cell
    return np.asarray(np.clip(corners, first, last))


def interpolate_work(run: RunQuantities, n_causes: int) -> tuple[Array, float]:
    """The work along cubics through the states by Gauss quadrature, and its uncertainty by coarser rules.

    The error of the trapezoidal rule goes with the square of the length of an interval, that of cubics with its fourth
    power: as the square of the relative difference of the two.  If the relative difference is 1, the states do not
    resolve the motion.
    """
    n, h, rows = run.y.shape[1], np.diff(run.t), np.arange(len(run) - 1)
    cubics, works = StateCubics.of(run, rows), []
    for points in (4, 6):
        nodes, weights = np.polynomial.legendre.leggauss(points)
        work = np.zeros((len(run) - 1, n_causes))
        for s, weight in zip(0.5 * (nodes + 1), 0.5 * weights):
            y = cubics.at(np.full((len(rows), 1), s))[:, 0]
            work += weight * h[:, None] * rates_and_powers(run, run.t[:-1] + s * h, y)[:, n:]
        works.append(work)
    coarse = _trapezoid(run, n)
    difference, larger = np.abs(works[1] - coarse), np.maximum(np.abs(works[1]), np.abs(coarse))
    unresolved = (difference * np.divide(difference, larger, out=np.zeros_like(difference), where=larger > 0)).sum()
    return works[1], float(max(np.abs(works[1] - works[0]).sum(), unresolved))


def _trapezoid(run: RunQuantities, n: int) -> Array:
    """The work by the trapezoidal rule, J; ``n`` is the size of the state."""
    begin, end = interval_sides(run)
    power = rates_and_powers(run, begin, run.y[:-1])[:, n:] + rates_and_powers(run, end, run.y[1:])[:, n:]
    total: Array = 0.5 * np.diff(run.t)[:, None] * power
    return total


def interval_sides(run: RunQuantities) -> tuple[Array, Array]:
    """The ends of each interval, moved inside it by a rounding error: functions of time may jump at the ends."""
    margin = TIME_ROUNDING * float(np.abs(run.t).max())
    return run.t[:-1] + margin, run.t[1:] - margin


def rates_and_powers(run: RunQuantities, t: Array, y: Array) -> Array:
    """Time derivative of the state and power of each cause, one row for each state."""
    return run.dynamics.kernels.call(Kernel("power"), run.dynamics.point_of(t, y, run.p, run.inputs))
