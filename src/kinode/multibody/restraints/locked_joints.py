"""Locked joints: their accelerations vanish without another order of elimination.

With s = 1 for a lock that holds and 0 for one that does not, e its row over the speeds of the state and h the effort
that it holds with, its equation is a mixture whose pivot never vanishes:

    M u_dot = tau - h_bias + G' lam + s e' h,    s e u_dot + s bias = 0,    (1 - s) h = 0

In a tree whose locks hold one joint each, articulated bodies do the same with (1 - s)/D in place of 1/D, and the
residual of the axis is h.  Locks may hold what others hold already: two brakes on one shaft, two hinges of a four-bar.
The last of them to be eliminated is then left with a pivot of rounding alone, and holds with (almost) nothing; where it
contradicts the others, as at a dead center, its effort is beyond every limit and its mode ends.  What several hold in
one joint is then shared out anew (model/base/lock.py), so that none ends its mode while another could still hold.

``LockRows`` are the equations, which no effort changes; ``Locking`` is what the locks hold with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from kinode.algebra.scalars import Array, Scalar, absolute, less, less_equal, tidy, where
from kinode.algebra.sparse_ldl import Row, Saddle
from kinode.model.base.lock import Lock
from kinode.multibody.restraints import loop_constraints
from kinode.multibody.restraints.loop_statics import SupportedJoint

if TYPE_CHECKING:
    from kinode.model.base.scene import Scene
    from kinode.multibody.kinematics import Kinematics

ENDLESS = 1e30  # an effort that nothing is good for
ALL = 1.0 + 1e-6  # times what a lock holds with: more than that is left


class LockRows:
    """The locks of an instant, and their rows over the speeds of the state."""

    def __init__(self, kinematics: Kinematics, scene: Scene) -> None:
        self.kinematics, self.scene = kinematics, scene

    @cached_property
    def locks(self) -> list[Lock]:
        """What can hold a joint that is free to move, and that no law of time moves."""
        joint_state = self.kinematics.joint_state
        every = (lock for one in self.kinematics.system.components.values() for lock in one.locks(self.scene))
        return [lock for lock in every if any(joint_state(name)[2] is None for name, _ in lock.joints)]

    @cached_property
    def free(self) -> dict[int, Scalar]:
        """1 or 0 for the nodes whose joints may be locked."""
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
            columns = loop_constraints.columns(kinematics, SupportedJoint(kinematics, (name, 0)))
            return {j: values[0] for j, values in columns.items()}
        way = kinematics.state_of(name)
        return {} if way is None else {way[0]: way[1]}

    def _bias(self, name: str) -> Scalar:
        """The acceleration of a joint while those of the state are zero."""
        kinematics = self.kinematics
        known = kinematics.joint_state(name)[2]
        if known is not None:
            return known[0]
        if name not in kinematics.topology.cut_names:
            return 0.0
        return loop_constraints.bias(kinematics, SupportedJoint(kinematics, (name, 0)))[0]

    @property
    def gamma(self) -> list[Scalar]:
        """What the rows are to be."""
        return [-lock.stuck * sum((f * self._bias(n) for n, f in lock.joints), 0.0) for lock in self.locks]

    @property
    def drift(self) -> list[Scalar]:
        """The speeds that the locks should have kept at zero."""
        drift = []
        for lock in self.locks:
            speeds = [factor * self.kinematics.joint_state(name)[1][0] for name, factor in lock.joints]
            drift.append(-lock.stuck * sum(speeds, 0.0))
        return drift

    def still(self, rates: Array, stuck: Sequence[Scalar] | None = None) -> Array:
        """Rates of the state in which what is locked is exactly zero, not but for rounding."""
        exact = np.array(rates, dtype=object)
        for lock, row, s in zip(self.locks, self.rows, self.stuck if stuck is None else stuck, strict=True):
            (name, _), *others = lock.joints
            if not others and name not in self.kinematics.topology.cut_names:
                (j,) = row
                exact[j] = exact[j] * (1.0 - s)
        return tidy(exact)

    @cached_property
    def shared(self) -> dict[str, list[int]]:
        """The locks of each joint that several hold, those that take all they can last."""
        places: dict[str, list[int]] = {}
        for k, lock in enumerate(self.locks):
            if len(lock.joints) == 1:
                places.setdefault(lock.joints[0][0], []).append(k)
        rank = [2 if lock.takes is None else 0 if lock.part == "stop" else 1 for lock in self.locks]
        return {name: sorted(ks, key=rank.__getitem__) for name, ks in places.items() if len(ks) > 1}

    def any_stuck(self, places: Sequence[int]) -> Scalar:
        """1 while one of some locks holds, else 0."""
        free: Scalar = 1.0
        for k in places:
            free = free * (1.0 - self.locks[k].stuck)
        return 1.0 - free

    def index(self, owner: str, part: str) -> int | None:
        """The number of a lock; None where its joint does not move."""
        return next((k for k, lock in enumerate(self.locks) if (lock.owner, lock.part) == (owner, part)), None)


class LockedMotion(Protocol):
    """What locks ask of the motion that they hold."""

    @property
    def mass_rows(self) -> list[Row]:
        """The rows of the mass matrix."""
        ...

    @property
    def lock_multipliers(self) -> Array:
        """What each lock holds with, as the equations have it; zero where it does not hold."""
        ...


class Locking:
    """What the locks of an instant hold with."""

    def __init__(self, lock_rows: LockRows, motion: LockedMotion, friction_limit: Callable[[str], Scalar]) -> None:
        self.lock_rows, self.kinematics = lock_rows, lock_rows.kinematics
        self.motion, self.friction_limit = motion, friction_limit

    @property
    def locks(self) -> list[Lock]:
        """What can hold joints still."""
        return self.lock_rows.locks

    @cached_property
    def efforts(self) -> Array:
        """What each lock holds with, zero where it does not."""
        efforts = list(self.motion.lock_multipliers)
        for places in self.lock_rows.shared.values():
            rest = sum((efforts[k] for k in places), 0.0)
            for i, k in enumerate(places):
                lock, later = self.locks[k], self.lock_rows.any_stuck(places[i + 1 :])
                most = rest if lock.takes is None else where(later, lock.takes(rest), rest)
                efforts[k] = lock.stuck * most
                rest = rest - efforts[k]
        return tidy(efforts)

    def effort_of(self, owner: str, part: str) -> Scalar:
        """What one lock holds with, zero if its joint does not move."""
        pairs = zip(self.locks, self.efforts, strict=True)
        return sum((h for lock, h in pairs if (lock.owner, lock.part) == (owner, part)), 0.0)

    @cached_property
    def by_joint(self) -> dict[str, Scalar]:
        """What all locks do along each joint."""
        total: dict[str, Scalar] = {}
        for lock, effort in zip(self.locks, self.efforts, strict=True):
            for name, factor in lock.joints:
                total[name] = total.get(name, 0.0) + factor * effort
        return total

    def beside(self, owner: str, part: str) -> Scalar:
        """1 while another lock holds the joint of one, and could hold more, else 0."""
        k = self.lock_rows.index(owner, part)
        mine = next((places for places in self.lock_rows.shared.values() if k in places), [])
        free: Scalar = 1.0
        for i in mine:
            if i != k:
                lock, effort = self.locks[i], self.efforts[i]
                beyond = where(less(effort, 0.0), -ENDLESS, ENDLESS)
                most = self.friction_limit(lock.owner) if lock.takes is None else absolute(lock.takes(beyond))
                free = free * (1.0 - lock.stuck * less(ALL * absolute(effort), most))
        return 1.0 - free

    def response_of(self, owner: str, part: str) -> Scalar:
        """The acceleration that a unit of a lock's effort would give its joints, were they alone."""
        k, M = self.lock_rows.index(owner, part), self.motion.mass_rows
        return 1.0 if k is None else sum((x * x / M[j][j] for j, x in self.lock_rows.rows[k].items()), 0.0)

    def stopped(self, owner: str, part: str) -> Array:
        """Speeds of the state when a lock begins to hold; all that changes is rounding."""
        k = self.lock_rows.index(owner, part)
        if k is None or len(self.locks[k].joints) == 1:
            u, cuts = np.array(self.kinematics.u, dtype=object), self.kinematics.topology.cut_names
            for j in () if k is None or self.locks[k].joints[0][0] in cuts else self.lock_rows.rows[k]:
                u[j] = 0.0
            return u
        return self.struck(owner, part, 0.0)

    def struck(self, owner: str, part: str, restitution: Scalar) -> Array:
        """Speeds of the state after an impact, with impulses through the whole mechanism (Newton's restitution).

        What joints rest against takes part as far as it pushes; where a first solution would have it pull, it lets go.
        Friction has no impulse.  Only the struck joint has a speed along its impulse, so that no energy comes in.
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
