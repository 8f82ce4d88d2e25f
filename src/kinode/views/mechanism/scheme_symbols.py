"""The symbols of the vector scheme: ground, earth, poles, vectors, axes, mass centers, turning, moments, drive units.

Every vector has its letter with the number of its tier as an index.  Lengths are in points.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from kinode.algebra.scalars import Array
from kinode.model.base.symbols import EFFORT_MARKS, VELOCITY_MARKS, ArcArrow, PoleMark
from kinode.views.mechanism.paper_sketch import Sketch, along, beside, block_size, indexed, symbol, words
from kinode.views.style import COLORS, INK, MUTED

RADIUS_COLOR = COLORS[0]
CENTER_COLOR = COLORS[2]
VELOCITY_COLOR = COLORS[3]
EFFORT_COLOR = COLORS[1]
AXES_COLORS = ("#b03030", "#2e7d32", "#2b5fb0")
BULGE = 36.0  # of a line that closes a loop
AXIS_LENGTH = 14.0
AXES_LETTER = 6.5
ROUND = tuple(range(0, 360, 30))
AXES_PLACES = ((42, 36, 50, 58), (180, 165, 195, 150, 210), ROUND)  # beside a pole, in degrees
LEGEND = (
    ("arrow", RADIUS_COLOR, "R_k: radius vector of the pole of tier k"),
    ("arrow", CENTER_COLOR, "R_Ck: of its mass center"),
    ("arc", VELOCITY_COLOR, "\u03c9_k, \u03b3_k: turning and its angle"),
    ("both", VELOCITY_COLOR, "v_k, s_k: sliding and its travel"),
    ("under", EFFORT_COLOR, "M_k, F_k: moment, force along it"),
    ("poles", INK, "pole: free, prescribed, fixed"),
    ("triad", INK, "x_k, y_k, z_k: axes of the body"),
)
DRIVE_LEGEND = (
    ("gear", INK, "R_Dk: pole of the drive unit of tier k"),
    ("arrow", CENTER_COLOR, "R_CDk: mass center of its rotor"),
    ("arc", VELOCITY_COLOR, "\u03c9_Dk, M_Dk: its turning and moment"),
)
EARTH_LEGEND = (("arrow", RADIUS_COLOR, "O, R_O, \u03c9_O: the earth's center, turning"),)
# How the axes of bodies are seen: from the right, behind and above.
_AZIMUTH, _ELEVATION = np.deg2rad(-65.0), np.deg2rad(25.0)
VIEW = np.array([
    [-np.sin(_AZIMUTH), np.cos(_AZIMUTH), 0.0],
    [-np.cos(_AZIMUTH) * np.sin(_ELEVATION), -np.sin(_AZIMUTH) * np.sin(_ELEVATION), np.cos(_ELEVATION)],
])  # fmt: skip


class Pen:
    """Draws the symbols of the scheme into a sketch; labels come after all lines."""

    def __init__(self, sketch: Sketch) -> None:
        self.sketch = sketch

    # -- vectors -----------------------------------------------------------------------------------
    def radius(self, a: Array, b: Array, *, thin: bool = False, cut: float = 5.5) -> None:
        """A radius vector from pole to pole."""
        self.sketch.arrow(a, b, RADIUS_COLOR, 1.1 if thin else 1.6, cut=(5.5, cut))

    def center(self, pole: Array, center: Array, *, small: bool = False) -> None:
        """From a pole to the mass center, whose sign is a disk in quarters."""
        size = 4.0 if small else 5.5
        self.sketch.arrow(pole, center, CENTER_COLOR, 1.1 if small else 1.5, cut=(9.0 if small else 5.5, size + 1.0))
        self.sketch.disk(center, size, "white", width=1.0, layer=4)
        for start in (0.0, 180.0):
            angle = np.deg2rad(np.linspace(start, start + 90.0, 8))
            wedge = center + size * np.vstack([[0.0, 0.0], np.column_stack([np.cos(angle), np.sin(angle)])])
            self.sketch.face(wedge, INK, INK, 0.0)

    def name_vector(self, a: Array, b: Array, letter: str, index: str, color: str, middle: float = 0.5) -> None:
        """The symbol beside a vector."""
        line = symbol(letter, index, color)
        shares = [middle, *(x for x in (0.5, 0.58, 0.42, 0.66, 0.34, 0.74, 0.26, 0.82) if x != middle)]
        self.sketch.label([line], along(a, b, block_size([line]), shares, (3.0, 6.0, 10.0)))

    # -- joints ------------------------------------------------------------------------------------
    def pole(self, at: Array, motions: Sequence[str], *, driven: bool, effort: bool) -> None:
        """A pole with its freedoms: an arc for turning, a double arrow for sliding, a square where there is none."""
        if not motions:
            self._square(at, 4.0)
            return
        self.sketch.disk(at, 4.5, INK if driven else "white")
        for kind, mark in VELOCITY_MARKS.items():
            if kind in motions:
                self._mark(at, mark, VELOCITY_COLOR)
        if effort:
            self._mark(at, EFFORT_MARKS["angle" if "angle" in motions else "length"], EFFORT_COLOR)

    def _mark(self, at: Array, mark: PoleMark, color: str) -> None:
        arrow = mark.arrow
        if isinstance(arrow, ArcArrow):
            self.sketch.arc(at, arrow.radius, arrow.start, arrow.end, color)
            return
        a, b = at + arrow.start, at + arrow.end
        self.sketch.arrow(a, b, color, head=5.6, layer=4)
        if arrow.both_ways:
            self.sketch.head(a, (a - b) / np.linalg.norm(b - a), color, 5.6, 4)

    def name_motion(self, at: Array, motions: Sequence[str], index: str, *, angles: bool, effort: bool) -> None:
        """The symbols at a pole; ``angles`` says whether its rotations have angles, or a quaternion in their place."""
        if "length" in motions:
            arrow, (rate, way) = VELOCITY_MARKS["length"]
            self._name_mark(at + arrow[1], rate, index, VELOCITY_COLOR, 0.0, 3.0)
            self._name_mark(at + arrow[0], way, index, VELOCITY_COLOR, 180.0, 3.0)
        if "angle" in motions:
            rate, angle = VELOCITY_MARKS["angle"].letters
            self._name_mark(at, rate, index, VELOCITY_COLOR, 32.0, 14.5)
            if angles:
                self._name_mark(at, angle, index, VELOCITY_COLOR, 160.0, 14.5)
        if effort:
            (letter,) = EFFORT_MARKS["angle" if "angle" in motions else "length"].letters
            self._name_mark(at, letter, index, EFFORT_COLOR, -34.0, 18.0)

    def _name_mark(self, at: Array, letter: str, index: str, color: str, degrees: float, near: float) -> None:
        """A symbol in a direction from a point; elsewhere only where there is no room in any distance."""
        line = symbol(letter, index, color)
        size, distances = block_size([line]), (near, near + 3, near + 6, near + 10, near + 15)
        turns = [degrees + turn for turn in (0, 10, -10, 20, -20, 32, -32)]
        self.sketch.label([line], chain(beside(at, size, turns, distances), beside(at, size, ROUND, distances)))

    def axes(self, at: Array, rotation: Array, index: str) -> None:
        """The axes of a body, with their directions at the initial state, beside its pole."""
        triad = Sketch()
        tips = AXIS_LENGTH * (VIEW @ rotation).T
        for tip, color in zip(tips, AXES_COLORS):
            if np.linalg.norm(tip) > 3.0:
                triad.arrow(np.zeros(2), tip, color, 1.1, head=min(4.4, 0.6 * float(np.linalg.norm(tip))))
            else:  # toward the viewer
                triad.disk(np.zeros(2), 1.8, color, color, 0.5)
        for tip, letter, color in zip(tips, "xyz", AXES_COLORS):
            line = symbol(letter, index, color, AXES_LETTER)
            outward = float(np.rad2deg(np.arctan2(tip[1], tip[0])))
            turns = [outward + turn for turn in (0, 20, -20, 45, -45, 70, -70, 100, -100, 140, -140, 180)]
            triad.label([line], beside(tip, block_size([line]), turns, (0.5, 3.0, 6.0, 10.0)))
        low, high = triad.bounds()
        size = high - low
        places = (beside(at, size, turns, (22.0, 27.0, 32.0, 38.0, 46.0, 56.0)) for turns in AXES_PLACES)
        corner, beside_it = self.sketch.space.find_room(size, chain.from_iterable(places))
        self.sketch.unplaced += not beside_it
        self.sketch.insert(triad, corner - low)

    # -- drive units, loops ------------------------------------------------------------------------
    def drive(self, carrier: Array, drive_pole: Array, center: Array | None, pole: Array) -> None:
        """A drive unit: radius vectors of its pole and mass center, its rotor, and the gear to the joint it turns."""
        self.radius(carrier, drive_pole, thin=True, cut=10.0)
        way = (pole - drive_pole) / np.linalg.norm(pole - drive_pole)
        self.sketch.line(np.array([drive_pole + 9.0 * way, pole - 5.0 * way]), MUTED, 1.1, dashed=True, layer=2)
        self.gear(drive_pole)
        self.sketch.disk(drive_pole, 1.5, INK)
        if center is not None:
            self.center(drive_pole, center, small=True)
        self.sketch.arc(drive_pole, 12.5, 40.0, 140.0, VELOCITY_COLOR, 1.2)
        self.sketch.arc(drive_pole, 12.5, 220.0, 320.0, EFFORT_COLOR, 1.2)

    def name_drive(self, drive_pole: Array, index: str) -> None:
        """The symbols of a drive unit's turning and moment."""
        self._name_mark(drive_pole, "ω", index, VELOCITY_COLOR, 115.0, 15.0)
        self._name_mark(drive_pole, "M", index, EFFORT_COLOR, -115.0, 15.0)

    def gear(self, at: Array) -> None:
        """A wheel with teeth."""
        angle = np.linspace(0.0, 2 * np.pi, 49)[:-1]
        radius = np.where(np.arange(48) // 2 % 2, 8.5, 6.8)
        teeth = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
        self.sketch.face(at + teeth, "white", width=1.0, layer=4)

    def loop_closure(self, a: Array, b: Array) -> Array:
        """A cut joint or a constraint: a broken line; returns its points."""
        a, b = (a, b) if a[0] < b[0] else (b, a)
        bend = -2.0 * BULGE / max(float(np.linalg.norm(b - a)), 4.0 * BULGE)  # upwards
        top = 0.5 * (a + b) + bend * np.array([b[1] - a[1], a[0] - b[0]])
        share = np.linspace(0.0, 1.0, 25)[:, None]
        points: Array = (1 - share) ** 2 * a + 2 * share * (1 - share) * top + share**2 * b
        self.sketch.line(points, MUTED, 1.1, dashed=True, layer=1)
        return points

    def name_loop(self, points: Array, name: str) -> None:
        """The name beside a broken line."""
        line = words(name, muted=True)
        size = block_size([line])
        places = (
            low
            for k in (12, 10, 14, 8, 16, 6, 18, 4, 20, 2)
            for low in along(points[k - 1], points[k + 1], size, (0.5,), (2.5, 6.0, 12.0))
        )
        self.sketch.label([line], places)

    # -- ground ------------------------------------------------------------------------------------
    def ground(self, at: Array) -> None:
        """The world, and its origin."""
        self.sketch.line(at + np.array([[-20.0, -7.0], [20.0, -7.0]]), INK, 1.3)
        for k in range(6):
            self.sketch.line(at + [-20.0 + 8.0 * k, -7.0] + np.array([[0.0, 0.0], [-5.0, -6.0]]), INK, 0.9)
        self.sketch.disk(at, 2.5, INK)

    def earth(self, at: Array, *, turning: bool) -> None:
        """The earth's center O: a globe with its axis, and an arc about that if it turns."""
        self.sketch.disk(at, 15.0, "white", RADIUS_COLOR, 1.0, layer=2)
        angle = np.linspace(np.pi, 2 * np.pi, 16)
        self.sketch.line(at + np.column_stack([15.0 * np.cos(angle), 4.5 * np.sin(angle)]), RADIUS_COLOR, 0.8)
        self.sketch.disk(at, 2.5, INK)
        if turning:
            self.sketch.line(at + np.array([[0.0, -15.0], [0.0, -24.0]]), VELOCITY_COLOR, 1.0)
            self.sketch.arc(at + [0.0, -21.0], 8.0, 200.0, 340.0, VELOCITY_COLOR)

    def _square(self, at: Array, half: float) -> None:
        self.sketch.face(at + half * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]), INK)

    # -- legend ------------------------------------------------------------------------------------
    def legend(self, at: Array, *, drives: bool, earth: bool) -> float:
        """What the signs mean, in two columns; returns the height."""
        entries = [*LEGEND, *(DRIVE_LEGEND if drives else ()), *(EARTH_LEGEND if earth else ())]
        for k, (sign, color, meaning) in enumerate(entries):
            here = at + np.array([(k % 2) * 200.0, -(k // 2) * 17.0])
            self._sign(sign, color, here)
            self.sketch.put([indexed(meaning)], here + [30.0, -5.5])
        return 17.0 * ((len(entries) + 1) // 2)

    def _sign(self, sign: str, color: str, here: Array) -> None:
        sketch = self.sketch
        match sign:
            case "arrow":
                sketch.arrow(here, here + [24.0, 0.0], color)
            case "both":
                sketch.arrow(here + [2.0, 0.0], here + [24.0, 0.0], color, head=5.6)
                sketch.head(here, np.array([-1.0, 0.0]), color, 5.6)
            case "arc":
                sketch.arc(here + [12.0, -5.0], 9.0, 25.0, 155.0, color)
            case "under":
                sketch.arc(here + [12.0, 5.0], 9.0, 205.0, 335.0, color)
            case "gear":
                self.gear(here + [12.0, 0.0])
            case "triad":
                for tip, own in zip(9.0 * VIEW.T, AXES_COLORS):
                    sketch.arrow(here + [8.0, -3.0], here + [8.0, -3.0] + tip, own, 1.0, head=3.6)
            case "poles":
                for x, face in ((3.0, "white"), (13.0, INK)):
                    sketch.disk(here + [x, 0.0], 3.4, face)
                self._square(here + [22.0, 0.0], 3.0)
