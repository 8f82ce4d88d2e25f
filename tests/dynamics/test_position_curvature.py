"""Second derivatives of the equations of an assembly, against differences of their Jacobian."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import kinode as kn
from kinode.algebra.rotations import inverse_right_jacobian_rate, inverse_right_jacobians
from kinode.dynamics.starts import closure
from kinode.dynamics.starts.position_guess import find_curvature

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
STEP = 1e-5  # of differences: their error is its square, and rounding divided by it
WITHIN = 1e-8  # of the largest entry


def example(name: str) -> Callable[[], kn.System]:
    return lambda: kn.load(EXAMPLES / f"{name}.yaml")


def ball_loop() -> kn.System:
    """A loop with a ball joint, a free body that a rod holds at a distance, and a geared joint."""
    system = kn.System("balls", gravity=(0, 0, -9.81))
    link = system.body("link", mass=1.0, com=(0.2, 0, 0), inertia=(0.01, 0.02, 0.02))
    rod = system.body("rod", mass=1.0, com=(0.2, 0, 0), inertia=(0.01, 0.02, 0.02))
    wheel = system.body("wheel", mass=1.0, inertia=(0.1, 0.1, 0.1))
    buoy = system.body("buoy", mass=1.0, inertia=(0.1, 0.2, 0.3))
    system.revolute("base", system.world, link, axis="z", guess=0.3)
    system.spherical("ball", link.at(0.5, 0, 0), rod)
    system.spherical("end", rod.at(0.6, 0, 0), system.world.at(0.6, 0.3, 0.2))
    system.revolute("turn", system.world, wheel, axis="x", guess=0.1)
    system.gear("teeth", "turn", "base", ratio=2.0)
    system.free("drift", system.world, buoy)
    system.distance("tether", rod.at(0.1, 0, 0), buoy.at(0, 0.1, 0), distance=0.7)
    return system


@pytest.mark.parametrize("make", [*map(example, ("four_bar", "spatial_slider_crank", "stewart_platform")), ball_loop])
def test_curvature_is_that_of_differences(make, monkeypatch):
    dynamics = kn.compile(make())
    problem = dynamics.start.assembler(dynamics.start.initial_values, 0.0, None, None).problem
    x, rng = problem.position_of(dynamics.initial.q), np.random.default_rng(1)
    r, A = problem.equations(x)
    assert abs(r).max() < 1e-9
    _, sizes, V = np.linalg.svd(A)
    tangent = V[int((sizes > 1e-9 * sizes[0]).sum()) :].T
    rows = np.ones(len(r), dtype=bool)
    weights, lam = rng.uniform(0.1, 1.0, len(problem.weights)), rng.uniform(-1.0, 1.0, len(r))

    def slope(x):
        d, D = problem.offsets(x)
        return D.T @ (weights * d) + problem.equations(x)[1].T @ lam

    ends = [[slope(problem.advance(x, side * v)) for side in (STEP, -STEP)] for v in tangent.T]
    second = np.array([tangent.T @ (above - below) / (2 * STEP) for above, below in ends])
    wanted = 0.5 * (second + second.T)
    for by_dual_numbers in (False, True):
        monkeypatch.setattr(closure, "is_large", lambda _, large=by_dual_numbers: large)
        found = find_curvature(problem, x, tangent, rows, weights, lam)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=WITHIN * abs(wanted).max())


@pytest.mark.parametrize("angle", [0.0, 1e-3, 9.9e-3, 1.01e-2, 0.5, 3.0])
def test_rate_of_the_inverse_right_jacobian(angle):
    rng = np.random.default_rng(2)
    axis, rate = rng.normal(size=3), rng.normal(size=3)
    turn = angle * axis / np.linalg.norm(axis)
    above, below = (inverse_right_jacobians((turn + side * rate)[None])[0] for side in (STEP, -STEP))
    np.testing.assert_allclose(inverse_right_jacobian_rate(turn, rate), (above - below) / (2 * STEP), atol=1e-9)
