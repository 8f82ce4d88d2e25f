"""One compiled function for everything that a moving view shows: the same numbers as one by one."""

from pathlib import Path

import numpy as np
import pytest

import kinode as kn
from kinode.results import run_frames
from kinode.results.run_frames import player_names, prepare_frames

EXAMPLES = Path(__file__).parents[3] / "examples"
SINGLE = 2e-5  # differences of large numbers are computed in another order, and rounded to single precision


def simulated(name, samples=41):
    system = kn.load(EXAMPLES / f"{name}.yaml")
    return kn.simulate(system, min(system.run_defaults.get("until", 1.0), 1.0), samples=samples)


def near(value, wanted):
    assert value.shape == wanted.shape
    assert np.abs(value - wanted).max(initial=0.0) <= SINGLE * max(np.abs(wanted).max(initial=0.0), 1e-9)


@pytest.mark.parametrize("name", ["excavator", "motor_axis", "four_bar", "slider_crank", "warm_motor", "walker"])
def test_quantities_and_powers_are_those_of_the_run(name):
    run = simulated(name)
    power = run.circuit["power"]
    powers = [f"{link}.power" for link in power["link"].values]
    names = player_names(run.system)
    frames = prepare_frames(run.dynamics, [*names, *powers])(run)
    assert tuple(frames.columns) == (*names, *powers)
    for each in names:
        near(frames[each], run[each].T)
    near(np.array([frames[each] for each in powers]), power.values.T)


def test_expressions_stand_behind_the_names():
    run = simulated("double_pendulum")
    frames = prepare_frames(run.dynamics, ["elbow.q*180/pi", "lower.velocity", "elbow.effort*elbow.u"])(run)
    near(frames["elbow.q*180/pi"], np.rad2deg(run["elbow.q"]))
    near(frames["lower.velocity"], run["lower.velocity"].T)
    near(frames["elbow.effort*elbow.u"], run["elbow.effort*elbow.u"])
    assert sum(where.stop - where.start for where in frames.columns.values()) == len(frames.quantities)
    with pytest.raises(kn.ArgumentError, match=r"no quantity called .*elbow.u"):
        frames["elbow.u"]
    near(frames.evaluate(["elbow.u"])["elbow.u"], run["elbow.u"])


def test_angles_of_cut_joints_do_not_jump():
    run = simulated("slider_crank", 400)
    cut = sorted(run.dynamics.topology.cut_names)
    names = [f"{joint}.q" for joint in cut]
    frames = prepare_frames(run.dynamics, names)(run)
    for name in names:
        near(frames[name], run[name])


def test_states_without_a_run():
    run = simulated("four_bar")
    evaluator = prepare_frames(run.dynamics, ["left.u"])
    frames, wanted = evaluator(run.states), evaluator(run)
    assert np.array_equal(frames.poses, wanted.poses) and np.array_equal(frames.unique, wanted.unique)
    near(frames.loads["total"], wanted.loads["total"])
    with pytest.raises(kn.ArgumentError, match="made of states"):
        frames.breakdown("left")
    with pytest.raises(kn.ArgumentError, match="made of states"):
        frames.evaluate(["left.u"])


def test_another_system_and_unknown_names_are_refused():
    run, other = simulated("pendulum"), simulated("double_pendulum")
    with pytest.raises(kn.ArgumentError, match="another compiled system"):
        prepare_frames(run.dynamics)(other)
    with pytest.raises(kn.Error, match=r"pivot.*9"):
        prepare_frames(run.dynamics, ["pivot.9.power"])


def test_other_parameters_need_no_new_evaluator():
    system = kn.System("arm")
    length = system.parameter("length", 1.0)
    bar = system.body("bar", mass=1.0, com=(length, 0, 0))
    system.revolute("pin", system.world, bar, axis="y")
    dynamics = kn.compile(system)
    evaluator = prepare_frames(dynamics)
    for value in (1.0, 2.0):
        run = kn.simulate(dynamics, 0.5, samples=21, parameters={"length": value})
        wrench = run.reaction("pin", "static", expressed_in="world")
        near(evaluator(run).loads["static"][0], np.hstack([wrench.force, wrench.moment]).T)


def test_a_dead_center_has_no_static_part():
    """A crank that the slider holds: in line with the rod, at the start, the slider has no lever on it."""
    system = kn.System("crank", gravity=(0, -9.81, 0))
    crank = system.body("crank", mass=1.0, com=(0.1, 0, 0), inertia={"zz": 0.01})
    rod = system.body("rod", mass=1.0, com=(0.3, 0, 0), inertia={"zz": 0.01})
    slider = system.body("slider", mass=1.0)
    system.revolute("main", system.world, crank, q=0.0, u=10.0)
    system.revolute("pin", crank, rod, at=(0.2, 0, 0))
    system.revolute("wrist", rod.at(0.7, 0, 0), slider)
    system.prismatic("bore", system.world.at(0.7, 0, 0), slider, axis="x")
    run = kn.simulate(system, 0.1, samples=11)
    frames = run.frames(hold="bore")
    assert np.isnan(frames.loads["static"][:, :, 0]).all()
    assert np.isfinite(frames.loads["static"][:, :, 1:]).all() and np.isfinite(frames.loads["total"]).all()
    assert "no static part at t = 0 s" in frames.notes[0]


def test_breakdowns_of_the_most_loaded_joints():
    run = simulated("excavator")
    frames = run.frames()
    table = run_frames.find_breakdowns(frames, {"body": 2, "cause": 2})
    assert len({joint for joint, _ in table}) == 2
    sizes = np.linalg.norm(frames.loads["total"][:, :3], axis=1).max(axis=1)
    assert frames.joints[int(np.argmax(sizes))] in {joint for joint, _ in table}
    assert run_frames.find_breakdowns(simulated("four_bar").frames()) == {}


@pytest.mark.parametrize("name", ["excavator", "slider_crank"])
def test_breakdowns_of_all_joints_need_two_functions(name):
    """One by body and one by cause; in a slider-crank, which has no causes, one for the loop and one for the hub."""
    run = simulated(name)
    frames = run.frames()
    table = run_frames.find_breakdowns(frames)
    assert len({joint for joint, _ in table}) > 3
    assert sum(kernel.name == "contributions" for kernel in run.dynamics.kernels.made) == 2
    for joint, way in {way: (joint, way) for joint, way in table}.values():  # the last of each way
        alone = frames.breakdown(joint, way)
        assert alone.names == table[joint, way].names
        near(table[joint, way].loads, alone.loads)


def test_the_names_of_a_player_are_known_and_stand_once():
    for name in ("excavator", "motor_axis", "rlc", "stewart_platform", "balanced_pole", "manipulator"):
        system = kn.load(EXAMPLES / f"{name}.yaml")
        names = player_names(system)
        assert len(set(names)) == len(names)
        states = {c.name for c in kn.compile(system).coordinates if c.role == "z"}
        assert states <= set(names)
        assert {*system.signals, *system.inputs} <= set(names)
