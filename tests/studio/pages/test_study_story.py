"""A study of a slider-crank in the studio, in a real browser: form, map, one run shown, taken over, found again."""

import numpy as np
import pytest
from page_access import check_access
from page_patience import expect, says
from player_pages import ROOT
from studio_hands import studio

import kinode as kn

FORCE = "main.reaction.force|peak"
ESTIMATED = "() => /runs, about/.test(document.querySelector('.study-estimate').textContent)"
DONE = """(title) => kinodeStudio.studies.data?.header.title === title
  && kinodeStudio.studies.data.status.every((status) => status === 1)"""
RESULTS = "(k) => [...kinodeStudio.studies.data.results[k]]"
# of pictures, the study has all steps
PEAK = """(force) => Math.abs(kinodeStudio.run.player.main.header.joints
  .find(({ name }) => name === "main").peak.force.value / force - 1) < 1e-3"""
SET = "() => ['n', 'c'].map((name) => kinodeStudio.run.desk.value(name))"


@pytest.fixture
def engine(tmp_path):
    """The slider-crank, with the place of its crank's mass center as a parameter."""
    text = (ROOT / "examples" / "slider_crank.yaml").read_text()
    file = tmp_path / "engine.yaml"
    file.write_text(text.replace("{n: 3000 rpm}", "{n: 3000 rpm, c: 15 mm}").replace("com: [0.015,", "com: [c,"))
    return file


def fill(page, **fields):
    for label, text in fields.items():
        page.get_by_label(label.replace("_", " "), exact=True).fill(text)


def test_a_person_makes_a_study(large, engine):
    page, text = large, engine.read_text()
    speeds, places = [f"{x} rpm" for x in np.linspace(1000, 3000, 5)], [f"{x} mm" for x in np.linspace(-20, 20, 3)]
    same = kn.sweep(kn.loads(text), {"n": speeds, "c": places}, "20 ms", keep=FORCE)[FORCE].values
    with studio(page, engine) as hands:
        hands.wait_for_run("main.q")
        page.get_by_role("tab", name="Studies").click()
        page.get_by_role("button", name="Add what varies").click()
        fill(page, First_value_of_n="1000 rpm", Last_value_of_n="3000", Number_of_values_of_n="5")
        fill(page, First_value_of_c="-20 mm", Last_value_of_c="20 mm", Number_of_values_of_c="none")
        page.get_by_label("End of the runs").fill("20 ms")
        expect(page.locator("[data-field='axes.1.count'] .field-error")).to_contain_text("whole number")
        run = page.get_by_role("button", name="Run", exact=True)
        expect(run).to_be_disabled()
        fill(page, Number_of_values_of_c="3")
        page.wait_for_function(ESTIMATED)
        run.click()
        page.wait_for_function(DONE, arg="n, c: 15 runs")
        kept = [each["text"] for each in page.evaluate("() => kinodeStudio.studies.data.header.kept")]
        assert np.array_equal(np.reshape(page.evaluate(RESULTS, kept.index(FORCE)), (5, 3)), same)
        show_one(page, same)
        assert hands.text == text
        take_one(page, hands, text, np.unravel_index(same.argmin(), same.shape))
        page.reload()
        page.wait_for_function("() => globalThis.kinodeStudio?.text")
        page.get_by_role("tab", name="Studies").click()
        page.wait_for_function(DONE, arg="n, c: 15 runs")
        expect(page.get_by_label("Last value of n", exact=True)).to_have_value("3000")
        check_access(page, "Studies", ".studies")


def show_one(page, same):
    """By keys to a cell of the map, and its run in the page."""
    page.locator(".chart-field").focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowUp"):
        page.keyboard.press(key)
    words = says(page.locator(".chart-words"), "n = 2000 rpm, c = 0 mm: main.reaction.force|peak = ")
    assert float(words.split(" = ")[-1].split()[0]) == pytest.approx(same[2, 1], rel=1e-4)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Run this one").click()
    page.wait_for_function(f"() => Math.abs(({SET})()[0] - 209.43951) < 1e-3 && ({SET})()[1] === 0")
    page.wait_for_function("() => kinodeStudio.run.player.main.t.at(-1) === 0.02")
    page.wait_for_function(PEAK, arg=same[2, 1])


def take_one(page, hands, text, best):
    """The best run into the text, one step of undo; the study is of an older model then."""
    page.get_by_role("button", name="Least").click()
    page.get_by_role("button", name="Take over into the model").click()
    page.wait_for_function("(text) => kinodeStudio.document.text !== text", arg=text)
    n, c = 1000 + 500 * best[0], -20 + 20 * best[1]
    assert hands.text == text.replace("{n: 3000 rpm, c: 15 mm}", f"{{n: {n} rpm, c: {c} mm}}")
    page.wait_for_function("() => /older/.test(document.querySelector('.study-progress').textContent)")
    page.get_by_role("button", name="Undo").click()
    page.wait_for_function("(text) => kinodeStudio.document.text === text", arg=text)
    page.wait_for_function("() => !/older/.test(document.querySelector('.study-progress').textContent)")
