"""Kinetic pressures as designers use them: unbalanced rotors, two bearings, life, spectra, resonance.

Closed forms of a rotor at constant speed, whose angle a run integrates to 1e-8 and better; interpolated lines of a
spectrum are told to a part in a thousand.
"""

import math

import numpy as np
import pytest

import kinode as kn
from kinode.results.load_spectra import read_frequency
from kinode.results.shaft_loads import Bearing

W = 300.0  # rad/s
TURN = 2 * math.pi / W


def rotor(com=(0, 0, 0), gravity=(0, 0, 0), xz=0.0, speed=W, turns=20, **more):
    """A rotor of 10 kg on an axis z; ``com`` off the axis is a static unbalance, ``xz`` a couple unbalance."""
    system = kn.System("rotor", gravity=gravity)
    disk = system.body("disk", mass=10, com=com, inertia={"xx": 0.2, "yy": 0.2, "zz": 0.3, "xz": xz})
    system.revolute("shaft", system.world, disk, axis="z", speed=speed, **more)
    return kn.simulate(system, turns * TURN, samples=turns * 64 + 1)


# -- forces ----------------------------------------------------------------------------------------
def test_a_static_unbalance_loads_two_bearings_by_the_lever_rule():
    """m e w^2 at z = 0.1, between bearings at 0 and 0.4."""
    m, e = 10.0, 2e-3
    whole = m * e * W**2
    run = rotor(com=(e, 0, 0.1))
    one, two = run.bearings("shaft", at=(0, 0.4), part="kinetic")
    assert one.radial == pytest.approx(np.full(len(run), 0.75 * whole), rel=1e-12)
    assert two.radial == pytest.approx(np.full(len(run), 0.25 * whole), rel=1e-12)
    assert abs(one.axial).max() == 0.0
    pressure = run.pressure("shaft")
    assert pressure.magnitude == pytest.approx(np.full(len(run), whole), rel=1e-12)
    # The heavy side presses outward: at the angle of the shaft, and at zero in axes that turn with it.
    turned = (pressure.direction - pressure.angle + math.pi) % (2 * math.pi) - math.pi
    assert abs(turned).max() < 1e-9
    assert pressure.turning == pytest.approx(np.tile([whole, 0.0], (len(run), 1)), rel=1e-12, abs=1e-6)
    assert np.linalg.norm(pressure.mean()) < 1e-6 * whole
    assert pressure.mean(turning=True) == pytest.approx([whole, 0], abs=1e-6)
    assert "mean vector in fixed axes: none" in str(pressure)


def test_a_couple_unbalance_loads_both_bearings_with_opposite_forces():
    """J_xz w^2 over the span; no force in all."""
    J = 0.004
    run = rotor(xz=J)
    one, two = run.bearings("shaft", at=("-200 mm", "300 mm"), part="kinetic")
    assert one.radial == pytest.approx(np.full(len(run), J * W**2 / 0.5), rel=1e-12)
    assert one.force == pytest.approx(-two.force, abs=1e-9)


def test_a_balanced_rotor_has_no_kinetic_pressure():
    run = rotor(gravity=(0, -9.81, 0))
    assert run.pressure("shaft").radial_measure.peak < 1e-9
    assert run.pressure("shaft", "total").mean() == pytest.approx([0, -98.1])
    assert run.causes("shaft").shares == ()
    assert run.resonance("shaft", "50 Hz").excited is False
    assert "does not change" in str(run.resonance("shaft", "50 Hz"))


def test_bearings_in_a_redundant_loop_say_so():
    run = kn.simulate(kn.load("examples/four_bar.yaml"), 0.1, samples=3)
    for bearing in run.bearings("left", at=(0, 0.1)):
        assert not bearing.unique and "not unique" in str(bearing)


def test_a_slow_load_is_not_taken_for_a_steady_one():
    system = kn.System("swing", gravity=(0, -9.81, 0))
    rod = system.body("rod", mass=1.0, com=(1.0, 0, 0), inertia=(0.1, 0.1, 0.1))
    system.revolute("pivot", system.world, rod)
    spectrum = kn.simulate(system, 0.3, samples=101).spectrum("pivot")
    assert spectrum.lines == ()
    assert "no lines: the load changes too slowly for a run of this length" in str(spectrum)


def test_one_bearing_of_two_takes_the_axial_force():
    run = rotor(gravity=(0, 0, -9.81))
    for axial in ("first", "second"):
        pair = dict(zip(("first", "second"), run.bearings("shaft", at=(0, 0.3), axial=axial)))
        assert pair.pop(axial).axial == pytest.approx(np.full(len(run), 98.1))
        assert abs(pair.popitem()[1].axial).max() == 0.0
    with pytest.raises(kn.ArgumentError, match=r"axial: .* first or second, not 'both'"):
        run.bearings("shaft", at=(0, 0.3), axial="both")


def test_joints_that_are_no_shafts_are_refused():
    system = kn.System("slide")
    system.prismatic("rail", system.world, system.body("block", mass=1), axis="x")
    run = kn.simulate(system, 0.1)
    for ask in (lambda: run.pressure("rail"), lambda: run.bearings("rail", at=(0, 1))):
        with pytest.raises(
            kn.ArgumentError, match="rail is prismatic; two bearings make a revolute or cylindrical joint"
        ):
            ask()


# -- life ------------------------------------------------------------------------------------------
def bearing(radial, axial=0.0, speed=100.0, t=None):
    t = np.linspace(0.0, 2.0, 2001) if t is None else t
    radial, axial, speed = (np.broadcast_to(np.asarray(x, dtype=float), t.shape) for x in (radial, axial, speed))
    force = np.column_stack([radial, 0 * t, axial])
    return Bearing(0.0, force, radial, axial, "disk", "shaft.parent", t, speed)


@pytest.mark.parametrize(("kind", "p"), [("ball", 3.0), ("roller", 10 / 3)])
def test_the_life_at_constant_load(kind, p):
    life = bearing(500.0).life("12 kN", kind)
    assert life.load == pytest.approx(500.0)
    assert life.revolutions == pytest.approx(1e6 * (12000 / 500) ** p)
    assert life.hours == pytest.approx(life.revolutions / (100.0 / (2 * math.pi)) / 3600)
    assert f"p = {p:.3g}" in str(life)


def test_the_mean_load_counts_by_turns():
    """Half of the time 1000 N at 100 rad/s, half 2000 N at 300 rad/s: a quarter of the turns and three quarters."""
    t = np.concatenate([np.linspace(0, 1, 101), np.linspace(1, 2, 101) + 1e-12])
    late = np.arange(202) > 100
    life = bearing(np.where(late, 2000.0, 1000.0), speed=np.where(late, -300.0, 100.0), t=t).life(2e4)
    assert life.load == pytest.approx((0.25 * 1000**3 + 0.75 * 2000**3) ** (1 / 3), rel=1e-9)
    assert life.speed == pytest.approx(200.0)


def test_axial_loads_count_by_the_factors_of_the_catalog():
    one = bearing(1000.0, axial=-600.0)
    assert one.equivalent(X=0.56, Y=1.8, e=0.24) == pytest.approx(np.full(2001, 0.56 * 1000 + 1.8 * 600))
    assert one.equivalent(X=0.56, Y=1.8, e=0.7) == pytest.approx(np.full(2001, 1000.0))
    with pytest.raises(kn.ArgumentError, match="takes 600 N axially: factors are needed"):
        one.life(2e4)
    with pytest.raises(kn.ArgumentError, match="Y: a number that is not negative"):
        one.equivalent(X=1, Y=-1)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"C": 0}, "C: a force greater than zero"),
        ({"C": "much"}, "C: a force is expected, such as '25 kN'"),
        ({"C": 1e4, "kind": "needle"}, "kind: ball or roller, not 'needle'"),
    ],
)
def test_what_is_no_bearing_is_refused(given, message):
    with pytest.raises(kn.ArgumentError, match=message):
        bearing(500.0).life(**given)
    with pytest.raises(kn.UnitError, match="a force is needed"):
        bearing(500.0).life("25 kg")


def test_a_shaft_that_stands_has_no_rated_life():
    with pytest.raises(kn.ArgumentError, match=r"does not turn; .* static rating"):
        bearing(500.0, speed=0.0).life(1e4)
    assert math.isinf(bearing(0.0).life(1e4).hours)


# -- spectra ---------------------------------------------------------------------------------------
def test_an_unbalanced_rotor_has_one_line_in_fixed_axes_and_none_in_turning_ones():
    m, e = 10.0, 1e-3
    run = rotor(com=(e, 0, 0), gravity=(0, -9.81, 0))
    once = m * e * W**2
    for over in ("time", "turns"):
        (line,) = run.spectrum("shaft", over=over).lines
        assert line.amplitude == pytest.approx(once, rel=1e-3)
        assert line.frequency == pytest.approx(W / (2 * math.pi), rel=1e-3)
        assert line.order == pytest.approx(1.0, rel=1e-3)
    assert run.spectrum("shaft", expressed_in="disk").lines == ()
    # The other way about for the weight: still in fixed axes, once a turn for the shaft.
    static = run.spectrum("shaft", "static")
    assert static.lines == () and static.mean == pytest.approx([0, 98.1, 0])
    (line,) = run.spectrum("shaft", "static", expressed_in="disk").lines
    assert line.amplitude == pytest.approx(98.1, rel=1e-3)


def test_lines_between_the_steps_of_a_spectrum_are_found():
    """A slide that shakes with two frequencies, neither a whole number of cycles; steps chosen by the integrator."""
    a, b = 2 * math.pi * 7.3, 2 * math.pi * 11.9
    system = kn.System("shaker", gravity=(0, 0, 0))
    table = system.body("table", mass=2)
    system.prismatic("guide", system.world, table, axis="z", motion=f"0.01*sin({a}*t) + 0.002*cos({b}*t)")
    system.fixed("mount", table, system.body("device", mass=0.5))
    run = kn.simulate(system, 3.0, times=np.linspace(0.4, math.sqrt(3.0), 1500) ** 2)
    one, two = run.spectrum("mount").lines
    assert (one.frequency, two.frequency) == (pytest.approx(7.3, rel=1e-3), pytest.approx(11.9, rel=1e-3))
    assert (one.amplitude, two.amplitude) == (
        pytest.approx(0.5 * 0.01 * a**2, rel=5e-3), pytest.approx(0.5 * 0.002 * b**2, rel=5e-3)
    )  # fmt: skip
    assert one.order is None


def test_runs_that_tell_too_little_are_refused():
    system = kn.System("rotor", gravity=(0, 0, 0))
    system.revolute("shaft", system.world, system.body("disk", mass=1, com=(0.01, 0, 0)), axis="z", speed=W)
    with pytest.raises(kn.ArgumentError, match="too few times to tell the load of shaft between them"):
        kn.simulate(system, 1.0, samples=61).spectrum("shaft")
    with pytest.raises(kn.ArgumentError, match="keeps 5 times"):
        kn.simulate(system, 1.0, samples=5).spectrum("shaft")
    run = kn.simulate(system, 0.5 * TURN, samples=101)
    with pytest.raises(kn.ArgumentError, match=r"shaft makes 0\.5 of a turn"):
        run.spectrum("shaft", over="turns")
    with pytest.raises(kn.ArgumentError, match="over: time or turns"):
        run.spectrum("shaft", over="angle")
    with pytest.raises(kn.ArgumentError, match=r"tells little of 1 Hz; simulate 8 s"):
        rotor(com=(1e-3, 0, 0)).resonance("shaft", "1 Hz")


# -- resonance -------------------------------------------------------------------------------------
def test_resonance_margins():
    run = rotor(com=(1e-3, 0, 0))
    line = W / (2 * math.pi)
    near, far = run.resonance("shaft", f"{line / 1.1} Hz"), run.resonance("shaft", f"{W / 0.5} rad/s")
    assert near.excited and near.margin == pytest.approx(0.1, abs=1e-3)
    assert not far.excited and far.margin == pytest.approx(-0.5, abs=1e-3)
    assert not run.resonance("shaft", f"{line / 1.1} Hz", within=0.05).excited
    assert "EXCITED" in str(near) and "10.0 % above" in str(near)
    assert near.nearest.amplitude == pytest.approx(10 * 1e-3 * W**2, rel=1e-3)


def test_a_shaft_that_runs_up_passes_through_its_orders():
    """From 100 to 300 rad/s: order 1 runs through 25 Hz, and 60 Hz is a quarter above all of it."""
    run = rotor(com=(1e-3, 0, 0), speed="100 + 400*t", turns=24)
    assert run["shaft.u"][-1] == pytest.approx(301, abs=1)
    through, above = run.resonance("shaft", "25 Hz"), run.resonance("shaft", "60 Hz")
    assert through.margin == 0.0 and through.excited and "on it" in str(through)
    assert through.nearest.order == pytest.approx(1.0, abs=0.2)
    assert above.margin < 0


@pytest.mark.parametrize(
    ("text", "hertz"),
    [("50 Hz", 50), ("3000 rpm", 50), ("314.159265358979 rad/s", 50), ("1 kHz", 1000), ("50 rev/s", 50)],
)
def test_frequencies_are_read_with_their_unit(text, hertz):
    assert read_frequency(text) == pytest.approx(hertz)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (50, "say the unit"),
        ("50", "say the unit"),
        ("50 1/s", "cycles or radians"),
        ("50 deg/s/rad", "cycles or radians"),
        ("0 Hz", "above zero"),
        ("5 m", "a length"),
    ],
)
def test_frequencies_without_a_meaning_are_refused(value, message):
    with pytest.raises(kn.Error, match=message):
        read_frequency(value)
