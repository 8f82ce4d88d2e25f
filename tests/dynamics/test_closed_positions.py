"""Closed positions: random mechanisms come back to the one that their guesses describe; false ones are refused."""

import numpy as np
import pytest
from closed_mechanisms import only_one_angle_closes, random_mechanism
from hypothesis import given
from hypothesis import strategies as st

import kinode as kn

EXACT = 1e-8  # of rotation matrices, or m


@given(seed=st.integers(0, 2**31), loops=st.integers(1, 8), planar=st.booleans())
def test_guesses_of_a_spanning_tree_give_their_position_back(seed, loops, planar):
    mechanism = random_mechanism(seed, loops, planar)
    system = mechanism.system(set(mechanism.tree), np.random.default_rng(seed))
    assert mechanism.off(kn.assemble(system)) < EXACT


@given(seed=st.integers(0, 2**31), loops=st.integers(1, 8), planar=st.booleans())
def test_a_guess_fewer_serves_where_one_position_is_left(seed, loops, planar):
    mechanism = random_mechanism(seed, loops, planar)
    sure = [e.name for e in mechanism.edges if e.name in mechanism.tree and only_one_angle_closes(mechanism, e)]
    guesses = set(mechanism.tree) - set(sure[:1])
    system = mechanism.system(guesses, np.random.default_rng(seed))
    assert mechanism.off(kn.assemble(system)) < EXACT


def turned_slides(**given):
    """A hinge about z, two slides, a hinge about x, and the world again: it closes at r.q = 0 alone."""
    system = kn.System("slides", gravity=(0, 0, -9.81))
    a, b, c = (system.body(name, mass=1, inertia=(0.1, 0.1, 0.1)) for name in "abc")
    system.revolute("r", system.world, a, axis="z", **given)
    system.prismatic("px", a, b, axis="x")
    system.prismatic("py", b, c, axis="y")
    system.revolute("rx", c, system.world, axis="x")
    return system


def test_a_body_half_a_turn_off_does_not_close_a_loop():
    with pytest.raises(kn.AssemblyError, match=r"in conflict: .* it closes at r.q = 0"):
        kn.assemble(turned_slides(q=2.0))
    assert kn.assemble(turned_slides(guess=2.0))["r.q"] == pytest.approx(0.0, abs=1e-12)


def scissor(stages, tilt=0.5, length=1.0):
    """Bars that cross in the middle, stage upon stage; foot, slide and crossings are guessed where they close."""
    system = kn.System("scissor", gravity=(0, -9.81, 0))
    inertia = (0.1, 0.1, 0.1)
    slider = system.body("slider", mass=1, inertia=inertia)
    below = None
    for k in range(stages):
        up, down = (system.body(f"{name}{k}", mass=1, inertia=inertia) for name in ("up", "down"))
        ends = [(bar.at(-length / 2, 0, 0), bar.at(length / 2, 0, 0)) for bar in (up, down)]
        if below is None:
            system.revolute("foot", system.world, ends[0][0], guess=tilt)
            system.prismatic("slide", system.world, slider, axis="x", guess=length * np.cos(tilt))
            system.revolute("slider_pin", slider, ends[1][1])
        else:
            system.revolute(f"left{k}", below[1][0], ends[0][0])
            system.revolute(f"right{k}", below[0][1], ends[1][1])
        system.revolute(f"cross{k}", up, down, guess=-2 * tilt)
        below = ends
    return system


@pytest.mark.parametrize("stages", range(1, 7))
def test_a_scissor_lift_stands_up_as_it_is_guessed(stages):
    system = scissor(stages)
    dynamics = kn.compile(system)
    closed = kn.assemble(dynamics)
    _, p = dynamics.pose(f"up{stages - 1}", 0.0, closed.state.q)
    assert p == pytest.approx([0.5 * np.cos(0.5), (stages - 0.5) * np.sin(0.5), 0.0], abs=1e-10)
    assert max(closed.moved[name].angle for name in ("foot", "cross0")) < 1e-10


def engine(cylinders, crank=0.05, rod=0.16, angle=0.3):
    """Slider-cranks on one shaft; the shaft and, by the sign alone, the pistons are guessed."""
    system = kn.System("engine", gravity=(0, -9.81, 0))
    shaft = system.body("shaft", mass=5, inertia=(0.1, 0.1, 0.1))
    system.revolute("main", system.world, shaft, guess=angle)
    for k in range(cylinders):
        phase = 2 * np.pi * k / cylinders
        bar, piston = (system.body(f"{name}{k}", mass=0.5, inertia=(0.01, 0.01, 0.01)) for name in ("rod", "piston"))
        system.revolute(f"big{k}", shaft.at(crank * np.cos(phase), crank * np.sin(phase), 0.1 * k), bar)
        system.revolute(f"small{k}", bar.at(0, rod, 0), piston)
        system.prismatic(f"bore{k}", system.world.at(0, 0, 0.1 * k), piston, axis="y")
    return system


@pytest.mark.parametrize("cylinders", [1, 4, 8])
def test_pistons_stay_on_their_side_of_the_crankshaft(cylinders):
    closed = kn.assemble(engine(cylinders))
    assert closed["main.q"] == pytest.approx(0.3, abs=1e-12)
    for k in range(cylinders):
        x, y = 0.05 * np.cos(0.3 + 2 * np.pi * k / cylinders), 0.05 * np.sin(0.3 + 2 * np.pi * k / cylinders)
        assert closed[f"bore{k}.q"] == pytest.approx(y + np.sqrt(0.16**2 - x**2), abs=1e-11)
