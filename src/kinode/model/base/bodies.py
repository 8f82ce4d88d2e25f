"""Bodies: mass properties, named frames, and visuals, the geometry that a body is drawn with.

A visual has no mass and no effect on the motion.  Files contain its plain form, ``Visual.plain``; drawings open the
mesh files that importers found.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from kinode.algebra.scalars import Array, Scalar, tidy
from kinode.algebra.spatial import IDENTITY3, RigidInertia
from kinode.model.base.field_reader import FieldKind, Reader, array_of, object_of, one_of, plainly, ref
from kinode.model.base.fields import Component, Spec, Value, Vector, declare, record, special, unknown, vector
from kinode.model.base.frames import ZERO, Frame, Resolve, check_frame_name, named, read_frame
from kinode.model.base.kinds import add_shortcut
from kinode.model.base.value_walk import Form, ValueWalk

if TYPE_CHECKING:
    from kinode.model.base.shapes import Inertia, Shape
    from kinode.model.system import System


Numbers = tuple[float, ...]
ORIGIN: Numbers = (0.0, 0.0, 0.0)

# The sizes of each type; those of a mesh are scale factors of its axes.
SIZES = {
    "mesh": ("x", "y", "z"),
    "box": ("x", "y", "z"),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "sphere": ("radius",),
}
ROLES = ("visual", "collision")
MESH_SUFFIXES = (".stl", ".obj", ".dae", ".glb")  # of the files that are read


@dataclass(frozen=True)
class Visual:
    """A mesh or a simple solid on a body: sizes in m (or scale factors of a mesh), position, rotation and role.

    ``quaternion`` is scalar first; if a file gives it, it replaces ``rpy``.
    """

    kind: str
    sizes: Numbers
    at: Numbers = ORIGIN
    rpy: Numbers = ORIGIN
    role: str = "visual"
    file: str | None = None
    quaternion: Numbers | None = None
    path: str | None = field(default=None, compare=False)  # where a loader found the file

    def plain(self) -> dict[str, Any]:
        """The visual as a mapping of plain values, which ``read_visual`` reads."""
        fields: dict[str, Any] = {"kind": self.kind}
        if self.file is not None:
            fields["file"] = self.file
        if self.kind != "mesh" or self.sizes != (1.0, 1.0, 1.0):
            fields["sizes"] = list(self.sizes)
        for name, default in (("at", ORIGIN), ("rpy", ORIGIN), ("quaternion", None)):
            value = getattr(self, name)
            if value != default:
                fields[name] = list(value)
        if self.role != "visual":
            fields["role"] = self.role
        return fields

    def walked(self, walk: ValueWalk, at: Any) -> Visual:
        """The visual after a walk over values: its numbers are drawn alone."""
        visual: Visual = walk.parts(
            self, at.at("", None, Form.DRAWN), dict.fromkeys(("sizes", "at", "rpy", "quaternion"))
        )
        return visual


def read_visual(reader: Reader, raw: Any, field: str) -> Visual:
    """A visual, given as such or in its plain form."""
    if isinstance(raw, Visual):
        return raw
    known = ("kind", "file", "sizes", "at", "rpy", "quaternion", "role")
    if not isinstance(raw, Mapping):
        raise reader.fail(field, f"each is a mapping with {', '.join(known)}")
    for key in raw:
        if key not in known:
            raise reader.fail(field, unknown("has no field", key, known))
    kind, role, file = raw.get("kind", "mesh"), raw.get("role", "visual"), raw.get("file")
    if not isinstance(kind, str) or kind not in SIZES:
        raise reader.fail(f"{field}.kind", f"must be one of {', '.join(SIZES)}, not {kind!r}")
    if not isinstance(role, str) or role not in ROLES:
        raise reader.fail(f"{field}.role", f"must be visual or collision, not {role!r}")
    if (kind == "mesh") != isinstance(file, str):
        message = "a mesh needs the name of its file" if kind == "mesh" else f"a {kind} has no file"
        raise reader.fail(f"{field}.file", message)

    def numbers(name: str, count: int, default: Any) -> Numbers:
        where = f"{field}.{name}"
        return reader.sequence(raw.get(name, default), count, where, lambda x: _plain(reader, x, where))

    path = getattr(file, "path", None)  # of a file that a loader found
    return Visual(
        kind,
        numbers("sizes", len(SIZES[kind]), ORIGIN if kind != "mesh" else (1.0, 1.0, 1.0)),
        numbers("at", 3, ORIGIN),
        numbers("rpy", 3, ORIGIN),
        role,
        file,
        numbers("quaternion", 4, None) if raw.get("quaternion") is not None else None,
        None if path is None else str(path),
    )


def _plain(reader: Reader, raw: Any, field: str) -> float:
    value = reader.number(raw, None, field)
    if not isinstance(value, float):
        raise reader.fail(field, "a plain number is expected; visuals do not depend on parameters")
    return value


ENTRIES = ("xx", "yy", "zz", "xy", "xz", "yz")
_FLOAT = frozenset({float})
ROUNDED = 1e-12  # of what an inertia about the origin has more than one about the mass center: rounding
NO_INERTIA: Inertia = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


class LoneMoment(tuple[Value, ...]):
    """The entries of an inertia of which one moment was given, {zz: J}: the other two are half of it.

    That holds about the mass center.  Of one about the origin the other two are unknown until it has been moved there.
    """

    entry: str

    @classmethod
    def fill(cls, entry: str, moment: Value) -> LoneMoment:
        """All entries."""
        half = moment * 0.5
        moments = cls([*(moment if name == entry else half for name in ENTRIES[:3]), 0.0, 0.0, 0.0])
        moments.entry = entry
        return moments

    @property
    def moment(self) -> Value:
        """The moment that was given."""
        return self[ENTRIES.index(self.entry)]

    def shift(self, mass: Value, com: Vector) -> Value:
        """What the moment about the origin has more than that about the mass center: zz has m (x^2 + y^2)."""
        a, b = (x for x, name in zip(com, ENTRIES[:3]) if name != self.entry)
        return mass * (a * a + b * b)

    def moved_to_center(self, mass: Value, com: Vector) -> LoneMoment:
        """The entries about the mass center, where this is about the origin; zero for a point mass, whatever rounds."""
        shift = self.shift(mass, com)
        moment = self.moment - shift
        rounded = type(moment) is float and abs(moment) <= ROUNDED * abs(cast("float", shift))
        return LoneMoment.fill(self.entry, 0.0 if rounded else moment)


def read_inertia(reader: Reader, raw: Any, name: str) -> Inertia:
    """3 (principal), 6 (xx, yy, zz, xy, xz, yz), 3x3, or a mapping of entries such as {zz: J}."""

    if type(raw) is tuple and len(raw) in (3, 6) and _FLOAT.issuperset(map(type, raw)) and math.isfinite(sum(raw)):
        return cast("Inertia", raw if len(raw) == 6 else (*raw, 0.0, 0.0, 0.0))

    def entry(item: Any) -> Value:
        return reader.number(item, "inertia", name)

    if isinstance(raw, np.ndarray):
        raw = raw.tolist()
    if isinstance(raw, LoneMoment):
        return cast("Inertia", raw)
    if isinstance(raw, Mapping):
        for key in raw:
            if key not in ENTRIES:
                raise reader.fail(name, f"has no entry {key!r}; the entries are {', '.join(ENTRIES)}")
        entries = {key: entry(item) for key, item in raw.items()}
        if len(entries) == 1 and next(iter(entries)) in ENTRIES[:3]:
            ((key, J),) = entries.items()
            return cast("Inertia", LoneMoment.fill(key, J))
        if any(k not in entries for k in ENTRIES[:3]):
            raise reader.fail(name, "needs xx, yy and zz, or one of them alone")
        xx, yy, zz, xy, xz, yz = (entries.get(k, 0.0) for k in ENTRIES)
        return (xx, yy, zz, xy, xz, yz)
    if isinstance(raw, (list, tuple)) and len(raw) == 3 and isinstance(raw[0], (list, tuple)):
        rows = reader.sequence(raw, 3, name, lambda row: reader.sequence(row, 3, name, entry))
        for i, j in ((0, 1), (0, 2), (1, 2)):
            a, b = rows[i][j], rows[j][i]
            plain = isinstance(a, float) and isinstance(b, float)
            if a != b and not (plain and abs(a - b) <= 1e-9 * max(abs(a), abs(b))):
                raise reader.fail(name, f"is not symmetric: {'xyz'[i]}{'xyz'[j]} and {'xyz'[j]}{'xyz'[i]} differ")
        return (rows[0][0], rows[1][1], rows[2][2], rows[0][1], rows[0][2], rows[1][2])
    if isinstance(raw, (list, tuple)) and len(raw) == 6:
        xx, yy, zz, xy, xz, yz = (entry(item) for item in raw)
        return (xx, yy, zz, xy, xz, yz)
    if not isinstance(raw, (list, tuple)) or len(raw) != 3:
        raise reader.fail(name, "takes 3 numbers (xx, yy, zz), 6 (xx, yy, zz, xy, xz, yz), a 3x3 matrix, or {zz: J}")
    xx, yy, zz = (entry(item) for item in raw)
    return (xx, yy, zz, 0.0, 0.0, 0.0)


def inertia_matrix(entries: Any) -> Array:
    """The 3x3 tensor of (xx, yy, zz, xy, xz, yz)."""
    xx, yy, zz, xy, xz, yz = entries
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], dtype=object)


class InertiaKind(FieldKind):
    """The entries of an inertia, or the one moment that was given."""

    def write(self, name: str, value: Any, writer: Any) -> Mapping[str, Any]:
        if isinstance(value, LoneMoment):
            return {name: {value.entry: writer.plain(value.moment)}}
        return {name: writer.plain(value[:3] if value[3:] == ZERO else value)}

    def walk(self, value: Any, walk: ValueWalk, at: Any, owner: Component) -> Any:
        if not isinstance(value, LoneMoment):
            return walk.value(value, at.at("", "inertia"), ENTRIES)
        moment = walk.value(value.moment, at.at(value.entry, "inertia"))
        return value if moment is value.moment else LoneMoment.fill(value.entry, moment)


class FramesKind(FieldKind):
    """The named frames of a body."""

    def write(self, name: str, value: Any, writer: Any) -> Mapping[str, Any]:
        return {name: {str(frame.name): writer.pose(frame) for frame in value}}

    def walk(self, value: Any, walk: ValueWalk, at: Any, owner: Component) -> Any:
        new = tuple(walk.own_frame(frame, at) for frame in value)
        return value if all(a is b for a, b in zip(new, value, strict=True)) else new


def _read_frames(reader: Reader, raw: Any, name: str) -> tuple[Frame, ...]:
    if isinstance(raw, tuple) and all(isinstance(item, Frame) for item in raw):
        return raw
    if not isinstance(raw, Mapping):
        raise reader.fail(name, "is a mapping of names to frames")
    frames: dict[str, Frame] = {}
    for key, item in raw.items():
        check_frame_name(reader, key, frames)
        frames[key] = read_frame(reader, reader.component, item, f"{name}.{key}", key)
    return tuple(frames.values())


def _read_visuals(reader: Reader, raw: Any, name: str) -> tuple[Visual, ...]:
    if not isinstance(raw, (list, tuple)):
        raise reader.fail(name, "is a list of meshes and solids")
    return tuple(read_visual(reader, item, name) for item in raw)


def _read_shape(reader: Reader, raw: Any, name: str) -> Shape:
    from kinode.model.base.shapes import read_shape

    return read_shape(reader, raw, name)


_THREE = array_of(ref("number"), 3, 3)
_MAPPING = {**object_of(ENTRIES, {name: ref("number") for name in ENTRIES}), "minProperties": 1}
_INERTIA = one_of(_THREE, array_of(ref("number"), 6, 6), array_of(_THREE, 3, 3), _MAPPING)
InertiaKind("inertia", "InertiaLike", "numbers or mapping", _INERTIA, plainly(read_inertia))
FramesKind("frames", "PlacesLike", "mapping of places", named(ref("place"), ""), plainly(_read_frames))
FieldKind("shape", "ShapeLike", "shape or mapping", ref("shape"), plainly(_read_shape))
FieldKind("meshes", "VisualsLike", "list", {"type": "array", "items": ref("look")}, plainly(_read_visuals))


@record
class Body(Component):
    """A rigid body; mass, center of mass and inertia, or a shape that gives them."""

    section: ClassVar[str] = "bodies"
    has_shortcut: ClassVar[bool] = True
    symbol: ClassVar[str] = "body"

    given_mass: Value = declare(0.0, Spec("number", "mass", "mass", public="mass"))
    given_com: Vector = vector("length", "center of mass, in the body's axes", ZERO, public="com")
    given_inertia: Inertia = declare(
        NO_INERTIA, Spec("inertia", None, "inertia tensor: 3, 6 or 3x3 numbers, or {zz: J}", public="inertia")
    )
    given_about: str = declare(
        "com", Spec("choice", None, "what the inertia is about", ("com", "origin"), public="about")
    )
    shape: Shape | None = special("shape", "box, cylinder, sphere, rod or mesh, with mass or density")
    frames: tuple[Frame, ...] = special("frames", "named frames", ())
    meshes: tuple[Visual, ...] = special("meshes", "meshes and solids for drawing; never needed", (), aside=True)
    physical: bool = special("flag", "whether an inertia that no body can have is refused", True)
    system: System | None = field(default=None, compare=False, repr=False, kw_only=True)

    def at(
        self, x: Any = 0.0, y: Any = 0.0, z: Any = 0.0, *, rpy: Any = None, quaternion: Any = None,
        matrix: Any = None, turns: Any = None, name: str | None = None,
    ) -> Frame:  # fmt: skip
        """A frame on this body; a named one is stored and available as ``body[name]``."""
        plain = rpy is quaternion is matrix is turns is name is None and type(x) is type(y) is type(z) is float
        if plain and math.isfinite(x + y + z) and self.system is not None and self.name in self.system:
            return Frame(self.name, (x, y, z))  # by far the most frequent one
        given = {"at": (x, y, z), "rpy": rpy, "quaternion": quaternion, "matrix": matrix, "turns": turns}
        assert self.system is not None
        return self.system.place(self.name, given, name)

    @property
    def com(self) -> Frame:
        """The frame at the center of mass, with the body's axes."""
        return Frame(self.name, self.center_of_mass, None, "com")

    def __getitem__(self, name: str) -> Frame:
        assert self.system is not None
        return self.system.find_frame(f"{self.name}.{name}")

    # -- mass properties ---------------------------------------------------------------------------
    # The properties are the body's own, also where a shape gives them; the fields given_... are what was written.
    @property
    def solid(self) -> Shape | None:
        """The shape, if it gives the mass properties."""
        shape = self.shape
        if shape is None or (shape.mass is None and shape.density is None):
            return None
        return None if shape.mesh is not None and self.states_mass else shape

    @property
    def states_mass(self) -> bool:
        """Whether mass, com or inertia are given besides the shape."""
        return (self.given_mass, self.given_com, self.given_inertia) != (0.0, ZERO, NO_INERTIA)

    @property
    def mass(self) -> Value:
        """Mass, kg."""
        return self.given_mass if self.solid is None else self.solid.total_mass()

    @property
    def center_of_mass(self) -> Vector:
        """The mass center in the body's axes, m; ``com`` is the frame there."""
        return self.given_com if self.solid is None else self.solid.com()

    @property
    def inertia(self) -> Inertia:
        """The entries xx, yy, zz, xy, xz, yz of the tensor, kg*m^2."""
        return self.mass_properties[2]

    @property
    def about(self) -> str:
        """What the inertia is about: com or origin; a single moment, {zz: J}, is always moved to com."""
        return self.mass_properties[3]

    def __repr__(self) -> str:
        shown = {"mass": self.mass, "com": self.center_of_mass, "inertia": self.inertia, "about": self.about}
        given = {key: value for key, value in self.given().items() if key not in shown}
        return f"Body({', '.join([repr(self.name), *(f'{k}={v!r}' for k, v in (shown | given).items())])})"

    def owned_by(self, system: Any) -> Body:
        """The same body in another system."""
        twin: Body = object.__new__(type(self))
        for name, value in self.__dict__.items():  # ``copy`` takes three times as long
            object.__setattr__(twin, name, system if name == "system" else value)
        return twin

    @property
    def mass_properties(self) -> tuple[Value, Vector, Inertia, str]:
        """Mass, mass center, inertia, and what that is about."""
        solid = self.solid
        if solid is not None:
            return solid.total_mass(), solid.com(), solid.inertia(), "com"
        mass, com, inertia, about = self.given_mass, self.given_com, self.given_inertia, self.given_about
        if about == "origin" and isinstance(inertia, LoneMoment):
            return mass, com, cast("Inertia", inertia.moved_to_center(mass, com)), "com"
        return mass, com, inertia, about

    def rigid_inertia(self, resolve: Resolve) -> RigidInertia:
        """Mass, first moment and tensor about the body's origin, in its axes."""
        entries, about = self.inertia, self.about
        mass: Scalar = resolve(self.mass)
        c = tidy([resolve(x) for x in self.center_of_mass])
        J = tidy(inertia_matrix([resolve(x) for x in entries]))
        if about == "com":
            J = J + mass * ((c @ c) * IDENTITY3 - c[:, None] * c)
        return RigidInertia(mass, mass * c, J)

    def central_inertia(self, resolve: Resolve) -> Array:
        """The tensor about the mass center, in the body's axes."""
        entries, about = self.inertia, self.about
        J = tidy(inertia_matrix([resolve(x) for x in entries]))
        if about == "com":
            return J
        c = tidy([resolve(x) for x in self.center_of_mass])
        return tidy(J - resolve(self.mass) * ((c @ c) * np.eye(3) - np.outer(c, c)))

    def check(self, nominal: Resolve) -> None:
        """Refuse mass properties that no body can have."""
        shape = self.shape
        if shape is not None and shape.mesh is not None and self.states_mass:
            from kinode.model.base.shapes import compare_with_mesh

            compare_with_mesh(self.name, shape, self.given_mass, self.given_com, self.central_inertia, nominal)
        if shape is not None and self.solid is not None and self.states_mass:
            raise self.error_at("shape", "the shape has a mass or density; leave out mass, com and inertia")
        given_mass, com, inertia, about = self.mass_properties
        mass = given_mass if type(given_mass) is float else float(nominal(given_mass))
        if not mass >= 0:
            raise self.error_at("mass", f"must not be negative, and is {mass:g}")
        if not self.physical:
            return
        xx, yy, zz, xy, xz, yz = _evaluate(inertia, nominal)
        x, y, z = _evaluate(com, nominal)
        # Allow for rounding of the given numbers and of the shift by c; a radius of gyration below 1 nm counts as zero.
        squares = x * x + y * y + z * z
        scale, noise = max(map(abs, (xx, yy, zz, xy, xz, yz))), mass * (ROUNDED * squares + 1e-18)
        where, moved = "", isinstance(inertia, LoneMoment) and about != self.given_about
        if moved:
            scale = max(scale, *map(abs, _evaluate(self.given_inertia, nominal)))
        if about == "origin":
            xx, yy, zz = xx - mass * (squares - x * x), yy - mass * (squares - y * y), zz - mass * (squares - z * z)
            xy, xz, yz = xy + mass * x * y, xz + mass * x * z, yz + mass * y * z
            where = f" (about the center of mass, {mass:g} kg at {(x, y, z)})"
        elif scale == 0.0:
            return
        if _is_possible((xx, yy, zz, xy, xz, yz), scale):
            return
        moments = _principal_moments((xx, yy, zz, xy, xz, yz))
        if moments is None:
            raise self.error_at("inertia", "is too large to calculate with")
        problem = None
        if moments[0] < -1e-9 * scale - noise:
            problem = f"the principal moments{where} are {_list(moments)}, and none may be negative"
            if moved:
                problem = _below_least(cast("LoneMoment", self.given_inertia), mass, (x, y, z), nominal)
        elif moments[0] + moments[1] < moments[2] - 1e-6 * scale - noise:
            problem = f"of the principal moments{where} {_list(moments)} the largest exceeds the sum of the others"
        if problem is not None:
            raise self.error_at("inertia", f"no body has it: {problem}")


def _below_least(given: LoneMoment, mass: float, com: Vector, nominal: Resolve) -> str:
    """Words for a moment about the origin that is too small for the mass center."""
    J, least = _evaluate((given.moment, given.shift(mass, com)), nominal)
    name, squares = given.entry, " + ".join(f"{axis}^2" for axis in "xyz" if axis != given.entry[0])
    return (
        f"{name} about the origin is {J:.6g} kg*m^2, which leaves {J - least:.6g} about the mass center; with "
        f"{mass:g} kg at {com} it is at least m ({squares}) = {least:.6g} kg*m^2"
    )


def _evaluate(values: tuple[Value, ...], nominal: Resolve) -> Sequence[float]:
    """Numbers for values of which some may be expressions."""
    if _FLOAT.issuperset(map(type, values)):
        return cast("tuple[float, ...]", values)
    return [value if type(value) is float else float(nominal(value)) for value in values]


def _principal_moments(entries: Sequence[float]) -> list[float] | None:
    """The principal moments in order; None where they are not finite."""
    if not all(map(math.isfinite, entries)):
        return None
    if not any(entries[3:]):
        return sorted(entries[:3])
    moments: list[float] = np.linalg.eigvalsh(inertia_matrix(entries).astype(float)).tolist()
    return moments


def _is_possible(entries: Sequence[float], scale: float) -> bool:
    """Whether the principal moments are clearly possible: E = trace(J)/2 - J is clearly positive definite."""
    xx, yy, zz, xy, xz, yz = entries
    half = 0.5 * (xx + yy + zz)
    a, b, c = half - xx, half - yy, half - zz
    minor = a * b - xy * xy
    whole = minor * c - a * yz * yz - b * xz * xz - 2.0 * xy * xz * yz
    clear = 1e-6 * scale
    return a > clear and minor > clear * scale and whole > clear * scale * scale


def _list(values: Sequence[float]) -> str:
    return ", ".join(f"{x:.6g}" for x in values)


add_shortcut("body", Body)
