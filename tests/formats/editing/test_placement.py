"""Gestures that place and join: the numbers that are written, what follows, and what is refused."""

import pytest

import kinode as kn
from kinode.editing.gestures import plan_gesture
from kinode.editing.spans import apply_edits, invert_edits

TEXT = """\
kinode: 1
parameters: {L: 400 mm, n: 2, both: 2*L}
bodies:
  arm:   # a comment
    shape: {box: {x: 0.4, y: 0.05, z: 0.05, mass: 1}}
    frames: {tip: [L/2, 0, 0], side: [0, 20 mm, 0], bent: {at: [0.1, 0, 0], rpy: [0, 0, 30 deg]},
             far: ["min(L, 0.5)", 0, 0], turned: {at: [0, 0, 0], quaternion: [1, 0, 0, 0]}, mixed: [both, 0, 0]}
  rod: {mass: 1, com: [0.1, 0, 0], frames: {end: [1, 2, 3]}}
joints:
  hinge: {kind: revolute, between: [world, arm], axis: y}
  pin: {kind: spherical, between: [arm.tip, rod.end]}
  held: {kind: revolute, between: [{body: world, at: [0, 0, 1]}, rod]}
"""


def done(gesture, text=TEXT):
    plan = plan_gesture(text, gesture)
    new = apply_edits(text, plan.edits)
    assert apply_edits(new, invert_edits(text, plan.edits)) == text
    return plan, new


def changed(gesture, text=TEXT):
    """The lines that a gesture writes anew."""
    _, new = done(gesture, text)
    return [line.strip() for line in new.splitlines() if line not in text.splitlines()]


def move(kind, name, at, **more):
    return {"do": "place", "what": {kind: name}, "at": at, "step": 1e-3, **more}


def test_numbers_keep_their_units_and_get_no_more_digits_than_the_step():
    (line,) = changed(move("frame", "arm.side", [0.0, 0.0304, 0.01]))
    assert "side: [0, 30 mm, 10 mm]" in line
    (line,) = changed(move("frame", "rod.end", [1.00049, 2.5, 3.0]))
    assert "end: [1, 2.5, 3]" in line
    (line,) = changed({**move("center", "rod", [0.12345, 0, 0]), "step": 1e-2})
    assert "com: [0.12, 0, 0]" in line


def test_a_place_that_is_not_written_yet_is_added():
    _, new = done(move("center", "arm", [0.2, 0, 0]))
    assert kn.loads(new).bodies["arm"].shape.at == (0.2, 0.0, 0.0)
    _, new = done(move("joint", "hinge", [0.0, 0.1, 0]))
    assert kn.loads(new).joints["hinge"].at == (0.0, 0.1, 0.0)
    (line,) = changed(move("joint", "held", [0.0, 0.1, 1]))
    assert "{body: world, at: [0, 0.1, 1]}" in line


def test_an_expression_follows_by_its_parameter_or_says_why_not():
    gesture = move("frame", "arm.tip", [0.25, 0, 0])
    with pytest.raises(kn.ArgumentError, match="changes the parameter L"):
        plan_gesture(TEXT, gesture)
    plan, new = done({**gesture, "parameters": True})
    assert "L: 500 mm" in new and "tip: [L/2, 0, 0]" in new and "changes the parameter L" in plan.words
    with pytest.raises(kn.ArgumentError, match=r"no straight line of L"):
        plan_gesture(TEXT, move("frame", "arm.far", [0.25, 0, 0], parameters=True))
    with pytest.raises(kn.ArgumentError, match="both is no number of this file"):
        plan_gesture(TEXT, move("frame", "arm.mixed", [0.25, 0, 0], parameters=True))
    assert changed(move("frame", "arm.tip", [0.2, 0.01, 0]))  # what stays needs no parameter


def test_axes_are_turned():
    turn = {"do": "place", "what": {"frame": "arm.side"}, "rpy": [0, 0, 0.5236], "angle_step": 0.0175}
    (line,) = changed(turn)
    assert "side: {at: [0, 20 mm, 0], rpy: [0, 0, 30 deg]}" in line
    (line,) = changed({**turn, "what": {"frame": "arm.bent"}, "rpy": [0.1745, 0, 0.5236]})
    assert "rpy: [10 deg, 0, 30 deg]" in line
    with pytest.raises(kn.ArgumentError, match="written as quaternion"):
        plan_gesture(TEXT, {**turn, "what": {"frame": "arm.turned"}})
    with pytest.raises(kn.ArgumentError, match="has no axes"):
        plan_gesture(TEXT, {**turn, "what": {"center": "rod"}})
    (line,) = changed({"do": "place", "what": {"joint": "hinge"}, "axis": [0, 0, -2]})
    assert "axis: -z" in line
    (line,) = changed({"do": "place", "what": {"joint": "hinge"}, "axis": [3, 0, 4]})
    assert "axis: [0.6, 0, 0.8]" in line


@pytest.mark.parametrize("axis, words", [
    ("axis: [cos(turn), sin(turn), 0]", "written with laws"),
    ("axis: [turn, 0, 1]", "written with laws"),
    ("axis: *way", "written as .way"),
    ("kind: spherical", "a spherical joint has no axis"),
])  # fmt: skip
def test_an_axis_that_is_no_plain_direction_stays(axis, words):
    head = "kinode: 1\nparameters: {turn: 0.3}\nbodies: {a: {mass: 1, inertia: [1, 1, 1]}, b: {mass: 1}}\n"
    first = "p: {kind: revolute, between: [world, a], axis: &way [0, 0, 1]}"
    kind = "" if axis.startswith("kind") else "kind: revolute, "
    text = f"{head}joints:\n  {first}\n  q: {{{kind}between: [a, b], {axis}}}\n"
    with pytest.raises(kn.ArgumentError, match=words):
        plan_gesture(text, {"do": "place", "what": {"joint": "q"}, "axis": [0, 0, 1]})


@pytest.mark.parametrize(
    ("gesture", "words"),
    [
        (move("joint", "pin", [0, 0, 0.1]), "move the frame"),
        (move("frame", "arm.none", [0, 0, 0]), "no frame is called 'arm.none'"),
        (move("frame", "tip", [0, 0, 0]), "no frame is called"),
        (move("shape", "rod", [0, 0, 0]), "rod has no shape"),
        (move("frame", "arm.tip", [0, 0]), "at: three numbers"),
        (move("frame", "arm.tip", [0, 0, float("nan")]), "at: three numbers"),
        ({**move("frame", "arm.side", [0, 0, 0]), "step": 0}, "step: a positive number"),
        ({"do": "place", "what": {"wheel": "arm"}, "at": [0, 0, 0]}, "what: {frame: arm.tip}"),
        ({"do": "place", "what": {"frame": "arm.tip"}}, "needs at, rpy or axis"),
        ({"do": "place", "what": {"center": "rod"}, "axis": [0, 0, 1]}, "a joint has an axis"),
    ],
)
def test_what_cannot_be_placed_is_refused_in_words(gesture, words):
    with pytest.raises(kn.ArgumentError) as refused:
        plan_gesture(TEXT, gesture)
    assert words in str(refused.value)


def test_a_joint_between_two_places_adds_the_frames_that_are_missing():
    gesture = {"do": "join", "kind": "revolute", "name": "elbow", "a": {"frame": "arm.tip"},
               "b": {"body": "rod", "at": [-0.1, 0, 0]}, "axis": "z"}  # fmt: skip
    plan, new = done(gesture)
    assert plan.made == ["elbow"] and plan.words == "join arm and rod by elbow"
    system = kn.loads(new)
    assert system.joints["elbow"].b == system.bodies["rod"]["elbow"]
    assert system.bodies["rod"]["elbow"].position == (-0.1, 0.0, 0.0)
    _, again = done({**gesture, "name": "second"}, new)
    assert kn.loads(again).joints["second"].b.name == "second"


def test_a_joint_on_the_world_is_written_where_it_is_used():
    join = {"do": "join", "kind": "prismatic", "a": {"body": "world", "at": [0, 0.3, 0]}, "b": {"body": "rod"}}
    (line,) = changed({**join, "axis": [0.0, 0.0, 1.0]})
    assert line == "prismatic: {kind: prismatic, between: [{body: world, at: [0, 0.3, 0]}, rod], axis: z}"
    (line,) = changed({**join, "kind": "spherical", "axis": "z"})
    assert "axis" not in line
    (line,) = changed({**join, "a": {"body": "world", "at": [1e-5, 0, 0]}})
    assert "between: [world, rod]" in line


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"kind": "wheel"}, "there is no joint 'wheel'"),
        ({"b": {"body": "world"}}, "both places are on world"),
        ({"b": {"body": "nobody"}}, "there is no body 'nobody'"),
        ({"b": {}}, "b: {frame: arm.tip}"),
        ({"b": {"frame": "rod"}}, "is no frame"),
        ({"axis": "w"}, "axis: one of"),
        ({"name": "arm"}, "taken"),
    ],
)
def test_what_cannot_be_joined_is_refused_in_words(change, words):
    join = {"do": "join", "kind": "revolute", "a": {"body": "world"}, "b": {"body": "rod"}, "axis": "z"}
    with pytest.raises(kn.Error) as refused:
        plan_gesture(TEXT, {**join, **change})
    assert words in str(refused.value)


BOXED = """kinode: 1
parameters: {L: 1 m}
systems:
  leg:
    parameters: {L: L}
    system:
      parameters: {L: 2 m}
      bodies:
        arm: {mass: 1, com: [0.1, 0, 0], frames: {tip: [0.2, 0, 0], end: [L, 0, 0]}}  # inside
      joints: {hinge: {kind: revolute, between: [world, arm]}}
"""


def test_frames_and_mass_centers_in_a_subsystem_are_moved_where_they_are_written():
    moved = plan_gesture(BOXED, {"do": "place", "what": {"frame": "leg.arm.tip"}, "at": [0.3, 0, 0.1]})
    assert apply_edits(BOXED, moved.edits) == BOXED.replace("[0.2, 0, 0]", "[0.3, 0, 0.1]")
    assert moved.words == "move leg.arm.tip"
    center = plan_gesture(BOXED, {"do": "place", "what": {"center": "leg.arm"}, "at": [0.1, 0.2, 0]})
    assert apply_edits(BOXED, center.edits) == BOXED.replace("com: [0.1, 0, 0]", "com: [0.1, 0.2, 0]")
    with pytest.raises(kn.ArgumentError, match=r"leg.arm.end cannot be moved: it is a law of the subsystem"):
        plan_gesture(BOXED, {"do": "place", "what": {"frame": "leg.arm.end"}, "at": [3, 0, 0], "parameters": True})
