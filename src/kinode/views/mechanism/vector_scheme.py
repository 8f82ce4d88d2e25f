"""The graphic-vector scheme of a system: poles, radius vectors, mass centers, turning, moments, drive units.

It shows the vectors of a mechanism, not its shape, and is not to scale, so that coincident poles stay apart.  Each tier
is above the one that carries it, with its joint to the left of its pole and its body to the right.  Branches are side
by side.  A body that a gear couples to another joint on the same carrier is that joint's drive unit, and is drawn
beside it.  Cut joints, which close loops, are broken lines.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.model.base.frames import axis_vector
from kinode.model.joints.joint import Joint
from kinode.multibody.given import Given
from kinode.structure.link_geometry import WORLD, TreeLink
from kinode.views.mechanism.scheme_symbols import BULGE, Pen, width_of
from kinode.views.style import new_figure, number, save_figure, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kinode.model.system import System

TIMES_SIGN = "\u00d7"
TIER_HEIGHT = 96.0  # points from tier to tier
SLANT = 26.0  # to the right with every tier
ARM = 58.0  # from a pole to its mass center
TEXT_GAP = 28.0  # between text and what it belongs to
DRIVE_UNIT_OFFSET = -66.0  # from a pole to the left, where its drive unit stands
MARGIN = 18.0
LEAST_STEEPNESS = 0.3  # height of a radius vector over its width, within the next bound
MOST_TIER_HEIGHT = 230.0


@dataclass
class SchemeCell:
    """A tier of the scheme: its labels, its position, and the tiers that it carries."""

    node: TreeLink
    body: str
    joint: tuple[str, ...]  # lines to the left of the pole
    words: tuple[str, ...]  # lines to the right of the mass center
    d: str
    massive: bool = True
    children: list[SchemeCell] = field(default_factory=list)
    unit: SchemeCell | None = None  # the drive unit of the joint
    ratio: str = ""
    depth: int = 0
    x: float = 0.0
    y: float = 0.0

    @property
    def left(self) -> float:
        """Width of the labels of the joint and its drive unit, in points."""
        own = max(width_of(line, bold=not k) for k, line in enumerate(self.joint)) + TEXT_GAP
        if self.unit is None:
            return own
        return max(own, TEXT_GAP - DRIVE_UNIT_OFFSET + max(map(width_of, self.unit.words)))

    @property
    def arm(self) -> float:
        """Distance from the pole to the labels of the body, which are behind its mass center, if there is one."""
        return ARM + TEXT_GAP / 2 if self.massive else TEXT_GAP

    @property
    def right(self) -> float:
        """Width of the labels of the body and of its radius vector, in points."""
        words = max(width_of(line, bold=not k) for k, line in enumerate(self.words))
        return max(self.arm + words, TEXT_GAP + width_of(self.d))


def draw_scheme(system: System, *, file: Any = None, scale: float = 1.0, shown: bool = True) -> Figure:
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

    Returns
    -------
    matplotlib.figure.Figure
    """
    scheme = Scheme(system)
    with style():
        size = scheme.high - scheme.low
        figure = new_figure(tuple(scale * size / 72.0), shown=shown and file is None, layout="none")
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set(xlim=(scheme.low[0], scheme.high[0]), ylim=(scheme.low[1], scheme.high[1]))
        axes.axis("off")
        scheme.draw(Pen(axes))
        if file is not None:
            save_figure(figure, file)
    return figure


class Scheme:
    """The tiers of a system with their positions."""

    def __init__(self, system: System) -> None:
        self.dynamics = Dynamics(system)
        self.system, self.topology = self.dynamics.system, self.dynamics.topology
        self.snapshot = self.dynamics.snapshot(self.dynamics.initial).again(Given(), full=True)
        nodes = self.topology.full.nodes
        self.cells = [self._cell(node) for node in nodes]
        self.roots = [cell for cell in self.cells if cell.node.parent == WORLD]
        self._pair_drives()
        for cell in self.cells:
            if cell.node.parent != WORLD and not self._is_unit(cell):
                self.cells[cell.node.parent].children.append(cell)
        self.roots = [cell for cell in self.roots if not self._is_unit(cell)]
        edge = 0.0
        for root in self.roots:
            edge = self._layout(root, edge, 1) + TEXT_GAP
        middle = [cell.x for cell in self.roots] or [SLANT]
        self.origin = np.array([0.5 * (min(middle) + max(middle)) - SLANT, 0.0])
        self._raise()
        self._measure()

    # -- words -------------------------------------------------------------------------------------
    def _cell(self, node: TreeLink) -> SchemeCell:
        body, joint = node.bodies[0], node.joint
        mass = float(self.system.bodies[body].rigid_inertia(self.snapshot.resolve).mass)
        pose, below = self._pole(node.index), self._pole(node.parent)
        d = self._axes(node.parent).T @ (pose - below)
        center = self.snapshot.pose(self.system.find_frame(f"{body}.com")).p
        c = self._axes(node.index).T @ (center - pose)
        words = [body, f"{number(mass)} kg" if mass else "no mass"]
        words += [f"c = {_vector(c)}"] if mass and np.abs(c).max() > 1e-12 else []
        words += self._loads(body)
        kind = f"{joint.kind}{_axis(joint)}"
        lines = (joint.name, kind, *self._role(joint))
        return SchemeCell(node, body, lines, tuple(words), f"d = {_vector(d)}", massive=bool(mass))

    def _pole(self, i: int) -> Array:
        return np.zeros(3) if i == WORLD else np.asarray(self.snapshot.kinematics.link_poses[i].p, dtype=float)

    def _axes(self, i: int) -> Array:
        """Rotation from a body's axes to the world's."""
        if i == WORLD:
            return np.eye(3)
        body = self.topology.full.nodes[i].bodies[0]
        R: Array = self.snapshot.kinematics.link_poses[i].R @ self.snapshot.kinematics.geometry.bodies[body].R
        return R.astype(float)

    def _role(self, joint: Joint) -> tuple[str, ...]:
        if joint.driven:
            return ("prescribed",)
        relation = self.topology.couplings.get(joint.name)
        if relation is not None:
            return (f"geared to {relation.leader}",)
        words = {"effort": "effort law", "stiffness": "spring", "damping": "damper", "friction": "friction",
                 "stop": "stop", "backlash": "backlash"}  # fmt: skip
        own = [word for name, word in words.items() if getattr(joint, name) is not None]
        return (", ".join(own),) if own else ()

    def _loads(self, body: str) -> list[str]:
        """The elements that act on a body."""
        names = [name for name, element in self.system.elements.items()
                 if any(load.on.body == body for load in element.wrenches(self.snapshot))]  # fmt: skip
        shown = names[:2] + ([f"{len(names) - 2} more"] if len(names) > 2 else [])
        return [f"loads: {', '.join(shown)}"] if names else []

    # -- layout ------------------------------------------------------------------------------------
    def _pair_drives(self) -> None:
        """Give each joint its drive unit: a leaf on the same carrier that a gear couples to the joint."""
        by_joint = {cell.node.joint.name: cell for cell in self.cells}
        carriers = {cell.node.parent for cell in self.cells}
        self.units: set[int] = set()
        for follower, relation in self.topology.couplings.items():
            unit, leader = by_joint.get(follower), by_joint.get(relation.leader)
            if unit is None or leader is None or leader.unit is not None or unit.node.index in carriers:
                continue
            if unit.node.parent == leader.node.parent:
                ratio = float(self.snapshot.resolve(relation.ratio))
                leader.unit, leader.ratio = unit, f"{TIMES_SIGN} {ratio:.4g}"
                self.units.add(unit.node.index)

    def _is_unit(self, cell: SchemeCell) -> bool:
        return cell.node.index in self.units

    def _layout(self, cell: SchemeCell, edge: float, depth: int) -> float:
        """Position a cell and the cells above it to the right of an edge; return their right edge."""
        cell.depth = depth
        right = edge
        for k, child in enumerate(sorted(cell.children, key=lambda child: -_depth(child))):
            right = self._layout(child, right + TEXT_GAP * bool(k), depth + 1)
        above = [child.x for child in cell.children]
        cell.x = 0.5 * (min(above) + max(above)) - SLANT if above else edge + cell.left
        missing = edge + cell.left - cell.x
        if missing > 0:
            _shift(cell, missing)
            right += missing
        return max(right, cell.x + cell.right)

    def _raise(self) -> None:
        """Heights of the tiers: higher where branches lead far to the side."""
        cells = [cell for cell in self.cells if not self._is_unit(cell)]
        height = 0.0
        for depth in range(1, max((cell.depth for cell in cells), default=0) + 1):
            tier = [cell for cell in cells if cell.depth == depth]
            far = max(abs(cell.x - self._below(cell)[0]) for cell in tier)
            height += min(max(TIER_HEIGHT, LEAST_STEEPNESS * far), MOST_TIER_HEIGHT)
            for cell in tier:
                cell.y = height

    def _below(self, cell: SchemeCell) -> Array:
        """The pole that a cell's radius vector starts from."""
        parent = cell.node.parent
        return self.origin if parent == WORLD else np.array([self.cells[parent].x, self.cells[parent].y])

    def _measure(self) -> None:
        cells = [cell for cell in self.cells if not self._is_unit(cell)]
        low = min([c.x - c.left for c in cells] + [self.origin[0] - 80.0])
        high = max([c.x + c.right for c in cells] + [low + 390.0])
        top = max([c.y for c in cells] + [0.0]) + (BULGE if self.topology.cuts else 0.0)
        self.low = np.array([low - MARGIN, -92.0])
        self.high = np.array([high + MARGIN, top + 34.0 + MARGIN])

    # -- drawing -----------------------------------------------------------------------------------
    def draw(self, pen: Pen) -> None:
        """Draw vectors first, then symbols upon them, words last."""
        pen.ground(self.origin, "world")
        for cell in self.cells:
            if not self._is_unit(cell):
                self._draw_tier(pen, cell)
        poles = {cell.body: np.array([cell.x, cell.y]) for cell in self.cells if not self._is_unit(cell)}
        for cut in self.topology.cuts:
            a, b = (poles.get(side.body, self.origin) for side in (cut.joint.a, cut.joint.b))
            pen.loop_closure(a, b, cut.joint.name)
        for constraint in self.topology.constraints:
            bodies = [f.body for f in constraint.frames() if f.body in poles] if hasattr(constraint, "frames") else []
            if len(bodies) == 2:
                pen.loop_closure(poles[bodies[0]], poles[bodies[1]], constraint.name)
        self._draw_gears(pen)
        pen.legend(np.array([self.low[0] + MARGIN, -34.0]))

    def _draw_tier(self, pen: Pen, cell: SchemeCell) -> None:
        pole = np.array([cell.x, cell.y])
        below, joint = self._below(cell), cell.node.joint
        pen.radius(below, pole)
        if cell.massive:
            pen.center(pole, pole + np.array([ARM, 0.0]))
        pen.pole(pole, [kind for _, kind in joint.coordinates], driven=joint.driven, moment=_has_moment(joint))
        pen.lines(pole - np.array([TEXT_GAP, 0.0]), cell.joint, align="right")
        pen.lines(pole + np.array([cell.arm, 0.0]), cell.words, align="left")
        pen.text(0.5 * (pole + below) + np.array([9.0, 2.0]), cell.d, muted=True)
        if cell.unit is not None:
            rotor = np.array([pole[0] + DRIVE_UNIT_OFFSET, 0.5 * (pole[1] + below[1])])
            pen.drive(below, rotor, pole)
            pen.lines(rotor - np.array([14.0, 0.0]), (cell.unit.body, *cell.unit.words[1:2], cell.ratio), align="right")

    def _draw_gears(self, pen: Pen) -> None:
        """Gears between joints of which none is a drive unit."""
        poles = {cell.node.joint.name: np.array([cell.x, cell.y]) for cell in self.cells}
        units = {self.cells[i].node.joint.name for i in self.units}
        for follower, relation in self.topology.couplings.items():
            if follower not in units and follower in poles and relation.leader in poles:
                pen.loop_closure(poles[relation.leader], poles[follower], relation.constraint)


def _shift(cell: SchemeCell, way: float) -> None:
    cell.x += way
    for child in cell.children:
        _shift(child, way)


def _depth(cell: SchemeCell) -> int:
    return 1 + max((_depth(child) for child in cell.children), default=0)


def _has_moment(joint: Joint) -> bool:
    return joint.driven or any(
        x is not None for x in (joint.effort, joint.stiffness, joint.damping, joint.friction, joint.ends)
    )


def _vector(values: Array) -> str:
    """Three numbers as text; what is rounding is written as zero."""
    size = float(np.abs(values).max(initial=0.0))
    shown = [0.0 if abs(x) < 1e-9 * max(size, 1.0) else float(x) for x in values]
    return "0" if not any(shown) else f"({', '.join(f'{x:.4g}' for x in shown)}) m"


def _axis(joint: Joint) -> str:
    axis = getattr(joint, "axis", None)
    if axis is None:
        return ""
    word = "along" if joint.coordinates and joint.coordinates[0][1] == "length" and joint.n_u == 1 else "about"
    if isinstance(axis, str):
        return f" {word} {axis}"
    values = axis_vector(axis)
    texts = [f"{x:.3g}" if isinstance(x, float) else str(x) for x in values]
    return f" {word} ({', '.join(texts)})" if all(len(text) < 7 for text in texts) else ""
