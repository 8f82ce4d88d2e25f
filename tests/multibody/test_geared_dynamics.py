"""Large trees with gears: articulated bodies with an effort for each gear, against inverse dynamics and M."""

import numpy as np
import pytest

import kinode as kn
from kinode.algebra.trace import count_operations
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.kernel_traces import trace
from kinode.structure import massless_freedoms
from kinode.structure.topology import find_topology


def branched(n, gears, seed=0, **first):
    """A tree of n links, every fourth of which ends a branch; gears are (input, output, ratio) by number of joint."""
    rng = np.random.default_rng(seed)
    system = kn.System("geared", gravity=(0, 0, -9.81))
    body = system.world
    for i in range(n):
        inertia = tuple(rng.uniform(0.02, 0.03, 3))
        link = system.body(f"link{i}", mass=rng.uniform(0.1, 1), com=tuple(rng.uniform(-0.1, 0.1, 3)), inertia=inertia)
        given = first if i == 0 else {"effort": f"0.1*sin({i + 1}*t)", "damping": 1e-3}
        system.revolute(f"pin{i}", body.at(0.1, 0.02, 0) if i else body, link, axis="yz"[i % 2], **given)
        body = body if i % 4 == 3 else link
    for k, (one, two, ratio) in enumerate(gears):
        system.gear(f"gear{k}", f"pin{one}", f"pin{two}", ratio=ratio)
    return system


def state_of(dynamics):
    rng = np.random.default_rng(3)
    return rng.uniform(-0.6, 0.6, dynamics.n_q), rng.uniform(-1, 1, dynamics.n_u)


TREES = {
    "neighbors": lambda: branched(60, [(1, 0, 2.0)]),
    "far apart": lambda: branched(60, [(0, 59, -3.0), (3, 40, 0.5)]),
    "in a row": lambda: branched(60, [(5, 4, 1.5), (6, 5, -2.0), (7, 6, 0.7)]),
    "one leads several": lambda: branched(64, [(5, 4, 1.5), (30, 4, -2.0), (63, 4, 0.7)]),
    "a leader that is driven": lambda: branched(60, [(2, 0, 2.0), (9, 8, 3.0)], motion="0.2*sin(t)"),
}


@pytest.mark.parametrize("name", TREES)
def test_inverse_dynamics_finds_no_effort_missing(name):
    """Inverse dynamics knows nothing of gears but the ratios of speeds."""
    dynamics = kn.compile(TREES[name]())
    assert dynamics.topology.has_articulated_gears
    q, u = state_of(dynamics)
    u_dot = dynamics.acceleration(0.3, q, u)
    needed = dynamics.effort(0.3, q, u, u_dot)
    scale = abs(dynamics.mass_matrix(0.3, q)) @ abs(u_dot)
    assert (abs(needed) <= 1e-12 * scale).all()


GEARS = [(0, 19, -3.0), (4, 5, 1.5), (2, 4, 0.5)]


def both_ways(monkeypatch, make):
    """A system by the mass matrix, and by articulated bodies."""
    found = []
    for link_cost in (1e9, -1e9):
        monkeypatch.setattr(massless_freedoms, "LINK", link_cost)
        found.append(kn.compile(make()))
        assert found[-1].topology.has_articulated_gears == (link_cost < 0)
    return found


def test_motion_reactions_and_derivatives_are_those_by_the_mass_matrix(monkeypatch):
    plain, articulated = both_ways(monkeypatch, lambda: branched(20, GEARS))
    q, u = state_of(plain)
    weights = np.linspace(1, 2, plain.n_u)
    calls = (
        lambda d: d.acceleration(0.3, q, u),
        lambda d: d.derivatives(0.3, q, u, by=("q", "u", "effort", "t")).matrix,
        lambda d: d.gradient(0.3, q, u, of="u_dot", by=("q", "u"), weights=weights).matrix,
        lambda d: np.concatenate([[*w.force, *w.moment] for w in d.reactions(0.3, q, u).values()]),
        lambda d: d.evaluate("pin0.effort", 0.3, q, u)["pin0.effort"],
        lambda d: d.acceleration(0.3, q, u, wrenches={"link9": ((1.0, 2.0, 3.0), (0.1, 0.2, 0.3))}),
    )
    for call in calls:
        one, two = call(plain), call(articulated)
        np.testing.assert_allclose(two, one, rtol=1e-10, atol=1e-11 * abs(one).max())


def test_a_rotor_of_a_network_adds_its_inertia(monkeypatch):
    def make():
        system = branched(20, GEARS)
        system.voltage_source("supply", plus="coil", minus="gnd", voltage=24.0)
        system.dc_motor("motor", plus="coil", minus="gnd", shaft="rotor", resistance=0.9, constant=0.05, inertia=6e-3)
        system.gearbox("drive", input="rotor", output="pin5", ratio=6)
        return system

    plain, articulated = both_ways(monkeypatch, make)
    q, u = state_of(plain)
    one, two = (d.acceleration(0.3, q, u) for d in (plain, articulated))
    np.testing.assert_allclose(two, one, rtol=1e-11, atol=1e-11 * abs(one).max())


def test_parameters_act_on_ratios(monkeypatch):
    def make():
        system = branched(20, [])
        system.parameter("i", 2.0)
        system.gear("gear", "pin3", "pin9", ratio="i")
        return system

    plain, articulated = both_ways(monkeypatch, make)
    q, u = state_of(plain)
    for p in ({"i": 2.0}, {"i": -5.0}):
        one, two = (d.acceleration(0.3, q, u, p=p) for d in (plain, articulated))
        np.testing.assert_allclose(two, one, rtol=1e-11, atol=1e-11 * abs(one).max())
    slopes = [d.derivatives(0.3, q, u, by="i")["i"] for d in (plain, articulated)]
    np.testing.assert_allclose(*slopes, rtol=1e-10, atol=1e-10 * abs(slopes[0]).max())


def test_small_trees_and_shafts_without_mass_keep_the_mass_matrix():
    assert not find_topology(branched(6, [(0, 1, 2.0)])).has_articulated_gears
    system = branched(60, [(1, 0, 2.0)])
    system.revolute("shaft", system.world, system.body("disc", mass=0.0), axis="x")
    system.gear("last", "shaft", "pin59", ratio=3.0)
    dynamics = kn.compile(system)
    assert not dynamics.topology.has_articulated_gears
    q, u = state_of(dynamics)
    assert np.isfinite(dynamics.acceleration(0.0, q, u)).all()


def test_operations_grow_with_the_links():
    counts = []
    for n in (60, 120):
        topology = find_topology(branched(n, [(1, 0, 2.0), (n - 1, n - 2, 3.0)]))
        counts.append(sum(count_operations(trace(topology, Kernel("acceleration"))).values()))
    assert counts[1] < 2.2 * counts[0]
