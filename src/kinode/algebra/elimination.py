"""Gaussian elimination in a given order, and the rank of matrices at sample values, over any scalar type.

    values = solve(rows, pivots)

A row is a number that must vanish: an affine form, or a dual of forms (see ``algebra.affine``).  ``pivots`` lists the
rows in the order of elimination, each with the unknown it is solved for.  The order is fixed beforehand and does not
depend on the size of a number, so the same operations serve floats, traced scalars and symbols.  Unknowns without a
pivot stay symbolic: the solution is then affine in them.  Rows without a pivot are not used.

    pivots = choose_pivots(coefficients, unknowns)

chooses an order from the coefficients at sample values.  Among the entries that are not small at any sample it takes
the one with the least fill-in [H. M. Markowitz, "The elimination form of the inverse and its application to linear
programming", Management Science 3 (1957) 255-269].  Entries that are equal at all samples come first, because a
coefficient that varies may vanish at other values.  It is meant for blocks of coupled equations without a natural
order.  A chain of joints has one (from the tips to the base); with an order chosen at samples it loses seven digits.
``SingularError`` names the rows that depend on each other and the unknowns that they leave undetermined.

``smallness`` measures how close a matrix is to singular, independent of units: rows and columns are scaled first
[Curtis, Reid 1972].  ``null_vectors`` gives the linear combinations of rows that vanish.  Both work on plain numbers; a
rank at sample values holds for almost all values, and not for the exceptional ones.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from kinode.algebra.affine import Terms, Unknown, constant_and_terms, form, times
from kinode.algebra.scalars import Array, Scalar, inverse, is_number, is_zero
from kinode.errors import Error

Pivots = Sequence[tuple[int, Unknown]]
PIVOT_THRESHOLD = 0.05  # share of the largest entry of the scaled row: a smaller entry is no pivot
CANCELLATION = 1e-10  # share of the scaled terms: a smaller difference counts as zero
TOO_SMALL = 2  # rank of a candidate that is small at some sample; varying entries have rank 1, constant ones 0
CANDIDATE_ROWS = 6  # rows examined for the next pivot
PARTICIPATION = 1e-6  # share of a null vector's largest entry: a smaller entry is rounding


class SingularError(Error):
    """Linear equations that do not determine their unknowns: ``rows`` are dependent, ``unknowns`` undetermined."""

    def __init__(self, rows: Iterable[int], unknowns: Iterable[Unknown]) -> None:
        self.rows = tuple(rows)
        self.unknowns = tuple(unknowns)
        super().__init__(f"rows {', '.join(map(str, self.rows))} do not give {', '.join(map(str, self.unknowns))}")


def solve(rows: Sequence[Scalar], pivots: Pivots) -> dict[Unknown, Scalar]:
    """The values of the pivots' unknowns for which the rows vanish, eliminated in the order of the pivots."""
    work = [constant_and_terms(row) for row in rows]
    work = [(constant, dict(terms)) for constant, terms in work]
    users: dict[Unknown, dict[int, None]] = {}
    for i, _ in pivots:
        for name in work[i][1]:
            users.setdefault(name, {})[i] = None
    for i, name in pivots:
        terms = work[i][1]
        if name not in terms or is_zero(terms[name]):
            raise SingularError([i], [name])
        for other in terms:
            del users[other][i]
        for k in list(users[name]):
            work[k] = _eliminate(name, work[k], work[i], k, users)
    return _back_substitute(work, pivots)


def _eliminate(
    name: Unknown,
    row: tuple[Scalar, Terms],
    pivot: tuple[Scalar, Terms],
    index: int,
    users: dict[Unknown, dict[int, None]],
) -> tuple[Scalar, Terms]:
    """The row minus the multiple of the pivot's row that cancels the unknown."""
    constant, terms = row
    factor = times(-terms[name], _invert(pivot[1][name]))
    for other, x in pivot[1].items():
        total = times(factor, x) if other not in terms else terms[other] + times(factor, x)
        if other == name or is_zero(total):
            if other in terms:
                del terms[other], users[other][index]
        else:
            terms[other] = total
            users[other][index] = None
    return add(constant, times(factor, pivot[0])), terms


def _back_substitute(work: Sequence[tuple[Scalar, Terms]], pivots: Pivots) -> dict[Unknown, Scalar]:
    """Values from the last pivot to the first; unknowns without a pivot stay symbolic."""
    values: dict[Unknown, Scalar] = {}
    for i, name in reversed(pivots):
        constant, terms = work[i]
        total, free = constant, {other: x for other, x in terms.items() if other not in values and other != name}
        total = form(total, free)
        for other, x in terms.items():
            if other in values:
                total = add(total, times(x, values[other]))
        values[name] = times(-total, _invert(terms[name]))
    return values


def add(a: Scalar, b: Scalar) -> Scalar:
    """a + b, without recording sums with plain 0."""
    return b if is_zero(a) else a if is_zero(b) else a + b


def _invert(x: Scalar) -> Scalar:
    return 1.0 / x if is_number(x) else inverse(x)


# -- the order of pivots at sample values -------------------------------------------------------------
def choose_pivots(
    coefficients: Sequence[Mapping[Unknown, float | Array]], unknowns: Sequence[Unknown]
) -> list[tuple[int, Unknown]]:
    """An order of pivots for a square system.

    A coefficient is a number, or an array of its values at several samples.  ``SingularError`` is raised if the rows
    do not determine the unknowns at one of the samples.
    """
    given = [{n: np.atleast_1d(np.asarray(x, float)) for n, x in row.items()} for row in coefficients]
    rows = _scaled(given, unknowns)
    constant = [{n for n in row if np.all(x[n] == x[n][0])} for row, x in zip(rows, given, strict=True)]
    scaled_rows = [dict(row) for row in rows]
    columns: dict[Unknown, set[int]] = {name: set() for name in unknowns}
    for i, row in enumerate(rows):
        for name in row:
            columns[name].add(i)
    waiting = [(not constant[i], len(row), i) for i, row in enumerate(rows)]
    heapq.heapify(waiting)
    open_rows, pivots = set(range(len(rows))), []
    while open_rows:
        pivot = _find_pivot(rows, constant, columns, waiting, open_rows)
        if pivot is None or len(rows) != len(unknowns):
            raise _singular(scaled_rows, unknowns)
        i, name = pivot
        pivots.append(pivot)
        open_rows.discard(i)
        for other in rows[i]:
            columns[other].discard(i)
        for k in sorted(columns[name]):
            _subtract(rows, constant, k, i, name, columns)
            heapq.heappush(waiting, (not constant[k], len(rows[k]), k))
    if len(pivots) != len(unknowns):
        raise _singular(scaled_rows, unknowns)
    return pivots


def _scaled(rows: list[dict[Unknown, Array]], unknowns: Sequence[Unknown]) -> list[dict[Unknown, Array]]:
    """The coefficients of the unknowns, with rows and columns scaled so that entries are about 1 and at most 1.

    The scaling removes the units.  Each sample has its own scales: a resistance may be 1 mOhm in one mode and 1 GOhm
    in another.
    """
    column_of = {name: j for j, name in enumerate(unknowns)}
    rows = [{name: x for name, x in row.items() if name in column_of and np.any(x)} for row in rows]
    at = [(i, column_of[name]) for i, row in enumerate(rows) for name in row]
    if not at:
        return rows
    a, b = np.array(at).T
    size = max(len(rows), len(unknowns))
    values = np.array(np.broadcast_arrays(*(x for row in rows for x in row.values()))).T.copy()
    for sample in values:
        r, c = find_scales(a, b, sample, size)
        sample *= r[a] * c[b]
        top = np.zeros(size)
        np.maximum.at(top, a, np.abs(sample))
        sample /= np.where(top > 0, top, 1.0)[a]
    scaled = iter(values.T)
    return [{name: next(scaled) for name in row} for row in rows]


def _find_pivot(
    rows: Sequence[Mapping[Unknown, Array]],
    constant: Sequence[set[Unknown]],
    columns: Mapping[Unknown, set[int]],
    waiting: list[tuple[bool, int, int]],
    open_rows: set[int],
) -> tuple[int, Unknown] | None:
    """The next pivot by Markowitz's rule: least (other entries in its row) * (other entries in its column).

    Only the shortest rows are examined, those with constant entries first.  If every entry is small at some sample,
    the largest of them is taken.
    """
    best: tuple[int, float, float, int, Unknown] | None = None
    examined: dict[int, tuple[bool, int, int]] = {}
    useful = 0
    while waiting and useful < CANDIDATE_ROWS:
        varies, count, i = heapq.heappop(waiting)
        if i not in open_rows or (varies, count) != (not constant[i], len(rows[i])) or i in examined:
            continue  # an outdated entry of the heap: the row has changed since
        examined[i] = (varies, count, i)
        top = np.max([np.abs(x) for x in rows[i].values()], axis=0, initial=CANCELLATION)
        for name, x in rows[i].items():
            share = float(np.min(np.abs(x) / top)) if np.all(np.abs(x) > CANCELLATION) else 0.0
            cost = (count - 1) * (len(columns[name]) - 1)
            rank = (int(name not in constant[i]), cost, -share) if share >= PIVOT_THRESHOLD else (TOO_SMALL, 0, -share)
            if share > 0.0 and (best is None or rank < best[:3]):
                best = (*rank, i, name)
        useful += best is not None and best[0] <= varies
    for entry in examined.values():
        heapq.heappush(waiting, entry)
    return None if best is None else (best[3], best[4])


def _subtract(
    rows: list[dict[Unknown, Array]],
    constant: Sequence[set[Unknown]],
    k: int,
    i: int,
    name: Unknown,
    columns: dict[Unknown, set[int]],
) -> None:
    """Eliminate the unknown from row k by means of row i.

    Entries that cancel are removed.  An entry stays constant only if all the entries it is computed from are.
    """
    factor = rows[k][name] / rows[i][name]
    steady = name in constant[k] and name in constant[i]
    for other, x in rows[i].items():
        if steady and other in constant[i] and other not in rows[k]:
            constant[k].add(other)
        elif not (steady and other in constant[i]):
            constant[k].discard(other)
        before = rows[k].get(other, 0.0)
        after = before - factor * x
        if other == name or np.all(np.abs(after) <= CANCELLATION * np.maximum(np.abs(before), np.abs(factor * x))):
            rows[k].pop(other, None)
            constant[k].discard(other)
            columns[other].discard(k)
        else:
            rows[k][other] = after
            columns[other].add(k)


def _singular(rows: Sequence[Mapping[Unknown, Array]], unknowns: Sequence[Unknown]) -> SingularError:
    """The rows and unknowns in the null vectors, at the sample where the matrix is closest to singular."""
    samples = max((len(x) for row in rows for x in row.values()), default=1)
    column_of = {name: j for j, name in enumerate(unknowns)}
    A = np.zeros((samples, len(rows), len(unknowns)))
    for i, row in enumerate(rows):
        for name, x in row.items():
            A[:, i, column_of[name]] = x
    size = np.linalg.svd(A, compute_uv=False)
    worst = int(np.argmin(size[:, -1])) if size.shape[1] else 0
    U, s, Vt = np.linalg.svd(A[worst])
    rank = int(np.sum(s > CANCELLATION * s.max(initial=1.0)))
    rank = min(rank, max(len(s) - 1, 0)) if len(rows) == len(unknowns) else rank
    left, right = U[:, rank:], Vt[rank:].T
    return SingularError(_participants(left), [unknowns[j] for j in _participants(right)])


def _participants(null: Array) -> list[int]:
    """The indices with an entry in one of the null vectors (columns)."""
    share = np.abs(null).max(axis=1, initial=0.0)
    return [int(i) for i in np.flatnonzero(share > PARTICIPATION * share.max(initial=0.0))]


LARGEST_DENSE = 40  # rows; a larger matrix is treated as sparse
SCALING_ITERATIONS = 100  # of least squares: more would change the scales little
NEGLIGIBLE = 1e-9  # of the largest entry or singular value of a null vector: smaller ones are rounding
SINGULAR = 1e-10  # of the largest singular value or pivot of a scaled matrix: below, the matrix counts as singular


def smallness(entries: Sequence[tuple[int, int, float]], size: int) -> float:
    """Smallest over largest singular value (pivot, if the matrix is large) of a square matrix scaled to entries near 1.

    ``entries`` are (row, column, value).  0 means singular; compare with ``SINGULAR``.
    """
    a, b, x = split_entries(entries)
    if len(set(a[x != 0])) < size or len(set(b[x != 0])) < size:
        return 0.0  # there is a row or a column of zeros
    if size == 1:
        return 1.0
    r, c = find_scales(a, b, x, size)
    x = x * r[a] * c[b]
    if size <= LARGEST_DENSE:
        A = np.zeros((size, size))
        A[a, b] = x
        values = np.linalg.svd(A, compute_uv=False)
        return float(values[-1] / values[0])
    from scipy.sparse import csc_array
    from scipy.sparse.linalg import splu

    try:
        pivots = np.abs(splu(csc_array((x, (a, b)), shape=(size, size))).U.diagonal())
    except RuntimeError:
        return 0.0
    return float(pivots.min() / pivots.max())


def split_entries(entries: Sequence[tuple[int, int, float]]) -> tuple[Array, Array, Array]:
    """Arrays of the rows, columns and values of (row, column, value)."""
    a, b = (np.array([entry[k] for entry in entries], dtype=int) for k in (0, 1))
    return a, b, np.array([entry[2] for entry in entries], dtype=float)


def find_scales(a: Array, b: Array, x: Array, size: int) -> tuple[Array, Array]:
    """Factors of rows and columns that bring the entries as near to 1 as possible, whatever their units (pF, GOhm).

    Least squares of the logarithms [A. R. Curtis, J. K. Reid, "On the automatic scaling of matrices for Gaussian
    elimination", IMA J. Appl. Math. 10 (1972) 118-124].
    """
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import lsqr

    a, b, logs = a[x != 0], b[x != 0], np.log(np.abs(x[x != 0]))
    if not logs.any():
        return np.ones(size), np.ones(size)
    n = len(logs)
    unknowns = np.concatenate([a, size + b])
    sums = csr_array((np.ones(2 * n), (np.tile(np.arange(n), 2), unknowns)), shape=(n, 2 * size))
    scales = np.exp(-lsqr(sums, logs, atol=1e-6, btol=1e-6, iter_lim=SCALING_ITERATIONS)[0])
    return scales[:size], scales[size:]


def null_vectors(A: Array) -> tuple[list[Array], Array]:
    """Linear combinations of the rows of A that vanish, and a basis (columns) of the null space of A.

    The combinations are brought to reduced echelon form, so that each contains few rows.
    """
    a, b = np.nonzero(A)
    r, c = find_scales(a, b, A[a, b], len(A))
    U, s, Vt = np.linalg.svd(A * r[:, None] * c)
    rank = min(int(np.sum(s > NEGLIGIBLE * s.max(initial=1e-300))), len(s) - 1)
    combinations = []
    for vector in _echelon(U[:, rank:].T):
        rows = np.where(np.abs(vector) > NEGLIGIBLE, vector, 0.0) * r
        rows = rows / rows[np.flatnonzero(rows)[0]]
        combinations.append(np.where(np.abs(rows - np.round(rows)) < NEGLIGIBLE * np.abs(rows), np.round(rows), rows))
    return combinations, Vt[rank:].T


def _echelon(rows: Array) -> list[Array]:
    """The reduced row echelon form: rows with the same span."""
    R = rows.copy()
    pivot_row = 0
    for column in range(R.shape[1]):
        if pivot_row == len(R):
            break
        best = pivot_row + int(np.argmax(np.abs(R[pivot_row:, column])))
        if abs(R[best, column]) < NEGLIGIBLE * np.abs(rows).max():
            continue
        R[[pivot_row, best]] = R[[best, pivot_row]]
        R[pivot_row] /= R[pivot_row, column]
        for other in range(len(R)):
            if other != pivot_row:
                R[other] -= R[other, column] * R[pivot_row]
        pivot_row += 1
    return list(R[:pivot_row])
