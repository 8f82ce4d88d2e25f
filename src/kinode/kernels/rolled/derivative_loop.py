"""The loop over pairs of freedoms that fills a matrix of derivatives, and M^-1 times that matrix; it knows no model.

The language is that of jit/translator.py.  The numbers of the freedoms come from the passes of
``derivative_sweeps.py``, field by field, in depth-first order: what a freedom carries follows it, and on a path without
branches (a run) what carries it precedes it.  So both halves of a row are loops over neighbors.

M^-1 = L^-T D^-1 L^-1 in the sense of articulated bodies, each freedom as a joint of its own.  A wrench goes inward, a
motion outward, for many columns at a time.  ``table`` begins with the numbers below.
"""

from __future__ import annotations

from kinode.jit.pointers import Floats, Ints, tail

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
