"""Mobility: how many freedoms a mechanism has, how many a count would give it, and what holds it more than once.

Kutzbach's count in space is 6 n less what joints, laws and constraints take away; where all joints move in one plane,
Gruebler's is 3 n likewise, three more for each loop.
The true freedoms are the speeds less the rank of the constraints, at positions without symmetry.  What is beyond the
count is redundant: stress that no motion shows (reaction_uniqueness.py), told by the joints that can carry it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.redundant_reactions import StateBatch, analyze, find_poses
from kinode.errors import AssemblyError, ModelError
from kinode.formulations.reaction_uniqueness import COMPONENTS, UNIQUE, JointConstants, Uniqueness
from kinode.kernels.state import State
from kinode.model.system import System
from kinode.structure.loop_closure import RANK, WALK, Closure

PARALLEL = 1e-9  # sine of the angle up to which axes are parallel
NEAR = 1e-6  # of the eigenvalue at the start: below, a position counts as singular
LOOK = 1e-2  # a minimum between stored states is looked for below this
ZOOMS, POINTS = 5, 17
TRIES = 100  # ways out of a singular start
CLEAR = 1e-4  # of the largest singular value: far from losing rank


@dataclass(frozen=True)
class Redundancy:
    """Stresses that are carried together: how many are independent, and what of each joint carries them."""

    count: int
    carried: dict[str, tuple[str, ...]]
    """Joint -> some of force x, y, z, moment x, y, z, in the parent's joint axes; ``joint.effort`` of a drive or gear,
    or a constraint -> multiplier."""


@dataclass(frozen=True)
class Mobility:
    """Freedoms of a system: counted and true, and its redundant constraints."""

    system: str
    bodies: int
    joints: int
    loops: int
    driven: int  # freedoms that laws of time take away
    tied: int  # freedoms that gears and other constraints take away
    spatial: int  # Kutzbach's count in space
    planar: int | None  # Gruebler's count in the plane, where all joints move in one
    freedoms: int
    redundancies: tuple[Redundancy, ...]
    singular: bool  # the start has more freedoms than positions near it
    freedoms_at_start: int

    @property
    def redundant(self) -> int:
        """How many constraints say what others say already."""
        return sum(group.count for group in self.redundancies)

    def __str__(self) -> str:
        loops = _count(self.loops, "loop") if self.loops else "no loops"
        lines = [f"{self.system}: {_count(self.bodies, 'body', 'bodies')}, {_count(self.joints, 'joint')}, {loops}"]
        rows = [("degrees of freedom", self.freedoms), ("counted in space", self.spatial)]
        if self.planar is not None:
            rows.append(("counted in the plane", self.planar))
        rows.append(("redundant constraints", self.redundant))
        rows += [(name, n) for name, n in (("driven freedoms", self.driven), ("tied freedoms", self.tied)) if n]
        lines += [f"  {name:<24}{number:>4}" for name, number in rows]
        if self.singular:
            lines.append(
                f"The start is a singular position: it has {_count(self.freedoms_at_start, 'freedom')}, "
                f"positions near it {self.freedoms}."
            )
        for group in self.redundancies:
            lines.append(f"{_count(group.count, 'stress', 'stresses')} that no motion shows, carried by")
            width = max(len(joint) for joint in group.carried) + 2
            lines += [f"  {joint:<{width}}{_words(parts)}" for joint, parts in group.carried.items()]
        return "\n".join(lines)


def mobility(system: System | Dynamics) -> Mobility:
    """Count the freedoms of a system, and find its redundant constraints.

    Parameters
    ----------
    system : System or Dynamics

    Returns
    -------
    Mobility
        Printed, a table.  ``freedoms`` is the number of speeds less the rank of the constraints (T-4.5), ``spatial``
        and ``planar`` are the counts of Kutzbach and Gruebler, ``redundancies`` the stresses that no motion shows.

    Examples
    --------
    >>> found = kn.mobility(kn.load("examples/four_bar.yaml"))
    >>> found.freedoms, found.redundant
    (1, 3)
    """
    dynamics = system if isinstance(system, Dynamics) else Dynamics(system)
    topology, joints = dynamics.topology, dynamics.system.joints
    if not dynamics.system.bodies:
        raise ModelError(f"{dynamics.system.name} has no bodies, and nothing that could move")
    closing: Closure | None = dynamics.closure if dynamics.topology.constrained else None
    start = dynamics.initial
    state = _generic(dynamics, closing) if closing and closing.singular else start
    groups = tuple(_groups(analyze(dynamics, state))) if closing else ()
    rows = closing.total if closing else 0
    by_joints = sum(6 - cut.joint.n_u for cut in topology.cuts)
    spatial = dynamics.n_u - rows
    return Mobility(
        system=dynamics.system.name,
        bodies=len(dynamics.system.bodies),
        joints=len(joints),
        loops=len(topology.cuts),
        driven=sum(joint.n_u for joint in joints.values() if joint.driven),
        tied=sum(joints[name].n_u for name in topology.couplings) + rows - by_joints,
        spatial=spatial,
        planar=spatial + 3 * len(topology.cuts) if rows == by_joints and _is_planar(dynamics, state) else None,
        freedoms=closing.freedoms if closing else dynamics.n_u,
        redundancies=groups,
        singular=closing is not None and closing.singular,
        freedoms_at_start=dynamics.n_u - (_rank(dynamics, start) if closing else 0),
    )


def _rank(dynamics: Dynamics, state: State) -> int:
    G = dynamics.loops.evaluate(dynamics.point(replace(state, u=np.zeros(dynamics.n_u))))[1]
    sizes = np.linalg.svd(G, compute_uv=False)
    return int(np.sum(sizes > RANK * sizes.max(initial=0.0)))


def _generic(dynamics: Dynamics, closing: Closure) -> State:
    """A position near a singular start in which the constraints have the rank that they have almost everywhere.

    Many motions may part at the start, some of which stay singular: of the positions reached along the speeds of the
    start and along random freedoms, the one is taken that is farthest from losing its rank.
    """
    start, loops, rank = dynamics.initial, dynamics.loops, dynamics.n_u - closing.freedoms
    at_rest, none = dynamics.point(replace(start, u=np.zeros(dynamics.n_u))), np.zeros(dynamics.n_u, dtype=bool)
    rng = np.random.default_rng(0)
    _, sizes, V = np.linalg.svd(loops.evaluate(at_rest)[1])
    free = V[int(np.sum(sizes > RANK * sizes.max(initial=0.0))) :].T
    best, found = 0.0, start.q
    for k in range(TRIES):
        step = start.u if k == 0 and start.u.any() else free @ rng.normal(size=free.shape[1])
        try:
            there = dynamics.topology.advance_q(start.q, (WALK + k / TRIES) * step / np.linalg.norm(step))
            q = loops.close(at_rest.replaced(q=there), none)
        except AssemblyError:
            continue
        sizes = np.linalg.svd(loops.evaluate(at_rest.replaced(q=q))[1], compute_uv=False)
        if sizes[rank - 1] > best * sizes[0]:
            best, found = sizes[rank - 1] / sizes[0], q
        if best > CLEAR:
            break
    return State(start.t, found, at_rest.u, start.z)


def _groups(found: Uniqueness) -> Iterator[Redundancy]:
    """The null space parted into sets of joints that share no stress with each other."""
    unique = {**found.unique, **found.unique_multipliers}
    stresses = {name: found.stresses(name) for name in unique}
    left = [name for name in unique if not unique[name].all()]
    while left:
        group = [left.pop(0)]
        for one in group:
            joined = [other for other in left if abs(stresses[one] @ stresses[other].T).max() > UNIQUE]
            group += joined
            left = [other for other in left if other not in joined]
        sizes = np.linalg.svd(np.vstack([stresses[name] for name in group]), compute_uv=False)
        carried = {
            name: tuple(c for c, sure in zip(COMPONENTS, unique[name], strict=True) if not sure)
            if name in found.unique
            else ("multiplier",)
            for name in unique
            if name in group
        }
        yield Redundancy(int(np.sum(sizes > UNIQUE)), carried)


def _is_planar(dynamics: Dynamics, state: State) -> bool:
    """Whether all freedoms turn about one direction and travel across it."""
    structure = JointConstants(dynamics.topology, dynamics.parameters, dynamics.system.nominal)
    (poses,) = find_poses(dynamics, StateBatch.of(dynamics.point(state)))
    turns, travels = [np.zeros((0, 3))], [np.zeros((0, 3))]
    for name in dynamics.system.joints:
        directions = structure.constraint_directions(name, poses)
        turns.append((directions.R_WM @ directions.S[:3]).T)
        travels.append((directions.R_WM @ directions.S[3:]).T)
    turn, travel = np.vstack(turns), np.vstack(travels)
    if not len(turn):
        return False
    axes = np.vstack([turn, np.zeros((3, 3))])
    _, sizes, V = np.linalg.svd(axes if abs(turn).max() > PARALLEL else np.vstack([travel, np.zeros((3, 3))]))
    if abs(turn).max() > PARALLEL:
        return bool(sizes[1] <= PARALLEL * sizes[0] and abs(travel @ V[0]).max() <= PARALLEL)
    return bool(sizes[2] <= PARALLEL * sizes[0])


def near_singular(
    dynamics: Dynamics, t: Any, y: Any, *, p: Any = None, inputs: Any = None, below: float = NEAR
) -> list[tuple[float, float]]:
    """Passes near singular positions along stored states: the time of each, and how near.

    The measure is the smallest eigenvalue of G M^-1 G' relative to that of the first state (where the start is
    singular, to the median of the run).  It falls with the square of the distance, so that stored states may step over
    a pass: around each minimum the motion between them is looked at too, by cubics through q with their rates.
    """
    t, y = np.asarray(t, dtype=float), np.asarray(y, dtype=float)
    closing: Closure | None = dynamics.closure if dynamics.topology.constrained else None
    if closing is None or not closing.rows or not len(t):
        return []
    measure = _SingularityMeasure(dynamics, p, inputs)
    sizes = measure(t, y)
    reference = (float(np.median(sizes)) if closing.singular else float(sizes[0])) or 1.0
    sizes = sizes / reference
    around = np.concatenate([[np.inf], sizes, [np.inf]])
    lowest = (sizes <= around[:-2]) & (sizes < around[2:]) & (sizes < max(LOOK, below))
    found = []
    for i in map(int, np.flatnonzero(lowest)):
        near = slice(max(i - 1, 0), i + 2)
        time, size = measure.lowest(t[near], y[near], float(t[i]))
        if size / reference < below:
            found.append((time, size / reference))
    return found


class _SingularityMeasure:
    """The smallest eigenvalue of G M^-1 G' of many states, the independent rows alone, lengths scaled."""

    def __init__(self, dynamics: Dynamics, p: Any, inputs: Any) -> None:
        self.dynamics, self.p, self.inputs = dynamics, p, inputs

    def __call__(self, t: Array, y: Array) -> Array:
        dynamics, point = self.dynamics, self.dynamics.point_of(t, y, self.p, self.inputs)
        G = dynamics.loops.evaluate(point)[1][:, list(dynamics.closure.rows)]
        M = dynamics.mass_matrix(t, point.q, z=point.z, p=self.p, inputs=self.inputs)
        A = G @ np.linalg.solve(M, np.swapaxes(G, 1, 2))
        return np.maximum(np.linalg.eigvalsh(0.5 * (A + np.swapaxes(A, 1, 2)))[:, 0], 0.0)

    def lowest(self, t: Array, y: Array, time: float) -> tuple[float, float]:
        """Time and size of the least measure between stored states, looked for closer and closer."""
        path = self.path(t, y)
        low, high = float(t[0]), float(t[-1])
        size = float(self(np.array([time]), path(np.array([time])))[0])
        for _ in range(ZOOMS):
            times = np.linspace(low, high, POINTS)
            sizes = self(times, path(times))
            k = int(np.argmin(sizes))
            if sizes[k] < size:
                time, size = float(times[k]), float(sizes[k])
            low, high = float(times[max(k - 1, 0)]), float(times[min(k + 1, POINTS - 1)])
        return time, size

    def path(self, t: Array, y: Array) -> Any:
        """States between stored ones; quaternions stay unit nearly enough."""
        from scipy.interpolate import CubicHermiteSpline

        keep = np.concatenate([[True], np.diff(t) > 0])
        t, y, layout = t[keep], y[keep], self.dynamics.topology.layout
        rates = np.zeros_like(y)
        for name, where in self.dynamics.topology.q_of.items():
            joint, speeds = self.dynamics.system.joints[name], self.dynamics.topology.u_of[name]
            for k, row in enumerate(y):
                u = layout.split(row)[1][speeds]
                rates[k, where] = np.asarray(joint.rate_map(row[where], u), dtype=float)
        return CubicHermiteSpline(t, y, rates) if len(t) > 1 else lambda times: np.repeat(y, len(times), axis=0)


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _words(parts: tuple[str, ...]) -> str:
    """Force along x, y; moment about z."""
    if parts == ("multiplier",):
        return "its own force"
    found = []
    for kind, way in (("force", "along"), ("moment", "about")):
        axes = [axis for name, axis in map(str.split, parts) if name == kind]
        if axes:
            found.append(f"{kind} {way} {', '.join(axes)}")
    return "; ".join(found)
