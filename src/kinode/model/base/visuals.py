"""Visuals: the geometry that a body is drawn with.  Drawings open the mesh files that importers found.

A visual has no mass and no effect on the motion.  Files contain its plain form, ``Visual.plain``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kinode.model.base.field_reader import Reader
from kinode.model.base.fields import unknown

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
