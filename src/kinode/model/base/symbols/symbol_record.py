"""The record of a symbol: shapes, lettering and anchors; and how symbols are found by name and by class."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from kinode.errors import ModelError, find_close, suggest
from kinode.model.base.symbols.joint_glyphs import JointGlyph
from kinode.model.base.symbols.strokes import Disc, Lettering, Point, Stroke, shape_from_dict, shape_to_dict

if TYPE_CHECKING:
    from kinode.model.base.fields import Component

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
    from kinode.model.base.symbols.house_symbols import HOUSE_SYMBOLS

    if name in HOUSE_SYMBOLS:
        return HOUSE_SYMBOLS[name]
    raise ModelError(suggest(f"no symbol is called {name!r}", name, find_close(str(name), HOUSE_SYMBOLS, 3)))


def symbol_of(cls: type[Component]) -> Symbol:
    """The symbol that a class of components is drawn with; a blank one holds the name of the kind.

    A class may have a field of its own that is called ``symbol``: it is drawn as a box.
    """
    given = "box" if "symbol" in cls.specs() else getattr(cls, "symbol", None)
    return find_symbol(given or "box").with_name(cls.kind)
