"""A page whose server is killed, and pages of one server: nothing is lost, and all see one text."""

import subprocess
import sys
from contextlib import contextmanager

import pytest
from page_patience import shows
from player_pages import PATIENCE
from slow_pages import slow_down
from studio_hands import READY, studio

WIDE = {"width": 1440, "height": 900}
SERVER = """
import sys
from kinode.studio.editor.studio_view import StudioView
with StudioView(sys.argv[1], verify=False) as view:
    print(view.url, flush=True)
    view.wait(600)
"""


@contextmanager
def served(file):
    """The studio in a process of its own, which is killed in the end."""
    process = subprocess.Popen([sys.executable, "-c", SERVER, str(file)], stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def lone_page(browser):
    """A page that may lose its server: what the browser says of that is no fault."""
    context = browser.new_context(viewport=WIDE, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    faults = []
    page = slow_down(context.new_page())
    page.on("pageerror", lambda error: faults.append(str(error)))
    yield page
    context.close()
    assert not faults, faults


def type_at_the_end(page, words):
    page.locator(".pane-side [data-part='Text']").click()
    page.locator(".cm-content").focus()
    page.keyboard.press("Control+End")
    page.keyboard.type(words)


def test_what_was_not_saved_survives_a_killed_server(lone_page, axis):
    first = axis.read_text()
    page = lone_page
    with served(axis) as url:
        page.goto(url)
        page.wait_for_function(READY)
        type_at_the_end(page, "# a remark")
        page.wait_for_function("() => kinodeStudio.document.dirty && kinodeStudio.document.text.endsWith('remark')")
        journal = axis.with_name(".axis.yaml.kinode-journal")
        page.expose_function("isKept", lambda: journal.exists() and "a remark" in journal.read_text())
        page.wait_for_function("() => { isKept().then((is) => { globalThis.kept = is; }); return globalThis.kept; }")
        page.goto("about:blank")
    assert axis.read_text() == first
    with served(axis) as url:
        page.goto(url)
        page.get_by_role("button", name="Take it").click()
        page.wait_for_function("() => kinodeStudio.document.text.endsWith('# a remark')")
        page.keyboard.press("Control+s")
        page.wait_for_function("() => !kinodeStudio.document.dirty")
        page.goto("about:blank")
    assert axis.read_text() == first + "# a remark"


def test_what_was_typed_while_the_connection_was_cut_is_not_lost(make_page, axis):
    page = make_page(**WIDE)
    first = axis.read_text()
    with studio(page, axis) as hands:
        type_at_the_end(page, "# one\n")
        page.wait_for_function("() => kinodeStudio.document.text.endsWith('# one\\n')")
        page.evaluate("() => kinodeStudio.connection.socket.close()")
        page.keyboard.type("# two\n")
        page.wait_for_function("() => kinodeStudio.document.text.endsWith('# two\\n')")
        shows(page, "() => document.querySelectorAll('.strip').length", 0)  # nothing is asked
        assert hands.view.desk.document.text == first + "# one\n# two\n"


def test_two_pages_change_one_model_at_the_same_time(make_page, axis):
    one, other = make_page(**WIDE), make_page(**WIDE)
    first = axis.read_text()
    with studio(one, axis) as hands:
        other.goto(hands.view.url)
        other.wait_for_function(READY)
        hands.inspect("arm")
        hands.set("mass", "7 kg")
        other.wait_for_function("() => kinodeStudio.document.text.includes('mass: 7 kg')")
        type_at_the_end(one, "")
        type_at_the_end(other, "")
        other.keyboard.press("Control+Home")
        for ours, theirs in zip("# typed here", "# typed there", strict=False):
            one.keyboard.type(ours)
            other.keyboard.type(theirs)
        other.keyboard.type("\n")
        moving = "(y) => { kinodeStudio.act({ do: 'move', places: { motor: [40, y] } }); }"
        one.evaluate(moving, 600)
        other.evaluate(moving, 700)
        expected = "# typed ther\n" + first.replace("mass: 3,", "mass: 7 kg,") + "# typed here"
        for page in (one, other):
            page.wait_for_function("(text) => kinodeStudio.document.text === text", arg=expected)
            shows(page, "() => kinodeStudio.text.text", expected)
        assert hands.view.desk.document.text == expected
        other.goto("about:blank")
