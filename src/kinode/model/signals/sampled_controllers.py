"""Sampled controllers: PID, transfer functions of z, state spaces of differences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from kinode.algebra.scalars import Scalar
from kinode.model.base.kinds import register
from kinode.model.base.scene import LawScene, PositionScene
from kinode.model.signals.linear_systems import Rational, StateSpaceMatrices, apply_row
from kinode.model.signals.pid import Regulator
from kinode.model.signals.sampling import Memory, Sampled

if TYPE_CHECKING:
    from kinode.model.system import System

ORDER = 200  # in lists of kinds


@register("sampled_pid", symbol="sampled_pid", shortcut=True)
class SampledPID(Regulator, Sampled):
    """A PID controller at the ticks of a clock; h is its period, the other words are those of ``pid``.

        derivative share = (filter_time old share + derivative (x - old x)) / (filter_time + h)
                           with x = c target - measured
        unlimited = proportional (b target - measured) + integral share + derivative share + feedforward
        output    = unlimited, kept within the limits
        next integral share = integral share + h integral e + h (output - unlimited) / tracking_time

    K. J. Astrom and B. Wittenmark, Computer-Controlled Systems, 3rd ed., Prentice-Hall 1997, section 8.5.
    """

    def check(self) -> None:
        super().check()
        if self.filter_time is not None and self.error_rate is not None:
            raise self.error_at("filter_time", "the rate is known: there is nothing to filter")

    @property
    def _differs(self) -> bool:
        """Whether the derivative is that of differences."""
        return self.derivative != 0.0 and self.error_rate is None

    @property
    def memory(self) -> tuple[str, ...]:
        """What the next sample needs, and what can be asked for: as of the last sample, the integral as it goes on."""
        gains = (gain for gain in ("proportional", "integral", "derivative") if getattr(self, gain) != 0.0)
        return (*self.given_signals, "unlimited", *gains, *(("previous",) if self._differs else ()))

    def initial_memory(self, resolve: Callable[[Any], Any]) -> Sequence[float]:
        return [float(resolve(self.initial)) if name == "integral" else 0.0 for name in self.memory]

    def consistent_values(self, scene: LawScene) -> Mapping[str, Scalar]:
        return {"previous": self.differentiated(scene)} if self._differs else {}

    def _derivative(self, scene: LawScene, memory: Memory, x: Scalar) -> Scalar:
        if self.error_rate is not None:
            return scene.law(self.derivative) * scene.law(self.error_rate)
        h, change = float(self.period), scene.law(self.derivative) * (x - memory["previous"])
        if self.filter_time is None:
            return change / h
        T = scene.law(self.filter_time)
        return (T * memory["derivative"] + change) / (T + h)

    def advance(self, scene: LawScene, memory: Memory) -> tuple[Sequence[Scalar], Mapping[str, Scalar]]:
        new: dict[str, Scalar] = {name: scene.law(getattr(self, name)) for name in self.given_signals}
        derivative: Scalar = 0.0
        if self.derivative != 0.0:
            x = self.differentiated(scene)
            derivative = self._derivative(scene, memory, x)
            new |= {"previous": x, "derivative": derivative}
        integral = memory["integral"] if self.integral != 0.0 else 0.0
        proportional = self.proportional_share(scene)
        unlimited = self.summed(scene, integral, derivative, proportional)
        new |= {"proportional": proportional, "unlimited": unlimited}
        output = self.limited(scene, unlimited)
        if self.integral != 0.0:
            h = float(self.period)
            integral = integral + h * scene.law(self.integral) * self.weighted(1.0, scene)
            if self.limits is not None:
                integral = integral + h * self.tracking(scene) * (output - unlimited)
            new["integral"] = integral
        return [output], {name: new[name] for name in self.memory}

    def quantity(self, name: str, scene: PositionScene) -> Scalar:
        states = scene.discrete_states(self.name)
        if name == "error" and self.error is None:
            return states["target"] - states["measured"]
        return states.get(name, 0.0)  # the share of a gain that is zero


@register("sampled_transfer_function", symbol="sampled_transfer_function", shortcut=True)
class SampledTransferFunction(Rational, Sampled):
    """A linear system of samples by its transfer function, coefficients of powers of z."""

    leading_fields: ClassVar[tuple[str, ...]] = ("input",)
    improper: ClassVar[str] = "the output would need samples that are still to come"

    def check_in(self, system: System) -> None:
        super().check_in(system)
        if system.nominal(self.initial) != 0.0:
            total = sum(system.nominal(x) for x in self.numerator)
            if self.order == 0 or abs(total) <= 1e-12 * max(abs(system.nominal(x)) for x in self.numerator):
                why = "there is no state" if self.order == 0 else "the numerator is 0 at z = 1"
                raise self.error_at("initial", f"no steady output but 0 is possible: {why}")

    @property
    def memory(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.state_names())

    def initial_memory(self, resolve: Callable[[Any], Any]) -> Sequence[float]:
        """In a steady state all are the same, and the output is the sum of the numerator times that."""
        if self.initial == 0.0:
            return [0.0] * self.order
        lead = float(resolve(self.denominator[len(self.denominator) - 1 - self.order]))
        each = float(resolve(self.initial)) * lead / sum(float(resolve(x)) for x in self.numerator)
        return [each] * self.order

    def advance(self, scene: LawScene, memory: Memory) -> tuple[Sequence[Scalar], Mapping[str, Scalar]]:
        a, c, d = self.fractions(scene.law)
        x, given = [memory[name] for name in self.memory], scene.law(self.input)
        output = apply_row(c, x) + (d * given if self.direct else 0.0)
        return [output], dict(zip(self.memory, [*x[1:], given - apply_row(a, x)], strict=True)) if x else {}


@register("sampled_state_space", symbol="state_space", shortcut=True)
class SampledStateSpace(StateSpaceMatrices, Sampled):
    """A linear system of samples by its matrices: next x = A x + B inputs, outputs = C x + D inputs."""

    leading_fields: ClassVar[tuple[str, ...]] = ("inputs",)

    @property
    def memory(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.state_names())

    def initial_memory(self, resolve: Callable[[Any], Any]) -> Sequence[float]:
        return self.state_values(resolve)

    def advance(self, scene: LawScene, memory: Memory) -> tuple[Sequence[Scalar], Mapping[str, Scalar]]:
        x = [memory[name] for name in self.memory]
        return self.shown(scene, x), dict(zip(self.memory, self.stepped(scene, x), strict=True))
