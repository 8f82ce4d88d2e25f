"""Which reactions follow from the motion, and which are a matter of fit and elasticity.

The unknowns are the reactions of all joints, of the tree and of the cuts alike, along the directions that each joint
holds, with the efforts of drives and gears; the rows are the balances of force and moment of every body.  Moments are
divided by a characteristic length.  Where this equilibrium matrix E has a null space N, the joints can carry stress
that no motion shows (NUMERICS of the project, section 2):

    E x + loads = 0    has the solutions    x + N a

A component is unique when its row of N vanishes.  For the others a choice is made that does not depend on which joints
were cut: the least norm of all reactions, or the least complementary energy of the joints whose compliance is given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.algebra.spatial import Pose, skew
from kinode.errors import ArgumentError
from kinode.formulations.newton_euler import NewtonEuler, complement
from kinode.formulations.snapshot import Snapshot
from kinode.model.fields import unknown
from kinode.model.system import joint_frame

if TYPE_CHECKING:
    from kinode.codegen.dynamics import Dynamics, State
    from kinode.model.frames import Resolve
    from kinode.model.joints import Joint

RANK = 1e-9  # singular values below this share of the largest are none; rounding leaves 1e-15
UNIQUE = 1e-8  # rows of the null space below this are none
COMPONENTS = ("force x", "force y", "force z", "moment x", "moment y", "moment z")

Reactions = dict[str, tuple[Array, Array]]


@dataclass(frozen=True, eq=False)
class Uniqueness:
    """What equilibrium tells of the reactions of one position; six components are force x, y, z and moment x, y, z,
    by a on b, about b's joint point, in a's joint axes."""

    unique: dict[str, Array]  # joint -> six times whether the component follows from the motion
    unique_effort: dict[str, bool]  # the same of what drives and gears do, by joint
    null_space: Array  # orthonormal columns; rows are the unknowns, found by ``places``
    places: dict[str, slice]  # rows of a joint's reaction
    directions: dict[str, Array]  # joint -> its unknowns as six components, moments divided by the length
    length: float

    @property
    def redundancy(self) -> int:
        """The number of independent stresses that no motion shows."""
        return int(self.null_space.shape[1])

    def stresses(self, joint: str) -> Array:
        """Six components of a joint for each column of the null space, moments divided by the length."""
        found: Array = self.directions[joint] @ self.null_space[self.places[joint]]
        return found

    def minimum_norm(self, reactions: Mapping[str, Any], compliance: Mapping[str, Any] | None = None) -> Reactions:
        """Reactions of all joints that balance like the given ones, (force, moment) each, shared out by a rule.

        The rule is the least norm, moments divided by the length.  With ``compliance`` it is the least complementary
        energy: for each joint six numbers (m/N for forces, rad/(N m) for moments), or one, c, for forces, with
        c/length^2 for moments.  Joints without are rigid; what they alone share is by least norm.  Efforts of drives
        and gears have no part in the rule.
        """
        given = self._read(reactions)
        if not self.redundancy:
            return {name: (w[:3], w[3:] * self.length) for name, w in given.items()}
        x = np.concatenate([given[name] for name in self.directions])
        N = np.vstack([self.stresses(name) for name in self.directions])
        left = np.eye(self.redundancy)
        rules = [np.ones(len(x))] if compliance is None else [np.sqrt(self._weights(compliance)), np.ones(len(x))]
        for weight in rules:
            x, left = _settle(weight, x, N, left)
        parts = x.reshape(-1, 6)
        return {name: (w[:3], w[3:] * self.length) for name, w in zip(self.directions, parts, strict=True)}

    def _read(self, reactions: Mapping[str, Any]) -> dict[str, Array]:
        """Six components for each joint, moments divided by the length."""
        found = {}
        for name in self.directions:
            if name not in reactions:
                raise ArgumentError(f"minimum_norm: the reaction of {name} is missing; those of all joints are needed")
            pair = reactions[name]
            force, moment = (pair.force, pair.moment) if hasattr(pair, "force") else pair
            found[name] = np.concatenate(
                [np.asarray(force, dtype=float), np.asarray(moment, dtype=float) / self.length]
            )
        return found

    def _weights(self, compliance: Mapping[str, Any]) -> Array:
        found = {name: np.zeros(6) for name in self.directions}
        for name, value in compliance.items():
            if name not in found:
                raise ArgumentError(unknown("compliance: no joint is called", name, found))
            try:
                numbers = np.asarray(value, dtype=float)
            except (TypeError, ValueError):
                raise ArgumentError(f"compliance of {name}: one number or six are expected, not {value!r}") from None
            if numbers.shape not in ((), (6,)) or not np.all(np.isfinite(numbers)) or np.any(numbers < 0):
                raise ArgumentError(f"compliance of {name}: one number or six, none negative, not {value!r}")
            found[name] = np.full(6, numbers) if numbers.ndim == 0 else numbers * np.repeat([1.0, self.length**2], 3)
        return np.concatenate(list(found.values()))


def _settle(weight: Array, x: Array, N: Array, left: Array) -> tuple[Array, Array]:
    """x + N left a with the least weighted norm, and what of ``left`` this leaves open."""
    A = weight[:, None] * (N @ left)
    U, s, Vt = np.linalg.svd(A, full_matrices=True)
    rank = int(np.sum(s > RANK * s.max(initial=0.0)))
    a = -Vt[:rank].T @ ((U[:, :rank].T @ (weight * x)) / s[:rank])
    return x + N @ (left @ a), left @ Vt[rank:].T


def analyze(dynamics: Dynamics, state: State, *, p: Any = None, inputs: Any = None) -> Uniqueness:
    """The reactions that follow from the motion, at one state in which all loops are closed."""
    return next(analyze_all(dynamics, np.array([state.t]), state.y[None], p=p, inputs=inputs))


def analyze_all(dynamics: Dynamics, t: Array, y: Array, *, p: Any = None, inputs: Any = None) -> Iterator[Uniqueness]:
    """The same for each of many states, the rows of y = [q, u, z]."""
    structure = Structure(dynamics, p)
    for poses in structure.poses(np.asarray(t, dtype=float), np.asarray(y, dtype=float), inputs):
        yield structure.analyze(poses)


@dataclass(frozen=True, eq=False)
class Held:
    """A joint in one position: frame M, canonical axes, and directions [moment; force] about it in them."""

    joint: Joint
    R_WM: Array
    p_WM: Array
    R_FM: Array  # to the given axes of F
    S: Array  # freedoms
    N: Array  # directions of the reaction; their multipliers are forces
    T: Array  # wrench of unit efforts, those of angles being the length


class Structure:
    """The constants of all joints of a system."""

    def __init__(self, dynamics: Dynamics, p: Any = None) -> None:
        self.dynamics, self.system, self.topology = dynamics, dynamics.system, dynamics.topology
        self.p = p
        self.resolve: Resolve = dynamics._resolver(p)
        self.bodies = {name: 6 * k for k, name in enumerate(self.system.bodies)}
        self.sides = {name: self._sides(joint) for name, joint in self.system.joints.items()}
        start = dynamics.initial
        self.length = NewtonEuler(Snapshot(self.topology, start.t, start.q, start.u, start.z)).length

    def _sides(self, joint: Joint) -> tuple[Pose, Pose]:
        """Frames F and M in their bodies, canonical axes."""
        C = Pose(joint.axis_rotation(self.resolve, self.system.nominal), np.zeros(3))
        F, M = (joint_frame(joint, side).pose(self.resolve) @ C for side in ("parent", "child"))
        return _plain(F), _plain(M)

    def poses(self, t: Array, y: Array, inputs: Any = None) -> Iterator[dict[str, Pose]]:
        """Poses of all bodies for each state."""
        n, m = self.dynamics.n_q, self.dynamics.n_q + self.dynamics.n_u
        names = [f"{body}.{what}" for body in self.bodies for what in ("rotation", "position")]
        found = self.dynamics.evaluate(names, t, y[:, :n], y[:, n:m], z=y[:, m:], p=self.p, inputs=inputs)
        for i in range(len(y)):
            poses = {b: Pose(found[f"{b}.rotation"][i], found[f"{b}.position"][i]) for b in self.bodies}
            poses["world"] = Pose(np.eye(3), np.zeros(3))
            yield poses

    def held(self, name: str, poses: dict[str, Pose]) -> Held:
        """A joint between bodies in given poses."""
        joint = self.system.joints[name]
        F, M = self.sides[name]
        X_WF, X_WM = poses[joint.a.body] @ F, poses[joint.b.body] @ M
        X = _plain(X_WF.inverse() @ X_WM)
        form = joint.form(self.resolve)
        q = np.asarray(joint.solve_coordinates(X, form), dtype=float)
        S, T = (
            np.asarray(find(q, form), dtype=float).reshape(6, joint.n_u)
            for find in (joint.motion_subspace, joint.effort_wrench)
        )
        T = T * [self.length if kind == "angle" else 1.0 for _, kind in joint.coordinates]
        C = np.asarray(joint.axis_rotation(self.resolve, self.system.nominal), dtype=float)
        return Held(joint, X_WM.R, X_WM.p, C @ X.R, S, complement(S, self.length), T)

    def columns(self, held: Held, directions: Array, poses: dict[str, Pose]) -> Array:
        """Balances of all bodies for unit wrenches on b and their opposites on a; moments divided by the length."""
        E = np.zeros((6 * len(self.bodies), directions.shape[1]))
        moment, force = held.R_WM @ directions[:3], held.R_WM @ directions[3:]
        for body, sign in ((held.joint.a.body, -1.0), (held.joint.b.body, 1.0)):
            if body in self.bodies:
                k = self.bodies[body]
                arm = np.asarray(skew(held.p_WM - poses[body].p), dtype=float)
                E[k : k + 3] = sign * (moment + arm @ force) / self.length
                E[k + 3 : k + 6] = sign * force
        return E

    def analyze(self, poses: dict[str, Pose]) -> Uniqueness:
        """The null space of the equilibrium matrix, and what it says of each component."""
        holds = {name: self.held(name, poses) for name in self.system.joints}
        E, places = self._equilibrium(holds, poses)
        bound = hasattr(self.dynamics, "closing")
        null = _null_space(E) if bound else np.zeros((E.shape[1], 0))  # a tree is determinate
        unique, efforts, directions = {}, {}, {}
        for name, held in holds.items():
            R, N = held.R_FM, held.N
            directions[name] = np.vstack([R @ N[3:], R @ N[:3] / self.length])
            size = np.linalg.norm(directions[name] @ null[places[name]], axis=1)
            unique[name] = size < UNIQUE
        for origin in (f"{name}.effort" for name in holds):
            if origin in places:
                size = np.linalg.norm(null[places[origin]], axis=1)
                efforts[origin.removesuffix(".effort")] = bool(np.all(size < UNIQUE))
        kept = {name: places[name] for name in holds}
        return Uniqueness(unique, efforts, null, kept, directions, self.length)

    def _equilibrium(self, holds: dict[str, Held], poses: dict[str, Pose]) -> tuple[Array, dict[str, slice]]:
        """E, and the columns of each joint's reaction and of its drive or gear."""
        blocks = {name: self.columns(held, held.N, poses) for name, held in holds.items()}
        for name, held in holds.items():
            if held.joint.driven and held.joint.n_u:
                blocks[f"{name}.effort"] = self.columns(held, held.T, poses)
        for name, coupling in self.topology.couplings.items():
            one, two = holds[name], holds[coupling.leader]
            ratio = float(self.resolve(coupling.ratio))
            units = [[self.length if kind == "angle" else 1.0 for _, kind in x.joint.coordinates] for x in (one, two)]
            against = two.T * (ratio * np.array(units[0]) / np.array(units[1]))
            gear = self.columns(one, one.T, poses) - self.columns(two, against, poses)
            blocks[f"{name}.effort"] = np.hstack([blocks.get(f"{name}.effort", gear[:, :0]), gear])
        places, start = {}, 0
        for origin, block in blocks.items():
            places[origin] = slice(start, start + block.shape[1])
            start += block.shape[1]
        return np.hstack(list(blocks.values())), places


def _null_space(E: Array) -> Array:
    _, s, Vt = np.linalg.svd(E, full_matrices=True)
    return np.asarray(Vt[int(np.sum(s > RANK * s.max(initial=0.0))) :].T)


def _plain(X: Pose) -> Pose:
    return Pose(np.asarray(X.R, dtype=float), np.asarray(X.p, dtype=float))
