"""First-order tolerances: closed forms, the check by runs, tables and plots, what is refused."""

import numpy as np
import pytest

import kinode as kn


@pytest.fixture(scope="module")
def run():
    model = kn.load("examples/double_pendulum.yaml")
    return kn.simulate(model, 0.5, samples=101, sensitivity=["L", "elbow.q", "shoulder.u"])


def test_variances_add_and_shares_are_of_the_peak(run):
    found = run.tolerance({"L": "+-3 mm", "elbow.q": "1 deg"}, "elbow.reaction.force")
    spread = found["elbow.reaction.force"]
    assert found.sigmas == pytest.approx({"L": 1e-3, "elbow.q": np.radians(1)})
    force = run["elbow.reaction.force"]
    size = np.linalg.norm(force, axis=1)
    each = [
        sigma * np.einsum("ti,ti->t", force, run.sensitivity("elbow.reaction.force", name)) / size
        for name, sigma in found.sigmas.items()
    ]
    assert spread.sigma == pytest.approx(np.hypot(*each), rel=1e-12)
    assert spread.parts["L"] == pytest.approx(each[0], rel=1e-12)
    assert sum(spread.shares.values()) == pytest.approx(1.0)
    assert size.max() <= spread.peak < 1.001 * size.max()  # between two states, 5 ms apart


def test_a_peak_between_two_states_moves_along_the_time_axis_and_not_up():
    """A sine whose frequency varies: its peak does not change, whatever the sampling."""
    model = kn.loads("""
kinode: 1
name: sine
gravity: [0, 0, 0]
parameters: {w: 7 rad/s}
bodies: {a: {mass: 1}}
joints: {rail: {kind: prismatic, between: [world, a], axis: x, motion: "sin(w*t)"}}
""")
    course = kn.simulate(model, 0.4, samples=41, sensitivity=["w"])
    spread = course.tolerance({"w": 0.1}, "rail.q")["rail.q"]
    assert spread.peak == pytest.approx(1.0, abs=1e-5)
    assert spread.time == pytest.approx(np.pi / 14, abs=1e-4)
    assert spread.peak_sigma < 1e-4  # 0.1 * t * cos(w t) is 1e-3 at the state beside the peak
    assert spread.sigma.max() > 0.03


def test_the_check_agrees(run):
    """600 runs: the standard deviation of a sample of n has itself one of 1/sqrt(2 n), here 3 %."""
    limits = {"L": "+-3 mm", "elbow.q": "0.2 deg", "shoulder.u": 0.02}
    found = run.tolerance(limits, ["elbow.reaction.force", "shoulder.reaction.force", "elbow.u"], check=600)
    for spread in found.spreads.values():
        assert spread.checked == pytest.approx(spread.peak_sigma, rel=0.1)
    assert "the check made 600 runs" in str(found)


def test_loads_of_all_joints_by_default(run, tmp_path):
    found = run.tolerance({"L": "1 mm"})
    assert set(found.spreads) == {f"{joint}.reaction.force" for joint in ("shoulder", "elbow")}  # moments vanish
    text = str(found).splitlines()
    assert text[1].split() == ["quantity", "unit", "peak", "at", "s", "sigma", "L"]
    assert text[-1] == "sigma in SI: L 0.001"
    figure = found.plot(file=tmp_path / "band.png")
    assert len(figure.axes) == 4 and (tmp_path / "band.png").stat().st_size > 1000


@pytest.mark.parametrize(
    "spread, said",
    [
        ({"L": "1 kg"}, "1 kg is in kg; m is needed"),
        ({"L": -1.0}, "L: must not be negative"),
        ({"L": [1]}, "L: a number or a text with a unit is expected"),
        ({"elbow.u": 0.1}, r"the run was not differentiated by 'elbow\.u'"),
        ({}, "standard deviations by name are expected"),
    ],
)
def test_what_cannot_be_is_refused(run, spread, said):
    with pytest.raises(kn.Error, match=said):
        run.tolerance(spread)


def test_a_run_from_a_file_has_tolerances_but_no_check(run, tmp_path):
    run.save(tmp_path / "run.nc")
    again = kn.load(tmp_path / "run.nc")
    name = "elbow.reaction.force"
    assert again.tolerance({"L": "1 mm"}, name)[name].peak_sigma == run.tolerance({"L": "1 mm"}, name)[name].peak_sigma
    with pytest.raises(kn.ArgumentError, match="a run from a file does not know its start"):
        again.tolerance({"L": "1 mm"}, name, check=3)
    later = kn.simulate(run.dynamics, 0.6, start=run, samples=3, sensitivity=["L"])
    with pytest.raises(kn.ArgumentError, match="the run continues another"):
        later.tolerance({"L": "1 mm"}, name, check=3)
