"""A person at the studio, for tests in a browser: mouse and keyboard alone, and eyes that read the page."""

from __future__ import annotations

from contextlib import contextmanager

from steady_spots import drag, find_middle, leaving

from kinode.studio.editor.studio_view import StudioView

READY = "() => globalThis.kinodeStudio?.text"
# All that was typed is sent, answered, checked and drawn with its links; while the text cannot be read the inside of a
# box stays as it was.
STILL = """() => {
  const { busy, version, checkedVersion, sketch, box, problems } = kinodeStudio.document;
  const drawn = sketch.version >= version || (box.length > 0 && problems.length > 0);
  const { routes } = kinodeStudio.parts[0].canvas;
  const routed = !routes.busy && routes.waiting === null;
  return !kinodeStudio.text?.isUnsent && !busy && checkedVersion >= version && drawn && routed;
}"""
PAINTED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
CHOOSING = "() => document.activeElement.getAttribute('role') === 'combobox' && document.activeElement.value === ''"
CHOSEN = "(words) => document.activeElement.value !== words"
DRAWN = """(name) => !kinodeStudio.document.busy
  && kinodeStudio.document.sketch.boxes.some((box) => box.name === name)"""
NAMES = "() => kinodeStudio.document.sketch.boxes.map((box) => box.owner)"
SHOWN = """(name) => document.querySelector(".inspector .part-name")?.getAttribute("aria-label")
  .startsWith(`Name of ${name};`)"""
VALUE = """([field, value]) => [...document.querySelectorAll(`.inspector [data-field='${field}'] input[type=text]`)]
  .some((box) => box.value === value)"""
FOLDED = "(box) => box.closest('details:not([open])') !== null"
PART = ".studio-canvas g.part[data-name='%s']"
TEXT = "() => kinodeStudio.document.text"


@contextmanager
def studio(page, file=None, **options):
    """The studio of a file or folder on a page; closed in the end."""
    with StudioView(file, **{"verify": False, **options}) as view, leaving(page, view.url):
        page.goto(view.url)
        page.wait_for_function(READY)
        yield StudioHands(page, view)


class StudioHands:
    """What a person does at the studio's page."""

    def __init__(self, page, view):
        self.page, self.view = page, view

    # -- eyes --------------------------------------------------------------------------------------
    @property
    def text(self):
        """The text of the model, as the server has it."""
        self.wait()
        return self.page.evaluate(TEXT)

    def wait(self):
        """Until all changes are taken and checked."""
        self.page.evaluate(PAINTED)  # what the hands did has been heard
        self.page.wait_for_function(STILL)

    def wait_for_part(self, name):
        """Until a part is drawn."""
        self.page.wait_for_function(DRAWN, arg=name)
        self.page.locator(PART % name).wait_for()

    def choose_from_lists(self, *words):
        """Choose by keyboard from the lists that open one after the other."""
        for word in words:
            self.page.wait_for_function(CHOOSING)
            self.page.keyboard.type(word)
            self.page.keyboard.press("Enter")
            self.page.wait_for_function(CHOSEN, arg=word)

    def problems(self):
        """What the page says is wrong."""
        self.wait()
        return self.page.evaluate("() => kinodeStudio.document.problems.map((problem) => problem.message)")

    def wait_for_run(self, *names):
        """Until the run that is shown is one of the text, and has these series."""
        self.wait()
        self.page.wait_for_function(
            "() => document.querySelector('.run-state').textContent.includes('run is up to date')"
        )
        self.page.wait_for_function(
            "(names) => { const run = globalThis.kinodeStudio.run?.player?.main; return run !== undefined && "
            "names.every((name) => run.find(name) !== undefined); }",
            arg=list(names),
        )

    def series(self, name):
        """Times and values of a quantity in the run that is shown."""
        read = """(name) => { const run = kinodeStudio.run.player.main;
        return [[...run.t], [...run.row(run.find(name).row)]]; }"""
        return self.page.evaluate(read, name)

    # -- hands: the canvas -------------------------------------------------------------------------
    def drag_from_palette(self, kind, dx, dy):
        """Drag a kind out of the palette to a place beside the middle of the canvas."""
        sheet = self.page.locator(".canvas-sheet")
        box = sheet.bounding_box()
        item = self.page.locator(f".studio-palette [data-addition='kind {kind}']")
        item.scroll_into_view_if_needed()
        item.drag_to(sheet, target_position={"x": box["width"] / 2 + dx, "y": box["height"] / 2 + dy})

    def add(self, kind, *places):
        """Type the name of a kind after "/", then the bodies, frames or joints that it asks for."""
        self.page.locator(".canvas-sheet").focus()
        self.page.keyboard.press("/")
        self.answer(kind, *places)

    def answer(self, *answers):
        """Type into one box of choices after the other."""
        for words in answers:
            box = self.page.locator(".choice-box input")
            box.wait_for()
            box.fill(words)
            self.page.keyboard.press("Enter")

    def add_as(self, kind, name, *places):
        """Add a part by its kind, and type its name where the inspector shows it."""
        before = self.page.evaluate(NAMES)
        self.add(kind, *places)
        self.page.wait_for_function(f"(before) => ({NAMES})().some((name) => !before.includes(name))", arg=before)
        (made,) = set(self.page.evaluate(NAMES)) - set(before)
        self.wait_for_part(made)
        self.rename_shown(made, name)

    def click_places(self, *places):
        """Click the bodies or joints that a new part asks for; the world is a button beside the question."""
        for place in places:
            button = self.page.locator(".canvas-hint button", has_text="List")
            button.wait_for()
            if place == "world":
                self.page.locator(".canvas-hint button", has_text="world").click()
            else:
                self.choose(place)

    def port(self, part, port):
        """The middle of a port on the screen."""
        return find_middle(self.page, f"{PART % part} g.port[data-port='{port}'] .knob", "g.port")

    def spot(self, part):
        """The middle of a part on the screen: its name and its symbol are beside or above the room that it takes."""
        return find_middle(self.page, f"{PART % part} .room", "g.part")

    def drag_wire(self, one, other):
        """Drag from a port to another."""
        self.wait()
        end, start = self.port(*other), self.port(*one)
        drag(self.page, start, end)
        self.page.mouse.up()
        self.wait()

    def connect_by_keys(self, part, port, target):
        """Choose a part, press c, type the port and what it is connected to."""
        self.choose(part)
        self.page.keyboard.press("c")
        self.answer(port, target)
        self.wait()

    def choose(self, part, *, more=False):
        """Click a part; ``more`` beside those that are chosen."""
        self.wait()
        at = self.spot(part)
        if more:
            self.page.keyboard.down("Shift")
        self.page.mouse.click(*at)
        if more:
            self.page.keyboard.up("Shift")

    def begin(self):
        """Take "New model" in the gallery."""
        self.page.get_by_role("button", name="New model").click()
        self.page.locator("dialog").wait_for(state="detached")
        self.wait()

    # -- hands: the side ---------------------------------------------------------------------------
    def open(self, tab):
        """Open a tab of the side."""
        self.page.locator(f".pane-side [data-part='{tab}']").click()

    def find(self, part):
        """Find a part by its name, wherever it stands, and wait until the inspector shows it."""
        self.page.locator(".canvas-sheet").focus()
        self.page.keyboard.press("Control+f")
        self.answer(part)
        self.open("Inspector")
        self.page.wait_for_function(SHOWN, arg=part)

    def inspect(self, part):
        """Choose a part, and wait until the inspector shows it."""
        self.choose(part)
        self.open("Inspector")
        self.page.wait_for_function(SHOWN, arg=part)

    def type_after(self, words, typed, taken=0):
        """Put the cursor of the text editor behind some words, take characters away and type."""
        place = self.page.evaluate(TEXT).index(words) + len(words)
        editor = self.page.locator(".cm-content")
        editor.focus()
        self.page.evaluate("(place) => kinodeStudio.text.view.dispatch({ selection: { anchor: place } })", place)
        for key in ["Delete"] * taken:
            editor.press(key)
        self.page.keyboard.type(typed)

    def set(self, field, value):
        """Type into a field of the inspector."""
        self.open("Inspector")
        box = self.page.locator(f".inspector [data-field='{field}'] :is(input[type=text], textarea)")
        box.wait_for(state="attached")
        if box.evaluate(FOLDED):
            self.page.locator(".inspector .more-fields summary").click()
        box.fill(value)
        box.press("Enter")
        self.wait()

    def wait_for_value(self, field, value):
        """Until a field of the inspector shows a value."""
        self.page.wait_for_function(VALUE, arg=[field, value])

    def fill(self, fields=(), **more):
        """Type into several fields of what is shown."""
        for field, value in {**dict(fields), **more}.items():
            self.set(field, value)

    def add_parameter(self, name, value):
        """Type a new parameter of the model."""
        self.page.get_by_label("Name of a new parameter").fill(name)
        self.page.get_by_label("Value of a new parameter").fill(value)
        self.page.get_by_role("button", name="Add parameter").click()
        self.wait()

    def rename(self, part, name):
        """Choose a part and type another name over its own."""
        self.inspect(part)
        self.rename_shown(part, name)

    def rename_shown(self, part, name):
        """Type another name for the part that the inspector shows."""
        self.page.wait_for_function(SHOWN, arg=part)
        box = self.page.locator(".inspector .part-name")
        box.fill(name)
        box.press("Enter")
        self.wait_for_part(name)
        self.page.wait_for_function(SHOWN, arg=name)

    def undo_all(self, button=False):
        """Undo by keys, or by the button, until there is nothing left."""
        for _ in range(60):
            self.wait()
            if not self.page.evaluate("() => kinodeStudio.document.state.canUndo"):
                return
            if button:
                self.page.locator("[aria-label^='Undo']").click()
            else:
                self.page.locator(".canvas-sheet").focus()
                self.page.keyboard.press("Control+z")
        raise AssertionError("undo does not end")

    def choose_nothing(self):
        """Click the empty canvas: the inspector shows the whole model."""
        self.page.locator(".canvas-sheet").focus()
        self.page.keyboard.press("Escape")
        self.page.locator(".inspector h2", has_text="Model").wait_for()
