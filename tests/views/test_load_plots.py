"""Pictures of who loads a joint, and their section of the report."""

import numpy as np
import pytest

import kinode as kn
from kinode.report.causes_section import describe_causes
from kinode.results.joint_loads import find_wrenches
from kinode.views.plots.load_plots import draw_causes
from kinode.views.style import new_figure


@pytest.fixture(scope="module")
def run():
    """A shaft that carries an arm off its axis, both driven."""
    system = kn.System("whirl", gravity=(0, 0, -9.81))
    shaft = system.body("axle", mass=2, com=(0.001, 0, 0), inertia=(0.01, 0.01, 0.01))
    arm = system.body("arm", mass=1, com=(0.1, 0, 0), inertia=(0.001, 0.01, 0.01))
    system.revolute("shaft", system.world, shaft, axis="z", speed=20)
    system.revolute("hinge", shaft.at(0.05, 0, 0), arm, axis="y", motion="0.5*sin(7*t)")
    return kn.simulate(system, 1.0, samples=201)


def test_a_stack_adds_up_to_the_magnitude_of_the_sum(run):
    figure = new_figure((5, 3), shown=False)
    axes = figure.subplots()
    causes = run.causes("hinge")
    draw_causes(axes, causes, "force")
    up, down = np.zeros(201), np.zeros(201)
    for k, band in enumerate(axes.collections):
        low, high = (np.interp(run.t, *_edge(band, pick, run.t)) for pick in (np.min, np.max))
        (up if k % 2 == 0 else down)[:] += high - low
    assert up - down == pytest.approx(np.linalg.norm(causes.force, axis=1), rel=1e-6, abs=1e-6)


def _edge(band, pick, t):
    """The lower or upper edge of what fill_between drew."""
    points = band.get_paths()[0].vertices
    return t, np.array([pick(points[np.isclose(points[:, 0], x), 1]) for x in t])


def test_pictures_can_be_written(run, tmp_path):
    plots = {
        "causes": run.causes("shaft", by="body"),
        "terms": run.causes("shaft", by="term"),
        "polar": run.pressure("shaft"),
        "orders": run.spectrum("shaft", over="turns"),
    }
    for name, record in plots.items():
        record.plot(file=tmp_path / f"{name}.svg")
        assert "<svg" in (tmp_path / f"{name}.svg").read_text()
    run.spectrum("shaft").plot(file=tmp_path / "spectrum.svg", frequency="5 Hz")
    assert "natural, 5 Hz" in (tmp_path / "spectrum.svg").read_text()


def test_the_report_says_who_loads_the_joints(run):
    text = describe_causes(run, find_wrenches(run))
    for words in ("Who loads the joints", "<h3>shaft</h3>", "<h3>hinge</h3>", "centrifugal", "turning axes, of axle"):
        assert words in text
    assert "turning axes, of arm" not in text  # the hinge does not go around


def test_a_report_without_motion_says_nothing_of_causes():
    system = kn.System("still")
    system.fixed("weld", system.world, system.body("block", mass=1))
    run = kn.simulate(system, 1.0, samples=3)
    assert describe_causes(run, find_wrenches(run)) == ""
