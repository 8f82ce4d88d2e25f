"""Factors of all matrices of a step at once, for small blocks: solutions, row exchanges, singular matrices."""

import numpy as np
import pytest
from newton_runs import STEP, assert_solves, prepared

from kinode.ode.loops.implicit import shifted_equations
from kinode.ode.loops.implicit.structure_analysis import MOST_JOINT
from kinode.ode.radau_table import radau


def full(n, seed=0):
    """A full Jacobian whose rows differ in size."""
    random = np.random.default_rng(seed)
    return random.normal(size=(n, n)) * 10.0 ** random.uniform(0, 4, size=(n, 1))


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 9, MOST_JOINT, MOST_JOINT + 1])
def test_matrices_of_one_block(n):
    jacobian = full(n, n)
    run = prepared(jacobian)
    assert run.memory.newton.n_blocks == 1
    assert (run.memory.newton.joint_at[0] >= 0) == (n <= MOST_JOINT)
    assert_solves(run, jacobian)


@pytest.mark.parametrize("n", [1, 4, 9, MOST_JOINT, MOST_JOINT + 1])
def test_positions_are_eliminated(n):
    """Springs and dampers between speeds, [q, u]: blocks of half the size."""
    stiff, damping = full(n, 1), full(n, 2)
    jacobian = np.block([[np.zeros((n, n)), np.eye(n)], [-100.0 * stiff, damping]])
    run = prepared(jacobian)
    newton = run.memory.newton
    assert newton.n_eliminated == n and newton.block_starts[newton.n_blocks] == n
    assert_solves(run, jacobian)


def test_small_and_large_blocks_beside_each_other():
    random, sizes = np.random.default_rng(5), (3, MOST_JOINT + 4, 1, MOST_JOINT)
    jacobian, at = np.zeros((sum(sizes), sum(sizes))), 0
    for size in sizes:
        jacobian[at : at + size, at : at + size] = full(size, size)
        at += size
    order = random.permutation(len(jacobian))
    jacobian = jacobian[np.ix_(order, order)]
    run = prepared(jacobian)
    newton = run.memory.newton
    assert sorted(newton.joint_at[k] >= 0 for k in range(newton.n_blocks)) == [False, True, True, True]
    assert_solves(run, jacobian)


def test_rows_are_exchanged_where_the_real_diagonal_vanishes():
    """c - h J_ii = 0 for every state: without exchanges the first pivot of the real matrix is zero."""
    jacobian = full(6, 3)
    jacobian[range(6), range(6)] = radau().eigenvalues[0] / STEP
    run = prepared(jacobian)
    assert_solves(run, jacobian)
    assert any(run.memory.newton.pivots[k] != k for k in range(6))


def test_a_singular_matrix_is_told():
    """All rows of c - h J are the same."""
    c = radau().eigenvalues[0]
    jacobian = (c * np.eye(4) - np.ones((4, 4))) / STEP
    run = prepared(jacobian)
    fine = shifted_equations.factor_shifted(run.memory, STEP)
    assert not fine and run.memory.newton.factored == 0.0
