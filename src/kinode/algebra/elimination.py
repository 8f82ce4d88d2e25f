"""Linear rows solved by elimination in a given order, over any kind of number.

    values = solve(rows, pivots)

A row is a number that has to vanish: an affine form, or a dual of forms (see ``algebra.affine``).  ``pivots`` says in
which order which row is solved for which unknown; that, and not the size of a number, decides what is computed, so that
the same operations serve floats, traced numbers and symbols.  Unknowns without a pivot stay: the values are then forms
in them.  Rows without a pivot are left alone.

    pivots = choose_pivots(coefficients, unknowns)

finds an order at sample values where nothing better is known: the entry that disturbs fewest others among those that
are not small [H. M. Markowitz, "The elimination form of the inverse and its application to linear programming",
Management Science 3 (1957) 255-269], at all samples at once.  Entries that are the same at all samples come first:
what varies, as the share of a voltage that a law passes on, may vanish elsewhere.  It is for blocks that are coupled by
nature; a chain of joints has its own order, and loses seven digits with one that was chosen at a sample.
``SingularError`` says which rows depend on each other and which unknowns they leave open.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from kinode.algebra.affine import Terms, Unknown, form, gather, is_zero, times
from kinode.algebra.null_space import find_scales
from kinode.algebra.scalars import Array, Scalar, inverse, is_number
from kinode.errors import Error

Pivots = Sequence[tuple[int, Unknown]]
THRESHOLD = 0.05  # of the largest entry of the row, all scaled to 1: smaller ones are no pivots
SMALL = 1e-10  # of entries scaled to 1: what is left of those that cancel
SMALLER = 2  # rank of an entry that is too small at some sample, behind those that vary (1) or do not (0)
FEW = 6  # rows that are looked at for the next pivot
TAKES_PART = 1e-6  # of a null vector's largest entry


class SingularError(Error):
    """Linear rows that do not determine their unknowns: ``rows`` depend on each other, ``unknowns`` stay open."""

    def __init__(self, rows: Iterable[int], unknowns: Iterable[Unknown]) -> None:
        self.rows = tuple(rows)
        self.unknowns = tuple(unknowns)
        super().__init__(f"rows {', '.join(map(str, self.rows))} do not give {', '.join(map(str, self.unknowns))}")


def solve(rows: Sequence[Scalar], pivots: Pivots) -> dict[Unknown, Scalar]:
    """The unknown of every pivot, from rows that have to vanish, eliminated in the order of the pivots."""
    work = [gather(row) for row in rows]
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
            work[k] = _without(name, work[k], work[i], k, users)
    return _back(work, pivots)


def _without(
    name: Unknown,
    row: tuple[Scalar, Terms],
    pivot: tuple[Scalar, Terms],
    place: int,
    users: dict[Unknown, dict[int, None]],
) -> tuple[Scalar, Terms]:
    """The row less so much of the pivot's row that the unknown is gone."""
    constant, terms = row
    factor = times(-terms[name], _invert(pivot[1][name]))
    for other, x in pivot[1].items():
        total = times(factor, x) if other not in terms else terms[other] + times(factor, x)
        if other == name or is_zero(total):
            if other in terms:
                del terms[other], users[other][place]
        else:
            terms[other] = total
            users[other][place] = None
    return add(constant, times(factor, pivot[0])), terms


def _back(work: Sequence[tuple[Scalar, Terms]], pivots: Pivots) -> dict[Unknown, Scalar]:
    """Values from the last pivot to the first; what has none stays as it is."""
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
    """a + b, without writing down sums with plain 0."""
    return b if is_zero(a) else a if is_zero(b) else a + b


def _invert(x: Scalar) -> Scalar:
    return 1.0 / x if is_number(x) else inverse(x)


# -- an order, where none is declared -----------------------------------------------------------------
def choose_pivots(
    coefficients: Sequence[Mapping[Unknown, float | Array]], unknowns: Sequence[Unknown]
) -> list[tuple[int, Unknown]]:
    """An order of pivots for square rows; each coefficient is a number, or an array of its values at several samples.

    SingularError where the rows do not determine the unknowns at one of the samples.
    """
    given = [{n: np.atleast_1d(np.asarray(x, float)) for n, x in row.items()} for row in coefficients]
    rows = _scaled(given, unknowns)
    firm = [{n for n in row if np.all(x[n] == x[n][0])} for row, x in zip(rows, given, strict=True)]  # do not vary
    whole = [dict(row) for row in rows]
    columns: dict[Unknown, set[int]] = {name: set() for name in unknowns}
    for i, row in enumerate(rows):
        for name in row:
            columns[name].add(i)
    waiting = [(not firm[i], len(row), i) for i, row in enumerate(rows)]
    heapq.heapify(waiting)
    open_rows, pivots = set(range(len(rows))), []
    while open_rows:
        found = _cheapest(rows, firm, columns, waiting, open_rows)
        if found is None or len(rows) != len(unknowns):
            raise _singular(whole, unknowns)
        i, name = found
        pivots.append(found)
        open_rows.discard(i)
        for other in rows[i]:
            columns[other].discard(i)
        for k in sorted(columns[name]):
            _subtract(rows, firm, k, i, name, columns)
            heapq.heappush(waiting, (not firm[k], len(rows[k]), k))
    if len(pivots) != len(unknowns):
        raise _singular(whole, unknowns)
    return pivots


def _scaled(rows: list[dict[Unknown, Array]], unknowns: Sequence[Unknown]) -> list[dict[Unknown, Array]]:
    """The coefficients of the unknowns, rows and columns scaled so that entries are about 1, at most 1: units go.

    Each sample is scaled by itself: what is 1 mOhm in one mode may be 1 GOhm in another.
    """
    place = {name: j for j, name in enumerate(unknowns)}
    rows = [{name: x for name, x in row.items() if name in place and np.any(x)} for row in rows]
    at = [(i, place[name]) for i, row in enumerate(rows) for name in row]
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


def _cheapest(
    rows: Sequence[Mapping[Unknown, Array]],
    firm: Sequence[set[Unknown]],
    columns: Mapping[Unknown, set[int]],
    waiting: list[tuple[bool, int, int]],
    open_rows: set[int],
) -> tuple[int, Unknown] | None:
    """The entry with the least (other entries in its row) * (in its column), of the shortest rows that have a pivot.

    Rows with entries that do not vary come first.  Where every entry is small at some sample, the one that is least so.
    """
    best: tuple[int, float, float, int, Unknown] | None = None
    seen: dict[int, tuple[bool, int, int]] = {}
    useful = 0
    while waiting and useful < FEW:
        varies, count, i = heapq.heappop(waiting)
        if i not in open_rows or (varies, count) != (not firm[i], len(rows[i])) or i in seen:
            continue  # the entry of an earlier state of this row
        seen[i] = (varies, count, i)
        top = np.max([np.abs(x) for x in rows[i].values()], axis=0, initial=SMALL)
        for name, x in rows[i].items():
            share = float(np.min(np.abs(x) / top)) if np.all(np.abs(x) > SMALL) else 0.0
            cost = (count - 1) * (len(columns[name]) - 1)
            rank = (int(name not in firm[i]), cost, -share) if share >= THRESHOLD else (SMALLER, 0, -share)
            if share > 0.0 and (best is None or rank < best[:3]):
                best = (*rank, i, name)
        useful += best is not None and best[0] <= varies
    for entry in seen.values():
        heapq.heappush(waiting, entry)
    return None if best is None else (best[3], best[4])


def _subtract(
    rows: list[dict[Unknown, Array]],
    firm: Sequence[set[Unknown]],
    k: int,
    i: int,
    name: Unknown,
    columns: dict[Unknown, set[int]],
) -> None:
    """Row k without the unknown, by row i; what cancels is no entry any more, what varying ones change varies."""
    factor = rows[k][name] / rows[i][name]
    steady = name in firm[k] and name in firm[i]
    for other, x in rows[i].items():
        if steady and other in firm[i] and other not in rows[k]:
            firm[k].add(other)
        elif not (steady and other in firm[i]):
            firm[k].discard(other)
        before = rows[k].get(other, 0.0)
        after = before - factor * x
        if other == name or np.all(np.abs(after) <= SMALL * np.maximum(np.abs(before), np.abs(factor * x))):
            rows[k].pop(other, None)
            firm[k].discard(other)
            columns[other].discard(k)
        else:
            rows[k][other] = after
            columns[other].add(k)


def _singular(rows: Sequence[Mapping[Unknown, Array]], unknowns: Sequence[Unknown]) -> SingularError:
    """Who takes part in the null vectors of the sample at which the rows are nearest to dependent."""
    samples = max((len(x) for row in rows for x in row.values()), default=1)
    place = {name: j for j, name in enumerate(unknowns)}
    A = np.zeros((samples, len(rows), len(unknowns)))
    for i, row in enumerate(rows):
        for name, x in row.items():
            A[:, i, place[name]] = x
    size = np.linalg.svd(A, compute_uv=False)
    worst = int(np.argmin(size[:, -1])) if size.shape[1] else 0
    U, s, Vt = np.linalg.svd(A[worst])
    rank = int(np.sum(s > SMALL * s.max(initial=1.0)))
    rank = min(rank, max(len(s) - 1, 0)) if len(rows) == len(unknowns) else rank
    left, right = U[:, rank:], Vt[rank:].T
    return SingularError(_taking_part(left), [unknowns[j] for j in _taking_part(right)])


def _taking_part(null: Array) -> list[int]:
    share = np.abs(null).max(axis=1, initial=0.0)
    return [int(i) for i in np.flatnonzero(share > TAKES_PART * share.max(initial=0.0))]
