"""Newton's method from one closed position to another near it, and the speeds there, as compiled loops.

Equations r + A s = 0 are taken from the results of kernels, row by row, and solved by elimination with row pivoting:
there may be more rows than unknowns, as of planar loops, and the rows that pivoting chooses stand for all.  A matrix
that does not determine all unknowns is not solved.  The loops know no model (``jit/translator.py`` describes their
language).
"""

from __future__ import annotations

import math

from kinode.jit.pointers import Floats, Ints, Struct, call, struct, tail

SOLVED, NOT_SOLVED = 0, 1
SMALL_TURN = 1e-4  # rad: below it, series


@struct
class RowPlan(Struct):
    """Equations of some freedoms, and where their numbers stand in the results of kernels.

    The value of a row is ``scale * (out[source] - asked)``; its coefficients are ``scale * out[entry]``.
    """

    n_rows: int
    n_entries: int
    n_free: int
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
    positions: RowPlan
    speeds: RowPlan


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
        A[row * width + rows.n_free] += scale[row] * (out[source[row]] - asked[row])
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
    """Three rows of angular velocities to those of the rotation vector of R; not a number beyond a quarter turn."""
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
    for j in range(width - 1):
        a, b, c = first[j], second[j], third[j]
        # k = turn x v and turn x k: v + k / 2 + factor * turn x k
        d, e, f = y * c - z * b, z * a - x * c, x * b - y * a
        first[j] = a + 0.5 * d + factor * (y * f - z * e)
        second[j] = b + 0.5 * e + factor * (z * d - x * f)
        third[j] = c + 0.5 * f + factor * (x * e - y * d)
    first[width - 1], second[width - 1], third[width - 1] = x, y, z


def solve_rows(warm: WarmMemory, rows: RowPlan) -> bool:
    """The step with r + A step = 0, by elimination; False where the rows do not determine it."""
    n, width, A, step, free = rows.n_free, rows.n_free + 1, warm.matrix, warm.step, rows.free
    largest = 0.0
    for row in range(rows.n_rows):
        for j in range(n):
            largest = max(largest, abs(A[row * width + j]))
    if n > rows.n_rows:
        return False
    for k in range(n):
        best, size = k, abs(A[k * width + k])
        for row in range(k + 1, rows.n_rows):
            if abs(A[row * width + k]) > size:
                best, size = row, abs(A[row * width + k])
        if not size > warm.rank * largest:
            return False
        pivot = tail(A, k * width)
        if best != k:
            swap_rows(pivot, tail(A, best * width), k, width)
        for row in range(k + 1, rows.n_rows):
            below = tail(A, row * width)
            factor = below[k] / pivot[k]
            if factor != 0.0:
                for j in range(k + 1, width):
                    below[j] -= factor * pivot[j]
    for k in range(n - 1, -1, -1):
        pivot = tail(A, k * width)
        rest = pivot[n]
        for j in range(k + 1, n):
            rest += pivot[j] * step[free[j]]
        step[free[k]] = -rest / pivot[k]
    return True


def swap_rows(a: Floats, b: Floats, first: int, width: int) -> None:
    """Exchange two rows from a column on."""
    for j in range(first, width):
        value = a[j]
        a[j] = b[j]
        b[j] = value


def follow_position(warm: WarmMemory) -> int:
    """Newton's method from the present position to a closed one; not solved where it is not near."""
    x, step, most = warm.x, warm.step, warm.steps
    n_cut = warm.n_q - warm.n_state
    warm.steps, error = 0, math.inf
    while True:
        evaluate_rows(warm)
        error = fill_matrix(warm, warm.positions)
        if error <= warm.closed or warm.steps == most:
            break
        if not solve_rows(warm, warm.positions):
            return NOT_SOLVED
        for i in range(warm.n_u):
            if not abs(step[i]) <= warm.near * warm.unit[i]:
                return NOT_SOLVED
            warm.cut_step[n_cut + i] = step[i]
        for i in range(n_cut):
            warm.cut_step[i] = x[warm.n_state + i]
        call(
            warm.advance, warm.time, x, warm.still, warm.z, warm.p, warm.inputs, warm.cut_step, warm.work,
            warm.advanced,
        )  # fmt: skip
        for i in range(warm.n_q):
            x[i] = warm.advanced[i]
        warm.steps += 1
    return SOLVED if error <= warm.closed_enough else NOT_SOLVED


def solve_speeds_there(warm: WarmMemory) -> int:
    """The speeds at the position of the last evaluation, and what the rows miss with them."""
    rows, out, step = warm.speeds, warm.out, warm.step
    fill_matrix(warm, rows)
    if not solve_rows(warm, rows):
        return NOT_SOLVED
    residual, scale, entry_row = warm.residual, rows.scale, rows.entry_row
    for row in range(rows.n_rows):
        residual[row] = scale[row] * (out[rows.source[row]] - rows.asked[row])
    for k in range(rows.n_entries):
        row = entry_row[k]
        residual[row] += scale[row] * out[rows.entry[k]] * step[rows.entry_column[k]]
    return SOLVED
