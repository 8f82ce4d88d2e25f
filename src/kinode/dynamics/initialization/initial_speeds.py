"""Initial speeds in a closed position: a linear problem.

Exact speeds are met, and the sum of weight * speed^2 over the freedoms of all joints is least.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np

from kinode.algebra.scalars import Array
from kinode.dynamics.initialization.assembly_errors import check_speeds
from kinode.dynamics.initialization.assembly_problem import AssemblyProblem
from kinode.structure.loop_closure import factorize_many


def solve_speeds(problem: AssemblyProblem, x: Array) -> Array:
    """Speeds of all unknowns, for closed coordinates."""
    n, coordinates = problem.n_u, problem.coordinates(x)
    values = problem.requested.joints
    asked = np.concatenate([np.empty(0), *(values[name].u(coordinates[name]) for name in problem.names)])
    if not problem.bound:
        return asked
    exact, behind = problem.exact("exact_u"), np.arange(len(asked)) >= n
    H, h = problem.all_speeds(x)
    u = np.where(exact[:n], asked[:n], 0.0)
    A, b, owners = problem.speed_equations(x)
    sure = exact & behind  # followers
    if sure.any():
        A = np.vstack([A, H[sure] / problem.units[sure][:, None]])
        b = np.concatenate([b, ((asked - h) / problem.units)[sure]])
    owners += [name for name, mark in zip(problem.owners, sure, strict=True) if mark]
    free = np.flatnonzero(~exact[:n])
    if len(free):
        weight = np.sqrt([problem.requested.weights.get(name, 1.0) for name in problem.owners]) / problem.units
        given = np.array([values[name].has_u for name in problem.owners])
        w = weight * (asked - h)

        def levels() -> Iterator[tuple[Array, Array]]:
            """One at a time: those of large systems are large."""
            yield A[:, free], b - A @ u
            for some in (given, ~given):
                rows = weight[some][:, None] * H[some]
                yield rows[:, free], w[some] - rows @ u

        u[free] += _solve_in_turn(levels())
    check_speeds(problem, A @ u - b, u, owners)
    return u


def _solve_in_turn(levels: Iterator[tuple[Array, Array]]) -> Array:
    """x with the least |A x - b|, one A and b after the other: each within what those before it leave free."""
    A, b = next(levels)
    factor = factorize_many(A, scaled=True)
    if factor is not None:
        x, free = factor.step(b), factor.null_space()
    else:
        sure, _, rank, _ = np.linalg.lstsq(A, b, rcond=1e-10)
        if rank == A.shape[1]:
            return np.asarray(sure)
        x, free = np.zeros(A.shape[1]), np.eye(A.shape[1])
        levels = chain([(A, b)], levels)
    for A, b in levels:
        if not free.shape[1]:
            break
        seen = A @ free
        U, sizes, V = np.linalg.svd(seen, full_matrices=len(seen) < seen.shape[1])
        rank = int((sizes > 1e-10 * np.linalg.norm(A)).sum())
        x = x + free @ (V[:rank].T @ ((U.T @ (b - A @ x))[:rank] / sizes[:rank]))
        free = free @ V[rank:].T
    return x
