"""Models at their start, whole or not: poses as the run has them, bodies without joints, loops that stay open."""

from pathlib import Path

import numpy as np
import pytest

import kinode as kn
from kinode.editing.checked_text import check_text
from kinode.editing.draft import ModelDraft
from kinode.editing.gestures import plan_gesture
from kinode.editing.spans import apply_edits
from kinode.studio.placing.place_desk import explain_mobility
from kinode.studio.placing.pulling import Pull, start_gesture
from kinode.studio.placing.still_model import StillModel
from kinode.studio.placing.still_scene import still_document

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
OPEN = """\
kinode: 1
bodies:
  a: {mass: 1, frames: {tip: [1, 0, 0]}}
  b: {mass: 1, frames: {tip: [1, 0, 0]}}
joints:
  left: {kind: revolute, between: [world, a]}
  pin: {kind: revolute, between: [a.tip, b]}
  right: {kind: revolute, between: [{body: world, at: [3, 0, 0]}, b.tip]}
"""
BALL = """\
kinode: 1
bodies: {arm: {mass: 1, com: [0.5, 0, 0]}, hand: {mass: 1, com: [0.2, 0, 0]}}
joints:
  ball: {kind: spherical, between: [world, arm]}
  cross: {kind: universal, between: [arm, hand], axes: [y, z], at: [0, 0, 0]}
"""


def test_a_motion_is_read_through_several_signals():
    system = kn.System("read")
    arm = system.body("arm", mass=1.0, com=(0.1, 0.0, 0.0), inertia=(0.1, 0.1, 0.1))
    system.signal("inner", "0.3 + t")
    system.signal("outer", "2*inner")
    system.revolute("elbow", system.world, arm, motion="outer")
    still = StillModel(system)
    assert not still.words
    assert list(still.system.signals) == ["inner", "outer"]


@pytest.mark.parametrize("name", ["double_pendulum", "slider_crank", "four_bar", "leg", "ship_gimbal"])
def test_bodies_are_where_the_run_begins(name):
    system = kn.load(EXAMPLES / f"{name}.yaml")
    model, dynamics = StillModel(system), kn.compile(system)
    for body in system.bodies:
        R, p = dynamics.pose(body, 0.0, dynamics.initial.q, z=dynamics.initial.z)
        assert model.poses[body].p == pytest.approx(p, abs=1e-9), body
        assert model.poses[body].R == pytest.approx(R, abs=1e-9), body


def test_bodies_without_joints_stand_beside_the_others():
    head = "kinode: 1\nbodies: {a: {mass: 1}, b: {mass: 1}, c: {mass: 1 m}}\n"
    text = head + "joints: {j: {kind: revolute, between: [a, c]}}"
    model = StillModel(check_text(text).system)
    assert set(model.loose.values()) == {"a", "b"} and set(model.poses) == {"a", "b"}
    assert np.linalg.norm(model.poses["a"].p - model.poses["b"].p) > 0.05
    header, arrays = still_document(model, None)
    assert [body["name"] for body in header["bodies"]] == ["a", "b"] and header["joints"] == []
    assert arrays["poses"].shape == (2, 7, 1)


def test_laws_that_cannot_be_evaluated_do_not_keep_bodies_from_the_picture():
    text = (EXAMPLES / "slider_crank.yaml").read_text().replace("speed: n", "motion: nobody*t")
    model = StillModel(check_text(text).system)
    assert set(model.poses) == {"crank", "flywheel", "rod", "piston"}


def test_loops_that_stay_open_say_how_far():
    model = StillModel(check_text(OPEN).system)
    header, _ = still_document(model, None)
    (gap,) = header["gaps"]
    assert gap["joint"] in ("left", "pin", "right") and gap["length"] == pytest.approx(1.0, abs=0.05)
    assert "is off by" in gap["words"] and "the loops are open" in header["words"]


def test_a_small_change_is_followed_from_the_position_before():
    system = kn.load(EXAMPLES / "four_bar.yaml")
    before = StillModel(system)
    assert StillModel(system, before).x == pytest.approx(before.x, abs=1e-9)


# -- pulling -------------------------------------------------------------------------------------
def grab(model, body, at, by):
    X = model.poses[body]
    return Pull(model, body, np.array(at)), X.p + X.R @ at + by


def test_a_pulled_point_goes_where_it_is_pulled_and_joints_stay_together():
    model = StillModel(check_text(BALL).system)
    pull, goal = grab(model, "hand", [0.4, 0, 0.1], np.array([-0.1, 0.15, 0.1]))
    pulled = pull.to(goal)
    X = pulled.poses["hand"]
    # the reach is that of the arm: the point stays on its sphere, the hand turns about two axes
    assert X.p + X.R @ [0.4, 0, 0.1] == pytest.approx(goal, abs=0.05)
    assert X.p == pytest.approx(pulled.poses["arm"].p, abs=1e-9)
    q = np.array(model.values(pulled.x)["ball"])
    assert np.linalg.norm(q) == pytest.approx(1.0, abs=1e-9)


def test_loops_stay_closed_while_a_body_is_pulled():
    model = StillModel(kn.load(EXAMPLES / "four_bar.yaml"))
    dynamics = kn.compile(model.given)
    left = model.values(model.x)["left"][0]
    wanted = kn.assemble(dynamics, {"left.q": left + 0.4}, hold="left").state
    R, p = dynamics.pose("coupler", 0.0, wanted.q)
    pulled = Pull(model, "coupler", np.array([0.1, 0, 0])).to(p + R @ [0.1, 0, 0])
    assert pulled.left < 1e-5 and pulled.words == ""
    for body in model.poses:
        assert pulled.poses[body].p == pytest.approx(dynamics.pose(body, 0.0, wanted.q)[1], abs=1e-4), body
    there = kn.assemble(dynamics, {"left.q": model.values(pulled.x)["left"][0]}, hold="left").state
    assert pulled.poses["rocker"].p == pytest.approx(dynamics.pose("rocker", 0.0, there.q)[1], abs=1e-8)


def test_a_body_that_nothing_joins_cannot_be_pulled():
    model = StillModel(check_text("kinode: 1\nbodies: {a: {mass: 1}}").system)
    with pytest.raises(kn.Error, match="a is not joined"):
        Pull(model, "a", np.zeros(3))
    with pytest.raises(kn.Error, match="no body 'b'"):
        Pull(model, "b", np.zeros(3))


@pytest.mark.parametrize(
    ("name", "body", "by"), [("four_bar", "coupler", [-0.03, -0.03, 0]), ("leg", None, [0.02, 0.05, 0])]
)
def test_a_pulled_position_becomes_the_start(name, body, by):
    file = EXAMPLES / f"{name}.yaml"
    text = file.read_text()
    checked = check_text(text, file)
    model = StillModel(checked.system)
    body = body or list(model.poses)[-1]
    pull, goal = grab(model, body, [0.1, 0, 0], np.array(by))
    pulled = pull.to(goal)
    gesture, words = start_gesture(model, pulled.x, ModelDraft(text, file, checked))
    assert gesture is not None and words == []
    plan = plan_gesture(text, gesture, file)
    assert plan.words == "start here"
    there = StillModel(check_text(apply_edits(text, plan.edits), file).system)
    for each, X in pulled.poses.items():
        assert there.poses[each].p == pytest.approx(X.p, abs=2e-3), each


def test_start_values_that_are_laws_stay():
    head = "kinode: 1\nparameters: {q0: 0.2}\nbodies: {a: {mass: 1}}\n"
    text = head + "joints: {h: {kind: revolute, between: [world, a], q: q0}}"
    checked = check_text(text)
    model = StillModel(checked.system)
    pull, goal = grab(model, "a", [1, 0, 0], np.array([-0.3, 0.3, 0]))
    gesture, words = start_gesture(model, pull.to(goal).x, ModelDraft(text, None, checked))
    assert gesture is None and words == ["h starts at q0, which stays"]


# -- mobility ------------------------------------------------------------------------------------
def test_mobility_is_told_in_the_words_of_the_task():
    system = kn.load(EXAMPLES / "four_bar.yaml")
    found = explain_mobility(StillModel(system), True)
    own = kn.mobility(system)
    counts = dict(found["counts"])
    assert counts["degrees of freedom"] == str(own.freedoms) and counts["redundant constraints"] == str(own.redundant)
    assert set(found["badges"]) == {name for group in own.redundancies for name in group.carried}
    assert found["badges"]["pin"] == "redundant: force along z; moment about x, y"
    assert any("3 constraints are redundant" in words for words in found["sentences"])


def test_bodies_that_float_are_not_counted():
    model = StillModel(check_text(BALL.replace("{arm:", "{free: {mass: 1}, arm:")).system)
    assert list(model.loose.values()) == ["free"]
    found = explain_mobility(model, False)
    assert dict(found["counts"])["degrees of freedom"] == "5"
    assert found["sentences"][0] == "free is not joined to the world yet: its six freedoms are not counted."


def test_a_scene_offers_the_places_of_bodies_in_subsystems():
    text = (
        "kinode: 1\nsystems:\n  leg:\n    system:\n      bodies:\n        arm: {mass: 1, frames: {tip: [0.2, 0, 0]}}\n"
        "      joints: {hinge: {kind: revolute, between: [world, arm]}}\n"
    )
    draft = ModelDraft(text, "model.yaml")
    header, _ = still_document(StillModel(draft.system), draft)
    (tip,) = (place for place in header["places"] if place["kind"] == "frame")
    assert tip["name"] == "leg.arm.tip" and tip["off"] == "" and tip["given"]
    assert tip["path"] == ["systems", "leg", "system", "bodies", "arm", "frames", "tip"]
    assert [entry["value"] for entry in tip["entries"]] == [0.2, 0.0, 0.0]


def test_frames_that_move_stand_where_they_are_at_the_start():
    system = kn.System("ship")
    body = system.body("hull", mass=1, inertia=(1, 1, 1))
    system.revolute("pin", system.world, body, axis="z", motion="0.5 + t")
    system.frame("drone", "moving", position=("1 + 2*t", "sin(t)", 3), turns=[("z", "0.3 + t")])
    poses = StillModel(system).poses
    np.testing.assert_allclose(poses["drone"].p, [1, 0, 3], atol=1e-15)
    for name, angle in (("drone", 0.3), ("hull", 0.5)):
        np.testing.assert_allclose(poses[name].R[:2, 0], [np.cos(angle), np.sin(angle)], atol=1e-15)
