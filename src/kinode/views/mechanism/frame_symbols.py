"""The axes of frames in a picture: three arrows from the origin, with the name of the frame at their tips."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.views.mechanism.label_placement import place_labels
from kinode.views.mechanism.mechanism_symbols import Paper, halo
from kinode.views.style import COLORS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from kinode.results.trajectory import Trajectory

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
