"""Groups of columns of the Jacobian that one directional derivative gives together: no two of them share a row.

The pattern is that of the entries seen so far. A missing entry would be taken for one of another column. So each
Jacobian is compared with one more derivative, along a direction in which all columns differ (A. R. Curtis, M. J. D.
Powell, J. K. Reid, On the estimation of sparse Jacobian matrices, IMA J. Appl. Math. 13 (1974)).
"""

from __future__ import annotations

from kinode.jit.pointers import Floats, tail
from kinode.ode.loops.run_memory import RunMemory

LEAST_GAIN = 2  # groups are used where they are fewer than columns by this factor
AGREEMENT = 1e-9  # of a row with the derivative along the other direction, relative to the sum of its terms


def color_columns(run: RunMemory) -> None:
    """Give each column the first group without a common row; no groups where there would be too many."""
    newton, n, colors = run.newton, run.model.n_continuous, run.newton.colors
    most = n // LEAST_GAIN - 1
    newton.n_colors = 0
    if most < 1 or _largest_row(run) > most:
        return
    count, used = 0, newton.degree
    for i in range(n):
        used[i] = -1
    for j in range(n):
        column = tail(newton.pattern, j * n)
        for i in range(n):
            if column[i] != 0.0:
                for k in range(j):
                    if newton.pattern[k * n + i] != 0.0:
                        used[colors[k]] = j
        color = 0
        while color < count and used[color] == j:
            color += 1
        colors[j] = color
        count = max(count, color + 1)
        if count > most:
            return
    newton.n_colors = count


def _largest_row(run: RunMemory) -> int:
    """The largest number of entries in a row."""
    n, pattern, largest = run.model.n_continuous, run.newton.pattern, 0
    counts = run.newton.degree
    for i in range(n):
        counts[i] = 0
    for j in range(n):
        column = tail(pattern, j * n)
        for i in range(n):
            if column[i] != 0.0:
                counts[i] += 1
    for i in range(n):
        largest = max(largest, counts[i])
    return largest


def other_direction(j: int) -> float:
    """The entries of a direction in which all columns differ, between 1 and 2."""
    x = 0.6180339887498949 * (j + 1)
    return 1.0 + x - int(x)


def agrees(run: RunMemory, found: Floats, lanes: int, lane: int) -> bool:
    """Whether the Jacobian times the other direction is the derivative along it."""
    newton, n, fine = run.newton, run.model.n_continuous, True
    total, size = newton.x, tail(newton.x, n)
    for i in range(n):
        total[i] = 0.0
        size[i] = 0.0
    for j in range(n):
        factor, column = other_direction(j), tail(newton.jacobian, j * n)
        for i in range(n):
            part = factor * column[i]
            total[i] += part
            size[i] += abs(part)
    for i in range(n):
        fine = fine and abs(total[i] - found[i * lanes + lane]) <= AGREEMENT * size[i]
    return fine
