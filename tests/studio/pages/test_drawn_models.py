"""Whole models drawn from nothing in a real browser, with mouse and keyboard: run, read, saved, and loaded again."""

import numpy as np
import pytest
from player_pages import ROOT
from studio_hands import studio

import kinode as kn
from known import circuit as known

LARGE = {"width": 1440, "height": 1000}


@pytest.fixture(autouse=True)
def own_state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def large(make_page):
    page = make_page(**LARGE)
    page.set_default_timeout(10_000)
    return page


@pytest.fixture
def empty(tmp_path):
    """A model that is not there yet."""
    return tmp_path / "manipulator.yaml"


def draw_manipulator(hands):
    hands.drag_from_palette("body", -60, -60)
    hands.wait_for_part("body")
    hands.rename("body", "SB1")
    for field, value in {"shape": "", "mass": "8 kg", "inertia": "[0.02, 0.26, 0.27]", "frames": "{link1: [-0.28, -0.01, 0], link2: [0.32, 0.02, 0]}"}.items():
        hands.set(field, value)
    hands.add("body")
    hands.wait_for_part("body")
    hands.rename("body", "SB2")
    for field, value in {"shape": "", "mass": "5 kg", "inertia": "[0.01, 0.105, 0.11]", "frames": "{link1: [-0.22, 0.015, 0], link2: [0.28, -0.01, 0]}"}.items():
        hands.set(field, value)
    hands.add("revolute", "world", "SB1.link1")
    hands.wait_for_part("revolute")
    hands.rename("revolute", "KN1")
    hands.set("q", "0.3 rad")
    hands.add("revolute", "SB1.link2", "SB2.link1")
    hands.wait_for_part("revolute")
    hands.rename("revolute", "KN2")
    hands.set("q", "0.9 rad")
    hands.set("u", "-0.4 rad/s")
    hands.add("speed_source")
    print(hands.text)
    print(hands.problems())


def test_the_manipulator(large, empty):
    with studio(large, empty) as hands:
        try:
            draw_manipulator(hands)
        finally:
            large.screenshot(path="/tmp/drawnx/a.png")
            print(large.evaluate("()=>kinodeStudio.document.text"))
