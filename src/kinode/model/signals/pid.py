"""The PID controller: one part, whose gains make it P, PI, PD or PID; its fields serve the sampled one too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array, Scalar, tidy
from kinode.model.base.fields import POSITIVE, Value, law, number, record, special
from kinode.model.base.kinds import register
from kinode.model.base.scene import LawScene, PositionScene
from kinode.model.signals.continuous import PLAIN, Range, SignalPart, clamp

ORDER = 170  # in lists of kinds

SHARES = ("unlimited", "error", "proportional", "integral", "derivative")  # what can be asked for beside the output


@record
class Regulator(SignalPart):
    """What PID controllers take, and what is the same for all of them."""

    error: Value | None = law(None, "what is to become zero: target less measured, in one law")
    target: Value | None = law(None, "instead of error: what the measured signal should be")
    measured: Value | None = law(None, "with target: what is measured")
    proportional: Value = law(None, "output for a unit of error", 0.0)
    integral: Value = law(None, "growth of the output, in a second, for a unit of error", 0.0)
    derivative: Value = law(None, "output for a unit of the error's rate", 0.0)
    filter_time: Value | None = number("time", "lag of the derivative", None, range=POSITIVE)
    error_rate: Value | None = law(None, "rate of the error where it is known, such as -elbow.u")
    proportional_weight: Value = number("dimensionless", "share of the target in the proportional part", 1.0)
    derivative_weight: Value = number("dimensionless", "share of the target in the derivative part", 1.0)
    feedforward: Value = law(None, "added to the output", 0.0)
    limits: Range | None = special("range", "[low, high] of the output")
    tracking_time: Value | None = number(
        "time", "time in which limits empty the integral; proportional/integral", None, range=POSITIVE
    )
    initial: Value = number(None, "integral share at the start", 0.0, aside=True)

    def check(self) -> None:
        super().check()
        halves = [half for half in (self.target, self.measured) if half is not None]
        if len(halves) != (0 if self.error is not None else 2):
            raise self.error_at("error", "takes an error, or a target and what is measured")
        weights = [w for w in ("proportional_weight", "derivative_weight") if getattr(self, w) != 1.0]
        if self.error is not None and weights:
            raise self.error_at(weights[0], "is for a target and a measured signal")
        if self.derivative == 0.0 and (self.filter_time is not None or self.error_rate is not None):
            field = "filter_time" if self.filter_time is not None else "error_rate"
            raise self.error_at(field, "is for a derivative gain, which is zero")
        if self.limits is not None and self.integral != 0.0 and self.tracking_time is None:
            P, I = self.proportional, self.integral
            if P == 0.0 or (isinstance(P, float) and isinstance(I, float) and P * I < 0):
                message = "is needed: proportional/integral is no time that the limits could empty the integral in"
                raise self.error_at("tracking_time", message)
        if self.tracking_time is not None and (self.limits is None or self.integral == 0.0):
            raise self.error_at("tracking_time", "is for an integral gain and limits of the output")
        if self.initial != 0.0 and self.integral == 0.0:
            raise self.error_at("initial", "is for an integral gain, which is zero")

    @property
    def given_signals(self) -> tuple[str, ...]:
        """The fields that say what goes in."""
        return ("error",) if self.error is not None else ("target", "measured")

    def offered(self) -> Mapping[str, tuple[str, tuple[str, ...]]]:
        return {**super().offered(), **dict.fromkeys((*SHARES, *self.given_signals), (PLAIN, ()))}

    def weighted(self, weight: Value, scene: LawScene) -> Scalar:
        """The error with a share of the target."""
        if self.error is not None:
            return scene.law(self.error)
        assert self.target is not None and self.measured is not None
        return scene.law(weight) * scene.law(self.target) - scene.law(self.measured)

    def differentiated(self, scene: LawScene) -> Scalar:
        """The weighted error of the derivative share."""
        return self.weighted(self.derivative_weight, scene)

    def tracking(self, scene: LawScene) -> Scalar:
        """One over the time in which limits empty the integral."""
        if self.tracking_time is not None:
            return 1.0 / scene.law(self.tracking_time)
        return scene.law(self.integral) / scene.law(self.proportional)

    def proportional_share(self, scene: LawScene) -> Scalar:
        """The share of the output that follows the error."""
        if self.proportional == 0.0:
            return 0.0
        return scene.law(self.proportional) * self.weighted(self.proportional_weight, scene)

    def summed(self, scene: LawScene, *shares: Scalar) -> Scalar:
        """All shares of the output together, without limits."""
        return sum(shares, scene.law(self.feedforward))

    def limited(self, scene: LawScene, total: Scalar) -> Scalar:
        """Kept within the limits."""
        return total if self.limits is None else clamp(total, *(scene.law(x) for x in self.limits))


@register("pid", symbol="pid", shortcut=True)
class PID(Regulator):
    """A PID controller; gains that are left out are zero, so that P, PI and PD are PIDs too.

    With the error e = target - measured, b and c the weights of the target, and limits that hold the output:

        unlimited = proportional (b target - measured) + integral share + derivative share + feedforward
        output    = unlimited, kept within the limits
        d(integral share)/dt = integral e + (output - unlimited) / tracking_time    (back-calculation: no windup)
        derivative share = derivative d/dt (c target - measured), through a lag of filter_time, or derivative error_rate

    K. J. Astrom and T. Hagglund, Advanced PID Control, ISA 2006, sections 3.3 to 3.5.
    """

    def check(self) -> None:
        super().check()
        if self.derivative != 0.0 and (self.filter_time is None) == (self.error_rate is None):
            raise self.error_at("derivative", "needs filter_time or error_rate, one of them")

    @property
    def states(self) -> tuple[tuple[str, str], ...]:
        states = (("integral", PLAIN),) if self.integral != 0.0 else ()
        return (*states, ("filtered", PLAIN)) if self.filter_time is not None else states

    def initial_states(self, resolve: Callable[[Any], Any]) -> Array:
        return np.array([resolve(self.initial) if name == "integral" else 0.0 for name, _ in self.states], dtype=float)

    def consistent_values(self, scene: LawScene) -> Mapping[str, Scalar]:
        return {} if self.filter_time is None else {"filtered": self.differentiated(scene)}

    def state_rates(self, scene: PositionScene) -> Array:
        rates = []
        if self.integral != 0.0:
            rate = scene.law(self.integral) * self.quantity("error", scene)
            if self.limits is not None:
                excess = self.quantity("output", scene) - self.quantity("unlimited", scene)
                rate = rate + excess * self.tracking(scene)
            rates.append(rate)
        if self.filter_time is not None:
            rates.append(self._slack(scene) / scene.law(self.filter_time))
        return tidy(rates)

    def _slack(self, scene: PositionScene) -> Scalar:
        """The difference between the input and the output of the derivative filter."""
        return self.differentiated(scene) - self.state("filtered", scene)

    @property
    def immediate(self) -> frozenset[str]:
        """The quantities that depend directly on laws; the output of an integral alone is a state."""
        names = {"error", "proportional", *self.given_signals, *(("derivative",) if self.derivative != 0.0 else ())}
        direct = any(gain != 0.0 for gain in (self.proportional, self.derivative, self.feedforward))
        return frozenset(names | {"output", "unlimited"}) if direct else frozenset(names)

    def quantity(self, name: str, scene: PositionScene) -> Scalar:
        match name:
            case "error":
                return self.weighted(1.0, scene)
            case "target" | "measured":
                return scene.law(getattr(self, name))
            case "filtered":
                return self.state("filtered", scene)
            case "proportional":
                return self.proportional_share(scene)
            case "integral":
                return self.state("integral", scene) if self.integral != 0.0 else 0.0
            case "derivative" if self.error_rate is not None:
                return scene.law(self.derivative) * scene.law(self.error_rate)
            case "derivative":
                if self.filter_time is None:
                    return 0.0
                return scene.law(self.derivative) * self._slack(scene) / scene.law(self.filter_time)
        shares = (self.quantity(share, scene) for share in ("integral", "derivative", "proportional"))
        total = self.summed(scene, *shares)
        return total if name == "unlimited" else self.limited(scene, total)
