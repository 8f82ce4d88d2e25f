"""The scene of an element that a network's equations use while the network is being solved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kinode.algebra.scalars import Array, Scalar
from kinode.algebra.spatial import Pose
from kinode.expressions.syntax_tree import Expression
from kinode.model.base.fields import Value
from kinode.model.base.frames import Frame
from kinode.model.base.scene import Scene, Solid
from kinode.model.quantity_names import find_quantity

if TYPE_CHECKING:
    from kinode.multibody.networks.network_condensation import Condensed


class SolvingScene:
    """A scene whose laws are affine in the unknowns of the network; everything else is that of the instant."""

    def __init__(self, condensed: Condensed) -> None:
        self.condensed, self.scene, self.system = condensed, condensed.scene, condensed.kinematics.system

    # -- laws, in forms ----------------------------------------------------------------------------
    def law(self, value: Value, /) -> Scalar:
        """A law with the network's variables."""
        if not isinstance(value, Expression):
            return value
        return self.condensed.form_of(self.condensed.network.rows.expand(value))

    def resolve(self, value: Value, /) -> Scalar:
        """The same."""
        return self.law(value)

    def lookup(self, name: str, /) -> Scalar:
        """The number or form behind a name."""
        return self.condensed.lookup(name)

    def quantity(self, name: str) -> Scalar:
        """A quantity of an element by its laws; others are those of the instant."""
        quantity = find_quantity(self.system, name)
        if quantity.sort != "element":
            return self.scene.lookup(quantity.text)
        value = self.system.elements[quantity.owner].quantity(quantity.quantity, self)
        return value if quantity.part is None else value[quantity.part]

    # -- the instant -------------------------------------------------------------------------------
    @property
    def t(self) -> Scalar:
        return self.scene.t

    @property
    def u(self) -> Array:
        return self.scene.u

    @property
    def z(self) -> Array:
        return self.scene.z

    @property
    def gravity(self) -> Array:
        return self.scene.gravity

    @property
    def solids(self) -> Sequence[Solid]:
        return self.scene.solids

    @property
    def network_rates(self) -> Mapping[str, str]:
        return self.scene.network_rates

    def timely(self, laws: Sequence[Value], order: int) -> list[Array]:
        return self.scene.timely(laws, order)

    def pose(self, frame: Frame, /) -> Pose:
        return self.scene.pose(frame)

    def velocity(self, frame: Frame, /) -> tuple[Array, Array]:
        return self.scene.velocity(frame)

    def acceleration(self, frame: Frame, /) -> tuple[Array, Array]:
        return self.scene.acceleration(frame)

    def other_states(self, name: str, /) -> Array:
        return self.scene.other_states(name)

    def discrete_states(self, name: str, /) -> Mapping[str, Scalar]:
        return self.scene.discrete_states(name)

    def joint_state(self, name: str, /) -> tuple[Array, Array, Array | None]:
        return self.scene.joint_state(name)

    def joint_rate(self, name: str, /) -> Array:
        return self.scene.joint_rate(name)

    def joint_acceleration(self, name: str, /) -> Array:
        return self.scene.joint_acceleration(name)

    def friction_limit(self, name: str, /) -> Scalar:
        return self.scene.friction_limit(name)

    def held_effort(self, owner: str, part: str, /) -> Scalar:
        return self.scene.held_effort(owner, part)

    def held_beside(self, owner: str, part: str, /) -> Scalar:
        return self.scene.held_beside(owner, part)

    def lock_response(self, owner: str, part: str, /) -> Scalar:
        return self.scene.lock_response(owner, part)

    def stopped(self, owner: str, part: str, /) -> Array:
        return self.scene.stopped(owner, part)

    def struck(self, owner: str, part: str, restitution: Scalar, /) -> Array:
        return self.scene.struck(owner, part, restitution)

    def shifted(self, state: str, by: Scalar, /) -> Scene:
        return self.scene.shifted(state, by)
