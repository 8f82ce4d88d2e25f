"""kn.sweep gives what single runs give, whoever makes them and in whatever order."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import kinode as kn
from kinode.studies.axes import read_axes
from kinode.studies.design import make_design
from kinode.studies.worker import FAILURE, StudyPlan, make_packed_chunk

FORCE = "elbow.reaction.force"


@pytest.fixture(scope="module")
def arm():
    return kn.compile(kn.load("examples/double_pendulum.yaml"))


@pytest.fixture(scope="module")
def grid(arm):
    over = {"elbow.q": [0.0, 0.4], "shoulder.q": ["10 deg", "40 deg", "70 deg"]}
    return kn.sweep(arm, over, 0.5, keep=[f"{FORCE}|peak", "elbow.u|rms", "shoulder.reaction.force.y|peak"])


def single(arm, elbow, shoulder, **more):
    return kn.simulate(arm, 0.5, start={"elbow.q": elbow, "shoulder.q": shoulder}, **more)


def test_results_are_those_of_single_runs_bit_for_bit(arm, grid):
    assert grid[f"{FORCE}|peak"].dims == ("elbow.q", "shoulder.q")
    for k, elbow in enumerate((0.0, 0.4)):
        for j, shoulder in enumerate(("10 deg", "40 deg", "70 deg")):
            run = single(arm, elbow, shoulder)
            sizes = np.linalg.norm(run[FORCE], axis=1)
            assert grid[f"{FORCE}|peak"].values[k, j] == sizes.max()
            part = run["shoulder.reaction.force"][:, 1]
            assert grid["shoulder.reaction.force.y|peak"].values[k, j] == part[np.argmax(np.abs(part))]


def test_coordinates_are_in_si_with_units(grid):
    assert grid["shoulder.q"].values == pytest.approx(np.radians([10, 40, 70]))
    assert grid.units("shoulder.q") == "rad"
    assert grid.units(f"{FORCE}|peak") == "N"
    assert grid.counts == {"done": 6}


def test_order_threads_and_executors_do_not_matter(arm, grid):
    over = {"elbow.q": [0.0, 0.4], "shoulder.q": ["10 deg", "40 deg", "70 deg"]}
    keep = [f"{FORCE}|peak", "elbow.u|rms", "shoulder.reaction.force.y|peak"]
    with ThreadPoolExecutor(2) as pool:
        for on, workers in (("threads", 1), (pool, None)):
            again = kn.sweep(arm, over, 0.5, keep=keep, on=on, workers=workers)
            assert again.data.identical(grid.data)


def test_processes_give_the_same_bits(arm, grid):
    over = {"elbow.q": [0.0, 0.4], "shoulder.q": ["10 deg", "40 deg", "70 deg"]}
    keep = [f"{FORCE}|peak", "elbow.u|rms", "shoulder.reaction.force.y|peak"]
    again = kn.sweep(arm, over, 0.5, keep=keep, on="processes", workers=2)
    assert again.data.identical(grid.data)


def test_quantity_over_time_is_kept_at_the_times_of_the_run(arm):
    study = kn.sweep(arm, {"elbow.q": [0.0, 0.4]}, 0.5, keep=["elbow.q", FORCE, "elbow.q|final"], samples=11)
    run = kn.simulate(arm, 0.5, start={"elbow.q": 0.4}, samples=11)
    assert study["elbow.q"].dims == ("elbow.q (value)", "time")
    assert np.array_equal(study["elbow.q"].values[1], run["elbow.q"])
    assert study[FORCE].shape == (2, 11, 3)
    assert np.array_equal(study[FORCE].values[1], run[FORCE])
    assert np.array_equal(study["time"].values, run.t)


def test_without_times_a_course_has_many(arm):
    study = kn.sweep(arm, {"elbow.q": [0.1]}, 0.5, keep=["elbow.u"])
    assert study["elbow.u"].sizes["time"] == 501
    assert "501 times" in str(study)


def test_run_that_fails_is_a_row_and_not_an_error(arm):
    study = kn.sweep(arm, {"rtol": [1e-8, 5.0]}, 0.2, keep=f"{FORCE}|peak")
    assert study.counts == {"done": 1, "failed": 1}
    (failure,) = study.failures
    assert failure["rtol"] == 5.0
    assert "rtol" in failure["message"]
    assert np.isnan(study[f"{FORCE}|peak"].values[1])
    assert "failed at rtol = 5" in str(study)


def test_methods_and_whole_models_are_axes():
    over = {"model": ["examples/double_pendulum.yaml", "examples/pendulum.yaml"], "method": ["dopri5", "dop853"]}
    study = kn.sweep(None, over, 0.3, keep=["system.energy|final"])
    values = study["system.energy|final"]
    assert values.dims == ("model", "method")
    for name in over["model"]:
        run = kn.simulate(name, 0.3, method="dop853")
        assert values.sel({"model": name.rpartition("/")[2], "method": "dop853"}) == run["system.energy"][-1]


def test_python_function_of_the_run(arm):
    def steps(run):
        return run.facts["steps"]

    study = kn.sweep(arm, {"rtol": [1e-4, 1e-10]}, 0.5, keep=steps)
    assert study["steps"].values[0] < study["steps"].values[1]


def test_parameters_and_inputs_that_all_runs_share():
    crank = kn.compile(kn.load("examples/slider_crank.yaml"))
    keep = "main.reaction.force|peak"
    shared = kn.sweep(crank, {"rtol": [1e-8]}, "5 ms", keep=keep, parameters={"n": "1000 rpm"})
    varied = kn.sweep(crank, {"n": ["1000 rpm", "2000 rpm"]}, "5 ms", keep=keep)
    assert shared[keep].values[0] == varied[keep].values[0] != varied[keep].values[1]


def test_samples_by_rows_and_table(arm):
    pandas = pytest.importorskip("pandas")
    rows = [{"elbow.q": 0.1, "shoulder.q": 0.2}, {"elbow.q": "10 deg", "shoulder.q": 0.3}]
    listed = kn.sweep(arm, rows, 0.2, keep="elbow.u|peak")
    table = pandas.DataFrame({"elbow.q": [0.1, np.radians(10.0)], "shoulder.q": [0.2, 0.3]})
    assert listed["elbow.u|peak"].dims == ("run",)
    assert kn.sweep(arm, table, 0.2, keep="elbow.u|peak").data.identical(listed.data)
    headed = pandas.DataFrame({"elbow.q [deg]": np.degrees([0.1, np.radians(10.0)]), "shoulder.q / rad": [0.2, 0.3]})
    again = kn.sweep(arm, headed, 0.2, keep="elbow.u|peak")
    np.testing.assert_allclose(again["elbow.u|peak"], listed["elbow.u|peak"], rtol=1e-9)
    with pytest.raises(kn.Error, match="mm"):
        kn.sweep(arm, pandas.DataFrame({"elbow.q mm": [0.1, 0.2]}), 0.2, keep="elbow.u|peak")


def test_best_run_compares_peaks_by_size(grid):
    best = grid.best(f"{FORCE}|peak")
    assert best[f"{FORCE}|peak"] == grid[f"{FORCE}|peak"].values.min()
    worst = grid.best("shoulder.reaction.force.y|peak", largest=True)
    assert abs(worst["shoulder.reaction.force.y|peak"]) == np.abs(grid["shoulder.reaction.force.y|peak"].values).max()


def test_evaluate_takes_and_gives_matrices(grid):
    X = [[0.4, np.radians(40.0)], [0.0, np.radians(70.0)]]
    Y = grid.evaluate(X)
    assert grid.names == ("elbow.q", "shoulder.q")
    assert Y.shape == (2, 3)
    assert Y[0, 0] == pytest.approx(grid[f"{FORCE}|peak"].values[1, 1], rel=1e-12)
    with pytest.raises(kn.ArgumentError, match="rows of 2 values"):
        grid.evaluate([[1.0]])


def test_quantile_is_a_share_of_the_time(arm):
    study = kn.sweep(arm, {"elbow.q": [0.3]}, 1.0, keep=["elbow.q|quantile(0.5)", "elbow.q|quantile(1)"], samples=2001)
    run = kn.simulate(arm, 1.0, start={"elbow.q": 0.3}, samples=2001)
    assert study["elbow.q|quantile(0.5)"].item() == pytest.approx(np.median(run["elbow.q"]), abs=2e-3)
    assert study["elbow.q|quantile(1)"].item() == run["elbow.q"].max()


def test_orders_and_life_of_a_rotor():
    rotor = kn.compile(kn.load("examples/rotor.yaml"))
    keep = ["shaft.reaction.force|order(1)", "shaft|life(25 kN, -15 cm, 15 cm)"]
    study = kn.sweep(rotor, {"rtol": [1e-8]}, 0.04, keep=keep, samples=801)
    run = kn.simulate(rotor, 0.04, samples=801)
    least = min(bearing.life("25 kN").hours for bearing in run.bearings("shaft", at=("-15 cm", "15 cm")))
    assert study[keep[1]].item() == least
    assert study.units(keep[1]) == "h"
    spectrum = run.spectrum("shaft", "total", over="turns")
    near = np.abs(spectrum.abscissa - 1.0) <= spectrum.resolution / 2
    assert study[keep[0]].item() == spectrum.amplitude[near].max() > 0.0


@pytest.mark.parametrize("over, more, words", [
    ({"elbow.k": [1.0]}, {}, "elbow.k: neither a parameter nor an input"),
    ({"elbow.q": 1.0}, {}, "elbow.q: a list of values is expected"),
    ({"elbow.q": [[1.0, 2.0]]}, {}, "list of single values"),
    ({"elbow.q": ["1 kg"]}, {}, "elbow.q"),
    ({}, {}, "nothing varies"),
    ({"elbow.q": [1.0]}, {"sampels": 3}, "sampels is no field"),
    ({"elbow.q": [1.0]}, {"keep": []}, "what of each run"),
    ({"elbow.q": [1.0]}, {"keep": "elbow.q|pek"}, "did you mean peak"),
    ({"elbow.q": [1.0]}, {"keep": "elbow.q|quantile(2)"}, "share of the time"),
    ({"elbow.q": [1.0]}, {"keep": ["elbow.q|peak", "elbow.q|peak"]}, "stands twice"),
    ({"until": [1.0, 2.0]}, {"keep": "elbow.q"}, "until varies"),
    ({"elbow.q": [1.0]}, {"on": "thread"}, "none of threads, processes"),
    ({"elbow.q": [1.0]}, {"workers": 0}, "workers"),
    ({"elbow.q": [1.0]}, {"seed": -1}, "seed"),
])  # fmt: skip
def test_what_is_wrong_is_said_by_name(arm, over, more, words):
    arguments = {"keep": "elbow.q|peak", **more}
    with pytest.raises((kn.ArgumentError, kn.ModelError), match=words):
        kn.sweep(arm, over, 0.1, **arguments)


def test_progress_may_end_a_study(arm):
    seen = []

    def progress(done):
        seen.append(done)
        return len(seen) < 3

    over = {"elbow.q": np.linspace(0, 1, 4000)}
    study = kn.sweep(arm, over, 20.0, keep="elbow.u|peak", progress=progress, workers=1)
    counts = study.counts
    assert 0 < counts["not run"] < 4000 and counts["not run"] + counts["done"] == 4000
    assert np.isfinite(study["elbow.u|peak"].values).sum() == counts["done"]
    assert "not run" in str(study)
    seen.clear()
    alone = kn.sweep(arm, over, 0.1, keep=lambda run: run.facts["steps"], progress=progress, workers=1)
    assert alone.counts == {"not run": 3997, "done": 3}


def test_ctrl_c_gives_what_is_done(arm):
    def stopped(run):
        if run["elbow.q"][0] > 0.5:
            raise KeyboardInterrupt
        return 1.0

    for more in ({}, {"method": "rk4", "step": 1e-3}):  # one by one, and in lanes
        study = kn.sweep(arm, {"elbow.q": np.linspace(0, 1, 11)}, 0.01, keep=stopped, workers=1, **more)
        assert study.counts == {"done": 6, "not run": 5}


def test_fault_of_a_function_is_a_row(arm):
    def divided(run):
        return 1.0 / int(run["elbow.q"][0] > 0.5)

    for more in ({}, {"method": "rk4", "step": 1e-3}):  # one by one, and in lanes
        study = kn.sweep(arm, {"elbow.q": np.linspace(0, 1, 10)}, 0.01, keep=divided, **more)
        assert study.counts == {"done": 5, "failed": 5}
        assert "ZeroDivisionError" in study.failures[0]["message"]


def test_initial_values_beside_a_whole_state_are_refused(arm):
    state = kn.simulate(arm, 0.1).end
    study = kn.sweep(arm, {"elbow.q": [0.1]}, 0.2, keep="elbow.u|peak", start=state)
    assert "the start is a whole state" in study.failures[0]["message"]
    later = kn.sweep(arm, {"rtol": [1e-8]}, 0.2, keep="elbow.u", start=state, samples=3)
    assert later["time"].values.tolist() == pytest.approx([0.1, 0.15, 0.2])


def test_chunk_that_kills_its_workers_is_given_up_alone(arm, monkeypatch):
    """An executor whose workers die at one chunk: the other chunks are made, that one says so."""
    from concurrent.futures import Future, ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    from kinode.studies import worker

    class Mortal(ThreadPoolExecutor):
        def submit(self, function, packed, first, columns):
            assert function is make_packed_chunk
            if first <= 3 < first + len(columns["elbow.q"]):
                future = Future()
                future.set_exception(BrokenProcessPool("a process died"))
                return future
            return super().submit(function, packed, first, columns)

    assert ProcessPoolExecutor is worker.ProcessPoolExecutor
    monkeypatch.setattr(worker, "_make_pool", lambda count: Mortal(count))
    study = kn.sweep(arm, {"elbow.q": np.linspace(0, 1, 16)}, 0.1, keep="elbow.u|peak", on="processes", workers=2)
    lost = study.data["status"].values == FAILURE
    assert lost[3] and lost.sum() < 8
    assert "worker died" in study.failures[0]["message"]
    assert np.isfinite(study["elbow.u|peak"].values[~lost]).all()


def test_what_is_sent_does_not_grow_with_the_table(arm):
    """A chunk comes with its own values: the plan is the same for ten rows and for ten thousand."""
    sizes = []
    for count in (10, 10_000):
        axes = read_axes([arm], ["arm"], {"elbow.q": np.linspace(0, 1, count)}, False)
        design = make_design(axes, "rows", None, 0)
        plan = StudyPlan((arm.system,), ("arm",), 0.1, None, {}, ("elbow.u|peak",), 0, design, {})
        sizes.append(len(plan.pack()))
        assert len(design.rows(3, 7)) == 4
    assert sizes[0] == sizes[1]
