"""Constraints between frames or coordinates, in addition to joints; one class for each kind.

``residual(scene)`` is a function of poses and joint coordinates that is zero if the constraint is satisfied.
``slip(scene)`` is linear in velocities and zero without slip.  ``rows`` gives the unit of each constraint row:
residuals (length, angle) first, then slips (velocity, angular_velocity).  Time derivatives, Jacobians, forces, files
and schema are derived.  Lengths and angles may be laws of time (``scene.law``), as of an actuator of prescribed length.
A ``CoordinateCoupling`` relates two joints of one freedom: if both are joints of the tree, one of them is eliminated
from the state and there is no constraint row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from kinode.algebra.scalars import Array, Scalar
from kinode.algebra.spatial import rotation_to_axis
from kinode.expressions.syntax_tree import Expression
from kinode.model.base.field_reader import FRAME, Reader
from kinode.model.base.fields import (
    Component,
    Spec,
    Value,
    record,
)
from kinode.model.base.frames import Frame, axis_vector, read_axis
from kinode.model.base.kinds import Registry

if TYPE_CHECKING:
    from kinode.model.base.scene import ConstraintScene, SlidingScene
    from kinode.model.base.symbols import Symbol
    from kinode.model.constraints.gear_coupling import Transmission

CONSTRAINTS: Registry[Constraint] = Registry()
ANGULAR = frozenset({"angle", "angular_velocity"})  # units of rows whose multipliers are moments
POSITIONS = frozenset({"length", "angle"})  # units of residuals; those of slips are rates
PARALLEL_ANGLE = 1e-6  # rad: two directions closer than this to 0 or 180 degrees count as parallel


@dataclass(frozen=True)
class Relation:
    """follower.q = ratio * leader.q + offset."""

    follower: str
    leader: str
    ratio: Value
    offset: Value

    def reversed(self) -> Relation:
        """The same relation with the other joint leading."""
        return Relation(self.leader, self.follower, 1.0 / self.ratio, -1.0 * self.offset / self.ratio)


@record
class Constraint(Component):
    """A constraint between bodies or coordinates, in addition to joints."""

    section: ClassVar[str] = "constraints"
    kind_registry: ClassVar[Registry[Any]] = CONSTRAINTS
    units: ClassVar[tuple[str, ...]] = ()
    labels: ClassVar[tuple[str, ...]] = ()  # names of the rows, if there are several
    symbol: ClassVar[Symbol | str] = "node"  # what it is drawn with
    contact: ClassVar[str] = ""  # what presses where its first multiplier is positive, and would have to pull elsewhere
    undefined: ClassVar[str] = ""  # why it has no defined rows in some positions, and what to do

    def rows(self, system: Any) -> tuple[str, ...]:
        """The unit of each row."""
        return self.units

    def residual(self, scene: ConstraintScene) -> Array:
        """The constraint error, one entry for each position row: m or rad."""
        return np.empty(0)

    def slip(self, scene: SlidingScene) -> Array:
        """The slip velocities that the constraint keeps at zero; linear in the velocities of the frames."""
        return np.empty(0)

    @property
    def depends_on_time(self) -> bool:
        """Whether it has an expression that may change with time, so that it does work."""
        return any(isinstance(getattr(self, field), Expression) for field in self.timely)

    @property
    def transmission(self) -> Transmission | None:
        """The gear that it is; None for other constraints."""
        return None

    def relation(self, system: Any) -> Relation | None:
        """How one joint follows another, if the constraint can be satisfied by eliminating a coordinate; else None."""
        return None

    def lengths(self, system: Any) -> list[float]:
        """Lengths for the scale of the mechanism, m: distances of frames from their bodies' origins, and fields."""
        sides = self.values_of(FRAME).values()
        own = [getattr(self, field.name) for field, spec in self.specs().values() if spec.dimension == "length"]
        places = [float(np.linalg.norm(np.asarray(side.pose(system.nominal).p, dtype=float))) for side in sides]
        return [*places, *(abs(law_at_start(system, value)) for value in own)]

    def places(self, system: Any) -> dict[str, Frame]:
        """The bodies that it acts on, each with the reference point of its moment."""
        return {side.body: side for side in self.values_of(FRAME).values()}

    def check(self, system: Any) -> None:
        """Refuse a constraint that cannot be satisfied."""

    @classmethod
    def read_axes(cls, reader: Reader, raw: Any, field: str, spec: Spec) -> Any:
        return reader.sequence(raw, 2, field, lambda item: read_axis(reader, item, field))

    def _apart(self, *fields: str) -> None:
        """Refuse two frames on one body."""
        one, two = (getattr(self, field) for field in fields)
        if one.body == two.body:
            raise self.error_at(fields[1], f"both sides are on {one.body}, where nothing can move")

    def _positive(self, system: Any, field: str, hint: str = "") -> None:
        value = law_at_start(system, getattr(self, field))
        if value <= 0:
            raise self.error_at(field, f"must be positive, not {value:g}{hint}")


def law_at_start(system: Any, value: Value) -> float:
    """A law of time at t = 0, parameters and inputs as the model has them."""
    from kinode.expressions.definitions import Definitions

    if not isinstance(value, Expression):
        return float(value)

    def look_up(name: str) -> float:
        if name in system.inputs:
            return float(system.nominal(system.inputs[name].value))
        return 0.0 if name == "t" else float(system.parameter_values()[name])

    def call(table: str, args: tuple[Any, ...], axes: tuple[int, ...] = ()) -> Any:
        return system.callable_tables[table].call(args, axes)

    signals = Definitions(lambda name: system.signals[name].law if name in system.signals else None)
    return float(value.evaluate(look_up, call, signals))


def basis_of(axis: Any, scene: ConstraintScene) -> Array:
    """Axes of a frame turned so that z is the given direction."""
    v = axis_vector(axis)
    return rotation_to_axis([scene.resolve(x) for x in v], [scene.nominal(x) for x in v])


def direction_of(axis: Any, scene: ConstraintScene) -> Array:
    return basis_of(axis, scene)[:, 2]


def scalar_row(*values: Scalar) -> Array:
    return np.array(values, dtype=object)


def find_transmissions(system: Any) -> tuple[Transmission, ...]:
    """The gears of a system, each with its motor side and its load side."""
    return tuple(gear for c in system.constraints.values() if (gear := c.transmission) is not None)
