"""Who loads a joint: contributions by body, cause and term add up to the kinetic part, and are what textbooks say.

Closed forms are exact: 1e-12 of the size.  Sums of some hundred terms, and solutions of loops, are wrong by 1e-10.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import plans, topology_of

import kinode as kn
from kinode.formulations.contributions import bodies_behind, contributions
from kinode.formulations.vector_methods import CAUSES
from kinode.multibody.snapshot import Snapshot
from kinode.structure.state_layout import EvaluationPoint
from kinode.tasks.verify import random_state

HINGED = ("revolute", "prismatic", "fixed")


def plain(x):
    return np.asarray(x, dtype=float)


def together(pairs):
    """Moment and force of several, as six numbers."""
    return sum((np.concatenate([plain(m), plain(f)]) for m, f in pairs), np.zeros(6))


def near(value, wanted, size=1.0, tolerance=1e-10):
    assert abs(plain(value) - plain(wanted)).max() <= tolerance * max(size, abs(plain(wanted)).max())


# -- sums ------------------------------------------------------------------------------------------
@given(plans(), st.integers(0, 99))
@settings(max_examples=12)
def test_bodies_add_up_to_the_kinetic_part_in_every_tree(plan, seed):
    topology = topology_of(plan)
    now = Snapshot(topology, EvaluationPoint(*random_state(topology, np.random.default_rng(seed))))
    for name in topology.system.joints:
        kinetic = together([now.reaction(name, "kinetic")])
        near(together(contributions(now, name, "body").values()), kinetic, size=10.0)


@given(plans(kinds=HINGED, most=4), st.integers(0, 99))
@settings(max_examples=10)
def test_causes_and_terms_add_up_in_trees_of_hinges_and_slides(plan, seed):
    topology = topology_of(plan)
    now = Snapshot(topology, EvaluationPoint(*random_state(topology, np.random.default_rng(seed))))
    for name in topology.system.joints:
        bodies, terms = contributions(now, name, "body"), contributions(now, name, "term")
        near(together(contributions(now, name, "cause").values()), together(bodies.values()), size=10.0)
        for body, wrench in bodies.items():  # two derivations of what one body contributes
            own = [x for label, x in terms.items() if label.startswith(f"{body}: ")]
            near(together(own), together([wrench]), size=10.0)


def test_the_inertia_of_a_body_is_what_its_mass_alone_gives():
    """Without the mass of one body, and the same motion, its contribution is what is missing."""
    runs = {}
    for mass in (2.0, 0.0):
        system = kn.System("arm", gravity=(0, 0, -9.81))
        upper = system.body("upper", mass=3, com=(0.2, 0.05, 0), inertia=(0.01, 0.05, 0.05))
        tool = system.body("tool", mass=mass, com=(0.1, 0, 0.03))
        system.universal("wrist", system.world, upper, motion=("sin(2*t)", "0.4*cos(3*t)"))
        system.cylindrical("tip", upper.at(0.4, 0, 0), tool, axis="x", motion=("0.1*sin(t)", "2*t"))
        runs[mass] = kn.simulate(system, 1.0, samples=21)
    missing = runs[2.0].reaction("wrist", "kinetic").force - runs[0.0].reaction("wrist", "kinetic").force
    near(runs[2.0].causes("wrist", by="body").forces["tool"], missing)
    assert abs(missing).max() > 1.0


def test_loops_by_body():
    """A driven four-bar, redundant in space: bodies add up, and the crank's inertia loads no joint but its own."""
    run = kn.simulate(four_bar(), 0.5, samples=9)
    for joint in ("ground", "pin"):
        causes, kinetic = run.causes(joint, by="body"), run.reaction(joint, "kinetic")
        near(causes.force, kinetic.force, size=10.0, tolerance=1e-9)
        near(causes.moment, kinetic.moment, size=10.0, tolerance=1e-9)
        assert set(causes.names) == {"crank", "coupler", "rocker"}
        loaded = abs(causes.forces["crank"]).max() > 1e-6
        assert loaded == (joint == "ground")
    with pytest.raises(kn.ArgumentError, match=r"loops, closed by .*; by='body' always works"):
        run.causes("ground")


def test_loops_need_to_know_who_holds():
    run = kn.simulate(four_bar(driven=False), 0.3, samples=5)
    with pytest.raises(kn.ArgumentError, match="hold: the loops have 1 freedom"):
        run.causes("pin", by="body")
    held = {hold: run.causes("pin", by="body", hold=hold) for hold in ("ground", "pin")}
    for hold, causes in held.items():
        near(causes.force, run.reaction("pin", "kinetic", hold=hold).force, size=10.0, tolerance=1e-9)
    assert abs(held["ground"].forces["coupler"] - held["pin"].forces["coupler"]).max() > 0.1


def four_bar(driven=True):
    system = kn.System("four_bar", gravity=(0, -9.81, 0))
    crank = system.body("crank", mass=1, com=(0.1, 0.02, 0), inertia=(0.01, 0.01, 0.01))
    coupler = system.body("coupler", mass=2, com=(0.25, 0.05, 0), inertia=(0.02, 0.02, 0.02))
    rocker = system.body("rocker", mass=1.5, com=(0.2, 0, 0), inertia=(0.02, 0.02, 0.02))
    system.revolute("ground", system.world, crank, **({"motion": "0.8 + 6*t"} if driven else {"q": 0.8, "u": 6.0}))
    system.revolute("crankpin", crank.at(0.2, 0, 0), coupler, guess=-0.5)
    system.revolute("pin", coupler.at(0.6, 0, 0), rocker.at(0.4, 0, 0))
    system.revolute("rocker_pin", system.world.at(0.5, 0, 0), rocker, guess=1.2)
    return system


# -- textbook --------------------------------------------------------------------------------------
def test_the_gyroscopic_moment_of_a_precessing_wheel():
    """M = J w W across both axes; the rest of the couplings of a symmetric wheel about its center is nothing."""
    J, across, w, W = 0.02, 0.011, 300.0, 2.0
    system = kn.System("wheel", gravity=(0, 0, 0))
    fork = system.body("fork", mass=1, inertia=(0.01, 0.01, 0.01))
    wheel = system.body("wheel", mass=5, inertia=(J, across, across))
    system.revolute("yaw", system.world, fork, axis="z", speed=W)
    system.revolute("axle", fork, wheel, axis="x", speed=w)
    causes = kn.simulate(system, 0.1, samples=21).causes("axle")
    near(np.linalg.norm(causes.moments["gyroscopic"], axis=1), J * w * W, tolerance=1e-12)
    near(causes.moments["gyroscopic"], np.tile([0, J * w * W, 0], (21, 1)), tolerance=1e-12)  # W z x J w x = J w W y
    near(causes.moment - causes.moments["gyroscopic"], np.zeros((21, 3)))
    near(causes.force, np.zeros((21, 3)))


def test_the_coriolis_force_of_a_slide_on_a_turntable():
    """2 m w v across the slide, m w^2 r along it, which the slide does not hold."""
    m, w, v = 0.7, 3.0, 0.4
    system = kn.System("turntable", gravity=(0, 0, -9.81))
    table = system.body("table", mass=4, inertia=(0.1, 0.1, 0.1))
    block = system.body("block", mass=m)
    system.revolute("center", system.world, table, axis="z", speed=w)
    system.prismatic("groove", table, block, axis="x", motion=f"0.2 + {v}*t")
    run = kn.simulate(system, 1.0, samples=11)
    groove, center = run.causes("groove"), run.causes("center", expressed_in="table")
    near(groove.forces["Coriolis"], np.tile([0, 2 * m * w * v, 0], (11, 1)), tolerance=1e-12)
    near(groove.forces["centrifugal"], np.zeros((11, 3)))
    near(center.forces["centrifugal"][:, 0], -m * w**2 * (0.2 + v * run.t), tolerance=1e-12)
    near(center.forces["Coriolis"][:, 1], 2 * m * w * v, tolerance=1e-12)


def test_a_crank_at_constant_speed_is_loaded_by_what_turns_and_what_swings():
    """Crank and a rod hinged to it that is driven to stay parallel to itself: its center runs on the crank's circle."""
    m, r, w = 2.0, 0.1, 20.0
    system = kn.System("crank", gravity=(0, -9.81, 0))
    crank = system.body("crank", mass=1, com=(r / 2, 0, 0), inertia=(0.01, 0.01, 0.01))
    rod = system.body("rod", mass=m, com=(0.3, 0, 0), inertia=(0.01, 0.02, 0.02))
    system.revolute("main", system.world, crank, speed=w)
    system.revolute("pin", crank.at(r, 0, 0), rod, speed=-w)
    run = kn.simulate(system, 1.0, samples=101)
    pin = run.causes("pin", by="body", expressed_in="crank")
    near(pin.forces["rod"], np.tile([-m * r * w**2, 0, 0], (101, 1)), tolerance=1e-9)
    main = run.causes("main", by="body", expressed_in="crank")
    near(main.forces["crank"], np.tile([-0.5 * r * w**2, 0, 0], (101, 1)), tolerance=1e-9)
    causes = run.causes("pin", expressed_in="world")
    # About two axes that cancel, the rod's center has centrifugal and Coriolis parts whose sum is nothing.
    near(causes.forces["Coriolis"][:, 0], 2 * m * 0.3 * w**2, tolerance=1e-9)
    near(causes.force, run.reaction("pin", "kinetic", expressed_in="world").force)
    assert abs(causes.forces["angular acceleration"]).max() == 0.0


# -- the record ------------------------------------------------------------------------------------
def test_the_record_says_what_it_holds():
    system = kn.System("arm", gravity=(0, 0, -9.81))
    upper = system.body("upper", mass=3, com=(0.2, 0, 0), inertia=(0.01, 0.05, 0.05))
    lower = system.body("lower", mass=1, com=(0.1, 0.02, 0), inertia=(0.01, 0.02, 0.02))
    system.revolute("shoulder", system.world, upper, axis="y", motion="sin(3*t)")
    system.revolute("elbow", upper.at(0.4, 0, 0), lower, axis="z", motion="cos(2*t)")
    run = kn.simulate(system, 2.0, samples=101)
    causes = run.causes("elbow", about="lower.com", expressed_in="lower")
    kinetic = run.reaction("elbow", "kinetic", about="lower.com", expressed_in="lower")
    near(causes.force, kinetic.force)
    near(causes.moment, kinetic.moment)
    assert (causes.on, causes.at, causes.frame) == (kinetic.on, kinetic.at, kinetic.frame)
    assert set(causes.names) <= set(CAUSES)
    shares = causes.shares
    assert sum(x.of_force for x in shares) == pytest.approx(1.0)
    assert sum(x.of_moment for x in shares) == pytest.approx(1.0)
    text = str(causes).splitlines()
    assert text[0].startswith("elbow, kinetic part of the reaction by cause")
    assert text[-2].startswith("sum") and "100 %" in text[-2]
    assert bodies_behind(run.dynamics.topology, "shoulder") == ("upper", "lower")
    assert run.causes("elbow", by="term").names[0].endswith("about shoulder")
    with pytest.raises(kn.ArgumentError, match="by: cause, body or term, not 'mass'"):
        run.causes("elbow", by="mass")
    with pytest.raises(kn.ArgumentError, match="no joint is called 'elbo'"):
        run.causes("elbo")


def ball() -> kn.System:
    system = kn.System("ball", gravity=(0, 0, -9.81))
    bar = system.body("bar", mass=1, com=(0.5, 0, 0), inertia=(0.01, 0.1, 0.1))
    system.spherical("ball", system.world, bar, u=(3.0, -1.0, 2.0))
    return system


def test_causes_at_a_ball_joint():
    run = kn.simulate(ball(), 0.2, samples=11)
    kinetic = run.reaction("ball", "kinetic")
    for by in ("cause", "body", "term"):
        causes = run.causes("ball", by=by)
        near(causes.force, kinetic.force)
        near(causes.moment, kinetic.moment)
    assert "Coriolis of S(bar) about ball.x and ball.z" in " ".join(run.causes("ball", by="term").names)


def test_causes_at_the_azimuth_of_the_ship():
    dynamics = kn.compile(kn.load("examples/ship_gimbal.yaml"))
    now = dynamics.snapshot(dynamics.initial)
    by_cause = contributions(now, "azimuth", "cause")
    assert set(by_cause) == set(CAUSES)
    for k, kinetic in enumerate(now.joint_wrench("azimuth", "kinetic")[1]):
        near(sum(wrench[k] for wrench in by_cause.values()).astype(float), kinetic.astype(float))


def test_causes_of_a_joint_that_does_not_say_its_pairs_are_refused(monkeypatch):
    monkeypatch.delattr("kinode.model.joints.spherical.Spherical.pairs")
    run = kn.simulate(ball(), 0.2, samples=11)
    with pytest.raises(kn.ArgumentError, match="into hinges and slides, and cannot do so with ball; by='body'"):
        run.causes("ball")
    near(run.causes("ball", by="body").force, run.reaction("ball", "kinetic").force)
