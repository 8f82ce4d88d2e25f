"""An FMU for Model Exchange as a part with states: they are states of the whole system, and integrated with it.

Its derivatives enter the rate of the system, its inputs are laws of the same instant, and so are its outputs: there is
no sampling.  The FMU computes; its derivatives by states and inputs are its own where it gives them.  What it does
follows from time, states, parameters and inputs as long as no event happens, and from the events before.  These are
events of the system (``fmu_events.py``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kinode.algebra.named_data import NamedData
from kinode.algebra.scalars import Array, Scalar, apply, tidy
from kinode.errors import ModelError
from kinode.fmi.fmu_description import FmuDescription, FmuEntry
from kinode.model.base.events import Sampler
from kinode.model.base.fields import Value, unknown
from kinode.model.base.scene import LawScene, PositionScene
from kinode.model.signals.continuous import PLAIN
from kinode.model.signals.fmu_events import TICKET, FmuWithEvents
from kinode.model.signals.fmu_fields import FmuText, find_missing, is_continuous, is_real, plain_name

if TYPE_CHECKING:
    from kinode.fmi.fmu_functions import FmuFunctions
    from kinode.fmi.fmu_memory import MemoryChecks


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
            raise ModelError(f"is needed: {why}", component=self.name, field="period")
        for missing in find_missing(self.entries("inputs")):
            message = f"{missing} is missing: of an array all entries are given, or none"
            raise ModelError(message, component=self.name, field="inputs")
        names = self.state_names
        for name in names:
            if names.count(name) > 1 or name in (*self.input_names, *self.parameter_names):
                message = f"two of its variables would be called {name!r} here, one of them a state; give a period="
                raise ModelError(message, component=self.name, field="file")
        variables = dict(zip(names, map(str, self.description.states), strict=True))
        for name, variable in self.outputs or ():
            if variables.get(name, variable) != variable:
                message = f"{name!r} is its state {variables[name]}: give the output another name, {{name: variable}}"
                raise ModelError(message, component=self.name, field="outputs")

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
        from kinode.fmi.fmu_instances import CURE

        asked = "asks for an event there" if result == 1 else "asks for the end of the run"
        return f"the FMU {self.file.package.name} {asked}" + (f", {CURE}" if result == 1 else "")

    @cached_property
    def _checks(self) -> MemoryChecks:
        from kinode.fmi.fmu_memory import MemoryChecks

        return MemoryChecks()

    def find_memory(self, scene: PositionScene, span: float) -> str | None:
        from kinode.fmi.fmu_memory import find_memory

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
