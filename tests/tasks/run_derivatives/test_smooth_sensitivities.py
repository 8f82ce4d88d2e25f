"""Derivatives of smooth runs: trees, loops and circuits, against differences of tight runs over short spans."""

import numpy as np
import pytest
from run_differences import TIGHT, find_errors, read

import kinode as kn

# Spans in s over which differences of runs converge to far below 1e-6; all are below the time in which motions diverge.
EXAMPLES = {
    "double_pendulum": (0.5, ["L", "elbow.q", "shoulder.u"]),
    "cart_pole": (0.5, ["hinge.q", "rail.u", "push"]),
    "elastic_system": (0.5, ["stiffness", "damping", "arm"]),
    "gyroscope": (0.2, ["pull", "spin.u"]),
    "asymmetric_shell": (0.3, ["m", "y_cg", "I_x"]),  # a quaternion
    "four_bar": (0.5, ["left.u"]),
    "spatial_slider_crank": (0.4, ["crank_length", "rod_length"]),
    "motor_axis": (0.2, ["reach"]),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_sensitivities_are_those_of_differences(name):
    until, names = EXAMPLES[name]
    errors = find_errors(kn.load(f"examples/{name}.yaml"), until, names, samples=11)
    assert max(errors.values()) < 1e-6, errors


@pytest.mark.parametrize("options", [{"method": "dopri5"}, {"method": "rk4", "step": 1e-3}, {"method": "auto"}])
def test_every_explicit_method_integrates_them(options):
    dynamics = kn.compile(kn.load("examples/double_pendulum.yaml"))
    tight = kn.simulate(dynamics, 0.4, samples=5, sensitivity=["L"], **TIGHT).sensitivity("elbow.q", "L")
    loose = {} if "step" in options else {"rtol": 1e-9, "atol": 1e-11}
    run = kn.simulate(dynamics, 0.4, samples=5, sensitivity="L", **options, **loose)
    assert run.sensitivity("elbow.q", "L") == pytest.approx(tight, rel=1e-6, abs=1e-8)


def test_the_motion_is_that_of_the_plain_run():
    dynamics = kn.compile(kn.load("examples/four_bar.yaml"))
    plain = kn.simulate(dynamics, 0.5, samples=21)
    run = kn.simulate(dynamics, 0.5, samples=21, sensitivity=["left.u"])
    assert abs(run.y - plain.y).max() < 1e-6 * abs(plain.y).max()  # other steps, the same tolerance 1e-8
    assert run.facts["sensitivity"] == "left.u"


def test_a_column_that_moves_is_followed_where_the_state_rests():
    """A pendulum hangs at rest; its derivative by the force on it swings, and the steps are short enough for it."""
    model = read("""
name: hanging
parameters: {F: 0 N, k: 100 N/m}
bodies: {mass: {mass: 1}}
joints: {rail: {kind: prismatic, between: [world, mass], axis: x, stiffness: k, effort: F}}
""")
    run = kn.simulate(model, 5.0, samples=201, sensitivity=["F"])
    assert run.sensitivity("rail.q", "F") == pytest.approx((1 - np.cos(10 * run.t)) / 100, abs=1e-8)


def test_quantities_by_name_have_their_own_part():
    """dQ = (dQ/dy) S + dQ/dp, for vectors and reactions too."""
    dynamics = kn.compile(kn.load("examples/double_pendulum.yaml"))
    run = kn.simulate(dynamics, 0.4, samples=9, sensitivity=["L"], **TIGHT)
    runs = [kn.simulate(dynamics, 0.4, samples=9, parameters={"L": 0.5 + h}, **TIGHT) for h in (-1e-5, 1e-5)]
    names = ("elbow.reaction.force", "lower.tip.velocity", "system.energy", "elbow.q", "L", "elbow.q^2*sin(elbow.u)*L")
    for name in names:
        expected = (runs[1][name] - runs[0][name]) / 2e-5
        assert run.sensitivity(name, "L").shape == run[name].shape
        assert run.sensitivity(name, "L") == pytest.approx(expected, rel=1e-6, abs=1e-6 * abs(expected).max())


def test_initial_values_that_are_laws_of_parameters():
    model = read("""
name: thrown
gravity: [0, -9.81, 0]
parameters: {v: 3 m/s, h: 2 m}
bodies: {ball: {mass: 1}}
joints: {rail: {kind: prismatic, between: [world, ball], axis: y, q: h^2/2, u: v}}
""")
    run = kn.simulate(model, 0.5, samples=3, sensitivity=["v", "h", "rail.q"])
    assert run.sensitivity("rail.q", "v") == pytest.approx(run.t, abs=1e-9)
    assert run.sensitivity("rail.q", "h") == pytest.approx(np.full(3, 2.0), abs=1e-9)
    assert run.sensitivity("rail.q", "rail.q") == pytest.approx(np.ones(3), abs=1e-12)


def test_live_numbers_have_derivatives():
    dynamics = kn.compile(kn.load("examples/double_pendulum.yaml"), live=["upper.mass"])
    assert find_errors(dynamics, 0.4, ["upper.mass"], samples=5)["upper.mass"] < 1e-6


def test_a_file_keeps_them(tmp_path):
    run = kn.simulate(kn.load("examples/double_pendulum.yaml"), 0.2, samples=5, sensitivity=["L", "elbow.u"])
    run.save(tmp_path / "run.nc")
    again = kn.load(tmp_path / "run.nc")
    name = "elbow.reaction.force"
    assert np.array_equal(again.sensitivity(name, "L"), run.sensitivity(name, "L"))
    live = kn.compile(kn.load("examples/double_pendulum.yaml"), live=["upper.mass"])
    kn.simulate(live, 0.1, samples=3, sensitivity=["upper.mass"]).save(tmp_path / "live.nc")
    assert "not kept in the file" in kn.load(tmp_path / "live.nc").facts["sensitivity"]


def test_a_continued_run_continues_them():
    for name, by in (("double_pendulum", ["L", "elbow.q"]), ("spatial_slider_crank", ["rod_length"])):
        dynamics = kn.compile(kn.load(f"examples/{name}.yaml"))
        whole = kn.simulate(dynamics, 0.4, times=[0.0, 0.4], sensitivity=by, **TIGHT)
        half = kn.simulate(dynamics, 0.2, times=[0.0, 0.2], sensitivity=by, **TIGHT)
        rest = kn.simulate(dynamics, 0.4, start=half, times=[0.2, 0.4], sensitivity=by, **TIGHT)
        expected = whole.columns.values[-1]
        assert abs(rest.columns.values[-1] - expected).max() < 1e-7 * abs(expected).max()
    cut = kn.simulate(dynamics, 0.2, times=[0.0, 0.1], sensitivity=by)
    with pytest.raises(kn.ArgumentError, match="the run does not keep its last state"):
        kn.simulate(dynamics, 0.4, start=cut, sensitivity=by)


def test_redundant_reactions_follow_their_rule():
    """In a plane loop some components are not unique; all of them are differentiated as they are shared."""
    dynamics = kn.compile(kn.load("examples/slider_crank.yaml"), live=["rod.mass"])
    run = kn.simulate(dynamics, 0.02, samples=9, sensitivity=["rod.mass"], **TIGHT)
    less, more = (
        kn.simulate(dynamics, 0.02, samples=9, parameters={"rod.mass": m}, **TIGHT) for m in (0.29999, 0.30001)
    )
    for name in ("main.reaction.force", "wristpin.reaction.force", "main.effort"):
        expected = (more[name] - less[name]) / 2e-5
        assert run.sensitivity(name, "rod.mass") == pytest.approx(expected, abs=1e-6 * abs(expected).max())
