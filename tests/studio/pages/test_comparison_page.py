"""A model compared with another file in the studio, in a real browser: rows, marks, ghost, peaks, taking over."""

from page_patience import says, shows
from studio_hands import studio

FILES = "() => [...document.querySelectorAll('.comparison option')].map((option) => option.textContent)"
MARKS = """() => Object.fromEntries([...document.querySelectorAll('.part')].flatMap((part) =>
  [...part.querySelectorAll('.compare-mark')].map((mark) => [part.dataset.name, mark.getAttribute('aria-label')])))"""
GHOSTS = "() => [...document.querySelectorAll('.ghost')].map((ghost) => ghost.dataset.name)"
ROWS = (
    "() => [...document.querySelectorAll('.compare-rows li')].map((row) => `${row.dataset.change} ${row.dataset.part}`)"
)
LAMP = "  lamp: {kind: resistor, plus: bus, minus: gnd, resistance: 40 Ohm}\n"


def test_a_person_compares_two_models(large, axis):
    text = axis.read_text()
    (axis.parent / "before.yaml").write_text(text.replace("run:", f"{LAMP}run:"))
    axis.write_text(text.replace("ratio: 60", "ratio: 80").replace("  battery:", "  supply: "))
    with studio(large, axis) as hands:
        large.get_by_role("tab", name="Compare").click()
        large.wait_for_function(f"(name) => ({FILES})().includes(name)", arg="before.yaml")
        large.get_by_label("Compare with", exact=True).select_option(label="before.yaml")
        shows(large, ROWS, ["changed ratio", "renamed supply", "removed lamp"])
        shows(large, MARKS, {"supply": "renamed"})
        shows(large, GHOSTS, ["lamp"])
        large.get_by_role("button", name="renamed supply").click()
        large.wait_for_function("() => kinodeStudio.selection.join() === 'supply'")
        large.wait_for_function("() => kinodeStudio.run?.player")
        large.get_by_role("button", name="Peaks side by side").click()
        large.wait_for_selector(".peak-table tr.differs")
        says(large.locator(".peak-table tr[data-name='rotor.speed'] td:last-child"), "%")
        large.wait_for_function("() => kinodeStudio.run.player.runs.length === 2")  # the other one is a ghost in 3D
        large.locator("li[data-part=ratio]").get_by_role("button", name="Take over").click()
        shows(large, ROWS, ["renamed supply", "removed lamp"])
        assert "ratio: 60" in hands.text
        large.get_by_role("button", name="Take over all").click()
        shows(large, ROWS, [])
        assert "  lamp:" in hands.text and "battery:" in hands.text
        shows(large, GHOSTS, [])
        large.get_by_role("button", name="Stop comparing").click()
        shows(large, MARKS, {})
