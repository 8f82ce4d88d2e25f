"""The energy audit of a run: the change of the mechanical energy against the work done.

    defect(t) = E(t) - E(0) - sum over causes of work(t)

vanishes for the exact motion.  ``work.py`` computes the work along the run's own steps, whatever its output times.  So
the defect is the error of these steps; ``uncertainty`` estimates the error of the work.

The audit does not see errors that keep the energy, such as an error of phase: a small defect is necessary for a good
run, not sufficient.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array
from kinode.multibody.power import find_causes
from kinode.results.run_quantities import IGNORE_OVERFLOW
from kinode.results.work import compute_work, find_energies
from kinode.sheets.tables import Sheet, Shown, Table
from kinode.simulation.absolute_drift import Drift

if TYPE_CHECKING:
    from kinode.results.run_quantities import RunQuantities


IMPACTS = "impacts"  # name of the energy change at instants where speeds jump
ROUNDING = 1e-15  # of an energy
REST = 4.0  # roundings of the energy that are no motion
GOOD_DEFECT, FAIR_DEFECT = 1e-6, 1e-3  # relative defects up to which a run is good for figures, and for plots
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
    kinetic, potential = find_energies(run)
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
    works, uncertainty = np.zeros((len(run) - 1, 0)), 0.0
    if causes or run.dynamics.topology.events is not None:
        works, impacts, uncertainty = compute_work(run)
        if impacts is not None:
            causes, works = (*causes, IMPACTS), np.column_stack([works, impacts])
    work = np.vstack([np.zeros(len(causes)), np.cumsum(works, axis=0)])
    defects = energy - energy[0] - work.sum(axis=1)
    scale = max(kinetic.max(), np.ptp(potential), np.abs(work).max(initial=0.0))
    if scale <= REST * ROUNDING * (np.abs(kinetic) + np.abs(potential)).max():  # nothing moved
        defects, scale = defects * 0.0, 0.0
    return Audit(
        float(energy[0]), float(energy[-1]), dict(zip(causes, work[-1].tolist())), defects, float(scale), uncertainty
    )  # fmt: skip
