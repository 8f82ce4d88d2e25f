"""The equations of assembly: coordinates of all joints, and what must vanish where loops are closed; the speeds there.

The unknowns are the coordinates of the state and those of the cut joints, so that every joint counts alike and
the result does not depend on where a loop is cut.  Cut joints have six rows each (``closure.py``).  Constraint
elements, and followers with a given coordinate, have rows of their own.  Lengths are divided by the characteristic
length of the mechanism.

Initial speeds in a closed position are a linear problem: exact speeds are met, and the sum of weight * speed^2 over the
freedoms of all joints is least.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.starts.assembly import check_speeds
from kinode.dynamics.starts.closure import LoopEquations, LoopPoses
from kinode.dynamics.starts.initial_values import InitialValues, find_offset, weight_of
from kinode.structure.loop_closure import factorize_many


class RowGroup(NamedTuple):
    """The rows of one cut joint, constraint element or follower, and the freedoms that move them."""

    owner: str
    rows: slice
    columns: tuple[int, ...]
    units: tuple[str, ...]  # length or angle


class AssemblyProblem:
    """What must vanish in a closed position, and how far a position is from the requested initial values.

    Parameters
    ----------
    poses : LoopPoses
        The cut joints and followers.
    loops : LoopEquations or None
        The constraint rows of the system, None where there are none.
    requested : InitialValues
        The requested initial values.
    """

    def __init__(self, poses: LoopPoses, loops: LoopEquations | None, requested: InitialValues) -> None:
        self.poses, self.loops, self.requested = poses, loops, requested
        self.topology, self.joints, self.length = poses.topology, poses.joints, poses.length
        self.point, self.resolve, self.advance = poses.point, poses.resolve, poses.advance
        self.q_of, self.u_of, self.n_q, self.n_u = poses.q_of, poses.u_of, poses.n_q, poses.n_u
        self.followers = poses.followers
        self.names = [name for name in self.u_of if self.joints[name].n_u] + list(self.followers)

    # -- what each freedom is ----------------------------------------------------------------------
    @cached_property
    def owners(self) -> list[str]:
        """The joint of each freedom; freedoms of followers come behind those of the unknowns."""
        return [name for name in self.names for _ in range(self.joints[name].n_u)]

    @cached_property
    def units(self) -> Array:
        """1 for angles, the characteristic length for lengths, of each freedom."""
        kinds = [kind for name in self.names for _, kind in self.joints[name].coordinates]
        return np.array([1.0 if kind == "angle" else self.length for kind in kinds])

    @cached_property
    def weights(self) -> Array:
        """How much each freedom counts."""
        return np.array([weight_of(self.requested, name) for name in self.owners])

    def exact(self, field: str) -> Array:
        """Which freedoms are given exactly; ``field`` is exact_q or exact_u."""
        marks = [getattr(self.requested.joints[name], field) for name in self.names]
        return np.concatenate([np.empty(0, dtype=bool), *marks])

    @property
    def bound(self) -> bool:
        """Whether coordinates depend on each other at all."""
        return self.loops is not None or bool(self.followers)

    # -- positions ---------------------------------------------------------------------------------
    def requested_position(self) -> Array:
        """The position that the initial values ask for; cut joints with their own value."""
        x = np.zeros(self.n_q)
        for name, where in self.q_of.items():
            x[where] = self.requested.joints[name].q if name in self.requested.joints else 0.0
        return x

    def position_of(self, q: Array) -> Array:
        """The position of coordinates of the state, angles of cut joints as near as can be to the requested ones."""
        x = self.poses.position_of(q)
        for cut in self.poses.cuts:
            where = self.q_of[cut.joint.name]
            x[where] = self.unwound(cut.joint.name, x[where])
        return x

    def unwound(self, name: str, q: Array) -> Array:
        """The same coordinates with full turns taken off that lead away from the requested ones."""
        wraps = self.poses.layout.wraps(name, self.resolve)
        if not wraps.any():
            return q
        unwound: Array = q - wraps * 2 * np.pi * np.round((q - self.requested.joints[name].q) / (2 * np.pi))
        return unwound

    def coordinates(self, x: Array) -> dict[str, Array]:
        """The coordinates of all joints that can move, by name."""
        values = {name: x[where] for name, where in self.q_of.items()}
        if self.followers:
            out = self.poses.evaluate(x)[self.poses.plan.followers]
            values |= {name: out[k, :1] for k, name in enumerate(self.followers)}
        return values

    # -- equations ---------------------------------------------------------------------------------
    @cached_property
    def groups(self) -> list[RowGroup]:
        """The rows by owner, in their order, with the freedoms that can move them."""
        groups, at = [], 0

        def append(owner: str, columns: tuple[int, ...], units: tuple[str, ...]) -> None:
            nonlocal at
            groups.append(RowGroup(owner, slice(at, at + len(units)), columns, units))
            at += len(units)

        for k, cut in enumerate(self.poses.cuts):
            append(cut.joint.name, self.poses.layout.columns(k), ("angle",) * 3 + ("length",) * 3)
        if self.loops is not None:
            rows, columns = self.loops.pattern
            for k in np.flatnonzero(self.element_rows).tolist():
                name, unit = self.loops.names[k]
                append(name, tuple(dict.fromkeys(columns[rows == k].tolist())), (unit,))
        for k in self.given_followers:
            name = self.followers[k]
            append(name, tuple(np.flatnonzero(self.poses.leading[k]).tolist()), (self.joints[name].coordinates[0][1],))
        return groups

    @cached_property
    def n_cut_rows(self) -> int:
        """How many of the loop equations belong to cut joints; they come first."""
        return sum(len(cut.units) for cut in self.poses.cuts)

    @cached_property
    def element_rows(self) -> Array:
        """Which rows of the loop equations belong to constraint elements and hold positions."""
        if self.loops is None:
            return np.zeros(0, dtype=bool)
        return self.loops.position_rows & (np.arange(len(self.loops.position_rows)) >= self.n_cut_rows)

    @cached_property
    def given_followers(self) -> list[int]:
        """Followers whose coordinate is given exactly."""
        return [k for k, name in enumerate(self.followers) if self.requested.joints[name].exact_q.all()]

    def equations(self, x: Array) -> tuple[Array, Array]:
        """What must vanish at a position, and its Jacobian."""
        out = self.poses.evaluate(x) if self.poses.cuts or self.followers else np.empty(0)
        r, A = self.poses.errors(out)
        if self.element_rows.any():
            c, G, _ = self._elements(x)
            r, A = np.concatenate([r, c[self.element_rows]]), np.vstack([A, G[self.element_rows]])
        if self.given_followers:
            d, D = self._follower_offsets(out)
            r, A = np.concatenate([r, d[self.given_followers]]), np.vstack([A, D[self.given_followers]])
        return r, A

    def residuals(self, x: Array) -> Array:
        """What must vanish at a position, without its Jacobian."""
        if self.element_rows.any() or self.given_followers or not self.poses.cuts:
            return self.equations(x)[0]
        return self.poses.residuals(self.poses.evaluate(x))

    def rates_along(self, x: Array, step: Array) -> Array:
        """The rates along a step of what the equations and their Jacobian are made of (``LoopPoses.rates_along``)."""
        return self.poses.rates_along(x, self.poses.layout.rates(x, step), bool(self.element_rows.any()))

    def _elements(self, x: Array) -> tuple[Array, Array, Array]:
        """Residuals, Jacobian and rates of the loop equations at rest."""
        assert self.loops is not None
        c, G, drift = self.loops.evaluate(self.point.replaced(q=x[: self.topology.n_q]))
        return c, np.hstack([G, np.zeros((len(G), self.n_u - self.topology.n_u))]), drift

    def _follower_offsets(self, out: Array) -> tuple[Array, Array]:
        """How far followers are from their requested coordinate, and how speeds change that."""
        values = out[self.poses.plan.followers]
        asked = np.array([self.requested.joints[name].q[0] for name in self.followers])
        units = self.units[len(self.units) - len(self.followers) :]
        return (values[:, 0] - asked) / units, self.poses.leading * (values[:, 2] / units)[:, None]

    def offsets(self, x: Array) -> tuple[Array, Array]:
        """How far all joints are from their requested coordinates, and how speeds change that."""
        n = self.n_u
        d, D = np.zeros(n), np.zeros((n, n))
        for name, where in self.u_of.items():
            if name in self.requested.joints:
                asked = self.requested.joints[name].q
                d[where], D[where, where] = find_offset(self.joints[name], x[self.q_of[name]], asked)
        d, D = d / self.units[:n], D / self.units[:n, None]
        if not self.followers:
            return d, D
        behind, along = self._follower_offsets(self.poses.evaluate(x))
        return np.concatenate([d, behind]), np.vstack([D, along])

    # -- speeds ------------------------------------------------------------------------------------
    def speed_equations(self, x: Array) -> tuple[Array, Array, list[str]]:
        """A and b with A u = b for the speeds of all unknowns in a closed position, and the owner of each row."""
        poses = self.poses
        out = poses.evaluate(x) if poses.cuts else np.empty(0)
        A = poses.errors(out)[1]
        b = -out[poses.plan.moving] / np.repeat([1.0, self.length], 3) if poses.cuts else np.empty(0)
        owners = [cut.joint.name for cut in poses.cuts for _ in range(6)]
        if self.loops is None:
            return A, b.ravel(), owners
        _, G, drift = self._elements(x)
        start = self.n_cut_rows
        owners += [name for name, _ in self.loops.names[start:]]
        return np.vstack([A, G[start:]]), np.concatenate([b.ravel(), -drift[start:]]), owners

    def all_speeds(self, x: Array) -> tuple[Array, Array]:
        """H and h: the speeds of all joints, followers too, are H u + h."""
        H, h = np.eye(self.n_u), np.zeros(self.n_u)
        if not self.followers:
            return H, h
        values = self.poses.evaluate(x)[self.poses.plan.followers]
        return np.vstack([H, self.poses.leading * values[:, 2:]]), np.concatenate([h, values[:, 1]])


def solve_speeds(problem: AssemblyProblem, x: Array) -> Array:
    """Speeds of all unknowns, for closed coordinates."""
    n, coordinates = problem.n_u, problem.coordinates(x)
    values = problem.requested.joints
    asked = np.concatenate([np.empty(0), *(values[name].u(coordinates[name]) for name in problem.names)])
    if not problem.bound:
        return asked
    exact, behind = problem.exact("exact_u"), np.arange(len(asked)) >= n
    H, h = problem.all_speeds(x)
    u = np.where(exact[:n], asked[:n], 0.0)
    A, b, owners = problem.speed_equations(x)
    sure = exact & behind  # followers
    if sure.any():
        A = np.vstack([A, H[sure] / problem.units[sure][:, None]])
        b = np.concatenate([b, ((asked - h) / problem.units)[sure]])
    owners += [name for name, mark in zip(problem.owners, sure, strict=True) if mark]
    free = np.flatnonzero(~exact[:n])
    if len(free):
        weight = np.sqrt([problem.requested.weights.get(name, 1.0) for name in problem.owners]) / problem.units
        given = np.array([values[name].has_u for name in problem.owners])
        w = weight * (asked - h)

        def levels() -> Iterator[tuple[Array, Array]]:
            """One at a time: those of large systems are large."""
            yield A[:, free], b - A @ u
            for some in (given, ~given):
                rows = weight[some][:, None] * H[some]
                yield rows[:, free], w[some] - rows @ u

        u[free] += _solve_in_turn(levels())
    check_speeds(problem, A @ u - b, u, owners)
    return u


def _solve_in_turn(levels: Iterator[tuple[Array, Array]]) -> Array:
    """x with the least |A x - b|, one A and b after the other: each within what those before it leave free."""
    A, b = next(levels)
    factor = factorize_many(A, scaled=True)
    if factor is not None:
        x, free = factor.step(b), factor.null_space()
    else:
        sure, _, rank, _ = np.linalg.lstsq(A, b, rcond=1e-10)
        if rank == A.shape[1]:
            return np.asarray(sure)
        x, free = np.zeros(A.shape[1]), np.eye(A.shape[1])
        levels = chain([(A, b)], levels)
    for A, b in levels:
        if not free.shape[1]:
            break
        seen = A @ free
        U, sizes, V = np.linalg.svd(seen, full_matrices=len(seen) < seen.shape[1])
        rank = int((sizes > 1e-10 * np.linalg.norm(A)).sum())
        x = x + free @ (V[:rank].T @ ((U.T @ (b - A @ x))[:rank] / sizes[:rank]))
        free = free @ V[rank:].T
    return x
