"""Values of URDF attributes: numbers, vectors, origins, axes.  Errors name file, line, component and field."""

from __future__ import annotations

import math
from typing import Any

from kinode.errors import ModelError
from kinode.importers.xml_reader import XmlElement
from kinode.model.base.bodies import inertia_matrix
from kinode.model.base.frames import ZERO, rotation_matrix

Vector3 = tuple[float, float, float]
Rotation = tuple[str, tuple[float, ...]]

# rad: an angle this close to a multiple of 90 degrees is one; files print pi/2 with 11 digits or more
EXACT = 1e-10
QUARTER = math.pi / 2


class Source:
    """Reads the attributes of elements of one file."""

    def __init__(self, file: str | None) -> None:
        self.file = file

    def fail(self, at: XmlElement, message: str, component: str | None = None, field: str | None = None) -> ModelError:
        return ModelError(message, component=component, field=field, file=self.file, line=at.line)

    def name(self, element: XmlElement, what: str) -> str:
        """The name of a link or joint."""
        name = element.attributes.get("name", "")
        if not name.strip():
            raise self.fail(element, f'{what} needs a name: <{element.tag} name="...">', field="name")
        return name

    def text(self, element: XmlElement, attribute: str, component: str, field: str) -> str:
        """A required attribute."""
        value = element.attributes.get(attribute)
        if value is None:
            raise self.fail(element, f'<{element.tag}> needs {attribute}="..."', component, field)
        return value

    def number(
        self, element: XmlElement, attribute: str, component: str, field: str,
        default: float | None = None, *, endless: bool = False,
    ) -> float:  # fmt: skip
        """A finite number; with ``endless`` infinity is allowed."""
        raw = element.attributes.get(attribute)
        if raw is None and default is not None:
            return default
        if raw is None:
            raw = self.text(element, attribute, component, field)
        return self._float(raw, element, attribute, component, field, endless)

    def numbers(
        self, element: XmlElement, attribute: str, count: int, component: str, field: str,
        default: tuple[float, ...] | None = None,
    ) -> tuple[float, ...]:  # fmt: skip
        """Numbers separated by blanks."""
        raw = element.attributes.get(attribute)
        if raw is None and default is not None:
            return default
        words = self.text(element, attribute, component, field).split()
        try:
            quick = tuple([float(word) + 0.0 for word in words])  # + 0.0: no -0.0
            if len(quick) == count and math.isfinite(sum(quick)) and "_" not in raw:  # type: ignore[operator]
                return quick
        except ValueError:
            pass
        values = tuple(self._float(word, element, attribute, component, field, False) for word in words)
        if len(values) != count:
            raise self.fail(element, f"{attribute} takes {count} numbers, not {len(values)}: {raw!r}", component, field)
        return values

    def _float(self, raw: str, element: XmlElement, attribute: str, component: str, field: str, endless: bool) -> float:
        try:
            value = float(raw)
        except ValueError:
            value = None
        if value is None or "_" in raw:
            hint = "; run xacro on the file first" if "$" in raw else ""
            raise self.fail(element, f"{attribute}: {_short(raw)} is not a number{hint}", component, field)
        if math.isnan(value) or (math.isinf(value) and not endless):
            raise self.fail(element, f"{attribute} must be finite, not {raw.strip()}", component, field)
        return value + 0.0

    def origin(self, owner: XmlElement, component: str, field: str) -> tuple[Vector3, Rotation | None]:
        """Position and rotation of an origin; None for no rotation."""
        element = owner.find("origin")
        if element is None:
            return ZERO, None  # type: ignore[return-value]
        x, y, z = self.numbers(element, "xyz", 3, component, field, (0.0, 0.0, 0.0))
        if "quat_xyzw" in element.attributes:
            return (x, y, z), self._quaternion(element, component, field)
        rpy = self.numbers(element, "rpy", 3, component, field, (0.0, 0.0, 0.0))
        if not any(rpy):
            return (x, y, z), None
        rpy = tuple(exact_angle(angle) for angle in rpy)
        return (x, y, z), ("rpy", rpy) if any(rpy) else None

    def _quaternion(self, element: XmlElement, component: str, field: str) -> Rotation:
        if "rpy" in element.attributes:
            raise self.fail(element, "give rpy or quat_xyzw, not both", component, field)
        x, y, z, w = self.numbers(element, "quat_xyzw", 4, component, field)
        length = math.hypot(x, y, z, w)
        if not abs(length - 1.0) <= 1e-3:
            message = f"quat_xyzw has length {length:.6g}; a unit quaternion is expected"
            raise self.fail(element, message, component, field)
        return "quaternion", (w / length, x / length, y / length, z / length)

    def axis(self, joint: XmlElement, component: str) -> str | Vector3:
        """A unit vector, or its name if it is x, y, z, -x, -y or -z; x by default."""
        element = joint.find("axis")
        if element is None:
            return "x"
        values = self.numbers(element, "xyz", 3, component, "axis", (1.0, 0.0, 0.0))
        length = math.hypot(*values)
        if not 1e-12 < length < math.inf:
            raise self.fail(element, f"an axis needs a direction; this one has length {length:g}", component, "axis")
        x, y, z = (value / length if abs(value) > EXACT * length else 0.0 for value in values)
        if (x, y, z).count(0.0) == 2:
            return ("-" if min(x, y, z) < 0 else "") + ("x" if x else "y" if y else "z")
        return (x, y, z)


def exact_angle(angle: float) -> float:
    """The angle, or the multiple of 90 degrees that it is within ``EXACT`` of."""
    turns = round(angle / QUARTER)
    return turns * QUARTER if abs(angle - turns * QUARTER) <= EXACT else angle


def rotate_inertia(rotation: Rotation, entries: list[float]) -> list[float]:
    """Tensor entries xx, yy, zz, xy, xz, yz, rotated from the axes of the inertial into those of the link."""
    R: Any = rotation_matrix(rotation, lambda value: value).astype(float)
    R[abs(R) < 4e-16] = 0.0
    J = R @ inertia_matrix(entries).astype(float) @ R.T
    J = 0.5 * (J + J.T)
    return [float(J[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]


def _short(raw: str) -> str:
    return repr(raw if len(raw) <= 40 else raw[:37] + "...")
