"""Loops that are locked: told in words, with changes that free them; loops that move are not."""

import numpy as np
import pytest

import kinode as kn
import loop_models as models
from kinode.cli.terminal_tables import print_run
from kinode.report.model_section import describe_events
from kinode.tasks.loop_locking import FreeingChange, describe_locks

BENT = """kinode: 1
name: bent
bodies:
  crank: {mass: 1, inertia: [0.1, 0.1, 0.1]}
  rod: {mass: 1, inertia: [0.1, 0.1, 0.1]}
  piston: {mass: 1, inertia: [0.1, 0.1, 0.1]}
joints:
  main: {kind: revolute, between: [world, crank]MORE}
  pin: {kind: revolute, between: [crank, rod], at: [0.1, 0.2, 0]}
  wrist: {kind: revolute, between: [rod, piston], at: [0.6, 0, 0]}
  slide: {kind: prismatic, between: [world, piston], at: [0.6, 0, 0]}
"""
STRETCHED = BENT.replace("at: [0.1, 0.2, 0]", "at: [0.1, 0, 0]")
JOINTS = ("main", "pin", "wrist", "slide")
MOVING = {
    "four-bar": models.four_bar,
    "ball and cylinder": lambda: models.four_bar("spherical", "cylindrical"),
    "extra bar": lambda: models.parallelogram(True),
    "Bennett": models.bennett,
    "Bricard": models.bricard,
    "frame of fixed joints": lambda: models.beam("fixed", "fixed"),
    "slider-crank at its dead center": lambda: kn.load("examples/slider_crank.yaml"),
    "spatial slider-crank": lambda: kn.load("examples/spatial_slider_crank.yaml"),
    "tree": models.arm,
}


def loads(text, more=""):
    return kn.loads(text.replace("MORE", more))


@pytest.mark.parametrize("name", MOVING)
def test_what_moves_is_not_locked(name):
    found = kn.mobility(MOVING[name]())
    assert found.locked == () and "locked" not in str(found)


def test_a_slide_across_the_plane_locks_its_loop():
    found = kn.mobility(loads(BENT))
    (loop,) = found.locked
    assert found.freedoms == 0 and loop.joints == loop.locked == JOINTS and not loop.shaky and not loop.driven
    assert loop.reason == "slide slides at right angles to the plane in which the others move."
    assert loop.changes == (FreeingChange("slide", "axis", "x"), FreeingChange("slide", "axis", "y"))
    assert str(found).splitlines()[-1] == loop.words
    assert loop.words.endswith("To free it, give slide the axis x, or give slide the axis y.")


@pytest.mark.parametrize("axis", ["x", "y"])
def test_each_change_frees_the_loop(axis):
    system = loads(BENT)
    system.change("slide", axis=axis)
    found = kn.mobility(system)
    assert found.locked == () and found.freedoms == 1
    run = kn.simulate(system, 0.02, start={"main.q": 0, "main.u": 0.5})
    assert abs(run["main.q"][-1]) > 1e-3


def test_a_loop_that_only_gives_way_to_first_order_has_no_freedom():
    """Crank and rod in one line: to first order the pin can move, so that the rank alone does not show the lock."""
    found = kn.mobility(loads(STRETCHED))
    (loop,) = found.locked
    assert loop.shaky and loop.infinitesimal == found.freedoms_at_start == 1 and found.freedoms == 0
    assert [change.value for change in loop.changes] == ["x"]  # along y the stretched rod cannot follow
    assert "gives way a little" in loop.words


def test_a_drive_of_a_locked_joint_is_named_and_the_run_leads_to_it():
    system = loads(STRETCHED, ", speed: 2 rad/s")
    (loop,) = kn.mobility(system).locked
    assert loop.driven == ("main",) and "main is driven all the same." in loop.words
    with pytest.raises(kn.SimulationError, match=r"kn\.mobility"):
        kn.simulate(system, 0.1)


def test_only_the_driven_joint_of_a_loop_that_moves_is_told():
    """A guide beside the four-bar's joints that never slides is no fault until something drives it."""
    text = BENT.replace("between: [world, piston], at: [0.6, 0, 0]}", "between: [world, shoe], at: [0.6, 0, 0]DRIVE}")
    text = text.replace("bodies:\n", "bodies:\n  shoe: {mass: 1, inertia: [0.1, 0.1, 0.1]}\n")
    text += "  run: {kind: prismatic, between: [shoe, piston], at: [0.6, 0, 0], axis: x}\n"
    assert kn.mobility(loads(text.replace("DRIVE", ""))).locked == ()
    (loop,) = kn.mobility(loads(text.replace("DRIVE", ", motion: 0"))).locked
    assert loop.locked == ("slide",) and loop.infinitesimal == 0
    assert loop.words.startswith("slide is locked in its loop")


def test_locks_in_words_need_loops_that_close():
    assert describe_locks(models.arm()) == ()
    assert len(describe_locks(loads(BENT))) == 1
    apart = loads(BENT.replace("[rod, piston], at: [0.6, 0, 0]", "[{body: rod, at: [9, 0, 0]}, piston]"))
    with pytest.raises(kn.AssemblyError):
        kn.mobility(apart)
    assert describe_locks(apart) == ()


def truss():
    """Two bars of 1 m on the ground, in a triangle."""
    system = kn.System("truss", gravity=(0, 0, -9.81))
    one, two = (system.body(name, mass=1, com=(0.5, 0, 0), inertia=(0.01, 0.1, 0.1)) for name in ("one", "two"))
    system.revolute("left", system.world, one, axis="y", guess=-1.0472)
    system.revolute("top", one.at(1, 0, 0), two, axis="y", guess=2.0944)
    system.revolute("right", two.at(1, 0, 0), system.world.at(1, 0, 0), axis="y")
    return system


def doubled(apart=0.0, second="y", turned=False):
    """A bar on two hinges."""
    system = kn.System("doubled", gravity=(0, 0, -9.81))
    bar = system.body("bar", mass=1, com=(0.5, 0, 0), inertia=(0.01, 0.1, 0.1))
    system.revolute("one", system.world, bar, axis="y")
    sides = (system.world.at(apart, 0, 0), bar.at(apart, 0, 0))
    system.revolute("two", *(sides[::-1] if turned else sides), axis=second)
    return system


@pytest.mark.parametrize("make", [truss, lambda: doubled(0.3)])
def test_a_run_of_what_cannot_move_says_so(make, capsys):
    system = make()
    with pytest.warns(kn.RunWarning, match="nothing in .* can move, and nothing is driven. The loop of .* is locked"):
        run = kn.simulate(system, 0.1)
    (event,) = run.events
    assert event.kind == "locked" and set(event.components) == set(system.joints)
    assert repr(run).endswith("done, 1 remark>")
    print_run(run)
    printed = " ".join(capsys.readouterr().out.split())
    assert event.message in printed and "1 remark" in printed
    assert event.message in describe_events(run)


@pytest.mark.parametrize("turned", [False, True])
def test_a_hinge_that_is_there_twice_is_named(turned):
    """The bar swings as on one hinge: a = m g l / (J + m l^2), with l = 0.5 m; how both carry it is not determined."""
    with pytest.warns(kn.RunWarning, match="two repeats one: both are revolute joints between world and bar"):
        run = kn.simulate(doubled(turned=turned), 0.1)
    assert run["one.u_dot"][0] == pytest.approx(9.81 * 0.5 / (0.1 + 0.25))
    assert run.events[0].components == ("one", "two") and not run.reaction("one").unique
    assert kn.verify(run.system).ok  # no row of the loop is left


def twins(system):
    """The joints that a run says to be there twice."""
    with pytest.warns(kn.RunWarning):
        events = kn.simulate(system, 0.01).events
    return [event.components for event in events if "repeats" in event.message]


@pytest.mark.parametrize(("turn", "twin"), [((0, 0.7, 0), True), ((0, 0, np.pi), True), ((0.3, 0, 0), False)])
def test_turned_about_its_own_axis_a_hinge_is_the_same(turn, twin):
    """Turned about y, or end for end, its axis stays on its line."""
    system = kn.System("doubled", gravity=(0, 0, -9.81))
    bar = system.body("bar", mass=1, com=(0.5, 0, 0), inertia=(0.01, 0.1, 0.1))
    system.revolute("one", system.world, bar, axis="y")
    system.revolute("two", system.world.at(0, 0, 0, rpy=turn), bar.at(0, 0, 0, rpy=turn), axis="y")
    assert twins(system) == [("one", "two")] * twin


def test_a_hinge_that_is_there_three_times_is_told_once_for_each():
    system = doubled()
    system.revolute("three", system.world, system.bodies["bar"], axis="y")
    assert twins(system) == [("one", "two"), ("one", "three")]


def test_what_cannot_move_has_no_energy_to_lose():
    """Rounding of the weight's energy, 1e-15 J, is no motion: the audit does not speak of lost trust."""
    with pytest.warns(kn.RunWarning):
        audit = kn.simulate(truss(), 0.5).audit
    assert audit.ok and audit.relative == 0.0 and audit.trust == "trust: no energy was in play"


def test_what_moves_or_is_driven_has_no_remark(recwarn):
    for system in (models.four_bar(), models.bennett(), kn.load("examples/slider_crank.yaml")):
        assert kn.simulate(system, 0.01).events == ()
    assert not [each for each in recwarn if each.category is kn.RunWarning]
