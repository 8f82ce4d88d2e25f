"""Runs that share their steps in lanes give the numbers of single runs."""

import numpy as np
import pytest

import kinode as kn
from kinode.results.run_quantities import find_sizes
from kinode.studies.fast import fast_runs

TOP = """
kinode: 1
bodies: {top: {mass: 2, com: [0, 0, 0.1], inertia: [0.02, 0.02, 0.01], frames: {head: [0, 0, 0.2]}}}
joints: {tip: {kind: spherical, between: [world, top], u: [0.1, 0.2, 60]}}
parameters: {push: 1 N}
elements: {wind: {kind: force, on: top.head, force: [push*t, 0, 0], expressed_in: world}}
"""


@pytest.fixture
def lane_runs(monkeypatch):
    """The places of the runs that were made in lanes."""
    made, make = [], fast_runs.LaneRuns.make

    def noted(self, starts):
        for k, kept in make(self, starts):
            made.append(k)
            yield k, kept

    monkeypatch.setattr(fast_runs.LaneRuns, "make", noted)
    return made


def peaks(dynamics, name, starts, until, **more):
    found = []
    for start in starts:
        values = kn.simulate(dynamics, until, start=start, method="rk4", step=1e-3, **more)[name]
        sizes = np.abs(values) if values.ndim == 1 else find_sizes(values)
        found.append(values[np.argmax(sizes)] if values.ndim == 1 else sizes.max())
    return found


def test_tree_in_lanes_has_the_bits_of_single_runs(lane_runs):
    arm, angles = kn.compile(kn.load("examples/double_pendulum.yaml")), np.linspace(0.1, 1.0, 11)
    keep = ["elbow.q|peak", "elbow.reaction.force|peak"]
    study = kn.sweep(arm, {"elbow.q": angles}, 0.2, keep=keep, method="rk4", step=1e-3)
    assert len(lane_runs) == 11
    starts = [{"elbow.q": angle} for angle in angles]
    for text in keep:
        assert study[text].values.tolist() == peaks(arm, text.partition("|")[0], starts, 0.2)


def test_quaternions_and_parameters_in_lanes(lane_runs):
    top = kn.compile(kn.loads(TOP))
    pushes = np.linspace(0.0, 5.0, 9).tolist()
    study = kn.sweep(top, {"push": pushes}, 0.3, keep="tip.reaction.force|peak", method="rk4", step=1e-3)
    assert len(lane_runs) == 9
    single = [peaks(top, "tip.reaction.force", [None], 0.3, parameters={"push": push})[0] for push in pushes]
    assert study["tip.reaction.force|peak"].values.tolist() == single


@pytest.mark.parametrize("model, name, more", [
    ("examples/four_bar.yaml", "crank.u", {}),  # a loop
    ("examples/brake_arm.yaml", "pivot.q", {}),  # events
    ("examples/double_pendulum.yaml", "elbow.q", {"samples": 5}),
    ("examples/double_pendulum.yaml", "elbow.q", {"method": "dopri5", "step": None}),
])  # fmt: skip
def test_other_runs_are_made_one_by_one(lane_runs, model, name, more):
    dynamics = kn.compile(kn.load(model))
    options = {"method": "rk4", "step": 1e-3, **more}
    first = next(c.name for c in dynamics.coordinates)
    kn.sweep(dynamics, {first: np.linspace(0.1, 0.2, 8)}, 0.01, keep=f"{first}|final", **options)
    assert not lane_runs


def test_run_that_does_not_stay_finite_says_why_and_leaves_the_others():
    text = TOP.replace("[push*t, 0, 0]", "[push/(0.1 - t), 0, 0]")
    top = kn.compile(kn.loads(text))
    pushes = [0.0] * 7 + [1e308]
    study = kn.sweep(
        top, {"push": pushes}, 0.05, keep="tip.reaction.force|peak", design="rows", method="rk4", step=1e-2
    )
    assert study.counts == {"done": 7, "failed": 1}
    with pytest.raises(kn.SimulationError) as failure:
        kn.simulate(top, 0.05, parameters={"push": 1e308}, method="rk4", step=1e-2)
    assert study.failures[0]["message"] == str(failure.value)


def test_blocks_of_runs(lane_runs, monkeypatch):
    """Runs that do not fit into one block have the same results, each in its place."""
    arm, lengths = kn.compile(kn.load("examples/double_pendulum.yaml")), np.linspace(0.5, 0.9, 61)
    task = {"keep": "elbow.q|final", "method": "rk4", "step": 1e-3}
    whole = kn.sweep(arm, {"L": lengths}, 0.05, **task)
    monkeypatch.setattr(fast_runs, "BLOCK_BYTES", 1)
    blocks = kn.sweep(arm, {"L": lengths}, 0.05, **task)
    assert blocks.data.identical(whole.data)
    assert len(lane_runs) == 2 * len(lengths) and len(set(whole["elbow.q|final"].values)) == len(lengths)
