"""The passes that prepare derivatives of a large tree: composite inertias and the numbers of each freedom, world axes.

The analytic derivatives of inverse dynamics [S. Singh, R. P. Russell, P. M. Wensing, Efficient analytical derivatives
of rigid-body dynamics using spatial vector algebra, IEEE RA-L 7 (2022)], about the world's origin and in its axes.  For
a body with the velocity V = [w; v], the inertia (m, h, J) and the momentum [L; P],

    2B [a; b]  = [K a - L x a; -2 P x a],    K = w~ J + (w~ J)' - (h v' + v h') + 2 (h.v) 1
    psi_dot    = V_P x S,    psi_ddot = A_P x S + V_P x psi_dot,    S_dot = V x S

where P is what carries the freedom and f the wrench that moves the body and all that it carries.  Inertia, 2B and f of
all that a body carries are sums.  With these sums each freedom j has

    t1 = 2B psi_dot + I psi_ddot + S x* f,   t2 = 2B S + I (psi_dot + S_dot),   t3 = 2B' S,   t4 = I S
    d tau_i / d q_j = S_i.t1_j,                         d tau_i / d u_j = S_i.t2_j              for i that carries j
    d tau_j / d q_i = t3_j.psi_dot_i + t4_j.psi_ddot_i,  d tau_j / d u_i = t3_j.S_i + t4_j.(psi_dot + S_dot)_i

The freedoms of a ball or a free body act together, in the axes of the child.  Those of other joints act one after the
other, as joints of their own.  The loop over pairs of freedoms knows no model: ``derivative_loop.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from kinode.algebra.scalars import Array, Scalar, apply
from kinode.algebra.spatial import Pose, RigidInertia, cross, dot, moved_force
from kinode.kernels.derivatives.recursion_scope import TOGETHER
from kinode.kernels.rolled.rolled_programs import UPPER_ENTRIES, Sweeper, unpack
from kinode.kernels.rolled.tree_sweeps import StagedView, TracedLink, TreePass, Values
from kinode.multibody.links.link_steps import JointFactor
from kinode.structure.link_geometry import Tree

Results = tuple[Values, dict[str, "Array | dict[int, Scalar]"]]
FIELDS = {
    "S": 6, "psi_dot": 6, "psi_ddot": 6, "middle": 6, "t1": 6, "t2": 6, "t3": 3, "t4": 6, "U": 6, "D_inverse": 1,
    "stiffness": 1, "damping": 1,
}  # fmt: skip
"""The numbers of a freedom, each for all freedoms one after the other; ``middle`` is psi_dot + S_dot."""
N_FIELDS = sum(FIELDS.values())
SUMS = 28  # inertia 10, 2B 12, wrench 6


class Freedoms(NamedTuple):
    """The freedoms of the state in depth-first order, so that all that a freedom carries follows it.

    ``entries`` are their indices in u, ``parents`` the freedoms below which they are (-1: none), ``joint_ends`` and
    ``subtree_ends`` the first freedoms behind those of their joint and behind all that it carries.  ``first_of`` has
    the first freedom of each node.
    """

    entries: np.ndarray
    parents: np.ndarray
    joint_ends: np.ndarray
    subtree_ends: np.ndarray
    first_of: np.ndarray


def order_freedoms(tree: Tree, speeds: dict[str, slice]) -> Freedoms:
    """Number the freedoms; ``speeds`` are the entries of u of the joints of the state."""
    nodes = tree.nodes
    children: list[list[int]] = [[] for _ in nodes]
    for node in nodes:
        if node.parent >= 0:
            children[node.parent].append(node.index)
    first_of = np.zeros(len(nodes), dtype=np.int64)
    entries: list[int] = []
    parents: list[int] = []
    joint_ends: list[int] = []
    subtree_ends: list[int] = []
    last = [-1] * len(nodes)  # the last freedom on the path to a node, its own included
    stack = [(node.index, False) for node in reversed(nodes) if node.parent < 0]
    while stack:
        i, done = stack.pop()
        where = speeds.get(nodes[i].joint.name, slice(0, 0))
        count = where.stop - where.start
        if done:
            subtree_ends[first_of[i] : first_of[i] + count] = [len(entries)] * count
            continue
        first_of[i] = first = len(entries)
        above = last[nodes[i].parent] if nodes[i].parent >= 0 else -1
        entries += range(where.start, where.stop)
        parents += [above if k == 0 else first + k - 1 for k in range(count)]
        together = nodes[i].joint.kind in TOGETHER
        joint_ends += [first + count if together else first + k + 1 for k in range(count)]
        subtree_ends += [0] * count
        last[i] = first + count - 1 if count else above
        stack.append((i, True))
        stack += [(child, False) for child in reversed(children[i])]
    numbered = [np.array(x, dtype=np.int64) for x in (entries, parents, joint_ends, subtree_ends)]
    return Freedoms(numbered[0], numbered[1], numbered[2], numbered[3], first_of)


class DerivativeSweeper(Sweeper):
    """The passes over one tree; ``count`` is the number of freedoms, ``k`` the number of a pass."""

    count: int

    def stored(self, name: str, columns: list[Array]) -> Iterator[tuple[int, Scalar]]:
        """Where the numbers of a link's freedoms go, behind the place of its first freedom, and their values."""
        start = 0
        for field, size in FIELDS.items():
            if field == name:
                break
            start += size
        for k, column in enumerate(columns):
            for c, value in enumerate(column):
                yield (start + c) * self.count + k, value

    def factors(self) -> TreePass:
        """Inward: articulated inertias, and their factors freedom by freedom, in world axes."""
        base = self.articulated_inertias()

        def run(link: TracedLink, read: Values) -> Results:
            gives, _ = base.run(link, read)
            if link.flags.is_driven or not link.mechanics.n_u:
                return gives, {}
            U, inverses = single_factors(link.local["kinematics"].S, link.local["factor"])
            world = [np.concatenate(moved_force(link.local["X_W"], column[:3], column[3:])) for column in U]
            return gives, {"freedoms": dict([*self.stored("U", world), *self.stored("D_inverse", inverses)])}

        return TreePass(base.outward, base.reads, base.gives, run)

    def solved(self, largest_n_u: int) -> TreePass:
        """Outward: accelerations, which the next pass gets."""
        base = self.accelerations(largest_n_u, None, keep=True)

        def run(link: TracedLink, read: Values) -> Results:
            gives, _ = base.run(link, read)
            link.local["u_dot"] = gives.pop("u_dot")
            return gives, {}

        return TreePass(base.outward, base.reads, {"A": 6}, run)

    def world_motion(self, k: int) -> TreePass:
        """Outward: velocities and accelerations in world axes about the world's origin; S and its rates."""
        sizes = {"V_W": 6, "A_W": 6}

        def run(link: TracedLink, read: Values) -> Results:
            X, kinematics, n = link.local["X_W"], link.local["kinematics"], link.mechanics.n_u
            w = X.R @ kinematics.w
            V = np.concatenate([w, X.R @ link.local["v"] - cross(w, X.p)])
            V_P, A_P = read["V_W"], read["A_W"]
            u = link.tape.inputs("driven_u" if link.flags.is_driven else "u", n)
            if link.flags.is_driven:
                u_dot = link.tape.inputs("driven_u_dot", n)
            else:
                u_dot = link.local["u_dot"] if self.given is None else link.tape.inputs(StagedView(self.given, k), n)
            S = [_world_motion(X, s) for s in np.asarray(kinematics.S, dtype=object).T]
            psi_dot, psi_ddot, middle = [], [], []
            together = link.mechanics.kind in TOGETHER
            A = A_P
            for s, x, x_dot in zip(S, u, u_dot, strict=True):
                d = cross_motion(V_P, s)
                psi_dot.append(d)
                psi_ddot.append(cross_motion(A_P, s) + cross_motion(V_P, d))
                rate = cross_motion(V, s) if together else d
                middle.append(d + rate)
                A = A + s * x_dot + rate * x
                if not together:
                    V_P, A_P = V_P + s * x, A
            link.local.update(V_W=V, A_W=A, S_W=S, psi_dot=psi_dot, psi_ddot=psi_ddot, middle=middle)
            gives = {} if link.is_leaf else {"V_W": V, "A_W": A}
            if link.flags.is_driven or not n:
                return gives, {}
            _, _, _, stiffness, _, damping = unpack(link)
            springs = stiffness if link.mechanics.n_q == n else np.zeros(n)
            columns = {"S": S, "psi_dot": psi_dot, "psi_ddot": psi_ddot, "middle": middle}
            columns |= {"stiffness": [[x] for x in springs], "damping": [[x] for x in damping]}
            return gives, {"freedoms": dict(x for name, values in columns.items() for x in self.stored(name, values))}

        return TreePass(True, sizes, sizes, run)

    def composites(self) -> TreePass:
        """Inward: sums of inertia, 2B and wrench of all that a link carries; t1 to t4 of its freedoms."""

        def run(link: TracedLink, read: Values) -> Results:
            local = link.local
            own = _own_sums(local["inertia"].seen_from(local["X_W"]), local["V_W"], local["A_W"])
            sums = own + read["sums_W"]
            gives = {} if link.is_root else {"sums_W": sums}
            if link.flags.is_driven or not link.mechanics.n_u:
                return gives, {}
            body = _Composite(sums)
            stores: dict[int, Scalar] = {}
            columns: dict[str, list[Array]] = {name: [] for name in ("t1", "t2", "t3", "t4")}
            for s, d, dd, mid in zip(local["S_W"], local["psi_dot"], local["psi_ddot"], local["middle"], strict=True):
                columns["t1"].append(body.twice_B(d) + body.inertia(dd) + cross_force(s, body.wrench))
                columns["t2"].append(body.twice_B(s) + body.inertia(mid))
                columns["t3"].append(body.twice_B_transposed(s))
                columns["t4"].append(body.inertia(s))
            for name, values in columns.items():
                stores.update(self.stored(name, values))
            return gives, {"freedoms": stores}

        return TreePass(False, {"sums_W": SUMS}, {"sums_W": SUMS}, run)


class _Composite:
    """Inertia, 2B and wrench of all that a link carries, about the world's origin."""

    def __init__(self, sums: Array) -> None:
        self.mass, self.h, self.J = sums[0], sums[1:4], _symmetric(sums[4:10])
        self.K, self.L, self.P = _symmetric(sums[10:16]), sums[16:19], sums[19:22]
        self.wrench = sums[22:]

    def inertia(self, m: Array) -> Array:
        a, b = m[:3], m[3:]
        return np.concatenate([self.J @ a + cross(self.h, b), self.mass * b - cross(self.h, a)])

    def twice_B(self, m: Array) -> Array:
        a = m[:3]
        return np.concatenate([self.K @ a - cross(self.L, a), -2.0 * cross(self.P, a)])

    def twice_B_transposed(self, m: Array) -> Array:
        """The angular part; the linear one is zero."""
        a, b = m[:3], m[3:]
        result: Array = self.K @ a + cross(self.L, a) + 2.0 * cross(self.P, b)
        return result


def _own_sums(inertia: RigidInertia, V: Array, A: Array) -> Array:
    """Inertia, 2B and wrench of one body."""
    m, h, J, w, v = inertia.mass, inertia.moment, inertia.J, V[:3], V[3:]
    P, L = m * v - cross(h, w), J @ w + cross(h, v)
    turned = np.array([cross(w, J[:, j]) for j in range(3)], dtype=object).T
    along = 2.0 * dot(h, v)
    K = [
        turned[i, j] + turned[j, i] - (h[i] * v[j] + v[i] * h[j]) + (along if i == j else 0.0) for i, j in UPPER_ENTRIES
    ]
    force = m * A[3:] - cross(h, A[:3]) + cross(w, P)
    moment = J @ A[:3] + cross(h, A[3:]) + cross(w, L) + cross(v, P)
    tensor = [J[i, j] for i, j in UPPER_ENTRIES]
    return np.array([m, *h, *tensor, *K, *L, *P, *moment, *force], dtype=object)


def single_factors(S: Array, factor: JointFactor) -> tuple[list[Array], list[Array]]:
    """The factors U and 1/D of a joint's freedoms, each as a joint of its own; the last one is the outermost."""
    columns = [np.array(column, dtype=object) for column in factor.U.T]
    inverses: list[Array] = [np.zeros(1)] * len(columns)
    for k in reversed(range(len(columns))):
        inverse = apply("inv", dot(S[:, k], columns[k]))
        inverses[k] = np.array([inverse], dtype=object)
        for i in range(k):
            columns[i] = columns[i] - columns[k] * (dot(columns[k], S[:, i]) * inverse)
    return columns, inverses


def cross_motion(V: Array, m: Array) -> Array:
    """V x m of two motions."""
    return np.concatenate([cross(V[:3], m[:3]), cross(V[:3], m[3:]) + cross(V[3:], m[:3])])


def cross_force(V: Array, f: Array) -> Array:
    """V x* f of a motion and a wrench."""
    return np.concatenate([cross(V[:3], f[:3]) + cross(V[3:], f[3:]), cross(V[:3], f[3:])])


def _world_motion(X: Pose, s: Array) -> Array:
    """A motion in link axes about the link's origin, in world axes about the world's origin."""
    w = X.R @ s[:3]
    return np.concatenate([w, X.R @ s[3:] + cross(X.p, w)])


def _symmetric(values: Array) -> Array:
    matrix = np.empty((3, 3), dtype=object)
    for value, (i, j) in zip(values, UPPER_ENTRIES, strict=True):
        matrix[i, j] = matrix[j, i] = value
    return matrix
