"""The benchmarks find the models that they measure; peers are not needed for that."""

import importlib.util
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
MECHANISMS = ("andrews", "four_bars_2", "stewart_platform", "spatial_slider_crank")


@pytest.fixture(scope="module")
def loop_models():
    """The module by its file: the tests have one of the same name."""
    spec = importlib.util.spec_from_file_location("benchmark_loop_models", BENCHMARKS / "loop_models.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.mark.parametrize("name", MECHANISMS)
def test_mechanisms_are_found(loop_models, name):
    assert name in loop_models.NAMES
    assert loop_models.find_mechanism(name).make().joints


def test_stiff_systems_are_found(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    cases = importlib.import_module("stiff_models").find_cases()
    assert [case.system.name for case in cases] == ["door", "soft_pins", "motor_axis"]
    assert all(case.until > 0 for case in cases)


def test_a_million_runs_are_computed_from_what_was_measured(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    million = importlib.import_module("million_runs")
    measured = million.Measured(0.004, 20e3, 48.0, (0.02, 0.0), (0.08, 1e-6), 50.0, 1e-6)
    alone, few, many = (million.estimate(measured, 10**6, cores) for cores in (1, 100, 10_000))
    assert alone.seconds == pytest.approx(4000.0, rel=1e-3) and alone.bound_by == "runs"
    assert 40.0 <= few.seconds < 60.0
    chunks = -(-(10**6) // many.chunk)
    assert many.bound_by == "store" and many.seconds == pytest.approx(0.08 * chunks + 1.0)
    assert many.disk == 50e6 and many.memory == 48e6
    assert million.fit_line((100, 300), (0.03, 0.05)) == pytest.approx((0.02, 1e-4))
    assert [million.tell_time(s) for s in (30.0, 600.0, 86400.0 * 10)] == ["30 s", "10 min", "10 days"]
    assert million.tell_bytes(57.4e9) == "57.4 GB"
