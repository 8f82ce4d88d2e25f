"""Signal parts: controllers, filters, limiters and sensors, in continuous time.

A signal part loads no body.  Its inputs are laws, so that an information link is a name in a law (``error: "target -
elbow.q"``); what it gives is a quantity that other laws use (``effort: pid.output``).  States of its own are integrated
with those of the system.  A part whose output follows from its inputs at once is one more law, and laws that go in a
circle through such parts are refused by name; a part whose output is a state breaks the circle.

A state that follows its input (a filter, the lag of a sensor) starts at the value of its input unless its initial value
is given, so that there is no transient at the start.  The PID controller stands in ``pid.py``, linear
systems by their coefficients in ``linear_systems.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from kinode.algebra.scalars import Array, Scalar, less, maximum, minimum, sqrt, tidy
from kinode.model.base.element import Element, Load
from kinode.model.base.field_reader import FieldKind, Reader, array_of, plainly, ref
from kinode.model.base.fields import POSITIVE, Value, law, number, record, special
from kinode.model.base.kinds import register
from kinode.model.base.scene import LawScene, PositionScene

if TYPE_CHECKING:
    from kinode.model.system import System

ORDER = 30  # in lists of kinds

Range = tuple[Value, Value]
PLAIN = "dimensionless"  # a signal is a number; its unit is what its laws make of it


def _read_range(reader: Reader, raw: Any, field: str) -> Range:
    low, high = reader.sequence(raw, 2, field, lambda item: reader.number(item, None, field))
    return low, high


_BOTH = array_of(ref("number"), 2, 2)
RANGE = FieldKind("range", "VectorLike", "2 numbers", _BOTH, plainly(_read_range), first="[-1, 1]")


def clamp(x: Scalar, low: Scalar, high: Scalar) -> Scalar:
    """x kept between low and high."""
    return minimum(maximum(x, low), high)


@record
class SignalPart(Element):
    """An element whose inputs and outputs are signals."""

    pushes: ClassVar[bool] = False
    quantities: ClassVar[dict[str, str]] = {"output": PLAIN}
    before_number: ClassVar[str] = "and is"
    symbol: ClassVar[str] = "block"

    @property
    def conservative(self) -> bool:
        return True

    def offered(self) -> Mapping[str, tuple[str, tuple[str, ...]]]:
        own = (entry for entry in (*self.states, *self.discrete_states) if "." not in entry[0])
        return {name: (unit, ()) for name, unit in (*self.quantities.items(), *own)}

    @property
    def immediate(self) -> frozenset[str]:
        """Everything but its states."""
        return frozenset(self.offered()) - {name for name, _ in (*self.states, *self.discrete_states)}

    def wrenches(self, scene: LawScene) -> Sequence[Load]:
        return ()

    def state(self, name: str, scene: PositionScene) -> Scalar:
        """One of its states."""
        names = [state for state, _ in self.states]
        return scene.other_states(self.name)[names.index(name)]

    # -- checks ------------------------------------------------------------------------------------
    def check_in(self, system: System) -> None:
        """Check numbers that are arithmetic with parameters, at their present values."""
        self.check_numbers(system.nominal)

    def check_numbers(self, known: Callable[[Any], float | None]) -> None:
        super().check_numbers(known)
        for field, pair in self.values_of(RANGE).items():
            low, high = map(known, pair)
            if low is not None and high is not None and low >= high:
                raise self.error_at(field, f"the lower one comes first, and {low:g} is not below {high:g}")


@record
class _Follower(SignalPart):
    """A part with one input and an output that is a state and follows it."""

    input: Value = law(None, "the signal that goes in", ...)
    initial: Value | None = number(None, "output at the start; where it settles if left out", None, aside=True)

    @property
    def states(self) -> tuple[tuple[str, str], ...]:
        return (("output", PLAIN),)

    def initial_states(self, resolve: Callable[[Any], Any]) -> Array:
        return np.array([0.0 if self.initial is None else float(resolve(self.initial))])

    def consistent_values(self, scene: LawScene) -> Mapping[str, Scalar]:
        return {"output": self.aim(scene)} if self.initial is None else {}

    @property
    def late(self) -> frozenset[str]:
        return frozenset({"input"})

    def aim(self, scene: LawScene) -> Scalar:
        """Where the output goes while the input stays."""
        return scene.law(self.input)

    def quantity(self, name: str, scene: PositionScene) -> Scalar:
        return self.state("output", scene)


@register("filter", symbol="filter", shortcut=True)
class Filter(_Follower):
    """A lag of first order: time_constant d(output)/dt + output = gain input."""

    time_constant: Value = number("time", "time in which a step is followed to 63 %", range=POSITIVE)
    gain: Value = number(None, "output for a unit of a constant input", 1.0)

    def aim(self, scene: LawScene) -> Scalar:
        return scene.law(self.gain) * scene.law(self.input)

    def state_rates(self, scene: PositionScene) -> Array:
        return tidy([(self.aim(scene) - self.state("output", scene)) / scene.law(self.time_constant)])


@register("rate_limit", symbol="rate_limit", shortcut=True)
class RateLimit(_Follower):
    """A signal that changes no faster than it may.

    The output tracks the input as a lag of a (short) time constant does, its rate kept within -fall and rise:

        d(output)/dt = (input - output) / time_constant, kept between -fall and rise
    """

    rise: Value = number(None, "largest rate of growth, in a second", range=POSITIVE)
    fall: Value | None = number(
        None, "largest rate of decrease, a positive number; as rise if left out", None, range=POSITIVE
    )
    time_constant: Value = number("time", "lag with which an input that is slow enough is followed", range=POSITIVE)

    def state_rates(self, scene: PositionScene) -> Array:
        rise = scene.law(self.rise)
        fall = rise if self.fall is None else scene.law(self.fall)
        wanted = (self.aim(scene) - self.state("output", scene)) / scene.law(self.time_constant)
        return tidy([clamp(wanted, -fall, rise)])


@register("integrator", symbol="integrator", shortcut=True)
class Integrator(SignalPart):
    """The integral of a signal; at limits it stays, and leaves them as soon as the input leads back."""

    quantities: ClassVar[dict[str, str]] = {"output": PLAIN, "integral": PLAIN}
    input: Value = law(None, "the signal that is integrated", ...)
    gain: Value = number(None, "growth of the output, in a second, for a unit of input", 1.0)
    initial: Value = number(None, "output at the start", 0.0, aside=True)
    limits: Range | None = special("range", "[low, high] of the output")

    def check(self) -> None:
        super().check()
        if self.limits is not None and isinstance(self.initial, float):
            low, high = (x if isinstance(x, float) else None for x in self.limits)
            if (low is not None and self.initial < low) or (high is not None and self.initial > high):
                raise self.error_at("initial", f"{self.initial:g} is beyond the limits")

    @property
    def states(self) -> tuple[tuple[str, str], ...]:
        return (("integral", PLAIN),)

    def initial_states(self, resolve: Callable[[Any], Any]) -> Array:
        return np.array([float(resolve(self.initial))])

    def state_rates(self, scene: PositionScene) -> Array:
        rate = scene.law(self.gain) * scene.law(self.input)
        if self.limits is not None:
            low, high = (scene.law(x) for x in self.limits)
            x = self.state("integral", scene)
            rate = maximum(rate, 0.0) * less(x, high) + minimum(rate, 0.0) * less(low, x)
        return tidy([rate])

    @property
    def immediate(self) -> frozenset[str]:
        return frozenset()

    @property
    def late(self) -> frozenset[str]:
        return frozenset({"input"})

    def quantity(self, name: str, scene: PositionScene) -> Scalar:
        integral = self.state("integral", scene)
        return (
            integral
            if self.limits is None or name == "integral"
            else clamp(integral, *(scene.law(x) for x in self.limits))
        )


@register("saturation", symbol="saturation", shortcut=True)
class Saturation(SignalPart):
    """A signal kept within limits, with corners or, by ``smoothing``, rounded ones.

    Rounded: low + s(input - low) - s(input - high) with s(x) = (x + root(x^2 + smoothing^2))/2.
    """

    input: Value = law(None, "the signal that goes in", ...)
    limits: Range = special("range", "[low, high] of the output", ...)
    smoothing: Value | None = number(
        None, "width over which a corner is rounded; none if left out", None, range=POSITIVE
    )

    def quantity(self, name: str, scene: LawScene) -> Scalar:
        x, (low, high) = scene.law(self.input), (scene.law(limit) for limit in self.limits)
        if self.smoothing is None:
            return clamp(x, low, high)
        w = scene.law(self.smoothing)

        def above(x: Scalar) -> Scalar:
            return 0.5 * (x + sqrt(x * x + w * w))

        return low + above(x - low) - above(x - high)


@register("dead_zone", symbol="dead_zone", shortcut=True)
class DeadZone(SignalPart):
    """A signal without what lies within a zone: zero inside, and beyond it the distance from the zone."""

    input: Value = law(None, "the signal that goes in", ...)
    zone: Range = special("range", "[low, high] between which the output is zero", ...)

    def quantity(self, name: str, scene: LawScene) -> Scalar:
        x = scene.law(self.input)
        return x - clamp(x, *(scene.law(edge) for edge in self.zone))


@register("sensor", symbol="sensor", shortcut=True)
class Sensor(SignalPart):
    """What an instrument shows: gain measures + offset, behind a lag where it has one."""

    measures: Value = law(None, "the quantity that is measured, or a law of several", ...)
    gain: Value = number(None, "what is shown for a unit", 1.0)
    offset: Value = number(None, "what is shown for nothing", 0.0)
    lag: Value | None = number(
        "time", "time in which a step is followed to 63 %; none if left out", None, range=POSITIVE
    )

    @property
    def states(self) -> tuple[tuple[str, str], ...]:
        return () if self.lag is None else (("output", PLAIN),)

    @property
    def late(self) -> frozenset[str]:
        return frozenset() if self.lag is None else frozenset({"measures"})

    def _shown(self, scene: LawScene) -> Scalar:
        """Without its lag."""
        return scene.law(self.gain) * scene.law(self.measures) + scene.law(self.offset)

    def consistent_values(self, scene: LawScene) -> Mapping[str, Scalar]:
        return {} if self.lag is None else {"output": self._shown(scene)}

    def state_rates(self, scene: PositionScene) -> Array:
        assert self.lag is not None  # else there is no state
        return tidy([(self._shown(scene) - self.state("output", scene)) / scene.law(self.lag)])

    def quantity(self, name: str, scene: PositionScene) -> Scalar:
        return self._shown(scene) if self.lag is None else self.state("output", scene)
