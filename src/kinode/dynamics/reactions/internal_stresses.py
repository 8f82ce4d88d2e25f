"""Mesh analysis of closed loops: the internal stresses of many states at once, and the rule that shares reactions.

It computes what ``formulations/reaction_uniqueness.py`` does, (T-5.4) to (T-5.6), for all states of a batch.  The
unknowns are the wrenches of cut joints, each about its own point in world axes, the efforts of gears, and multipliers.
A joint of the tree transmits the wrenches of the loops that it is in.  Along its free coordinates there must be no
effort; the null space of these equations are the stresses.

Most joints are in one loop only.  So each loop is reduced first, by its own equations and then by those that it shares.
That leaves stresses of this loop alone, and the few unknowns that loops have in common.  Ranks come from Householder
reflections with pivoting here, from singular values there.  Where the two might differ, because a pivot or a row of the
null space is neither clearly zero nor clearly not, the state is marked as doubtful.

States are the last axis of arrays.  Wrenches and freedoms have three linear components, then three angular ones, with
moments over the characteristic length.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kinode.algebra.scalars import Array
from kinode.dynamics.starts.dense_threads import one_thread
from kinode.formulations.reaction_uniqueness import RANK_TOLERANCE, UNIQUE, JointConstants
from kinode.kernels.derivatives.shared_quantities import find_effort_units, find_load_units
from kinode.kernels.kernel_outputs import DIRECTION_FRAME, direction_sizes

if TYPE_CHECKING:
    from kinode.structure.topology import Topology

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

ZERO_PIVOT, SURE_PIVOT = 1e-12, 1e-6  # of the largest: below is zero, above is not, between is doubtful
ZERO_ROW, SURE_ROW = 1e-11, 1e-6  # the same for the norm of a component's row of the null space
CHUNK = 1 << 17  # numbers in the equations of the states that are analyzed together
LINEAR_FIRST = np.array([3, 4, 5, 0, 1, 2])  # rows of S, which has angular ones first


class DirectionTables:
    """Where the frames and freedoms of joints stand in the result of the kernel ``stress_directions``.

    ``freedoms_at`` and ``efforts_at`` are the entries of freedoms and unit efforts: joint, component (linear first),
    freedom; ``is_freedom`` tells freedoms from what fills the table.
    """

    def __init__(self, topology: Topology, length: float) -> None:
        joints = topology.system.joints
        self.topology, self.length, self.n_bodies = topology, length, len(topology.system.bodies)
        self.number = {name: k for k, name in enumerate(joints)}
        self.n_u = np.array([joint.n_u for joint in joints.values()], dtype=np.int64)
        sizes = np.array(direction_sizes(topology), dtype=np.int64)
        self.at, self.size = np.cumsum(sizes) - sizes, int(sizes.sum())
        self.units = find_load_units(topology, length)
        self.fixed_at = self.at[:, None] + np.arange(DIRECTION_FRAME)
        columns = np.arange(max(1, self.n_u.max(initial=0)))
        self.is_freedom = (columns < self.n_u[:, None])[:, None, :]
        rows = (self.at + DIRECTION_FRAME)[:, None] + self.n_u[:, None] * LINEAR_FIRST
        self.freedoms_at = np.where(self.is_freedom, rows[:, :, None] + columns, 0)
        self.efforts_at = self.freedoms_at + np.where(self.is_freedom, 6 * self.n_u[:, None, None], 0)

    def find_effort_units(self, name: str) -> list[float]:
        """The unit of each effort of a joint: the length for angles."""
        return find_effort_units(self.topology, name, self.length)

    def along(self, directions: Array, name: str) -> Array:
        """Six components of unit efforts of a joint, for each state."""
        k = self.number[name]
        R_FM = directions[:, self.fixed_at[k, 12:]].reshape(-1, 3, 3)
        T = directions[:, self.efforts_at[k, :, : self.n_u[k]]]
        return np.concatenate([R_FM @ T[:, :3], R_FM @ T[:, 3:]], axis=1)


class StressTables(DirectionTables):
    """The loops of a system as tables; components are in the order of ``topology.holding``."""

    def __init__(self, topology: Topology, constants: JointConstants) -> None:
        super().__init__(topology, constants.length)
        self.constants, system, tree = constants, topology.system, topology.full
        self.starts = dict(zip(topology.holding, np.cumsum([0, *topology.holding.values()]).tolist(), strict=False))
        self.n = sum(topology.holding.values())
        in_tree = {node.joint.name for node in tree.nodes}
        self.cuts = [name for name in system.joints if name not in in_tree]
        self.loops: list[dict[int, float]] = [{} for _ in system.joints]  # of each joint: loop -> sign of its wrench
        for c, name in enumerate(self.cuts):
            self.loops[self.number[name]][c] = 1.0
            ends = [set(tree.path(tree.node_of[getattr(system.joints[name], side).body])) for side in "ab"]
            for k in sorted(ends[0] ^ ends[1]):
                node = tree.nodes[k]
                sign = 1.0 if (k in ends[0]) != node.reversed else -1.0
                self.loops[self.number[node.joint.name]][c] = sign
        self.gears = list(topology.couplings)
        self.multipliers = {name: units for name, units in constants.multipliers.items() if name in self.starts}
        efforts = [self.starts[f"{name}.effort"] for name in self.gears]
        rows = [self.starts[name] + k for name, units in self.multipliers.items() for k in range(len(units))]
        self.extras = np.array(efforts + rows, dtype=np.int64)  # components that are unknowns themselves
        driven = [name for name, joint in system.joints.items() if joint.driven and joint.n_u]
        self.drives = {self.number[name]: self.starts[f"{name}.effort"] for name in driven}
        self.effort_units = np.ones((len(self.n_u), self.is_freedom.shape[2]))
        for name, k in self.number.items():
            self.effort_units[k, : self.n_u[k]] = self.find_effort_units(name)
        self.gear_efforts = np.zeros((*self.effort_units.shape, len(self.extras)))
        for g, name in enumerate(self.gears):
            coupling = topology.couplings[name]
            follower, leader = self.number[name], self.number[coupling.leader]
            change = self.effort_units[follower, 0] / self.effort_units[leader, 0]
            self.gear_efforts[follower, 0, g] -= 1.0
            self.gear_efforts[leader, 0, g] += float(constants.resolve(coupling.ratio)) * change
        self._find_equations()

    def _find_equations(self) -> None:
        """The joints of each loop, and the equations of their free coordinates: those of this loop alone come first."""
        pairs = [(j, c) for j, loops in enumerate(self.loops) for c in loops]
        self.pairs = {pair: p for p, pair in enumerate(pairs)}
        self.pair_joint, self.pair_loop = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        self.pair_sign = np.array([self.loops[j][c] for j, c in pairs])
        coupled = {self.number[name] for gear in self.gears for name in (gear, self.topology.couplings[gear].leader)}
        if self.multipliers:
            coupled |= {self.number[node.joint.name] for node in self.topology.full.nodes}
        free = [j for j, n_u in enumerate(self.n_u) if n_u and j not in self.drives and (self.loops[j] or j in coupled)]
        alone = [j for j in free if len(self.loops[j]) == 1 and j not in coupled]
        self.common = [j for j in free if j not in alone]
        width, n_loops = self.effort_units.shape[1], len(self.cuts)
        own: list[list[int]] = [[] for _ in range(n_loops)]
        others: list[list[int]] = [[] for _ in range(n_loops)]
        for (j, c), p in self.pairs.items():
            if j in free:
                (own if j in alone else others)[c].extend(range(p * width, p * width + self.n_u[j]))
        self.n_own, n_others = (max(map(len, rows), default=0) for rows in (own, others))
        nothing = [len(pairs) * width]  # the row of zeros behind all others
        filled = [
            a + nothing * (self.n_own - len(a)) + b + nothing * (n_others - len(b))
            for a, b in zip(own, others, strict=True)
        ]
        self.loop_rows = np.array(filled, dtype=np.int64).reshape(n_loops, self.n_own + n_others)

    @property
    def m(self) -> int:
        """The number of unknowns."""
        return 6 * len(self.cuts) + len(self.extras)

    @property
    def energy(self) -> Array:
        """W with the complementary energy |W x|^2 / 2; joints without compliance have no rows."""
        W = np.zeros((6 * len(self.constants.roots), self.n))
        for k, (name, root) in enumerate(self.constants.roots.items()):
            W[6 * k : 6 * k + 6, self.starts[name] : self.starts[name] + 6] = root
        return W


class LoadedLoops:
    """The equations of some states, and what joints transmit."""

    def __init__(self, tables: StressTables, directions: Array, unit_loads: Array | None) -> None:
        self.tables, D = tables, np.ascontiguousarray(directions.T)
        self.count = D.shape[1]
        fixed, lengths = D[tables.fixed_at], np.repeat([1.0, tables.length], 3)[:, None, None]
        n, units = len(tables.n_u), tables.effort_units[:, None, :, None]
        self.R, self.R_FM = (fixed[:, k : k + 9].reshape(n, 3, 3, -1) for k in (0, 12))
        self.p = fixed[:, 9:12] / tables.length
        is_freedom = tables.is_freedom[..., None]
        S = np.where(is_freedom, D[tables.freedoms_at], 0.0) * lengths / units
        T = np.where(is_freedom, D[tables.efforts_at], 0.0) / lengths * units
        self.S_W, self.T_F = _turn(self.R, S), _turn(self.R_FM, T)
        self.R_FW = np.einsum("jabt,jcbt->jact", self.R_FM, self.R)
        cut = np.array([tables.number[name] for name in tables.cuts], dtype=np.int64)
        self.arms = self.p[cut[tables.pair_loop]] - self.p[tables.pair_joint]  # from a joint to the cut joint
        S_pair = self.S_W[tables.pair_joint] * tables.pair_sign[:, None, None, None]
        moved = S_pair[:, :3] + _cross(S_pair[:, 3:], self.arms[:, :, None])
        self.efforts = np.concatenate([moved, S_pair[:, 3:]], axis=1).swapaxes(1, 2)  # pair, freedom, of the wrench
        self._add_extras(D, unit_loads)

    def _add_extras(self, D: Array, unit_loads: Array | None) -> None:
        """Wrenches and efforts in joints of the tree for unit efforts of gears and unit multipliers."""
        tables = self.tables
        n_extras, n_gears = len(tables.extras), len(tables.gears)
        self.wrenches = np.zeros((len(tables.n_u), 6, n_extras, self.count))
        if tables.multipliers and unit_loads is not None:
            bodies = {name: k for k, name in enumerate(tables.topology.system.bodies)}
            origins = D[tables.size :].reshape(-1, 3, 1, self.count) / tables.length
            loads = unit_loads.T.reshape(len(bodies), 2, 3, n_extras - n_gears, -1)
            scales = tables.units[tables.extras[n_gears:], None]
            force, moment = loads[:, 1] * scales, loads[:, 0] * (scales / tables.length)
            behind = np.concatenate([force, moment + _cross(origins, force)], axis=1)  # about the world's origin
            for node in reversed(tables.topology.full.nodes):
                j, load = tables.number[node.joint.name], behind[bodies[node.bodies[0]]]
                if node.carrier in bodies:
                    behind[bodies[node.carrier]] += load
                about = np.concatenate([load[:3], load[3:] - _cross(self.p[j][:, None], load[:3])])
                self.wrenches[j, :, n_gears:] = about if node.reversed else -about
        self.extra_efforts = np.einsum("jaut,jaxt->juxt", self.S_W, self.wrenches) + tables.gear_efforts[..., None]

    def find_motions(self) -> list[Array]:
        """The independent speeds of the tree's joints that all constraints allow, for each state: motion, freedom.

        They are the speeds at which no wrench of a loop does work: the null space of the transposed equations.
        """
        tables = self.tables
        whole = np.zeros((*tables.effort_units.shape, tables.m, self.count))
        for (j, c), p in tables.pairs.items():
            whole[j, :, 6 * c : 6 * c + 6] = self.efforts[p]
        whole[:, :, 6 * len(tables.cuts) :] = self.extra_efforts
        free = tables.is_freedom[:, 0].copy()
        free[list(tables.drives)] = False
        in_tree = [tables.number[node.joint.name] for node in tables.topology.full.nodes]
        units, motions = tables.effort_units[in_tree][tables.is_freedom[in_tree, 0]], []
        for A in np.moveaxis(whole[free], -1, 0):
            U, s, _ = np.linalg.svd(A, full_matrices=True)
            count = len(A) - int((s > RANK_TOLERANCE * s.max(initial=1.0)).sum())
            speeds = np.zeros((*free.shape, count))
            speeds[free] = U[:, len(A) - count :]
            of_tree = speeds[in_tree][tables.is_freedom[in_tree, 0]] / units[:, None]
            motions.append(np.linalg.qr(of_tree)[0].T * units)
        return motions

    def find_stresses(self) -> Iterator[Basis]:
        """The stresses of states that are not doubtful, those of the same ranks together."""
        rows = np.concatenate([self.efforts.reshape(-1, 6, self.count), np.zeros((1, 6, self.count))])
        turned, firsts, ranks, doubtful = _reduce(rows[self.tables.loop_rows], self.tables.n_own)
        for states in _alike(np.concatenate([firsts, ranks]), np.flatnonzero(~doubtful)):
            first, rank = firsts[:, states[0]], ranks[:, states[0]]
            each = [Q[..., states] for Q in turned]
            common = [Q[:, a:b] for Q, a, b in zip(each, first, rank, strict=True)]
            starts = np.cumsum([0, *(rank - first)])
            whole, _, ranks_of_whole, unsure = _reduce(self._common_equations(states, common, starts)[None])
            for some in _alike(ranks_of_whole, np.flatnonzero(~unsure)):
                null = whole[0][:, ranks_of_whole[0, some[0]] :][..., some]
                ends = np.cumsum([0, *(6 - rank)])
                loops = []
                for c, Q in enumerate(each):
                    of_common = np.einsum("ait,ibt->abt", common[c][..., some], null[starts[c] : starts[c + 1]])
                    wrench = np.concatenate([Q[:, rank[c] :][..., some], of_common], axis=1)
                    loops.append((np.arange(ends[c], ends[c + 1]), wrench))
                shared = np.arange(ends[-1], ends[-1] + null.shape[1])
                yield Basis(self, states[some], loops, shared, null[starts[-1] :])

    def _common_equations(self, states: Ints, common: list[Array], starts: Ints) -> Array:
        """The equations of several loops, for what the own equations of each have left, and for extras."""
        tables, n_extras = self.tables, len(self.tables.extras)
        width = self.efforts.shape[1]
        whole = np.zeros((len(tables.common), width, int(starts[-1]) + n_extras, len(states)))
        for row, j in zip(whole, tables.common, strict=True):
            for c in tables.loops[j]:
                factors = self.efforts[tables.pairs[j, c]][..., states]
                row[:, starts[c] : starts[c + 1]] = np.einsum("uit,ikt->ukt", factors, common[c])
            row[:, starts[-1] :] = self.extra_efforts[j][..., states]
        return whole.reshape(len(whole) * width, *whole.shape[2:])


@dataclass(frozen=True, eq=False)
class Basis:
    """The stresses of some states, all of the same number."""

    loaded: LoadedLoops
    states: Ints
    loops: list[tuple[Ints, Array]]
    """The stresses of each loop alone, and its wrench in these, then in those that loops have in common."""
    shared: Ints
    """The stresses that loops have in common."""
    extras: Array
    """Efforts of gears and multipliers in these."""

    @property
    def size(self) -> int:
        """The number of stresses."""
        return sum(len(columns) for columns, _ in self.loops) + len(self.shared)

    @cached_property
    def components(self) -> list[tuple[int, Ints, Array]]:
        """Components of joints and multipliers by portions: the first one, the stresses that they are in, N."""
        tables = self.loaded.tables
        each = [(int(at), self.shared, self.extras[k : k + 1]) for k, at in enumerate(tables.extras)]
        for j, at in enumerate(tables.starts[name] for name in tables.number):
            each += self._of_joint(j, at)
        return [portion for portion in each if len(portion[1])]

    def _of_joint(self, j: int, at: int) -> Iterator[tuple[int, Ints, Array]]:
        """The reaction of a joint, and the effort of its drive."""
        loaded, tables, states = self.loaded, self.loaded.tables, self.states
        columns = np.concatenate([*(self.loops[c][0] for c in tables.loops[j]), self.shared])
        wrench, first, common = np.zeros((6, len(columns), len(states))), 0, len(columns) - len(self.shared)
        for c, sign in tables.loops[j].items():
            own = sign * self.loops[c][1]
            own[3:] += _cross(loaded.arms[tables.pairs[j, c]][:, None, states], own[:3])
            size = len(self.loops[c][0])
            wrench[:, first : first + size] = own[:, :size]
            wrench[:, common:] += own[:, size:]
            first += size
        if len(tables.extras):
            wrench[:, common:] += np.einsum("axt,xkt->akt", loaded.wrenches[j][..., states], self.extras)
        effort = np.einsum("aut,akt->ukt", loaded.S_W[j][..., states], wrench)
        R_FW, T_F = loaded.R_FW[j][..., states], loaded.T_F[j][..., states]
        turned = np.einsum("abt,sbkt->sakt", R_FW, wrench.reshape(2, 3, *wrench.shape[1:])).reshape(wrench.shape)
        yield at, columns, turned - np.einsum("aut,ukt->akt", T_F, effort)
        if j in tables.drives:
            if tables.gears:
                effort[:, common:] += np.einsum("ux,xkt->ukt", tables.gear_efforts[j], self.extras)
            yield tables.drives[j], columns, effort[: tables.n_u[j]]

    def measure(self) -> Array:
        """The size of each component: the norm of its row of N."""
        sizes = np.zeros((self.loaded.tables.n, len(self.states)))
        for at, _, own in self.components:
            sizes[at : at + len(own)] = np.sqrt(np.einsum("iat,iat->it", own, own))
        return sizes

    def share(self, x: Array) -> Array:
        """The change of components to the least norm, (T-5.6); a second pass removes the rounding of the first."""
        change, N = np.zeros_like(x), self.components
        gram = np.zeros((self.size, self.size, len(self.states)))
        for _, columns, own in N:
            gram[np.ix_(columns, columns)] += np.einsum("iat,ibt->abt", own, own)
        gram = np.ascontiguousarray(np.moveaxis(gram, -1, 0))
        for _ in range(2):
            right = np.zeros((self.size, len(self.states)))
            for at, columns, own in N:
                where = slice(at, at + len(own))
                right[columns] += np.einsum("iat,it->at", own, x[where] + change[where])
            with one_thread():
                factors = np.linalg.solve(gram, right.T[..., None])[..., 0].T
            for at, columns, own in N:
                change[at : at + len(own)] -= np.einsum("iat,at->it", own, factors[columns])
        return change

    def share_by_compliance(self, W: Array, x: Array) -> tuple[Array, Array, Flags]:
        """The change to the least energy |W x|^2 / 2, then to the least norm.

        Also the norms of the components' rows in the stresses that compliances leave undetermined, and where their
        number is in doubt.
        """
        n, k, count = len(x), self.size, len(self.states)
        N = np.zeros((count, n, k))
        for at, columns, own in self.components:
            N[:, at : at + len(own), columns] = np.moveaxis(own, -1, 0)
        N = np.linalg.qr(N)[0]
        U, s, Vt = np.linalg.svd(W @ N, full_matrices=True)
        largest = s.max(axis=1, initial=0.0)[:, None]
        rank = (s > RANK_TOLERANCE * largest).sum(axis=1)
        change, norms = np.zeros((n, count)), np.zeros((n, count))
        for r in np.unique(rank):
            same = np.flatnonzero(rank == r)
            basis, given = N[same], x[:, same].T[..., None]
            loads = U[same][:, :, :r].swapaxes(1, 2) @ (W @ given) / s[same][:, :r, None]
            own = -basis @ (Vt[same][:, :r].swapaxes(1, 2) @ loads)
            undetermined = basis @ Vt[same][:, r:].swapaxes(1, 2)
            own -= undetermined @ (undetermined.swapaxes(1, 2) @ (given + own))
            change[:, same], norms[:, same] = own[..., 0].T, np.linalg.norm(undetermined, axis=2).T
        return change, norms, ((s > ZERO_PIVOT * largest) & (s < SURE_PIVOT * largest)).any(axis=1)


def _reduce(equations: Array, n_first: int = 0) -> tuple[Array, Ints, Ints, Flags]:
    """Reduce blocks of equations (block, equation, unknown, state) by Householder reflections with pivoting.

    Pivots are taken from the first equations as long as there are any.  Gives orthonormal directions of the unknowns,
    how many are those of the first equations, the ranks, and which states are doubtful.  The last directions, from the
    rank on, are the null space; the first ones are those of the equations that come first.
    """
    A, (blocks, n, m, count) = equations.copy(), equations.shape
    Q = np.zeros((blocks, m, m, count))
    Q[:, np.arange(m), np.arange(m)] = 1.0
    first, rank = np.zeros((2, blocks, count), dtype=np.int64)
    largest, doubtful = np.ones((blocks, count)), np.zeros(count, dtype=bool)
    for r in range(min(n, m)):
        squares = np.einsum("beit,beit->bet", A[:, :, r:], A[:, :, r:])
        of_first = squares[:, :n_first].max(axis=1, initial=0.0) > (ZERO_PIVOT * largest) ** 2
        squares[:, n_first:] *= ~of_first[:, None]
        pivot = squares.argmax(axis=1)[:, None]
        size = np.sqrt(np.take_along_axis(squares, pivot, axis=1)[:, 0])
        largest = np.maximum(largest, size)
        some = size > ZERO_PIVOT * largest
        if not some.any():
            doubtful |= ~np.isfinite(size).all(axis=0)
            break
        doubtful |= (~np.isfinite(size) | (some & (size < SURE_PIVOT * largest))).any(axis=0)
        v = np.take_along_axis(A[:, :, r:], pivot[:, :, None], axis=1)[:, 0]
        v[:, 0] += np.copysign(size, v[:, 0])
        scaled = v * np.where(some, 2.0 / np.maximum(np.einsum("bit,bit->bt", v, v), 1e-300), 0.0)[:, None]
        for whole in (A, Q):
            tail = whole[:, :, r:]
            tail -= np.einsum("beit,bit->bet", tail, v)[:, :, None] * scaled[:, None]
        first += some & of_first
        rank += some
    return Q, first, rank, doubtful


def _alike(ranks: Array, states: Ints) -> Iterator[Ints]:
    """Those of the states that have the same ranks, together."""
    if (ranks[:, states] == ranks[:, states[:1]]).all():
        return iter([states] if len(states) else [])
    patterns, which = np.unique(ranks[:, states], axis=1, return_inverse=True)
    return (states[which.ravel() == k] for k in range(patterns.shape[1]))


def _turn(R: Array, vectors: Array) -> Array:
    """Both halves of six components turned by the matrix of each joint."""
    halves = vectors.reshape(len(R), 2, 3, *vectors.shape[2:])
    turned: Array = np.einsum("jabt,jsbut->jsaut", R, halves).reshape(vectors.shape)
    return turned


def _cross(a: Array, b: Array) -> Array:
    """Vector products; components are in the last but two axis."""
    (x, y, z), (u, v, w) = ([each[..., k, :, :] for k in range(3)] for each in (a, b))
    return np.stack([y * w - z * v, z * u - x * w, x * v - y * u], axis=-3)


@dataclass(frozen=True, eq=False)
class Stresses:
    """The analysis of a range of states, with a row for each."""

    change: Array  # by the rule, with moments over the length
    unique: Flags
    elastic: Flags  # whether compliances alone determine each component, as far as it is not unique
    redundancy: Ints
    doubtful: Flags


def find_stresses(tables: StressTables, directions: Array, unit_loads: Array | None, x: Array) -> Stresses:
    """Analyze states; ``x`` are components to be shared, with moments over the length."""
    rows, W = len(directions), tables.energy
    change, unique, elastic = np.zeros((rows, tables.n)), *np.ones((2, rows, tables.n), dtype=bool)
    redundancy, doubtful = np.zeros(rows, dtype=np.int64), np.ones(rows, dtype=bool)
    step = max(1, CHUNK // max(1, len(tables.pair_joint) * 6))
    for start in range(0, rows, step):
        part = slice(start, start + step)
        loaded = LoadedLoops(tables, directions[part], None if unit_loads is None else unit_loads[part])
        for basis in loaded.find_stresses():
            states = start + basis.states
            redundancy[states], doubtful[states] = basis.size, False
            if not basis.size:
                continue
            sizes = basis.measure()
            unique[states], doubtful[states] = sizes.T <= ZERO_ROW, _is_doubtful(sizes)
            if len(W):
                changed, sizes, uncertain = basis.share_by_compliance(W, x[states].T)
                elastic[states] = sizes.T < UNIQUE
                doubtful[states] |= uncertain | _is_doubtful(sizes)
            else:
                changed, elastic[states] = basis.share(x[states].T), unique[states]
            change[states] = np.where(unique[states], 0.0, changed.T)
    return Stresses(change, unique, elastic, redundancy, doubtful)


def _is_doubtful(sizes: Array) -> Flags:
    """Whether a size is neither clearly zero nor clearly not, for each state."""
    longest = np.maximum(1.0, np.linalg.norm(sizes, axis=0))
    doubtful: Flags = ((sizes > ZERO_ROW) & (sizes < SURE_ROW * longest)).any(axis=0)
    return doubtful
