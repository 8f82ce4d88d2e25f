"""Starts of systems with many loops: what the sparse factor finds is what dense singular values find."""

import numpy as np
import pytest
from example_counts import by_day
from mechanisms import bricard, four_bars, net

import kinode as kn
from kinode.structure import loop_closure

LEAN = 0.3  # rad


@pytest.fixture
def find_densely(monkeypatch):
    """Starts by dense matrices of all rows."""

    def find(make):
        with monkeypatch.context() as patch:
            patch.setattr(loop_closure, "MANY_FACTORED", 10**9)
            dynamics = kn.compile(make())
            return dynamics.closure, dynamics.initial

    return find


def leaning_net(n):
    """A net pulled aside by guesses that do not fit together: it has to be closed."""
    system, down = net(n, n), -np.pi / 2 + LEAN
    for i in range(n + 1):
        system.change(f"v{i}_1_near", guess=down + 0.01 * i)
        for j in range(1, n + 1):
            if i < n:
                system.change(f"h{i}_{j}_near", guess=-down)
    for j in range(1, n + 1):
        system.change(f"v0_{j}_near", q=down if j == 1 else 0.0, guess=None)
    return system


def apart(*systems):
    """Mechanisms side by side in one system, each with the others' tilt: rows of a plane have rounding errors."""
    whole = kn.System("apart", gravity=(0, -9, 0))
    for k, part in enumerate(systems):
        whole.add(f"m{k}", part, on=whole.world.at(0, 0, 3 * k, rpy=(0.3, 0.2 * k, 0.1)))
    return whole


def flat_four_bar():
    """A parallelogram whose bars lie in one line: it can leave as a parallelogram or crossed."""
    system = four_bars(1)
    system.change("ground0", q=-np.pi / 2, u=0.0)
    system.change("ground1", guess=-np.pi / 2)
    system.change("left0", guess=np.pi / 2)
    return system


@pytest.mark.parametrize(
    "make", by_day([lambda: four_bars(30), lambda: net(5, 5), lambda: net(9, 3), lambda: leaning_net(5)], 3)
)
def test_rows_and_rank_are_those_of_dense_matrices(find_densely, make):
    dynamics, (closure, start) = kn.compile(make()), find_densely(make)
    assert dynamics.closure == closure
    assert dynamics.initial.q == pytest.approx(start.q, abs=1e-10)  # closed to 1e-13, times the condition
    assert dynamics.initial.u == pytest.approx(start.u, abs=1e-9)


MIXED = (lambda: four_bars(3), bricard, lambda: net(2, 2), lambda: four_bars(2), lambda: four_bars(5), bricard)


def test_mechanisms_that_share_nothing(find_densely):
    def make():
        return apart(*(part() for part in (*MIXED, *MIXED)))

    closure, (dense, _) = kn.compile(make()).closure, find_densely(make)
    assert closure == dense and not closure.singular
    alone = [kn.compile(part()).closure for part in MIXED]
    assert closure.freedoms == 2 * sum(each.freedoms for each in alone)
    assert len(closure.rows) == 2 * sum(len(each.rows) for each in alone)


def test_one_of_many_mechanisms_is_singular(find_densely):
    def make(odd):
        return apart(*(part() for part in (*MIXED, *MIXED)), odd)

    closure = kn.compile(make(flat_four_bar())).closure
    dense, _ = find_densely(lambda: make(flat_four_bar()))
    assert closure.singular and closure == dense
    regular = kn.compile(make(four_bars(1))).closure
    assert not regular.singular and regular.freedoms == closure.freedoms
    found = str(kn.mobility(make(flat_four_bar())))
    words = f"The start is a singular position: it has {closure.freedoms + 1} freedoms, positions near it"
    assert words in found


def test_a_chain_that_does_not_reach_is_named():
    system = net(3, 3)
    system.change("h1_1_far", b=system.bodies["v1_1"].at(9, 0, 0))
    with pytest.raises(kn.AssemblyError, match="h1_1_far"):
        kn.compile(system).initial  # noqa: B018


@pytest.mark.parametrize("n", [6, 10])
def test_given_speeds_go_through_a_net(n):
    """The rods that hang side by side turn as the first one does."""
    system = net(n, n)
    system.change("v0_1_near", u=0.7)
    dynamics = kn.compile(system)
    start = dynamics.initial
    errors = dynamics.loops.evaluate(dynamics.point(start))[2]
    assert abs(errors).max() < 1e-12
    assert start.u[dynamics.topology.u_of["v0_1_near"]] == pytest.approx([0.7], abs=1e-15)


def test_nothing_is_decomposed_densely(monkeypatch):
    """Singular values of all rows would take most of a start; sizes are those of what is left of them."""
    sizes, svd = [], np.linalg.svd

    def watched(A, *arguments, **options):
        sizes.append(np.shape(A))
        return svd(A, *arguments, **options)

    monkeypatch.setattr(np.linalg, "svd", watched)
    for system in (net(9, 9), four_bars(60)):
        kn.compile(system).initial  # noqa: B018
    assert max(min(shape) for shape in sizes) < 20  # freedoms
