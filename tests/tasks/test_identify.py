"""kn.identify: known numbers are recovered from noisy records, intervals mean what they say, gaps are named."""

import numpy as np
import pandas
import pytest
import xarray
from example_counts import is_fixed

import kinode as kn
from kinode.studies.fits.fit_problem import FitProblem
from kinode.studies.fits.measured_records import read_channel, read_records

EVERY_RUN_SEEDS = 5  # of fits with events; the intervals of so few hold the true value in 80 % at least

T = np.linspace(0.0, 2.0, 81)
PUSH = 0.8 * np.sin(3 * T) + 0.5 * np.sin(7 * T)
TRUE = {"m": 1.0, "c": 0.08, "L": 0.6}


def make_pendulum():
    system = kn.System("pendulum", gravity=(0, -9.81, 0))
    for name, value, bounds in (("m", "1.2 kg", None), ("c", 0.05, None), ("L", "0.5 m", ("0.1 m", "2 m"))):
        system.parameter(name, value, bounds=bounds)
    system.input("torque", "0 N*m")
    bob = system.body("bob", mass="m", com=(0, "-L", 0), inertia=(0.01, 0.01, 0.01))
    system.revolute("pin", system.world, bob, axis="z", effort="torque", damping="c", q="30 deg")
    return system


@pytest.fixture(scope="module")
def pendulum():
    return kn.compile(make_pendulum())


def record(dynamics, seed=0, noise=0.003, **more):
    """A record of the pendulum with its true numbers."""
    run = kn.simulate(dynamics, 2.0, times=T, inputs={"torque": (T, PUSH)}, parameters=TRUE, **more)
    angle = run["pin.q"] + noise * np.random.default_rng(seed).normal(size=len(T))
    return {"t": T, "u_mNm": 1e3 * PUSH, "angle_deg": np.degrees(angle)}


COLUMNS = {"measure": {"pin.q": "angle_deg deg"}, "inputs": {"torque": "u_mNm mN*m"}}


def test_a_pendulum_is_recovered_within_its_intervals(pendulum):
    fit = kn.identify(pendulum, record(pendulum), free=list(TRUE), **COLUMNS)
    for name, value in TRUE.items():
        low, high = fit.interval(name, 0.999)
        assert low < value < high and fit.sigma[name] < 0.05 * value
    assert fit.noise["pin.q"] == pytest.approx(0.003, rel=0.3)
    assert not fit.unshown and fit.system.parameters["L"].value == fit["L"]
    assert np.allclose(np.diag(fit.correlation), 1.0) and fit.chi_square == pytest.approx(1.0, abs=0.1)
    assert "+- (95 %)" in str(fit) and "98" in str(fit) and fit.facts["message"] == "converged"
    again = kn.simulate(pendulum, 2.0, times=T, inputs={"torque": (T, PUSH)}, parameters=fit.values)
    assert np.allclose(again["pin.q"], fit.records[0].run["pin.q"], rtol=0, atol=1e-9)


def test_derivatives_of_runs_and_differences_agree(pendulum, monkeypatch):
    options = {"free": list(TRUE), "free_start": ["pin.q", "pin.u"], **COLUMNS}
    exact = kn.identify(pendulum, record(pendulum), **options)
    assert exact.facts["derivatives"] == "sensitivities"
    monkeypatch.setattr(FitProblem, "_by_sensitivities", lambda *_: None)
    rough = kn.identify(pendulum, record(pendulum), **options)
    sigma = np.sqrt(np.diag(exact.covariance))
    assert np.abs(rough.x - exact.x).max() < 1e-3 * sigma.max()
    assert np.abs((rough.covariance - exact.covariance) / np.outer(sigma, sigma)).max() < 1e-3


def test_intervals_cover_the_truth_as_often_as_they_say():
    """200 seeds, two unknowns: of 400 intervals of 95 % some 90 to 99 % hold the true value."""
    system = kn.System("oscillator", gravity=(0, 0, 0))
    system.parameter("k", "40 N/m")
    system.parameter("c", "1 N*s/m")
    system.prismatic("rail", system.world, system.body("block", mass=1.0, inertia=(1, 1, 1)), axis="x", q=0.1,
                     stiffness="k", damping="c")  # fmt: skip
    dynamics = kn.compile(system)
    t = np.linspace(0.0, 1.5, 31)
    clean = kn.simulate(dynamics, 1.5, times=t, parameters={"k": 42.0, "c": 0.9})["rail.q"]
    held = 0
    for seed in range(200):
        data = {"t": t, "x": clean + 0.004 * np.random.default_rng(seed).normal(size=len(t))}
        fit = kn.identify(dynamics, data, measure={"rail.q": "x"}, free=["k", "c"], rtol=1e-6)
        held += sum(low <= true <= high for true, (low, high) in ((42.0, fit.interval("k")), (0.9, fit.interval("c"))))
    assert 0.90 <= held / 400 <= 0.99


def test_what_the_data_do_not_show_is_named():
    system = kn.System("two", gravity=(0, 0, 0))
    for name, value in (("m1", 1.0), ("m2", 2.0), ("k", 50.0), ("idle", 3.0)):
        system.parameter(name, value)
    first, second = (system.body(name, mass=mass, inertia=(1, 1, 1)) for name, mass in (("a", "m1"), ("b", "m2")))
    system.prismatic("rail", system.world, first, axis="x", stiffness="k", q=0.1)
    system.fixed("weld", first, second)
    run = kn.simulate(system, 3.0, samples=121)
    data = {"t": run.t, "x": run["rail.q"] + 1e-4 * np.random.default_rng(1).normal(size=121)}
    fit = kn.identify(system, data, measure={"rail.q": "x"}, free=["m1", "m2", "k"], noise={"rail.q": "0.1 mm"})
    assert len(fit.unshown) == 2  # masses against each other, and a common factor of both and the stiffness
    assert {name for gap in fit.unshown for name in gap.names} == {"m1", "m2", "k"}
    fit = kn.identify(system, data, measure={"rail.q": "x"}, free=["m1", "m2"])
    (gap,) = fit.unshown
    assert set(gap.names) == {"m1", "m2"} and "do not show" in str(fit)
    assert fit.sigma["m1"] == np.inf and fit["m1"] + fit["m2"] == pytest.approx(3.0, rel=1e-3)
    assert fit["m1"] == pytest.approx(1.0, abs=0.05)  # it stays where the search began
    fit = kn.identify(system, data, measure={"rail.q": "x"}, free=["m1", "idle"])
    assert fit.unshown[0].names == ("idle",) and fit.sigma["m1"] < 0.01


def make_motor():
    """A motor with friction, the times and voltages of a record, and its true numbers."""
    system = kn.System("motor", gravity=(0, 0, 0))
    system.input("voltage", "0 V")
    start = {"R": "1 Ohm", "K": "40 mN*m/A", "J": "8e-5 kg*m^2"}
    true = {"R": 0.9, "K": 0.048, "J": 6e-5, "shaft.friction.effort": 4e-3}
    for name, value in start.items():
        system.parameter(name, value)
    rotor = system.body("rotor", mass=0.3, inertia={"zz": "J"})
    system.revolute("shaft", system.world, rotor, axis="z", friction=kn.coulomb(effort="3 mN*m"), damping=2e-5)
    system.element("amplifier", "voltage_source", plus="coil", minus="gnd", voltage="voltage")
    system.element("motor", "dc_motor", plus="coil", minus="gnd", shaft="shaft", resistance="R", inductance="0.4 mH",
                   constant="K")  # fmt: skip
    t = np.arange(0.0, 0.6, 2e-3)
    u = 6.0 * np.sign(np.sin(2 * np.pi * 4 * t)) * (0.3 + t)
    dynamics = kn.compile(system, live=["shaft.friction.effort"])
    run = kn.simulate(dynamics, t[-1], times=t, inputs={"voltage": (t, u, "held")}, parameters=true)
    assert run.events  # it sticks where it turns around

    def fit(seed, model=dynamics):
        rng = np.random.default_rng(seed)
        data = {"t": t, "u": u, "i": run["motor.current"] + 0.02 * rng.normal(size=len(t)),
                "n": run["shaft.u"] * 30 / np.pi + 2.0 * rng.normal(size=len(t))}  # fmt: skip
        return kn.identify(model, data, measure={"motor.current": "i", "shaft.u": "n rpm"},
                           inputs={"voltage": "u held V"}, free=list(true), rtol=1e-6)  # fmt: skip

    return system, true, fit


def make_play():
    """A gear with play, its true numbers, and fits from two encoders through the events of the flanks."""
    system = kn.System("play", gravity=(0, 0, 0))
    system.input("torque", "0 N*m")
    system.parameter("gap", "0.03 rad", bounds=(0.001, 0.2))
    system.parameter("k", "60 N*m/rad")
    for joint, inertia, effort in (("motor", 0.01, "torque"), ("load", 0.1, 0.0)):
        body = system.body(f"{joint}_body", mass=1.0, inertia={"zz": inertia})
        system.revolute(joint, system.world, body, axis="z", effort=effort, damping=0.02)
    system.element(
        "gear", "backlash_gear", input="motor", output="load", ratio=2, play="gap", stiffness="k", damping=0.1
    )
    dynamics, t = kn.compile(system), np.linspace(0.0, 1.5, 151)
    push, true = 0.5 * np.sign(np.sin(9 * t)), {"gap": 0.02, "k": 80.0}
    run = kn.simulate(dynamics, 1.5, times=t, inputs={"torque": (t, push, "held")}, parameters=true)
    assert len(run.events) > 8

    def fit(seed, model=dynamics):
        rng = np.random.default_rng(seed)
        noisy = {name: run[f"{name}.q"] + 5e-4 * rng.normal(size=151) for name in ("motor", "load")}
        return kn.identify(model, {"t": t, "u": push, **noisy}, measure={"motor.q": "motor", "load.q": "load"},
                           inputs={"torque": "u held"}, free=["gap", "k"], rtol=1e-6)  # fmt: skip

    return system, true, fit


def test_a_motor_with_friction_from_its_current_and_speed():
    system, true, find_fit = make_motor()
    fit = find_fit(2, system)
    for name, value in true.items():
        low, high = fit.interval(name, 0.999)
        assert low < value < high, name
        assert fit.sigma[name] < 0.1 * value
    assert fit.facts["derivatives"] == "sensitivities"  # through the events
    assert fit.system.joints["shaft"].friction.effort == fit["shaft.friction.effort"]


def test_play_and_stiffness_of_a_gear_from_two_encoders():
    _, true, find_fit = make_play()
    fit = find_fit(4)
    for name, value in true.items():
        low, high = fit.interval(name, 0.999)
        assert low < value < high and fit.sigma[name] < 0.05 * value, name


def count_held(make, seeds):
    """The share of intervals of 95 % that hold the true value."""
    _, true, find_fit = make()
    fits = [find_fit(seed) for seed in range(seeds)]
    inside = [
        low <= value <= high for fit in fits for name, value in true.items() for low, high in [fit.interval(name)]
    ]
    return np.mean(inside)


@pytest.mark.parametrize("make", [make_motor, make_play])
def test_intervals_with_events_cover_the_truth_as_often_as_they_say(make):
    """Friction that sticks, and flanks that touch and part: 200 seeds at night, a few in every run."""
    seeds = EVERY_RUN_SEEDS if is_fixed() else 200
    share = count_held(make, seeds)
    assert (0.80 if is_fixed() else 0.90) <= share <= (1.0 if is_fixed() else 0.99)


def test_start_values_of_each_record_and_a_record_held_back(pendulum):
    starts = [{"pin.q": 0.2, "pin.u": 0.5}, {"pin.q": -0.4, "pin.u": 0.0}, {"pin.q": 0.1, "pin.u": -1.0}]
    first, second, other = (record(pendulum, seed, start=start) for seed, start in enumerate(starts))
    fit = kn.identify(pendulum, [first, pandas.DataFrame(second)], free=["m", "L"], parameters={"c": 0.08},
                      free_start=["pin.q", "pin.u"], check=other, **COLUMNS)  # fmt: skip
    assert fit["m"] == pytest.approx(1.0, rel=0.02) and fit["L"] == pytest.approx(0.6, rel=0.01)
    for k, start in enumerate(starts[:2]):
        assert fit.records[k].start["pin.u"] == pytest.approx(start["pin.u"], abs=0.05)
        assert fit[f"pin.q of record {k}"] == fit.records[k].start["pin.q"]
    assert fit.checks[0].match("pin.q") > 95 and fit.checks[0].start["pin.u"] == pytest.approx(-1.0, abs=0.05)


def test_outliers_and_gaps_in_the_data(pendulum):
    data = record(pendulum)
    data["angle_deg"][[5, 20, 41, 60]] += [40.0, -30.0, 50.0, 35.0]
    data["angle_deg"][10:14] = np.nan
    options = {"free": ["m", "L"], "parameters": {"c": 0.08}, "noise": {"pin.q": "0.2 deg"}, **COLUMNS}
    plain, robust = kn.identify(pendulum, data, **options), kn.identify(pendulum, data, loss="cauchy", **options)
    assert abs(robust["L"] - 0.6) < 0.2 * abs(plain["L"] - 0.6)
    assert robust.samples == len(T) - 4
    assert abs(robust["L"] - 0.6) < 5 * robust.sigma["L"] < 0.05
    assert any("times the given noise" in note for note in plain.notes)


def test_a_model_that_lacks_something_is_told(pendulum):
    fit = kn.identify(pendulum, record(pendulum, noise=1e-4), free=["m"], **COLUMNS)  # L and c are wrong
    assert any("no noise" in note for note in fit.notes)


SWINGING = {"L": 0.6, "k1": 90.0, "k2": 50.0}


def make_swinging():
    """A long pendulum record, ten of its periods: other lengths have minima of their own, wherever swings coincide."""
    system = kn.System("swinging", gravity=(0, -9.81, 0))
    system.parameter("L", 0.6, bounds=("5 cm", "5 m"))
    bob = system.body("bob", mass=1.0, com=(0, "-L", 0), inertia=(1e-3, 1e-3, 1e-3))
    system.revolute("pin", system.world, bob, axis="z", q="60 deg", damping=0.02)
    return kn.compile(system), np.linspace(0.0, 15.0, 501), {"pin.q": "pin"}, ["L"], 4.0


def make_masses():
    """Two masses on springs, of which one is seen: two rhythms that may be taken for each other."""
    system = kn.System("masses", gravity=(0, 0, 0))
    for name in ("k1", "k2"):
        system.parameter(name, SWINGING[name])
    first, second = (system.body(name, mass=mass, inertia=(1, 1, 1)) for name, mass in (("a", 1.0), ("b", 0.5)))
    system.prismatic("near", system.world, first, axis="x", q=0.1, stiffness="k1", damping=0.1)
    system.prismatic("far", first, second, axis="x", q=-0.05, stiffness="k2", damping=0.05)
    return kn.compile(system), np.linspace(0.0, 8.0, 401), {"near.q": "near"}, ["k1", "k2"], 4.0


def count_found(make, count, **options):
    """How many fits find the numbers of a record from values that are wrong by a random factor."""
    dynamics, t, measure, names, wide = make()
    ((quantity, column),) = measure.items()
    run, rng, found = kn.simulate(dynamics, t[-1], times=t), np.random.default_rng(5), 0
    noise = 0.01 * np.abs(run[quantity]).max()
    for _ in range(count):
        data = {"t": t, column: run[quantity] + noise * rng.normal(size=len(t))}
        begin = {name: SWINGING[name] * wide ** rng.uniform(-1, 1) for name in names}
        fit = kn.identify(dynamics, data, measure=measure, free=names, parameters=begin, **options)
        right = all(abs(fit[name] / SWINGING[name] - 1) < 0.02 for name in names)
        found += right
        assert right or any("residuals are no noise" in note for note in fit.notes)
    return found


def test_a_minimum_nearby_is_left():
    """From values that are wrong by a factor of up to 4: the numbers of the record, not those of a nearer minimum."""
    seeds = 10 if is_fixed() else 200
    assert count_found(make_swinging, seeds) == seeds
    assert count_found(make_swinging, 10, starts=1) < 5  # so the records are as hard as they are meant to be
    if not is_fixed():
        assert count_found(make_masses, seeds) >= 0.98 * seeds


def test_further_starts_are_made_only_where_residuals_are_no_noise(pendulum):
    easy = kn.identify(pendulum, record(pendulum), free=list(TRUE), **COLUMNS)
    assert easy.facts["starts"] == 1
    many = kn.identify(pendulum, record(pendulum), free=list(TRUE), starts=3, **COLUMNS)
    assert many.facts["starts"] == 3 and np.abs(many.x - easy.x).max() < 1e-6
    wrong = kn.identify(pendulum, record(pendulum, noise=1e-4), free=["m"], **COLUMNS)  # L and c are wrong
    assert 1 < wrong.facts["starts"] <= 4 and wrong.facts["runs"] < 200


def test_a_fit_without_noise_lacks_nothing(pendulum):
    """What is left is the error of integration, each like the next."""
    fit = kn.identify(pendulum, record(pendulum, noise=0.0), free=list(TRUE), **COLUMNS)
    assert fit["L"] == pytest.approx(0.6, rel=1e-6) and not any("no noise" in note for note in fit.notes)


def make_bar(J, a):
    """A bar that swings: its moment about the pivot, as textbooks and tables give it, and where its mass center is."""
    system = kn.System("bar", gravity=(0, -9.81, 0))
    system.parameter("J", J)
    bar = system.body("rod", mass=2.0, com=(0, -a, 0), inertia={"zz": "J"}, about="origin")
    system.revolute("pin", system.world, bar, axis="z", q="30 deg", damping=0.02)
    return system


def test_a_moment_about_the_pivot_is_found_down_to_the_edge_of_bodies():
    t, noise = np.linspace(0.0, 3.0, 151), 1e-3 * np.random.default_rng(0).normal(size=151)
    swing = kn.simulate(make_bar(0.4, 0.25), 3.0, times=t)["pin.q"]
    fit = kn.identify(make_bar(0.5, 0.25), {"t": t, "x": swing + noise}, measure={"pin.q": "x"}, free=["J"])
    assert abs(fit["J"] - 0.4) < 4 * fit.sigma["J"] < 0.01 and not fit.at_edge
    # A swing that is faster than a point mass there would be asks for less than m a^2 = 0.5 kg m^2.
    short = kn.simulate(make_bar(0.51, 0.5), 3.0, times=t)["pin.q"]
    data = {"t": t, "x": np.interp(1.05 * t, t, short)}
    fit = kn.identify(make_bar(0.7, 0.5), data, measure={"pin.q": "x"}, free=["J"])
    assert fit["J"] == pytest.approx(0.5, rel=1e-3)
    (edge,) = fit.at_edge
    assert "rod.inertia: no body has it: zz about the origin" in edge and "at least m (x^2 + y^2) = 0.5 kg*m^2" in edge
    assert "rests at the edge of what is possible" in str(fit)


def test_bounds_hold(pendulum):
    fit = kn.identify(pendulum, record(pendulum), free={"L": ("0.4 m", "55 cm"), "m": None}, **COLUMNS)
    assert fit["L"] == pytest.approx(0.55) and "L is at its bound" in fit.notes
    assert not fit.at_edge


def test_files_datasets_and_reports(pendulum, tmp_path):
    data = record(pendulum)
    path = tmp_path / "log.csv"
    rows = zip(1e3 * T, data["angle_deg"], data["u_mNm"], strict=True)
    path.write_text("\n".join(["time [ms];angle [deg];u", *(";".join(map(repr, map(float, row))) for row in rows)]))
    angle = ("time", data["angle_deg"], {"units": "deg"})
    dataset = xarray.Dataset({"angle": angle, "u": ("time", data["u_mNm"])}, {"time": T})
    options = {"measure": {"pin.q": "angle"}, "inputs": {"torque": "u mN*m"}, "free": ["L"]}
    options["parameters"] = {"m": 1.0, "c": 0.08}
    fits = [kn.identify(pendulum, each, **options) for each in (path, dataset)]
    assert fits[0]["L"] == pytest.approx(fits[1]["L"], rel=1e-9) and fits[0]["L"] == pytest.approx(0.6, rel=0.01)
    assert fits[0].plot(file=tmp_path / "fit.png") and (tmp_path / "fit.png").stat().st_size > 10_000
    text = fits[0].report(tmp_path / "out").read_text()
    assert "Correlation" not in text and "rms of residuals" in text and "log.csv" in text


LOGS = {
    "mapping": lambda t, angle, push: {"t": t, "angle": np.degrees(angle), "u": push},
    "units in headings": lambda t, angle, push: {"time ms": 1e3 * t, "angle/deg": np.degrees(angle), "u (N*m)": push},
    "durations": lambda t, angle, push: pandas.DataFrame(
        {"angle": np.degrees(angle), "u": push}, index=pandas.to_timedelta(t, unit="s")
    ),
    "dates": lambda t, angle, push: pandas.DataFrame(
        {"angle": np.degrees(angle), "u": push}, index=pandas.Timestamp("2026-11-19") + pandas.to_timedelta(t, unit="s")
    ),
    "index": lambda t, angle, push: pandas.DataFrame(
        {"angle [deg]": np.degrees(angle), "u": push}, index=pandas.Index(1e3 * t, name="Zeit [ms]")
    ),
    "dimension": lambda t, angle, push: xarray.Dataset(
        {"angle": ("t", np.degrees(angle)), "u": ("t", push)}, {"t": ("t", 1e3 * t, {"units": "ms"})}
    ),
    "words": lambda t, angle, push: xarray.Dataset(
        {"angle": ("t", np.degrees(angle), {"units": "degrees"})}, {"t": ("t", t, {"units": "seconds"})}
    ),
}


@pytest.mark.parametrize("kind", LOGS)
def test_the_unit_of_times_counts_wherever_it_stands(pendulum, kind):
    run = kn.simulate(pendulum, 2.0, times=T, inputs={"torque": (T, PUSH)}, parameters=TRUE)
    (each,) = read_records(LOGS[kind](T, run["pin.q"], PUSH))
    np.testing.assert_allclose(each.t, T, rtol=0, atol=1e-9)  # pandas rounds to 1 ns
    np.testing.assert_allclose(read_channel(each, "angle deg", "rad"), run["pin.q"], rtol=1e-12)
    named = {"x": T, "time min": T / 60.0}
    for text in ("time min", "time", "time [min]", "x s"):
        np.testing.assert_allclose(read_records(named, text)[0].t, T, rtol=1e-12)


def test_times_in_another_unit_are_told_or_questioned(pendulum, tmp_path):
    """A record of 2 s whose times are in ms seems to last 2000 s: 1260 times the pendulum's period of 1.6 s."""
    data = record(pendulum)
    path = tmp_path / "log.csv"
    rows = zip(1e3 * T, data["angle_deg"], data["u_mNm"], strict=True)
    path.write_text("\n".join(["Zeit_ms,angle,u", *(",".join(map(repr, map(float, row))) for row in rows)]))
    options = {"measure": {"pin.q": "angle deg"}, "inputs": {"torque": "u mN*m"}, "free": ["L"]}
    options["parameters"] = {"m": 1.0, "c": 0.08}
    with (
        pytest.warns(UserWarning, match="write time='Zeit_ms ms', and 'Zeit_ms s' if not"),
        pytest.raises(kn.ArgumentError, match=r"lasts 2000 s by its times, .* about 1\.6 s; .* time='Zeit_ms ms'"),
    ):
        kn.identify(pendulum, path, **options)
    fit = kn.identify(pendulum, path, time="Zeit_ms ms", **options)
    assert fit["L"] == pytest.approx(0.6, rel=0.01)
    with pytest.raises(kn.ArgumentError, match="'V' is no unit of what is measured in s"):
        kn.identify(pendulum, path, time="Zeit_ms V", **options)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"free": ["M"]}, "no parameter or number is called 'M'"),
        ({"free": []}, "names of parameters"),
        ({"free": ["pin.axis.x"]}, "pin.axis.x"),
        ({"measure": {"pin.q": "angel_deg deg"}}, "no column is called 'angel_deg'; did you mean angle_deg"),
        ({"measure": {"pin.q": "angle_deg V"}}, "'V' is no unit of what is measured in rad"),
        ({"measure": {"bob.position": "angle_deg"}}, "several components"),
        ({"inputs": {"toque": "u_mNm"}}, "no input is called 'toque'"),
        ({"inputs": {"torque": "u_mNm V"}}, "V"),
        ({"noise": {"pin.q": -1}}, "a positive number"),
        ({"noise": {"pin.u": 1}}, "not among what is measured"),
        ({"noise": {"pin.q": "5deg"}}, "number and unit stand apart: write '5 deg' for a quantity; for a product"),
        ({"noise": {"pin.q": "5"}}, "'5' has no unit: '5 deg', or '5 rad'?"),
        ({"noise": {"pin.q": "5 mm"}}, "noise: 'mm' is no unit of what is measured in rad"),
        ({"loss": "square"}, "none of linear"),
        ({"starts": 0}, "starts: a whole number from 1"),
        ({"free": {"L": ("0.7 m", "0.8 m")}}, "is not within its bounds"),
        ({"data": {"angle_deg": T}}, "no column is called t or time"),
        ({"data": {"t": T[::-1], "angle_deg": T, "u_mNm": T}}, "times must rise"),
        ({"data": "nowhere.csv"}, "nowhere.csv"),
        ({"samples": 5}, "no argument is called 'samples'"),
    ],
)
def test_what_is_wrong_is_named(pendulum, change, words):
    arguments = {"data": record(pendulum), "free": ["L"], **COLUMNS, **change}
    with pytest.raises(kn.Error) as error:
        kn.identify(pendulum, arguments.pop("data"), **arguments)
    assert words in str(error.value)
