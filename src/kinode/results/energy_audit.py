"""The energy audit of a run: the change of the mechanical energy against the work done.

    defect(t) = E(t) - E(0) - sum over causes of work(t)

vanishes for the exact motion.  ``work.py`` computes the work between stored states: along the states, or along the
exact motion that starts at each of them.  So the defect is the error of the run's own steps, whatever its output times.
A second quadrature looks at what both may have passed over: no step of it is longer than a small share of the run.
If the motion is too stiff for that, the work is computed along cubics through the states; ``uncertainty`` estimates its
error.

The audit does not see errors that keep the energy, such as an error of phase: a small defect is necessary for a good
run, not sufficient.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array
from kinode.model.network.domain import ENERGIES
from kinode.multibody.power import find_causes
from kinode.results.run_quantities import IGNORE_OVERFLOW
from kinode.results.work import FAIR_DEFECT, GOOD_DEFECT, compute_work
from kinode.sheets.tables import Sheet, Shown, Table
from kinode.simulation.absolute_drift import Drift

if TYPE_CHECKING:
    from kinode.results.run_quantities import RunQuantities


IMPACTS = "impacts"  # name of the energy change at instants where speeds jump
ROUNDING = 1e-15  # of an energy
REST = 4.0  # roundings of the energy that are no motion
TICK_ROUNDING = 1e-9  # of a stored time on a clock tick, relative to the number of ticks
NEGLIGIBLE_UNCERTAINTY = 1e-9  # of the work, relative to the energy in play


@dataclass(frozen=True, eq=False)
class Audit(Shown):
    """The energy audit of a run; prints as a table.

    Attributes
    ----------
    energy_start, energy_end : float
        Mechanical energy, J.
    work : dict of str to float
        Work of each cause, J.
    defects : array
        Defect at each time, J.
    scale : float
        The largest energy in play, J: kinetic, exchanged with potentials, or work.
    uncertainty : float
        Estimated error of the work, J.
    drift : Drift or None
        How far the joints came apart, of a run in absolute coordinates (``formulation="newton_euler"``).
    """

    energy_start: float
    energy_end: float
    work: dict[str, float]
    defects: Array = field(repr=False)
    scale: float
    uncertainty: float
    drift: Drift | None = None

    @property
    def change(self) -> float:
        """Change of the mechanical energy, J."""
        return self.energy_end - self.energy_start

    @property
    def total_work(self) -> float:
        """Work of all causes, J."""
        return sum(self.work.values())

    @property
    def defect(self) -> float:
        """The defect at the end, J."""
        return float(self.defects[-1]) if len(self.defects) else 0.0

    @property
    def largest(self) -> float:
        """The largest defect, J."""
        return float(np.abs(self.defects).max(initial=0.0))

    @property
    def relative(self) -> float:
        """The largest defect as a share of ``scale``."""
        return self.largest / self.scale if self.scale > 0 else 0.0

    @property
    def is_rough(self) -> bool:
        """Whether the defect is lost in the error of the work it is found by."""
        return self.uncertainty > 0.5 * self.largest and self.uncertainty > NEGLIGIBLE_UNCERTAINTY * self.scale

    @property
    def ok(self) -> bool | None:
        """Whether the run holds its energy well enough for plots; None where the work is known too roughly to tell."""
        if not np.isfinite(self.relative):
            return False
        if self.is_rough:
            return True if self.largest + self.uncertainty < FAIR_DEFECT * self.scale else None
        return bool(self.relative < FAIR_DEFECT)

    @property
    def trust(self) -> str:
        """The verdict in a sentence."""
        defect = (
            f"trust: {self.largest:.2g} J of the {self.scale:.4g} J in play are unaccounted for ({self.relative:.1e}); "
        )
        if not np.isfinite(self.relative):
            return "trust: none, the energy is not finite"
        if not self.scale and not self.largest:
            return "trust: no energy was in play"
        if self.is_rough:
            most = self.largest + self.uncertainty
            if most < GOOD_DEFECT * self.scale:
                return (
                    f"trust: less than {most:.2g} J of the {self.scale:.4g} J in play are unaccounted for "
                    f"({most / self.scale:.1e}); the run holds its energy well"
                )
            return (
                defect + f"the work itself is known to {self.uncertainty:.1g} J only, ask for closer times to see more"
            )
        if self.relative < GOOD_DEFECT:
            return defect + "the run holds its energy well"
        if self.relative < FAIR_DEFECT:
            return defect + "good enough for plots; tighten rtol for figures"
        return defect + "do not trust this run: tighten rtol or shorten the step"

    @property
    def rows(self) -> list[tuple[str, float]]:
        """What the balance consists of, in words, J."""
        works = [(f"work of {cause}", work) for cause, work in self.work.items()]
        return [("change of energy", self.change), *works, ("defect", self.defect)]

    @property
    def sheet(self) -> Sheet:
        table = Table(("", ""), [(words, f"{value:.6e} J") for words, value in self.rows])
        return Sheet("", parts=[table, self.trust, *([] if self.drift is None else [str(self.drift)])])

    def __repr__(self) -> str:
        return f"<Audit: {self.trust.removeprefix('trust: ')}>"


@IGNORE_OVERFLOW
def compute_audit(run: RunQuantities) -> Audit:
    """The audit of a run."""
    return replace(_audit_energy(run), drift=Drift.from_facts(run.facts))


def _audit_energy(run: RunQuantities) -> Audit:
    """The audit of the energy of a run."""
    energies = run.evaluate([f"system.{kind}_energy" for kind in ENERGIES])
    kinetic = energies["system.kinetic_energy"] + energies["system.electric_energy"]
    potential = energies["system.potential_energy"] + energies["system.thermal_energy"]  # up to a constant
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
    rounding = ROUNDING * float((np.abs(kinetic) + np.abs(potential)).max())
    works, uncertainty = np.zeros((len(run) - 1, 0)), 0.0
    if causes:
        in_play = float(max(kinetic.max(), np.ptp(potential)))
        works, uncertainty = compute_work(run, energy - energy[0], in_play, rounding)
    if run.dynamics.topology.events is not None:
        impacts, with_events = np.where(np.diff(run.t) == 0.0, np.diff(energy), 0.0), _intervals_with_events(run)
        unexplained = np.diff(energy) - works.sum(axis=1) - impacts
        uncertainty += float(np.abs(unexplained[with_events | _intervals_with_ticks(run)]).sum())
        if with_events.any():  # the work of impacts between stored times is unknown: give none rather than a part
            uncertainty += float(np.abs(impacts).sum())
        else:
            causes, works = (*causes, IMPACTS), np.column_stack([works, impacts])
    work = np.vstack([np.zeros(len(causes)), np.cumsum(works, axis=0)])
    defects = energy - energy[0] - work.sum(axis=1)
    scale = max(kinetic.max(), np.ptp(potential), np.abs(work).max(initial=0.0))
    if scale <= REST * rounding:  # nothing moved
        defects, scale = defects * 0.0, 0.0
    return Audit(
        float(energy[0]), float(energy[-1]), dict(zip(causes, work[-1].tolist())), defects, float(scale), uncertainty
    )  # fmt: skip


def _intervals_with_events(run: RunQuantities) -> Array:
    """The intervals between stored states that contain an event, so that their motion is not smooth."""
    times = np.array([event.time for event in run.events if event.kind in ("mode", "jump")])
    after, before = np.searchsorted(times, run.t[:-1], "right"), np.searchsorted(times, run.t[1:], "left")
    with_events: Array = before > after
    return with_events


def _intervals_with_ticks(run: RunQuantities) -> Array:
    """The intervals between stored states that contain a clock tick inside."""
    table, ticked = run.dynamics.topology.events, np.zeros(len(run) - 1, dtype=bool)
    for clock in (entry.sampler for entry in table.samplers) if table is not None else ():
        ticks = (run.t - float(clock.phase)) / float(clock.period)
        margin = TICK_ROUNDING * np.maximum(1.0, np.abs(ticks))  # rounding of a time on a tick
        ticked |= np.ceil(ticks[1:] - margin[1:]) - 1 > np.maximum(-1, np.floor(ticks[:-1] + margin[:-1]))
    return ticked
