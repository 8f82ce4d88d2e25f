"""The energy audit: it balances for good runs, tells what did the work, and catches bad ones."""

import numpy as np
import pytest
from run_models import arm, pendulum

import kinode as kn
from kinode.results import work
from kinode.results.energy_audit import FAIR_DEFECT, GOOD_DEFECT, Audit


def test_conservative():
    """Only gravity and springs: no cause, and a defect of the size of the tolerance."""
    system = pendulum(q=2.0, stiffness=3.0, neutral=0.2)
    system.spring("line", system["bar"].at(0, -0.8, 0), system.world.at(1, 0, 0), stiffness=20.0, free_length=0.3)
    audit = kn.simulate(system, 20.0).audit
    assert audit.work == {}
    assert audit.relative < 1e-6
    assert "holds its energy well" in audit.trust and audit.ok is True


def test_damped():
    """All energy goes into the dampers, and each gets its share."""
    system = pendulum(q=2.0, damping=0.4)
    system.spring("line", system["bar"].at(0, -0.8, 0), system.world.at(1, 0, 0), damping=1.5)
    run = kn.simulate(system, 30.0)
    audit = run.audit
    assert set(audit.work) == {"pin.damping", "line"}
    assert all(work < -0.1 for work in audit.work.values())
    assert audit.change == pytest.approx(audit.total_work, abs=1e-6)
    # independently: by the trapezoidal rule over the power of each
    fine = kn.simulate(system, 30.0, samples=200_001, method="dop853", rtol=1e-11, atol=1e-12)
    assert np.trapezoid(fine["pin.power"], fine.t) == pytest.approx(audit.work["pin.damping"], abs=1e-6)
    assert np.trapezoid(fine["line.power"], fine.t) == pytest.approx(audit.work["line"], abs=1e-6)


@pytest.mark.parametrize("samples", [None, 11, 501])
def test_everything_at_once(samples):
    """A drive, dampers, a spring and a force; the balance does not depend on where the states were kept."""
    run = kn.simulate(arm(), 10.0, samples=samples)
    audit = run.audit
    assert set(audit.work) == {"shoulder.drive", "elbow.damping", "return", "wind"}
    assert audit.relative < 1e-7
    assert audit.uncertainty < 0.1 * audit.largest


def test_tight_runs_show_tight_audits():
    """The audit's own error is far below that of a run at default tolerance."""
    audit = kn.simulate(arm(), 10.0, method="dop853", rtol=1e-12, atol=1e-13).audit
    assert audit.relative < 1e-11


@pytest.mark.parametrize("options", [{"rtol": 1e-2, "atol": 1e-2}, {"method": "rk4", "step": 0.2}])
def test_bad_runs_are_caught(options):
    audit = kn.simulate(arm(), 10.0, **options).audit
    assert audit.relative > 1e-3
    assert "do not trust" in audit.trust and audit.ok is False
    assert "defect" in str(audit)


@pytest.mark.parametrize("share", [0.5 * GOOD_DEFECT, GOOD_DEFECT, 2.0 * GOOD_DEFECT, FAIR_DEFECT, 2.0 * FAIR_DEFECT])
def test_the_verdict_in_words_is_that_of_ok(share):
    audit = Audit(0.0, 0.0, {}, np.array([0.0, -2.0 * share]), 2.0, 0.0)
    assert audit.relative == share
    assert audit.ok is (share < FAIR_DEFECT) is ("do not trust" not in audit.trust)
    assert (share < GOOD_DEFECT) is ("holds its energy well" in audit.trust)


def test_what_is_rough_is_judged_by_the_most_that_it_may_be():
    def ok(defect, uncertainty):
        return Audit(0.0, 0.0, {}, np.array([defect * FAIR_DEFECT]), 1.0, uncertainty * FAIR_DEFECT).ok

    assert (ok(0.4, 0.3), ok(0.4, 0.5), ok(0.4, 0.7), ok(1.2, 0.7), ok(1.2, 0.5)) == (True, True, None, None, False)


def test_work_alone_is_energy_in_play():
    """A drive at constant speed against a damper: no energy changes, and 2 N*m*s at 3 rad/s for 4 s are 72 J."""
    system = kn.System("stirrer", gravity=(0, 0, 0))
    system.revolute("pin", system.world, system.body("rod", inertia=(0.1, 0.1, 0.1)), axis="z", speed=3.0, damping=2.0)
    audit = kn.simulate(system, 4.0, samples=5).audit
    assert audit.work == pytest.approx({"pin.drive": 72.0, "pin.damping": -72.0})
    assert audit.scale == pytest.approx(72.0) and audit.relative < 1e-14


def test_driven_only():
    """Nothing is integrated: the drive does exactly the change of energy."""
    audit = kn.simulate(pendulum(motion="sin(t)"), 5.0).audit
    assert audit.work["pin.drive"] == pytest.approx(audit.change, abs=1e-12)
    assert audit.relative < 1e-12


def test_coupled_joints():
    """A gear does no work of its own, whether its leader is free or driven."""
    for options in ({"q": 1.0, "damping": 0.2}, {"motion": "0.5*sin(3*t)"}):
        system = pendulum(**options)
        wheel = system.body("wheel", mass=1.0, com=(0, 0.1, 0), inertia=(0.1, 0.1, 0.1))
        system.revolute("shaft", system.world, wheel, axis="z", at=(2, 0, 0), damping=0.1)
        system.constraint("gear", "gear", input="shaft", output="pin", ratio=-3.0)
        audit = kn.simulate(system, 5.0).audit
        assert audit.relative < 1e-6, audit


def test_a_constraint_that_moves_with_time_does_the_work():
    """A mass at the distance 0.5 m + 0.1 m sin(3 t) has m v^2/2 with v = 0.3 m/s cos(3 t), however it is damped."""
    system = kn.System("pushed", gravity=(0, 0, 0))
    mass = system.body("mass", mass=2.0)
    system.prismatic("slide", system.world, mass, axis="x", q=0.5, damping=4.0)
    system.constraint("rod", "distance", a=system.world, b=mass, distance="0.5 + 0.1*sin(3*t)")
    run = kn.simulate(system, 1.7)
    v, lost = 0.3 * np.cos(3 * 1.7), 4.0 * 0.09 * (1.7 / 2 + np.sin(6 * 1.7) / 12)
    assert run.audit.work["slide.damping"] == pytest.approx(-lost, rel=1e-9)
    assert run.audit.work["rod"] == pytest.approx(v**2 - 0.09 + lost, rel=1e-9)
    assert run.audit.relative < 1e-12


def test_a_pendulum_that_is_pulled_in_and_let_out():
    system = kn.System("swing", gravity=(0, -9.81, 0))
    bob = system.body("bob", mass=2.0)
    carriage = system.body("carriage", mass=0.5)
    system.prismatic("x", system.world, carriage, axis="x", q=0.3)
    system.prismatic("y", carriage, bob, axis="y", guess=-0.4)
    system.constraint("rope", "distance", a=system.world, b=bob, distance="0.5 + 0.1*sin(3*t)")
    audit = kn.simulate(system, 3.0).audit
    assert set(audit.work) == {"rope"} and abs(audit.work["rope"]) > 0.1
    assert audit.relative < 1e-6


def test_stiff():
    """A stiff damper: the exact motion between stored states needs many small steps, or another way."""
    system = pendulum(q=2.0, damping=3000.0)
    audit = kn.simulate(system, 10.0, method="stiff", rtol=1e-9, atol=1e-12).audit
    assert np.isfinite(audit.relative)
    assert audit.largest <= 1e-5 * audit.scale + audit.uncertainty


def test_fast_currents_between_far_times():
    """Currents that settle within an interval: the run is judged by its own steps, however far its states are apart."""
    system = kn.System("motor")
    system.voltage_source("supply", "bus", "gnd", voltage="10*sin(3*t) + 5")
    system.dc_motor("motor", "bus", "gnd", "shaft", resistance=1, inductance=1e-4, constant=0.05, inertia=1e-4)
    system.shaft_loss("bearing", "shaft", viscous=1e-4)
    audit = kn.simulate(system, 5.0, samples=51, method="stiff").audit
    assert audit.ok is True and audit.relative < 1e-6
    fine = kn.simulate(system, 5.0, method="stiff", rtol=1e-11, atol=1e-13).audit
    assert audit.work == pytest.approx(fine.work, rel=1e-5)


def test_a_run_of_one_state():
    audit = kn.simulate(pendulum(q=1.0), 0.0).audit
    assert (audit.change, audit.defect, audit.relative) == (0.0, 0.0, 0.0)


def test_a_long_chain():
    """From some size on the code is loops over tables of bodies; the balance is the same, with BDF too."""
    system = kn.System("chain", gravity=(0, -9.81, 0))
    place = system.world
    for k in range(41):
        link = system.body(f"link{k}", mass=1.0, com=(0.05, 0, 0), inertia=(0.01, 0.01, 0.01))
        system.revolute(f"hinge{k}", place, link, axis="z", damping=0.1)
        place = link.at(0.1, 0, 0)
    system.spring("line", link, system.world.at(1, 1, 0), stiffness=20.0, damping=0.5, free_length=0.4)
    run = kn.simulate(system, 0.1, samples=5)
    assert len(run.audit.work) == 42
    assert run.audit.relative < 1e-6
    stiff = kn.simulate(run.dynamics, 0.02, samples=2, method="stiff", rtol=1e-7)
    explicit = kn.simulate(run.dynamics, 0.02, samples=2)
    assert stiff.y == pytest.approx(explicit.y, abs=1e-4)


def test_the_work_of_impacts_is_given_and_left_out_where_it_is_not_known():
    """A ball from 1 m loses (1 - e^2) m g h at its first impact."""
    system = kn.System("ball", gravity=(0, 0, -9.81))
    ball = system.body("ball", mass=2, inertia=(1, 1, 1))
    system.prismatic("x", system.world, ball, axis="z", q=1.0, stop={"lower": 0, "restitution": 0.5})
    for samples in (None, 4):
        seen = kn.simulate(system, 0.6, samples=samples).audit
        assert seen.work["impacts"] == pytest.approx(-0.75 * 2 * 9.81, rel=1e-8)
        assert seen.relative < 1e-8
    run = kn.simulate(system, 0.6, samples=4)
    run.facts = {}  # of a run that cannot be repeated
    unseen = run.audit
    assert "impacts" not in unseen.work
    assert "work of impacts" not in str(unseen)
    assert unseen.uncertainty >= 0.75 * 2 * 9.81
    assert unseen.ok is None and "known to" in unseen.trust


def test_shorter_parts_are_taken_only_where_the_power_has_a_corner(monkeypatch):
    """A force that sets in, peaks and goes out between stored times: few of the steps are looked at more closely."""
    system = kn.System("pushed", gravity=(0, 0, 0))
    mass = system.body("mass", mass=2.0)
    system.prismatic("slide", system.world, mass, axis="x", effort="3*max(0, 0.2 - abs(slide.q - 0.5003))", u=1.0)
    run = kn.simulate(system, 1.0, samples=201, rtol=1e-10, atol=1e-12)
    rows = []

    def count(run, times):
        rows.append(0 if times is None else len(times))
        return repeat(run, times)

    repeat = work.repeat_run
    monkeypatch.setattr(work, "repeat_run", count)
    audit = run.audit
    exact = 3 * 0.2**2  # of a force over the distance
    assert audit.work["slide.drive"] == pytest.approx(exact, rel=1e-8)
    assert sum(rows[2:]) < 0.5 * rows[1]
    assert audit.relative < 1e-7


def test_the_work_of_a_force_with_corners_is_that_of_the_path():
    """A spring that only pushes, passed by a drive: no work in whole periods, however long the steps are."""
    system = kn.System("gap", gravity=(0, 0, 0))
    mass = system.body("mass", mass=1.0)
    system.prismatic("slide", system.world, mass, axis="x", motion="sin(2*pi*t)")
    system.force("bumper", mass.at(0, 0, 0), force=("-200*max(0, slide.q - 0.3)", 0, 0))
    audit = kn.simulate(system, 3.0, samples=31).audit
    assert audit.work["bumper"] == pytest.approx(0.0, abs=1e-5)
    assert audit.relative < 1e-6


@pytest.mark.parametrize("law", ["abs(j.q - 30) < 0.4", "10*exp(-((t - 47.3)/0.1)**2)"])
def test_the_audit_does_not_praise_a_run_that_passed_over_a_law(law):
    """Steps of fixed length jump over a short push; the states show no trace of it."""
    system = kn.System("slider", gravity=(0, 0, 0))
    system.prismatic("j", system.world, system.body("body", mass=1.0), axis="x", u=1.0, effort=law)
    run = kn.simulate(system, 100.0, method="rk4", step=25.0 if "j.q" in law else 20.0)
    assert run["j.u"][-1] == pytest.approx(1.0)
    assert run.audit.relative > 0.1
    assert "well" not in run.audit.trust
