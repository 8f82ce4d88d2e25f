"""The library of a model: files as parts, boxes saved as files; what comes and goes on the disk; refusals."""

from pathlib import Path

import pytest
from desk_pages import scene

import kinode as kn
from kinode.studio.editor import library as library_answers
from kinode.studio.editor.library import describe_file, list_files

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
FILTER = """# A low-pass filter of first order. It has one stage.
kinode: 1
parameters: {resistance: {value: 1 kOhm, note: of the stage}}
elements:
  stage: {kind: resistor, plus: input_node, minus: output_node, resistance: resistance}
  store: {kind: capacitor, plus: output_node, minus: gnd, capacitance: 1 uF}
"""


@pytest.fixture
def library(folder, monkeypatch):
    monkeypatch.setattr(library_answers, "POLL_SECONDS", 0.02)
    place = folder / "library"
    place.mkdir()
    (place / "low_pass.yaml").write_text(FILTER)
    return place


def rows_of(answer):
    return {row["file"]: row for row in answer["parts"]}


async def wait_for_library(page, fits):
    while True:  # the wire has a limit of time
        news = page.last("library")
        if news is not None and fits(rows_of(news)):
            return news
        message = await page.wire.answer()
        page.pushes.append(message[0] if isinstance(message, tuple) else message)


def test_files_are_parts_with_words_ports_and_parameters(make_desk, folder, library, rlc):
    (folder / "other.yaml").write_text(rlc)
    (folder / "settings.yaml").write_text("color: red\n")
    (folder / "rlc.view.yaml").write_text("kinode_view: 1\nplaces: {}\n")
    (library / ".hidden.yaml").write_text(FILTER)
    (library / "low_pass.view.yaml").write_text("kinode_view: 1\nplaces: {}\n")
    (library / "note.txt").write_text("no model")
    desk = make_desk()

    async def story(page):
        answer = await page.ask("library")
        rows = rows_of(answer)
        assert list(rows) == ["library/low_pass.yaml", "other.yaml"] and answer["folder"] == "library"
        part = rows["library/low_pass.yaml"]
        assert part["words"] == "A low-pass filter of first order." and part["why"] == ""
        assert [(port["name"], port["domain"]) for port in part["ports"]] == [("input_node", "electrical")]
        assert part["parameters"] == [{"name": "resistance", "value": "1000 Ohm", "words": "of the stage"}]
        gesture = {"do": "insert", "file": "library/low_pass.yaml", "at": [40, 80]}
        made = await page.ask("gesture", version=0, gesture=gesture)
        assert made["made"] == ["low_pass"]
        box = {"component": "low_pass", "port": "input_node"}
        await page.ask("gesture", gesture={"do": "connect", "from": box, "to": {"link": "top"}})
        shown = (await page.ask("inspect", name="low_pass"))["inspected"]
        assert {"file", "on", "resistance", "input_node"} <= {field["name"] for field in shown["fields"]}
        await page.settled(desk)
        assert desk.checked().checked.complete
        assert "low_pass.store" in desk.checked().system.elements
        (sketched,) = (b for b in desk.checker.sketch(desk.version())["boxes"] if b["name"] == "low_pass")
        assert sketched["at"] == [40, 80] and sketched["inside"] == {"file": "library/low_pass.yaml", "count": 2}

    scene(desk, story)


def test_wrong_files_say_why_and_the_others_stay(make_desk, folder, library):
    (library / "circle.yaml").write_text("kinode: 1\nsystems: {all: {file: ../rlc.yaml}}\n")
    (library / "open.yaml").write_text("kinode: 1\nbodies: {a: [}\n")
    (library / "list.yaml").write_text("- 1\n")
    (library / "empty.yaml").write_text("kinode: 1\nparameters: {a: 1}\n")
    (library / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    (folder.parent / "secret.yaml").write_text(FILTER)
    (library / "out.yaml").symlink_to(folder.parent / "secret.yaml")
    desk = make_desk()

    async def story(page):
        rows = rows_of(await page.ask("library"))
        why = {Path(file).stem: row["why"] for file, row in rows.items()}
        assert "in a circle" in why["circle"] and "line 2" in why["open"] and "starts with" in why["list"]
        assert "nothing in it that could be drawn" in why["empty"] and "UTF-8" in why["binary"]
        assert why["low_pass"] == "" and "out" not in why
        for file in ("library/out.yaml", "../secret.yaml", "library/../../secret.yaml"):
            refused = await page.ask("gesture", gesture={"do": "insert", "file": file})
            assert "outside the folder" in refused["error"]["message"]
            assert "has no model" in (await page.ask("open_model", file=file))["error"]["message"]
        assert desk.document.version == 0

    scene(desk, story)


def test_files_that_come_and_go_are_told(make_desk, library):
    desk = make_desk()

    async def story(page):
        assert list(rows_of(await page.ask("library"))) == ["library/low_pass.yaml"]
        (library / "deep").mkdir()
        (library / "deep" / "second.yaml").write_text(FILTER.replace("low-pass", "second"))
        await wait_for_library(page, lambda rows: "library/deep/second.yaml" in rows)
        (library / "low_pass.yaml").unlink()
        await wait_for_library(page, lambda rows: list(rows) == ["library/deep/second.yaml"])
        (library / "deep" / "second.yaml").write_text("kinode: 2\n")
        news = await wait_for_library(page, lambda rows: any(row["why"] for row in rows.values()))
        assert "format 1" in news["parts"][0]["why"]

    scene(desk, story)


def test_parts_are_saved_as_a_file_and_taken_back(make_desk, folder, rlc):
    desk = make_desk()
    before = kn.loads(rlc, file=folder / "rlc.yaml")

    async def story(page):
        request = {"names": ["coil", "wire"], "name": "choke", "words": "A coil with its loss.", "at": [10, 20]}
        saved = await page.ask("library_save", **request)
        assert saved["part"] == "library/choke.yaml" and saved["made"] == ["choke"] and saved["file"] == "rlc.yaml"
        assert "file: library/choke.yaml" in desk.document.text
        assert (folder / "library" / "choke.yaml").read_text().startswith("# A coil with its loss.\nkinode: 1\n")
        await page.settled(desk)
        found = desk.checked()
        assert found.checked.complete and found.system.elements["choke.coil"].kind == before.elements["coil"].kind
        assert [row["words"] for row in page.last("library")["parts"]] == ["A coil with its loss."]
        again = await page.ask("library_save", names=["store"], name="choke.yaml")
        assert again["exists"] == "choke.yaml" and "coil" in (folder / "library" / "choke.yaml").read_text()
        await page.ask("undo")
        assert desk.document.text == rlc

    scene(desk, story)


def test_a_box_is_saved_with_its_drawing_and_replaces_when_asked(make_desk, folder, library):
    desk = make_desk()

    async def story(page):
        await page.ask("gesture", gesture={"do": "enclose", "names": ["coil", "wire"], "name": "choke"})
        inside = {"do": "in", "box": ["choke"], "gesture": {"do": "move", "places": {"coil": [70, 90]}}}
        await page.ask("gesture", gesture=inside)
        (library / "low_pass.view.yaml").write_text("kinode_view: 1\nplaces: {stage: [1, 2]}\n")
        asked = await page.ask("library_save", names=["choke"], name="low_pass")
        assert asked["exists"] == "low_pass.yaml"
        saved = await page.ask("library_save", names=["choke"], name="low_pass", overwrite=True)
        assert saved["part"] == "library/low_pass.yaml"
        assert "coil" in (library / "low_pass.yaml").read_text()
        assert "coil: [70, 90]" in (library / "low_pass.view.yaml").read_text()
        opened = await page.ask("open_model", file="library/low_pass.yaml", discard=True)
        assert opened["settings"]["file"] == "library/low_pass.yaml"
        (box,) = (box for box in opened["sketch"]["boxes"] if box["name"] == "coil")
        assert box["at"] == [70, 90]
        assert (await page.ask("library"))["parts"] == []  # of a file in the library its siblings are
        back = await page.ask("open_model", file="rlc.yaml")
        assert back["document"]["file"] == "rlc.yaml"

    scene(desk, story)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"names": ["coil"], "name": "../coil"}, "without folders"),
        ({"names": ["coil"], "name": ".coil"}, "hidden"),
        ({"names": ["coil"], "name": "coil.view.yaml"}, "a model ends in"),
        ({"names": ["coil"], "name": "coil.txt"}, "a model ends in"),
        ({"names": ["coil"], "name": ""}, "name of a file"),
        ({"names": ["nobody"], "name": "x"}, "nothing called 'nobody'"),
        ({"names": [], "name": "x"}, "parts that are to be saved"),
        ({"names": "coil", "name": "x"}, "names: a list of names"),
        ({"names": ["coil"], "name": "x", "words": 3}, "words: a text"),
        ({"names": ["coil"], "name": "x", "words": 500 * "x"}, "letters"),
        ({"names": ["coil"], "name": "x", "box": ["no"]}, "no subsystem 'no'"),
    ],
)
def test_what_cannot_be_saved_says_why_and_writes_nothing(make_desk, folder, rlc, fields, words):
    desk = make_desk()

    async def story(page):
        answer = await page.ask("library_save", **fields)
        assert words in answer["error"]["message"]
        assert desk.document.text == rlc and not list(folder.glob("library/*"))

    scene(desk, story)


def test_a_folder_that_cannot_be_written_leaves_the_text(make_desk, folder, rlc):
    (folder / "library").write_text("a file where the folder should be")
    desk = make_desk()

    async def story(page):
        assert "library" in (await page.ask("library_save", names=["coil"], name="x"))["error"]["message"]
        assert desk.document.text == rlc

    scene(desk, story)


def test_a_read_only_studio_saves_nothing(make_desk, library):
    desk = make_desk(read_only=True)

    async def story(page):
        assert len((await page.ask("library"))["parts"]) == 1
        assert "read" in (await page.ask("library_save", names=["coil"], name="x"))["error"]["message"]

    scene(desk, story)


def test_sentences_of_files(tmp_path):
    noted = tmp_path / "noted.yaml"
    noted.write_text("# Not this. Nor this.\nkinode: 1\nnotes: ['The first note. And more.', second]\n")
    assert describe_file(noted) == "The first note."
    assert describe_file(EXAMPLES / "leg.yaml").startswith("A leg of two links")
    assert describe_file(tmp_path / "nobody.yaml") == ""
    noted.write_text(f"# {'a' * 300}\nkinode: 1\n")
    assert describe_file(noted).endswith("…") and len(describe_file(noted)) == 240
    noted.write_text(f"# {'a' * 240}\nkinode: 1\n")
    assert describe_file(noted) == "a" * 240
    assert list_files(tmp_path / "nowhere" / "model.yaml") == []
