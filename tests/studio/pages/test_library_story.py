"""The library in a real browser: a part dropped, given a value, opened and left; parts saved as one; all of it runs."""

import pytest
from page_access import check_access
from page_patience import expect, shows
from player_pages import ROOT
from studio_hands import studio

import kinode as kn
from kinode.editing.file_boxes import load_file_box

EXAMPLES = ROOT / "examples"
TRAIL = "() => [...document.querySelectorAll('.box-trail li')].map((step) => step.textContent)"
LIBRARY = ".studio-palette details[data-section='library']"


def test_a_part_is_dropped_opened_and_one_is_saved(make_page, tmp_path):
    page = make_page(width=1440, height=1000)
    text = (EXAMPLES / "rlc.yaml").read_text()
    (tmp_path / "rlc.yaml").write_text(text)
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "bleeder.yaml").write_text(
        "# A resistor that empties the tank.\nkinode: 1\nparameters: {size: 1 kOhm}\n"
        "elements:\n  r: {kind: resistor, plus: top, minus: gnd, resistance: size}\n"
    )
    (tmp_path / "library" / "wrong.yaml").write_text("kinode: 1\nbodies: {a: [}\n")
    with studio(page, tmp_path / "rlc.yaml") as hands:
        # what there is
        item = page.locator(f"{LIBRARY} [data-addition='part library/bleeder.yaml']")
        wrong = page.locator(f"{LIBRARY} [data-addition='part library/wrong.yaml']")
        expect(item).to_contain_text("A resistor that empties the tank.port: top (electrical)")
        expect(wrong).to_contain_text("line 2")
        expect(wrong).to_be_disabled()
        check_access(page, "library")
        # dropped, connected, given a value
        sheet = page.locator(".canvas-sheet")
        item.drag_to(sheet, target_position={"x": 80, "y": 300})
        hands.wait_for_part("bleeder")
        page.keyboard.press("c")
        hands.answer("top")
        hands.wait()
        field = page.locator(".inspector [data-field='parameters.size'] input")
        field.fill("2 kOhm")
        field.press("Enter")
        hands.wait_for_run("bleeder.r.current")
        box = kn.loads(hands.text, file=tmp_path / "rlc.yaml")
        assert box.nominal(box.parameters["bleeder.size"].value) == 2000
        # opened as a document of its own, and back
        page.keyboard.press("Control+s")
        page.wait_for_function("() => !kinodeStudio.document.dirty")
        hands.choose("bleeder")
        page.keyboard.press("Enter")
        hands.wait_for_part("r")
        shows(page, TRAIL, ["rlc.yaml", "bleeder.yaml"])
        page.locator(".box-trail").get_by_role("button", name="rlc.yaml").click()
        hands.wait_for_part("bleeder")
        # two parts saved as one
        hands.choose("coil")
        hands.choose("wire", more=True)
        page.keyboard.press("s")
        name = page.get_by_label("File name")
        name.fill("choke.yaml")
        page.get_by_label("Description").fill("A coil with its loss.")
        name.press("Enter")
        hands.wait_for_part("choke")
        hands.wait_for_run("choke.coil.current")
        page.locator(f"{LIBRARY} [data-addition='part library/choke.yaml']").wait_for()
        saved = load_file_box(tmp_path / "rlc.yaml", "library/choke.yaml")
        assert list(saved.elements) == ["wire", "coil"]
        run = kn.simulate(kn.loads(hands.text, file=tmp_path / "rlc.yaml"))
        _, values = hands.series("choke.coil.current")
        assert max(values) == pytest.approx(max(run["choke.coil.current"]), rel=1e-2)  # drawn at other times
        # a file that goes vanishes; what stays is not made anew under the pointer, and keeps the focus
        kept = page.query_selector(f"{LIBRARY} [data-addition='part library/choke.yaml']")
        kept.focus()
        (tmp_path / "library" / "wrong.yaml").unlink()
        wrong.wait_for(state="detached")
        assert kept.evaluate("(item) => item.isConnected && document.activeElement === item")
