"""The symbols of the vector scheme: ground, poles, arrows, mass centers, velocities, moments, drive units, words.

Lengths are in points.  Words do not cover each other; a white background keeps them readable upon lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.model.base.symbols.joint_glyphs import EFFORT_MARKS, VELOCITY_MARKS, ArcArrow, PoleMark
from kinode.views.style import COLORS, INK, MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LETTER_SIZE = 8.0  # of letters
LINE_HEIGHT = 11.0  # from line to line
RADIUS_COLOR = COLORS[0]
CENTER_COLOR = COLORS[2]
VELOCITY_COLOR = COLORS[3]
EFFORT_COLOR = COLORS[1]
BULGE = 36.0  # of a line that closes a loop


@lru_cache(maxsize=4096)
def width_of(text: str, bold: bool = False, size: float = LETTER_SIZE) -> float:
    """How wide a text is."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family="DejaVu Sans", size=size, weight="bold" if bold else "normal")
    return float(text_to_path.get_text_width_height_descent(text, font, ismath=False)[0])


class Pen:
    """Draws into an axes whose unit is a point; keeps the boxes of its words in ``boxes``."""

    def __init__(self, axes: Axes) -> None:
        self.axes = axes
        self.boxes: list[tuple[str, Array, Array]] = []

    # -- words -------------------------------------------------------------------------------------
    def text(
        self, at: Array, text: str, *, align: str = "left", bold: bool = False, muted: bool = False, color: str = ""
    ) -> None:
        """A line of text beside a point, shifted up or down if it would cover another."""
        width = width_of(text, bold)
        start = {"left": 0.0, "right": -width, "center": -0.5 * width}[align]
        low = np.array([at[0] + start, at[1] - 0.5 * LINE_HEIGHT])
        size = np.array([width, LINE_HEIGHT - 1.0])
        low = self._free(low, size)
        self.boxes.append((text, low, low + size))
        halo = {"facecolor": "white", "edgecolor": "none", "pad": 0.4, "alpha": 0.85}
        self.axes.text(
            low[0], low[1] + 0.5 * LINE_HEIGHT, text, fontsize=LETTER_SIZE, ha="left", va="center", zorder=6, bbox=halo,
            fontweight="bold" if bold else "normal", color=color or (MUTED if muted else INK),
        )  # fmt: skip

    def _free(self, low: Array, size: Array) -> Array:
        """The nearest position above or below that covers no other label."""
        for k in range(60):
            shifted: Array = low + np.array([0.0, (k + 1) // 2 * 4.0 * (-1.0) ** k])
            if not any(np.all(shifted < b) and np.all(a < shifted + size) for _, a, b in self.boxes):
                return shifted
        return low

    def lines(self, at: Array, lines: Sequence[str], *, align: str) -> None:
        """Lines of text centered at a height, the first one bold."""
        top = at[1] + 0.5 * LINE_HEIGHT * (len(lines) - 1)
        for k, line in enumerate(lines):
            self.text(np.array([at[0], top - k * LINE_HEIGHT]), line, align=align, bold=not k, muted=bool(k))

    # -- vectors -----------------------------------------------------------------------------------
    def arrow(self, a: Array, b: Array, color: str, *, style: str = "-|>", curve: float = 0.0, **more: Any) -> None:
        """An arrow from a to b, bent where ``curve`` is not zero."""
        from matplotlib.patches import FancyArrowPatch

        given = {"linewidth": 1.5, "shrinkA": 5.0, "shrinkB": 5.0, "mutation_scale": 10.0, "zorder": 3, **more}
        bend = f"arc3,rad={curve}"
        patch = FancyArrowPatch(tuple(a), tuple(b), arrowstyle=style, connectionstyle=bend, color=color, **given)
        self.axes.add_patch(patch)

    def radius(self, a: Array, b: Array) -> None:
        """From pole to pole."""
        self.arrow(a, b, RADIUS_COLOR)

    def center(self, pole: Array, center: Array) -> None:
        """From a pole to the mass center, whose sign is a disk in quarters."""
        from matplotlib.patches import Circle, Wedge

        self.arrow(pole, center, CENTER_COLOR, shrinkB=6.5)
        self.axes.add_patch(Circle(tuple(center), 5.5, facecolor="white", edgecolor=INK, linewidth=1.0, zorder=4))
        for start in (0, 180):
            self.axes.add_patch(Wedge(tuple(center), 5.5, start, start + 90, facecolor=INK, linewidth=0, zorder=5))

    # -- joints ------------------------------------------------------------------------------------
    def pole(self, at: Array, kinds: Sequence[str], *, driven: bool, moment: bool) -> None:
        """A pole with its freedoms: an arc for turning, a double arrow for sliding, a square where there is none."""
        if not kinds:
            self._square(at, 4.0)
            return
        self._dot(at, 4.5, INK if driven else "white")
        for kind, mark in VELOCITY_MARKS.items():
            if kind in kinds:
                self._mark(at, mark, VELOCITY_COLOR)
        if moment:
            self._mark(at, EFFORT_MARKS["angle" if "angle" in kinds else "length"], EFFORT_COLOR)

    def _mark(self, at: Array, mark: PoleMark, color: str) -> None:
        """An arrow at a pole, and its letter."""
        if isinstance(mark.arrow, ArcArrow):
            self._arc(at, mark.arrow.radius, mark.arrow.start, mark.arrow.end, color)
        else:
            self.arrow(at + mark.arrow.start, at + mark.arrow.end, color, style="<|-|>", shrinkA=0.0, shrinkB=0.0)
        self.text(at + mark.letter_at, mark.letter, color=color)

    def _arc(self, at: Array, radius: float, start: float, end: float, color: str) -> None:
        angle = np.deg2rad(np.linspace(start, end, 24))
        x, y = at[0] + radius * np.cos(angle), at[1] + radius * np.sin(angle)
        self.axes.plot(x[:-2], y[:-2], color=color, linewidth=1.5, zorder=4)
        tail = np.array([x[-4], y[-4]])
        self.arrow(tail, np.array([x[-1], y[-1]]), color, shrinkA=0.0, shrinkB=0.0, mutation_scale=9.0, zorder=4)

    def drive(self, carrier: Array, rotor: Array, pole: Array) -> None:
        """A drive unit: its radius vector from the carrier, its rotor, and the gear to the joint that it drives."""
        self.arrow(carrier, rotor, RADIUS_COLOR, linewidth=1.0, shrinkB=9.0, mutation_scale=8.0)
        self.axes.plot(*zip(rotor, pole), color=MUTED, linewidth=1.1, linestyle=(0, (4, 2.5)), zorder=2)
        self.gear(rotor)
        self._dot(rotor, 1.5, INK)

    def gear(self, at: Array) -> None:
        """A wheel with teeth."""
        from matplotlib.patches import Polygon

        angle = np.linspace(0.0, 2 * np.pi, 49)
        radius = np.where(np.arange(49) // 2 % 2, 8.5, 6.8)
        outline = at + np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
        self.axes.add_patch(Polygon(outline, facecolor="white", edgecolor=INK, linewidth=1.0, zorder=4))

    def loop_closure(self, a: Array, b: Array, name: str) -> None:
        """A cut joint or a constraint: a broken line with its name."""
        a, b = (a, b) if a[0] < b[0] else (b, a)
        curve = -2.0 * BULGE / max(float(np.linalg.norm(b - a)), 4.0 * BULGE)  # upwards
        line = {"linestyle": (0, (5, 3)), "linewidth": 1.1, "zorder": 1}
        self.arrow(a, b, MUTED, style="-", curve=curve, **line)
        self.text(_middle(a, b, curve), name, align="center", color=MUTED)

    def ground(self, at: Array, name: str) -> None:
        """The world, and its origin."""
        x = np.array([-20.0, 20.0])
        self.axes.plot(at[0] + x, [at[1] - 7.0] * 2, color=INK, linewidth=1.3, zorder=3)
        for k in range(6):
            self.axes.plot(at[0] - 20.0 + 8.0 * k + np.array([0.0, -5.0]), at[1] + np.array([-7.0, -13.0]),
                           color=INK, linewidth=0.9, zorder=3)  # fmt: skip
        self._dot(at, 2.5, INK)
        self.text(at + [26.0, 0.0], name, bold=True)

    def legend(self, at: Array) -> None:
        """The legend."""
        entries = (
            ("arrow", RADIUS_COLOR, "radius vector d of a pole"),
            ("arrow", CENTER_COLOR, "mass center, c from the pole"),
            ("arc", VELOCITY_COLOR, "angular velocity ω, sliding v"),
            ("arc", EFFORT_COLOR, "moment M or force F of drives and laws"),
            ("poles", INK, "pole: free, prescribed, fixed"),
            ("gear", INK, "drive unit: rotor and gear"),
        )  # fmt: skip
        for k, (sign, color, words) in enumerate(entries):
            here = at + np.array([(k % 2) * 178.0, -(k // 2) * 17.0])
            match sign:
                case "arrow":
                    self.arrow(here, here + [24.0, 0.0], color, shrinkA=0.0, shrinkB=0.0)
                case "arc":
                    self._arc(here + [12.0, -5.0], 9.0, 25.0, 155.0, color)
                case "gear":
                    self.gear(here + [12.0, 0.0])
                case "poles":
                    for x, face in ((3.0, "white"), (13.0, INK)):
                        self._dot(here + [x, 0.0], 3.4, face)
                    self._square(here + [22.0, 0.0], 3.0)
            self.text(here + [30.0, 0.0], words, muted=True)

    def _dot(self, at: Array, radius: float, face: str) -> None:
        from matplotlib.patches import Circle

        self.axes.add_patch(Circle(tuple(at), radius, facecolor=face, edgecolor=INK, linewidth=1.3, zorder=5))

    def _square(self, at: Array, half: float) -> None:
        from matplotlib.patches import Rectangle

        self.axes.add_patch(Rectangle(tuple(at - half), 2 * half, 2 * half, facecolor=INK, edgecolor=INK, zorder=5))


def _middle(a: Array, b: Array, bend: float) -> Array:
    """The middle of a bent arrow."""
    middle: Array = 0.5 * (a + b) + 0.5 * bend * np.array([b[1] - a[1], a[0] - b[0]])
    return middle
