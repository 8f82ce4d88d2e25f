"""The benchmarks find the models that they measure; peers are not needed for that."""

import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
MECHANISMS = ("andrews", "four_bars_2", "stewart_platform", "spatial_slider_crank")


@pytest.fixture
def loop_models(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
    import loop_models

    return loop_models


@pytest.mark.parametrize("name", MECHANISMS)
def test_mechanisms_are_found(loop_models, name):
    assert name in loop_models.NAMES
    assert loop_models.find_mechanism(name).make().joints
