"""FMUs as parts: sampled where a period is given; else their states are states of the whole system.

Sampled, one for Co-Simulation takes its own steps, and one for Model Exchange is integrated from tick to tick.  At each
tick the FMU goes from the last tick to this one, with the inputs that were sampled at the last; its outputs are read
then, and are constant until the next tick.  So an input acts on the states inside one period later, as with every
co-simulation.  At the first tick the FMU is initialized, with its parameters and the inputs at that time.  The states
inside the FMU are its own.  ``ticket`` is a discrete state that names the instance and how far it went, so that several
runs at a time have instances of their own; a run cannot go on from a state that the FMU has left.

Not sampled, an FMU for Model Exchange is integrated with the system.  Its derivatives enter the rate of the system, its
inputs are laws of the same instant, and so are its outputs.  The FMU computes; its derivatives by states and inputs are
its own where it gives them.  What it does follows from time, states, parameters and inputs as long as no event happens,
and from the events before.  These are events of the system: each event indicator has a mode, its sign, whose change is
located as all others are.  The time that the FMU announced for its next event is a discrete state, and so is what the
events before have left in it: a ``ticket``, by which its instances are brought there (``fmi/fmu_instance.py``).  At an
event the FMU gives new states, a new ticket, the next time, and outputs that change at events alone.  It is asked only
once a step is accepted and the event is located; what it answers follows from its arguments, so that an answer that is
not used does no harm.  An FMU that asks for an event after a completed step gets one there.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np

from kinode.algebra.named_data import NamedData
from kinode.algebra.scalars import Array, Scalar, apply, less, tidy, where
from kinode.errors import ModelError
from kinode.fmi.fmu_description import FmuDescription, FmuEntry
from kinode.fmi.fmu_instance import Entry, FmuInstance
from kinode.model.base.events import Root, Sampler
from kinode.model.base.fields import Value, choice, special, unknown
from kinode.model.base.kinds import register
from kinode.model.base.scene import LawScene, PositionScene
from kinode.model.signals.continuous import PLAIN
from kinode.model.signals.fmu_fields import FmuPart, FmuText, find_missing, is_continuous, is_real, plain_name
from kinode.model.signals.sampling import Memory, Sampled

if TYPE_CHECKING:
    from kinode.fmi.fmu_functions import FmuFunctions, MemoryChecks


TICKET, NEXT = "ticket", "next_event"
NEVER = 1e29  # s: beyond this there is no next event


class FmuWithEvents(FmuPart):
    """The part of it that deals with events."""

    events: bool | None

    @abstractmethod
    def evaluate_all(
        self, number: int, scene: PositionScene, states: Sequence[Scalar] | None = None, more: Sequence[Scalar] = ()
    ) -> list[Scalar]:
        """All results of a function of the FMU."""

    @property
    @abstractmethod
    def state_names(self) -> tuple[str, ...]:
        """The names of its states here."""

    @cached_property
    def eventful(self) -> bool:
        """Whether it may have events: as is given, else by its description."""
        if self.events is not None:
            return self.events
        description = self.description
        kind = description.model_exchange
        discrete = any(
            not is_continuous(FmuEntry(v)) for v in description.variables.values() if v.causality == "output"
        )
        return kind is not None and (description.n_indicators > 0 or kind.steps_matter or discrete)

    def is_held(self, entry: FmuEntry) -> bool:
        """Whether an output changes at events alone."""
        return self.eventful and not is_continuous(entry)

    @cached_property
    def flowing_channels(self) -> tuple[str, ...]:
        """The names of outputs that follow time, states and inputs at once."""
        pairs = zip(self.output_channels, self.entries("outputs"), strict=True)
        return tuple(name for name, entry in pairs if not self.is_held(entry))

    @cached_property
    def sign_names(self) -> tuple[str, ...]:
        """The names of the modes of its event indicators: 1 while they are positive, else 0."""
        return tuple(f"indicator{k + 1}" for k in range(self.description.n_indicators if self.eventful else 0))

    @cached_property
    def changed_names(self) -> tuple[str, ...]:
        """The names of what changes at events alone, in the order of the FMU's answer."""
        held = (name for name in self.output_channels if name not in self.flowing_channels)
        return (TICKET, NEXT, *self.sign_names, *held) if self.eventful else ()

    @property
    def discrete_states(self) -> tuple[tuple[str, str], ...]:
        return tuple((name, PLAIN) for name in self.changed_names)

    def initial_discrete_states(self, resolve: Callable[[Any], Any]) -> Array:
        return np.zeros(len(self.changed_names))  # until the FMU is initialized

    @property
    def event_functions(self) -> tuple[Root, ...]:
        """The time of the next event, an event that is asked for after a step, and the signs of indicators."""
        if not self.eventful:
            return ()
        signs = []
        for k, name in enumerate(self.sign_names):
            words = (f"{name} is positive", f"{name} is not")
            signs.append(Root(name, 1.0, 0.0, partial(self._indicator, k, 1.0), words=words))
            signs.append(Root(name, 0.0, 1.0, partial(self._indicator, k, -1.0), words=words[::-1]))
        return (Root(None, 0.0, 0.0, self._until_next, by_state=True), Root(None, 0.0, 0.0, _never), *signs)

    @property
    def step_event(self) -> int | None:
        """Which of its event functions stands for an event that it asks for after a step."""
        return 1 if self.eventful else None

    def _until_next(self, scene: PositionScene) -> Scalar:
        at = scene.discrete_states(self.name)[NEXT]
        return where(less(at, NEVER), at - scene.t, 1.0)

    def _indicator(self, k: int, sign: float, scene: PositionScene) -> Scalar:
        from kinode.fmi.fmu_functions import INDICATORS

        return sign * self.evaluate_all(INDICATORS, scene)[k]

    def reset(self, scene: PositionScene, fired: Sequence[Any]) -> Mapping[str, Any]:
        """What the FMU changes at an event."""
        from kinode.fmi.fmu_functions import EVENT

        happens = sum(fired[1:], fired[0])
        due = scene.discrete_states(self.name)[NEXT]
        values = self.evaluate_all(EVENT, scene, more=(happens, due))
        return dict(zip((*self.state_names, *self.changed_names), values, strict=True))


def _never(scene: PositionScene) -> Scalar:
    """An event function that is never zero."""
    return 1.0


def why_sampled(
    description: FmuDescription, inputs: Sequence[FmuEntry], outputs: Sequence[FmuEntry], eventful: bool
) -> str | None:
    """Why the states of an FMU cannot be states of the system, in words; None if they can."""
    if description.model_exchange is None:
        return "the FMU is for Co-Simulation, and takes its own steps"
    if description.n_indicators and not eventful:
        return "the FMU has event indicators, and events=False"
    for entry in inputs:
        if not is_real(entry) or entry.variable.variability in ("discrete", "tunable", "fixed"):
            return f"its input {entry} is no continuous number, and changes at samples alone"
    for entry in outputs:
        if not is_real(entry) and (not eventful or is_continuous(entry)):
            return f"its output {entry} is no real number of 64 bits, and is read at samples alone"
    return None


class FmuWithStates(FmuWithEvents):
    """The part while no period is given."""

    def check_states(self) -> None:
        """Refuse what an FMU without samples cannot be."""
        why = why_sampled(self.description, self.entries("inputs"), self.entries("outputs"), self.eventful)
        if why is not None:
            raise self.error_at("period", f"is needed: {why}")
        for missing in find_missing(self.entries("inputs")):
            raise self.error_at("inputs", f"{missing} is missing: of an array all entries are given, or none")
        names = self.state_names
        for name in names:
            if names.count(name) > 1 or name in (*self.input_names, *self.parameter_names):
                message = f"two of its variables would be called {name!r} here, one of them a state; give a period="
                raise self.error_at("file", message)
        variables = dict(zip(names, map(str, self.description.states), strict=True))
        for name, variable in self.outputs or ():
            if variables.get(name, variable) != variable:
                message = f"{name!r} is its state {variables[name]}: give the output another name, {{name: variable}}"
                raise self.error_at("outputs", message)

    # -- its functions -----------------------------------------------------------------------------
    @cached_property
    def functions(self) -> FmuFunctions:
        """What the FMU computes."""
        from kinode.fmi.fmu_functions import FmuFunctions, FmuWiring

        pairs = list(zip(self.entries("parameters"), (value for _, value in self.parameters), strict=True))
        try:
            return FmuFunctions(
                FmuWiring(
                    self.file, self.name, tuple(self.entries("inputs")),
                    tuple(entry for entry in self.entries("outputs") if not self.is_held(entry)),
                    tuple(entry for entry, value in pairs if not isinstance(value, FmuText)),
                    tuple((entry, value) for entry, value in pairs if isinstance(value, FmuText)),
                    self.eventful, tuple(entry for entry in self.entries("outputs") if self.is_held(entry)),
                )
            )  # fmt: skip
        except ModelError as error:
            raise error.located(component=self.name) from None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("functions", "_checks")}

    @property
    def doors(self) -> Mapping[str, NamedData]:
        return {self.functions.door.name: self.functions.door}

    @property
    def foreign_code(self) -> str:
        return self.file.digest

    def _arguments(self, scene: PositionScene, inputs: Sequence[int]) -> list[Scalar]:
        """Time, states, parameters, the ticket, and some of the inputs."""
        numbers = [scene.law(value) for _, value in self.parameters if not isinstance(value, FmuText)]
        ticket = [scene.discrete_states(self.name)[TICKET]] if self.eventful else []
        states = scene.other_states(self.name) if self.state_names else ()
        return [scene.t, *states, *numbers, *ticket, *(scene.law(self.inputs[k][1]) for k in inputs)]

    def evaluate_all(
        self,
        number: int,
        scene: PositionScene,
        states: Sequence[Scalar] | None = None,
        more: Sequence[Scalar] = (),
    ) -> list[Scalar]:
        """All results of a function of all inputs."""
        if states is None:
            arguments = self._arguments(scene, range(len(self.inputs)))
        else:  # at the start, before there is a state
            numbers = [scene.law(value) for _, value in self.parameters if not isinstance(value, FmuText)]
            ticket = [0.0] if self.eventful else []
            arguments = [scene.t, *states, *numbers, *ticket, *(scene.law(law) for _, law in self.inputs)]
        return [apply("external", result, *arguments, *more) for result in self.functions.find_all(number)]

    # -- states ------------------------------------------------------------------------------------
    @cached_property
    def state_names(self) -> tuple[str, ...]:
        """The names of its states here."""
        return tuple(plain_name(str(entry)) for entry in self.description.states)

    @property
    def states(self) -> tuple[tuple[str, str], ...]:
        return tuple((name, PLAIN) for name in self.state_names)

    def consistent_values(self, scene: PositionScene) -> Mapping[str, Scalar]:
        """The states after the FMU's own initialization, with the parameters and inputs at the start."""
        from kinode.fmi.fmu_functions import START

        values = self.evaluate_all(START, scene, [0.0] * len(self.state_names))
        return dict(zip((*self.state_names, *self.changed_names), values, strict=True))

    def state_rates(self, scene: PositionScene) -> Array:
        from kinode.fmi.fmu_functions import RATES

        return tidy(self.evaluate_all(RATES, scene))

    @property
    def asks_at_steps(self) -> bool:
        kind = self.description.model_exchange
        return kind is not None and kind.steps_matter

    def step_result(self, scene: PositionScene) -> Scalar:
        from kinode.fmi.fmu_functions import STEP

        return self.evaluate_all(STEP, scene)[0]

    def step_words(self, result: int) -> str:
        from kinode.fmi.fmu_pool import CURE

        asked = "asks for an event there" if result == 1 else "asks for the end of the run"
        return f"the FMU {self.file.package.name} {asked}" + (f", {CURE}" if result == 1 else "")

    @cached_property
    def _checks(self) -> MemoryChecks:
        from kinode.fmi.fmu_functions import MemoryChecks

        return MemoryChecks()

    def find_memory(self, scene: PositionScene, span: float) -> str | None:
        from kinode.fmi.fmu_functions import find_memory

        if not self._checks.wants(span):
            return None
        return find_memory(self.functions, [float(x) for x in self._arguments(scene, range(len(self.inputs)))])

    @property
    def trouble(self) -> Exception | None:
        return self.functions.pool.last_trouble

    # -- as quantities -----------------------------------------------------------------------------
    @property
    def clocks(self) -> tuple[Sampler, ...]:
        return ()

    def offered(self) -> Mapping[str, tuple[str, tuple[str, ...]]]:
        names = (*self.state_names, *self.output_channels, *self.input_names, *self.parameter_names)
        return dict.fromkeys((*names, *self.changed_names), (PLAIN, ()))

    @cached_property
    def feedthrough(self) -> Mapping[str, tuple[Value, ...]]:
        """The laws that each of its inputs and outputs follows at once."""
        laws = [law for _, law in self.inputs]
        direct: dict[str, tuple[Value, ...]] = {name: (law,) for name, law in zip(self.input_names, laws, strict=True)}
        entries = self.entries("inputs")
        for name, variable in self.outputs or ():
            known = self.description.dependencies.get(variable)
            needed = (law for e, law in zip(entries, laws, strict=True) if known is None or e.variable.name in known)
            if name not in self.state_names:
                direct[name] = () if name in self.changed_names else tuple(needed)
        return direct

    @property
    def immediate(self) -> frozenset[str]:
        return frozenset(name for name, laws in self.feedthrough.items() if laws)

    @property
    def late(self) -> frozenset[str]:
        return frozenset()

    def quantity(self, name: str, scene: PositionScene) -> Scalar:
        if name in self.state_names:
            return self.state(name, scene)
        if name in self.changed_names:
            return scene.discrete_states(self.name)[name]
        if name in self.output_channels:
            result, inputs = self.functions.find_output(self.flowing_channels.index(name))
            return apply("external", result, *self._arguments(scene, inputs))
        return self._given(name, scene)

    def _given(self, name: str, scene: LawScene) -> Scalar:
        """An input or a parameter."""
        if name in self.input_names:
            return scene.law(self.inputs[self.input_names.index(name)][1])
        numbers = [value for _, value in self.parameters if not isinstance(value, FmuText)]
        if name in self.parameter_names:
            return scene.law(numbers[self.parameter_names.index(name)])
        raise KeyError(unknown("it has no quantity", name, self.offered()))


ORDER = 64  # in lists of kinds
INSTANCE_TICKET = "ticket"


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
            raise self.error_at("file" if self.interface is None else "interface", message)
        if self.resolution is not None and not isinstance(self.resolution, float):
            raise self.error_at("resolution", "a plain number is expected: the FMU is called outside of the equations")
        if kind.fixed_step and not kind.variable_steps:
            steps = period / kind.fixed_step
            if abs(steps - round(steps)) > 1e-9 * steps or round(steps) < 1:
                message = f"must be a multiple of {kind.fixed_step:g} s, the step of the FMU, and is {period:g} s"
                raise self.error_at("period", message)

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
        return (INSTANCE_TICKET, *self.input_names, *self.parameter_names)

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
        if memory[INSTANCE_TICKET] == 0.0:
            instance = package.start(self.name, self.exchange)
            self._guarded(instance, lambda: self._begin(instance, t, memory, inputs))
        else:
            instance = package.take(memory[INSTANCE_TICKET], self.name, t)
            self._guarded(instance, lambda: instance.step(instance.time, t - instance.time))
        outputs = self._guarded(instance, lambda: self._exchange(instance, t, inputs))
        return {INSTANCE_TICKET: package.keep(instance), **self.give_out(outputs, memory, lambda value: value)}

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
                raise self.error_at(field, "is for an FMU that is sampled: give its period")
        if self.interface == "co_simulation":
            raise self.error_at("period", "is needed: for Co-Simulation the FMU takes its own steps")
        self.check_states()
