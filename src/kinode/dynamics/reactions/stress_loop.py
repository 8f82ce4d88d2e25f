"""The compiled loop of the uniqueness analysis: internal stresses of every state of a batch, and the least norm.

It computes what ``formulations/reaction_uniqueness.py`` does, (T-5.4) to (T-5.6), in machine code
(jit/loop/translator.py has the language).  The tree carries the forces of cut joints, gears and constraints to the
world; loads of a body are about its origin, in world axes, with moments over the length.  The efforts along the free
joints must vanish, which leaves a null space.  Ranks come from Householder reflections with pivoting here, from
singular values there.  Where the two might differ, because a pivot or a row of the null space is neither clearly zero
nor clearly not, the state is marked as doubtful.

Matrices are stored by rows.  A row has a column for each force in the loops, so that most work is a row added to
another.  The memory has the structure of a system as tables, and work arrays.
"""

from __future__ import annotations

import math

from kinode.jit.loop.memory import Floats, Ints, Struct, struct, tail


@struct
class StressMemory(Struct):
    """Tables, arguments, results and work arrays of one thread.

    A column stands for a force in the loops: six for each cut joint, one for each gear, then one for each multiplier.
    """

    first: int
    last: int
    """The states of this thread."""
    bodies: int
    nodes: int
    cuts: int
    gears: int
    multipliers: int
    n: int
    """Components of all joints and multipliers together."""
    m: int
    """Columns."""
    share: int
    """1 if the change to the least norm is asked for."""
    keep: int
    """1 if the stresses of each state are kept, not only those of the last."""
    length: float
    """The characteristic length, by which moments are divided."""

    joint_at: Ints
    """Where the directions of a joint begin: R_WM, p_WM, R_FM, S, T (kernel ``stress_directions``)."""
    joint_n_u: Ints
    joint_row: Ints
    """The first of the six components of a joint."""
    joint_a: Ints
    joint_b: Ints
    """The bodies of a joint, -1 for the world."""
    joint_unit: Ints
    """The first unit of a joint in ``units``."""
    units: Floats
    """The unit of each effort: the length for angles."""
    origins_at: int
    """Where the origins of the bodies begin in the directions."""

    node_joint: Ints
    node_body: Ints
    node_carrier: Ints
    node_sign: Floats
    node_effort: Ints
    """The component of a drive's effort; -1 where the effort must vanish."""
    node_low: Ints
    node_high: Ints
    """The columns that a node may carry."""
    cut_joint: Ints
    cut_effort: Ints
    gear_follower: Ints
    gear_leader: Ints
    gear_row: Ints
    gear_column: Ints
    gear_ratio: Floats
    first_multiplier: int
    multiplier_row: Ints
    multiplier_scale: Floats

    local_first: Ints
    local_equation: Ints
    """The equations that contain the columns of one cut joint only, from ``local_first`` on for each."""
    globals: int
    global_equation: Ints
    """The other equations."""

    n_directions: int
    n_unit_loads: int
    directions: Floats
    unit_loads: Floats
    x: Floats
    """Components before the sharing, with moments over the length."""
    change: Floats
    norms: Floats
    """The norm of each component's row of the null space."""
    redundancy: Ints
    doubt: Ints
    """Nonzero where the ranks are doubtful."""
    stresses: Floats

    reduced: int
    """Columns that are left after the local equations."""
    n_stresses: int
    N: Floats
    loads: Floats
    components: Floats
    equations: Floats
    basis: Floats
    blocks: Floats
    """Null space of the local equations of each cut joint, by rows of six."""
    block_size: Ints
    small: Floats
    remaining: Floats
    narrow: Floats
    doubtful: Floats
    arm: Floats
    factors: Floats
    wrench: Floats
    about: Floats
    triangle: Floats
    solution: Floats


def add_row(n: int, factor: float, row: Floats, out: Floats) -> None:
    """Add a multiple of a row: out += factor * row."""
    for i in range(n):
        out[i] = out[i] + factor * row[i]


def clear_row(n: int, out: Floats) -> None:
    for i in range(n):
        out[i] = 0.0


def dot_rows(n: int, a: Floats, b: Floats) -> float:
    """Scalar product, in four sums that do not wait for each other."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    whole = n - (n & 3)
    for i in range(0, whole, 4):
        s0 += a[i] * b[i]
        s1 += a[i + 1] * b[i + 1]
        s2 += a[i + 2] * b[i + 2]
        s3 += a[i + 3] * b[i + 3]
    for i in range(whole, n):
        s0 += a[i] * b[i]
    return (s0 + s1) + (s2 + s3)


def add_moments(m: int, width: int, factor: float, arm: Floats, load: Floats, out: Floats) -> None:
    """Add the moments of forces with an arm: out.moment += factor * arm x load.force; rows are ``m`` apart."""
    fx, fy, fz = tail(load, 3 * m), tail(load, 4 * m), tail(load, 5 * m)
    x, y, z = factor * arm[0], factor * arm[1], factor * arm[2]
    mx, my, mz = out, tail(out, m), tail(out, 2 * m)
    i = 0
    while i < width:  # rows are short
        mx[i] = mx[i] + y * fz[i] - z * fy[i]
        my[i] = my[i] + z * fx[i] - x * fz[i]
        mz[i] = mz[i] + x * fy[i] - y * fx[i]
        i += 1


def turn_rows(m: int, width: int, R: Floats, across: int, down: int, load: Floats, out: Floats) -> None:
    """Three rows turned by a matrix: out = R load; R[across * j + down * i] is its entry in row i, column j."""
    x, y, z = load, tail(load, m), tail(load, 2 * m)
    u, v, w = out, tail(out, m), tail(out, 2 * m)
    a, b, c = R[0], R[across], R[2 * across]
    d, e, f = R[down], R[across + down], R[2 * across + down]
    g, h, k = R[2 * down], R[across + 2 * down], R[2 * across + 2 * down]
    i = 0
    while i < width:  # rows are short
        u[i] = a * x[i] + b * y[i] + c * z[i]
        v[i] = d * x[i] + e * y[i] + f * z[i]
        w[i] = g * x[i] + h * y[i] + k * z[i]
        i += 1


MOMENT, FORCE = 0, 3


def carry_loads(memory: StressMemory, directions: Floats, unit_loads: Floats) -> None:
    """The components of all joints for unit forces in the loops, and the efforts that must vanish."""
    m, loads = memory.m, memory.loads
    clear_row(6 * memory.bodies * m, loads)
    clear_row(memory.n * m, memory.components)
    n_equations = 0
    for c in range(memory.cuts):
        n_equations = _begin_cut(memory, directions, c, n_equations)
    for g in range(memory.gears):
        column, follower, leader = memory.gear_column[g], memory.gear_follower[g], memory.gear_leader[g]
        tail(memory.components, memory.gear_row[g] * m)[column] = 1.0
        unit = memory.units[memory.joint_unit[follower]]
        _load_effort(memory, directions, follower, column, unit)
        _load_effort(memory, directions, leader, column, -memory.gear_ratio[g] * unit)
    for j in range(memory.multipliers):
        column, row = memory.first_multiplier + j, memory.multiplier_row[j]
        tail(memory.components, row * m)[column] = 1.0
        for i in range(6 * memory.bodies):
            scale = memory.multiplier_scale[j] / (memory.length if i % 6 < FORCE else 1.0)
            tail(loads, i * m)[column] = unit_loads[i * memory.multipliers + j] * scale
    for k in range(memory.nodes):
        n_equations = _pass_node(memory, directions, k, n_equations)


def _begin_cut(memory: StressMemory, directions: Floats, c: int, n_equations: int) -> int:
    """Unit wrenches of a cut joint in the axes of M, with moments over the length, as loads on its two bodies."""
    m, joint, column = memory.m, memory.cut_joint[c], 6 * c
    at, w = tail(directions, memory.joint_at[joint]), memory.wrench
    for i in range(6):
        row = tail(w, i * m + column)
        clear_row(6, row)
        row[i] = 1.0
    for axis in range(3):
        for i in range(3):
            _load(memory, directions, joint, at[3 * i + axis], MOMENT + i, column + axis)
            _load(memory, directions, joint, at[3 * i + axis], FORCE + i, column + 3 + axis)
    return _resolve(memory, directions, joint, memory.cut_effort[c], n_equations, column, 6)


def _load_effort(memory: StressMemory, directions: Floats, joint: int, column: int, factor: float) -> None:
    """Add the wrench of a multiple of a joint's unit effort to the loads of its two bodies."""
    at, n_u = tail(directions, memory.joint_at[joint]), memory.joint_n_u[joint]
    T = tail(at, 21 + 6 * n_u)
    for i in range(3):
        moment, force = 0.0, 0.0
        for j in range(3):
            moment += at[3 * i + j] * T[j * n_u]
            force += at[3 * i + j] * T[(3 + j) * n_u]
        _load(memory, directions, joint, factor * moment / memory.length, MOMENT + i, column)
        _load(memory, directions, joint, factor * force, FORCE + i, column)


def _load(memory: StressMemory, directions: Floats, joint: int, size: float, i: int, column: int) -> None:
    """Add one component of a wrench at a joint's point, in world axes: on b, and its opposite on a."""
    m, at = memory.m, tail(directions, memory.joint_at[joint] + 9)
    for side in range(2):
        body = memory.joint_b[joint] if side == 0 else memory.joint_a[joint]
        value = size if side == 0 else -size
        if body >= 0:
            load, origin = tail(memory.loads, 6 * body * m + column), tail(directions, memory.origins_at + 3 * body)
            load[i * m] += value
            if i >= FORCE:
                x, y, z = at[0] - origin[0], at[1] - origin[1], at[2] - origin[2]
                value = value / memory.length
                load[0] += (y if i == 5 else 0.0) * value - (z if i == 4 else 0.0) * value
                load[m] += (z if i == 3 else 0.0) * value - (x if i == 5 else 0.0) * value
                load[2 * m] += (x if i == 4 else 0.0) * value - (y if i == 3 else 0.0) * value


def _pass_node(memory: StressMemory, directions: Floats, k: int, n_equations: int) -> int:
    """Add the loads of a body to those of its carrier, and resolve what its joint transmits."""
    m, joint, body, carrier = memory.m, memory.node_joint[k], memory.node_body[k], memory.node_carrier[k]
    low = memory.node_low[k]
    width, arm = memory.node_high[k] - low, memory.arm
    load, origin = tail(memory.loads, 6 * body * m + low), tail(directions, memory.origins_at + 3 * body)
    if carrier >= 0:
        home, to = tail(memory.loads, 6 * carrier * m + low), tail(directions, memory.origins_at + 3 * carrier)
        for i in range(6):
            add_row(width, 1.0, tail(load, i * m), tail(home, i * m))
        for i in range(3):
            arm[i] = origin[i] - to[i]
        add_moments(m, width, 1.0 / memory.length, arm, load, home)
    at, w, about, sign = tail(directions, memory.joint_at[joint]), memory.wrench, memory.about, memory.node_sign[k]
    for i in range(6):
        row, out = tail(load, i * m), tail(about, i * m + low)
        for j in range(width):
            out[j] = sign * row[j]
    for i in range(3):
        arm[i] = origin[i] - at[9 + i]
    add_moments(m, width, sign / memory.length, arm, load, tail(about, low))
    turn_rows(m, width, at, 3, 1, tail(about, low), tail(w, low))
    turn_rows(m, width, at, 3, 1, tail(about, FORCE * m + low), tail(w, FORCE * m + low))
    return _resolve(memory, directions, joint, memory.node_effort[k], n_equations, low, width)


def _resolve(
    memory: StressMemory, directions: Floats, joint: int, effort_row: int, n_equations: int, low: int, width: int
) -> int:
    """Resolve ``wrench`` into the effort, which is an unknown of a drive or must vanish, and the reaction."""
    m, n_u, length, w = memory.m, memory.joint_n_u[joint], memory.length, tail(memory.wrench, low)
    at = tail(directions, memory.joint_at[joint])
    S, T = tail(at, 21), tail(at, 21 + 6 * n_u)
    first = tail(memory.equations, n_equations * m) if effort_row < 0 else tail(memory.components, effort_row * m)
    for d in range(n_u):
        effort, unit = tail(first, d * m), memory.units[memory.joint_unit[joint] + d]
        clear_row(m, effort)
        for i in range(6):
            factor = S[i * n_u + d] * (length if i < FORCE else 1.0) / unit
            if factor != 0.0:
                add_row(width, factor, tail(w, i * m), tail(effort, low))
    for d in range(n_u):
        effort, unit = tail(first, d * m + low), memory.units[memory.joint_unit[joint] + d]
        for i in range(6):
            factor = T[i * n_u + d] * unit / (length if i < FORCE else 1.0)
            if factor != 0.0:
                add_row(width, -factor, effort, tail(w, i * m))
    own = tail(memory.components, memory.joint_row[joint] * m + low)
    turn_rows(m, width, tail(at, 12), 1, 3, tail(w, FORCE * m), own)
    turn_rows(m, width, tail(at, 12), 1, 3, w, tail(own, 3 * m))
    return n_equations if effort_row >= 0 else n_equations + n_u


ZERO_PIVOT, SURE_PIVOT = 1e-12, 1e-6  # of the largest: below is zero, above is not, between is doubtful
ZERO_ROW, SURE_ROW = 1e-11, 1e-6  # the same for the norm of a component's row of the null space
ROUNDING = 1e-15  # of the largest coefficient of an equation


def analyze_states(memory: StressMemory) -> int:
    """Analyze the states from ``first`` to ``last``."""
    for state in range(memory.first, memory.last):
        directions = tail(memory.directions, state * memory.n_directions)
        carry_loads(memory, directions, tail(memory.unit_loads, state * memory.n_unit_loads))
        memory.doubtful[0] = 0.0
        _reduce(memory)
        k = _find_null_space(
            memory.reduced, memory.globals, memory.remaining, memory.factors, memory.basis, memory.doubtful
        )
        doubt = 1 if memory.doubtful[0] != 0.0 else 0
        memory.n_stresses = k
        memory.redundancy[state] = k
        norms = tail(memory.norms, state * memory.n)
        for i in range(memory.n):
            norms[i] = 0.0
        if k > 0:
            _find_stresses(memory, tail(memory.stresses, memory.keep * (state - memory.first) * memory.n * memory.m))
            doubt += _measure_rows(memory, norms)
            if memory.share != 0:
                doubt += _factorize(memory, norms)
                _share(memory, tail(memory.x, state * memory.n), tail(memory.change, state * memory.n), norms)
        memory.doubt[state] = doubt
    return 0


# -- the null space --------------------------------------------------------------------------------
def _find_null_space(m: int, n_equations: int, A: Floats, factors: Floats, basis: Floats, sizes: Floats) -> int:
    """The null space of the rows of A, as rows of ``basis``, by Householder reflections with pivoting.

    Returns its dimension; ``sizes[0]`` becomes nonzero where that is doubtful.
    """
    rank, largest = 0, 1.0
    while rank < n_equations and rank < m:
        pivot, square = rank, -1.0
        for i in range(rank, n_equations):
            row = tail(A, i * m + rank)
            size = dot_rows(m - rank, row, row)
            if size > square or size != size:
                pivot, square = i, size
        size = math.sqrt(max(square, 0.0))
        largest = max(largest, size)
        if not size < math.inf:
            sizes[0] = 1.0
        if not size > ZERO_PIVOT * largest:
            break
        if size < SURE_PIVOT * largest:
            sizes[0] = 1.0
        row, other = tail(A, rank * m), tail(A, pivot * m)
        if pivot != rank:
            for i in range(m):
                row[i], other[i] = other[i], row[i]
        v = tail(row, rank)
        head = v[0]
        v[0] = head + (size if head >= 0.0 else -size)
        factors[rank] = 1.0 / (size * (size + abs(head)))
        for i in range(rank + 1, n_equations):
            next_row = tail(A, i * m + rank)
            _reflect(m - rank, factors[rank], v, next_row)
        rank += 1
    for i in range(rank, m):
        b = tail(basis, (i - rank) * m)
        clear_row(m, b)
        b[i] = 1.0
        for j in range(rank - 1, -1, -1):
            _reflect(m - j, factors[j], tail(A, j * m + j), tail(b, j))
    return m - rank


def _reflect(n: int, factor: float, v: Floats, row: Floats) -> None:
    along = dot_rows(n, v, row)
    if along != 0.0:
        add_row(n, -factor * along, v, row)


def _reduce(memory: StressMemory) -> None:
    """Replace the columns of each cut joint by the null space of the equations that contain no others.

    Most joints are in one loop only.  What is left is small, and its components are zero outside of their loop.
    """
    m, reduced, local = memory.m, 0, memory.small
    for c in range(memory.cuts):
        first, count = memory.local_first[c], memory.local_first[c + 1] - memory.local_first[c]
        for i in range(count):
            row = tail(memory.equations, memory.local_equation[first + i] * m + 6 * c)
            for j in range(6):
                local[6 * i + j] = row[j]
        basis = tail(memory.blocks, 36 * c)
        memory.block_size[c] = _find_null_space(6, count, local, memory.factors, basis, memory.doubtful)
        reduced += memory.block_size[c]
    memory.reduced = reduced + m - 6 * memory.cuts
    for i in range(memory.globals):
        equation = tail(memory.equations, memory.global_equation[i] * m)
        _reduce_row(memory, equation, tail(memory.remaining, i * memory.reduced))
        _flush(memory.reduced, tail(memory.remaining, i * memory.reduced))
    for i in range(memory.n):
        _reduce_row(memory, tail(memory.components, i * m), tail(memory.narrow, i * memory.reduced))


def _reduce_row(memory: StressMemory, row: Floats, out: Floats) -> None:
    """A row of coefficients in the columns that are left."""
    at = 0
    for c in range(memory.cuts):
        wide, size = tail(row, 6 * c), memory.block_size[c]
        some = abs(wide[0]) + abs(wide[1]) + abs(wide[2]) + abs(wide[3]) + abs(wide[4]) + abs(wide[5])
        for j in range(size):
            b = tail(memory.blocks, 36 * c + 6 * j)
            out[at + j] = 0.0 if some == 0.0 else dot_rows(6, wide, b)
        at += size
    for j in range(memory.reduced - at):
        out[at + j] = row[6 * memory.cuts + j]


def _flush(n: int, row: Floats) -> None:
    """Set what is rounding in a row to zero, so that the columns of other loops stay apart."""
    largest = 0.0
    for i in range(n):
        largest = max(largest, abs(row[i]))
    for i in range(n):
        if abs(row[i]) < ROUNDING * largest:
            row[i] = 0.0


def _find_stresses(memory: StressMemory, stresses: Floats) -> None:
    """The components of all joints and multipliers in each state of stress, a column for each."""
    m, k, turned = memory.reduced, memory.n_stresses, memory.loads
    memory.N = stresses
    for i in range(m):
        for j in range(k):
            turned[i * k + j] = memory.basis[j * m + i]
    for i in range(memory.n):
        row, out = tail(memory.narrow, i * m), tail(stresses, i * k)
        clear_row(k, out)
        for c in range(m):
            if row[c] != 0.0:
                add_row(k, row[c], tail(turned, c * k), out)


def _measure_rows(memory: StressMemory, norms: Floats) -> int:
    """The size of each component in an orthonormal basis of the stresses; returns whether one is doubtful.

    The basis N is not orthonormal: it contains unit wrenches of the cut joints, and its norm is at most ``longest``. So
    a size is at most that of the row of N, and at least that by ``longest``. The bound that decides is noted.
    """
    k, N, square, doubt = memory.n_stresses, memory.N, 0.0, 0
    for i in range(memory.n):
        norms[i] = dot_rows(k, tail(N, i * k), tail(N, i * k))
        square += norms[i]
    longest = max(1.0, math.sqrt(square))
    if not square < math.inf:
        doubt = 1
    for i in range(memory.n):
        size = math.sqrt(norms[i])
        norms[i] = size if size < ZERO_ROW else size / longest
        if size > ZERO_ROW and size < SURE_ROW * longest:
            doubt = 1
    return doubt


def _factorize(memory: StressMemory, norms: Floats) -> int:
    """The triangle R of N'N = R'R; returns whether N is too badly conditioned."""
    k, N, R, doubt = memory.n_stresses, memory.N, memory.triangle, 0
    clear_row(k * k, R)
    for i in range(memory.n):
        row = tail(N, i * k)
        if norms[i] > ZERO_ROW:
            for a in range(k):
                if row[a] != 0.0:
                    add_row(k - a, row[a], tail(row, a), tail(R, a * k + a))
    for a in range(k):
        root = math.sqrt(R[a * k + a])
        if not root > SURE_PIVOT:
            doubt = 1
        row = tail(R, a * k + a)
        for b in range(k - a):
            row[b] = row[b] / root
        for b in range(a + 1, k):
            if row[b - a] != 0.0:
                add_row(k - b, -row[b - a], tail(row, b - a), tail(R, b * k + b))
    return doubt


def _share(memory: StressMemory, x: Floats, change: Floats, norms: Floats) -> None:
    """The change to the solution of least norm, (T-5.6); a second pass removes the rounding of the first."""
    n, k, N, R, y = memory.n, memory.n_stresses, memory.N, memory.triangle, memory.solution
    clear_row(n, change)
    for _ in range(2):
        clear_row(k, y)
        for i in range(n):
            if norms[i] > ZERO_ROW:
                add_row(k, x[i] + change[i], tail(N, i * k), y)
        for a in range(k):
            y[a] = y[a] / R[a * k + a]
            add_row(k - a - 1, -y[a], tail(R, a * k + a + 1), tail(y, a + 1))
        for a in range(k - 1, -1, -1):
            y[a] = (y[a] - dot_rows(k - a - 1, tail(R, a * k + a + 1), tail(y, a + 1))) / R[a * k + a]
        for i in range(n):
            if norms[i] > ZERO_ROW:
                change[i] -= dot_rows(k, tail(N, i * k), y)
