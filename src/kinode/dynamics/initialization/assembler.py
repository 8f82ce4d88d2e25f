"""Assembly: a state in which all constraints hold, as near as can be to what initial values ask for.

Positions: over all coordinates in which the constraints hold and exact values are met, the sum over the freedoms of ALL
joints of weight * departure^2 is least, angles in radians, lengths in characteristic lengths.  A joint that closes a
loop counts like any other, its coordinates measured from the poses of its frames, so that the result does not
depend on where a loop is cut.  From each of several starts the constraints are closed (``close``), then the state
slides along them to the least departure: Newton's method on the tangent space with the curvature of the constraints,
with a line search.  The nearest of the states that are found is taken.

Speeds: a linear problem; exact ones are met, and the sum of weight * speed^2 over the freedoms of all joints is least.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.initialization.assembly_errors import check_speeds, explain
from kinode.dynamics.initialization.initial_values import UNSAID, InitialValues, depart
from kinode.dynamics.initialization.loop_equations import LoopEquations
from kinode.kernels.compiled_kernels import Kernels
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.kernel_table import outputs_of
from kinode.model.base.frames import Resolve
from kinode.model.constraints.gear_coupling import CoordinateCoupling
from kinode.model.joints.joint import Joint
from kinode.multibody.dependent_joints import measured_joints
from kinode.multibody.snapshot import Snapshot
from kinode.structure.evaluation_point import EvaluationPoint
from kinode.structure.loop_closure import CLOSED, CLOSED_ENOUGH, RANK
from kinode.structure.loop_closure import close as close_rows

NEAR = 0.25  # rad, or characteristic lengths: a state so near is taken without a look at other branches
STARTS = range(4, 10)  # how many others are tried, fewer the larger the system
SLIDES, HALVINGS = 40, 30
CURVED = 12  # freedoms up to which the curvature of the constraints is taken into account
FEW = 8  # times that joints are measured in plain numbers: compiling takes as long as some fifteen
SAME = 1e-6  # of the least departure: two states are equally near


@dataclass(frozen=True, eq=False)
class Point:
    """A position on the way: weighted departures, their slope along the freedoms that are left."""

    q: Array
    cost: float
    slope: Array
    tangent: Array  # one column for each freedom that is left
    flat: Array  # departures for unit steps along these


class Assembler:
    """One assembly: the initial values that are asked for, and the numbers that do not change on the way.

    ``loops`` are the constraint rows, None where there are none.  ``point`` has the time, the other states, the
    parameters and the inputs; its q and u do not count.  ``resolve`` gives numbers of the model at these parameters.
    """

    def __init__(
        self,
        kernels: Kernels,
        loops: LoopEquations | None,
        wishes: InitialValues,
        point: EvaluationPoint,
        resolve: Resolve,
    ) -> None:
        self.kernels, self.loops, self.wishes, self.point, self.resolve = kernels, loops, wishes, point, resolve
        self.topology, self.joints = kernels.topology, kernels.topology.system.joints
        self.length = loops.length if loops is not None else 1.0
        self.measured = measured_joints(self.topology)
        self.names = [*(n for n in self.topology.q_of), *self.measured]
        joints = [self.joints[name] for name in self.names]
        self.units = np.array([1.0 if kind == "angle" else self.length for j in joints for _, kind in j.coordinates])
        self.weights = np.concatenate([np.full(j.n_u, self._weight(j.name)) for j in joints] or [np.empty(0)])
        self.held = self._of_state("exact_q")
        self.wraps = {j.name: _wraps(j, resolve) for j in joints}
        constraints = self.topology.system.constraints.values()
        self.tied = {name for c in constraints if isinstance(c, CoordinateCoupling) for name in c.joints().values()}

    def _weight(self, name: str) -> float:
        return self.wishes.weights.get(name, self.wishes.joints[name].weight)

    @property
    def bound(self) -> bool:
        """Whether coordinates depend on each other at all."""
        return self.loops is not None or bool(self.measured)

    def _of_state(self, field: str) -> Array:
        """What is exact of the speeds of the state."""
        found = np.zeros(self.topology.n_u, dtype=bool)
        for name, where in self.topology.u_of.items():
            found[where] = getattr(self.wishes.joints[name], field)
        return found

    # -- what is asked of a position ---------------------------------------------------------------
    def measure(self, q: Array, u: Array) -> tuple[dict[str, Array], dict[str, Array], Array]:
        """Coordinates and speeds of all joints by name, and all speeds for unit speeds of the state."""
        topology, joints = self.topology, self.joints
        found_q = {name: q[where] for name, where in topology.q_of.items()}
        found_u = {name: u[where] for name, where in topology.u_of.items()}
        if not self.measured:
            return found_q, found_u, np.eye(topology.n_u)
        out = self._measured(q, u)
        for found, sizes in ((found_q, "n_q"), (found_u, "n_u")):
            for name in self.measured:
                size = getattr(joints[name], sizes)
                found[name], out = out[:size], out[size:]
        return (
            found_q,
            found_u,
            np.vstack([np.eye(topology.n_u), out.reshape(len(self.units) - topology.n_u, topology.n_u)]),
        )

    def _measured(self, q: Array, u: Array) -> Array:
        """What joints that are not in the state measure; where it is asked for a few times, without compiling it."""
        kernel = Kernel("measures")
        self._times_measured += 1
        there = self.point.replaced(q=q, u=u)
        if self._times_measured <= FEW and not self.kernels.has(kernel):
            return np.array(outputs_of(kernel, Snapshot(self.topology, there)), dtype=float)
        return self.kernels.call(kernel, there)

    _times_measured = 0

    def departures(self, q: Array) -> tuple[Array, Array]:
        """How far all joints are from what is wished, and the change of that for unit speeds of the state."""
        found, _, H = self.measure(q, np.zeros(self.topology.n_u))
        d, D, start = np.zeros(len(H)), np.zeros_like(H), 0
        for name in self.names:
            joint, wraps = self.joints[name], self.wraps[name] & (name in self.topology.cut_names)
            rows = slice(start, start + joint.n_u)
            d[rows], change = depart(joint, found[name], self.wishes.joints[name].q, wraps)
            D[rows] = change @ H[rows]
            start = rows.stop
        return d / self.units, D / self.units[:, None]

    def rows(self, q: Array) -> tuple[Array, Array]:
        """Residuals of all that must hold, and their Jacobian: constraints, then exact values of measured joints."""
        r, A = np.zeros(0), np.zeros((0, self.topology.n_u))
        if self.loops is not None:
            c, G, _ = self.loops.evaluate(self.point.replaced(q=q, u=np.zeros(self.topology.n_u)))
            r, A = c[self.loops.holding], G[self.loops.holding]
        exact = self.exact_measures("exact_q")
        if exact.any():
            d, D = self.departures(q)
            r, A = np.concatenate([r, d[exact]]), np.vstack([A, D[exact]])
        return r, A

    def exact_measures(self, field: str) -> Array:
        """Which of all freedoms are exact and no entry of the state."""
        found = [np.zeros(self.topology.n_u, dtype=bool)]
        found += [getattr(self.wishes.joints[name], field) for name in self.measured]
        return np.concatenate(found)

    # -- positions ---------------------------------------------------------------------------------
    def solve_positions(self) -> Array:
        """The coordinates of the state that are nearest to what is wished."""
        begin = self._wished_q()
        if not self.bound or self._is_met(begin, self.weights >= 0, CLOSED):
            return begin
        found: list[Point] = []
        for k, q in enumerate(self.starts(begin)):
            q, gap = self.close(q)
            if gap > CLOSED_ENOUGH:
                continue
            q = self._settle(self._unwound(q))
            found.append(self._point(q, self.weights))
            if k == 0 and self._is_surely_nearest(q):
                break
        if not found:
            raise explain(self, begin)
        least = min(point.cost for point in found)
        return max((x for x in found if x.cost <= least * (1 + SAME) + 1e-20), key=self._preference).q

    def _settle(self, q: Array) -> Array:
        """The nearest position along the constraints: guesses first, then the joints of which nothing is said."""
        said = self.weights > UNSAID
        if not said.any():
            return self._slide(q, self.weights)
        q = self._slide(q, np.where(said, self.weights, 0.0))
        if self._is_met(q, said):
            return self._pinned._slide(q, self.weights)
        return self._slide(q, self.weights)

    @cached_property
    def _pinned(self) -> Assembler:
        """The same with all guesses exact, for where they can be met."""
        joints = {n: replace(w, exact_q=w.exact_q | (self._weight(n) > UNSAID)) for n, w in self.wishes.joints.items()}
        return self.with_values(replace(self.wishes, joints=joints))

    def with_values(self, wishes: InitialValues) -> Assembler:
        """The same assembly with other initial values."""
        return Assembler(self.kernels, self.loops, wishes, self.point, self.resolve)

    def _is_met(self, q: Array, which: Array, within: float = CLOSED_ENOUGH) -> bool:
        """Whether a position is closed and some of the joints are where they are wished."""
        d, _ = self.departures(q)
        return all(bool((abs(x) <= within).all()) for x in (self.rows(q)[0], d[which]))

    def _is_surely_nearest(self, q: Array) -> bool:
        """All joints are near, or those of the state are just where they are wished."""
        d, _ = self.departures(q)
        state = slice(0, self.topology.n_u)
        said = (self.weights[state] > UNSAID) | self.held
        return bool(abs(d).max(initial=0.0) <= NEAR or (said.all() and abs(d[state]).max(initial=0.0) <= CLOSED_ENOUGH))

    def close(self, q: Array) -> tuple[Array, float]:
        """A position near q in which all holds, and by how much it does not."""
        return close_rows(self.rows, self.topology.advance_q, q, ~self.held)

    def _wished_q(self) -> Array:
        q = np.zeros(self.topology.n_q)
        for name, where in self.topology.q_of.items():
            q[where] = self.wishes.joints[name].q
        return q

    def starts(self, begin: Array) -> Iterator[Array]:
        """Where to look for closed states: as wished, then spread over what may move; the same in every call."""
        yield begin
        rng = np.random.default_rng(0)
        reach = self.units[: self.topology.n_u] * np.where(self.units[: self.topology.n_u] == 1.0, np.pi, 1.0)
        for k in range(max(STARTS.start, min(STARTS.stop, 200 // max(self.topology.n_u, 1)))):
            step = rng.uniform(-1.0, 1.0, self.topology.n_u) * reach * (1.0 if k % 2 else 0.3)
            yield self.topology.advance_q(begin, np.where(self.held, 0.0, step))

    def _unwound(self, q: Array) -> Array:
        """The same position with full turns taken off that lead away from what is wished."""
        found = q.copy()
        for name, where in self.topology.q_of.items():
            turns = self.wraps[name] & ~self.wishes.joints[name].exact_q
            if name not in self.tied and turns.any():
                full = 2 * np.pi * np.round((q[where] - self.wishes.joints[name].q) / (2 * np.pi))
                found[where] = q[where] - np.where(turns, full, 0.0)
        return found

    def _preference(self, point: Point) -> list[float]:
        """Of positions equally near the one with the larger coordinates, joints in order of their names."""
        values, _, _ = self.measure(point.q, np.zeros(self.topology.n_u))
        return [round(float(x), 6) for name in sorted(values) for x in values[name]]

    def _point(self, q: Array, weights: Array) -> Point:
        """What there is to know of a position, with the weights of all freedoms."""
        d, D = self.departures(q)
        root = np.sqrt(weights / weights.max(initial=1e-300))
        free = np.flatnonzero(~self.held)
        _, sizes, V = np.linalg.svd(self.rows(q)[1][:, free])
        rank = int((sizes > RANK * sizes.max(initial=0.0)).sum())
        tangent = np.zeros((self.topology.n_u, len(free) - rank))
        tangent[free] = V[rank:].T
        d, flat = root * d, root[:, None] * (D @ tangent)
        return Point(q, 0.5 * float(d @ d), flat.T @ d, tangent, flat)

    def _slide(self, q: Array, weights: Array) -> Array:
        """The position of least departure that is reached along the constraints."""
        here = self._point(q, weights)
        for _ in range(SLIDES):
            if abs(here.slope).max(initial=0.0) <= 1e-13 * max(1e-3, 2 * here.cost) ** 0.5:
                break
            there = self._descend(here, weights)
            if there is None:
                break
            here = there
        return here.q

    def _descend(self, here: Point, weights: Array) -> Point | None:
        """A position with less departure, or with as much and less slope."""
        step = here.tangent @ -_solve_downhill(here, self._curvature(here, weights))
        longest = float(abs(step).max())
        share = min(1.0, 0.5 / longest) if longest > 0 else 1.0
        for _ in range(HALVINGS):
            q, gap = self.close(self.topology.advance_q(here.q, share * step))
            if gap <= CLOSED_ENOUGH:
                there = self._point(q, weights)
                less = there.cost < here.cost * (1 - 1e-12)
                flatter = np.linalg.norm(there.slope) < 0.5 * np.linalg.norm(here.slope)
                if less or (flatter and there.cost <= here.cost * (1 + 1e-9)):
                    return there
            share *= 0.5
            if share * longest < 1e-15:
                break
        return None

    def _curvature(self, here: Point, weights: Array) -> Array | None:
        """Second derivatives of the departures along the constraints, by differences; None of many freedoms.

        They are those of the Lagrange function: what the constraints' curvature adds goes with their multipliers.
        """
        n, free = here.tangent.shape[1], ~self.held
        if n > CURVED:
            return None

        def parts(q: Array) -> tuple[Array, Array]:
            d, D = self.departures(q)
            return D.T @ (weights / weights.max() * d), self.rows(q)[1]

        slope, A = parts(here.q)
        lam = np.linalg.lstsq(A[:, free].T, -slope[free], rcond=RANK)[0]
        found = np.zeros((n, n))
        for k in range(n):
            ends = []
            for side in (1e-5, -1e-5):
                slope, A = parts(self.topology.advance_q(here.q, side * here.tangent[:, k]))
                ends.append(slope + A.T @ lam)
            found[:, k] = here.tangent.T @ (ends[0] - ends[1]) / 2e-5
        return 0.5 * (found + found.T)

    # -- speeds ------------------------------------------------------------------------------------
    def solve_speeds(self, q: Array) -> Array:
        """Speeds of the state, for closed coordinates."""
        n, still = self.topology.n_u, np.zeros(self.topology.n_u)
        coordinates, moving, H = self.measure(q, still)
        wished = np.concatenate([self.wishes.joints[name].u(coordinates[name]) for name in self.names] or [still])
        held, exact = self._of_state("exact_u"), self.exact_measures("exact_u")
        if not self.bound:
            return wished
        u = np.where(held, wished[:n], 0.0)
        carried = np.concatenate([moving[name] for name in self.names] or [still])  # by drives alone
        A, b = H[exact] / self.units[exact][:, None], ((wished - carried) / self.units)[exact]
        if self.loops is not None:
            _, G, drift = self.loops.evaluate(self.point.replaced(q=q, u=still))
            A, b = np.vstack([G, A]), np.concatenate([-drift, b])
        free = np.flatnonzero(~held)
        if len(free):
            weight = np.sqrt([self.wishes.weights.get(j, 1.0) for j in self.owners]) / self.units
            said = np.array([self.wishes.joints[j].said_u for j in self.owners])
            W, w = weight[:, None] * H, weight * (wished - carried)
            levels = ((A, b), (W[said], w[said]), (W[~said], w[~said]))
            u[free] += _solve_in_turn([(rows[:, free], right - rows @ u) for rows, right in levels])
        check_speeds(self, A @ u - b, u, exact)
        return u

    @property
    def owners(self) -> list[str]:
        """The joint of each freedom."""
        return [name for name in self.names for _ in range(self.joints[name].n_u)]


def _solve_in_turn(levels: list[tuple[Array, Array]]) -> Array:
    """x with the least |A x - b|, one A and b after the other: each within what those before it leave free."""
    x, free = np.zeros(levels[0][0].shape[1]), np.eye(levels[0][0].shape[1])
    for A, b in levels:
        U, sizes, V = np.linalg.svd(A @ free)
        rank = int((sizes > 1e-10 * np.linalg.norm(A)).sum())
        x = x + free @ (V[:rank].T @ ((U.T @ (b - A @ x))[:rank] / sizes[:rank]))
        free = free @ V[rank:].T
    return x


def _solve_downhill(here: Point, curvature: Array | None) -> Array:
    """The step to where the slope vanishes: Newton's, or that of Gauss and Newton where Newton's leads uphill."""
    gauss = here.flat.T @ here.flat
    values, vectors = np.linalg.eigh(gauss if curvature is None else curvature)
    if values[0] < -1e-7 * values[-1]:
        values, vectors = np.linalg.eigh(gauss)
    counts = values > 1e-7 * values[-1]
    found: Array = vectors[:, counts] @ ((vectors.T @ here.slope)[counts] / values[counts])
    return found


def _wraps(joint: Joint, resolve: Any) -> Array:
    """Which coordinates come to the same pose after a full turn."""
    if joint.quaternion is not None:
        return np.zeros(joint.n_u, dtype=bool)
    form = np.asarray(joint.form(resolve), dtype=float)
    zero = joint.transform(np.zeros(joint.n_q), form)
    found = []
    for k, (_, kind) in enumerate(joint.coordinates):
        there = joint.transform(2 * np.pi * np.eye(joint.n_q)[k], form)
        apart = np.concatenate([(there.R - zero.R).ravel(), there.p - zero.p]).astype(float)
        found.append(kind == "angle" and bool(abs(apart).max() < 1e-9))
    return np.array(found, dtype=bool)
