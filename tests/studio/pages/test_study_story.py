"""A study of a slider-crank in the studio, in a real browser: form, map, one run shown, taken over, found again."""

import numpy as np
import pytest
from page_patience import says, shows, soon
from player_pages import ROOT
from studio_hands import studio

import kinode as kn

AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
FAULTS = """async () => (await axe.run(".studies", { resultTypes: ["violations"] })).violations
  .filter(({ impact }) => impact === "serious" || impact === "critical")
  .map(({ id, nodes }) => [id, nodes.length, nodes[0].target.join(" ")])"""
FORCE = "main.reaction.force|peak"
ESTIMATED = "() => /runs, about/.test(document.querySelector('.study-estimate').textContent)"
WRONG = "() => document.querySelector('[data-field=\"axes.1.count\"] .field-error')?.textContent ?? ''"
DONE = """(title) => kinodeStudio.studies.data?.header.title === title
  && kinodeStudio.studies.data.status.every((status) => status === 1)"""
RESULTS = "(k) => [...kinodeStudio.studies.data.results[k]]"
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
        soon(page, check_refused, page)
        fill(page, Number_of_values_of_c="3")
        page.wait_for_function(ESTIMATED)
        page.get_by_role("button", name="Run", exact=True).click()
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
        soon(page, check_remembered, page)
        if AXE.exists():
            page.evaluate(AXE.read_text())
            shows(page, FAULTS, [], name="Studies")


def check_refused(page):
    """A wrong number is named at its field, and nothing can be run."""
    assert "whole number" in page.evaluate(WRONG)
    assert page.get_by_role("button", name="Run", exact=True).is_disabled()


def check_remembered(page):
    assert page.get_by_label("Last value of n", exact=True).input_value() == "3000"


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
    force = "() => kinodeStudio.run.player.main.header.joints.find((j) => j.name === 'main').peak.force.value"
    shows(page, force, pytest.approx(same[2, 1], rel=1e-3))  # of pictures, the study has all steps


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
