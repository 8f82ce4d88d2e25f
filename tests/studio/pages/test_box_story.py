"""A subsystem in a real browser: made of motor and gear, opened, changed, closed and run; and one from a file."""

import numpy as np
import pytest
from page_patience import shows
from player_pages import ROOT
from studio_hands import SHOWN, studio

import kinode as kn

EXAMPLES = ROOT / "examples"
TRAIL = "() => [...document.querySelectorAll('.box-trail li')].map((step) => step.textContent)"


@pytest.fixture(autouse=True)
def own_state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def test_a_box_of_motor_and_gear_runs_as_they_did(make_page, tmp_path):
    page = make_page(width=1440, height=1000)
    text = (EXAMPLES / "motor_axis.yaml").read_text()
    expected = kn.simulate(kn.loads(text.replace("ratio: ratio,", "ratio: 50,")))
    (tmp_path / "axis.yaml").write_text(text)
    with studio(page, tmp_path / "axis.yaml") as hands:
        hands.wait_for_run("elbow.q")
        hands.choose("motor")
        hands.choose("gear", more=True)
        page.keyboard.press("Control+g")
        hands.wait_for_part("subsystem")
        page.keyboard.press("Enter")
        hands.wait_for_part("gear")
        shows(page, TRAIL, ["axis.yaml", "subsystem"])
        hands.inspect("gear")
        hands.set("ratio", "50")
        page.locator(".canvas-sheet").focus()
        page.keyboard.press("Escape")
        page.keyboard.press("Backspace")
        hands.wait_for_part("subsystem")
        page.locator(".box-trail").wait_for(state="hidden")
        page.wait_for_function(SHOWN, arg="subsystem")
        hands.wait_for_run("subsystem.motor.current")
        times, values = hands.series("elbow.q")
        assert values == pytest.approx(np.interp(times, expected.t, expected["elbow.q"]), abs=1e-3)  # of 1.2 rad
        for _ in range(2):
            page.keyboard.press("Control+z")
            hands.wait()
        assert hands.text == text


def test_a_box_from_a_file_opens_that_file_and_leads_back(make_page, tmp_path):
    page = make_page(width=1440, height=1000)
    for name in ("walker", "leg"):
        (tmp_path / f"{name}.yaml").write_text((EXAMPLES / f"{name}.yaml").read_text())
    with studio(page, tmp_path / "walker.yaml") as hands:
        hands.choose("left")
        page.keyboard.press("Enter")
        hands.wait_for_part("thigh")
        shows(page, TRAIL, ["walker.yaml", "leg.yaml"])
        page.locator(".box-trail").get_by_role("button", name="walker.yaml").click()
        hands.wait_for_part("left")
        page.locator(".box-trail").wait_for(state="hidden")
