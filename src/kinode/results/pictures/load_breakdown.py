"""Who loads a joint: the kinetic part of its reaction by body or by cause, at the times of pictures.

``results.reaction_causes`` computes it; here it becomes arrays of single precision in world axes.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.errors import ArgumentError, Error
from kinode.results.reaction_causes import Causes, compute_causes, compute_causes_of_joints, split_by_loops

if TYPE_CHECKING:
    from kinode.results.pictures.run_frames import RunFrames
    from kinode.results.run_quantities import RunQuantities

MOST_JOINTS = {"body": 12, "cause": 4}  # whose breakdown a file holds: to compile them takes up to some seconds
BREAKDOWNS = tuple(MOST_JOINTS)


@dataclass(frozen=True, eq=False)
class LoadBreakdown:
    """Contributions to the kinetic part of a joint's reaction.

    Attributes
    ----------
    joint, by : str
        The joint, and "body" or "cause".
    names : tuple of str
        What contributes.
    loads : array
        (contributors, 6, n): force then moment about the child's joint point, in world axes; their sum is the kinetic
        part.
    """

    joint: str
    by: str
    names: tuple[str, ...]
    loads: Array


def find_breakdown(run: RunQuantities, joint: str, by: str, hold: Any = None) -> LoadBreakdown:
    """The breakdown of one joint's load over the states of a run."""
    if by not in BREAKDOWNS:
        raise ArgumentError(f"by: {' or '.join(BREAKDOWNS)}, not {by!r}")
    return _as_arrays(compute_causes(run, joint, by, hold, None, "world"))


def _as_arrays(causes: Causes) -> LoadBreakdown:
    loads = np.empty((len(causes.names), 6, len(causes.t)), dtype=np.float32)
    for k, name in enumerate(causes.names):
        loads[k, :3], loads[k, 3:] = causes.forces[name].T, causes.moments[name].T
    return LoadBreakdown(causes.joint, causes.by, causes.names, loads)


def find_breakdowns(frames: RunFrames, most: Mapping[str, int] = MOST_JOINTS) -> BreakdownTable:
    """The breakdowns of the most loaded joints, by each way at most so many; those that do not exist are left out."""
    if frames.run is None:
        return {}
    peaks = _peaks(frames)
    order = sorted(peaks, key=lambda name: -peaks[name])
    found: BreakdownTable = {}
    for way, count in most.items():
        loaded = [name for name in frames.joints if name in order[:count]]
        for group in split_by_loops(frames.run, loaded):
            with suppress(Error):  # causes outside of trees; loops that nothing holds
                causes = compute_causes_of_joints(frames.run, group, way, frames.hold, None, "world")
                found |= {(each.joint, way): _as_arrays(each) for each in causes}
    return {(name, way): found[name, way] for name in frames.joints for way in most if (name, way) in found}


BreakdownTable = dict[tuple[str, str], LoadBreakdown]


def _peaks(frames: RunFrames) -> Mapping[str, float]:
    """The largest force in each joint, with moments over the size of the mechanism, N."""
    joints = {} if frames.run is None else frames.run.system.joints
    extent = float(np.ptp(frames.points, axis=(0, 2)).max()) if frames.points.size else 0.0
    total, length = frames.loads["total"], extent or 1.0
    forces, moments = (np.linalg.norm(half, axis=1) for half in (total[:, :3], total[:, 3:]))
    sizes = forces + moments / length
    return {name: float(sizes[k].max(initial=0.0)) for k, name in enumerate(frames.joints) if name in joints}
