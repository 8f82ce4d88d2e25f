"""The elastic system: motion and all ten constraint forces, planar and of free bodies, two ways.

The equations are those of docs/theory/elastic-system.md.
Its reference, integrated in three independent forms, is given to 1e-12.  The planar run and the 24 equations with Euler
angles stand in tests/formulations/test_newton_euler.py; here are two free bodies whose joints close loops, compiled,
over the whole record, and the planar equations (T-10.11).
"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kinode as kn
from known.elastic import DEFAULT, ROD, UNDAMPED, elastic, elastic_of_free_bodies, series

G = 9.81
PARAMETERS = {"default": (0.5, 5.0), "undamped": (0.5, 0.0), "rod": (np.sqrt(3.0) / 2.0, 5.0)}  # arm, damping


@pytest.mark.parametrize("method", ["dopri5", "dop853"])
def test_of_free_bodies(method):
    """26 equations, ten rows that close loops: motion, X12, Y12, Y20, and the seven others, which vanish."""
    table = series(DEFAULT)
    system = elastic_of_free_bodies(np.pi / 2)
    run = kn.simulate(system, 10.0, times=table[:, 0], method=method, rtol=1e-12, atol=1e-13)
    assert set(run.dynamics.topology.cut_names) == {"rail", "hinge"}
    turn = run["pendulum.rotation"]
    assert np.abs(turn[:, 0, 0] - np.cos(table[:, 1])).max() < 1e-8
    assert np.abs(turn[:, 1, 0] - np.sin(table[:, 1])).max() < 1e-8
    assert np.abs(run["pendulum.angular_velocity"][:, 2] - table[:, 2]).max() < 1e-8
    assert np.abs(run["slider.position"][:, 0] - table[:, 3]).max() < 1e-8
    zero = np.zeros(len(table))
    hinge = run.reaction("hinge", on="pendulum", about="pendulum", expressed_in="world")
    guide = run.reaction("rail", on="slider", about="slider", expressed_in="world")
    assert hinge.unique
    assert guide.unique
    assert np.abs(hinge.force - np.column_stack([table[:, 4], table[:, 5], zero])).max() < 1e-8
    assert np.abs(guide.force - np.column_stack([zero, table[:, 6], zero])).max() < 1e-8
    assert np.abs([hinge.moment, guide.moment]).max() < 1e-8


def planar_rates(y, arm, damping):
    """(T-10.11) to (T-10.14): five velocities in body axes from the matrices, and three multipliers."""
    phi, x, *q = y
    w = q[2]
    s, c = np.sin(phi), np.cos(phi)
    M = np.zeros((5, 5))
    M[:3, :3] = [[1, 0, 0], [0, 1, arm], [0, arm, 1]]
    M[3:, 3:] = 5 * np.eye(2)
    Omega = np.zeros((5, 5))
    Omega[:3, :3] = w * np.array([[0, -1, -arm], [1, 0, 0], [arm, 0, 0]])
    Q = np.array([G * c, -G * s, -G * arm * s, -250 * x - damping * q[3], -5 * G])
    L = np.array([[s, -c, 0], [c, s, 0], [0, 0, 0], [-1, 0, 0], [0, -1, 1.0]])
    L_dot = w * np.array([[c, s, 0], [-s, c, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]])
    B2 = L.T @ np.linalg.inv(M)
    lam = np.linalg.solve(B2 @ L, (B2 @ Omega - L_dot.T) @ q - B2 @ Q)
    return np.concatenate([[w, q[3]], np.linalg.solve(M, Q - Omega @ q + L @ lam)]), lam


@pytest.mark.parametrize(("case", "text"), [("default", DEFAULT), ("undamped", UNDAMPED), ("rod", ROD)])
def test_planar_equations_of_the_source(case, text):
    """The corrected planar equations give the figures of the reference, and kinode theirs along the whole record."""
    table, given = series(text), PARAMETERS[case]
    times = np.linspace(0, 10, 201)
    start = np.array([np.pi / 2, 0, 0, 0, 0, 0, 0])
    rates = lambda _, y: planar_rates(y, *given)[0]  # noqa: E731
    found = solve_ivp(rates, (0, 10), start, "DOP853", times, rtol=1e-12, atol=1e-13).y.T
    at = np.searchsorted(times, table[:, 0] - 1e-9)
    forces = np.array([planar_rates(y, *given)[1] for y in found])
    assert np.abs(found[at][:, [0, 4, 1]] - table[:, 1:4]).max() < 1e-8
    assert np.abs(forces[at] - table[:, 4:]).max() < 1e-8
    run = kn.simulate(elastic(case), 10.0, times=times, method="dop853", rtol=1e-12, atol=1e-13)
    motion = np.column_stack([run["hinge.q"], run["hinge.u"], run["rail.q"]])
    assert np.abs(motion - found[:, [0, 4, 1]]).max() < 1e-8
    hinge, guide = run["hinge.reaction.force"], run["rail.reaction.force"]
    assert np.abs(np.column_stack([hinge[:, :2], guide[:, 1]]) - forces).max() < 1e-8
