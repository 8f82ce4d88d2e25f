"""Building in 3D in a real browser: bodies and hinges by mouse, a frame dragged, a body pulled, all taken back."""

import numpy as np
import pytest
from page_access import check_access
from steady_spots import drag, find_middle, find_steady
from studio_hands import studio

import kinode as kn

SCENE = """() => { const stage = kinodeStudio.parts[0].stage; return stage !== null && stage.stage.view !== null
  && stage.version === kinodeStudio.document.version && !kinodeStudio.document.busy; }"""
AT = """([body, at]) => { const { view, header } = kinodeStudio.parts[0].stage.stage;
  const row = header.bodies.findIndex((each) => each.name === body);
  const { x, y } = view.projectPoint(view.drawing.poses.point(row, at));
  const box = view.canvas.getBoundingClientRect();
  return [x + box.left, y + box.top]; }"""
MOVED = """() => kinodeStudio.parts[0].stage.header.frames
  .find((frame) => frame.name === 'body.tip').at[0] > 0.42"""


@pytest.fixture(autouse=True)
def own_state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


class PlaceHands:
    """What a person does in the 3D place."""

    def __init__(self, hands):
        self.hands, self.page = hands, hands.page

    def ready(self):
        self.page.wait_for_function(SCENE)

    def tool(self, name):
        self.page.locator(".place-tools button", has_text=name).click()

    def at(self, body, *at):
        """A point of a body on the screen, once view and body stand still."""
        return find_steady(self.page, AT, [body, list(at)])

    def answer(self, *answers):
        for words in answers:
            box = self.page.locator(".place-root .choice-box input")
            box.wait_for()
            box.fill(words)
            self.page.keyboard.press("Enter")

    def drag(self, start, by):
        drag(self.page, start, (start[0] + by[0], start[1] + by[1]), steps=3)


def build(place, hands):
    """A bar on the world, and another at its tip, by mouse."""
    page = place.page
    page.get_by_role("tab", name="3D").click()
    page.get_by_role("button", name="Add a body and join it").click()
    place.answer("world", "revolute", "y")
    hands.wait()
    place.ready()
    place.tool("Body")
    page.mouse.click(*place.at("body", 0.4, 0, 0))  # within reach of the frame: it is taken
    place.answer("revolute", "y")
    hands.wait()
    place.ready()


def turn_axis(place, hands, built):
    """The axis of a joint by its arrow, and by keys; one undo takes each back."""
    page = place.page
    place.ready()
    page.evaluate("() => kinodeStudio.select(['revolute_2'], 'test')")
    place.tool("Turn")
    place.drag(find_middle(page, ".joint-axis .tip"), (50, -60))
    page.locator(".place-hint", has_text="axis of revolute_2").wait_for()
    assert hands.text == built
    page.mouse.up()
    page.wait_for_function("(text) => kinodeStudio.document.text !== text", arg=built)
    axis = np.array(kn.loads(hands.text).joints["revolute_2"].axis, dtype=float)
    assert np.linalg.norm(axis) == pytest.approx(1.0, abs=1e-3) and min(abs(axis)) > 0.05
    for key, letter in (("x", "x"), ("-", "-x")):
        place.ready()
        page.locator(".joint-axis").focus()
        page.keyboard.press(key)
        page.wait_for_function("(words) => kinodeStudio.document.text.includes(words)", arg=f"axis: {letter}")
    for _ in range(3):
        hands.wait()
        page.keyboard.press("Control+z")
    hands.wait()
    assert hands.text == built
    place.tool("Move")


def test_two_bodies_are_built_moved_and_pulled_in_3d(make_page, tmp_path):
    page = make_page(width=1440, height=1000)
    file = tmp_path / "arm.yaml"
    with studio(page, file) as hands:
        place = PlaceHands(hands)
        build(place, hands)
        check_access(page, "3D")
        built = hands.text
        system = kn.loads(built)
        first, second = system.joints.values()
        assert (first.a.body, first.b.body, second.a, second.b.body) == (
            "world", "body", system.bodies["body"]["tip"], "body_2",
        )  # fmt: skip
        assert first.axis == second.axis == "y" and hands.problems() == []
        # a frame by its handle: the body on it follows while it is dragged, and one undo takes it back
        page.evaluate("() => kinodeStudio.select(['body'], 'test')")
        page.locator("[data-id='frame body.tip'] rect").click()
        page.locator("[data-handle='0']").wait_for()
        place.drag(find_middle(page, "[data-handle='0'] .head"), (60, 0))
        page.wait_for_function(MOVED)
        assert hands.text == built  # nothing is written before it is let go
        page.mouse.up()
        hands.wait()
        longer = kn.loads(hands.text).bodies["body"]["tip"].position
        assert longer[0] > 0.42 and longer[1:] == (0.0, 0.0)
        page.keyboard.press("Control+z")
        hands.wait()
        assert hands.text == built
        turn_axis(place, hands, built)
        # pulled through its freedoms: it springs back, or becomes the start
        place.ready()
        place.tool("Pull")
        place.drag(place.at("body_2", 0.35, 0, 0), (-30, -70))
        page.locator(".pulled-bar button", has_text="Back").wait_for()
        page.mouse.up()
        assert hands.text == built
        page.locator(".pulled-bar button", has_text="Start here").click()
        page.wait_for_function("() => kinodeStudio.document.text.includes('q:')")
        started = kn.loads(hands.text)
        angles = [float(system.nominal(joint.q[0])) for joint in started.joints.values() if joint.q is not None]
        assert np.abs(angles).max() > 0.05
        page.keyboard.press("Control+z")
        hands.wait()
        assert hands.text == built
