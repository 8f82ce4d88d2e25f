"""Loads in joints over time: reactions and wrenches on any body, about any point, in any axes; bearing forces."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.codegen.reactions import Wanted, joint_wrenches
from kinode.codegen.records import Wrench
from kinode.codegen.sharing import is_redundant
from kinode.errors import ArgumentError
from kinode.model.fields import unknown
from kinode.model.joint import AxialJoint

if TYPE_CHECKING:
    from kinode.results.trajectory import Trajectory

BEARING_JOINTS = ("revolute", "cylindrical")


@dataclass(frozen=True, eq=False)
class Bearing:
    """A bearing over time: its place on the axis, and its force on the child, in the parent's joint axes."""

    at: float
    force: Array  # (time, 3)
    radial: Array  # (time,), never negative
    axial: Array  # (time,), positive along the axis
    on: str
    frame: str


def reaction(
    run: Trajectory, joint: str, part: str, on: Any, about: Any, axes: Any, *, whole: bool, hold: Any = None
) -> Wrench:
    """Force and moment of a joint, each (time, 3)."""
    record = _joint(run, joint)
    body = None
    if on is not None:
        body = str(getattr(on, "name", on))
        if body not in (record.a.body, record.b.body):
            raise ArgumentError(f"on: {joint} joins {record.a.body} and {record.b.body}, not {body}")
    about, axes = (None if x is None else run.dynamics._frame(x) for x in (about, axes))
    wanted = Wanted(part, whole, body, about, axes).held_by(run.dynamics, hold, [record.name])
    sharing = run.shared(part, wanted.hold) if is_redundant(run.dynamics) and wanted.in_loops else None
    return joint_wrenches(run.dynamics, (record.name,), run.states, wanted, sharing)[record.name]


def bearings(run: Trajectory, joint: str, at: Any, part: str, hold: Any = None) -> tuple[Bearing, Bearing]:
    """Two bearings on a joint's axis that hold its reaction.

    With unit axis e, places z1 and z2 from the child's joint point, and the reaction F, M about that point,

        F1 + F2 = F,    z1 e x F1 + z2 e x F2 = M (across e),    F2 . e = 0

    is statically determinate.  A moment along the axis is none of the reaction of such a joint.
    """
    record = _joint(run, joint)
    if record.kind not in BEARING_JOINTS or not isinstance(record, AxialJoint):
        raise ArgumentError(
            f"bearings: {joint} is {record.kind}; two bearings make a {' or '.join(BEARING_JOINTS)} joint"
        )
    z1, z2 = _places(run, joint, at)
    resolve = run.dynamics._resolver(run.p)
    e = np.asarray(record.axis_rotation(resolve, resolve), dtype=float) @ np.array([0.0, 0.0, 1.0])
    wrench = reaction(run, joint, part, None, None, None, whole=False, hold=hold)
    axial = wrench.force @ e
    across = wrench.force - axial[:, None] * e
    moment = wrench.moment - z1 * np.cross(e, across)
    second = -np.cross(e, moment) / (z2 - z1)
    first = across - second
    pairs = ((z1, first, axial), (z2, second, np.zeros_like(axial)))
    one, two = (
        Bearing(z, radial + along[:, None] * e, np.linalg.norm(radial, axis=1), along, wrench.on, wrench.frame)
        for z, radial, along in pairs
    )
    return one, two


def _places(run: Trajectory, joint: str, at: Any) -> tuple[float, float]:
    reader = run.system.reader(joint)
    try:
        first, second = at
    except (TypeError, ValueError):
        raise ArgumentError("at: two places along the axis are expected, (z1, z2)") from None
    z1, z2 = (run.dynamics._resolver(run.p)(reader.number(z, "length", "at")) for z in (first, second))
    if not (math.isfinite(z1) and math.isfinite(z2)) or z1 == z2:
        raise ArgumentError(f"at: two different places are expected, not {z1:g} and {z2:g}")
    return z1, z2


def _joint(run: Trajectory, name: Any) -> Any:
    key = getattr(name, "name", name)
    if key not in run.system.joints:
        raise ArgumentError(unknown("no joint is called", str(key), run.system.joints))
    return run.system.joints[key]
