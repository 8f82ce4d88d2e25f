"""Joints that are stuck: their accelerations vanish without another order of elimination.

With s = 1 for a lock that holds and 0 for one that does not, e its row over the speeds of the state and h the effort
that it holds with, its equation is a mixture whose pivot never vanishes:

    M u_dot = tau - h_bias + G' lam + s e' h,    s e u_dot + s bias = 0,    (1 - s) h = 0

In a tree whose locks hold one joint each, articulated bodies do the same with (1 - s)/D in place of 1/D, and the
residual of the axis is h.  Locks may hold what others hold already: two brakes on one shaft, two hinges of a four-bar.
The last of them to be eliminated is then left with a pivot of rounding alone, and holds with (almost) nothing; where it
contradicts the others, as at a dead center, its effort is beyond every limit and its mode ends.  What several hold in
one joint is then shared out anew (model/base/lock.py), so that none ends its mode while another could still hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kinode.algebra.scalars import Array, Scalar, absolute, less, less_equal, tidy, where
from kinode.algebra.sparse_ldl import Row, Saddle
from kinode.multibody.restraints import loop_constraints
from kinode.multibody.restraints.loop_statics import SupportedJoint

if TYPE_CHECKING:
    from kinode.multibody.instant_dynamics import InstantDynamics

ENDLESS = 1e30  # an effort that nothing is good for
ALL = 1.0 + 1e-6  # times what a lock holds with: more than that is left


class Locking:
    """The locks of one motion."""

    def __init__(self, motion: InstantDynamics) -> None:
        self.motion = motion
        every = (lock for component in motion.system.components.values() for lock in component.locks(motion))
        self.locks = [lock for lock in every if any(self._moves(name) for name, _ in lock.joints)]

    def _moves(self, name: str) -> bool:
        """Whether a joint is free to move, and no law of time moves it."""
        motion = self.motion
        return motion.joint_state(name)[2] is None

    @cached_property
    def single(self) -> bool:
        """Whether each lock holds one joint of a tree without gears and loops."""
        motion = self.motion
        tree = motion.articulated and not (motion.topology.constrained or motion.topology.couplings)
        return tree and not motion.joined_by_parts and all(len(lock.joints) == 1 for lock in self.locks)

    @cached_property
    def free(self) -> dict[int, Scalar]:
        """1 or 0 for the nodes whose joints may be stuck."""
        found: dict[int, Scalar] = {}
        for lock in self.locks:
            i = self.motion.node_named[lock.joints[0][0]]
            found[i] = found.get(i, 1.0) * (1.0 - lock.stuck)
        return found

    @cached_property
    def rows(self) -> list[Row]:
        """e of each lock."""
        found: list[Row] = []
        for lock in self.locks:
            row: Row = {}
            for name, factor in lock.joints:
                for j, x in self._columns(name).items():
                    row[j] = row.get(j, 0.0) + factor * x
            found.append(row)
        return found

    @property
    def stuck(self) -> list[Scalar]:
        return [lock.stuck for lock in self.locks]

    def _columns(self, name: str) -> Row:
        """The speed of a joint for unit speeds of the state."""
        motion = self.motion
        if name in motion.topology.cut_names:
            return {
                j: values[0]
                for j, values in loop_constraints.columns(motion, SupportedJoint(motion, (name, 0))).items()
            }
        way = motion.state_of(name)
        return {} if way is None else {way[0]: way[1]}

    def _bias(self, name: str) -> Scalar:
        """The acceleration of a joint while those of the state are zero."""
        motion = self.motion
        known = motion.joint_state(name)[2]
        if known is not None:
            return known[0]
        return (
            loop_constraints.bias(motion, SupportedJoint(motion, (name, 0)))[0]
            if name in motion.topology.cut_names
            else 0.0
        )

    @property
    def gamma(self) -> list[Scalar]:
        """What the rows are to be."""
        return [-lock.stuck * sum((f * self._bias(n) for n, f in lock.joints), 0.0) for lock in self.locks]

    @property
    def drift(self) -> list[Scalar]:
        """The speeds that the locks should have kept at zero."""
        found = []
        for lock in self.locks:
            speeds = [factor * self.motion.joint_state(name)[1][0] for name, factor in lock.joints]
            found.append(-lock.stuck * sum(speeds, 0.0))
        return found

    def still(self, rates: Array, stuck: Sequence[Scalar] | None = None) -> Array:
        """Rates of the state in which what is stuck is exactly zero, not but for rounding."""
        found = np.array(rates, dtype=object)
        for lock, row, s in zip(self.locks, self.rows, self.stuck if stuck is None else stuck, strict=True):
            (name, _), *others = lock.joints
            if not others and name not in self.motion.topology.cut_names:
                (j,) = row
                found[j] = found[j] * (1.0 - s)
        return tidy(found)

    @cached_property
    def saddle(self) -> Saddle:
        """Accelerations and efforts of a tree with gears, or with locks across joints."""
        return Saddle(self.motion.mass_rows, [], self.rows, self.stuck)

    @cached_property
    def solution(self) -> tuple[Array, Array]:
        """u_dot, and what each lock holds with, of a tree."""
        u_dot, h = self.saddle(self.motion.bias_effort, tidy(self.gamma))
        return self.still(u_dot), tidy([s * x for s, x in zip(self.stuck, h, strict=True)])

    @cached_property
    def efforts(self) -> Array:
        """What each lock holds with, zero where it does not."""
        found = list(self._found_efforts)
        for places in self.shared.values():
            rest = sum((found[k] for k in places), 0.0)
            for i, k in enumerate(places):
                lock, later = self.locks[k], self._any_stuck(places[i + 1 :])
                most = rest if lock.takes is None else where(later, lock.takes(rest), rest)
                found[k] = lock.stuck * most
                rest = rest - found[k]
        return tidy(found)

    @cached_property
    def shared(self) -> dict[str, list[int]]:
        """The locks of each joint that several hold, those that take all they can last."""
        places: dict[str, list[int]] = {}
        for k, lock in enumerate(self.locks):
            if len(lock.joints) == 1:
                places.setdefault(lock.joints[0][0], []).append(k)
        rank = [2 if lock.takes is None else 0 if lock.part == "stop" else 1 for lock in self.locks]
        return {name: sorted(ks, key=rank.__getitem__) for name, ks in places.items() if len(ks) > 1}

    def _any_stuck(self, places: Sequence[int]) -> Scalar:
        free: Scalar = 1.0
        for k in places:
            free = free * (1.0 - self.locks[k].stuck)
        return 1.0 - free

    def beside(self, owner: str, part: str) -> Scalar:
        """1 while another lock holds the joint of one, and could hold more, else 0."""
        k = self._index(owner, part)
        mine = next((places for places in self.shared.values() if k in places), [])
        free: Scalar = 1.0
        for i in mine:
            if i != k:
                lock, effort = self.locks[i], self.efforts[i]
                beyond = where(less(effort, 0.0), -ENDLESS, ENDLESS)
                most = self.motion.friction_limit(lock.owner) if lock.takes is None else absolute(lock.takes(beyond))
                free = free * (1.0 - lock.stuck * less(ALL * absolute(effort), most))
        return 1.0 - free

    @cached_property
    def _found_efforts(self) -> Array:
        """The same as the equations have it: of locks that hold one joint the first takes all."""
        motion = self.motion
        if motion.topology.constrained:
            return motion.constraints.holding
        if not self.single:
            return self.solution[1]
        found, taken = [], dict.fromkeys(self.free, 1.0)
        for lock in self.locks:
            i = motion.node_named[lock.joints[0][0]]
            whole = motion.axis_residual(i)
            found.append(lock.stuck * taken[i] * whole / lock.joints[0][1])
            taken[i] = taken[i] * (1.0 - lock.stuck)
        return tidy(found)

    @cached_property
    def by_joint(self) -> dict[str, Scalar]:
        """What all locks do along each joint."""
        found: dict[str, Scalar] = {}
        for lock, effort in zip(self.locks, self.efforts, strict=True):
            for name, factor in lock.joints:
                found[name] = found.get(name, 0.0) + factor * effort
        return found

    def _index(self, owner: str, part: str) -> int | None:
        found = [k for k, lock in enumerate(self.locks) if (lock.owner, lock.part) == (owner, part)]
        return found[0] if found else None

    def response_of(self, owner: str, part: str) -> Scalar:
        """The acceleration that a unit of a lock's effort would give its joints, were they alone."""
        k, M = self._index(owner, part), self.motion.mass_rows
        return 1.0 if k is None else sum((x * x / M[j][j] for j, x in self.rows[k].items()), 0.0)

    def stopped(self, owner: str, part: str) -> Array:
        """Speeds of the state when a lock begins to hold; all that changes is rounding."""
        k = self._index(owner, part)
        if k is None or len(self.locks[k].joints) == 1:
            found = np.array(self.motion.u, dtype=object)
            for j in () if k is None or self.locks[k].joints[0][0] in self.motion.topology.cut_names else self.rows[k]:
                found[j] = 0.0
            return found
        return self.struck(owner, part, 0.0)

    def struck(self, owner: str, part: str, restitution: Scalar) -> Array:
        """Speeds of the state after an impact, with impulses through the whole mechanism (Newton's restitution).

        What joints rest against takes part as far as it pushes; where a first solution would have it pull, it lets go.
        Friction has no impulse.  Only the struck joint has a speed along its impulse, so that no energy comes in.
        """
        motion, k = self.motion, self._index(owner, part)
        if k is None:
            return motion.u
        G = motion.constraints.rows if motion.topology.constrained else []
        speed = sum((x * motion.u[j] for j, x in self.rows[k].items()), 0.0)
        gamma = np.zeros(len(G) + len(self.locks), dtype=object)
        gamma[:] = 0.0
        gamma[len(G) + k] = -(1.0 + restitution) * speed
        stuck = [lock.stuck * lock.side * lock.side for lock in self.locks]
        change, rests = motion.u, stuck
        for _ in range(2):
            stuck[k] = 1.0
            rests = [less_equal(restitution, 0.0) if i == k else s for i, s in enumerate(stuck)]
            change, impulses = Saddle(motion.mass_rows, G, self.rows, stuck)(np.zeros(len(motion.u)), gamma)
            pulls = [less(0.0, lock.side * p) for lock, p in zip(self.locks, impulses[len(G) :], strict=True)]
            stuck = [s * (1.0 - pull) for s, pull in zip(stuck, pulls, strict=True)]
        return self.still(motion.u + change, rests)

    def effort_of(self, owner: str, part: str) -> Scalar:
        """What one lock holds with, zero if its joint does not move."""
        pairs = zip(self.locks, self.efforts, strict=True)
        return sum((h for lock, h in pairs if (lock.owner, lock.part) == (owner, part)), 0.0)
