"""Sparse factors of the stiff method: order and fill, solutions, the fall-back to full ones, groups of columns."""

import numpy as np
import pytest
from newton_runs import STEP, assert_solves, prepared

import kinode as kn
from kinode.jit.loop.memory import floats_of
from kinode.ode.loops import jacobian_structure
from kinode.ode.radau_table import radau


def band(n, width=1, seed=0):
    """A Jacobian whose states are connected with their neighbors, in a random order."""
    random = np.random.default_rng(seed)
    matrix = np.triu(np.tril(random.normal(size=(n, n)), width), -width) * 10.0 ** random.uniform(0, 4, size=(n, 1))
    matrix -= np.diag(abs(matrix).sum(axis=1))
    order = random.permutation(n)
    return matrix[np.ix_(order, order)]


def masses(n):
    """The Jacobian of masses in a row with springs between them, [q, u]."""
    stiffness = np.diag(np.full(n, -2e6)) + np.diag(np.full(n - 1, 1e6), 1) + np.diag(np.full(n - 1, 1e6), -1)
    weights = 1.0 / np.linspace(0.1, 3.0, n)[:, None]
    return np.block([[np.zeros((n, n)), np.eye(n)], [weights * stiffness, 1e-3 * weights * stiffness]])


@pytest.mark.parametrize("jacobian", [band(40), band(60, 2), masses(30)], ids=["band", "wide band", "masses"])
def test_sparse_factors_solve(jacobian):
    run = prepared(jacobian)
    newton = run.memory.newton
    assert newton.n_blocks == 1 and newton.is_sparse[0] == 1
    assert_solves(run, jacobian)
    assert newton.is_sparse[0] == 1


def test_a_band_in_any_order_hardly_fills():
    """The ends of a chain are eliminated first, and nothing is added."""
    run = prepared(band(50))
    newton = run.memory.newton
    assert newton.fill_starts[50] == 49
    assert sorted(newton.order[k] for k in range(50)) == list(range(50))


def test_several_blocks_some_of_them_full():
    random = np.random.default_rng(1)
    jacobian = np.zeros((60, 60))
    jacobian[:18, :18] = random.normal(size=(18, 18)) - 20 * np.eye(18)
    jacobian[18:40, 18:40] = band(22)
    jacobian[40:, 40:] = band(20, seed=3)
    order = random.permutation(60)
    jacobian = jacobian[np.ix_(order, order)]
    run = prepared(jacobian)
    newton = run.memory.newton
    assert sorted(newton.is_sparse[k] for k in range(newton.n_blocks)) == [0, 1, 1]
    assert_solves(run, jacobian)


def test_what_needs_row_exchanges_gets_full_factors():
    """Pairs of states whose diagonal vanishes in the real matrix: c - h J_ii = 0."""
    n = 40
    jacobian = band(n)
    c = radau().eigenvalues[0]
    jacobian[range(n), range(n)] = c / STEP
    run = prepared(jacobian)
    assert run.memory.newton.is_sparse[0] == 1
    assert_solves(run, jacobian)
    assert run.memory.newton.is_sparse[0] == 0


def test_columns_of_a_group_share_no_row():
    jacobian = band(40, 2)
    run = prepared(jacobian)
    newton = run.memory.newton
    colors = np.array([newton.colors[j] for j in range(40)])
    assert newton.n_colors == colors.max() + 1 <= 9  # five entries in a row
    for color in range(newton.n_colors):
        assert (np.count_nonzero(jacobian[:, colors == color], axis=1) <= 1).all()
    assert prepared(np.random.default_rng(0).normal(size=(20, 20))).memory.newton.n_colors == 0


def test_an_entry_that_was_not_in_the_pattern_is_noticed():
    jacobian = band(40)
    run = prepared(jacobian)
    direction = np.array([jacobian_structure.other_direction(j) for j in range(40)])
    assert len(set(direction)) == 40
    assert jacobian_structure.agrees(run.memory, floats_of(jacobian @ direction), 1, 0)
    changed = jacobian.copy()
    changed[np.flatnonzero(jacobian[:, 7] == 0.0)[0], 7] = 1e-3
    assert not jacobian_structure.agrees(run.memory, floats_of(changed @ direction), 1, 0)


def row_of_masses(n, stop=False):
    """Masses on slides side by side, springs between neighbors; the last one starts with a speed."""
    system = kn.System("masses", gravity=(0, 0, 0))
    before = system.world
    for k in range(n):
        mass = system.body(f"m{k}", mass=0.5 + 0.1 * (k % 3), inertia=(0.1, 0.1, 0.1))
        system.prismatic(f"s{k}", system.world.at(0.1 * (k + 1), 0, 0), mass, u=1.0 if k == n - 1 else 0.0, axis="x")
        system.spring(f"k{k}", before, mass, stiffness=1e5, damping=200.0, free_length=0.1)
        before = mass
    if stop:  # a spring that begins to act on the way
        law = f"-1e5*ramp(s{n - 1}.q - s0.q - 1e-3)"
        system.force("bumper", system[f"m{n - 1}"], (law, 0, 0), expressed_in="world", reaction_on="m0")
    return system


@pytest.mark.parametrize("stop", [False, True], ids=["springs", "and a bumper"])
def test_a_row_of_masses_moves_as_by_short_steps(stop):
    """Groups of columns, sparse factors, and an entry of the Jacobian that comes later."""
    dynamics = kn.compile(row_of_masses(18, stop))
    times = np.linspace(0.0, 0.2, 5)
    stiff, short = (
        kn.simulate(dynamics, 0.2, method=method, times=times, rtol=1e-8, atol=1e-10) for method in ("stiff", "dopri5")
    )
    assert np.abs(stiff.q - short.q).max() < 1e-7
    assert (stiff["s17.q"] - stiff["s0.q"]).max() > 1e-3  # where a bumper acts
    # The bumper's corner bounds the steps of both: how many differ by a few with the last bits of the rates.
    assert stiff.facts["steps"] < (0.33 if stop else 0.25) * short.facts["steps"]
