"""Newton's method from one closed position to another near it, and the speeds there, as compiled loops.

Equations r + A s = 0 are taken from the results of kernels, row by row, and solved by elimination with pivoting: there
may be more rows than unknowns, as of planar loops, and the rows that pivoting chooses stand for all.  Where rows leave
unknowns free, the solution is the one nearest to what is asked for.  Where exact values and guesses leave a mechanism
freedoms, as many coordinates lead, and Newton's method along them finds the position with the least sum of weighted
squares of distances.  The loops know no model (``jit/loop/translator.py`` describes their language).
"""

from __future__ import annotations

import math

from kinode.jit.loop.memory import Floats, Ints, Struct, call, struct, tail

SOLVED, NOT_SOLVED = 0, 1
SMALL_TURN = 1e-4  # rad: below it, series
SLIDES, ARRIVED = 20, 1e-8  # steps along freedoms; one so small, in units, is the last: the next is of its square
DIFFERENCE = 1e-6  # step for the curvature of the sum of squares, in units
RISE = 1e-9  # relative: a sum of squares that grows by more is not on the way to the least one


@struct
class RowPlan(Struct):
    """Equations of some freedoms, and where their numbers stand in the results of kernels.

    The value of a row is ``scale * (out[source] - asked)``, zero without a source; its coefficients are
    ``scale * out[entry]``.
    """

    n_rows: int
    n_entries: int
    n_free: int
    n_led: int
    """The last unknowns: speeds of followers, which count too and are asked to be zero."""
    first_led: int
    """The first of as many rows, in which they are what the others make of them."""
    n_turns: int
    """Cut joints whose first three rows of six are rotation vectors; these rows come first."""
    source: Ints
    scale: Floats
    asked: Floats
    entry: Ints
    entry_row: Ints
    entry_column: Ints
    free: Ints
    """The freedoms that are unknown."""
    weight: Floats
    """How much the square of each freedom's distance from what is asked for counts where rows leave unknowns free."""
    place: Ints
    """The place of each freedom among the unknowns; -1 of those that are given."""
    rotation: Ints
    """Where the rotation matrix of each cut joint begins."""


@struct
class WarmMemory(Struct):
    """What the loops share with Python."""

    poses: int
    """Address of the kernel of pose errors; 0 for none.  The same for the others."""
    elements: int
    advance: int
    elements_at: int
    """Where the result of the kernel of constraint elements begins."""
    n_state: int
    n_q: int
    n_u: int
    steps: int
    """Newton steps at most, and then those that were made."""
    near: float
    closed: float
    closed_enough: float
    rank: float
    fit: float
    """What rows may miss with the speeds that are found, relative to the largest one."""
    n_open: int
    """Unknowns that the rows left free, of the last solution."""
    time: Floats
    x: Floats
    """The position: coordinates of the state, then those of the cut joints."""
    still: Floats
    z: Floats
    p: Floats
    inputs: Floats
    work: Floats
    out: Floats
    cut_step: Floats
    """Coordinates of the cut joints, then the step of all freedoms: an argument of the kernel ``advance``."""
    advanced: Floats
    matrix: Floats
    step: Floats
    unit: Floats
    residual: Floats
    order: Ints
    """The unknowns in the order of elimination."""
    free_step: Floats
    """Steps of the unknowns in that order: the solution, then one along each that is free."""
    place: Ints
    """The coordinate of each freedom that is neither exact nor kept; any for others, whose weight is 0."""
    weight: Floats
    """How much the square of each freedom's distance from ``wanted`` counts."""
    wanted: Floats
    """The coordinates that are asked for."""
    n_balls: int
    """Joints that a quaternion turns, and that may move."""
    balls: Ints
    """For each of them: where its quaternion begins, its angular velocity, and how many lengths stand before each."""
    away: Floats
    """How far each freedom is from what is asked for, along its speed."""
    before: Floats
    slopes: Floats
    """Of the sum of squares by each leader, at a position and at one beside it."""
    curvature: Floats
    tangents: Floats
    """Steps of all freedoms along each leader, at both positions."""
    positions: RowPlan
    speeds: RowPlan
    leaders: RowPlan
    """The freedoms of the mechanism, as unknowns of as many equations."""


def evaluate_rows(warm: WarmMemory) -> None:
    """Run the kernels at the present position."""
    cut_q = tail(warm.x, warm.n_state)
    if warm.poses != 0:
        call(
            warm.poses, warm.time, warm.x, warm.still, warm.z, warm.p, warm.inputs, cut_q, warm.work, warm.out
        )  # fmt: skip
    if warm.elements != 0:
        out = tail(warm.out, warm.elements_at)
        call(
            warm.elements, warm.time, warm.x, warm.still, warm.z, warm.p, warm.inputs, cut_q, warm.work, out
        )  # fmt: skip


def fill_matrix(warm: WarmMemory, rows: RowPlan) -> float:
    """Write [A r] for the unknowns; returns the largest |r|, infinite where one is no number.

    Given steps are part of r.
    """
    A, out, step, width = warm.matrix, warm.out, warm.step, rows.n_free + 1
    entry, entry_row, entry_column, place, scale = rows.entry, rows.entry_row, rows.entry_column, rows.place, rows.scale
    for i in range(rows.n_rows * width):
        A[i] = 0.0
    for k in range(rows.n_entries):
        row, column = entry_row[k], entry_column[k]
        value = scale[row] * out[entry[k]]
        if place[column] >= 0:
            A[row * width + place[column]] += value
        else:
            A[row * width + rows.n_free] += value * step[column]
    source, asked = rows.source, rows.asked
    for row in range(rows.n_rows):
        if source[row] >= 0:
            A[row * width + rows.n_free] += scale[row] * (out[source[row]] - asked[row])
    for k in range(rows.n_led):
        A[(rows.first_led + k) * width + rows.n_free - rows.n_led + k] = -scale[rows.first_led + k]
    for k in range(rows.n_turns):
        turn_rows(tail(A, 6 * k * width), tail(out, rows.rotation[k]), width)
    largest = 0.0
    for row in range(rows.n_rows):
        size = abs(A[row * width + rows.n_free])
        if not size < math.inf:
            return math.inf
        largest = max(largest, size)
    return largest


def turn_rows(A: Floats, R: Floats, width: int) -> None:
    """Three rows of angular velocities to those of the rotation vector of R, which becomes part of their values.

    Not a number beyond a quarter turn.
    """
    x, y, z = 0.5 * (R[7] - R[5]), 0.5 * (R[2] - R[6]), 0.5 * (R[3] - R[1])
    sine, cosine = math.sqrt(x * x + y * y + z * z), 0.5 * (R[0] + R[4] + R[8] - 1.0)
    angle = math.atan(sine / cosine) if cosine > 0.0 else math.nan
    stretch = angle / sine if sine > 1e-300 else 1.0
    if not cosine > 0.0:
        stretch = math.nan
    x, y, z = x * stretch, y * stretch, z * stretch
    factor = 1.0 / 12.0
    if angle >= SMALL_TURN:
        factor = (1.0 - 0.5 * angle / math.tan(0.5 * angle)) / (angle * angle)
    first, second, third = A, tail(A, width), tail(A, 2 * width)
    for j in range(width):
        a, b, c = first[j], second[j], third[j]
        # k = turn x v and turn x k: v + k / 2 + factor * turn x k
        d, e, f = y * c - z * b, z * a - x * c, x * b - y * a
        first[j] = a + 0.5 * d + factor * (y * f - z * e)
        second[j] = b + 0.5 * e + factor * (z * d - x * f)
        third[j] = c + 0.5 * f + factor * (x * e - y * d)
    first[width - 1] += x
    second[width - 1] += y
    third[width - 1] += z


def solve_rows(warm: WarmMemory, rows: RowPlan) -> int:
    """The step with r + A step = 0 nearest to the one in ``step``; returns how many unknowns the rows determine.

    Rows that the others determine are left as they are.
    """
    n, width, A, step, there = rows.n_free, rows.n_free + 1, warm.matrix, warm.step, warm.free_step
    rank = eliminate(warm, rows)
    warm.n_open = n - rank
    for k in range(rank, n):
        there[k] = step[rows.free[warm.order[k]]]
    for k in range(rank - 1, -1, -1):
        pivot = tail(A, k * width)
        rest = pivot[n]
        for j in range(k + 1, n):
            rest += pivot[j] * there[j]
        there[k] = -rest / pivot[k]
    if rank < n:
        for k in range(n):
            there[k] -= step[rows.free[warm.order[k]]]
        come_near(warm, rows, rank)
        for k in range(n):
            there[k] += step[rows.free[warm.order[k]]]
    for k in range(n):
        step[rows.free[warm.order[k]]] = there[k]
    return rank


def eliminate(warm: WarmMemory, rows: RowPlan) -> int:
    """Bring [A r] into the form of a triangle beside what belongs to free unknowns; returns its size.

    Each pivot is the largest number that is left, so that steps along free unknowns stay small.
    """
    n, width, A, order, largest = rows.n_free, rows.n_free + 1, warm.matrix, warm.order, 0.0
    for k in range(n):
        order[k] = k
    for k in range(min(n, rows.n_rows)):
        at_row, at_column, size = k, k, 0.0
        for row in range(k, rows.n_rows):
            for j in range(k, n):
                if abs(A[row * width + j]) > size:
                    at_row, at_column, size = row, j, abs(A[row * width + j])
        largest = max(largest, size)
        if not size > warm.rank * largest:
            return k
        pivot = tail(A, k * width)
        if at_row != k:
            swap_rows(pivot, tail(A, at_row * width), k, width)
        if at_column != k:
            order[k], order[at_column] = order[at_column], order[k]
            for row in range(rows.n_rows):
                A[row * width + k], A[row * width + at_column] = A[row * width + at_column], A[row * width + k]
        for row in range(k + 1, rows.n_rows):
            below = tail(A, row * width)
            factor = below[k] / pivot[k]
            if factor != 0.0:
                for j in range(k + 1, width):
                    below[j] -= factor * pivot[j]
    return min(n, rows.n_rows)


def come_near(warm: WarmMemory, rows: RowPlan, rank: int) -> None:
    """Take off what steps along the free unknowns can of the distance from what is asked for."""
    n, width, A, away, weight = rows.n_free, rows.n_free + 1, warm.matrix, warm.free_step, rows.weight
    for c in range(rank, n):
        along = tail(away, (c - rank + 1) * n)
        for k in range(n):
            along[k] = 1.0 if k == c else 0.0
        for k in range(rank - 1, -1, -1):
            rest = A[k * width + c]
            for j in range(k + 1, rank):
                rest += A[k * width + j] * along[j]
            along[k] = -rest / A[k * width + k]
        for b in range(rank, c):
            remove(warm, rows, along, tail(away, (b - rank + 1) * n))
        size = 0.0
        for k in range(n):
            size += weight[rows.free[warm.order[k]]] * along[k] * along[k]
        for k in range(n):
            along[k] /= math.sqrt(size)
        remove(warm, rows, away, along)


def remove(warm: WarmMemory, rows: RowPlan, step: Floats, along: Floats) -> None:
    """Take the part of a step off that lies along another one of length 1."""
    share = 0.0
    for k in range(rows.n_free):
        share += rows.weight[rows.free[warm.order[k]]] * step[k] * along[k]
    for k in range(rows.n_free):
        step[k] -= share * along[k]


def swap_rows(a: Floats, b: Floats, first: int, width: int) -> None:
    """Exchange two rows from a column on."""
    for j in range(first, width):
        value = a[j]
        a[j] = b[j]
        b[j] = value


def follow_position(warm: WarmMemory) -> int:
    """Newton's method from the present position to a closed one; not solved where it is not near."""
    most = warm.steps
    warm.steps, error = 0, math.inf
    while True:
        evaluate_rows(warm)
        error = fill_matrix(warm, warm.positions)
        if error <= warm.closed or warm.steps == most:
            break
        clear(warm)
        if solve_rows(warm, warm.positions) < warm.positions.n_free:
            return NOT_SOLVED
        if not move(warm):
            return NOT_SOLVED
        warm.steps += 1
    return SOLVED if error <= warm.closed_enough else NOT_SOLVED


def clear(warm: WarmMemory) -> None:
    """No step."""
    for i in range(warm.n_u):
        warm.step[i] = 0.0


def move(warm: WarmMemory) -> bool:
    """Take the step, unless it is long."""
    x, step, n_cut = warm.x, warm.step, warm.n_q - warm.n_state
    for i in range(warm.n_u):
        if not abs(step[i]) <= warm.near * warm.unit[i]:
            return False
        warm.cut_step[n_cut + i] = step[i]
    for i in range(n_cut):
        warm.cut_step[i] = x[warm.n_state + i]
    call(
        warm.advance, warm.time, x, warm.still, warm.z, warm.p, warm.inputs, warm.cut_step, warm.work, warm.advanced
    )  # fmt: skip
    for i in range(warm.n_q):
        x[i] = warm.advanced[i]
    return True


def count_leaders(warm: WarmMemory) -> int:
    """The freedoms that the rows leave at the present position: the last ones in ``order``."""
    evaluate_rows(warm)
    clear(warm)
    fill_matrix(warm, warm.positions)
    return warm.positions.n_free - eliminate(warm, warm.positions)


def find_slopes(warm: WarmMemory, which: int) -> bool:
    """Steps along each leader at the present position, and how the sum of squares changes along them."""
    n, leaders, step = warm.n_u, warm.leaders, warm.step
    find_distances(warm)
    evaluate_rows(warm)
    for j in range(leaders.n_free):
        clear(warm)
        step[leaders.free[j]] = 1.0
        fill_matrix(warm, warm.positions)
        if solve_rows(warm, warm.positions) < warm.positions.n_free:
            return False
        tangent, slope = tail(warm.tangents, (which * leaders.n_free + j) * n), 0.0
        for i in range(n):
            tangent[i] = step[i]
            slope += warm.weight[i] * warm.away[i] * step[i]
        warm.slopes[which * leaders.n_free + j] = slope
    return True


def find_sum(warm: WarmMemory) -> float:
    """Half the sum of weighted squares of distances from what is asked for."""
    total = 0.0
    find_distances(warm)
    for i in range(warm.n_u):
        total += 0.5 * warm.weight[i] * warm.away[i] * warm.away[i]
    return total


def find_distances(warm: WarmMemory) -> None:
    """How far the freedoms are from what is asked for: differences, and rotation vectors in child axes.

    A rotation vector changes its length as fast as the angular velocity turns along it; the lengths of a free body are
    turned into its axes, in which its velocity is given.
    """
    x, wanted, away = warm.x, warm.wanted, warm.away
    for i in range(warm.n_u):
        away[i] = x[warm.place[i]] - wanted[warm.place[i]]
    for k in range(warm.n_balls):
        at, to, lengths = warm.balls[3 * k], warm.balls[3 * k + 1], warm.balls[3 * k + 2]
        w, a, b, c = x[at], x[at + 1], x[at + 2], x[at + 3]
        asked_w, asked_a, asked_b, asked_c = wanted[at], wanted[at + 1], wanted[at + 2], wanted[at + 3]
        cosine = asked_w * w + asked_a * a + asked_b * b + asked_c * c
        turn_x = asked_w * a - w * asked_a - asked_b * c + asked_c * b
        turn_y = asked_w * b - w * asked_b - asked_c * a + asked_a * c
        turn_z = asked_w * c - w * asked_c - asked_a * b + asked_b * a
        sine = math.sqrt(turn_x * turn_x + turn_y * turn_y + turn_z * turn_z)
        half = math.atan(sine / abs(cosine)) if cosine != 0.0 else 0.5 * math.pi
        stretch = 2.0 * half / sine if sine > 1e-300 else 2.0
        if cosine < 0.0:
            stretch = -stretch
        away[to], away[to + 1], away[to + 2] = stretch * turn_x, stretch * turn_y, stretch * turn_z
        if lengths != 0:
            p, q, r = x[at - 3] - wanted[at - 3], x[at - 2] - wanted[at - 2], x[at - 1] - wanted[at - 1]
            e, f, g = 2.0 * (q * c - r * b), 2.0 * (r * a - p * c), 2.0 * (p * b - q * a)  # R'd by the quaternion
            away[to - 3] = p + w * e + f * c - g * b
            away[to - 2] = q + w * f + g * a - e * c
            away[to - 1] = r + w * g + e * b - f * a


def find_curvature(warm: WarmMemory) -> bool:
    """[H slope] of the leaders, by differences of the slopes; the position stays."""
    n, f, slopes = warm.n_u, warm.leaders.n_free, warm.slopes
    for i in range(warm.n_q):
        warm.before[i] = warm.x[i]
    for j in range(f):
        for i in range(n):
            warm.step[i] = DIFFERENCE * warm.unit[warm.leaders.free[j]] * warm.tangents[j * n + i]
        fine = move(warm) and find_slopes(warm, 1)
        for i in range(warm.n_q):
            warm.x[i] = warm.before[i]
        if not fine:
            return False
        for i in range(f):
            rise = slopes[f + i] - slopes[i]
            warm.curvature[i * (f + 1) + j] = rise / (DIFFERENCE * warm.unit[warm.leaders.free[j]])
    for i in range(f):
        warm.curvature[i * (f + 1) + f] = slopes[i]
    return True


def slide(warm: WarmMemory) -> int:
    """From a closed position to the one nearest to what is asked for; not solved where that is not near."""
    leaders, n, most, least = warm.leaders, warm.n_u, warm.steps, math.inf
    for _ in range(SLIDES):
        total = find_sum(warm)
        if total > least * (1.0 + RISE) + 1e-300 or not find_slopes(warm, 0) or not find_curvature(warm):
            return NOT_SOLVED
        least = total
        for i in range(leaders.n_free * (leaders.n_free + 1)):
            warm.matrix[i] = warm.curvature[i]
        clear(warm)
        if solve_rows(warm, leaders) < leaders.n_free:
            return NOT_SOLVED
        largest = 0.0
        for j in range(leaders.n_free):
            warm.slopes[j] = warm.step[leaders.free[j]]
            largest = max(largest, abs(warm.slopes[j]) / warm.unit[leaders.free[j]])
        clear(warm)
        for j in range(leaders.n_free):
            for i in range(n):
                warm.step[i] += warm.slopes[j] * warm.tangents[j * n + i]
        if not move(warm):
            return NOT_SOLVED
        clear(warm)
        warm.steps = most
        if follow_position(warm) != SOLVED:
            return NOT_SOLVED
        if largest <= ARRIVED:
            return SOLVED
    return NOT_SOLVED


def solve_speeds_there(warm: WarmMemory) -> int:
    """The speeds at the position of the last evaluation: exact ones, and the nearest to those that are asked for.

    Not solved where exact ones do not fit together.
    """
    rows, out, step, fastest, missing = warm.speeds, warm.out, warm.step, 1.0, 0.0
    for k in range(rows.n_led):
        step[warm.n_u + k] = 0.0
    fill_matrix(warm, rows)
    solve_rows(warm, rows)
    residual, scale, entry_row = warm.residual, rows.scale, rows.entry_row
    for row in range(rows.n_rows):
        residual[row] = scale[row] * (out[rows.source[row]] - rows.asked[row])
    for k in range(rows.n_entries):
        row = entry_row[k]
        residual[row] += scale[row] * out[rows.entry[k]] * step[rows.entry_column[k]]
    for k in range(rows.n_led):
        residual[rows.first_led + k] -= scale[rows.first_led + k] * step[warm.n_u + k]
    for i in range(warm.n_u):
        fastest = max(fastest, abs(step[i]))
    for row in range(rows.n_rows):
        missing = max(missing, abs(residual[row]))
    return SOLVED if missing <= warm.fit * fastest else NOT_SOLVED
