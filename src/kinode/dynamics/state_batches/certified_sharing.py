"""Load sharing by one compiled function for all states, with a proof for each that it applies.

Which components are shared follows from the rank of the balances, which seldom changes along a run.  It is found at a
few states (stress_loop.py), with as many coordinates to lock as the mechanism has freedoms.  A function for exactly
these (formulations/equal_stiffness.py) is compiled and called for all states.  At each it proves that
nothing has changed:

- all pivots are far from zero: with the locks there is no further freedom, so there are no further stresses;
- the locks transmit nothing in a trial load: there are no fewer freedoms, so there are no fewer stresses;
- the trial load changes the shared components and no others: the same components take part in the stresses.

The other states are left to the loop that finds their ranks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from kinode.algebra.scalars import Array
from kinode.dynamics.state_batches.compiled_stresses import Stresses, StressTables
from kinode.dynamics.state_batches.world_stiffness import JointTables
from kinode.formulations.reaction_uniqueness import RANK_TOLERANCE, UNIQUE
from kinode.kernels.derivatives.recursion_scope import is_held_by_joints
from kinode.kernels.kernel_options import Kernel, SharingOptions
from kinode.kernels.kernel_outputs import trial_loads
from kinode.kernels.tree_size import is_large

if TYPE_CHECKING:
    from kinode.dynamics.compiled_system import Dynamics
    from kinode.kernels.compiled_kernels import Kernels
    from kinode.structure.evaluation_point import EvaluationPoint

FEWEST_STATES = 200  # for which a function is compiled
REFERENCES = 5  # states at which ranks are found
MOST_FLEXIBLE = 1e8  # inverse pivot
UNTOUCHED = 0.1 * UNIQUE  # change of a unique component by a trial load of size 1
KNOWN: WeakKeyDictionary[Kernels, SharingOptions | None] = WeakKeyDictionary()  # what was found for a system

TABLES: WeakKeyDictionary[Kernels, dict[SharingOptions, JointTables]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class CertifiedSharing:
    """The change of components, and at which states it is proved to be right."""

    change: Array
    certified: npt.NDArray[np.bool_]


def share_certified(dynamics: Dynamics, states: EvaluationPoint, options: SharingOptions, x: Array) -> CertifiedSharing:
    """Share components ``x``, with moments over the length, by least norm."""
    shared = np.array(options.shared, dtype=bool)
    kernel, change = Kernel("load_sharing", options), np.zeros_like(x)
    if len(x) < FEWEST_STATES and is_large(dynamics.topology) and is_held_by_joints(dynamics.topology):
        result = _share_in_numbers(dynamics, states, options, x)
    else:
        result = dynamics.kernels.call(kernel, states, x)
    n_shared, n = int(shared.sum()), len(shared)
    change[:, shared] = result[:, :n_shared]
    trial = np.abs(result[:, n_shared : n_shared + n])
    flexibility, locked = result[:, -2], result[:, -1]
    certified = (flexibility < MOST_FLEXIBLE) & (np.sqrt(np.abs(locked)) < UNTOUCHED) & np.isfinite(change).all(axis=1)
    certified &= (trial[:, ~shared] < UNTOUCHED).all(axis=1) & (trial[:, shared] > UNIQUE).all(axis=1)
    return CertifiedSharing(change, certified)


def find_joint_tables(dynamics: Dynamics, options: SharingOptions) -> JointTables:
    """The tables of a system for sharing in numbers."""
    known = TABLES.setdefault(dynamics.kernels, {})
    if options not in known:
        known[options] = JointTables(dynamics.topology, options)
    return known[options]


def _share_in_numbers(dynamics: Dynamics, states: EvaluationPoint, options: SharingOptions, x: Array) -> Array:
    """The result of the kernel ``load_sharing``, without code that grows with the mechanism."""
    tables, shared = find_joint_tables(dynamics, options), np.array(options.shared, dtype=bool)
    directions = np.atleast_2d(dynamics.kernels.call(Kernel("stress_directions"), states))
    result = np.full((len(x), int(shared.sum()) + len(shared) + 2), np.inf)
    for k, (own, loads) in enumerate(zip(np.broadcast_to(directions, (len(x), directions.shape[1])), x, strict=True)):
        if not np.isfinite(own).all():
            continue
        stiffness = tables.at_state(own)
        if stiffness.flexibility < MOST_FLEXIBLE:
            change, _ = stiffness.share(loads)
            trial, locked = stiffness.share(trial_loads(len(shared)))
            result[k] = np.concatenate([change[shared], trial, [stiffness.flexibility, locked]])
    return result


def find_options(
    tables: StressTables, directions: Array, unit_loads: Array | None, stresses: Stresses
) -> SharingOptions | None:
    """What is shared in most of some states, and coordinates that lock the mechanism in all of these."""
    flags = stresses.norms >= UNIQUE
    patterns, counts = np.unique(flags[~stresses.doubtful], axis=0, return_counts=True)
    if not len(counts):
        return None
    shared = patterns[np.argmax(counts)]
    alike = np.flatnonzero((flags == shared).all(axis=1) & ~stresses.doubtful)
    motions = [
        _find_motions(tables, directions[row], None if unit_loads is None else unit_loads[row])
        for row in alike.tolist()
    ]
    locks = _choose_locks([motion for motion in motions if len(motion) == len(motions[0])])
    names = [(node.joint.name, k) for node in tables.topology.full.nodes for k in range(node.joint.n_u)]
    return SharingOptions(tables.constants.length, tuple(names[k] for k in locks), tuple(map(bool, shared)))


def _choose_locks(motions: list[Array]) -> list[int]:
    """Coordinates that lock all motions, well in each of the states: by orthogonalization with common pivots."""
    left, locks = [motion.copy() for motion in motions], []
    for _ in range(len(motions[0])):
        pivot = int(np.argmax(np.min([np.linalg.norm(motion, axis=0) for motion in left], axis=0)))
        locks.append(pivot)
        for motion in left:
            column = motion[:, pivot] / max(float(np.linalg.norm(motion[:, pivot])), 1e-300)
            motion -= np.outer(column, column @ motion)
    return locks


class _Twists:
    """Twists of bodies for unit speeds of the tree's joints at one state: [angular; linear] at the world's origin."""

    def __init__(self, tables: StressTables, directions: Array) -> None:
        self.tables, self.directions, nodes = tables, directions, tables.topology.full.nodes
        self.first = dict(zip([n.joint.name for n in nodes], np.cumsum([0, *(n.joint.n_u for n in nodes)]).tolist()))
        self.size = sum(node.joint.n_u for node in nodes)
        self.bodies = {"world": np.zeros((6, self.size))}
        for node in nodes:
            R, p, S = self.joint(node.joint.name)
            twist, at = self.bodies[node.carrier].copy(), self.first[node.joint.name]
            own = np.vstack([R @ S[:3], R @ S[3:] + np.cross(p, R @ S[:3], axis=0)])
            twist[:, at : at + node.joint.n_u] += -own if node.reversed else own
            self.bodies.update(dict.fromkeys(node.bodies, twist))

    def joint(self, name: str) -> tuple[Array, Array, Array]:
        """R_WM, p_WM and the freedoms S of a joint."""
        k, n_u = self.tables.joints[name], self.tables.topology.system.joints[name].n_u
        own = self.directions[self.tables.joint_at[k] :]
        return own[:9].reshape(3, 3), own[9:12], own[21 : 21 + 6 * n_u].reshape(6, n_u)

    def of_joint(self, name: str) -> tuple[Array, Array]:
        """Speeds along a joint's freedoms, and the twist across them, at its point in its axes; lengths scaled to 1."""
        joint, length, (R, p, S) = (
            self.tables.topology.system.joints[name],
            self.tables.constants.length,
            self.joint(name),
        )
        twist = self.bodies[joint.b.body] - self.bodies[joint.a.body]
        twist = np.vstack([length * R.T @ twist[:3], R.T @ (twist[3:] - np.cross(p, twist[:3], axis=0))])
        scaled = S * np.repeat([length, 1.0], 3)[:, None]
        along = np.linalg.pinv(scaled) @ twist
        return along, twist - scaled @ along

    def of_load(self, unit_load: Array) -> Array:
        """The speeds along a unit load: [moment; force] of each body about its origin."""
        bodies = list(self.tables.topology.system.bodies)
        origins = self.directions[self.tables.n_directions - 3 * len(bodies) :].reshape(-1, 3)
        speeds = np.zeros(self.size)
        for body, origin, load in zip(bodies, origins, unit_load.reshape(-1, 6), strict=True):
            twist = self.bodies[body]
            speeds += load[:3] @ twist[:3] + load[3:] @ (twist[3:] + np.cross(twist[:3], origin, axis=0))
        return speeds


def _find_motions(tables: StressTables, directions: Array, unit_loads: Array | None) -> Array:
    """The independent speeds of the tree's joints that all constraints allow, at one state: freedom, speed."""
    twists, joints = _Twists(tables, directions), tables.topology.system.joints
    rows = [np.zeros((0, twists.size))]
    for name, joint in joints.items():
        if name in tables.cuts:
            along, across = twists.of_joint(name)
            rows += [across, along] if joint.driven else [across]
        elif joint.driven:
            rows.append(np.eye(twists.size)[twists.first[name] : twists.first[name] + joint.n_u])
    for name, gear in tables.gears.items():
        ratio = float(tables.constants.resolve(gear.ratio))
        rows.append(twists.of_joint(name)[0] - ratio * twists.of_joint(gear.leader)[0])
    if unit_loads is not None:
        loads = unit_loads.reshape(6 * len(tables.topology.system.bodies), -1)
        rows += [twists.of_load(load)[None] for load in loads.T]
    whole = np.vstack(rows)
    _, s, Vt = np.linalg.svd(np.linalg.qr(whole, mode="r") if len(whole) > twists.size else whole, full_matrices=True)
    motions: Array = Vt[int((s > RANK_TOLERANCE * s.max(initial=1.0)).sum()) :]
    units = [unit for node in tables.topology.full.nodes for unit in tables.find_effort_units(node.joint.name)]
    return np.asarray(motions * np.array(units))
