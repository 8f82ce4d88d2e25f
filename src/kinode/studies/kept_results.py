"""What a study or a batch keeps of each run: courses, and one number from a quantity over a run (reductions).

=================================  ======================================================================
``"elbow.q"``                      the quantity over time, at the times that the study asks for
``"elbow.reaction.force|peak"``    one number: peak, least, mean, rms, final, time_of_peak, quantile(0.95)
``"main.reaction.force|order(2)"`` amplitude of the load at twice the speed of the joint's shaft
``"shaft|life(25 kN, -15 cm, 15 cm)"``  L10 life in hours of the worse of two bearings of that rating, at these places
``function``                       a Python function of the run that gives a number
=================================  ======================================================================

A vector counts by its magnitude, a number with its sign.  The peak of a number is its value of largest size.  Means are
over time (trapezoids between the states that the run keeps), not over states: a run has more of them where it moves
fast.  A quantity that is not finite somewhere has no such number: nan.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError, ModelError, find_close, suggest
from kinode.expressions.units import check_dimension, parse_quantity
from kinode.model.quantities import find_expression, find_quantity, find_unit, unit_of
from kinode.model.system import System
from kinode.results.run_quantities import find_mean, find_peak, find_sizes
from kinode.results.trajectory import Trajectory

_RUN_CALL = re.compile(r"(order|life)\s*\((.*)\)")


@dataclass(frozen=True)
class Kept:
    """What is kept of a run."""

    text: str
    """As it was asked for."""
    unit: str
    """Its unit in SI."""
    take: Callable[[Trajectory, Mapping[str, Array]], Any]
    """What is kept, from the run and the quantities over it."""
    quantity: str = ""
    """The quantity that it needs; "" for none."""
    size: tuple[int, ...] = ()
    """Shape of what is kept: number of times, and shape of the quantity; of one number nothing."""
    by: str = ""
    """What a quantity is reduced by to one number."""


def read_kept(system: System, wanted: Any, times: int) -> Kept:
    """What is to be kept, from a text or a function; ``times`` is the number of times of courses."""
    if callable(wanted):
        return _read_function(wanted)
    if not isinstance(wanted, str):
        raise ArgumentError(f"keep: a text such as 'elbow.reaction.force|peak' or a function, not {wanted!r:.60}")
    quantity, bar, by = (part.strip() for part in wanted.rpartition("|"))
    if not bar:
        return _read_course(system, wanted.strip(), times)
    call = _RUN_CALL.fullmatch(by)
    if call is None:
        return read_reduction(system, wanted)
    reader = _read_order if call[1] == "order" else _read_life
    return reader(system, wanted, quantity, [part.strip() for part in call[2].split(",")])


def read_all_kept(system: System, keep: Any, times: int) -> tuple[Kept, ...]:
    """All that is to be kept."""
    wanted = [keep] if isinstance(keep, str) or callable(keep) else keep
    if not isinstance(wanted, Sequence) or not wanted:
        raise ArgumentError("keep: what of each run? Give texts such as 'elbow.reaction.force|peak'")
    kept = tuple(read_kept(system, each, times) for each in wanted)
    texts = [each.text for each in kept]
    twice = {text for text in texts if texts.count(text) > 1}
    if twice:
        raise ArgumentError(f"keep: {min(twice)} stands twice")
    return kept


def _read_function(function: Callable[[Trajectory], Any]) -> Kept:
    """A Python function of the run that gives a number."""
    text = getattr(function, "__name__", type(function).__name__)

    def take(run: Trajectory, values: Mapping[str, Array]) -> float:
        result = function(run)
        try:
            return float(result)
        except (TypeError, ValueError):
            raise ArgumentError(f"keep: {text} gave {result!r:.60}, and not a number") from None

    return Kept(text, "", take)


def _read_course(system: System, text: str, times: int) -> Kept:
    """A quantity over time; nan from where the run ended before its time."""
    expression = find_expression(system, text)
    size = (times, *(find_quantity(system, text).size if expression is None else ()))
    unit = unit_of(system, text) if expression is None else find_unit(system, expression)

    def take(run: Trajectory, values: Mapping[str, Array]) -> Array:
        kept, course = np.full(size, np.nan), values[text][:times]
        kept[: len(course)] = course
        return kept

    return Kept(text, unit if isinstance(unit, str) else ", ".join(unit), take, text, size)


def _read_order(system: System, text: str, quantity: str, arguments: list[str]) -> Kept:
    """The amplitude of a joint's load at a multiple of the speed of its shaft."""
    joint, _, of = quantity.rpartition(".reaction.")
    if joint not in system.joints or of not in ("force", "moment"):
        raise ArgumentError(f"keep: {text}: orders are those of a joint's load, such as main.reaction.force|order(2)")
    try:
        (order,) = (float(argument) for argument in arguments)
    except ValueError:
        raise ArgumentError(f"keep: {text}: order needs one number, such as order(2)") from None

    def take(run: Trajectory, values: Mapping[str, Array]) -> float:
        spectrum = run.spectrum(joint, "total", of=of, over="turns")
        near = np.abs(spectrum.abscissa - order) <= spectrum.resolution / 2
        return float(spectrum.amplitude[near].max()) if near.any() else math.nan

    return Kept(text, "N" if of == "force" else "N*m", take)


def _read_life(system: System, text: str, joint: str, arguments: list[str]) -> Kept:
    """The L10 life, in hours, of the worse of two bearings of a joint."""
    if joint not in system.joints or len(arguments) != 3:
        form = "shaft|life(25 kN, -15 cm, 15 cm): a joint, the rating, and two places on its axis"
        raise ArgumentError(f"keep: {text}: life is written {form}")
    rating, *at = (
        _read_number(text, argument, unit) for argument, unit in zip(arguments, ("force", "length", "length"))
    )
    places = at[0], at[1]
    return Kept(text, "h", lambda run, _: min(each.life(rating).hours for each in run.bearings(joint, at=places)))


def _read_number(text: str, argument: str, dimension: str) -> float:
    try:
        quantity = parse_quantity(argument)
        return float(argument) if quantity is None else check_dimension(quantity, dimension)
    except (ModelError, ValueError) as error:
        reason = error.message if isinstance(error, ModelError) else error
        raise ArgumentError(f"keep: {text}: {argument}: {reason}") from None


Reducer = Callable[..., float]
"""From times and values, both (time,), and the numbers in its brackets, to a number."""
_CALL = re.compile(r"(\w+)\s*(?:\((.*)\))?")


def _quantile(t: Array, values: Array, share: float) -> float:
    """The value that a quantity stays below for a share of the time; it is linear between the states."""
    if len(t) < 2 or t[-1] <= t[0]:
        return float(values[-1])
    levels = np.unique(values)
    low, high = np.minimum(values[:-1], values[1:]), np.maximum(values[:-1], values[1:])
    spans, widths = np.diff(t), np.where(high > low, high - low, 1.0)

    def time_below(level: float) -> float:
        return float(np.sum(spans * np.where(high > low, np.clip((level - low) / widths, 0.0, 1.0), level >= low)))

    wanted = share * float(spans.sum())
    below, above = 0, len(levels) - 1
    if time_below(levels[0]) >= wanted:
        return float(levels[0])
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (middle, above) if time_below(levels[middle]) < wanted else (below, middle)
    least, most = time_below(levels[below]), time_below(np.nextafter(levels[above], -math.inf))
    if most <= wanted or most <= least:
        return float(levels[above])
    return float(levels[below] + (wanted - least) / (most - least) * (levels[above] - levels[below]))


REDUCERS: Mapping[str, Reducer] = {
    "peak": lambda t, values: float(values[find_peak(values)]),
    "least": lambda t, values: float(values.min()),
    "mean": find_mean,
    "rms": lambda t, values: float(np.sqrt(find_mean(t, values**2))),
    "final": lambda t, values: float(values[-1]),
    "time_of_peak": lambda t, values: float(t[find_peak(values)]),
    "quantile": _quantile,
}
"""What a quantity is reduced by, by name."""
BRACKETS: Mapping[str, str] = {"quantile": "a share of the time, such as quantile(0.95)"}
"""Reducers that need a number in brackets, and which."""
BY_SIZE = frozenset({"peak", "rms"})
"""Reducers whose results are compared by their size: a peak of -3 N is less than one of 5 N."""


def read_reduction(system: System, text: str) -> Kept:
    """A quantity, or an expression of quantities, and what it is reduced by, such as "elbow.reaction.force|peak".

    Raises
    ------
    ArgumentError
        The text names no reducer.
    LawError
        There is no such quantity.

    Examples
    --------
    >>> from kinode.studies.kept_results import read_reduction
    >>> read_reduction(kn.load("examples/double_pendulum.yaml"), "elbow.reaction.force|peak").unit
    'N'
    """
    known = ", ".join(REDUCERS)
    if not isinstance(text, str):
        raise ArgumentError(f"of: a text such as 'elbow.reaction.force|peak' is expected, not {text!r}")
    quantity, bar, by = (part.strip() for part in text.rpartition("|"))
    if not bar:
        raise ArgumentError(f"of: what is {by} reduced by? Write {by}|peak, or one of {known} after the bar")
    call = _CALL.fullmatch(by)
    by, bracket = (call[1], call[2]) if call else (by, None)
    if by not in REDUCERS:
        raise ArgumentError(suggest(f"of: {text}: {by!r} is none of {known}", by, find_close(by, REDUCERS)))
    expression = find_expression(system, quantity)
    if expression is None:
        find_quantity(system, quantity)
        unit = unit_of(system, quantity)
    else:
        unit = find_unit(system, expression)
    if by == "time_of_peak":
        unit = "s"
    if isinstance(unit, tuple):
        raise ArgumentError(f"of: {text}: the parts of {quantity} have different units and no common size; name a part")
    numbers = _read_bracket(text, by, bracket)

    def take(run: Trajectory, values: Mapping[str, Array]) -> float:
        t, course = run.t, values[quantity]
        sizes = course if course.ndim == 1 else find_sizes(course)
        return REDUCERS[by](t, sizes, *numbers) if len(t) and np.isfinite(sizes).all() else math.nan

    return Kept(text, unit, take, quantity, by=by)


def _read_bracket(text: str, by: str, bracket: str | None) -> tuple[float, ...]:
    """The number in the brackets of a reducer."""
    if by not in BRACKETS:
        if bracket is not None:
            raise ArgumentError(f"of: {text}: {by} has no brackets")
        return ()
    try:
        share = float(bracket or "")
    except ValueError:
        share = math.nan
    if not 0.0 <= share <= 1.0:
        raise ArgumentError(f"of: {text}: {by} needs {BRACKETS[by]}")
    return (share,)


def reduce_run(run: Trajectory, kept: Iterable[Kept]) -> dict[str, Any]:
    """All that is kept of a run, by its texts; the quantities are evaluated together."""
    wanted = list(kept)
    values = run.evaluate(dict.fromkeys(each.quantity for each in wanted if each.quantity))
    return {each.text: each.take(run, values) for each in wanted}
