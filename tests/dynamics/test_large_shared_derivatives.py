"""Derivatives of shared reactions in large loops: loop code around the rule of least norm in numbers."""

import pickle

import numpy as np
import pytest
from mechanisms import net, ring

import kinode as kn
import loop_models as models
from kinode.dynamics.derivatives.shared_columns import shares_in_numbers
from kinode.dynamics.reactions import redundancy
from kinode.dynamics.reactions.sharing_pattern import find_pattern
from kinode.dynamics.reactions.world_stiffness import JointTables, WorldStiffness
from kinode.dynamics.state_batch import StateBatch
from kinode.kernels.kernel_options import Kernel

BY = ("q", "u", "effort", "t", "p")


def sliding():
    """A slider-crank with a second guide, a spring, a law and a parameter; a crank on a universal joint."""
    system = kn.System("sliding", gravity=(0, -9.81, 0))
    m = system.parameter("m", 0.7)
    crank = system.body("crank", mass=m, com=(0.1, 0, 0), inertia=(0.01, 0.01, 0.02))
    rod = system.body("rod", mass=0.5, com=(0.3, 0, 0), inertia=(0.01, 0.05, 0.05))
    block = system.body("block", mass=1.5, com=(0, 0.05, 0), inertia=(0.1, 0.1, 0.1))
    fan = system.body("fan", mass=0.2, com=(0.1, 0.1, 0.2), inertia=(0.01, 0.02, 0.02))
    system.revolute("turn", system.world, crank, q=0.7, effort="-m*sin(t)", damping=0.1)
    system.revolute("pin", crank.at(0.2, 0, 0.1), rod, guess=-1.0)
    system.revolute("wrist", rod.at(0.6, 0, 0), block, guess=0.3, stiffness=2.0)
    system.prismatic("guide", system.world.at(0, 0, 0.1), block, axis="x", guess=0.7)
    system.prismatic("guide2", system.world.at(0, 0.2, 0.1), block.at(0, 0.2, 0), axis="x", guess=0.7)
    system.universal("cross", crank.at(0.1, 0, 0), fan, axes=("x", "y"))
    system.spring("pull", rod.at(0.3, 0, 0), system.world.at(0, 1, 0), stiffness="30*m", free_length=0.2)
    return system


MECHANISMS = {
    "planar four-bar": lambda: models.four_bar(offset=0.1),
    "four-bar with one ball": lambda: models.four_bar(second="spherical", offset=0.1),
    "third upright": lambda: models.parallelogram(True),
    "Bennett": models.bennett,
    "sliding": sliding,
    "ring": lambda: ring(6, "revolute"),
}
COMBINED = {"third upright", "Bennett"}  # rows are combined there, which loop code does not


def names_of(system):
    words = ("reaction.force", "reaction.moment", "wrench.force", "reaction.radial", "effort")
    joints = [joint for joint in system.joints.values() if joint.n_u]
    return [*(f"{joint.name}.{word}" for joint in joints for word in words), "system.energy"]


@pytest.mark.parametrize("mechanism", sorted(MECHANISMS.keys() - COMBINED))
def test_as_on_the_tape(mechanism, loops):
    """All loads by everything, at a state whose speeds open the loops: matrix and gradient."""
    system = MECHANISMS[mechanism]()
    small, names = kn.compile(system), names_of(system)
    start, rng = small.initial, np.random.default_rng(0)
    at = {"q": start.q, "u": start.u + 0.5 * rng.normal(size=small.n_u), "effort": rng.normal(size=small.n_u)}
    expected = small.derivatives(0.3, **at, of=names, by=BY)
    assert not shares_in_numbers(small, expected.request)
    loops("always")
    large = kn.compile(MECHANISMS[mechanism]())
    found = large.derivatives(0.3, **at, of=names, by=BY)
    assert shares_in_numbers(large, found.request)
    # Other operations: rounding, times the condition of the equations.
    scale = abs(expected.matrix).max(axis=1, keepdims=True) + abs(expected.matrix).max() * 1e-3
    assert (abs(found.matrix - expected.matrix) <= 1e-10 * scale).all()
    w = rng.normal(size=len(found.matrix))
    gradient = large.gradient(0.3, **at, of=names, by=BY, weights=w)
    np.testing.assert_allclose(gradient.matrix[0], w @ found.matrix, rtol=1e-9, atol=1e-10 * abs(found.matrix).max())


def test_a_large_ring_by_differences():
    dynamics = kn.compile(ring(60, "revolute"))
    start, rng, h = dynamics.initial, np.random.default_rng(1), 1e-5
    u, d = rng.normal(size=(2, 60))
    name, by = "j7.reaction.moment", ("q", "u")
    f = dynamics.derivatives_of(name, by=by)
    found = f(0.0, start.q, u)
    assert dynamics.kernels.has(Kernel("stress_directions"))
    assert not any(kernel.name in ("load_sharing", "derivatives_along") for kernel in dynamics.kernels.made)
    for k, at in enumerate(([(start.q + s * d, u) for s in (h, -h)], [(start.q, u + s * d) for s in (h, -h)])):
        ahead, behind = (dynamics.evaluate(name, 0.0, *state)[name] for state in at)
        expected = (ahead - behind) / (2 * h)
        assert found[:, 60 * k : 60 * (k + 1)] @ d == pytest.approx(expected, rel=1e-5, abs=1e-5 * abs(expected).max())
    two = f(0.0, np.array([start.q, start.q]), np.array([u, 2 * u]))
    np.testing.assert_allclose(two[0], found, rtol=1e-11, atol=1e-11 * abs(found).max())
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(f))(0.0, start.q, u), found)
    g = dynamics.gradient_of(name, by=by)
    weights = rng.normal(size=(2, 3))
    both = g(0.0, start.q, u, weights=weights)
    np.testing.assert_allclose(both, weights @ found, rtol=1e-10, atol=1e-10 * abs(found).max())
    out = np.empty((2, 3, 120))
    assert f(0.0, np.array([start.q, start.q]), u, out=out) is out


def test_a_pattern_that_changes_is_refused():
    """Where all rods lie in one line a ring has more freedoms, and its reactions no derivative."""
    dynamics = kn.compile(ring(40, "revolute"))
    q = np.zeros(40)
    q[20] = np.pi
    with pytest.raises(kn.ArgumentError, match="singular position"):
        dynamics.derivatives(0.0, q, np.ones(40), of="j3.reaction.force", by="q")


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_numbers_are_those_of_the_compiled_rule(mechanism, loops):
    dynamics = kn.compile(MECHANISMS[mechanism]())
    states = StateBatch.of(dynamics.point(dynamics.initial))
    pattern = find_pattern(dynamics, states)
    x = np.random.default_rng(2).normal(size=(1, len(pattern.shared)))
    by_code = redundancy.share_certified(dynamics, states, pattern, x)
    loops("always")
    in_numbers = redundancy.share_certified(dynamics, states, pattern, x)
    np.testing.assert_allclose(in_numbers[0], by_code[0], rtol=1e-11, atol=1e-11)
    assert by_code[1].all() and in_numbers[1].all()


def test_sharing_again_changes_nothing():
    """What is shared is of least norm, and in equilibrium with what was given."""
    dynamics = kn.compile(net(3, 3))
    point = dynamics.point(dynamics.initial)
    pattern = find_pattern(dynamics, StateBatch.of(point))
    stiffness = WorldStiffness(
        JointTables(dynamics.topology, pattern), dynamics.kernels.call(Kernel("stress_directions"), point).ravel()
    )
    x = np.random.default_rng(3).normal(size=len(pattern.shared))
    change, locked = stiffness.share(x)
    again, _ = stiffness.share(x + change)
    assert abs(again).max() < 1e-12 * abs(x).max() * len(x)
    assert np.linalg.norm(x + change) < np.linalg.norm(x)
    assert locked < 1e-20
