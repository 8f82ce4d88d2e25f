"""The energy audit: the change of a run's mechanical energy against the work that was done, so that one sees how far
to trust the run.

    defect(t) = E(t) - E(0) - sum over causes of work(t)

vanishes for the exact motion.  The work done from one stored state to the next is found along the exact motion that
starts there: all intervals are integrated side by side by one step of order 8 (Dormand and Prince), then by two and
more until the work no longer changes.  So the defect is the error of the run's own steps, whatever its output times.
Where the motion is too stiff for that, the work is found from cubics through the states; ``uncertainty`` says how well.

What it does not see: errors that keep the energy, such as a wrong phase; it is a necessary sign of a good run, and in
practice a sharp one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array
from kinode.kernels.kernel_options import Kernel
from kinode.multibody.power import find_causes
from kinode.ode.tableaus import tableau
from kinode.results.peak_mean_rms import WILD
from kinode.simulation.time_events import ROUNDING

if TYPE_CHECKING:
    from kinode.results.trajectory import Trajectory

AT_ONCE = "impacts"
"""What is lost, or comes in, where speeds change at once."""
MOST_PARTS = 64  # steps into which an interval between two stored states is divided at the most
MOST_INTERVALS = 1 << 21  # that may be integrated in a pass
MOST_NUMBERS = 1 << 22  # numbers that the stages of one pass may hold


@dataclass(frozen=True, eq=False)
class Audit:
    """Energies in J.  ``defects`` is the defect at each time, ``defect`` the one at the end, ``largest`` the largest.

    ``scale`` is the largest energy that was in play: kinetic, exchanged with potentials, or done as work.
    """

    energy_start: float
    energy_end: float
    work: dict[str, float]
    defects: Array = field(repr=False)
    scale: float
    uncertainty: float

    @property
    def change(self) -> float:
        """Change of the mechanical energy."""
        return self.energy_end - self.energy_start

    @property
    def total_work(self) -> float:
        """Work of all causes."""
        return sum(self.work.values())

    @property
    def defect(self) -> float:
        """What is left unexplained at the end."""
        return float(self.defects[-1]) if len(self.defects) else 0.0

    @property
    def largest(self) -> float:
        """The largest defect on the way."""
        return float(np.abs(self.defects).max(initial=0.0))

    @property
    def relative(self) -> float:
        """The largest defect in parts of the energy in play."""
        return self.largest / self.scale if self.scale > 0 else 0.0

    @property
    def trust(self) -> str:
        """A plain sentence."""
        said = (
            f"trust: {self.largest:.2g} J of the {self.scale:.4g} J in play are unaccounted for ({self.relative:.1e}); "
        )
        if not np.isfinite(self.relative):
            return "trust: none, the energy is not finite"
        if self.uncertainty > 0.5 * self.largest and self.uncertainty > 1e-9 * self.scale:
            return said + f"the work itself is known to {self.uncertainty:.1g} J only, ask for closer times to see more"
        if self.relative < 1e-6:
            return said + "the run holds its energy well"
        if self.relative < 1e-3:
            return said + "good enough for plots; tighten rtol for figures"
        return said + "do not trust this run: tighten rtol or shorten the step"

    def __str__(self) -> str:
        rows = [("change of energy", self.change), *((f"work of {cause}", work) for cause, work in self.work.items())]
        rows.append(("defect", self.defect))
        width = max(len(name) for name, _ in rows)
        return "\n".join([*(f"{name:<{width}}  {value: .6e} J" for name, value in rows), self.trust])


@WILD
def compute_audit(run: Trajectory) -> Audit:
    """The audit of a run."""
    energies = run.evaluate([f"system.{kind}_energy" for kind in ("kinetic", "potential", "electric")])
    kinetic = energies["system.kinetic_energy"] + energies["system.electric_energy"]
    potential = energies["system.potential_energy"]
    energy = kinetic + potential
    causes = find_causes(run.dynamics.topology)
    if len(run) < 2:
        return Audit(
            float(energy.sum()),
            float(energy.sum()),
            dict.fromkeys(causes, 0.0),
            energy * 0.0,
            float(kinetic.sum()),
            0.0,
        )
    gains, uncertainty = compute_work(run, energy - energy[0]) if causes else (np.zeros((len(run) - 1, 0)), 0.0)
    if run.dynamics.topology.events is not None:
        at_once, hidden = np.where(np.diff(run.t) == 0.0, np.diff(energy), 0.0), _hidden(run)
        uncertainty += float(np.abs((np.diff(energy) - gains.sum(axis=1) - at_once)[hidden | _ticked(run)]).sum())
        if hidden.any():  # what the impacts between stored times did is not known: no figure rather than a part of it
            uncertainty += float(np.abs(at_once).sum())
        else:
            causes, gains = (*causes, AT_ONCE), np.column_stack([gains, at_once])
    work = np.vstack([np.zeros(len(causes)), np.cumsum(gains, axis=0)])
    defects = energy - energy[0] - work.sum(axis=1)
    scale = max(kinetic.max(), np.ptp(potential), np.abs(work).max(initial=0.0))
    return Audit(
        float(energy[0]), float(energy[-1]), dict(zip(causes, work[-1].tolist())), defects, float(scale), uncertainty
    )  # fmt: skip


def _hidden(run: Trajectory) -> Array:
    """The intervals between stored states within which something changed at once, so that their motion is not one."""
    when = np.array([event.time for event in run.events if event.kind != "singular"])
    after, before = np.searchsorted(when, run.t[:-1], "right"), np.searchsorted(when, run.t[1:], "left")
    found: Array = before > after
    return found


def _ticked(run: Trajectory) -> Array:
    """The intervals between stored states within which a sampler acts; at their ends it is seen."""
    table, found = run.dynamics.topology.events, np.zeros(len(run) - 1, dtype=bool)
    for clock in (entry.sampler for entry in table.samplers) if table is not None else ():
        counts = (run.t - float(clock.phase)) / float(clock.period)
        near = 1e-9 * np.maximum(1.0, np.abs(counts))  # what is on a tick but for rounding
        found |= np.ceil(counts[1:] - near[1:]) - 1 > np.maximum(-1, np.floor(counts[:-1] + near[:-1]))
    return found


def compute_work(run: Trajectory, change: Array) -> tuple[Array, float]:
    """Work of each cause in each interval between stored states, and how uncertain their sum is.

    ``change`` of the energy since the start says how fine it needs to be: an uncertainty well below the defect will do.
    """
    causes = len(find_causes(run.dynamics.topology))
    most = max(2, min(MOST_PARTS, MOST_INTERVALS // len(run)))
    parts, gap, scale = 1, np.inf, 0.0
    with np.errstate(all="ignore"):
        old = _flow(run, parts, causes)
        while parts < most:
            parts *= 2
            new = _flow(run, parts, causes)
            gap, scale = _largest(new - old), float(np.abs(new).sum())
            old = new
            defect = float(np.abs(change[1:] - np.cumsum(new.sum(axis=1))).max())
            if gap <= max(1e-13 * scale, 1e-3 * defect):
                return new, gap
    if np.isfinite(gap) and gap <= 1e-6 * scale:
        return old, gap
    other, unsure = _interpolated(run, causes)
    return (other, unsure) if unsure < gap or not np.isfinite(gap) else (old, gap)


def _largest(gains: Array) -> float:
    """The largest sum on the way."""
    return float(np.abs(np.cumsum(gains.sum(axis=1))).max())


def _flow(run: Trajectory, parts: int, causes: int) -> Array:
    """The work along the motions that start at the stored states, by a number of equal steps of order 8."""
    table = tableau("dop853")
    last, nodes, weights = table.last, table.nodes, table.stages
    rows = max(1, MOST_NUMBERS // ((last + 1) * (run.y.shape[1] + causes)))
    work = np.zeros((len(run) - 1, causes))
    for first in range(0, len(work), rows):
        some = slice(first, min(first + rows, len(work)))
        t, y, h = run.t[some].copy(), run.y[some].copy(), np.diff(run.t)[some] / parts
        begin, end = (times[some] for times in _sides(run))
        for _ in range(parts):
            slopes: list[Array] = []
            for s in range(last):
                stage = y + h[:, None] * sum(
                    (weights[s, j] * slopes[j][:, : y.shape[1]] for j in range(s)), np.zeros_like(y)
                )
                slopes.append(_rates(run, np.clip(t + nodes[s] * h, begin, end), stage))
            total = sum((weights[last, j] * slopes[j] for j in range(last)), np.zeros((len(y), y.shape[1] + causes)))
            y = y + h[:, None] * total[:, : y.shape[1]]
            work[some] += h[:, None] * total[:, y.shape[1] :]
            t = t + h
    return work


def _interpolated(run: Trajectory, causes: int) -> tuple[Array, float]:
    """The work along cubics through the states, by Gauss points; how uncertain, coarser rules tell.

    A trapezoid is off by the square of the length of an interval, cubics by its fourth power: as the square of the
    share by which the two differ.  Where that share is all of the work, the motion within the interval is not seen.
    """
    n, h = run.y.shape[1], np.diff(run.t)[:, None]
    held = n - (run.dynamics.topology.events.n_held if run.dynamics.topology.events is not None else 0)
    begin, end = _sides(run)
    before, after = _rates(run, begin, run.y[:-1])[:, :n], _rates(run, end, run.y[1:])[:, :n]
    found = []
    for points in (4, 6):
        at, weights = np.polynomial.legendre.leggauss(points)
        work = np.zeros((len(run) - 1, causes))
        for s, weight in zip(0.5 * (at + 1), 0.5 * weights):
            a, b, c, d = (1 + 2 * s) * (1 - s) ** 2, s * (1 - s) ** 2, s * s * (3 - 2 * s), s * s * (s - 1)
            y = a * run.y[:-1] + b * h * before + c * run.y[1:] + d * h * after
            y[:, held:] = run.y[:-1, held:]
            work += weight * h * _rates(run, run.t[:-1] + s * h[:, 0], y)[:, n:]
        found.append(work)
    coarse = _trapezoid(run, n)
    apart, most = np.abs(found[1] - coarse), np.maximum(np.abs(found[1]), np.abs(coarse))
    unseen = (apart * np.divide(apart, most, out=np.zeros_like(apart), where=most > 0)).sum()
    return found[1], float(max(np.abs(found[1] - found[0]).sum(), unseen))


def _trapezoid(run: Trajectory, n: int) -> Array:
    begin, end = _sides(run)
    power = _rates(run, begin, run.y[:-1])[:, n:] + _rates(run, end, run.y[1:])[:, n:]
    total: Array = 0.5 * np.diff(run.t)[:, None] * power
    return total


def _sides(run: Trajectory) -> tuple[Array, Array]:
    """The times at which laws are looked at for the ends of each interval: within it, since they may jump there."""
    margin = ROUNDING * float(np.abs(run.t).max())
    return run.t[:-1] + margin, run.t[1:] - margin


def _rates(run: Trajectory, t: Array, y: Array) -> Array:
    """Rate of the state and power of each cause, for states in rows."""
    return run.dynamics.kernels.call(Kernel("power"), run.dynamics.point_of(t, y, run.p, run.inputs))
