"""Assembly: the state nearest to the requested initial values in which all constraints are satisfied.

Positions are a constrained least-squares problem.  The constraints and the exact values hold.  The sum of
weight * offset^2 over the freedoms of all joints is least.  An offset is the distance of a coordinate from its
requested value: angles in rad, lengths in characteristic lengths.  A cut joint counts like any other, with coordinates
measured from the poses of its frames, so that the result does not depend on where a loop is cut.

The solver tries several starting points.  From each, ``close`` finds a closed position.  Newton's method with a line
search then minimizes the offsets in the tangent space of the constraints, with their curvature.  The position with the
least cost is taken.

Speeds are a linear problem.  Exact speeds hold, and the weighted sum of squared differences from the requested speeds
is least.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.initialization.assembly_errors import check_speeds, explain
from kinode.dynamics.initialization.initial_values import DEFAULT_WEIGHT, InitialValues, find_offset
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

NEAR_OFFSET = 0.25  # rad or characteristic lengths: a position this near is taken, other branches are not tried
RANDOM_STARTS = range(4, 10)  # least and largest number of random starting points; large systems get fewer
NEWTON_STEPS, HALVINGS = 40, 30  # at most, of a minimization and of its line search
CURVED_FREEDOMS = 12  # largest number of freedoms for which the curvature of the constraints is computed
INTERPRETED_CALLS = 8  # calls in plain numbers before a kernel is compiled, which takes as long as some 15 of them
SAME_COST = 1e-6  # relative: two positions are equally near


@dataclass(frozen=True, eq=False)
class Point:
    """An iterate of the minimization: a closed position, its cost and derivatives in the tangent space."""

    q: Array
    cost: float  # half the weighted sum of squared offsets
    gradient: Array  # of the cost, by steps along the tangent
    tangent: Array  # one column for each remaining freedom
    offset_slopes: Array  # weighted offsets for unit steps along the tangent


class Assembler:
    """One assembly problem: the requested initial values and the constants of the solution.

    Parameters
    ----------
    kernels : Kernels
        The compiled functions of the open topology.
    loops : LoopEquations or None
        The constraint rows; None where there are none.
    requested : InitialValues
        The initial values of all joints: exact values and guesses.
    point : EvaluationPoint
        Time, other states, parameters and inputs.  Its q and u are not used.
    resolve : callable
        Gives numbers of the model at these parameters.
    """

    def __init__(
        self,
        kernels: Kernels,
        loops: LoopEquations | None,
        requested: InitialValues,
        point: EvaluationPoint,
        resolve: Resolve,
    ) -> None:
        self.kernels, self.loops, self.requested, self.point, self.resolve = kernels, loops, requested, point, resolve
        self.topology, self.joints = kernels.topology, kernels.topology.system.joints
        self.length = loops.length if loops is not None else 1.0
        self.dependent = measured_joints(self.topology)
        self.names = [*self.topology.q_of, *self.dependent]
        joints = [self.joints[name] for name in self.names]
        self.units = np.array([1.0 if kind == "angle" else self.length for j in joints for _, kind in j.coordinates])
        self.weights = np.concatenate([np.full(j.n_u, self._weight(j.name)) for j in joints] or [np.empty(0)])
        self.fixed = self._exact_in_state("exact_q")
        self.wraps = {j.name: _wraps(j, resolve) for j in joints}
        constraints = self.topology.system.constraints.values()
        self.coupled = {name for c in constraints if isinstance(c, CoordinateCoupling) for name in c.joints().values()}

    def _weight(self, name: str) -> float:
        return self.requested.weights.get(name, self.requested.joints[name].weight)

    @property
    def has_dependent_coordinates(self) -> bool:
        """Whether any coordinate depends on others, by a constraint or a coupling."""
        return self.loops is not None or bool(self.dependent)

    def _exact_in_state(self, field: str) -> Array:
        """Mask of the speeds of the state whose values are exact; ``field`` is exact_q or exact_u."""
        exact = np.zeros(self.topology.n_u, dtype=bool)
        for name, where in self.topology.u_of.items():
            exact[where] = getattr(self.requested.joints[name], field)
        return exact

    # -- residuals and offsets of a position -------------------------------------------------------
    def measure(self, q: Array, u: Array) -> tuple[dict[str, Array], dict[str, Array], Array]:
        """Coordinates and speeds of all joints by name, and the matrix of all speeds for unit speeds of the state."""
        topology, joints = self.topology, self.joints
        coordinates = {name: q[where] for name, where in topology.q_of.items()}
        speeds = {name: u[where] for name, where in topology.u_of.items()}
        if not self.dependent:
            return coordinates, speeds, np.eye(topology.n_u)
        out = self._measure_dependent(q, u)
        for values, sizes in ((coordinates, "n_q"), (speeds, "n_u")):
            for name in self.dependent:
                size = getattr(joints[name], sizes)
                values[name], out = out[:size], out[size:]
        H = out.reshape(len(self.units) - topology.n_u, topology.n_u)
        return coordinates, speeds, np.vstack([np.eye(topology.n_u), H])

    def _measure_dependent(self, q: Array, u: Array) -> Array:
        """Coordinates, speeds and speed matrix of the dependent joints; the first calls do not compile a kernel."""
        kernel = Kernel("measures")
        self._n_measurements += 1
        there = self.point.replaced(q=q, u=u)
        if self._n_measurements <= INTERPRETED_CALLS and not self.kernels.has(kernel):
            return np.array(outputs_of(kernel, Snapshot(self.topology, there)), dtype=float)
        return self.kernels.call(kernel, there)

    _n_measurements = 0

    def offsets(self, q: Array) -> tuple[Array, Array]:
        """Offsets of all joints from the requested values, scaled, and their change for unit speeds of the state."""
        coordinates, _, H = self.measure(q, np.zeros(self.topology.n_u))
        d, D, start = np.zeros(len(H)), np.zeros_like(H), 0
        for name in self.names:
            joint, wraps = self.joints[name], self.wraps[name] & (name in self.topology.cut_names)
            rows = slice(start, start + joint.n_u)
            d[rows], change = find_offset(joint, coordinates[name], self.requested.joints[name].q, wraps)
            D[rows] = change @ H[rows]
            start = rows.stop
        return d / self.units, D / self.units[:, None]

    def rows(self, q: Array) -> tuple[Array, Array]:
        """Residuals that must vanish, and their Jacobian: constraints, then exact values of dependent joints."""
        r, A = np.zeros(0), np.zeros((0, self.topology.n_u))
        if self.loops is not None:
            c, G, _ = self.loops.evaluate(self.point.replaced(q=q, u=np.zeros(self.topology.n_u)))
            r, A = c[self.loops.position_rows], G[self.loops.position_rows]
        exact = self.exact_dependent("exact_q")
        if exact.any():
            d, D = self.offsets(q)
            r, A = np.concatenate([r, d[exact]]), np.vstack([A, D[exact]])
        return r, A

    def exact_dependent(self, field: str) -> Array:
        """Mask over all freedoms: exact values of dependent joints; ``field`` is exact_q or exact_u."""
        masks = [np.zeros(self.topology.n_u, dtype=bool)]
        masks += [getattr(self.requested.joints[name], field) for name in self.dependent]
        return np.concatenate(masks)

    # -- positions ---------------------------------------------------------------------------------
    def solve_positions(self) -> Array:
        """The coordinates of the state nearest to the requested values; an AssemblyError where nothing closes."""
        first = self._requested_q()
        if not self.has_dependent_coordinates or self._is_met(first, self.weights >= 0, CLOSED):
            return first
        candidates: list[Point] = []
        for k, q in enumerate(self.starting_points(first)):
            q, error = self.close(q)
            if error > CLOSED_ENOUGH:
                continue
            q = self._minimize_in_order(self._without_full_turns(q))
            candidates.append(self._point(q, self.weights))
            if k == 0 and self._is_surely_nearest(q):
                break
        if not candidates:
            raise explain(self, first)
        least = min(point.cost for point in candidates)
        nearest = (point for point in candidates if point.cost <= least * (1 + SAME_COST) + 1e-20)
        return max(nearest, key=self._preference).q

    def _minimize_in_order(self, q: Array) -> Array:
        """The closed position with the least offsets: first of the joints with a guess, then of the others."""
        guessed = self.weights > DEFAULT_WEIGHT
        if not guessed.any():
            return self._minimize(q, self.weights)
        q = self._minimize(q, np.where(guessed, self.weights, 0.0))
        if self._is_met(q, guessed):
            return self._with_exact_guesses._minimize(q, self.weights)
        return self._minimize(q, self.weights)

    @cached_property
    def _with_exact_guesses(self) -> Assembler:
        """The same assembly with all guesses as exact values, used where the guesses can be met."""
        joints = {
            name: replace(value, exact_q=value.exact_q | (self._weight(name) > DEFAULT_WEIGHT))
            for name, value in self.requested.joints.items()
        }
        return self.with_values(replace(self.requested, joints=joints))

    def with_values(self, requested: InitialValues) -> Assembler:
        """The same assembly with other initial values."""
        return Assembler(self.kernels, self.loops, requested, self.point, self.resolve)

    def _is_met(self, q: Array, which: Array, within: float = CLOSED_ENOUGH) -> bool:
        """Whether a position is closed and the freedoms of a mask have their requested values."""
        d, _ = self.offsets(q)
        return all(bool((abs(x) <= within).all()) for x in (self.rows(q)[0], d[which]))

    def _is_surely_nearest(self, q: Array) -> bool:
        """Whether all joints are near, or all joints of the state have a guess or exact value and meet it."""
        d, _ = self.offsets(q)
        state = slice(0, self.topology.n_u)
        is_given = (self.weights[state] > DEFAULT_WEIGHT) | self.fixed
        is_near = abs(d).max(initial=0.0) <= NEAR_OFFSET
        return bool(is_near or (is_given.all() and abs(d[state]).max(initial=0.0) <= CLOSED_ENOUGH))

    def close(self, q: Array) -> tuple[Array, float]:
        """A position near q that satisfies ``rows``, and the largest residual that is left."""
        return close_rows(self.rows, self.topology.advance_q, q, ~self.fixed)

    def _requested_q(self) -> Array:
        q = np.zeros(self.topology.n_q)
        for name, where in self.topology.q_of.items():
            q[where] = self.requested.joints[name].q
        return q

    def starting_points(self, first: Array) -> Iterator[Array]:
        """The requested position, then random ones around it; the same in every call."""
        yield first
        rng = np.random.default_rng(0)
        reach = self.units[: self.topology.n_u] * np.where(self.units[: self.topology.n_u] == 1.0, np.pi, 1.0)
        count = max(RANDOM_STARTS.start, min(RANDOM_STARTS.stop, 200 // max(self.topology.n_u, 1)))
        for k in range(count):
            step = rng.uniform(-1.0, 1.0, self.topology.n_u) * reach * (1.0 if k % 2 else 0.3)
            yield self.topology.advance_q(first, np.where(self.fixed, 0.0, step))

    def _without_full_turns(self, q: Array) -> Array:
        """The same position with angles within half a turn of the requested ones."""
        q_near = q.copy()
        for name, where in self.topology.q_of.items():
            turns = self.wraps[name] & ~self.requested.joints[name].exact_q
            if name not in self.coupled and turns.any():
                full = 2 * np.pi * np.round((q[where] - self.requested.joints[name].q) / (2 * np.pi))
                q_near[where] = q[where] - np.where(turns, full, 0.0)
        return q_near

    def _preference(self, point: Point) -> list[float]:
        """Sort key among equally near positions: larger coordinates win, joints in order of their names."""
        values, _, _ = self.measure(point.q, np.zeros(self.topology.n_u))
        return [round(float(x), 6) for name in sorted(values) for x in values[name]]

    def _point(self, q: Array, weights: Array) -> Point:
        """Cost, gradient and tangent of a position; ``weights`` has one entry for each freedom."""
        d, D = self.offsets(q)
        root = np.sqrt(weights / weights.max(initial=1e-300))
        free = np.flatnonzero(~self.fixed)
        _, sizes, V = np.linalg.svd(self.rows(q)[1][:, free])
        rank = int((sizes > RANK * sizes.max(initial=0.0)).sum())
        tangent = np.zeros((self.topology.n_u, len(free) - rank))
        tangent[free] = V[rank:].T
        d, slopes = root * d, root[:, None] * (D @ tangent)
        return Point(q, 0.5 * float(d @ d), slopes.T @ d, tangent, slopes)

    def _minimize(self, q: Array, weights: Array) -> Array:
        """The closed position of least cost that is reached from a closed position."""
        here = self._point(q, weights)
        for _ in range(NEWTON_STEPS):
            if abs(here.gradient).max(initial=0.0) <= 1e-13 * max(1e-3, 2 * here.cost) ** 0.5:
                break
            there = self._descend(here, weights)
            if there is None:
                break
            here = there
        return here.q

    def _descend(self, here: Point, weights: Array) -> Point | None:
        """A position with less cost, or with equal cost and a smaller gradient; None where there is none."""
        step = here.tangent @ -_newton_step(here, self._curvature(here, weights))
        longest = float(abs(step).max())
        share = min(1.0, 0.5 / longest) if longest > 0 else 1.0
        for _ in range(HALVINGS):
            q, error = self.close(self.topology.advance_q(here.q, share * step))
            if error <= CLOSED_ENOUGH:
                there = self._point(q, weights)
                less = there.cost < here.cost * (1 - 1e-12)
                flatter = np.linalg.norm(there.gradient) < 0.5 * np.linalg.norm(here.gradient)
                if less or (flatter and there.cost <= here.cost * (1 + 1e-9)):
                    return there
            share *= 0.5
            if share * longest < 1e-15:
                break
        return None

    def _curvature(self, here: Point, weights: Array) -> Array | None:
        """Hessian of the cost in the tangent space, by central differences; None where there are many freedoms.

        It is the Hessian of the Lagrange function: the curvature of the constraints enters with their multipliers.
        """
        n, free = here.tangent.shape[1], ~self.fixed
        if n > CURVED_FREEDOMS:
            return None

        def derivatives(q: Array) -> tuple[Array, Array]:
            d, D = self.offsets(q)
            return D.T @ (weights / weights.max() * d), self.rows(q)[1]

        gradient, A = derivatives(here.q)
        lam = np.linalg.lstsq(A[:, free].T, -gradient[free], rcond=RANK)[0]
        hessian = np.zeros((n, n))
        for k in range(n):
            ends = []
            for side in (1e-5, -1e-5):
                gradient, A = derivatives(self.topology.advance_q(here.q, side * here.tangent[:, k]))
                ends.append(gradient + A.T @ lam)
            hessian[:, k] = here.tangent.T @ (ends[0] - ends[1]) / 2e-5
        return 0.5 * (hessian + hessian.T)

    # -- speeds ------------------------------------------------------------------------------------
    def solve_speeds(self, q: Array) -> Array:
        """Speeds of the state nearest to the requested ones, for closed coordinates."""
        n, still = self.topology.n_u, np.zeros(self.topology.n_u)
        coordinates, drive_speeds, H = self.measure(q, still)
        requested = np.concatenate([self.requested.joints[name].u(coordinates[name]) for name in self.names] or [still])
        fixed, exact = self._exact_in_state("exact_u"), self.exact_dependent("exact_u")
        if not self.has_dependent_coordinates:
            return requested
        u = np.where(fixed, requested[:n], 0.0)
        driven = np.concatenate([drive_speeds[name] for name in self.names] or [still])  # by prescribed motions alone
        A, b = H[exact] / self.units[exact][:, None], ((requested - driven) / self.units)[exact]
        if self.loops is not None:
            _, G, drift = self.loops.evaluate(self.point.replaced(q=q, u=still))
            A, b = np.vstack([G, A]), np.concatenate([-drift, b])
        free = np.flatnonzero(~fixed)
        if len(free):
            weight = np.sqrt([self.requested.weights.get(name, 1.0) for name in self.owners]) / self.units
            given = np.array([self.requested.joints[name].has_u for name in self.owners])
            W, w = weight[:, None] * H, weight * (requested - driven)
            levels = ((A, b), (W[given], w[given]), (W[~given], w[~given]))
            u[free] += _solve_in_turn([(rows[:, free], right - rows @ u) for rows, right in levels])
        check_speeds(self, A @ u - b, u, exact)
        return u

    @property
    def owners(self) -> list[str]:
        """The joint of each freedom."""
        return [name for name in self.names for _ in range(self.joints[name].n_u)]


def _solve_in_turn(levels: list[tuple[Array, Array]]) -> Array:
    """Hierarchical least squares: x minimizes |A x - b| of each level, within the minimizers of the levels before."""
    x, free = np.zeros(levels[0][0].shape[1]), np.eye(levels[0][0].shape[1])
    for A, b in levels:
        U, sizes, V = np.linalg.svd(A @ free)
        rank = int((sizes > 1e-10 * np.linalg.norm(A)).sum())
        x = x + free @ (V[:rank].T @ ((U.T @ (b - A @ x))[:rank] / sizes[:rank]))
        free = free @ V[rank:].T
    return x


def _newton_step(here: Point, curvature: Array | None) -> Array:
    """Newton's step, or the Gauss-Newton step where the curvature is not positive or not known."""
    gauss = here.offset_slopes.T @ here.offset_slopes
    values, vectors = np.linalg.eigh(gauss if curvature is None else curvature)
    if values[0] < -1e-7 * values[-1]:
        values, vectors = np.linalg.eigh(gauss)
    counts = values > 1e-7 * values[-1]
    step: Array = vectors[:, counts] @ ((vectors.T @ here.gradient)[counts] / values[counts])
    return step


def _wraps(joint: Joint, resolve: Any) -> Array:
    """Mask of the coordinates that give the same pose after a full turn."""
    if joint.quaternion is not None:
        return np.zeros(joint.n_u, dtype=bool)
    form = np.asarray(joint.form(resolve), dtype=float)
    zero = joint.transform(np.zeros(joint.n_q), form)
    wraps = []
    for k, (_, kind) in enumerate(joint.coordinates):
        there = joint.transform(2 * np.pi * np.eye(joint.n_q)[k], form)
        apart = np.concatenate([(there.R - zero.R).ravel(), there.p - zero.p]).astype(float)
        wraps.append(kind == "angle" and bool(abs(apart).max() < 1e-9))
    return np.array(wraps, dtype=bool)
