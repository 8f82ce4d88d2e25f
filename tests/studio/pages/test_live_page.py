"""The live page in a real browser: numbers, curves, pins, branches, modes, dragging in 3D, an edited model file."""

from contextlib import contextmanager

import numpy as np
import pytest
from page_patience import look, says, settle, shows
from player_pages import ROOT
from steady_spots import find_steady, leaving

import kinode as kn
from kinode.studio.live.live_view import LiveView

UNTIL = 1.5
READY = "() => globalThis.kinodeLive?.player"
SETTLED = "(count) => kinodeLive.desk.latency.pictures > count"
SERIES = """(name) => { const run = kinodePlayer.main; return [...run.row(run.find(name).row)]; }"""
STATE = "() => JSON.stringify([kinodePlayer.clock.t, kinodePlayer.stage.view.rig.state, kinodePlayer.selection])"
SAYS = "(words) => document.querySelector('.row-error:not([hidden])')?.textContent.includes(words)"
OF_RUN = "([k, name]) => { const run = kinodePlayer.runs[k].document; return [...run.row(run.find(name).row)]; }"
MOVED = "(first) => [...kinodePlayer.stage.view.drawing.poses.p].some((x, k) => Math.abs(x - first[k]) > 1e-3)"
MIDDLE = """([joint, share]) => {
  const { view } = kinodePlayer.stage, { header } = kinodePlayer.main;
  const { child } = header.joints.find((each) => each.name === joint), box = view.canvas.getBoundingClientRect();
  const seen = view.projectPoint(view.drawing.poses.point(child.body, [share, 0, 0]));
  return [box.left + seen.x, box.top + seen.y];
}"""
POINTS_AT = f"""(place) => {{
  const pin = ({MIDDLE})(["elbow", 0]);
  const [seen, asked] = [({MIDDLE})(["elbow", 0.35]), place].map(([x, y]) => Math.atan2(x - pin[0], y - pin[1]));
  return Math.abs(seen - asked) < 0.03;
}}"""  # whether the lower body points at a place of the screen

# A number set, and what the page has of the run with the first picture of the answer, which is pinned then.
FIRST_PICTURE = """async ([number, value, name]) => {
  const { desk } = kinodeLive;
  kinodePlayer.plot([name]);
  const shown = new Promise((go) => {
    kinodePlayer.setRuns = (runs) => {
      delete kinodePlayer.setRuns; // that of all players comes back
      kinodePlayer.setRuns(runs);
      go();
    };
  });
  desk.setValue(number, value);
  await shown;
  const { lacking, document } = desk.run;
  desk.pin();
  return [lacking, [...document.t], [...document.row(document.find(name).row)]];
}"""
WHOLE = "() => !kinodeLive.desk.run.lacking"  # all series of the run are there


@contextmanager
def live(page, file):
    """The page of a model's file."""
    with LiveView(kn.load(file), UNTIL, file=file) as view, leaving(page, view.url):
        page.goto(view.url)
        page.wait_for_function(READY)
        page.evaluate("() => kinodePlayer.clock.pause()")
        page.wait_for_function(WHOLE)
        settle(page)
        yield page


@pytest.fixture
def pendulum(page, tmp_path):
    """The double pendulum on a live page, from a file of its own."""
    file = tmp_path / "double_pendulum.yaml"
    file.write_text((ROOT / "examples" / "double_pendulum.yaml").read_text())
    with live(page, file):
        yield page, file


def shown(page):
    return page.evaluate("() => kinodeLive.desk.latency.pictures")


def press(page, key, times=1):
    """Presses a key and waits for the picture of the last press."""
    before = shown(page)
    for _ in range(times):
        page.keyboard.press(key)
    page.wait_for_function(SETTLED, arg=before)
    page.wait_for_function("() => !kinodeLive.desk.lane.busy")
    settle(page)


def row(page, name):
    return page.locator(f'.number-row[data-number="{name}"]')


def compute(file, times, values=None):
    """What kinode itself computes."""
    return kn.simulate(kn.compile(kn.load(file), live=True), times[-1], times=times, parameters=values or {})


def assert_same(page, file, name, values=None):
    """The page shows what kinode computes with the same values; what nobody sees comes when nothing moves any more."""
    page.wait_for_function(WHOLE)
    wanted = compute(file, page.evaluate("() => [...kinodePlayer.main.t]"), values)[name]
    assert page.evaluate(SERIES, name) == pytest.approx(wanted, abs=1e-5 * np.abs(wanted).max())


def test_a_slider_moves_the_whole_run(pendulum):
    page, file = pendulum
    before = page.evaluate(SERIES, "elbow.q")
    row(page, "L").locator(".number-slider").focus()
    press(page, "ArrowRight", 20)
    value = page.evaluate("() => kinodeLive.desk.value('L')")
    assert value > 0.5
    assert page.evaluate(SERIES, "elbow.q") != before
    assert_same(page, file, "elbow.q", {"L": value})
    assert page.evaluate("() => kinodePlayer.main.header.bodies[0].com[0]") == pytest.approx(value / 2)  # it is longer
    page.get_by_role("button", name="As in the file: L").click()
    page.wait_for_function("() => !kinodeLive.desk.lane.busy && kinodeLive.desk.changedNames.length === 0")
    page.wait_for_function(WHOLE)
    assert page.evaluate(SERIES, "elbow.q") == before


def test_curves_that_are_seen_come_with_the_picture(pendulum):
    page, file = pendulum
    lacking, times, seen = page.evaluate(FIRST_PICTURE, ["L", 0.6, "elbow.q"])
    assert lacking
    assert seen == pytest.approx(compute(file, times, {"L": 0.6})["elbow.q"], abs=3e-5)
    page.wait_for_function(WHOLE)
    others = "({ document }) => document.row(document.find('shoulder.u').row).every(Number.isFinite)"
    shows(page, f"() => kinodePlayer.runs.map({others})", [True, True])


def test_numbers_are_typed_with_units_and_refused_with_reasons(pendulum):
    page, file = pendulum
    page.get_by_label("Search a number").fill("lower mass")
    field = row(page, "lower.mass").locator(".number-field")
    error = row(page, "lower.mass").locator(".row-error")
    for text, words in {"heavy": "is not a number", "3 m": "The unit m is not known here", "-2": "mass"}.items():
        field.fill(text)
        field.press("Enter")
        error.wait_for(state="visible")
        page.wait_for_function(SAYS, arg=words)
    field.fill("1500 g")
    field.press("Enter")
    page.wait_for_function("() => kinodeLive.desk.value('lower.mass') === 1.5 && !kinodeLive.desk.lane.busy")
    error.wait_for(state="hidden")
    assert_same(page, file, "shoulder.q", {"lower.mass": 1.5})


def test_a_number_that_changes_the_structure_compiles_anew_and_says_so(pendulum):
    page, _ = pendulum
    page.get_by_label("Search a number").fill("gravity.x")
    number = row(page, "system.gravity.x")
    says(number, "compiles anew")
    assert number.locator(".number-slider").count() == 0
    before = shown(page)
    number.locator(".number-field").fill("3")
    number.get_by_role("button", name="Apply").click()
    page.wait_for_function(SETTLED, arg=before)
    page.locator(".notice", has_text="compiled anew").wait_for(state="attached")


def test_the_response_curve_sets_the_least(pendulum):
    page, _ = pendulum
    page.get_by_role("button", name="Response curve: a peak of the run over this range: L").click()
    page.wait_for_function("() => document.querySelectorAll('.response-curve .point').length >= 33")
    best = look(
        page,
        """() => [...document.querySelectorAll('.response-curve .point')]
      .sort((a, b) => b.cy.baseVal.value - a.cy.baseVal.value)[0].querySelector('title').textContent""",
    )
    before = shown(page)
    page.get_by_role("button", name="Set the number that gives the least").click()
    page.wait_for_function(SETTLED, arg=before)
    value = page.evaluate("() => kinodeLive.desk.value('L')")
    says(page.locator(".response-words"), best.split(" at ")[0], f"{value:.4g} m")


def test_a_pinned_run_and_a_branch_stay_beside_the_run(pendulum):
    page, file = pendulum
    page.keyboard.press("i")
    row(page, "L").locator(".number-slider").focus()
    press(page, "ArrowRight", 10)
    page.evaluate("() => { document.activeElement.blur(); kinodePlayer.clock.seek(0.75); }")
    page.keyboard.press("b")
    page.get_by_label("New value").fill("2 rad/s")
    page.keyboard.press("Enter")
    page.wait_for_function("() => kinodePlayer.runs.length === 3")
    page.evaluate("() => kinodePlayer.clock.pause()")
    shows(page, "() => kinodePlayer.runs.map((run) => run.role)", ["main", "pinned", "branch"])
    shows(page, "() => document.querySelectorAll('.time-bar .track').length", 3)
    assert look(page, "() => kinodePlayer.runs[2].document.header.run.from") == pytest.approx(0.75, abs=1e-6)
    speed = page.evaluate(OF_RUN, [2, "shoulder.u"])[0]
    assert speed == pytest.approx(2.0)
    pinned = page.evaluate(OF_RUN, [1, "elbow.q"])[-1]
    assert pinned == pytest.approx(compute(file, [0.0, UNTIL])["elbow.q"][-1], rel=1e-5)
    page.evaluate("() => document.activeElement.blur()")
    page.keyboard.press("u")
    shows(page, "() => kinodePlayer.runs.length", 2)


def test_dragging_a_body_sets_the_start(pendulum):
    page, file = pendulum
    page.keyboard.press("g")
    x, y = find_steady(page, MIDDLE, ["elbow", 0.35])
    before = shown(page)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 30, y + 25, steps=8)
    page.wait_for_function(SETTLED, arg=before)
    page.wait_for_function("() => !kinodeLive.desk.lane.busy")
    page.mouse.up()
    page.wait_for_function(POINTS_AT, arg=[x - 30, y + 25])
    angle = page.evaluate("() => kinodeLive.desk.value('elbow.q')")
    assert abs(angle - np.deg2rad(30)) > 0.1
    assert_same(page, file, "elbow.q", {"elbow.q": angle})


def test_dragging_a_mass_center_sets_its_number(pendulum):
    page, _ = pendulum
    page.keyboard.press("g")
    handle = page.get_by_role("button", name="mass center of lower")
    handle.focus()
    press(page, "ArrowLeft", 3)
    assert look(page, "() => kinodeLive.desk.value('lower.com.x')") != pytest.approx(0.2)
    shows(page, "() => kinodePlayer.main.header.bodies[1].com[0] === kinodeLive.desk.value('lower.com.x')", True)


def test_modes_are_those_of_the_state_at_the_cursor_and_swing(pendulum):
    page, file = pendulum
    page.evaluate("() => { kinodePlayer.clock.seek(0.5); kinodePlayer.show('Modes'); }")
    page.wait_for_function("() => document.querySelectorAll('.modes-panel tbody tr').length > 0")
    page.wait_for_function("() => document.querySelector('.modes-head').textContent.includes('at 0.5 s')")
    shows(page, "() => document.querySelectorAll('.complex-plane .eigenvalue').length", 4)
    found = look(page, "() => kinodePlayer.panels.get('Modes').modes.eigenvalues.map(({ re, im }) => [re, im])")
    run = compute(file, [0.0, 0.5])
    wanted = kn.linearize(run.dynamics, run.end, anywhere=True).eigenvalues
    assert np.sort_complex(np.array(found) @ [1, 1j]) == pytest.approx(np.sort_complex(wanted), rel=1e-4)
    page.locator(".modes-panel tbody button").first.click()
    page.wait_for_function("() => kinodePlayer.stage.taken")
    first = page.evaluate("() => [...kinodePlayer.stage.view.drawing.poses.p]")
    page.wait_for_function(MOVED, arg=first)
    page.keyboard.press("Escape")
    shows(page, "() => Boolean(kinodePlayer.stage.taken)", False)


def test_the_page_follows_the_file_and_keeps_the_last_good_run(pendulum):
    page, file = pendulum
    page.evaluate("() => { kinodePlayer.clock.seek(0.4); kinodePlayer.stage.view.zoom(1.7); }")
    page.evaluate("() => kinodePlayer.select({ kind: 'body', name: 'lower' })")
    before, text = look(page, STATE), file.read_text()
    good = page.evaluate(SERIES, "elbow.q")
    file.write_text(text.replace("lower: {mass: 1,", "lower: {mass: -1,"))
    banner = page.locator(".live-banner")
    banner.wait_for(state="visible")
    line = 1 + next(k for k, each in enumerate(text.splitlines()) if "lower: {mass" in each)
    says(banner, f"line {line}", "lower")
    assert page.evaluate(SERIES, "elbow.q") == good
    file.write_text(text.replace("lower: {mass: 1,", "lower: {mass: 3,"))
    banner.wait_for(state="hidden")
    page.wait_for_function("() => kinodeLive.desk.value('lower.mass') === 3")
    shows(page, STATE, before)
    assert_same(page, file, "elbow.q")


def test_a_model_without_bodies_has_numbers_too(page):
    with live(page, ROOT / "examples" / "rlc.yaml"):
        page.get_by_label("Search a number").fill("resistance")
        row(page, "wire.resistance").locator(".number-slider").focus()
        before = page.evaluate(SERIES, "tank.voltage")
        press(page, "ArrowRight", 5)
        assert page.evaluate(SERIES, "tank.voltage") != before


def test_a_run_is_audited_when_numbers_rest_and_verified_when_asked(pendulum):
    page, _ = pendulum
    row(page, "L").locator(".number-slider").focus()
    press(page, "ArrowRight", 3)
    page.wait_for_function("() => kinodePlayer.main.header.badges.some(({ name, ok }) => name === 'audit' && ok)")
    page.get_by_role("tab", name="Checks").click()
    page.get_by_role("button", name="Verify this run").click()
    page.wait_for_function("() => kinodePlayer.main.header.badges.some(({ name, ok }) => name === 'verify' && ok)")
