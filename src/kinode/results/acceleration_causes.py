"""The breakdown of the acceleration of a point over a run: which joint causes it, and by which term.

``formulations.acceleration_contributions`` defines the breakdown at one instant; here it is evaluated for all times at
once.  Rows are tiers (the joints from the world to the point) or segments (the radius vectors between them).  Columns
are the terms relative, tangential, centripetal and Coriolis.  The sum of all is the acceleration.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError
from kinode.formulations.acceleration_contributions import ACCELERATION_BREAKDOWNS, TERMS, chain_names
from kinode.hooks import hook
from kinode.results.peak_mean_rms import measure
from kinode.results.text_tables import format_number, format_percent, format_table
from kinode.structure.link_geometry import WORLD

if TYPE_CHECKING:
    from kinode.results.run_quantities import RunQuantities

NEGLIGIBLE_TERM = 1e-12  # relative to the largest entry: smaller ones are rounding errors


@dataclass(frozen=True, eq=False)
class AccelerationCauses:
    """The acceleration of a point as a sum of contributions; prints as a table.

    ``causes["yaw"]`` is the contribution of a tier, ``causes["yaw", "Coriolis"]`` one of its terms,
    ``causes["Coriolis"]`` a term of all tiers: arrays (time, 3), m/s^2.

    Attributes
    ----------
    of, by, frame : str
        The point, "tier" or "segment", and the axes.
    t : array
        Times, s.
    tiers, terms : tuple of str
        Names of the rows and columns.
    values : array
        Contributions (time, tier, term, 3), m/s^2.
    """

    of: str
    by: str
    t: Array
    tiers: tuple[str, ...]
    values: Array
    frame: str
    terms: tuple[str, ...] = TERMS

    @property
    def total(self) -> Array:
        """The acceleration, (time, 3)."""
        acceleration: Array = self.values.sum(axis=(1, 2))
        return acceleration

    def __getitem__(self, which: str | tuple[str, str]) -> Array:
        tier: str | None
        term: str | None
        tier, term = (which, None) if isinstance(which, str) else which
        if term is None and tier in self.terms and tier not in self.tiers:
            tier, term = None, tier
        for word, known in ((tier, self.tiers), (term, self.terms)):
            if word is not None and word not in known:
                raise ArgumentError(f"{word!r} is none of {', '.join((*self.tiers, *self.terms))}")
        values: Array = self.values if tier is None else self.values[:, [self.tiers.index(tier)]]
        values = values if term is None else values[:, :, [self.terms.index(term)]]
        return np.asarray(values.sum(axis=(1, 2)))

    def transport(self, tier: str) -> Array:
        """The transport acceleration up to a tier: that of the point if it were fixed to the tier.

        By segment: the acceleration of the end of the segment.

        Parameters
        ----------
        tier : str
            Name of a row.

        Returns
        -------
        array
            (time, 3), m/s^2.
        """
        if tier not in self.tiers:
            raise ArgumentError(f"{tier!r} is none of {', '.join(self.tiers)}")
        return np.asarray(self.values[:, : self.tiers.index(tier) + 1].sum(axis=(1, 2)))

    @property
    def shares(self) -> dict[str, float]:
        """Share of each tier in the largest acceleration, along its direction; the sum is 1."""
        total = self.total
        size = np.linalg.norm(total, axis=1)
        if not len(size) or not size.max() > NEGLIGIBLE_TERM * np.abs(self.values).max(initial=0.0):
            return dict.fromkeys(self.tiers, np.nan)
        k = int(np.argmax(size))
        return {tier: float(self[tier][k] @ total[k] / size[k] ** 2) for tier in self.tiers}

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """Rows of the table: peaks of every term and of the tier, rms, share of the peak; the sum last."""
        shares, scale = self.shares, float(np.abs(self.values).max(initial=0.0))

        def peak(values: Array) -> str:
            largest = measure(self.t, values).peak
            return "-" if largest <= NEGLIGIBLE_TERM * scale else format_number(largest, 3)

        table_rows = []
        for tier in self.tiers:
            all_terms = self[tier]
            terms = [peak(self[tier, term]) for term in self.terms]
            rms = format_number(measure(self.t, all_terms).rms, 3)
            table_rows.append((tier, *terms, peak(all_terms), rms, format_percent(shares[tier])))
        total = measure(self.t, self.total)
        terms = [peak(self[term]) for term in self.terms]
        return [
            *table_rows,
            ("sum", *terms, format_number(total.peak, 3), format_number(total.rms, 3), format_percent(1.0)),
        ]

    def __str__(self) -> str:
        title = f"{self.of}, acceleration by {self.by}: peaks in m/s^2, and the share of the largest"
        lines = format_table((self.by, *self.terms, "all", "rms", "share"), self.rows)
        return "\n".join([title, *lines, f"in axes of {self.frame}"])

    def plot(self, **options: Any) -> Any:
        """Plot the contributions, stacked over time; options of ``views.plots.acceleration_plots.plot_shaking``."""
        return hook("plot_shaking")(self, **options)


def acceleration_by_cause(run: RunQuantities, of: Any, by: str, expressed_in: Any) -> AccelerationCauses:
    """The breakdown of the acceleration of the origin of a body or frame, by tier or by segment."""
    if by not in ACCELERATION_BREAKDOWNS:
        raise ArgumentError(f"by: {' or '.join(ACCELERATION_BREAKDOWNS)}, not {by!r}")
    dynamics = run.dynamics
    name = dynamics.arguments.frame_name(of)
    frame = dynamics.system.find_frame(name)
    if frame.body not in dynamics.topology.tree.node_of:
        raise ArgumentError(f"{name} is on no body: its acceleration has no tiers; ask for a place on a body")
    if dynamics.topology.tree.node_of[frame.body] == WORLD:
        raise ArgumentError(f"{name} rests in the world: nothing accelerates it")
    tiers = chain_names(dynamics.snapshot(dynamics.initial), frame)
    if by == "segment":
        tiers = (*tiers, name)
    values = np.atleast_2d(run.states.call(dynamics, f"{by}s", (name,))).reshape(len(run), len(tiers), len(TERMS), 3)
    axes = "world" if expressed_in is None else dynamics.arguments.frame_name(expressed_in)
    if axes != "world":
        values = np.einsum("tji,tmnj->tmni", run[f"{axes}.rotation"], values)
    return AccelerationCauses(name, by, run.t, tiers, values, axes)
