"""How drawing and camera stand when a model is opened, changes in kind, or is placed anew, at 1280 x 800."""

import re

from page_patience import shows
from player_pages import ROOT
from studio_hands import studio

FOUR_BAR = (ROOT / "examples" / "four_bar.yaml").read_text()
# Whether no part or line sticks out of the sheet by more than a pixel.
INSIDE = """() => {
  const sheet = document.querySelector(".canvas-sheet").getBoundingClientRect();
  const drawn = [...document.querySelectorAll(".circuit .room, .circuit .words-room, .circuit .wire .line")]
    .map((each) => each.getBoundingClientRect());
  return drawn.length > 0 && Math.max(...drawn.flatMap((box) =>
    [sheet.left - box.left, box.right - sheet.right, sheet.top - box.top, box.bottom - sheet.bottom])) <= 1;
}"""
# How far the camera looks from the direction that the axes of the first joint have: 1 along it, 0 across.
ALONG = """(name) => {
  const { header } = kinodeStudio.run.player.main;
  const { view } = kinodeStudio.run.player.stage;
  const joint = header.joints.find((each) => each.name === name);
  if (joint === undefined) return null;
  const [w, x, y, z] = view.rig.quaternion;
  const toward = [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)];
  return Math.round(Math.abs(toward.reduce((sum, each, k) => sum + each * joint.axis[k], 0)) * 1e6) / 1e6;
}"""
SEEN = """() => {
  const { view } = kinodeStudio.run.player.stage;
  return kinodeStudio.run.player.main.header.bodies
    .every((_, row) => view.projectPoint(view.drawing.poses.position(row)).visible);
}"""


def open_example(page, name):
    """Take an example out of the gallery; what is not saved is dropped."""
    page.locator(".studio-head button", has_text="Models").click()
    page.locator("dialog.gallery .card", has=page.locator("strong", has_text=re.compile(f"^{name}$"))).click()
    page.get_by_role("button", name="Drop the changes").click()
    page.locator("dialog.gallery").wait_for(state="detached")


def test_a_model_is_seen_whole_and_from_its_side_whatever_was_drawn_before(page, tmp_path):
    with studio(page, folder=tmp_path) as hands:
        hands.begin()
        hands.add("link")
        hands.wait_for_part("link")
        hands.wait_for_run("hinge.q")
        shows(page, ALONG, 1, "hinge")
        page.evaluate("(text) => kinodeStudio.document.replaceText(text)", FOUR_BAR)
        hands.wait_for_run("left.q")
        shows(page, ALONG, 1, "left")  # the axes were y, now they are z
        shows(page, SEEN, True)
        shows(page, INSIDE, True)  # no part of what was drawn is left
        page.evaluate("() => kinodeStudio.run.player.stage.view.rig.orbit(1, 0.5)")
        page.evaluate("() => kinodeStudio.act({ do: 'move', places: { left: [-2000, 900] } })")
        page.get_by_role("button", name="Tidy up").click()
        hands.wait()
        shows(page, INSIDE, True)
        open_example(page, "motor_axis")  # neither this model nor the one before has a file
        hands.wait_for_run("elbow.q")
        shows(page, ALONG, 1, "elbow")  # the camera that was turned was that of the other model
        shows(page, INSIDE, True)
