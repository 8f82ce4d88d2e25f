"""Where a derivative does not exist, or cannot be computed, it is said by name and time."""

import pytest
from run_differences import read

import kinode as kn

TWO_BALLS = """
name: two
gravity: [0, -9.81, 0]
parameters: {rest: 0.6, h: 1 m}
bodies: {a: {mass: 1}, b: {mass: 1}}
joints:
  first: {kind: prismatic, axis: y, between: [world, a], q: 1, stop: {lower: 0, restitution: rest}}
  second: {kind: prismatic, axis: y, between: [world, b], q: h, stop: {lower: 0, restitution: 0.3}}
"""
JUMP = """
name: pushed
gravity: [0, 0, 0]
parameters: {k: 0.3 N, edge: 0.5 m}
bodies: {a: {mass: 1}}
joints: {rail: {kind: prismatic, axis: y, between: [world, a], q: 1, u: -1, effort: "k*(rail.q > edge)"}}
"""


def test_two_events_at_one_instant():
    with pytest.warns(
        kn.SensitivityWarning, match=r"no derivative from t = 0\.4515\d+ s on: second changes at the same"
    ):
        run = kn.simulate(read(TWO_BALLS), 0.7, samples=15, sensitivity=["h"])
    assert "same instant" in run.facts["sensitivity_end"]
    with pytest.raises(kn.ArgumentError, match=r"no derivative from t = 0\.4515.*end the run before"):
        run.sensitivity("second.q", "h")
    before = kn.simulate(read(TWO_BALLS), 0.45, samples=3, sensitivity=["h"])
    assert before.sensitivity("second.q", "h") == pytest.approx([1, 1, 1])


def test_events_that_stay_together_are_no_conflict():
    run = kn.simulate(read(TWO_BALLS.replace("q: 1,", "q: h,")), 0.7, samples=15, sensitivity=["h"])
    assert run.sensitivity("second.q", "h")[-1] != 1


def test_a_law_that_jumps_without_an_event():
    with pytest.warns(kn.SensitivityWarning, match=r"the law rail\.effort jumps there"):
        run = kn.simulate(read(JUMP), 0.9, samples=3, sensitivity=["k"])
    assert 0.5 < run.columns.lost_time < 0.6
    with pytest.raises(kn.ArgumentError, match="no derivative"):
        run.sensitivity("rail.q", "k")


def test_a_corner_is_no_jump():
    corner = JUMP.replace("k*(rail.q > edge)", "where(rail.q < edge, 30*k*(edge - rail.q), 0)")
    run = kn.simulate(read(corner), 0.9, samples=3, sensitivity=["edge"])
    assert run.columns.lost_time is None
    assert run.sensitivity("rail.q", "edge")[-1] > 0


def test_an_impact_at_the_turning_point_grazes():
    """Thrown up to a stop at the very height at which it turns, a hair higher."""
    text = """
name: thrown
gravity: [0, -9.81, 0]
parameters: {top: 0.9999999999999}
bodies: {a: {mass: 1}}
joints:
  rail: {kind: prismatic, axis: y, between: [world, a], u: 4.42944691807002, stop: {upper: top, restitution: 0.5}}
"""
    with pytest.warns(kn.SensitivityWarning, match="rail only touches a threshold there"):
        kn.simulate(read(text), 0.7, rtol=1e-12, atol=1e-14, method="dop853", sensitivity=["top"])


def test_impacts_that_accumulate_end_the_derivative():
    """A ball that bounces to rest: the derivative ends at the bounces without number, not after them."""
    text = TWO_BALLS.replace("q: 1,", "q: 0.2,")
    with pytest.warns(kn.SensitivityWarning, match=r"touches a threshold there"):
        run = kn.simulate(read(text), 5.0, samples=15, sensitivity=["rest"])
    assert (
        0.8 - 0.01 < run.columns.lost_time < 0.87
    )  # the second ball, h = 1 m: t (1 + 2 (0.3 + 0.09 + ...)) = 0.8385 s


SAMPLER = """
name: sampled
bodies: {a: {mass: 1}}
parameters: {P: 3}
joints: {rail: {kind: prismatic, axis: x, between: [world, a], effort: hold.output}}
elements: {hold: {kind: sample_hold, input: -P*rail.q, period: 10 ms, resolution: 1 mm}}
"""


@pytest.mark.parametrize(
    "arguments, said",
    [
        ({"sensitivity": ["LL"]}, "no parameter, input or initial value is called 'LL'; did you mean L"),
        ({"sensitivity": "q"}, "is expected by its name, not 'q'"),
        ({"sensitivity": []}, "a name or several are expected"),
        ({"sensitivity": ["L", "L"]}, "L is named twice"),
        ({"sensitivity": ["L"], "formulation": "lagrange"}, "needs the formulation 'recursive', not 'lagrange'"),
    ],
)
def test_what_cannot_be_is_refused(arguments, said):
    with pytest.raises(kn.ArgumentError, match=said):
        kn.simulate(kn.load("examples/double_pendulum.yaml"), 0.1, **arguments)


def test_rounded_samples_are_refused():
    with pytest.raises(kn.ArgumentError, match=r"hold rounds its samples \(resolution\)"):
        kn.simulate(read(SAMPLER), 0.1, sensitivity=["P"])


def test_initial_values_that_cannot_change_alone_are_refused():
    with pytest.raises(kn.ArgumentError, match=r"tip\.q\.qw is part of a quaternion"):
        kn.simulate(kn.load("examples/spinning_top.yaml"), 0.1, sensitivity=["tip.q.qw"])
    with pytest.raises(kn.ArgumentError, match=r"the start cannot be found for pin\.q near"):
        kn.simulate(kn.load("examples/four_bar.yaml"), 0.1, sensitivity=["pin.q"])


def test_a_given_state_of_a_loop_does_not_follow_a_length():
    system = kn.load("examples/spatial_slider_crank.yaml")
    state = kn.assemble(system)
    with pytest.raises(kn.ArgumentError, match="the loops open at the start if rod_length changes alone; give initial"):
        kn.simulate(system, 0.1, start=state, sensitivity=["rod_length"])


def test_names_of_a_run_are_checked():
    plain = kn.simulate(kn.load("examples/double_pendulum.yaml"), 0.1, samples=3)
    with pytest.raises(kn.ArgumentError, match=r"simulate it with sensitivity=\['L'\]"):
        plain.sensitivity("elbow.q", "L")
    run = kn.simulate(kn.load("examples/double_pendulum.yaml"), 0.1, samples=3, sensitivity=["L"])
    with pytest.raises(kn.ArgumentError, match=r"the run was not differentiated by 'elbow\.u'"):
        run.sensitivity("elbow.q", "elbow.u")


def test_large_systems_are_refused():
    system, parent = kn.System("chain"), None
    for k in range(45):
        body = system.body(f"b{k}", mass=1, inertia=(1, 1, 1))
        system.revolute(f"j{k}", system.world if parent is None else parent.at(1, 0, 0), body)
        parent = body
    with pytest.raises(kn.ArgumentError, match="45 links are too many"):
        kn.simulate(system, 0.1, sensitivity=["j0.q"])


def test_the_speed_of_a_joint_at_rest_with_friction_is_refused():
    """A little speed forward and one back meet friction of opposite sign."""
    with pytest.raises(kn.ArgumentError, match=r"elbow\.u: elbow is at rest at the start"):
        kn.simulate(kn.load("examples/ur5.yaml"), 0.1, sensitivity=["elbow.u"])


def test_a_start_on_a_threshold_that_moves():
    """A ball lies on the ground, and its height is varied: below it would be beyond the stop."""
    text = TWO_BALLS.replace("q: h,", "q: h - 1,")
    with pytest.raises(kn.ArgumentError, match=r"h: second starts at its end stop, and would be off it"):
        kn.simulate(read(text), 0.1, sensitivity=["h"])
    along = text.replace("stop: {lower: 0, restitution: 0.3}", "stop: {lower: h - 1, restitution: 0.3}")
    run = kn.simulate(read(along), 0.1, samples=3, sensitivity=["h", "rest"])
    assert run.sensitivity("second.q", "h") == pytest.approx([1, 1, 1])  # the ground and the ball on it
