"""One walk over the values of components (a visitor): laws, numbers, frames and names, however they are nested.

A subclass of ``ValueWalk`` says what is to stand in the place of what it meets; renaming, copying a subsystem, taking
joints apart and other values of numbers are such walks.  The kinds of fields say how their values are taken apart, and
what the numbers in them are called.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from kinode.expressions.syntax_tree import Expression

if TYPE_CHECKING:
    from kinode.model.base.field_reader import FieldKind
    from kinode.model.base.fields import Component, Spec
    from kinode.model.base.frames import Frame

PLAIN_TYPES = frozenset({float, str, int, bool, type(None)})
XYZ = ("x", "y", "z")
RPY = ("roll", "pitch", "yaw")
WXYZ = ("w", "x", "y", "z")
VECTORS = frozenset({"at", "force", "moment"})  # parts of records that are vectors


def is_plain_tuple(value: Any) -> bool:
    """Whether a value is a tuple of numbers, texts and nothing else."""
    return type(value) is tuple and PLAIN_TYPES.issuperset(map(type, value))


def is_plain(value: Any) -> bool:
    """Whether there is surely no expression in a value; a record may tell it by ``has_plain_numbers``."""
    return is_plain_tuple(value) or bool(getattr(value, "has_plain_numbers", False))


class Form(Enum):
    """How a number enters the equations; the value says why other values need a new compilation."""

    PLAIN = ""
    TURN = "a right angle, which leaves terms out of the compiled code"
    AXIS = "the axes of the compiled code follow from it"
    ROTATION = "the numbers of a rotation are not independent"
    SCALED = "the states are scaled by it"
    EXACT = "it is an exact number of the compiled code"
    DRAWN = "it is drawn alone"


class Place(NamedTuple):
    """Where a walk is: in a field of a component, whose law has ``local`` names of its own."""

    component: str = ""
    field: str = ""
    local: frozenset[str] = frozenset()

    def at(self, part: str, dimension: str | None = None, form: Form | None = None) -> Any:
        """A part of it, for walks that name numbers."""
        return self


class ValueWalk:
    """One walk: what a method returns stands in the place of what it is given; where nothing changes, the very same."""

    visits_numbers: ClassVar[bool] = False
    keeps_sharing: ClassVar[bool] = False  # values that share a tuple of numbers share what comes of it
    makes_new_tuples: ClassVar[bool] = False  # of numbers, so that a copy shares none with its origin

    def __init__(self) -> None:
        self._tuples: dict[int, tuple[Any, Any]] = {}  # by identity: they, and what stands in their places

    # -- what a walk may change ----------------------------------------------------------------------
    def law(self, law: Expression, at: Any) -> Any:
        """An expression."""
        return law

    def number(self, value: Any, at: Any) -> Any:
        """A number, where ``visits_numbers``."""
        return value

    def name(self, name: str, at: Any, kind: FieldKind) -> str:
        """The name of a joint or a node."""
        return name

    def frame(self, frame: Frame, at: Any) -> Frame:
        """A frame, or the one that it is defined on."""
        return self.inside_frame(frame, at)

    def own_frame(self, frame: Frame, at: Any) -> Frame:
        """A named frame where its body declares it."""
        return self.frame(frame, at)

    def place(self, owner: Component, name: str, spec: Spec) -> Any:
        """Where the walk is in a field."""
        return Place(owner.name, name, owner.local.get(name, frozenset()))

    # -- records -------------------------------------------------------------------------------------
    def fields(self, old: Component) -> Iterable[tuple[str, str, Spec]]:
        """The fields that it enters: names, attributes and specifications."""
        return old.walked_fields()

    def steps(self, old: Component) -> Iterator[tuple[str, Any, Any]]:
        """The attributes of a component with their values before and after."""
        for name, attribute, spec in self.fields(old):
            value = getattr(old, attribute)
            if value is not None and (type(value) not in PLAIN_TYPES or self.visits_numbers or spec.kind.refers):
                yield attribute, value, spec.kind.walk(value, self, self.place(old, name, spec), old)

    def changes(self, old: Component) -> dict[str, Any]:
        """The attributes of a component that are other ones."""
        return {attribute: new for attribute, value, new in self.steps(old) if new is not value}

    def inside_frame(self, frame: Frame, at: Any) -> Frame:
        """A frame with its position, rotation and base walked."""
        position = self.entries(frame.position, at.at("at", "length"), XYZ)
        rotation = None if frame.rotation is None else self.rotation(frame.rotation, at)
        base = None if frame.base is None else self.frame(frame.base, at.at("on"))
        if position is frame.position and rotation is frame.rotation and base is frame.base:
            return frame
        return dataclasses.replace(frame, position=position, rotation=rotation, base=base)

    def rotation(self, rotation: tuple[str, Any], at: Any) -> tuple[str, Any]:
        """A rotation as it was given: rpy, quaternion, matrix or turns."""
        form, data = rotation
        if form == "turns":
            new = self.pairs(data, (at.at(f"{form}.{k}", "angle", Form.TURN) for k in range(len(data))))
        elif form == "rpy":
            new = self.entries(data, at.at(form, "angle", Form.TURN), RPY)
        else:
            turned = at.at(form, "dimensionless", Form.ROTATION)
            new = self.entries(data, turned, WXYZ if form == "quaternion" else XYZ)
        return rotation if new is data else (form, new)

    def parts(self, value: Any, at: Any, dimensions: Mapping[str, str | None]) -> Any:
        """A record with some of its fields walked, of which those at their defaults are left alone."""
        changed = {}
        for name, dimension in dimensions.items():
            old = getattr(value, name)
            if old != value.__dataclass_fields__[name].default:
                new = self.value(old, at.at(name, dimension), XYZ if name in VECTORS else ())
                if new is not old:
                    changed[name] = new
        return dataclasses.replace(value, **changed) if changed else value

    # -- values --------------------------------------------------------------------------------------
    def value(self, value: Any, at: Any, names: Iterable[str] = ()) -> Any:
        """Any value; ``names`` are those of its entries."""
        if isinstance(value, Expression):
            return self.law(value, at)
        if isinstance(value, tuple):
            return self.entries(value, at, names)
        if isinstance(value, str | bool | None):
            return value
        if isinstance(value, int | float | Fraction):
            return self.number(value, at) if self.visits_numbers else value
        if hasattr(value, "walked"):
            return value.walked(self, at)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return self.parts(value, at, dict.fromkeys(value.__dataclass_fields__))
        return value

    def entries(self, value: tuple[Any, ...], at: Any, names: Iterable[str] = ()) -> Any:
        """The entries of a tuple; one that was seen before stays what it is there."""
        known = self._tuples.get(id(value))
        if known is not None:
            return known[1]
        new: Any = value
        if self.visits_numbers or not is_plain_tuple(value):
            places = map(at.at, names or map(str, range(len(value))))
            new = self.each(value, places)
        if self.keeps_sharing and any(type(x) is float and x for x in value):  # tuples of zeros are shared by all
            new = (*new,) if self.makes_new_tuples and new is value else new
            self._tuples[id(value)] = value, new
        return new

    def each(self, value: tuple[Any, ...], places: Iterable[Any]) -> Any:
        """Entries at places of their own."""
        new = tuple(self.value(x, at, _inner(x)) for at, x in zip(places, value, strict=True))
        return value if all(a is b for a, b in zip(new, value, strict=True)) else new

    def pairs(self, value: tuple[tuple[Any, Any], ...], places: Iterable[Any]) -> Any:
        """Pairs of a name, or of an axis, with a value; an axis has no numbers of its own."""
        new = tuple(
            (head if self.visits_numbers else self.value(head, at), self.value(x, at))
            for at, (head, x) in zip(places, value, strict=True)
        )
        same = all(a is b and x is y for (a, x), (b, y) in zip(new, value, strict=True))
        return value if same else new


def _inner(value: Any) -> tuple[str, ...]:
    """The names of the entries of an entry: the rows of a matrix of three are axes."""
    return XYZ if isinstance(value, tuple) and len(value) == 3 and all(type(x) is float for x in value) else ()


class _LawSearch(ValueWalk):
    """Notes all expressions."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Expression] = []

    def law(self, law: Expression, at: Any) -> Any:
        self.found.append(law)
        return law


def find_expressions(value: Any) -> list[Expression]:
    """The expressions inside a value, however nested."""
    if type(value) in PLAIN_TYPES or is_plain(value):
        return []
    search = _LawSearch()
    search.value(value, Place())
    return search.found
