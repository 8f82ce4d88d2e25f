"""A drawing in points that is collected first and drawn at once: lines, faces, and labels where there is room for them.

A label stands beside its point or its line, across no line and upon no other label: lines are segments, marks and
labels are boxes, and a label has candidates, of which it takes the first that is clear.  One that finds no room is
counted in ``unplaced``, so that whoever draws can take more room, and goes to the nearest place that is clear.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinode.algebra.scalars import Array
from kinode.views.style import INK, MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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


LETTER_SIZE = 8.0
INDEX_SIZE = 6.0
LINE_HEIGHT = 11.0
BASELINE = 3.4  # above the lower edge of a line
INDEX_DROP = 1.9
DASHES = (4.0, 2.5)


@lru_cache(maxsize=4096)
def width_of(text: str, bold: bool = False, size: float = LETTER_SIZE) -> float:
    """How wide a text is."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family="DejaVu Sans", size=size, weight="bold" if bold else "normal")
    return float(text_to_path.get_text_width_height_descent(text, font, ismath=False)[0])


class Run(NamedTuple):
    """A piece of a line of text; ``drop`` lowers an index."""

    text: str
    color: str = INK
    bold: bool = False
    size: float = LETTER_SIZE
    drop: float = 0.0

    @property
    def width(self) -> float:
        return width_of(self.text, self.bold, self.size)


Line = tuple[Run, ...]


def words(text: str, *, bold: bool = False, muted: bool = False, color: str = "") -> Line:
    """A line of one piece."""
    return (Run(text, color or (MUTED if muted else INK), bold),)


def symbol(letter: str, index: str, color: str = INK, size: float = LETTER_SIZE) -> Line:
    """A letter and its index."""
    small = INDEX_SIZE * size / LETTER_SIZE
    return Run(letter, color, size=size), Run(index, color, size=small, drop=INDEX_DROP * size / LETTER_SIZE)


def indexed(text: str, color: str = MUTED) -> Line:
    """A line of words with symbols in it: ``R_Ck`` is R with the index Ck."""
    runs: list[Run] = []
    for k, piece in enumerate(re.split(r"(\w_\w+)", text)):
        letter, _, index = piece.partition("_")
        runs += symbol(letter, index, color) if k % 2 else (Run(piece, color),) if piece else ()
    return tuple(runs)


def line_width(line: Line) -> float:
    """How wide a line is."""
    return sum(run.width for run in line)


def block_size(lines: Sequence[Line]) -> Array:
    """Width and height of lines below each other."""
    return np.array([max(map(line_width, lines)), LINE_HEIGHT * len(lines)])


@dataclass(frozen=True, eq=False)
class PaperStroke:
    """A polyline, or a face if it has a color inside."""

    points: Array
    color: str
    width: float
    face: str = ""
    dashed: bool = False
    layer: int = 3


@dataclass(frozen=True, eq=False)
class Letters:
    """A line of text with the left end of its lower edge."""

    line: Line
    at: Array


@dataclass(eq=False)
class Sketch:
    """What is to be drawn, and where there is room."""

    space: ClearSpace = field(default_factory=ClearSpace)
    strokes: list[PaperStroke] = field(default_factory=list)
    letters: list[Letters] = field(default_factory=list)
    unplaced: int = 0

    # -- lines -------------------------------------------------------------------------------------
    def line(self, points: Array, color: str, width: float = 1.5, *, dashed: bool = False, layer: int = 3) -> None:
        """A polyline that labels keep clear of."""
        self.space.add_line(points)
        self.strokes.append(PaperStroke(points, color, width, dashed=dashed, layer=layer))

    def face(self, points: Array, face: str, edge: str = INK, width: float = 1.3, layer: int = 5) -> None:
        """A closed polygon; labels keep clear of its box."""
        self.space.add_box(points.min(axis=0), points.max(axis=0))
        self.strokes.append(PaperStroke(points, edge, width, face=face, layer=layer))

    def disk(self, at: Array, radius: float, face: str, edge: str = INK, width: float = 1.3, layer: int = 5) -> None:
        self.face(at + _circle(radius), face, edge, width, layer)

    def arrow(
        self, a: Array, b: Array, color: str, width: float = 1.5, *, cut: tuple[float, float] = (0.0, 0.0),
        head: float = 6.0, layer: int = 3,
    ) -> None:  # fmt: skip
        """An arrow from a to b, shortened at its ends."""
        length = float(np.linalg.norm(b - a))
        way = (b - a) / max(length, 1e-9)
        a, b = a + cut[0] * way, b - cut[1] * way
        self.line(np.array([a, b - 0.8 * head * way]), color, width, layer=layer)
        self.head(b, way, color, head, layer)

    def head(self, tip: Array, way: Array, color: str, size: float = 6.0, layer: int = 3) -> None:
        """The head of an arrow."""
        across = 0.36 * size * np.array([-way[1], way[0]])
        self.face(np.array([tip, tip - size * way + across, tip - size * way - across]), color, color, 0.4, layer)

    def arc(self, at: Array, radius: float, start: float, end: float, color: str, width: float = 1.5) -> None:
        """An arrow along an arc, angles in degrees."""
        angle = np.deg2rad(np.linspace(start, end, 20))
        points = at + radius * np.column_stack([np.cos(angle), np.sin(angle)])
        way = points[-1] - points[-4]
        self.line(points[:-3], color, width, layer=4)
        self.head(points[-1], way / np.linalg.norm(way), color, 5.6, 4)

    # -- letters -----------------------------------------------------------------------------------
    def put(self, lines: Sequence[Line], low: Array, align: str = "left") -> None:
        """Lines of text with the lower left corner of their block."""
        width, height = block_size(lines)
        for k, line in enumerate(lines):
            shift = {"left": 0.0, "right": width - line_width(line), "center": 0.5 * (width - line_width(line))}[align]
            self.letters.append(Letters(line, low + [shift, height - (k + 1) * LINE_HEIGHT]))

    def label(self, lines: Sequence[Line], candidates: Iterable[Array], align: str = "left") -> None:
        """Lines of text at the first candidate that is clear."""
        low, beside_it = self.space.find_room(block_size(lines), candidates)
        self.unplaced += not beside_it
        self.put(lines, low, align)

    # -- parts -------------------------------------------------------------------------------------
    def bounds(self) -> tuple[Array, Array]:
        """The lower left and upper right corner of all."""
        corners = [s.points.min(axis=0) for s in self.strokes] + [t.at for t in self.letters]
        corners += [s.points.max(axis=0) for s in self.strokes]
        corners += [t.at + [line_width(t.line), LINE_HEIGHT] for t in self.letters]
        every = np.array(corners) if corners else np.zeros((1, 2))
        return every.min(axis=0), every.max(axis=0)

    def insert(self, part: Sketch, shift: Array) -> None:
        """Take over the drawing of a part, whose room is occupied already."""
        self.strokes += [replace(s, points=s.points + shift) for s in part.strokes]
        self.letters += [replace(t, at=t.at + shift) for t in part.letters]
        self.unplaced += part.unplaced

    def draw(self, axes: Axes) -> None:
        """Draw all into an axes whose unit is a point."""
        from matplotlib.collections import LineCollection, PolyCollection

        groups: dict[tuple[int, bool], list[PaperStroke]] = {}
        for stroke in self.strokes:
            groups.setdefault((stroke.layer, bool(stroke.face)), []).append(stroke)
        for (layer, filled), strokes in sorted(groups.items(), key=lambda group: group[0]):
            look: dict[str, Any] = {
                "facecolors": [stroke.face or "none" for stroke in strokes],
                "edgecolors": [stroke.color for stroke in strokes],
                "linewidths": [stroke.width for stroke in strokes],
                "linestyles": [(0.0, DASHES) if stroke.dashed else "-" for stroke in strokes],
            }
            make = PolyCollection if filled else LineCollection
            axes.add_collection(make([stroke.points for stroke in strokes], zorder=layer, **look), autolim=False)
        for text in self.letters:
            x, y = text.at
            for run in text.line:
                axes.text(x, y + BASELINE - run.drop, run.text, fontsize=run.size, color=run.color, ha="left",
                          va="baseline", fontweight="bold" if run.bold else "normal", zorder=6)  # fmt: skip
                x += run.width


@lru_cache(maxsize=32)
def _circle(radius: float, count: int = 24) -> Array:
    angle = np.linspace(0.0, 2 * np.pi, count + 1)[:-1]
    return radius * np.column_stack([np.cos(angle), np.sin(angle)])
