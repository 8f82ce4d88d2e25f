"""MJCF: what a model holds is read, or named in the notes; nothing is lost in silence."""

import mujoco
import pytest
from mjcf_text import BEYOND
from mujoco_peer import compare, compile_peer

import kinode as kn

EQUAL = 1e-11  # rounding of the mass matrices

HINGE = '<body name="a"><joint name="h" axis="0 1 0" {}/><geom name="x" size="0.1" pos="0.3 0 0"/>{}</body>'
SECOND = '<body name="b" pos="0 1 0"><joint name="g" axis="0 1 0"/><geom name="y" size="0.2" pos="0.3 0 0.1"/></body>'
QUIET = '<default><geom contype="0" conaffinity="0"/></default>'


def model(joint="", inner="", *, beside="", head="", rest=""):
    return f"<mujoco>{QUIET}{head}<worldbody>{HINGE.format(joint, inner)}{beside}</worldbody>{rest}</mujoco>"


def several(kind):
    return (
        f'<mujoco>{QUIET}<worldbody><body name="a"><joint name="h" type="{kind}" stiffness="0 1 2" damping="0.1 0.4 '
        '0.2"/><geom size="0.1" pos="0.3 0 0"/></body></worldbody></mujoco>'
    )


TENDON = '<tendon><fixed name="t" {}><joint joint="h" coef="2"/></fixed></tendon><actuator>{}</actuator>'
PULL = '<motor name="{}" tendon="t" gear="5"/>'
# A model, and its notes; accelerations are MuJoCo's once it is relieved of what the notes name.
CASES = {
    "constraints switched off": (
        model('range="-1 1" frictionloss="0.1"', beside=SECOND, head='<option><flag constraint="disable"/></option>',
              rest='<equality><joint joint1="h" joint2="g"/></equality>'),
        [],
    ),
    "passive forces switched off": (
        model('stiffness="3 1 1" damping="1 1 1"',
              head='<option density="2"><flag spring="disable" damper="disable"/></option>')
        .replace('name="a"', 'name="a" gravcomp="1"'),
        [],
    ),
    "a group of actuators switched off": (
        model(head='<option actuatorgroupdisable="3"/>',
              rest='<actuator><position name="p" joint="h" kp="9" group="3"/><motor name="m" joint="h"/></actuator>'),
        ["left out: actuator p: its group, 3, is switched off"],
    ),
    "a bound of what pulls a tendon": (
        model(rest=TENDON.format('actuatorfrcrange="-0.01 0.01"', PULL.format("m"))),
        [],
    ),
    "a tendon that yields": (
        model(rest=TENDON.format('stiffness="3" springyield="0.1"', "")),
        ["left out: tendon t: springyield"],
    ),
    "polynomials of a ball joint": (
        several("ball"),
        ["left out: damping of h that is not linear", "left out: spring of h"],
    ),
    "polynomials of a free joint": (
        several("free"),
        ["left out: damping of h that is not linear", "left out: spring of h"],
    ),
    "inertia without mass": (
        model(inner='<body name="b"><inertial pos="0 0 0" mass="0" diaginertia="0.1 0.2 0.1"/></body>'),
        [],
    ),
    "damping of an actuator that is not linear": (
        model(rest='<actuator><motor joint="h" name="m" gear="-3" armature="0.1" damping="0.2 0.1 0.3"/></actuator>'),
        [],
    ),
    "custom data and lights": (
        model(beside='<light pos="0 0 3"/>', rest='<custom><numeric name="n" data="1"/></custom>'),
        ["left out: lights (1)", "left out: custom data (1)"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_it_is_read_or_named(case, tmp_path):
    file = tmp_path / "model.xml"
    file.write_text(CASES[case][0])
    peer = compare(file, states=2)
    assert peer.error < EQUAL
    assert peer.system.notes == CASES[case][1]


def notes_of(folder, text):
    (folder / "model.xml").write_text(text)
    return kn.load(folder / "model.xml").notes


def test_bounds_that_act_on_several_at_once_are_named(tmp_path):
    both = PULL.format("m") + PULL.format("n")
    text = model(rest=TENDON.format('actuatorfrcrange="-1 1"', both))
    assert notes_of(tmp_path, text) == ["left out: tendon t: actuatorfrcrange"]
    text = model('actuatorgravcomp="true" actuatorfrcrange="-0.01 0.01"').replace('name="a"', 'name="a" gravcomp="1"')
    assert notes_of(tmp_path, text) == ["left out: bound of what h carries by actuatorgravcomp"]


def test_contact_of_pairs_is_named(tmp_path):
    text = model(beside=SECOND, rest='<contact><pair geom1="x" geom2="y"/></contact>')
    assert notes_of(tmp_path, text) == ["left out: contact (2 geoms can touch)"]


def test_a_keyframe_starts_activations_and_names_the_rest(tmp_path):
    text = model(
        beside='<body name="aim" mocap="true"/>',
        rest='<actuator><general name="f" joint="h" dyntype="filter" dynprm="0.3" gainprm="5"/>'
        '<intvelocity name="i" joint="h" kp="2" actrange="-1 1"/></actuator>'
        '<keyframe><key name="one" time="2" qpos="0.2" ctrl="0.5 0" act="0.7 0.4" mpos="1 0 0"/><key name="two"/>'
        "</keyframe>",
    )
    assert notes_of(tmp_path, text) == [
        "it starts at the keyframe one",
        "left out: time 2 s of the keyframe; t begins at 0",
        "left out: place of the mocap body aim in the keyframe",
        "left out: further keyframes (two)",
        "left out: motion from outside of 1 mocap bodies, which stand still",
    ]
    peer = compile_peer(tmp_path / "model.xml")
    data = mujoco.MjData(peer)
    mujoco.mj_resetDataKeyframe(peer, data, 0)
    mujoco.mj_forward(peer, data)
    dynamics = kn.compile(kn.load(tmp_path / "model.xml"))
    state = dynamics.initial
    assert list(state.z) == [0.7, 0.4]
    assert dynamics.acceleration(0.0, state.q, state.u, z=state.z) == pytest.approx(data.qacc, rel=1e-12)


def test_an_activation_starts_at_rest_without_a_keyframe(tmp_path):
    """MuJoCo's activations are 0 at the start, whatever the control is then."""
    rest = '<actuator><general name="f" joint="h" dyntype="filter" dynprm="0.3"/></actuator>'
    (tmp_path / "model.xml").write_text(model(rest=rest))
    system = kn.load(tmp_path / "model.xml")
    system.inputs["f"] = system.inputs["f"].__class__("f", 0.5)
    assert list(kn.compile(system).initial.z) == [0.0]


def test_a_model_of_all_that_is_not_read_names_each(tmp_path):
    file = tmp_path / "model.xml"
    file.write_text(BEYOND)
    peer = compare(file, states=2)
    assert peer.error < EQUAL
    assert peer.system.notes == [
        "it starts at the keyframe k0",
        "1 mesh geom is not drawn",
        "1 ellipsoid geom is not drawn",
        "limits are recorded and do not act (rail); those of MuJoCo are soft stops",
        "frictionloss is Coulomb friction, which sticks exactly; in MuJoCo it is soft and creeps",
        "left out: time 1.5 s of the keyframe; t begins at 0",
        "left out: limit of ball",
        "left out: frictionloss of ball",
        "left out: armature of ball, which has several freedoms",
        "left out: spring of fly",
        "left out: frictionloss of fly",
        "left out: armature of fly, which has several freedoms",
        "left out: forces of the surrounding medium (density, viscosity, wind)",
        "left out: contact (10 geoms can touch)",
        "left out: motion from outside of 1 mocap bodies, which stand still",
        "left out: actuator mus: its dynamics (muscle) have no counterpart",
        "left out: actuator mus2: its dynamics (muscle) have no counterpart",
        "left out: actuator stick: what it acts on has no counterpart",
        "left out: actuator userbias: its dynamics (user) have no counterpart",
        "left out: actuator freegear: what it acts on has no counterpart",
        "left out: actuator ballparent: what it acts on has no counterpart",
        "left out: actuator freeparent: what it acts on has no counterpart",
        "left out: actuator siteref: at a site only forces without feedback have a counterpart",
        "left out: actuator crank: what it acts on has no counterpart",
        "left out: tendon cord: limits",
        "left out: tendon wrapped: limits",
        "left out: tendon wrapped: it runs through space",
        "left out: tendon straight: limits",
        "left out: tendon pulley: it runs through space",
        "left out: tendon dead: it runs through space",
        "left out: equality curve: it is not linear",
        "left out: equality tsp: it runs through space",
        "left out: sensors (3)",
        "left out: cameras (1)",
        "left out: lights (1)",
        "left out: height fields (1)",
        "left out: custom data (2)",
    ]
