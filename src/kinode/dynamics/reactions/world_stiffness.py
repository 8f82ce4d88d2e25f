"""The rule of least norm (T-5.6) in plain numbers, for large systems: balances in world axes, and a sparse factor.

As in ``formulations/equal_stiffness.py``, K = E E' is the stiffness of bodies in equally stiff joints, and loads x
change by c = E' v - x with K v = E x.  The result does not depend on the axes of the balances.  Code for one mechanism
would grow with it; here the frames and freedoms of joints are numbers.

With w as the weights of the changes, m = K^-1 E w and k = E' m - w, the change of w . c is

    k . dx - v . dE k - m . dE c

so that its derivatives by loads and by the frames and freedoms of joints take one more solution.  Locks transmit
nothing and do not change it.  Not done here: drives, gears and constraint elements (``is_held_by_joints``).
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.reactions.internal_stresses import DirectionTables
from kinode.kernels.kernel_options import SharingOptions

if TYPE_CHECKING:
    from kinode.structure.topology import Topology


WORLD = -1


class JointTables(DirectionTables):
    """What does not change with the state: bodies of joints, where their directions stand, units, locks."""

    def __init__(self, topology: Topology, options: SharingOptions) -> None:
        super().__init__(topology, options.length)
        system = topology.system
        index = {**{name: k for k, name in enumerate(system.bodies)}, "world": WORLD}
        self.bodies = np.array([[index[joint.b.body], index[joint.a.body]] for joint in system.joints.values()])
        self.shared = np.array(options.shared, dtype=bool)
        self.lock_joints = np.array([self.number[name] for name, _ in options.locks], dtype=np.int64)
        self.lock_columns = np.array([k for _, k in options.locks], dtype=np.int64)
        self.lock_units = np.array([self.find_effort_units(name)[k] for name, k in options.locks])
        self._last: tuple[Array, WorldStiffness] | None = None

    def at_state(self, directions: Array) -> WorldStiffness:
        """The joints at one state; those of the last one are kept."""
        last = self._last
        if last is None or not np.array_equal(last[0], directions):
            self._last = last = directions.copy(), WorldStiffness(self, directions)
        return last[1]


class WorldStiffness:
    """Joints at one state; ``directions`` are those of the kernel of this name (``kernels/kernel_outputs.py``).

    Loads and changes have three components of force and three of moment over the length for each joint, in the given
    axes of its frame F.
    """

    def __init__(self, tables: JointTables, directions: Array) -> None:
        self.tables, n = tables, len(tables.n_u)
        fixed = directions[tables.fixed_at]
        self.R, self.R_FM = fixed[:, :9].reshape(-1, 3, 3), fixed[:, 12:].reshape(-1, 3, 3)
        origins = np.vstack([directions[-3 * tables.n_bodies :].reshape(-1, 3), np.zeros(3)])
        self.arms = (fixed[:, None, 9:12] - origins[tables.bodies]) / tables.length
        scale = np.repeat([1.0, tables.length], 3)[:, None]
        self.S = np.where(tables.is_freedom, directions[tables.freedoms_at] * scale, 0.0)
        self.S_inverse = np.linalg.pinv(self.S)
        self.N = np.eye(6) - self.S @ self.S_inverse
        self.A = np.zeros((n, 2, 6, 6))  # loads at M in its axes to balances about the origin of each body
        self.A[:, :, :3, :3] = _skew(self.arms) @ self.R[:, None]
        self.A[:, :, :3, 3:] = self.A[:, :, 3:, :3] = self.R[:, None]
        self.A[:, 1] *= -1.0
        at = tables.efforts_at[tables.lock_joints, :, tables.lock_columns]
        efforts = directions[at] / scale.ravel() * tables.lock_units[:, None]
        self.lock_loads = np.einsum("lsab,lb->lsa", self.A[tables.lock_joints], efforts)

    @cached_property
    def _factor(self) -> Any:
        """K = L D L'."""
        from scipy.sparse import coo_matrix
        from scipy.sparse.linalg import splu

        AN = self.A @ self.N[:, None]
        blocks = AN[:, :, None] @ np.swapaxes(AN, -1, -2)[:, None]
        loads = self.lock_loads
        np.add.at(blocks, self.tables.lock_joints, loads[:, :, None, :, None] * loads[:, None, :, None, :])
        rows, columns = np.broadcast_arrays(self.tables.bodies[:, :, None], self.tables.bodies[:, None, :])
        is_body = (rows != WORLD) & (columns != WORLD)
        within = np.arange(6)
        i = (6 * rows[is_body])[:, None, None] + within[:, None] + 0 * within
        j = (6 * columns[is_body])[:, None, None] + within + 0 * within[:, None]
        n = 6 * self.tables.n_bodies
        K = coo_matrix((blocks[is_body].ravel(), (i.ravel(), j.ravel())), shape=(n, n)).tocsc()
        return splu(K, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})

    @property
    def flexibility(self) -> float:
        """The largest inverse pivot; infinity if the factor does not exist."""
        try:
            pivots = self._factor.U.diagonal()
        except RuntimeError:  # exactly singular
            return float("inf")
        with np.errstate(divide="ignore"):
            return float(abs(1.0 / pivots).max(initial=0.0))

    # -- sharing -----------------------------------------------------------------------------------
    def _turned(self, x: Array, back: bool = False) -> Array:
        """Loads in the axes of F, turned to those of M; or ``back``."""
        R = self.R_FM if back else np.swapaxes(self.R_FM, 1, 2)
        turned: Array = np.einsum("jab,jcb->jca", R, x.reshape(-1, 2, 3)).reshape(-1, 6)
        return turned

    def _displacements(self, loads: Array) -> Array:
        """v of loads in the axes of M, for each side of each joint."""
        right = np.zeros((self.tables.n_bodies + 1, 6))
        np.add.at(right, self.tables.bodies, np.einsum("jsab,jb->jsa", self.A, np.einsum("jab,jb->ja", self.N, loads)))
        v = self._factor.solve(right[:-1].ravel())
        of_sides: Array = np.vstack([v.reshape(-1, 6), np.zeros(6)])[self.tables.bodies]
        return of_sides

    def _gathered(self, v: Array) -> Array:
        """A'v: the loads of joints for displacements of their sides."""
        loads: Array = np.einsum("jsab,jsa->jb", self.A, v)
        return loads

    def share(self, x: Array) -> tuple[Array, float]:
        """The change of loads, and the size of the efforts of locks; what is not shared is not looked at."""
        y = self._turned(np.where(self.tables.shared, x, 0.0))
        v = self._displacements(y)
        change = np.einsum("jab,jb->ja", self.N, self._gathered(v) - y)
        locked = np.einsum("lsa,lsa->l", self.lock_loads, v[self.tables.lock_joints])
        return self._turned(change, back=True).ravel(), float(locked @ locked)

    def sensitivities(self, x: Array, weights: Array) -> tuple[Array, Array]:
        """The derivatives of the weighted sum of the changes of shared loads: by loads, and by directions."""
        shared, apply = self.tables.shared, "jab,jb->ja"
        x, weights = np.where(shared, x, 0.0), np.where(shared, weights, 0.0)
        y, w = self._turned(x), self._turned(weights)
        v, m = self._displacements(y), self._displacements(w)
        from_v, from_m = self._gathered(v), self._gathered(m)
        c = np.einsum(apply, self.N, from_v - y)
        k = np.einsum(apply, self.N, from_m) - w
        Nk = np.einsum(apply, self.N, k)
        by_loads = self._turned(Nk, back=True).ravel()
        by_R_FM = sum(
            np.einsum("jha,jhb->jab", one.reshape(-1, 2, 3), other.reshape(-1, 2, 3))
            for one, other in ((weights, c), (x, Nk))
        )
        sign = np.array([1.0, -1.0])[:, None, None]
        by_A = -sign * (v[..., :, None] * Nk[:, None, None, :] + m[..., :, None] * c[:, None, None, :])
        turned = by_A[:, :, :3, :3]  # by [arm] R
        by_R = by_A[:, :, :3, 3:] + by_A[:, :, 3:, :3] - _skew(self.arms) @ turned
        by_arm = np.cross(self.R[:, None], turned, axis=-2).sum(axis=-1)
        pairs = ((k, y, -1.0), (from_v, k, 1.0), (from_m, c, 1.0))
        by_S = sum(sign_of * self._by_freedoms(a, b) for a, b, sign_of in pairs)
        fixed = [by_R.sum(axis=1).reshape(-1, 9), by_arm.sum(axis=1) / self.tables.length, np.reshape(by_R_FM, (-1, 9))]
        return np.where(shared, by_loads, 0.0), self._in_order(np.hstack(fixed), np.asarray(by_S))

    def _by_freedoms(self, a: Array, b: Array) -> Array:
        """The derivative of -a'N b by the freedoms S: N a (S^-1 b)' + N b (S^-1 a)'."""
        (Na, Nb), (Sa, Sb) = (
            [np.einsum("jab,jb->ja", matrix, x) for x in (a, b)] for matrix in (self.N, self.S_inverse)
        )
        by: Array = Na[:, :, None] * Sb[:, None, :] + Nb[:, :, None] * Sa[:, None, :]
        return by

    def _in_order(self, fixed: Array, by_S: Array) -> Array:
        """Derivatives by the directions of joints, in their order; unit efforts do not count."""
        total = np.zeros(self.tables.size)
        total[self.tables.fixed_at] = fixed
        where = np.broadcast_to(self.tables.is_freedom, by_S.shape)
        scaled = by_S * np.repeat([1.0, self.tables.length], 3)[:, None]
        total[self.tables.freedoms_at[where]] = scaled[where]
        return total


def _skew(p: Array) -> Array:
    """[p] with [p] a = p x a, for vectors in the last axis."""
    zero = np.zeros(p.shape[:-1])
    x, y, z = np.moveaxis(p, -1, 0)
    return np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=-1).reshape(*p.shape, 3)
