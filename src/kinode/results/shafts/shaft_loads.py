"""A revolute or cylindrical joint as a shaft: its axis, angle and speed, and its force on the bearings.

The pressure of a joint is minus its reaction (T-9.26): the force of the child on the parent.  Its component across
the axis is given in axes fixed to the parent, where the weight of a shaft is constant, and in axes that rotate with the
child, where the unbalance is constant.
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
from kinode.model.joints.joint import JOINTS, AxialJoint
from kinode.results.joint_loads import find_joint, reaction
from kinode.results.peak_mean_rms import Measure, measure
from kinode.results.text_tables import format_number, format_table

if TYPE_CHECKING:
    from kinode.results.run_quantities import RunQuantities

RPM = 2.0 * math.pi / 60.0  # rad/s
STEADY_SPEED = 0.01  # relative variation of the speed of a steady shaft
NEGLIGIBLE_MEAN = 1e-6  # relative to the largest force: a smaller mean vector is none


@dataclass(frozen=True, eq=False)
class Shaft:
    """A shaft over a run.

    Attributes
    ----------
    joint, parent, child : str
        The joint and its bodies.
    t, angle, speed : array
        (time,): s, rad, rad/s.
    axes : array
        (3, 3), in the parent's joint axes; the columns are two directions across the axis, and the axis.
    """

    joint: str
    parent: str
    child: str
    t: Array
    axes: Array
    angle: Array
    speed: Array

    @property
    def axis(self) -> Array:
        return self.axes[:, 2]

    @property
    def steady(self) -> bool:
        """Whether the shaft rotates at an almost constant speed."""
        return bool(np.ptp(self.speed) <= STEADY_SPEED * np.abs(self.speed).max(initial=0.0)) and self.turns_on

    @property
    def turns_on(self) -> bool:
        """Whether it rotates in one direction without a stop."""
        return bool(len(self.speed)) and bool((self.speed > 0).all() or (self.speed < 0).all())


def find_shaft(run: RunQuantities, joint: Any, word: str) -> Shaft:
    """The joint as a shaft; an error that begins with ``word`` if it is of another type."""
    record = find_joint(run, joint)
    if not record.has_bearings or not isinstance(record, AxialJoint):
        kinds = " or ".join(kind for kind, cls in JOINTS.items() if cls.has_bearings)
        raise ArgumentError(f"{word}: {record.name} is {record.kind}; two bearings make a {kinds} joint")
    resolve = run.dynamics.arguments.resolver(run.p)
    axes = np.asarray(record.axis_rotation(resolve, resolve), dtype=float)
    names = [f"{record.name}.{x}" for x in ("q", "u")]
    values = run.evaluate(names)
    angle, speed = (np.asarray(values[name]).reshape(len(run), -1)[:, -1] for name in names)
    return Shaft(record.name, record.a.body, record.b.body, run.t, axes, angle, speed)


@dataclass(frozen=True, eq=False)
class Pressure:
    """The force of a shaft on its parent; prints as a table.

    Attributes
    ----------
    shaft : Shaft
        The shaft; directions are angles from the first of its ``axes``.
    part : str
        "total", "static" or "kinetic".
    fixed, turning : array
        Across the axis, (time, 2), N, in fixed and in rotating axes.
    axial : array
        Along the axis, (time,), N.
    left_out : tuple of str
        Loads that are not in it: ("tooth force",) at a gear whose teeth are not given.
    """

    shaft: Shaft
    part: str
    fixed: Array
    turning: Array
    axial: Array
    left_out: tuple[str, ...] = ()

    @property
    def t(self) -> Array:
        return self.shaft.t

    @property
    def angle(self) -> Array:
        """Angle of the shaft, (time,), rad."""
        return self.shaft.angle

    @cached_property
    def magnitude(self) -> Array:
        """Magnitude across the axis, (time,), N."""
        length: Array = np.linalg.norm(self.fixed, axis=1)
        return length

    @property
    def direction(self) -> Array:
        """Direction in fixed axes, (time,), rad."""
        return np.asarray(np.arctan2(self.fixed[:, 1], self.fixed[:, 0]))

    @property
    def radial_measure(self) -> Measure:
        return measure(self.t, self.magnitude)

    @property
    def axial_measure(self) -> Measure:
        return measure(self.t, self.axial)

    def mean(self, turning: bool = False) -> Array:
        """The mean vector over time: the constant part of the load.

        Parameters
        ----------
        turning : bool
            In rotating axes; default are fixed axes.

        Returns
        -------
        array
            (2,), N.
        """
        values = self.turning if turning else self.fixed
        span = float(self.t[-1] - self.t[0])
        return np.asarray(np.trapezoid(values, self.t, axis=0) / span if span > 0 else values.mean(axis=0))

    def __str__(self) -> str:
        s = self.shaft
        rows = []
        for name, m in (("radial", self.radial_measure), ("axial", self.axial_measure)):
            rows.append(
                (name, format_number(m.peak), format_number(m.time), format_number(m.mean), format_number(m.rms))
            )
        lines = format_table(("", "peak N", "at s", "mean N", "rms N"), rows)
        words = []
        for name, turning in (("fixed", False), ("turning", True)):
            x, y = self.mean(turning)
            size = math.hypot(x, y)
            vector = f"{format_number(size)} N at {math.degrees(math.atan2(y, x)) + 0.0:.1f} deg"
            shown = vector if size > NEGLIGIBLE_MEAN * self.magnitude.max() else "none"
            words.append(f"mean vector in {name} axes: {shown}")
        zero = ", ".join(f"{x + 0.0:.3g}" for x in s.axes[:, 0])
        where = f"by {s.child} on {s.parent}; angles about the axis from ({zero}) in axes of {s.joint}.parent"
        where += "".join(f"; without {load}" for load in self.left_out)
        return "\n".join(
            [f"{s.joint}, {self.part} pressure over {format_number(float(np.ptp(self.t)))} s", *lines, *words, where]
        )

    def plot(self, **options: Any) -> Any:
        """Polar plot in fixed and rotating axes; options of ``kinode.views.plots.load_plots.plot_polar``."""
        return hook("plot_polar")(self, **options)


def compute_pressure(run: RunQuantities, joint: Any, part: str, hold: Any) -> Pressure:
    """The force of a shaft on its parent."""
    shaft = find_shaft(run, joint, "pressure")
    wrench = reaction(run, shaft.joint, part, None, None, None, whole=False, hold=hold)
    force = -wrench.force @ shaft.axes
    x, y, c, s = force[:, 0], force[:, 1], np.cos(shaft.angle), np.sin(shaft.angle)
    turning = np.column_stack([c * x + s * y, c * y - s * x])
    return Pressure(shaft, part, force[:, :2], turning, force[:, 2], wrench.left_out)
