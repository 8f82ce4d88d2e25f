"""What all joints share: their fields, how these are read, initial values, compliance.

A joint is one class.  Its mechanics stand in canonical axes (about or along z; the user's axis goes into the constant
placement): ``transform(q)`` is the pose X_FM, ``motion_subspace(q)`` the matrix that maps u to the velocity of M
relative to F in M's axes [angular; linear], ``rate_map(q, u)`` is q_dot, ``closure(X)`` the residuals that vanish when
X is a pose the joint allows.  Bias terms, Jacobians, reaction directions, files and drawing are derived.  ``form`` is
the array of joint constants (a screw's pitch).  It is an argument so that one traced step serves every joint of a kind.
Each kind has a file of its own in this package.

Compliance under the reaction decides how redundant joints share a load.  It does not affect the motion: bodies and
joints stay rigid.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from kinode.algebra.scalars import Array, Scalar, sqrt, tidy
from kinode.algebra.spatial import IDENTITY3, Pose, rotation_to_axis, solve_spd
from kinode.expressions.units import DIMENSIONS
from kinode.model.base.field_reader import FieldKind, Nested, Reader, Schema, array_of, object_of, one_of, ref
from kinode.model.base.fields import (
    UNSIGNED,
    Component,
    Spec,
    Value,
    Values,
    Vector,
    frame,
    laws_per_coordinate,
    nested,
    number,
    per_coordinate,
    record,
    special,
    unknown,
    vector,
)
from kinode.model.base.frames import ZERO, Frame, Resolve, axis_vector, read_quaternion
from kinode.model.base.kinds import Registry
from kinode.model.base.value_walk import Form, ValueWalk
from kinode.model.joints.coulomb_friction import Coulomb, Sizes, SlidingContact
from kinode.model.joints.end_stops import Backlash, Ends, Stop, bounds

if TYPE_CHECKING:
    from kinode.model.base.contact import JointSlip, Lock
    from kinode.model.base.events import Root
    from kinode.model.base.scene import PositionScene, Scene, VelocityScene
    from kinode.model.base.symbols import Symbol
    from kinode.model.joints.joint_contacts import JointEnd
    from kinode.model.joints.joint_math import Pair


JOINTS: Registry[Joint] = Registry()
FRICTION, STOP = "friction.mode", "stop.mode"

# Unit of a coordinate -> unit of what is derived from it.
DERIVED = {
    "coordinate": {"angle": "angle", "length": "length"},
    "rate": {"angle": "angular_velocity", "length": "velocity"},
    "effort": {"angle": "moment", "length": "force"},
    "stiffness": {"angle": "rotational_stiffness", "length": "stiffness"},
    "damping": {"angle": "rotational_damping", "length": "damping"},
}


@dataclass(eq=False)
class CoordinateKind(FieldKind):
    """A value for each freedom of a joint, or entry of q, of what follows from it; one alone has the field's name."""

    one: Callable[..., Value] = Reader.number  # reads one
    of_q: bool = False  # in which a quaternion has entries of its own

    def read(self, reader: Reader, raw: Any, name: str, spec: Spec, cls: type[Any]) -> Values:
        """One for each, of what follows from the sort of the coordinate."""
        if cls.quaternion is not None and name in WITHOUT_ANGLES:
            raise reader.fail(name, f"a {cls.kind} joint turns by a quaternion{WITHOUT_ANGLES[name]}")
        if cls.quaternion is not None and self.of_q:
            return _read_coordinates(reader, raw, name, cls)
        n, units = len(cls.coordinates), DERIVED[spec.dimension or ""]
        if n == 0:
            raise reader.fail(name, f"a {cls.kind} joint has no freedom")
        if n == 1 and not isinstance(raw, (list, tuple, np.ndarray)):
            raw = [raw]
        sorts = iter(sort for _, sort in cls.coordinates)
        return reader.sequence(raw, n, name, lambda item: self.one(reader, item, units[next(sorts)], name))

    def write(self, name: str, value: Any, writer: Any) -> Mapping[str, Any]:
        return {name: writer.plain(value[0] if len(value) == 1 else value)}

    def schema(self, cls: type[Any], spec: Spec) -> Schema:
        count = cls.n_q if self.of_q else len(cls.coordinates)
        each = array_of(self.entry, count, count)
        return one_of(self.entry, each) if count == 1 else each

    def walk(self, value: Any, walk: ValueWalk, at: Any, owner: Any) -> Any:
        units = DERIVED[owner.specs()[at.field][1].dimension]
        entries = owner.coordinate_names if self.of_q else owner.coordinates
        places = (
            at.at(name if len(entries) > 1 else "", units.get(sort, sort), None if sort in units else Form.ROTATION)
            for name, sort in entries
        )
        return walk.each(value, places)


def _read_coordinates(reader: Reader, raw: Any, field: str, cls: type[Joint]) -> Values:
    """Positions and a quaternion."""
    head = cls.quaternion
    if not isinstance(raw, (list, tuple, np.ndarray)) or len(raw) != cls.n_q:
        parts = f"{'x, y, z, ' if head else ''}quaternion w, x, y, z"
        raise reader.fail(field, f"{cls.n_q} numbers are expected: {parts}")
    positions = tuple(reader.number(item, "length", field) for item in raw[:head])
    return positions + read_quaternion(reader, list(raw[head:]), field)


# Why fields are refused for joints that a quaternion turns.
NO_ANGLE = " and has no angle to act on; use an effort law"
WITHOUT_ANGLES = {
    "motion": "; prescribe its speed, or use joints with angles", "stiffness": NO_ANGLE, "neutral": NO_ANGLE,
}  # fmt: skip
PER_COORDINATE = CoordinateKind("per_coordinate", "NumbersLike", "number for each freedom", ref("number"), acts=True)
LAWS_PER_COORDINATE = CoordinateKind(
    "laws_per_coordinate", "CoordinateLawsLike", "law for each freedom", ref("law"), acts=True, one=Reader.law
)
INITIAL = CoordinateKind("initial", "NumbersLike", "number for each coordinate", ref("number"), of_q=True)


@dataclass(frozen=True)
class Limits(Nested):
    """What a joint is built for; recorded and checked against results, never a force."""

    shape: ClassVar[str] = "limits"
    lower: Value | None = number("coordinate", "lower end of its travel", None)
    upper: Value | None = number("coordinate", "upper end of its travel", None)
    effort: Value | None = number("effort", "largest effort", None)
    speed: Value | None = number("rate", "largest speed", None)

    @classmethod
    def check_owner(cls, reader: Reader, field: str, owner: type[Component]) -> None:
        assert issubclass(owner, Joint)
        if len(owner.coordinates) != 1:
            has = f"a {owner.kind} joint has {len(owner.coordinates)}"
            raise reader.fail(field, f"limits belong to a joint with one freedom; {has}")

    @classmethod
    def find_fields(cls, reader: Reader, raw: Any, field: str, takes: tuple[str, ...]) -> Mapping[str, Any]:
        if isinstance(raw, (list, tuple)):
            return dict(zip(("lower", "upper"), reader.sequence(raw, 2, field, lambda x: x), strict=True))
        if not isinstance(raw, Mapping) or set(raw) - set(takes):
            raise reader.fail(field, f"takes [lower, upper] or a mapping with {', '.join(takes)}")
        return raw

    @classmethod
    def schema(cls, owner: type[Component], numbers: Schema) -> Schema:
        return one_of(array_of(ref("number"), 2, 2), numbers)

    def check_together(self, reader: Reader, field: str) -> None:
        lower, upper = self.lower, self.upper
        if isinstance(lower, float) and isinstance(upper, float) and lower > upper:
            raise reader.fail(field, f"the lower limit {lower} is above the upper limit {upper}")


@dataclass(frozen=True)
class Compliance(Nested):
    """Displacement for a unit force and turn for a unit moment; what is not given is rigid.

    ``force`` and ``moment`` hold three numbers each, in the parent's joint axes, like the reaction; ``axial`` and
    ``torsion`` are along and about the axis of the joint, ``radial`` and ``tilt`` across it.
    """

    shape: ClassVar[str] = "compliance"
    by_component: ClassVar[tuple[str, ...]] = ("force", "moment")
    force: Vector | None = number("compliance", "by a force", None, range=UNSIGNED)
    moment: Vector | None = number("rotational_compliance", "by a moment", None, range=UNSIGNED)
    axial: Value | None = number("compliance", "along the axis", None, range=UNSIGNED)
    radial: Value | None = number("compliance", "across the axis", None, range=UNSIGNED)
    tilt: Value | None = number("rotational_compliance", "across the axis", None, range=UNSIGNED)
    torsion: Value | None = number("rotational_compliance", "about the axis", None, range=UNSIGNED)

    @classmethod
    def dimensions(cls, owner: type[Component]) -> dict[str, str | None]:
        """Those about an axis belong to a joint that has one."""
        every = super().dimensions(owner)
        return every if issubclass(owner, AxialJoint) else {name: every[name] for name in cls.by_component}

    @classmethod
    def schema(cls, owner: type[Component], numbers: Schema) -> Schema:
        """By component of the reaction; along and across the axis too, if the joint has one."""
        each = one_of(ref("number"), array_of(ref("number"), 3, 3))
        by_axis = tuple(name for name in cls.dimensions(owner) if name not in cls.by_component)
        forms = [object_of(cls.by_component, dict.fromkeys(cls.by_component, each))]
        forms += [object_of(by_axis, dict.fromkeys(by_axis, ref("number")))] if by_axis else []
        return one_of(*({**form, "minProperties": 1} for form in forms))

    @classmethod
    def find_fields(cls, reader: Reader, raw: Any, field: str, takes: tuple[str, ...]) -> Mapping[str, Any]:
        if not isinstance(raw, Mapping) or not raw:
            raise reader.fail(field, f"a mapping with some of {', '.join(takes)} is expected")
        for name in raw:
            if name not in takes:
                raise reader.fail(field, unknown("has no part", name, takes))
        if len({name in cls.by_component for name in raw}) == 2:
            raise reader.fail(field, "takes either force and moment, or axial, radial, tilt and torsion")
        return raw

    @classmethod
    def read_field(cls, reader: Reader, raw: Any, name: str, field: str, dimension: str | None) -> Any:
        """One number serves all components of force and moment."""
        if name in cls.by_component and isinstance(raw, (list, tuple, np.ndarray)):
            return reader.sequence(raw, 3, field, lambda item: reader.number(item, dimension, field))
        number = reader.number(raw, dimension, field)
        return (number,) * 3 if name in cls.by_component else number

    def root(self, C: Array, resolve: Resolve) -> Array:
        """W with the energy |W x|^2 / 2 of a reaction x = [force; moment]; C turns to axes with z along the joint's."""

        def roots(*values: Value | None) -> Array:
            return np.sqrt([0.0 if value is None else float(resolve(value)) for value in values])

        W = np.zeros((6, 6))
        if self.force is None and self.moment is None:
            W[:3, :3] = roots(self.radial, self.radial, self.axial)[:, None] * C.T
            W[3:, 3:] = roots(self.tilt, self.tilt, self.torsion)[:, None] * C.T
        else:
            W[:3, :3] = np.diag(roots(*(self.force or (None,) * 3)))
            W[3:, 3:] = np.diag(roots(*(self.moment or (None,) * 3)))
        return W


class JointEffect(NamedTuple):
    """A share of a joint's effort, and the fields that bring it.

    ``effort(joint, scene, friction)`` is its effort without locking efforts; ``friction`` has the efforts of sliding
    friction by joint.  ``stores`` says that its power is that of a potential, ``by_state`` that its effort depends on
    the state alone.
    """

    share: str
    fields: tuple[str, ...]
    effort: Callable[[Joint, VelocityScene, Mapping[str, Array]], Array]
    stores: bool = False
    by_state: bool = False


def _each(joint: Joint, field: str, resolve: Resolve) -> Array:
    """The laws of a field for each freedom; zeros where none are given."""
    laws: Values | None = getattr(joint, field)
    return np.zeros(joint.n_u) if laws is None else tidy([resolve(law) for law in laws])


def _drive(joint: Joint, scene: VelocityScene, friction: Mapping[str, Array]) -> Array:
    return _each(joint, "effort", scene.resolve)


def _spring(joint: Joint, scene: VelocityScene, friction: Mapping[str, Array]) -> Array:
    stretch = scene.joint_state(joint.name)[0] - _each(joint, "neutral", scene.resolve)
    effort: Array = -_each(joint, "stiffness", scene.resolve) * stretch
    return effort


def spring_energies(joint: Joint, q: Array, resolve: Resolve) -> list[Scalar]:
    """The energy of the stiffness of each freedom [J]."""
    if joint.stiffness is None:
        return []
    stretches = q - _each(joint, "neutral", resolve)
    return [0.5 * k * x * x for k, x in zip(_each(joint, "stiffness", resolve), stretches, strict=True)]


def _damping(joint: Joint, scene: VelocityScene, friction: Mapping[str, Array]) -> Array:
    effort: Array = -_each(joint, "damping", scene.resolve) * scene.joint_state(joint.name)[1]
    return effort


def _friction(joint: Joint, scene: VelocityScene, friction: Mapping[str, Array]) -> Array:
    return friction.get(joint.name, np.zeros(joint.n_u))


def _stop(joint: Joint, scene: VelocityScene, friction: Mapping[str, Array]) -> Array:
    total: Scalar = 0.0
    for contact in _contacts().find_ends(joint):
        total = total - contact.side * contact.push(scene)
    return tidy([total])


EFFECTS = (
    JointEffect("drive", ("motion", "speed", "effort"), _drive),
    JointEffect("spring", ("stiffness",), _spring, stores=True, by_state=True),
    JointEffect("damping", ("damping",), _damping, by_state=True),
    JointEffect("friction", ("friction",), _friction),
    JointEffect("stop", ("stop", "backlash"), _stop),
)


@record
class Joint(Component):
    """Connects frame a (the parent side) to frame b (the child side)."""

    section: ClassVar[str] = "joints"
    kind_registry: ClassVar[Registry[Any]] = JOINTS
    coordinates: ClassVar[tuple[tuple[str, str], ...]] = ()  # (name, angle | length) of each entry of u
    timely: ClassVar[tuple[str, ...]] = ("motion", "speed")
    n_q: ClassVar[int] = 0
    quaternion: ClassVar[int | None] = None  # where in q a quaternion starts
    rubs: ClassVar[Mapping[str, str] | None] = None  # lengths that its friction takes: why they are needed, or nothing
    no_friction: ClassVar[str] = "its kind does not say where it rubs"
    has_bearings: ClassVar[bool] = False  # whether it is a shaft that turns in bearings about its axis
    symbol: ClassVar[Symbol | str] = "node"  # what it is drawn with

    a: Frame = frame("parent side: a body, a named frame or a place on a body")
    b: Frame = frame("child side")
    at: tuple[Value, Value, Value] = vector("length", "the joint's point, the same in both bodies' axes", ZERO)
    q: Values | None = special("initial", "initial coordinates, exact", dimension="coordinate", aside=True)
    u: Values | None = per_coordinate("rate", "initial speeds, exact", aside=True)
    guess: Values | None = special(
        "initial", "where assembly starts to look for the coordinates", dimension="coordinate", aside=True
    )
    motion: Values | None = laws_per_coordinate("coordinate", "prescribed motion, a law of time")
    speed: Values | None = laws_per_coordinate("rate", "prescribed speed, a law of time")
    effort: Values | None = laws_per_coordinate("effort", "force or moment along the freedom, a law")
    stiffness: Values | None = per_coordinate("stiffness", "effort -stiffness (q - neutral)")
    neutral: Values | None = per_coordinate("coordinate", "coordinate at which the stiffness is relaxed")
    damping: Values | None = per_coordinate("damping", "effort -damping u")
    friction: Coulomb | None = nested(Coulomb, "Coulomb friction, in proportion to the reaction")
    stop: Stop | None = nested(Stop, "end stops: lower, upper, and stiffness with damping, or restitution")
    backlash: Backlash | None = nested(Backlash, "play about neutral, in all; stiffness with damping, or restitution")
    limits: Limits | None = nested(Limits, "recorded travel, effort and speed limits; never a force", aside=True)
    compliance: Compliance | None = nested(
        Compliance, "how far it gives, which shares reactions that are not unique; never a motion", aside=True
    )

    # -- states of its own: the integral of a prescribed speed ---------------------------------------
    @property
    def coordinate_names(self) -> tuple[tuple[str, str], ...]:
        """Names and units of the entries of q."""
        if self.quaternion is None:
            return self.coordinates
        positions = (("x", "length"), ("y", "length"), ("z", "length"))[: self.quaternion]
        return positions + tuple((name, "dimensionless") for name in ("qw", "qx", "qy", "qz"))

    @property
    def states(self) -> tuple[tuple[str, str], ...]:
        if self.speed is None:
            return ()
        names = self.coordinate_names
        return tuple(("q" if len(names) == 1 else f"q.{name}", kind) for name, kind in names)

    def initial_states(self, resolve: Resolve) -> Array:
        return self.initial_q(resolve)

    def state_rates(self, scene: VelocityScene) -> Array:
        rates: Array = scene.joint_rate(self.name)
        return rates

    # -- events ------------------------------------------------------------------------------------
    @property
    def sticks(self) -> bool:
        """Whether its friction sticks."""
        return self.friction is not None and self.friction.slip is None and self.n_u == 1

    @property
    def ends(self) -> Ends | None:
        """The ends of its range, of a stop or of backlash."""
        return self.stop if self.stop is not None else self.backlash

    @property
    def effects(self) -> list[JointEffect]:
        """What acts along its freedoms."""
        return [effect for effect in EFFECTS if any(getattr(self, field) is not None for field in effect.fields)]

    @property
    def contacts_with_modes(self) -> list[JointSlip | JointEnd]:
        """Its friction if it sticks, and the contacts at the ends of its range, the upper one first."""
        return [*_contacts().find_slip(self), *_contacts().find_ends(self)] if self.discrete_states else []

    @property
    def discrete_states(self) -> tuple[tuple[str, str], ...]:
        modes = (FRICTION,) * self.sticks + (STOP,) * (self.ends is not None)
        return tuple((mode, "dimensionless") for mode in modes)

    def consistent_values(self, scene: VelocityScene) -> Mapping[str, Any]:
        modes = dict.fromkeys((mode for mode, _ in self.discrete_states), 0.0)
        for contact in self.contacts_with_modes:
            modes[contact.mode] = modes[contact.mode] + contact.first_mode(scene)
        return modes

    @property
    def event_functions(self) -> tuple[Root, ...]:
        return tuple(root for contact in self.contacts_with_modes for root in contact.roots)

    def reset(self, scene: Scene, fired: Sequence[Any]) -> Mapping[str, Any]:
        """Zero speed where friction begins to stick, and the speeds after an impact."""
        changed = {"u": scene.u, **scene.discrete_states(self.name)}
        for contact in self.contacts_with_modes:
            own, fired = fired[: len(contact.roots)], fired[len(contact.roots) :]
            changed |= contact.settle(scene, own, changed)
        if changed["u"] is scene.u:
            del changed["u"]
        return changed

    def locks(self, scene: PositionScene) -> Sequence[Lock]:
        return _contacts().find_locks(self, scene) if self.discrete_states else ()

    # -- mechanics, in canonical axes --------------------------------------------------------------
    @property
    def n_u(self) -> int:
        return len(self.coordinates)

    def form(self, resolve: Resolve) -> Array:
        """The joint constants, such as the pitch of a screw, as an array."""
        return np.empty(0)

    def axis_rotation(self, resolve: Resolve, nominal: Resolve) -> Array:
        """Rotation from the given axes of F and M to the canonical ones."""
        return IDENTITY3

    def transform(self, q: Array, form: Array) -> Pose:
        raise NotImplementedError

    def motion_subspace(self, q: Array, form: Array) -> Array:
        raise NotImplementedError

    def rate_map(self, q: Array, u: Array) -> Array:
        return u

    def advance(self, q: Array, step: Array) -> Array:
        """Coordinates after a step along the speeds; quaternions stay unit."""
        there: Array = q + self.rate_map(q, step)
        if self.quaternion is not None:
            turn = slice(self.quaternion, self.quaternion + 4)
            there[turn] = there[turn] / sqrt(there[turn] @ there[turn])
        return tidy(there)

    def axes_rate(self, speeds: Array) -> Array:
        """The matrix S with u_dot = S u for speeds that are constant in axes moving at ``speeds`` against those of u.

        Zero where u has no axes that could turn.
        """
        return np.zeros((self.n_u, self.n_u))

    def closure(self, X: Pose, form: Array) -> Array:
        raise NotImplementedError

    def solve_coordinates(self, X: Pose, form: Array) -> Array:
        """The coordinates of an allowed pose of plain numbers."""
        raise NotImplementedError

    def effort_wrench(self, q: Array, form: Array) -> Array:
        """Wrench of unit efforts in M: T with S'T = 1 and without part in the reaction."""
        S = self.motion_subspace(q, form)
        return solve_spd(S.T @ S, S.T).T if self.n_u else np.zeros((6, 0))

    def pairs(self, form: Array) -> tuple[Pair, ...]:
        """The hinges, slides and screws in series that it is made of, from a to b: one for each speed.

        Where a quaternion turns the joint, they stand along the axes of b at the instant, with coordinates zero.
        """
        raise NotImplementedError

    @property
    def has_pairs(self) -> bool:
        """Whether its kind says its pairs; what a kind inherits need not hold for it."""
        return "pairs" in vars(type(self))

    def pair_accelerations(self, u: Array, u_dot: Array) -> Array:
        """The second derivatives of the coordinates of its pairs."""
        return u_dot

    def contacts(self, sizes: Sizes, q: Array, u: Array, form: Array) -> list[SlidingContact]:
        """The sliding contacts of the joint; for kinds that have friction."""
        raise NotImplementedError

    # -- initial values ----------------------------------------------------------------------------
    def neutral_q(self) -> Array:
        q = np.zeros(self.n_q)
        if self.quaternion is not None:
            q[self.quaternion] = 1.0
        return q

    def initial_q(self, resolve: Resolve) -> Array:
        """Initial q, as far as it is given."""
        given = self.q if self.q is not None else self.guess
        return self.neutral_q() if given is None else tidy([resolve(x) for x in given])

    def initial_u(self, resolve: Resolve, q: Array | None = None) -> Array:
        """Initial u for initial coordinates q, as far as it is given."""
        return np.zeros(self.n_u) if self.u is None else tidy([resolve(x) for x in self.u])

    @property
    def exact_q(self) -> Array:
        """For each freedom, whether its initial coordinate is given exactly."""
        return np.full(self.n_u, self.q is not None)

    @property
    def exact_u(self) -> Array:
        """For each speed, whether its initial value is given exactly."""
        return np.full(self.n_u, self.u is not None)

    # -- reading -----------------------------------------------------------------------------------
    @classmethod
    def dimension_of(cls, spec: Spec) -> str | None:
        """That of a coordinate, a rate, an effort ... follows from its first freedom."""
        derived = DERIVED.get(spec.dimension or "")
        return spec.dimension if derived is None or not cls.coordinates else derived[cls.coordinates[0][1]]

    @classmethod
    def field_unit(cls, spec: Spec) -> str:
        units = DERIVED.get(spec.dimension or "")
        if units is None:
            return super().field_unit(spec)
        if cls.quaternion is not None and spec.kind is INITIAL:
            return "m and quaternion" if cls.quaternion else "quaternion"
        return ", ".join(dict.fromkeys(DIMENSIONS[units[kind]].unit for _, kind in cls.coordinates))

    def check(self) -> None:
        """Refuse combinations of fields that contradict each other."""
        if self.motion is not None and self.speed is not None:
            raise self.error_at("speed", "motion and speed cannot both be prescribed")
        if self.motion is not None and (self.q is not None or self.u is not None):
            field = "q" if self.q is not None else "u"
            raise self.error_at(field, "is given by the motion law; leave it out")
        if self.speed is not None and self.u is not None:
            raise self.error_at("u", "is given by the speed law; leave it out")
        if self.stop is not None and self.backlash is not None:
            raise self.error_at("stop", "the joint has backlash, which ends its range already; leave one out")
        if self.driven and self.ends is not None:
            field = "stop" if self.stop is not None else "backlash"
            raise self.error_at(field, "cannot stop a joint whose motion or speed is prescribed; leave one out")
        if self.ends is not None and self.ends.rigid and self.q is not None:
            field, ends = "stop" if self.stop is not None else "backlash", bounds(self, lambda value: value)
            numbers = [x for x in (ends[0], self.q[0], ends[1]) if x is not None]
            if all(isinstance(x, float) for x in numbers) and numbers != sorted(numbers):
                raise self.error_at(field, f"the joint starts at {self.q[0]:g}, beyond its rigid end")
        if self.a.body == self.b.body:
            raise self.error_at(None, f"joins {self.a.body} to itself")

    @property
    def driven(self) -> bool:
        return self.motion is not None or self.speed is not None


@record
class AxialJoint(Joint):
    """A joint with one axis."""

    axis: Any = special("axis", "x, y, z, -x, -y, -z or three numbers, in the joint's axes", "z")

    def axis_rotation(self, resolve: Resolve, nominal: Resolve) -> Array:
        v = axis_vector(self.axis)
        return rotation_to_axis([resolve(x) for x in v], [float(nominal(x)) for x in v])


def _contacts() -> Any:
    """The module of contacts: few joints have any."""
    from kinode.model.joints import joint_contacts

    return joint_contacts


def coordinate_names(joint: Joint) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names and units of the entries of a joint's q."""
    return tuple(name for name, _ in joint.coordinate_names), tuple(kind for _, kind in joint.coordinate_names)
