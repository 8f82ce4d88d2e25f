"""Reactions that leave out the force of a gear whose teeth are not given say so, and no others do."""

from __future__ import annotations

from zipfile import ZipFile

import pytest

import kinode as kn
import loop_models as models
from kinode.cli.reaction_tables import Question, print_joint
from kinode.cli.terminal_tables import print_run
from kinode.dynamics.reactions.lost_values import find_left_out
from kinode.report.run_report import _loads
from kinode.results.joint_loads import compute_loads

TOOTH = ("tooth force",)


def pair(carrier=None, **teeth):
    """Two wheels and a pendulum; the second wheel turns on ``carrier``, by default on the world."""
    system = kn.System("pair")
    for name, place in (("one", 0.0), ("swing", 0.9), ("two", 0.3)):
        body = system.body(name, mass=1, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1))
        base = system[carrier] if carrier and name == "two" else system.world
        system.revolute(f"j_{name}", base.at(place, 0, 0), body, axis="y")
    system.constraint("belt", "gear", input="j_one", output="j_two", ratio=-2, **teeth)
    return system


def marked(system):
    return set(find_left_out(kn.Dynamics(system).topology))


def test_wrenches_say_what_they_leave_out():
    run = kn.simulate(pair(), 0.1, samples=3)
    assert [run.reaction(joint).left_out for joint in run.system.joints] == [TOOTH, (), TOOTH]
    assert run.wrench("j_two").left_out == TOOTH
    assert run.reaction("j_one", "kinetic").left_out == TOOTH
    complete = kn.simulate(pair(pressure_angle="20 deg"), 0.1, samples=3)
    assert [complete.reaction(joint).left_out for joint in run.system.joints] == [(), (), ()]


def lift(**teeth):
    """A pinion of 1 kg on a shaft that stands still, and a rack of 0.8 kg that hangs on its teeth, in a guide."""
    system = kn.System("lift", gravity=(0, 0, -9.81))
    pinion, rack = (system.body(name, mass=m, inertia=(0.01, 0.01, 0.01)) for name, m in (("pinion", 1), ("bar", 0.8)))
    system.revolute("shaft", system.world, pinion, axis="y", speed=0)
    system.prismatic("guide", system.world.at(0.1, 0, 0), rack, axis="z")
    system.constraint("mesh", "rack", rack="guide", pinion="shaft", radius=0.1, **teeth)
    return system


def test_a_load_without_its_tooth_force_is_not_unique_and_says_so_as_text():
    """The shaft carries 9.81 N of the pinion and 7.848 N of the rack; without teeth it is not known where they act."""
    run, complete = (kn.simulate(lift(**teeth), 1e-3, samples=2) for teeth in ({}, {"pressure_angle": "20 deg"}))
    whole, less = complete.reaction("shaft"), run.reaction("shaft")
    assert whole.force[0, 2] == pytest.approx(17.658) and run["ground.force"][0, 2] == pytest.approx(-17.658)
    assert whole.unique and "without" not in str(whole)
    assert less.force[0, 2] == pytest.approx(9.81)
    assert not less.unique and not less.shared and str(less).endswith("0 N*m, without tooth force>")
    start = run.dynamics.initial
    for joint, wrench in run.dynamics.reactions(0.0, start.q, start.u).items():
        assert not wrench.unique and wrench.left_out == TOOTH, joint
        assert str(wrench).endswith("N*m, without tooth force>")
    assert not any(each.unique for each in compute_loads(run))
    bearing = run.bearings("shaft", at=(0, 0.1))[0]
    assert not bearing.unique and "redundant" not in str(bearing)


def test_quantities_of_a_run_and_their_files_say_it(tmp_path):
    run = kn.simulate(pair(), 0.1, samples=3)
    assert run.left_out("j_one.reaction.radial") == TOOTH
    assert run.left_out("belt.on.one.force") == TOOTH
    assert all(run.left_out(name) == () for name in ("j_one.q", "j_one.effort", "j_swing.reaction.force", "t"))
    data = run.to_xarray(["j_one.reaction.force", "j_swing.reaction.force"])
    assert data["j_one.reaction.force"].attrs == {"units": "N", "left_out": "tooth force"}
    assert data["j_swing.reaction.force"].attrs == {"units": "N"}
    run.to_csv(tmp_path / "run.csv", ["j_one.reaction.axial", "j_one.effort"])
    head = (tmp_path / "run.csv").read_text().splitlines()[0]
    assert head == 't [s],"j_one.reaction.axial [N, without tooth force]",j_one.effort [N*m]'


def test_circuits_and_exports_say_it(tmp_path):
    assert "Flows of shaft, guide are without tooth force." in " ".join(str(kn.circuit(lift())).split())
    assert "tooth force" not in str(kn.circuit(lift(pressure_angle="20 deg")))
    outputs = ["shaft.reaction.force.z", "guide.effort"]
    kn.export(lift(), "c", tmp_path / "c", outputs=outputs)
    header = (tmp_path / "c" / "lift.h").read_text()
    assert "shaft.reaction.force.z in N; without tooth force" in header and "guide.effort in N *" in header
    assert "| N |  | without tooth force |" in (tmp_path / "c" / "README.md").read_text()
    with ZipFile(kn.export(lift(), "fmu", tmp_path, outputs=outputs, platforms=[])) as archive:
        text = archive.read("modelDescription.xml").decode()
    assert text.count('description="without tooth force"') == 1


def test_friction_by_the_load_of_a_bearing_lacks_it_too():
    system = pair()
    system.change("j_one", friction={"coulomb": {"coefficient": 0.1, "radius": 0.02, "slip": 0.1}})
    system.change("j_two", friction={"coulomb": {"effort": 0.1, "slip": 0.1}})
    run = kn.simulate(system, 0.01, samples=2)
    assert run.left_out("j_one.effort.friction") == TOOTH
    assert run.left_out("j_two.effort.friction") == ()  # a constant effort does not depend on the load


def test_tables_and_the_report_say_it(capsys):
    run = kn.simulate(pair(), 0.1, samples=5)
    words = "Without tooth force: j_one, j_two."
    assert words in _loads(run, compute_loads(run), {}, 0)
    print_run(run)
    assert words in " ".join(capsys.readouterr().out.split())
    print_joint(run, Question("j_two"))
    assert "Without tooth force: j_two." in " ".join(capsys.readouterr().out.split())
    loads = (run.bearings("j_one", at=(0, 0.1))[0], run.pressure("j_one"), run.causes("j_one", by="body"))
    assert all("without tooth force" in str(load) for load in loads)


def test_the_joints_between_wheels_on_different_bodies_are_marked():
    """A belt along an arm: its pull goes through the joint that carries the arm."""
    assert marked(pair("swing")) == {"j_one", "j_two", "j_swing"}


def test_all_joints_of_a_redundant_loop_are_marked():
    """What a gear puts into one joint of a redundant loop is shared by all of them."""

    def geared(**joints):
        system = models.four_bar(**joints)
        wheel = system.body("wheel", mass=1, inertia=(0.1, 0.1, 0.1))
        system.revolute("spin", system.world.at(0, 0.5, 0), wheel)
        system.constraint("belt", "gear", input="spin", output="j1", ratio=2)
        return marked(system)

    assert geared() == {"j1", "j2", "j3", "j4", "spin"}
    assert geared(second="spherical", third="cylindrical") == {"j1", "spin"}


def test_tooth_forces_that_are_not_unique_are_refused():
    """Wheels between both uprights of a parallelogram, which turn alike anyway: any load may go through them."""
    system = models.parallelogram(False)
    one, two = (name for name, joint in system.joints.items() if joint.a.body == "world")
    wheel = system.body("wheel", mass=1, inertia=(0.1, 0.1, 0.1))
    system.revolute("spin", system.world.at(0.5, 0.4, 0), wheel)
    for name, (follower, leader, ratio) in {"a": ("spin", one, -2), "b": (two, "spin", -0.5)}.items():
        system.constraint(name, "gear", input=follower, output=leader, ratio=ratio, pressure_angle="20 deg")
    dynamics = kn.Dynamics(system)
    start = dynamics.initial
    with pytest.raises(kn.ModelError, match=r"its tooth force is not unique.*leave pressure_angle out"):
        dynamics.reactions(start.t, start.q, start.u)


def test_gears_and_pinions_of_networks_are_marked_too():
    system = pair(pressure_angle="20 deg")
    system.shaft_inertia("rotor", shaft="motor", inertia=0.01)
    system.gearbox("gear", "motor", "j_swing", ratio=5)
    assert marked(system) == {"j_swing"}
    cart = system.body("cart", mass=1, inertia=(0.1, 0.1, 0.1))
    system.prismatic("slide", system.world, cart, axis="x")
    system.shaft_inertia("wheel", shaft="axle", inertia=0.01)
    system.pinion("drive", shaft="axle", rack="slide", radius=0.05)
    assert marked(system) == {"j_swing", "slide"}
    system.elastic_gearbox("soft", "j_one", "j_swing", ratio=2, stiffness=100.0)
    assert marked(system) == {"j_one", "j_swing", "slide"}
    assert kn.simulate(system, 0.01, samples=2).reaction("slide").left_out == TOOTH


def tier(**motor):
    """A tier of 300 kg, its center 1 m out, that is swung as prescribed; a motor is geared to it by 50."""
    system = kn.System("tier", gravity=(0, 0, -9.81))
    deck = system.body("deck", mass=300, com=(0, 1, 0), inertia=(50, 60, 70))
    system.revolute(
        "trunnion", system.world, deck, axis="x", **({} if "effort" in motor else {"motion": "0.2*sin(3*t)"})
    )
    system.drive("motor", joint="trunnion", ratio=50, inertia=0.002, **motor)
    return system


def test_a_motor_on_a_prescribed_joint_says_that_it_gives_nothing(tmp_path):
    """At the start the deck asks for 300 kg 9.81 m/s^2 1 m; the motor's own efforts are those of its rotor."""
    run = kn.simulate(tier(), 0.1, samples=3)
    assert run["trunnion.effort.drive"][0] == pytest.approx(2943.0)
    for quantity in ("effort", "effort.drive", "effort.gear", "power", "power.drive"):
        assert abs(run[f"motor.shaft.{quantity}"]).max() < 2  # 2943 N*m / 50 = 59 N*m, and 59 N*m 30 rad/s
        assert run.left_out(f"motor.shaft.{quantity}") == ("effort of trunnion",)
    assert all(run.left_out(name) == () for name in ("trunnion.effort", "trunnion.effort.drive", "motor.shaft.u"))
    assert run.sizing()["motor"].motor.effort.peak == pytest.approx(2943.0 / 50, rel=1e-3)
    run.to_csv(tmp_path / "run.csv", ["motor.shaft.effort.drive"])
    head = (tmp_path / "run.csv").read_text().splitlines()[0]
    assert head == 't [s],"motor.shaft.effort.drive [N*m, without effort of trunnion]"'


def test_a_motor_that_drives_has_nothing_left_out():
    run = kn.simulate(tier(effort=60), 0.1, samples=3)
    assert run["motor.shaft.effort.drive"][0] == pytest.approx(60)
    assert run.left_out("motor.shaft.effort.drive") == run.left_out("motor.shaft.effort") == ()


def test_a_train_of_gears_leads_to_the_prescribed_joint():
    system = tier()
    wheel = system.body("wheel", mass=1, inertia=(0.1, 0.1, 0.1))
    system.revolute("idler", system.world.at(0, 3, 0), wheel, axis="x")
    system.constraint("belt", "gear", input="idler", output="motor.shaft", ratio=2)
    run = kn.simulate(system, 0.01, samples=2)
    assert run.left_out("idler.effort.drive") == ("effort of trunnion",)
