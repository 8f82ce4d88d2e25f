"""Pictures of a run: where bodies are and what loads the joints, at times that the run need not have kept.

The measure is a run that was simulated with the times of the pictures.  Arrays of pictures have single precision,
6e-8 of a number; 1e-6 of the range leaves room for it.
"""

from pathlib import Path

import numpy as np
import pytest

import kinode as kn
from kinode.results.joint_loads import reactions

EXAMPLES = Path(__file__).parents[3] / "examples"
SINGLE = 1e-6


def example(name):
    return kn.load(EXAMPLES / f"{name}.yaml")


def swing(**joint):
    system = kn.System("swing")
    bar = system.body("bar", mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    system.revolute("pin", system.world, bar, axis="y", **joint)
    return system


def near(value, wanted):
    value, wanted = np.asarray(value, dtype=float), np.asarray(wanted, dtype=float)
    assert value.shape == wanted.shape
    assert np.abs(value - wanted).max(initial=0.0) <= SINGLE * max(np.abs(wanted).max(initial=0.0), 1.0)


def check_poses(frames, run):
    assert frames.poses.shape == (len(run.system.bodies), 7, len(frames))
    assert frames.poses.dtype == np.float32 and frames.t.dtype == np.float64
    for pose, body in zip(frames.poses, frames.bodies, strict=True):
        near(pose[:3].T, run[f"{body}.position"])
        wanted = run[f"{body}.quaternion"].T
        near(pose[3:] * np.sign(np.sum(pose[3:] * wanted, axis=0)), wanted)
        assert (np.sum(pose[3:, 1:] * pose[3:, :-1], axis=0) > 0.0).all()


def check_loads(frames, run, hold=None):
    names = {k: name for k, name in enumerate(frames.joints) if name in run.system.joints}
    joints = list(names.values())
    for part, loads in frames.loads.items():
        wrenches = reactions(run, joints, part, hold if part == "static" else None, axes="world")
        for k, name in names.items():
            near(loads[k], np.hstack([wrenches[name].force, wrenches[name].moment]).T)
    own, places = reactions(run, joints, "total"), run.evaluate([f"{name}.child.position" for name in joints])
    for k, name in names.items():
        near(frames.points[k].T, places[f"{name}.child.position"])
        assert tuple(frames.unique[k]) == (own[name].components or (True,) * 6)
        assert (frames.shared[k], frames.left_out[k]) == (own[name].shared, own[name].left_out)


@pytest.mark.parametrize("name", [
    "double_pendulum", "spinning_top", "quadcopter", "stewart_platform", "slider_crank", "four_bar",
    "backlash_axis", "brake_arm", "ur5", "leg", "balanced_pole",
])  # fmt: skip
def test_pictures_between_few_states_are_those_of_a_run_with_their_times(name):
    system = example(name)
    until = min(system.run_defaults.get("until", 1.0), 1.5)
    run = kn.simulate(system, until, samples=7)
    frames = run.frames()
    assert len(frames) == 300 and frames.t[0] == 0.0 and frames.t[-1] == until
    wanted = kn.simulate(run.dynamics, until, times=frames.t)
    check_poses(frames, wanted)
    check_loads(frames, wanted)


def test_quaternions_turn_on_without_a_jump():
    system = swing(u="20 rad/s")
    frames = kn.simulate(system, 2.0, samples=11).frames()
    angle = 2.0 * np.unwrap(np.arctan2(frames.poses[0, 5], frames.poses[0, 3]))  # about y
    assert abs(angle[-1] - angle[0]) > 4.0 * np.pi
    assert (frames.poses[0, 3] < -0.5).any() and (frames.poses[0, 3] > 0.5).any()


def test_a_jump_of_the_speed_is_not_smoothed():
    ball = kn.System("ball")
    body = ball.body("body", mass=1.0)
    ball.prismatic("way", ball.world, body, axis="z", q="1 m", stop={"lower": 0, "restitution": 0.8})
    run = kn.simulate(ball, 2.0, samples=4)
    frames = run.frames(500, names=["way.u", "way.q"])
    times = [event.time for event in run.events]
    assert len(times) >= 2
    hit = times[0]
    assert hit == pytest.approx(np.sqrt(2.0 / 9.81), rel=1e-6)
    before, after = frames["way.u"][frames.t < hit][-1], frames["way.u"][frames.t > hit][0]
    speed = np.sqrt(2.0 * 9.81)
    assert before == pytest.approx(-speed, abs=9.81 / 500) and after == pytest.approx(0.8 * speed, abs=9.81 / 500)
    assert (frames["way.q"] > -1e-6).all()


def test_pictures_come_from_stored_states_that_are_close_enough():
    run = kn.simulate(swing(), 1.0, samples=1001)
    frames = run.frames(100)
    assert len(frames) == 101 and np.isin(frames.t, run.t).all()
    near(frames.poses[0, :3].T, run["bar.position"][np.searchsorted(run.t, frames.t)])
    own = kn.simulate(swing(), 1.0, times=np.linspace(0.0, 1.0, 300))
    assert own.frames().run is own


def test_the_number_of_pictures():
    run = kn.simulate(swing(), 10.0, samples=3)
    assert [len(run.frames()), len(run.frames(most=400)), len(run.frames(30)), len(run.frames(0.01))] == [
        601, 400, 301, 2,
    ]  # fmt: skip
    assert len(kn.simulate(swing(), 1.0, samples=3).frames(least=100)) == 100


@pytest.mark.parametrize(("arguments", "message"), [
    ({"rate": 0}, "rate: a positive number"),
    ({"rate": "fast"}, "rate: a positive number"),
    ({"rate": np.nan}, "rate: a positive number"),
    ({"rate": 1e9}, "rate: 1e\\+09 pictures of 1 s"),
    ({"least": 1}, "least: a whole number"),
    ({"most": 2.5}, "most: a whole number"),
    ({"least": 50, "most": 20}, "least: 50 pictures"),
    ({"names": ["pin.w"]}, "pin has no quantity"),
    ({"names": [3]}, "names: the name of a quantity"),
    ({"hold": "nothing"}, "no joint is called"),
])  # fmt: skip
def test_wrong_arguments_are_named(arguments, message):
    run = kn.simulate(swing(), 1.0, samples=3)
    with pytest.raises(kn.Error, match=message):
        run.frames(**arguments)


@pytest.mark.parametrize("options", [{}, {"samples": 21}])
@pytest.mark.parametrize("law", [{"effort": "sqrt(1 - t)"}, {"u": 1.0, "effort": "50*pin.u^3"}])
def test_a_failed_run_is_shown_until_it_failed(options, law):
    with pytest.raises(kn.SimulationError) as caught:
        kn.simulate(swing(**law), 5.0, **options)
    run = caught.value.run
    frames = run.frames()
    assert frames.t[0] == 0.0
    assert frames.t[-1] == pytest.approx(run.end.t) or frames.notes
    assert (np.isfinite(frames.poses).all() and len(frames) >= len(run.t)) or len(frames) == 300


def test_a_run_of_one_state_and_a_run_of_none():
    run = kn.simulate(swing(), 0.0)
    frames = run.frames()
    assert len(frames) == 1 and frames.poses.shape == (1, 7, 1) and frames.loads["total"].shape == (1, 6, 1)
    empty = kn.Trajectory(run.dynamics, np.empty(0), np.empty((0, run.y.shape[1])))
    frames = empty.frames(names=["pin.q"])
    assert len(frames) == 0 and frames.poses.shape == (1, 7, 0) and frames["pin.q"].shape == (0,)


def test_redundant_loops_without_a_state():
    """Four bars share the weight of a redundant loop; none of the rows is lost where there are none."""
    run = kn.simulate(example("four_bar"), 0.1, samples=5)
    empty = kn.Trajectory(run.dynamics, np.empty(0), np.empty((0, run.y.shape[1])))
    assert empty.frames().loads["total"].shape == (4, 6, 0)


def test_a_circuit_without_bodies():
    run = kn.simulate(example("rlc"), 0.01, samples=5)
    names = [coordinate.name for coordinate in run.dynamics.coordinates]
    frames = run.frames(names=names)
    assert (frames.bodies, frames.joints, len(frames), frames.notes) == ((), (), 300, ())
    wanted = kn.simulate(run.dynamics, 0.01, times=frames.t)
    for name in names:
        near(frames[name], wanted[name])


def test_the_static_part_of_loops_needs_a_support():
    run = kn.simulate(example("four_bar"), 0.5, samples=3)
    frames = run.frames()
    assert set(frames.loads) == {"total"} and frames.kinetic is None
    assert "name a joint: left, pin, right or top" in frames.notes[0]
    held = run.frames(hold="left")
    assert not held.notes
    check_loads(held, kn.simulate(run.dynamics, 0.5, times=held.t), hold="left")


def test_loads_of_constraints():
    system = kn.System("rope", gravity=(0, 0, -9.81))
    ball = system.body("ball", mass=2.0, inertia=(0.01, 0.01, 0.01))
    system.free("fly", system.world, ball, position=(0.3, 0, -0.4), velocity=(0, 1, 0))
    system.constraint("rope", "distance", a=system.world, b=ball, distance=0.5)
    run = kn.simulate(system, 1.0, samples=300)
    frames = run.frames()
    assert frames.joints == ("rope",) and frames.on == ("ball",)
    near(frames.loads["total"][0, :3].T, run["rope.on.ball.force"])
    near(frames.points[0].T, run["ball.position"])
    wrench = frames.wrenches["rope"]
    assert (wrench.on, wrench.frame, wrench.unique) == ("ball", "world", True)


def test_pictures_of_a_file_are_those_of_the_run(tmp_path):
    """Clocks have ticked at the first state; the file keeps the state before."""
    run = kn.simulate(example("balanced_pole"), 0.2, samples=5)
    run.save(tmp_path / "run.nc")
    again = kn.load(tmp_path / "run.nc")
    frames, wanted = again.frames(), run.frames()
    assert not frames.notes and np.array_equal(frames.t, wanted.t)
    near(frames.poses, wanted.poses)


def test_functions_of_the_user_are_not_called_again():
    calls = []
    system = swing()
    system.controller("watch", lambda t, x: calls.append(t) or 0.0, inputs={"x": "pin.q"}, period="10 ms")
    run = kn.simulate(system, 1.0, samples=5)
    count = len(calls)
    frames = run.frames()
    assert len(calls) == count > 50 and np.array_equal(frames.t, run.t)
    assert "stored states" in frames.notes[0]


def test_a_run_that_comes_out_otherwise_keeps_its_states():
    run = kn.simulate(swing(), 1.0, samples=5)
    other = kn.Trajectory(run.dynamics, run.t, run.y * 1.01, p=run.p, inputs=run.inputs)
    other.facts, other.begin = run.facts, run.begin
    frames = other.frames()
    assert np.array_equal(frames.t, run.t) and "could not be repeated" in frames.notes[0]


def test_who_loads_a_joint():
    run = kn.simulate(example("excavator"), 2.0, samples=5)
    frames = run.frames()
    for k, name in enumerate(frames.joints):
        for by in ("body", "cause"):
            part = frames.breakdown(name, by)
            assert part.loads.shape == (len(part.names), 6, len(frames)) and part.loads.dtype == np.float32
            largest = np.abs(part.loads).max()
            assert np.abs(part.loads.sum(axis=0) - frames.kinetic[k]).max() <= 1e-5 * largest
    with pytest.raises(kn.ArgumentError, match="by: body or cause"):
        frames.breakdown("swing", "colour")
