"""Newton-Euler equations of every body by itself: a square system with the compiled solution."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from equation_models import LOOPS, elastic, pendulum, robot, run_python, symbols, unique
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import build, plans
from sympy import Symbol, cos, sin

import kinode as kn
from kinode.structure.topology import find_topology
from kinode.tasks.verify import random_state


def solve_bodies(derived, t, q, u, z):
    """Unknowns by name, from the printed equations, which are as many."""
    given = {"q": q, "u": u, "z": z}
    out = run_python(derived.python(), derived.system.name)(t, *(given[role] for role in derived.arguments))
    x = np.linalg.solve(np.array(out["K"], dtype=float), np.array(out["b"], dtype=float))
    return dict(zip(map(str, derived.unknowns), x, strict=True))


@settings(max_examples=3, deadline=None)
@given(data=st.data(), seed=st.integers(0, 99))
def test_bodies_by_themselves_move_and_are_held_as_compiled(data, seed):
    """Any joints, drives and gears: the linear system as printed has one solution, the compiled one."""
    system = build(data.draw(plans(most=2)))
    topology = find_topology(system)
    t, q, u, z = random_state(topology, np.random.default_rng(seed))
    derived = kn.equations(system, "newton_euler", shape="named")
    values = solve_bodies(derived, t, q, u, z)
    check_bodies(system, values, t, q, u, z)


def check_bodies(system, values, t, q, u, z):
    dynamics = kn.compile(system)
    u_dot = dynamics.acceleration(t, q, u, z=z)
    size = 1 + abs(u_dot).max(initial=0)
    names = [c.name.replace(".u", "", 1).replace(".", "_") for c in dynamics.coordinates if c.role == "u"]
    np.testing.assert_allclose([values[f"u_dot_{name}"] for name in names], u_dot, rtol=1e-7, atol=1e-7 * size)
    for joint, wrench in dynamics.reactions(t, q, u, z=z).items():
        for part, x, sure in zip(
            ["X", "Y", "Z", "MX", "MY", "MZ"], [*wrench.force, *wrench.moment], unique(wrench), strict=True
        ):
            if sure:
                assert values.get(f"{part}_{joint}", 0.0) == pytest.approx(x, rel=1e-6, abs=1e-6 * size)


@pytest.mark.parametrize("model", LOOPS, ids=lambda model: model.__name__)
def test_bodies_in_loops(model):
    system = model()
    state = kn.compile(system).initial
    derived = kn.equations(system, "newton_euler")
    values = solve_bodies(derived, 0.0, state.q, state.u, state.z)
    check_bodies(system, values, 0.0, state.q, state.u, state.z)


@pytest.mark.parametrize("shape", ["expanded", "named"])
def test_bodies_of_an_arm_in_space_are_a_square_system(shape):
    derived = kn.equations(robot(), "newton_euler", shape=shape)
    assert derived.K.shape == (17, 17)
    assert len(derived.equations) == 17
    assert all(any(x != 0 for x in derived.K.row(i)) for i in range(17))
    state = (0.37, [0.4, -1.1], [1.3, 0.7])
    check_bodies(derived.system, solve_bodies(derived, *state, []), *state, [])


@pytest.mark.parametrize("shape", ["expanded", "named"])
def test_rows_that_share_what_vanishes_keep_the_system_square(shape):
    """Of a body that swings about a point on its axis x, Vx_dot is zero, and both rows of the pin's force speak of it.

    Without it these would be sin(q) (..) = 0 and cos(q) (..) = 0, neither of which does for all angles.
    """
    system = kn.System("swing")
    rod = system.body("rod", mass=2, com=(0.1, 0.2, 0), inertia={"zz": 0.3})
    system.revolute("pin", system.world.at(0.9, 0, 0), rod.at(0.7, 0, 0))
    derived = kn.equations(system, "newton_euler", shape=shape)
    assert "Vx_dot_rod" in map(str, derived.unknowns)
    for angle in (0.0, np.pi / 2, 1.0):
        state = (0.0, [angle], [1.1])
        check_bodies(system, solve_bodies(derived, *state, []), *state, [])


def test_bodies_have_no_mass_matrix_of_the_whole():
    with pytest.raises(kn.ArgumentError, match=r"\.bodies has the matrices of each, \.K and \.b"):
        kn.equations(pendulum(), "newton_euler").matrices()


def test_bodies_of_the_elastic_system():
    """(T-10.11) to (T-10.14): ten equations in the plane, nothing of the third dimension; the pendulum's matrices."""
    derived = kn.equations(elastic(), "newton_euler")
    assert len(derived.equations) == len(derived.unknowns) == 10
    assert not any(name in str(derived) for name in ("Z_phi", "MX_", "MY_", "wx_", "Vz_", "0 = 0"))
    m1, xi, Jz, w, c, s, g = *symbols("m1 xi Jz wz_bob"), cos(Symbol("q_phi")), sin(Symbol("q_phi")), Symbol("g")
    bob = derived.bodies["bob"]
    plane = [3, 4, 2]  # V_x, V_y, w_z; the axis x of (T-10.12) points to the mass center, ours is y, upwards
    assert bob.M.extract(plane, plane) == sympy.Matrix([[m1, 0, m1 * xi], [0, m1, 0], [m1 * xi, 0, Jz]])
    Omega = sympy.Matrix([[0, -m1 * w, 0], [m1 * w, 0, m1 * xi * w], [0, -m1 * xi * w, 0]])
    v = sympy.Matrix([Symbol("Vx_bob"), Symbol("Vy_bob"), w])
    assert sympy.expand(bob.Omega.extract(plane, plane) * v - Omega * v) == sympy.zeros(3, 1)
    assert bob.Q.extract(plane, [0]) == sympy.Matrix([-m1 * g * s, -m1 * g * c, -m1 * g * xi * s])
