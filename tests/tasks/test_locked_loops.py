"""Loops that are locked: told in words, with changes that free them; loops that move are not."""

import pytest

import kinode as kn
import loop_models as models
from kinode.tasks.locking.locked_loops import FreeingChange, describe_locks

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
