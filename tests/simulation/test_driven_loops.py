"""Drives in loops: declared last, geared, too many of them; exact values of joints that are cut."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinode as kn

JOINTS = ("j1", "j2", "j3", "j4")
LAW = "0.8 + sin(t)"


def parallelogram(**fields):
    """Cranks of 0.2 on a base of 0.5: both turn alike, and the coupler does not."""
    system = kn.System("parallelogram", gravity=(0, -9.81, 0))
    a, b, c = (system.body(name, mass=1, com=(0.1, 0, 0), inertia=(0.01, 0.02, 0.02)) for name in "abc")
    system.revolute("j1", system.world, a, **fields.get("j1", {}))
    system.revolute("j2", a.at(0.2, 0, 0), b, **fields.get("j2", {}))
    system.revolute("j3", b.at(0.5, 0, 0), c.at(0.2, 0, 0), **fields.get("j3", {}))
    system.revolute("j4", system.world.at(0.5, 0, 0), c, **fields.get("j4", {}))
    return system


@pytest.mark.parametrize("drive", [{"motion": LAW}, {"speed": "cos(t)", "q": 0.8}], ids=["motion", "speed"])
def test_a_drive_is_kept_wherever_it_is_declared(drive):
    """Dampers in the other three joints, which the tree would keep too, do not push it out."""
    others = {name: {"damping": 0.1, "guess": g} for name, g in (("j1", 0.8), ("j2", -0.8), ("j3", 0.8))}
    run = kn.simulate(parallelogram(**others, j4=drive), 0.5, samples=6)
    assert run["j4.q"] == pytest.approx(0.8 + np.sin(run.t), abs=1e-10)
    assert run["j1.u"] == pytest.approx(np.cos(run.t), abs=1e-9)
    assert run["b.angular_velocity.z"] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("start", [{"q": 0.7}, {"guess": 0.7}], ids=str)
def test_a_prescribed_speed_starts_where_it_is_asked_to(start):
    found = kn.assemble(parallelogram(j1={"speed": "2", **start}, j4={"guess": 0.6}))
    assert [found[f"{name}.q"] for name in JOINTS] == pytest.approx([0.7, -0.7, 0.7, 0.7], abs=1e-11)
    assert [found[f"{name}.u"] for name in JOINTS] == pytest.approx([2, -2, 2, 2], abs=1e-10)


def test_a_loop_of_drives_alone_is_refused():
    with pytest.raises(kn.ModelError, match=r"j4\.motion: .*all driven \(j1, j2, j3\)"):
        kn.compile(parallelogram(**{name: {"motion": LAW} for name in JOINTS}))


def test_drives_that_do_not_fit_are_told_when_they_tear():
    """Both cranks driven alike is a motion; with other laws the coupler is torn as soon as they differ."""
    alike = kn.simulate(parallelogram(j1={"motion": LAW}, j4={"motion": LAW}), 0.5, samples=6)
    assert alike["j3.u"] == pytest.approx(np.cos(alike.t), abs=1e-9)
    with pytest.raises(kn.AssemblyError, match=r"drives.* tear j3 apart.* do not fit"):
        kn.compile(parallelogram(j1={"motion": "0.8 + t"}, j4={"motion": "0.8 + 2*t"})).state()
    with pytest.raises(kn.SimulationError, match=r"at t = 0\.3 s the drives tear j3 apart") as error:
        later = "0.8 + where(t > 0.25, (t - 0.25)^2, 0)"
        kn.simulate(parallelogram(j1={"motion": "0.8 + 0*t"}, j4={"motion": later}), 0.5, samples=6)
    assert error.value.run.t == pytest.approx([0.0, 0.1, 0.2])


@settings(max_examples=5, deadline=None)
@given(st.permutations(JOINTS), st.floats(0.2, 1.2), st.sampled_from(JOINTS), st.floats(-2, 2))
def test_the_start_is_the_same_in_any_order_of_joints(order, angle, moved, speed):
    """A four-bar of 0.2, 0.6, 0.4 on 0.5: its angles follow from the crank's by the law of cosines."""
    system = kn.System("four_bar", gravity=(0, -9.81, 0))
    a, b, c = (system.body(name, mass=1, com=(0.1, 0, 0), inertia=(0.01, 0.02, 0.02)) for name in "abc")
    sides = {
        "j1": (system.world, a),
        "j2": (a.at(0.2, 0, 0), b),
        "j3": (b.at(0.6, 0, 0), c.at(0.4, 0, 0)),
        "j4": (system.world.at(0.5, 0, 0), c),
    }
    fields = {name: {} for name in JOINTS}
    fields["j1"] |= {"q": angle}
    fields["j4"] |= {"guess": 1.0}
    fields[moved] |= {"u": speed}
    for name in order:
        system.revolute(name, *sides[name], **fields[name])
    found = kn.assemble(system)
    gap = 0.5 - 0.2 * np.exp(1j * angle)
    up = np.angle(gap) + np.arccos((abs(gap) ** 2 + 0.36 - 0.16) / (1.2 * abs(gap)))
    q4 = np.angle(0.2 * np.exp(1j * angle) + 0.6 * np.exp(1j * up) - 0.5)
    assert [found[f"{name}.q"] for name in JOINTS] == pytest.approx([angle, up - angle, q4 - up, q4], abs=1e-10)
    assert found[f"{moved}.u"] == pytest.approx(speed, abs=1e-9)


@pytest.mark.parametrize("cut", ["ball", "float"])
def test_a_ball_with_an_exact_orientation_may_be_the_one_that_is_cut(cut):
    """A plate in a ball at the tip of an arm, also told by a free joint, which gives its place in the world."""
    system = kn.System("hung", gravity=(0, 0, -9.81))
    arm = system.body("arm", mass=1, inertia=(0.1, 0.2, 0.3))
    plate = system.body("plate", mass=1, inertia=(0.1, 0.2, 0.3))
    quaternion = np.array([0.9, 0.3, -0.2, 0.1]) / np.linalg.norm([0.9, 0.3, -0.2, 0.1])
    kept = {"damping": (0.0,) * 6} if cut == "ball" else {}  # the tree keeps a joint with a law
    system.spherical("ball", arm.at(0, 0, 0.5), plate.at(0.1, 0, 0), q=quaternion)
    system.free("float", system.world, plate, **kept)
    system.revolute("pivot", system.world, arm, axis="x", q=0.4)
    assert kn.compile(system).topology.cut_names == (cut,)
    found = kn.assemble(system)
    assert [found[f"ball.q.q{part}"] for part in "wxyz"] == pytest.approx(quaternion, abs=1e-12)
    assert found["pivot.q"] == 0.4
    tip = np.array([0, -0.5 * np.sin(0.4), 0.5 * np.cos(0.4)])  # of the arm
    w, v = quaternion[0], quaternion[1:]
    turned = np.array([0.1, 0, 0]) + 2 * np.cross(v, np.cross(v, [0.1, 0, 0]) + w * np.array([0.1, 0, 0]))
    turned = np.array([[1, 0, 0], [0, np.cos(0.4), -np.sin(0.4)], [0, np.sin(0.4), np.cos(0.4)]]) @ turned
    assert [found[f"float.q.{part}"] for part in "xyz"] == pytest.approx(tip - turned, abs=1e-11)


@pytest.mark.parametrize("drive", [{"motion": "2*t"}, {"speed": "2", "q": 0.0}], ids=["motion", "speed"])
def test_a_gear_between_a_drive_and_a_joint_of_a_loop(drive):
    """A motor turns the crank of the parallelogram through a gear of ratio 4, whichever joint of the loop that is."""
    for name, sign in (("j1", 1.0), ("j3", 1.0), ("j2", -1.0)):
        system = parallelogram(j1={"guess": 0.8}, j2={"guess": -0.8}, j3={"guess": 0.8}, j4={"guess": 0.8})
        motor = system.body("motor", mass=0.1, inertia=(1e-4, 1e-4, 1e-4))
        system.revolute("shaft", system.world.at(0, 1, 0), motor, **drive)
        system.constraint("gear", "gear", input=name, output="shaft", ratio=sign * 0.25, offset=sign * 0.8)
        run = kn.simulate(system, 0.5, samples=6)
        assert run["j4.q"] == pytest.approx(0.8 + 0.5 * run.t, abs=1e-9)
        assert run["b.angular_velocity.z"] == pytest.approx(0.0, abs=1e-9)


def test_a_rack_whose_slide_closes_a_loop():
    """A slider-crank: the rack on the piston turns a pinion by its travel over the radius."""
    system = kn.System("engine", gravity=(0, 0, 0))
    crank, rod, piston, wheel = (
        system.body(name, mass=1, inertia=(0.01, 0.01, 0.01)) for name in ("crank", "rod", "piston", "wheel")
    )
    system.revolute("main", system.world, crank, motion="0.5 + t")
    system.revolute("crankpin", crank, rod, at=(0.03, 0, 0), guess=-0.6)
    system.revolute("wristpin", rod, piston, at=(0.13, 0, 0))
    system.prismatic("bore", system.world, piston, at=(0.13, 0, 0), axis="x")
    system.revolute("pinion", system.world.at(0, 1, 0), wheel)
    system.constraint("teeth", "rack", rack="bore", pinion="pinion", radius=0.02)
    run = kn.simulate(system, 1.0, samples=6)
    angle = 0.5 + run.t
    travel = 0.03 * np.cos(angle) + np.sqrt(0.01 - (0.03 * np.sin(angle)) ** 2) - 0.13
    assert run["bore.q"] == pytest.approx(travel, abs=1e-10)
    assert run["pinion.q"] == pytest.approx(travel / 0.02, abs=1e-8)


def test_a_massless_rod_moves_as_a_distance_does():
    system = kn.load("examples/four_bar.yaml")
    system.change("coupler", mass=0, com=(0, 0, 0), inertia=(0, 0, 0))
    rod = kn.simulate(system, 1.0, samples=6)
    other = kn.System("distance", gravity=(0, -9.81, 0))
    crank = other.body("crank", mass=1, com=(0.1, 0, 0), inertia=(0.01, 0.02, 0.02))
    rocker = other.body("rocker", mass=1.5, com=(0.2, 0, 0), inertia=(0.01, 0.03, 0.03))
    other.revolute("left", other.world, crank, q="50 deg")
    other.revolute("right", other.world.at(0.5, 0, 0), rocker, guess="70 deg")
    other.constraint("rod", "distance", a=crank.at(0.2, 0, 0), b=rocker.at(0.4, 0, 0), distance=0.6)
    distance = kn.simulate(other, 1.0, samples=6)
    for name in ("left.q", "right.q"):
        assert rod[name] == pytest.approx(distance[name], abs=1e-7)
    assert np.ptp(rod["left.q"]) > 0.5
