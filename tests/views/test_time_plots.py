"""Plots: what is drawn, and the words on the axes."""

import sys

import numpy as np
import pytest

import kinode as kn
from kinode.results.joint_loads import compute_loads
from kinode.results.run_quantities import measure
from kinode.sheets.tables import number, pretty_unit
from kinode.views.plots.mode_strips import find_strips
from kinode.views.plots.time_plots import PlotLine, common_start, draw_lines, make_room, plot, plot_loads
from kinode.views.style import find_prefix, small_axes, style, thin, tick


def test_one_axes_for_each_unit_with_names_and_units(arm_run, tmp_path):
    figure = plot(arm_run, "elbow.q", "shoulder.q", "elbow.reaction.force", file=tmp_path / "a.png")
    angle, force = figure.axes
    assert angle.get_ylabel() == "angle (rad)"
    assert [text.get_text() for text in angle.get_legend().get_texts()] == ["elbow.q", "shoulder.q"]
    assert force.get_ylabel() == "elbow.reaction.force (N)"
    assert [text.get_text() for text in force.get_legend().get_texts()] == ["x", "y", "z"]
    assert force.get_xlabel() == "time (s)" and not angle.get_xlabel()
    assert angle.get_xlim() == force.get_xlim() == (0.0, 1.0)
    np.testing.assert_array_equal(angle.get_lines()[0].get_ydata(), arm_run["elbow.q"])
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_degrees_on_request(arm_run, tmp_path):
    (axes,) = plot(arm_run, "elbow.q", degrees=True, file=tmp_path / "a.svg").axes
    assert axes.get_ylabel() == "elbow.q (deg)"
    np.testing.assert_allclose(axes.get_lines()[0].get_ydata(), np.rad2deg(arm_run["elbow.q"]))


def test_without_names_all_coordinates(crane_run, tmp_path):
    figure = plot(crane_run, file=tmp_path / "a.svg")
    assert {axes.get_ylabel().split("(")[-1] for axes in figure.axes} >= {"rad)", "m)"}
    assert sum(len(axes.get_lines()) for axes in figure.axes) == 3 + 4 + 7


def test_an_unknown_name_is_told(arm_run):
    with pytest.raises(kn.Error, match="elbow"):
        plot(arm_run, "elbo.q")


def test_loads_have_components_and_magnitude(arm_run, tmp_path):
    force, moment = plot_loads(arm_run, "elbow", file=tmp_path / "a.svg").axes
    assert force.get_ylabel() == "force (N)" and moment.get_ylabel() == "moment (N·m)"
    whole = force.get_lines()[-1]
    assert whole.get_label() == "magnitude"
    expected = np.linalg.norm(arm_run["elbow.reaction.force"], axis=1)
    np.testing.assert_allclose(whole.get_ydata(), expected)


def test_drawing_needs_no_screen_and_leaves_no_settings(arm_run, tmp_path):
    import matplotlib

    before = dict(matplotlib.rcParams)
    plot(arm_run, "elbow.q", file=tmp_path / "a.png")
    assert dict(matplotlib.rcParams) == before


def test_importing_plots_imports_no_matplotlib():
    import subprocess

    views = "kinode.views.plots.time_plots, kinode.report.run_report"
    code = f"import sys, {views}; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_long_line_keeps_its_peaks():
    t = np.linspace(0, 1, 100_001)
    y = np.sin(40 * t)
    y[77_777] = 5.0
    y[50_003] = np.nan
    few_t, few = thin(t, y, 1000)
    assert len(few) < 1100 and np.nanmax(few) == 5.0 and np.isnan(few).any()
    assert few_t[0] == 0 and few_t[-1] == 1 and (np.diff(few_t) > 0).all()


def test_peak_mean_and_rms_are_over_time():
    t = np.concatenate([np.linspace(0, 1, 1001), [2.0]])  # many samples in the first half
    values = np.where(t <= 1.0, 2.0, 2.0)
    found = measure(t, -values)
    assert (found.peak, found.mean, found.rms) == pytest.approx((2.0, 2.0, 2.0))
    ramp = measure(t, t)
    assert (ramp.peak, ramp.time, ramp.mean) == pytest.approx((2.0, 2.0, 1.0))


def test_loads_agree_with_the_run(crane_run):
    for load in compute_loads(crane_run):
        force = np.linalg.norm(crane_run[f"{load.joint}.reaction.force"], axis=1)
        assert load.force.peak == pytest.approx(force.max(), rel=1e-9)
        if load.axial is not None:
            assert load.axial == pytest.approx(
                np.abs(crane_run[f"{load.joint}.reaction.axial"]).max(), rel=1e-9, abs=1e-9
            )
            assert load.radial == pytest.approx(crane_run[f"{load.joint}.reaction.radial"].max(), rel=1e-9, abs=1e-9)
    assert [load.joint for load in compute_loads(crane_run)] == ["swing", "lift", "extend", "hook"]


def test_words():
    assert pretty_unit("N*m*s/rad") == "N·m·s/rad" and pretty_unit("m/s^2") == "m/s²"
    assert find_prefix("N", 52321) == ("kN", 1e3) and find_prefix("N", 3e7) == ("MN", 1e6)
    assert find_prefix("m", 4e-3) == ("mm", 1e-3) and find_prefix("rad", 1e5) == ("rad", 1.0)
    assert [number(x) for x in (0.0, 0.12345, 193745.2, 1e-9, 2.5e7)] == ["0", "0.1235", "193745", "1e\u22129", "2.5e7"]
    assert tick(-0.25) == "\u22120.25" and tick(1e20) == "1e20"
    assert common_start(["a.b.x", "a.b.y"]) == "a.b." and common_start(["a.q", "b.q"]) == ""


@pytest.mark.parametrize(("file", "words"), [("nowhere/a.png", "cannot be written"), ("a.xyz", "xyz")])
def test_a_file_that_cannot_be_written_is_told(arm_run, tmp_path, file, words):
    with pytest.raises(kn.Error, match=words):
        plot(arm_run, "elbow.q", file=tmp_path / file)


@pytest.mark.parametrize("count", [2, 4, 6])
def test_a_small_plot_shows_all_of_its_legend(count):
    t = np.linspace(0.0, 1.0, 5)
    with style():
        figure, axes = small_axes((5.0, 2.55))
        draw_lines(axes, t, [PlotLine(f"front_left_hip{k}.q", "rad", t) for k in range(count)])
        make_room(axes)
        figure.draw_without_rendering()
        box, whole = axes.get_legend().get_window_extent(), figure.bbox
    assert box.y1 <= whole.y1 + 1 and box.x1 <= whole.x1 + 1


@pytest.fixture(scope="module")
def bouncing_run():
    """A ball on a floor, and a block that a spring pulls over a rough one until it sticks."""
    system = kn.System("two")
    ball, block = (system.body(name, mass=1, inertia=(1, 1, 1)) for name in ("ball", "block"))
    system.prismatic("flight", system.world, ball, axis="z", q=0.5, stop={"lower": 0, "restitution": 0.3})
    system.prismatic("slide", system.world, block, axis="x", u=1, stiffness=50, friction=kn.coulomb(0.2))
    return kn.simulate(system, 1.0)


def test_strips_tell_what_was_done_when(bouncing_run):
    strips = {strip.name: strip for strip in find_strips(bouncing_run)}
    assert set(strips) == {"flight", "slide"}
    for strip in strips.values():
        starts, ends = zip(*((a, b) for a, b, _ in strip.stretches))
        assert starts[0] == 0.0 and ends[-1] == 1.0 and starts[1:] == ends[:-1]
    slide = strips["slide"].stretches
    assert slide[0][2] == "slides forward" and slide[-1][2] == "sticks"
    middle = np.array([0.5 * (a + b) for a, b, _ in slide])
    at = np.searchsorted(bouncing_run.t, middle)
    words = {1.0: "slides forward", -1.0: "slides back", 0.0: "sticks"}
    assert [words[x] for x in bouncing_run["slide.friction.mode"][at]] == [word for _, _, word in slide]
    hits = [event.time for event in bouncing_run.events if event.component == "flight"]
    assert hits[0] == pytest.approx((2 * 0.5 / 9.81) ** 0.5)
    assert {*strips["flight"].jumps, *(a for a, _, _ in strips["flight"].stretches[1:])} == set(hits)


def test_a_joint_with_two_modes_has_two_strips():
    system = kn.System("two modes")
    block = system.body("block", mass=1, inertia=(1, 1, 1))
    ends = {"upper": 0.1, "stiffness": 1e3, "damping": 10}
    system.prismatic("slide", system.world, block, axis="x", u=1, friction=kn.coulomb(0.2), stop=ends)
    run = kn.simulate(system, 1.0)
    names = [strip.name for strip in find_strips(run)]
    assert names == ["slide", "slide"]


def test_plots_show_a_span_with_modes(bouncing_run, tmp_path):
    lines, strips = plot(bouncing_run, "slide.q", between=(0.3, 0.8), modes=True, file=tmp_path / "a.png").axes
    assert lines.get_xlim() == strips.get_xlim() == (0.3, 0.8)
    t = lines.get_lines()[0].get_xdata()
    assert t[0] <= 0.3 < t[1] and t[-2] < 0.8 <= t[-1]
    assert [text.get_text() for text in strips.get_yticklabels()] == ["flight", "slide"]
    with pytest.raises(kn.ArgumentError, match="between: the run has no times between 2 and 3 s"):
        plot(bouncing_run, "slide.q", between=(2, 3), file=tmp_path / "a.png")
