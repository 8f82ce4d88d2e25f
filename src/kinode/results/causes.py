"""Breakdowns over a run: of the kinetic share of a joint's reaction, and of the acceleration of a point.

``formulations.contributions`` defines them at one instant; here they are evaluated for all times at once.

Reactions are broken down by cause, by body or by term.  The contributions are vectors; their sum is the kinetic share.
The share of a contribution in the peak is its component along the sum at the time when the sum is largest.  These
shares add up to 1; a negative one relieves the joint.

Of an acceleration, rows are tiers (the joints from the world to the point) or segments (the radius vectors between
them).  Columns are the terms relative, tangential, centripetal and Coriolis.  The sum of all is the acceleration.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.reactions.joint_reactions import transform_change
from kinode.dynamics.reactions.lost_values import find_left_out, is_redundant
from kinode.dynamics.reactions.support_argument import check_support, read_support
from kinode.errors import ArgumentError
from kinode.formulations.contributions import (
    ACCELERATION_BREAKDOWNS,
    MOST_BODIES_BY_CAUSE,
    TERMS,
    bodies_behind,
    chain_names,
    check_breakdown,
    contributions_of_joints,
)
from kinode.hooks import hook
from kinode.kernels.kernel_options import ContributionOptions, ReactionOptions
from kinode.multibody.loop_statics import INERTIA_OF, Support, joints_in_loops
from kinode.results.joint_loads import find_joint
from kinode.results.run_quantities import Measure, measure
from kinode.sheets.tables import Sheet, Shown, Table, format_number, format_percent
from kinode.structure.tree import WORLD

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics
    from kinode.model.joints.joint import Joint
    from kinode.results.run_quantities import RunQuantities


NEGLIGIBLE_CONTRIBUTION = 1e-9  # relative to the largest contribution: smaller ones have no row
WRENCH_ROUNDING = 1e-11  # relative to the largest component of all contributions: smaller ones are rounding errors


@dataclass(frozen=True)
class Share:
    """One contribution over a run.

    Attributes
    ----------
    name : str
        Cause, body or term.
    force, moment : Measure
        Peak, mean and rms, N and N*m.
    of_force, of_moment : float
        Shares in the peaks of the sums.
    """

    name: str
    force: Measure
    moment: Measure
    of_force: float
    of_moment: float


@dataclass(frozen=True, eq=False)
class Causes(Shown):
    """The kinetic share of a joint's reaction as a sum of contributions; prints as a table.

    Attributes
    ----------
    joint, by : str
        The joint, and "cause", "body" or "term".
    t : array
        Times, s.
    forces, moments : mapping of str to array
        Contributions (time, 3) by name, N and N*m.
    on, at, frame : str
        The body that they act on, the reference point and the axes.
    left_out : tuple of str
        Loads that are not in it: ("tooth force",) at a gear whose teeth are not given.
    """

    joint: str
    by: str
    t: Array
    forces: Mapping[str, Array]
    moments: Mapping[str, Array]
    on: str
    at: str
    frame: str
    left_out: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all contributions, zero ones included."""
        return tuple(self.forces)

    @cached_property
    def force(self) -> Array:
        """The sum of the forces: the kinetic share, (time, 3), N."""
        return sum(self.forces.values(), np.zeros((len(self.t), 3)))

    @cached_property
    def moment(self) -> Array:
        """The sum of the moments: the kinetic share, (time, 3), N*m."""
        return sum(self.moments.values(), np.zeros((len(self.t), 3)))

    @cached_property
    def shares(self) -> tuple[Share, ...]:
        """The contributions that are not negligible, the largest first."""
        of_force, of_moment = _shares(self.force, self.forces), _shares(self.moment, self.moments)
        shares = []
        for name in self.forces:
            force, moment = measure(self.t, self.forces[name]), measure(self.t, self.moments[name])
            shares.append(Share(name, force, moment, of_force[name], of_moment[name]))
        least_force = NEGLIGIBLE_CONTRIBUTION * max((share.force.peak for share in shares), default=0.0)
        least_moment = NEGLIGIBLE_CONTRIBUTION * max((share.moment.peak for share in shares), default=0.0)
        listed = [share for share in shares if share.force.peak > least_force or share.moment.peak > least_moment]
        return tuple(sorted(listed, key=lambda share: (-share.force.peak, -share.moment.peak)))

    @property
    def table(self) -> Table:
        """A row for each contribution, the sum last."""
        head = (self.by, "force N", "rms N", "share", "moment N*m", "rms N*m", "share")
        force, moment = measure(self.t, self.force), measure(self.t, self.moment)
        total = Share("sum", force, moment, *(1.0 if x.peak > 0 else np.nan for x in (force, moment)))
        rows = [
            (x.name, format_number(x.force.peak), format_number(x.force.rms), format_percent(x.of_force),
             format_number(x.moment.peak), format_number(x.moment.rms), format_percent(x.of_moment))
            for x in (*self.shares, total)
        ]  # fmt: skip
        return Table(head, rows, narrow=(0, 1, 3, 4, 6))

    @property
    def sheet(self) -> Sheet:
        title = f"{self.joint}, kinetic part of the reaction by {self.by}: peaks, rms, share of the sum's peak"
        where = f"on {self.on}, about {self.at}, in axes of {self.frame}"
        where += "".join(f"; without {load}" for load in self.left_out)
        return Sheet(title, parts=(self.table, where))

    def plot(self, **options: Any) -> Any:
        """Plot the contributions, stacked over time; options of ``kinode.views.plots.load_plots.plot_causes``."""
        return hook("plot_causes")(self, **options)


def _shares(total: Array, contributions: Mapping[str, Array]) -> dict[str, float]:
    """The component of each contribution along the sum, at the peak of the sum, as a share of the peak."""
    sizes = np.linalg.norm(total, axis=1)
    largest = max((float(np.abs(x).max(initial=0.0)) for x in contributions.values()), default=0.0)
    if not len(sizes) or not sizes.max() > NEGLIGIBLE_CONTRIBUTION * largest:
        return dict.fromkeys(contributions, np.nan)
    k = int(np.argmax(sizes))
    return {name: float(x[k] @ total[k] / sizes[k] ** 2) for name, x in contributions.items()}


def _clean(values: Array, largest: float) -> Array:
    """The values; zeros if they are rounding errors compared to the largest contribution."""
    return values if np.abs(values).max(initial=0.0) > WRENCH_ROUNDING * largest else np.zeros_like(values)


def _find_names(dynamics: Dynamics, joints: Sequence[str], by: str, support: Support) -> list[tuple[str, ...]]:
    """The names of all contributions to the reaction of each joint; found once for a compiled system."""
    known: dict[tuple[str, str, Support], tuple[str, ...]] = dynamics.kernels.once("names of contributions", dict)
    missing = [joint for joint in joints if (joint, by, support) not in known]
    if by == "body":
        known |= {(joint, by, support): bodies_behind(dynamics.topology, joint) for joint in missing}
    elif missing:
        wrenches = contributions_of_joints(dynamics.snapshot(dynamics.initial), missing, by, support)
        known |= {(joint, by, support): tuple(names) for joint, names in wrenches.items()}
    return [known[joint, by, support] for joint in joints]


def compute_causes(run: RunQuantities, joint: Any, by: str, hold: Any, about: Any, axes: Any) -> Causes:
    """The breakdown of the kinetic share of a joint's reaction."""
    return compute_causes_of_joints(run, [joint], by, hold, about, axes)[0]


def compute_causes_of_joints(
    run: RunQuantities, joints: Sequence[Any], by: str, hold: Any, about: Any, axes: Any
) -> list[Causes]:
    """The breakdowns of several joints' reactions, by one compiled function; they are in loops all or none."""
    dynamics, records = run.dynamics, [find_joint(run, joint) for joint in joints]
    check_breakdown(dynamics.topology, by)
    called = tuple(record.name for record in records)
    support = read_support(dynamics, hold, "kinetic", called)
    about, axes = (None if x is None else dynamics.arguments.frame_name(x) for x in (about, axes))
    names = _find_names(dynamics, called, by, support)
    values = np.atleast_2d(
        run.states.call(dynamics, "contributions", ContributionOptions(by, called, support, about, axes))
    )
    if support is not None:
        check_support(dynamics, support, run.t, values[:, -1])
    found, start = [], 0
    for record, contributors in zip(records, names, strict=True):
        own = values[:, start : start + 6 * len(contributors)]
        wrenches = {name: own[:, 6 * k : 6 * k + 6] for k, name in enumerate(contributors)}
        found.append(_causes(run, record, wrenches, by, ReactionOptions("kinetic", support, about=about, axes=axes)))
        start += own.shape[1]
    return found


def _causes(run: RunQuantities, record: Joint, wrenches: dict[str, Array], by: str, request: ReactionOptions) -> Causes:
    """The breakdown of one joint from its contributions, shared where reactions are redundant."""
    dynamics, support, about, axes = run.dynamics, request.support, request.about, request.axes
    if is_redundant(dynamics) and support is not None:
        for body in wrenches:
            change = run.shared(INERTIA_OF + body, support).of_joint(record.name, whole=False)
            wrenches[body] = wrenches[body] + transform_change(
                dynamics, run.states, record.name, change, request, opposite=False
            )
    largest = max((float(np.abs(x).max(initial=0.0)) for x in wrenches.values()), default=0.0)
    halves = (slice(3), slice(3, 6))
    forces, moments = ({name: _clean(x[:, half], largest) for name, x in wrenches.items()} for half in halves)
    at, frame = about or f"{record.name}.child", axes or f"{record.name}.parent"
    left_out = find_left_out(dynamics.topology).get(record.name, ())
    return Causes(record.name, by, run.t, forces, moments, record.b.body, at, frame, left_out)


def split_by_loops(run: RunQuantities, joints: Iterable[str]) -> list[list[str]]:
    """Joints in loops and joints outside of them: each group has one support, and one compiled function."""
    in_loops = set(joints_in_loops(run.dynamics.topology))
    groups: tuple[list[str], list[str]] = ([], [])
    for name in joints:
        groups[name not in in_loops].append(name)
    return [group for group in groups if group]


def causes_or_bodies(
    run: RunQuantities, joints: Sequence[str], hold: Any = None, most: int = MOST_BODIES_BY_CAUSE
) -> list[Causes]:
    """The breakdowns by cause if the system allows it and has at most so many bodies, else by body."""
    found: dict[str, Causes] = {}
    for group in split_by_loops(run, joints):
        try:
            by = "cause" if len(run.system.bodies) <= most else "body"
            causes = compute_causes_of_joints(run, group, by, hold, None, None)
        except ArgumentError:
            causes = compute_causes_of_joints(run, group, "body", hold, None, None)
        found.update(zip(group, causes, strict=True))
    return [found[name] for name in joints]


NEGLIGIBLE_TERM = 1e-12  # relative to the largest entry: smaller ones are rounding errors


@dataclass(frozen=True, eq=False)
class AccelerationCauses(Shown):
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
    def table(self) -> Table:
        """Peaks of every term and of the tier, rms, share of the peak; the sum last."""
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
        last = ("sum", *terms, format_number(total.peak, 3), format_number(total.rms, 3), format_percent(1.0))
        return Table((self.by, *self.terms, "all", "rms", "share"), [*table_rows, last])

    @property
    def sheet(self) -> Sheet:
        title = f"{self.of}, acceleration by {self.by}: peaks in m/s^2, and the share of the largest"
        return Sheet(title, parts=(self.table, f"in axes of {self.frame}"))

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
