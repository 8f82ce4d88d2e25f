"""The symbols of components as data: what they are drawn with, and where the leads of their ports end.

A symbol is drawn about its own middle, in units of which its box has 40 by 40; x is to the right and y is down.  It is
made of strokes along paths (written as in SVG), discs and lettering.  It holds no drawing code, so that every view
can draw it: the circuit diagram, a page in a browser (``to_dict``).  A class of components names its symbol in
``symbol``; subclasses inherit it.  The symbols that come with kinode (``HOUSE_SYMBOLS``) are looked up by name with
``find_symbol``.

A ``JointGlyph`` is what a picture of the mechanism draws a joint, a support or a spring with.  Its lengths are in
points on paper, or pixels on a screen, whatever the size of the mechanism.  The mark of a joint faces the viewer; a
line along its axis shows where that leads.  The vector scheme marks the freedoms of a joint at its pole.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from kinode.errors import ModelError, find_close, suggest

if TYPE_CHECKING:
    from kinode.model.base.fields import Component


Point = tuple[float, float]

# Numbers that follow each command of a path; relative commands are in small letters.
ARGUMENTS = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "Q": 4, "A": 7, "Z": 0}
TOKEN = re.compile(r"\s*,?\s*(?:([A-Za-z])|([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?))")


class StrokeRole(StrEnum):
    """How a stroke is drawn; the view chooses widths and colors."""

    LINE = "line"
    """An open line, or an outline that is not filled."""
    FACE = "face"
    """An outline filled with the color of the paper."""
    MASS = "mass"
    """An outline filled with gray."""
    INK = "ink"
    """An outline filled with the color of the line."""
    PLATE = "plate"
    """A thick line, as the plate of a capacitor."""
    THIN = "thin"
    """A thin line, as the axes of a characteristic."""
    DASHED = "dashed"
    """A dashed line."""


class PathStep(NamedTuple):
    """One command of a path with its numbers, such as ``V`` and (12.0,)."""

    command: str
    numbers: tuple[float, ...]


def parse_path(text: str) -> tuple[PathStep, ...]:
    """The commands of a path that is written as in SVG.

    Parameters
    ----------
    text : str
        Commands M, L, H, V, C, Q, A, Z (absolute) or in small letters (relative), each with its numbers.
        A command whose numbers are repeated is repeated.

    Returns
    -------
    tuple of PathStep

    Raises
    ------
    ModelError
        Where the text is no path; the message names the character.

    Examples
    --------
    >>> parse_path("M0,-20V-12")
    (PathStep(command='M', numbers=(0.0, -20.0)), PathStep(command='V', numbers=(-12.0,)))
    """
    steps: list[PathStep] = []
    for command, numbers, at in _commands(text):
        count = ARGUMENTS[command.upper()]
        if count == 0 and numbers:
            raise _wrong_path(text, at, f"{command} takes no numbers")
        if count and (not numbers or len(numbers) % count):
            raise _wrong_path(text, at, f"{command} takes {count} number{'s' * (count > 1)}, not {len(numbers)}")
        if not steps and command.upper() != "M":
            raise _wrong_path(text, at, "a path begins with M")
        groups = range(0, len(numbers), count) if count else (0,)
        steps += [PathStep(command, tuple(numbers[k : k + count])) for k in groups]
    if not steps:
        raise _wrong_path(text, 0, "a path begins with M")
    return tuple(steps)


def _commands(text: str) -> Iterator[tuple[str, list[float], int]]:
    """Each command with all numbers up to the next one, and the character at which it stands."""
    command, numbers, start, at = "", list[float](), 0, 0
    while text[at:].strip():
        token = TOKEN.match(text, at)
        if token is None:
            raise _wrong_path(text, at, f"{text[at]!r} is neither a command nor a number")
        if token[1] is None:
            numbers.append(float(token[2]))
        else:
            if token[1].upper() not in ARGUMENTS:
                raise _wrong_path(text, token.start(1), f"there is no command {token[1]}")
            if command or numbers:
                yield command or "L", numbers, start
            command, numbers, start = token[1], [], token.start(1)
        at = token.end()
    if command or numbers:
        yield command or "L", numbers, start


def _wrong_path(text: str, at: int, message: str) -> ModelError:
    return ModelError(f"path {text!r}, character {at + 1}: {message}")


@dataclass(frozen=True)
class Stroke:
    """A line along a path, in the notation of SVG."""

    path: str
    role: StrokeRole = StrokeRole.LINE

    def __post_init__(self) -> None:
        object.__setattr__(self, "role", StrokeRole(self.role))
        self.steps()

    def steps(self) -> tuple[PathStep, ...]:
        """The commands of its path."""
        return parse_path(self.path)

    def polylines(self) -> tuple[tuple[Point, ...], ...]:
        """The lines of a path without curves, each as its points; one that is closed ends where it begins.

        Raises
        ------
        ModelError
            Where the path has a curve.
        """
        lines: list[list[Point]] = []
        x = y = 0.0
        for command, numbers in self.steps():
            x0, y0 = (x, y) if command.islower() else (0.0, 0.0)
            match command.upper():
                case "M" | "L":
                    x, y = x0 + numbers[0], y0 + numbers[1]
                case "H":
                    x = x0 + numbers[0]
                case "V":
                    y = y0 + numbers[0]
                case "Z":
                    x, y = lines[-1][0]
                case _:
                    raise ModelError(f"path {self.path!r}: a path of straight lines is expected, without {command}")
            if command.upper() == "M":
                lines.append([(x, y)])
            else:
                lines[-1].append((x, y))
        return tuple(tuple(line) for line in lines)


@dataclass(frozen=True)
class Disc:
    """A circle about (x, y)."""

    radius: float
    x: float = 0.0
    y: float = 0.0
    role: StrokeRole = StrokeRole.LINE

    def __post_init__(self) -> None:
        object.__setattr__(self, "role", StrokeRole(self.role))
        if not (0 < self.radius < math.inf and math.isfinite(self.x) and math.isfinite(self.y)):
            raise ModelError(f"a disc of radius {self.radius} about ({self.x}, {self.y}) cannot be drawn")


@dataclass(frozen=True)
class Lettering:
    """A text whose middle is at x and whose base line is at y."""

    text: str
    size: float = 13.0
    x: float = 0.0
    y: float = 0.0
    slanted: bool = False

    def __post_init__(self) -> None:
        if not self.text or not (0 < self.size < math.inf):
            raise ModelError(f"lettering {self.text!r} of size {self.size} cannot be drawn")


def shape_to_dict(shape: Stroke | Disc) -> dict[str, Any]:
    """A shape as plain data."""
    if isinstance(shape, Stroke):
        return {"path": shape.path, "role": shape.role.value}
    return {"disc": [shape.x, shape.y, shape.radius], "role": shape.role.value}


def shape_from_dict(data: Mapping[str, Any]) -> Stroke | Disc:
    """The shape of what ``shape_to_dict`` gave."""
    role = StrokeRole(data.get("role", StrokeRole.LINE))
    if "disc" in data:
        x, y, radius = data["disc"]
        return Disc(radius, x, y, role)
    return Stroke(data["path"], role)


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

TOP, BOTTOM = (0.0, -20.0), (0.0, 20.0)


class Outline(StrEnum):
    """What encloses a symbol; an outline is as large as the component needs for its ports."""

    NONE = "none"
    """Nothing: leads run to the anchors of the symbol."""
    BOX = "box"
    """A box: leads end anywhere on it."""
    CIRCLE = "circle"
    """A circle: leads end on it."""
    MACHINE = "machine"
    """A circle in a wider box: leads run from the box to the circle."""
    BODY = "body"
    """The box of a body, which holds its name and mass."""


@dataclass(frozen=True)
class Symbol:
    """What a component is drawn with.

    Parameters
    ----------
    shapes : tuple of Stroke or Disc
        What is drawn, in order: later ones cover earlier ones.
    texts : tuple of Lettering
        Written upon the shapes.
    anchors : mapping of str to (float, float)
        For each port the point where its lead ends.  A symbol with an outline needs none.
    outline : Outline, default NONE
        What encloses it.
    size : (float, float), default (40, 40)
        Width and height of its box, at the least.
    source : bool, default False
        Whether a circuit begins with it: it supplies energy, as a voltage source or an applied force, or a signal.
    glyph : JointGlyph, optional
        What a joint is drawn with in a picture of the mechanism; a plain one if left out.

    Raises
    ------
    ModelError
        Where a path cannot be read or an anchor is outside the box.

    Examples
    --------
    >>> from kinode.model.base.symbols import Stroke, StrokeRole, Symbol
    >>> resistor = Symbol(
    ...     shapes=(Stroke("M0,-20V-12M0,12V20"), Stroke("M-6,-12H6V12H-6Z", StrokeRole.FACE)),
    ...     anchors={"plus": (0, -20), "minus": (0, 20)},
    ... )
    >>> resistor.is_two_pole
    True
    >>> Symbol.from_dict(resistor.to_dict()) == resistor
    True
    """

    shapes: tuple[Stroke | Disc, ...] = ()
    texts: tuple[Lettering, ...] = ()
    anchors: Mapping[str, Point] = field(default_factory=dict)
    outline: Outline = Outline.NONE
    size: Point = (40.0, 40.0)
    source: bool = False
    glyph: JointGlyph | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "outline", Outline(self.outline))
        put(self, "size", (float(self.size[0]), float(self.size[1])))
        put(self, "anchors", {port: (float(x), float(y)) for port, (x, y) in self.anchors.items()})
        if not all(0 < length < math.inf for length in self.size):
            raise ModelError(f"a symbol has a width and a height, not {self.size}")
        for port, (x, y) in self.anchors.items():
            if not (abs(x) <= self.size[0] / 2 and abs(y) <= self.size[1] / 2):
                raise ModelError(f"the anchor {port} at ({x:g}, {y:g}) is outside the box of the symbol")

    def __hash__(self) -> int:
        anchors = frozenset(self.anchors.items())
        return hash((self.shapes, self.texts, anchors, self.outline, self.size, self.source, self.glyph))

    @property
    def is_blank(self) -> bool:
        """Whether it is an outline alone, in which the name of the kind is written."""
        return not self.shapes and not self.texts

    @property
    def is_two_pole(self) -> bool:
        """Whether it lies along the line between two ports, and is turned with it."""
        return self.outline is Outline.NONE and {TOP, BOTTOM} <= set(self.anchors.values())

    @property
    def first_port(self) -> str | None:
        """The port at its top, if there is one."""
        return next((port for port, point in self.anchors.items() if point == TOP), None)

    def covers(self, port: str) -> bool:
        """Whether the lead of a port has a place to end."""
        return self.outline is not Outline.NONE or port in self.anchors

    def with_name(self, kind: str) -> Symbol:
        """The symbol with the name of a kind in it, shortened to what its outline has room for, where it is blank."""
        if not self.is_blank or self.outline is Outline.BODY:
            return self
        count, size = (5, 9.0) if self.outline is Outline.CIRCLE else (9, 9.0) if self.size[0] >= 60.0 else (8, 8.0)
        return replace(self, texts=(centered(kind.replace("_", " ")[:count], size),))

    def to_dict(self) -> dict[str, Any]:
        """The symbol as plain data, for JSON.

        Returns
        -------
        dict
            ``shapes``: each ``{"path": text}`` or ``{"disc": [x, y, radius]}`` with its ``role``; ``texts``: each with
            ``text``, ``at``, ``size``, ``slanted``; ``anchors``: port to [x, y]; ``outline``, ``size``, ``source``;
            ``glyph`` of a joint.
        """
        return {
            "shapes": [shape_to_dict(shape) for shape in self.shapes],
            "texts": [
                {"text": text.text, "at": [text.x, text.y], "size": text.size, "slanted": text.slanted}
                for text in self.texts
            ],
            "anchors": {port: list(point) for port, point in self.anchors.items()},
            "outline": self.outline.value,
            "size": list(self.size),
            "source": self.source,
            "glyph": None if self.glyph is None else self.glyph.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Symbol:
        """The symbol of what ``to_dict`` gave; raises ModelError where that is no symbol."""
        try:
            return cls(
                tuple(shape_from_dict(shape) for shape in data.get("shapes", ())),
                tuple(
                    Lettering(text["text"], text["size"], text["at"][0], text["at"][1], text.get("slanted", False))
                    for text in data.get("texts", ())
                ),
                {port: (point[0], point[1]) for port, point in data.get("anchors", {}).items()},
                Outline(data.get("outline", Outline.NONE)),
                tuple(data.get("size", (40.0, 40.0))),
                bool(data.get("source", False)),
                None if data.get("glyph") is None else JointGlyph.from_dict(data["glyph"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise ModelError(f"this is no symbol: {error}") from error


def centered(text: str, size: float = 13.0, *, y: float = 0.0, slanted: bool = False) -> Lettering:
    """A text about the middle of a symbol, or ``y`` below it: letters rise 0.72 of their size above the base line."""
    return Lettering(text, size, 0.0, y + 0.36 * size, slanted)


def find_symbol(name: str | Symbol) -> Symbol:
    """The symbol of kinode that has a name; a symbol is itself.

    Raises
    ------
    ModelError
        Where no symbol has the name; the message names those that are near.
    """
    if isinstance(name, Symbol):
        return name
    from kinode.model.base.house_symbols import HOUSE_SYMBOLS

    if name in HOUSE_SYMBOLS:
        return HOUSE_SYMBOLS[name]
    raise ModelError(suggest(f"no symbol is called {name!r}", name, find_close(str(name), HOUSE_SYMBOLS, 3)))


def symbol_of(cls: type[Component]) -> Symbol:
    """The symbol that a class of components is drawn with; a blank one holds the name of the kind.

    A class may have a field of its own that is called ``symbol``: it is drawn as a box.
    """
    given = "box" if "symbol" in cls.specs() else getattr(cls, "symbol", None)
    return find_symbol(given or "box").with_name(cls.kind)
