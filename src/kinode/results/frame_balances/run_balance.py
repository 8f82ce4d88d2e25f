"""Both sides of the balances of force and moment about the origin of a frame, over a run, term by term.

One side is what acts: weight, loads of elements, joints, constraints.  The other is what the motion needs: the terms of
(T-8.1), (T-8.2) for a body and of (T-8.4), (T-8.5) for the system, as ``kn.equations(system, frame=...)`` prints them
(``symbolic.balances.vector_balances``).  Forces come from compiled reactions and laws, the motion from compiled
accelerations: the residual says how well they agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError
from kinode.hooks import hook
from kinode.model.base.fields import unknown
from kinode.results.peak_mean_rms import measure
from kinode.results.text_tables import format_number, format_table

NEGLIGIBLE_TERM = 1e-12  # relative to the largest term: smaller ones have no row


@dataclass(frozen=True, eq=False)
class BalanceSide:
    """One side of a balance: forces in N and moments in N*m by name, each (time, 3), in the axes of the frame."""

    forces: Mapping[str, Array]
    moments: Mapping[str, Array]

    @cached_property
    def force(self) -> Array:
        """The sum of the forces, (time, 3), N."""
        return _sum(self.forces)

    @cached_property
    def moment(self) -> Array:
        """The sum of the moments, (time, 3), N*m."""
        return _sum(self.moments)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the terms of force and moment."""
        return tuple(dict.fromkeys([*self.forces, *self.moments]))


@dataclass(frozen=True, eq=False)
class RunBalance:
    """Both sides of the balance of a body or of the system about the origin of a frame; prints as a table.

    ``balance["Coriolis"]`` is a term of the motion or something that acts, by name: force and moment, each (time, 3),
    None where there is none.

    Attributes
    ----------
    of, about : str
        The body, or "system"; and the frame, whose origin moments are about, and whose axes all components are in.
    t : array
        Times, s.
    acting, motion : BalanceSide
        What acts: weight, elements, joints, constraints.  What the motion needs, by the terms of the equations.
    formulas : dict of str to tuple of str
        The formulas of the terms of the motion: of force and of moment.
    """

    of: str
    about: str
    t: Array
    acting: BalanceSide
    motion: BalanceSide
    formulas: Mapping[str, tuple[str, str]]

    def __getitem__(self, name: str) -> tuple[Array | None, Array | None]:
        for side in (self.acting, self.motion):
            if name in side.names:
                return side.forces.get(name), side.moments.get(name)
        raise ArgumentError(unknown("the balance has no term", str(name), [*self.acting.names, *self.motion.names]))

    @property
    def residual_force(self) -> Array:
        """Acting forces minus what the motion needs, (time, 3), N."""
        return np.asarray(self.acting.force - self.motion.force)

    @property
    def residual_moment(self) -> Array:
        """Acting moments minus what the motion needs, (time, 3), N*m."""
        return np.asarray(self.acting.moment - self.motion.moment)

    @property
    def residual(self) -> float:
        """The largest residual, relative to the largest term of force or moment: rounding, if the balance closes."""
        pairs = ((self.residual_force, "forces"), (self.residual_moment, "moments"))
        return float(np.max([_largest([x]) / (self._scale(kind) or 1.0) for x, kind in pairs]))

    @property
    def units(self) -> tuple[str, str]:
        """Of forces and of moments."""
        return "N", "N*m"

    @property
    def head(self) -> tuple[str, ...]:
        """Head of the table."""
        return ("", "force N", "rms N", "moment N*m", "rms N*m")

    def side_rows(self, side: BalanceSide) -> list[tuple[str, ...]]:
        """Peak and rms of each term of one side that is not negligible, and of their sum."""
        named = [(name, side.forces.get(name), side.moments.get(name)) for name in side.names]
        shown = [row for row in named if self._is_shown(*row[1:])]
        return [
            (name, *self._cells(force, "forces"), *self._cells(moment, "moments"))
            for name, force, moment in (*shown, ("sum", side.force, side.moment))
        ]

    @property
    def residuals(self) -> tuple[str, str]:
        """Peaks of the residuals of force and moment, as text."""
        force, moment = (format_number(measure(self.t, x).peak, 2) for x in (self.residual_force, self.residual_moment))
        return force, moment

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """Rows of the table: both sides, and the residuals."""
        empty = ("", "", "", "")
        acting, motion = ([(f"  {row[0]}", *row[1:]) for row in self.side_rows(s)] for s in (self.acting, self.motion))
        last = ("residual", self.residuals[0], "", self.residuals[1], "")
        return [("acting", *empty), *acting, ("motion", *empty), *motion, last]

    def __str__(self) -> str:
        title = f"{self.of}: balance about the origin of {self.about}, in its axes; peaks and rms"
        return "\n".join([title, *format_table(self.head, self.rows)])

    def plot(self, **options: Any) -> Any:
        """Plot both sides, stacked over time; options of ``kinode.views.plots.balance_plots.plot_balance``."""
        return hook("plot_balance")(self, **options)

    # -- helpers -----------------------------------------------------------------------------------
    def _scale(self, kind: str) -> float:
        return float(np.max([_largest(getattr(side, kind).values()) for side in (self.acting, self.motion)]))

    def _is_shown(self, force: Array | None, moment: Array | None) -> bool:
        pairs = ((force, "forces"), (moment, "moments"))
        return any(x is not None and _largest([x]) > NEGLIGIBLE_TERM * self._scale(kind) for x, kind in pairs)

    def _cells(self, values: Array | None, kind: str) -> tuple[str, str]:
        if values is None or _largest([values]) <= NEGLIGIBLE_TERM * self._scale(kind):
            return "-", "-"
        size = measure(self.t, values)
        return format_number(size.peak), format_number(size.rms)


def _sum(each: Mapping[str, Array]) -> Array:
    total: Array = np.sum(list(each.values()), axis=0)
    return total


def _largest(each: Any) -> float:
    return float(np.max([np.abs(x).max(initial=0.0) for x in each], initial=0.0))
