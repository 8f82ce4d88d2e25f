"""A joint that turns as a shaft in bearings: its axis, its angle and speed, and what it presses on its bearings with.

The pressure of a joint is the opposite of its reaction (T-9.26): what the child does to the parent.  Across the axis
it is a vector of two components, seen in axes that are fixed in the parent, where the weight of a shaft stands still,
and in axes that turn with the child, where its unbalance does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError
from kinode.hooks import hook
from kinode.model.joints.joint import AxialJoint
from kinode.results.joint_loads import find_joint, reaction
from kinode.results.peak_mean_rms import Measure, measure
from kinode.results.text_tables import figure, lay_out

if TYPE_CHECKING:
    from kinode.results.trajectory import Trajectory

BEARING_JOINTS = ("revolute", "cylindrical")
RPM = 2.0 * math.pi / 60.0


@dataclass(frozen=True, eq=False)
class Shaft:
    """A turning joint over a run; the columns of ``axes`` are two directions across its axis, and the axis itself."""

    joint: str
    parent: str
    child: str
    t: Array
    axes: Array  # (3, 3), in the parent's joint axes
    angle: Array  # (time,), rad
    speed: Array  # (time,), rad/s

    @property
    def axis(self) -> Array:
        return self.axes[:, 2]

    @property
    def steady(self) -> bool:
        """Whether the speed is one throughout, to a percent."""
        return bool(np.ptp(self.speed) <= 0.01 * np.abs(self.speed).max(initial=0.0)) and self.turns_on

    @property
    def turns_on(self) -> bool:
        """Whether it turns one way without a stop."""
        return bool(len(self.speed)) and bool((self.speed > 0).all() or (self.speed < 0).all())


def find_shaft(run: Trajectory, joint: Any, word: str) -> Shaft:
    """A joint as a shaft; others are refused in the name of what is asked for."""
    record = find_joint(run, joint)
    if record.kind not in BEARING_JOINTS or not isinstance(record, AxialJoint):
        kinds = " or ".join(BEARING_JOINTS)
        raise ArgumentError(f"{word}: {record.name} is {record.kind}; two bearings make a {kinds} joint")
    resolve = run.dynamics.arguments.resolver(run.p)
    axes = np.asarray(record.axis_rotation(resolve, resolve), dtype=float)
    names = [f"{record.name}.{x}" for x in ("q", "u")]
    found = run.evaluate(names)
    angle, speed = (np.asarray(found[name]).reshape(len(run), -1)[:, -1] for name in names)
    return Shaft(record.name, record.a.body, record.b.body, run.t, axes, angle, speed)


@dataclass(frozen=True, eq=False)
class Pressure:
    """What a shaft presses on its parent with: across the axis, (time, 2), in fixed and in turning axes; and along it.

    Directions are angles from the first of the axes across.  Printed, it is a table.
    """

    shaft: Shaft
    part: str
    fixed: Array
    turning: Array
    axial: Array

    @property
    def t(self) -> Array:
        return self.shaft.t

    @property
    def angle(self) -> Array:
        """Of the shaft, rad."""
        return self.shaft.angle

    @cached_property
    def magnitude(self) -> Array:
        """Across the axis."""
        found: Array = np.linalg.norm(self.fixed, axis=1)
        return found

    @property
    def direction(self) -> Array:
        """In fixed axes, rad."""
        return np.asarray(np.arctan2(self.fixed[:, 1], self.fixed[:, 0]))

    @property
    def radial_measure(self) -> Measure:
        return measure(self.t, self.magnitude)

    @property
    def axial_measure(self) -> Measure:
        return measure(self.t, self.axial)

    def mean(self, turning: bool = False) -> Array:
        """The mean vector over time: the load that stays, in fixed or in turning axes."""
        values = self.turning if turning else self.fixed
        span = float(self.t[-1] - self.t[0])
        return np.asarray(np.trapezoid(values, self.t, axis=0) / span if span > 0 else values.mean(axis=0))

    def __str__(self) -> str:
        s = self.shaft
        rows = []
        for name, m in (("radial", self.radial_measure), ("axial", self.axial_measure)):
            rows.append((name, figure(m.peak), figure(m.time), figure(m.mean), figure(m.rms)))
        lines = lay_out(("", "peak N", "at s", "mean N", "rms N"), rows)
        words = []
        for name, turning in (("fixed", False), ("turning", True)):
            x, y = self.mean(turning)
            size = math.hypot(x, y)
            shown = f"{figure(size)} N at {math.degrees(math.atan2(y, x)) + 0.0:.1f} deg"
            words.append(f"mean vector in {name} axes: {shown if size > 1e-6 * self.magnitude.max() else 'none'}")
        zero = ", ".join(f"{x + 0.0:.3g}" for x in s.axes[:, 0])
        where = f"by {s.child} on {s.parent}; angles about the axis from ({zero}) in axes of {s.joint}.parent"
        return "\n".join(
            [f"{s.joint}, {self.part} pressure over {figure(float(np.ptp(self.t)))} s", *lines, *words, where]
        )

    def plot(self, **options: Any) -> Any:
        """Polar, in fixed and turning axes, as a matplotlib figure; see ``kinode.views.plots.load_plots``."""
        return hook("plot_polar")(self, **options)


def compute_pressure(run: Trajectory, joint: Any, part: str, hold: Any) -> Pressure:
    """The pressure of a joint that turns."""
    shaft = find_shaft(run, joint, "pressure")
    force = -reaction(run, shaft.joint, part, None, None, None, whole=False, hold=hold).force @ shaft.axes
    x, y, c, s = force[:, 0], force[:, 1], np.cos(shaft.angle), np.sin(shaft.angle)
    turning = np.column_stack([c * x + s * y, c * y - s * x])
    return Pressure(shaft, part, force[:, :2], turning, force[:, 2])
