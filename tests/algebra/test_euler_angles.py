"""Euler angles: any rotation there and back, rates against differences, and where they are singular."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from strategies import turn

from kinode.algebra.rotations import UPRIGHT, euler_angles, euler_rates, rotation_from_euler
from kinode.algebra.spatial import rotation_from_quaternion


def near(a, b):
    assert abs(np.asarray(a) - np.asarray(b)).max() < 1e-14


@given(st.integers(0, 999))
def test_euler_angles_of_any_rotation(seed):
    rng = np.random.default_rng(seed)
    R, C, w = turn(rng), turn(rng), rng.normal(size=3)
    angles = euler_angles(R, C)
    near(rotation_from_euler(*angles, C), R)
    step = 1e-6
    later = [euler_angles(R @ rotation_about_vector(k * step * w), C) for k in (-1, 1)]
    change = (later[1] - later[0] + np.pi) % (2 * np.pi) - np.pi
    # A central difference: rounding leaves 1e-10, its third derivative grows as the axes come together.
    assert abs(change / (2 * step) - euler_rates(R, w, C)).max() < 1e-8 / np.sin(angles[1]) ** 3


def rotation_about_vector(a):
    size = np.linalg.norm(a)
    return rotation_from_quaternion(np.concatenate([[np.cos(size / 2)], np.sin(size / 2) * a / size])).astype(float)


def test_euler_angles_where_they_are_singular():
    """Planar motion: theta = 0 without C, and all regular with the remedy of (T-10.4)."""
    R = rotation_from_euler(0.3, 0.0, 0.4)
    near(euler_angles(R), [0.7, 0.0, 0.0])
    near(euler_rates(R, np.array([0.3, -0.4, 1.0])), [1.0, 0.5, 0.0])
    near(euler_angles(rotation_from_euler(0.3, np.pi, 0.4)), [-0.1, np.pi, 0.0])
    near(euler_rates(rotation_from_euler(0.3, np.pi, 0.4), np.array([0.0, 0.0, 1.0])), [-1.0, 0.0, 0.0])
    near(euler_angles(R, UPRIGHT), [0.7, np.pi / 2, 0.0])
    near(euler_rates(R, np.array([0.0, 0.0, 1.5]), UPRIGHT), [1.5, 0.0, 0.0])
