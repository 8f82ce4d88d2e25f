"""Discrete states (modes, samples, memories of components) and the events that change them.

A discrete state is an entry of z whose time derivative is zero.  Kernels, files, plots and named quantities treat it as
any other state.  Two kinds of events change discrete states.

A ``Root`` is an event function of the state.  It is positive while a mode has a certain value.  When it becomes
negative the mode takes the value ``then``, and ``Component.reset`` may set new states: zero speed when friction sticks,
the speeds after an impact.  A mode may have several event functions and may depend on other modes.  After each event
all event functions are evaluated again, until the modes are consistent.

A ``Sampler`` is a clock: at its ticks ``Component.sample`` gives new values of discrete states.  All periods are whole
multiples of one tick, a rational number of seconds, so that clocks never drift apart.
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
"""An event function, which is divided by a natural scale, counts as zero within this."""
MOST_TICKS = 1 << 50
"""Whole numbers up to this are exact in floats, with some room."""
TIME_ROUNDING = Fraction(1, 1 << 51)  # relative rounding error of a time in floats: two units in the last place


def _rising(scene: Scene) -> float:
    return 1.0


class Root(NamedTuple):
    """An event function: ``g(scene)`` is positive while the discrete state ``mode`` has the ``value``.

    When ``g`` becomes negative, the mode becomes ``then``.  ``g`` is divided by a natural scale; below 1e-9 it counts
    as zero.  ``rate(scene)`` is the time derivative of ``g``, or any number of the same sign.  It decides if ``g`` is
    zero when the mode begins, as for a body that starts on its stop; it may be left out if ``g`` is never zero then.
    Without a mode (None) the event function is always active, and its event is a reset only.  ``words`` describe the
    mode with the ``value`` and with ``then``.

    ``by_state``: ``g`` depends on neither accelerations nor results of them, so that it is cheap to evaluate.
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

    ``call(t, values)`` is a Python function of the quantities named in ``reads``; it returns new values of discrete
    states by name.  It is called between steps, after all compiled samplers of the same tick.
    """

    period: Fraction
    phase: Fraction = Fraction(0)
    reads: tuple[str, ...] = ()
    call: Callable[[float, Mapping[str, Any]], Mapping[str, float]] | None = None
    what: str = "a function in Python"
    """What is called, in words."""


def exact_seconds(seconds: float) -> Fraction:
    """The simplest rational number within the rounding error of a time: 1/30 s, or a decimal number as it is written.

    The result of ``0.1/7`` gives 1/70.  A number such as pi/100 gives a simple fraction close to it.
    """
    known, written = Fraction(seconds), Fraction(repr(float(seconds)))
    denominator, near = 1_000_000, known.limit_denominator(1_000_000)
    while abs(near - known) > abs(known) * TIME_ROUNDING:
        if written.denominator <= MOST_TICKS:
            return written
        denominator *= 2
        near = known.limit_denominator(denominator)
    return near


class RootEntry(NamedTuple):
    """An event function in the table: its component, and the index of its mode in z (-1 without a mode)."""

    owner: str
    root: Root
    at: int


class SamplerEntry(NamedTuple):
    """A clock in the table: its component, its period and phase in whole ticks."""

    owner: str
    sampler: Sampler
    ticks: int
    phase: int


@dataclass(frozen=True)
class EventTable:
    """Event functions and clocks of a system; its discrete states are the last ``n_held`` entries of z.

    Tick ``k`` is at ``k tick.numerator / tick.denominator`` seconds.
    """

    roots: tuple[RootEntry, ...]
    samplers: tuple[SamplerEntry, ...]
    tick: Fraction
    n_held: int

    def of(self, owner: str) -> range:
        """The indices of the event functions of a component."""
        indices = [k for k, entry in enumerate(self.roots) if entry.owner == owner]
        return range(indices[0], indices[-1] + 1) if indices else range(0)

    @property
    def owners(self) -> tuple[str, ...]:
        """The components that have event functions."""
        return tuple(dict.fromkeys(entry.owner for entry in self.roots))

    @cached_property
    def modes(self) -> dict[int, tuple[str, dict[float, str]]]:
        """For each mode, by its index in z: its name and the meaning of its values."""
        named_modes: dict[int, tuple[str, dict[float, str]]] = {}
        for entry in self.roots:
            if entry.root.mode is not None:
                _, values = named_modes.setdefault(entry.at, (f"{entry.owner}.{entry.root.mode}", {}))
                for value, words in zip((entry.root.value, entry.root.then), entry.root.words, strict=True):
                    values[value] = values.get(value) or words
        return named_modes

    def check_modes(self, z: Any) -> None:
        """Refuse a state, or a batch of states, in which a mode has a value that it does not know."""
        if z.ndim == 1 and all(float(z[at]) in values for at, (_, values) in self.modes.items()):
            return
        for at, (name, values) in self.modes.items():
            wrong = [x for x in np.unique(z[..., at]) if x not in values]
            if wrong:
                known = [f"{x:g} ({values[x]})" if values[x] else f"{x:g}" for x in sorted(values)]
                raise ArgumentError(f"{name}: {wrong[0]:g} is none of its modes: {', '.join(known)}")


def find_events(system: System, held_of: Mapping[str, slice]) -> EventTable | None:
    """The table of a system whose discrete states are at these slices of z; None if it has no discrete states."""
    roots: list[RootEntry] = []
    clocks: list[tuple[str, Sampler]] = []
    for name, component in system.components.items():
        names = [entry for entry, _ in component.discrete_states]
        for root in component.event_functions:
            if root.mode is not None and root.mode not in names:
                raise ModelError(
                    f"an event function names the mode {root.mode!r}, which is none of its discrete states",
                    component=name,
                )
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
