"""What a study keeps of each run.

=================================  ======================================================================
``"elbow.q"``                      the quantity over time, at the times that the study asks for
``"elbow.reaction.force|peak"``    one number: peak, least, mean, rms, final, time_of_peak, quantile(0.95)
``"main.reaction.force|order(2)"`` amplitude of the load at twice the speed of the joint's shaft
``"shaft|life(25 kN, -15 cm, 15 cm)"``  L10 life in hours of the worse of two bearings of that rating, at these places
``function``                       a Python function of the run that gives a number
=================================  ======================================================================
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError, ModelError
from kinode.expressions.units import check_dimension, parse_quantity
from kinode.model.quantity_expressions import find_expression, find_unit, unit_of
from kinode.model.quantity_names import find_quantity
from kinode.model.system import System
from kinode.results.trajectory import Trajectory
from kinode.tasks.batches.reducers import Kept, read_reduction

_RUN_CALL = re.compile(r"(order|life)\s*\((.*)\)")
HOURS = "h"


@dataclass(frozen=True)
class Course:
    """A quantity over time."""

    text: str
    unit: str
    size: tuple[int, ...]
    """Number of times, and the shape of the quantity."""

    @property
    def quantity(self) -> str:
        """The quantity that it needs."""
        return self.text

    def take(self, run: Trajectory, values: Mapping[str, Array]) -> Array:
        """The values of a run; nan from where it ended before its time."""
        kept = np.full(self.size, np.nan)
        course = values[self.text][: self.size[0]]
        kept[: len(course)] = course
        return kept


@dataclass(frozen=True)
class OrderAmplitude:
    """The amplitude of a joint's load at a multiple of the speed of its shaft."""

    text: str
    unit: str
    joint: str
    of: str
    order: float
    quantity: str = ""
    size: tuple[int, ...] = ()

    def take(self, run: Trajectory, values: Mapping[str, Array]) -> float:
        """The amplitude of a run."""
        spectrum = run.spectrum(self.joint, "total", of=self.of, over="turns")
        near = np.abs(spectrum.abscissa - self.order) <= spectrum.resolution / 2
        return float(spectrum.amplitude[near].max()) if near.any() else math.nan


@dataclass(frozen=True)
class BearingLife:
    """The L10 life, in hours, of the worse of two bearings of a joint."""

    text: str
    joint: str
    rating: float
    at: tuple[float, float]
    unit: str = HOURS
    quantity: str = ""
    size: tuple[int, ...] = ()

    def take(self, run: Trajectory, values: Mapping[str, Array]) -> float:
        """The life in a run."""
        return min(bearing.life(self.rating).hours for bearing in run.bearings(self.joint, at=self.at))


@dataclass(frozen=True)
class RunFunction:
    """A Python function of the run that gives a number."""

    text: str
    function: Callable[[Trajectory], Any]
    unit: str = ""
    quantity: str = ""
    size: tuple[int, ...] = ()

    def take(self, run: Trajectory, values: Mapping[str, Array]) -> float:
        """What the function gives."""
        result = self.function(run)
        try:
            return float(result)
        except (TypeError, ValueError):
            raise ArgumentError(f"keep: {self.text} gave {result!r:.60}, and not a number") from None


def read_kept(system: System, wanted: Any, times: int) -> Kept:
    """What is to be kept, from a text or a function; ``times`` is the number of times of courses."""
    if callable(wanted):
        return RunFunction(getattr(wanted, "__name__", type(wanted).__name__), wanted)
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


def keeps_courses(kept: Sequence[Kept]) -> bool:
    """Whether a quantity over time is among what is kept."""
    return any(isinstance(each, Course) for each in kept)


def _read_course(system: System, text: str, times: int) -> Course:
    expression = find_expression(system, text)
    if expression is not None:
        return Course(text, find_unit(system, expression), (times,))
    name, unit = find_quantity(system, text), unit_of(system, text)
    return Course(text, unit if isinstance(unit, str) else ", ".join(unit), (times, *name.size))


def _read_order(system: System, text: str, quantity: str, arguments: list[str]) -> OrderAmplitude:
    joint, _, of = quantity.rpartition(".reaction.")
    if joint not in system.joints or of not in ("force", "moment"):
        raise ArgumentError(f"keep: {text}: orders are those of a joint's load, such as main.reaction.force|order(2)")
    try:
        (order,) = (float(argument) for argument in arguments)
    except ValueError:
        raise ArgumentError(f"keep: {text}: order needs one number, such as order(2)") from None
    return OrderAmplitude(text, "N" if of == "force" else "N*m", joint, of, order)


def _read_life(system: System, text: str, joint: str, arguments: list[str]) -> BearingLife:
    if joint not in system.joints or len(arguments) != 3:
        form = "shaft|life(25 kN, -15 cm, 15 cm): a joint, the rating, and two places on its axis"
        raise ArgumentError(f"keep: {text}: life is written {form}")
    rating, *at = (
        _read_number(text, argument, unit) for argument, unit in zip(arguments, ("force", "length", "length"))
    )
    return BearingLife(text, joint, rating, (at[0], at[1]))


def _read_number(text: str, argument: str, dimension: str) -> float:
    try:
        quantity = parse_quantity(argument)
        return float(argument) if quantity is None else check_dimension(quantity, dimension)
    except (ModelError, ValueError) as error:
        reason = error.message if isinstance(error, ModelError) else error
        raise ArgumentError(f"keep: {text}: {argument}: {reason}") from None
