"""Linear equations as rows of coefficients; the unknowns that can be left out because they are zero in every motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kinode.algebra.scalars import Scalar


class EquationRow(NamedTuple):
    """left x + beside = right x + given: coefficients by unknown, and known terms; ``group`` is the title."""

    group: str
    left: dict[int, Scalar]
    beside: Scalar
    right: dict[int, Scalar]
    given: Scalar


def sum_rows(each: Sequence[list[dict[int, Scalar]]], rows: int) -> list[dict[int, Scalar]]:
    """The sum of blocks of rows of coefficients."""
    total: list[dict[int, Scalar]] = [{} for _ in range(rows)]
    for block in each:
        for row, more in zip(total, block, strict=True):
            for k, x in more.items():
                row[k] = row[k] + x if k in row else x
    return total


def entries_of(row: EquationRow) -> list[Any]:
    """All entries of a row in a fixed order."""
    return [*row.left.values(), row.beside, *row.right.values(), row.given]


def with_entries(rows: Sequence[EquationRow], entries: Sequence[Any]) -> list[EquationRow]:
    """The same rows with other entries, in the order of ``entries_of``; zero coefficients are left out."""
    following, refilled = iter(entries), []
    for row in rows:
        left, beside = {k: next(following) for k in row.left}, next(following)
        right, given = {k: next(following) for k in row.right}, next(following)
        left, right = ({k: x for k, x in side.items() if x != 0} for side in (left, right))
        refilled.append(EquationRow(row.group, left, beside, right, given))
    return refilled


def without_unknowns(coefficients: Mapping[int, Scalar], out: frozenset[int]) -> dict[int, Scalar]:
    """The coefficients of the other unknowns."""
    return {k: x for k, x in coefficients.items() if k not in out}


def removable_unknowns(
    supports: Sequence[frozenset[int]], vanishing: frozenset[int], chosen: frozenset[int]
) -> frozenset[int]:
    """The largest set of vanishing unknowns with as many rows that contain no other unknowns.

    ``supports`` are the unknowns of each row, ``vanishing`` the unknowns that are zero in every motion, ``chosen``
    those that are zero by choice (redundant reactions), which need no row.

    A regular square system stays square and regular without such a set of columns and rows.  Rows that contain
    vanishing unknowns only are matched with them (maximum bipartite matching).  An unknown without a partner must stay;
    then every row that contains it must stay, and with the row the unknown that it is matched with, and so on.  If the
    axes of a joint are oblique to those of its bodies, several rows share vanishing unknowns, and some zeros stay.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    rows = [support for support in supports if support <= vanishing]
    edges = [(i, unknown) for i, support in enumerate(rows) for unknown in support]
    if not edges:
        return vanishing & chosen
    shape = (len(rows), 1 + max(vanishing))
    graph = csr_array((np.ones(len(edges), dtype=int), tuple(zip(*edges, strict=True))), shape=shape)
    partner = maximum_bipartite_matching(graph, perm_type="column")
    staying = list(vanishing - set(partner.tolist()) - chosen)
    removed = set(vanishing)
    while staying:
        unknown = staying.pop()
        removed.discard(unknown)
        staying += [int(partner[i]) for i, row in enumerate(rows) if unknown in row and partner[i] in removed - chosen]
    return frozenset(removed)
