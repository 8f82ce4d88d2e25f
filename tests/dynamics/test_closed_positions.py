"""Closed positions: random mechanisms come back to the one that their guesses describe; false ones are refused."""

from pathlib import Path

import numpy as np
import pytest
from closed_mechanisms import only_one_angle_closes, random_mechanism
from example_counts import examples
from hypothesis import example, given
from hypothesis import strategies as st

import kinode as kn

EXACT = 1e-8  # of rotation matrices, or m
MECHANISMS = examples(10, nightly=500)  # in each of four tests: 40 in all, or 2,000


@pytest.mark.parametrize("planar", [True, False])
@MECHANISMS
@given(seed=st.integers(0, 2**31), loops=st.integers(1, 8))
def test_guesses_of_a_spanning_tree_give_their_position_back(planar, seed, loops):
    mechanism = random_mechanism(seed, loops, planar)
    system = mechanism.system(set(mechanism.tree), np.random.default_rng(seed))
    assert mechanism.off(kn.assemble(system)) < EXACT


@pytest.mark.parametrize("planar", [True, False])
@MECHANISMS
@given(seed=st.integers(0, 2**31), loops=st.integers(1, 8))
@example(seed=63380337, loops=5)  # all bodies but one are placed by guesses that are cut joints
@example(seed=8689570, loops=6)  # three joints of one freedom each close on one body
def test_a_guess_fewer_serves_where_one_position_is_left(planar, seed, loops):
    mechanism = random_mechanism(seed, loops, planar)
    hinges = (e.name for e in mechanism.edges if e.name in mechanism.tree and only_one_angle_closes(mechanism, e))
    guesses = set(mechanism.tree) - {next(hinges, None)}
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


# -- other parameters -------------------------------------------------------------------------------------------------
def table_on_three_legs():
    """Three legs of one length carry a table: one of them is redundant, unless the middle one has another length."""
    system = kn.System("table", gravity=(0, -9.81, 0))
    middle = system.parameter("middle", "0.5 m")
    board = system.body("board", mass=1, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    for k, length in enumerate((0.5, middle, 0.5)):
        leg = system.body(f"leg{k}", mass=1, inertia=(0.01, 0.01, 0.01))
        system.revolute(f"foot{k}", system.world.at(0.5 * k, 0, 0), leg, guess=1.0)
        system.revolute(f"top{k}", leg.at(length, 0, 0), board.at(0.5 * k, 0, 0), guess=-1.0)
    return system


def test_other_parameters_that_need_other_rows_are_not_computed_with_the_old_ones():
    dynamics = kn.compile(table_on_three_legs())
    assert dynamics.closure.freedoms == 1
    with pytest.raises(kn.AssemblyError, match="4 independent constraint equations, and 3"):
        dynamics.state(p={"middle": 0.49})
    with pytest.warns(kn.GuessWarning, match="foot0 starts at"):
        run = kn.simulate(dynamics, 0.2, parameters={"middle": 0.49})
    assert run["board.velocity"] == pytest.approx(0.0, abs=1e-9)  # it is rigid now
    assert run.events[0].kind == "guess"
    assert {event.component for event in run.events} >= {"foot0", "top0"}


@pytest.mark.parametrize("name", ["spatial_slider_crank", "four_bar_of_lengths"])
def test_starts_of_other_parameters_are_those_of_a_model_with_these_numbers(name):
    """The compiled system follows its own start; the model is assembled from its guesses."""
    text = FOUR_BAR if name == "four_bar_of_lengths" else (EXAMPLES / f"{name}.yaml").read_text()
    dynamics = kn.compile(kn.loads(text))
    for length in (79.0, 80.3, 84.0):
        other = kn.loads(text.replace("80 mm", f"{length} mm"))
        cold = kn.compile(other).initial
        warm = dynamics.state(p={"crank_length": length / 1000})
        assert warm.q == pytest.approx(cold.q, abs=1e-9)
        assert warm.u == pytest.approx(cold.u, abs=1e-8)


EXAMPLES = Path(__file__).parents[2] / "examples"
FOUR_BAR = """
kinode: 1
parameters: {crank_length: 80 mm}
bodies:
  crank: {mass: 1, inertia: [0.1, 0.1, 0.1]}
  rod: {mass: 1, inertia: [0.1, 0.1, 0.1]}
  rocker: {mass: 1, inertia: [0.1, 0.1, 0.1]}
joints:
  left: {kind: revolute, between: [world, crank], u: 2}
  pin: {kind: revolute, between: [{body: crank, at: [crank_length, 0, 0]}, rod], guess: 0.4}
  top: {kind: revolute, between: [{body: rod, at: [0.3, 0, 0]}, {body: rocker, at: [0.2, 0, 0]}]}
  right: {kind: revolute, between: [{body: world, at: [0.25, 0, 0]}, rocker], guess: 1.2}
"""
