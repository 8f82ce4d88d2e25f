"""URDF files that cannot be meant: every error names the file, the line and the part."""

import pytest
from urdf_text import INERTIAL, LINK_A, LINK_B, joint, link, robot

import kinode as kn
from kinode.importers import urdf

C = '<link name="c"/>'
K = joint(name="k", parent="b", child="c")
BAD = {
    "empty": ("", "r.urdf:1: is not XML: no element found"),
    "not XML": ("kinode: 1", "r.urdf:1: is not XML: syntax error"),
    "cut off": ('<robot name="r">\n<link name="a">', "r.urdf:2: is not XML: no element found"),
    "wrong end tag": ("<robot>\n</link>", "r.urdf:2: is not XML: mismatched tag"),
    "encoding": ('<?xml version="1.0" encoding="nonsense"?><robot/>', "r.urdf:1: is not XML"),
    "document type": (
        '<!DOCTYPE r [<!ENTITY x "y">]>\n<robot name="&x;"/>',
        "r.urdf:1: a document type (DOCTYPE) is not accepted",
    ),
    "external entity": ('\n<!DOCTYPE r SYSTEM "file:///etc/passwd"><robot/>', "r.urdf:2: a document type (DOCTYPE)"),
    "SDF": ('<sdf version="1.6"/>', "r.urdf:1: this is SDF; URDF starts with <robot>"),
    "other root": ("<model/>", "r.urdf:1: the root element is <model>; URDF starts with <robot>"),
    "xacro": (robot('<xacro:macro name="m"/>', LINK_A), "r.urdf:2: this is a xacro file"),
    "xacro inside": (robot("<link name='a'>\n<xacro:inertia/></link>"), "r.urdf:3: this is a xacro file"),
    "xacro value": (
        robot(link('<inertial><mass value="${m}"/><inertia/></inertial>')),
        "r.urdf:2: b.inertial.mass: value: '${m}' is not a number; run xacro on the file first",
    ),
    "no links": (robot(), "r.urdf:1: the robot has no links"),
    "link without name": (robot("<link/>"), "r.urdf:2: name: a link needs a name"),
    "joint without name": (robot(LINK_A, "<joint/>"), "r.urdf:3: name: a joint needs a name"),
    "two links": (robot(LINK_A, C, LINK_A), "r.urdf:4: a: a link of this name stands in line 2 already"),
    "two joints": (
        robot(LINK_A, LINK_B, C, joint(), joint(parent="b", child="c")),
        "r.urdf:6: j: a joint of this name stands in line 5 already",
    ),
    "no type": (robot(LINK_A, '<joint name="j"/>'), 'r.urdf:3: j.type: <joint> needs type="..."'),
    "unknown type": (
        robot(LINK_A, LINK_B, joint(kind="revolut")),
        "r.urdf:4: j.type: no joint of URDF has the type 'revolut'; did you mean revolute?",
    ),
    "no parent": (
        robot(LINK_A, LINK_B, joint().replace('<parent link="a"/>', "")),
        'r.urdf:4: j.parent: needs <parent link="..."/>',
    ),
    "no child": (
        robot(LINK_A, LINK_B, joint().replace('<child link="b"/>', "")),
        'r.urdf:4: j.child: needs <child link="..."/>',
    ),
    "parent without link": (
        robot(LINK_A, LINK_B, joint().replace('<parent link="a"/>', "<parent/>")),
        'r.urdf:4: j.parent: <parent> needs link="..."',
    ),
    "unknown link": (
        robot('<link name="arm"/>', LINK_B, joint(parent="amr")),
        "r.urdf:4: j.parent: no link is called 'amr'; did you mean arm?",
    ),
    "two parents": (
        robot(LINK_A, LINK_B, C, joint(), joint(name="k", parent="c")),
        "r.urdf:6: k.child: b is the child of j already (line 5); URDF is a tree",
    ),
    "joined to itself": (robot(LINK_A, LINK_B, joint(parent="b")), "r.urdf:4: j: joins b to itself"),
    "two roots": (robot(LINK_A, LINK_B), "r.urdf:3: b: a, b have no parent; only one link"),
    "circle": (
        robot(LINK_A, LINK_B, C, joint(), K, joint(name="l", parent="c", child="a")),
        "r.urdf:7: l: the joints go in a circle: a <- c <- b <- a",
    ),
    "circle apart": (
        robot(LINK_A, LINK_B, C, joint(parent="c"), K),
        "r.urdf:5: j: the joints go in a circle: b <- c <- b",
    ),
    "no number": (
        robot(link(INERTIAL.replace('"2"', '"2kg"'))),
        "r.urdf:2: b.inertial.mass: value: '2kg' is not a number",
    ),
    "comma": (
        robot(link(INERTIAL.replace('"0.1"', '"0,1"'))),
        "r.urdf:2: b.inertial.inertia: ixx: '0,1' is not a number",
    ),
    "grouped digits": (
        robot(link(INERTIAL.replace('"2"', '"1_0"'))),
        "r.urdf:2: b.inertial.mass: value: '1_0' is not a number",
    ),
    "no mass": (
        robot(link(INERTIAL.replace('<mass value="2"/>', ""))),
        "r.urdf:2: b.inertial.mass: an inertial needs <mass .../>",
    ),
    "no inertia": (
        robot(link('<inertial><mass value="2"/></inertial>')),
        "r.urdf:2: b.inertial.inertia: an inertial needs <inertia .../>",
    ),
    "mass without value": (
        robot(link(INERTIAL.replace(' value="2"', ""))),
        'r.urdf:2: b.inertial.mass: <mass> needs value="..."',
    ),
    "inertia without entry": (
        robot(link(INERTIAL.replace('ixy="0.01"', ""))),
        'r.urdf:2: b.inertial.inertia: <inertia> needs ixy="..."',
    ),
    "negative mass": (
        robot(link(INERTIAL.replace('"2"', '"-2"'))),
        "r.urdf:2: b.inertial.mass: must not be negative, and is -2",
    ),
    "mass not finite": (
        robot(link(INERTIAL.replace('"2"', '"inf"'))),
        "r.urdf:2: b.inertial.mass: value must be finite, not inf",
    ),
    "inertia not finite": (
        robot(link(INERTIAL.replace('"0.1"', '"nan"'))),
        "r.urdf:2: b.inertial.inertia: ixx must be finite, not nan",
    ),
    "two numbers": (
        robot(LINK_A, LINK_B, joint('\n<origin xyz="1 2"/>')),
        "r.urdf:5: j.origin: xyz takes 3 numbers, not 2: '1 2'",
    ),
    "four angles": (
        robot(LINK_A, LINK_B, joint('<origin rpy="0 0 0 1"/>')),
        "r.urdf:4: j.origin: rpy takes 3 numbers, not 4: '0 0 0 1'",
    ),
    "angle in degrees": (
        robot(LINK_A, LINK_B, joint('<origin rpy="90deg 0 0"/>')),
        "r.urdf:4: j.origin: rpy: '90deg' is not a number",
    ),
    "huge origin": (
        robot(LINK_A, LINK_B, joint('<origin xyz="1e999 0 0"/>')),
        "r.urdf:4: j.origin: xyz must be finite, not 1e999",
    ),
    "two rotations": (
        robot(LINK_A, LINK_B, joint('<origin rpy="0 0 0" quat_xyzw="0 0 0 1"/>')),
        "r.urdf:4: j.origin: give rpy or quat_xyzw, not both",
    ),
    "no quaternion": (
        robot(LINK_A, LINK_B, joint('<origin quat_xyzw="0 0 0 2"/>')),
        "r.urdf:4: j.origin: quat_xyzw has length 2",
    ),
    "axis of no length": (
        robot(LINK_A, LINK_B, joint('<axis xyz="0 0 0"/>')),
        "r.urdf:4: j.axis: an axis needs a direction; this one has length 0",
    ),
    "axis of two numbers": (
        robot(LINK_A, LINK_B, joint('<axis xyz="0 1"/>')),
        "r.urdf:4: j.axis: xyz takes 3 numbers, not 2",
    ),
    "limits the wrong way round": (
        robot(LINK_A, LINK_B, joint('<limit lower="1" upper="-1" effort="1" velocity="1"/>')),
        "r.urdf:4: j.limit: the lower limit 1 is above the upper limit -1",
    ),
    "limit of no number": (
        robot(LINK_A, LINK_B, joint('<limit lower="low" upper="1"/>')),
        "r.urdf:4: j.limit.lower: lower: 'low' is not a number",
    ),
    "negative damping": (
        robot(LINK_A, LINK_B, joint('<dynamics damping="-1"/>')),
        "r.urdf:4: j.dynamics.damping: must not be negative, and is -1",
    ),
    "negative friction": (
        robot(LINK_A, LINK_B, joint('<dynamics friction="-1"/>')),
        "r.urdf:4: j.dynamics.friction: must not be negative, and is -1",
    ),
    "mimic without joint": (
        robot(LINK_A, LINK_B, joint("<mimic/>")),
        'r.urdf:4: j.mimic: <mimic> needs joint="..."',
    ),
    "mimic of nothing": (
        robot(LINK_A, LINK_B, joint('<mimic joint="jj"/>')),
        "r.urdf:4: j.mimic: no joint is called 'jj'; did you mean j? (mimic=False loads the file without it)",
    ),
    "mimic of itself": (
        robot(LINK_A, LINK_B, joint('<mimic joint="j"/>')),
        "r.urdf:4: j.mimic: mimic joints go in a circle: j -> j",
    ),
    "mimics in a circle": (
        robot(LINK_A, LINK_B, C, joint('<mimic joint="k"/>'), joint('<mimic joint="j"/>', "revolute", "k", "b", "c")),
        "r.urdf:6: k.mimic: mimic joints go in a circle: k -> j -> k",
    ),
    "mimic of a floating joint": (
        robot(LINK_A, LINK_B, C, joint(kind="floating"), joint('<mimic joint="j"/>', "revolute", "k", "b", "c")),
        "r.urdf:6: k.mimic: j is floating; only joints with one freedom follow or lead",
    ),
    "multiplier": (
        robot(LINK_A, LINK_B, joint('<mimic joint="j" multiplier="half"/>')),
        "r.urdf:4: j.mimic.multiplier: multiplier: 'half' is not a number",
    ),
    "box of one number": (
        robot(link('<visual>\n<geometry>\n<box size="1"/></geometry></visual>')),
        "r.urdf:4: b.visual.box: size takes 3 numbers, not 1",
    ),
    "sphere without radius": (
        robot(link("<collision><geometry><sphere/></geometry></collision>")),
        'r.urdf:2: b.collision.sphere: <sphere> needs radius="..."',
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_file(case):
    text, expected = BAD[case]
    with pytest.raises(kn.ModelError) as caught:
        urdf.read(text.encode(), file="r.urdf")
    assert str(caught.value).startswith(expected)


def test_there_are_enough_bad_files():
    assert len(BAD) >= 25


def test_wrong_base():
    with pytest.raises(kn.ModelError, match='base is "fixed" or "free", not \'floating\''):
        urdf.read(robot(LINK_B), "floating")
