"""Quaternions of rotation matrices, about every axis and up to half a turn, against axis and angle."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kinode.algebra.spatial import quaternion_from_rotation, quaternion_of

AXES = [np.array(axis, dtype=float) for axis in itertools.product((-3, -1, 0, 1, 3), repeat=3) if any(axis)]
ANGLES = [*np.radians(np.arange(0.0, 181.0, 10.0)), 1e-9, np.pi - 1e-9]
WAYS = pytest.mark.parametrize("quaternion", [quaternion_from_rotation, quaternion_of])


def check(quaternion, axis, angle):
    """Rodrigues' formula makes the matrix; the quaternion is (cos, n sin) of half the angle."""
    n = axis / np.linalg.norm(axis)
    K = np.array([[0.0, -n[2], n[1]], [n[2], 0.0, -n[0]], [-n[1], n[0], 0.0]])
    R = np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K
    q = np.asarray(quaternion(R), dtype=float)
    expected = np.array([np.cos(angle / 2), *(np.sin(angle / 2) * n)])
    if angle > np.pi - 1e-12:  # half a turn is one about the opposite axis too
        expected = expected * np.sign(q @ expected)
    assert q[0] >= 0.0
    assert abs(q - expected).max() < 1e-15 * 8, (axis, angle)


@WAYS
def test_turns_about_many_axes(quaternion):
    for axis, angle in itertools.product(AXES, ANGLES):
        check(quaternion, axis, angle)


@WAYS
@given(axis=arrays(float, 3, elements=st.floats(-1, 1)).filter(lambda n: n @ n > 1e-6), angle=st.floats(0, np.pi))
def test_any_turn(quaternion, axis, angle):
    check(quaternion, axis, angle)
