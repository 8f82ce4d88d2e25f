"""Meshes as shapes: mass properties against formulas, checks, refusals, files, drawings."""

import warnings

import numpy as np
import pytest
import trimesh

import kinode as kn
from kinode.model.base import meshes
from kinode.model.base.meshes import find_mesh_file, make_solid
from kinode.player.scene_data import MOST_TRIANGLES, _mesh
from kinode.views.mechanism.mechanism_drawing import draw


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A box of 300 x 40 x 20 mm that begins at the origin, in all formats; an open one; a fine ball."""
    place = tmp_path_factory.mktemp("meshes")
    block = trimesh.creation.box((300, 40, 20))
    block.apply_translation((150, 0, 0))
    for ending in ("stl", "obj", "dae", "glb"):
        block.export(place / f"block.{ending}")
    opened = block.copy()
    opened.update_faces(np.arange(len(opened.faces)) > 1)
    opened.export(place / "open.stl")
    trimesh.creation.icosphere(subdivisions=5, radius=0.05).export(place / "ball.stl")
    return place


@pytest.mark.parametrize("ending", ["stl", "obj", "dae", "glb"])
def test_mass_properties_are_those_of_the_box(folder, ending):
    body = kn.System("s").body("b", shape=kn.mesh(folder / f"block.{ending}", scale="1 mm", up="z", density=2700))
    same = kn.System("s").body("b", shape=kn.box(0.3, 0.04, 0.02, density=2700, at=(0.15, 0, 0)))
    assert body.mass == pytest.approx(same.mass, rel=1e-6)  # STL and GLB have single precision
    np.testing.assert_allclose(body.center_of_mass, same.center_of_mass, atol=1e-9)
    np.testing.assert_allclose(body.inertia, same.inertia, rtol=1e-5, atol=1e-12)


def test_mass_in_place_of_density_and_a_place(folder):
    body = kn.System("s").body("b", shape=kn.mesh(folder / "block.stl", scale=0.001, mass=2.0, at=(0, 0, 0.1)))
    assert body.mass == 2.0 and body.center_of_mass[2] == pytest.approx(0.1)
    assert body.inertia[2] == pytest.approx(2.0 * (0.3**2 + 0.04**2) / 12, rel=1e-5)


def test_the_most_triangles_are_still_read(folder, monkeypatch):
    shape = kn.mesh(folder / "block.stl", scale=0.001, mass=2.0)
    monkeypatch.setattr(meshes, "MOST_TRIANGLES", 12)
    assert kn.System("s").body("b", shape=shape).mass == 2.0
    monkeypatch.setattr(meshes, "MOST_TRIANGLES", 11)
    with pytest.raises(kn.ModelError, match="has 12 triangles; at most 11 are read"):
        kn.System("s").body("b", shape=kn.mesh(folder / "block.obj", scale=0.001, mass=2.0))


def test_a_mesh_that_looks_inward_is_turned_round():
    block = trimesh.creation.box((1, 2, 3))
    solids = [make_solid(np.array(block.vertices), np.array(faces)) for faces in (block.faces, block.faces[:, ::-1])]
    for solid in solids:
        assert solid.closed and solid.volume == pytest.approx(6.0)
        assert solid.tensor[0] == pytest.approx(6.0 * (4 + 9) / 12)


def test_stated_numbers_are_compared_with_those_of_the_mesh(folder):
    system, shape = kn.System("s"), kn.mesh(folder / "block.stl", scale=0.001, density=2700)
    with pytest.warns(
        UserWarning, match=r"b: mass 1 kg is stated, the mesh has 0.648 kg; mass center .* is stated"
    ) as w:
        body = system.body("b", mass=1.0, com=(0.1, 0, 0), inertia=(0.01, 0.01, 0.01), shape=shape)
    assert "principal moments (0.01, 0.01, 0.01) kg*m^2 are stated" in str(w[0].message)
    assert body.mass == 1.0 and body.center_of_mass == (0.1, 0.0, 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        system.body("c", mass=0.65, com=(0.15, 0, 0), inertia=(1.08e-4, 4.88e-3, 4.95e-3), shape=shape)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"file": "open.stl", "density": 1}, r"b.shape: the mesh is open \(\d+ edges join no two triangles\), so that"),
        ({"file": "none.stl"}, "b.shape.file: .* cannot be read: No such file"),
        ({"file": "model.step"}, "is no mesh that is read: .stl, .obj, .dae, .glb are"),
        ({"file": "wrong.glb"}, "is no GLB file that can be read"),
        ({"file": "block.stl", "scale": 0}, "b.shape.scale: a positive number is expected"),
        ({"file": "block.stl", "up": "w"}, "b.shape.up: must be x, y or z, not 'w'"),
        ({"file": "block.stl", "mass": 1, "density": 1}, "give mass or density, not both"),
        ({"file": "block.stl", "size": 1}, "a mesh has no 'size'"),
        ({}, "a mesh needs the name of its file"),
    ],
)
def test_wrong_meshes_are_refused_by_name(folder, fields, message):
    (folder / "wrong.glb").write_bytes(b"glTF nothing")
    given = {**fields, **({"file": str(folder / fields["file"])} if "file" in fields else {})}
    with pytest.raises(kn.ModelError, match=message):
        kn.System("s").body("b", shape={"mesh": given})


def test_an_open_mesh_is_for_looks(folder):
    body = kn.System("s").body("b", mass=1, inertia=(1, 1, 1), shape=kn.mesh(folder / "open.stl", scale=0.001))
    assert body.mass == 1.0 and not body.shape.mesh.closed


MODEL = """kinode: 1
name: m
bodies: {{arm: {{shape: {{mesh: {{file: {file}, scale: 1 mm, density: 2700}}}}}}}}
joints: {{j: {{kind: revolute, between: [world, arm], axis: z}}}}
"""


def test_model_files_name_meshes_in_their_folder(folder):
    (folder / "model.yaml").write_text(MODEL.format(file="block.obj"))
    system = kn.load(folder / "model.yaml")
    kn.export(system, "yaml", folder / "again.yaml")
    assert kn.load(folder / "again.yaml")["arm"].mass == pytest.approx(0.648)
    assert 'kn.mesh("block.obj", scale=0.001, density=2700)' in kn.export(system, "python", folder / "s.py").read_text()
    inner = folder / "inner"
    inner.mkdir()
    (inner / "link.obj").symlink_to(folder / "block.obj")
    for name in ("../block.obj", "link.obj", str(folder / "block.obj")):
        (inner / "model.yaml").write_text(MODEL.format(file=name))
        with pytest.raises(kn.ModelError, match="outside the folder of the model"):
            kn.load(inner / "model.yaml")
    figure = draw(kn.simulate(system, 0.01, samples=3))
    assert figure.axes


def test_numbers_of_a_mesh_can_be_live(folder):
    system = kn.System("s")
    body = system.body("b", shape=kn.mesh(folder / "block.stl", scale="1 mm", density=2700, at=(0, 0, 0.1)))
    system.revolute("j", system.world, body, axis="y", effort=1.0)
    dynamics = kn.compile(system, live=True)
    state = (0.0, [0.3], [0.0])
    twice = dynamics.acceleration(*state, p={"b.shape.density": 5400.0})
    system.change("b", shape=kn.mesh(folder / "block.stl", scale="1 mm", density=5400, at=(0, 0, 0.1)))
    assert twice == pytest.approx(kn.compile(system).acceleration(*state), rel=1e-12)
    with pytest.raises(kn.Error, match="scale"):
        dynamics.acceleration(*state, p={"b.shape.scale": 0.002})


def test_materials_and_textures_are_not_opened(folder, monkeypatch):
    text = (folder / "block.obj").read_text()
    (folder / "with.obj").write_text(f"mtllib /etc/passwd\nusemtl x\n{text}")
    assert kn.System("s").body("b", shape=kn.mesh(folder / "with.obj", density=1)).mass > 0


def test_fine_meshes_are_shown_with_fewer_triangles(folder):
    mesh, _ = meshes.read_mesh(folder / "ball.stl")
    shown = _mesh(mesh, np.zeros(3), np.eye(3))
    assert len(mesh.faces) == 20480 and 500 < len(shown["triangles"]) / 3 <= MOST_TRIANGLES
    assert "of 20,480 triangles are shown" in shown["note"]
    radii = np.linalg.norm(np.reshape(shown["corners"], (-1, 3)), axis=1)
    assert abs(radii - 0.05).max() < 0.005
    assert shown["sizes"] == pytest.approx([0.1] * 3, rel=1e-2)


def test_a_package_that_is_missing_is_named(folder, monkeypatch):
    meshes._read.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, "trimesh", None)
    with pytest.raises(kn.Error, match=r"pip install 'kinode\[mesh\]'"):
        kn.System("s").body("b", shape=kn.mesh(folder / "block.stl", density=1))


URDF = """<robot name="r"><link name="base"/><link name="arm"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><origin xyz="0 0 0.1"/><geometry><mesh filename="{file}" scale="0.001 0.001 0.001"/></geometry></visual></link>
<joint name="j" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint></robot>"""


@pytest.mark.parametrize(
    ("file", "found"),
    [("block.stl", True), ("package://parts/block.stl", True), ("package://other/block.stl", True),
     ("package://parts/../../../../etc/block.stl", False), ("http://example.org/block.stl", False),
     ("../block.stl", False)],
)  # fmt: skip
def test_meshes_of_urdf_are_found_in_its_folder(folder, tmp_path, file, found):
    (tmp_path / "block.stl").write_bytes((folder / "block.stl").read_bytes())
    (tmp_path / "robot.urdf").write_text(URDF.format(file=file))
    system = kn.load(tmp_path / "robot.urdf")
    assert (system["arm"].meshes[0].path is not None) == found
    if file == "block.stl":
        (solid,) = draw_solids(system)
        assert solid["kind"] == "mesh" and solid["at"] == pytest.approx([0.15, 0, 0.1])


def draw_solids(system):
    from kinode.player.scene_data import SceneData

    run = kn.simulate(system, 0.01, samples=3)
    return [shape for body in SceneData(run).bodies for shape in body["shapes"] if shape["kind"] == "mesh"]


def test_packages_that_the_caller_names(folder, tmp_path):
    assert find_mesh_file("package://p/block.stl", tmp_path / "m.urdf", {"p": folder}) == str(folder / "block.stl")
    assert find_mesh_file("package://p/../block.stl", tmp_path / "m.urdf", {"p": folder / "inner"}) is None
