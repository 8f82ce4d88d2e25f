"""MJCF: accelerations are MuJoCo's, on a model with everything and on those that come with its packages."""

import importlib.util
from pathlib import Path

import mujoco
import numpy as np
import pytest
from mjcf_text import EVERYTHING, LOOPS
from mujoco_peer import Pairing, compare, compile_peer

import kinode as kn
from kinode.model.joints.joint import Limits
from kinode.studio.document.document_files import open_file

# Rounding of the mass matrices; loops compare with a difference quotient of a Jacobian.
EQUAL, EQUAL_LOOPS = 1e-11, 1e-8

PACKAGED = [
    "dm_control/suite/cheetah.xml",
    "dm_control/suite/fish.xml",
    "dm_control/suite/manipulator.xml",
    "dm_control/suite/quadruped.xml",
    "dm_control/suite/point_mass.xml",
    "dm_control/mujoco/testing/assets/model_with_ball_joints.xml",
    "dm_control/mujoco/testing/assets/model_with_third_order_actuators.xml",
    "gymnasium/envs/mujoco/assets/ant.xml",
    "gymnasium/envs/mujoco/assets/humanoid.xml",
]


def packaged(name):
    """A file of a package that is installed for tests."""
    package, _, rest = name.partition("/")
    spec = importlib.util.find_spec(package)
    return Path(spec.submodule_search_locations[0]) / rest


def load_text(folder, text, name="model.xml", **options):
    file = folder / name
    file.write_text(text)
    return kn.load(file, **options)


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    file = tmp_path_factory.mktemp("mjcf") / "everything.xml"
    file.write_text(EVERYTHING)
    return file


# -- beside MuJoCo -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", PACKAGED)
def test_packaged_models_accelerate_as_in_mujoco(name):
    assert compare(packaged(name), states=2).error < EQUAL


def test_the_example_accelerates_as_in_mujoco_and_runs():
    file = Path(__file__).resolve().parents[2] / "examples" / "gripper.xml"
    peer = compare(file, states=2)
    assert peer.error < EQUAL and not any(note.startswith("left out") for note in peer.system.notes)
    run = kn.simulate(kn.load(file), 2.0, samples=3)
    # at rest: motor and spring of the fingers are in balance, and the servo of the lift gives way by the weight
    assert run["left.q"][-1] == pytest.approx((0.04 - 3.0 / (2 * 60.0)) / 2, abs=1e-6)
    weight = 9.81 * sum(float(body.mass) for body in run.system.bodies.values())
    assert run["lift.q"][-1] == pytest.approx(0.2 - weight / 4000, abs=1e-6)


def test_everything_accelerates_as_in_mujoco(everything):
    peer = compare(everything, states=3)
    assert peer.error < EQUAL
    # What MuJoCo's model was relieved of is what the notes say, and nothing more.
    assert [note for note in peer.system.notes if note.startswith("left out")] == [
        "left out: further keyframes (other)",
        "left out: contact (7 geoms can touch)",
        "left out: actuator biceps: its dynamics (muscle) have no counterpart",
        "left out: tendon rope: it runs through space",
        "left out: sensors (1)",
    ]


def test_equalities_hold_exactly(tmp_path):
    file = tmp_path / "loops.mjcf"
    file.write_text(LOOPS)
    peer = compare(file, states=2)
    assert peer.error < EQUAL_LOOPS
    system = peer.system
    assert system.joints["pin"].kind == "spherical" and system.joints["glue"].kind == "fixed"
    assert (system.constraints["drive"].ratio, system.constraints["drive"].offset) == (2.5, 0.1)
    assert system.joints["pinned"].motion == (0.2,)
    assert {"left out: equality curved: it is not linear", "left out: equality off: it is not active"} <= set(
        system.notes
    )


SPRUNG = """
<mujoco><worldbody>
  <body name="a" pos="0 0 1" euler="10 20 30">
    <joint name="socket" type="ball" stiffness="3" damping="0.2" pos="0 0 0.1"/>
    <geom type="box" size="0.1 0.2 0.3"/>
    <body name="b" pos="0 0 0.4">
      <joint name="knee" axis="0 1 0"/>
      <geom type="capsule" size="0.05" fromto="0 0 0 0.3 0 0"/>
      <body name="c" pos="0.3 0 0">
        <joint name="slide" type="slide" axis="1 0 0"/>
        <geom type="sphere" size="0.05"/>
      </body>
    </body>
  </body>
  <body name="d" pos="2 0 0">
    <joint name="driven" type="ball" stiffness="1.5"/>
    <geom type="box" size="0.1 0.2 0.1"/>
  </body>
  <body name="e" pos="4 0 0"><freejoint name="loose"/><geom type="box" size="0.1 0.2 0.1"/></body></worldbody>
  <tendon><fixed name="cord" stiffness="2 0.7 0.3" damping="0.3 0.2 0.1" springlength="-0.1 0.2">
      <joint joint="knee" coef="0.5"/><joint joint="slide" coef="-1.5"/></fixed>
    <fixed name="other" stiffness="0 0.4 0" damping="0 0 0.5"><joint joint="knee" coef="2"/></fixed></tendon>
  <actuator><motor name="twist" joint="driven" gear="0.1 0.2 0.3"/></actuator></mujoco>"""


def test_springs_of_ball_joints_and_fixed_tendons_are_mujocos(tmp_path):
    file = tmp_path / "sprung.xml"
    file.write_text(SPRUNG)
    peer = compare(file, states=6)
    assert peer.error < EQUAL
    assert [note for note in peer.system.notes if note.startswith("left out")] == [
        "left out: contact (5 geoms can touch)"
    ]
    # at rest, where the law is a quotient of small numbers, and for either sign of the quaternion
    model, dynamics = compile_peer(file), kn.compile(peer.system)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    u = np.zeros(model.nv)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    for quaternion in ([1, 0, 0, 0], [-1, 0, 0, 0], [1, 1e-9, 0, 0], [-0.6, 0.8, 0, 0], [0.01, -0.6, 0.8, 0]):
        data.qpos[:4] = np.array(quaternion) / np.linalg.norm(quaternion)
        mujoco.mj_forward(model, data)
        found = dynamics.acceleration(0.0, data.qpos, u, inputs={"twist": 0.0})
        assert abs(found[:11] - data.qacc[:11]).max() < EQUAL * abs(data.qacc).max()


def test_friction_that_slides_is_the_same(tmp_path):
    """MuJoCo's frictionloss saturates at speed; kinode's Coulomb friction of that effort is the same there."""
    text = """<mujoco><option gravity="0 0 -9.81" tolerance="0" iterations="100"/><worldbody><body>
      <joint name="hinge" axis="0 1 0" frictionloss="0.3"/><geom type="capsule" size="0.05" fromto="0 0 0 0.4 0 0"/>
      </body></worldbody></mujoco>"""
    system = load_text(tmp_path, text)
    assert system.joints["hinge"].friction.effort == 0.3
    assert "frictionloss is Coulomb friction, which sticks exactly; in MuJoCo it is soft and creeps" in system.notes
    model = compile_peer(tmp_path / "model.xml")
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    data = mujoco.MjData(model)
    dynamics = kn.compile(system)
    for speed in (8.0, -8.0):
        data.qpos[:], data.qvel[:] = 0.4, speed
        mujoco.mj_forward(model, data)
        (found,) = dynamics.acceleration(0.0, [0.4], [speed], z=[np.sign(speed)])
        assert found == pytest.approx(data.qacc[0], rel=1e-9)


def test_armature_is_on_the_diagonal_of_the_mass_matrix(everything):
    system, model = kn.load(everything), compile_peer(everything)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    full = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, full)
    dynamics = kn.compile(system)
    q, _ = Pairing(system, dynamics, model).state(data.qpos, data.qvel)
    hinges = [0, 1, 2, 3]  # rail, yaw, tilt, elbow: first in both
    found = dynamics.mass_matrix(0.0, q)
    assert np.allclose(found[np.ix_(hinges, hinges)], full[np.ix_(hinges, hinges)], rtol=0, atol=1e-12)
    assert (system.elements["yaw_armature"].inertia, system.elements["rail_armature"].mass) == (0.07, 0.5)


# -- what is read ------------------------------------------------------------------------------------------
def test_what_is_read(everything):
    system = kn.load(everything)
    assert system.name == "everything" and system.gravity == (0.3, -0.2, -9.5)
    assert system.joints["rail"].limits == Limits(lower=-2.0, upper=2.0)
    assert {"base", "base_rail", "base_yaw", "arm", "fixed_part", "body_6"} <= set(system.bodies)
    assert system.joints["elbow"].q == (0.4,) and system.joints["elbow"].u == (0.7,)
    assert system.inputs["elbow_control"].value == 0.25
    assert system.find_frame("base.tip").position == (0.1, 0.0, 0.2)
    (box,) = system.bodies["base"].meshes
    assert (box.kind, box.sizes) == ("box", (0.2, 0.4, 0.6))
    assert "it starts at the keyframe home" in system.notes
    assert kn.load(everything, name="mine").name == "mine"


def test_saving_keeps_the_model(everything, tmp_path):
    system = kn.load(everything)
    system.save(tmp_path / "model.yaml")
    again = kn.load(tmp_path / "model.yaml")
    assert again.notes == system.notes and list(again.joints) == list(system.joints)
    (tmp_path / "robot.mjcf").write_bytes(everything.read_bytes())
    text = "kinode: 1\nname: mine\nextends: robot.mjcf\nchanges:\n  joints.elbow: {damping: 3}\n"
    (tmp_path / "mine.yaml").write_text(text.replace("joints.elbow", "elbow"))
    assert kn.load(tmp_path / "mine.yaml").joints["elbow"].damping == (3.0,)


def test_the_studio_opens_it_as_a_model_that_extends_it(everything):
    document = open_file(everything)
    assert "extends: everything.xml" in document.saved
    assert "elbow" in kn.loads(document.saved, everything.with_suffix(".yaml")).joints


def test_base_frees_what_stands_fixed(tmp_path):
    arm = '<mujoco><worldbody><body name="b" pos="0 0 1"><geom size="0.1"/></body></worldbody></mujoco>'
    assert load_text(tmp_path, arm).joints["b_mount"].kind == "fixed"
    free = load_text(tmp_path, arm, base="free").joints["b_free"]
    assert free.kind == "free" and free.position == (0.0, 0.0, 1.0)
    moving = arm.replace("<geom", "<freejoint/><geom")
    with pytest.raises(kn.ModelError, match="stands fixed in the world; this model has none"):
        load_text(tmp_path, moving, base="free")


# -- files -------------------------------------------------------------------------------------------------
BODY = '<worldbody><body name="b"><joint name="j"/><geom size="0.1"/></body></worldbody>'


def test_includes_are_read_within_the_folder(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "arm.xml").write_text(f"<mujocoinclude>{BODY}</mujocoinclude>")
    system = load_text(tmp_path, '<mujoco><include file="parts/arm.xml"/></mujoco>')
    assert list(system.joints) == ["j"]


@pytest.mark.parametrize(
    "inner",
    [
        '<include file="../secret.xml"/>',
        '<include file="{absolute}"/>',
        '<asset><mesh name="m" file="../secret.xml"/></asset>',
        '<compiler meshdir=".."/><asset><mesh name="m" file="secret.xml"/></asset>',
        '<compiler assetdir="/"/><asset><hfield name="m" file="secret.xml" size="1 1 1 1"/></asset>',
        '<asset><model name="m" file="../secret.xml"/></asset>',
    ],
)
def test_nothing_outside_the_folder_is_opened(tmp_path, inner):
    (tmp_path / "secret.xml").write_text(f"<mujoco>{BODY}</mujoco>")
    (tmp_path / "inside").mkdir()
    text = f"<mujoco>\n{inner.format(absolute=tmp_path / 'secret.xml')}{BODY}</mujoco>"
    with pytest.raises(kn.ModelError, match=r"outside the folder of the model; .* trust=True") as caught:
        load_text(tmp_path / "inside", text)
    assert caught.value.line == 2


def test_a_circle_of_includes_is_refused(tmp_path):
    (tmp_path / "a.xml").write_text('<mujocoinclude><include file="a.xml"/></mujocoinclude>')
    with pytest.raises(kn.ModelError, match="too deep, or in a circle"):
        load_text(tmp_path, '<mujoco><include file="a.xml"/></mujoco>')


def test_textures_are_never_opened(tmp_path):
    asset = '<asset><texture name="t" type="2d" file="../nowhere.png"/><material name="m" texture="t"/></asset>'
    system = load_text(
        tmp_path, f"<mujoco>{asset}{BODY.replace('<geom', '<geom material=' + chr(34) + 'm' + chr(34))}</mujoco>"
    )
    assert list(system.bodies) == ["b"]


def test_no_log_file_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    system = load_text(tmp_path, f'<mujoco><compiler settotalmass="3"/>{BODY}</mujoco>')
    assert [path.name for path in tmp_path.iterdir()] == ["model.xml"]
    assert any(note.startswith("MuJoCo warns: compiler attribute 'settotalmass'") for note in system.notes)


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ('<mujoco>\n<worldbody><body name="b"><joint damping="x"/></body></worldbody></mujoco>', "bad format", 2),
        ("<mujoco>\n<wordbody/></mujoco>", "unrecognized element", 2),
        (
            '<mujoco>\n\n<worldbody><body name="light"><joint/></body></worldbody></mujoco>',
            "light: .*mass and inertia",
            3,
        ),
        ("<mujoco><worldbody></mujoco>", "is not XML", 1),
        ('<!DOCTYPE x [<!ENTITY a "b">]><mujoco/>', "DOCTYPE", 1),
        ("<sdf/>", "this is SDF", 1),
    ],
)
def test_wrong_files_are_told_so(tmp_path, text, message, line):
    with pytest.raises(kn.ModelError, match=message) as caught:
        load_text(tmp_path, text)
    assert caught.value.line == line and caught.value.file.endswith("model.xml")


def test_options_that_do_not_fit(tmp_path):
    with pytest.raises(kn.ModelError, match="arguments and packages are for xacro"):
        load_text(tmp_path, f"<mujoco>{BODY}</mujoco>", arguments={"a": 1})
    with pytest.raises(kn.ModelError, match='"fixed" or "free"'):
        load_text(tmp_path, f"<mujoco>{BODY}</mujoco>", base="up")


def test_without_the_package_one_sentence_says_so(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "mujoco", None)
    with pytest.raises(kn.Error, match=r"needs the package mujoco.*kinode\[mjcf\]"):
        load_text(tmp_path, f"<mujoco>{BODY}</mujoco>")
