"""Derivatives of a large tree by pairs of freedoms: passes over the links, the loop over pairs, and its program.

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

The freedoms of a ball or a free body act together, in the axes of the child; those of other joints one after the other,
as joints of their own.  The passes leave the numbers of all freedoms in ``work``, field by field, in depth-first order:
what a freedom carries follows it, and on a path without branches (a run) what carries it precedes it.  So both halves
of a row are loops over neighbors.  The loop (of the loop language) knows no model; its ``table`` begins with the
numbers below.  M^-1 = L^-T D^-1 L^-1 in the sense of articulated bodies: a wrench goes inward, a motion outward, for
many columns at a time.

The kernel ``derivatives`` of "u_dot" gets added efforts and solves for the accelerations, ``derivatives_of_motion`` of
"effort" gets the accelerations.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from kinode.algebra.scalars import Array, Scalar, apply
from kinode.algebra.spatial import Pose, RigidInertia, cross, dot, moved_force
from kinode.algebra.trace import Tape
from kinode.jit.loop.memory import Floats, Ints, tail
from kinode.jit.program import Finish, Program
from kinode.kernels.derivatives.derivative_words import TOGETHER
from kinode.kernels.kernel_options import DerivativeOptions
from kinode.kernels.rolled.rolled_builder import RolledBuilder
from kinode.kernels.rolled.tree_loops import straight_blocks
from kinode.kernels.rolled.tree_passes import UPPER_ENTRIES, Sweeper, unpack
from kinode.kernels.rolled.tree_sweeps import StagedView, TracedLink, TreePass, Values
from kinode.multibody.link_steps import JointFactor
from kinode.structure.tree import Tree

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


N, COLUMNS, AT_Q, AT_U, AT_X, FIELDS_AT, MATRIX_AT, PANEL_AT, SLOTS_AT, SOLVES, PERMUTED = range(11)
ENTRIES, PARENTS, JOINT_ENDS, SUBTREE_ENDS, RUN_FIRSTS, RUN_SLOTS, ATTACHED = range(11, 18)
"""Where in ``table`` the lists by freedom begin: ENTRIES has the index of the first of them, and so on."""
NEXT_SLOT, SLOT_FIRST = 18, 19
"""The same for lists by slot: the next slot that is attached to the same freedom, and the first freedom of its run."""
HEAD = 20
WIDTH = 96  # columns of a panel
S, PSI_DOT, PSI_DDOT, MIDDLE, T1, T2, T3, T4, U, D_INVERSE, STIFFNESS, DAMPING = (
    0, 6, 12, 18, 24, 30, 36, 39, 45, 51, 52, 53,
)  # fmt: skip


def tree_derivatives(table: Ints, work: Floats, out: Floats) -> None:
    """Fill ``out``: a row for each speed; columns for q, u and efforts or accelerations, where they are wanted."""
    n, columns = table[N], table[COLUMNS]
    fields = tail(work, table[FIELDS_AT])
    matrix = tail(work, table[MATRIX_AT]) if table[PERMUTED] != 0 else out
    _clear(n * columns, matrix)
    solves = table[SOLVES] != 0
    sign = -1.0 if solves else 1.0
    if table[AT_Q] >= 0:
        _fill(table, sign, fields, T1, PSI_DOT, PSI_DDOT, 1.0, STIFFNESS, tail(matrix, table[AT_Q]))
    if table[AT_U] >= 0:
        _fill(table, sign, fields, T2, S, MIDDLE, 1.0, DAMPING, tail(matrix, table[AT_U]))
    if table[AT_X] >= 0:
        target = tail(matrix, table[AT_X])
        if solves:
            for i in range(n):
                target[i * columns + i] = 1.0
        else:
            _fill(table, 1.0, fields, T4, S, S, 0.0, -1, target)
    if solves:
        panel, slots = tail(work, table[PANEL_AT]), tail(work, table[SLOTS_AT])
        for at in range(columns // n):
            unit = at * n == table[AT_X]
            for first in range(0, n, 96):  # WIDTH
                width = min(WIDTH, n - first)
                start = min(n, first + width) - 1 if unit else n - 1
                block = tail(matrix, at * n + first)
                _solve_inward(table, start, width, fields, block, panel, slots)
                _solve_outward(table, width, fields, block, panel, slots)
    if table[PERMUTED] != 0:
        _permute(table, matrix, out)


def _clear(count: int, x: Floats) -> None:
    for i in range(count):
        x[i] = 0.0


def _copy(count: int, source: Floats, target: Floats) -> None:
    for i in range(count):
        target[i] = source[i]


def _add(count: int, source: Floats, target: Floats) -> None:
    for i in range(count):
        target[i] += source[i]


# -- the matrix of inverse dynamics ----------------------------------------------------------------
def _fill(
    table: Ints, sign: float, fields: Floats, carried: int, a: int, b: int, weight: float, diagonal: int, target: Floats
) -> None:
    """One block of columns: S_i.t_j for what i carries; weight t3_j.a_i + t4_j.b_i for what carries j."""
    n, columns = table[N], table[COLUMNS]
    for i in range(n):
        row = tail(target, i * columns)
        first, last = table[table[JOINT_ENDS] + i], table[table[SUBTREE_ENDS] + i]
        _fill_carried(n, sign, first, last, tail(fields, S * n + i), tail(fields, carried * n), row)
        stop = first
        while stop > 0:
            start = table[table[RUN_FIRSTS] + stop - 1]
            t3, t4 = tail(fields, T3 * n + i), tail(fields, T4 * n + i)
            _fill_carriers(n, sign, weight * sign, start, stop, t3, t4, tail(fields, a * n), tail(fields, b * n), row)
            stop = table[table[PARENTS] + start] + 1
        if diagonal >= 0:
            row[i] += sign * fields[diagonal * n + i]


def _fill_carried(n: int, sign: float, first: int, last: int, s: Floats, t: Floats, row: Floats) -> None:
    """Entries of a row for the freedoms that its own carries."""
    a, b, c = sign * s[0], sign * s[n], sign * s[2 * n]
    d, e, f = sign * s[3 * n], sign * s[4 * n], sign * s[5 * n]
    t1, t2, t3, t4, t5 = tail(t, n), tail(t, 2 * n), tail(t, 3 * n), tail(t, 4 * n), tail(t, 5 * n)
    for j in range(first, last):
        row[j] = a * t[j] + b * t1[j] + c * t2[j] + d * t3[j] + e * t4[j] + f * t5[j]


def _fill_carriers(
    n: int, sign: float, weight: float, first: int, last: int, t3: Floats, t4: Floats, x: Floats, y: Floats, row: Floats
) -> None:
    """Entries of a row for the freedoms of one run that carry its own."""
    a, b, c = weight * t3[0], weight * t3[n], weight * t3[2 * n]
    d, e, f = sign * t4[0], sign * t4[n], sign * t4[2 * n]
    g, h, k = sign * t4[3 * n], sign * t4[4 * n], sign * t4[5 * n]
    x1, x2 = tail(x, n), tail(x, 2 * n)
    y1, y2, y3, y4, y5 = tail(y, n), tail(y, 2 * n), tail(y, 3 * n), tail(y, 4 * n), tail(y, 5 * n)
    for i in range(first, last):
        row[i] = (
            a * x[i] + b * x1[i] + c * x2[i]
            + d * y[i] + e * y1[i] + f * y2[i] + g * y3[i] + h * y4[i] + k * y5[i]
        )  # fmt: skip


# -- times the inverse of the mass matrix ----------------------------------------------------------
def _solve_inward(
    table: Ints, start: int, width: int, fields: Floats, matrix: Floats, panel: Floats, slots: Floats
) -> None:
    """L^-1 times some columns, from the freedom ``start`` inward; the rows behind it are zero."""
    n, columns = table[N], table[COLUMNS]
    for i in range(start, -1, -1):
        if i == start or table[table[RUN_FIRSTS] + i + 1] == i + 1:
            _clear(6 * width, panel)
        slot = table[table[ATTACHED] + i]
        while slot >= 0:
            if table[table[SLOT_FIRST] + slot] <= start:
                _add(6 * width, tail(slots, 6 * WIDTH * slot), panel)
            slot = table[table[NEXT_SLOT] + slot]
        inverse = fields[D_INVERSE * n + i]
        s, g = tail(fields, S * n + i), tail(fields, U * n + i)
        _pass_inward(n, width, inverse, s, g, tail(matrix, i * columns), panel)
        if table[table[RUN_SLOTS] + i] >= 0:
            _copy(6 * width, panel, tail(slots, 6 * WIDTH * table[table[RUN_SLOTS] + i]))


def _pass_inward(n: int, width: int, inverse: float, s: Floats, g: Floats, row: Floats, F: Floats) -> None:
    """The share of one freedom, and the wrench that is passed on."""
    s0, s1, s2, s3, s4, s5 = s[0], s[n], s[2 * n], s[3 * n], s[4 * n], s[5 * n]
    g0, g1, g2 = inverse * g[0], inverse * g[n], inverse * g[2 * n]
    g3, g4, g5 = inverse * g[3 * n], inverse * g[4 * n], inverse * g[5 * n]
    F1, F2, F3 = tail(F, width), tail(F, 2 * width), tail(F, 3 * width)
    F4, F5 = tail(F, 4 * width), tail(F, 5 * width)
    for c in range(width):
        row[c] = row[c] - (s0 * F[c] + s1 * F1[c] + s2 * F2[c] + s3 * F3[c] + s4 * F4[c] + s5 * F5[c])
        F[c] = F[c] + g0 * row[c]
        F1[c] = F1[c] + g1 * row[c]
        F2[c] = F2[c] + g2 * row[c]
        F3[c] = F3[c] + g3 * row[c]
        F4[c] = F4[c] + g4 * row[c]
        F5[c] = F5[c] + g5 * row[c]


def _solve_outward(table: Ints, width: int, fields: Floats, matrix: Floats, panel: Floats, slots: Floats) -> None:
    """L^-T D^-1 times some columns."""
    n, columns = table[N], table[COLUMNS]
    for i in range(n):
        if table[table[RUN_FIRSTS] + i] == i:
            if table[table[RUN_SLOTS] + i] >= 0:
                _copy(6 * width, tail(slots, 6 * WIDTH * table[table[RUN_SLOTS] + i]), panel)
            else:
                _clear(6 * width, panel)
        inverse = fields[D_INVERSE * n + i]
        s, g = tail(fields, S * n + i), tail(fields, U * n + i)
        _pass_outward(n, width, inverse, s, g, tail(matrix, i * columns), panel)
        slot = table[table[ATTACHED] + i]
        while slot >= 0:
            _copy(6 * width, panel, tail(slots, 6 * WIDTH * slot))
            slot = table[table[NEXT_SLOT] + slot]


def _pass_outward(n: int, width: int, inverse: float, s: Floats, g: Floats, row: Floats, A: Floats) -> None:
    """The acceleration of one freedom, and that of what it carries."""
    s0, s1, s2, s3, s4, s5 = s[0], s[n], s[2 * n], s[3 * n], s[4 * n], s[5 * n]
    g0, g1, g2 = inverse * g[0], inverse * g[n], inverse * g[2 * n]
    g3, g4, g5 = inverse * g[3 * n], inverse * g[4 * n], inverse * g[5 * n]
    A1, A2, A3 = tail(A, width), tail(A, 2 * width), tail(A, 3 * width)
    A4, A5 = tail(A, 4 * width), tail(A, 5 * width)
    for c in range(width):
        row[c] = inverse * row[c] - (g0 * A[c] + g1 * A1[c] + g2 * A2[c] + g3 * A3[c] + g4 * A4[c] + g5 * A5[c])
        A[c] = A[c] + s0 * row[c]
        A1[c] = A1[c] + s1 * row[c]
        A2[c] = A2[c] + s2 * row[c]
        A3[c] = A3[c] + s3 * row[c]
        A4[c] = A4[c] + s4 * row[c]
        A5[c] = A5[c] + s5 * row[c]


def _permute(table: Ints, matrix: Floats, out: Floats) -> None:
    """From depth-first order to that of the state, rows and the columns of each block."""
    n, columns, entries = table[N], table[COLUMNS], table[ENTRIES]
    for i in range(n):
        row, target = tail(matrix, i * columns), tail(out, table[entries + i] * columns)
        for block in range(columns // n):
            for j in range(n):
                target[block * n + table[entries + j]] = row[block * n + j]


class DerivativeBuilder(RolledBuilder):
    """Builds the loop code of derivatives."""

    def world_values(self, name: str, tape: Tape) -> Array:
        """What the world gives to its children; in world axes its acceleration minus gravity is the same."""
        return super().world_values("A" if name == "A_W" else name, tape)

    def program(self) -> Program:
        """The whole program."""
        topology, tree = self.topology, self.topology.tree
        freedoms = order_freedoms(tree, dict(topology.u_of))
        assert isinstance(self.kernel.options, DerivativeOptions)
        solves = self.kernel.options.of == ("u_dot",)
        sweeper = DerivativeSweeper(
            poses=True, speeds=True, rates=False, given=None if solves else "x_u_dot", effort_out=False, added=solves
        )
        sweeper.count = count = len(freedoms.entries)
        passes: list[TreePass] = [sweeper.kinematics()]
        if solves:
            passes += [sweeper.factors(), sweeper.solved(self.largest_n_u)]
        passes += [sweeper.world_motion(len(passes)), sweeper.composites()]
        fields_at = self.work.allocate(N_FIELDS * count)
        views = {"freedoms": ("work", fields_at + freedoms.first_of)}
        constants: dict[str, np.ndarray] = {}
        loops = self._lay_out(self.loops, views, passes, constants, "a")
        table = self._table(freedoms, fields_at, solves)
        sizes = {**self.count, "work": self.work.size, "out": count * table[COLUMNS]}
        blocks = [*straight_blocks(self.prelude_stores), *loops]
        finish = Finish(tree_derivatives, tuple(table))
        return Program("kernel", sizes, constants, blocks, finish=finish)

    def _table(self, freedoms: Freedoms, fields_at: int, solves: bool) -> list[int]:
        """The table of the loop (``tree_derivatives.py``): sizes, places in ``work``, lists by freedom and by slot."""
        count = len(freedoms.entries)
        assert isinstance(self.kernel.options, DerivativeOptions)
        words = [word for word, _ in self.kernel.options.by]
        starts = [words.index(word) * count if word in words else -1 for word in ("q", "u", "x")]
        permuted = freedoms.entries.tolist() != list(range(count))
        by_freedom, by_slot = find_runs(freedoms)
        matrix_at = self.work.allocate(count * count * len(words)) if permuted else 0
        panel_at = self.work.allocate(6 * WIDTH) if solves else 0
        slots_at = self.work.allocate(6 * WIDTH * len(by_slot[0])) if solves else 0
        head = [
            count,
            count * len(words),
            *starts,
            fields_at,
            matrix_at,
            panel_at,
            slots_at,
            int(solves),
            int(permuted),
        ]
        lists = [
            *(x.tolist() for x in freedoms[:4]),
            *by_freedom,
            *by_slot,
        ]
        at = HEAD
        for values in lists:
            head.append(at)
            at += len(values)
        assert len(head) == HEAD
        return head + [x for values in lists for x in values]


def find_runs(freedoms: Freedoms) -> tuple[list[list[int]], list[list[int]]]:
    """The runs of freedoms, each of which carries the next one alone or first.

    By freedom: the first freedom of its run; for the first one the slot of a run that is attached to another, else -1;
    the first slot that is attached to it, or -1.  By slot: the next one at the same freedom, or -1; the first freedom.
    """
    attached = [-1] * len(freedoms.entries)
    firsts: list[int] = []
    slots: list[int] = []
    following: list[int] = []
    slot_firsts: list[int] = []
    for i, parent in enumerate(freedoms.parents.tolist()):
        begins = i == 0 or parent != i - 1
        firsts.append(i if begins else firsts[-1])
        slots.append(-1)
        if begins and parent >= 0:
            slots[-1] = len(following)
            following.append(attached[parent])
            slot_firsts.append(i)
            attached[parent] = slots[-1]
    return [firsts, slots, attached], [following, slot_firsts]
