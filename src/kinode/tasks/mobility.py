"""Mobility: the degrees of freedom of a mechanism, the counts of Kutzbach and Gruebler, and redundant constraints.

Kutzbach's count in space is 6 n minus the freedoms that joints, drives and constraints remove.  Where all joints move
in one plane, Gruebler's count is 3 n likewise: three more for each loop.

The true degrees of freedom are the number of speeds minus the rank of the constraints, at a generic position.  Freedoms
beyond the count mean redundant constraints: the motion does not determine their reactions (reaction_uniqueness.py).
The result names the joints that carry them.

A loop that cannot move at all is named too, with what would free it (tasks/loop_locking.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.reactions.redundancy import analyze, find_poses
from kinode.dynamics.state_batch import StateBatch
from kinode.errors import AssemblyError, ModelError, counted
from kinode.formulations.reaction_uniqueness import COMPONENTS, UNIQUE, JointConstants, Uniqueness
from kinode.kernels.state import State
from kinode.model.system import System
from kinode.structure.loop_closure import RANK, WALK_LENGTH, Closure
from kinode.tasks.loop_locking import LockedLoop, find_locked_loops

PARALLEL = 1e-9  # sine of the angle up to which axes are parallel
GENERIC_TRIES = 100  # positions near a singular start
GENERIC_MARGIN = 1e-4  # smallest singular value, relative to the largest, of a position that is surely generic


@dataclass(frozen=True)
class Redundancy:
    """A group of redundant reactions: the number of independent stresses, and the components that carry them."""

    count: int
    carried: dict[str, tuple[str, ...]]
    """Joint -> components among force x, y, z, moment x, y, z, in the parent's joint axes; ``joint.effort`` of a drive
    or gear, or a constraint -> multiplier."""


@dataclass(frozen=True)
class Mobility:
    """Degrees of freedom of a system, counted and true, and its redundant constraints."""

    system: str
    bodies: int
    joints: int
    loops: int
    driven: int  # freedoms removed by prescribed motions
    tied: int  # freedoms removed by gears and other constraints
    spatial: int  # Kutzbach's count in space
    planar: int | None  # Gruebler's count in the plane, if all joints move in one
    freedoms: int
    redundancies: tuple[Redundancy, ...]
    singular: bool  # the initial position has more freedoms than positions near it
    freedoms_at_start: int
    locked: tuple[LockedLoop, ...] = ()
    """Loops whose joints cannot move, or not the one that is driven; in words, with what would free them."""

    @property
    def redundant(self) -> int:
        """Number of redundant constraint equations."""
        return sum(group.count for group in self.redundancies)

    def __str__(self) -> str:
        loops = counted(self.loops, "loop") if self.loops else "no loops"
        lines = [f"{self.system}: {counted(self.bodies, 'body', 'bodies')}, {counted(self.joints, 'joint')}, {loops}"]
        rows = [("degrees of freedom", self.freedoms), ("counted in space", self.spatial)]
        if self.planar is not None:
            rows.append(("counted in the plane", self.planar))
        rows.append(("redundant constraints", self.redundant))
        rows += [(name, n) for name, n in (("driven freedoms", self.driven), ("tied freedoms", self.tied)) if n]
        lines += [f"  {name:<24}{number:>4}" for name, number in rows]
        if self.singular:
            lines.append(
                f"The start is a singular position: it has {counted(self.freedoms_at_start, 'freedom')}, "
                f"positions near it {self.freedoms}."
            )
        for group in self.redundancies:
            lines.append(f"{counted(group.count, 'redundant reaction')}, carried by")
            width = max(len(joint) for joint in group.carried) + 2
            lines += [f"  {joint:<{width}}{component_words(parts)}" for joint, parts in group.carried.items()]
        return "\n".join([*lines, *(loop.words for loop in self.locked)])


def mobility(system: System | Dynamics) -> Mobility:
    """Count the freedoms of a system, and find its redundant constraints.

    Parameters
    ----------
    system : System or Dynamics

    Returns
    -------
    Mobility
        It prints as a table.  ``freedoms`` is the number of speeds minus the rank of the constraints (T-4.5),
        ``spatial`` and ``planar`` are the counts of Kutzbach and Gruebler, ``redundancies`` the groups of redundant
        reactions.  ``locked`` are loops that cannot move: each says in ``words`` what would free it.

    Examples
    --------
    >>> four_bar = kn.mobility(kn.load("examples/four_bar.yaml"))
    >>> four_bar.freedoms, four_bar.redundant
    (1, 3)
    """
    dynamics = system if isinstance(system, Dynamics) else Dynamics(system)
    topology, joints = dynamics.topology, dynamics.system.joints
    if not dynamics.system.bodies:
        raise ModelError(f"{dynamics.system.name} has no bodies, and nothing that could move")
    closure: Closure | None = dynamics.closure if dynamics.topology.constrained else None
    start = dynamics.initial
    state = _generic(dynamics, closure) if closure and closure.singular else start
    groups = tuple(_groups(analyze(dynamics, state))) if closure else ()
    n_rows = closure.total if closure else 0
    n_cut_rows = sum(6 - cut.joint.n_u for cut in topology.cuts)
    spatial = dynamics.n_u - n_rows
    locked = find_locked_loops(dynamics) if closure else ()
    freedoms = closure.freedoms if closure else dynamics.n_u
    return Mobility(
        system=dynamics.system.name,
        bodies=len(dynamics.system.bodies),
        joints=len(joints),
        loops=len(topology.cuts),
        driven=sum(joint.n_u for joint in joints.values() if joint.driven),
        tied=sum(joints[name].n_u for name in topology.couplings) + n_rows - n_cut_rows,
        spatial=spatial,
        planar=spatial + 3 * len(topology.cuts) if n_rows == n_cut_rows and _is_planar(dynamics, state) else None,
        freedoms=max(0, freedoms - sum(loop.infinitesimal for loop in locked)),
        redundancies=groups,
        singular=closure is not None and closure.singular,
        freedoms_at_start=dynamics.n_u - (_rank(dynamics, start) if closure else 0),
        locked=locked,
    )


def _rank(dynamics: Dynamics, state: State) -> int:
    """Rank of the loop constraints at a position."""
    G = dynamics.loops.evaluate(dynamics.point(replace(state, u=np.zeros(dynamics.n_u))))[1]
    sizes = np.linalg.svd(G, compute_uv=False)
    return int(np.sum(sizes > RANK * sizes.max(initial=0.0)))


def _generic(dynamics: Dynamics, closure: Closure) -> State:
    """A generic position near a singular start: the constraints have the rank that they have almost everywhere.

    Several branches of motion may meet at the start, and some of them stay singular.  Positions are reached along the
    initial speeds and along random freedoms; the one farthest from a loss of rank is taken.
    """
    start, loops, rank = dynamics.initial, dynamics.loops, dynamics.n_u - closure.freedoms
    at_rest, no_fixed = dynamics.point(replace(start, u=np.zeros(dynamics.n_u))), np.zeros(dynamics.n_u, dtype=bool)
    rng = np.random.default_rng(0)
    _, sizes, V = np.linalg.svd(loops.evaluate(at_rest)[1])
    free = V[int(np.sum(sizes > RANK * sizes.max(initial=0.0))) :].T
    best_margin, best_q = 0.0, start.q
    for attempt in range(GENERIC_TRIES):
        step = start.u if attempt == 0 and start.u.any() else free @ rng.normal(size=free.shape[1])
        try:
            there = dynamics.topology.advance_q(
                start.q, (WALK_LENGTH + attempt / GENERIC_TRIES) * step / np.linalg.norm(step)
            )
            q = loops.close(at_rest.replaced(q=there), no_fixed)
        except AssemblyError:
            continue
        sizes = np.linalg.svd(loops.evaluate(at_rest.replaced(q=q))[1], compute_uv=False)
        if sizes[rank - 1] > best_margin * sizes[0]:
            best_margin, best_q = sizes[rank - 1] / sizes[0], q
        if best_margin > GENERIC_MARGIN:
            break
    return State(start.t, best_q, at_rest.u, start.z)


def _groups(uniqueness: Uniqueness) -> Iterator[Redundancy]:
    """The redundant reactions in groups of joints; joints of different groups share no stress."""
    unique = {**uniqueness.unique, **uniqueness.unique_multipliers}
    stresses = {name: uniqueness.stresses(name) for name in unique}
    ungrouped = [name for name in unique if not unique[name].all()]
    while ungrouped:
        group = [ungrouped.pop(0)]
        for member in group:
            connected = [other for other in ungrouped if abs(stresses[member] @ stresses[other].T).max() > UNIQUE]
            group += connected
            ungrouped = [other for other in ungrouped if other not in connected]
        sizes = np.linalg.svd(np.vstack([stresses[name] for name in group]), compute_uv=False)
        carried = {
            name: tuple(c for c, is_unique in zip(COMPONENTS, unique[name], strict=True) if not is_unique)
            if name in uniqueness.unique
            else ("multiplier",)
            for name in unique
            if name in group
        }
        yield Redundancy(int(np.sum(sizes > UNIQUE)), carried)


def _is_planar(dynamics: Dynamics, state: State) -> bool:
    """Whether all joints rotate about one common direction and translate at right angles to it."""
    constants = JointConstants(dynamics.topology, dynamics.parameters, dynamics.system.nominal)
    (poses,) = find_poses(dynamics, StateBatch.of(dynamics.point(state)))
    rotations, translations = [np.zeros((0, 3))], [np.zeros((0, 3))]
    for name in dynamics.system.joints:
        joint = constants.constraint_directions(name, poses)
        rotations.append((joint.R_WM @ joint.S[:3]).T)
        translations.append((joint.R_WM @ joint.S[3:]).T)
    rotation, translation = np.vstack(rotations), np.vstack(translations)
    if not len(rotation):
        return False
    axes = np.vstack([rotation, np.zeros((3, 3))])
    _, sizes, V = np.linalg.svd(axes if abs(rotation).max() > PARALLEL else np.vstack([translation, np.zeros((3, 3))]))
    if abs(rotation).max() > PARALLEL:
        return bool(sizes[1] <= PARALLEL * sizes[0] and abs(translation @ V[0]).max() <= PARALLEL)
    return bool(sizes[2] <= PARALLEL * sizes[0])


def component_words(components: tuple[str, ...]) -> str:
    """Components in words: "force along x, y; moment about z"."""
    if components == ("multiplier",):
        return "its own force"
    phrases = []
    for kind, preposition in (("force", "along"), ("moment", "about")):
        axes = [axis for name, axis in map(str.split, components) if name == kind]
        if axes:
            phrases.append(f"{kind} {preposition} {', '.join(axes)}")
    return "; ".join(phrases)
