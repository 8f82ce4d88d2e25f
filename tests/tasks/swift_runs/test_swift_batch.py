"""Runs that share what they do give the numbers of single runs to the last bit, and leave the others to them."""

import numpy as np
import pytest

import kinode as kn
from kinode.studies.fast import fast_runs
from kinode.studies.fast.fast_loops import reduce_rows
from kinode.studies.fast.fast_runs import FastRuns, RowTimes, RunMeasures
from kinode.studies.sweep import set_up_study
from kinode.studies.worker import DONE, make_chunk

HARD_TO_MOVE = """
kinode: 1
parameters: {m: 2 kg, L: 0.5 m, half: L/2, start: 0.3}
inputs: {push: 1 N}
bodies: {arm: {mass: m, com: [0, 0, half], inertia: [0.02, 0.02, 0.01], frames: {tip: [0, 0, L]}}}
joints: {pivot: {kind: revolute, between: [world, arm], axis: y, q: start}}
elements: {wind: {kind: force, on: arm.tip, force: [push, 0, 0], expressed_in: world}}
"""
# model, what varies, until, kept, fields, whether a compiled loop makes the runs
CASES = {
    "tree": ("double_pendulum", {"elbow.q": [0.1, 0.4, 0.9]}, 0.3,
             ["elbow.reaction.force|peak", "elbow.q|peak", "elbow.u|least", "shoulder.u|time_of_peak", "elbow.u|final"],
             {}, True),
    "python reducers": ("double_pendulum", {"L": [0.5, 0.6, 0.7]}, 0.3,
                        ["elbow.reaction.force|rms", "elbow.q*elbow.u|mean", "elbow.u|quantile(0.9)", "elbow.q|peak"],
                        {}, True),
    "courses": ("double_pendulum", {"elbow.q": [0.1, 0.4]}, 0.3, ["elbow.reaction.force", "elbow.u", "elbow.u|peak"],
                {"samples": 7}, True),
    "late start": ("double_pendulum", {"elbow.q": [0.1, 0.4]}, 1.3, ["elbow.q|time_of_peak", "elbow.u|final"],
                   {"t0": 1.0, "method": "dop853"}, True),
    "fixed steps": ("double_pendulum", {"elbow.q": [0.1, 0.4]}, 0.1, ["elbow.reaction.force|peak"],
                    {"method": "rk4", "step": 1e-3, "samples": 5}, True),
    "following states": ("excavator", {"boom_length": [5.0, 5.5, 6.0], "digging": [1e4, 6e4, 2e4]}, 3.0,
                         ["boom_pin.reaction.force|peak", "swing.q|final"], {}, True),
    "events": ("backlash_axis", {"play": [1e-3, 2e-3]}, 0.3, ["system.energy|peak", "elbow.u|final"], {}, True),
    "friction": ("brake_arm", {"shoulder.u": [0.5, 1.0]}, 0.4, ["shoulder.q|final", "elbow.reaction.force|peak"],
                 {}, True),
    "loop": ("four_bar", {"left.q": [0.9, 1.0]}, 0.2, ["left.u|peak", "system.energy|least"], {}, False),
    "network": ("motor_axis", {"reach": [0.4, 0.5]}, 0.1, ["elbow.reaction.force|peak"], {}, True),
    "implicit": ("double_pendulum", {"elbow.q": [0.1, 0.4]}, 0.2, ["elbow.reaction.force|peak"],
                 {"method": "stiff"}, True),
    "course of an input": ("pushed", {"L": [0.5, 0.6]}, 0.5,
                           ["pivot.reaction.force|peak", "pivot.q|final", "pivot.reaction.force|rms"],
                           {"inputs": {"push": ([0.0, 0.2, 0.4], [0.0, 6.0, 1.0])}}, True),
}  # fmt: skip


def set_up(model, over, until, keep, **fields):
    """The worker of a study, the values of its runs, and what a compiled loop makes of them."""
    if isinstance(model, str):
        model = kn.compile(kn.loads(HARD_TO_MOVE) if model == "pushed" else kn.load(f"examples/{model}.yaml"))
    worker, _ = set_up_study(model, over, until, keep=keep, design="rows", **fields)
    sets = worker.plan.design.rows(0, len(worker.plan.design))
    ((maker, rows),) = worker.group(sets)
    return worker, sets, FastRuns.find(maker, rows)


def make(runs, threads=1):
    """What is kept of the runs that a loop makes, by their numbers."""
    kept = {}
    assert runs.start(kept.__setitem__, threads).finish(lambda: True)
    return kept


@pytest.mark.parametrize("name", CASES)
def test_shared_runs_have_the_bits_of_single_runs(name):
    model, over, until, keep, fields, compiled = CASES[name]
    worker, sets, runs = set_up(model, over, until, keep, **fields)
    assert compiled == (runs is not None)
    assert runs is None or sorted(make(runs)) == list(range(len(sets)))
    chunk = make_chunk(worker, 0, sets, 2)
    assert (chunk.status == DONE).all()
    for k, values in enumerate(sets):
        single = worker.make(k, values)
        for text, value in single.results.items():
            assert np.array_equal(chunk.results[text][k], value), (text, chunk.results[text][k], value)
    assert len({repr([each[k] for each in chunk.results.values()]) for k in range(len(sets))}) == len(sets)


def test_parameters_that_need_checks_and_calculated_ones():
    system = kn.compile(kn.loads(HARD_TO_MOVE))
    over = {"m": [1.0, -1.0, 2.0], "L": [0.5, 0.4, 0.6], "push": [0.0, 1.0, 2.0], "start": [0.1, 0.2, 0.3]}
    worker, sets, runs = set_up(system, over, 0.1, ["pivot.reaction.force|peak", "pivot.q|least"])
    kept = make(runs)
    assert sorted(kept) == [0, 2]  # a negative mass
    for k in kept:
        assert list(worker.make(k, sets[k]).results.values()) == kept[k]
    study = kn.sweep(system, over, 0.1, keep="pivot.q|least", design="rows")
    assert study.counts == {"done": 2, "failed": 1}
    assert "mass" in study.failures[0]["message"]
    assert study["pivot.q|least"].values[[0, 2]].tolist() == [kept[0][1], kept[2][1]]


def test_output_that_does_not_fit_is_made_again():
    """Room is made for 4096 states at first."""
    kept = ["elbow.u|peak", "elbow.u|rms"]
    worker, sets, runs = set_up("double_pendulum", {"elbow.q": [0.1, 0.4]}, 1.0, kept, max_step=2e-4)
    kept = make(runs)
    assert [list(worker.make(k, values).results.values()) for k, values in enumerate(sets)] == [kept[0], kept[1]]


def test_long_runs_are_left_to_those_who_look_at_them():
    """Those of more than 20,000 steps."""
    over, fields = {"elbow.q": [0.1, 0.4]}, {"max_step": 2.5e-4}
    _, _, runs = set_up("double_pendulum", over, 6.0, ["elbow.u|peak"], **fields)
    assert not make(runs)
    study = kn.sweep(runs.dynamics, over, 6.0, keep="elbow.u|peak", **fields)
    assert study.counts == {"done": 2}


def test_runs_stop_when_asked():
    _, _, runs = set_up("double_pendulum", {"elbow.q": np.linspace(0, 1, 400)}, 20.0, ["elbow.u|peak"])
    kept = {}
    assert not runs.start(kept.__setitem__, 2).finish(lambda: False)
    assert len(kept) < 400


@pytest.mark.parametrize("values", [
    [[3.0, -4.0], [0.0, 1.0], [-5.0, 0.0]],
    [[1.0, 1.0], [1.0, 1.0 + 4e-10], [1.0, 1.0 + 8e-10], [1.0, 1.0 + 3e-9]],
    [[1e200, 0.0], [1.0, 0.0]],
    [[0.0, 0.0]],
    [[1.0, np.nan], [2.0, 1.0]],
    [[np.inf, 0.0], [0.0, 0.0]],
])  # fmt: skip
def test_peaks_in_python_and_in_machine_code(values):
    """Also those that several rows share within rounding; the loop is run by Python, too."""
    arm = kn.compile(kn.load("examples/double_pendulum.yaml"))
    y, worker = np.array(values), set_up_study(arm, {"L": [0.5]}, 0.1, keep=[
        f"elbow.q|{by}" for by in ("peak", "least", "final", "time_of_peak")])[0]  # fmt: skip
    measures, t = RunMeasures(arm, worker.kept), np.arange(len(y), dtype=float)
    measuring, rows = measures.open(), np.hstack([np.zeros((len(y), 1)), y[:, 1:], np.zeros((len(y), 2))])
    expected = [each.take(RowTimes(t), {each.quantity: rows[:, 1]}) for each in worker.kept]
    for call in (measuring._call, reduce_rows):
        measuring._call = call
        assert np.array_equal(measuring.measure(t, rows, arm.parameters, arm.inputs), expected, equal_nan=True)
    vector = np.array(values)
    with np.errstate(over="ignore"):
        sizes = np.sqrt(vector[:, 0] * vector[:, 0] + vector[:, 1] * vector[:, 1])
    memory = measuring._memory
    memory.table = fast_runs.ints_of(np.array([0, 0, 2, 0, 0, 0, 2, 1, 0, 0, 2, 2, 0, 0, 2, 3], dtype=np.int64))
    wide = np.hstack([vector, np.zeros((len(y), 2))])
    expected = [each.take(RowTimes(t), {each.quantity: sizes}) for each in worker.kept]
    assert np.array_equal(measuring.measure(t, wide, arm.parameters, arm.inputs), expected, equal_nan=True)
