"""Expressions of quantities as results, their units, and completion of names."""

import numpy as np
import pytest

import kinode as kn
from kinode.results.joint_loads import compute_loads


def swing():
    system = kn.System("swing", gravity=(0, -9.81, 0))
    system.parameter("L", "2 m")
    system.signal("wave", "sin(3*t)")
    system.table("curve", axes=[-10, 0, 10], values=[0, 1, 4])
    system.table("short", axes=[0, 0.5], values=[0, 1])
    body = system.body("arm", mass=1.0, com=(1, 0, 0), inertia=(1, 1, 1))
    system.revolute("A", system.world, body, axis="z", damping=0.3)
    system.spring("sp", body.at(1, 0, 0), system.world.at(0, 1, 0), stiffness=10, free_length=0.5)
    return system


@pytest.fixture(scope="module")
def run():
    return kn.simulate(swing(), 1.0, samples=11)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A.q*180/pi", lambda run: np.rad2deg(run["A.q"])),
        ("A.q/deg", lambda run: np.rad2deg(run["A.q"])),
        (" A.q ", lambda run: run["A.q"]),
        ("A.effort*A.u", lambda run: run["A.power"]),
        ("hypot(A.reaction.force.x, A.reaction.force.y)", lambda run: np.hypot(*run["A.reaction.force"].T[:2])),
        ("arm.acceleration.x@arm - A.u_dot*0", lambda run: run["arm.acceleration.x@arm"]),
        ("where(t > 0.5, A.q, -1)", lambda run: np.where(run.t > 0.5, run["A.q"], -1)),
        ("wave + L", lambda run: np.sin(3 * run.t) + 2),
        ("curve(5*wave)", lambda run: np.interp(5 * np.sin(3 * run.t), [-10, 0, 10], [0, 1, 4])),
        ("curve.d0(A.q)", lambda run: np.where(run["A.q"] < 0, 0.1, 0.3)),
        ("mod(t, 0.3)", lambda run: np.mod(run.t, 0.3)),
        ("air_density(arm.position.y + 500)", lambda run: np.full(11, kn.air_density(500.0))),
        ("2^3", lambda run: np.full(11, 8.0)),
    ],
)
def test_expressions(run, text, value):
    assert run[text] == pytest.approx(value(run), rel=1e-12, abs=1e-12)
    assert run[text].shape == (11,)
    assert not run[text].flags.writeable


def test_names_and_expressions_at_once(run):
    values = run.evaluate(["A.q", "2*A.q", "arm.position"])
    assert list(values) == ["A.q", "2*A.q", "arm.position"]
    assert np.array_equal(values["2*A.q"], 2 * values["A.q"])


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("A.effort*A.u", "W"),
        ("sp.tension*sp.rate", "W"),
        ("A.q - A.q", "rad"),
        ("abs(A.u + 0.1)", "rad/s"),
        ("sqrt(arm.position.x^2 + arm.position.y^2)", "m"),
        ("L + arm.position.x", "m"),
        ("A.q*180/pi", ""),  # degrees, by a plain factor
        ("sp.tension*0.001", ""),
        ("2^3", ""),
    ],
)
def test_units_are_stated_where_they_follow(run, text, unit):
    assert run.units(text) == unit


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("A.q + sp.tension", kn.UnitError, "puts"),
        ("atan2(A.u, A.q)", kn.UnitError, "puts"),
        ("2*arm.velocity", kn.LawError, r"arm\.velocity has 3 parts; write arm\.velocity\.x"),
        ("2*A.torque", kn.LawError, "A has no quantity 'torque'; did you mean effort"),
        ("2*B.q", kn.LawError, "nothing is called 'B'"),
        ("2 A.q", kn.LawError, "an operator is missing|stands alone"),
        ("__import__('os').getcwd()", kn.LawError, "begin with an underscore"),
        ("A.q.__class__ + 1", kn.LawError, "begin with an underscore"),
        ("(lambda: 1)()", kn.LawError, "no meaning in a law|has no meaning"),
        ("short(t)", kn.LawError, "short: 0.6 lies outside axis 0"),
        ("", kn.LawError, "nothing is called"),
    ],
)
def test_what_is_no_expression_is_refused(run, text, error, message):
    with pytest.raises(error, match=message):
        run[text]


def test_expressions_in_tables_and_plots(run, tmp_path):
    file = tmp_path / "swing.csv"
    run.to_csv(file, ["A.q*180/pi", "atan2(A.q, A.q)", "arm.position"])
    head = file.read_text().splitlines()[0]
    assert head.startswith('t [s],A.q*180/pi [],"atan2(A.q, A.q) [rad]"')
    data = run.to_xarray(["A.effort*A.u"])
    assert data["A.effort*A.u"].attrs["units"] == "W"
    figure = run.plot("A.effort*A.u", "A.power")
    assert len(figure.axes[0].get_lines()) == 2


def test_names_are_completed(run):
    assert "A.reaction.force" in run._ipython_key_completions_()
    assert all(name in run for name in run._ipython_key_completions_())


def test_axial_and_radial_load_of_a_bearing_at_rest():
    """A weight at an angle to an axis: a triangle of 3, 4 and 5."""
    along, across = np.array([2.0, 1.0, 2.0]) / 3.0, np.array([1.0, -2.0, 0.0]) / np.sqrt(5.0)
    system = kn.System("shaft", gravity=tuple(4.0 * along - 3.0 * across))
    bar = system.body("bar", mass=2.0, inertia=(1, 1, 1))
    system.revolute("pin", system.world, bar, axis=tuple(along), motion=0.3)
    (load,) = compute_loads(kn.simulate(system, 0.1, samples=3))
    assert (load.axial, load.radial, load.force.peak) == pytest.approx((8.0, 6.0, 10.0))


def test_angular_momentum_about_any_point_is_that_about_the_mass_center_and_an_arm(run):
    own, P = run.angular_momentum("arm"), run["arm.momentum"]
    for about in ("world", "arm"):
        arm = run.position("arm.com") - (0.0 if about == "world" else run.position("arm"))
        assert abs(np.cross(arm, P)).max() > 0.1
        np.testing.assert_allclose(run.angular_momentum("arm", about=about), own + np.cross(arm, P), atol=1e-12)


def test_a_post_seen_from_a_turntable_goes_round():
    """At 2 rad/s on a circle in the table's axes: v = 2 r, a = -4 r; of the terms none may be missing."""
    system = kn.System("table")
    post, table = (system.body(name, mass=1.0, inertia=(1, 1, 1)) for name in ("post", "table"))
    system.fixed("ground", system.world.at(0.3, 0.4, 0), post)
    system.revolute("turn", system.world, table, axis="z", motion="2*t")
    run = kn.simulate(system, 1.0, samples=5)
    r, v, a = (getattr(run, word)("post", relative_to="table") for word in ("position", "velocity", "acceleration"))
    np.testing.assert_allclose(np.linalg.norm(r, axis=1), 0.5, rtol=1e-14)
    np.testing.assert_allclose(v, np.cross([0, 0, -2], r), atol=1e-14)
    np.testing.assert_allclose(a, -4.0 * r, atol=1e-14)
