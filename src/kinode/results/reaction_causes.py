"""The breakdown of the kinetic share of a joint's reaction over a run: by cause, by body or by term.

``formulations.reaction_contributions`` defines the breakdown at one instant; here it is evaluated for all times at
once.  The contributions are vectors; their sum is the kinetic share.  The share of a contribution in the peak is its
component along the sum at the time when the sum is largest.  These shares add up to 1; a negative one relieves the
joint.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.joint_reactions import transform_change
from kinode.dynamics.left_out_loads import find_left_out
from kinode.dynamics.redundant_reactions import is_redundant
from kinode.dynamics.support_argument import check_support, read_support
from kinode.errors import ArgumentError
from kinode.formulations.reaction_contributions import (
    MOST_BODIES_BY_CAUSE,
    bodies_behind,
    check_breakdown,
    contributions,
)
from kinode.hooks import hook
from kinode.kernels.kernel_options import ContributionOptions, ReactionOptions
from kinode.multibody.restraints.loop_statics import INERTIA_OF, Support
from kinode.results.joint_loads import find_joint
from kinode.results.peak_mean_rms import Measure, measure
from kinode.results.text_tables import format_number, format_percent, format_table

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics
    from kinode.kernels.compiled_kernels import Kernels
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
class Causes:
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
    def head(self) -> tuple[str, ...]:
        """Head of the table."""
        return (self.by, "force N", "rms N", "share", "moment N*m", "rms N*m", "share")

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """Rows of the table, the sum last."""
        force, moment = measure(self.t, self.force), measure(self.t, self.moment)
        total = Share("sum", force, moment, *(1.0 if x.peak > 0 else np.nan for x in (force, moment)))
        return [
            (x.name, format_number(x.force.peak), format_number(x.force.rms), format_percent(x.of_force),
             format_number(x.moment.peak), format_number(x.moment.rms), format_percent(x.of_moment))
            for x in (*self.shares, total)
        ]  # fmt: skip

    def __str__(self) -> str:
        title = f"{self.joint}, kinetic part of the reaction by {self.by}: peaks, rms, share of the sum's peak"
        where = f"on {self.on}, about {self.at}, in axes of {self.frame}"
        where += "".join(f"; without {load}" for load in self.left_out)
        return "\n".join([title, *format_table(self.head, self.rows), where])

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


_NAMES: WeakKeyDictionary[Kernels, dict[tuple[str, str, Support], tuple[str, ...]]] = WeakKeyDictionary()


def _find_names(dynamics: Dynamics, joint: str, by: str, support: Support) -> tuple[str, ...]:
    """The names of all contributions to a joint's reaction; found once for a compiled system."""
    known = _NAMES.setdefault(dynamics.kernels, {})
    if (joint, by, support) not in known:
        known[joint, by, support] = (
            bodies_behind(dynamics.topology, joint)
            if by == "body"
            else tuple(contributions(dynamics.snapshot(dynamics.initial), joint, by, support))
        )
    return known[joint, by, support]


def compute_causes(run: RunQuantities, joint: Any, by: str, hold: Any, about: Any, axes: Any) -> Causes:
    """The breakdown of the kinetic share of a joint's reaction."""
    dynamics, record = run.dynamics, find_joint(run, joint)
    check_breakdown(dynamics.topology, by)
    support = read_support(dynamics, hold, "kinetic", [record.name])
    about, axes = (None if x is None else dynamics.arguments.frame_name(x) for x in (about, axes))
    names = _find_names(dynamics, record.name, by, support)
    options = ContributionOptions(by, record.name, support, about, axes)
    values = np.atleast_2d(run.states.call(dynamics, "contributions", options))
    if support is not None:
        check_support(dynamics, support, run.t, values[:, -1])
    wrenches = {name: values[:, 6 * k : 6 * k + 6] for k, name in enumerate(names)}
    if is_redundant(dynamics) and support is not None:
        request = ReactionOptions("kinetic", support, about=about, axes=axes)
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


def causes_or_bodies(run: RunQuantities, joint: str, hold: Any = None, most: int = MOST_BODIES_BY_CAUSE) -> Causes:
    """The breakdown by cause if the system allows it and has at most so many bodies, else by body."""
    try:
        by = "cause" if len(run.system.bodies) <= most else "body"
        return compute_causes(run, joint, by, hold, None, None)
    except ArgumentError:
        return compute_causes(run, joint, "body", hold, None, None)
