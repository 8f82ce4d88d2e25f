"""What follows from a model, beside its drawing: one story through all panes in a real browser."""

import re

import pytest
from page_access import check_access
from page_patience import says, shows
from page_readings import seek
from studio_hands import studio

import kinode as kn

WIDE = {"width": 1440, "height": 900}
LIT = "() => [...document.querySelectorAll('.studio-canvas g.part.lit')].map((part) => part.dataset.name)"
LINK_VALUES = "() => [...document.querySelectorAll('.canvas-sheet .sticker text')].map((text) => text.textContent)"
SPEED = f"""(t) => {{
  const run = kinodeStudio.run.player.main, speed = run.valueAt(run.row(run.find("pin.u").row), t);
  const shown = ({LINK_VALUES})().find((text) => text.endsWith("rad/s"));
  return Math.abs(parseFloat(shown?.replace("\u2212", "-")) / speed - 1) < 1e-2;
}}"""  # whether the speed on the links is that of the run
SEEN = "() => document.querySelector('.canvas-sheet g.stickers').getAttribute('visibility')"
LONG = 90_000  # ms, for what is derived on a busy machine


@pytest.fixture
def arm(tmp_path, monkeypatch):
    """A driven arm in a file of its own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    file = tmp_path / "arm.yaml"
    file.write_text(
        "# An arm that a source turns.\nkinode: 1\nname: arm\nparameters: {L: 0.4 m}\n"
        "bodies:\n  link: {mass: 2 kg, com: [L, 0, 0], inertia: {zz: 0.1}}  # of steel\n"
        "joints:\n  pin: {kind: revolute, between: [world, link], damping: 0.1 N*m*s/rad}\n"
        "elements:\n  drive: {kind: moment_source, a: pin, moment: 8 N*m}\nrun: {until: 1 s}\n"
    )
    return file


def open_pane(page, name):
    page.locator(f".pane-side [data-part={name}]").click()


def test_all_panes(make_page, arm):
    page = make_page(**WIDE)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    with studio(page, arm, verify=True) as hands:
        hands.wait_for_run("pin.q")
        read_equations(page, hands, kn.load(arm))
        follow_steps(page)
        compare(page, hands)
        take_away(page, hands)
        watch_values(page, hands)


def read_equations(page, hands, system):
    """A symbol lights up its part, a part marks its symbols; another formulation, copied as LaTeX."""
    open_pane(page, "Equations")
    body = page.locator(".formulas")
    body.locator("math").first.wait_for(timeout=LONG)
    heading = says(page.locator(".derived-heading").first, "1 equation of motion")
    assert heading.startswith("arm: 1 equation of motion")
    for name in ("pin", "link"):
        body.locator(f"[data-parts*={name}]").first.hover()
        page.wait_for_function(f"(name) => ({LIT})().join() === name", arg=name)
    hands.choose("pin")
    body.locator(".marked").first.wait_for()
    page.get_by_label("Formulation").select_option("newton_euler")
    page.locator(".derived-heading", has_text="newton_euler").wait_for(timeout=LONG)
    page.get_by_role("button", name="Copy").click()
    page.get_by_role("menuitem", name="as LaTeX").click()
    expected = kn.equations(system, "newton_euler").latex()
    page.wait_for_function("(text) => navigator.clipboard.readText().then((got) => got === text)", arg=expected)
    check_access(page, "Equations")


def follow_steps(page):
    """Step by step; the parts of a step light up."""
    open_pane(page, "Explain")
    head = page.locator(".explain-step .derived-heading")
    head.filter(has_text=re.compile("^1 of ")).wait_for(timeout=LONG)
    page.locator(".scheme-picture svg").wait_for()  # one, not several
    for _ in range(2):
        page.get_by_label("Next step").click()
    head.filter(has_text=re.compile("^3 of ")).wait_for()
    page.wait_for_function(f"() => ({LIT})().join() === 'link'")
    page.keyboard.press("Alt+ArrowLeft")
    head.filter(has_text=re.compile("^2 of ")).wait_for()
    check_access(page, "Explain")


def compare(page, hands):
    """The badge leads to the table; a model that is not whole is not compared, and says so."""
    badge = page.locator(".verify-badge[data-state=agrees]")
    badge.wait_for(timeout=LONG)
    badge.click()
    says(page.locator(".verify-panel table").first, "recursive", "lagrange", "circuit", "compiled")
    check_access(page, "Verify")
    page.evaluate("() => kinodeStudio.act({ do: 'set', name: 'link', path: ['mass'], value: '-2 kg' })")
    page.locator(".verify-badge[data-state=unfinished]").wait_for()
    page.evaluate("() => kinodeStudio.undo()")
    page.locator(".verify-badge:not([data-state=unfinished])").wait_for()


def take_away(page, hands):
    """A script of the model as it stands, not saved; the drawing as a picture; the report in a tab of its own."""
    page.evaluate("() => kinodeStudio.act({ do: 'set', name: 'link', path: ['mass'], value: '3 kg' })")
    hands.wait()
    open_pane(page, "Export")
    with page.expect_download(timeout=LONG) as saved:
        page.get_by_role("button", name="Python script").click()
    assert saved.value.suggested_filename == "arm.py"
    script = saved.value.path().read_text()
    names = {"__name__": "imported"}
    exec(compile(script, "arm.py", "exec"), names)
    assert names["arm"] == kn.loads(hands.text) and 'mass="3 kg"' in script and "# of steel" in script
    with page.expect_download() as saved:
        page.get_by_role("button", name="Drawing as SVG").click()
    drawn = saved.value.path().read_text()
    assert ">link</text>" in drawn and "var(--" not in drawn and "<script" not in drawn
    with page.expect_download() as saved:
        page.get_by_role("button", name="Drawing as PNG").click()
    assert saved.value.path().read_bytes().startswith(b"\x89PNG")
    page.get_by_label("with derivations compared").uncheck()
    with page.context.expect_page(timeout=LONG) as opened:
        page.get_by_role("button", name="Make the report").click()
    report = opened.value
    report.locator("h1", has_text="arm").wait_for()
    report.wait_for_function("() => globalThis.kinodePlayer !== undefined")  # its program is allowed by its hash
    report.close()
    check_access(page, "Export")


def watch_values(page, hands):
    """Values of the run stand on the links, at the time of the player; a key hides them."""
    hands.wait_for_run("pin.q")
    page.wait_for_function(f"() => ({LINK_VALUES})().some((text) => text.endsWith('N·m'))")
    seek(page, 0.5)
    page.wait_for_function(SPEED, arg=0.5)
    shows(page, SEEN, "visible")
    hands.choose("link")
    page.keyboard.press("v")
    shows(page, SEEN, "hidden")
