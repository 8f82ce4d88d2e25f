"""The events of an FMU for Model Exchange whose states are states of the system.

Each event indicator has a mode, its sign; the change of a sign is an event of the system, located as all others are.
The time that the FMU announced for its next event is a discrete state, and so is what the events before have left in
the FMU: a ``ticket``, by which its instances are brought there (``fmi/fmu_histories.py``).  At an event the FMU gives
new states, a new ticket, the next time, and outputs that change at events alone.  It is asked only once a step is
accepted and the event is located; what it answers follows from its arguments, so that an answer that is not used does
no harm.

An FMU that asks for an event after a completed step gets one there.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array, Scalar, less, where
from kinode.fmi.fmu_description import FmuEntry
from kinode.model.base.events import Root
from kinode.model.base.scene import PositionScene
from kinode.model.signals.continuous import PLAIN
from kinode.model.signals.fmu_fields import FmuPart, is_continuous

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
