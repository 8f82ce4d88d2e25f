"""Laws that make a part what it cannot be: a resistance that becomes zero or negative on the way.

Numbers of parts are checked before a run.  A law of time or of the state shows only in the run what it gives: it is
looked at in all states that are kept, and, where it depends on time alone, at times in between.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.expressions.syntax_tree import Expression
from kinode.model.system import System
from kinode.ode.ending import Ending, EndKind
from kinode.simulation.solver import StateHistory

LOOKS = 1000  # at laws of time
VANISHED = 1e-6  # of what it was at the start


@dataclass(frozen=True)
class Guarded:
    """A law of a part whose sign is given, with what is said where it is another."""

    part: str
    field: str
    law: Expression
    must: str

    @property
    def name(self) -> str:
        return f"{self.part}.{self.field}"

    @property
    def words(self) -> str:
        return f"the {self.field} of {self.part}, {self.law.excerpt()},"

    def wrong(self, values: Array) -> Array:
        """Where values are not as they must be, or change their sign since the first."""
        if self.must == "be positive":
            return values <= 0
        return values < 0 if self.must == "not be negative" else values * values[:1] <= 0


def find_guarded(system: System) -> Iterator[Guarded]:
    """The laws of parts that have to keep a sign, and depend on more than parameters."""
    for part in system.parts.values():
        musts = {"be positive": part.positive, "not be negative": part.unsigned, "not be zero": part.nonzero}
        for must, fields in musts.items():
            for field in fields:
                value = getattr(part, part.specs()[field][0].name)
                if isinstance(value, Expression) and not value.names() <= set(system.parameters):
                    yield Guarded(part.name, field, value, must)


def end_where_impossible(dynamics: Dynamics, motion: StateHistory) -> StateHistory:
    """The motion, or as much of it as every part can be made for; its message then names the part and its law."""
    guarded = list(find_guarded(dynamics.system))
    if not guarded or not len(motion.t):
        return motion
    timely = [one for one in guarded if _is_timely(dynamics.system, one.law)]
    found = [*_find_wrong(dynamics, motion, guarded, motion.t)]
    if timely and len(motion.t) > 1:
        found += _find_wrong(dynamics, motion, timely, np.linspace(motion.t[0], motion.t[-1], LOOKS + 1))
    if not found:
        return motion
    when, value, one = min(found, key=lambda wrong: wrong[0])
    message = f"at t = {when:.9g} s {one.words} is {value:.4g}, and must {one.must}"
    n = max(1, int(np.searchsorted(motion.t, when)))
    return replace(
        motion, t=motion.t[:n], y=motion.y[:n], ending=Ending(EndKind.IMPOSSIBLE_VALUE, when, message, one.part),
        t_end=float(motion.t[n - 1]), y_end=motion.y[n - 1],
    )  # fmt: skip


def find_vanished(dynamics: Dynamics, motion: StateHistory) -> str | None:
    """A law that was on its way to zero when the run ended."""
    guarded = list(find_guarded(dynamics.system))
    if not guarded or not len(motion.t):
        return None
    t, y = np.array([motion.t[0], motion.t_end]), np.vstack([motion.y[:1], motion.y_end])
    for one, (first, last) in zip(guarded, _values(dynamics, motion, guarded, t, y), strict=True):
        if abs(last) <= VANISHED * abs(first):
            return f"{one.words} is {last:.4g} then, and must {one.must}"
    return None


def _is_timely(system: System, law: Expression) -> bool:
    """Whether a law depends on time, parameters and inputs alone, signals of such laws included."""
    signals = {name: signal.law for name, signal in system.signals.items()}
    plain = {"t", *system.parameters, *system.inputs}
    rest = set(law.names()) - plain
    while rest and rest <= signals.keys():
        laws = [signals[name] for name in rest]
        rest = {name for one in laws if isinstance(one, Expression) for name in one.names()} - plain
    return not rest


def _find_wrong(
    dynamics: Dynamics, motion: StateHistory, guarded: list[Guarded], t: Array
) -> Iterator[tuple[float, float, Guarded]]:
    """When each law is first wrong, at times for which the state is that before."""
    y = motion.y[np.searchsorted(motion.t, t, side="right") - 1]
    for one, values in zip(guarded, _values(dynamics, motion, guarded, t, y), strict=True):
        wrong = np.flatnonzero(one.wrong(values))
        if len(wrong):
            yield float(t[wrong[0]]), float(values[wrong[0]]), one


def _values(dynamics: Dynamics, motion: StateHistory, guarded: list[Guarded], t: Array, y: Array) -> list[Array]:
    names, (q, u, z) = [one.name for one in guarded], dynamics.topology.layout.split(y)
    found = dynamics.evaluate(names, t, q, u, z=z, p=motion.p, inputs=motion.inputs)
    return [found[name] for name in names]
