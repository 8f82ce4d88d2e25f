"""Two bearings on a shaft: the force of each over a run, its equivalent load and its rating life (ISO 281).

With unit axis e, positions z1 and z2 from the child's joint point, and the reaction F, M about that point,

    F1 + F2 = F,    z1 e x F1 + z2 e x F2 = M (across e),    and one of both takes F . e

is statically determinate.  The reaction of such a joint has no moment along the axis.

A bearing of dynamic load rating C, with p = 3 for balls and 10/3 for rollers, at the speed n has

    P = F_r  or  X F_r + Y |F_a| (where |F_a| > e F_r),    P_m = (int P^p n dt / int n dt)^(1/p),    L10 = (C / P_m)^p

in millions of revolutions.  The factors for lubrication, contamination and reliability (a1, aISO) are not included.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError, ModelError
from kinode.expressions.units import check_dimension, parse_quantity
from kinode.results.joint_loads import reaction
from kinode.results.peak_mean_rms import measure
from kinode.results.shafts.shaft_loads import RPM, find_shaft
from kinode.results.text_tables import format_number

if TYPE_CHECKING:
    from kinode.results.run_quantities import RunQuantities

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
