"""What changes at once: modes, samples and memories of components, and the events that change them.

Everything discrete is an entry of z whose rate is zero: the ``held`` entries of a component.  Between events they stay
as they are, so that every kernel, file, plot and quantity by name knows them as it knows any other state.  Two kinds
of events change them.

A ``Root`` is a function of the state that is positive while a mode has a value.  Where it becomes negative the mode
takes the value ``then``, and ``Component.reset`` may set states anew: the speed that sticks, those after an impact.
Several roots may bear on one mode, and a mode may follow from the modes of others: after each event all roots are
looked at again until none is violated.

A ``Sampler`` acts at the ticks of a clock: ``Component.sample`` gives new values of held entries.  Clocks are whole
multiples of one tick, a rational number of seconds, so that they never drift apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinode.algebra.scalars import Scalar
from kinode.errors import ArgumentError, ModelError

if TYPE_CHECKING:
    from kinode.model.base.scene import Scene
    from kinode.model.system import System

Function = Callable[["Scene"], Scalar]
"""Of the scene of an instant."""

TOLERANCE = 1e-9
"""What of a root, which is divided by a natural scale, counts as zero."""
MOST_TICKS = 1 << 50
"""Whole numbers up to this are exact in floats, with some room."""
ROUNDING = Fraction(1, 1 << 51)  # of a time in floats: two units of its last place


def _rising(scene: Scene) -> float:
    return 1.0


class Root(NamedTuple):
    """``g(scene)`` is positive while the held entry ``mode`` has the ``value``; else the mode becomes ``then``.

    ``g`` is divided by a natural scale, so that 1e-9 counts as zero.  ``rate(scene)`` is the rate of ``g``, or any
    number of its sign: it decides where ``g`` is zero when the mode begins, as the speed of a body that starts on its
    stop does.  Where ``g`` is never zero then, it is left out.  Without a mode (None) the root always counts, and its
    event is a jump alone.  ``words`` name what begins while the value holds and what begins with ``then``.

    ``by_state`` says that ``g`` takes no accelerations and nothing that follows from them: it is quick to look at then.
    """

    mode: str | None
    value: float
    then: float
    g: Function
    rate: Function = _rising
    words: tuple[str, str] = ("", "")
    by_state: bool = False


class Sampler(NamedTuple):
    """A clock: it ticks at ``phase`` and every ``period`` after that, in exact seconds; see ``exact_seconds``.

    ``call(t, values)`` is a Python function that takes the quantities named in ``reads`` and gives new values of held
    entries by name.  It is called between steps, behind all samplers of the same tick that are machine code.
    """

    period: Fraction
    phase: Fraction = Fraction(0)
    reads: tuple[str, ...] = ()
    call: Callable[[float, Mapping[str, Any]], Mapping[str, float]] | None = None


def exact_seconds(seconds: float) -> Fraction:
    """The rational number that a time in floats stands for: a thirtieth of a second, or a decimal as it is written.

    It may be off by the rounding of the arithmetic that led to it: 0.1/7 stands for a seventieth, and pi/100, which is
    nothing of the sort, for a fraction as simple as can be.
    """
    known, written = Fraction(seconds), Fraction(repr(float(seconds)))
    places, near = 1_000_000, known.limit_denominator(1_000_000)
    while abs(near - known) > abs(known) * ROUNDING:
        if written.denominator <= MOST_TICKS:
            return written
        places *= 2
        near = known.limit_denominator(places)
    return near


class RootEntry(NamedTuple):
    """A root in the table: whose it is, and where its mode stands in z (-1 without a mode)."""

    owner: str
    root: Root
    at: int


class SamplerEntry(NamedTuple):
    """A sampler in the table: whose it is, with its period and phase in whole ticks."""

    owner: str
    sampler: Sampler
    ticks: int
    phase: int


@dataclass(frozen=True)
class EventTable:
    """All that is discrete in a system; the held entries are the last ``n_held`` of z.

    Tick ``k`` is at ``k tick.numerator / tick.denominator`` seconds.
    """

    roots: tuple[RootEntry, ...]
    samplers: tuple[SamplerEntry, ...]
    tick: Fraction
    n_held: int

    def of(self, owner: str) -> range:
        """The places of the roots of a component."""
        places = [k for k, entry in enumerate(self.roots) if entry.owner == owner]
        return range(places[0], places[-1] + 1) if places else range(0)

    @property
    def owners(self) -> tuple[str, ...]:
        """The components that have roots."""
        return tuple(dict.fromkeys(entry.owner for entry in self.roots))

    @cached_property
    def modes(self) -> dict[int, tuple[str, dict[float, str]]]:
        """Of each mode by its place in z: its name, and what its values mean."""
        named_modes: dict[int, tuple[str, dict[float, str]]] = {}
        for entry in self.roots:
            if entry.root.mode is not None:
                _, values = named_modes.setdefault(entry.at, (f"{entry.owner}.{entry.root.mode}", {}))
                for value, words in zip((entry.root.value, entry.root.then), entry.root.words, strict=True):
                    values[value] = values.get(value) or words
        return named_modes

    def check_modes(self, z: Any) -> None:
        """Refuse a state, or rows of states, in which a mode has a value that is none of its own."""
        for at, (name, values) in self.modes.items():
            wrong = [x for x in np.unique(z[..., at]) if x not in values]
            if wrong:
                told = [f"{x:g} ({values[x]})" if values[x] else f"{x:g}" for x in sorted(values)]
                raise ArgumentError(f"{name}: {wrong[0]:g} is none of its modes: {', '.join(told)}")


def find_events(system: System, held_of: Mapping[str, slice]) -> EventTable | None:
    """The table of a system whose held entries stand at these places of z; None if nothing is discrete."""
    roots: list[RootEntry] = []
    clocks: list[tuple[str, Sampler]] = []
    for name, component in system.components.items():
        names = [entry for entry, _ in component.discrete_states]
        for root in component.event_functions:
            if root.mode is not None and root.mode not in names:
                raise ModelError(f"a root bears on {root.mode!r}, which is no held entry of it", component=name)
            at = -1 if root.mode is None else held_of[name].start + names.index(root.mode)
            roots.append(RootEntry(name, root, at))
        clocks += [(name, sampler) for sampler in component.clocks]
    n_held = sum(where.stop - where.start for where in held_of.values())
    if not roots and not clocks and not n_held:
        return None
    tick = find_tick(clocks)
    samplers = (SamplerEntry(n, s, int(s.period / tick), int(s.phase / tick)) for n, s in clocks)
    return EventTable(tuple(roots), tuple(samplers), tick, n_held)


def find_tick(clocks: Sequence[tuple[str, Sampler]]) -> Fraction:
    """The longest tick of which all periods and phases are whole multiples."""
    tick = Fraction(0)
    for name, clock in clocks:
        if clock.period <= 0:
            message = f"a positive time is expected, not {float(clock.period):g} s"
            raise ModelError(message, component=name, field="period")
        if not 0 <= clock.phase:
            raise ModelError(f"must not be negative, and is {float(clock.phase):g} s", component=name, field="phase")
        for part in (clock.period, clock.phase):
            tick = Fraction(
                math.gcd(tick.numerator * part.denominator, part.numerator * tick.denominator),
                tick.denominator * part.denominator,
            )
        if tick.denominator > MOST_TICKS or tick.numerator > MOST_TICKS:
            message = "its period and phase have no common measure with those of the other samplers"
            raise ModelError(f"{message}: give them in fractions of one time", component=name, field="period")
    return tick or Fraction(1)
