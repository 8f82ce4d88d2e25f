"""The graphic-vector scheme of a system: poles, radius vectors, axes, mass centers, turning, moments, drive units.

It shows the vectors of a mechanism, not its shape, and is not to scale, so that coincident poles stay apart.  Each tier
is above the one that carries it, with its drive unit to the left of its pole, its body and axes to the right.
Branches are side by side.  Every vector has the number of its tier as an index; a table says what stands at each
number.  Cut joints, which close loops, are broken lines.  Labels cross no line and no other label: where one finds no
room, the whole scheme takes more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.sheets.tables import number
from kinode.views.mechanism.paper_sketch import (
    LINE_HEIGHT,
    Line,
    Sketch,
    beside,
    block_size,
    indexed,
    line_width,
    symbol,
    words,
)
from kinode.views.mechanism.scheme_symbols import CENTER_COLOR, RADIUS_COLOR, VELOCITY_COLOR, Pen
from kinode.views.mechanism.scheme_tiers import (
    TIMES_SIGN,
    SchemeTiers,
    Tier,
    drive_table,
    tier_table,
)
from kinode.views.style import INK, MUTED, new_figure, save_figure, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kinode.model.system import System

TIER_HEIGHT = 84.0  # points from tier to tier
SLANT = 22.0  # to the right with every tier
ARM = 60.0  # from a pole to its mass center
TEXT_GAP = 18.0  # between text and what it belongs to
ANGLE_ROOM = 34.0  # to the left of a pole
DRIVE_X = -64.0  # of a drive unit from the pole that it turns
ROTOR_ARM = 30.0  # from the pole of a drive unit to its mass center
EARTH_DEPTH = 62.0  # of the earth's center below the world
MARGIN = 18.0
LEAST_STEEPNESS = 0.3  # height of a radius vector over its width, within the next bound
MOST_TIER_HEIGHT = 230.0
GROWTH = 1.12  # of all distances, until every label has room
MOST_TRIES = 14


@dataclass(eq=False)
class SchemeCell:
    """The place of a tier: its pole, and the room that it needs to the left and right."""

    tier: Tier
    name: Sequence[Line]
    drive: Sequence[Line]
    spread: float
    children: list[SchemeCell] = field(default_factory=list)
    depth: int = 0
    at: Array = field(default_factory=lambda: np.zeros(2))

    @property
    def left(self) -> float:
        """Room of the angle and the drive unit, in points."""
        if self.tier.unit is None:
            return ANGLE_ROOM * self.spread
        return -DRIVE_X * self.spread + ROTOR_ARM + TEXT_GAP + float(block_size(self.drive)[0])

    @property
    def arm(self) -> float:
        """Distance from the pole to the name of the body, which is behind its mass center, if there is one."""
        return ARM * self.spread + 11.0 if self.tier.has_center else TEXT_GAP + 19.0

    @property
    def right(self) -> float:
        """Room of the mass center and the name, in points."""
        return self.arm + float(block_size(self.name)[0])


def draw_scheme(
    system: System, *, file: Any = None, scale: float = 1.0, shown: bool = True, table: bool = True
) -> Figure:
    """The vector scheme of a system, as large as it needs to be.

    Parameters
    ----------
    system : System
    file : path, optional
        A .svg, .png or .pdf file to write.
    scale : float, default 1.0
        Enlarges the figure.
    shown : bool, default True
        Whether an interactive session displays it; with a file it does not.
    table : bool, default True
        Whether the tables of tiers and drive units stand below it.

    Returns
    -------
    matplotlib.figure.Figure
    """
    with style():
        figure = Scheme(system, table=table).figure(scale, shown=shown and file is None)
        if file is not None:
            save_figure(figure, file)
    return figure


class Scheme:
    """The drawing of a system's tiers: ``sketch``, and its ``low`` corner and ``size`` in points."""

    def __init__(self, system: System, *, table: bool = True) -> None:
        self.model = SchemeTiers(system)
        self.spread = 1.0
        for _ in range(MOST_TRIES):
            self.cells = [self._cell(tier) for tier in self.model.tiers]
            self._lay_out()
            self.sketch = Sketch()
            self._draw()
            if not self.sketch.unplaced:
                break
            self.spread *= GROWTH
        self._draw_legend(table=table)
        low, high = self.sketch.bounds()
        self.low, self.size = low - MARGIN, high - low + 2 * MARGIN

    def figure(self, scale: float = 1.0, *, shown: bool = False) -> Figure:
        """The sketch as a figure, in the size that it has."""
        figure = new_figure(tuple(scale * self.size / 72.0), shown=shown, layout="none")
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        high = self.low + self.size
        axes.set(xlim=(self.low[0], high[0]), ylim=(self.low[1], high[1]))
        axes.axis("off")
        self.sketch.draw(axes)
        return figure

    # -- layout ------------------------------------------------------------------------------------
    def _cell(self, tier: Tier) -> SchemeCell:
        name = [words(f"{tier.k}  {tier.body}", bold=True), words(tier.joint.name, muted=True)]
        unit = tier.unit
        drive = [words(unit.body, bold=True), words(f"{TIMES_SIGN} {number(unit.ratio)}", muted=True)] if unit else []
        return SchemeCell(tier, name, drive, self.spread)

    def _lay_out(self) -> None:
        by_body = {cell.tier.body: cell for cell in self.cells}
        for cell in self.cells:
            cell.children = [by_body[child.body] for child in cell.tier.children]
        self.roots = [by_body[tier.body] for tier in self.model.roots]
        edge = 0.0
        for root in self.roots:
            edge = self._place(root, edge, 1) + TEXT_GAP
        middle = [root.at[0] for root in self.roots] or [SLANT]
        self.origin = np.array([0.5 * (min(middle) + max(middle)) - SLANT, 0.0])
        self._raise()

    def _place(self, cell: SchemeCell, edge: float, depth: int) -> float:
        """Position a cell and the cells above it to the right of an edge; return their right edge."""
        cell.depth = depth
        right = edge
        for k, child in enumerate(sorted(cell.children, key=lambda child: -_depth(child))):
            right = self._place(child, right + TEXT_GAP * bool(k), depth + 1)
        above = [child.at[0] for child in cell.children]
        cell.at[0] = 0.5 * (min(above) + max(above)) - SLANT if above else edge + cell.left
        missing = edge + cell.left - cell.at[0]
        if missing > 0:
            _shift(cell, missing)
            right += missing
        return float(max(right, cell.at[0] + cell.right))

    def _raise(self) -> None:
        """Heights of the tiers: higher where branches lead far to the side."""
        height = 0.0
        for depth in range(1, max((cell.depth for cell in self.cells), default=0) + 1):
            tier = [cell for cell in self.cells if cell.depth == depth]
            far = max(abs(cell.at[0] - self._below(cell)[0]) for cell in tier)
            height += self.spread * min(max(TIER_HEIGHT, LEAST_STEEPNESS * far), MOST_TIER_HEIGHT)
            for cell in tier:
                cell.at[1] = height

    def _below(self, cell: SchemeCell) -> Array:
        """The pole that a cell's radius vector starts from."""
        carrier = self.model.carrier(cell.tier)
        return self.origin if carrier is None else self.cells[carrier.k - 1].at

    # -- drawing -----------------------------------------------------------------------------------
    def _draw(self) -> None:
        """All lines first, then the labels between them: names, symbols, axes."""
        pen = Pen(self.sketch)
        pen.ground(self.origin)
        earth = self.model.earth
        center = self.origin - [0.0, EARTH_DEPTH]
        if earth is not None:
            pen.earth(center, turning=earth.turning is not None)
            self.sketch.arrow(center, self.origin, RADIUS_COLOR, 1.6, cut=(4.0, 17.0))
        for cell in self.cells:
            self._draw_tier(pen, cell)
        poles = {cell.tier.body: cell.at for cell in self.cells}
        loops = [(name, pen.loop_closure(poles.get(a, self.origin), poles.get(b, self.origin)))
                 for name, a, b in self.model.dashed()]  # fmt: skip
        self._name_world(center)
        for cell in self.cells:
            self._name_tier(cell)
        for cell in self.cells:
            self._name_vectors(pen, cell)
        for name, points in loops:
            pen.name_loop(points, name)
        for cell in self.cells:
            pen.axes(cell.at, cell.tier.axes, str(cell.tier.k))

    def _drive_place(self, cell: SchemeCell) -> tuple[Array, Array | None]:
        """The pole of a drive unit, and its mass center, if that is apart."""
        pole = np.array([cell.at[0] + DRIVE_X * self.spread, 0.5 * (cell.at[1] + self._below(cell)[1])])
        unit = cell.tier.unit
        apart = unit is not None and bool(np.abs(unit.R_CD).max() > 1e-12)
        return pole, pole - [ROTOR_ARM, 0.0] if apart else None

    def _draw_tier(self, pen: Pen, cell: SchemeCell) -> None:
        tier = cell.tier
        pen.radius(self._below(cell), cell.at)
        if tier.has_center:
            pen.center(cell.at, cell.at + [ARM * self.spread, 0.0])
        pen.pole(cell.at, tier.motions, driven=tier.joint.driven, effort=tier.has_effort)
        if tier.unit is not None:
            pen.drive(self._below(cell), *self._drive_place(cell), cell.at)

    def _name_world(self, center: Array) -> None:
        name = [words("world", bold=True)]
        self.sketch.label(name, beside(self.origin, block_size(name), (-8, 8, -20, 188, 172, 200), (25.0, 32.0, 40.0)))
        if self.model.earth is None:
            return
        lines = [words(f"O  {self.model.earth.name}", bold=True)]
        self.sketch.label(lines, beside(center, block_size(lines), (0, -15, 15, 180), (20.0, 26.0, 34.0)))
        radius = [symbol("R", "O", RADIUS_COLOR)]
        self.sketch.label(radius, beside(center + [0.0, 26.0], block_size(radius), (0, 20, 180), (4.0, 8.0, 14.0)))
        if self.model.earth.turning is not None:
            rate = [symbol("ω", "O", VELOCITY_COLOR)]
            self.sketch.label(rate, beside(center - [0.0, 25.0], block_size(rate), (0, -20, 180), (11.0, 15.0, 20.0)))

    def _name_tier(self, cell: SchemeCell) -> None:
        size = block_size(cell.name)
        self.sketch.label(cell.name, self._name_places(cell, size))
        if cell.tier.unit is not None:
            pole, center = self._drive_place(cell)
            from_here = pole if center is None else center
            own = block_size(cell.drive)
            nearest = 18.0 if center is None else 10.0
            places = beside(from_here, own, (180, 172, 188, 160, 200, 150, 210), (nearest, 24.0))
            self.sketch.label(cell.drive, places, "right")

    def _name_places(self, cell: SchemeCell, size: Array) -> Iterator[Array]:
        """To the right of the mass center; then higher, lower, and farther."""
        for way in (0.0, 8.0, 20.0):
            for height in (0.0, -6.0, 6.0, -12.0, 12.0, -18.0, 18.0):
                yield cell.at + [cell.arm + way, height - 0.5 * float(size[1])]

    def _name_vectors(self, pen: Pen, cell: SchemeCell) -> None:
        tier, k, below = cell.tier, str(cell.tier.k), self._below(cell)
        pen.name_motion(cell.at, tier.motions, k, angles=tier.joint.quaternion is None, effort=tier.has_effort)
        pen.name_vector(below, cell.at, "R", k, RADIUS_COLOR)
        if tier.has_center:
            pen.name_vector(cell.at, cell.at + [ARM * self.spread, 0.0], "R", f"C{k}", CENTER_COLOR, 0.62)
        if tier.unit is not None:
            drive_pole, center = self._drive_place(cell)
            pen.name_drive(drive_pole, f"D{k}")
            pen.name_vector(below, drive_pole, "R", f"D{k}", RADIUS_COLOR)
            if center is not None:
                pen.name_vector(drive_pole, center, "R", f"CD{k}", CENTER_COLOR, 0.66)

    # -- below the scheme --------------------------------------------------------------------------
    def _draw_legend(self, *, table: bool) -> None:
        low, _ = self.sketch.bounds()
        at = np.array([low[0], low[1] - 24.0])
        drives = any(tier.unit is not None for tier in self.model.tiers)
        at = at - [0.0, Pen(self.sketch).legend(at, drives=drives, earth=self.model.earth is not None) + 8.0]
        if table and self.model.tiers:
            at = self._draw_table(at, *tier_table(self.model))
            if drives:
                self._draw_table(at - [0.0, 8.0], *drive_table(self.model))

    def _draw_table(self, at: Array, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Array:
        """A table with its upper left corner; returns its lower left one."""
        lines = [[indexed(cell, INK) for cell in head], *([words(cell, muted=True) for cell in row] for row in rows)]
        widths = [max(line_width(line[k]) for line in lines) for k in range(len(head))]
        starts = np.concatenate([[0.0], np.cumsum(np.array(widths) + 12.0)])
        for k, line in enumerate(lines):
            for start, cell in zip(starts, line):
                self.sketch.put([cell], at + [start, -(k + 1) * (LINE_HEIGHT + 1.5) - 3.0 * bool(k)])
        rule = at[1] - LINE_HEIGHT - 2.5
        self.sketch.line(np.array([[at[0], rule], [at[0] + starts[-1] - 12.0, rule]]), MUTED, 0.6)
        bottom: Array = at - [0.0, len(lines) * (LINE_HEIGHT + 1.5) + 4.0]
        return bottom


def _shift(cell: SchemeCell, way: float) -> None:
    cell.at[0] += way
    for child in cell.children:
        _shift(child, way)


def _depth(cell: SchemeCell) -> int:
    return 1 + max((_depth(child) for child in cell.children), default=0)
