"""Which tier shakes the device?  The acceleration of a point over a run, split by cause.

The split of one instant is in formulations/acceleration_contributions.py; here it is compiled and evaluated for all
times at once.  Rows are tiers (joints, from the world to the point) or segments (radius vectors), columns the terms
relative, tangential, centripetal and Coriolis; all together they are the acceleration.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError
from kinode.formulations.acceleration_contributions import TERMS, WAYS, chain_names
from kinode.hooks import hook
from kinode.results.peak_mean_rms import measure
from kinode.results.text_tables import figure, lay_out, percent
from kinode.structure.link_geometry import WORLD

if TYPE_CHECKING:
    from kinode.results.trajectory import Trajectory

NOTHING = 1e-12  # of the largest entry: less is rounding


@dataclass(frozen=True, eq=False)
class AccelerationCauses:
    """The acceleration of a point as a sum: ``values`` is (time, tier, term, 3), in m/s^2.

    ``causes["yaw"]`` is what a tier contributes, ``causes["yaw", "Coriolis"]`` one of its terms, ``causes["Coriolis"]``
    a term of all tiers, each (time, 3).  Printed, it is a table.
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
        found: Array = self.values.sum(axis=(1, 2))
        return found

    def __getitem__(self, which: str | tuple[str, str]) -> Array:
        tier: str | None
        term: str | None
        tier, term = (which, None) if isinstance(which, str) else which
        if term is None and tier in self.terms and tier not in self.tiers:
            tier, term = None, tier
        for word, known in ((tier, self.tiers), (term, self.terms)):
            if word is not None and word not in known:
                raise ArgumentError(f"{word!r} is none of {', '.join((*self.tiers, *self.terms))}")
        found: Array = self.values if tier is None else self.values[:, [self.tiers.index(tier)]]
        found = found if term is None else found[:, :, [self.terms.index(term)]]
        return np.asarray(found.sum(axis=(1, 2)))

    def transport(self, tier: str) -> Array:
        """By tier: what the point would have, were it fixed to that tier; by segment: what the pole at its end has."""
        if tier not in self.tiers:
            raise ArgumentError(f"{tier!r} is none of {', '.join(self.tiers)}")
        return np.asarray(self.values[:, : self.tiers.index(tier) + 1].sum(axis=(1, 2)))

    @property
    def shares(self) -> dict[str, float]:
        """Of each tier: its part of the largest acceleration, along that; together they are one."""
        total = self.total
        size = np.linalg.norm(total, axis=1)
        if not len(size) or not size.max() > NOTHING * np.abs(self.values).max(initial=0.0):
            return dict.fromkeys(self.tiers, np.nan)
        k = int(np.argmax(size))
        return {tier: float(self[tier][k] @ total[k] / size[k] ** 2) for tier in self.tiers}

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """Of the table: peaks of every term and of the tier, rms, share of the peak of the sum; the sum last."""
        shares, most = self.shares, float(np.abs(self.values).max(initial=0.0))

        def peak(values: Array) -> str:
            found = measure(self.t, values).peak
            return "-" if found <= NOTHING * most else figure(found, 3)

        found = []
        for tier in self.tiers:
            own = self[tier]
            terms = [peak(self[tier, term]) for term in self.terms]
            found.append((tier, *terms, peak(own), figure(measure(self.t, own).rms, 3), percent(shares[tier])))
        total = measure(self.t, self.total)
        terms = [peak(self[term]) for term in self.terms]
        return [*found, ("sum", *terms, figure(total.peak, 3), figure(total.rms, 3), percent(1.0))]

    def __str__(self) -> str:
        title = f"{self.of}, acceleration by {self.by}: peaks in m/s^2, and the share of the largest"
        lines = lay_out((self.by, *self.terms, "all", "rms", "share"), self.rows)
        return "\n".join([title, *lines, f"in axes of {self.frame}"])

    def plot(self, **options: Any) -> Any:
        """Stacked over time, as a matplotlib figure; see ``kinode.views.plots.acceleration_plots.plot_shaking``."""
        return hook("plot_shaking")(self, **options)


def acceleration_by_cause(run: Trajectory, of: Any, by: str, expressed_in: Any) -> AccelerationCauses:
    """The acceleration of the origin of a body or frame, split by tier or by segment."""
    if by not in WAYS:
        raise ArgumentError(f"by: {' or '.join(WAYS)}, not {by!r}")
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
