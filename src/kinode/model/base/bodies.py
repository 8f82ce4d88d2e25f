"""Bodies: mass properties, shapes, named frames."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from kinode.algebra.scalars import Array, Scalar, tidy
from kinode.algebra.spatial import RigidInertia
from kinode.errors import ModelError
from kinode.model.base.fields import Component, Reader, Spec, Value, Vector, choice, number, record, special, vector
from kinode.model.base.frames import ZERO, Frame, Resolve, check_frame_name, read_place
from kinode.model.base.visuals import Visual, read_look

if TYPE_CHECKING:
    from kinode.model.system import System

AXES = ("x", "y", "z")
ENTRIES = ("xx", "yy", "zz", "xy", "xz", "yz")
Inertia = tuple[Value, Value, Value, Value, Value, Value]
NO_INERTIA: Inertia = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Shape:
    """A solid that gives a body its mass properties and its looks; ``kind`` and sizes as they were given."""

    kind: str
    sizes: tuple[tuple[str, Any], ...]
    mass: Value | None = None
    density: Value | None = None
    at: Vector = ZERO

    def size(self, name: str) -> Any:
        return dict(self.sizes)[name]

    def volume(self) -> Any:
        if self.kind == "box":
            return self.size("x") * self.size("y") * self.size("z")
        if self.kind == "cylinder":
            return self.size("radius") ** 2 * self.size("length") * math.pi
        if self.kind == "sphere":
            return self.size("radius") ** 3 * (4.0 / 3.0 * math.pi)
        raise ModelError("a rod is thin: give its mass, not a density", field="density")

    def total_mass(self) -> Value:
        return self.mass if self.mass is not None else self.density * self.volume()

    def com(self) -> Vector:
        if self.kind != "rod":
            return self.at
        half = [0.0, 0.0, 0.0]
        half[AXES.index(self.size("axis"))] = 0.5
        x, y, z = (self.at[i] + half[i] * self.size("length") for i in range(3))
        return (x, y, z)

    def inertia(self) -> Inertia:
        """About the mass center, in the body's axes."""
        m = self.total_mass()
        if self.kind == "box":
            x, y, z = (self.size(axis) for axis in AXES)
            principal = (m * (y**2 + z**2) / 12.0, m * (x**2 + z**2) / 12.0, m * (x**2 + y**2) / 12.0)
        elif self.kind == "sphere":
            J = m * self.size("radius") ** 2 * 0.4
            principal = (J, J, J)
        else:
            length = self.size("length")
            r2 = self.size("radius") ** 2 if self.kind == "cylinder" else 0.0
            across = m * (3.0 * r2 + length**2) / 12.0
            along = AXES.index(self.size("axis"))
            principal = (across, across, across)
            principal = (*principal[:along], m * r2 * 0.5, *principal[along + 1 :])
        return (*principal, 0.0, 0.0, 0.0)


SHAPE_SIZES = {"box": ("x", "y", "z"), "cylinder": ("radius", "length"), "sphere": ("radius",), "rod": ("length",)}


def box(x: Any, y: Any, z: Any, *, mass: Any = None, density: Any = None, at: Any = ZERO) -> dict[str, Any]:
    """A box with edges along the body's axes, for ``system.body(name, shape=...)``.

    Parameters
    ----------
    x, y, z : number or text
        Lengths of the edges in m, or text with a unit (``"40 mm"``); parameters are allowed.
    mass : number or text, optional
        Mass in kg.  Give ``mass`` or ``density``; without both the box is drawn and has no mass.
    density : number or text, optional
        Density in kg/m^3.
    at : sequence of three, default (0, 0, 0)
        Position of the center in the body's axes, in m.

    Examples
    --------
    >>> kn.System("s").body("plate", shape=kn.box("1 m", 0.5, "10 mm", density=7850)).total_mass()
    39.25
    """
    return {"box": {"x": x, "y": y, "z": z, "mass": mass, "density": density, "at": at}}


def cylinder(
    radius: Any, length: Any, *, axis: str = "z", mass: Any = None, density: Any = None, at: Any = ZERO
) -> dict[str, Any]:
    """A solid cylinder along one of the body's axes, for ``system.body(name, shape=...)``.

    Parameters
    ----------
    radius, length : number or text
        In m, or text with a unit; parameters are allowed.
    axis : {"x", "y", "z"}, default "z"
        The axis of the cylinder.
    mass : number or text, optional
        Mass in kg.  Give ``mass`` or ``density``; without both it is drawn and has no mass.
    density : number or text, optional
        Density in kg/m^3.
    at : sequence of three, default (0, 0, 0)
        Position of the center in the body's axes, in m.

    Examples
    --------
    >>> wheel = kn.System("s").body("wheel", shape=kn.cylinder("80 mm", "20 mm", mass=3))
    >>> round(wheel.inertia_entries()[0][2], 6)  # about its axis
    0.0096
    """
    return {"cylinder": {"radius": radius, "length": length, "axis": axis, "mass": mass, "density": density, "at": at}}


def sphere(radius: Any, *, mass: Any = None, density: Any = None, at: Any = ZERO) -> dict[str, Any]:
    """A solid ball, for ``system.body(name, shape=...)``.

    Parameters
    ----------
    radius : number or text
        In m, or text with a unit; parameters are allowed.
    mass : number or text, optional
        Mass in kg.  Give ``mass`` or ``density``; without both it is drawn and has no mass.
    density : number or text, optional
        Density in kg/m^3.
    at : sequence of three, default (0, 0, 0)
        Position of the center in the body's axes, in m.

    Examples
    --------
    >>> kn.System("s").body("shot", shape=kn.sphere("5 cm", mass=0.5)).total_mass()
    0.5
    """
    return {"sphere": {"radius": radius, "mass": mass, "density": density, "at": at}}


def rod(length: Any, *, axis: str = "x", mass: Any = None, at: Any = ZERO) -> dict[str, Any]:
    """A thin rod from ``at`` along one of the body's axes, for ``system.body(name, shape=...)``.

    Parameters
    ----------
    length : number or text
        In m, or text with a unit; parameters are allowed.
    axis : {"x", "y", "z"}, default "x"
        The direction of the rod.
    mass : number or text, optional
        Mass in kg; without it the rod is drawn and has no mass.  A thin rod has no density.
    at : sequence of three, default (0, 0, 0)
        Position of its first end in the body's axes, in m.

    Examples
    --------
    >>> kn.System("s").body("bar", shape=kn.rod("1 m", mass=1)).center()
    (0.5, 0.0, 0.0)
    """
    return {"rod": {"length": length, "axis": axis, "mass": mass, "at": at}}


def read_shape(reader: Reader, raw: Any, name: str) -> Shape:
    """A mapping with one of box, cylinder, sphere, rod."""
    if isinstance(raw, Shape):
        return raw
    if not isinstance(raw, Mapping) or len(raw) != 1 or next(iter(raw)) not in SHAPE_SIZES:
        raise reader.fail(name, f"takes one of {', '.join(SHAPE_SIZES)} with its sizes")
    ((kind, given),) = raw.items()
    if not isinstance(given, Mapping):
        raise reader.fail(name, f"a {kind} needs {', '.join(SHAPE_SIZES[kind])} and mass or density")
    given = {k: v for k, v in given.items() if v is not None}
    allowed = {*SHAPE_SIZES[kind], "mass", "density", "at"} | ({"axis"} if kind in ("cylinder", "rod") else set())
    for key in given:
        if key not in allowed:
            raise reader.fail(f"{name}.{key}", f"a {kind} has no {key!r}; it takes {', '.join(sorted(allowed))}")
    sizes: list[tuple[str, Any]] = []
    for size in SHAPE_SIZES[kind]:
        if size not in given:
            raise reader.fail(name, f"a {kind} needs {size}")
        value = reader.number(given[size], "length", f"{name}.{size}")
        if isinstance(value, float) and value <= 0:
            raise reader.fail(f"{name}.{size}", f"must be positive, not {value:g}")
        sizes.append((size, value))
    if "axis" in allowed:
        axis = given.get("axis", "x" if kind == "rod" else "z")
        if not isinstance(axis, str) or axis not in AXES:
            raise reader.fail(f"{name}.axis", f"must be x, y or z, not {axis!r}")
        sizes.append(("axis", axis))
    if ("mass" in given) and ("density" in given):
        raise reader.fail(name, "give mass or density, not both")
    shape = Shape(
        kind,
        tuple(sizes),
        reader.number(given["mass"], "mass", f"{name}.mass") if "mass" in given else None,
        reader.number(given["density"], "density", f"{name}.density") if "density" in given else None,
        reader.vector(given.get("at", ZERO), "length", f"{name}.at"),
    )
    if shape.density is not None and kind == "rod":
        raise reader.fail(name, "a rod is thin and has no volume: give its mass")
    return shape


def read_inertia(reader: Reader, raw: Any, name: str) -> Inertia:
    """3 (principal), 6 (xx, yy, zz, xy, xz, yz), 3x3, or a mapping of entries such as {zz: J}."""

    def entry(item: Any) -> Value:
        return reader.number(item, "inertia", name)

    if isinstance(raw, np.ndarray):
        raw = raw.tolist()
    if isinstance(raw, Mapping):
        for key in raw:
            if key not in ENTRIES:
                raise reader.fail(name, f"has no entry {key!r}; the entries are {', '.join(ENTRIES)}")
        found = {key: entry(item) for key, item in raw.items()}
        if len(found) == 1 and next(iter(found)) in ENTRIES[:3]:
            ((key, J),) = found.items()
            found = {k: J if k == key else J * 0.5 for k in ENTRIES[:3]}
        elif any(k not in found for k in ENTRIES[:3]):
            raise reader.fail(name, "needs xx, yy and zz, or one of them alone")
        xx, yy, zz, xy, xz, yz = (found.get(k, 0.0) for k in ENTRIES)
        return (xx, yy, zz, xy, xz, yz)
    if isinstance(raw, (list, tuple)) and len(raw) == 3 and isinstance(raw[0], (list, tuple)):
        rows = reader.sequence(raw, 3, name, lambda row: reader.sequence(row, 3, name, entry))
        for i, j in ((0, 1), (0, 2), (1, 2)):
            a, b = rows[i][j], rows[j][i]
            plain = isinstance(a, float) and isinstance(b, float)
            if a != b and not (plain and abs(a - b) <= 1e-9 * max(abs(a), abs(b))):
                raise reader.fail(name, f"is not symmetric: {AXES[i]}{AXES[j]} and {AXES[j]}{AXES[i]} differ")
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


@record
class Body(Component):
    """A rigid body; mass, center of mass and inertia, or a shape that gives them."""

    section: ClassVar[str] = "bodies"
    symbol: ClassVar[str] = "body"

    mass: Value = number("mass", "mass", 0.0)
    center_of_mass: Vector = vector("length", "center of mass, in the body's axes", ZERO, public="com")
    inertia: Inertia = special("inertia", "inertia tensor: 3, 6 or 3x3 numbers, or {zz: J}", NO_INERTIA)
    about: str = choice(("com", "origin"), "what the inertia is about", "com")
    shape: Shape | None = special("shape", "box, cylinder, sphere or rod, with mass or density")
    frames: tuple[Frame, ...] = special("frames", "named frames", ())
    meshes: tuple[Visual, ...] = special("meshes", "meshes and solids for drawing; never needed", (), aside=True)
    physical: bool = special("flag", "whether an inertia that no body can have is refused", True)
    system: System | None = field(default=None, compare=False, repr=False, kw_only=True)

    @classmethod
    def read_inertia(cls, reader: Reader, raw: Any, name: str, spec: Spec) -> Inertia:
        return read_inertia(reader, raw, name)

    @classmethod
    def read_shape(cls, reader: Reader, raw: Any, name: str, spec: Spec) -> Shape:
        return read_shape(reader, raw, name)

    @classmethod
    def read_frames(cls, reader: Reader, raw: Any, name: str, spec: Spec) -> tuple[Frame, ...]:
        if isinstance(raw, tuple) and all(isinstance(item, Frame) for item in raw):
            return raw
        if not isinstance(raw, Mapping):
            raise reader.fail(name, "is a mapping of names to places")
        found: dict[str, Frame] = {}
        for key, item in raw.items():
            check_frame_name(reader, key, found)
            found[key] = read_place(reader, reader.component, item, f"{name}.{key}", key)
        return tuple(found.values())

    @classmethod
    def read_meshes(cls, reader: Reader, raw: Any, name: str, spec: Spec) -> tuple[Visual, ...]:
        if not isinstance(raw, (list, tuple)):
            raise reader.fail(name, "is a list of meshes and solids")
        return tuple(read_look(reader, item, name) for item in raw)

    @classmethod
    def read_flag(cls, reader: Reader, raw: Any, name: str, spec: Spec) -> bool:
        if not isinstance(raw, bool):
            raise reader.fail(name, f"is true or false, not {raw!r}")
        return raw

    def at(
        self, x: Any = 0.0, y: Any = 0.0, z: Any = 0.0, *, rpy: Any = None, quaternion: Any = None,
        matrix: Any = None, turns: Any = None, name: str | None = None,
    ) -> Frame:  # fmt: skip
        """A frame on this body; with a name it is kept and can be found as ``body[name]``."""
        given = {"at": (x, y, z), "rpy": rpy, "quaternion": quaternion, "matrix": matrix, "turns": turns}
        assert self.system is not None
        return self.system.place(self.name, given, name)

    @property
    def com(self) -> Frame:
        """The body's axes moved to its center of mass."""
        return Frame(self.name, self.center(), None, "com")

    def __getitem__(self, name: str) -> Frame:
        assert self.system is not None
        return self.system.find_frame(f"{self.name}.{name}")

    # -- mass properties ---------------------------------------------------------------------------
    @property
    def solid(self) -> Shape | None:
        """The shape, where it gives the mass properties."""
        shape = self.shape
        return None if shape is None or (shape.mass is None and shape.density is None) else shape

    def total_mass(self) -> Value:
        return self.mass if self.solid is None else self.solid.total_mass()

    def center(self) -> Vector:
        return self.center_of_mass if self.solid is None else self.solid.com()

    def inertia_entries(self) -> tuple[Inertia, str]:
        """The six entries of the tensor, and what they are about: com or origin."""
        return (self.inertia, self.about) if self.solid is None else (self.solid.inertia(), "com")

    def rigid_inertia(self, resolve: Resolve) -> RigidInertia:
        """Mass, first moment and tensor about the body's origin, in its axes."""
        entries, about = self.inertia_entries()
        mass: Scalar = resolve(self.total_mass())
        c = tidy([resolve(x) for x in self.center()])
        J = tidy(inertia_matrix([resolve(x) for x in entries]))
        if about == "com":
            J = J + mass * ((c @ c) * np.eye(3) - np.outer(c, c))
        return RigidInertia(mass, mass * c, J)

    def central_inertia(self, resolve: Resolve) -> Array:
        """The tensor about the mass center, in the body's axes."""
        entries, about = self.inertia_entries()
        J = tidy(inertia_matrix([resolve(x) for x in entries]))
        if about == "com":
            return J
        c = tidy([resolve(x) for x in self.center()])
        return tidy(J - resolve(self.total_mass()) * ((c @ c) * np.eye(3) - np.outer(c, c)))

    def check(self, nominal: Resolve) -> None:
        """Refuse mass properties that no body can have."""
        if self.solid is not None and (self.mass, self.center_of_mass, self.inertia) != (0.0, ZERO, NO_INERTIA):
            message = "the shape has a mass or density; leave out mass, com and inertia"
            raise ModelError(message, component=self.name, field="shape")
        mass = float(nominal(self.total_mass()))
        if not mass >= 0:
            raise ModelError(f"must not be negative, and is {mass:g}", component=self.name, field="mass")
        if not self.physical:
            return
        entries, about = self.inertia_entries()
        J = inertia_matrix([float(nominal(x)) for x in entries]).astype(float)
        c = np.array([float(nominal(x)) for x in self.center()])
        # Rounding in what was given, and in the shift by c; a radius of gyration below a nanometer is none.
        scale, noise = abs(J).max(), mass * (1e-12 * (c @ c) + 1e-18)
        where = ""
        if about == "origin":
            J -= mass * ((c @ c) * np.eye(3) - np.outer(c, c))
            where = f" (about the center of mass, {mass:g} kg at {tuple(map(float, c))})"
        elif scale == 0.0:
            return
        if not np.isfinite(J).all():
            raise ModelError("is too large to calculate with", component=self.name, field="inertia")
        moments = np.linalg.eigvalsh(J)
        problem = None
        if moments[0] < -1e-9 * scale - noise:
            problem = f"the principal moments{where} are {_list(moments)}, and none may be negative"
        elif moments[0] + moments[1] < moments[2] - 1e-6 * scale - noise:
            problem = f"of the principal moments{where} {_list(moments)} the largest exceeds the sum of the others"
        if problem is not None:
            raise ModelError(f"no body has it: {problem}", component=self.name, field="inertia")


def _list(values: Array) -> str:
    return ", ".join(f"{x:.6g}" for x in values)
