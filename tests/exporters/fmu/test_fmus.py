"""FMUs: what is in them, what they do, what they refuse, saved states."""

import shutil
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from compiled_examples import compiled_example
from fmu_pairs import make_pair, start_instance
from mechanisms import bricard

import kinode as kn
from kinode.exporters.fmu import fmu_export, shared_libraries
from kinode.exporters.fmu.fmu_export import pack
from kinode.exporters.fmu.model_description import structured
from kinode.structure import loop_closure
from support import fmu_runs

fmpy = pytest.importorskip("fmpy")
pytestmark = pytest.mark.usefixtures("compiler")

KINDS = ("ModelExchange", "CoSimulation")
QUICK = {"platforms": "host", "optimization": "-O0"}


def made(folder, name, version="2.0", **options):
    """An FMU of an example, unpacked, with its description, which FMPy validates."""
    file = kn.export(compiled_example(name).system, "fmu", folder / f"{name}.fmu", version=version, **QUICK, **options)
    return folder / "unpacked", fmu_runs.unpack(file, folder / "unpacked")


@pytest.fixture(scope="module")
def axis(tmp_path_factory):
    """The axis with friction, backlash, a sampled controller and laws of time."""
    folder = tmp_path_factory.mktemp("axis")
    return made(folder, "backlash_axis", outputs=["elbow.q", "elbow.u", "shaft.u", "gear.mode"])


def driven():
    """A slide with a spring, pushed by an input: a tunable and a bounded parameter."""
    system = kn.System("slide 1", gravity=(0, 0, 0))
    stiffness = system.parameter("k", "100 N/m", bounds=("10 N/m", "1000 N/m"), note="of the spring")
    push = system.input("push", "2 N")
    block = system.body("block", mass=2)
    system.prismatic("rail", system.world, block, axis="x", q="10 mm", effort=push, stiffness=stiffness, damping=3)
    return system


@pytest.fixture(scope="module")
def slide(tmp_path_factory):
    """The slide as an FMU of version 3.0."""
    folder = tmp_path_factory.mktemp("slide")
    file = kn.export(driven(), "fmu", folder, version="3.0", **QUICK)
    return folder / "unpacked", fmu_runs.unpack(file, folder / "unpacked")


# -- what is in it -----------------------------------------------------------------------------------------------------
def test_variables_of_a_model(slide):
    variables = {x.name: x for x in slide[1].modelVariables}
    stiffness, push, q = variables["k"], variables["push"], variables["rail.q"]
    assert (stiffness.causality, stiffness.variability, stiffness.unit) == ("parameter", "tunable", "N/m")
    assert (float(stiffness.start), float(stiffness.min), float(stiffness.max)) == (100.0, 10.0, 1000.0)
    assert (stiffness.description, push.causality, push.unit) == ("of the spring", "input", "N")
    assert (q.causality, q.unit, float(q.start)) == ("output", "m", 0.01)
    assert variables["der(rail.u)"].derivative.name == "rail.u"
    assert variables["der(rail.u)"].unit == "m/s^2"
    assert slide[1].modelName == "slide 1"
    unit = next(unit for unit in slide[1].unitDefinitions if unit.name == "N")
    assert (unit.baseUnit.kg, unit.baseUnit.m, unit.baseUnit.s) == (1, 1, -2)


def test_dependencies_are_those_of_the_equations(slide):
    of = {x.variable.name: {y.name for y in x.dependencies} for x in slide[1].derivatives}
    assert of == {"der(rail.q)": {"rail.u"}, "der(rail.u)": {"rail.q", "rail.u", "push"}}


def test_structured_names():
    assert structured("elbow.q") == "elbow.q"
    assert structured("tip.position.x@base") == "tip.position.'x@base'"
    assert structured("arm.1.force") == "arm.'1'.force"
    assert structured("schütz.q") is None


def test_archives_hold_no_dates():
    files = {"modelDescription.xml": b"<a/>", "sources/a.c": b"int a;"}
    assert pack(files) == pack(dict(reversed(files.items())))


def test_same_model_gives_same_bytes(tmp_path, slide):
    again = kn.export(driven(), "fmu", tmp_path, version="3.0", **QUICK)
    assert again.name == "slide_1.fmu"
    assert again.read_bytes() == next(slide[0].parent.glob("*.fmu")).read_bytes()


def test_sources_alone_where_there_is_no_compiler(tmp_path, monkeypatch):
    monkeypatch.setattr(shared_libraries, "has_zig", lambda: False)
    monkeypatch.setattr(fmu_export, "has_zig", lambda: False)
    with pytest.warns(kn.ExportWarning, match="a library for .* alone"):
        kn.export(driven(), "fmu", tmp_path)
    monkeypatch.setattr(shared_libraries, "find_host_compiler", lambda: None)
    with pytest.warns(kn.ExportWarning, match="sources alone"):
        file = kn.export(driven(), "fmu", tmp_path)
    with zipfile.ZipFile(file) as archive:
        names = archive.namelist()
    assert not any(name.startswith("binaries") for name in names)
    assert {"sources/fmi2.c", "sources/slide_1.c", "sources/slide_1.h", "sources/fmu_config.h"} <= set(names)
    with pytest.raises(kn.ArgumentError, match=r"linux|host|kinode\[fmu\]"):
        kn.export(driven(), "fmu", tmp_path, platforms="host")


# -- what it does ------------------------------------------------------------------------------------------------------
def test_tunable_parameters_and_inputs_act(slide):
    times = np.array([0.0, 0.5, 0.5, 1.0])
    signal = np.array(list(zip(times, [2.0, 2.0, -1.0, -1.0], strict=True)), dtype=[("time", float), ("push", float)])
    run = kn.simulate(driven(), 1.0, times=[0.37, 1.0], inputs={"push": ([0.0, 0.5], [2.0, -1.0], "held")},
                      parameters={"k": 150.0}, rtol=1e-10, atol=1e-12)  # fmt: skip
    for kind in KINDS:
        result = fmpy.simulate_fmu(
            str(slide[0]), fmi_type=kind, stop_time=1.0, output_interval=0.01, input=signal, output=["rail.q"],
            start_values={"k": 150.0}, relative_tolerance=1e-10, record_events=False,
        )  # fmt: skip
        assert result["rail.q"][37] == pytest.approx(run["rail.q"][0], abs=1e-8)
        assert result["rail.q"][-1] == pytest.approx(run["rail.q"][-1], abs=1e-8)


def test_restored_states_repeat_bit_for_bit(axis):
    fmu = start_instance(axis, "CoSimulation")
    references = [x.valueReference for x in axis[1].modelVariables]

    def go(first):
        for k in range(first, first + 20):
            fmu.doStep(k * 0.0137, 0.0137)
        return fmu.getReal(references)

    go(0)
    state = fmu.getFMUState()
    data = fmu.serializeFMUState(state)
    after = go(20)
    fmu.setFMUState(state)
    assert go(20) == after
    other = fmu.deserializeFMUState(data)
    fmu.setFMUState(other)
    assert go(20) == after
    second = start_instance(axis, "CoSimulation")
    second.setFMUState(second.deserializeFMUState(data))
    fmu, first = second, fmu
    assert go(20) == after
    first.terminate()
    first.freeInstance()


def test_reset_begins_anew(axis):
    fmu = start_instance(axis, "CoSimulation")
    q = next(x.valueReference for x in axis[1].modelVariables if x.name == "elbow.q")
    fmu.doStep(0.0, 0.3)
    there = fmu.getReal([q])
    fmu.reset()
    fmu.setupExperiment(startTime=0.0)
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    fmu.doStep(0.0, 0.3)
    assert fmu.getReal([q]) == there


def test_directional_derivatives_are_those_of_differences(slide):
    fmu = start_instance(slide, "ModelExchange")
    names = {x.name: x.valueReference for x in slide[1].modelVariables}
    known = [names["rail.q"], names["rail.u"], names["push"]]
    unknown = [names["der(rail.q)"], names["der(rail.u)"], names["rail.effort"]]
    found = fmu.getDirectionalDerivative(unknown, known, [1.0, 0.0, 0.0])
    assert found == pytest.approx([0.0, -50.0, -100.0])
    assert fmu.getDirectionalDerivative(unknown, known, [0.0, 1.0, 2.0]) == pytest.approx([1.0, -0.5, -1.0])


# -- what it refuses ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"version": "1.0"}, kn.ArgumentError, '"2.0" or "3.0"'),
        ({"outputs": ["rail.p"]}, kn.LawError, "rail.p|has no"),
        ({"outputs": ["k"]}, kn.ArgumentError, "k is a variable of the FMU already"),
        ({"outputs": "rail.q"}, kn.ArgumentError, "a list of names"),
        ({"inputs": ["pusch"]}, kn.ArgumentError, "push"),
        ({"platforms": ["amiga"]}, kn.ArgumentError, "amiga"),
        ({"method": "rk4"}, kn.ArgumentError, "rk4"),
        ({"colour": "red"}, kn.ArgumentError, "colour"),
    ],
)
def test_wrong_arguments_are_named(options, error, words, tmp_path):
    with pytest.raises(error, match=words):
        kn.export(driven(), "fmu", tmp_path, **{**QUICK, **options})
    assert not list(tmp_path.iterdir())


def test_reactions_that_compliances_share_are_refused_by_name(tmp_path):
    system = kn.load("examples/four_bar.yaml")
    system.change("left", compliance={"axial": 1e-8, "radial": 1e-8})
    with pytest.raises(kn.ArgumentError, match=r"pin\.reaction\.force.*equilibrium alone"):
        kn.export(system, "fmu", tmp_path, outputs=["pin.reaction.force"])


def test_functions_in_python_are_refused_by_name(tmp_path):
    system = driven()
    system.controller("brain", lambda t, x: 0.0, inputs={"x": "rail.q"}, period="10 ms")
    with pytest.raises(kn.ModelError, match=r"brain: it calls a function in Python"):
        kn.export(system, "fmu", tmp_path)


# -- other machines ----------------------------------------------------------------------------------------------------
@pytest.mark.nightly
def test_windows_library_runs_under_wine(tmp_path):
    if not shutil.which("wine"):
        pytest.skip("wine is not installed")
    if not shared_libraries.has_zig():
        pytest.skip("ziglang is not installed")
    host = fmu_runs.run_under_wine(compiled_example("backlash_axis").system, tmp_path, steps=20, length=0.0137)
    folder, description = made(tmp_path / "here", "backlash_axis")
    fmu = start_instance((folder, description), "CoSimulation")
    for k in range(20):
        fmu.doStep(k * 0.0137, 0.0137)
    here = fmu.getReal(list(range(1, 1 + host.shape[1])))
    assert host[-1] == pytest.approx(here, rel=1e-9, abs=1e-9)


@pytest.mark.nightly
def test_all_platforms_from_one_machine(tmp_path):
    if not shared_libraries.has_zig():
        pytest.skip("ziglang is not installed")
    for version in ("2.0", "3.0"):
        every = list(shared_libraries.PLATFORMS)
        first, second = (
            kn.export(driven(), "fmu", tmp_path / name, version=version, platforms=every).read_bytes() for name in "ab"
        )
        assert first == second
        with zipfile.ZipFile(tmp_path / "a") as archive:
            names = [name for name in archive.namelist() if name.startswith("binaries")]
        assert len(names) == (4 if version == "2.0" else 5)


def test_the_command_writes_an_fmu(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "kinode.cli", "export", str(fmu_runs.EXAMPLES / "pendulum.yaml"), "--to", "fmu", "--out",
         str(tmp_path / "p.fmu"), "--output", "pivot.q", "--fmi", "3.0", "--platform", "host"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "FMU" in done.stdout
    description = fmpy.read_model_description(str(tmp_path / "p.fmu"))
    assert [x.name for x in description.modelVariables if x.causality == "output"] == ["pivot.q"]


# -- starts of loops with other parameters -----------------------------------------------------------------------------
def linkage(ground=0.5, **left):
    """A four-bar that hangs from two pins, so far apart."""
    system = kn.System("linkage", gravity=(0, -9.81, 0))
    ground = system.parameter("ground", ground)
    crank, coupler, rocker = (system.body(x, mass=1, com=(0.1, 0, 0), inertia=(0.02,) * 3) for x in ("a", "b", "c"))
    system.revolute("left", system.world, crank, **left)
    system.revolute("pin", crank.at(0.2, 0, 0), coupler, guess="-38 deg")
    system.revolute("right", system.world.at(ground, 0, 0), rocker, guess="52 deg")
    system.revolute("top", coupler.at(0.6, 0, 0), rocker.at(0.4, 0, 0))
    return system


@pytest.mark.parametrize("left", [{"q": 0.9}, pytest.param({"guess": 0.9}, marks=pytest.mark.nightly)])
def test_starts_of_loops_follow_parameters(left, tmp_path):
    """Both versions, both kinds, beside a model that has this number."""
    pair = make_pair(kn.compile(linkage(**left)), tmp_path, {"outputs": ["left.q"]})
    names, own = ["left.q", "pin.q", "right.q", "right.u"], kn.assemble(linkage(**left))
    for made_fmu in pair.values():
        for kind in KINDS:
            result = fmu_runs.simulate(*made_fmu, kind, 0.2, names, start_values={"ground": 0.45})
            end = result["time"][-1]
            run = kn.simulate(linkage(0.45, **left), end, times=[0.0, end], rtol=1e-10, atol=1e-12)
            assert abs(run["pin.q"][0] - own["pin.q"]) > 0.01
            for name in names:
                assert np.allclose(result[name][[0, -1]], run[name], rtol=0, atol=1e-7), (kind, name)


# -- loops whose equations lose their rank -----------------------------------------------------------------------------
@pytest.mark.parametrize("kind", KINDS)
def test_a_loop_goes_on_as_kinode_does_where_its_first_equations_fail(tmp_path, kind):
    """The rows of the start lose their rank at 1.13 s: combinations of all rows go on, in the FMU too."""
    file = kn.export(bricard(), "fmu", tmp_path / "bricard.fmu", **QUICK)
    run = kn.simulate(bricard(), 2.0, every=0.1, rtol=1e-10, atol=1e-12)
    names = ["r0.q", "r2.q"]
    found = fmpy.simulate_fmu(
        str(file), fmi_type=kind, stop_time=2.0, output_interval=0.1, output=names, relative_tolerance=1e-10
    )
    at = [int(np.flatnonzero(abs(found["time"] - t) < 1e-9)[-1]) for t in run.t]
    for name in names:
        np.testing.assert_allclose(found[name][at], run[name], atol=1e-6)


def test_where_the_equations_of_a_loop_fail_it_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(loop_closure, "GROUP_ROWS", 0)  # nothing is combined
    monkeypatch.setattr(fmu_export, "compile_for_export", kn.Dynamics)  # the rows of the start
    file, said = kn.export(bricard(), "fmu", tmp_path / "bricard.fmu", **QUICK), []
    with pytest.raises(Exception, match="fmi2DoStep failed with status 3"):
        fmpy.simulate_fmu(
            str(file), fmi_type="CoSimulation", stop_time=1.5, output_interval=0.5, relative_tolerance=1e-11,
            logger=lambda *given: said.append(given[4].decode()),
        )  # fmt: skip
    assert "at t = 1.1316" in said[0] and "the equations of the loops at r3" in said[0]
    assert "may have lost their rank there" in said[0]
