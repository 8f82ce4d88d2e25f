"""Mode shapes and root loci: closed forms of oscillators, the double pendulum and a parallelogram linkage."""

from __future__ import annotations

import numpy as np
import pytest

import kinode as kn
from kinode.tasks.mode_shapes import mode_shapes, root_locus

G = 9.81


def two_masses() -> kn.System:
    """Two carts of 1 kg between walls, three springs: of 100 N/m outside, of k between."""
    system = kn.System("two_masses", gravity=(0, 0, 0))
    k = system.parameter("k", "100 N/m")
    left, right = system.body("left", mass=1.0), system.body("right", mass=1.0)
    system.prismatic("a", system.world, left, axis="x", stiffness=100.0)
    system.prismatic("b", system.world.at(1, 0, 0), right, axis="x", stiffness=100.0)
    system.spring("between", left, right, stiffness=k, free_length=1.0)
    return system


def crossing() -> kn.System:
    """Two oscillators that know nothing of each other; k of the first passes that of the second."""
    system = kn.System("crossing", gravity=(0, 0, 0))
    k, c = system.parameter("k", 100.0), system.parameter("c", 0.0)
    system.prismatic("a", system.world, system.body("left", mass=1.0), axis="x", stiffness=k, damping=c)
    system.prismatic("b", system.world, system.body("right", mass=1.0), axis="y", stiffness=100.0)
    return system


def double_pendulum(length=0.5) -> kn.System:
    """Two point masses on massless rods; it hangs at q = 0."""
    system = kn.System("double_pendulum", gravity=(0, -G, 0))
    bodies = [system.body(name, mass=1.0, com=(0, -length, 0), inertia=(0, 0, 0)) for name in ("upper", "lower")]
    system.revolute("shoulder", system.world, bodies[0], axis="z")
    system.revolute("elbow", bodies[0].at(0, -length, 0), bodies[1], axis="z")
    return system


def parallelogram(length="0.4 m") -> kn.System:
    """A bar of 2 kg on two equal rods of 0.6 kg: it moves along a circle without turning, w^2 = 2.6/2.4 g/l."""
    system = kn.System("parallelogram", gravity=(0, -G, 0))
    rod = system.parameter("rod", length)
    wide = system.parameter("wide", "0.6 m")
    J = 0.05 * rod**2
    left, right = (system.body(name, mass=0.6, com=(0, -rod / 2, 0), inertia=(J, J, J)) for name in ("left", "right"))
    bar = system.body("bar", mass=2.0, com=(0.3, 0, 0), inertia=(0.01, 0.1, 0.1))
    system.revolute("a", system.world, left, axis="z", q=0.3)
    system.revolute("b", left.at(0, -rod, 0), bar, axis="z", guess=-0.3)
    system.revolute("c", bar.at(wide, 0, 0), right.at(0, -rod, 0), axis="z", guess=0.3)
    system.revolute("d", system.world.at(0.6, 0, 0), right, axis="z", guess=0.3)
    return system


def test_two_masses_swing_together_and_against_each_other():
    shapes = mode_shapes(kn.compile(two_masses()))
    together, against = sorted(shapes.modes, key=lambda mode: mode.frequency)
    assert [together.frequency, against.frequency] == pytest.approx([10.0, np.sqrt(300.0)], rel=1e-12)
    assert together.q[1] / together.q[0] == pytest.approx(1.0, abs=1e-9)
    assert against.coordinates["b.q"] / against.coordinates["a.q"] == pytest.approx(-1.0, abs=1e-9)
    assert together.damping == pytest.approx(0.0, abs=1e-9)
    assert "a.q" in str(shapes)


def test_the_picture_of_a_mode_is_a_cosine_of_a_tenth_of_the_size():
    shapes = mode_shapes(kn.compile(two_masses()))
    k = int(np.argmax([mode.frequency for mode in shapes.modes]))
    swing = shapes.swing(k, phases=24)
    assert swing.bodies == ("left", "right")
    assert swing.poses.shape == (2, 7, 24)
    assert swing.poses.dtype == np.float32
    assert swing.moves
    x = swing.poses[:, 0] - np.array([[0.0], [1.0]])
    assert x[0] == pytest.approx(-x[1], abs=1e-6)
    assert swing.amplitude == pytest.approx(0.1, rel=1e-6)
    assert np.hypot(x[0, 0], x[0, 6]) == pytest.approx(0.1, abs=1e-6)  # 6 of 24 phases are a quarter of the period
    assert x[0, 12] == pytest.approx(-x[0, 0], abs=1e-6)
    np.testing.assert_allclose(np.linalg.norm(swing.poses[:, 3:], axis=1), 1.0, atol=1e-6)
    half = shapes.swing(k, phases=24, amplitude=0.05)
    np.testing.assert_allclose(half.poses[0, 0], swing.poses[0, 0] / 2, atol=1e-7)


def test_double_pendulum():
    """Equal masses and lengths: w^2 = (2 -+ sqrt 2) g/l, second angle against first +-sqrt 2."""
    slow, fast = sorted(mode_shapes(kn.compile(double_pendulum())).modes, key=lambda mode: mode.frequency)
    expected = np.sqrt((2.0 + np.sqrt(2.0) * np.array([-1.0, 1.0])) * G / 0.5)
    assert [slow.frequency, fast.frequency] == pytest.approx(expected, rel=1e-10)
    for mode, ratio in ((slow, np.sqrt(2.0)), (fast, -np.sqrt(2.0))):
        assert 1.0 + mode.coordinates["elbow.q"] / mode.coordinates["shoulder.q"] == pytest.approx(ratio, abs=1e-8)


def test_in_a_loop_all_coordinates_swing_and_nothing_comes_apart():
    system = parallelogram()
    dynamics = kn.compile(system)
    shapes = mode_shapes(dynamics, {"a.q": 0.0})
    assert len(shapes) == 1
    assert shapes[0].frequency == pytest.approx(np.sqrt(2.6 / 2.4 * G / 0.4), rel=1e-9)
    assert shapes[0].coordinates["b.q"] / shapes[0].coordinates["a.q"] == pytest.approx(-1.0, abs=1e-9)
    swing = shapes.swing(0)
    bar = swing.poses[swing.bodies.index("bar")]
    assert np.abs(bar[4:]).max() < 1e-5  # it does not turn
    assert np.hypot(bar[0], bar[1]) == pytest.approx(0.4, abs=1e-5)  # on its circle, not on the tangent
    assert np.ptp(bar[0]) > 0.1
    for k in range(len(swing.phases)):
        state = dynamics.state({"a.q": swing.q[k, 0]})
        assert swing.q[k] == pytest.approx(state.q, abs=1e-6)


def test_all_coordinates_of_a_quaternion_have_amplitudes():
    system = kn.System("bowl", gravity=(0, 0, 0))
    body = system.body("body", mass=1.0, inertia=(0.1, 0.2, 0.3))
    system.free("free", system.world, body)
    system.spring("spring", system.world.at(0, 0, 1), body.at(0, 0, 0.2), stiffness=50.0, free_length=0.5)
    shapes = mode_shapes(kn.compile(system))
    assert all(len(shape.q) == 7 for shape in shapes.modes)
    stretching = min(shapes.modes, key=lambda shape: abs(shape.frequency - np.sqrt(50.0)))
    assert stretching.frequency == pytest.approx(np.sqrt(50.0), rel=1e-9)
    assert abs(stretching.q[2]) > 0.1
    assert np.abs(stretching.q[3:]).max() < 1e-9
    assert np.isfinite(shapes.swing(0).poses).all()


def test_a_circuit_has_modes_and_no_picture():
    shapes = mode_shapes(kn.compile(kn.load("examples/rlc.yaml")))
    swing = shapes.swing(0)
    assert swing.poses.shape == (0, 7, 24)
    assert not swing.moves
    assert shapes[0].damping == pytest.approx(0.1, rel=1e-3)


def test_wrong_modes_are_refused():
    shapes = mode_shapes(kn.compile(two_masses()))
    with pytest.raises(kn.ArgumentError, match="2 modes, and no number 2"):
        shapes.swing(2)
    with pytest.raises(kn.ArgumentError, match="amplitude"):
        shapes.swing(0, amplitude=0.0)


@pytest.mark.parametrize("count", [10, 31])
def test_lines_that_cross_go_on(count):
    """One line stays at 10 rad/s, the other is sqrt(k): they cross at k = 100."""
    k = np.linspace(60.0, 150.0, count)
    locus = root_locus(kn.compile(crossing()), None, "k", k)
    assert locus.eigenvalues.shape == (count, 4)
    varies = np.ptp(locus.frequencies, axis=0) > 1e-6
    assert varies.sum() == 2
    np.testing.assert_allclose(locus.frequencies[:, varies], np.sqrt(np.column_stack([k, k])), rtol=1e-9)
    np.testing.assert_allclose(locus.frequencies[:, ~varies], 10.0, rtol=1e-9)
    assert (np.sign(locus.eigenvalues.imag) == np.sign(locus.eigenvalues.imag[0])).all()


def test_a_pair_becomes_two_real_ones():
    """m = 1, k = 100: -c/2 +- sqrt(c^2/4 - 100), real from c = 20 on."""
    c = np.linspace(0.0, 40.0, 81)
    locus = root_locus(kn.compile(crossing()), None, "c", c)
    moving = np.ptp(np.abs(locus.eigenvalues - locus.eigenvalues[0]), axis=0) > 1.0
    roots = np.sort_complex(locus.eigenvalues[:, moving])
    exact = np.sort_complex(np.array([np.roots([1.0, x, 100.0]) for x in c]).astype(complex))
    np.testing.assert_allclose(roots, exact, atol=2e-6)  # near the double root an error of 1e-13 becomes 3e-7
    # at c = 20 they meet: a step there is the square root of the spacing; lines never exchange beyond it
    assert np.abs(np.diff(locus.eigenvalues[:, moving], axis=0)).max() < 3.5
    assert locus.damping[40:, moving].min() == pytest.approx(1.0, abs=1e-6)


def test_a_locus_keeps_a_state_and_closes_its_loops():
    dynamics = kn.compile(parallelogram())
    state = dynamics.state({"a.q": 0.0})
    rods = np.linspace(0.3, 0.6, 7)
    locus = root_locus(dynamics, state, "rod", rods)
    np.testing.assert_allclose(locus.frequencies[:, 0], np.sqrt(2.6 / 2.4 * G / rods), rtol=1e-8)
    apart = root_locus(dynamics, state, "wide", ["0.6 m", "3 m", "0.6 m"])
    assert list(apart.failures) == [3.0]
    assert np.isnan(apart.eigenvalues[1]).all()
    assert np.isfinite(apart.eigenvalues[[0, 2]]).all()
    assert "none at 3" in str(apart)


def test_a_locus_about_the_equilibrium_of_each_value():
    """A pendulum with a torsion spring that is relaxed at 90 deg: it rests where k (pi/2 - q) = m g l sin q."""
    system = kn.System("held", gravity=(0, -G, 0))
    k = system.parameter("k", 1.0)
    rod = system.body("rod", mass=1.0, com=(0, -0.5, 0), inertia=(0, 0, 0))
    system.revolute("pin", system.world, rod, axis="z", q=0.2, stiffness=k, neutral=np.pi / 2)
    values = [1.0, 3.0, 5.0]
    locus = root_locus(kn.compile(system), None, "k", values, steady=True)
    for value, frequency in zip(values, locus.frequencies[:, 0], strict=True):
        q = 0.5
        for _ in range(50):
            q -= (value * (q - np.pi / 2) + G / 2 * np.sin(q)) / (value + G / 2 * np.cos(q))
        assert frequency == pytest.approx(np.sqrt((value + G / 2 * np.cos(q)) / 0.25), rel=1e-6)


def test_wrong_names_of_a_locus_are_refused():
    dynamics = kn.compile(crossing())
    with pytest.raises(kn.ArgumentError, match="no parameter or input is called"):
        root_locus(dynamics, None, "K", [1.0])
    with pytest.raises(kn.ArgumentError, match="at least one value"):
        root_locus(dynamics, None, "k", [])
