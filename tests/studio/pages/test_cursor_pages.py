"""One time for all views: at chosen times each shows the number that kinode gives for it."""

import numpy as np
import page_readings as read
import pytest
from page_readings import near, number, pictured, seek, show, si

from kinode.views.plots.mode_strips import find_strips


def check_the_time_bar_the_stage_and_the_lines_in_plots(page, run, states):
    span = float(run.t[-1] - run.t[0])
    for k in states:
        t = float(run.t[k])
        seek(page, t)
        bar = page.evaluate(read.TIME_BAR)
        assert number(bar["value"]) == pytest.approx(t, abs=1e-5 * span)
        assert number(bar["now"].removesuffix(" s")) == pytest.approx(t, abs=2e-3 * span)
        assert bar["share"] == pytest.approx((t - run.t[0]) / span, abs=2e-3)
        assert bar["stage"] == pytest.approx(t, abs=1e-9 * span)
        cursors = page.evaluate(read.CURSORS)
        assert cursors
        for place, width in cursors:
            assert place / width == pytest.approx((t - run.t[0]) / span, abs=3e-3)


def check_the_legends_of_plots(page, run, states):
    for k in states:
        seek(page, run.t[k])
        legend = page.evaluate(read.LEGEND)
        assert {name for name, _, _ in legend} >= {f"{joint}.q" for joint in list(run.system.joints)[-1:]}
        for name, text, unit in legend:
            value, slack = near(run, name, k)
            assert si(text, unit) == pytest.approx(value, abs=slack), (name, k)


def check_the_table_of_values(page, run, states):
    show(page, "Values")
    names = set(run.system.joints)
    for k in states:
        seek(page, run.t[k])
        rows = page.evaluate(read.VALUES)
        shown = {name: si(text, unit) for name, text, unit in rows if name.rpartition(".")[2] in ("q", "u", "effort")}
        shown = {name: value for name, value in shown.items() if name.rpartition(".")[0] in names}
        assert shown
        for name, value in shown.items():
            expected, slack = near(run, name, k)
            assert value == pytest.approx(expected, abs=slack), (name, k)


def check_the_table_of_a_joint(page, run, states):
    """Force and moment in the joint's axes, with their parts, as ``run.reaction`` gives them."""
    joint = list(run.system.joints)[-1]
    page.evaluate("(name) => kinodePlayer.select({ kind: 'joint', name })", joint)
    for k in states:
        seek(page, run.t[k])
        units = dict(zip(("force", "moment"), page.evaluate(read.JOINT_UNITS)))
        rows = page.evaluate(read.JOINT_TABLE)
        assert len(rows) == 6
        for kind, part, cells in rows:
            wrench = run.reaction(joint, part=part)
            loads = wrench.force if kind == "force" else wrench.moment
            peak = max(np.abs(run[f"{joint}.reaction.{kind}"]).max(), 1e-12)
            shown = [si(cell, units[kind]) for cell in cells]
            assert shown[:3] == pytest.approx(loads[k], abs=6e-4 * peak), (kind, part, k)
            assert shown[3] == pytest.approx(np.linalg.norm(loads[k]), abs=6e-4 * peak)


def check_the_stickers_of_the_circuit(page, run, states):
    """Every speed and every force on the links is one of kinode's."""
    show(page, "Circuit")
    links = page.evaluate(
        """() => kinodePlayer.main.header.diagram.links.filter((link) => link.kind === "vector")
          .flatMap((link) => link.values.map((value) => value.series))"""
    )
    known = run.evaluate([name for name in links if name.endswith("force.size")])
    for k in states:
        seek(page, run.t[k])
        texts = [text for text in page.evaluate(read.STICKERS) if text.endswith((" N", "kN"))]
        forces = [number(text.split()[0]) * (1e3 if text.endswith("kN") else 1) for text in texts]
        assert forces
        values = np.array([values[k] for values in known.values()])
        for force in forces:
            nearest = values[np.argmin(np.abs(values - force))]
            assert force == pytest.approx(nearest, rel=8e-3, abs=1e-3 * np.abs(values).max())


def check_the_terms_of_equations_balance(page, run, states):
    if not page.evaluate("() => kinodePlayer.panels.has('Equations')"):
        return
    show(page, "Equations")
    for t in page.evaluate("() => [0.3, 0.8].map((s) => kinodePlayer.main.t[Math.round(s * kinodePlayer.main.count)])"):
        seek(page, t)
        for terms in page.evaluate(read.EQUATIONS):
            values = [side * number(text) for side, text in terms]
            if np.isfinite(values).all() and values:
                assert sum(values) == pytest.approx(0.0, abs=6e-3 * np.abs(values).sum() + 1e-6)


@pytest.mark.parametrize("example", ["motor_axis", "brake_arm", "excavator"])
def test_all_views(example, make_page, open_run, pages):
    """One load of a page; at states of which it has a picture: it is linear between those."""
    page = open_run(make_page(), example)
    run = pages.run(example)
    states = pictured(page, run)
    check_the_time_bar_the_stage_and_the_lines_in_plots(page, run, states)
    check_the_legends_of_plots(page, run, states)
    check_the_table_of_values(page, run, states)
    check_the_table_of_a_joint(page, run, states)
    check_the_stickers_of_the_circuit(page, run, states)
    check_the_terms_of_equations_balance(page, run, states)


def test_the_words_of_strips(make_page, open_run, pages):
    page = open_run(make_page(), "brake_arm")
    run = pages.run("brake_arm")
    for t in (0.1, 0.55, 1.5):
        seek(page, t)
        shown = dict(page.evaluate(read.STRIPS))
        for strip in find_strips(run):
            words = {word for start, end, word in strip.stretches if start <= t <= end}
            assert shown[strip.name] in words, (strip.name, t)


def test_all_views_show_one_time_in_every_picture_while_it_plays(make_page, open_run):
    """After each step of the clock the bar and the stage have its time, not the one before."""
    page = open_run(make_page(still=False), "motor_axis")
    lags = page.evaluate("""async () => {
      const { clock, stage } = kinodePlayer;
      const bar = document.querySelector("[role=slider][aria-label=Time]");
      const lags = [];
      const measure = (t) => lags.push(
        Math.abs(stage.view.drawing.poses.time - t), Math.abs(Number(bar.getAttribute("aria-valuenow")) - t));
      clock.onTime((t) => queueMicrotask(() => measure(t))); // when the step is over, before anything else
      clock.play();
      while (lags.length < 40) await new Promise(requestAnimationFrame);
      return lags;
    }""")
    assert max(lags) < 1e-4
