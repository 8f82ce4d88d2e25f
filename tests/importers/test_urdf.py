"""URDF: what is read, how it is named, and what every kind of wrong file is told."""

import math
import random
import re

import numpy as np
import pytest
from example_counts import examples
from hypothesis import given
from hypothesis import strategies as st
from urdf_text import INERTIAL, LINK_A, LINK_B, joint, link, robot

import kinode as kn
from kinode.importers import urdf
from kinode.model.base.bodies import Visual
from kinode.model.joints.joint import Limits
from kinode.structure.topology import find_topology

# -- what is read ------------------------------------------------------------------------------------------


def test_revolute_joint_with_everything():
    inner = (
        '<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><axis xyz="0 0 -2"/>'
        '<limit lower="-1" upper="2" effort="30" velocity="4"/><dynamics damping="0.5" friction="0.25"/>'
    )
    system = urdf.read(robot(LINK_A, LINK_B, joint(inner)))
    hinge = system.joints["j"]
    assert hinge.kind == "revolute" and hinge.axis == "-z"
    assert hinge.a.position == (1, 2, 3) and hinge.a.rotation == ("rpy", (0.1, 0.2, 0.3))
    assert hinge.limits == Limits(lower=-1.0, upper=2.0, effort=30.0, speed=4.0) and hinge.damping == (0.5,)
    assert system.notes == ["j: friction of 0.25 N*m is recorded here and does not act"]
    assert system.bodies["b"].mass == 2 and system.bodies["b"].inertia == (0.1, 0.2, 0.25, 0.01, -0.02, 0.03)


@pytest.mark.parametrize(
    ("kind", "ours", "freedoms"),
    [
        ("fixed", "fixed", 0), ("continuous", "revolute", 1), ("revolute", "revolute", 1),
        ("prismatic", "prismatic", 1), ("floating", "free", 6), ("planar", "planar", 3),
    ],
)  # fmt: skip
def test_every_type_of_joint(kind, ours, freedoms):
    system = urdf.read(robot(LINK_A, LINK_B, joint(kind=kind)))
    assert system.joints["j"].kind == ours
    assert find_topology(system).n_u == freedoms


def test_limits_of_a_continuous_joint_have_no_travel_and_infinity_is_none():
    system = urdf.read(
        robot(LINK_A, LINK_B, joint('<limit lower="-1" upper="1" effort="inf" velocity="3"/>', "continuous"))
    )
    assert system.joints["j"].limits == Limits(speed=3.0)


def test_axis_is_x_unless_given_and_always_a_unit_vector():
    assert urdf.read(robot(LINK_A, LINK_B, joint())).joints["j"].axis == "x"
    axis = urdf.read(robot(LINK_A, LINK_B, joint('<axis xyz="0 3 4"/>'))).joints["j"].axis
    assert axis == pytest.approx((0, 0.6, 0.8))
    assert urdf.read(robot(LINK_A, LINK_B, joint('<axis xyz="1e-11 -5 0"/>'))).joints["j"].axis == "-y"


def test_right_angles_are_exact():
    turned = joint('<origin rpy="1.57079632679 -3.14159265359 1.5708"/>')
    way, rpy = urdf.read(robot(LINK_A, LINK_B, turned)).joints["j"].a.rotation
    assert (way, rpy) == ("rpy", (math.pi / 2, -math.pi, 1.5708))


def test_inertia_is_turned_into_the_axes_of_the_link():
    rpy = (0.3, -0.4, 0.5)
    turned = INERTIAL.replace("<inertial>", '<inertial><origin xyz="1 2 3" rpy="0.3 -0.4 0.5"/>')
    body = urdf.read(robot(link(turned))).bodies["b"]
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    Rx = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    Ry = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    Rz = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    R = Rz @ Ry @ Rx
    expected = R @ np.array([[0.1, 0.01, -0.02], [0.01, 0.2, 0.03], [-0.02, 0.03, 0.25]]) @ R.T
    assert body.center_of_mass == (1, 2, 3)
    assert body.inertia == pytest.approx(
        [expected[i] for i in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))], rel=1e-14
    )


def test_quaternion_origin():
    system = urdf.read(robot(LINK_A, LINK_B, joint('<origin quat_xyzw="0 0 0.6 0.8"/>')))
    assert system.joints["j"].a.rotation == ("quaternion", (0.8, 0.0, 0.0, 0.6))


def test_looks_are_remembered_and_files_never_opened():
    looks = (
        '<visual><origin xyz="1 0 0" rpy="0 0.5 0"/><geometry><mesh filename="package://no/such.dae" scale="2 2 2"/>'
        '</geometry><material name="grey"/></visual>'
        '<collision><geometry><box size="1 2 3"/></geometry></collision>'
        '<collision><geometry><cylinder radius="1" length="2"/></geometry></collision>'
        '<visual><geometry><sphere radius="4"/></geometry></visual><visual/>'
    )
    assert urdf.read(robot(link(looks))).bodies["b"].meshes == (
        Visual("mesh", (2, 2, 2), (1, 0, 0), (0, 0.5, 0), "visual", "package://no/such.dae"),
        Visual("box", (1, 2, 3), role="collision"),
        Visual("cylinder", (1, 2), role="collision"),
        Visual("sphere", (4,)),
    )


def test_look_survives_its_plain_form():
    system = kn.System("s")
    looks = (Visual("mesh", (1, 1, 1), file="x.stl"), Visual("box", (1, 2, 3), (1, 0, 0), role="collision"))
    body = system.body("b", meshes=[look.plain() for look in looks])
    assert body.meshes == looks


def test_mimic_becomes_a_gear():
    parts = LINK_A, LINK_B, f'<link name="c">{INERTIAL}</link>', joint()
    follower = joint('<mimic joint="j" multiplier="-2" offset="0.5"/>', name="k", parent="b", child="c")
    system = urdf.read(robot(*parts, follower))
    (gear,) = system.constraints.values()
    assert (gear.input, gear.output, gear.ratio, gear.offset) == ("k", "j", -2.0, 0.5)
    assert find_topology(system).n_u == 1
    assert not urdf.read(robot(*parts, follower), mimic=False).constraints


def test_mimic_that_cannot_move_is_fixed():
    parts = LINK_A, LINK_B, f'<link name="c">{INERTIAL}</link>', joint(kind="fixed")
    follower = joint('<mimic joint="j" offset="0.5"/>', name="k", parent="b", child="c")
    system = urdf.read(robot(*parts, follower))
    assert system.joints["k"].motion == (0.5,) and not system.constraints
    assert "fixed at 0.5" in system.notes[0]


def test_base():
    fixed = urdf.read(robot(LINK_B))
    assert fixed.joints["base"].kind == "fixed" and find_topology(fixed).n_u == 0
    free = urdf.read(robot(LINK_B), "free")
    assert free.joints["base"].kind == "free" and find_topology(free).n_u == 6
    taken = urdf.read(robot('<link name="base"/>', LINK_B, joint(parent="base")))
    assert taken.joints["base_joint"].b.body == "base"


def test_root_called_world_is_the_world():
    parts = '<link name="world"/>', LINK_B, joint(parent="world")
    fixed = urdf.read(robot(*parts))
    assert list(fixed.bodies) == ["b"] and fixed.joints["j"].a.body == "world"
    free = urdf.read(robot(f'<link name="world">{INERTIAL}</link>', *parts[1:]), "free")
    assert list(free.bodies) == ["world_link", "b"]


def test_names_are_made_to_fit():
    names = ("a/b", "a.b", "a_b", "1st", "t", "j", "-", "b")
    links = [f'<link name="{name}"/>' for name in names]
    joints = [joint(name="j"), joint(name="j-1", child="a.b"), joint(name="j 1", child="a_b")]
    joints += [joint(kind="fixed", name=f"f{i}", child=name) for i, name in enumerate(names[3:7])]
    text = robot(*links, *joints).replace('link="a"', 'link="a/b"')
    system = urdf.read(text)
    assert list(system.bodies) == ["a_b_link", "a_b_link_2", "a_b", "link_1st", "t_link", "j_link", "link_", "b"]
    assert list(system.joints) == ["base", "j", "j_1", "j_1_joint", "f0", "f1", "f2", "f3"]
    assert "the link 'a/b' is called a_b_link here" in system.notes
    assert "the joint 'j 1' is called j_1_joint here" in system.notes
    assert urdf.read(text) == system


def test_impossible_inertia_is_kept_and_noted():
    bad = INERTIAL.replace('izz="0.25"', 'izz="2.5"')
    system = urdf.read(robot(link(bad)))
    assert system.bodies["b"].inertia[2] == 2.5 and not system.bodies["b"].physical
    assert system.notes[0].startswith("b: the inertia is kept, though no body has it: of the principal moments")
    with pytest.raises(kn.ModelError, match=r"b\.inertia: no body has it"):
        kn.System("s").body("b", mass=1, inertia=(0.1, 0.2, 2.5))


def test_links_without_inertia_may_carry_or_be_carried():
    massless = '<link name="m"/>'
    between = robot(LINK_A, massless, LINK_B, joint(child="m"), joint(name="k", parent="m"))
    assert find_topology(urdf.read(between)).n_u == 2
    sensor = robot(LINK_A, LINK_B, massless, joint(), joint(kind="fixed", name="k", parent="b", child="m"))
    assert find_topology(urdf.read(sensor)).n_u == 1


def test_other_tools_are_ignored_and_strangers_noted():
    parts = '<gazebo reference="b"><x/></gazebo>', "<transmission/>", '<material name="m"/>', "<lnk/>", LINK_B
    assert urdf.read(robot(*parts)).notes == ["<lnk> in <robot> is not known and left out (line 5)"]


def test_load_goes_by_suffix_or_content(tmp_path):
    for name in ("r.urdf", "r.xml", "r.txt"):
        path = tmp_path / name
        path.write_text("\n" * (name == "r.txt") + '<robot name="r"><link name="b"/></robot>')
        assert kn.load(path).name == "r"
        assert kn.load(path, name="other").name == "other"
    with pytest.raises(kn.ModelError, match=r"none\.urdf: cannot be read: No such file"):
        kn.load(tmp_path / "none.urdf")
    with pytest.raises(kn.ModelError, match="cannot be read"):
        kn.load(tmp_path / "none")


# -- fuzz --------------------------------------------------------------------------------------------------

GOOD = robot(
    LINK_A,
    f'<link name="b">{INERTIAL}<visual><geometry><mesh filename="f.stl"/></geometry></visual></link>',
    f'<link name="c">{INERTIAL}</link>',
    joint(
        '<origin xyz="1 2 3" rpy="0 0.5 1"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/>'
    ),
    joint('<mimic joint="j" multiplier="2" offset="1"/><dynamics damping="1"/>', "prismatic", "k", "b", "c"),
)
WORDS = [
    b"<link", b"</link>", b"<joint", b"/>", b'"', b"nan", b"inf", b"-1", b"1e400", b"0", b" ", b"&lt;", b"&x;",
    b"<!DOCTYPE x>", b"<![CDATA[", b"\x00", b"\xff", b"\xc3\xa9", b'name="b"', b'type="floating"', b"xacro:", b"${x}",
    b'encoding="utf-16"', b'encoding="cp500"',
]  # fmt: skip


def survives(data: bytes) -> None:
    """Ends in an error of kinode or in a system that is what it says."""
    for base in ("fixed", "free"):
        try:
            with np.errstate(all="ignore"):  # numbers of 1e160 overflow, which is no business of this test
                system = urdf.read(data, base, file="r.urdf")
                find_topology(system)
        except kn.Error as error:
            assert str(error)
        else:
            assert isinstance(system, kn.System) and system.copy() == system


@given(st.binary(max_size=200))
def test_any_bytes(data):
    survives(data)


@given(st.integers(0, 2**32), st.integers(1, 6))
@examples(50, nightly=150)
def test_mutated_file(seed, count):
    chance = random.Random(seed)
    data = bytearray(GOOD.encode())
    for _ in range(count):
        where, what = chance.randrange(len(data)), chance.randrange(4)
        if what == 0:
            data[where] = chance.randrange(256)
        elif what == 1:
            del data[where : where + chance.randrange(1, 40)]
        elif what == 2:
            data[where:where] = chance.choice(WORDS)
        else:
            start = chance.randrange(len(data))
            data[where:where] = data[start : start + chance.randrange(60)]
    survives(bytes(data))


@given(
    st.sampled_from(["xyz", "rpy", "value", "ixx", "lower", "damping", "multiplier", "name", "type", "link", "joint"]),
    st.text(),
)
@examples(50, nightly=100)
def test_any_text_in_an_attribute(attribute, text):
    from xml.sax.saxutils import quoteattr

    head, _, tail = GOOD.partition(f'{attribute}="')
    tail = tail[tail.index('"') + 1 :]
    survives(f"{head}{attribute}={quoteattr(text)}{tail}".encode("utf-8", "surrogatepass"))


NUMBERS = ["0", "-0.0", "1e-320", "1e-200", "1e160", "-1e160", "1.7e308", "-1.7e308", "1e-9", "1", "-1"]


@given(st.data())
@examples(50, nightly=150)
def test_extreme_numbers(data):
    words = re.split(r'(?<=[" ])(-?[0-9][0-9.]*)(?=[" ])', GOOD)
    for place in data.draw(st.lists(st.integers(0, len(words) // 2 - 1), max_size=8)):
        words[2 * place + 1] = data.draw(st.sampled_from(NUMBERS))
    survives("".join(words).encode())
