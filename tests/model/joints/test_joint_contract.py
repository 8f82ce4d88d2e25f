"""The contract of a joint, over the whole registry, in every kind of number, walked from either side.

A joint says where it puts its child; everything else that it says must follow from that.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from number_kinds import KINDS

from kinode.algebra.scalars import rate, value_and_rate
from kinode.algebra.spatial import Pose, rotation_from_quaternion, skew
from kinode.model.joints.joint import JOINTS
from kinode.model.system import System
from kinode.structure.reversed_joint import Reversed

EXACT = 1e-12  # a few dozen operations on numbers of the order of 1
SEEDS = range(3)


def make(kind, **fields):
    """A joint of a kind, with a skew axis, its required numbers 0.3."""
    system = System("one")
    body = system.body("body", mass=1.0, inertia=(1.0, 1.0, 1.0))
    specs = JOINTS[kind].specs()
    for name, (field, _) in specs.items():
        if field.default is dataclasses.MISSING and name not in ("a", "b"):
            fields.setdefault(name, 0.3)
    if "axis" in specs:
        fields.setdefault("axis", (1.0, 2.0, -0.5))
    if "axes" in specs:
        fields.setdefault("axes", ((1.0, 2.0, -0.5), (0.3, -1.0, 0.8)))
    return system, system.joint("joint", kind, system.world, body, **fields)


def mechanics_of(kind, way):
    system, joint = make(kind)
    return (Reversed(joint) if way == "reversed" else joint), joint.form(system.nominal)


def random_q(joint, seed):
    rng = np.random.default_rng(seed)
    q = rng.uniform(-1.5, 1.5, joint.n_q)
    if joint.quaternion is not None:
        k = joint.quaternion
        q[k : k + 4] = rng.normal(size=4)
        q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
    return q, rng.uniform(-2.0, 2.0, joint.n_u)


def flat(X):
    return np.concatenate([np.asarray(X.R, dtype=object).ravel(), X.p])


def plain(X):
    return Pose(np.asarray(X.R, dtype=float), np.asarray(X.p, dtype=float))


def velocity_of_pose(joint, form, q, u):
    """[w; v] of M relative to F in M's axes, by differentiating the pose."""
    value, change = value_and_rate(lambda x: flat(joint.transform(x, form)), q, joint.rate_map(q, u))
    R, R_dot = value[:9].reshape(3, 3), change[:9].reshape(3, 3)
    turn = R.T @ R_dot
    return np.concatenate([[turn[2, 1], turn[0, 2], turn[1, 0]], R.T @ change[9:]])


every_joint = pytest.mark.parametrize("kind", JOINTS)
every_way = pytest.mark.parametrize("way", ["as declared", "reversed"])
every_number = pytest.mark.parametrize("number", KINDS)


@every_joint
def test_sizes(kind):
    _, joint = make(kind)
    assert joint.kind == kind
    assert joint.n_q == joint.n_u + (joint.quaternion is not None)
    assert all(unit in ("angle", "length") for _, unit in joint.coordinates)
    assert len({name for name, _ in joint.coordinates}) == joint.n_u


@every_joint
def test_frames_coincide_at_zero(kind):
    system, joint = make(kind)
    X = plain(joint.transform(joint.neutral_q(), joint.form(system.nominal)))
    assert abs(X.R - np.eye(3)).max() < EXACT
    assert abs(X.p).max() < EXACT


@every_joint
@every_way
@every_number
@pytest.mark.parametrize("seed", SEEDS)
def test_motion_subspace_is_the_derivative_of_the_pose(kind, way, number, seed):
    joint, form = mechanics_of(kind, way)
    q, u = random_q(joint, seed)

    def both(q, u):
        S = joint.motion_subspace(q, form)
        assert S.shape == (6, joint.n_u)
        return np.concatenate([S @ u if joint.n_u else np.zeros(6), velocity_of_pose(joint, form, q, u)])

    found = KINDS[number](both, (q, u))
    assert abs(found[:6] - found[6:]).max() < EXACT
    assert abs(found - KINDS["floats"](both, (q, u))).max() < EXACT


@every_joint
@every_way
@every_number
def test_the_pose_is_rigid(kind, way, number):
    joint, form = mechanics_of(kind, way)
    q, _ = random_q(joint, 0)
    found = KINDS[number](lambda q: flat(joint.transform(q, form)), (q,))
    R = found[:9].reshape(3, 3)
    assert abs(R @ R.T - np.eye(3)).max() < EXACT
    assert np.linalg.det(R) > 0


@every_joint
@every_way
def test_the_known_turn_of_a_pose_is_its_rotation(kind, way):
    joint, form = mechanics_of(kind, way)
    X = joint.transform(random_q(joint, 1)[0], form)
    if X.turn is not None:
        axis, c, s = X.turn
        j, k = (axis + 1) % 3, (axis + 2) % 3
        assert (X.R[axis, axis], X.R[j, j], X.R[k, k], X.R[k, j], X.R[j, k]) == pytest.approx((1.0, c, c, s, -s))


@every_joint
@every_number
def test_rates_are_linear_in_speeds_and_keep_quaternions_unit(kind, number):
    _, joint = make(kind)
    q, u = random_q(joint, 2)
    rates = KINDS[number](joint.rate_map, (q, u))
    assert rates.shape == (joint.n_q,)
    parts = [u_k * KINDS[number](joint.rate_map, (q, e)) for u_k, e in zip(u, np.eye(joint.n_u), strict=True)]
    assert abs(sum(parts, np.zeros(joint.n_q)) - rates).max(initial=0.0) < EXACT
    if joint.quaternion is not None:
        k = slice(joint.quaternion, joint.quaternion + 4)
        assert abs(q[k] @ rates[k]) < EXACT
    else:
        assert rates == pytest.approx(u)


def pose_near(X, e):
    """The pose moved by a small twist [w; v] in its own axes."""
    return Pose(X.R @ (np.eye(3) + skew(e[:3])), X.p + X.R @ e[3:])


@every_joint
@pytest.mark.parametrize("seed", SEEDS)
def test_closure_vanishes_where_the_joint_allows_and_forbids_the_rest(kind, seed):
    joint, form = mechanics_of(kind, "as declared")
    q, _ = random_q(joint, seed)
    X = plain(joint.transform(q, form))
    residuals = np.asarray(joint.closure(X, form), dtype=float)
    assert residuals.shape == (6 - joint.n_u,)
    assert abs(residuals).max(initial=0.0) < EXACT
    columns = [rate(lambda e: joint.closure(pose_near(X, e), form), np.zeros(6), d) for d in np.eye(6)]
    G = np.array(columns, dtype=float).T
    assert np.linalg.matrix_rank(G, tol=1e-6) == 6 - joint.n_u
    S = np.asarray(joint.motion_subspace(q, form), dtype=float)
    assert abs(G @ S).max(initial=0.0) < EXACT


@every_joint
@every_number
def test_closure_in_every_kind_of_number(kind, number):
    joint, form = mechanics_of(kind, "as declared")
    c = np.random.default_rng(5).uniform(0.2, 0.6, 7)
    c[:4] /= np.linalg.norm(c[:4])

    def residuals(c):
        return joint.closure(Pose(rotation_from_quaternion(c[:4]), c[4:]), form)

    assert KINDS[number](residuals, (c,)) == pytest.approx(KINDS["floats"](residuals, (c,)), abs=EXACT)


@every_joint
@pytest.mark.parametrize("seed", SEEDS)
def test_coordinates_are_found_again(kind, seed):
    joint, form = mechanics_of(kind, "as declared")
    q, _ = random_q(joint, seed)
    found = joint.solve_coordinates(plain(joint.transform(q, form)), form)
    if joint.quaternion is not None:
        k = slice(joint.quaternion, joint.quaternion + 4)
        q[k] *= np.sign(q[k] @ found[k])
    assert abs(found - q).max(initial=0.0) < 1e-9  # a quaternion comes from square roots of differences


@every_joint
@every_way
@every_number
def test_efforts_do_the_work_that_speeds_ask_for(kind, way, number):
    joint, form = mechanics_of(kind, way)
    q, _ = random_q(joint, 3)

    def work(q):
        S, T = joint.motion_subspace(q, form), joint.effort_wrench(q, form)
        assert T.shape == (6, joint.n_u)
        return S.T @ T

    assert abs(KINDS[number](work, (q,)) - np.eye(joint.n_u)).max(initial=0.0) < EXACT


@every_joint
def test_both_sides_of_a_joint_see_one_effort(kind):
    """The effort's wrench on F is the opposite of that on M, moved to F."""
    (joint, form), (back, _) = (mechanics_of(kind, way) for way in ("as declared", "reversed"))
    q, _ = random_q(joint, 4)
    X = plain(joint.transform(q, form))
    T = np.asarray(joint.effort_wrench(q, form), dtype=float)
    force = X.R @ T[3:]
    moment = X.R @ T[:3] + np.cross(X.p, force, axis=0)
    assert abs(np.vstack([-moment, -force]) - back.effort_wrench(q, form).astype(float)).max(initial=0.0) < EXACT


@every_joint
def test_the_axis_is_carried_to_z(kind):
    system, joint = make(kind)
    C = np.asarray(joint.axis_rotation(system.nominal, system.nominal), dtype=float)
    assert abs(C @ C.T - np.eye(3)).max() < EXACT
    assert np.linalg.det(C) > 0
    first = getattr(joint, "axis", None) or getattr(joint, "axes", [None])[0]
    if first is not None:
        assert C[:, 2] == pytest.approx(np.array(first) / np.linalg.norm(first))


@pytest.mark.parametrize("axis", ["x", "-x", "y", "-y", "z", "-z", (0.0, 0.0, 2.0), (0.0, -3.0, 0.0), (1.0, 1.0, 0.0)])
def test_any_axis(axis):
    system, joint = make("revolute", axis=axis)
    C = np.asarray(joint.axis_rotation(system.nominal, system.nominal), dtype=float)
    letters = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}
    v = np.array(axis) if isinstance(axis, tuple) else np.array(letters[axis[-1]]) * (-1 if axis[0] == "-" else 1)
    assert C[:, 2] == pytest.approx(v / np.linalg.norm(v))
    assert abs(C @ C.T - np.eye(3)).max() < EXACT
    assert np.linalg.det(C) > 0


@pytest.mark.parametrize("kind", ["spherical", "free"])
def test_quaternions_turn_the_child_by_its_own_angular_velocity(kind):
    """FACE: scalar first, child to parent; u is in child axes."""
    _, joint = make(kind)
    q = joint.neutral_q()
    u = np.zeros(joint.n_u)
    u[-3:] = (0.0, 0.0, 2.0)
    rates = joint.rate_map(q, u).astype(float)
    assert rates[-4:] == pytest.approx([0.0, 0.0, 0.0, 1.0])
    half = np.pi / 4
    q[-4:] = (np.cos(half), 0.0, 0.0, np.sin(half))
    R = np.asarray(joint.transform(q, np.empty(0)).R, dtype=float)
    assert R @ [1.0, 0.0, 0.0] == pytest.approx([0.0, 1.0, 0.0])
