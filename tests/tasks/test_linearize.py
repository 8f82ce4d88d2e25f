"""Small motions and states of rest: closed forms, differences of the compiled rate, and runs."""

from __future__ import annotations

import math

import numpy as np
import pytest

import kinode as kn

G = 9.81


def imaginary(found) -> list[float]:
    """Frequencies, each pair once, zeros left out."""
    return sorted(x.imag for x in found.eigenvalues if x.imag > 1e-7)


def pendulum(damping=0.0) -> kn.System:
    system = kn.System("pendulum")
    rod = system.body("rod", mass=2.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.01))
    system.input("torque", 0.0)
    system.revolute("pivot", system.world, rod, axis="y", damping=damping, effort="torque")
    return system


def test_pendulum():
    found = kn.linearize(pendulum(damping=0.3), outputs=["rod.com.position"])
    J, k, c = 0.1 + 2 * 0.25, 2 * G * 0.5, 0.3
    np.testing.assert_allclose(found.A, [[0, 1], [-k / J, -c / J]], rtol=1e-12)
    np.testing.assert_allclose(found.B, [[0], [1 / J]], rtol=1e-12)
    np.testing.assert_allclose(found.C, [[-0.5, 0], [0, 0], [0, 0]], atol=1e-15)
    assert found.states == ("pivot.q", "pivot.u")
    assert found.outputs == ("rod.com.position.x", "rod.com.position.y", "rod.com.position.z")
    mode = found.modes[0]
    assert abs(mode.eigenvalue) == pytest.approx(math.sqrt(k / J))
    assert mode.damping == pytest.approx(c / 2 / math.sqrt(k * J))
    assert found.stable
    assert "stable" in str(found)


def test_each_output_has_the_name_of_its_row():
    system = pendulum()
    names = ["rod.com.position.x", "rod.com.velocity@rod", "pivot.q"]
    found = kn.linearize(system, outputs=names)
    across = [f"rod.com.velocity.{x}@rod" for x in "xyz"]
    assert found.outputs == ("rod.com.position.x", *across, "pivot.q")
    np.testing.assert_allclose(found.C, [[-0.5, 0], [0, -0.5], [0, 0], [0, 0], [1, 0]], atol=1e-15)
    dynamics = kn.compile(system)
    assert [dynamics.evaluate(name, 0.0, [0.0], [0.0])[name].shape for name in found.outputs] == [()] * 5


def test_names_of_joints_in_subsystems_may_begin_with_any_letter():
    """The coordinate, the speed and the effort of ``arm.upper`` differ by their last word alone."""
    system = kn.System("arm")
    rod = system.body("rod", mass=2.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.01))
    system.revolute("arm.upper", system.world, rod, axis="y")
    linear = kn.linearize(system)
    assert linear.states == ("arm.upper.q", "arm.upper.u")
    assert linear.modes[0].largest() == ["arm.upper.q"]
    assert list(kn.equilibrium(system, hold="arm.upper").holding) == ["arm.upper.effort"]


def test_double_pendulum_of_equal_points():
    """Two equal masses on equal threads: w^2 = (2 -+ sqrt 2) g / l."""
    system = kn.System("double")
    tiny = (1e-12, 1e-12, 1e-12)
    upper = system.body("upper", mass=1.0, com=(0, 0, -1), inertia=tiny)
    lower = system.body("lower", mass=1.0, com=(0, 0, -1), inertia=tiny)
    system.revolute("one", system.world, upper, axis="y")
    system.revolute("two", upper.at(0, 0, -1), lower, axis="y")
    found = kn.linearize(system)
    wanted = [math.sqrt((2 - math.sqrt(2)) * G), math.sqrt((2 + math.sqrt(2)) * G)]
    np.testing.assert_allclose(imaginary(found), wanted, rtol=1e-9)
    slow = min((mode for mode in found.modes if mode.eigenvalue.imag > 0), key=lambda mode: mode.frequency)
    # in absolute angles the slow mode is 1 : sqrt 2
    assert (slow.shape["two.q"] / slow.shape["one.q"]).real == pytest.approx(math.sqrt(2) - 1, rel=1e-8)


def test_inverted_cart_pole_falls():
    system = kn.System("cart_pole")
    cart, pole = (
        system.body("cart", mass=1.0),
        system.body("pole", mass=0.1, com=(0, 0, 0.5), inertia=(1e-9, 1e-9, 1e-9)),
    )
    system.prismatic("rail", system.world, cart, axis="x")
    system.revolute("hinge", cart, pole, axis="y")
    found = kn.linearize(system)
    assert not found.stable
    assert found.eigenvalues[0].real == pytest.approx(math.sqrt((1.1 / 1.0) * G / 0.5), rel=1e-6)


def top(spin: float, *, quaternion: bool) -> kn.System:
    """A heavy symmetric top that sleeps upright."""
    system = kn.System("top")
    if quaternion:
        body = system.body("body", mass=1.0, com=(0, 0, 0.3), inertia=(0.2, 0.2, 0.1))
        system.spherical("tip", system.world, body, u=(0, 0, spin))
        return system
    rings = [system.body(name) for name in ("outer", "inner")]
    body = system.body("body", mass=1.0, com=(0, 0, 0.3), inertia=(0.2, 0.2, 0.1))
    system.revolute("roll", system.world, rings[0], axis="x")
    system.revolute("pitch", rings[0], rings[1], axis="y")
    system.revolute("spin", rings[1], body, axis="z", u=spin)
    return system


@pytest.mark.parametrize("quaternion", [False, True])
def test_sleeping_top(quaternion):
    """Stable if C^2 w^2 > 4 A m g l; precession and nutation (C w -+ sqrt(C^2 w^2 - 4 A m g l)) / 2 A."""
    A, C, weight = 0.2 + 0.09, 0.1, 1.0 * G * 0.3
    critical = math.sqrt(4 * A * weight) / C
    assert not kn.linearize(top(0.98 * critical, quaternion=quaternion)).stable
    spin = 1.5 * critical
    found = kn.linearize(top(spin, quaternion=quaternion))
    assert found.stable
    root = math.sqrt((C * spin) ** 2 - 4 * A * weight)
    rates = [(C * spin - root) / (2 * A), (C * spin + root) / (2 * A)]
    if quaternion:  # small turns about axes that turn with the body
        rates = [abs(spin - rate) for rate in rates]
    np.testing.assert_allclose(imaginary(found), sorted(rates), rtol=1e-9)


def test_nutation_of_a_free_spinning_body():
    """The axis nutates at C w / A seen from space, (C - A) w / A seen from the body."""
    system = kn.System("body", gravity=(0, 0, 0))
    body = system.body("body", mass=1.0, inertia=(2.0, 2.0, 0.5))
    system.free("flight", system.world, body, u=(0, 0, 0, 0, 0, 12.0))
    found = kn.linearize(system)
    assert found.stable
    assert any(abs(x - 12.0 * (2.0 - 0.5) / 2.0) < 1e-9 for x in imaginary(found))


def differences(dynamics, state, inputs) -> np.ndarray:
    step, columns = 1e-6, []
    for k in range(len(state.y)):
        e = np.zeros(len(state.y))
        e[k] = step
        ahead, behind = (dynamics.rate(state.t, state.y + s * e, inputs=inputs) for s in (1, -1))
        columns.append((ahead - behind) / (2 * step))
    return np.array(columns).T


def test_against_differences_of_the_rate():
    system = kn.load("examples/cart_pole.yaml")
    dynamics = kn.compile(system)
    state = dynamics.state({"hinge.q": 0.4, "hinge.u": 1.3})
    found = kn.linearize(dynamics, state, anywhere=True)
    np.testing.assert_allclose(found.A, differences(dynamics, state, None), atol=1e-7)


def four_bar() -> kn.System:
    return kn.load("examples/four_bar.yaml")


def test_loop_swings_at_the_frequency_of_its_linearization():
    rest = kn.equilibrium(four_bar())
    assert rest.stable
    (w,) = imaginary(kn.linearize(four_bar(), rest))
    start = dict(rest.values)
    start["left.q"] += 1e-4
    run = kn.simulate(
        four_bar(), 4 * math.pi / w, start={"left.q": start["left.q"], "left.u": 0.0}, samples=4001, rtol=1e-10
    )
    swing = run["left.q"] - rest.values["left.q"]
    assert abs(swing).max() < 1.2e-4
    crossings = run.t[:-1][np.diff(np.sign(swing)) != 0]
    assert np.diff(crossings).mean() == pytest.approx(math.pi / w, rel=2e-3)


def test_the_state_has_to_be_steady():
    with pytest.raises(kn.ArgumentError, match=r"not steady: pivot\.u changes by"):
        kn.linearize(pendulum(), {"pivot.q": 1.0})
    assert kn.linearize(pendulum(), {"pivot.q": 1.0}, anywhere=True).A.shape == (2, 2)


def test_equilibrium_settles_downward_and_holds():
    rest = kn.equilibrium(pendulum(), {"pivot.q": 2.5})
    assert rest.values["pivot.q"] == pytest.approx(0, abs=1e-8)
    assert rest.stable
    upright = kn.equilibrium(pendulum(), {"pivot.q": math.pi})
    assert not upright.stable
    held = kn.equilibrium(pendulum(), {"pivot.q": 0.5}, hold="pivot")
    assert held.holding["pivot.effort"] == pytest.approx(2 * G * 0.5 * math.sin(0.5))
    assert "to hold it" in str(held)


def test_equilibrium_of_a_hanging_spring():
    system = kn.System("hanging")
    load = system.body("load", mass=3.0, inertia=(0.1, 0.1, 0.1))
    system.prismatic("guide", system.world, load, axis="z")
    system.spring("spring", load, system.world.at(0, 0, 1), stiffness=200, free_length=0.4)
    rest = kn.equilibrium(system)
    assert 1 - rest.values["guide.q"] - 0.4 == pytest.approx(3 * G / 200)


def test_what_falls_has_no_state_of_rest():
    system = kn.System("ball")
    ball = system.body("ball", mass=1, inertia=(1, 1, 1))
    system.free("flight", system.world, ball)
    with pytest.raises(kn.ModelError, match="flight: nothing balances it"):
        kn.equilibrium(system)


def test_what_is_driven_does_not_rest():
    system = pendulum()
    system.change("pivot", speed=2.0, effort=None)
    with pytest.raises(kn.ModelError, match="driven at a speed"):
        kn.equilibrium(system)


def test_hold_names_what_can_be_held():
    with pytest.raises(kn.ArgumentError, match="hold: 'elbow' is no joint that moves by itself; these are: pivot"):
        kn.equilibrium(pendulum(), hold=["elbow"])


@pytest.mark.parametrize("joint", ["left", "right", "pin"])
def test_who_holds_a_loop_holds_all_of_it(joint):
    """Against the drive that keeps the joint where it is, at rest."""
    system = kn.load("examples/four_bar.yaml")
    held = kn.equilibrium(system, hold=joint)
    start = kn.assemble(system)
    for name in ("left", "right", "pin", "top"):
        system.change(name, q=None, guess=start[f"{name}.q"])
    system.change(joint, guess=None, motion=float(start[f"{joint}.q"]))
    driven = kn.simulate(system, 0.001)[f"{joint}.effort.drive"][0]
    assert held.holding[f"{joint}.effort"] == pytest.approx(driven, rel=1e-9)


def test_no_more_can_be_held_than_the_loops_leave():
    with pytest.raises(kn.ArgumentError, match="hold: pin has no freedom to hold: the loops leave none beside left"):
        kn.equilibrium(kn.load("examples/four_bar.yaml"), hold=["left", "pin"])


def test_a_parallelogram_comes_to_rest_beyond_its_flat_position():
    system = kn.System("parallelogram", gravity=(0, -G, 0))
    one, bar, two = (
        system.body(name, mass=1, com=(length / 2, 0, 0), inertia={"zz": length**2 / 12})
        for name, length in (("one", 0.3), ("bar", 0.5), ("two", 0.3))
    )
    system.revolute("left", system.world, one, q=1.0)
    system.revolute("right", system.world.at(0.5, 0, 0), two, guess=1)
    system.revolute("pin", one.at(0.3, 0, 0), bar, guess=-1)
    system.revolute("top", bar.at(0.5, 0, 0), two.at(0.3, 0, 0), guess=1)
    rest = kn.equilibrium(system)
    assert rest.values["left.q"] == pytest.approx(-math.pi / 2)
    J = 2 * (0.3**2 / 12 + 0.15**2) + 0.3**2  # of both cranks about their pins, and of the bar, which does not turn
    assert imaginary(rest.small) == pytest.approx([math.sqrt(G * (2 * 0.15 + 0.3) / J)])


def spinner(spin: float) -> kn.System:
    """A free body spinning about x with a member inside that moves across it on springs and dampers (T-8.15)."""
    system = kn.System("spinner", gravity=(0, 0, 0))
    shell = system.body("shell", mass=40, inertia=(0.5, 2.0, 2.0))
    carrier, member = system.body("carrier"), system.body("member", mass=2, inertia=(4e-3, 4e-3, 4e-3))
    system.free("flight", system.world, shell, u=(0, 0, 0, spin, 0, 0))
    system.prismatic("across", shell.at(0.15, 0, 0), carrier, axis="y", stiffness=5000, damping=2.0)
    system.prismatic("up", carrier, member, axis="z", stiffness=5000, damping=2.0)
    return system


def test_a_loose_member_makes_a_spinner_unstable_above_its_resonance():
    """Damping that turns with the body drives what spins faster than the member swings; a run grows at that rate."""
    resonance = math.sqrt(5000 * (1 / 2 + 1 / 40))
    below, above = (kn.linearize(spinner(share * resonance)).eigenvalues[0].real for share in (0.9, 1.8))
    assert below < 1e-3
    assert above > 0.3
    run = kn.simulate(spinner(1.8 * resonance), 12.0, start={"across.q": 1e-6}, samples=12001, rtol=1e-11, atol=1e-16)
    size = np.hypot(run["across.q"], run["up.q"])
    late = run.t > 6.0  # what dies away is gone
    assert np.polyfit(run.t[late], np.log(size[late]), 1)[0] == pytest.approx(above, rel=5e-3)


# -- modes -------------------------------------------------------------------------------------------------
def rectifier() -> kn.System:
    system = kn.System("rectifier")
    system.voltage_source("supply", "bus", "gnd", voltage=12)
    system.diode("diode", "bus", "out", drop=0.7, on_resistance=0.1)
    system.capacitor("tank", "out", "gnd", capacitance=1e-3)
    system.resistor("load", "out", "gnd", resistance=6)
    return system


def test_modes_fit_the_state_of_rest():
    """The diode conducts: 11.3 V are divided by 0.1 and 6 Ohm."""
    rest = kn.equilibrium(rectifier())
    assert rest.values["diode.mode"] == 1 and rest.values["tank.voltage"] == pytest.approx(11.3 * 6 / 6.1, rel=1e-9)
    small = kn.linearize(rectifier(), {"tank.voltage": 5.0}, anywhere=True)
    assert small.A[0, 0] == pytest.approx(-(1 / 0.1 + 1 / 6) / 1e-3)


def test_a_switch_that_finds_no_rest_is_named():
    system = rectifier()
    system.switch("regulator", "bus", "out", command="5 - tank.voltage")
    system.change("diode", drop=20)
    with pytest.raises(kn.ModelError, match="regulator: changes its mode again and again"):
        kn.equilibrium(system)


def bumped(**stop) -> kn.System:
    system = kn.System("bumped", gravity=(0, -G, 0))
    body = system.body("rod", mass=1.0, com=(0.5, 0, 0), inertia={"zz": 0.1})
    system.revolute("pin", system.world, body, damping=0.5, stop={"lower": -0.5, **stop})
    return system


def test_what_rests_on_a_stop():
    found = kn.equilibrium(bumped(stiffness=1000)).values["pin.q"]
    assert 1000 * (-0.5 - found) == pytest.approx(0.5 * G * math.cos(found), rel=1e-9)
    with pytest.raises(kn.ModelError, match=r"pin: would rest at -1.5708, beyond its rigid end at -0.5"):
        kn.equilibrium(bumped(restitution=0.3))
    held = kn.equilibrium(bumped(restitution=0.3), {"pin.q": -0.5}, hold="pin")
    assert held.holding["pin.effort"] == pytest.approx(0.5 * G * math.cos(0.5))


def test_a_shaft_that_sticks_rests_anywhere():
    system = kn.System("s")
    system.shaft_inertia("wheel", "shaft", inertia=0.1, initial_angle=1.0)
    system.shaft_friction("bearing", "shaft", coulomb=0.4)
    system.shaft_spring("spring", "shaft", stiffness=2)
    with pytest.raises(kn.ModelError, match="bearing: sticks, and may rest in many places"):
        kn.equilibrium(system)
