"""The mesh analysis of all stored states against the analysis by singular values, state by state."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

import kinode as kn
import loop_models as models
from kinode.dynamics.reactions import redundancy
from kinode.dynamics.reactions.internal_stresses import find_stresses
from kinode.dynamics.reactions.lost_values import is_redundant
from kinode.dynamics.reactions.redundancy import Analyses
from kinode.dynamics.state_batch import StateBatch
from kinode.formulations.reaction_uniqueness import JointConstants
from kinode.kernels.kernel_options import LoadOptions

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))
LOOPS = ["four_bar", "slider_crank", "spatial_slider_crank", "excavator"]


def check(run):
    """Flags and shared reactions of every stored state; returns the redundancies that occurred."""
    analyses = Analyses(run.dynamics, run.states, len(run))
    compiled = np.atleast_2d(run.states.call(run.dynamics, "holding", LoadOptions("total")))
    changes = analyses.change(compiled)
    sizes, seen = run.dynamics.topology.holding, set()
    for row, flags in enumerate(analyses.unique_by_state):
        full = analyses.analyze_fully(row)
        expected = {**full.unique, **full.unique_multipliers}
        assert flags.tolist() == np.concatenate([expected[name] for name in sizes]).tolist(), row
        given = {name: compiled[row, at : at + sizes[name]] for name, at in analyses.tables.starts.items()}
        scale = max(1.0, abs(compiled[row]).max())
        for name, shared in full.share(given).items():
            assert given[name] + changes[name][row] == pytest.approx(shared, abs=1e-10 * scale), (row, name)
        for name, along in full.along.items():
            assert analyses.along(name)[row] == pytest.approx(along, abs=1e-12)
        seen.add(full.redundancy)
    if not analyses.constants.roots:
        assert all(analyses.elastic[name] == all(analyses.unique[name]) for name in sizes)
    return seen


@pytest.mark.parametrize("name", LOOPS)
def test_examples(name):
    path = next(path for path in EXAMPLES if path.stem == name)
    check(kn.simulate(kn.load(path), 0.02, samples=5))


def random_loop(rng):
    """A planar loop of 4 to 6 bars in a random plane; drives, balls, compliances and constraints by chance."""
    system = kn.System("random", gravity=rng.normal(size=3) * 5)
    base = system.body("base", mass=1, inertia=(1, 1, 1))
    system.fixed("mount", system.world.at(*rng.normal(size=3), rpy=rng.uniform(-3, 3, size=3)), base)
    bars, angles = int(rng.integers(3, 6)), rng.uniform(0.2, 1.2, size=8)
    last, turned, tip, joints = base, 0.0, np.zeros(2), []
    for k in range(bars):
        length = rng.uniform(0.5, 1.5)
        bar = system.body(f"bar{k}", mass=1, com=(length / 2, 0, rng.normal() / 5), inertia=(0.02, 0.1, 0.1))
        angle = float(angles[k] * (1 if k == 0 else -1))
        start = {"q": angle, "u": rng.normal()} if k < bars - 2 else {"guess": angle}
        if k == 0 and rng.random() < 0.3:
            start = {"motion": f"{angle} + 0.3*t"}
        system.revolute(f"j{k}", last, bar, **start)
        joints.append(f"j{k}")
        turned += angle
        tip = tip + length * np.array([np.cos(turned), np.sin(turned)])
        last = bar.at(length, 0, 0)
    kind = rng.choice(["revolute", "cylindrical", "spherical", "universal"])
    more = {"axes": ("x", "y")} if kind == "universal" else {}
    anchor = base.at(*tip, 0.0)
    system.joint("close", kind, anchor, last, **more)
    middle = system["bar0"].at(rng.uniform(0.1, 0.4), 0, 0)
    if rng.random() < 0.5:
        system.constraint("plane", "point_on_plane", point=middle, plane=base)
    if rng.random() < 0.4:
        for name in rng.choice(joints, 2, replace=False):
            system.change(str(name), compliance={"force": rng.uniform(1, 3), "moment": rng.uniform(1, 3)})
    return system


def check_random(seeds):
    redundancies = set()
    for seed in seeds:
        try:
            run = kn.simulate(random_loop(np.random.default_rng(seed)), 0.2, samples=4)
        except kn.Error:  # a loop that does not close or move
            continue
        if is_redundant(run.dynamics):
            redundancies |= check(run)
    return redundancies


def test_random_overconstrained_loops():
    assert len(check_random(range(120 if settings().max_examples >= 100 else 3))) >= 1


@pytest.mark.parametrize("offset", [0.0, 1e-9, 1e-3])
def test_a_doubtful_rank_is_decided_by_singular_values(offset, monkeypatch):
    """Four-bars that lie flat are singular; next to that position a pivot is neither zero nor clearly not."""
    dynamics = kn.Dynamics(models.four_bars(2, angle=-np.pi / 2 + offset))
    seen = []
    analyze_one = JointConstants.analyze
    monkeypatch.setattr(JointConstants, "analyze", lambda self, *given: seen.append(1) or analyze_one(self, *given))
    analyses = Analyses(dynamics, StateBatch.of(dynamics.point(dynamics.initial)), 1)
    flags = analyses.unique_by_state[0].tolist()
    assert len(seen) == (offset == 1e-9)
    full = analyses.analyze_fully(0)
    expected = {**full.unique, **full.unique_multipliers}
    assert flags == np.concatenate([expected[name] for name in dynamics.topology.holding]).tolist()


def test_compliances_share_the_same_in_all_states_at_once():
    system = models.four_bar(offset=0.1)
    system.change("j1", compliance={"force": "1 mm/N"})
    system.change("j3", compliance={"force": [3e-3, 3e-3, "3 um/mN"], "moment": 0.1})
    assert check(kn.simulate(system, 0.5, samples=6)) == {3}


def test_other_parameters_in_each_state():
    """A batch of states with parameters of their own, a gear ratio among them."""
    system = models.parallelogram(True)
    system.parameter("ratio", 1.0)
    system.constraint("gear", "gear", input="g2", output="g0", ratio="ratio")
    dynamics = kn.compile(system)
    start = dynamics.initial
    rows = np.tile(start.q, (3, 1))
    together = dynamics.reactions(start.t, rows, np.tile(start.u, (3, 1)), p=np.tile(dynamics.parameters, (3, 1)))
    alone = dynamics.reactions(start.t, start.q, start.u)
    for name, wrench in alone.items():
        assert together[name].components == wrench.components
        assert together[name].force == pytest.approx(np.tile(wrench.force, (3, 1)), abs=1e-9)


MANY = 200  # states for which a function is compiled


@pytest.mark.parametrize("seed", [18, 21, 22])
def test_one_function_serves_many_states_where_it_is_proved_to(seed):
    """Drives, constraints, several freedoms: the same as by singular values, and every state is certified."""
    run = kn.simulate(random_loop(np.random.default_rng(seed)), 0.2, samples=MANY)
    analyses = Analyses(run.dynamics, run.states, len(run))
    assert analyses.options is not None
    compiled = run.states.call(run.dynamics, "holding", LoadOptions("total"))
    _, certified = redundancy.share_certified(
        run.dynamics, run.states, analyses.options, compiled / analyses.tables.units
    )
    assert certified.all()
    check(run)


def repeated(dynamics):
    """The initial state as many."""
    start = dynamics.point(dynamics.initial)
    q, u, z = (np.tile(each, (MANY, 1)) for each in (start.q, start.u, start.z))
    return StateBatch(np.full(MANY, start.t), q, u, z, start.p, start.inputs)


def test_a_function_for_other_ranks_is_not_used():
    """Flat four-bars have a further freedom: what was found elsewhere is not certified there, and ranks are found."""
    dynamics, flat = (kn.Dynamics(models.four_bars(2, angle=angle)) for angle in (0.3, -np.pi / 2))
    usual, analyses = (Analyses(dynamics, repeated(each), MANY) for each in (dynamics, flat))
    options, states, x = usual.options, analyses.states, np.ones((MANY, usual.tables.n))
    assert redundancy.share_certified(dynamics, usual.states, options, x)[1].all()
    assert not redundancy.share_certified(dynamics, states, options, x)[1].any()
    full = analyses.analyze_fully(0)
    expected = {**full.unique, **full.unique_multipliers}
    found = analyses.unique_by_state
    assert (found == np.concatenate([expected[name] for name in dynamics.topology.holding])).all()


def test_loops_that_share_joints():
    """Twenty four-bars in a row, at many states: ranks are found for each loop, the least norm for all together."""
    dynamics = kn.Dynamics(models.four_bars(20, angle=0.3))
    analyses = Analyses(dynamics, repeated(dynamics), MANY)
    x = np.random.default_rng(0).normal(size=(MANY, analyses.tables.n))
    stresses = find_stresses(analyses.tables, analyses.directions(np.arange(MANY)), None, x)
    full = analyses.analyze_fully(0)
    assert (stresses.redundancy == full.redundancy).all() and full.redundancy == 60
    order = np.concatenate([np.arange(6) + analyses.tables.starts[name] for name in full.names])
    for row in (0, 1, MANY - 1):
        assert stresses.change[row, order] == pytest.approx(full.change(x[row, order]), abs=1e-12)
