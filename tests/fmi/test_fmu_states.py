"""FMUs for Model Exchange as parts with states of the system: alone, with errors, with events, in threads and files."""

import copy
import gc
import os
import pickle
import shutil
import zipfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from own_process import in_own_process
from small_fmus import make_fmu

import kinode as kn
from kinode.fmi import fmu_calls_ir as ir
from kinode.fmi.fmu_pool import InstancePool

VERSIONS = [2, 3]
TIGHT = {"rtol": 1e-11, "atol": 1e-13}
MOODY = {"asks": 1e9, "ends": 1e9, "fails": 1e9, "event": -1.0}


def make_lag(version, system=None, name="lag", tau=0.2, **fields):
    system = kn.System("s") if system is None else system
    given = {"inputs": {"u": "sin(3*t)"}, "parameters": {"tau": tau, "lag.gain": 2}, "outputs": ["y"], "events": False}
    system.fmu(name, make_fmu("lag", version), **(given | fields))
    return system


def lagged(t, tau=0.2, gain=2.0, x0=0.25):
    """tau x' + x = gain sin(3 t) from x0."""
    size = gain / (1 + (3 * tau) ** 2)
    steady = size * (np.sin(3 * t) - 3 * tau * np.cos(3 * t))
    return steady + (x0 + size * 3 * tau) * np.exp(-t / tau)


def make_moody(version, **parameters):
    system = kn.System("s")
    system.fmu("moody", make_fmu("moody", version), inputs={"u": "cos(t)"}, parameters=parameters)
    return system


@pytest.mark.parametrize("version", VERSIONS)
def test_its_states_are_states_of_the_system(version):
    system = make_lag(version)
    dynamics = kn.compile(system)
    assert [c.name for c in dynamics.coordinates] == ["lag.x"]
    run = kn.simulate(dynamics, 0.7, every=0.01, **TIGHT)
    np.testing.assert_allclose(run["lag.x"], lagged(run.t), atol=1e-10)
    np.testing.assert_array_equal(run["lag.y"], run["lag.x"])
    np.testing.assert_allclose(run["lag.u"], np.sin(3 * run.t), atol=1e-15)
    assert run["lag.tau"][-1] == 0.2 and run["lag.lag_gain"][0] == 2.0


@pytest.mark.parametrize("version", VERSIONS)
def test_every_method_integrates_it(version):
    dynamics = kn.compile(make_lag(version))
    for method, options in (("stiff", {}), ("rk4", {"step": 1e-3}), ("dopri5", {})):
        run = kn.simulate(dynamics, 0.7, every=0.05, method=method, **({"rtol": 1e-9} | options))
        np.testing.assert_allclose(run["lag.x"], lagged(run.t), atol=1e-7, err_msg=method)


def test_a_start_by_name_is_kept():
    run = kn.simulate(make_lag(2), 0.1, start={"lag.x": 3.0})
    assert run["lag.x"][0] == 3.0


@pytest.mark.parametrize("version", VERSIONS)
def test_several_instances_with_parameters_of_their_own(version):
    system = kn.System("s")
    system.parameter("tau", 0.3)
    make_lag(version, system, "one", tau=0.1)
    make_lag(version, system, "two", tau="2*tau")
    make_lag(version, system, "three", tau="tau", inputs={"u": "one.y + two.y"})
    dynamics = kn.compile(system)
    run = kn.simulate(dynamics, 1.0, every=0.1, **TIGHT)
    np.testing.assert_allclose(run["one.x"], lagged(run.t, 0.1), atol=1e-9)
    np.testing.assert_allclose(run["two.x"], lagged(run.t, 0.6), atol=1e-9)
    other = kn.simulate(dynamics, 1.0, every=0.1, parameters={"tau": 0.2}, **TIGHT)
    np.testing.assert_allclose(other["two.x"], lagged(other.t, 0.4), atol=1e-9)
    again = kn.simulate(dynamics, 1.0, every=0.1, **TIGHT)
    np.testing.assert_array_equal(again["three.x"], run["three.x"])


@pytest.mark.parametrize("version", VERSIONS)
def test_derivatives_without_those_of_the_fmu_are_differences(version):
    """The lag gives none itself: x' = (gain u - x)/tau, by x, u and tau."""
    system = kn.System("s")
    system.parameter("tau", 0.25)
    system.input("drive", 0.0)
    make_lag(version, system, tau="tau", inputs={"u": "drive + 0.1*t"})
    dynamics = kn.compile(system)
    linear = kn.linearize(dynamics, outputs="lag.y", anywhere=True)
    np.testing.assert_allclose(linear.A, [[-4.0]], rtol=1e-9)
    np.testing.assert_allclose(linear.B, [[8.0]], rtol=1e-9)
    np.testing.assert_allclose(linear.C, [[1.0]], rtol=1e-9)
    by_tau = dynamics.derivatives(0.0, [], [], z=[0.5], of="rate", by=("tau", "t"))
    np.testing.assert_allclose(by_tau.matrix, [[0.5 / 0.25**2, 2 * 0.1 / 0.25]], rtol=1e-7)


def test_second_derivatives_are_refused_by_name():
    dynamics = kn.compile(make_lag(2))
    with pytest.raises(kn.ArgumentError, match="second_derivatives: lag is an FMU, of which first derivatives alone"):
        dynamics.second_derivatives(0.0, [], [], z=[0.5], of="rate", along={"t": 1})


def test_the_tape_in_plain_python_gives_the_same():
    from kinode.jit.program import interpret
    from kinode.kernels.kernel_options import Kernel

    dynamics = kn.compile(make_lag(2))
    program = dynamics.kernels.program(Kernel("rate"))
    arrays = {name: np.zeros(max(1, size)) for name, size in program.sizes.items()} | {"out": np.zeros(1)}
    arrays["t"][:], arrays["z"][:] = 0.3, 0.7
    interpret(program, arrays)
    assert arrays["out"][0] == dynamics.rate(0.3, [0.7])[0] == pytest.approx((2 * np.sin(0.9) - 0.7) / 0.2, rel=1e-15)


def test_batches_compute_in_lanes_and_threads():
    dynamics = kn.compile(make_lag(2))
    t, x = np.linspace(0, 3, 500), np.linspace(-1, 1, 500)
    rates = dynamics.rate(t, x[:, None])
    np.testing.assert_allclose(rates[:, 0], (2 * np.sin(3 * t) - x) / 0.2, rtol=1e-12, atol=1e-12)


# -- circles ---------------------------------------------------------------------------------------
def test_a_circle_through_feedthrough_is_refused_by_name():
    system = kn.System("s")
    system.fmu("a", make_fmu("moody", 2), inputs={"u": "b.y"})
    system.fmu("b", make_fmu("moody", 2), inputs={"u": "0.5*a.y"})
    with pytest.raises(kn.ModelError, match=r"depends on itself: .*a\.y -> .*b\.y"):
        kn.compile(system)


def test_a_circle_through_states_is_none():
    system = kn.System("s")
    system.fmu("a", make_fmu("moody", 2), inputs={"u": "-b.x"})
    system.fmu("b", make_fmu("moody", 2), inputs={"u": "a.y"})
    run = kn.simulate(system, 1.0, every=0.1, **TIGHT)
    # a' = -b - a, b' = a + (-b) - b
    values, vectors = np.linalg.eig(np.array([[-1.0, -1.0], [1.0, -2.0]]))
    parts = np.linalg.solve(vectors, np.ones(2))
    exact = np.real(np.exp(np.outer(run.t, values)) * parts @ vectors.T)
    np.testing.assert_allclose(np.stack([run["a.x"], run["b.x"]], 1), exact, atol=1e-9)


# -- events and errors -----------------------------------------------------------------------------
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("method", [None, "stiff", "rk4"])
def test_an_fmu_that_asks_for_an_event_it_may_not_have_stops_the_run(version, method):
    options, system = {"step": 0.01} if method == "rk4" else {}, make_moody(version, asks=0.5)
    system.change("moody", events=False)
    with pytest.raises(kn.SimulationError, match=r"moody stops the run: the FMU moody_\d\.fmu asks for an event") as e:
        kn.simulate(system, 2.0, method=method, **options)
    assert "events=True lets it have events, or give a period=" in str(e.value)
    assert 0.5 <= e.value.run.t[-1] < 2.0 and e.value.run["moody.x"][0] == 1.0, "what it had until then is there"


def test_an_fmu_that_asks_for_the_end_stops_the_run():
    with pytest.raises(kn.SimulationError, match=r"moody stops the run: .* asks for the end of the run"):
        kn.simulate(make_moody(2, ends=0.5), 2.0)


@pytest.mark.parametrize("version", VERSIONS)
def test_an_error_in_a_run_stops_it_with_what_it_had(version):
    with pytest.raises(
        kn.SimulationError, match=r"moody.*does not give its derivatives.*it says: enough is enough"
    ) as e:
        kn.simulate(make_moody(version, fails=0.5), 2.0, every=0.1)
    t = e.value.run.t
    assert 0.4 <= t[-1] <= 0.5
    good = kn.simulate(make_moody(version), 0.4, every=0.1)
    np.testing.assert_allclose(e.value.run["moody.x"][:5], good["moody.x"], atol=1e-5)


def test_a_time_event_is_refused_with_a_cure():
    system = make_moody(2, event=0.7)
    system.change("moody", events=False)
    with pytest.raises(kn.Error, match=r"moody: the FMU moody_2.fmu has an event at t = 0.7 s, .*events=True lets it"):
        kn.simulate(system, 1.0)
    system.change("moody", events=True)
    assert [event.time for event in kn.simulate(system, 1.0).events] == [pytest.approx(0.7, abs=1e-12)]


def test_what_is_for_samples_alone_is_said():
    file = make_fmu("lag", 2)
    with pytest.raises(kn.ModelError, match=r"lag\.period: is needed: its input turned is no continuous number"):
        kn.System("s").fmu("lag", file, inputs={"turned": 1})
    with pytest.raises(kn.ModelError, match=r"lag\.period: is needed: its output count is no real number of 64 bits"):
        kn.System("s").fmu("lag", file, outputs=["count"], events=False)
    with pytest.raises(kn.ModelError, match=r"lag\.period: is needed: for Co-Simulation"):
        kn.System("s").fmu("lag", file, interface="co_simulation")
    with pytest.raises(kn.ModelError, match=r"lag\.delay: is for an FMU that is sampled"):
        kn.System("s").fmu("lag", file, delay=2)
    with pytest.raises(kn.ModelError, match=r"lag\.outputs: 'x' is its state x"):
        kn.System("s").fmu("lag", file, outputs={"x": "y"})
    with pytest.raises(kn.ModelError, match=r"lag\.inputs: the FMU has no variable 'w'"):
        kn.System("s").fmu("lag", file, inputs={"w": 1})


def test_a_failing_initialization_names_the_part():
    with pytest.raises(
        kn.Error, match=r"lag: the FMU lag_2\.fmu cannot be initialized.*time constant must be positive"
    ):
        kn.simulate(make_lag(2, tau=-1.0), 1.0)


def test_a_missing_library_is_said(tmp_path):
    bare = tmp_path / "bare.fmu"
    with zipfile.ZipFile(make_fmu("lag", 2)) as source, zipfile.ZipFile(bare, "w") as target:
        target.writestr("modelDescription.xml", source.read("modelDescription.xml"))
    system = kn.System("s")
    system.fmu("lag", bare)
    with pytest.raises(kn.Error, match=r"lag: the FMU bare\.fmu cannot be loaded: it holds no library for this"):
        kn.simulate(system, 1.0)


# -- instances -------------------------------------------------------------------------------------
def test_runs_in_threads_have_instances_of_their_own():
    system = kn.System("s")
    system.parameter("tau", 0.2)
    make_lag(2, system, tau="tau")
    dynamics, taus = kn.compile(system), np.linspace(0.1, 0.8, 16)
    kn.simulate(dynamics, 0.1)

    def last(tau):
        return float(kn.simulate(dynamics, 2.0, parameters={"tau": float(tau)}, **TIGHT)["lag.x"][-1])

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(last, taus))
    np.testing.assert_allclose(found, [lagged(2.0, tau) for tau in taus], atol=1e-9)


def test_a_study_sweeps_its_parameter():
    system = kn.System("s")
    system.parameter("tau", 0.2)
    make_lag(2, system, tau="tau")
    taus = [0.1, 0.2, 0.4, 0.8]
    study = kn.sweep(system, {"tau": taus}, 1.0, keep=["lag.x|final"], rtol=1e-10, workers=2)
    np.testing.assert_allclose(study["lag.x|final"], [lagged(1.0, tau) for tau in taus], atol=1e-7)


def test_one_instance_in_a_process_serves_all(monkeypatch):
    system = make_lag(2)
    monkeypatch.setattr("kinode.fmi.fmu_pool.MOST_INSTANCES", 1)
    dynamics = kn.compile(system)
    with ThreadPoolExecutor(4) as pool:
        ends = list(pool.map(lambda _: float(kn.simulate(dynamics, 1.0, **TIGHT)["lag.x"][-1]), range(8)))
    np.testing.assert_allclose(ends, lagged(1.0), atol=1e-9)


def test_no_python_runs_within_a_step(monkeypatch):
    system = make_moody(2)
    dynamics = kn.compile(system)
    kn.simulate(dynamics, 5.0, rtol=1e-9)
    asked, serve = [], InstancePool.serve
    monkeypatch.setattr(InstancePool, "serve", lambda *given: asked.append(given) or serve(*given))
    run = kn.simulate(dynamics, 5.0, rtol=1e-9)
    assert len(run.t) > 20 and len(asked) <= 2, "one instance that begins at the start"


def test_copies_and_processes_make_their_own(tmp_path):
    system = make_lag(2)
    run = kn.simulate(system, 0.5, **TIGHT)
    for other in (copy.deepcopy(system), pickle.loads(pickle.dumps(system))):
        assert other == system
        assert kn.simulate(other, 0.5, **TIGHT)["lag.x"][-1] == run["lag.x"][-1]


@in_own_process
def test_its_files_go_with_the_last_system(tmp_path):
    file = tmp_path / "own.fmu"
    shutil.copy(make_fmu("lag", 3), file)
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("resources/own.txt", "makes it another file")
    system = kn.System("s")
    part = system.fmu("lag", file, inputs={"u": "t"})
    kn.simulate(system, 0.1)
    place = part.file.package.folder.place
    assert os.path.isdir(place)
    del system, part
    for _ in range(3):
        gc.collect()
    assert not os.path.isdir(place)


def test_the_tables_of_calls_have_distinct_places():
    slot = [ir.LOCK, ir.READY, ir.COMPONENT, ir.FLOOR, ir.SET_TIME, ir.SET_STATES, ir.SET_VALUES, ir.GET_RATES]
    slot += [ir.GET_VALUES, ir.GET_ALONG, ir.END_STEP, ir.GET_SIGNS, ir.FAILED, ir.KEY]
    assert slot == list(range(14))


# -- files and exports -----------------------------------------------------------------------------
def test_a_file_keeps_it_and_wants_trust(tmp_path):
    system = make_lag(2)
    system.save(tmp_path / "model.yaml")
    with pytest.raises(kn.Error, match="trust"):
        kn.load(tmp_path / "model.yaml")
    loaded = kn.load(tmp_path / "model.yaml", trust=True)
    assert loaded == system and loaded["lag"].period is None
    assert kn.verify(loaded).ok


@pytest.mark.parametrize("format", ["c", "fmu"])
def test_exports_refuse_it_by_name(format, tmp_path):
    with pytest.raises(kn.ModelError, match="lag: it is an FMU"):
        kn.export(make_lag(2), format, tmp_path / "out")


def test_casadi_refuses_it_by_name():
    pytest.importorskip("casadi")
    with pytest.raises(kn.ModelError, match="lag: it is an FMU, code of others, which CasADi cannot hold"):
        kn.compile(make_lag(2)).to_casadi()


def test_a_period_samples_it_as_before():
    system = make_lag(2, period="10 ms", interface="model_exchange")
    assert not system["lag"].states and system["lag"].clocks
    system.change("lag", period=None, outputs=["y"])
    assert system["lag"].states and not system["lag"].clocks


def test_a_saved_run_is_read_with_trust_alone(tmp_path):
    run = kn.simulate(make_lag(2), 0.5, samples=5)
    run.save(tmp_path / "lag.nc")
    with pytest.raises(kn.Error, match=r"trust=True"):
        kn.Trajectory.load(tmp_path / "lag.nc")
    for again in (kn.Trajectory.load(tmp_path / "lag.nc", trust=True), kn.load(tmp_path / "lag.nc", trust=True)):
        np.testing.assert_array_equal(again["lag.y"], run["lag.y"])
