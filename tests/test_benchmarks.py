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
