"""Files that version 0.1 wrote, and models in its words, are still read.

``version_0_1/runs`` holds short runs of examples as version 0.1.0 saved them, ``values.json`` what it read from them,
and ``version_0_1/models`` the examples of that version as they were.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from ruamel.yaml import YAML

import kinode as kn

HERE = Path(__file__).parent / "version_0_1"
VALUES = json.loads((HERE / "values.json").read_text())


@pytest.mark.parametrize("name", VALUES)
def test_runs_are_read(name):
    run, known = kn.Trajectory.load(HERE / "runs" / f"{name}.nc"), VALUES[name]
    assert run.status == known["status"]
    assert len(run.events) == known["events"]
    assert run.t[-1] == known["t"][-1]
    assert run.y[-1].tolist() == known["y_end"]
    for quantity in known.keys() - {"t", "y_end", "status", "events"}:
        # computed anew from the stored states by compiled code, which may round in another order
        assert np.ravel(run[quantity][-1]) == pytest.approx(known[quantity], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("path", sorted((HERE / "models").glob("*.yaml")), ids=lambda path: path.stem)
def test_models_are_read(path):
    system, text = kn.load(path), YAML(typ="safe").load(path)
    assert system.name == text["name"]
    for section in ("parameters", "inputs", "signals", "bodies", "joints", "constraints", "elements"):
        for name in text.get(section, {}):
            assert name in system
    assert kn.compile(system).initial.t == 0.0
