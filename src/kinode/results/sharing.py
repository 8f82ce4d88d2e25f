"""Reactions in systems with redundant constraints: what is not unique is shared by least norm over all joints.

The compiled reactions come from an independent set of constraint rows, which leaves the others without
load: one of many answers.  Here each is brought to the one with the least norm, which does not depend on
where the loops were cut, and the components that follow from the motion are told from those that do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.results.uniqueness import analyze_all

if TYPE_CHECKING:
    from kinode.results.trajectory import Trajectory


@dataclass(frozen=True, eq=False)
class Shared:
    """What is added to a joint's compiled reaction over time, and which of its six components are unique throughout."""

    force: Array
    moment: Array
    unique: tuple[bool, ...]


def is_redundant(run: Trajectory) -> bool:
    """Whether any reaction of a run may not be unique."""
    closing = getattr(run.dynamics, "closing", None)
    return closing is not None and len(closing.rows) < closing.total


def share(run: Trajectory) -> dict[str, Shared]:
    """For each joint the way from its compiled reaction to the one of least norm."""
    given: dict[str, Any] = dict(run.arguments)
    found = run.dynamics.reactions(given.pop("t"), given.pop("q"), given.pop("u"), **given)
    changes = {name: np.zeros((len(run), 6)) for name in found}
    unique = {name: np.ones(6, dtype=bool) for name in found}
    for k, at in enumerate(analyze_all(run.dynamics, run.t, run.y, p=run.p, inputs=run.inputs)):
        pairs = {name: (w.force[k], w.moment[k]) for name, w in found.items()}
        for name, pair in at.minimum_norm(pairs).items():
            changes[name][k] = np.concatenate(pair) - np.concatenate(pairs[name])
            unique[name] &= at.unique[name]
    return {
        name: Shared(change[:, :3], change[:, 3:], tuple(bool(x) for x in unique[name]))
        for name, change in changes.items()
    }
