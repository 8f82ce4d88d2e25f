"""The linear equations of the stiff method for a Jacobian that a test gives: their preparation, their solutions."""

import numpy as np
import pytest
from rates import robertson

from kinode.jit.loop.memory import floats_of
from kinode.ode.loops import jacobian_structure, newton_matrices
from kinode.ode.newton_setup import set_newton
from kinode.ode.radau_table import radau
from kinode.ode.run import LoopRun

STEP = 0.01


def prepared(jacobian):
    """The memory of a run with a Jacobian, analysed and gathered."""
    n = len(jacobian)
    run = LoopRun(robertson(), np.zeros(3), (0.0, 1.0), (np.zeros(0), np.zeros(0)), (), None, 8, 10)
    run.memory.model.n = run.memory.model.n_continuous = n
    set_newton(run, robertson(), radau(), 1e-8)
    run.matrix = np.ascontiguousarray(jacobian.T).ravel()
    run.memory.newton.jacobian = floats_of(run.matrix)
    jacobian_structure.note_pattern(run.memory)
    newton_matrices.gather_blocks(run.memory)
    return run


def assert_solves(run, jacobian):
    """Solutions of all three matrices."""
    random, table, n = np.random.default_rng(7), radau(), len(jacobian)
    assert newton_matrices.factor_shifted(run.memory, STEP)
    b, d = random.normal(size=n), random.normal(size=n)
    x = b.copy()
    newton_matrices.solve_shifted(run.memory, floats_of(x))
    assert table.eigenvalues[0] * x - STEP * jacobian @ x == pytest.approx(b, abs=1e-8)
    for pair in range(2):
        x, y = b.copy(), d.copy()
        newton_matrices.solve_pair(run.memory, pair, floats_of(x), floats_of(y))
        shift = complex(*table.eigenvalues[1 + 2 * pair : 3 + 2 * pair])
        left = shift * (x + 1j * y) - STEP * jacobian @ (x + 1j * y)
        assert np.abs(left - (b + 1j * d)).max() < 1e-8
