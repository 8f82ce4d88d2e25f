"""Coefficients of the Radau IIA methods, computed from their nodes.

A method with s stages is the collocation method at the zeros of the Radau polynomial P_s - P_(s-1), the last of which
is the end of the step. Its order is 2 s - 1, that of its stages s; it is L-stable, and its last stage is the solution
(B. L. Ehle 1969; E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, IV.5 and IV.8). All numbers follow
from the nodes: the coefficient matrix by integrating the Lagrange polynomials, the transformation that splits the
equations of a step from the eigenvectors of its inverse, the error estimate from the quadrature of order s that gives
the slope at the start the real eigenvalue as its weight.

The dense output is the collocation polynomial and, one order higher, what the slope at the start adds to it: the error
estimate times the integral of the nodal polynomial.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.polynomial import Legendre, Polynomial

from kinode.ode.tableaus import Array, Tableau, nested

STAGES = 5
"""Stages of the method: with 3 (order 5) a run at the default tolerance takes three times the work."""


@dataclass(frozen=True, kw_only=True)
class RadauTableau(Tableau):
    """A Radau method; its slopes are those of ode/loops/radau_step.py."""

    pairs: int
    """Pairs of complex eigenvalues of the coefficient matrix."""
    change: Array
    """Columns: the real eigenvector of the coefficient matrix, real and imaginary part of one of each pair."""
    change_back: Array
    """The inverse of ``change``."""
    slopes: Array
    """The inverse of the coefficient matrix."""
    eigenvalues: Array
    """Of that inverse: the real one, then real and imaginary part of each pair, for w1 + i w2."""


def find_nodes(stages: int) -> Array:
    """The nodes in (0, 1], polished by Newton's method."""
    basis = Legendre.basis(stages) - Legendre.basis(stages - 1)
    slope = basis.deriv()
    nodes = np.sort(np.real(basis.roots()))
    for _ in range(3):
        nodes = nodes - basis(nodes) / slope(nodes)
    nodes = 0.5 * (nodes + 1.0)
    nodes[-1] = 1.0
    return nodes


def _lagrange(nodes: Array) -> list[Polynomial]:
    """The Lagrange polynomials of the nodes."""
    polynomials = []
    for j, node in enumerate(nodes):
        others = np.delete(nodes, j)
        polynomials.append(Polynomial.fromroots(others) / np.prod(node - others))
    return polynomials


def _split(inverse: Array) -> tuple[Array, Array]:
    """Eigenvalues and real transformation of the inverse of the coefficient matrix."""
    values, vectors = np.linalg.eig(inverse)
    real = int(np.argmin(np.abs(values.imag)))
    columns = [vectors[:, real].real / vectors[-1, real].real]
    numbers = [float(values[real].real)]
    for k in sorted(np.flatnonzero(values.imag > 1e-8), key=lambda k: -float(values[k].real)):
        vector = vectors[:, k] / vectors[-1, k]
        columns += [vector.real, vector.imag]
        numbers += [float(values[k].real), -float(values[k].imag)]
    return np.array(numbers), np.array(columns).T


@cache
def radau(stages: int = STAGES) -> RadauTableau:
    """The Radau IIA method with an odd number of stages."""
    nodes = find_nodes(stages)
    lagrange = _lagrange(nodes)
    integrals = [polynomial.integ() for polynomial in lagrange]
    matrix = np.array([[integral(c) for integral in integrals] for c in nodes])
    inverse = np.linalg.inv(matrix)
    eigenvalues, change = _split(inverse)
    last, width, weight = stages + 2, stages + 3, 1.0 / eigenvalues[0]
    powers = np.arange(stages)
    moments = 1.0 / (powers + 1.0) - weight * (powers == 0)
    embedded = np.linalg.solve(nodes ** powers[:, None], moments)
    rows, errors = np.zeros((width, width)), np.zeros((2, width))
    rows[1 : stages + 1, 1 : stages + 1] = matrix
    rows[last] = rows[stages]
    errors[0, 0], errors[0, 1 : stages + 1] = weight, embedded - matrix[-1]
    return RadauTableau(
        name="stiff", last=last, order=2 * stages - 1, dense_order=stages + 1, error_order=stages + 1, damping=0.0,
        nodes=np.concatenate([[0.0], nodes, [0.0, 1.0]]), stages=rows, errors=errors,
        dense=_dense(nodes, integrals, weight), pairs=stages // 2, change=np.ascontiguousarray(change),
        change_back=np.ascontiguousarray(np.linalg.inv(change)), slopes=np.ascontiguousarray(inverse),
        eigenvalues=eigenvalues,
    )  # fmt: skip


def _dense(nodes: Array, integrals: list[Polynomial], weight: float) -> Array:
    """The nested weights of the dense output: of the stages, and of the error estimate."""
    stages = len(nodes)
    nodal = Polynomial.fromroots(nodes)
    correction = nodal.integ() / (weight * nodal(0.0))
    size = stages + 1
    points = 0.5 - 0.5 * np.cos(np.pi * (np.arange(size) + 0.5) / size)
    values = np.zeros((size, stages + 3))
    for j, polynomial in enumerate([*integrals, correction]):
        values[:, j + 1] = polynomial(points)
    return np.linalg.solve(np.array([nested(float(point), size) for point in points]), values)
