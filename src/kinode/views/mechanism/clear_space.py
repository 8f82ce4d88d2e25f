"""Where a label has room: beside its point or its line, across no line and upon no other label.

Lines are segments, marks and labels are boxes, all in points.  A label has candidates, the best one first, and takes
the first that is clear.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from kinode.algebra.scalars import Array

FARTHEST = 2000.0  # that a label may be from its point
GAP = 1.6  # points between a label and the nearest line or label


class ClearSpace:
    """The lines and boxes of a drawing."""

    def __init__(self) -> None:
        self._segments: list[tuple[float, float, float, float]] = []
        self._boxes: list[tuple[float, float, float, float]] = []
        self._segment_array = np.zeros((0, 4))
        self._box_array = np.zeros((0, 4))

    def add_line(self, points: Array) -> None:
        """Occupy a polyline."""
        self._segments += [(*a, *b) for a, b in zip(points[:-1].tolist(), points[1:].tolist())]

    def add_box(self, low: Array, high: Array) -> None:
        """Occupy a box."""
        self._boxes.append((float(low[0]), float(low[1]), float(high[0]), float(high[1])))

    def is_clear(self, low: Array, size: Array) -> bool:
        """Whether a box with its margin crosses no line and no other box."""
        if len(self._segments) != len(self._segment_array):
            self._segment_array = np.array(self._segments)
        if len(self._boxes) != len(self._box_array):
            self._box_array = np.array(self._boxes)
        x0, y0 = float(low[0]) - GAP, float(low[1]) - GAP
        x1, y1 = float(low[0] + size[0]) + GAP, float(low[1] + size[1]) + GAP
        b = self._box_array
        if bool(((b[:, 0] < x1) & (x0 < b[:, 2]) & (b[:, 1] < y1) & (y0 < b[:, 3])).any()):
            return False
        return not crossing(self._segment_array, x0, y0, x1, y1).any()

    def find_room(self, size: Array, candidates: Iterable[Array]) -> tuple[Array, bool]:
        """The lower left corner of the first candidate that is clear, or of the nearest clear place to the best one.

        It is occupied from now on.  Also, whether it is a candidate.
        """
        tried = list(candidates)
        low = self._place(size, tried)
        if low is not None:
            return low, True
        rings = beside(tried[0], np.zeros(2), range(0, 360, 15), np.arange(6.0, FARTHEST, 6.0).tolist())
        low = self._place(size, rings)
        return (tried[0] if low is None else low), False

    def _place(self, size: Array, candidates: Iterable[Array]) -> Array | None:
        for low in candidates:
            if self.is_clear(low, size):
                self.add_box(low, low + size)
                return low
        return None


def crossing(segments: Array, x0: float, y0: float, x1: float, y1: float) -> Array:
    """Which segments (rows of x, y, x, y) have a point within a box (Liang and Barsky)."""
    ax, ay, bx, by = segments.T
    start, end = np.zeros(len(segments)), np.ones(len(segments))
    outside = np.zeros(len(segments), dtype=bool)
    for a, d, low, high in ((ax, bx - ax, x0, x1), (ay, by - ay, y0, y1)):
        still = np.abs(d) < 1e-12
        outside |= still & ((a <= low) | (a >= high))
        step = np.where(still, 1.0, d)
        one, two = (low - a) / step, (high - a) / step
        start = np.where(still, start, np.maximum(start, np.minimum(one, two)))
        end = np.where(still, end, np.minimum(end, np.maximum(one, two)))
    return ~outside & (start < end)


def beside(at: Array, size: Array, degrees: Sequence[float], distances: Sequence[float]) -> Iterator[Array]:
    """Corners of a box beside a point: near ones first, in the order of the directions."""
    for distance in distances:
        for angle in np.deg2rad(degrees):
            way = np.array([np.cos(angle), np.sin(angle)])
            reach = np.clip(1.4 * way, -1.0, 1.0)
            yield at + distance * way + 0.5 * size * (reach - 1.0)


def along(
    a: Array, b: Array, size: Array, shares: Sequence[float], distances: Sequence[float] = (3.5, 7.0)
) -> Iterator[Array]:
    """Corners of a box beside a line from a to b, at shares of its length, on the right of it first."""
    way = (b - a) / max(float(np.linalg.norm(b - a)), 1e-9)
    right = np.array([way[1], -way[0]])
    if right[0] < -1e-9:
        right = -right
    for distance in distances:
        for share in shares:
            for side in (right, -right):
                at = a + share * (b - a) + distance * side
                # The corner of the box that is nearest to the line touches the point beside it.
                reach = np.where(np.abs(side) < 1e-6, 0.0, np.sign(side))
                yield at + 0.5 * size * (reach - 1.0)
