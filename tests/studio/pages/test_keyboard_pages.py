"""The keyboard alone: every key of the list, menus, tabs, the search; and names of all controls for screen readers."""

import re
from itertools import pairwise

import pytest
from page_patience import look, says, settle
from page_readings import show
from player_pages import ROOT

SOURCE = (ROOT / "web" / "src" / "ui" / "keys.ts").read_text(encoding="utf-8")
LISTED = re.findall(r'\{ keys: \[(.*?)\], words: "([^"]*)"', SOURCE)
STATE = """() => {
  const { clock, theme, shownPanel, stage, root } = kinodePlayer;
  return { t: clock.t, playing: clock.playing, speed: clock.speed, loop: clock.loop, theme, panel: shownPanel,
    strips: !root.querySelector(".strips").hidden, seeThrough: stage.view.shown.seeThrough,
    dialog: root.querySelector("dialog.help") !== null, focus: document.activeElement.getAttribute("aria-label") };
}"""
# What each key does: the state before and after differ in this way. The clock is paused in the middle at first.
EFFECTS = {
    "play, pause": lambda a, b: b["playing"] and not a["playing"],
    "one picture back": lambda a, b: a["t"] - 0.05 < b["t"] < a["t"],
    "one picture ahead": lambda a, b: a["t"] < b["t"] < a["t"] + 0.05,
    "ten pictures back": lambda a, b: a["t"] - 0.5 < b["t"] < a["t"] - 0.05,
    "ten pictures ahead": lambda a, b: a["t"] + 0.05 < b["t"] < a["t"] + 0.5,
    "a tenth of the run back": lambda a, b: b["t"] == pytest.approx(a["t"] - 0.2),
    "a tenth of the run ahead": lambda a, b: b["t"] == pytest.approx(a["t"] + 0.2),
    "to the start": lambda a, b: b["t"] == 0,
    "to the end": lambda a, b: b["t"] == 2,
    "previous event": lambda a, b: 0 < b["t"] < a["t"],
    "next event": lambda a, b: b["t"] > a["t"],
    "slower": lambda a, b: b["speed"] < a["speed"],
    "faster": lambda a, b: b["speed"] > a["speed"],
    "loop": lambda a, b: b["loop"] != a["loop"],
    "modes of components": lambda a, b: b["strips"] != a["strips"],
    "see through bodies": lambda a, b: b["seeThrough"] != a["seeThrough"],
    "search a quantity to plot": lambda a, b: b["panel"] == "Plots" and b["focus"] == "Add a quantity to the plots",
    "light or dark": lambda a, b: b["theme"] != a["theme"],
    "this list": lambda a, b: b["dialog"],
}
CALM = """(t) => {
  kinodePlayer.clock.pause();
  kinodePlayer.clock.seek(t);
  kinodePlayer.clock.setSpeed(1);
  document.querySelector("dialog")?.close();
  kinodePlayer.root.focus();
}"""
CAMERA = """() => {
  const { camera, pixel } = kinodePlayer.stage.view.rig;
  return [...camera.matrixWorldInverse.elements, pixel];
}"""
NAMELESS = re.compile(r"- (button|combobox|slider|textbox|searchbox|checkbox|tab|link)(?: \[[^\]]*\])*(?:$|:)", re.M)
UNNAMED = """() => {
  const words = (e) => e.getAttribute("aria-label") ?? e.labels?.[0]?.textContent ?? e.textContent ?? "";
  const controls = "button, select, input, textarea, summary, a[href], [role=slider], [role=menuitem], [tabindex='0']";
  const shown = [...document.querySelectorAll(controls)].filter((each) => each.checkVisibility());
  return shown.filter((each) => !words(each).trim() && !each.title).map((each) => each.outerHTML.slice(0, 120));
}"""


def test_the_list_of_keys_is_read():
    assert {words for _, words in LISTED} == set(EFFECTS)


def test_every_key_does_what_the_list_says(page, open_run):
    """From a time between the events of brake_arm."""
    open_run(page, "brake_arm")
    times = page.evaluate("() => kinodePlayer.main.header.events.map((event) => event.time)")
    assert 0.5 < min(times) < max(times) < 1.0
    middle = 0.5 * (min(times) + max(times))
    for keys, words in LISTED:
        for key in re.findall(r'"([^"]*)"', keys):
            page.evaluate(CALM, middle)
            before = look(page, STATE)
            page.keyboard.press("Space" if key == " " else key)
            after = look(page, STATE)
            assert EFFECTS[words](before, after), (key, words, before, after)


def test_tabs_and_menus(page, open_run):
    open_run(page, "brake_arm")
    page.locator("[role=tab][aria-selected=true]").focus()
    names = page.evaluate("() => [...kinodePlayer.panels.keys()]")
    seen = []
    for _ in names:
        seen.append(look(page, "() => kinodePlayer.shownPanel"))
        page.keyboard.press("ArrowRight")
    assert seen == names and look(page, "() => kinodePlayer.shownPanel") == names[0]
    page.locator(".stage-tools button").filter(has_text="Show").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("End")
    assert look(page, "() => document.activeElement.getAttribute('role')") == "menuitemcheckbox"
    before = look(page, "() => kinodePlayer.stage.view.shown.frameNames")
    page.keyboard.press("Enter")
    assert look(page, "() => kinodePlayer.stage.view.shown.frameNames") != before
    page.keyboard.press("Escape")
    assert look(page, "() => document.activeElement.textContent").startswith("Show")


def test_the_view_is_turned_and_fitted(page, open_run):
    open_run(page, "excavator")
    page.locator(".stage-surface").focus()
    seen = [look(page, CAMERA)]
    for key in ("ArrowLeft", "ArrowUp", "Shift+ArrowRight", "+", "-", "0"):
        page.keyboard.press(key)
        seen.append(look(page, CAMERA))
    changed = [a != b for a, b in pairwise(seen)]
    assert all(changed), changed


def test_a_joint_is_chosen_by_the_menu(page, open_run):
    open_run(page, "excavator")
    page.locator(".stage-tools button").filter(has_text="Loads").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("End")
    name = look(page, "() => document.activeElement.textContent")
    says(page.locator(".load-card"), "N")  # it is shown while the focus is there
    page.keyboard.press("Enter")
    assert look(page, "() => kinodePlayer.selection") == {"kind": "joint", "name": name}
    assert look(page, "() => kinodePlayer.shownPanel") == "Joint"


def test_a_quantity_is_searched_and_plotted(page, open_run):
    open_run(page, "brake_arm")
    page.locator(".kinode-player").focus()
    page.keyboard.press("/")
    page.keyboard.type("elbow.eff")
    settle(page)
    assert says(page.locator("[role=option]").first, "elbow.effort").strip().startswith("elbow.effort")
    page.keyboard.press("Enter")
    says(page.locator(".plots"), "elbow.effort")


@pytest.mark.parametrize("example", ["brake_arm", "rlc", "stewart_platform"])
def test_every_control_has_a_name(example, page, open_run):
    open_run(page, example)
    for panel in page.evaluate("() => [...kinodePlayer.panels.keys()]"):
        show(page, panel)
        assert look(page, UNNAMED) == [], panel
        tree = page.locator("body").aria_snapshot()
        assert not NAMELESS.search(tree), panel
        assert 'slider "Time"' in tree
