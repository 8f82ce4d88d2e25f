"""The flow chart of the model-building algorithm, with what happened at each box for one system.

Steps are boxes, questions are diamonds; what a system does not need is gray, and the way past it is drawn.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError
from kinode.model.base.fields import short
from kinode.model.system import System
from kinode.symbolic.explanation import Explanation
from kinode.views.mechanism.building_steps import BuildingStep, ChartShape, find_building_steps
from kinode.views.mechanism.paper_sketch import LINE_HEIGHT, Line, Sketch, block_size, words
from kinode.views.style import COLORS, INK, MUTED, new_figure, save_figure, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BOX_PADDING = 7.0
STEP_GAP = 19.0  # between two shapes
NOTE_GAP = 20.0
BYPASS = 24.0  # of the way past a step, to the left of the boxes
MARGIN = 16.0
TAKEN_FACE, OTHER_FACE = "#eef4fa", "#ffffff"
EDGE = COLORS[0]
LIGHT = "#aab2bb"


def draw_chart(of: Explanation | System, *, file: Any = None, scale: float = 1.0, shown: bool = True) -> Figure:
    """Draw the flow chart of how a system's equations are built.

    Parameters
    ----------
    of : Explanation or System
        What ``kn.explain`` returned, or a system to explain.
    file : path, optional
        A .svg, .png or .pdf file to write.
    scale : float, default 1.0
        Enlarges the figure.
    shown : bool, default True
        Whether an interactive session displays it; with a file it does not.

    Returns
    -------
    matplotlib.figure.Figure
    """
    chart = FlowChart(of)
    with style():
        figure = chart.figure(scale, shown=shown and file is None)
        if file is not None:
            save_figure(figure, file)
    return figure


class FlowChart:
    """The chart of one system; it prints as text."""

    def __init__(self, of: Explanation | System) -> None:
        if isinstance(of, System):
            from kinode.symbolic.explain import explain

            of = explain(of)
        if not isinstance(of, Explanation):
            raise ArgumentError(f"flow chart: an Explanation or a System is expected, not {short(of)}")
        self.name = of.system.name
        self.steps = find_building_steps(of)

    # -- text --------------------------------------------------------------------------------------
    def text(self, width: int = 80) -> str:
        """The chart as text.

        Parameters
        ----------
        width : int, default 80
            Characters of a line.

        Returns
        -------
        str
        """
        lines = textwrap.wrap(f"{self.name}: the algorithm that builds its equations", width)
        for step in self.steps:
            if step.shape is ChartShape.END:
                continue
            mark = f"{step.number:>2}." if step.number else " ? "
            lines += ["", *textwrap.wrap(step.title, width, initial_indent=f"{mark} ", subsequent_indent="    ")]
            for note in step.notes:
                lines += textwrap.wrap(note, width, initial_indent="      ", subsequent_indent="        ")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text()

    # -- drawing -----------------------------------------------------------------------------------
    def figure(self, scale: float = 1.0, *, shown: bool = False) -> Figure:
        """The chart as a figure, in the size that it has."""
        sketch = self.sketch()
        low, high = sketch.bounds()
        low, high = low - MARGIN, high + MARGIN
        figure = new_figure(tuple(scale * (high - low) / 72.0), shown=shown, layout="none")
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        axes.axis("off")
        sketch.draw(axes)
        return figure

    def sketch(self) -> Sketch:
        """All shapes below each other, notes to their right, and the ways between."""
        sketch = Sketch()
        width = max(float(block_size([_title(step)])[0]) for step in self.steps) + 4 * BOX_PADDING
        tops: list[float] = []
        bottoms: list[float] = []
        y = 0.0
        for step in self.steps:
            height = max(_height(step), LINE_HEIGHT * len(step.notes) + 2.0)
            shape = _height(step)
            middle = y - 0.5 * height
            tops.append(middle + 0.5 * shape)
            bottoms.append(middle - 0.5 * shape)
            _draw_step(sketch, step, np.array([0.0, middle]), width)
            y -= height + STEP_GAP
        for k in range(len(self.steps) - 1):
            self._connect(sketch, k, tops, bottoms, width)
        return sketch

    def _connect(self, sketch: Sketch, k: int, tops: list[float], bottoms: list[float], width: float) -> None:
        """The way from one shape to the next, and past a step that a question may leave out."""
        step, after = self.steps[k], self.steps[k + 1]
        a, b = np.array([0.0, bottoms[k]]), np.array([0.0, tops[k + 1]])
        if step.shape is ChartShape.STEP and not step.taken:  # the way past it comes in here
            middle = 0.5 * (a + b)
            sketch.line(np.array([a, middle]), LIGHT, 1.0)
            a = middle
        reached = after.taken or after.shape is ChartShape.QUESTION
        sketch.arrow(a, b, INK if reached else LIGHT, 1.3 if reached else 1.0, head=5.5)
        if step.shape is not ChartShape.QUESTION:
            return
        sketch.put([words("yes", muted=not step.taken)], np.array([4.0, 0.5 * (a[1] + b[1]) - 3.0]))
        middle = 0.5 * (tops[k] + bottoms[k])
        joined = 0.5 * (bottoms[k + 1] + tops[k + 2])
        half = _half_width(step)
        left = -0.5 * width - BYPASS
        color, thick = (LIGHT, 1.0) if step.taken else (INK, 1.3)
        path = np.array([[-half, middle], [left, middle], [left, joined], [-5.5, joined]])
        sketch.line(path, color, thick)
        sketch.head(np.array([0.0, joined]), np.array([1.0, 0.0]), color, 5.5)
        sketch.put([words("no", muted=step.taken)], np.array([-half - 16.0, middle + 1.0]))


def _title(step: BuildingStep) -> Line:
    text = f"{step.number}  {step.title}" if step.number else step.title
    grey = not step.taken and step.shape is ChartShape.STEP
    return words(text, bold=not grey, muted=grey)


def _height(step: BuildingStep) -> float:
    return LINE_HEIGHT + 2 * BOX_PADDING * (1.4 if step.shape is ChartShape.QUESTION else 0.8)


def _half_width(step: BuildingStep) -> float:
    """Half the width of a diamond: its words are within."""
    return 0.5 * float(block_size([_title(step)])[0]) + 4.5 * BOX_PADDING


def _draw_step(sketch: Sketch, step: BuildingStep, at: Array, width: float) -> None:
    size = block_size([_title(step)])
    half = np.array([0.5 * width, 0.5 * _height(step)])
    edge, face = (EDGE, TAKEN_FACE) if step.taken or step.shape is ChartShape.QUESTION else (LIGHT, OTHER_FACE)
    if step.shape is ChartShape.QUESTION:
        half[0] = _half_width(step)
        corners = half * np.array([[-1, 0], [0, -1], [1, 0], [0, 1]])
    elif step.shape is ChartShape.END:
        half[0] = 0.5 * float(size[0]) + 3 * BOX_PADDING
        corners = _rounded(half)
    else:
        corners = half * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    sketch.face(at + corners, face, edge, 1.2, layer=2)
    sketch.put([_title(step)], at - 0.5 * size)
    if step.notes:
        notes = [words(note, color=INK if step.taken else MUTED) for note in step.notes]
        start = np.array([0.5 * width + NOTE_GAP, at[1] - 0.5 * LINE_HEIGHT * len(notes)])
        sketch.put(notes, start)
        sketch.line(np.array([at + [half[0], 0.0], [start[0] - 4.0, at[1]]]), LIGHT, 0.8, layer=1)


def _rounded(half: Array) -> Array:
    """A box with round ends."""
    angle = np.deg2rad(np.linspace(-90.0, 90.0, 13))
    end = half[1] * np.column_stack([np.cos(angle), np.sin(angle)]) + [half[0] - half[1], 0.0]
    corners: Array = np.vstack([end, -end])
    return corners
