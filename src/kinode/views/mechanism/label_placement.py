"""Names in a picture: each beside its point, where it covers neither a joint nor another name."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Wanted = tuple[str, Array, Any, bool]  # text, point, color, bold
Placed = tuple[str, Array, Array, Any, bool]  # text, point, middle of the text, color, bold

LABEL_HEIGHT = 11.0  # points
LETTER_WIDTH = 5.6  # points, at the most
DISTANCES = (6.0, 14.0, 26.0, 40.0)
DIRECTIONS = [(np.cos(a), np.sin(a)) for a in np.deg2rad([35, 145, -35, -145, 90, -90, 0, 180])]


def place_labels(
    axes: Axes, scale: float, wanted: Sequence[Wanted], points: Array, lines: Sequence[Array]
) -> list[Placed]:
    """The position of each name; names without free space are left out."""
    low = np.array([axes.get_xlim()[0], axes.get_ylim()[0]]) * scale
    high = np.array([axes.get_xlim()[1], axes.get_ylim()[1]]) * scale
    dots = points * scale
    samples = np.concatenate([_sample(line * scale) for line in lines]) if lines else np.zeros((0, 2))
    corners = [
        (low, low + np.array([54.0, 54.0])),
        (np.array([high[0] - 110, low[1]]), np.array([high[0], low[1] + 28])),
    ]
    boxes: list[tuple[Array, Array]] = list(corners)
    placed: list[Placed] = []
    for text, anchor, color, bold in wanted:
        half = np.array([(LETTER_WIDTH + 0.6 * bold) * len(text) / 2, LABEL_HEIGHT / 2])
        best, best_cost = None, np.inf
        for ring, distance in enumerate(DISTANCES):
            for turn, direction in enumerate(DIRECTIONS):
                middle = anchor * scale + np.array(direction) * (distance + half * (1.0, 1.0) * np.abs(direction))
                a, b = middle - half, middle + half
                if np.any(a < low + 2) or np.any(b > high - 2) or any(_overlap(a, b, c, d) for c, d in boxes):
                    continue
                covered = 9.0 * _inside(dots, a - 4, b + 4) + 1.0 * _inside(samples, a - 2, b + 2)
                cost = covered + 1.5 * ring + 0.05 * turn
                if cost < best_cost:
                    best, best_cost = (middle, a, b), cost
        if best is not None:
            middle, a, b = best
            boxes.append((a, b))
            placed.append((text, anchor, middle / scale, color, bold))
    return placed


def _sample(line: Array) -> Array:
    """Points along a line, six points apart."""
    points = [line[:1]]
    for a, b in pairwise(line):
        count = int(np.linalg.norm(b - a) / 6.0) + 2
        points.append(a + (b - a) * np.linspace(0, 1, count)[:, None])
    return np.concatenate(points)


def _overlap(a: Array, b: Array, c: Array, d: Array) -> bool:
    return bool(np.all(a < d) and np.all(c < b))


def _inside(points: Array, a: Array, b: Array) -> int:
    return int(np.sum(np.all((points > a) & (points < b), axis=1))) if len(points) else 0
