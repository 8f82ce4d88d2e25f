"""Structure of known problems: index, differentiations, states, order, and what cannot be solved."""

import cProfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinode.structure.sigma_method import StructureError, choose_states, find_blocks, find_parts, find_structure


def named(text, names):
    """Rows given as "x'' lam x", variables by name, and how many there are."""
    place = {name: j for j, name in enumerate(names.split())}
    rows = []
    for line in text.splitlines():
        words = sorted(line.split(), key=lambda word: word.count("'"))
        rows.append({place[word.rstrip("'")]: word.count("'") for word in words})
    return rows, len(place)


PENDULUM = named("x'' lam x\ny'' lam y\nx y", "x y lam")


def test_pendulum_in_cartesian_coordinates():
    """x'' = -lam x, y'' = -lam y - g, x^2 + y^2 = L^2: index 3, two freedoms [Pryce 2001, section 2]."""
    structure = find_structure(*PENDULUM)
    assert structure.c == (0, 0, 2)
    assert structure.d == (2, 2, 0)
    assert structure.index == 3
    assert structure.freedom == 2
    assert structure.blocks == ((0, 1, 2),)


@pytest.mark.parametrize(("priorities", "kept"), [({0: 1.0}, 0), ({1: 1.0}, 1), ({0: 2.0, 1: 1.0}, 0)])
def test_states_of_the_pendulum(priorities, kept):
    states = choose_states(find_structure(*PENDULUM), priorities)
    assert states.states == ((kept, 0), (kept, 1))
    assert states.dependent == (((2, 1 - kept),), ((2, 1 - kept),))


def test_the_hanging_pendulum_cannot_have_its_height_as_state():
    """At x = 0 the row x x'' + y y'' gives y'' alone, whatever the priorities wish."""
    structure = find_structure(*PENDULUM)
    hanging = {(0, 0): 1.0, (0, 2): 0.0, (1, 1): 1.0, (1, 2): -1.0, (2, 0): 0.0, (2, 1): -1.0}
    assert choose_states(structure, {1: 1.0}, hanging).states == ((0, 0), (0, 1))
    assert choose_states(structure, {1: 1.0}, hanging | {(2, 0): 0.5}).states == ((1, 0), (1, 1))


def test_series_circuit():
    """v = source, i = C uc', ul = L i', ur = R i, v = uc + ul + ur: an ordinary problem with two states."""
    rows = named("v\ni uc'\nul i'\nur i\nv uc ul ur", "v i uc ul ur")
    structure = find_structure(*rows)
    assert structure.c == (0, 0, 0, 0, 0)
    assert structure.index == 1
    assert choose_states(structure).states == ((1, 0), (2, 0))
    order = [structure.matching[row] for (row,) in structure.blocks]
    assert order.index(0) < order.index(3)  # ul follows from the other voltages
    assert order.index(4) < order.index(3)


def test_capacitor_across_a_source():
    """v = source(t), i = C v': the source is differentiated, and nothing is left to choose."""
    structure = find_structure(*named("v\ni v'", "v i"))
    assert structure.c == (1, 0)
    assert structure.index == 2
    states = choose_states(structure)
    assert states.states == ()
    assert states.dependent == (((0, 0),),)


def test_the_integrator_chain_read_backwards():
    """y = f(t), y' = x1, x1' = x2, ...: every row asks for one more differentiation of the first."""
    n = 60
    rows = [{0: 0}, *({k - 1: 1, k: 0} for k in range(1, n))]
    structure = find_structure(rows, n)
    assert structure.c == tuple(range(n - 1, -1, -1))
    assert structure.index == n
    assert choose_states(structure).states == ()


def test_two_speed_sources_on_one_shaft():
    """J w' = m1 + m2, w = a, w = b: w and nothing else in two rows, the two moments in one."""
    rows, count = named("w' m1 m2\nw\nw", "w m1 m2")
    with pytest.raises(StructureError, match="2 rows for 1 variables; 1 rows for 2 variables") as error:
        find_structure(rows, count)
    assert (error.value.over.rows, error.value.over.variables) == ((1, 2), (0,))
    assert (error.value.under.rows, error.value.under.variables) == ((0,), (1, 2))


def test_only_the_wrong_piece_is_named():
    """A sound piece beside a row too many."""
    over, under = find_parts(*named("x' y\nx y'\nz\nz", "x y z"))
    assert (over.rows, over.variables) == ((2, 3), (2,))
    assert under.rows == under.variables == ()
    over, under = find_parts(*named("x' y\nx y'", "x y z"))
    assert under.variables == (2,)
    assert under.rows == over.rows == ()


def test_priorities_choose_among_currents_of_a_cut_set():
    """i1 + i2 + i3 = 0 with three inductors between free nodes: one current depends, the one of least priority."""
    rows = named("i1 i2 i3\nv i1'\nv i2'\nv i3'", "i1 i2 i3 v")
    for least in range(3):
        states = choose_states(find_structure(*rows), {j: 0.0 if j == least else 1.0 for j in range(3)})
        assert states.states == tuple((j, 0) for j in range(3) if j != least)


def test_values_that_cancel():
    """x1 + x2 = a and x1 + x2 + x3 = b: structure would solve for x1 and x2, numbers cannot."""
    rows = named("x1 x2\nx1 x2 x3\nx1' x2' y1\nx2' y2\nx3' y1 y2", "x1 x2 x3 y1 y2")
    structure = find_structure(*rows)
    assert structure.c[:2] == (1, 1)
    prefer = {2: 1.0}
    assert choose_states(structure, prefer).states == ((2, 0),)
    values = {(0, 0): 1.0, (0, 1): 1.0, (1, 0): 1.0, (1, 1): 1.0, (1, 2): 1.0}
    chosen = choose_states(structure, prefer, values)
    assert (2, 0) not in chosen.states
    assert len(chosen.states) == 1
    with pytest.raises(StructureError):
        choose_states(structure, prefer, {**values, (1, 2): 0.0})


@st.composite
def problems(draw):
    """Random sparse problems with a transversal that is known to be there."""
    n = draw(st.integers(1, 9))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    permutation = rng.permutation(n)
    rows = []
    for i in range(n):
        row = {int(j): int(rng.integers(0, 3)) for j in range(n) if rng.random() < 0.3}
        row.setdefault(int(permutation[i]), int(rng.integers(0, 3)))
        rows.append(row)
    return rows, n


@given(problems())
def test_offsets_are_what_pryce_defines(problem):
    rows, n = problem
    structure = find_structure(rows, n)
    assert sorted(structure.matching) == list(range(n))
    for i, row in enumerate(rows):
        assert all(structure.d[j] - structure.c[i] >= order for j, order in row.items())
        j = structure.matching[i]
        assert structure.d[j] - structure.c[i] == row[j]
    assert min(structure.c) == 0
    assert sum(rows[i][j] for i, j in enumerate(structure.matching)) == structure.freedom


@given(problems())
def test_states_fill_the_freedom_and_blocks_are_in_order(problem):
    rows, n = problem
    structure = find_structure(rows, n)
    states = choose_states(structure)
    assert len(states.states) == structure.freedom
    for level, pairs in enumerate(states.dependent, start=1):
        assert [i for i, _ in pairs] == [i for i, c in enumerate(structure.c) if c >= level]
        assert len({j for _, j in pairs}) == len(pairs)
    done = set()
    for block in structure.blocks:
        own = {structure.matching[i] for i in block}
        assert all(set(structure.leading(i)) <= done | own for i in block)
        done |= own
    assert done == set(range(n))


def ladder(n):
    """A chain of n inertias and springs driven by a velocity source: rows of a few entries, index 2."""
    rows = [{0: 0}]
    for k in range(n):
        w, m, a = 3 * k, 3 * k + 1, 3 * k + 2
        rows += [{w: 1, m: 0} | ({m + 3: 0} if k + 1 < n else {}), {a: 1, w: 0}]
        if k:
            rows.append({m: 0, a: 0, a - 3: 0})
    return rows, 3 * n


def test_the_work_of_large_problems_grows_as_their_rows():
    calls = []
    for n in (800, 3400):
        rows, count = ladder(n)
        with cProfile.Profile() as profile:
            structure = find_structure(rows, count)
            states = choose_states(structure)
        assert len(structure.blocks) > n
        calls.append(sum(entry.callcount for entry in profile.getstats()))
        assert structure.index == 2
        assert len(states.states) == 2 * n - 1
    assert calls[1] < 6 * calls[0]  # 4.25 times the rows; the square would be 18


def test_no_rows():
    structure = find_structure([], 0)
    assert structure.index == 0
    assert structure.blocks == ()
    assert find_blocks([], []) == ()
    assert choose_states(structure).states == ()
