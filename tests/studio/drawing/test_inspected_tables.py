"""Lookup tables in the inspector, and laws that are checked while they are typed."""

from pathlib import Path

import pytest
from desk_pages import scene

import kinode as kn
from kinode.editing.checked_text import check_text
from kinode.studio.document.document_files import ModelView
from kinode.studio.editor.checked_model import CheckedVersion, ModelVersion
from kinode.studio.editor.completion import complete_law, find_law_problem
from kinode.studio.editor.inspection import inspect_table

TEXT = """kinode: 1
tables:
  curve: {axes: [0, 1, 2], values: [0, 3, 4], outside: hold}
  map: {axes: [[0, 1], [10, 20, 30]], values: [[1, 2, 3], [4, 5, 6]], method: cubic}
  flat: {axes: [[0, 1], [10, 20]], values: [1, 2, 3, 4]}
  wrong: {axes: [0, 0], values: [1, 2]}
  read: {file: points.csv}
bodies: {arm: {mass: 1, com: [0.5, 0, 0]}}
joints: {hinge: {kind: revolute, between: [world, arm], effort: "-2*hinge.u"}}
"""


@pytest.fixture(scope="module")
def found():
    version = ModelVersion(0, TEXT, ModelView(), Path("model.yaml"))
    return CheckedVersion(version, check_text(TEXT, version.place))


def test_cells_and_curves(found):
    curve = inspect_table(found, "curve")
    assert (curve["axes"], curve["values"], curve["line"]) == ([[0, 1, 2]], [[0], [3], [4]], 3)
    assert (curve["method"], curve["outside"], curve["reason"], curve["broken"]) == ("linear", "hold", "", "")
    (drawn,) = curve["curves"]
    at = dict(zip(drawn["x"], drawn["y"]))
    assert at[1] == 3 and drawn["x"][0] == pytest.approx(-0.4) and drawn["y"][0] == 0 and drawn["y"][-1] == 4
    table = inspect_table(found, "map")
    assert table["values"] == [[1, 2, 3], [4, 5, 6]] and [c["at"] for c in table["curves"]] == [[0], [1]]
    assert min(table["curves"][0]["x"]) == 10  # an error outside: nothing is drawn there
    assert inspect_table(found, "flat")["values"] == [[1, 2], [3, 4]]


def test_what_is_no_grid_or_wrong_is_said(found):
    assert "points.csv" in inspect_table(found, "read")["reason"]
    wrong = inspect_table(found, "wrong")
    assert wrong["axes"] == [[0, 0]] and wrong["curves"] == [] and "increas" in wrong["broken"]
    for name in ("nobody", 3):
        with pytest.raises(kn.ArgumentError, match="there is no table"):
            inspect_table(found, name)


def test_the_units_that_were_read_from_a_file_are_told(tmp_path):
    (tmp_path / "cam.csv").write_text("angle deg,lift mm\n0,0\n90,10\n")
    text = "kinode: 1\nname: cam\ntables: {lift: {file: cam.csv}}\n"
    version = ModelVersion(0, text, ModelView(), tmp_path / "model.yaml")
    answer = inspect_table(CheckedVersion(version, check_text(text, version.place)), "lift")
    assert answer["reason"] == "Its numbers are in the file cam.csv: angle in deg; lift in mm."


@pytest.mark.parametrize(
    ("law", "words"),
    [("-3*hinge.u", ""), ("2 m", "m"), ("hinge.q +", "law"), ("2*hin", ""), ("2*nobody", "nobody"), ("", "")],
)
def test_a_law_is_checked_while_it_is_typed(found, law, words):
    field = {"name": "hinge", "path": ["effort"]}
    problem = find_law_problem(found, field, law, complete_law(found.system, law, len(law)))
    assert bool(problem) == bool(words), problem
    assert find_law_problem(found, None, law, complete_law(found.system, law, len(law))) == ""


def test_the_desk_answers_about_tables_and_a_grid_is_one_step(make_desk, folder):
    (folder / "table.yaml").write_text(TEXT.replace("  read: {file: points.csv}\n", "").replace("[0, 0]", "[0, 9]"))
    desk = make_desk("table.yaml")

    async def story(page):
        assert (await page.ask("inspect", name=""))["inspected"]["tables"] == ["curve", "map", "flat", "wrong"]
        assert (await page.ask("inspect_table", name="curve"))["table"]["values"] == [[0], [3], [4]]
        before = desk.document.text
        sets = [{"do": "set", "name": "curve", "path": [path], "value": text}
                for path, text in (("axes", "[0, 1, 2, 3]"), ("values", "[0, 3, 4, 4.5]"))]  # fmt: skip
        await page.ask("gesture", version=0, gesture={"do": "all", "gestures": sets})
        assert "curve: {axes: [0, 1, 2, 3], values: [0, 3, 4, 4.5], outside: hold}" in desk.document.text
        await page.ask("undo")
        assert desk.document.text == before
        typed = await page.ask("complete", law="2 m", position=3, field={"name": "hinge", "path": ["effort"]})
        assert typed["problem"] and "options" in typed

    scene(desk, story)
