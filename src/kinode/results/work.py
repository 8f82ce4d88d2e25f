"""The work of each cause in each interval between stored states, by the cheapest way that is good enough (quadrature).

The work is the integral of a polynomial through the powers at the states around an interval.  Where polynomials through
fewer neighbours do not agree, it is computed along the exact motion that starts at the first state: by one step of
order 8 [Dormand, Prince 1981], then by steps that end where the power has a corner, then by shorter ones, in all
intervals at once.  If the motion is too stiff for that, the work is computed along cubics through the states.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from kinode.algebra.scalars import Array
from kinode.kernels.kernel_options import Kernel
from kinode.multibody.power import find_causes
from kinode.ode.tableaus import dop853
from kinode.simulation.time_events import TIME_ROUNDING

if TYPE_CHECKING:
    from kinode.results.run_quantities import RunQuantities


PASSED_OVER = 1e-2  # of the work in an interval: a second quadrature that differs by more has seen something else
FEWEST_SAMPLES = 64  # of a run whose work is computed by polynomials through them
MOST_SPLITS = 3  # after each other
LOOKS = 64  # parts of the run: the second quadrature takes at least one step in each
MAX_STEPS = 64  # the shortest step is this part of an interval between two stored states
MAX_TOTAL_STEPS = 1 << 21  # of the shortest steps in all intervals
SHARE_OF_STEP = 0.25  # of the error that an interval may have, for each of its steps
REFINEMENT = 1e-2  # by which the error of all work falls from one refinement to the next
UNKNOWN = 1e300  # J: an error that is not finite
FAR = 100.0  # times that error: the next step is an eighth as long, else half
GROW = 4e-3  # share of that error below which the next step is twice as long
MAX_STATE_NUMBERS = 1 << 20  # numbers in the states of one pass, which bounds the memory
CONVERGED_WORK = 1e-13  # change of the work by halved steps, relative to the work: rounding
CONVERGED_DEFECT = 0.1  # the same change, relative to the defect: fine enough to judge it
USABLE_WORK = 1e-6  # the same change, relative to the work: still better than interpolation
RUNAWAY = 1e9  # times the energy and work of the run: more is no work, but a step that ran away
GOOD_DEFECT, FAIR_DEFECT = 1e-6, 1e-3  # relative defects up to which a run is good for figures, and for plots
FEWEST_EVALUATIONS = 6000  # that may always be spent
SHARE_OF_RUN = 0.5  # of the run's evaluations: those that may be spent too
SEEN_WORK = 0.5  # the same change, relative to the work: the motion is not too stiff, and the work is about right

_EVALUATIONS: WeakKeyDictionary[RunQuantities, int] = WeakKeyDictionary()  # in the trial steps of a run so far


def compute_work(run: RunQuantities, change: Array, in_play: float = 0.0, rounding: float = 0.0) -> tuple[Array, float]:
    """Work of each cause in each interval between stored states, and the uncertainty of the sum.

    ``change`` is the change of the energy since the start, known up to ``rounding``, and ``in_play`` the largest energy
    in play.  An uncertainty well below the defect is fine enough, or one that leaves no doubt of the verdict on the run
    after half as many evaluations as the run took itself.
    """
    n_causes = len(find_causes(run.dynamics.topology))
    with np.errstate(all="ignore"):
        work, errors = _through_samples(run, n_causes)
        settled = False
        for improve in (_take_one_step, _split_at_corners):
            uncertainty, scale, allowed = _find_goal(work, errors, change, rounding)
            settled = settled or _is_settled(run, work, change, in_play, uncertainty)
            if uncertainty > allowed and not settled:
                improve(run, work, errors, 0.5 * _next_goal(uncertainty, allowed) / len(errors))
        before, stuck = np.inf, np.zeros(len(errors), dtype=bool)
        while True:
            uncertainty, scale, allowed = _find_goal(work, errors, change, rounding)
            settled = settled or _is_settled(run, work, change, in_play, uncertainty)
            if settled or uncertainty <= allowed or before <= 2.0 * uncertainty:
                break
            _refine(run, work, errors, stuck, _next_goal(uncertainty, allowed))
            before = uncertainty
        ran_away = _ran_away(run, work, change, n_causes)
        if not ran_away and (settled or uncertainty <= max(allowed, USABLE_WORK * scale)):
            return _look_closer(run, work, uncertainty)
    other, uncertainty_of_other = interpolate_work(run, n_causes)
    uncertainty = UNKNOWN if ran_away else uncertainty
    if uncertainty <= SEEN_WORK * scale:  # the steps agree on what a cubic may not see
        uncertainty_of_other = max(uncertainty_of_other, float(np.abs(np.cumsum((work - other).sum(axis=1))).max()))
    use_other = uncertainty_of_other < uncertainty or uncertainty >= UNKNOWN
    return (other, uncertainty_of_other) if use_other else (work, uncertainty)


def _ran_away(run: RunQuantities, work: Array, change: Array, n_causes: int) -> bool:
    """Whether steps too long for a stiff motion have run away: their work is beyond all energy and work of the run."""
    if not np.isfinite(work).all():
        return True
    scale, possible = float(np.abs(work).sum()), float(np.abs(change).max())
    if scale <= RUNAWAY * possible:
        return False
    possible += float(np.abs(interpolate_work(run, n_causes)[0]).sum())
    return scale > RUNAWAY * possible > 0.0


def _is_settled(run: RunQuantities, work: Array, change: Array, in_play: float, uncertainty: float) -> bool:
    """Whether the verdict is certain and enough evaluations have been spent on it."""
    if _EVALUATIONS.get(run, 0) < max(FEWEST_EVALUATIONS, SHARE_OF_RUN * run.facts.get("evaluations", np.inf)):
        return False
    total = np.cumsum(work, axis=0)
    defect = float(np.abs(change[1:] - total.sum(axis=1)).max())
    scale = max(in_play, float(np.abs(total).max()))
    least, most = np.searchsorted(
        [GOOD_DEFECT * scale, FAIR_DEFECT * scale], [defect - uncertainty, defect + uncertainty]
    )
    return bool(least == most)


def _find_goal(work: Array, errors: Array, change: Array, rounding: float) -> tuple[float, float, float]:
    """The uncertainty of the work, its size, and the uncertainty that is fine enough, J."""
    uncertainty, scale = _finite(errors.sum()), float(np.abs(work[np.isfinite(work)]).sum())
    defect = float(np.abs(change[1:] - np.cumsum(work.sum(axis=1))).max()) - uncertainty
    return uncertainty, scale, max(CONVERGED_WORK * scale, rounding, CONVERGED_DEFECT * defect if defect > 0.0 else 0.0)


def _next_goal(uncertainty: float, allowed: float) -> float:
    """The uncertainty that a refinement aims at, J."""
    return max(allowed, REFINEMENT * uncertainty if uncertainty < UNKNOWN else 0.0)


def _finite(error: float) -> float:
    """The error; ``UNKNOWN`` if it is not finite."""
    return float(error) if np.isfinite(error) else UNKNOWN


def _through_samples(run: RunQuantities, n_causes: int) -> tuple[Array, Array]:
    """Work in each interval by polynomials through the powers at stored states, and its estimated error, J."""
    work, errors = np.zeros((len(run) - 1, n_causes)), np.full(len(run) - 1, np.inf)
    if len(run) > FEWEST_SAMPLES:
        n, (begin, end) = run.y.shape[1], interval_sides(run)
        before, after = (rates_and_powers(run, t, y)[:, n:] for t, y in ((begin, run.y[:-1]), (end, run.y[1:])))
        lengths = np.diff(run.t)
        scale = float((np.abs(before).sum(axis=1) * lengths).sum())
        work, errors = integrate_samples(lengths, before, after, enough=CONVERGED_WORK * scale / len(lengths))
    return work, errors


def _take_one_step(run: RunQuantities, work: Array, errors: Array, share: float) -> None:
    """Compute the work in the intervals whose error exceeds ``share`` by one step, and its estimated error, J."""
    for rows in _chunks(run, np.flatnonzero(~(errors <= share)), work.shape[1]):
        step = _step(run, rows, run.t[rows], run.y[rows], np.diff(run.t)[rows])
        work[rows], errors[rows] = step.work, step.work_error.sum(axis=1)


def _split_at_corners(run: RunQuantities, work: Array, errors: Array, share: float) -> None:
    """Compute the work in the intervals whose error exceeds ``share`` by steps that end where the power has corners.

    An interval is split at its sharpest corner; then the part with the larger error is split at its own.
    """
    for rows in _chunks(run, np.flatnonzero(~(errors <= share)), (SCAN + 1) * work.shape[1]):
        lengths, cubics = np.diff(run.t)[rows], StateCubics.of(run, rows)
        low, high, y = np.zeros(len(rows)), np.ones(len(rows)), run.y[rows]
        kept, kept_error, left = np.zeros((len(rows), work.shape[1])), np.zeros(len(rows)), np.arange(len(rows))
        for _ in range(MOST_SPLITS):
            at, t, h = rows[left], run.t[rows[left]], lengths[left]
            corner = find_corners(run, cubics.some(left), low, high)
            before = _step(run, at, t + low * h, y, (corner - low) * h)
            after = _step(run, at, t + corner * h, before.y, (high - corner) * h)
            first, second = before.work_error.sum(axis=1), after.work_error.sum(axis=1)
            error = kept_error + first + second
            better = ~(errors[at] <= error)
            errors[at[better]], work[at[better]] = error[better], (kept + before.work + after.work)[better]
            go_on, late = ~(error <= share), second > first
            kept = np.where(late[:, None], kept + before.work, kept + after.work)[go_on]
            kept_error = np.where(late, kept_error + first, kept_error + second)[go_on]
            low, high = np.where(late, corner, low)[go_on], np.where(late, high, corner)[go_on]
            y, left = np.where(late[:, None], before.y, y)[go_on], left[go_on]
            if not len(left):
                break


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


@dataclass(frozen=True, eq=False)
class TrialSteps:
    """The ends of some steps, the work of each cause, and the errors that the lower orders estimate."""

    y: Array
    work: Array
    state_error: Array
    work_error: Array


def _step(run: RunQuantities, rows: Array, t: Array, y: Array, h: Array) -> TrialSteps:
    """A step of order 8 and length ``h`` within each of the intervals ``rows``, as DOP853 takes it."""
    table, (begin, end) = dop853(), (times[rows] for times in interval_sides(run))
    n, times = y.shape[1], np.clip(t + np.outer(table.nodes, h), begin, end)
    slopes = [rates_and_powers(run, times[0], y)]
    term = np.empty_like(slopes[0])

    def combine(weights: Array) -> Array:
        total = np.zeros_like(term)
        for weight, slope in zip(weights, slopes):
            if weight != 0.0:
                total += np.multiply(weight, slope, out=term)
        total *= h[:, None]
        return total

    for s in range(1, table.last):
        stage = y + combine(table.stages[s])[:, :n]
        slopes.append(rates_and_powers(run, times[s], stage))
    change, fifth, third = (combine(weights) for weights in (table.stages[table.last], *table.errors))
    size = np.sqrt(fifth * fifth + 0.01 * third * third)
    error = np.divide(fifth * fifth, size, out=np.zeros_like(size), where=size != 0.0)
    _EVALUATIONS[run] = _EVALUATIONS.get(run, 0) + table.last * len(rows)
    return TrialSteps(y + change[:, :n], change[:, n:], error[:, :n], error[:, n:])


SCAN, ZOOMS = 6, 3  # parts of an interval in which a corner is looked for, and how often
CLOSEST = 1e-6  # of a corner to the ends of the part that it splits


@dataclass(frozen=True, eq=False)
class StateCubics:
    """Cubics through the states at the ends of some intervals, with the rates there; discrete states are held."""

    begin: Array
    end: Array
    y: tuple[Array, Array]
    slopes: tuple[Array, Array]  # times the lengths
    first_discrete: int

    @classmethod
    def of(cls, run: RunQuantities, rows: Array) -> StateCubics:
        n, h, events = run.y.shape[1], np.diff(run.t)[rows][:, None], run.dynamics.topology.events
        begin, end = (side[rows] for side in interval_sides(run))
        y = run.y[rows], run.y[rows + 1]
        slopes = h * rates_and_powers(run, begin, y[0])[:, :n], h * rates_and_powers(run, end, y[1])[:, :n]
        return cls(begin, end, y, slopes, n - (events.n_held if events is not None else 0))

    def some(self, rows: Array) -> StateCubics:
        """Those of some of the intervals."""
        (y0, y1), (d0, d1) = self.y, self.slopes
        chosen = [x[rows] for x in (self.begin, self.end, y0, y1, d0, d1)]
        return StateCubics(chosen[0], chosen[1], (chosen[2], chosen[3]), (chosen[4], chosen[5]), self.first_discrete)

    def at(self, shares: Array) -> Array:
        """States at shares of the intervals: interval, share, entry."""
        s = shares[:, :, None]
        a, b, c, d = (1 + 2 * s) * (1 - s) ** 2, s * (1 - s) ** 2, s * s * (3 - 2 * s), s * s * (s - 1)
        (y0, y1), (d0, d1) = self.y, self.slopes
        y: Array = a * y0[:, None] + b * d0[:, None] + c * y1[:, None] + d * d1[:, None]
        y[:, :, self.first_discrete :] = y0[:, None, self.first_discrete :]
        return y


def find_corners(run: RunQuantities, cubics: StateCubics, low: Array, high: Array) -> Array:
    """Where the power has its sharpest corner between two shares of each interval, as a share of the interval.

    The power is evaluated along cubics at equal distances; the two points where it bends most enclose the corner.  The
    search is repeated between their neighbours.
    """
    n, first, last = run.y.shape[1], low + CLOSEST * (high - low), high - CLOSEST * (high - low)
    corners, distances = low, np.linspace(0.0, 1.0, SCAN + 1)
    for _ in range(ZOOMS):
        s = low[:, None] + distances * (high - low)[:, None]
        t = cubics.begin[:, None] + s * (cubics.end - cubics.begin)[:, None]
        power = rates_and_powers(run, t.ravel(), cubics.at(s).reshape(-1, n))[:, n:].reshape(*s.shape, -1)
        bends = np.diff(power, n=2, axis=1)  # at the points 1 to SCAN - 1
        sharpest = np.argmax(np.abs(bends).max(axis=1), axis=1)
        bend = np.abs(np.take_along_axis(bends, sharpest[:, None, None], axis=2)[:, :, 0])
        pair = np.argmax(bend[:, :-1] + bend[:, 1:], axis=1)
        left, right = (np.take_along_axis(bend, pair[:, None] + k, axis=1)[:, 0] for k in (0, 1))
        inside = np.divide(right, left + right, out=np.full(len(low), 0.5), where=left + right > 0.0)
        cell = (high - low) / SCAN
        corners = low + (1.0 + pair + inside) * cell
        low, high = low + (0.75 + pair) * cell, low + (2.25 + pair) * cell
    return np.asarray(np.clip(corners, first, last))


def interpolate_work(run: RunQuantities, n_causes: int) -> tuple[Array, float]:
    """The work along cubics through the states by Gauss quadrature, and its uncertainty by coarser rules.

    The error of the trapezoidal rule goes with the square of the length of an interval, that of cubics with its fourth
    power: as the square of the relative difference of the two.  If the relative difference is 1, the states do not
    resolve the motion.
    """
    n, h, rows = run.y.shape[1], np.diff(run.t), np.arange(len(run) - 1)
    cubics, works = StateCubics.of(run, rows), []
    for points in (4, 6):
        nodes, weights = np.polynomial.legendre.leggauss(points)
        work = np.zeros((len(run) - 1, n_causes))
        for s, weight in zip(0.5 * (nodes + 1), 0.5 * weights):
            y = cubics.at(np.full((len(rows), 1), s))[:, 0]
            work += weight * h[:, None] * rates_and_powers(run, run.t[:-1] + s * h, y)[:, n:]
        works.append(work)
    coarse = _trapezoid(run, n)
    difference, larger = np.abs(works[1] - coarse), np.maximum(np.abs(works[1]), np.abs(coarse))
    unresolved = (difference * np.divide(difference, larger, out=np.zeros_like(difference), where=larger > 0)).sum()
    return works[1], float(max(np.abs(works[1] - works[0]).sum(), unresolved))


def _trapezoid(run: RunQuantities, n: int) -> Array:
    """The work by the trapezoidal rule, J; ``n`` is the size of the state."""
    begin, end = interval_sides(run)
    power = rates_and_powers(run, begin, run.y[:-1])[:, n:] + rates_and_powers(run, end, run.y[1:])[:, n:]
    total: Array = 0.5 * np.diff(run.t)[:, None] * power
    return total


def interval_sides(run: RunQuantities) -> tuple[Array, Array]:
    """The ends of each interval, moved inside it by a rounding error: functions of time may jump at the ends."""
    margin = TIME_ROUNDING * float(np.abs(run.t).max())
    return run.t[:-1] + margin, run.t[1:] - margin


def rates_and_powers(run: RunQuantities, t: Array, y: Array) -> Array:
    """Time derivative of the state and power of each cause, one row for each state."""
    return run.dynamics.kernels.call(Kernel("power"), run.dynamics.point_of(t, y, run.p, run.inputs))


# -- integrals of samples --------------------------------------------------------------------------
# Integrals of a function that is known at equally spaced points, with an estimate of their errors.
# A polynomial through ten neighbours is integrated over each interval; those through nine and through eight of them
# tell the error.  Near a corner or a jump the neighbours are taken from one side, as in essentially non-oscillatory
# schemes: every choice contains both ends of the interval, so that a corner inside it is seen by all.
NODES = 10
FEWER = (9, 8)
MUCH = 0.1  # of an error: other neighbours are preferred to the nearest ones below it
EQUAL = 1e-9  # relative difference of lengths that are equal
JUMP = 1e-9  # relative difference of the two sides of a point at which the function jumps


def integrate_samples(lengths: Array, before: Array, after: Array, enough: float) -> tuple[Array, Array]:
    """Integrals over each interval, and their estimated errors, summed over the columns; infinite where unknown.

    ``before`` and ``after`` are the values just inside the two ends of each interval.  Other neighbours are tried where
    the error exceeds ``enough``.
    """
    integrals, errors = np.zeros_like(before), np.full(len(before), np.inf)
    windows = _smooth_windows(lengths, before, after)
    if not len(windows):
        return integrals, errors
    nodes = np.vstack([before, after[-1:]])
    nodes[1:-1] = 0.5 * (before[1:] + after[:-1])
    neighbours = sliding_window_view(nodes, NODES, axis=0)  # window, column, node
    weights, differences = _weights()
    middle = (NODES - 2) // 2
    for place in sorted(range(NODES - 1), key=lambda place: abs(place - middle)):
        chosen = windows[errors[windows + place] > enough]
        if len(chosen):
            values = neighbours[chosen]
            length = lengths[chosen + place]
            error = np.abs(values @ differences[place].T).sum(axis=(1, 2)) * length
            better = error < MUCH * errors[chosen + place]
            where = chosen[better] + place
            errors[where] = error[better]
            integrals[where] = (values[better] @ weights[place]) * length[better, None]
    return integrals, errors


def _smooth_windows(lengths: Array, before: Array, after: Array) -> Array:
    """The first interval of each row of ``NODES`` points with equal distances, between which nothing jumps."""
    if len(lengths) < NODES - 1:
        return np.zeros(0, dtype=int)
    equal = np.abs(np.diff(lengths)) <= EQUAL * lengths[1:]
    largest = np.abs(before).max(axis=0, initial=0.0)
    joined = equal & (lengths[1:] > 0.0) & (np.abs(before[1:] - after[:-1]) <= JUMP * largest).all(axis=1)
    return np.flatnonzero(sliding_window_view(joined, NODES - 2).all(axis=1))


@cache
def _weights() -> tuple[list[Array], list[Array]]:
    """Weights for the interval at each place in a window, and their differences from those of fewer nodes."""
    weights, differences = [], []
    for place in range(NODES - 1):
        full = _weights_through(np.arange(NODES) - place)
        others = np.zeros((len(FEWER), NODES))
        for row, count in zip(others, FEWER, strict=True):
            first = min(max(place - (count - 2) // 2, 0), NODES - count)
            row[first : first + count] = _weights_through(np.arange(first, first + count) - place)
        weights.append(full)
        differences.append(full - others)
    return weights, differences


def _weights_through(nodes: Array) -> Array:
    """The weights of values at ``nodes`` in the integral from 0 to 1 of the polynomial through them."""
    powers = np.arange(len(nodes))
    weights: Array = np.linalg.solve(np.vander(nodes - 0.5, increasing=True).T, _moments(powers))
    return weights


def _moments(powers: Array) -> Array:
    """Integrals of powers from -1/2 to 1/2."""
    moments: Array = (0.5 ** (powers + 1) - (-0.5) ** (powers + 1)) / (powers + 1)
    return moments
