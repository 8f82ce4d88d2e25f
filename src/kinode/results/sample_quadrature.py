"""Integrals of a function that is known at equally spaced points, with an estimate of their errors.

A polynomial through ten neighbours is integrated over each interval; those through nine and through eight of them tell
the error.  Near a corner or a jump the neighbours are taken from one side, as in essentially non-oscillatory schemes:
every choice contains both ends of the interval, so that a corner inside it is seen by all.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from kinode.algebra.scalars import Array

NODES = 10
FEWER = (9, 8)
MUCH = 0.1  # of an error: other neighbours are preferred to the nearest ones below it
EQUAL = 1e-9  # relative difference of lengths that are equal
JUMP = 1e-9  # relative difference of the two sides of a point at which the function jumps


def integrate_samples(lengths: Array, before: Array, after: Array, enough: float) -> tuple[Array, Array]:
    """Integrals over each interval, and their estimated errors, summed over the columns; infinite where unknown.

    ``before`` and ``after`` are the values just inside the two ends of each interval.  Other neighbours are tried where
    the error exceeds ``enough``.
    """
    integrals, errors = np.zeros_like(before), np.full(len(before), np.inf)
    windows = _smooth_windows(lengths, before, after)
    if not len(windows):
        return integrals, errors
    nodes = np.vstack([before, after[-1:]])
    nodes[1:-1] = 0.5 * (before[1:] + after[:-1])
    neighbours = sliding_window_view(nodes, NODES, axis=0)  # window, column, node
    weights, differences = _weights()
    middle = (NODES - 2) // 2
    for place in sorted(range(NODES - 1), key=lambda place: abs(place - middle)):
        chosen = windows[errors[windows + place] > enough]
        if len(chosen):
            values = neighbours[chosen]
            length = lengths[chosen + place]
            error = np.abs(values @ differences[place].T).sum(axis=(1, 2)) * length
            better = error < MUCH * errors[chosen + place]
            where = chosen[better] + place
            errors[where] = error[better]
            integrals[where] = (values[better] @ weights[place]) * length[better, None]
    return integrals, errors


def _smooth_windows(lengths: Array, before: Array, after: Array) -> Array:
    """The first interval of each row of ``NODES`` points with equal distances, between which nothing jumps."""
    if len(lengths) < NODES - 1:
        return np.zeros(0, dtype=int)
    equal = np.abs(np.diff(lengths)) <= EQUAL * lengths[1:]
    largest = np.abs(before).max(axis=0, initial=0.0)
    joined = equal & (lengths[1:] > 0.0) & (np.abs(before[1:] - after[:-1]) <= JUMP * largest).all(axis=1)
    return np.flatnonzero(sliding_window_view(joined, NODES - 2).all(axis=1))


@cache
def _weights() -> tuple[list[Array], list[Array]]:
    """Weights for the interval at each place in a window, and their differences from those of fewer nodes."""
    weights, differences = [], []
    for place in range(NODES - 1):
        full = _weights_through(np.arange(NODES) - place)
        others = np.zeros((len(FEWER), NODES))
        for row, count in zip(others, FEWER, strict=True):
            first = min(max(place - (count - 2) // 2, 0), NODES - count)
            row[first : first + count] = _weights_through(np.arange(first, first + count) - place)
        weights.append(full)
        differences.append(full - others)
    return weights, differences


def _weights_through(nodes: Array) -> Array:
    """The weights of values at ``nodes`` in the integral from 0 to 1 of the polynomial through them."""
    powers = np.arange(len(nodes))
    weights: Array = np.linalg.solve(np.vander(nodes - 0.5, increasing=True).T, _moments(powers))
    return weights


def _moments(powers: Array) -> Array:
    """Integrals of powers from -1/2 to 1/2."""
    moments: Array = (0.5 ** (powers + 1) - (-0.5) ** (powers + 1)) / (powers + 1)
    return moments
