"""The canvas in a real browser: what pointer and keyboard draw is what the file says, and undo takes all of it back."""

import re

import pytest
from page_patience import expect, look, says, shows
from steady_spots import drag, find_middle, find_steady
from studio_hands import PART, studio

import kinode as kn

PLACES = "() => Object.fromEntries(kinodeStudio.document.sketch.boxes.map((box) => [box.name, box.at]))"
LINES = "() => [...document.querySelectorAll('g.wire .line')].map((line) => line.getAttribute('d')).sort()"
SHOWN = "() => Number(document.querySelector('.canvas-sheet .lifted g').getAttribute('transform').match(/[\\d.]+/)[0])"
LEFT_END = """(selector) => {
  const { x, y, height } = document.querySelector(selector).getBoundingClientRect();
  return [x, y + height / 2];
}"""
AT = """([body, at]) => { const { view, header } = kinodeStudio.parts[0].stage.stage;
  const row = header.bodies.findIndex((each) => each.name === body);
  const { x, y } = view.projectPoint(view.drawing.poses.point(row, at));
  const box = view.canvas.getBoundingClientRect();
  return [x + box.left, y + box.top]; }"""


@pytest.fixture
def empty(tmp_path):
    """A model that is not there yet."""
    return tmp_path / "drawn.yaml"


def test_a_mechanism_is_drawn_by_the_mouse(large, empty):
    """Two bodies, a joint whose bodies are clicked, another by dragging from body to body."""
    with studio(large, empty) as hands:
        first = hands.text
        hands.drag_from_palette("body", -60, -80)
        hands.wait_for_part("body")
        hands.drag_from_palette("revolute", -220, -80)
        large.locator(".canvas-hint button", has_text="world").click()
        hands.choose("body")
        hands.wait_for_part("revolute")
        hands.drag_from_palette("body", 200, -80)
        hands.wait_for_part("body_2")
        drag(large, hands.port("body", "body"), hands.spot("body_2"))
        large.mouse.up()
        hands.choose_from_lists("revolute", "pick in 3D")
        for name, x in (("body", 0.1), ("body_2", -0.1)):  # where the joint is, on either body
            large.locator(".place-hint", has_text=f"on {name}:").wait_for()
            large.mouse.click(*find_steady(large, AT, [name, [x, 0, 0]]))
        hands.choose_from_lists("z")
        hands.wait_for_part("revolute_2")
        large.locator(".studio-canvas").wait_for()  # the drawing is shown again
        assert hands.problems() == []
        system = kn.loads(hands.text)
        pairs = {name: (joint.a.body, joint.b.body) for name, joint in system.joints.items()}
        assert pairs == {"revolute": ("world", "body"), "revolute_2": ("body", "body_2")}
        joint = system.joints["revolute_2"]
        places = [joint.a.position[0], joint.b.position[0]]
        assert places == pytest.approx([0.1, -0.1], abs=0.05)  # of the surface, which is nearer to the eye
        hands.wait_for_run("revolute_2.q")
        hands.undo_all()
        assert hands.text == first


def test_a_circuit_is_drawn_by_keys_alone(large, empty):
    with studio(large, empty) as hands:
        keys = large.keyboard
        large.locator(".canvas-sheet").focus()
        for kind in ("battery", "resistor"):
            keys.press("/")
            large.locator(".choice-box input").wait_for()
            keys.type(kind)
            keys.press("Enter")
            hands.wait_for_part(kind)
        for steps in (["plus", "battery.plus"], ["minus", "gnd"]):  # of the resistor, which is selected
            keys.press("c")
            hands.choose_from_lists(*steps)
            hands.wait()
        keys.press("ArrowLeft")
        large.wait_for_function("() => kinodeStudio.selection.join() === 'battery'")
        keys.press("F2")
        keys.type("supply")
        keys.press("Enter")
        hands.wait_for_part("supply")
        large.wait_for_function("() => document.activeElement.dataset.name === 'supply'")
        keys.press("c")
        hands.choose_from_lists("minus", "gnd")
        assert hands.problems() == []
        assert set(kn.loads(hands.text).elements) == {"supply", "resistor"}
        keys.press("Delete")
        assert "supply" not in hands.text


def test_ports_that_fit_light_up_and_others_say_why_not(large, axis):
    with studio(large, axis) as hands:
        text = hands.text
        start, end = hands.port("battery", "plus"), hands.port("elbow", "3")
        drag(large, start, end)
        motor = large.locator(PART % "motor")
        expect(motor.locator("g.port.fits[data-port='plus']")).to_have_count(1)
        expect(motor.locator("g.port.refused[data-port='shaft']")).to_have_count(1)
        for name in ("elbow", "arm", "target"):
            expect(large.locator(PART % name).locator("g.port.fits")).to_have_count(0)
        says(large.locator(".canvas-hint"), "rotational")
        large.mouse.up()
        assert hands.text == text
        drag(large, start, end)
        large.keyboard.press("Escape")
        expect(large.locator("g.port.fits")).to_have_count(0)
        large.mouse.up()
        assert hands.text == text


def test_a_drop_on_a_wire_joins_its_node_and_one_on_nothing_adds_a_part(large, axis):
    with studio(large, axis) as hands:
        text = hands.text
        drag(large, hands.port("gear", "output"), find_steady(large, LEFT_END, "g.wire[data-name='rotor'] .line"))
        says(large.locator(".canvas-hint"), "rotor")
        large.keyboard.press("Escape")
        large.mouse.up()
        sheet = large.locator(".canvas-sheet").bounding_box()
        drag(large, hands.port("battery", "plus"), (sheet["x"] + sheet["width"] - 120, sheet["y"] + 80))
        large.mouse.up()
        hands.answer("capacitor")
        hands.wait_for_part("capacitor")
        assert re.search(r"capacitor: +\{kind: capacitor, plus: bus", hands.text)
        large.keyboard.press("Control+z")  # part and link are one step
        assert hands.text == text


def test_a_part_is_moved_and_a_wire_bent_and_the_text_stays(large, axis):
    with studio(large, axis) as hands:
        text, places, lines = hands.text, large.evaluate(PLACES), large.evaluate(LINES)
        x, y = hands.spot("battery")
        scale = large.evaluate(SHOWN)
        drag(large, (x, y), (x + 60 * scale, y - 40 * scale))
        large.mouse.up()
        hands.wait()
        x, y = places["battery"]
        shows(large, PLACES, places | {"battery": [x + 60, y - 40]})
        large.keyboard.press("Alt+ArrowRight")
        hands.wait()
        shows(large, PLACES, places | {"battery": [x + 70, y - 40]})
        wire = "g.wire[data-name='rotor'] .line"
        at = find_middle(large, wire)
        drag(large, at, (at[0] + 50 * scale, at[1]))
        large.mouse.up()
        hands.wait()
        large.wait_for_function(
            "() => kinodeStudio.document.sketch.links.find((link) => link.name === 'rotor').waypoints.length > 0"
        )
        assert hands.text == text
        hands.undo_all()
        shows(large, PLACES, places)
        shows(large, LINES, lines)


def test_parts_are_selected_aligned_found_and_deleted(large, axis):
    with studio(large, axis) as hands:
        text = hands.text
        hands.choose("motor")
        hands.choose("battery", more=True)
        shows(large, "() => kinodeStudio.selection", ["motor", "battery"])
        large.get_by_role("button", name="Align").click()
        large.get_by_role("menuitem", name="Middles in a row").click()
        hands.wait()
        large.wait_for_function(f"() => {{ const at = ({PLACES})(); return at.motor[1] === at.battery[1]; }}")
        large.locator(".canvas-sheet").focus()
        large.keyboard.press("Control+f")
        hands.answer("amplifier")
        large.wait_for_function("() => kinodeStudio.selection.join() === 'amplifier'")
        large.keyboard.press("Delete")
        large.locator(PART % "amplifier").wait_for(state="detached")
        assert "amplifier:" not in hands.text
        hands.undo_all()
        assert hands.text == text


def test_half_the_size_at_twice_the_zoom_has_all_it_needs(make_page, axis):
    """At 200 % a window of 1280 x 1000 has 640 x 500."""
    page = make_page(width=640, height=500)
    with studio(page, axis) as hands:
        page.evaluate("() => kinodeStudio.show('Canvas')")
        page.locator(".canvas-sheet").focus()
        page.keyboard.press("/")
        page.locator(".choice-box").wait_for()
        box = page.locator(".choice-box").bounding_box()
        sheet = page.locator(".canvas-sheet").bounding_box()
        assert box["x"] >= sheet["x"] and box["x"] + box["width"] <= sheet["x"] + sheet["width"]
        assert box["y"] + box["height"] <= sheet["y"] + sheet["height"] + 1
        page.keyboard.type("diode")
        page.keyboard.press("Enter")
        hands.wait_for_part("diode")
        assert look(page, "() => document.documentElement.scrollWidth <= innerWidth")


APART = """() => {
  const boxes = kinodeStudio.document.sketch.boxes;
  const apart = (one, two) => [0, 1].some((k) => Math.abs(one.at[k] - two.at[k]) >= (one.size[k] + two.size[k]) / 2);
  return boxes.every((one, k) => boxes.slice(k + 1).every((two) => apart(one, two)));
}"""


def test_copies_stand_free(large, axis):
    with studio(large, axis) as hands:
        hands.choose("motor")
        for name in ("motor_2", "motor_3"):
            large.keyboard.press("Control+d")
            hands.wait_for_part(name)
        hands.wait()
        shows(large, APART, True)


KEEP = """() => { globalThis.kept = [...document.querySelectorAll(
  "g.part[data-name='motor'] .room, g.part[data-name='motor'] g.port, g.wire[data-name='rotor'] .line")];
  document.querySelector("g.part[data-name='motor'] g.port[data-port='shaft']").focus();
  return kept.length; }"""
KEPT = "() => [kept.every((node) => node.isConnected), document.activeElement.dataset.port]"
WRONG = "() => document.querySelector(\"g.part[data-name='motor'] .badge\") !== null"


def test_what_is_drawn_stays_in_the_page_while_it_changes(large, axis):
    """Focus and pointer stay on a port while its part is found wrong, is mended, and its wire moves."""
    with studio(large, axis) as hands:
        hands.wait()
        assert large.evaluate(KEEP) > 3
        set_to = "(value) => kinodeStudio.act({ do: 'set', name: 'motor', path: ['resistance'], value })"
        for value, wrong in (("3 m", True), ("0.9 Ohm", False)):
            large.evaluate(set_to, value)
            large.wait_for_function(f"(wrong) => ({WRONG})() === wrong", arg=wrong)
            assert large.evaluate(KEPT) == [True, "shaft"]
        large.evaluate("() => kinodeStudio.act({ do: 'move', places: { motor: [40, 700] } })")
        hands.wait()
        assert large.evaluate(KEPT) == [True, "shaft"]
