"""The form of a body's shape: what is written, what it gives, and other kinds with the same mass."""

import pytest

import kinode as kn
from kinode.formats.editing.checked_text import check_text
from kinode.formats.editing.gestures import plan_gesture
from kinode.formats.editing.model_draft import ModelDraft
from kinode.formats.editing.text_edits import apply_edits
from kinode.studio.placing.shape_fields import describe_shape

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
