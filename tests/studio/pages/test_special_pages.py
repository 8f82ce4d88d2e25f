"""Pages of special runs: failed ones, several at once, quantities that are not in the file, shared loads, bearings."""

import math

import numpy as np
import page_readings as read
import pytest
from page_patience import look, says, settle
from page_readings import number, pictured, seek, show, si
from player_pages import ROOT

import kinode as kn

READY = "() => globalThis.kinodePlayer !== undefined"


@pytest.fixture
def open_file(page):
    """Opens a page that was written."""

    def open_it(file):
        page.goto(file.as_uri())
        page.wait_for_function(READY)
        settle(page)
        return page

    return open_it


def failing_run():
    """A rod whose spring is asked to be infinitely stiff at a time."""
    system = kn.System("breaks", gravity=(0, -9.81, 0))
    rod = system.body("rod", mass=1.0, com=(0.5, 0, 0), inertia={"zz": 0.1})
    system.revolute("pin", system.world, rod, axis="z", effort="1/(0.7 - t)")
    with pytest.raises(kn.SimulationError) as failure:
        kn.simulate(system, 2.0, samples=201)
    return failure.value.run


def test_a_failed_run_opens_and_shows_where_it_ended(open_file, tmp_path):
    run = failing_run()
    assert 0 < run.t[-1] < 1.0
    page = open_file(run.view(tmp_path / "failed.html"))
    assert look(page, "() => kinodePlayer.clock.to") == pytest.approx(run.t[-1])
    says(page.locator(".stage-banner"), run.message.split(":")[0][:30])
    assert says(page.get_by_role("alert"), "ended at").startswith("ended at")
    seek(page, run.t[-1])
    marked = page.evaluate("() => kinodePlayer.main.header.events.at(-1)")
    assert marked["kind"] == "end" and marked["time"] == pytest.approx(run.t[-1])


def test_several_runs_share_a_stage(open_file, pages, tmp_path):
    """Ghosts, a column in tables, a grey curve; one clock for both."""
    system = kn.load(ROOT / "examples" / "pendulum.yaml")
    runs = [kn.simulate(system, 4.0, samples=241, parameters={"L": length}) for length in (1.0, 1.3)]
    page = open_file(runs[0].view(tmp_path / "two.html", beside=[runs[1]], labels=["short", "long"]))
    seek(page, runs[0].t[90])
    texts = look(
        page, "() => [...document.querySelectorAll('.plots .plot-legend li output')].map((each) => each.textContent)"
    )
    angles = [math.radians(number(text)) for text in texts]
    assert angles == pytest.approx([run["pivot.q"][90] for run in runs], abs=2e-3)
    assert says(page.locator(".track-labels"), "long").split() == ["short", "long"]
    show(page, "Values")
    head = says(page.locator(".panel:not([hidden]) thead"), "difference").split()
    assert head == ["short", "long", "difference"]
    ghosts = look(page, "() => kinodePlayer.stage.view.drawing.ghosts.length")
    assert ghosts == 1


def test_runs_of_different_models_are_refused(pages, tmp_path):
    with pytest.raises(kn.Error, match="different models"):
        pages.run("pendulum").view(tmp_path / "two.html", beside=[pages.run("rlc")])


def test_what_is_kept_is_in_the_file_and_the_rest_says_how(open_file, pages, tmp_path):
    run = pages.run("pendulum")
    kept = open_file(run.view(tmp_path / "kept.html", keep=["bar.velocity"]))
    kept.evaluate("() => kinodePlayer.plot(['bar.velocity'])")
    k = 100
    seek(kept, run.t[k])
    legend = {name: si(text, unit) for name, text, unit in kept.evaluate(read.LEGEND)}
    speeds = run["bar.velocity"]
    shown = [legend[f"bar.velocity.{part}"] for part in "xyz"]
    assert shown == pytest.approx(speeds[k], abs=2e-3 * np.abs(speeds).max())
    assert "bar.acceleration" in look(kept, "() => kinodePlayer.main.header.liveOnly")
    kept.locator(".kinode-player").focus()
    kept.keyboard.press("/")
    kept.keyboard.type("bar.acceleration")
    entry = kept.locator("[role=option]").first
    says(entry, "bar.acceleration", "needs --live")
    assert entry.get_attribute("aria-disabled") == "true"
    kept.keyboard.press("Enter")
    kept.get_by_text("is not in the file: it needs --live").wait_for()


def test_loads_that_are_not_unique_are_hatched_and_say_why(page, open_run, pages):
    open_run(page, "four_bar")
    run = pages.run("four_bar")
    page.evaluate("() => kinodePlayer.select({ kind: 'joint', name: 'left' })")
    seek(page, run.t[100])
    doubts = look(
        page,
        """() => [...document.querySelectorAll(".joint-table tbody tr")].map((row) => [
          row.className.split(" ")[0],
          [...row.querySelectorAll("td")].slice(0, 3).map((each) => "doubt" in each.dataset)])""",
    )
    wrench = run.reaction("left")
    flags = {"force": wrench.components[:3], "moment": wrench.components[3:]}
    for kind, shown in doubts:
        assert shown == [not flag for flag in flags[kind]]
    assert any(any(shown) for _, shown in doubts)
    says(page.locator(".joint-notes"), "not unique, more joints hold than are needed", "least norm")
    hatched = page.locator("[data-doubt]").first
    assert "repeating-linear-gradient" in hatched.evaluate("(cell) => getComputedStyle(cell).backgroundImage")
    assert hatched.get_attribute("aria-description") == "not unique"


def test_bearings_have_their_life(open_file, pages, tmp_path):
    run = pages.run("rotor")
    ratings = {"shaft": {"at": (-0.05, 0.05), "C": 12e3}}
    page = open_file(run.view(tmp_path / "rotor.html", bearings=ratings))
    page.evaluate("() => kinodePlayer.select({ kind: 'joint', name: 'shaft' })")
    page.get_by_role("heading", name="Bearings").wait_for()
    text = says(page.locator(".panel:not([hidden])"), "position", "life")
    for bearing in run.bearings("shaft", at=(-0.05, 0.05)):
        assert f"position\t{bearing.at:g} m".replace("-", "\u2212") in text.replace("-", "\u2212")


def test_the_polar_plot_says_what_run_pressure_says(page, open_run, pages):
    """The force of the shaft on its bearings, across its axis, in axes that do not turn."""
    open_run(page, "rotor")
    run = pages.run("rotor")
    page.evaluate("() => kinodePlayer.select({ kind: 'joint', name: 'shaft' })")
    pressure = run.pressure("shaft", part="total")
    for k in pictured(page, run):
        seek(page, run.t[k])
        words = says(page.locator(".polar p"), " N at ")
        size, angle = words.split(": ")[1].split(" N at ")
        expected = pressure.fixed[k]
        assert number(size) == pytest.approx(np.hypot(*expected), rel=2e-3)
        turned = math.degrees(math.atan2(expected[1], expected[0])) - number(angle.removesuffix("\u00b0"))
        assert abs((turned + 180) % 360 - 180) < 0.2
