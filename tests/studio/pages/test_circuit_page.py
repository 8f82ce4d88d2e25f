"""The circuit and the equations in a real browser: what they say at the cursor is what the run says."""

import re

import numpy as np
import pytest
from page_patience import look, says, settle
from page_readings import seek, show

BOX = """() => Object.fromEntries([...document.querySelectorAll(".value-box tr")].map(
  (row) => [row.cells[0].textContent, Number(row.cells[1].textContent.replace("\u2212", "-"))]))"""
TERMS = """() => [...document.querySelectorAll(".equation:first-of-type .equation-value")]
  .map((each) => each.textContent)"""


def focus(page, kind, name):
    """By the keyboard: the arrow keys go from part to part."""
    settle(page)
    page.locator(".diagram-sheet [tabindex='0']").first.focus()
    wanted = f"() => document.activeElement.matches('g.{kind}[data-name=\"{name}\"]')"
    for _ in range(60):
        if page.evaluate(wanted):
            return
        page.keyboard.press("ArrowRight")
    raise AssertionError(f"{name} is not reached")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_link_says_its_values_at_the_cursor(scheme, make_page, open_run, pages):
    page = open_run(make_page(scheme=scheme), "motor_axis")
    show(page, "Circuit")
    run = pages.run("motor_axis")
    for t in (0.6, 1.1):
        seek(page, t)
        focus(page, "link", "bus")
        shown = look(page, BOX)
        k = int(np.argmin(np.abs(run.t - t)))
        near = slice(max(k - 3, 0), k + 4)
        for words, name in {
            "voltage": "bus.voltage", "current, into battery": "battery.1.current",
            "power into battery": "battery.1.power", "power into amplifier": "amplifier.1.power",
        }.items():  # fmt: skip
            low, high = run[name][near].min(), run[name][near].max()
            slack = 1e-3 * np.abs(run[name]).max()
            assert low - slack <= shown[words] <= high + slack, (words, t)
        assert shown["power into battery"] == pytest.approx(-shown["power into amplifier"], rel=1e-3)
    lit = look(page, "() => [...document.querySelectorAll('.lit')].map((each) => each.dataset.name).sort()")
    assert lit == ["amplifier", "battery", "bus"]


def test_a_click_on_a_link_plots_it_and_one_on_a_joint_selects_it(page, open_run):
    open_run(page, "motor_axis")
    show(page, "Circuit")
    focus(page, "component", "elbow")
    page.keyboard.press("Enter")
    assert look(page, "() => kinodePlayer.selection") == {"kind": "joint", "name": "elbow"}
    show(page, "Circuit")
    focus(page, "link", "rotor")
    page.keyboard.press("Enter")
    assert look(page, "() => [kinodePlayer.selection.kind, kinodePlayer.shownPanel]") == ["link", "Plots"]
    says(page.locator(".panel:visible"), "rotor.speed")


def test_zoom_and_fit(page, open_run):
    open_run(page, "excavator")
    show(page, "Circuit")
    window = "() => document.querySelector('.diagram-sheet > svg').getAttribute('viewBox')"
    fitted = look(page, window)
    page.get_by_label("Larger").click()
    assert float(look(page, window).split()[2]) == pytest.approx(float(fitted.split()[2]) / 1.3)
    page.get_by_label("Whole diagram").click()
    assert look(page, window) == fitted


def test_a_circuit_without_bodies_is_on_the_stage(make_page, open_run):
    page = open_run(make_page(still=False), "rlc")
    assert page.locator(".stage .diagram-sheet g.link").count() == 3
    drawn = "() => { const c = document.querySelector('.diagram-sheet canvas'); return c.toDataURL(); }"
    seek(page, 0.001)
    page.locator(".stage").hover()
    first = look(page, drawn)
    seek(page, 0.0012)
    assert look(page, drawn) != first
    assert re.fullmatch(r"one dot: \d+(\.\d+)? .?J", says(page.locator(".worth"), "one dot"))


def test_terms_have_their_values_at_the_cursor(page, open_run, pages):
    open_run(page, "pendulum")
    show(page, "Equations")
    run = pages.run("pendulum")
    seek(page, float(run.t[0]))
    inertia, weight = (float(text.replace("\u2212", "-")) for text in look(page, TERMS))
    length = run.parameters["L"]
    assert inertia == pytest.approx(length**2 / 3 * run["pivot.u_dot"][0], rel=6e-3)
    assert weight == pytest.approx(4.905 * length * np.cos(run["pivot.q"][0]), rel=6e-3)
    page.locator(".equation-term").first.click()
    assert look(page, "() => kinodePlayer.shownPanel") == "Plots"
    says(page.locator(".panel:visible"), "pivot.equation.1")
