"""Small motions about steady motions: bodies of revolution against three gimbals, closed forms, perturbed motions."""

from __future__ import annotations

import math

import numpy as np
import pytest

import kinode as kn
from kinode.algebra.spatial import rotation_from_quaternion
from kinode.tasks.mode_shapes import mode_shapes

G = 9.81


def positive(linear) -> list[float]:
    return sorted(x.imag for x in linear.eigenvalues if x.imag > 1e-6)


# -- a body of revolution in a ball joint, and in three gimbals ------------------------------------------------------
def hang(system: kn.System, body: str, how: str, spin: float, on=None) -> None:
    """Joints of a body to its support at its origin: a ball, or hinges about x, y and z."""
    on = system.world if on is None else on
    if how == "ball":
        system.spherical("tip", on, body, u=(0, 0, spin))
        return
    outer, inner = system.body("outer"), system.body("inner")
    system.revolute("roll", on, outer, axis="x")
    system.revolute("pitch", outer, inner, axis="y")
    system.revolute("spin", inner, body, axis="z", u=spin)


def sprung(how: str) -> kn.System:
    """Two springs along x hold a point of the axis; K = 2 k h^2 against a tilt about y, none about x."""
    system = kn.System("sprung", gravity=(0, 0, 0))
    body = system.body("body", mass=1, inertia=(0.1, 0.1, 0.2))
    hang(system, "body", how, 5.0)
    for name, x in (("right", 2), ("left", -2)):
        system.spring(name, system.world.at(x, 0, 0.5), body.at(0, 0, 0.5), stiffness=50, free_length=2)
    return system


@pytest.mark.parametrize("how", ["ball", "gimbals"])
def test_a_spinning_body_between_two_springs(how):
    """A a'' + C w b' = 0 and A b'' - C w a' + K b = 0: the frequency is sqrt(K / A + (C w / A)^2), the other zero."""
    linear = kn.linearize(sprung(how))
    assert positive(linear) == pytest.approx([math.sqrt(2 * 50 * 0.5**2 / 0.1 + (0.2 * 5 / 0.1) ** 2)], rel=1e-9)
    turned = {"tip": [0, 0, -5]} if how == "ball" else {}
    assert {name: list(speeds) for name, speeds in linear.axes.items()} == turned
    assert ("small motions of tip are along axes that turn with (0, 0, -5) rad/s" in str(linear)) == (how == "ball")


def test_modes_and_roots_of_a_steady_motion_are_those_of_the_linear_system():
    dynamics = kn.compile(sprung("ball"))
    assert max(mode.frequency for mode in mode_shapes(dynamics).modes) == pytest.approx(math.sqrt(350), rel=1e-9)
    assert max(positive(kn.linearize(dynamics, anywhere=True))) == pytest.approx(math.sqrt(350), rel=1e-9)


def rotor(rng: np.random.Generator, how: str) -> kn.System:
    """A heavy top of random numbers that sleeps, held by springs and dampers in random directions, on a base or not."""
    system = kn.System("rotor")
    A, height = rng.uniform(0.1, 0.4), rng.uniform(-0.3, 0.3)
    C = A * rng.uniform(0.1, 1.9)
    body = system.body("body", mass=rng.uniform(0.5, 2), com=(0, 0, height), inertia=(A, A, C))
    spin, turn, on_base = rng.uniform(-20, 20), rng.uniform(-3, 3), rng.random() < 0.4
    base = system.body("base", mass=1, inertia=(1, 2, 3))
    system.revolute("table", system.world, base, axis="z", u=turn if on_base else 0.0)
    hang(system, "body", how, spin, on=base if on_base else None)
    for k in range(rng.integers(1, 4)):
        angle, at = rng.uniform(0, math.pi), rng.uniform(-0.5, 0.8)
        away = np.array([math.cos(angle), math.sin(angle), 0.0]) * rng.uniform(0.5, 2)
        fields = {"stiffness": rng.uniform(5, 300), "free_length": rng.uniform(0.3, 1), "damping": rng.uniform(0, 2)}
        for side in (1, -1):
            x, y, _ = (side * away).tolist()
            place = base.at(x, y, at) if on_base else system.world.at(x, y, at)
            system.spring(f"spring_{k}_{'ab'[side > 0]}", place, body.at(0, 0, at), **fields)
    return system


def compare_with_gimbals(seed: int) -> None:
    ball, gimbals = (kn.linearize(rotor(np.random.default_rng(seed), how)) for how in ("ball", "gimbals"))
    one, two = (np.array([x for x in each.eigenvalues if abs(x) > 1e-5]) for each in (ball, gimbals))
    if not ball.axes:  # few springs: all is alike about the axis, and small turns are about the child's axes
        return
    assert len(one) == len(two)
    for value in one:
        assert abs(two - value).min() < 1e-7 * abs(two).max(), seed


@pytest.mark.parametrize("seed", range(4))
def test_a_ball_joint_and_three_gimbals_have_the_same_eigenvalues(seed):
    compare_with_gimbals(seed)


@pytest.mark.nightly
def test_two_hundred_rotors_in_balls_and_gimbals():
    for seed in range(100, 300):
        compare_with_gimbals(seed)


@pytest.mark.parametrize("share", [0.9, 1.1])
def test_a_top_sleeps_alike_in_a_ball_and_in_gimbals(share):
    """Stable above C w = 2 sqrt(A m g l), about the point of support."""
    A, C, weight = 0.2 + 0.3**2, 0.1, G * 0.3
    verdicts = []
    for how in ("ball", "gimbals"):
        system = kn.System("top")
        system.body("body", mass=1.0, com=(0, 0, 0.3), inertia=(0.2, 0.2, 0.1))
        hang(system, "body", how, share * math.sqrt(4 * A * weight) / C)
        verdicts.append(kn.linearize(system).stable)
    assert verdicts == [share > 1, share > 1]


def leaning(how: str, lean: float, spin: float | None) -> kn.System:
    """A heavy top that precesses at W, by A W^2 cos - C w W + m g l = 0; without spin a pendulum with w = W cos."""
    A, C, weight = 0.2 + 0.3**2, 0.1, G * 0.3 * (1 if spin else -1)
    cos, sin = math.cos(lean), math.sin(lean)
    root = math.sqrt((C * spin) ** 2 - 4 * A * cos * weight) if spin else 0.0
    turn = (C * spin - root) / (2 * A * cos) if spin else math.sqrt(-weight / ((A - C) * cos))
    system = kn.System("top")
    body = system.body("body", mass=1.0, com=(0, 0, math.copysign(0.3, weight)), inertia=(0.2, 0.2, 0.1))
    spin = spin or turn * cos
    if how == "ball":
        q = (math.cos(lean / 2), math.sin(lean / 2), 0, 0)
        system.spherical("tip", system.world, body, q=q, u=(0, turn * sin, spin))
    else:
        outer, inner = system.body("outer"), system.body("inner")
        system.revolute("turn", system.world, outer, axis="z", u=turn)
        system.revolute("lean", outer, inner, axis="x", q=lean)
        system.revolute("spin", inner, body, axis="z", u=spin - turn * cos)
    return system


@pytest.mark.parametrize("spin", [35.0, None])
@pytest.mark.parametrize("how", ["ball", "gimbals"])
def test_a_top_and_a_pendulum_precess_alike_in_a_ball_and_in_gimbals(how, spin):
    """The lean swings in V = (h - C w cos)^2 / (2 A sin^2) + m g l cos, with h about the vertical; nothing grows."""
    A, C, lean = 0.2 + 0.3**2, 0.1, 0.6
    linear = kn.linearize(leaning(how, lean, spin))
    w, turn = (u := kn.compile(leaning("ball", lean, spin)).initial.u)[2], u[1] / math.sin(lean)
    weight, h = G * 0.3 * (1 if spin else -1), A * turn * math.sin(lean) ** 2 + C * w * math.cos(lean)
    step = 1e-3
    V = [
        (h - C * w * math.cos(x)) ** 2 / (2 * A * math.sin(x) ** 2) + weight * math.cos(x)
        for x in lean + step * np.arange(-2, 3)
    ]
    stiffness = np.array([-1, 16, -30, 16, -1]) @ V / (12 * step**2)
    assert max(positive(linear)) == pytest.approx(math.sqrt(stiffness / A), rel=1e-7)
    assert linear.stability.word == "neutral"


def pushed(how: str, axes: str) -> kn.System:
    system = sprung(how)
    force = system.input("force", 0.0)
    system.force(
        "push", system.bodies["body"].at(0, 0, 0.4), (force, 0, 0), **({"expressed_in": "body"} if axes else {})
    )
    return system


def test_inputs_and_outputs_stand_in_the_axes_of_the_states():
    """What the ball and the gimbals answer to a force of the world, seen in the world, at several frequencies."""
    names = ["body.angular_velocity.x", "body.angular_velocity.y"]
    answers = []
    for how in ("ball", "gimbals"):
        linear = kn.linearize(pushed(how, ""), outputs=names)
        assert linear.changing == ()
        answers.append([
            linear.C @ np.linalg.solve(1j * w * np.eye(6) - linear.A, linear.B) + linear.D for w in (0.7, 3.0, 20.0)
        ])  # fmt: skip
    np.testing.assert_allclose(answers[0], answers[1], rtol=1e-9, atol=1e-12)


def test_an_output_of_the_world_turns_the_axes_of_a_top():
    """By itself the top is alike in any axes; a point of it is seen from the world."""
    system = kn.System("top")
    system.body("body", mass=1.0, com=(0, 0, 0.3), inertia=(0.2, 0.2, 0.1))
    hang(system, "body", "ball", 40.0)
    assert kn.linearize(system).axes == {}
    seen = kn.linearize(system, outputs=["body.com.position.x"])
    assert list(seen.axes["tip"]) == [0, 0, -40]
    root = math.sqrt((0.1 * 40) ** 2 - 4 * 0.29 * G * 0.3)
    assert positive(seen) == pytest.approx([(0.1 * 40 - root) / 0.58, (0.1 * 40 + root) / 0.58], rel=1e-9)


def test_an_input_that_turns_with_the_body_is_named():
    linear = kn.linearize(pushed("ball", "body"))
    assert positive(linear) == pytest.approx([math.sqrt(350)], rel=1e-9)
    assert linear.changing == ("force",)
    assert "of this instant alone in B, C, D: force" in str(linear)


# -- a body of revolution that is free -------------------------------------------------------------------------------
def floating(rng: np.random.Generator) -> kn.System:
    """A free spinning body on springs from the world to points of its axis, its frame beside its mass center."""
    system = kn.System("floating", gravity=(0, 0, 0))
    A, m, spin = rng.uniform(0.1, 0.4), rng.uniform(0.5, 2), rng.uniform(4, 15)
    C = A * rng.uniform(0.1, 1.9)
    aside = rng.uniform(-0.3, 0.3, 3) * (1, 1, 0)
    body = system.body("body", mass=m, com=aside.tolist(), inertia=(A, A, C))
    velocity = np.cross([0, 0, spin], -aside)
    system.free("flight", system.world, body, position=(-aside).tolist(), velocity=velocity.tolist(),
                angular_velocity=(0, 0, spin))  # fmt: skip
    for k in range(3):
        x, y, z, at = rng.uniform(-1, 1, 4).tolist()
        taut = rng.uniform(0.1, 0.9) * math.hypot(x, y, z)
        fields = {"stiffness": rng.uniform(20, 200), "free_length": taut}
        for side in (1, -1):
            place = system.world.at(side * x, side * y, side * z + at)
            system.spring(f"s{k}_{'ab'[side > 0]}", place, body.at(aside[0], aside[1], at), **fields)
    return system


def after_a_turn(dynamics, spin: float) -> np.ndarray:
    """What becomes of twelve small changes within one turn, by the rate alone: central differences of runs."""
    from scipy.integrate import solve_ivp

    start, h = dynamics.state({}), 1e-4
    steps = h * np.concatenate([np.eye(12), -np.eye(12), np.zeros((1, 12))])
    starts = [np.append(dynamics.topology.advance_q(start.q, x[:6]), start.u + x[6:]) for x in steps]

    def rates(t, y):
        return dynamics.rate(np.full(25, t), y.reshape(25, -1)).ravel()

    run = solve_ivp(rates, (0.0, 2 * math.pi / spin), np.ravel(starts), method="DOP853", rtol=1e-11, atol=1e-12)
    ends = run.y[:, -1].reshape(25, -1)
    turns = np.array([rotation_from_quaternion(y[3:7]).astype(float) for y in ends])
    change, R = (ends[:12] - ends[12:24]) / (2 * h), turns[24]
    turned = R.T @ (turns[:12] - turns[12:24]) / (4 * h)
    small = np.array([turned[:, i, j] - turned[:, j, i] for i, j in ((2, 1), (0, 2), (1, 0))])
    return np.concatenate([R.T @ change[:, :3].T, small, change[:, 7:].T])


def compare_with_runs(seed: int) -> None:
    from scipy.linalg import expm

    system = floating(np.random.default_rng(seed))
    dynamics = kn.compile(system)
    linear = kn.linearize(dynamics)
    spin = -linear.axes["flight"][5]
    assert spin > 0
    wanted = np.linalg.eigvals(after_a_turn(dynamics, spin))
    found = np.linalg.eigvals(expm(linear.A * 2 * math.pi / spin))
    for value in found:
        if abs(value - 1) > 1e-3:  # double ones are no better
            assert abs(wanted - value).min() < 1e-5 * max(1, abs(value)), seed


@pytest.mark.parametrize("seed", range(2))
def test_small_motions_of_a_free_rotor_are_those_of_runs(seed):
    compare_with_runs(seed)


@pytest.mark.nightly
def test_two_hundred_free_rotors_and_their_runs():
    for seed in range(100, 300):
        compare_with_runs(seed)


def test_a_body_that_wobbles_evenly_is_neutral():
    """A body of revolution that is free of forces: w_A = sqrt((C w)^2 + (A w')^2) / A in space; nothing grows."""
    system = kn.System("coin", gravity=(0, 0, 0))
    system.body("coin", mass=1, inertia=(0.1, 0.1, 0.15))
    system.free("flight", system.world, "coin", angular_velocity=(0.5, 0, 4))
    linear = kn.linearize(system)
    assert linear.stability.word == "neutral"
    assert list(linear.axes["flight"]) == pytest.approx([0, 0, 0, 0, 0, 2])
    assert max(positive(linear)) == pytest.approx(math.hypot(0.15 * 4, 0.1 * 0.5) / 0.1, rel=1e-5)  # a threefold one


# -- motions that are not steady -------------------------------------------------------------------------------------
def bead(law: str, **spin) -> kn.System:
    system = kn.System("bead", gravity=(0, 0, 0))
    disc, bead = system.body("disc", mass=1, inertia=(1, 1, 1)), system.body("bead", mass=1, inertia=(0.1, 0.1, 0.1))
    system.revolute("spin", system.world, disc, **(spin or {"u": 5}))
    system.prismatic("slide", disc, bead, axis="z", effort=law)
    return system


@pytest.mark.parametrize("field", ["u", "speed"])
def test_a_matrix_that_changes_with_a_coordinate_is_refused_by_its_name(field):
    """Mathieu's equation: what its modes are no constant matrix says."""
    system = bead("-30*(1+cos(2*spin.q))*slide.q", **{field: 5})
    with pytest.raises(kn.ArgumentError, match=r"as spin\.q goes on, the matrix changes"):
        kn.linearize(system)
    assert positive(kn.linearize(system, anywhere=True)) == pytest.approx([math.sqrt(60)])
    assert kn.linearize(system, {"spin.u": 0.0} if field == "u" else None, anywhere=True).A.shape
    assert positive(kn.linearize(bead("-30*(1+0*cos(2*spin.q))*slide.q", **{field: 5}))) == pytest.approx(
        [math.sqrt(30)]
    )


@pytest.mark.parametrize("law", ["-30*(1+cos(20*t))*slide.q", "-30*(1+cos(2*spin.q))*slide.q"])
def test_a_matrix_that_changes_with_time_is_refused(law):
    system = bead(law, motion="5*t")
    with pytest.raises(kn.ArgumentError, match=r"as time goes on, the matrix changes"):
        kn.linearize(system)


@pytest.mark.parametrize("frequency", [20.0, 1e3, 1e4])
def test_a_fast_law_of_time_is_met_at_no_period(frequency):
    """Mathieu's equation: at whole milliseconds the second one is what it is at t = 0."""
    with pytest.raises(kn.ArgumentError, match=r"as time goes on, the matrix changes"):
        kn.linearize(bead(f"-30*(1+0.5*cos(2*pi*{frequency}*t))*slide.q"))


@pytest.mark.parametrize("bump", ["max(0, cos(spin.q-2.5)-0.99)", "exp(-2000*(spin.q-1.2)^2)"])
def test_a_bump_of_a_few_degrees_is_met(bump):
    with pytest.raises(kn.ArgumentError, match=r"as spin\.q goes on, the matrix changes"):
        kn.linearize(bead(f"-30*(1+{bump})*slide.q"))


def test_a_torque_that_comes_later_is_met_though_no_matrix_changes():
    with pytest.raises(kn.ArgumentError, match=r"as spin\.q goes on, spin\.u would not stay as it is"):
        kn.linearize(bead("-30*slide.q", u=5, effort="5*step(spin.q-2)"))


def test_a_drive_may_push_what_is_linear_alone():
    """The bead x'' = -30 x - c x^3 + 3 sin(5 t)^2 leaves x = 0: small motions do not depend on that if c = 0."""
    assert positive(kn.linearize(bead("-30*slide.q+3*sin(spin.q)^2", motion="5*t"))) == pytest.approx([math.sqrt(30)])
    with pytest.raises(kn.ArgumentError, match=r"as time goes on, slide\.u would not stay as it is"):
        kn.linearize(bead("-30*slide.q-5*slide.q^3+3*sin(spin.q)^2", motion="5*t"))


def test_a_law_of_time_that_only_pushes_is_taken_at_its_time():
    assert positive(kn.linearize(bead("-30*slide.q + sin(3*t)"))) == pytest.approx([math.sqrt(30)])


def test_a_body_that_is_none_of_revolution_is_refused_where_it_turns_against_its_springs():
    system = sprung("ball")
    system.change("body", inertia=(0.1, 0.12, 0.2))
    with pytest.raises(kn.ArgumentError, match=r"as tip\.q goes on, the matrix changes"):
        kn.linearize(system)


def test_a_slow_change_beside_a_stiff_spring_is_seen():
    system = bead("-30*(1+cos(2*spin.q))*slide.q")
    block = system.body("block", mass=1)
    system.prismatic("stiff", system.world, block, axis="x", stiffness=1e9)
    with pytest.raises(kn.ArgumentError, match=r"as spin\.q goes on"):
        kn.linearize(system)


# -- planar ----------------------------------------------------------------------------------------------------------
def test_a_puck_on_a_circle():
    """A body of a planar joint that a spring draws to a center: the radius swings with sqrt(4 k / m - ...) about it.

    With a central force k r: r'' = h^2/r^3 - k r / m, so that the radius swings with 2 sqrt(k / m) = 2 w.
    """
    system = kn.System("puck", gravity=(0, 0, 0))
    puck = system.body("puck", mass=2, inertia=(0.1, 0.1, 0.1))
    system.planar("ice", system.world, puck, q=(0.5, 0, 0), u=(0, 6, 0), effort=("-288*ice.q.x", "-288*ice.q.y", 0))
    linear = kn.linearize(system)
    assert list(linear.axes["ice"]) == pytest.approx([0, 0, 12])
    assert max(positive(linear)) == pytest.approx(24, rel=1e-9)
