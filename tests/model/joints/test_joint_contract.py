"""The contract of a joint, over the whole registry; and what is said of axes and quaternions."""

from __future__ import annotations

import numpy as np
import pytest
from joint_contract import CHECKS, EXACT, make_joint

from kinode.model.joints.joint import JOINTS


@pytest.mark.parametrize("kind", JOINTS)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_contract(kind, check):
    check(kind)


@pytest.mark.parametrize("axis", ["x", "-x", "y", "-y", "z", "-z", (0.0, 0.0, 2.0), (0.0, -3.0, 0.0), (1.0, 1.0, 0.0)])
def test_any_axis(axis):
    system, joint = make_joint("revolute", axis=axis)
    C = np.asarray(joint.axis_rotation(system.nominal, system.nominal), dtype=float)
    letters = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}
    v = np.array(axis) if isinstance(axis, tuple) else np.array(letters[axis[-1]]) * (-1 if axis[0] == "-" else 1)
    assert C[:, 2] == pytest.approx(v / np.linalg.norm(v))
    assert abs(C @ C.T - np.eye(3)).max() < EXACT
    assert np.linalg.det(C) > 0


@pytest.mark.parametrize("kind", ["spherical", "free"])
def test_quaternions_turn_the_child_by_its_own_angular_velocity(kind):
    """Scalar first, child to parent; u is in child axes."""
    _, joint = make_joint(kind)
    q = joint.neutral_q()
    u = np.zeros(joint.n_u)
    u[-3:] = (0.0, 0.0, 2.0)
    rates = joint.rate_map(q, u).astype(float)
    assert rates[-4:] == pytest.approx([0.0, 0.0, 0.0, 1.0])
    half = np.pi / 4
    q[-4:] = (np.cos(half), 0.0, 0.0, np.sin(half))
    R = np.asarray(joint.transform(q, np.empty(0)).R, dtype=float)
    assert R @ [1.0, 0.0, 0.0] == pytest.approx([0.0, 1.0, 0.0])
