"""FMUs of all examples in FMPy beside ``kn.simulate``; what is in them, what they refuse, saved states."""

import zipfile

import pytest

import kinode as kn
from support import fmu_runs
from support.compiled_examples import compiled_example
from support.example_counts import is_fixed

fmpy = pytest.importorskip("fmpy")
pytestmark = pytest.mark.skipif(not fmu_runs.has_host_compiler(), reason="no C compiler on this machine")

EXAMPLES = sorted(path.stem for path in fmu_runs.EXAMPLES.glob("*.yaml"))
KINDS = ("ModelExchange", "CoSimulation")
LIMITS = {"ModelExchange": 1e-6, "CoSimulation": 1e-7}
"""Largest difference from ``kn.simulate``, as a share of the range of an output."""
QUICK = {"platforms": "host", "optimization": "-O1"}


def made(folder, name, version="2.0", **options):
    """An FMU of an example, unpacked; its folder and its description, which FMPy validates."""
    file = kn.export(compiled_example(name).system, "fmu", folder / f"{name}.fmu", version=version, **QUICK, **options)
    return folder / "unpacked", fmu_runs.unpack(file, folder / "unpacked")


@pytest.fixture(scope="module")
def axis(tmp_path_factory):
    """The axis with friction, backlash and a sampled controller."""
    return made(tmp_path_factory.mktemp("axis"), "backlash_axis")


@pytest.fixture(scope="module")
def bar(tmp_path_factory):
    """A closed mechanism."""
    return made(tmp_path_factory.mktemp("bar"), "slider_crank", "3.0")


def cases():
    """All examples, in every run one version each; at night both."""
    for k, name in enumerate(EXAMPLES):
        for version in ("2.0", "3.0") if not is_fixed() else (("2.0", "3.0")[k % 2],):
            yield name, version


@pytest.mark.parametrize(("name", "version"), list(cases()))
def test_example_agrees_with_simulate(name, version, tmp_path):
    folder, description = made(tmp_path, name, version)
    dynamics = compiled_example(name)
    compared = fmu_runs.compare_all(dynamics, folder, description, fmu_runs.find_span(name, dynamics.system))
    for kind in KINDS:
        assert compared[kind].error <= LIMITS[kind], (kind, compared[kind])


def test_same_model_gives_same_bytes(tmp_path):
    first, second = (kn.export("examples/pendulum.yaml", "fmu", tmp_path / name, **QUICK).read_bytes() for name in "ab")
    assert first == second
    other = kn.load("examples/pendulum.yaml")
    other.change("bob", mass=2.0)
    third = kn.export(other, "fmu", tmp_path / "c", **QUICK)
    with zipfile.ZipFile(third) as archive:
        token = archive.read("modelDescription.xml")
    with zipfile.ZipFile(tmp_path / "a") as archive:
        assert token != archive.read("modelDescription.xml")
