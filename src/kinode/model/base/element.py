"""The base class of elements, which load bodies.

An element is one class.  ``wrenches(scene)`` gives its loads on bodies.  ``potential(scene)`` gives its potential
energy if it has one; the contract test checks that the loads are its negative gradient.  ``quantities`` lists its named
results. The scene (scene.py) gives poses, velocities and values of laws, in any scalar type.  The kinds are in the
packages ``elements``, ``environment``, ``network`` and ``signals``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from kinode.algebra.named_data import NamedData
from kinode.algebra.scalars import Array, Scalar
from kinode.errors import ModelError
from kinode.model.base.fields import Component, Value, plain_number, record
from kinode.model.base.frames import LETTERS, UNIT_LENGTH_ROUNDING, Frame, axis_vector
from kinode.model.base.kinds import Registry

if TYPE_CHECKING:
    from kinode.model.base.scene import PositionScene, Scene, VelocityScene
    from kinode.model.system import System


ELEMENTS: Registry[Element] = Registry()


@dataclass(frozen=True, eq=False)
class Load:
    """A force and a moment on a body, at the origin of a frame, in world axes."""

    on: Frame
    force: Array
    moment: Array
    at: Array | None = None  # point of application in world axes; None: the frame's origin


class RepeatableFields(NamedTuple):
    """The fields that tell elements of a kind apart in a loop over many of them."""

    frames: tuple[str, ...]
    numbers: tuple[str, ...]


@record
class Element(Component):
    """Something that loads bodies."""

    section: ClassVar[str] = "elements"
    kind_registry: ClassVar[Registry[Any]] = ELEMENTS
    quantities: ClassVar[dict[str, str]] = {}  # name -> dimension
    single: ClassVar[frozenset[str]] = frozenset()  # the quantities that are one number; the others are vectors
    lawful: ClassVar[frozenset[str]] = frozenset({"tension", "force", "moment"})  # those given by its laws
    pushes: ClassVar[bool] = True  # whether it acts on bodies by itself
    everywhere: ClassVar[bool] = False  # whether it acts on every body, not at frames of its own

    def offered(self) -> Mapping[str, tuple[str, tuple[str, ...]]]:
        """Its quantities by name: the unit, and the names of the components of a vector."""
        return {name: (unit, () if name in self.single else ("x", "y", "z")) for name, unit in self.quantities.items()}

    @property
    def immediate(self) -> frozenset[str]:
        """The quantities that depend directly on its laws: a law that uses them may depend on itself."""
        return self.lawful

    @property
    def conservative(self) -> bool:
        """Whether it only stores energy, as far as that is known."""
        return False

    def wrenches(self, scene: VelocityScene) -> Sequence[Load]:
        raise NotImplementedError

    def repeatable(self) -> RepeatableFields | None:
        """Its fields, if its loads depend on their values and on the motion of its frames alone; else None."""
        return None

    def efforts(self, scene: VelocityScene) -> Mapping[str, Scalar]:
        """Its efforts in joints of one freedom, by their names."""
        return {}

    def potential(self, scene: PositionScene) -> Scalar:
        return 0.0

    def quantity(self, name: str, scene: Scene) -> Scalar:
        raise KeyError(name)

    @property
    def feedthrough(self) -> Mapping[str, tuple[Value, ...]] | None:
        """The laws that each of its quantities follows at once, where they differ; None: all of them follow all."""
        return None

    @property
    def doors(self) -> Mapping[str, NamedData]:
        """Where compiled code finds functions that it brings, by name (``named_data.py``)."""
        return {}

    @property
    def foreign_code(self) -> str:
        """What tells the functions that it brings from others."""
        return ""

    @property
    def asks_at_steps(self) -> bool:
        """Whether it wants to know of every completed step of a run."""
        return False

    def step_result(self, scene: PositionScene) -> Any:
        """Tells it of a completed step: 0, or 1 if it cannot go on without an event, 2 if it ends the run."""
        return 0.0

    @property
    def step_event(self) -> int | None:
        """Which of its event functions triggers where ``step_result`` is 1; None: the run ends there."""
        return None

    def step_words(self, result: int) -> str:
        """Why it cannot go on after a step, in words."""
        return ""

    @property
    def trouble(self) -> Exception | None:
        """Why a function that it brings had no result in this thread, if one had none."""
        return None

    def find_memory(self, scene: PositionScene, span: float) -> str | None:
        """What shows, after a run of a length, that its functions remember more than their arguments, in words."""
        return None

    def check(self) -> None:
        """Refuse numbers out of their ranges, and combinations of fields that contradict each other."""
        self.check_numbers(plain_number)

    def check_in(self, system: System) -> None:
        """Check it in the finished system."""

    def placed(self, world: Frame) -> Element:
        """The element with the frame ``world`` in place of its world: its directions in world axes turn with it."""
        return self


def check_still(world: Frame, turned: Iterable[Any], component: str, field: str) -> None:
    """Refuse a direction in world axes if ``world`` is a frame that moves, or whose rotation is not plain numbers."""
    if world.body != "world" or not all(isinstance(x, float) for x in turned):
        why = f"stands on {world}" if world.body != "world" else "is turned by parameters"
        message = f"is a direction that stands still, and the world of its subsystem {why}"
        raise ModelError(message, component=component, field=field)


def turned_letter(component: Component, field: str, world: Frame) -> str:
    """The axis of the outer system that a world axis of a subsystem on the frame ``world`` coincides with."""
    turned = world.pose(lambda x: x).R @ np.array(axis_vector(getattr(component, field)), dtype=float)
    check_still(world, turned, component.name, field)
    for letter in LETTERS:
        if max(abs(turned - np.array(axis_vector(letter), dtype=float))) <= UNIT_LENGTH_ROUNDING:
            return letter
    kind = component.kind
    message = f"is no axis of the system that its subsystem is added to; write the {kind} in that system"
    raise ModelError(message, component=component.name, field=field)
