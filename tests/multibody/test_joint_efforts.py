"""What acts along a joint, share by share: the shares add up, and a drive's is what its motor gives."""

import numpy as np
import pytest

import kinode as kn
from kinode.model.quantities import EFFORT_SHARES

G, MASS, REACH, INERTIA = 9.81, 2.0, 0.3, 0.06
RATIO, ROTOR, DRAG = -30.0, 3e-4, 1e-3
ABOUT_AXIS = INERTIA + MASS * REACH**2


def arm(**fields):
    system = kn.System("arm")
    link = system.body("link", mass=MASS, com=(REACH, 0, 0), inertia=(0.01, INERTIA, INERTIA))
    system.revolute("shoulder", system.world, link, axis="y", **fields)
    return system


def driven_arm(**fields):
    system = arm(motion="0.8*sin(3*t)", damping=0.2)
    system.drive("motor", "shoulder", ratio=RATIO, mass=0.4, inertia=(ROTOR, 2e-4), damping=DRAG, **fields)
    return system


def with_a_law():
    system = arm(damping=0.2, friction=kn.coulomb(0.1, radius="2 cm"), stiffness=3.0)
    system.drive("motor", "shoulder", ratio=RATIO, inertia=(ROTOR, 2e-4), damping=DRAG, effort="0.3*sin(2*t)")
    return system


def rail(motor, **fields):
    """A rack of 3 kg on a rail and its pinion; ``fields`` go to the slide."""
    system = kn.System("rail")
    system.prismatic("slide", system.world, system.body("table", mass=3), axis="x", damping=4, **fields)
    pinion = system.body("wheel", mass=0.2, inertia=(1e-4, 1e-4, 2e-4))
    system.revolute("shaft", system.world.at(0, 1, 0), pinion, axis="z", damping=1e-3, **motor)
    system.constraint("rack", "rack", rack="slide", pinion="shaft", radius="-20 mm")
    return system


def with_motor():
    system = arm(damping=0.2, q="20 deg")
    system.drive("unit", "shoulder", ratio=60, mass=0.4, inertia="6e-5 kg*m^2")
    system.voltage_source("supply", "bus", "gnd", voltage="24 V")
    system.dc_motor(
        "motor", "bus", "gnd", "unit.shaft", resistance="0.6 Ohm", constant="0.06 N*m/A", inertia="1e-5 kg*m^2"
    )
    return system


def held_by_a_brake():
    system = arm(q="20 deg")
    system.drive("unit", "shoulder", ratio=20, inertia=1e-4, effort="0.1*t")
    system.brake("holding", "unit.shaft", capacity="2 N*m", command=1)
    return system


def train():
    """Two stages: a motor, a middle shaft with friction, a load."""
    system = kn.System("train", gravity=(0, 0, 0))
    for k, (name, inertia, fields) in enumerate(
        [("load", 0.2, {"damping": 0.3}), ("middle", 4e-3, {"damping": 0.01}), ("fast", 1e-4, {"effort": "sin(5*t)"})]
    ):
        body = system.body(f"{name}_wheel", mass=1, inertia=(inertia, inertia, inertia))
        system.revolute(name, system.world.at(k, 0, 0), body, axis="z", **fields)
    system.constraint("second", "gear", input="middle", output="load", ratio=-5)
    system.constraint("first", "gear", input="fast", output="middle", ratio=-3)
    return system


MODELS = {
    "prescribed joint": driven_arm,
    "effort at the shaft": with_a_law,
    "motor of a network": with_motor,
    "brake that holds": held_by_a_brake,
    "pinion drives": lambda: rail({"effort": "0.5*sin(4*t)"}),
    "rack is prescribed": lambda: rail({}, motion="0.1*sin(4*t)"),
    "pinion is prescribed": lambda: rail({"motion": "2*sin(4*t)"}),
    "two stages": train,
}


@pytest.mark.parametrize("name", MODELS)
def test_the_shares_of_an_effort_add_up(name):
    run = kn.simulate(MODELS[name](), 0.4, samples=9)
    for joint in run.system.joints:
        values = run.evaluate([f"{joint}.{x}" for x in ("effort", *(f"effort.{share}" for share in EFFORT_SHARES))])
        whole, *shares = values.values()
        largest = max(abs(x).max() for x in shares)
        assert largest > 0
        np.testing.assert_allclose(sum(shares), whole, rtol=0, atol=1e-12 * largest)
        np.testing.assert_allclose(run[f"{joint}.power.drive"], run[f"{joint}.effort.drive"] * run[f"{joint}.u"])


def test_a_prescribed_joint_needs_what_turns_its_rotor_too():
    """The link takes J q'' - m g r cos q; the drive gives that, the damping, and N^2 (J_r q'' + d q') of its rotor."""
    run = kn.simulate(driven_arm(), 2.0, samples=201)
    q, u, u_dot = (run[f"shoulder.{x}"] for x in ("q", "u", "u_dot"))
    link = ABOUT_AXIS * u_dot - MASS * G * REACH * np.cos(q)
    rotor = RATIO**2 * (ROTOR * u_dot + DRAG * u)
    np.testing.assert_allclose(run["shoulder.effort"], link, atol=1e-12)
    np.testing.assert_allclose(run["shoulder.effort.rotor"], -rotor, atol=1e-12)
    np.testing.assert_allclose(run["shoulder.effort.drive"], link + 0.2 * u + rotor, atol=1e-12)
    assert abs(run["shoulder.effort.drive"]).max() > 1.4 * abs(run["shoulder.effort"]).max()


def test_the_drive_at_the_joint_is_the_moment_of_the_motor_times_the_ratio():
    run = kn.simulate(with_a_law(), 0.5, samples=11)
    np.testing.assert_allclose(run["shoulder.effort.drive"], RATIO * 0.3 * np.sin(2 * run.t), atol=1e-14)
    np.testing.assert_allclose(run["shoulder.power.drive"], 0.3 * np.sin(2 * run.t) * run["motor.shaft.u"], atol=1e-12)
    run = kn.simulate(with_motor(), 0.2, samples=11)
    np.testing.assert_allclose(run["shoulder.effort.drive"], 60 * run["motor.moment"], rtol=1e-12)
    run = kn.simulate(train(), 0.5, samples=11)
    np.testing.assert_allclose(run["load.effort.drive"], 15 * np.sin(5 * run.t), atol=1e-12)
    inertia, drag = 25 * (4e-3 + 9 * 1e-4), 25 * 0.01
    np.testing.assert_allclose(
        run["load.effort.rotor"], -inertia * run["load.u_dot"] - drag * run["load.u"], atol=1e-12
    )


def test_a_pinion_drives_its_rack_from_either_side():
    for system in (MODELS["pinion drives"](), MODELS["rack is prescribed"]()):
        run = kn.simulate(system, 0.4, samples=9)
        u, u_dot = run["slide.u"], run["slide.u_dot"]
        need = (3 + 2e-4 / 0.02**2) * u_dot + (4 + 1e-3 / 0.02**2) * u
        np.testing.assert_allclose(run["slide.effort.drive"], need, atol=1e-10)


def test_a_gear_beside_a_brake_that_holds_transmits_what_the_load_takes():
    """The brake on the shaft holds the arm: the gear carries its weight, and the brake that less the motor's moment."""
    run = kn.simulate(held_by_a_brake(), 0.3, samples=4)
    weight = MASS * G * REACH * np.cos(np.deg2rad(20))
    np.testing.assert_allclose(run["shoulder.effort"], -weight, rtol=1e-9)
    np.testing.assert_allclose(run["unit.shaft.effort.gear"], weight / 20, rtol=1e-9)
    np.testing.assert_allclose(run["unit.shaft.effort.parts"], -weight / 20 - 0.1 * run.t, rtol=1e-9)


def test_a_drive_at_a_joint_that_closes_a_loop():
    """With drives at all joints of a loop, one gear has a constraint row: effort and wrench contain it all the same."""
    system = kn.load("examples/slider_crank.yaml").copy()
    system.change("main", speed=None, q=0.3)
    for joint in ("main", "crankpin", "wristpin", "bore"):
        system.drive(f"unit_{joint}", joint, ratio=7, mass=0.1, inertia=1e-3, effort=0.2)
    run = kn.simulate(system, 0.1, samples=4)
    (cut,) = run.dynamics.topology.cut_names
    shaft = f"unit_{cut}.shaft"
    assert shaft not in run.dynamics.topology.couplings
    axis = "x" if cut == "bore" else "z"
    turned = 1e-3 * run[f"unit_{cut}.rotor.angular_acceleration.{axis}"]
    np.testing.assert_allclose(run[f"{shaft}.effort"], turned, atol=1e-9)
    passed = 7 * (0.2 - turned)
    np.testing.assert_allclose(run[f"{cut}.effort"], passed, atol=1e-9)
    np.testing.assert_allclose(run[f"{cut}.effort.drive"], 1.4, atol=1e-12)
    np.testing.assert_allclose(run[f"{cut}.effort.drive"] + run[f"{cut}.effort.rotor"], passed, atol=1e-9)
    for joint, along in ((cut, "force" if cut == "bore" else "moment"), (shaft, "moment")):
        difference = getattr(run.wrench(joint), along) - getattr(run.reaction(joint), along)
        np.testing.assert_allclose(abs(difference).max(axis=1), abs(run[f"{joint}.effort"]), atol=1e-9)
