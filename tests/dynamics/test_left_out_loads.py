"""Reactions that leave out the force of a gear whose teeth are not given say so, and no others do."""

from __future__ import annotations

import pytest

import kinode as kn
import loop_models as models
from kinode.cli.reaction_tables import Question, print_joint
from kinode.cli.terminal_tables import print_run
from kinode.dynamics.compiled_system import Dynamics
from kinode.dynamics.left_out_loads import find_left_out
from kinode.results.load_summary import compute_loads
from kinode.views.report.html_report import _loads

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
    return set(find_left_out(Dynamics(system).topology))


def test_wrenches_say_what_they_leave_out():
    run = kn.simulate(pair(), 0.1, samples=3)
    assert [run.reaction(joint).left_out for joint in run.system.joints] == [TOOTH, (), TOOTH]
    assert run.wrench("j_two").left_out == TOOTH
    assert run.reaction("j_one", "kinetic").left_out == TOOTH
    complete = kn.simulate(pair(pressure_angle="20 deg"), 0.1, samples=3)
    assert [complete.reaction(joint).left_out for joint in run.system.joints] == [(), (), ()]


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
    dynamics = Dynamics(system)
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
