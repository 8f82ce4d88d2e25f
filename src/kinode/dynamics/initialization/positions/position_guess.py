"""Where to begin the search for a closed position: bodies placed joint by joint, the surest joints first.

Every joint has a coordinate that is exact (given, driven, or of no freedom), a guess, or none.  The bodies are placed
along the spanning tree of the surest joints, whatever tree the state uses.  The coordinates of the others follow from
the poses of their frames.  Where given and guessed joints alone connect all bodies, that is the closed position itself,
if there is one.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from enum import IntEnum
from functools import cached_property
from typing import NamedTuple

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import IDENTITY_POSE, ZERO3, Pose
from kinode.dynamics.initialization.assembly_problem import AssemblyProblem
from kinode.dynamics.initialization.initial_values import is_guessed
from kinode.model.joints.joint import Joint
from kinode.model.system import joint_frame
from kinode.multibody.snapshot import Snapshot


class Surety(IntEnum):
    """How sure the coordinates of a joint are, the surest first."""

    EXACT = 0
    GUESSED = 1
    IN_TREE = 2  # nothing is requested of it, and it is a joint of the state
    OPEN = 3


class _Placed(NamedTuple):
    """A joint's constants: the poses of its frames in their bodies, and its own numbers."""

    joint: Joint
    F: Pose
    M: Pose
    form: Array


class PositionGuess:
    """Makes positions to begin with, from coordinates of some joints."""

    def __init__(self, problem: AssemblyProblem) -> None:
        self.problem = problem
        self._placed = {name: self._place(joint) for name, joint in problem.joints.items()}
        self._given = self._given_coordinates()
        self.surety = {name: self._surety(joint) for name, joint in problem.joints.items()}
        self._order = self._surest_tree()

    def _place(self, joint: Joint) -> _Placed:
        resolve, system = self.problem.resolve, self.problem.topology.system
        C = Pose(np.asarray(joint.axis_rotation(resolve, system.nominal), dtype=float), ZERO3)
        F, M = (_plain(joint_frame(joint, side).pose(resolve) @ C) for side in ("parent", "child"))
        return _Placed(joint, F, M, np.asarray(joint.form(resolve), dtype=float))

    def _given_coordinates(self) -> dict[str, Array]:
        """Coordinates of all joints as requested or driven; a leader's from its follower where only that has one."""
        problem = self.problem
        values = problem.requested.joints
        at = problem.point.replaced(q=problem.requested_position()[: problem.topology.n_q])
        snapshot = Snapshot(problem.topology, at)
        given = {name: np.asarray(value.q, dtype=float) for name, value in values.items()}
        for name, joint in problem.joints.items():
            if joint.driven:
                given[name] = np.asarray(snapshot.joint_state(name)[0], dtype=float)
            elif not joint.n_u:
                given[name] = np.empty(0)
        for name in problem.followers:
            coupling = problem.topology.couplings[name]
            ratio, offset = (float(problem.resolve(x)) for x in (coupling.ratio, coupling.offset))
            if self._requested(coupling.leader) or not self._requested(name):
                given[name] = ratio * given[coupling.leader] + offset
            else:
                given[coupling.leader] = (given[name] - offset) / ratio
        return given

    def _requested(self, name: str) -> bool:
        values = self.problem.requested
        return name not in values.joints or is_guessed(values, name) or bool(values.joints[name].exact_q.any())

    def _surety(self, joint: Joint) -> Surety:
        values = self.problem.requested
        if joint.name not in values.joints or values.joints[joint.name].exact_q.all():
            return Surety.EXACT
        if joint.name in self.problem.followers or self._requested(joint.name):
            return Surety.GUESSED
        return Surety.IN_TREE if joint.name in self.problem.topology.q_of else Surety.OPEN

    def _surest_tree(self) -> list[tuple[str, bool]]:
        """Joints in the order in which bodies are placed, and whether from parent side to child side."""
        at: dict[str, list[str]] = {}
        for name, joint in self.problem.joints.items():
            at.setdefault(joint.a.body, []).append(name)
            at.setdefault(joint.b.body, []).append(name)
        order, reached = [], {"world"}
        places = {name: k for k, name in enumerate([*self.problem.topology.q_of, *self.problem.joints])}
        waiting = [(self.surety[name], places[name], name) for name in at.get("world", ())]
        heapq.heapify(waiting)
        while waiting:
            *_, name = heapq.heappop(waiting)
            a, b = self.problem.joints[name].a.body, self.problem.joints[name].b.body
            if a in reached and b in reached:
                continue
            forwards = a in reached
            body = b if forwards else a
            reached.add(body)
            order.append((name, forwards))
            for other in at[body]:
                heapq.heappush(waiting, (self.surety[other], places[other], other))
        return order

    def position(self, coordinates: Mapping[str, Array] | None = None) -> Array:
        """The position with some coordinates in the place of requested ones; joints off the tree follow from poses."""
        q_of = {**self._given, **(coordinates or {})}
        poses = {"world": IDENTITY_POSE}
        used = set()
        for name, forwards in self._order:
            joint, F, M, form = self._placed[name]
            T = _plain(joint.transform(q_of[name], form))
            if forwards:
                poses[joint.b.body] = poses[joint.a.body] @ F @ T @ M.inverse()
            else:
                poses[joint.a.body] = poses[joint.b.body] @ M @ T.inverse() @ F.inverse()
            used.add(name)
        x = np.zeros(self.problem.n_q)
        for name, where in self.problem.q_of.items():
            joint, F, M, form = self._placed[name]
            if name in used or self.surety[name] <= Surety.GUESSED or not joint.n_u:
                x[where] = q_of[name]
            else:
                X = (poses[joint.a.body] @ F).inverse() @ (poses[joint.b.body] @ M)
                x[where] = np.asarray(joint.solve_coordinates(X, form), dtype=float)
        return x

    def settle(self, x: Array) -> tuple[Array, Array]:
        """A position with the coordinates that follow from exact ones, and a mark for each freedom that does."""
        there, placed = x.copy(), self.position()
        for name in self._settled:
            there[self.problem.q_of[name]] = placed[self.problem.q_of[name]]
        return there, np.array([owner in self._settled for owner in self.problem.owners], dtype=bool)

    @cached_property
    def _settled(self) -> frozenset[str]:
        """Joints within a group of bodies that exact joints place."""
        groups = {body: body for body in ("world", *self.problem.topology.system.bodies)}
        for name, forwards in self._order:
            joint = self.problem.joints[name]
            if self.surety[name] == Surety.EXACT:
                old, new = (joint.a.body, joint.b.body) if forwards else (joint.b.body, joint.a.body)
                groups[new] = groups[old]
        joints = self.problem.joints
        inside = [name for name, joint in joints.items() if groups[joint.a.body] == groups[joint.b.body]]
        return frozenset(name for name in inside if name in self.problem.u_of and self.surety[name] != Surety.EXACT)

    def scattered(self, rng: np.random.Generator, scale: float) -> Array:
        """A position in which joints of which nothing is requested stand anywhere; ``scale`` 1 is half a turn."""
        others = {}
        for name in self.problem.u_of:
            joint = self.problem.joints[name]
            if self.surety[name] > Surety.GUESSED and joint.n_u:
                kinds = np.array([kind == "angle" for _, kind in joint.coordinates])
                reach = np.where(kinds, np.pi, self.problem.length)
                others[name] = joint.advance(self._given[name], scale * reach * rng.uniform(-1.0, 1.0, joint.n_u))
        return self.position(others)


def _plain(X: Pose) -> Pose:
    return Pose(np.asarray(X.R, dtype=float), np.asarray(X.p, dtype=float))
