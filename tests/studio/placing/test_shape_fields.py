"""The form of a body's shape: what is written, what it gives, and other kinds with the same mass."""

import numpy as np
import pytest
import trimesh

import kinode as kn
from kinode.editing.checked_text import check_text
from kinode.editing.draft import ModelDraft
from kinode.editing.gestures import plan_gesture
from kinode.editing.spans import apply_edits
from kinode.studio.placing.shape_fields import describe_shape
from kinode.studio.placing.still_model import StillModel

TEXT = """\
kinode: 1
bodies:
  bar: {shape: {box: {x: 0.4 m, y: 3 cm, z: 3 cm, density: 2700 kg/m^3, at: [0.2, 0, 0]}}}  # aluminium
  lump: {mass: 2 kg, com: [0.1, 0, 0], inertia: [1, 1, 1]}
joints: {a: {kind: free, between: [world, bar]}, b: {kind: free, between: [world, lump]}}
"""


def described(name, text=TEXT):
    checked = check_text(text)
    return describe_shape(checked.system, ModelDraft(text, None, checked), name)


def test_a_shape_says_its_numbers_and_the_mass_and_inertia_that_they_give():
    shape = described("bar")
    texts = {field["name"]: field["text"] for field in shape["fields"]}
    assert shape["solid"] == "box" and texts["y"] == "3 cm" and texts["density"] == "2700 kg/m^3"
    assert texts["mass"] is None and texts["at"] == "[0.2, 0, 0]"
    properties = dict(shape["properties"])
    assert properties["mass"] == "0.972 kg" and properties["mass center"] == "[0.2, 0, 0] m"
    body = kn.loads(TEXT).bodies["bar"]
    assert float(properties["inertia zz"].split()[0]) == pytest.approx(float(body.inertia[2]), rel=1e-3)


@pytest.mark.parametrize("kind", ["cylinder", "sphere", "rod", "box"])
@pytest.mark.parametrize("name", ["bar", "lump"])
def test_another_kind_of_shape_keeps_what_is_known(name, kind):
    plan = plan_gesture(TEXT, described(name)["kinds"][kind])
    new = apply_edits(TEXT, plan.edits)
    body = kn.loads(new).bodies[name]
    assert body.shape.kind == kind and "# aluminium" in new
    if name == "lump":
        assert body.shape.mass == 2.0 and body.shape.at == (0.1, 0.0, 0.0)
    elif kind != "rod":
        assert body.shape.density == 2700.0


def test_a_body_without_a_shape_still_says_its_mass():
    shape = described("lump")
    assert shape["solid"] == "" and shape["fields"] == [] and dict(shape["properties"])["mass"] == "2 kg"


@pytest.fixture
def folder(tmp_path):
    """A plate of 200 x 100 x 10 mm drawn in mm, the same without two triangles, and a file that is no mesh."""
    (tmp_path / "parts").mkdir()
    plate = trimesh.creation.box((200, 100, 10))
    plate.export(tmp_path / "parts" / "plate.stl")
    plate.update_faces(np.arange(12) > 1)
    plate.export(tmp_path / "an open, one.stl")
    (tmp_path / "notes.txt").write_text("no mesh")
    return tmp_path


def mesh_form(name, text, folder):
    checked = check_text(text, folder / "m.yaml")
    return describe_shape(checked.system, ModelDraft(text, folder / "m.yaml", checked), name)


def test_a_mesh_is_offered_where_its_file_can_be(folder):
    assert "save the model first" in described("bar")["missing"]["mesh"]
    inner = folder / "parts" / "deeper"
    inner.mkdir()
    assert mesh_form("bar", TEXT, inner)["missing"] == {
        "mesh": "no .stl, .obj, .dae, .glb file in the folder of the model"
    }
    shape = mesh_form("bar", TEXT, folder)
    assert shape["missing"] == {} and list(shape["kinds"])[-1] == "mesh"


def become_mesh(name, text, folder, file):
    form = mesh_form(name, text, folder)
    text = apply_edits(text, plan_gesture(text, form["kinds"]["mesh"], folder / "m.yaml").edits)
    for path, value in ((["shape", "mesh", "file"], file), (["shape", "mesh", "scale"], "1 mm")):
        gesture = {"do": "set", "name": name, "path": path, "value": value}
        text = apply_edits(text, plan_gesture(text, gesture, folder / "m.yaml").edits)
    return text


def test_a_shape_becomes_a_mesh_with_its_density_and_back(folder):
    (folder / "an open, one.stl").rename(folder / "z.stl")
    text = become_mesh("bar", TEXT, folder, "parts/plate.stl")
    form = mesh_form("bar", text, folder)
    fields = {field["name"]: field for field in form["fields"]}
    assert form["solid"] == "mesh" and fields["density"]["text"] == "2700 kg/m^3"
    assert fields["file"]["choices"] == ["parts/plate.stl", "z.stl"] and fields["up"]["choices"][0] == ""
    properties = dict(form["properties"])
    assert properties["mesh"] == "12 triangles, closed, 0.0002 m³" and properties["mass"] == "0.54 kg"
    assert form["columns"] == form["differs"] == [] and "# aluminium" in text
    again = apply_edits(text, plan_gesture(text, form["kinds"]["box"], folder / "m.yaml").edits)
    assert kn.loads(again, folder / "m.yaml")["bar"].shape.density == 2700.0


def test_stated_numbers_stand_beside_those_of_the_mesh(folder):
    text = become_mesh("lump", TEXT, folder, "parts/plate.stl")
    form = mesh_form("lump", text, folder)
    rows = {row[0]: row[1:] for row in form["properties"]}
    assert form["columns"] == ["stated", "of the mesh, with the stated mass"]
    assert rows["mass"] == ["2 kg", "2 kg"] and rows["mass center"] == ["[0.1, 0, 0] m", "[0, 0, 0] m"]
    assert rows["inertia zz"][1] == f"{2 * (0.2**2 + 0.1**2) / 12:.4g} kg·m²"
    assert form["differs"] == ["mass center", "inertia xx", "inertia yy", "inertia zz"]
    body = kn.loads(text, folder / "m.yaml")["lump"]
    assert body.mass == 2.0 and body.inertia[:3] == (1.0, 1.0, 1.0)  # what is stated counts
    back = apply_edits(text, plan_gesture(text, form["kinds"]["sphere"], folder / "m.yaml").edits)
    assert kn.loads(back, folder / "m.yaml")["lump"].shape.mass == 2.0


def test_a_shape_becomes_an_open_mesh_and_keeps_its_numbers(folder):
    before = kn.loads(TEXT)["bar"]
    text = become_mesh("bar", TEXT, folder, '"an open, one.stl"')  # the first of the folder, so that it is the offer
    form = mesh_form("bar", text, folder)
    assert form["properties"][0] == ["mesh", "10 triangles, open: for looks alone"]
    body = kn.loads(text, folder / "m.yaml")["bar"]
    assert body.shape.density is None and body.mass == pytest.approx(float(before.mass), rel=1e-5)
    assert body.center_of_mass == pytest.approx(before.center_of_mass)
    assert body.inertia == pytest.approx(tuple(map(float, before.inertia)), rel=1e-5)


def test_a_loose_body_with_a_mesh_is_placed_beside_the_others(folder):
    text = TEXT.partition("joints:")[0] + "joints: {b: {kind: free, between: [world, lump]}}\n"
    text = become_mesh("bar", text, folder, "parts/plate.stl")
    model = StillModel(check_text(text, folder / "m.yaml").system)
    assert model.loose and model.poses["bar"].p[0] > 0.1
