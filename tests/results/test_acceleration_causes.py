"""Acceleration by cause: closed forms, sums over random trees and loops, what a tier that stands still contributes."""

import numpy as np
import pytest
from example_counts import examples
from hypothesis import given
from hypothesis import strategies as st
from strategies import build, plans

import kinode as kn
from kinode.formulations.contributions import TERMS, by_segment, by_tier, tiers
from kinode.multibody.snapshot import Snapshot
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import find_topology
from kinode.tasks.verify import random_state


def turntable():
    """A slider moves out on a turntable that speeds up; a wheel turns on it about the same axis."""
    system = kn.System("turntable", gravity=(0, 0, 0))
    table = system.body("table", mass=1.0, inertia=(1, 1, 1))
    slider = system.body("slider", mass=1.0, inertia=(1, 1, 1))
    wheel = system.body("wheel", mass=1.0, inertia=(1, 1, 1), frames={"rim": (0.1, 0, 0)})
    system.revolute("turn", system.world, table, motion="2*t + t^2/2")
    system.prismatic("slide", table, slider, axis="x", motion="0.5 + 0.3*t^2")
    system.revolute("spin", slider, wheel, motion="5*t")
    return system


def polar(angle, radial, across):
    c, s = np.cos(angle), np.sin(angle)
    return np.column_stack([c * radial - s * across, s * radial + c * across, 0 * c])


def test_a_slider_on_a_turntable():
    """r = 0.5 + 0.3 t^2, w = 2 + t, alpha = 1: r_ddot radially, r alpha across, -r w^2 radially, 2 w r_dot across."""
    run = kn.simulate(turntable(), 1.0, samples=21)
    t, angle = run.t, 2 * run.t + run.t**2 / 2
    r, v, w, zero = 0.5 + 0.3 * t**2, 0.6 * t, 2 + t, 0 * t
    causes = run.acceleration_by_cause("slider")
    assert causes.tiers == ("turn", "slide")
    expected = {
        ("turn", "tangential"): polar(angle, zero, r),
        ("turn", "centripetal"): polar(angle, -r * w**2, zero),
        ("slide", "relative"): polar(angle, 0.6 + zero, zero),
        ("slide", "Coriolis"): polar(angle, zero, 2 * w * v),
    }
    for tier in causes.tiers:
        for term in TERMS:
            assert causes[tier, term] == pytest.approx(expected.get((tier, term), np.zeros((21, 3))), abs=1e-12)
    assert causes["Coriolis"] == pytest.approx(expected["slide", "Coriolis"], abs=1e-12)
    assert causes.transport("turn") == pytest.approx(polar(angle, -r * w**2, r), abs=1e-12)
    assert sum(causes.shares.values()) == pytest.approx(1.0)


def test_the_rim_of_a_wheel_that_is_carried():
    """Its own centripetal acceleration is that of its own speed; the table's turning adds Coriolis' 2 w x (w' x l)."""
    run = kn.simulate(turntable(), 1.0, samples=5)
    causes = run.acceleration_by_cause("wheel.rim", expressed_in="wheel")
    assert causes["spin", "centripetal"] == pytest.approx(np.tile([-0.1 * 25, 0, 0], (5, 1)), abs=1e-12)
    coriolis = np.column_stack([-2 * (2 + run.t) * 5 * 0.1, 0 * run.t, 0 * run.t])
    assert causes["spin", "Coriolis"] == pytest.approx(coriolis, abs=1e-12)
    assert causes.total == pytest.approx(run["wheel.rim.acceleration@wheel"], abs=1e-12)
    along = run.acceleration_by_cause("wheel.rim", "segment")
    assert along.tiers == ("turn", "slide", "spin", "wheel.rim")
    assert along.total == pytest.approx(run["wheel.rim.acceleration"], abs=1e-12)
    both = np.column_stack([-0.1 * (7 + run.t) ** 2, 0 * run.t, 0 * run.t])  # the whole turning of the last body
    last = run.acceleration_by_cause("wheel.rim", "segment", expressed_in="wheel")
    assert last["wheel.rim", "centripetal"] == pytest.approx(both, abs=1e-12)


def snapshot_of(plan, seed):
    topology, rng = find_topology(build(plan)), np.random.default_rng(seed)
    return Snapshot(topology, EvaluationPoint(*random_state(topology, rng)), u_dot=rng.uniform(-1.0, 1.0, topology.n_u))


def size_of(parts):
    return 1e-11 * max(1.0, np.abs(np.asarray(parts, dtype=float)).max(initial=0.0))


@given(plans(most=6), st.integers(0, 99))
@examples(16, nightly=100)
def test_terms_add_up_to_the_acceleration_in_any_tree(plan, seed):
    motion = snapshot_of(plan, seed)
    for body in motion.system.bodies:
        frame = motion.system.find_frame(f"{body}.com")
        whole = np.asarray(motion.acceleration(frame)[1], dtype=float)
        for way in (by_tier, by_segment):
            parts = np.asarray(way(motion, frame), dtype=float)
            assert parts.sum(axis=(0, 1)) == pytest.approx(whole, abs=size_of(parts))


@given(plans(most=5, driven=False), st.integers(0, 99), st.integers(0, 4))
@examples(16, nightly=100)
def test_tiers_up_to_one_are_the_transport_of_what_is_above(plan, seed, k):
    """With all joints above a tier at rest, the acceleration is that of the tiers up to it: they do not change."""
    motion = snapshot_of(plan, seed)
    frame = motion.system.find_frame(f"body{len(plan.links) - 1}")
    names = [tier.name for tier in tiers(motion, frame)]
    if not names:
        return
    parts = np.asarray(by_tier(motion, frame), dtype=float)[: k + 1]
    u, u_dot = np.array(motion.u, dtype=float), np.array(motion.given.u_dot, dtype=float)
    for name in names[k + 1 :]:
        where = motion.topology.u_of.get(name, slice(0, 0))
        u[where] = u_dot[where] = 0.0
    frozen = Snapshot(motion.topology, motion.point.replaced(u=u), u_dot=u_dot)
    assert parts.sum(axis=(0, 1)) == pytest.approx(np.asarray(frozen.acceleration(frame)[1], float), abs=size_of(parts))
    above = np.asarray(by_tier(frozen, frame), dtype=float)[k + 1 :]
    assert not above.any()


def test_a_point_of_a_loop():
    system = kn.System("four_bar", gravity=(0, -9.81, 0))
    bars = {n: system.body(n, mass=1.0, com=(0.1, 0, 0), inertia={"zz": 0.01}) for n in ("crank", "rod", "rocker")}
    system.revolute("a", system.world, bars["crank"], q="60 deg", u=3.0)
    system.revolute("b", bars["crank"].at(0.2, 0, 0), bars["rod"], guess=-0.5)
    system.revolute("c", system.world.at(0.5, 0, 0), bars["rocker"], guess=1.7)
    system.revolute("d", bars["rod"].at(0.5, 0, 0), bars["rocker"].at(0.4, 0, 0))
    run = kn.simulate(system, 0.5, samples=6)
    causes = run.acceleration_by_cause("rod.com")
    assert causes.total == pytest.approx(run["rod.com.acceleration"], abs=1e-9)
    assert len(causes.tiers) >= 2


def test_what_is_refused_and_what_is_printed():
    run = kn.simulate(turntable(), 1.0, samples=5)
    with pytest.raises(kn.ArgumentError, match="by: tier or segment, not 'body'"):
        run.acceleration_by_cause("slider", "body")
    with pytest.raises(kn.ArgumentError, match="rests in the world"):
        run.acceleration_by_cause("world")
    causes = run.acceleration_by_cause("wheel.rim")
    with pytest.raises(kn.ArgumentError, match="'wobble' is none of turn, slide, spin, relative"):
        causes["wobble"]
    with pytest.raises(kn.ArgumentError, match="'Coriolis' is none of turn, slide, spin"):
        causes.transport("Coriolis")
    text = str(causes)
    assert max(map(len, text.splitlines())) <= 80
    assert text.splitlines()[-2].startswith("sum")
    figure = causes.plot()
    assert [axes.get_legend_handles_labels()[1][-1] for axes in figure.axes] == ["magnitude of the sum"] * 2
