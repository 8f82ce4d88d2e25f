"""The flow chart of the algorithm that builds the model of a multitiered system, and what happened at each step.

The steps are those of the method of graphic-vector schemes: decompose, draw the scheme, fix the motions, enter the
parameters, pass outward, write the bodies' equations, couple them, eliminate the reactions, add the drives, solve,
check.  A circuit without bodies has the steps of its own derivation.  Numbers are those of one ``kn.explain``.  Steps
are boxes, questions are diamonds; what a system does not need is gray, and the way past it is drawn.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError, counted
from kinode.model.base.fields import short
from kinode.model.system import System
from kinode.sheets.tables import number, pretty_unit
from kinode.symbolic.explanation import Explanation
from kinode.symbolic.notation import independent_rows
from kinode.views.mechanism.paper_sketch import LINE_HEIGHT, Line, Sketch, block_size, words
from kinode.views.mechanism.scheme_tiers import TIMES_SIGN, SchemeTiers, vector_text
from kinode.views.style import COLORS, INK, MUTED, find_prefix, new_figure, save_figure, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class ChartShape(Enum):
    """What stands in a flow chart."""

    END = "end"
    STEP = "step"
    QUESTION = "question"


@dataclass(frozen=True)
class BuildingStep:
    """A step or question of the algorithm, and what it came to for one system.

    Attributes
    ----------
    title : str
        What is done, or asked.
    notes : tuple of str
        What happened here.
    shape : ChartShape
    number : str
        From 1 to 11 as the method numbers them, 5a for the loops that it does not have; empty for questions and ends.
    taken : bool
        Whether this system needs it; of a question, whether the answer is yes.
    """

    title: str
    notes: tuple[str, ...] = ()
    shape: ChartShape = ChartShape.STEP
    number: str = ""
    taken: bool = True


def find_building_steps(explanation: Explanation) -> tuple[BuildingStep, ...]:
    """The chart of a system's derivation, from top to bottom; a question leads past the step behind it."""
    mechanical = bool(explanation.system.bodies)
    steps = _mechanical_steps(explanation) if mechanical else _circuit_steps(explanation)
    goal = "Equations of motion" if mechanical else "Equations"
    start, end = (BuildingStep(title, shape=ChartShape.END) for title in (explanation.system.name, goal))
    return (start, *steps, end)


def _circuit_steps(explanation: Explanation) -> list[BuildingStep]:
    """A circuit without bodies: the steps as they were taken, with how many rows or formulas they have."""
    steps = []
    for k, step in enumerate(explanation.steps):
        head, rows = step.table or ((), ())
        if len(head) == 2:  # what was compared, and how far it is apart
            notes = [f"{words.partition(':')[0]}: {apart}" for words, apart in rows]
        else:
            notes = [counted(len(rows), head[0])] if rows else [counted(len(step.items), "formula")]
        steps.append(BuildingStep(step.title, tuple(notes), number=str(k + 1)))
    return steps


def _mechanical_steps(explanation: Explanation) -> list[BuildingStep]:
    told = _Told(explanation)
    loops, drives = explanation.topology.constrained, told.has_drives
    rows: list[tuple[str, str, Sequence[str], bool]] = [
        ("1", "Take the system apart into rigid bodies", told.bodies(), True),
        ("2", "Draw the graphic-vector scheme", told.scheme(), True),
        ("3", "Fix the relative motion of each tier", told.motions(), True),
        ("4", "Enter masses, inertias, gravity", told.parameters(), True),
        ("5", "Outward: velocities and accelerations", told.outward(), True),
        ("", "Closed loops?", told.loop_answer(), loops),
        ("5a", "Close them: constraints and multipliers", told.loops(), loops),
        ("6", "Write the equations of the free bodies", told.free_bodies(), True),
        ("7", "Inward: couple the bodies", told.inward(), True),
        ("8", "Eliminate the reactions", told.elimination(), True),
        ("", "Drives and laws?", told.drive_answer(), drives),
        ("9", "Add the equations of the drives", told.drives(), drives),
        ("10", "Solve", told.solution(), True),
        ("11", "Check against other derivations", told.check(), True),
    ]
    steps = []
    for k, title, notes, taken in rows:
        shape = ChartShape.STEP if k else ChartShape.QUESTION
        steps.append(BuildingStep(title, tuple(notes), shape, k, taken))
    return steps


class _Told:
    """What happened at each step, in words and numbers."""

    def __init__(self, explanation: Explanation) -> None:
        self.explanation, self.topology = explanation, explanation.topology
        self.system: System = explanation.system
        self.scheme_tiers = SchemeTiers(self.system)
        self.nodes = self.topology.full.nodes
        couplings = self.topology.couplings
        joints = [node.joint for node in self.nodes]
        self.fixed = [joint for joint in joints if not joint.n_u]
        self.prescribed = [joint for joint in joints if joint.driven]
        self.geared = [joint for joint in joints if joint.name in couplings]
        others = {joint.name for joint in (*self.fixed, *self.prescribed, *self.geared)}
        self.free = [joint for joint in joints if joint.name not in others]
        laws = ("effort", "stiffness", "damping", "friction", "ends")
        self.laws = [joint for joint in joints if any(getattr(joint, law) is not None for law in laws)]
        self.units = [tier.unit for tier in self.scheme_tiers.tiers if tier.unit is not None]
        self.has_drives = bool(self.units or self.laws or couplings or self.system.parts)

    def _largest(self, title: str, unit: str) -> str:
        """The largest number with a unit in a step, with words for it."""
        items = [step.items for step in self.explanation.steps if step.title == title]
        sizes = [abs(value) for own in items for item in own for value, u in zip(item.values, item.units) if u == unit]
        peak = max(sizes, default=0.0)
        shown, size = find_prefix(unit, peak)
        return f"{number(peak / size)} {pretty_unit(shown)}"

    def bodies(self) -> list[str]:
        n, tiers = len(self.nodes), len(self.scheme_tiers.tiers)
        rotors = f", {counted(n - tiers, 'rotor')} of drives" if self.units else ""
        earth = self.scheme_tiers.earth
        base = "the world is the inertial frame"
        if earth is not None:
            base = f"{earth.name}: the world {earth.words}" if earth.turning is not None else f"{earth.name}: center O"
        return [f"{counted(n, 'body', 'bodies')}: {counted(tiers, 'tier')}{rotors}", base]

    def scheme(self) -> list[str]:
        centers = sum(tier.has_center for tier in self.scheme_tiers.tiers)
        drives = (
            [f"{counted(len(self.units), 'drive pole')} with rotor{'s' * (len(self.units) > 1)}"] if self.units else []
        )
        return [f"{counted(len(self.scheme_tiers.tiers), 'pole')}, {counted(centers, 'mass center')}", *drives]

    def motions(self) -> list[str]:
        kinds = (("free", self.free), ("prescribed", self.prescribed), ("geared", self.geared), ("fixed", self.fixed))
        joints = ", ".join(f"{len(own)} {word}" for word, own in kinds if own)
        layout = self.topology.layout
        names = [f"q = {', '.join(joint.name for joint in self.free)}"] if 0 < len(self.free) <= 4 else []
        sizes = f"{counted(layout.n_u, 'free speed')}, {counted(layout.n_q, 'coordinate')}"
        return [f"joints: {joints}", sizes, *names]

    def parameters(self) -> list[str]:
        total = sum(tier.mass for tier in self.scheme_tiers.by_node)
        g = [self.system.nominal(x) for x in self.system.gravity]
        words = [f"{number(total)} kg in all, gravity {vector_text(np.array(g, dtype=float))} m/s\u00b2"]
        n = len(self.system.parameters)
        return words + ([f"{counted(n, 'parameter')}"] if n else [])

    def outward(self) -> list[str]:
        turning = self._largest("Angular velocities", "rad/s")
        velocity, acceleration = self._largest("Velocities", "m/s"), self._largest("Accelerations", "m/s^2")
        return [f"\u03c9, \u03b5, v, W of {counted(len(self.nodes), 'body', 'bodies')}",
                f"up to {turning}, {velocity}, {acceleration}"]  # fmt: skip

    def loop_answer(self) -> list[str]:
        names = [*self.topology.cut_names, *(constraint.name for constraint in self.topology.constraints)]
        return [f"yes: {_some(names)}"] if self.topology.constrained else ["no: a tree"]

    def loops(self) -> list[str]:
        if not self.topology.constrained:
            return ["not needed here"]
        return [
            f"{counted(len(independent_rows(self.topology)), 'independent row')} of constraints, as many multipliers"
        ]

    def free_bodies(self) -> list[str]:
        n = len(self.nodes)
        elements = len(self.system.elements)
        loads = f"weight and {counted(elements, 'element')}" if elements else "weight"
        return [f"6 {TIMES_SIGN} {n} = {6 * n} equations; loads: {loads}"]

    def inward(self) -> list[str]:
        return [f"{counted(len(self.nodes), 'joint')} from the tips to the world",
                f"up to {self._largest('Couple the bodies', 'N')}"]  # fmt: skip

    def elimination(self) -> list[str]:
        n, n_u = len(self.nodes), self.topology.n_u
        reactions = sum(6 - node.joint.n_u for node in self.nodes)
        given = 6 * n - reactions - n_u
        held = f" \u2212 {given} along prescribed and geared motions" if given else ""
        return [f"{6 * n} \u2212 {reactions} reactions{held}", f"= {counted(n_u, 'equation')}"]

    def drive_answer(self) -> list[str]:
        return ["yes"] if self.has_drives else ["no"]

    def drives(self) -> list[str]:
        if not self.has_drives:
            return ["not needed here"]
        ratios = ", ".join(f"{TIMES_SIGN} {number(unit.ratio)}" for unit in self.units[:4])
        notes = [f"{counted(len(self.units), 'drive unit')}: {ratios}{', ...' if len(self.units) > 4 else ''}"]
        notes = notes if self.units else []
        notes += [f"laws along {counted(len(self.laws), 'joint')}"] if self.laws else []
        parts = len(self.system.parts)
        return notes + ([f"{counted(parts, 'part')} of networks"] if parts else [])

    def solution(self) -> list[str]:
        n = self.topology.n_u
        if not n:
            return ["no free motion: the efforts of all motions follow"]
        size = n + (len(independent_rows(self.topology)) if self.topology.constrained else 0)
        return [
            f"direct: {size} {TIMES_SIGN} {size} for the accelerations",
            "inverse: efforts of drives for given motions",
        ]

    def check(self) -> list[str]:
        """The comparisons of the last step."""
        tables = [step.table for step in self.explanation.steps if step.title == "Check" and step.table]
        notes = []
        for _, rows in tables:
            for name, apart in rows:
                word = name.removeprefix("accelerations by ").partition(":")[0]
                notes.append(f"{'residual' if word.startswith('what has') else word} {apart}")
        return _joined(notes, 46)


def _some(names: Sequence[str], most: int = 4) -> str:
    return ", ".join([*names[:most], f"{len(names) - most} more"] if len(names) > most else names)


def _joined(parts: Sequence[str], width: int) -> list[str]:
    """Parts with commas, in lines of some width."""
    lines: list[str] = []
    for part in parts:
        if lines and len(lines[-1]) + 2 + len(part) <= width:
            lines[-1] += f", {part}"
        else:
            lines.append(part)
    return lines


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
