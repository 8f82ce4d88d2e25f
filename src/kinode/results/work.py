"""The work of each cause between the stored states of a run, by Gauss points of its own steps (quadrature).

The run is repeated (``repeated_run.py``) and kept at five points of each of its steps, where the powers are evaluated:
those of Gauss and Lobatto, with the ends, so that a corner of a power near an end is seen too.  No part between them is
longer than a small share of the run, so that what acts for a short time within a long step is seen.  Events, ticks of
clocks and stored states are ends of parts.  Three of the points estimate the error; where it is not negligible, at a
corner, the part is split.  The powers of a run that cannot be repeated are known at its stored states only: their work
is that of the trapezoidal rule, and all that this leaves unexplained is uncertain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kinode.algebra.scalars import Array
from kinode.kernels.kernel_options import Kernel
from kinode.model.network.domain import ENERGIES
from kinode.results.repeated_run import has_own_steps, repeat_run
from kinode.simulation.time_events import TIME_ROUNDING

if TYPE_CHECKING:
    from kinode.results.run_quantities import RunQuantities


LOOKS = 128  # parts of a run at least, of five points each
SHARES = np.array([0.0, 0.5 - (3 / 28) ** 0.5, 0.5, 0.5 + (3 / 28) ** 0.5, 1.0])  # points of a part
WEIGHTS, FEWER = np.array([9, 49, 64, 49, 9]) / 180, np.array([1, 0, 4, 0, 1]) / 6  # of all of them, and of three
MOST_SPLITS, SPLIT = 2, 8  # how often parts are split, and in how many
NEGLIGIBLE = 1e-9  # error of all parts, relative to the work


class Work(NamedTuple):
    """Work of each cause in each interval between stored states, J, and what is known of it."""

    causes: Array
    impacts: Array | None  # change of the energy at instants where speeds jump; None without events, or if not known
    uncertainty: float  # of the sum


def find_energies(run: RunQuantities) -> tuple[Array, Array]:
    """What is kinetic and what is potential of the energy of a run, J, the second one up to a constant."""
    energies = run.evaluate([f"system.{kind}_energy" for kind in ENERGIES])
    kinetic = energies["system.kinetic_energy"] + energies["system.electric_energy"]
    return kinetic, energies["system.potential_energy"] + energies["system.thermal_energy"]


def compute_work(run: RunQuantities) -> Work:
    """The work of each cause and of impacts in each interval between stored states."""
    steps = run if has_own_steps(run) else repeat_run(run, None)
    if steps is None:
        return _by_stored_states(run)
    ends = _find_parts(run, steps)
    found = _integrate(run, ends[:-1], np.diff(ends), MOST_SPLITS)
    if found is None:
        return _by_stored_states(run)
    work, errors = found
    sums = np.vstack([np.zeros(work.shape[1]), np.cumsum(work, axis=0)])[np.searchsorted(ends, run.t)]
    impacts = None if run.dynamics.topology.events is None else _find_impacts(run, steps)
    return Work(np.diff(sums, axis=0), impacts, float(errors.sum()))


def _integrate(run: RunQuantities, begins: Array, lengths: Array, splits: int) -> tuple[Array, Array] | None:
    """Work of each cause in parts of a run, and its estimated error, J; where a power has a corner in shorter parts."""
    margin, ends = TIME_ROUNDING * float(np.abs(run.t).max()), (begins + lengths)[:, None]  # powers may jump there
    times = np.clip(begins[:, None] + lengths[:, None] * SHARES, begins[:, None] + margin, ends - margin)
    points = repeat_run(run, np.maximum.accumulate(times.ravel()))
    if points is None or len(points) != times.size:
        return None
    power = find_powers(points, points.t, points.y).reshape(*times.shape, -1)
    work, other = (lengths[:, None] * np.einsum("k,ikc->ic", weights, power) for weights in (WEIGHTS, FEWER))
    difference, larger = np.abs(work - other), np.maximum(np.abs(work), np.abs(other))
    share = np.divide(difference, larger, out=np.zeros_like(larger), where=larger > 0.0)
    errors: Array = (difference * share).sum(axis=1)
    rough = np.flatnonzero(errors * len(lengths) > NEGLIGIBLE * np.abs(work).sum())
    if splits and len(rough):
        inner = begins[rough, None] + lengths[rough, None] * np.arange(SPLIT) / SPLIT
        finer = _integrate(run, inner.ravel(), np.repeat(lengths[rough] / SPLIT, SPLIT), splits - 1)
        if finer is not None:
            work[rough] = finer[0].reshape(len(rough), SPLIT, -1).sum(axis=1)
            errors[rough] = finer[1].reshape(len(rough), SPLIT).sum(axis=1)
    return work, errors


def _find_parts(run: RunQuantities, steps: RunQuantities) -> Array:
    """The ends of the parts of a run: its steps and stored states, and more where they are far from each other."""
    ends = np.union1d(run.t, steps.t[(steps.t > run.t[0]) & (steps.t < run.t[-1])])
    counts = np.maximum(np.ceil(np.diff(ends) * LOOKS / (ends[-1] - ends[0])), 1.0).astype(int)
    order = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)  # within an interval
    shares = order / np.repeat(counts, counts)
    return np.append(np.repeat(ends[:-1], counts) + shares * np.repeat(np.diff(ends), counts), ends[-1])


def _find_impacts(run: RunQuantities, steps: RunQuantities) -> Array:
    """The change of the energy at instants where speeds jump, in each interval between stored states."""
    kinetic, potential = find_energies(steps)
    jumps = np.where(np.diff(steps.t) == 0.0, np.diff(kinetic + potential), 0.0)
    if steps is run:
        return jumps
    sums = np.append(0.0, np.cumsum(jumps))
    return np.diff(sums[np.searchsorted(steps.t, run.t, "right") - 1])


def _by_stored_states(run: RunQuantities) -> Work:
    """The work by the trapezoidal rule over the stored states; all that it does not explain is uncertain."""
    margin = TIME_ROUNDING * float(np.abs(run.t).max())  # powers may jump at the ends
    before, after = find_powers(run, run.t[:-1] + margin, run.y[:-1]), find_powers(run, run.t[1:] - margin, run.y[1:])
    lengths, (kinetic, potential) = np.diff(run.t), find_energies(run)
    work = 0.5 * lengths[:, None] * (before + after)
    uncertainty = np.abs(np.diff(kinetic + potential) - work.sum(axis=1)).sum()
    if lengths.max() * LOOKS > run.t[-1] - run.t[0]:  # nobody has looked what acts between
        uncertainty += kinetic.max() + np.ptp(potential)
    return Work(work, None, float(uncertainty))


def find_powers(run: RunQuantities, t: Array, y: Array) -> Array:
    """Power of each cause, W, one row for each state."""
    dynamics = run.dynamics
    values: Array = dynamics.kernels.call(Kernel("power"), dynamics.point_of(t, y, run.p, run.inputs))
    return values[:, y.shape[1] :]
