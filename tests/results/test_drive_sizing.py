"""The table for sizing drives: motor side and output side, against figures that are worked out by hand."""

import numpy as np
import pytest

import kinode as kn
from kinode.results.joint_loads import compute_loads

RATIO, ROTOR, J = 50.0, 2e-4, 0.4


def wheel(**fields):
    """A wheel that swings by 0.5 sin(4 t); of its rotor it feels RATIO^2 ROTOR = 0.5 kg m^2."""
    system = kn.System("wheel", gravity=(0, 0, 0))
    system.revolute("hub", system.world, system.body("rim", mass=1, inertia=(J, J, J)), axis="z", **fields)
    return system


def geared():
    system = wheel(motion="0.5*sin(4*t)")
    system.drive("unit", "hub", ratio=-RATIO, inertia=ROTOR)
    return system


def test_motor_and_output_of_a_geared_drive():
    run = kn.simulate(geared(), np.pi, samples=4001)  # two periods
    (drive,) = run.sizing()
    assert (drive.drive, drive.ratio, drive.motor.at, drive.output.at) == ("unit", -RATIO, "unit.shaft", "hub")
    amplitude = 0.5 * 16
    assert drive.output.effort.peak == pytest.approx(J * amplitude, rel=1e-6)
    assert drive.output.effort.rms == pytest.approx(J * amplitude / np.sqrt(2), rel=1e-5)
    whole = J + RATIO**2 * ROTOR
    assert drive.motor.effort.peak == pytest.approx(whole * amplitude / RATIO, rel=1e-6)
    assert drive.motor.effort.rms == pytest.approx(whole * amplitude / RATIO / np.sqrt(2), rel=1e-5)
    assert drive.motor.top_speed == pytest.approx(RATIO * 2.0, rel=1e-6)
    assert drive.motor.speed_at_peak < 1e-2 * drive.motor.top_speed  # it reverses there
    assert drive.motor.power.peak == pytest.approx(whole * amplitude * 2.0 / 2, rel=1e-5)
    assert abs(drive.motor.mean_power) < 1e-4 * drive.motor.power.peak
    assert run.sizing()["hub"] == run.sizing()["unit"]
    text = str(run.sizing()).splitlines()
    assert len(text) == 3 and text[1].split()[:3] == ["unit", "motor", "unit.shaft"]


def test_the_loads_of_a_joint_show_what_its_drive_gives():
    """The drive gives 7.2 N m, of which 3.2 N m reach the wheel: the motor is chosen for the former."""
    run = kn.simulate(geared(), 1.0, samples=2001)
    (hub,) = (x for x in compute_loads(run) if x.joint == "hub")
    assert hub.effort.peak == pytest.approx(3.2, rel=1e-6)
    assert hub.drive.peak == pytest.approx(7.2, rel=1e-6) and hub.driving is hub.drive


def test_a_direct_drive_has_one_side():
    run = kn.simulate(wheel(effort="2*sin(3*t)"), 1.0, samples=101)
    (drive,) = run.sizing()
    assert drive.motor == drive.output and drive.ratio == 1.0
    assert drive.motor.effort.peak == pytest.approx(2.0, rel=1e-3)


def test_two_motors_on_one_joint_have_a_row_each():
    system = wheel(effort="0.1")
    system.drive("left", "hub", ratio=20, inertia=1e-4, effort="0.3")
    system.drive("right", "hub", ratio=-10, inertia=4e-4, effort="-0.2")
    run = kn.simulate(system, 0.5, samples=11)
    left, right, own = run.sizing()
    assert [row.drive for row in (left, right, own)] == ["left", "right", "hub"]
    assert (left.motor.effort.peak, right.motor.effort.peak) == pytest.approx((0.3, 0.2))
    assert own.motor.effort.peak == pytest.approx(0.1, rel=1e-9)
    alpha = (20 * 0.3 + 10 * 0.2 + 0.1) / (J + 400 * 1e-4 + 100 * 4e-4)
    assert left.output.effort.peak == pytest.approx(20 * 0.3 - 400 * 1e-4 * alpha, rel=1e-9)
    assert right.output.effort.peak == pytest.approx(10 * 0.2 - 100 * 4e-4 * alpha, rel=1e-9)


def test_two_stages_are_one_drive():
    system = wheel(damping=0.1)
    system.drive("second", "hub", ratio=5, inertia=1e-3)
    system.drive("first", "second.shaft", ratio=4, inertia=1e-4, effort="0.5")
    (drive,) = kn.simulate(system, 0.5, samples=11).sizing()
    assert (drive.drive, drive.ratio, drive.output.at) == ("first", 20.0, "hub")
    assert drive.motor.effort.peak == pytest.approx(0.5)


@pytest.mark.parametrize("carried", [False, True])
def test_a_motor_of_a_network_is_sized_by_its_field(carried):
    """The moment of its current accelerates its own rotor too; the joint gets the rest."""
    system = wheel(damping=0.5)
    system.voltage_source("supply", "bus", "gnd", voltage="24 V")
    shaft = "unit.shaft" if carried else "shaft"
    if carried:
        system.drive("unit", "hub", ratio=30, inertia=1e-5)
    system.dc_motor(
        "motor",
        "bus",
        "gnd",
        shaft,
        resistance="1 Ohm",
        constant="0.05 N*m/A",
        inertia="1e-4 kg*m^2",
        coulomb="0.01 N*m",
    )
    if not carried:
        system.gearbox("gear", shaft, "hub", ratio=30)
    run = kn.simulate(system, 0.3, samples=301)
    (drive,) = run.sizing()
    assert drive.motor.effort.peak == pytest.approx(0.05 * abs(run["motor.current"]).max(), rel=1e-9)
    assert drive.output.at == "hub"
    assert drive.output.effort.peak == pytest.approx(abs(J * run["hub.u_dot"] + 0.5 * run["hub.u"]).max(), rel=1e-6)
    assert drive.output.effort.peak < 30 * drive.motor.effort.peak
