"""A mesh in the studio: chosen in the form of a body, drawn in 3D and in the run, compared with what is stated."""

import pytest
import trimesh
from page_access import check_access
from page_patience import shows
from studio_hands import studio

import kinode as kn

MODEL = """\
kinode: 1
name: wheel
bodies:
  ring: {mass: 2 kg, inertia: {zz: 0.003}}
joints:
  axle: {kind: revolute, between: [world, ring], axis: y, speed: 3 rad/s}
run: {until: 1}
"""
SHAPES = """() => { const stage = kinodeStudio.parts[0].stage;
  return stage !== null && stage.stage.view !== null && stage.version === kinodeStudio.document.version
    ? stage.stage.header.bodies.flatMap((body) => body.shapes.map((shape) => shape.kind)) : null; }"""
MESHED = f"() => ({SHAPES})()?.includes('mesh')"
IN_RUN = "() => kinodeStudio.run.player.main.header.bodies[0].shapes.some((shape) => shape.kind === 'mesh')"
PROPERTIES = """(words) => {
  const rows = [...document.querySelectorAll('.shape-form table tr')];
  const texts = rows.map((row) => [...row.children].map((cell) => cell.textContent));
  return texts.some((row) => row.includes(words)) ? texts : null; }"""


@pytest.fixture(autouse=True)
def own_state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def field(page, name):
    return page.locator(f".shape-form [data-shape='{name}']")


def test_a_mesh_is_chosen_drawn_and_compared(make_page, tmp_path):
    ring = trimesh.creation.annulus(r_min=20, r_max=60, height=20)  # in mm
    (tmp_path / "parts").mkdir()
    ring.export(tmp_path / "parts" / "ring.stl")
    file = tmp_path / "wheel.yaml"
    file.write_text(MODEL)
    page = make_page(width=1440, height=1000)
    with studio(page, file) as hands:
        page.get_by_role("tab", name="3D").click()
        page.evaluate("() => kinodeStudio.select(['ring'], 'test')")
        page.get_by_label("Shape of ring").select_option("mesh")
        shows(page, "() => document.querySelector(\".shape-form [data-shape='file']\")?.value", "parts/ring.stl")
        field(page, "scale").fill("1 mm")
        field(page, "scale").press("Enter")
        page.wait_for_function(MESHED)
        field(page, "density").fill("7850")
        field(page, "density").press("Enter")
        shown = page.wait_for_function(PROPERTIES, arg="1.568 kg ≠").json_value()
        rows = {row[0]: row[1:] for row in shown}
        assert rows[""] == ["stated", "of the mesh"] and rows["mesh"][0].startswith(f"{len(ring.faces)} triangles")
        assert rows["mass"] == ["2 kg", "1.568 kg ≠"] and rows["inertia zz"][1].startswith("0.003116 kg·m²")
        assert hands.problems() == []
        body = kn.loads(hands.text, file)["ring"]
        assert body.mass == 2.0 and body.shape.density == 7850.0
        check_access(page, "3D")
        hands.wait_for_run("axle.q")
        page.wait_for_function(IN_RUN)
        (tmp_path / "parts" / "ring.stl").unlink()
        field(page, "density").fill("2700")
        field(page, "density").press("Enter")
        hands.wait()
        assert any("parts/ring.stl" in problem for problem in hands.problems())
