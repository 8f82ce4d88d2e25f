"""A number of a model file that a hand moves: how its text can follow.

A plain number or a quantity is written anew, with its own unit and no more digits than the step.  An expression of one
parameter, such as ``L/2``, follows by the parameter, where that is a number and the expression a straight line of it.
Everything else says why it stays.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from kinode.errors import ArgumentError, Error
from kinode.expressions.parser import parse
from kinode.expressions.syntax_tree import Expression
from kinode.expressions.units import parse_quantity, parse_unit
from kinode.formats.editing.model_draft import ModelDraft
from kinode.formats.span_nodes import NodeKind, SpanNode
from kinode.model.system import System

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
    >>> from kinode.formats.editing.actions.number_entries import format_number
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
