"""xacro: macros are expanded for a caller who trusts the file, and refused for others."""

import pytest
from command_line import kinode

import kinode as kn

ROBOT = """<?xml version="1.0"?>
<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="length" default="0.5"/>
  <xacro:property name="mass" value="${2 * 1.5}"/>
  <xacro:macro name="rod" params="name">
    <link name="${name}"><inertial><origin xyz="$(arg length) 0 0"/><mass value="${mass}"/>
      <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  </xacro:macro>
  <link name="base"/>
  <xacro:rod name="upper"/>
  <joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/></joint>
</robot>
"""


@pytest.fixture
def arm(tmp_path):
    file = tmp_path / "arm.urdf.xacro"
    file.write_text(ROBOT)
    return file


def test_macros_are_expanded_for_a_caller_who_trusts(arm):
    system = kn.load(arm, trust=True)
    assert system.bodies["upper"].mass == 3.0 and system.bodies["upper"].center_of_mass[0] == 0.5
    longer = kn.load(arm, "free", trust=True, arguments={"length": 0.7})
    assert longer.bodies["upper"].center_of_mass[0] == 0.7 and longer.joints["base_joint"].kind == "free"


def test_without_trust_nothing_runs(arm, tmp_path):
    with pytest.raises(kn.ModelError, match=r"is xacro, whose macros run Python .*trust=True"):
        kn.load(arm)
    plain = tmp_path / "arm.urdf"  # whatever its ending says
    plain.write_text(ROBOT)
    with pytest.raises(kn.ModelError, match="is xacro"):
        kn.load(plain)
    (tmp_path / "model.yaml").write_text("kinode: 1\nname: m\nextends: arm.urdf.xacro\n")
    with pytest.raises(kn.ModelError, match="is xacro"):
        kn.load(tmp_path / "model.yaml")
    assert "upper" in kn.load(tmp_path / "model.yaml", trust=True).bodies


def test_packages_are_found_where_the_caller_says(arm, tmp_path):
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "arm.xacro").write_text(ROBOT)
    top = tmp_path / "top.xacro"
    top.write_text(
        '<robot name="top" xmlns:xacro="http://www.ros.org/wiki/xacro">'
        '<xacro:include filename="$(find arms)/arm.xacro"/></robot>'
    )
    assert "upper" in kn.load(top, trust=True, packages={"arms": tmp_path / "pkg"}).bodies
    with pytest.raises(kn.ModelError, match="the package 'arms' is not known; name its folder"):
        kn.load(top, trust=True)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("${2 * 1.5}", "${2 * unknown}", "unknown"),
        ("</robot>", "", "is not XML"),
        ('<xacro:rod name="upper"/>', "<xacro:rod/>", "name"),
        ('default="0.5"', "", "missing attribute 'default'"),
    ],
)
def test_wrong_macros_are_told(arm, old, new, message):
    arm.write_text(ROBOT.replace(old, new))
    with pytest.raises(kn.ModelError, match=message):
        kn.load(arm, trust=True)


def test_arguments_are_for_xacro(tmp_path):
    (tmp_path / "a.urdf").write_text('<robot name="a"><link name="l"/></robot>')
    with pytest.raises(kn.ModelError, match="arguments are for xacro"):
        kn.load(tmp_path / "a.urdf", arguments={"a": 1})
    (tmp_path / "a.yaml").write_text("kinode: 1\nbodies: {b: {mass: 1}}\n")
    with pytest.raises(kn.ModelError, match="arguments are for xacro"):
        kn.load(tmp_path / "a.yaml", arguments={"a": 1})


def test_the_command_takes_the_same(arm):
    refused = kinode("show", arm, "--text")
    assert refused.returncode == 1 and "--trust" in refused.stderr
    shown = kinode("show", arm, "--text", "--trust", "--argument", "length=0.8")
    assert shown.returncode == 0 and "0.8" in shown.stdout
