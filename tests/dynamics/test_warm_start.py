"""Warm starts: compiled Newton steps give the start that the assembly finds, whatever closes the loops."""

import numpy as np
import pytest
from closed_mechanisms import random_mechanism
from example_counts import is_fixed
from joint_contract import needed_fields

import kinode as kn
from kinode.dynamics.starts import newton_loop
from kinode.dynamics.starts.assembly_problem import solve_speeds

SMALL = {"mass": 1, "inertia": (0.1, 0.1, 0.1)}


def spatial():
    """A crank drives a slider through two ball joints and a rod; one more ball stands beside the loop."""
    system = kn.System("spatial", gravity=(0, 0, -9.81))
    length = system.parameter("length", "0.1 m")
    crank, rod, slider = (system.body(name, **SMALL) for name in ("crank", "rod", "slider"))
    system.revolute("main", system.world, crank, axis="x", q=0.5, u=3.0)
    system.universal("big", crank.at(0, length, 0), rod, axes=("x", "y"))
    system.spherical("small", rod.at(0, 0, 0.4), slider)
    system.prismatic("bore", system.world.at(0.1, 0, 0), slider, axis="z", guess=0.4)
    return system


def planar():
    """A four-bar: six rows for three unknowns, and a speed at the far end."""
    system = kn.System("planar", gravity=(0, -9.81, 0))
    length = system.parameter("length", "0.1 m")
    crank, rod, rocker = (system.body(name, **SMALL) for name in ("crank", "rod", "rocker"))
    system.revolute("left", system.world, crank, q=1.0)
    system.revolute("pin", crank.at(length, 0, 0), rod)
    system.revolute("top", rod.at(0.3, 0, 0), rocker.at(0.2, 0, 0), guess=1.0)
    system.revolute("right", system.world.at(0.25, 0, 0), rocker, u="10*length")
    return system


def strut():
    """A constraint element in place of the rod; a sleigh beside it has rows of speeds alone."""
    system = kn.System("strut", gravity=(0, -9.81, 0))
    length = system.parameter("length", "0.1 m")
    crank, rocker = system.body("crank", **SMALL), system.body("rocker", **SMALL)
    system.revolute("left", system.world, crank, q=1.0, u=2.0)
    system.revolute("right", system.world.at(0.25, 0, 0), rocker, guess=1.5)
    system.constraint("rod", "distance", a=crank.at(length, 0, 0), b=rocker.at(0.2, 0, 0), distance=0.3)
    sleigh = system.body("sleigh", **SMALL)
    system.planar("ice", system.world, sleigh, q=(0, 0, 0), u=(1, 0, 0.5))
    system.constraint("edge", "knife_edge", blade=sleigh)
    return system


def geared():
    """The crank follows a motor's shaft, and the motor's angle is what is free: the crank's is given."""
    system = planar()
    system.revolute("motor", system.world.at(0, 0.5, 0), system.body("shaft", **SMALL))
    system.gear("reduction", input="motor", output="left", ratio=4)
    return system


def geared_pair():
    """Two cranks with two rods between them, one speed of two given: the motor's counts for the others too."""
    system = kn.System("geared_pair", gravity=(0, -9.81, 0))
    length = system.parameter("length", "0.1 m")
    one, two, over, under, shaft = (system.body(name, **SMALL) for name in ("one", "two", "over", "under", "shaft"))
    system.revolute("left", system.world, one, q=1.2)
    system.revolute("near", one.at(length, 0, 0), over, guess=-0.6)
    system.revolute("right", system.world.at(0.25, 0, 0), two, q=1.9)
    system.revolute("far", two.at(0.1, 0, 0), under, guess=0.6)
    system.revolute("top", over.at(0.2, 0, 0), under.at(0.2, 0, 0), u=2.0)
    system.revolute("motor", system.world.at(0, 0.5, 0), shaft)
    system.gear("reduction", input="motor", output="left", ratio=4)
    return system


def floating():
    """A frame on springs: the base moves, and its speed is given in the axes of the world."""
    system = kn.System("floating")
    length = system.parameter("length", "0.1 m")
    base, crank, rod, rocker = (system.body(name, **SMALL) for name in ("base", "crank", "rod", "rocker"))
    system.free("base_joint", system.world, base, q=(0.1, 0.2, 0.3, 0.8, 0.6, 0, 0), u=(0.1, 0, 0, 0, 0.2, 0.5))
    system.revolute("left", base, crank, q=1.0, u=1.0)
    system.spherical("pin", crank.at(length, 0, 0), rod, guess=(1, 0, 0, 0))
    system.revolute("top", rod.at(0.3, 0, 0), rocker.at(0.2, 0, 0), guess=1.0)
    system.revolute("right", base.at(0.25, 0, 0), rocker)
    return system


def ball_rod():
    """A crank moves a rocker by a rod with a ball at each end, which may turn about its line."""
    system = kn.System("ball_rod", gravity=(0, 0, -9.81))
    length = system.parameter("length", "0.1 m")
    crank, rod, rocker = (system.body(name, **SMALL) for name in ("crank", "rod", "rocker"))
    system.revolute("main", system.world, crank, q=0.5)
    system.spherical("near", crank.at(length, 0, 0), rod, guess=(0.9, 0.2, 0.3, 0.2449489742783178))
    system.revolute("out", system.world.at(0.4, 0, 0.05), rocker, axis="y", guess=-1.0)
    system.spherical("far", rod.at(0.35, 0, 0), rocker.at(0.2, 0, 0))
    return system


def hung():
    """A free body on a bar of given length: it may move in five ways about where it is asked to be."""
    system = kn.System("hung", gravity=(0, 0, -9.81))
    length = system.parameter("length", "0.1 m")
    body = system.body("body", **SMALL)
    system.free("flight", system.world, body, guess=(0.1, 0.2, 0.3, 0.8, 0.36, 0.48, 0))
    system.constraint("bar", "distance", a=system.world.at(length, 0, 0), b=body.at(0.1, 0.2, 0), distance=0.3)
    return system


MAKERS = {make.__name__: make for make in (spatial, planar, strut, geared, geared_pair, floating, ball_rod, hung)}


def warm(system):
    """A compiled system whose starts are followed in machine code."""
    dynamics = kn.compile(system)
    dynamics.state(p=dynamics.parameters * 1.001)
    assert dynamics.start.warm_start is not None
    return dynamics


@pytest.mark.parametrize("name", MAKERS)
def test_warm_starts_are_those_of_a_model_with_these_numbers(name):
    dynamics = warm(MAKERS[name]())
    for length in (0.097, 0.104):
        other = MAKERS[name]()
        other.change("length", value=length)
        cold, there = kn.compile(other).initial, dynamics.state(p={"length": length})
        assert there.q == pytest.approx(cold.q, abs=1e-10)
        assert there.u == pytest.approx(cold.u, abs=1e-9)
    starts = dynamics.start.warm_start
    assert starts.anchor.freedoms == {"ball_rod": 1, "hung": 5}.get(name, 0)
    assert starts.memory.steps <= 4 and (starts.memory.steps or starts.anchor.freedoms)


def test_two_newton_steps_serve_for_a_small_change():
    dynamics = warm(spatial())
    dynamics.state(p=dynamics.parameters * 1.0002)
    assert dynamics.start.warm_start.memory.steps <= 2


def test_machine_code_does_what_its_python_does():
    dynamics = warm(spatial())
    memory = dynamics.start.warm_start.memory
    dynamics.state(p={"length": 0.102})
    compiled = [memory.x[i] for i in range(memory.n_q)], [memory.step[i] for i in range(memory.n_u)]
    for i in range(memory.n_q):
        memory.x[i] = dynamics.start.warm_start.anchor.x[i]
    for i in range(memory.n_u):
        memory.step[i] = 0.0
    memory.steps = 8
    assert newton_loop.follow_position(memory) == newton_loop.SOLVED
    assert [memory.x[i] for i in range(memory.n_q)] == compiled[0]
    memory.step[0] = 3.0  # the crank's speed
    assert newton_loop.solve_speeds_there(memory) == newton_loop.SOLVED
    assert [memory.step[i] for i in range(memory.n_u)] == compiled[1]


def test_other_speeds_and_other_positions_are_not_those_of_the_anchor():
    dynamics = warm(spatial())
    p = {"length": 0.102}
    slow, fast = dynamics.state(p=p), dynamics.state({"main.u": 6.0}, p=p)
    assert fast.q == pytest.approx(slow.q, abs=1e-12)
    assert fast.u == pytest.approx(2 * slow.u, abs=1e-12)
    turned = dynamics.state({"main.q": 0.7}, p=p)
    assert dynamics.coordinates[0].name == "main.q"
    assert turned.q[0] == pytest.approx(0.7, abs=1e-14)


def test_what_cannot_close_is_refused_as_from_the_guesses():
    dynamics = warm(strut())
    with pytest.raises(kn.AssemblyError, match="rod is off by"):
        dynamics.state(p={"length": 2.0})
    dynamics = warm(spatial())
    with pytest.raises(kn.AssemblyError, match="tear"):
        dynamics.state({"bore.u": 5.0}, p={"length": 0.102})


def test_where_the_mechanism_is_stretched_no_warm_start_is_made_up():
    """Beyond the dead centre there is no closed position; just before it, the nearest one is found."""
    dynamics = warm(strut())
    longest = np.hypot(0.25, 0.0)
    for length in (0.12, 0.15, longest):
        state = dynamics.state(p={"length": length})
        tip = length * np.array([np.cos(1.0), np.sin(1.0)])
        end = np.array([0.25, 0.0]) + 0.2 * np.array([np.cos(state.q[1]), np.sin(state.q[1])])
        assert np.linalg.norm(tip - end) == pytest.approx(0.3, abs=1e-10)


def test_geared_joints_without_a_loop_start_with_other_parameters():
    """Followers depend on their leaders, and no constraint row is there to follow from the first start."""
    system = kn.System("geared", gravity=(0, -9.81, 0))
    ratio = system.parameter("ratio", 2.0)
    one, two = (system.body(name, com=(0.1, 0, 0), **SMALL) for name in ("one", "two"))
    system.revolute("input", system.world, one, u=3.0)
    system.revolute("output", system.world.at(0.5, 0, 0), two)
    system.constraint("gear", "gear", input="input", output="output", ratio=ratio)
    dynamics = kn.compile(system)
    kn.simulate(dynamics, 0.01)
    for value in (2.5, 3.0):
        run = kn.simulate(dynamics, 0.01, parameters={"ratio": value})
        assert run["output.u"][0] == pytest.approx(3.0 / value, abs=1e-12)


def drawn(seed: int) -> kn.System:
    """A random closed mechanism of which one joint may be moved; of some joints coordinates are given or guessed."""
    mechanism, rng = random_mechanism(seed, 1 + seed % 2, planar=seed % 4 < 2), np.random.default_rng(seed)
    system = kn.System("drawn")
    offset = system.parameter("offset", 0.0)
    bodies = {-1: system.world} | {k: system.body(f"b{k}", **SMALL) for k in range(mechanism.bodies)}
    for k, edge in enumerate(mechanism.edges):
        way = rng.choice(["guess", "q", ""], p=[0.5, 0.1, 0.4])
        given = {way: list(edge.q)} if way and len(edge.q) else {}
        x, y, z = map(float, edge.M.p)
        place = bodies[edge.b].at(x + offset if k == 0 else x, y, z, matrix=edge.M.R.tolist())
        parent = bodies[edge.a].at(*map(float, edge.F.p), matrix=edge.F.R.tolist())
        system.joint(edge.name, edge.kind, parent, place, **given, **needed_fields(edge.kind, 0.3))
    return system


def offset(assembler, x):
    """The weighted sum of squares of how far a position is from what is asked for."""
    return float(assembler.problem.weights @ assembler.problem.offsets(x)[0] ** 2)


def test_random_mechanisms_start_as_the_assembly_finds():
    """Beside the assembly's own steps and its linear algebra; with freedoms left and without.

    Freedoms that count less than 1e-7 of others the assembly leaves as they are: there it is farther off.
    """
    tried = followed = 0
    for seed in range(82, 90) if is_fixed() else range(150):
        dynamics = kn.compile(drawn(seed))
        start, own, p = dynamics.start, dynamics.initial, np.array([0.005])
        start.settle()
        if start.warm_start is None:  # the assembly alone serves
            continue
        assembler = start.assembler(start.initial_values, 0.0, p, dynamics.inputs)
        try:
            x = assembler.solve_positions()
        except kn.AssemblyError:
            continue
        found = start.warm_start.follow(start.initial_values, start.point(own, p, None))
        tried += 1
        if found is not None:
            followed += 1
            if abs(found[0] - x).max() > 1e-9:
                assert offset(assembler, found[0]) < offset(assembler, x)
                x = found[0]
                assert abs(assembler.problem.residuals(x)).max() < 1e-10
            assert found[1] == pytest.approx(solve_speeds(assembler.problem, x), abs=1e-9)
    assert followed >= 0.95 * tried > 0
