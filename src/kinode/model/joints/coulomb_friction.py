"""Coulomb friction of joints: its fields, the loads that press the surfaces together, and its direction.

A joint has one contact, or two in a universal joint.  Let W = [moment; force] be the wrench that the surfaces transmit:
the reaction and the friction itself.  The friction efforts of a contact are

    efforts = -direction(u) (brake(W) + steady),    brake(W) = sum of its parts

Each part is a seminorm of W, coefficient * arm * |some components of W|.  So it grows no faster than W does, on which
multibody/coupled_friction.py relies.  ``direction`` is a number between -1 and 1 for each freedom, times the
arm.

In a joint of one freedom the direction is the mode of the friction: 1 and -1 while it slides, 0 while it sticks.  A
sticking joint is locked with an effort up to brake + steady (``Lock``).  With ``slip``, and in joints of several
freedoms, the direction is tanh(u/slip): smooth, and the joint creeps instead of sticking.

All wrenches are what a exerts on b, about b's joint point, in a's canonical joint axes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, Self

from kinode.algebra.scalars import Array, Scalar, exp, maximum, minimum, sqrt, tanh, tidy
from kinode.algebra.spatial import dot
from kinode.model.base.field_reader import Nested, Reader
from kinode.model.base.fields import POSITIVE, UNSIGNED, Component, Value, number, short, unknown

if TYPE_CHECKING:
    from kinode.model.base.frames import Resolve
    from kinode.model.base.kinds import NumberLike
    from kinode.model.joints.joint import Joint


SMALLEST_SQUARE = 1e-200  # added under square roots: negligible, and keeps their derivative at zero finite
LARGEST_EXPONENT = 700.0  # exp(-700) is nearly zero; smaller results are subnormal numbers, which are slow
SLIP = {"length": 1e-3, "angle": 1e-2}  # m/s, rad/s: default speed within which smooth friction fades


STATIC = ("static_coefficient", "static_effort", "stribeck_speed")


@dataclass(frozen=True)
class Coulomb(Nested):
    """Friction in proportion to the load: ``coefficient`` times the force that presses the surfaces together.

    A joint of one freedom sticks: ``static_coefficient`` and ``static_effort`` limit its locking effort at rest.  They
    fade to the sliding values as exp(-(u/stribeck_speed)^2) (Stribeck), or at once if no such speed is given.  With
    ``slip``, and in joints of several freedoms, nothing sticks: friction fades to zero below that speed.  Over its
    ``length`` a guide or bearing carries moments across its axis as a pair of forces.
    """

    shape: ClassVar[str] = "friction"
    word: ClassVar[str] = "coulomb"
    coefficient: Value = number("dimensionless", "friction for a unit of the pressing force", 0.0, range=UNSIGNED)
    radius: Value | None = number("length", "of rotating sliding surfaces", None, range=POSITIVE)
    thrust_radius: Value | None = number("length", "of the axial bearing", None, range=POSITIVE)
    length: Value | None = number("length", "of the guide or bearing across its axis", None, range=POSITIVE)
    preload: Value | None = number("force", "constant pressing force", None, range=UNSIGNED)
    effort: Value | None = number("effort", "friction independent of the load", None, range=UNSIGNED)
    slip: Value | None = number("rate", "speed below which smooth friction fades", None, range=POSITIVE)
    static_coefficient: Value | None = number("dimensionless", "coefficient at rest", None, range=UNSIGNED)
    static_effort: Value | None = number("effort", "effort at rest", None, range=UNSIGNED)
    stribeck_speed: Value | None = number("rate", "speed within which static values fade", None, range=POSITIVE)

    @classmethod
    def dimensions(cls, owner: type[Joint]) -> dict[str, str | None]:  # type: ignore[override]
        """Of the lengths those where a kind of joint rubs; static values where it can stick."""
        every = super().dimensions(owner)
        takes = ("coefficient", *(owner.rubs or {}), "preload", "effort", "slip")
        return {name: every[name] for name in (*takes, *(STATIC if len(owner.coordinates) == 1 else ()))}

    @classmethod
    def schema(cls, owner: type[Joint], numbers: dict[str, Any]) -> dict[str, Any]:  # type: ignore[override]
        return {"type": "null"} if owner.rubs is None else super().schema(owner, numbers)

    @classmethod
    def read(cls, reader: Reader, raw: Any, field: str, owner: type[Joint]) -> Self:  # type: ignore[override]
        friction = super().read(reader, raw, field, owner)
        if friction.coefficient == 0.0 and friction.effort is None:
            raise reader.fail(field, "needs a coefficient, or an effort that no load changes")
        for name, needed in (owner.rubs or {}).items():
            if needed and getattr(friction, name) is None and friction.coefficient != 0.0:
                raise reader.fail(f"{field}.{name}", f"is needed: {needed}")
        return friction

    @classmethod
    def check_owner(cls, reader: Reader, field: str, owner: type[Joint]) -> None:  # type: ignore[override]
        if owner.rubs is None:
            raise reader.fail(field, f"a {owner.kind} joint has none: {owner.no_friction}")

    @classmethod
    def find_fields(cls, reader: Reader, raw: Any, field: str, takes: tuple[str, ...]) -> Mapping[str, Any]:
        if not isinstance(raw, Mapping) or list(raw) != [cls.word]:
            raise reader.fail(field, f"takes {cls.word} with its numbers, not {short(raw)}")
        given = raw[cls.word]
        if not isinstance(given, Mapping):
            raise reader.fail(field, f"{cls.word} takes {', '.join(takes)}")
        return given

    @classmethod
    def no_field(cls, name: Any, takes: Sequence[str], field: str, owner: type[Component]) -> str:
        where = f"in a {owner.kind} joint " if name in cls.specs() else ""
        why = "; with several freedoms nothing sticks" if name in STATIC else ""
        return unknown(f"{where}{cls.word} friction has no", name, takes) + f"; it takes {', '.join(takes)}{why}"

    def check_together(self, reader: Reader, field: str) -> None:
        """Refuse static values that contradict the others."""
        effort = 0.0 if self.effort is None else self.effort
        for name, other in (("static_coefficient", self.coefficient), ("static_effort", effort)):
            value = getattr(self, name)
            if self.slip is not None and value is not None:
                raise reader.fail(
                    f"{field}.{name}", "slip smooths the friction, so that it never sticks; leave one out"
                )
            if isinstance(value, float) and isinstance(other, float) and value < other:
                sliding = name.removeprefix("static_")
                raise reader.fail(f"{field}.{name}", f"{value:g} is below the {sliding} {other:g} of sliding")
        if self.stribeck_speed is not None and self.static_coefficient is None and self.static_effort is None:
            raise reader.fail(f"{field}.stribeck_speed", "needs a static_coefficient or static_effort to fade from")


def coulomb(
    coefficient: NumberLike = 0.0, *, radius: NumberLike | None = None, thrust_radius: NumberLike | None = None,
    length: NumberLike | None = None, preload: NumberLike | None = None, effort: NumberLike | None = None,
    slip: NumberLike | None = None, static_coefficient: NumberLike | None = None,
    static_effort: NumberLike | None = None, stribeck_speed: NumberLike | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Coulomb friction of a joint, in proportion to its reaction; it sticks unless ``slip`` is given.

    Parameters
    ----------
    coefficient : number, default 0
        Friction force for a unit of the force that presses the surfaces together.
    radius : number, m, optional
        Where surfaces slide that turn on each other.
    thrust_radius : number, m, optional
        Where the force along the axis is carried; not counted if left out.
    length : number, m, optional
        Of the bearing or guide, by which a moment across the axis presses; not counted if left out.
    preload : number, N, optional
        Force that presses always.
    effort : number, N or N*m, optional
        Friction that no load changes, such as that of a seal.
    slip : number, m/s or rad/s, optional
        Speed below which friction fades as tanh(speed/slip), so that nothing sticks.
    static_coefficient, static_effort : number, optional
        The same at rest; those of sliding if left out.
    stribeck_speed : number, m/s or rad/s, optional
        Speed within which the static values fade to those of sliding; at once if left out.

    Returns
    -------
    dict
        For the field ``friction`` of a joint.

    Examples
    --------
    >>> import kinode as kn
    >>> friction = kn.coulomb(0.1, radius="12 mm", effort="0.02 N*m")
    """
    given = {"coefficient": coefficient, "radius": radius, "thrust_radius": thrust_radius, "length": length,
             "preload": preload, "effort": effort, "slip": slip, "static_coefficient": static_coefficient,
             "static_effort": static_effort, "stribeck_speed": stribeck_speed}  # fmt: skip
    return {"coulomb": {name: value for name, value in given.items() if value is not None}}


class Sizes:
    """The numbers of a friction, in one scalar type; lengths that were not given are None.

    ``mode`` and ``speed`` are given for friction that can stick.
    """

    def __init__(
        self, friction: Coulomb, kind: str, resolve: Resolve, speed: Scalar = 0.0, mode: Scalar | None = None
    ) -> None:
        values = {name: value if value is None else resolve(value) for name, value in vars(friction).items()}
        self.mode = mode
        if mode is not None:
            at_rest, stribeck = 1.0 - mode * mode, values["stribeck_speed"]
            if stribeck is not None:
                ahead = maximum(mode * speed, 0.0) / stribeck  # a step that overshoots rest gets the static value
                at_rest = exp(-minimum(ahead * ahead, LARGEST_EXPONENT))
            for name in ("coefficient", "effort"):
                sliding, static = 0.0 if values[name] is None else values[name], values[f"static_{name}"]
                if static is not None:
                    values[name] = sliding + (static - sliding) * at_rest
        self.coefficient: Scalar = values["coefficient"]
        self.radius, self.thrust_radius, self.length = values["radius"], values["thrust_radius"], values["length"]
        self.preload: Scalar = 0.0 if values["preload"] is None else values["preload"]
        self.effort: Scalar = 0.0 if values["effort"] is None else values["effort"]
        self.slip: Scalar = SLIP[kind] if values["slip"] is None else values["slip"]

    @property
    def arm(self) -> Scalar:
        """The radius, zero where there is none."""
        return 0.0 if self.radius is None else self.radius

    def share(self, speed: Scalar) -> Scalar:
        """The signed share of the friction that acts at a speed, between -1 and 1."""
        return tanh(speed / self.slip) if self.mode is None else self.mode

    def against(self, speeds: Sequence[Scalar] | Array, arms: Sequence[Scalar]) -> Array:
        """The direction of friction of surfaces that slide in several directions at once: against the whole slip."""
        slips = [speed * arm for speed, arm in zip(speeds, arms, strict=True)]
        size = sqrt(sum((v * v for v in slips), SMALLEST_SQUARE))
        return tidy([self.share(size) / size * v * arm for v, arm in zip(slips, arms, strict=True)])


class PressingLoad(Enum):
    """A component of a joint's wrench that presses the surfaces of a contact together; messages quote the value."""

    FORCE = "force"
    FORCE_ACROSS = "force across the axis"
    FORCE_ALONG = "force along the axis"
    FORCE_ON_THREAD = "force on the thread"
    MOMENT_ACROSS = "moment across the axis"
    MOMENT_ABOUT = "moment about the axis"

    @property
    def optional_field(self) -> str | None:
        """The field of ``Coulomb`` without which this load does not count; None where it always counts."""
        return OPTIONAL_FIELDS.get(self)


OPTIONAL_FIELDS = {
    PressingLoad.FORCE_ALONG: "thrust_radius",
    PressingLoad.MOMENT_ACROSS: "length",
    PressingLoad.MOMENT_ABOUT: "radius",
}


@dataclass(frozen=True, eq=False)
class SlidingContact:
    """Two sliding surfaces: friction by load, friction that is independent of it, and its direction."""

    parts: Callable[[Array], dict[PressingLoad, Scalar]]
    steady: Scalar
    direction: Array

    def brake(self, W: Array) -> Scalar:
        """The friction that a wrench causes."""
        return sum(self.parts(W).values(), 0.0)


def journal(sizes: Sizes, axis: Array, direction: Array) -> SlidingContact:
    """A bearing about an axis; its friction is a moment."""
    arm = sizes.coefficient * sizes.arm

    def parts(W: Array) -> dict[PressingLoad, Scalar]:
        pressing = {PressingLoad.FORCE_ACROSS: arm * across(W[3:], axis)}
        if sizes.length is not None:
            pressing[PressingLoad.MOMENT_ACROSS] = arm * 2.0 / sizes.length * across(W[:3], axis)
        if sizes.thrust_radius is not None:
            pressing[PressingLoad.FORCE_ALONG] = sizes.coefficient * sizes.thrust_radius * size([dot(W[3:], axis)])
        return pressing

    return SlidingContact(parts, arm * sizes.preload + sizes.effort, direction)


def guide(sizes: Sizes, axis: Array, direction: Array, *, keyed: bool = False) -> SlidingContact:
    """A slide along an axis; its friction is a force.  If ``keyed``, it takes the moment about it at ``radius``."""

    def parts(W: Array) -> dict[PressingLoad, Scalar]:
        pressing = {PressingLoad.FORCE_ACROSS: sizes.coefficient * across(W[3:], axis)}
        if sizes.length is not None:
            pressing[PressingLoad.MOMENT_ACROSS] = sizes.coefficient * 2.0 / sizes.length * across(W[:3], axis)
        if keyed and sizes.radius is not None:
            pressing[PressingLoad.MOMENT_ABOUT] = sizes.coefficient / sizes.radius * size([dot(W[:3], axis)])
        return pressing

    return SlidingContact(parts, sizes.coefficient * sizes.preload + sizes.effort, direction)


def floor(sizes: Sizes, axis: Array, direction: Array) -> SlidingContact:
    """A plane across an axis; its friction is a force."""

    def parts(W: Array) -> dict[PressingLoad, Scalar]:
        pressing = {PressingLoad.FORCE_ALONG: sizes.coefficient * size([dot(W[3:], axis)])}
        if sizes.length is not None:
            pressing[PressingLoad.MOMENT_ACROSS] = sizes.coefficient * 2.0 / sizes.length * across(W[:3], axis)
        return pressing

    return SlidingContact(parts, sizes.coefficient * sizes.preload + sizes.effort, direction)


def thread(sizes: Sizes, pitch: Scalar, direction: Array) -> SlidingContact:
    """A square thread that advances by ``pitch`` per radian; the load on its flanks causes friction along the helix."""
    r = 1.0 if sizes.radius is None else sizes.radius
    helix = sqrt(r * r + pitch * pitch)

    def parts(W: Array) -> dict[PressingLoad, Scalar]:
        return {PressingLoad.FORCE_ON_THREAD: sizes.coefficient * size([r * W[5] - pitch / r * W[2]])}

    return SlidingContact(parts, sizes.coefficient * helix * sizes.preload + sizes.effort, direction)


def ball(sizes: Sizes, direction: Array) -> SlidingContact:
    """A ball in its socket; its friction is a moment."""
    arm = sizes.coefficient * sizes.arm
    return SlidingContact(
        lambda W: {PressingLoad.FORCE: arm * size(W[3:])}, arm * sizes.preload + sizes.effort, direction
    )


def across(vector: Array, axis: Array) -> Scalar:
    """The length of the part of a vector that is perpendicular to an axis."""
    return size(vector - dot(vector, axis) * axis)


def size(vector: Sequence[Scalar] | Array) -> Scalar:
    """The length of a vector."""
    return sqrt(sum((x * x for x in vector), SMALLEST_SQUARE))
