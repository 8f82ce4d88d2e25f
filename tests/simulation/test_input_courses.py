"""Inputs over time: a run with a course is the run with the same law of time, in all methods, with all events."""

import numpy as np
import pandas
import pytest
import xarray

import kinode as kn
from kinode.ode.input_table import InputCourse

T = np.array([0.0, 0.3, 0.5, 0.9, 1.2, 1.7, 2.0])
V = np.array([0.0, 4.0, -3.0, 5.0, -1.0, 2.0, 0.0])
METHODS = ["dopri5", "dop853", "auto", "stiff", "rk4"]


def slider(law="u", **joint):
    """A mass on a rail that an input pushes, or the same values as a law of time."""
    system = kn.System("slider", gravity=(0, 0, -9.81))
    system.input("u", "0 N")
    system.input("drag", 0.2)
    system.table("course", axes=[T.tolist()], values=V.tolist(), outside="hold")
    block = system.body("block", mass=1.0, inertia=(0.1, 0.1, 0.1))
    system.prismatic("rail", system.world, block, axis="x", effort=f"{law} - drag*rail.u", **joint)
    return system


ROUGH = {
    "friction": kn.coulomb(effort=1.0, static_effort=1.6),
    "stop": {"lower": -0.1, "upper": 0.2, "restitution": 0.5},
}


@pytest.fixture(scope="module")
def compiled():
    """The slider, free and with friction that sticks and stops that hit, driven by an input and by a law."""
    return {(law, rough): kn.compile(slider(law, **(ROUGH if rough else {})))
            for law in ("u", "course(t)") for rough in (False, True)}  # fmt: skip


@pytest.mark.parametrize("held", [False, True])
def test_a_course_of_one_sample_has_no_breaks(held):
    course = InputCourse(np.array([0.5]), np.array([2.0]), held)
    assert not len(course.breaks)
    np.testing.assert_array_equal(course.at(np.array([0.0, 0.5, 9.0])), 2.0)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rough", [False, True])
def test_a_course_is_the_same_as_a_law_of_time(compiled, method, rough):
    options = {"method": method} | ({"step": 1e-3} if method == "rk4" else {})
    by_law = kn.simulate(compiled["course(t)", rough], 2.0, **options)
    by_course = kn.simulate(compiled["u", rough], 2.0, inputs={"u": (T, V)}, **options)
    assert np.abs(by_course.y[-1] - by_law.y[-1]).max() < 1e-11
    assert [event.message for event in by_course.events] == [event.message for event in by_law.events]
    times = np.array([[a.time, b.time] for a, b in zip(by_course.events, by_law.events, strict=True)]).reshape(-1, 2)
    assert np.abs(np.diff(times)).max(initial=0.0) < 1e-11
    assert bool(by_course.events) == rough


def test_held_values_are_runs_one_after_the_other(compiled):
    dynamics = compiled["u", True]
    course = kn.simulate(dynamics, 2.5, inputs={"u": (T, V, "held")})
    run = None
    for end, value in zip([*T[1:], 2.5], V, strict=True):
        run = kn.simulate(dynamics, end, start=run, inputs={"u": value})
    assert run is not None and np.abs(course.y[-1] - run.y[-1]).max() < 1e-9


def test_before_the_first_and_after_the_last_sample_the_value_there_holds(compiled):
    run = kn.simulate(
        compiled["u", False], 2.0, inputs={"u": ([0.5, 1.0], [1.0, 3.0])}, times=[0.0, 0.4, 0.75, 1.0, 2.0]
    )
    assert run["u"].tolist() == [1.0, 1.0, 2.0, 3.0, 3.0]


@pytest.mark.parametrize("held", [False, True])
def test_results_see_the_course(compiled, tmp_path, held):
    course = (T, V, "held") if held else (T, V)
    run = kn.simulate(compiled["u", False], 2.0, inputs={"u": course, "drag": 0.5})
    expected = V[np.searchsorted(T, run.t, side="right") - 1] if held else np.interp(run.t, T, V)
    assert run["u"] == pytest.approx(expected, abs=1e-12)
    assert run["rail.effort"] == pytest.approx(run["u"] - 0.5 * run["rail.u"], abs=1e-12)
    assert run["rail.u_dot"] == pytest.approx(run["rail.effort"], abs=1e-12)  # the mass is 1
    assert run["drag"].tolist() == [0.5] * len(run)
    assert run.audit.relative < 1e-7
    run.save(tmp_path / "run.nc")
    loaded = kn.load(tmp_path / "run.nc")
    assert np.array_equal(loaded["u"], run["u"])
    assert np.array_equal(loaded["rail.u_dot"], run["rail.u_dot"])
    again = kn.simulate(loaded.dynamics, 2.0, inputs=loaded.input_values)
    assert np.array_equal(again.y, run.y)


def test_loops_and_reactions(tmp_path):
    def four_bar(law):
        system = kn.load("examples/four_bar.yaml")
        system.input("u", 0.0)
        system.table("course", axes=[T.tolist()], values=(20 * V).tolist(), outside="hold")
        system.element("push", "moment", on="coupler", moment=(0, 0, law))
        return system

    by_law = kn.simulate(four_bar("course(t)"), 1.5, samples=50)
    by_course = kn.simulate(four_bar("u"), 1.5, samples=50, inputs={"u": (T, 20 * V)})
    joint = next(iter(by_law.system.joints))
    assert np.abs(by_course.y - by_law.y).max() < 1e-8
    force = by_law[f"{joint}.reaction.force"]
    assert np.abs(by_course[f"{joint}.reaction.force"] - force).max() < 1e-6 * np.abs(force).max()


def test_circuits_and_clocks_see_the_course_at_the_time_of_the_model():
    def axis(law):
        system = kn.load("examples/backlash_axis.yaml")
        system.input("u", 0.0)
        system.table("course", axes=[[0, 1, 2]], values=[0.0, 0.5, 0.2], outside="hold")
        system.change("controller", target=law)
        return system

    course = {"u": ([0.0, 1.0, 2.0], [0.0, 0.5, 0.2])}
    by_law = kn.simulate(axis("course(t)"), 1.0, t0=0.7, samples=20)
    by_course = kn.simulate(axis("u"), 1.0, t0=0.7, samples=20, inputs=course)
    assert by_law["elbow.q"][-1] > 0.05  # a clock that took the time since the start for the model's would not move it
    assert np.abs(by_course["elbow.q"] - by_law["elbow.q"]).max() < 1e-7


def test_absolute_coordinates_and_stop_conditions(compiled):
    inputs = {"u": (T, V)}
    run = kn.simulate(compiled["u", False], 2.0, inputs=inputs)
    absolute = kn.simulate(slider(), 2.0, inputs=inputs, formulation="newton_euler")
    assert np.abs(absolute.y[-1] - run.y[-1]).max() < 1e-8
    stopped = kn.simulate(compiled["u", False], 2.0, inputs=inputs, stop_when="u > 3")
    assert stopped.end.t == pytest.approx(0.225, abs=1e-9)


def test_a_short_pulse_is_not_passed_over(compiled):
    t = np.arange(0.0, 10.0, 1e-3)
    pulse = np.zeros(len(t))
    pulse[5000:5003] = [0.0, 200.0, 0.0]
    run = kn.simulate(compiled["u", False], 9.0, inputs={"u": (t, pulse), "drag": 0.0})
    assert run["rail.u"][-1] == pytest.approx(0.2, rel=1e-9)  # its impulse, on a mass of 1
    assert run.facts["steps"] < 200  # where the course is straight, steps are as long as the error allows


def test_dense_samples_take_few_evaluations(compiled):
    t = np.linspace(0.0, 10.0, 20_001)
    smooth = kn.simulate(compiled["u", False], 10.0, inputs={"u": (t, np.sin(t))})
    noise = kn.simulate(compiled["u", False], 10.0, inputs={"u": (t, np.random.default_rng(0).normal(size=len(t)))})
    assert smooth.facts["evaluations"] < 20_001  # the error control sees what it passes
    assert noise.facts["evaluations"] <= 7 * 20_001 + 10  # one step for each sample, and no attempts


def test_units_series_and_data_arrays(compiled):
    dynamics, t = compiled["u", False], [0.0, 1.0, 2.0]
    forms = [
        (t, [0.0, 1.0, 3.0]),
        (t, [0.0, 0.001, 0.003], "kN"),
        (["0 ms", "1000 ms", "2 s"], ["0 N", "1 N", "0.003 kN"]),
        pandas.Series([0.0, 1.0, 3.0], index=t),
        xarray.DataArray([0.0, 1000.0, 3000.0], dims="time", coords={"time": t}, attrs={"units": "mN"}),
    ]
    ends = [kn.simulate(dynamics, 2.0, inputs={"u": form}).y[-1] for form in forms]
    assert all(np.allclose(end, ends[0], rtol=1e-12, atol=0) for end in ends)
    held = kn.simulate(dynamics, 2.0, inputs={"u": (t, [0.0, 0.001, 0.003], "kN", "held")})
    assert held["u"][-2] == 1.0


@pytest.mark.parametrize(
    ("course", "words"),
    [
        (([0, 1], [1, 2, 3]), "2 times and 3 values do not fit together"),
        (([0, 1, 1], [1, 2, 3]), "times must rise, and after 1 s comes 1 s (number 2)"),
        (([0, 1], [1, np.nan]), "value 1 is nan"),
        (([0, np.inf], [1, 2]), "time 1 is inf"),
        (([], []), "times in s are expected, at least one"),
        (([0, 1], [1, 2], "kV"), "0 kV is in V; N is needed"),
        (([0, 1], [1, 2], "held", "linear"), "'held' or a unit"),
        (([0, 1], [1, 2], "N", "kN"), "'held' or a unit"),
        (([0, 1], ["1 N", "2 N"], "kN"), "units of their own"),
        (([0, 1], [[1], [2]]), "(times, values)"),
        (([0, 1], ["1 N", object()]), "u"),
    ],
)
def test_what_is_no_course_is_refused_by_name(compiled, course, words):
    with pytest.raises(kn.Error, match=r"inputs: u") as error:
        kn.simulate(compiled["u", False], 1.0, inputs={"u": course})
    assert words in str(error.value)


def test_unknown_names_and_tasks_of_one_instant(compiled):
    with pytest.raises(kn.Error, match="no input is called 'v'; did you mean u"):
        kn.simulate(compiled["u", False], 1.0, inputs={"v": ([0, 1], [1, 2])})
    with pytest.raises(kn.Error, match="u"):
        kn.linearize(compiled["u", False], inputs={"u": ([0, 1], [1, 2])})


def test_studies_share_courses(compiled):
    inputs = {"u": (T, V)}
    study = kn.sweep(compiled["u", True], {"drag": [0.1, 0.4]}, 2.0, inputs=inputs, keep=["rail.q|final", "u|peak"])
    for k, drag in enumerate((0.1, 0.4)):
        run = kn.simulate(compiled["u", True], 2.0, inputs={**inputs, "drag": drag})
        assert study["rail.q|final"].values[k] == run["rail.q"][-1]  # bit for bit
        assert study["u|peak"].values[k] == 5.0
    fixed = kn.sweep(
        compiled["u", False], {"drag": np.linspace(0.1, 0.4, 9)}, 1.0, inputs=inputs, keep="rail.q|final",
        method="rk4", step=1e-2,
    )  # fmt: skip
    run = kn.simulate(compiled["u", False], 1.0, inputs={**inputs, "drag": 0.4}, method="rk4", step=1e-2)
    assert fixed["rail.q|final"].values[-1] == run["rail.q"][-1]
