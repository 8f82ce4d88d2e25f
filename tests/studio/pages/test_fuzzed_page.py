"""A hand that does anything at all at the studio: no error, one text on page and server, and all of it undone."""

from __future__ import annotations

import os
import random

from example_counts import is_fixed
from page_patience import settle, shows
from studio_hands import STILL, TEXT, studio

import kinode as kn

ACTIONS = 100
KEYS = (
    "Delete", "Control+z", "Control+y", "Control+d", "Control+c", "Control+v", "/", "c", "Escape", "Enter", "Tab",
    "ArrowLeft", "ArrowDown", "Shift+ArrowRight", "F2", "l", "n", "0", "+", "-", "Control+a", "Control+f", "Control+s",
    "Home", "F6", "?", "Control+Shift+z", "Backspace",
)  # fmt: skip
WORDS = (
    "motor",
    "gnd",
    "3 kg",
    "[1, 0",
    "{",
    "}",
    "revolute",
    "é😀",
    "x: 1",
    "elements:",
    "# a",
    "",
    "-",
    "'",
    "1e999",
)
NAMES = "() => kinodeStudio.catalogue.kinds.map((kind) => kind.kind)"
ENDED = "() => kinodeStudio.text.sync.isEven && !kinodeStudio.document.busy"


class LooseHand:
    """Mouse, keys and typing without sense, by the numbers of a seed."""

    def __init__(self, page, seed):
        self.page, self.random = page, random.Random(seed)
        self.kinds = page.evaluate(NAMES)
        self.done = []

    def act(self):
        """One action."""
        hands = [self.click, self.drag, self.wheel, self.key, self.key]
        what = self.random.choice([*hands, self.words, self.drop, self.type, self.field, self.button])
        self.done.append(what.__name__)
        what()

    def place(self):
        box = self.page.locator(".canvas-sheet").bounding_box()
        return box["x"] + box["width"] * self.random.random(), box["y"] + box["height"] * self.random.random()

    def part(self):
        """The middle of a part or a port, or any place."""
        found = self.page.evaluate(SPOT, self.random.random()) if self.random.random() < 0.7 else None
        return self.place() if found is None else found

    def click(self):
        self.page.mouse.click(
            *self.part(),
            click_count=self.random.choice([1, 1, 2]),
            button=self.random.choice(["left", "left", "right"]),
        )

    def drag(self):
        self.page.mouse.move(*self.part())
        self.page.mouse.down()
        for spot in (self.place(), self.part()):
            self.page.mouse.move(*spot, steps=3)
        if self.random.random() < 0.1:
            self.page.keyboard.press("Escape")
        self.page.mouse.up()

    def wheel(self):
        self.page.mouse.move(*self.place())
        self.page.mouse.wheel(0, self.random.choice([-400, 400]))

    def key(self):
        self.page.keyboard.press(self.random.choice(KEYS))

    def words(self):
        self.page.keyboard.type(self.random.choice(WORDS))

    def drop(self):
        kind = self.random.choice(self.kinds)
        self.page.evaluate(DROP, [f"kind {kind}", *self.place()])

    def type(self):
        """Somewhere in the text."""
        self.page.evaluate("() => kinodeStudio.show('Text')")
        self.page.evaluate(CURSOR, self.random.random())
        self.words()

    def field(self):
        """Into a field of the inspector."""
        self.page.evaluate("() => kinodeStudio.show('Inspector')")
        if self.page.evaluate(FIELD, self.random.random()):
            self.words()
            self.page.keyboard.press("Enter")

    def button(self):
        """A tab, or a button above the drawing."""
        names = ("Tidy up", "Connect", "Align", "Fit", "Inspector", "Problems")
        self.page.evaluate(CLICK, self.random.choice(names))


SPOT = """(share) => {
  const spots = [...document.querySelectorAll(".studio-canvas g.part .room, .studio-canvas g.port .knob")];
  if (spots.length === 0) return null;
  const { x, y, width, height } = spots[Math.floor(share * spots.length)].getBoundingClientRect();
  return [x + width / 2, y + height / 2];
}"""
DROP = """([addition, clientX, clientY]) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.setData("application/x-kinode-addition", addition);
  const drop = new DragEvent("drop", { bubbles: true, cancelable: true, clientX, clientY, dataTransfer });
  document.querySelector(".canvas-sheet").dispatchEvent(drop);
}"""
FIELD = """(at) => {
  const fields = [...document.querySelectorAll(".inspector input[type=text]")].filter((field) => !field.disabled);
  fields[Math.floor(at * fields.length)]?.select();
  return fields.length > 0;
}"""
CURSOR = """(at) => {
  const { view } = kinodeStudio.text;
  view.focus();
  view.dispatch({ selection: { anchor: Math.floor(at * view.state.doc.length) } });
}"""
CLICK = """(name) => [...document.querySelectorAll("button")]
  .find((button) => button.textContent.trim() === name && !button.disabled)?.click()"""


def test_a_loose_hand_breaks_nothing(large, axis):
    first = axis.read_text()
    with studio(large, axis) as hands:
        loose = LooseHand(large, int(os.environ.get("KINODE_HAND_SEED", "1")))
        for _ in range(ACTIONS):
            loose.act()
            large.evaluate("() => document.querySelectorAll('dialog[open]').forEach((dialog) => dialog.close())")
            if is_fixed():
                hands.wait()  # the same story however fast the page is; at night the hand does not wait
        for _ in range(3):
            large.keyboard.press("Escape")
        settle(large)
        large.evaluate("() => kinodeStudio.text.flush()")
        large.wait_for_function(ENDED)
        large.wait_for_function(STILL)
        document = hands.view.desk.document
        shows(large, f"() => [({TEXT})(), kinodeStudio.text.text]", [document.text] * 2, name=str(loose.done))
        assert axis.read_text() == document.file.saved
        try:
            kn.load(axis)
        except kn.Error as error:  # what was saved may be wrong, and says so
            assert str(error)
        while document.state()["canUndo"]:
            hands.view.desk.changed(document.undo())
        assert document.text == first
        large.wait_for_function("(text) => kinodeStudio.text.text === text", arg=first)
