"""The gesture ``place``: a frame, a mass center, a shape or a joint is moved or turned by hand.

It changes the numbers that place it, in the units that they have, and nothing else.  ``find_place`` says which.

A plain number or a quantity is written anew, with its own unit and no more digits than the step.  An expression of one
parameter, such as ``L/2``, follows by the parameter, where that is a number and the expression a straight line of it.
Everything else says why it stays.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinode.editing.draft import GesturePlan, ModelDraft
from kinode.editing.gesture_words import Step, Target, Vector
from kinode.editing.places import Path, split_box
from kinode.errors import ArgumentError, Error
from kinode.expressions.parser import parse
from kinode.expressions.syntax_tree import Expression
from kinode.expressions.units import parse_quantity, parse_unit
from kinode.formats.yaml_text import NodeKind, SpanNode
from kinode.model.system import System

DEGREE = math.pi / 180.0
FORMS = ("quaternion", "matrix", "turns")
ALONG = 1e-6  # an axis that is so near to a letter is written as the letter
LETTERS = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


@dataclass(frozen=True)
class PlaceFields:
    """The numbers that place something.

    Attributes
    ----------
    at : tuple
        The path of its position.
    entries : tuple of NumberEntry
        The position as it is written: x, y, z.
    turn : tuple
        The path of its rotation; empty where it has none.
    turns : tuple of NumberEntry
        The rotation as rpy.
    whole : bool
        Whether the position is the whole value, as in ``tip: [1, 0, 0]``.
    off, turn_off : str
        Why it cannot be moved, or turned; empty if it can.
    """

    at: Path
    entries: tuple[NumberEntry, ...]
    turn: Path = ()
    turns: tuple[NumberEntry, ...] = ()
    whole: bool = False
    off: str = ""
    turn_off: str = ""


def find_place(draft: ModelDraft, kind: str, name: str) -> PlaceFields:
    """The numbers that place a frame ``arm.tip``, the mass center or the shape of a body, or a joint.

    Raises
    ------
    ArgumentError
        Nothing is called so, or it comes from another file.
    """
    if kind == "frame":
        return _frame(draft, name)
    if kind == "joint":
        return _joint(draft, name)
    path = draft.path_of(name)
    shape = draft.root.find(*path, "shape")
    solid = next(iter(shape.entries), None) if shape is not None else None
    if kind == "shape" and solid is None:
        raise ArgumentError(f"{name} has no shape")
    if solid is not None and (kind == "shape" or draft.root.find(*path, "com") is None):
        return _point(draft, (*path, "shape", solid, "at"))
    return _point(draft, (*path, "com"))


def find_inner_draft(draft: ModelDraft, name: str) -> tuple[ModelDraft, str]:
    """The text of the subsystem that a component stands in, where that is written out, and its name there."""
    box, inner = split_box(draft.root, name)
    return (draft, name) if not box else (ModelDraft(draft.text, draft.file, box=(*draft.box, *box)), inner)


def plain_places(fields: PlaceFields) -> PlaceFields:
    """Numbers of a subsystem that can be moved: plain ones, since its parameters may be given from outside."""
    words = "it is a law of the subsystem: change it in the text"
    law = next((True for entry in (*fields.entries, *fields.turns) if entry.parameter or entry.off), False)
    return replace(fields, entries=(), turns=(), off=words, turn_off=words) if law else fields


def _point(draft: ModelDraft, at: Path, **more: Any) -> PlaceFields:
    node = draft.root.find(*at)
    if node is None:
        return PlaceFields(at, (read_entry(draft, None),) * 3, **{"turn_off": "it has no axes of its own", **more})
    if node.kind is not NodeKind.LIST or len(node.items) != 3:
        text = draft.text[node.start : node.end]
        off = f"it is written as {text:.40}: give it as three numbers"
        return PlaceFields(at, (), off=off, turn_off=off)
    return PlaceFields(at, _read_entries(draft, node), **{"turn_off": "it has no axes of its own", **more})


def _read_entries(draft: ModelDraft, node: SpanNode) -> tuple[NumberEntry, ...]:
    """The numbers of a list; a plain zero gets the unit of the others."""
    entries = [read_entry(draft, item) for item in node.items]
    unit = next((entry.unit for entry in entries if entry.unit), "")
    return tuple(replace(entry, unit=unit) if entry.value == 0 and not entry.off else entry for entry in entries)


def _frame(draft: ModelDraft, name: str) -> PlaceFields:
    body, _, own = name.rpartition(".")
    path = (*draft.path_of(body), "frames", own) if body else ()
    node = draft.root.find(*path) if path else None
    if node is None:
        raise ArgumentError(f"no frame is called {name!r} in this file")
    return _axes(draft, path)


def _axes(draft: ModelDraft, path: Path) -> PlaceFields:
    """A frame as a list, or as a mapping with ``at`` and a rotation."""
    node = draft.root.find(*path)
    assert node is not None
    none = (read_entry(draft, None, "deg"),) * 3
    if node.kind is not NodeKind.MAP:
        return _point(draft, path, turn=(*path, "rpy"), turns=none, whole=True, turn_off="")
    other = next((form for form in FORMS if form in node.entries), None)
    if other is not None:
        return _point(draft, (*path, "at"), turn_off=f"its axes are written as {other}: turn it in the text")
    given = node.find("rpy")
    turns = none if given is None else _read_entries(draft, given)
    if len(turns) != 3:
        return _point(draft, (*path, "at"), turn_off="its axes are written in another form")
    return _point(draft, (*path, "at"), turn=(*path, "rpy"), turns=turns, turn_off="")


def _joint(draft: ModelDraft, name: str) -> PlaceFields:
    """The point of a joint: its ``at``, or a side that is a place of its own."""
    path = draft.path_of(name)
    if draft.root.find(*path, "at") is not None:
        return _point(draft, (*path, "at"), turn_off="turn its axis")
    sides = [draft.places.field_path(name, (side,)) for side in ("a", "b")]
    nodes = [draft.root.find(*side) for side in sides]
    for side, node in zip(sides, nodes):
        if node is not None and node.kind is NodeKind.MAP:
            return _axes(draft, side)
    frames = [str(node.value) for node in nodes if node is not None and "." in str(node.value)]
    if frames:
        words = f"it stands at {' and '.join(frames)}: move the frame"
        return PlaceFields((*path, "at"), (), off=words, turn_off=words)
    return _point(draft, (*path, "at"), turn_off="turn its axis")


def find_axis(draft: ModelDraft, name: str) -> NumberEntry:
    """The axis of a joint as it is written, and why it cannot be turned; it has no value of its own.

    Raises
    ------
    ArgumentError
        Nothing is called so, or it comes from another file.
    """
    path = (*draft.path_of(name), "axis")
    if "axis" not in draft.places.specs_of(name, draft.system.kinds):
        return NumberEntry("", math.nan, off=f"a {draft.places.kind_of(name)} joint has no axis")
    node = draft.root.find(*path)
    if node is None:
        return NumberEntry("z", math.nan)
    text = draft.text[node.start : node.end]
    off = "" if node.anchor is None else f"{text:.40} is written once and used in several places"
    if node.kind is NodeKind.LIST:
        entries = [read_entry(draft, item) for item in node.items]
        if any(entry.off or entry.parameter for entry in entries):
            off = f"it is written with laws, {text:.60}: turn it in the text"
    elif node.kind is not NodeKind.SCALAR:
        off = f"it is written as {text:.40}: turn it in the text"
    return NumberEntry(text, math.nan, off=off)


# -- the gesture -----------------------------------------------------------------------------------
def place(
    draft: ModelDraft,
    plan: GesturePlan,
    *,
    what: Target,
    at: Vector | None = None,
    rpy: Vector | None = None,
    axis: Vector | None = None,
    step: Step = 1e-3,
    angle_step: Step = DEGREE,
    parameters: bool = False,
) -> None:
    """The numbers that place something, rounded to the steps; with ``parameters`` a parameter may follow."""
    ((kind, name),) = what.items()
    if at is None and rpy is None and axis is None:
        raise ArgumentError("the gesture 'place' needs at, rpy or axis: three numbers")
    if kind != "joint" and split_box(draft.root, name)[0]:
        inside, inner = find_inner_draft(draft, name)
        off = plain_places(find_place(inside, kind, inner)).off
        if off:
            raise ArgumentError(f"{name} cannot be moved: {off}")
        place(
            inside, plan, what={kind: inner}, at=at, rpy=rpy, axis=axis, step=step, angle_step=angle_step,
            parameters=parameters,
        )  # fmt: skip
        draft.apply(inside.edited.edits())
        plan.words = plan.words.replace(inner, name, 1)
        return
    said = list[str]()
    if at is not None:
        fields = find_place(draft, kind, name)
        if fields.off:
            raise ArgumentError(f"{name} cannot be moved: {fields.off}")
        said += _move(draft, fields, at, step, parameters)
    if rpy is not None:
        fields = find_place(draft, kind, name)
        if fields.turn_off:
            raise ArgumentError(f"{name} cannot be turned: {fields.turn_off}")
        _turn(draft, fields, rpy, angle_step, parameters)
    if axis is not None:
        if kind != "joint":
            raise ArgumentError("a joint has an axis; other things have at and rpy")
        entry = find_axis(draft, name)
        if entry.off:
            raise ArgumentError(f"the axis of {name} stays: {entry.off}")
        draft.set(draft.places.field_path(name, ("axis",)), write_axis(axis))
    verb = "move" if at is not None else "turn"
    plan.words = ", ".join([f"{verb} {name}", *(words for words in said if words)])


def _move(draft: ModelDraft, fields: PlaceFields, at: Sequence[float], step: float, parameters: bool) -> list[str]:
    if draft.root.find(*fields.at) is None:
        if any(abs(x) >= 0.5 * step for x in at):
            draft.set(fields.at, "[" + ", ".join(format_number(x, step) for x in at) + "]")
        return []
    return [
        move_entry(draft, (*fields.at, k), entry, value, step, parameters)
        for k, (entry, value) in enumerate(zip(fields.entries, at, strict=True))
    ]


def _turn(draft: ModelDraft, fields: PlaceFields, rpy: Sequence[float], step: float, parameters: bool) -> None:
    if draft.root.find(*fields.turn) is not None:
        for k, (entry, value) in enumerate(zip(fields.turns, rpy, strict=True)):
            move_entry(draft, (*fields.turn, k), entry, value, step, parameters)
        return
    if all(abs(x) < 0.5 * step for x in rpy):
        return
    angles = "[" + ", ".join("0" if abs(x) < 0.5 * step else write_value(x, step, "deg") for x in rpy) + "]"
    node = draft.root.find(*fields.turn[:-1])
    if fields.whole and node is not None:
        draft.set(fields.turn[:-1], f"{{at: {draft.text[node.start : node.end]}, rpy: {angles}}}")
    else:
        draft.set(fields.turn, angles)


def write_axis(axis: Sequence[float]) -> str:
    """An axis as it is typed: a letter where it is along one, else three numbers."""
    v = np.asarray(axis, dtype=float)
    size = float(np.linalg.norm(v))
    if not size > 1e-9:
        raise ArgumentError("an axis needs a direction")
    v = v / size
    for letter, unit in LETTERS.items():
        along = float(v @ np.asarray(unit))
        if abs(abs(along) - 1.0) < ALONG:
            return letter if along > 0 else f"-{letter}"
    return "[" + ", ".join(format_number(x, 1e-4) for x in v) + "]"


MOST_DIGITS = 12
PROBES = (1.0, 2.0, 3.5)  # of the parameter's value: a straight line goes through all three
STRAIGHT = 1e-9


@dataclass(frozen=True)
class NumberEntry:
    """A number as it stands in a text.

    Attributes
    ----------
    text : str
        What is written; "0" where nothing is.
    value : float
        In SI; not a number where that is not known.
    unit : str
        Its unit; empty for a plain number, which is in SI.
    parameter : str
        The parameter by which it follows; empty if it is a number of its own.
    off : str
        Why it cannot follow; empty if it can.
    """

    text: str
    value: float
    unit: str = ""
    parameter: str = ""
    off: str = ""


def format_number(value: float, step: float) -> str:
    """A number with no more digits than a step needs.

    Examples
    --------
    >>> from kinode.editing.placing import format_number
    >>> format_number(0.283333, 0.001), format_number(120.0, 5.0), format_number(-1e-9, 0.01)
    ('0.283', '120', '0')
    """
    digits = min(MOST_DIGITS, max(0, -math.floor(math.log10(step) + 1e-9))) if step > 0 else MOST_DIGITS
    text = f"{value:.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text


def write_value(value: float, step: float, unit: str) -> str:
    """A number in SI as it is typed: with a unit, or plain."""
    factor = parse_unit(unit).factor if unit else 1.0
    number = format_number(value / factor, step / factor)
    return f"{number} {unit}" if unit else number


def read_entry(draft: ModelDraft, node: SpanNode | None, unit: str = "") -> NumberEntry:
    """The number at a node; ``unit`` is that of one which is not written yet."""
    if node is None:
        return NumberEntry("0", 0.0, unit)
    text = draft.text[node.start : node.end]
    if node.kind is not NodeKind.SCALAR or node.anchor is not None:
        return NumberEntry(text, math.nan, off=f"{text:.40} is written once and used in several places")
    if isinstance(node.value, float | int) and not isinstance(node.value, bool):
        return NumberEntry(text, float(node.value))
    words = str(node.value)
    try:
        quantity = parse_quantity(words)
        if quantity is not None:
            return NumberEntry(text, quantity.value_si, quantity.unit_text)
        return _read_law(draft, words)
    except Error as error:
        return NumberEntry(text, math.nan, off=str(error))


def _read_law(draft: ModelDraft, words: str) -> NumberEntry:
    law, system = parse(words), draft.system
    if not isinstance(law, Expression):
        return NumberEntry(words, float(law))
    names = sorted(law.names())
    if not names or any(name not in system.parameters for name in names):
        return NumberEntry(words, math.nan, off=f"it is the law {words}")
    value = float(system.nominal(law))
    if len(names) > 1:
        return NumberEntry(words, value, off=f"it is the law {words} of {' and '.join(names)}")
    (name,) = names
    own = read_entry(draft, draft.root.find(*draft.places.field_path(name, ("value",))))
    if own.off or own.parameter or name not in draft.places.paths:
        return NumberEntry(words, value, off=f"it is the law {words}, and {name} is no number of this file")
    if _slope(system, law, name) is None:
        return NumberEntry(words, value, off=f"it is the law {words}, no straight line of {name}")
    return NumberEntry(words, value, parameter=name)


def _slope(system: System, law: Expression, name: str) -> tuple[float, float] | None:
    """Value at zero and slope of a law that is a straight line of a parameter; None of another."""
    values = system.parameter_values()
    scale = abs(values[name]) or 1.0

    def at(x: float) -> float:
        return float(law.evaluate(lambda word: x if word == name else values[word]))

    try:
        low, middle, high = (at(probe * scale) for probe in PROBES)
    except (ArithmeticError, ValueError):
        return None
    slope = (middle - low) / ((PROBES[1] - PROBES[0]) * scale)
    zero = low - slope * PROBES[0] * scale
    off = abs(zero + slope * PROBES[2] * scale - high)
    return None if not slope or off > STRAIGHT * max(abs(low), abs(high), 1e-12) else (zero, slope)


def move_entry(
    draft: ModelDraft, path: tuple[str | int, ...], entry: NumberEntry, value: float, step: float, parameters: bool
) -> str:
    """Let the text of a number follow; what follows along is said: "changes the parameter L".

    Parameters
    ----------
    draft : ModelDraft
    path : tuple
        Of the number.
    entry : NumberEntry
        As it stands there.
    value, step : float
        The new number in SI, and what it is rounded to.
    parameters : bool
        Whether a parameter may be changed.
    """
    if abs(value - entry.value) < 0.5 * _resolution(step):
        return ""
    shown = ".".join(map(str, path[1:]))
    if entry.off:
        raise ArgumentError(f"{shown} stays: {entry.off}")
    if not entry.parameter:
        draft.set(path, write_value(value, step, entry.unit))
        return ""
    name = entry.parameter
    if not parameters:
        raise ArgumentError(f"{shown} is {entry.text}: moving it changes the parameter {name}")
    law = parse(entry.text)
    line = _slope(draft.system, law, name) if isinstance(law, Expression) else None
    assert line is not None
    where = draft.places.field_path(name, ("value",))
    own = read_entry(draft, draft.root.find(*where))
    draft.set(where, write_value((value - line[0]) / line[1], step / abs(line[1]), own.unit))
    return f"changes the parameter {name}"


def _resolution(step: float) -> float:
    return float(10.0 ** math.floor(math.log10(step) + 1e-9)) if step > 0 else 0.0
