"""Units and upward axes of mesh files, transforms of their scenes, and meshes that are left out of drawings."""

import warnings

import numpy as np
import pytest
import trimesh
from trimesh.exchange.gltf import export_glb

import kinode as kn
from kinode.model.base.bodies import Visual
from kinode.model.base.meshes import find_conventions, find_visual_mesh, note_undrawn
from kinode.views.mechanism.drawn_scene import mesh_places

LOW, HIGH = np.array([1.0, 2.0, 3.0]), np.array([2.0, 5.0, 8.0])  # a box of 1 x 3 x 5 in the numbers of its file
IMAGES = {  # of its middle (1.5, 3.5, 5.5), by COLLADA's table of right, up and inward axes
    "X_UP": (-3.5, -5.5, 1.5), "Y_UP": (1.5, -5.5, 3.5), "Z_UP": (1.5, 3.5, 5.5),
}  # fmt: skip


def write_dae(path, unit='<unit name="inch" meter="0.0254"/>', up="<up_axis>Z_UP</up_axis>"):
    """The box as COLLADA, with these entries in its asset, and others in the asset of its geometry."""
    box = trimesh.creation.box(bounds=[LOW, HIGH])
    box.export(path)
    text = path.read_text()
    head, _, rest = text.partition("<asset>")
    _, _, tail = rest.partition("</asset>")
    other = '<asset><created>x</created><modified>x</modified><unit meter="7"/><up_axis>X_UP</up_axis></asset>'
    start = tail.index("<mesh>")
    tail = tail[:start] + other + tail[start:]
    path.write_text(f"{head}<asset><created>x</created><modified>x</modified>{unit}{up}</asset>{tail}")
    return path


@pytest.mark.parametrize("up", IMAGES)
def test_unit_and_upward_axis_of_a_dae_file_count(tmp_path, up):
    file = write_dae(tmp_path / "a.dae", up=f"<up_axis>{up}</up_axis>")
    body = kn.System("s").body("b", shape=kn.mesh(file, density=1000))
    assert body.mass == pytest.approx(15 * 0.0254**3 * 1000, rel=1e-6)
    np.testing.assert_allclose(body.center_of_mass, np.array(IMAGES[up]) * 0.0254, atol=1e-8)
    given = kn.System("s").body("b", shape=kn.mesh(file, scale="1 cm", up="z", density=1000))
    np.testing.assert_allclose(given.center_of_mass, (0.015, 0.035, 0.055), atol=1e-8)  # what the caller says wins


def test_a_silent_dae_file_is_in_m_with_y_upward(tmp_path):
    file = write_dae(tmp_path / "a.dae", unit="", up="")
    assert find_conventions("dae", file.read_bytes()) == (1.0, "y")
    for wrong, message in (('<unit meter="0"/>', "its unit is 0 m"), ("<up_axis>W</up_axis>", "X_UP, Y_UP, Z_UP")):
        with pytest.raises(kn.ModelError, match=f"b.shape.file: .* can be read: .*{message}"):
            kn.System("s").body("b", shape=kn.mesh(write_dae(tmp_path / "w.dae", unit="", up=wrong)))


@pytest.mark.parametrize("ending", ["dae", "glb"])
def test_nodes_of_a_scene_stand_where_they_are(tmp_path, ending):
    """Two boxes in nodes that are moved, turned and scaled, one below the other."""
    scene = trimesh.Scene()
    turn = trimesh.transformations.rotation_matrix(np.pi / 2, (0, 0, 1))
    move, grow = trimesh.transformations.translation_matrix((1, 2, 3)), np.diag([2.0, 2.0, 2.0, 1.0])
    box = trimesh.creation.box((1, 2, 3))
    scene.add_geometry(box, node_name="one", geom_name="one", transform=move @ turn)
    scene.add_geometry(box, node_name="two", geom_name="two", parent_node_name="one", transform=move @ grow)
    file = tmp_path / f"scene.{ending}"
    if ending == "glb":
        file.write_bytes(export_glb(scene))
    else:  # trimesh writes no scenes: the same nodes by pycollada
        write_scene(file, box, move @ turn, move @ grow)
    body = kn.System("s").body("b", shape=kn.mesh(file, up="z", density=1))
    first, second = np.array([1, 2, 3]), np.array([1, 2, 3]) + turn[:3, :3] @ [1, 2, 3]
    assert body.mass == pytest.approx(6 + 48, rel=1e-6)
    np.testing.assert_allclose(body.center_of_mass, (6 * first + 48 * second) / 54, atol=1e-6)
    upright = kn.System("s").body("b", shape=kn.mesh(file, density=1))  # y of the file is z here
    x, y, z = body.center_of_mass
    np.testing.assert_allclose(upright.center_of_mass, (x, -z, y), atol=1e-6)


def write_scene(file, box, outer, inner):
    import collada
    from collada import geometry, scene, source

    document = collada.Collada()
    data = source.FloatSource("corners", np.array(box.vertices, dtype=np.float32).ravel(), ("X", "Y", "Z"))
    form = geometry.Geometry(document, "box", "box", [data])
    inputs = source.InputList()
    inputs.addInput(0, "VERTEX", "#corners")
    form.primitives.append(form.createTriangleSet(np.array(box.faces).ravel(), inputs, ""))
    document.geometries.append(form)
    transforms = [scene.MatrixTransform(np.array(X, dtype=np.float32).ravel()) for X in (outer, inner)]
    below = scene.Node("two", children=[scene.GeometryNode(form)], transforms=transforms[1:])
    above = scene.Node("one", children=[scene.GeometryNode(form), below], transforms=transforms[:1])
    document.scenes.append(scene.Scene("all", [above]))
    document.scene = document.scenes[0]
    document.write(str(file))


LINK = """<robot name="r"><link name="base"/><link name="arm"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>{visuals}</link>
<joint name="j" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint></robot>"""
VISUAL = '<visual><geometry><mesh filename="{file}" scale="2 2 2"/></geometry></visual>'


def load_robot(folder, *files, more=""):
    (folder / "r.urdf").write_text(LINK.format(visuals="".join(VISUAL.format(file=file) for file in files) + more))
    return kn.load(folder / "r.urdf")


def test_visuals_have_the_axes_of_their_file_as_in_rviz_and_its_unit(tmp_path):
    write_dae(tmp_path / "a.dae", up="<up_axis>Y_UP</up_axis>")
    system = load_robot(tmp_path, "a.dae")
    assert system.notes == []
    ((mesh, _, _),) = mesh_places(system["arm"], system.nominal)
    np.testing.assert_allclose(mesh.center, np.array([1.5, 3.5, 5.5]) * 0.0254 * 2, atol=1e-8)


def test_visuals_that_are_not_found_are_named_once(tmp_path):
    trimesh.creation.box().export(tmp_path / "there.stl")
    files = ["there.stl", "gone.stl", "gone.stl", "part.step", "package://other/a.dae", "http://example.org/a.stl"]
    hull = "<collision><geometry><mesh filename='hull.stl'/></geometry></collision>"
    cone = "<visual><geometry><cone/></geometry></visual>"
    system = load_robot(tmp_path, *files, more=hull + cone)
    assert system.notes == [
        "arm: <cone> of a visual is not known and not drawn",
        "not drawn: arm (gone.stl); not found in the folder of the model or below",
        "not drawn: arm (part.step); of meshes, STL, OBJ, DAE and GLB are read",
        "not drawn: arm (package://other/a.dae); not found; packages={'other': folder} tells kn.load where",
        "not drawn: arm (http://example.org/a.stl); nothing is fetched from the network",
    ]
    assert "gone.stl" in system.summary()
    kn.export(system, "yaml", tmp_path / "again.yaml")
    again = kn.load(tmp_path / "again.yaml")
    assert again.notes == system.notes and again["arm"].meshes[0].path == str(tmp_path / "there.stl")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "m.yaml").write_text("bodies: {a: {mass: 1, meshes: [{file: x.stl}]}}\nkinode: 1\n"
                                            "joints: {f: {kind: free, between: [world, a]}}\n")  # fmt: skip
    assert kn.load(tmp_path / "own" / "m.yaml").notes == [
        "not drawn: a (x.stl); not found in the folder of the model or below"
    ]


def test_a_note_names_some_of_many():
    (note,) = note_undrawn({f"b{k}": [Visual("mesh", (1.0,) * 3, file=f"{k}.stl")] for k in range(9)})
    assert note.startswith("not drawn: b0 (0.stl), b1 (1.stl)") and "b5 (5.stl) and 3 others; not found" in note


def test_a_mesh_that_cannot_be_read_is_a_warning_when_it_is_drawn(tmp_path):
    (tmp_path / "bad.glb").write_bytes(b"nothing")
    system = load_robot(tmp_path, "bad.glb")
    with pytest.warns(UserWarning, match=r"arm: the mesh bad.glb is not drawn: .*is no GLB file that can be read"):
        assert mesh_places(system["arm"], system.nominal) == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert find_visual_mesh(system["arm"].meshes[0], "arm") is None  # once is enough


def test_a_mesh_leaves_as_urdf_and_comes_back_in_its_place(tmp_path):
    write_dae(tmp_path / "a.dae", up="<up_axis>Y_UP</up_axis>")
    shape = "{mesh: {file: a.dae, scale: 1 cm, density: 1000, at: [0, 0, 0.5]}}"
    joint = "{j: {kind: revolute, between: [world, b]}}"
    (tmp_path / "m.yaml").write_text(f"kinode: 1\nbodies: {{b: {{shape: {shape}}}}}\njoints: {joint}\n")
    system = kn.load(tmp_path / "m.yaml")
    kn.export(system, "urdf", tmp_path / "m.urdf")
    again = kn.load(tmp_path / "m.urdf")
    assert again.notes == [] and again["b"].mass == pytest.approx(15e-6 * 1000, rel=1e-6)
    ((one, at, _),), ((other, p, R),) = (mesh_places(each["b"], each.nominal) for each in (system, again))
    np.testing.assert_allclose(p + R @ other.center, at + one.center, atol=1e-9)
    np.testing.assert_allclose(at + one.center, again["b"].center_of_mass, atol=1e-9)
