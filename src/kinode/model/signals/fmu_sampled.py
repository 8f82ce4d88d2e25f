"""An FMU as a part: sampled, where a period is given; else its states are states of the system (``fmu_states.py``).

Sampled, one for Co-Simulation takes its own steps, and one for Model Exchange is integrated from tick to tick.

At each tick the FMU goes from the last tick to this one, with the inputs that were sampled at the last; its outputs are
read then, and are constant until the next tick.  So an input acts on the states inside one period later, as with every
co-simulation.  At the first tick the FMU is initialized, with its parameters and the inputs at that time.

The states inside the FMU are its own.  ``ticket`` is a discrete state that names the instance and how far it went, so
that several runs at a time have instances of their own; a run cannot go on from a state that the FMU has left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar, Self, cast

from kinode.algebra.scalars import Scalar
from kinode.errors import ModelError
from kinode.fmi.fmu_instance import Entry, FmuInstance
from kinode.model.base.events import Sampler
from kinode.model.base.fields import choice, special, unknown
from kinode.model.base.registration import register
from kinode.model.base.scene import LawScene, PositionScene
from kinode.model.signals.continuous import PLAIN
from kinode.model.signals.fmu_fields import FmuPart, FmuText
from kinode.model.signals.fmu_states import FmuWithStates
from kinode.model.signals.sampling import Memory, Sampled

ORDER = 64  # in lists of kinds
TICKET = "ticket"


@register("fmu", symbol="controller", shortcut=True)
class SampledFmu(FmuPart, Sampled):
    """An FMU: sampled at each tick of a clock, or, for Model Exchange without a period, with states of the system."""

    leading_fields: ClassVar[tuple[str, ...]] = ("file",)
    interface: str | None = choice(
        ("co_simulation", "model_exchange"),
        "which of its kinds; with a period that with its own solver if it has one", None,
    )  # fmt: skip
    period: Fraction | None = special(  # type: ignore[assignment]
        "clock", "time between samples, 1 ms, or their rate, 1 kHz; without it its states are states of the system"
    )

    events: bool | None = special("flag", "whether it may have events, without a period; found out if left out")

    @classmethod
    def positional_fields(cls) -> tuple[str, ...]:
        return ("file", "period")

    def __new__(cls, *values: Any, **named: Any) -> Self:
        """A part with states of the system if no period is given."""
        if cls is SampledFmu and named and named.get("period") is None:
            return cast(Self, object.__new__(ContinuousFmu))
        return object.__new__(cls)

    def check(self) -> None:
        super().check()
        assert self.period is not None
        description, period = self.description, float(self.period)
        kind = description.model_exchange if self.exchange else description.co_simulation
        if kind is None:
            message = "the FMU is for neither Co-Simulation nor Model Exchange"
            if self.interface is not None or description.co_simulation is not None:
                message = f"the FMU is not for {'Model Exchange' if self.exchange else 'Co-Simulation'}"
            raise ModelError(message, component=self.name, field="file" if self.interface is None else "interface")
        if self.resolution is not None and not isinstance(self.resolution, float):
            message = "a plain number is expected: the FMU is called outside of the equations"
            raise ModelError(message, component=self.name, field="resolution")
        if kind.fixed_step and not kind.variable_steps:
            steps = period / kind.fixed_step
            if abs(steps - round(steps)) > 1e-9 * steps or round(steps) < 1:
                message = f"must be a multiple of {kind.fixed_step:g} s, the step of the FMU, and is {period:g} s"
                raise ModelError(message, component=self.name, field="period")

    @property
    def exchange(self) -> bool:
        """Whether it is integrated here."""
        if self.interface is None:
            return self.description.co_simulation is None
        return self.interface == "model_exchange"

    # -- sampled -----------------------------------------------------------------------------------
    @property
    def channels(self) -> tuple[str, ...]:
        return self.output_channels

    @property
    def output_names(self) -> tuple[str, ...]:
        return self.output_channels

    @property
    def _queue(self) -> list[list[str]]:
        return [[f"waiting{k + 1}_{name}" for k in range(self.delay)] for name in self.output_names]

    @property
    def memory(self) -> tuple[str, ...]:
        return (TICKET, *self.input_names, *self.parameter_names)

    @property
    def clocks(self) -> tuple[Sampler, ...]:
        """Two clocks: the first samples the inputs in compiled code, the second takes the FMU's step."""
        assert self.period is not None
        reads = tuple(f"{self.name}.{name}" for name, _ in self.discrete_states)
        return (Sampler(self.period, self.phase), Sampler(self.period, self.phase, reads, self.call, "an FMU"))

    def sample(self, scene: LawScene, ticked: Sequence[Any]) -> Mapping[str, Any]:
        numbers = [value for _, value in self.parameters if not isinstance(value, FmuText)]
        values = (*(law for _, law in self.inputs), *numbers)
        names = (*self.input_names, *self.parameter_names)
        return {name: scene.law(value) for name, value in zip(names, values, strict=True)}

    def call(self, t: float, values: Mapping[str, Any]) -> Memory:
        """Take the FMU to this tick, and return its outputs."""
        package = self.file.package
        memory = {name.removeprefix(f"{self.name}."): value for name, value in values.items()}
        inputs: list[Entry] = list(zip(self.entries("inputs"), (memory[n] for n in self.input_names), strict=True))
        if memory[TICKET] == 0.0:
            instance = package.start(self.name, self.exchange)
            self._guarded(instance, lambda: self._begin(instance, t, memory, inputs))
        else:
            instance = package.take(memory[TICKET], self.name, t)
            self._guarded(instance, lambda: instance.step(instance.time, t - instance.time))
        outputs = self._guarded(instance, lambda: self._exchange(instance, t, inputs))
        return {TICKET: package.keep(instance), **self.give_out(outputs, memory, lambda value: value)}

    def _exchange(self, instance: FmuInstance, t: float, inputs: list[Entry]) -> list[float]:
        """Give the inputs of this tick, and read the outputs: those of a step before it, those of states behind it."""
        instance.time = t
        outputs = [] if instance.answers_at_once else instance.get(self.entries("outputs"))
        instance.set_inputs(inputs)
        return instance.get(self.entries("outputs")) if instance.answers_at_once else outputs

    def _begin(self, instance: FmuInstance, t: float, memory: Mapping[str, float], inputs: list[Entry]) -> None:
        instance.initialize(t, self.parameter_values(lambda name: memory[name]), inputs)

    @staticmethod
    def _guarded(instance: FmuInstance, do: Callable[[], Any]) -> Any:
        """Do something with an instance; it is freed if that fails."""
        try:
            return do()
        except BaseException:
            instance.close()
            raise

    # -- as quantities -----------------------------------------------------------------------------
    def offered(self) -> Mapping[str, tuple[str, tuple[str, ...]]]:
        return {name: (PLAIN, ()) for name, _ in self.discrete_states}

    def quantity(self, name: str, scene: PositionScene) -> Scalar:
        states = scene.discrete_states(self.name)
        if name not in states:
            raise KeyError(unknown("it has no quantity", name, states))
        return states[name]


CLOCKED = {"phase": Fraction(0), "delay": 0, "resolution": None, "before": 0.0}  # fields of samples, when left out


class ContinuousFmu(FmuWithStates, SampledFmu):
    """An FMU for Model Exchange whose states are states of the system."""

    def check(self) -> None:
        FmuPart.check(self)
        for field, left_out in CLOCKED.items():
            if getattr(self, field) != left_out:
                raise ModelError("is for an FMU that is sampled: give its period", component=self.name, field=field)
        if self.interface == "co_simulation":
            message = "is needed: for Co-Simulation the FMU takes its own steps"
            raise ModelError(message, component=self.name, field="period")
        self.check_states()
