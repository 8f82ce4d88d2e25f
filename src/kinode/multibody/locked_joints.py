"""Locked joints: their accelerations vanish, with the same order of elimination as for free joints.

With s = 1 for an active lock and 0 for an inactive one, e its row over the speeds of the state and h its locking
effort, its equation is a mixture whose pivot never vanishes:

    M u_dot = tau - h_bias + G' lam + s e' h,    s e u_dot + s bias = 0,    (1 - s) h = 0

In a tree whose locks act on one joint each, articulated bodies do the same with (1 - s)/D in place of 1/D, and the
residual of the axis is h.  Locks may be redundant: two brakes on one shaft, two hinges of a four-bar.  The pivot of the
last of them is then rounding alone, and its effort is (almost) zero.  If it contradicts the others, as at a dead
center, its effort exceeds every limit and its mode ends.  The effort of several locks of one joint is distributed
afterwards (model/base/contact.py), so that none ends its mode while another could still take more.

``LockRows`` are the equations, which do not depend on efforts; ``Locking`` are the locking efforts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array, Scalar, absolute, less, less_equal, tidy, where
from kinode.algebra.sparse_ldl import Row, Saddle
from kinode.model.base.contact import Lock
from kinode.multibody import loop_constraints
from kinode.multibody.loop_statics import SupportedJoint

if TYPE_CHECKING:
    from kinode.multibody.snapshot import Snapshot


UNLIMITED = 1e30  # N or N*m: an effort beyond the limit of every lock
SPARE_FACTOR = 1.0 + 1e-6  # a lock can take more if its limit exceeds its effort times this


class LockRows:
    """The locks of an instant, and their rows over the speeds of the state."""

    def __init__(self, instant: Snapshot) -> None:
        self.kinematics, self.scene = instant.kinematics, instant

    @cached_property
    def locks(self) -> list[Lock]:
        """The locks of joints that can move and are not all prescribed by expressions of time."""
        joint_state = self.kinematics.joint_state
        components = self.kinematics.system.components.values()
        every = (lock for component in components for lock in component.locks(self.scene))
        return [lock for lock in every if any(joint_state(name)[2] is None for name, _ in lock.joints)]

    @cached_property
    def free(self) -> dict[int, Scalar]:
        """For the nodes whose joints may be locked: 1 if free, 0 if locked."""
        free: dict[int, Scalar] = {}
        for lock in self.locks:
            i = self.kinematics.node_named[lock.joints[0][0]]
            free[i] = free.get(i, 1.0) * (1.0 - lock.stuck)
        return free

    @cached_property
    def rows(self) -> list[Row]:
        """e of each lock."""
        rows: list[Row] = []
        for lock in self.locks:
            row: Row = {}
            for name, factor in lock.joints:
                for j, x in self.columns(name).items():
                    row[j] = row.get(j, 0.0) + factor * x
            rows.append(row)
        return rows

    @property
    def stuck(self) -> list[Scalar]:
        """s of each lock."""
        return [lock.stuck for lock in self.locks]

    def columns(self, name: str) -> Row:
        """The speed of a joint for unit speeds of the state."""
        kinematics = self.kinematics
        if name in kinematics.topology.cut_names:
            columns = loop_constraints.jacobian_columns(kinematics, [SupportedJoint(kinematics, (name, 0))])[0]
            return {j: values[0] for j, values in columns.items()}
        state = kinematics.state_of(name)
        return {} if state is None else {state[0]: state[1]}

    def _bias(self, name: str) -> Scalar:
        """The acceleration of a joint for u_dot = 0 of the state."""
        kinematics = self.kinematics
        known = kinematics.joint_state(name)[2]
        if known is not None:
            return known[0]
        if name not in kinematics.topology.cut_names:
            return 0.0
        return loop_constraints.bias(kinematics, [SupportedJoint(kinematics, (name, 0))])[0][0]

    @property
    def gamma(self) -> list[Scalar]:
        """Right-hand sides of the rows: e u_dot = gamma."""
        return [
            -lock.stuck * sum((factor * self._bias(name) for name, factor in lock.joints), 0.0) for lock in self.locks
        ]

    @property
    def drift(self) -> list[Scalar]:
        """Minus the speeds of active locks, which should be zero."""
        drift = []
        for lock in self.locks:
            speeds = [factor * self.kinematics.joint_state(name)[1][0] for name, factor in lock.joints]
            drift.append(-lock.stuck * sum(speeds, 0.0))
        return drift

    def still(self, rates: Array, stuck: Sequence[Scalar] | None = None) -> Array:
        """Rates of the state with those of locked joints set to zero exactly."""
        exact = np.array(rates, dtype=object)
        for lock, row, s in zip(self.locks, self.rows, self.stuck if stuck is None else stuck, strict=True):
            (name, _), *others = lock.joints
            if not others and name not in self.kinematics.topology.cut_names:
                (j,) = row
                exact[j] = exact[j] * (1.0 - s)
        return tidy(exact)

    @cached_property
    def shared(self) -> dict[str, list[int]]:
        """Indices of the locks of each joint with several locks, in the order in which they take their share.

        End stops come first, then brakes; friction takes the rest.
        """
        indices_of: dict[str, list[int]] = {}
        for k, lock in enumerate(self.locks):
            if len(lock.joints) == 1:
                indices_of.setdefault(lock.joints[0][0], []).append(k)
        rank = [2 if lock.takes is None else 0 if lock.part == "stop" else 1 for lock in self.locks]
        return {name: sorted(own, key=rank.__getitem__) for name, own in indices_of.items() if len(own) > 1}

    def any_stuck(self, indices: Sequence[int]) -> Scalar:
        """1 while one of some locks is active, else 0."""
        free: Scalar = 1.0
        for k in indices:
            free = free * (1.0 - self.locks[k].stuck)
        return 1.0 - free

    def index(self, owner: str, part: str) -> int | None:
        """The index of a lock; None if its joint cannot move."""
        return next((k for k, lock in enumerate(self.locks) if (lock.owner, lock.part) == (owner, part)), None)


class Locking:
    """The locking efforts of an instant."""

    def __init__(self, instant: Snapshot) -> None:
        self.lock_rows, self.kinematics = instant.lock_rows, instant.kinematics
        self.motion, self.friction = instant.motion, instant.friction

    @property
    def locks(self) -> list[Lock]:
        """The locks, in the order of ``efforts``."""
        return self.lock_rows.locks

    @cached_property
    def efforts(self) -> Array:
        """The locking effort of each lock, zero if it is not active; shared among the locks of one joint."""
        efforts = list(self.motion.lock_multipliers) if self.locks else []
        for indices in self.lock_rows.shared.values():
            remaining = sum((efforts[k] for k in indices), 0.0)
            for i, k in enumerate(indices):
                lock, later = self.locks[k], self.lock_rows.any_stuck(indices[i + 1 :])
                most = remaining if lock.takes is None else where(later, lock.takes(remaining), remaining)
                efforts[k] = lock.stuck * most
                remaining = remaining - efforts[k]
        return tidy(efforts)

    def effort_of(self, owner: str, part: str) -> Scalar:
        """The locking effort of one lock, zero if its joint cannot move."""
        pairs = zip(self.locks, self.efforts, strict=True)
        return sum((h for lock, h in pairs if (lock.owner, lock.part) == (owner, part)), 0.0)

    @cached_property
    def by_joint(self) -> dict[str, Scalar]:
        """The sum of the locking efforts along each joint."""
        total: dict[str, Scalar] = {}
        for lock, effort in zip(self.locks, self.efforts, strict=True):
            for name, factor in lock.joints:
                total[name] = total.get(name, 0.0) + factor * effort
        return total

    def beside(self, owner: str, part: str) -> Scalar:
        """1 while another active lock of the same joint could take more, else 0."""
        k = self.lock_rows.index(owner, part)
        indices = next((shared for shared in self.lock_rows.shared.values() if k in shared), [])
        free: Scalar = 1.0
        for i in indices:
            if i != k:
                lock, effort = self.locks[i], self.efforts[i]
                beyond = where(less(effort, 0.0), -UNLIMITED, UNLIMITED)
                most = self.friction.limit(lock.owner) if lock.takes is None else absolute(lock.takes(beyond))
                free = free * (1.0 - lock.stuck * less(SPARE_FACTOR * absolute(effort), most))
        return 1.0 - free

    def response_of(self, owner: str, part: str) -> Scalar:
        """The acceleration of a lock's joints for a unit of its effort, by the diagonal of the mass matrix."""
        k, M = self.lock_rows.index(owner, part), self.motion.mass_rows
        return 1.0 if k is None else sum((x * x / M[j][j] for j, x in self.lock_rows.rows[k].items()), 0.0)

    def stopped(self, owner: str, part: str) -> Array:
        """Speeds of the state when a lock becomes active; they change by rounding only."""
        k = self.lock_rows.index(owner, part)
        if k is None or len(self.locks[k].joints) == 1:
            u, cuts = np.array(self.kinematics.u, dtype=object), self.kinematics.topology.cut_names
            for j in () if k is None or self.locks[k].joints[0][0] in cuts else self.lock_rows.rows[k]:
                u[j] = 0.0
            return u
        return self.struck(owner, part, 0.0)

    def struck(self, owner: str, part: str, restitution: Scalar) -> Array:
        """Speeds of the state after an impact, with impulses through the whole mechanism (Newton's restitution).

        End stops that joints rest against take part if they push; one that would pull in a first solution is released.
        Friction has no impulse.  Only the struck joint has a speed along its impulse, so that no energy is added.
        """
        u, k, rows = self.kinematics.u, self.lock_rows.index(owner, part), self.lock_rows.rows
        if k is None:
            return u
        G = self.kinematics.constraints.rows if self.kinematics.topology.constrained else []
        speed = sum((x * u[j] for j, x in rows[k].items()), 0.0)
        gamma = np.zeros(len(G) + len(self.locks), dtype=object)
        gamma[:] = 0.0
        gamma[len(G) + k] = -(1.0 + restitution) * speed
        stuck = [lock.stuck * lock.side * lock.side for lock in self.locks]
        change, rests = u, stuck
        for _ in range(2):
            stuck[k] = 1.0
            rests = [less_equal(restitution, 0.0) if i == k else s for i, s in enumerate(stuck)]
            change, impulses = Saddle(self.motion.mass_rows, G, rows, stuck)(np.zeros(len(u)), gamma)
            pulls = [less(0.0, lock.side * p) for lock, p in zip(self.locks, impulses[len(G) :], strict=True)]
            stuck = [s * (1.0 - pull) for s, pull in zip(stuck, pulls, strict=True)]
        return self.lock_rows.still(u + change, rests)
