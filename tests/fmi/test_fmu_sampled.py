"""FMUs for Co-Simulation as sampled parts: what they compute, and what is said when they cannot."""

import gc
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
from own_process import in_own_process
from small_fmus import describe_2, make_fmu

import kinode as kn
from kinode.fmi import fmu_description


def make_system(version=2, **fields):
    system = kn.System("s")
    system.parameter("T", "0.2 s")
    body = system.body("b", mass=1, inertia=(1, 1, 1))
    system.prismatic("j", system.world, body, axis="x", effort="5*(lag.y - 0.3) - j.u - 2*j.q")
    given = {"inputs": {"u": "sin(3*t)"}, "period": "10 ms", "parameters": {"tau": "T", "lag.gain": 2}}
    system.fmu("lag", make_fmu("lag", version), **{**given, **fields})
    return system


def lag_by_hand(n, period=0.01, tau=0.2, gain=2.0):
    """The output at the ticks, by the FMU's own rule: 100 trapezoidal steps with an input that is constant."""
    x, values, a = 0.25, [], 0.5 * period / 100 / tau
    for k in range(n):
        values.append(x)
        target = gain * np.sin(3 * k * period)
        x = target + (x - target) * ((1 - a) / (1 + a)) ** 100
    return np.array(values)


@pytest.fixture(scope="module", params=[2, 3])
def version(request):
    return request.param


@pytest.fixture(scope="module")
def run(version):
    return kn.simulate(make_system(version), 0.5, every=0.01)


def test_it_is_the_lag_at_its_ticks(run):
    np.testing.assert_allclose(run["lag.y"][:50], lag_by_hand(50), atol=1e-12)


def test_its_inputs_parameters_and_whole_numbers_are_quantities(run):
    assert run["lag.u"][10] == pytest.approx(np.sin(0.3), abs=1e-12)
    assert run["lag.tau"][-1] == 0.2 and run["lag.lag_gain"][-1] == 2
    assert run["lag.count"][20] == 20  # steps taken at the 20th tick after the first


def test_it_acts_on_the_mechanism(run):
    force = 5 * (run["lag.y"] - 0.3) - run["j.u"] - 2 * run["j.q"]
    np.testing.assert_allclose(run["j.effort"], force, atol=1e-12)


def test_runs_are_alike_and_do_not_disturb_each_other(run, version):
    system = make_system(version)
    for _ in range(2):
        assert np.array_equal(kn.simulate(system, 0.5, every=0.01)["j.q"], run["j.q"])


def test_a_parameter_of_the_model_reaches_the_fmu():
    study = kn.sweep(make_system(), {"T": [0.1, 0.4]}, 0.2, keep=["lag.y|final"])
    assert study["lag.y|final"].values == pytest.approx([lag_by_hand(20, tau=T)[-1] for T in (0.1, 0.4)], abs=1e-7)


def test_boolean_inputs_and_other_names():
    system = make_system(inputs={"u": 1, "turned": "t > 0.1"}, outputs={"signal": "y"})
    system.change("j", effort="lag.signal")
    run = kn.simulate(system, 0.3, every=0.01)
    assert run["lag.signal"][5] > 0 > run["lag.signal"][-1]


def test_delay_and_resolution():
    system = make_system(delay=2, resolution=0.25, before=-1.0)
    values = kn.simulate(system, 0.3, every=0.01)["lag.y"]
    assert (values[:2] == -1).all() and set(np.unique(values[2:] % 0.25)) == {0.0}


def test_a_later_run_goes_on_where_the_first_ended():
    system = make_system()
    whole = kn.simulate(system, 0.4, every=0.01)
    first = kn.simulate(system, 0.2, every=0.01)
    second = kn.simulate(system, 0.4, start=first, every=0.01)
    assert second["lag.y"][-1] == pytest.approx(whole["lag.y"][-1], abs=1e-12)
    with pytest.raises(kn.Error, match=r"lag: the FMU lag_2.fmu is not in the state .* goes forwards only"):
        kn.simulate(system, 0.4, start=first)


def test_it_goes_to_other_processes():
    system = pickle.loads(pickle.dumps(make_system()))
    assert kn.simulate(system, 0.1)["lag.y"][-1] == pytest.approx(lag_by_hand(10)[-1], abs=1e-8)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"inputs": {"w": 1}}, r"lag\.inputs: the FMU has no variable 'w'"),
        ({"inputs": {"y": 1}}, r"lag\.inputs: y is no input of the FMU: its causality is output"),
        ({"outputs": ["yy"]}, r"lag\.outputs: the FMU has no variable 'yy'.*did you mean y"),
        ({"outputs": {"ticket": "y"}}, r"'ticket' is no name here"),
        ({"parameters": {"u": 1}}, r"lag\.parameters: u is no parameter"),
        ({"parameters": {"tau": "sin(t)"}}, r"lag\.parameters: no parameter is called 't'"),
        ({"inputs": 3}, r"lag\.inputs: is \{variable of the FMU: value\}, not 3"),
        ({"period": 0}, r"lag\.period: must be positive"),
    ],
)
def test_what_is_wrong_is_said_when_it_is_declared(fields, message):
    with pytest.raises(kn.ModelError, match=message):
        make_system(**fields)


def test_errors_of_the_fmu_come_with_its_own_words(version):
    message = rf"lag: the FMU lag_{version}.fmu cannot be initialized .*; it says: the time constant must be positive"
    with pytest.raises(kn.Error, match=message):
        kn.simulate(make_system(version, parameters={"tau": -1}), 0.1)
    with pytest.raises(kn.Error, match=r"cannot take its step of 0.01 s .*the input is beyond 1000"):
        kn.simulate(make_system(version, inputs={"u": "1e5*t"}), 0.1)


def test_what_machine_code_alone_can_do_refuses_it_by_name(tmp_path):
    for kind in ("c", "fmu"):
        with pytest.raises(kn.ModelError, match="lag: it calls an FMU, which"):
            kn.export(make_system(), kind, tmp_path / kind)
    with pytest.raises(kn.ArgumentError, match="sensitivity: lag is an FMU, which has no derivative"):
        kn.simulate(make_system(), 0.1, sensitivity=["T"])


# -- files -------------------------------------------------------------------------------------------------------------
def test_a_model_file_may_name_one_with_trust_only(tmp_path):
    system = make_system()
    system.save(tmp_path / "model.yaml")
    with pytest.raises(kn.ModelError, match=r"lag\.file.*is code and would run.*trust=True"):
        kn.load(tmp_path / "model.yaml")
    loaded = kn.load(tmp_path / "model.yaml", trust=True)
    assert loaded["lag"] == system["lag"]
    assert "lag_2.fmu" in kn.export(system, "python", tmp_path / "model.py").read_text(encoding="utf-8")


def test_a_change_in_a_file_is_no_back_door(tmp_path):
    make_system().save(tmp_path / "base.yaml")
    text = "kinode: 1\nextends: base.yaml\nchanges: {lag: {file: other.fmu}}\n"
    (tmp_path / "model.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(kn.ModelError, match="trust=True"):
        kn.load(tmp_path / "model.yaml")


def write_fmu(path, entries):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"modelDescription.xml": "", "../out.txt": "x"}, "may lead out of its folder"),
        ({"modelDescription.xml": "", "resources/..\\out.txt": "x"}, "may lead out of its folder"),
        ({"modelDescription.xml": "", "/etc/out.txt": "x"}, "may lead out of its folder"),
        ({"resources/a.txt": "x"}, "there is no modelDescription.xml"),
        ({"modelDescription.xml": "<!DOCTYPE a [<!ENTITY b 'c'>]><a/>"}, "declares entities"),
        (
            {"modelDescription.xml": "<fmiModelDescription fmiVersion='1.0'/>"},
            r"is of FMI 1\.0; versions 2\.0 and 3\.0 are read",
        ),
        ({"modelDescription.xml": "no text of this kind"}, "cannot be read"),
        ({"modelDescription.xml": describe_2("lag")}, "holds no library for this system"),
    ],
)
def test_archives_that_are_refused(tmp_path, entries, message):
    path = write_fmu(tmp_path / "bad.fmu", entries)
    before = set(tmp_path.parent.rglob("out.txt"))
    system = kn.System("s")
    with pytest.raises(kn.Error, match=message) as error:
        system.fmu("lag", path, period=0.01)
        kn.simulate(system, 0.1)
    assert "lag" in str(error.value) and set(tmp_path.parent.rglob("out.txt")) == before


def test_links_and_sizes_are_refused(tmp_path, monkeypatch):
    link = zipfile.ZipInfo("resources/link")
    link.external_attr = 0o120777 << 16
    path = write_fmu(tmp_path / "bad.fmu", {"modelDescription.xml": ""})
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(kn.ModelError, match="is a link"):
        kn.System("s").fmu("lag", path, period=0.01)
    monkeypatch.setattr(fmu_description, "MOST_BYTES", 10)
    path = write_fmu(tmp_path / "large.fmu", {"modelDescription.xml": "x" * 20})
    with pytest.raises(kn.ModelError, match=r"large.fmu is refused: unpacked it has"):
        kn.System("s").fmu("lag", path, period=0.01)


def test_a_file_that_is_none(tmp_path):
    (tmp_path / "text.fmu").write_text("no archive", encoding="utf-8")
    for name, message in (("text.fmu", "is no FMU"), ("none.fmu", "cannot be read")):
        with pytest.raises(kn.ModelError, match=message):
            kn.System("s").fmu("lag", tmp_path / name, period=0.01)


@in_own_process
def test_its_files_go_with_the_system(tmp_path):
    path = tmp_path / "lag.fmu"
    path.write_bytes(Path(make_fmu("lag", 2)).read_bytes() + b"\0")  # of its own: another digest
    system = kn.System("s")
    part = system.fmu("lag", path, period=0.01)
    kn.simulate(system, 0.05)
    place = Path(part.file.package.folder.place)
    assert place.is_dir()
    del system, part
    gc.collect()
    gc.collect()  # what was compiled for the system goes after it
    assert not place.exists()
