"""Sampled signal parts, which act at the ticks of a clock; their outputs are constant in between.

A sampled part reads its inputs at ``phase`` and every ``period`` after that.  Its outputs are discrete states (see
``events.py``), so that they are constant between ticks: a zero-order hold.  Periods are exact fractions of a second, so
that ticks of different clocks coincide exactly.  Parts that tick together act in the order of their declaration; each
reads the new outputs of those before it.

Outputs may be rounded to a ``resolution`` and delayed by whole samples, with as many discrete states as memory.  Noise
is drawn at the ticks from a generator whose state is discrete too, so that it does not depend on the step size.

Random numbers come from plain arithmetic, for every scalar type: the generator MRG32k3a.
P. L'Ecuyer, "Good parameters and implementations for combined multiple recursive random number generators", Operations
Research 47 (1999) 159-164.  The state is six integers.  All products stay below 2^53, so floats hold them exactly and
the sequence is the same on every machine.  The period is about 2^191.

They are a source of noise for simulation, not of secrets.

Why our own: the numbers are drawn inside compiled code, and the generator's state is part of the discrete state of the
model.  A run can therefore stop and continue at any time, and a batch has one sequence for each run.  NumPy's
generators keep their state in a Python object that compiled code cannot reach.  A uniform number costs 31 floating
point operations, a normal one 67.  A random generator among LLVM's intrinsics, with its state in the caller's memory,
would make it obsolete.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from kinode.algebra.scalars import Array, Scalar, cos, floor, less, log, sqrt, tidy, where
from kinode.errors import ModelError
from kinode.expressions.units import DIMENSIONS, parse_quantity
from kinode.model.base.events import Sampler, exact_seconds
from kinode.model.base.field_reader import TIME, FieldKind, Reader, plainly, whole_from
from kinode.model.base.fields import POSITIVE, Value, law, number, record, short, special
from kinode.model.base.kinds import register
from kinode.model.base.scene import LawScene, PositionScene
from kinode.model.signals.continuous import PLAIN, Range, SignalPart, clamp

M1, M2 = 4294967087.0, 4294944443.0
SIZE = 6


def seeded(text: str) -> list[float]:
    """The initial state for a text; different texts give unrelated states."""
    digest = hashlib.sha256(text.encode()).digest()
    words = [int.from_bytes(digest[4 * k : 4 * k + 4], "big") for k in range(SIZE)]
    return [float(1 + word % (int(M1 if k < 3 else M2) - 1)) for k, word in enumerate(words)]


def draw_uniform(state: Sequence[Scalar]) -> tuple[Scalar, list[Scalar]]:
    """A uniform number between 0 and 1, both excluded, and the next state."""
    a0, a1, a2, b0, b1, b2 = state
    a = _remainder(1403580.0 * a1 - 810728.0 * a0, M1)
    b = _remainder(527612.0 * b2 - 1370589.0 * b0, M2)
    apart = a - b
    return where(less(0.0, apart), apart, apart + M1) * (1.0 / (M1 + 1.0)), [a1, a2, a, b1, b2, b]


def draw_normal(state: Sequence[Scalar]) -> tuple[Scalar, list[Scalar]]:
    """A normal number of mean 0 and deviation 1 (Box, Muller 1958), and the next state."""
    one, state = draw_uniform(state)
    two, state = draw_uniform(state)
    return sqrt(-2.0 * log(one)) * cos(2.0 * math.pi * two), list(state)


def _remainder(x: Scalar, m: float) -> Scalar:
    """x modulo m, exact for integers below 2^53: a quotient that was rounded to the wrong integer is corrected."""
    left = x - m * floor(x * (1.0 / m))
    left = where(less(left, 0.0), left + m, left)
    return where(less(left, m), left, left - m)


ORDER = 50  # in lists of kinds

LONGEST_DELAY = 10_000
RATIO = re.compile(r"(\d{1,18})/(\d{1,18}) s")  # how files write what has no decimals
Memory = Mapping[str, Scalar]


def read_seconds(reader: Reader, raw: Any, field: str, *, rates: bool = False) -> Fraction:
    """An exact time: a number of seconds, a text such as 1 ms, or, where rates may stand, 1 kHz."""
    offered = "a time such as 1 ms, or a rate such as 1 kHz, is expected" if rates else "a time, 1 ms, is expected"
    if isinstance(raw, str) and (ratio := RATIO.fullmatch(raw.strip())) and int(ratio[2]):
        value = Fraction(int(ratio[1]), int(ratio[2]))
    elif isinstance(raw, str):
        try:
            quantity = parse_quantity(raw)
        except ModelError as error:
            raise error.located(component=reader.component, field=field) from None
        if quantity is None:
            fixed = "; clocks are fixed, and take neither parameters nor laws"
            raise reader.fail(field, f"{offered}, not {short(raw)}{fixed}")
        value = exact_seconds(quantity.value_si)
        if rates and quantity.cycles and quantity.dimension == DIMENSIONS["frequency"].dimension and value > 0:
            return 1 / value
        if quantity.dimension != DIMENSIONS["time"].dimension:
            raise reader.fail(field, f"{offered}, not {raw}")
    elif isinstance(raw, Fraction):
        value = raw
    elif isinstance(raw, (int, float, np.integer, np.floating)) and not isinstance(raw, bool) and np.isfinite(raw):
        value = exact_seconds(float(raw))
    else:
        raise reader.fail(field, f"{offered}, not {short(raw)}")
    if value < 0 or (rates and value == 0):
        raise reader.fail(field, f"must {'be positive' if rates else 'not be negative'}, and is {float(value):g} s")
    return value


def write_seconds(value: Fraction) -> float | str:
    """A number or text from which ``read_seconds`` gives the same fraction."""
    if exact_seconds(float(value)) == value:
        return float(value)
    rate = float(1 / value)
    return f"{rate!r} Hz" if exact_seconds(rate) == 1 / value else f"{value.numerator}/{value.denominator} s"


def read_count(reader: Reader, raw: Any, field: str, most: int) -> int:
    """A whole number from 0 on."""
    whole = isinstance(raw, (int, float, np.integer)) and not isinstance(raw, bool) and raw % 1 == 0
    if not whole or not 0 <= raw <= most:
        raise reader.fail(field, f"is a whole number from 0 to {most}, not {short(raw)}")
    return int(raw)


_CLOCK = plainly(partial(read_seconds, rates=True))
FieldKind("clock", "TimeLike", "time or rate", TIME, _CLOCK, names=None, first="10 ms")
FieldKind("seconds", "TimeLike", "time", TIME, plainly(read_seconds), names=None)
FieldKind("count", "int", "int", whole_from(0), plainly(partial(read_count, most=LONGEST_DELAY)), names=None)
FieldKind("seed", "int", "int", whole_from(0), plainly(partial(read_count, most=2**53)), names=None)


@record
class Sampled(SignalPart):
    """The base of sampled parts: a clock, rounding and delay of the output."""

    period: Fraction = special("clock", "time between samples, 1 ms, or their rate, 1 kHz", ...)
    phase: Fraction = special("seconds", "time of the first sample; 0 if left out", Fraction(0))
    delay: int = special("count", "whole samples after which the output comes", 0)
    resolution: Value | None = number(
        None, "step to which the output is rounded; not at all if left out", None, range=POSITIVE
    )
    before: Value = number(None, "output before the first sample, or before its delay is over", 0.0, aside=True)

    # -- what a kind declares ---------------------------------------------------------------------
    @property
    def channels(self) -> tuple[str, ...]:
        """The names of its outputs; none for one alone."""
        return ()

    @property
    def memory(self) -> tuple[str, ...]:
        """What it keeps from one sample to the next."""
        return ()

    def initial_memory(self, resolve: Callable[[Any], Any]) -> Sequence[float]:
        return [0.0] * len(self.memory)

    def advance(self, scene: LawScene, memory: Memory) -> tuple[Sequence[Scalar], Mapping[str, Scalar]]:
        """The outputs of one sample, and what is new in its memory."""
        raise NotImplementedError

    # -- as entries of the state -------------------------------------------------------------------
    @cached_property
    def output_names(self) -> tuple[str, ...]:
        return tuple(f"output.{name}" for name in self.channels) or ("output",)

    @cached_property
    def _queue(self) -> list[list[str]]:
        """The names of the delayed values of each output, the next one to appear last."""
        rows = [name.replace("output", "waiting", 1) for name in self.output_names]
        return [[f"waiting{k + 1}{row.removeprefix('waiting')}" for k in range(self.delay)] for row in rows]

    @property
    def discrete_states(self) -> tuple[tuple[str, str], ...]:
        names = (*self.output_names, *(name for row in self._queue for name in row), *self.memory)
        return tuple((name, PLAIN) for name in names)

    def initial_discrete_states(self, resolve: Callable[[Any], Any]) -> Array:
        shown = [float(resolve(self.before))] * (len(self.discrete_states) - len(self.memory))
        return np.array([*shown, *self.initial_memory(resolve)], dtype=float)

    @property
    def clocks(self) -> tuple[Sampler, ...]:
        return (Sampler(self.period, self.phase),)

    def sample(self, scene: PositionScene, ticked: Sequence[Any]) -> Mapping[str, Any]:
        memory = scene.discrete_states(self.name)
        outputs, new = self.advance(scene, memory)
        return {**new, **self.give_out(outputs, memory, scene.law)}

    def give_out(self, outputs: Sequence[Scalar], memory: Memory, resolve: Callable[[Value], Scalar]) -> Memory:
        """New values of the outputs: rounded, and through the queue of the delay."""
        outputs_now: dict[str, Scalar] = {}
        for name, row, value in zip(self.output_names, self._queue, outputs, strict=True):
            if self.resolution is not None:
                step = resolve(self.resolution)
                value = step * floor(value / step + 0.5)
            values = [value, *(memory[waiting] for waiting in row)]
            outputs_now |= dict(zip([*row, name], values, strict=True))
        return outputs_now

    # -- as quantities -----------------------------------------------------------------------------
    def offered(self) -> Mapping[str, tuple[str, tuple[str, ...]]]:
        return {**super().offered(), "output": (PLAIN, self.channels)}

    @property
    def immediate(self) -> frozenset[str]:
        return frozenset()

    @property
    def late(self) -> frozenset[str]:
        return frozenset(self.specs())

    def quantity(self, name: str, scene: PositionScene) -> Scalar:
        states = scene.discrete_states(self.name)
        if name == "output" and self.channels:
            return tidy([states[each] for each in self.output_names])
        return states[name]


@register("sample_hold", symbol="sample_hold", shortcut=True)
class SampleHold(Sampled):
    """A signal sampled and held: a converter, a digital instrument, a delay of whole samples.

    What is taken in is kept within ``limits``, after noise of a standard deviation is added, and before it is rounded.
    """

    leading_fields: ClassVar[tuple[str, ...]] = ("input",)
    input: Value = law(None, "the signal that is sampled", ...)
    limits: Range | None = special("range", "[low, high] of what can be taken in")
    noise: Value | None = number(
        None, "standard deviation of normal noise, drawn anew at each sample", None, range=POSITIVE
    )
    seed: int = special("seed", "chooses the noise, together with the name of the part", 0, aside=True)

    def check(self) -> None:
        super().check()
        if self.seed != 0 and self.noise is None:
            raise self.error_at("seed", "is for noise")

    @property
    def memory(self) -> tuple[str, ...]:
        return () if self.noise is None else tuple(f"random{k + 1}" for k in range(SIZE))

    def initial_memory(self, resolve: Callable[[Any], Any]) -> Sequence[float]:
        return [] if self.noise is None else seeded(f"{self.seed} {self.name}")

    def advance(self, scene: LawScene, memory: Memory) -> tuple[Sequence[Scalar], Mapping[str, Scalar]]:
        value, new = scene.law(self.input), {}
        if self.noise is not None:
            drawn, state = draw_normal([memory[name] for name in self.memory])
            value, new = value + scene.law(self.noise) * drawn, dict(zip(self.memory, state, strict=True))
        if self.limits is not None:
            value = clamp(value, *(scene.law(x) for x in self.limits))
        return [value], new
