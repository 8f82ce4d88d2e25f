"""What a picture of the mechanism draws joints, supports and springs with, as data.

Lengths are in points on paper, or pixels on a screen, whatever the size of the mechanism.  The mark of a joint faces
the viewer; a line along its axis shows where that leads.  The vector scheme marks the freedoms of a joint at its pole.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from kinode.errors import ModelError
from kinode.model.base.symbols.strokes import Disc, Point, Stroke, StrokeRole, shape_from_dict, shape_to_dict


class GlyphFill(StrEnum):
    """What the mark of a joint is filled with."""

    PAPER = "paper"
    LIGHT = "light"
    DARK = "dark"
    INK = "ink"


class Support(StrEnum):
    """What stands under a joint on the ground."""

    PEDESTAL = "pedestal"
    """A triangle on hatched ground: the joint is a point."""
    PLATE = "plate"
    """Hatched ground alone: the joint is a surface."""


@dataclass(frozen=True)
class JointGlyph:
    """What a joint is drawn with in a picture of the mechanism.

    Parameters
    ----------
    mark : Stroke or Disc or None
        A closed outline about the joint's point on the child, about one unit wide, which faces the viewer.  A joint
        without a mark is not drawn.
    size : float, default 6.5
        Length of a unit of the mark, in points.
    fill : GlyphFill, default PAPER
        What the mark is filled with.
    axis : float, default 17.0
        How far the dash-dotted line along the joint's axis reaches to either side, in points.
    guided : bool, default False
        Whether a line leads from the joint's point on the parent to that on the child.
    support : Support, default PEDESTAL
        What stands under the joint where it connects to the ground.

    Raises
    ------
    ModelError
        Where the mark is an open line or curved, or a length is not positive.

    Examples
    --------
    >>> JointGlyph(Stroke("M-0.5,-0.5H0.5V0.5H-0.5Z"), guided=True).mark.polylines()
    (((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5), (-0.5, -0.5)),)
    """

    mark: Stroke | Disc | None = Disc(0.5)
    size: float = 6.5
    fill: GlyphFill = GlyphFill.PAPER
    axis: float = 17.0
    guided: bool = False
    support: Support = Support.PEDESTAL

    def __post_init__(self) -> None:
        object.__setattr__(self, "fill", GlyphFill(self.fill))
        object.__setattr__(self, "support", Support(self.support))
        if not (0 < self.size < math.inf and 0 <= self.axis < math.inf):
            raise ModelError(f"a glyph of size {self.size} with an axis of {self.axis} cannot be drawn")
        if isinstance(self.mark, Stroke):
            lines = self.mark.polylines()
            if len(lines) != 1 or lines[0][0] != lines[0][-1]:
                raise ModelError(f"path {self.mark.path!r}: the mark of a joint is one closed line")

    def to_dict(self) -> dict[str, Any]:
        """The glyph as plain data, for JSON."""
        return {
            "mark": None if self.mark is None else shape_to_dict(self.mark),
            "size": self.size,
            "fill": self.fill.value,
            "axis": self.axis,
            "guided": self.guided,
            "support": self.support.value,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> JointGlyph:
        """The glyph of what ``to_dict`` gave."""
        mark = None if data["mark"] is None else shape_from_dict(data["mark"])
        return cls(mark, data["size"], data["fill"], data["axis"], data["guided"], data["support"])


PLAIN_GLYPH = JointGlyph()  # of a joint whose symbol says nothing else

# Strokes about the joint's point on the ground, in points: y leads into the ground.
HATCH = "".join(f"M{5 * k + 1},0l-5,6" for k in range(-3, 4))
GROUND = (Stroke("M-16,0H16"), Stroke(HATCH, StrokeRole.THIN))


class SupportGlyph(NamedTuple):
    """What stands under a joint: strokes at its point, and how far below them the hatched ground is."""

    strokes: tuple[Stroke, ...]
    depth: float
    ground: tuple[Stroke, ...] = GROUND


SUPPORT_GLYPHS: Mapping[Support, SupportGlyph] = {
    Support.PEDESTAL: SupportGlyph((Stroke("M0,0L-9,13L9,13Z", StrokeRole.FACE),), 13.0),
    Support.PLATE: SupportGlyph((), 6.0),
}


class CoilGlyph(NamedTuple):
    """A spring between two points: a zigzag line with straight ends, in points."""

    pitch: float = 9.0
    half_width: float = 4.5
    fewest_turns: int = 4
    most_turns: int = 16
    lead: float = 0.15  # straight share of the length at each end
    shortest: float = 8.0  # a shorter spring is not drawn

    def turns(self, length: float) -> int:
        """How many turns a spring of a length has."""
        return int(min(max(length / self.pitch, self.fewest_turns), self.most_turns))


COIL_GLYPH = CoilGlyph()


class ArcArrow(NamedTuple):
    """An arrow along an arc about a pole: radius in points, angles in degrees from the right, up positive."""

    radius: float
    start: float
    end: float


class StraightArrow(NamedTuple):
    """A straight arrow beside a pole, in points, up positive; with two heads if it goes both ways."""

    start: Point
    end: Point
    both_ways: bool = True


class PoleMark(NamedTuple):
    """What the vector scheme shows at a pole: an arrow, and the letters of what it stands for."""

    arrow: ArcArrow | StraightArrow
    letters: tuple[str, ...]


# By the type of a coordinate: the velocity along it, and the moment or force that acts along it.
VELOCITY_MARKS: Mapping[str, PoleMark] = {
    "angle": PoleMark(ArcArrow(11.0, 25.0, 155.0), ("ω", "\u03b3")),
    "length": PoleMark(StraightArrow((-15.0, 17.0), (15.0, 17.0)), ("v", "s")),
}
EFFORT_MARKS: Mapping[str, PoleMark] = {
    "angle": PoleMark(ArcArrow(15.0, 205.0, 335.0), ("M",)),
    "length": PoleMark(StraightArrow((-13.0, -13.0), (13.0, -13.0), both_ways=False), ("F",)),
}
