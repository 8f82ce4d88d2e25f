"""The stages of an implicit step side by side: each entry of the state has eight numbers next to each other.

Of stage values these are the stages. Of transformed values they are real and imaginary parts: those of the real
equations at place 0, of the pairs of complex ones at places 1 and 2, their imaginary parts at 5 and 6. Places without
use hold zeros. So one operation on vectors serves all stages of an entry, or all systems of linear equations, however
few entries the state has.

A table has eight numbers for each of the five stages, or of the five places of transformed values.
"""

from __future__ import annotations

from kinode.jit.pointers import Floats, apart, tail
from kinode.ode.loops.run_memory import RunMemory

WIDTH, HALF = 8, 4
STAGES = 5  # of the method that is written out here


def row(run: RunMemory, rows: Floats, i: int) -> Floats:
    """The vector of a stage, where stages are one after the other."""
    return tail(rows, i * run.model.n)


def combine_rows(run: RunMemory, table: Floats, rows: Floats, factor: float, out: Floats) -> None:
    """out = factor * sum_j table_j rows_j, from vectors one after the other."""
    a, b, c, d, e = row(run, rows, 0), row(run, rows, 1), row(run, rows, 2), row(run, rows, 3), row(run, rows, 4)
    first, second, third, fourth, fifth = table, tail(table, 8), tail(table, 16), tail(table, 24), tail(table, 32)
    for k in range(run.model.n_continuous):
        target = tail(out, WIDTH * k)
        p, q, r, s, t = factor * a[k], factor * b[k], factor * c[k], factor * d[k], factor * e[k]
        for i in apart(8):
            target[i] = (p * first[i] + q * second[i]) + (r * third[i] + s * fourth[i]) + t * fifth[i]


def combine_stages(run: RunMemory, table: Floats, stages: Floats, factor: float, out: Floats) -> None:
    """out = factor * sum_j table_j stages_j, from stages side by side."""
    first, second, third, fourth, fifth = table, tail(table, 8), tail(table, 16), tail(table, 24), tail(table, 32)
    for k in range(run.model.n_continuous):
        source, target = tail(stages, WIDTH * k), tail(out, WIDTH * k)
        p, q, r = factor * source[0], factor * source[1], factor * source[2]
        s, t = factor * source[3], factor * source[4]
        for i in apart(8):
            target[i] = (p * first[i] + q * second[i]) + (r * third[i] + s * fourth[i]) + t * fifth[i]


def transform_back(run: RunMemory, w: Floats, z: Floats) -> None:
    """z = T w: the stage values of transformed ones."""
    table = run.newton.change
    first, second, third, fourth, fifth = table, tail(table, 8), tail(table, 16), tail(table, 24), tail(table, 32)
    for k in range(run.model.n_continuous):
        source, target = tail(w, WIDTH * k), tail(z, WIDTH * k)
        p, q, r, s, t = source[0], source[1], source[5], source[2], source[6]
        for i in apart(8):
            target[i] = (p * first[i] + q * second[i]) + (r * third[i] + s * fourth[i]) + t * fifth[i]


def scatter_stages(run: RunMemory, stages: Floats, rows: Floats) -> None:
    """Stages side by side as vectors one after the other."""
    a, b, c, d, e = row(run, rows, 0), row(run, rows, 1), row(run, rows, 2), row(run, rows, 3), row(run, rows, 4)
    for k in range(run.model.n_continuous):
        source = tail(stages, WIDTH * k)
        a[k], b[k], c[k], d[k], e[k] = source[0], source[1], source[2], source[3], source[4]
