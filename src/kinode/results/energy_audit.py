"""The energy audit of a run: the change of the mechanical energy against the work done.

    defect(t) = E(t) - E(0) - sum over causes of work(t)

vanishes for the exact motion.  The work between two stored states is computed along the exact motion that starts at the
first one: all intervals are integrated in parallel with one step of order 8 [Dormand, Prince 1981], and with shorter
ones where its lower orders do not agree.  So the defect is the error of the run's own steps, whatever its output times.
A second quadrature looks at what both may have passed over: no step of it is longer than a small share of the run.
If the motion is too stiff for that, the work is computed along cubics through the states; ``uncertainty`` estimates its
error.

The audit does not see errors that keep the energy, such as an error of phase: a small defect is necessary for a good
run, not sufficient.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.state_batches.trial_steps import TrialSteps, take_trial_steps
from kinode.hooks import hook
from kinode.kernels.kernel_options import Kernel
from kinode.multibody.power import find_causes
from kinode.results.peak_mean_rms import IGNORE_OVERFLOW
from kinode.simulation.absolute.absolute_drift import Drift
from kinode.simulation.time_events import TIME_ROUNDING

if TYPE_CHECKING:
    from kinode.results.run_quantities import RunQuantities

IMPACTS = "impacts"  # name of the energy change at instants where speeds jump
PASSED_OVER = 1e-2  # of the work in an interval: a second quadrature that differs by more has seen something else
LOOKS = 64  # parts of the run: the second quadrature takes at least one step in each
MAX_STEPS = 64  # the shortest step is this part of an interval between two stored states
MAX_TOTAL_STEPS = 1 << 21  # of the shortest steps in all intervals
SHARE_OF_STEP = 0.25  # of the error that an interval may have, for each of its steps
REFINEMENT = 1e-3  # by which the error of all work falls from one refinement to the next
UNKNOWN = 1e300  # J: an error that is not finite
FAR = 100.0  # times that error: the next step is an eighth as long, else half
GROW = 4e-3  # share of that error below which the next step is twice as long
MAX_STATE_NUMBERS = 1 << 20  # numbers in the states of one pass, which bounds the memory
TICK_ROUNDING = 1e-9  # of a stored time on a clock tick, relative to the number of ticks
CONVERGED_WORK = 1e-13  # change of the work by halved steps, relative to the work: rounding
CONVERGED_DEFECT = 1e-3  # the same change, relative to the defect: fine enough to judge it
USABLE_WORK = 1e-6  # the same change, relative to the work: still better than interpolation
SEEN_WORK = 0.5  # the same change, relative to the work: the motion is not too stiff, and the work is about right
GOOD_DEFECT, FAIR_DEFECT = 1e-6, 1e-3  # relative defects up to which a run is good for figures, and for plots
NEGLIGIBLE_UNCERTAINTY = 1e-9  # of the work, relative to the energy in play


@dataclass(frozen=True, eq=False)
class Audit:
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
    def trust(self) -> str:
        """The verdict in a sentence."""
        defect = (
            f"trust: {self.largest:.2g} J of the {self.scale:.4g} J in play are unaccounted for ({self.relative:.1e}); "
        )
        if not np.isfinite(self.relative):
            return "trust: none, the energy is not finite"
        if self.uncertainty > 0.5 * self.largest and self.uncertainty > NEGLIGIBLE_UNCERTAINTY * self.scale:
            return (
                defect + f"the work itself is known to {self.uncertainty:.1g} J only, ask for closer times to see more"
            )
        if self.relative < GOOD_DEFECT:
            return defect + "the run holds its energy well"
        if self.relative < FAIR_DEFECT:
            return defect + "good enough for plots; tighten rtol for figures"
        return defect + "do not trust this run: tighten rtol or shorten the step"

    def __str__(self) -> str:
        rows = [("change of energy", self.change), *((f"work of {cause}", work) for cause, work in self.work.items())]
        rows.append(("defect", self.defect))
        width = max(len(name) for name, _ in rows)
        lines = [*(f"{name:<{width}}  {value: .6e} J" for name, value in rows), self.trust]
        return "\n".join(lines if self.drift is None else [*lines, str(self.drift)])

    def __repr__(self) -> str:
        return f"<Audit: {self.trust.removeprefix('trust: ')}>"

    def _repr_html_(self) -> str:
        return str(hook("notebook_html")(self))


@IGNORE_OVERFLOW
def compute_audit(run: RunQuantities) -> Audit:
    """The audit of a run."""
    return replace(_audit_energy(run), drift=Drift.from_facts(run.facts))


def _audit_energy(run: RunQuantities) -> Audit:
    """The audit of the energy of a run."""
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
    works, uncertainty = compute_work(run, energy - energy[0]) if causes else (np.zeros((len(run) - 1, 0)), 0.0)
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
    return Audit(
        float(energy[0]), float(energy[-1]), dict(zip(causes, work[-1].tolist())), defects, float(scale), uncertainty
    )  # fmt: skip


def _intervals_with_events(run: RunQuantities) -> Array:
    """The intervals between stored states that contain an event, so that their motion is not smooth."""
    times = np.array([event.time for event in run.events if event.kind != "singular"])
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


def compute_work(run: RunQuantities, change: Array) -> tuple[Array, float]:
    """Work of each cause in each interval between stored states, and the uncertainty of the sum.

    ``change`` is the change of the energy since the start; an uncertainty well below the defect is fine enough.
    """
    n_causes = len(find_causes(run.dynamics.topology))
    with np.errstate(all="ignore"):
        work, errors = _one_step_each(run, n_causes)
        uncertainty, before, stuck = _finite(errors.sum()), np.inf, np.zeros(len(errors), dtype=bool)
        while True:
            scale = float(np.abs(work[np.isfinite(work)]).sum())
            defect = float(np.abs(change[1:] - np.cumsum(work.sum(axis=1))).max()) - uncertainty
            allowed = max(CONVERGED_WORK * scale, CONVERGED_DEFECT * defect if defect > 0.0 else 0.0)
            if uncertainty <= allowed or before <= 2.0 * uncertainty:
                break
            _refine(run, work, errors, stuck, max(allowed, REFINEMENT * uncertainty if uncertainty < UNKNOWN else 0.0))
            before, uncertainty = uncertainty, _finite(errors.sum())
        if uncertainty <= max(allowed, USABLE_WORK * scale):
            return _look_closer(run, work, uncertainty)
    other, uncertainty_of_other = _interpolated(run, n_causes)
    if uncertainty <= SEEN_WORK * scale:  # the steps agree on what a cubic may not see
        uncertainty_of_other = max(uncertainty_of_other, float(np.abs(np.cumsum((work - other).sum(axis=1))).max()))
    use_other = uncertainty_of_other < uncertainty or uncertainty >= UNKNOWN
    return (other, uncertainty_of_other) if use_other else (work, uncertainty)


def _finite(error: float) -> float:
    """The error; ``UNKNOWN`` if it is not finite."""
    return float(error) if np.isfinite(error) else UNKNOWN


def _one_step_each(run: RunQuantities, n_causes: int) -> tuple[Array, Array]:
    """Work in each interval by one step from its first state, and its estimated error, J."""
    work, errors = np.zeros((len(run) - 1, n_causes)), np.zeros(len(run) - 1)
    for rows in _chunks(run, np.arange(len(work)), n_causes):
        step = _step(run, rows, run.t[rows], run.y[rows], np.diff(run.t)[rows])
        work[rows], errors[rows] = step.work, step.work_error.sum(axis=1)
    return work, errors


def _refine(run: RunQuantities, work: Array, errors: Array, stuck: Array, allowed: float) -> None:
    """Compute the work anew, with steps of their own, in the intervals whose error is not negligible.

    The steps of an interval are halved where the power has a corner or changes fast, down to 1 / ``MAX_STEPS`` of it.
    Intervals in which even that does not suffice become ``stuck`` and are not tried again.
    """
    share = 0.5 * allowed / len(errors)
    n_most = max(2, min(MAX_STEPS, 1 << ((MAX_TOTAL_STEPS // len(run)).bit_length() - 1)))
    tolerance = max(allowed / max(float(np.abs(work).sum()), 1e-300), CONVERGED_WORK)
    scales = np.abs(run.y).max(axis=0) * tolerance
    for rows in _chunks(run, np.flatnonzero(~(errors <= share) & ~stuck), work.shape[1]):
        t, y, lengths = run.t[rows].copy(), run.y[rows].copy(), np.diff(run.t)[rows]
        work[rows], errors[rows] = 0.0, 0.0
        done, size = np.zeros(len(rows)), np.full(len(rows), 0.5)  # shares of the intervals
        left = np.arange(len(rows))
        while len(left):
            step = _step(run, rows[left], t[left], y[left], size[left] * lengths[left])
            error = step.work_error.sum(axis=1)
            fine = (error <= SHARE_OF_STEP * share) & (step.state_error <= scales).all(axis=1)
            take = fine | (size[left] * n_most <= 1.0)
            taken = left[take]
            stuck[rows[left[take & ~fine]]] = True
            t[taken] += size[taken] * lengths[taken]
            y[taken], done[taken] = step.y[take], done[taken] + size[taken]
            work[rows[taken]] += step.work[take]
            errors[rows[taken]] += error[take]
            far = error[~take] > FAR * SHARE_OF_STEP * share
            size[left[~take]] *= np.where(far, 0.125, 0.5)
            size = np.maximum(size, 1.0 / n_most)
            size[left[fine & (error <= GROW * SHARE_OF_STEP * share)]] *= 2.0
            size = np.minimum(size, 1.0 - done)
            left = left[(done[left] < 1.0) & np.isfinite(errors[rows[left]])]


def _look_closer(run: RunQuantities, work: Array, uncertainty: float) -> tuple[Array, float]:
    """The work by a second quadrature in long intervals, at other times and closer together; and its uncertainty.

    What acts for a short time within a long step is seen by neither the run nor a quadrature with few steps.
    """
    lengths, limit = np.diff(run.t), (run.t[-1] - run.t[0]) / LOOKS
    parts = np.ceil(lengths / limit) if limit > 0.0 else np.zeros(len(lengths))
    closer = work.copy()
    for count in (1 << k for k in range(1, LOOKS.bit_length() + 1)):
        chosen = np.flatnonzero((parts <= count) & (parts > count // 2) & (parts > 1))
        if len(chosen):
            once = _equal_steps(run, chosen, count + 1, work.shape[1])
            passed = np.abs(once - work[chosen]).sum(axis=1) > PASSED_OVER * np.abs(once).sum(axis=1)
            if passed.any():
                again, before = chosen[passed], once[passed]
                closer[again] = _equal_steps(run, again, 2 * count + 1, work.shape[1])
                uncertainty += float(np.nan_to_num(np.abs((closer[again] - before).sum(axis=1)).sum()))
    return (closer, uncertainty) if np.isfinite(closer).all() else (work, uncertainty)


def _equal_steps(run: RunQuantities, intervals: Array, count: int, n_causes: int) -> Array:
    """The work in some intervals by ``count`` equal steps from their first states, J."""
    work = np.zeros((len(intervals), n_causes))
    for part in _chunks(run, np.arange(len(intervals)), n_causes):
        rows = intervals[part]
        t, y, h = run.t[rows].copy(), run.y[rows].copy(), np.diff(run.t)[rows] / count
        for _ in range(count):
            step = _step(run, rows, t, y, h)
            work[part] += step.work
            t, y = t + h, step.y
    return work


def _chunks(run: RunQuantities, rows: Array, n_causes: int) -> Iterator[Array]:
    """The rows in portions that fit in the memory that is allowed."""
    size = max(1, MAX_STATE_NUMBERS // (run.y.shape[1] + n_causes))
    return (rows[first : first + size] for first in range(0, len(rows), size))


def _step(run: RunQuantities, rows: Array, t: Array, y: Array, h: Array) -> TrialSteps:
    """Steps of lengths ``h`` within the intervals ``rows``."""
    begin, end = (times[rows] for times in _sides(run))
    return take_trial_steps(run.dynamics, t, y, h, (begin, end), run.p, run.inputs)


def _interpolated(run: RunQuantities, n_causes: int) -> tuple[Array, float]:
    """The work along cubics through the states by Gauss quadrature, and its uncertainty by coarser rules.

    The error of the trapezoidal rule goes with the square of the length of an interval, that of cubics with its fourth
    power: as the square of the relative difference of the two.  If the relative difference is 1, the states do not
    resolve the motion.
    """
    n, h = run.y.shape[1], np.diff(run.t)[:, None]
    first_discrete = n - (run.dynamics.topology.events.n_held if run.dynamics.topology.events is not None else 0)
    begin, end = _sides(run)
    before, after = _rates(run, begin, run.y[:-1])[:, :n], _rates(run, end, run.y[1:])[:, :n]
    works = []
    for points in (4, 6):
        nodes, weights = np.polynomial.legendre.leggauss(points)
        work = np.zeros((len(run) - 1, n_causes))
        for s, weight in zip(0.5 * (nodes + 1), 0.5 * weights):
            a, b, c, d = (1 + 2 * s) * (1 - s) ** 2, s * (1 - s) ** 2, s * s * (3 - 2 * s), s * s * (s - 1)
            y = a * run.y[:-1] + b * h * before + c * run.y[1:] + d * h * after
            y[:, first_discrete:] = run.y[:-1, first_discrete:]
            work += weight * h * _rates(run, run.t[:-1] + s * h[:, 0], y)[:, n:]
        works.append(work)
    coarse = _trapezoid(run, n)
    difference, larger = np.abs(works[1] - coarse), np.maximum(np.abs(works[1]), np.abs(coarse))
    unresolved = (difference * np.divide(difference, larger, out=np.zeros_like(difference), where=larger > 0)).sum()
    return works[1], float(max(np.abs(works[1] - works[0]).sum(), unresolved))


def _trapezoid(run: RunQuantities, n: int) -> Array:
    """The work by the trapezoidal rule, J; ``n`` is the size of the state."""
    begin, end = _sides(run)
    power = _rates(run, begin, run.y[:-1])[:, n:] + _rates(run, end, run.y[1:])[:, n:]
    total: Array = 0.5 * np.diff(run.t)[:, None] * power
    return total


def _sides(run: RunQuantities) -> tuple[Array, Array]:
    """The ends of each interval, moved inside it by a rounding error: functions of time may jump at the ends."""
    margin = TIME_ROUNDING * float(np.abs(run.t).max())
    return run.t[:-1] + margin, run.t[1:] - margin


def _rates(run: RunQuantities, t: Array, y: Array) -> Array:
    """Time derivative of the state and power of each cause, one row for each state."""
    return run.dynamics.kernels.call(Kernel("power"), run.dynamics.point_of(t, y, run.p, run.inputs))
