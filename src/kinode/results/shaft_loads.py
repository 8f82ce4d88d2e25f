"""A revolute or cylindrical joint as a shaft: its axis, angle and speed, its force on the bearings, and their life.

The pressure of a joint is minus its reaction (T-9.26): the force of the child on the parent.  Its component across
the axis is given in axes fixed to the parent, where the weight of a shaft is constant, and in axes that rotate with the
child, where the unbalance is constant.

Two bearings on a shaft have a force over a run, an equivalent load and a rating life (ISO 281).  With unit axis e,
positions z1 and z2 from the child's joint point, and the reaction F, M about that point,

    F1 + F2 = F,    z1 e x F1 + z2 e x F2 = M (across e),    and one of both takes F . e

is statically determinate.  The reaction of such a joint has no moment along the axis.  A bearing of dynamic load rating
C, with p = 3 for balls and 10/3 for rollers, at the speed n has

    P = F_r  or  X F_r + Y |F_a| (where |F_a| > e F_r),    P_m = (int P^p n dt / int n dt)^(1/p),    L10 = (C / P_m)^p

in millions of revolutions.  The factors for lubrication, contamination and reliability (a1, aISO) are not included.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError, ModelError
from kinode.expressions.units import check_dimension, parse_quantity
from kinode.hooks import hook
from kinode.model.joints.joint import JOINTS, AxialJoint
from kinode.results.joint_loads import find_joint, reaction
from kinode.results.run_quantities import Measure, measure
from kinode.sheets.tables import Sheet, Shown, Table, format_number

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
class Pressure(Shown):
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

    @property
    def sheet(self) -> Sheet:
        s = self.shaft
        rows = []
        for name, m in (("radial", self.radial_measure), ("axial", self.axial_measure)):
            rows.append(
                (name, format_number(m.peak), format_number(m.time), format_number(m.mean), format_number(m.rms))
            )
        table = Table(("", "peak N", "at s", "mean N", "rms N"), rows)
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
        title = f"{s.joint}, {self.part} pressure over {format_number(float(np.ptp(self.t)))} s"
        return Sheet(title, parts=(table, *words, where))

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


EXPONENTS = {"ball": 3.0, "roller": 10.0 / 3.0}  # p of the life equation
NEGLIGIBLE_AXIAL_FORCE = 1e-9  # relative to the largest radial force
SLOWEST_SHAFT = 1e-9  # rad/s: a slower shaft counts as standing


@dataclass(frozen=True)
class Life:
    """The basic rating life of a bearing, which 90 percent of bearings exceed.

    Attributes
    ----------
    load : float
        Mean equivalent load over the revolutions, N.
    rating : float
        Dynamic load rating C, N.
    exponent : float
        p of the life equation.
    revolutions, hours : float
        The life.
    speed : float
        Mean speed, rad/s.
    """

    load: float
    rating: float
    exponent: float
    revolutions: float
    hours: float
    speed: float

    def __str__(self) -> str:
        turns, hours = f"{format_number(self.revolutions / 1e6)} million turns", f"{format_number(self.hours)} h"
        load = f"P = {format_number(self.load)} N, C = {format_number(self.rating)} N, p = {self.exponent:.3g}"
        return f"{load}: L10 = {turns}, {hours} at {format_number(self.speed / RPM)} rpm"


@dataclass(frozen=True, eq=False)
class Bearing:
    """The force of a bearing on the child over time, in the parent's joint axes.

    Attributes
    ----------
    at : float
        Position on the axis from the child's joint point, m.
    force : array
        (time, 3), N.
    radial, axial : array
        (time,), N; radial is not negative, axial is positive along the axis.
    on, frame : str
        The body that the force acts on, and the axes.
    t, speed : array
        Times in s, and speed of the shaft in rad/s.
    unique : bool
        Whether the reactions are unique (False in redundant loops, and where a load is left out).
    left_out : tuple of str
        Loads that are not in it: ("tooth force",) at a gear whose teeth are not given.
    shared : str
        How the load of a redundant loop was shared, as in ``Wrench``.
    """

    at: float
    force: Array
    radial: Array
    axial: Array
    on: str
    frame: str
    t: Array
    speed: Array
    unique: bool = True
    left_out: tuple[str, ...] = ()
    shared: str = ""

    def equivalent(self, X: float | None = None, Y: float | None = None, e: float = 0.0) -> Array:
        """The equivalent load P over time.

        Parameters
        ----------
        X, Y, e : float, optional
            Factors of the bearing's catalog; needed if there is an axial force.

        Returns
        -------
        array
            (time,), N.
        """
        if X is None or Y is None:
            largest_radial = float(self.radial.max(initial=0.0))
            if float(np.abs(self.axial).max(initial=0.0)) > NEGLIGIBLE_AXIAL_FORCE * largest_radial:
                peak = format_number(measure(self.t, self.axial).peak)
                raise ArgumentError(
                    f"X, Y: the bearing at {format_number(self.at)} m takes {peak} N axially: factors are needed"
                )
            return self.radial
        for name, value in (("X", X), ("Y", Y), ("e", e)):
            if not (isinstance(value, int | float) and math.isfinite(value) and value >= 0):
                raise ArgumentError(f"{name}: a number that is not negative is expected, not {value!r}")
        axial = np.abs(self.axial)
        return np.where(axial > e * self.radial, np.maximum(self.radial, X * self.radial + Y * axial), self.radial)

    def life(
        self, C: Any, kind: str = "ball", *, X: float | None = None, Y: float | None = None, e: float = 0.0
    ) -> Life:
        """The basic rating life.

        Parameters
        ----------
        C : float or str
            Dynamic load rating, in N or with a unit: "25 kN".
        kind : {"ball", "roller"}
            Type of the bearing.
        X, Y, e : float, optional
            As in ``equivalent``.

        Returns
        -------
        Life

        Examples
        --------
        >>> run = kn.simulate(kn.load("examples/rotor.yaml"), 0.04, samples=5)
        >>> print(run.bearings("shaft", at=(-0.15, 0.15))[0].life("25 kN"))
        P = 125.9 N, C = 25000 N, p = 3: L10 = 7.836e+06 million turns, 4.353e+07 h at 3000 rpm
        """
        if kind not in EXPONENTS:
            raise ArgumentError(f"kind: ball or roller, not {kind!r}")
        rating, p = _force("C", C), EXPONENTS[kind]
        speed = np.abs(self.speed)
        span = float(np.ptp(self.t)) if len(self.t) else 0.0
        angle = float(np.trapezoid(speed, self.t)) if span > 0 else 0.0
        if angle < SLOWEST_SHAFT * max(span, 1e-300):
            raise ArgumentError("life: the shaft does not turn; what stands still is chosen by its static rating C0")
        P = self.equivalent(X, Y, e)
        peak = float(P.max())
        load = peak * (float(np.trapezoid((P / peak) ** p * speed, self.t)) / angle) ** (1.0 / p) if peak > 0 else 0.0
        millions = (rating / load) ** p if load > 0 else math.inf
        mean_speed = angle / span
        return Life(load, rating, p, 1e6 * millions, 1e6 * millions * 2.0 * math.pi / mean_speed / 3600.0, mean_speed)

    def __str__(self) -> str:
        radial, axial = measure(self.t, self.radial), measure(self.t, self.axial)
        parts = [f"{name} peak {format_number(m.peak)} N, mean {format_number(m.mean)} N, rms {format_number(m.rms)} N"
                 for name, m in (("radial", radial), ("axial", axial)) if name == "radial" or m.peak > 0]  # fmt: skip
        note = "; not unique: joints of its loop are redundant" if self.shared else ""
        note += "".join(f"; without {load}" for load in self.left_out)
        return f"bearing at {format_number(self.at)} m: {'; '.join(parts)}; on {self.on}{note}"


def bearings(
    run: RunQuantities, joint: Any, at: Any, part: str, hold: Any = None, axial: str = "first"
) -> tuple[Bearing, Bearing]:
    """Two bearings on the axis of a joint that carry its reaction: the equations of the module's docstring."""
    if axial not in ("first", "second"):
        raise ArgumentError(f"axial: the bearing that takes the axial force, first or second, not {axial!r}")
    shaft = find_shaft(run, joint, "bearings")
    z1, z2 = _positions(run, shaft.joint, at)
    wrench = reaction(run, shaft.joint, part, None, None, None, whole=False, hold=hold)
    e = shaft.axis
    thrust = wrench.force @ e
    radial = wrench.force - thrust[:, None] * e
    moment = wrench.moment - z1 * np.cross(e, radial)
    radial_2 = -np.cross(e, moment) / (z2 - z1)
    zero = np.zeros_like(thrust)
    forces = (
        (z1, radial - radial_2, thrust if axial == "first" else zero),
        (z2, radial_2, thrust if axial == "second" else zero),
    )
    first, second = (
        Bearing(
            z, across + along[:, None] * e, np.linalg.norm(across, axis=1), along, wrench.on, wrench.frame,
            shaft.t, shaft.speed, wrench.unique, wrench.left_out, wrench.shared,
        )
        for z, across, along in forces
    )  # fmt: skip
    return first, second


def _positions(run: RunQuantities, joint: str, at: Any) -> tuple[float, float]:
    """Positions of both bearings along the axis in m, from the argument ``at``."""
    reader = run.system.reader(joint)
    try:
        first, second = at
    except (TypeError, ValueError):
        raise ArgumentError("at: two places along the axis are expected, (z1, z2)") from None
    z1, z2 = (run.dynamics.arguments.resolver(run.p)(reader.number(z, "length", "at")) for z in (first, second))
    if not (math.isfinite(z1) and math.isfinite(z2)) or z1 == z2:
        raise ArgumentError(f"at: two different places are expected, not {z1:g} and {z2:g}")
    return z1, z2


def _force(name: str, value: Any) -> float:
    """A positive force in N, from a number or text with a unit."""
    try:
        quantity = parse_quantity(value) if isinstance(value, str) else None
        force = float(value) if quantity is None else check_dimension(quantity, "force", field=name)
    except ModelError as error:
        raise error.located(field=name) from None
    except (TypeError, ValueError):
        raise ArgumentError(f"{name}: a force is expected, such as '25 kN', not {value!r}") from None
    if not (math.isfinite(force) and force > 0):
        raise ArgumentError(f"{name}: a force greater than zero is expected, not {value!r}")
    return force
