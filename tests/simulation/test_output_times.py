"""The times at which a run is kept: a list, a number of samples, a spacing; in calls, files and commands."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import kinode as kn

SAMPLES = np.linspace(0.0, 2.0, 5)


def swing(**defaults):
    system = kn.System("swing")
    bar = system.body("bar", mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    system.revolute("pin", system.world, bar, axis="y")
    system.run_defaults = defaults
    return system


def test_each_way_gives_the_same_rows():
    runs = [
        kn.simulate(swing(), 2.0, **given)
        for given in ({"times": list(SAMPLES)}, {"samples": 5}, {"every": 0.5}, {"every": "500 ms"})
    ]
    for run in runs:
        assert np.array_equal(run.t, SAMPLES)
        assert np.array_equal(run.y, runs[0].y)


@pytest.mark.parametrize(
    ("old", "new"), [(5, {"samples": 5}), (np.int64(5), {"samples": 5}), (0.5, {"every": 0.5})]
)  # fmt: skip
def test_the_old_spelling_works_and_warns_with_the_new_one(old, new):
    (word,) = new
    with pytest.warns(FutureWarning, match=rf"old spelling; write {word}=") as caught:
        run = kn.simulate(swing(), 2.0, times=old)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same = kn.simulate(swing(), 2.0, **new)
    assert np.array_equal(run.y, same.y)


@pytest.mark.parametrize("defaults", [{"samples": 5}, {"every": "0.5 s"}, {"times": list(SAMPLES)}])
def test_a_model_may_say_it_and_a_call_otherwise(defaults):
    system = swing(until=2.0, **defaults)
    assert np.array_equal(kn.simulate(system).t, SAMPLES)
    assert len(kn.simulate(system, samples=3)) == 3
    assert len(kn.simulate(system, every="1 s")) == 3
    assert np.array_equal(kn.simulate(system, times=[0.0, 0.1]).t, [0.0, 0.1])


def test_files_keep_it(tmp_path):
    system = swing(until=2.0, every="10 ms")
    system.save(tmp_path / "swing.yaml")
    assert kn.load(tmp_path / "swing.yaml").run_defaults == system.run_defaults == {"until": 2.0, "every": 0.01}
    fields = kn.schema()["properties"]["run"]["properties"]
    assert fields["samples"]["type"] == "integer" and fields["samples"]["minimum"] == 2
    assert "every" in fields


@pytest.mark.parametrize(("defaults", "words"), [
    ({"samples": 1}, "run.samples: takes a whole number of times, 2 or more, not 1"),
    ({"samples": 2.5}, "run.samples: takes a whole number"),
    ({"samples": True}, "run.samples: takes a whole number"),
    ({"every": -1}, "run.every: must be positive"),
    ({"samples": 3, "every": 1}, "run.every: give one of samples, every"),
    ({"times": [0, 1], "samples": 3}, "run.samples: give one of times, samples"),
])  # fmt: skip
def test_a_model_that_says_it_wrongly(defaults, words):
    with pytest.raises(kn.ModelError, match=words):
        swing(**defaults)
