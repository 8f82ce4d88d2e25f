"""Drive units: a motor's rotor as a body of its own, geared to a joint.

A drive is three components that a user could have written by hand, named behind its own name: the body ``rotor``, the
hinge ``shaft`` in which it turns on its carrier, and the gear ``gear`` with shaft.q = ratio * joint.q.  The motor's
moment acts in the shaft, from the carrier on the rotor; what it does to the carrier beyond the geared moment,
(T-6.8), (T-6.9) and (T-6.11), follows from the rotor's own equations, and nothing else has to know about drives.

The rotor is balanced and symmetric about its axis e: J = transverse 1 + (axial - transverse) e e'.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from kinode.algebra.scalars import sqrt
from kinode.errors import ModelError
from kinode.model.base.bodies import ENTRIES
from kinode.model.base.field_reader import Reader
from kinode.model.base.fields import (
    Component,
    Spec,
    Value,
    Vector,
    declare,
    frame,
    number,
    record,
    special,
    unknown,
    vector,
)
from kinode.model.base.frames import ZERO, Frame, axis_vector, read_axis
from kinode.model.base.kinds import add_shortcut
from kinode.model.joints.joint import AxialJoint, Joint
from kinode.model.joints.revolute import Revolute

if TYPE_CHECKING:
    from kinode.model.system import System

ACTS = ("effort", "damping", "friction", "limits")


def _hinge_field(name: str) -> Any:
    """A field of a hinge, which acts in the shaft."""
    return declare(None, Revolute.specs()[name][1])


@record
class DriveUnit(Component):
    """A motor geared to a joint: its rotor is a body that turns ``ratio`` times as fast as the joint moves."""

    section: ClassVar[str] = "drives"
    has_shortcut: ClassVar[bool] = True

    joint: str = special("joint", "the joint that it turns", ...)
    ratio: Value = number(None, "angle of the rotor for a unit of the joint's coordinate")
    mass: Value = number("mass", "of the rotor", 0.0)
    inertia: Any = special(
        "rotor_inertia", "of the rotor about its axis, or [axial, transverse]", ..., dimension="inertia"
    )
    on: Frame | None = frame("what carries the motor; the parent side of the joint if left out", None)
    com: Vector = vector("length", "center of mass of the rotor, in its own axes", ZERO)
    axis: Any = special("axis", "of the shaft, in these axes; that of the joint if left out")
    offset: Value = number(None, "angle of the rotor where the joint's coordinate is 0", 0.0)
    meshes: Any = special("meshes", "meshes and solids of the rotor, for drawing")
    effort: Any = _hinge_field("effort")
    damping: Any = _hinge_field("damping")
    friction: Any = _hinge_field("friction")
    limits: Any = _hinge_field("limits")

    @classmethod
    def shortcut_result(cls) -> type[Component]:
        return Revolute

    @classmethod
    def field_unit(cls, spec: Spec) -> str:
        return Revolute.field_unit(spec)


DRIVE_FIELDS = tuple(DriveUnit.specs())
add_shortcut("drive", DriveUnit)


def add_drive(system: System, name: str, given: Mapping[str, Any]) -> Joint:
    """Add rotor, shaft and gear; on an error the system is as it was."""
    system.check_name(name)
    fields = {key: value for key, value in given.items() if value is not None or key not in DRIVE_FIELDS}
    system.reader(name).check_given(DriveUnit, fields)
    twin = system.copy()
    shaft = _assemble(twin, name, fields)
    system.take_over(twin)
    return shaft


def _assemble(system: System, name: str, given: Mapping[str, Any]) -> Joint:
    driven = _find_joint(system, name, given["joint"])
    reader = system.reader(name)
    carrier = driven.a.shifted(driven.at) if "on" not in given else reader.frame(given["on"], "on")
    if carrier.body == driven.b.body:
        message = f"is on {carrier.body}, which {driven.name} moves; a drive is carried by the other side"
        raise ModelError(message, component=name, field="on")
    axis = _find_axis(system, name, driven, carrier, given.get("axis"))
    visuals = {} if "meshes" not in given else {"meshes": given["meshes"]}
    inertia = _tensor(axis, *_read_inertia(reader, given["inertia"]))
    system.body(
        f"{name}.rotor", mass=given.get("mass", 0.0), com=given.get("com", (0, 0, 0)), inertia=inertia, **visuals
    )
    acting = {field: given[field] for field in ACTS if field in given}
    shaft = system.joint(f"{name}.shaft", Revolute.kind, carrier, system[f"{name}.rotor"], axis=axis, **acting)
    system.constraint(
        f"{name}.gear", "gear", input=shaft.name, output=driven.name, ratio=given["ratio"],
        offset=given.get("offset", 0.0),
    ).check(system)  # fmt: skip
    return shaft


def _find_joint(system: System, name: str, raw: Any) -> Joint:
    joint = system.joints.get(raw.name if isinstance(raw, Joint) else raw)
    if joint is None:
        raise ModelError(unknown("no joint is called", raw, system.joints), component=name, field="joint")
    if joint.n_u != 1:
        message = f"{joint.name} has {joint.n_u} freedoms; a drive turns a joint with one"
        raise ModelError(message, component=name, field="joint")
    return joint


def _find_axis(system: System, name: str, driven: Joint, carrier: Frame, raw: Any) -> Any:
    """The axis of the shaft in the carrier's axes: as it is given, or parallel to the joint's."""
    if raw is not None:
        return read_axis(system.reader(name), raw, "axis")
    here, there = carrier.pose(system.nominal).R, driven.a.pose(system.nominal).R
    if carrier.body != driven.a.body or not np.allclose(np.asarray(here, float), np.asarray(there, float), atol=1e-12):
        message = f"is needed: the axes of {carrier} are not those in which {driven.name} has its own"
        raise ModelError(message, component=name, field="axis")
    return driven.axis if isinstance(driven, AxialJoint) else "z"


def _read_inertia(reader: Reader, raw: Any) -> tuple[Value, Value]:
    """Axial and transverse inertia; without the latter half the axial one, the least that a body can have."""
    if isinstance(raw, (list, tuple, np.ndarray)):
        axial, transverse = reader.sequence(raw, 2, "inertia", lambda item: reader.number(item, "inertia", "inertia"))
        return axial, transverse
    axial = reader.number(raw, "inertia", "inertia")
    return axial, 0.5 * axial


def _tensor(axis: Any, axial: Value, transverse: Value) -> dict[str, Value]:
    e: list[Any] = list(axis_vector(axis))
    length = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2])
    e = [x / length for x in e]
    tensor = {}
    for entry in ENTRIES:
        i, j = ("xyz".index(letter) for letter in entry)
        tensor[entry] = (axial - transverse) * (e[i] * e[j]) + (transverse if i == j else 0.0)
    return tensor
