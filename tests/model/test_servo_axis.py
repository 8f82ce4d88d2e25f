"""Ready axes: what they hold still, how fast they follow, what they are made of."""

from __future__ import annotations

import numpy as np
import pytest

import kinode as kn
from kinode.formats.yaml_files import dumps, loads
from kinode.model.servo_axis import SIZES

G, MASS, REACH = 9.81, 5.0, 0.4


def arm(axis: kn.System, **more) -> kn.System:
    system = kn.System("arm", gravity=(0, -G, 0))
    body = system.body("arm", mass=MASS, com=(REACH, 0, 0), inertia={"zz": 0.3})
    system.revolute("elbow", system.world, body)
    system.voltage_source("supply", "bus", "gnd", voltage="48 V")
    system.add("drive", axis, connect={"supply": "bus", "output": "elbow"}, **more)
    return system


def settle(system: kn.System) -> kn.Trajectory:
    return kn.simulate(system, 3.0, rtol=1e-9, atol=1e-9)


def test_an_axis_holds_an_arm_by_the_current_that_its_weight_asks_for():
    system = arm(kn.axis("medium", ratio=80), parameters={"coulomb": 0}, bind={"target": "0.5"})
    run = settle(system)
    assert run["elbow.q"][-1] == pytest.approx(0.5, abs=1e-6)  # by the integral of the speed loop
    moment = MASS * G * REACH * np.cos(0.5)
    assert run["drive.motor.current"][-1] == pytest.approx(moment / (80 * 0.1), rel=1e-5)
    # all that comes from the supply is lost in the winding
    assert -run["supply.power"][-1] == pytest.approx(0.3 * (moment / 8) ** 2, rel=1e-4)


def test_an_elastic_gear_twists_by_the_moment_it_carries():
    gear = {"stiffness": "2000 N*m/rad", "damping": "20 N*m*s/rad", "efficiency": 0.8}
    system = arm(kn.axis("medium", bandwidth="20 1/s", **gear))
    run = settle(system)
    assert run["elbow.q"][-1] == pytest.approx(0.0, abs=1e-5)  # the position is that of the joint, not of the motor
    assert run["drive.gear.twist"][-1] == pytest.approx(MASS * G * REACH / 2000, rel=1e-4)
    assert run["drive.rotor.angle"][-1] == pytest.approx(100 * MASS * G * REACH / 2000, rel=1e-4)


def test_a_screw_lifts_a_slide():
    system = kn.System("lift")
    system.prismatic("guide", system.world, system.body("table", mass=20), axis="z")
    system.voltage_source("supply", "bus", "gnd", voltage="48 V")
    lift = kn.axis("small", lead="10 mm", ratio=3, load="20 kg", coulomb=0)
    system.add("drive", lift, connect={"supply": "bus", "output": "guide"}, bind={"target": "30 mm"})
    run = settle(system)
    assert run["guide.q"][-1] == pytest.approx(0.03, abs=1e-8)
    assert run["drive.motor.current"][-1] == pytest.approx(20 * G * 0.01 / (2 * np.pi * 3 * 0.06), rel=1e-5)


def test_the_loops_are_as_fast_as_they_are_said_to_be():
    """Without weight and drag the axis is linear; by the gains its characteristic polynomial is written out here."""
    system = kn.System("wheel")
    system.revolute("elbow", system.world, system.body("wheel", mass=1, inertia=(1, 1, 2)))
    system.voltage_source("supply", "bus", "gnd", voltage="48 V")
    bare = {"coulomb": 0, "viscous": 0}
    system.add("drive", kn.axis("medium", load=2, **bare), connect={"supply": "bus", "output": "elbow"})
    w, k, L, R, n = 20.0, 0.1, 0.3e-3, 0.3, 100
    J = 5e-5 + 2 / n**2
    w_s, w_c = 4 * w, 32 * w
    # s^2 J = k i;  L s i + R i = (L w_c + R w_c/s)(i_wanted - i): i = i_wanted w_c/(s + w_c);  i_wanted = PI of speed
    P, I = J * w_s / k, J * w_s / k * w_s / 4
    polynomial = np.polyadd(np.polymul([J, 0, 0, 0], [1, w_c]), k * w_c * np.polymul([P, I], [1, w]))
    expected = np.append(np.roots(polynomial), -R / L)  # the zero of the current loop cancels the winding
    found = np.linalg.eigvals(kn.linearize(system).A)
    assert np.sort_complex(found) == pytest.approx(np.sort_complex(expected), rel=1e-6)
    assert max(expected.real) < -0.5 * w


def test_an_axis_is_a_system_like_any_other():
    axis = kn.axis("large", name="joint_drive")
    assert axis.name == "joint_drive" and set(axis.inputs) == {"target", "target_speed"}
    axis.check(whole=False)
    with pytest.raises(kn.ModelError, match=r"amplifier\.plus: is left open"):
        axis.check()
    system = arm(axis, parameters={"ratio": 50})
    system.check()
    assert loads(dumps(system)) == system
    gain = (1.5e-4 + 5 / 50**2) * 80 / 0.12  # tuned for the ratio that it has now
    assert system.parameter_values()["drive.speed_gain"] == pytest.approx(gain, rel=1e-14)


def test_a_saved_axis_is_used_by_files(tmp_path):
    kn.axis("small", stiffness=1000).save(tmp_path / "axis.yaml")
    with pytest.raises(kn.ModelError, match=r"amplifier\.plus: is left open"):  # by itself it is connected to nothing
        kn.load(tmp_path / "axis.yaml")
    (tmp_path / "door.yaml").write_text("""
kinode: 1
gravity: [0, 0, 0]
bodies: {leaf: {mass: 20, com: [0.4, 0, 0], inertia: {zz: 1}}}
joints: {hinge: {kind: revolute, between: [world, leaf]}}
systems:
  drive:
    file: axis.yaml
    connect: {supply: bus, output: hinge}
    parameters: {ratio: 150, load: 4.2 kg*m^2}
    bind: {target: 1}
elements: {supply: {kind: battery, plus: bus, minus: gnd, voltage: 48 V, resistance: 0.1 Ohm}}
""")
    run = kn.simulate(kn.load(tmp_path / "door.yaml"), 3.0)
    assert run["hinge.q"][-1] == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize(
    "size, numbers, said",
    [
        ("mediun", {}, "no axis has the size 'mediun'; did you mean medium"),
        ("small", {"ration": 3}, r"axis\.ration: an axis has no field 'ration'; did you mean ratio"),
        (None, {"resistance": 1}, r"axis: inductance, constant, .* and load are needed"),
        ("small", {"damping": 1}, r"axis\.damping: is for a gear with a stiffness"),
        ("small", {"lead": "5 mm"}, r"axis\.load: is needed"),
        ("small", {"resistance": "3 V"}, r"axis\.resistance: .*a resistance is needed"),
        ("small", {"load": "4 kg"}, r"axis\.load: .*an inertia is needed"),
        ("small", {"load": "4 kg*m^2", "lead": "5 mm"}, r"axis\.load: .*a mass is needed"),
        ("small", {"load": -4}, r"axis\.load: must be positive, and is -4"),
        ("small", {"load": 4, "lead": "5 kg"}, r"axis\.lead: .*a lead is needed"),
        ("small", {"bandwidth": "20 Hz"}, r"axis\.bandwidth: 20 Hz counts cycles"),
        ("small", {"voltage": "48 A"}, r"axis\.voltage: .*a voltage is needed"),
        ("small", {"peak_current": 0}, r"axis\.peak_current: must be positive"),
        ("small", {"ratio": 0}, r"axis\.ratio: must not be zero"),
    ],
)
def test_what_is_no_axis(size, numbers, said):
    with pytest.raises(kn.ModelError, match=said):
        kn.axis(size, **numbers)


@pytest.mark.parametrize("size", SIZES)
def test_every_size_can_be_used(size):
    arm(kn.axis(size)).check()
