"""The symbols of a picture: joints, supports, springs, centers of mass, scale, axes of frames, and names beside them.

They have their size on paper, in points, whatever the size of the mechanism.  What joints, supports and springs are
drawn with is data: ``kinode.model.base.house_symbols``.  A frame is three arrows from its origin, with its name
at their tips.  A name stands beside its point, where it covers neither a joint nor another name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.model.base.symbols import (
    COIL_GLYPH,
    PLAIN_GLYPH,
    SUPPORT_GLYPHS,
    CoilGlyph,
    Disc,
    GlyphFill,
    JointGlyph,
    Stroke,
    StrokeRole,
    SupportGlyph,
    symbol_of,
)
from kinode.model.elements.spring import Spring
from kinode.model.joints.joint import Joint
from kinode.model.system import joint_frame
from kinode.views.mechanism.camera import Camera
from kinode.views.mechanism.drawn_scene import DrawnScene
from kinode.views.style import COLORS, INK, MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from kinode.results.trajectory import Trajectory


FILLS = {GlyphFill.PAPER: "white", GlyphFill.LIGHT: "#d4d9df", GlyphFill.DARK: "#9aa4b0", GlyphFill.INK: INK}
PEDESTAL = "#e9ecef"
SHALLOWEST = 0.15  # sine of the angle between an axis and the line of sight below which the axis is seen end on


@dataclass(eq=False)
class Paper:
    """What a picture is drawn on: an axes, its camera, and its scale in points for a meter."""

    axes: Axes
    camera: Camera
    scale: float = 1.0
    faint: bool = False

    def line(self, points: Any, **how: Any) -> None:
        """A line through points on paper."""
        points = np.atleast_2d(points)
        how = {"solid_capstyle": "round", "solid_joinstyle": "round", **how}
        self.axes.plot(points[:, 0], points[:, 1], **how)

    def fill(self, points: Array, color: Any, **how: Any) -> None:
        """A filled polygon on paper."""
        from matplotlib.patches import Polygon

        self.axes.add_patch(
            Polygon(points, closed=True, facecolor=color, **{"edgecolor": "none", "joinstyle": "round", **how})
        )

    def mark(self, at: Array, shape: Stroke | Disc, *, size: float, color: str) -> None:
        """The mark of a joint, ``size`` points for a unit of its shape."""
        if isinstance(shape, Disc):
            self.axes.plot(
                *at, marker="o", markersize=2.0 * shape.radius * size, markerfacecolor=color, markeredgecolor=INK,
                markeredgewidth=1.2, zorder=6.5,
            )  # fmt: skip
            return
        (line,) = shape.polylines()
        corners = at + np.array(line[:-1]) * (size, -size) / self.scale
        self.fill(corners, color, edgecolor=INK, linewidth=1.2, joinstyle="miter", zorder=6.5)


def draw_center(paper: Paper, center: Array, zorder: float) -> None:
    """The quartered disc that marks a center of mass."""
    from matplotlib.patches import Circle, Wedge

    r = 3.6 / paper.scale
    paper.axes.add_patch(
        Circle((center[0], center[1]), r, facecolor="white", edgecolor=INK, linewidth=0.7, zorder=zorder)
    )
    for start in (0, 180):
        wedge = Wedge((center[0], center[1]), r, start, start + 90, facecolor=INK, edgecolor="none", zorder=zorder)
        paper.axes.add_patch(wedge)


def glyph_of(joint: Joint) -> JointGlyph:
    """What a joint is drawn with."""
    return symbol_of(type(joint)).glyph or PLAIN_GLYPH


def draw_joints(paper: Paper, scene: DrawnScene) -> None:
    """Each joint by the mark of its kind, its axis as a dash-dotted line where it is not seen end on."""
    for joint in scene.system.joints.values():
        glyph = glyph_of(joint)
        if glyph.mark is None:
            continue
        F, M = (paper.camera.project(scene.point(joint_frame(joint, side), 0)) for side in ("parent", "child"))
        axis = scene.axis(joint, 0)
        flat = np.zeros(2) if axis is None else paper.camera.see(axis)[:2]
        if glyph.guided and np.linalg.norm(M - F) * paper.scale > 1:
            paper.line(np.array([F, M]), color=INK, linewidth=1.0, zorder=6)
        if np.linalg.norm(flat) > SHALLOWEST and joint.n_u:
            reach = flat * glyph.axis / paper.scale
            dash_dot = (0, (6, 2, 1, 2))
            paper.line(np.array([M - reach, M + reach]), color=INK, linewidth=0.8, linestyle=dash_dot, zorder=6.2)
        paper.mark(M, glyph.mark, size=glyph.size, color=FILLS[glyph.fill])


def draw_ground(paper: Paper, scene: DrawnScene, up: Array) -> None:
    """A hatched support under every joint that is on the ground."""
    rise = paper.camera.see(up)[:2]
    rise = rise / np.linalg.norm(rise) if np.linalg.norm(rise) > 0.2 else np.array([0.0, 1.0])
    for joint in scene.system.joints.values():
        sides = [side for side, frame in (("parent", joint.a), ("child", joint.b)) if frame.body == "world"]
        if not sides or glyph_of(joint).mark is None:
            continue
        foot = paper.camera.project(scene.point(joint_frame(joint, sides[0]), 0))
        carried = joint.b.body if sides[0] == "parent" else joint.a.body
        center = paper.camera.project(scene.point(scene.system.bodies[carried].com, 0))
        away = -rise if (center - foot) @ rise < -0.5 * np.linalg.norm(center - foot) else rise
        _draw_support(paper, SUPPORT_GLYPHS[glyph_of(joint).support], foot, away)


def _draw_support(paper: Paper, glyph: SupportGlyph, foot: Array, away: Array) -> None:
    """What stands under a joint at ``foot``; ``away`` leads out of the ground."""
    axes = np.array([[away[1], -away[0]], -away]) / paper.scale
    for stroke in glyph.strokes:
        (line,) = stroke.polylines()
        corners = foot + np.array(line[:-1]) @ axes
        paper.fill(corners, PEDESTAL, edgecolor=INK, linewidth=1.0, zorder=3)
    for stroke in glyph.ground:
        thin = stroke.role is StrokeRole.THIN
        line_style = (
            {"color": MUTED, "linewidth": 0.8, "zorder": 2.9} if thin else {"color": INK, "linewidth": 1.3, "zorder": 3}
        )
        for line in stroke.polylines():
            paper.line(foot + (np.array(line) + [0.0, glyph.depth]) @ axes, **line_style)


def draw_springs(paper: Paper, scene: DrawnScene, coil: CoilGlyph = COIL_GLYPH) -> None:
    """Springs and dampers as zigzag lines."""
    for element in scene.system.elements.values():
        if not isinstance(element, Spring):
            continue
        a, b = (paper.camera.project(scene.point(f, 0)) for f in (element.a, element.b))
        length = float(np.linalg.norm(b - a))
        if length * paper.scale < coil.shortest:
            continue
        ahead = (b - a) / length
        side = np.array([-ahead[1], ahead[0]]) * coil.half_width / paper.scale
        turns = coil.turns(length * paper.scale)
        shares = np.linspace(coil.lead, 1.0 - coil.lead, 2 * turns + 1)
        zigzag = [a + (b - a) * s + side * (0 if k in (0, 2 * turns) else (-1) ** k) for k, s in enumerate(shares)]
        paper.line(np.array([a, *zigzag, b]), color=INK, linewidth=1.0, zorder=3.5)
        for end in (a, b):
            paper.axes.plot(*end, marker="o", markersize=3, color=INK, zorder=6.4)


def halo() -> list[Any]:
    """A white edge around letters."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=2.4, foreground="white", alpha=0.9)]


def draw_margin(paper: Paper, system: Any) -> None:
    """In the corners: the directions of the axes and of gravity, and a bar that gives the scale."""
    axes, unit = paper.axes, 1.0 / paper.scale
    x0, y0 = axes.get_xlim()[0], axes.get_ylim()[0]
    directions = [paper.camera.see(axis)[:2] for axis in np.eye(3)]
    # a letter below an axis that points downwards, or left of one that points to the left, needs room too
    room = [max(24.0, 12.0 - 24.0 * min(direction[k] for direction in directions)) for k in (0, 1)]
    origin = np.array([x0, y0]) + np.array(room) * unit
    for name, direction in zip("xyz", directions, strict=True):
        if np.linalg.norm(direction) < 0.1:
            continue
        tip = origin + direction * 18 * unit
        arrow = {
            "arrowstyle": "-|>,head_length=0.28,head_width=0.13",
            "color": MUTED,
            "linewidth": 0.9,
            "shrinkA": 0,
            "shrinkB": 0,
        }
        axes.annotate("", tuple(tip), tuple(origin), arrowprops=arrow)
        length = np.linalg.norm(direction)
        beside = origin + direction / length * (18 * length + 6) * unit
        axes.text(beside[0], beside[1], name, color=MUTED, fontsize=8, ha="center", va="center")
    bar = round_length(70 * unit)
    right = axes.get_xlim()[1] - 16 * unit
    y = y0 + 14 * unit
    paper.line([[right - bar, y], [right, y]], color=MUTED, linewidth=1.2, solid_capstyle="butt")
    for x in (right - bar, right):
        paper.line([[x, y - 2.5 * unit], [x, y + 2.5 * unit]], color=MUTED, linewidth=1.0)
    axes.text(right - bar / 2, y + 4 * unit, metric(bar), color=MUTED, fontsize=8, ha="center", va="bottom")


def round_length(length: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that is not longer."""
    power = 10.0 ** np.floor(np.log10(length))
    return float(max(f * power for f in (1, 2, 5) if f * power <= length * 1.0001))


def metric(length: float) -> str:
    """A length in the unit that suits it."""
    if length >= 1000:
        return f"{length / 1000:g} km"
    return f"{length:g} m" if length >= 0.1 else f"{length * 1000:g} mm"


def mix(color: str, share: float) -> tuple[float, float, float]:
    """A color nearer to white (share up to 1) or to black (down to -1)."""
    from matplotlib.colors import to_rgb

    target = 1.0 if share >= 0 else 0.0
    r, g, b = (c + (target - c) * abs(share) for c in to_rgb(color))
    return (r, g, b)


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


ARROW = 0.34  # of the height or width of the picture; further frames have longer ones: axes in one line are all seen
LONGER = 0.16
NEAR = 14.0  # points: tips that are nearer share a label
SHORTEST = 6.0  # points on paper: axes that are seen end on have no arrow
LETTERS = ("x", "y", "z")


@dataclass(frozen=True, eq=False)
class Triad:
    """A frame at one time: rotation to the axes of the picture, and origin."""

    name: str
    R: Array
    p: Array


def find_triads(run: Trajectory, names: Sequence[str], row: int, seen_from: str | None) -> list[Triad]:
    """The frames of these names at one row of a run; errors name a frame that does not exist there."""
    known = [run.dynamics.arguments.frame_name(name) for name in names]
    wanted = [*known, *([] if seen_from is None else [seen_from])]
    values = run.evaluate(f"{name}.{what}" for name in wanted if name != "world" for what in ("rotation", "position"))

    def pose(name: str) -> tuple[Array, Array]:
        if name == "world":
            return np.eye(3), np.zeros(3)
        return values[f"{name}.rotation"][row], values[f"{name}.position"][row]

    back, origin = (np.eye(3), np.zeros(3)) if seen_from is None else pose(seen_from)
    return [Triad(name, back.T @ R, back.T @ (p - origin)) for name, (R, p) in ((n, pose(n)) for n in known)]


def arrow_length(axes: Axes) -> float:
    """The length of the first frame's arrows, points."""
    figure: Any = axes.get_figure(root=True)
    box = axes.get_position()
    width, height = figure.get_size_inches() * (box.width, box.height) * 72.0
    return float(ARROW * min(width, height))


def arrow_tips(paper: Paper, triads: Sequence[Triad], scale: float) -> list[Array]:
    """Origins and tips of all arrows on paper, at a scale in points for a meter."""
    camera, length, tips = paper.camera, arrow_length(paper.axes), []
    for k, triad in enumerate(triads):
        start = camera.project(triad.p)
        ends = camera.project(triad.p + triad.R.T) - start
        tips.append(np.vstack([start, start + ends * length * (1.0 + LONGER * k) / scale]))
    return tips


def draw_triads(paper: Paper, triads: Sequence[Triad]) -> None:
    """Arrows along the axes, a color for each frame; axes that coincide on paper share a label."""
    labels: list[tuple[Array, list[str], str]] = []
    arrows: list[Array] = []
    length = arrow_length(paper.axes)
    for k, triad in enumerate(triads):
        start, color = paper.camera.project(triad.p), COLORS[k % len(COLORS)]
        for letter, axis in zip(LETTERS, triad.R.T, strict=True):
            along = paper.camera.project(triad.p + axis) - start
            size = length * (1.0 + LONGER * k)
            if np.linalg.norm(along) * size < SHORTEST:
                continue
            tip = start + along * size / paper.scale
            paper.axes.annotate(
                "", xy=(tip[0], tip[1]), xytext=(start[0], start[1]), zorder=7.5 - 0.01 * k,
                arrowprops={"arrowstyle": "-|>", "color": color, "linewidth": 1.6, "shrinkA": 0.0, "shrinkB": 0.0},
            )  # fmt: skip
            arrows.append(np.array([start, tip]))
            _add_label(labels, tip, f"{letter} {triad.name}", color, NEAR / paper.scale)
        paper.axes.plot(*start, marker="o", markersize=3.6, color=color, zorder=7.6)
    wanted = [(", ".join(texts), tip, color, False) for tip, texts, color in labels]
    points = np.array([arrow[1] for arrow in arrows]).reshape(-1, 2)
    for text, _, middle, color, _ in place_labels(paper.axes, paper.scale, wanted, points, arrows):
        paper.axes.text(
            middle[0],
            middle[1],
            text,
            color=color,
            fontsize=8.5,
            ha="center",
            va="center",
            zorder=8,
            path_effects=halo(),
        )


def _add_label(labels: list[tuple[Array, list[str], str]], tip: Array, text: str, color: str, near: float) -> None:
    """A label of its own, or as part of one whose tip is near; it then stands at the farther tip."""
    for k, (other, texts, first) in enumerate(labels):
        if np.linalg.norm(tip - other) < near:
            labels[k] = (tip, [*texts, text], first)
            return
    labels.append((tip, [text], color))
