"""URDF and MJCF out: the same accelerations in MuJoCo and after a round trip; what cannot be said is named."""

import warnings
from pathlib import Path

import mujoco
import numpy as np
import pytest
import trimesh
from mujoco_peer import Pairing, compile_peer, equality_jacobian, exact_acceleration

import kinode as kn

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
# What MJCF says wholly: loops, springs between points, inputs, springs of joints among them.
WHOLE = ["cart_pole", "double_pendulum", "elastic_system", "four_bar", "leg", "spatial_slider_crank", "spinning_top"]


def silently(system, kind, path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kn.ExportWarning)
        return kn.export(system, kind, path)


@pytest.mark.parametrize("name", WHOLE)
def test_accelerations_in_mujoco_are_those_of_kinode(name, tmp_path):
    """At the start, where loops are closed, with random speeds that keep them closed."""
    system = kn.load(EXAMPLES / f"{name}.yaml")
    with warnings.catch_warnings():
        warnings.simplefilter("error", kn.ExportWarning)
        file = kn.export(system, "mjcf", tmp_path / f"{name}.xml")
    model, dynamics = compile_peer(file), kn.compile(system)
    data, pairing, rng = mujoco.MjData(model), Pairing(system, dynamics, model), np.random.default_rng(4)
    assembled = kn.assemble(dynamics)
    q = np.array(assembled.state.q)
    for joint, q_of, _ in pairing.slices():
        data.qpos[q_of] = q[pairing.places[pairing.joints[joint], "q"]]
    data.qvel[:] = rng.normal(size=model.nv)
    mujoco.mj_forward(model, data)
    J = equality_jacobian(model, data)
    if len(J):
        assert abs(data.efc_pos).max() < 1e-9
        data.qvel[:] -= np.linalg.lstsq(J, J @ data.qvel, rcond=1e-10)[0]
    inputs = dict.fromkeys(system.inputs, 0.7)
    data.ctrl[:] = [inputs[model.actuator(k).name] for k in range(model.nu)]
    expected = pairing.rates(data.qpos.copy(), data.qvel.copy(), exact_acceleration(model, data))
    q, u = pairing.state(data.qpos, data.qvel)
    found = dynamics.acceleration(0.0, q, u, inputs=inputs)
    assert abs(found - expected).max() < (1e-7 if len(J) else 1e-10) * max(1.0, abs(expected).max())


CHAIN = """kinode: 1
name: chain
bodies:
  base: {mass: 2, com: [0.1, 0, 0.2], inertia: [0.1, 0.2, 0.15, 0.01, 0.02, -0.01]}
  arm: {mass: 1, com: [0, 0.1, 0.3], inertia: [0.1, 0.1, 0.05]}
  tool: {shape: {box: {x: 0.1, y: 0.2, z: 0.3, mass: 0.5}}}
  wheel: {mass: 0.3, com: [0.02, 0, 0], inertia: [0.01, 0.01, 0.02]}
joints:
  ram:
    kind: cylindrical
    between: [{body: base, at: [0, 0, 0.4], rpy: [0.3, 0.2, 0.1]}, {body: arm, at: [0, 0.1, 0], rpy: [0, 0.5, 0]}]
    axis: x
    damping: [3, 2]
  root:
    kind: prismatic
    between: [base, {body: world, at: [1, 0, 0], rpy: [0.2, 0, 0.4]}]
    axis: [1, 1, 0]
    damping: 4
    stiffness: 20
    neutral: 0.1
  wrist: {kind: universal, between: [arm, tool], at: [0, 0, 0.5], axes: [x, [0, 1, 1]]}
  hub: {kind: revolute, between: [tool, {body: wheel, rpy: [0, 0.7, 0]}], axis: y, limits: [-1, 2]}
  held: {kind: revolute, between: [wheel, weight], axis: z, motion: 0.4}
elements:
  rotor: {kind: shaft_inertia, shaft: hub, inertia: 0.07}
"""
WEIGHT = "bodies:\n  weight: {mass: 0.4, com: [0, 0.2, 0]}\n"


def chain():
    return kn.loads(CHAIN.replace("bodies:\n", WEIGHT, 1))


# A joint of several freedoms is several joints in the file; the order of the coordinates stays.
NAMES = {"ram": ["ram_travel", "ram_angle"], "wrist": ["wrist_first", "wrist_second"]}


@pytest.mark.parametrize("kind", ["urdf", "mjcf"])
def test_round_trip_of_a_chain(kind, tmp_path):
    """Joints in series, in the opposite direction, at turned frames, held by a constant motion."""
    system = chain()
    if kind == "urdf":  # which has no springs and no rotors
        system.change("root", stiffness=None, neutral=None)
        system.remove("rotor")
    with warnings.catch_warnings():
        warnings.simplefilter("error", kn.ExportWarning)
        if kind == "urdf":
            system.change("ram", damping=None)
        file = kn.export(system, kind, tmp_path)
    assert file.name == {"urdf": "chain.urdf", "mjcf": "chain.xml"}[kind]
    again = kn.load(file)
    one, two = kn.compile(system), kn.compile(again)
    names = [name for joint in system.joints for name in NAMES.get(joint, [joint]) if joint != "held"]
    order = {c.joint: c.index for c in two.coordinates if c.role == "u"}
    to = [order[name] for name in names]
    own = [c.index for joint in system.joints for c in one.coordinates if c.role == "u" and c.joint == joint]
    rng = np.random.default_rng(3)
    q, u = rng.normal(size=6), rng.normal(size=6)
    q_two, u_two = np.zeros(6), np.zeros(6)
    q_two[to], u_two[to] = q[own], u[own]
    a, b = one.acceleration(0.0, q, u), two.acceleration(0.0, q_two, u_two)
    assert abs(a[own] - b[to]).max() < 1e-9 * abs(a).max()


def test_gears_and_free_bodies(tmp_path):
    system = kn.System("geared")
    one = system.body("one", mass=1, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1))
    two = system.body("two", mass=1, com=(0.2, 0, 0), inertia=(0.1, 0.1, 0.1))
    ship = system.body("ship", mass=3, com=(0.1, 0.2, 0), inertia=(0.3, 0.2, 0.1))
    system.revolute("first", system.world, one, axis="y")
    system.revolute("second", one, two, axis="y")
    system.gear("mesh", input="second", output="first", ratio=-2.0, offset=0.3)
    system.free("float", system.world, ship, position=(1, 2, 3), rpy=(0.1, 0.2, 0.3))
    for kind in ("urdf", "mjcf"):
        again = kn.load(kn.export(system, kind, tmp_path))
        (gear,) = again.constraints.values()
        assert (gear.ratio, gear.offset) == (-2.0, 0.3)
        a = kn.compile(system).acceleration(0.0, [0.2, 0, 0, 0, 1, 0, 0, 0], [0.5, 1, 2, 3, 1, 2, 3])
        b = kn.compile(again).acceleration(0.0, [0.2, 0, 0, 0, 1, 0, 0, 0], [0.5, 1, 2, 3, 1, 2, 3])
        assert np.allclose(a, b, rtol=1e-9, atol=1e-9)
    start = kn.assemble(again).state.q
    assert np.allclose(start[1:], np.concatenate([[1, 2, 3], kn.assemble(system).state.q[4:]]))


def test_what_cannot_be_said_is_named_and_in_the_file(tmp_path):
    with pytest.warns(kn.ExportWarning, match="URDF cannot say all of four_bar .* its loop is open"):
        file = kn.export(EXAMPLES / "four_bar.yaml", "urdf", tmp_path / "a.urdf")
    assert "<!-- top: URDF has no loops; this revolute joint is left out, and its loop is open -->" in file.read_text()
    with pytest.warns(kn.ExportWarning, match="MJCF cannot say all of motor_axis .*battery: battery is left out"):
        file = kn.export(EXAMPLES / "motor_axis.yaml", "mjcf", tmp_path / "b.xml")
    text = file.read_text()
    assert "<!-- battery: battery is left out -->" in text and "<!-- parameters are written as numbers:" in text
    assert kn.load(file).name == "motor_axis"


def test_a_joint_without_counterpart_is_refused(tmp_path):
    system = kn.System("s")
    nut = system.body("nut", mass=1, inertia=(1, 1, 1))
    system.screw("thread", system.world, nut, lead=0.01)
    for kind in ("urdf", "mjcf"):
        with pytest.raises(kn.ModelError, match="thread: a screw joint has no counterpart"):
            kn.export(system, kind, tmp_path / "s.xml")
    assert not list(tmp_path.iterdir())


def test_save_takes_the_ending(tmp_path):
    system = kn.load(EXAMPLES / "cart_pole.yaml")
    with pytest.warns(kn.ExportWarning, match="rail: its effort law is left out"):
        system.save(tmp_path / "a.urdf")
    system.save(tmp_path / "a.xml")
    system.save(tmp_path / "b.mjcf")
    assert (tmp_path / "a.urdf").read_text().startswith("<?xml")
    assert (tmp_path / "a.xml").read_bytes() == (tmp_path / "b.mjcf").read_bytes()
    assert list(kn.load(tmp_path / "b.mjcf").inputs) == list(system.inputs)


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.yaml")), ids=lambda file: file.stem)
def test_every_example_is_written_and_read_again(file, tmp_path):
    system = kn.load(file)
    for kind in ("urdf", "mjcf"):
        again = kn.load(silently(system, kind, tmp_path))
        assert {name.replace(".", "_") for name in system.bodies} <= set(again.bodies)


def test_meshes_are_found_from_the_exported_file(tmp_path, monkeypatch):
    """Their names are as seen from its folder; those outside it, or missing, are named."""
    meshes = tmp_path / "model" / "meshes"
    meshes.mkdir(parents=True)
    trimesh.creation.box((0.1, 0.2, 0.3)).export(meshes / "box.stl")
    text = (
        "kinode: 1\nname: arm\nbodies:\n  b:\n    shape: {mesh: {file: meshes/box.stl, density: 1000}}\n"
        "    meshes:\n      - {kind: mesh, file: meshes/box.stl}\n      - {kind: mesh, file: gone.stl}\n"
        "      - {kind: mesh, file: 'package://arm/box.stl'}\n"
        "joints:\n  j: {kind: revolute, between: [world, b], axis: y}\n"
    )
    (tmp_path / "model" / "arm.yaml").write_text(text)
    monkeypatch.chdir(tmp_path / "model")
    system = kn.load("arm.yaml")
    monkeypatch.chdir("/")  # what a relative path meant at first is not what it means now
    away = tmp_path / "away"
    away.mkdir()
    for file, name, told in (
        (tmp_path / "model" / "arm.urdf", "meshes/box.stl", False),
        (tmp_path / "arm.urdf", "model/meshes/box.stl", False),
        (away / "arm.urdf", "../model/meshes/box.stl", True),
    ):
        with pytest.warns(kn.ExportWarning, match="b: its mesh gone.stl was not found") as warned:
            kn.export(system, "urdf", file)
        assert (f"b: its mesh lies outside the folder of the file, at {name}" in str(warned[0].message)) is told
        written = file.read_text()
        assert written.count(f'filename="{name}"') == 2 and 'filename="package://arm/box.stl"' in written
        assert (file.parent / name).resolve() == (meshes / "box.stl").resolve()
        found = [visual.path is not None for visual in kn.load(file).bodies["b"].meshes]
        assert found == [not told, not told, False, False]
    (meshes / "box.stl").unlink()
    with pytest.raises(kn.ModelError, match=r"'meshes/box\.stl' cannot be read: No such file"):
        kn.export(system, "urdf", away / "again.urdf")


def test_what_a_start_and_limits_lose_stands_in_a_comment(tmp_path):
    system = kn.System("arm")
    rod = system.body("rod", mass=1, inertia=(1, 1, 1))
    system.revolute("pin", system.world, rod, axis="z", q=0.3, u=2.0, limits={"lower": -1.0})
    urdf, mjcf = (kn.export(system, kind, tmp_path / f"arm.{kind}").read_text() for kind in ("urdf", "mjcf"))
    assert "<!-- coordinates and speeds at the start are not written: pin -->" in urdf
    assert "<!-- speeds at the start are not written: pin -->" in mjcf
    assert "<!-- limits are written in part, or not: pin -->" in mjcf


@pytest.mark.parametrize("kind", ["urdf", "mjcf"])
def test_values_of_inputs_stand_in_a_comment(kind, tmp_path):
    system = kn.load("examples/pendulum.yaml")
    system.input("push", 2.5)
    system.input("idle", 0.0)
    system.change("pivot", effort="3*push")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kn.ExportWarning)
        text = kn.export(system, kind, tmp_path).read_text()
    assert "<!-- values of inputs are not written: push = 2.5 -->" in text


def test_bodies_nested_deeper_than_pythons_stack(tmp_path):
    """MuJoCo's own depth is the limit, in its words."""
    body, count = '<body><joint/><geom size="0.1"/>', 3000
    text = f"<mujoco><worldbody>{body * count}{'</body>' * count}</worldbody></mujoco>"
    (tmp_path / "deep.xml").write_text(text)
    with pytest.raises(kn.ModelError, match="MuJoCo refuses the model"):
        kn.load(tmp_path / "deep.xml")
