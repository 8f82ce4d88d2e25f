"""Who loads this bearing?  The kinetic part of a joint's reaction over a run, split by cause, by body or term by term.

The split of one instant is in formulations/reaction_contributions.py; here it is compiled and evaluated for all times
at once. The contributions are vectors and add up to the kinetic part.  Their share of the peak is what each of them
contributes along the direction of the sum when the sum is largest: shares add up to one, and are negative where one
relieves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.joint_reactions import ReactionRequest, seen
from kinode.dynamics.redundant_reactions import is_redundant
from kinode.dynamics.static_support import check_held, read_hold
from kinode.errors import ArgumentError
from kinode.formulations.reaction_contributions import check_way, contributions
from kinode.hooks import hook
from kinode.kernels.kernel_programs import hold_option
from kinode.multibody.restraints.loop_statics import INERTIA_OF
from kinode.results.joint_loads import find_joint
from kinode.results.peak_mean_rms import Measure, measure
from kinode.results.text_tables import figure, lay_out, percent

if TYPE_CHECKING:
    from kinode.results.trajectory import Trajectory

NOTHING = 1e-9  # of the largest contribution: less is not worth a row
ROUNDING = 1e-11  # of the largest number of all


@dataclass(frozen=True)
class Share:
    """One contribution over a run, and its share of the peaks of the sums."""

    name: str
    force: Measure
    moment: Measure
    of_force: float
    of_moment: float


@dataclass(frozen=True, eq=False)
class Causes:
    """The kinetic part of a joint's reaction as a sum: force and moment, each (time, 3), by name.

    ``on`` the body that they act on, about the point ``at``, in the axes of ``frame``.  Printed, it is a table.
    """

    joint: str
    by: str
    t: Array
    forces: Mapping[str, Array]
    moments: Mapping[str, Array]
    on: str
    at: str
    frame: str

    @property
    def names(self) -> tuple[str, ...]:
        """All contributions, those that are zero too."""
        return tuple(self.forces)

    @cached_property
    def force(self) -> Array:
        """The sum: the kinetic part."""
        return sum(self.forces.values(), np.zeros((len(self.t), 3)))

    @cached_property
    def moment(self) -> Array:
        """The sum: the kinetic part."""
        return sum(self.moments.values(), np.zeros((len(self.t), 3)))

    @cached_property
    def shares(self) -> tuple[Share, ...]:
        """What each contributes, without those that are nothing; the largest first."""
        of_force, of_moment = _shares(self.force, self.forces), _shares(self.moment, self.moments)
        found = []
        for name, force in self.forces.items():
            one, two = measure(self.t, force), measure(self.t, self.moments[name])
            found.append(Share(name, one, two, of_force[name], of_moment[name]))
        most = [max((getattr(x, word).peak for x in found), default=0.0) for word in ("force", "moment")]
        kept = [x for x in found if x.force.peak > NOTHING * most[0] or x.moment.peak > NOTHING * most[1]]
        return tuple(sorted(kept, key=lambda x: (-x.force.peak, -x.moment.peak)))

    @property
    def head(self) -> tuple[str, ...]:
        """Of the table."""
        return (self.by, "force N", "rms N", "share", "moment N*m", "rms N*m", "share")

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """Of the table, the sum last."""
        force, moment = measure(self.t, self.force), measure(self.t, self.moment)
        total = Share("sum", force, moment, *(1.0 if x.peak > 0 else np.nan for x in (force, moment)))
        return [
            (x.name, figure(x.force.peak), figure(x.force.rms), percent(x.of_force),
             figure(x.moment.peak), figure(x.moment.rms), percent(x.of_moment))
            for x in (*self.shares, total)
        ]  # fmt: skip

    def __str__(self) -> str:
        title = f"{self.joint}, kinetic part of the reaction by {self.by}: peaks, rms, share of the sum's peak"
        where = f"on {self.on}, about {self.at}, in axes of {self.frame}"
        return "\n".join([title, *lay_out(self.head, self.rows), where])

    def plot(self, **options: Any) -> Any:
        """Stacked over time, as a matplotlib figure; see ``kinode.views.plots.load_plots.plot_causes``."""
        return hook("plot_causes")(self, **options)


def _shares(total: Array, parts: Mapping[str, Array]) -> dict[str, float]:
    """What each part is of the sum where that is largest, along its direction."""
    sizes = np.linalg.norm(total, axis=1)
    most = max((float(np.abs(x).max(initial=0.0)) for x in parts.values()), default=0.0)
    if not len(sizes) or not sizes.max() > NOTHING * most:
        return dict.fromkeys(parts, np.nan)
    k = int(np.argmax(sizes))
    return {name: float(x[k] @ total[k] / sizes[k] ** 2) for name, x in parts.items()}


def _clean(values: Array, most: float) -> Array:
    """Forces or moments that are nothing but rounding beside the largest of all as what they are: none."""
    return values if np.abs(values).max(initial=0.0) > ROUNDING * most else np.zeros_like(values)


def compute_causes(run: Trajectory, joint: Any, by: str, hold: Any, about: Any, axes: Any) -> Causes:
    """The kinetic part of a joint's reaction, split."""
    dynamics, record = run.dynamics, find_joint(run, joint)
    check_way(dynamics.topology, by)
    held = read_hold(dynamics, hold, "kinetic", [record.name])
    about, axes = (None if x is None else dynamics._frame(x) for x in (about, axes))
    names = list(contributions(dynamics.snapshot(dynamics.initial), record.name, by, held))
    options = (by, hold_option(held), about or "-", axes or "-", record.name)
    values = np.atleast_2d(run.states.call(dynamics, "contributions", options))
    if held is not None:
        check_held(dynamics, held, run.t, values[:, -1])
    each = {name: values[:, 6 * k : 6 * k + 6] for k, name in enumerate(names)}
    if is_redundant(dynamics) and held is not None:
        wanted = ReactionRequest("kinetic", about=about, axes=axes, hold=held)
        for body in each:
            change = run.shared(INERTIA_OF + body, held).of_joint(record.name, whole=False)
            each[body] = each[body] + seen(dynamics, run.states, record.name, change, wanted, opposite=False)
    most = max((float(np.abs(x).max(initial=0.0)) for x in each.values()), default=0.0)
    forces, moments = ({name: _clean(x[:, part], most) for name, x in each.items()} for part in (slice(3), slice(3, 6)))
    at, frame = about or f"{record.name}.child", axes or f"{record.name}.parent"
    return Causes(record.name, by, run.t, forces, moments, record.b.body, at, frame)


def find_causes(run: Trajectory, joint: str, hold: Any = None) -> Causes:
    """By cause where that can be told, else by body."""
    try:
        return run.causes(joint, hold=hold)
    except ArgumentError:
        return run.causes(joint, by="body", hold=hold)
