"""Models in the words of version 0.1 are still read.

``version_0_1/models`` holds the examples of that version as they were; test_stored_files.py reads its runs.
"""

import warnings
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from ruamel.yaml import YAML

import kinode as kn
from kinode.model.base.element import ELEMENTS

HERE = Path(__file__).parent / "version_0_1"


@pytest.fixture
def forgotten_kinds():
    """Kinds that a test registers are forgotten after it."""
    with patch.dict(ELEMENTS):
        yield


@pytest.mark.usefixtures("forgotten_kinds")
def test_plug_ins_in_the_old_words_run_and_warn():
    """A magnet as the documentation of version 0.1 had it, on the way of a slider: x = 1.5 sin(2 t) at first."""
    with pytest.warns(FutureWarning) as told:

        @kn.register("magnet_0_1")
        class Magnet(kn.Element):
            """Pulls a slider to zero; lets go beyond a distance, catches within a shorter."""

            force: float = kn.fields.number("force", "while it holds")
            lets_go: float = kn.fields.number("length", "beyond")
            catches: float = kn.fields.number("length", "within")
            on: object = kn.fields.frame("slider, along x")
            held = (("mode", "dimensionless"),)

            def initial_held(self, resolve):
                return np.ones(1)

            def distance(self, scene):
                return scene.pose(self.on).p[0]

            @property
            def roots(self):
                return (
                    kn.Root("mode", 1, 0, lambda s: s.law(self.lets_go) - self.distance(s)),
                    kn.Root("mode", 0, 1, lambda s: self.distance(s) - s.law(self.catches)),
                )

            def wrenches(self, scene):
                pull = scene.held(self.name)["mode"] * scene.law(self.force)
                return (kn.Load(self.on, np.array([-pull, 0.0, 0.0], dtype=object), np.zeros(3)),)

    words = "\n".join(str(warning.message) for warning in told)
    for old, new in (("held", "discrete_states"), ("roots", "event_functions")):
        assert f"{old} is now called {new}" in words
    rail = kn.System("rail", gravity=(0, 0, 0))
    iron = rail.body("iron", mass=1.0, inertia=(1, 1, 1))
    rail.prismatic("slide", rail.world, iron, axis="x", u="3 m/s", stiffness="4 N/m")
    rail.element("gate", "magnet_0_1", on=iron, force="2 N", lets_go="0.8 m", catches="0.5 m")
    dynamics = kn.compile(rail)
    with pytest.warns(FutureWarning, match=r"scene\.held is now called scene\.discrete_states"):
        rail.elements["gate"].wrenches(dynamics.snapshot(dynamics.initial))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # said once more where no code of it is in the cache
        run = kn.simulate(dynamics, 3.0)
    # with the pull: x = 1.5 sin(2 t) + 0.5 cos(2 t) - 0.5, which is 0.8 m at the first event
    first, second = (event.time for event in run.events)
    assert 1.5 * np.sin(2 * first) + 0.5 * np.cos(2 * first) - 0.5 == pytest.approx(0.8, abs=1e-9)
    at = run["slide.q"][np.argmin(abs(run.t - second))]
    assert at == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("path", sorted((HERE / "models").glob("*.yaml")), ids=lambda path: path.stem)
def test_models_are_read(path):
    system, text = kn.load(path), YAML(typ="safe").load(path)
    assert system.name == text["name"]
    for section in ("parameters", "inputs", "signals", "bodies", "joints", "constraints", "elements"):
        for name in text.get(section, {}):
            assert name in system
    assert kn.compile(system).initial.t == 0.0
