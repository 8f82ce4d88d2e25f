"""The contract of a joint: it says where it puts its child; everything else that it says must follow from that.

``check_joint`` holds a kind to all of it, in every kind of number and walked from either side.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from number_kinds import KINDS

import kinode as kn
from kinode.algebra.scalars import rate, value_and_rate
from kinode.algebra.spatial import rotation_from_quaternion, skew
from kinode.model.joints.joint import JOINTS
from kinode.structure.tree import Reversed

EXACT = 1e-12  # a few dozen operations on numbers of the order of 1
SEEDS = range(3)
WAYS = ("as declared", "reversed")


def needed_fields(kind: str, number: float = 0.3) -> dict[str, Any]:
    """A number for each field that a kind of joint needs beside its ends."""
    specs = JOINTS[kind].specs().items()
    needed = (name for name, (field, _) in specs if field.default is dataclasses.MISSING)
    return {name: number for name in needed if name not in ("a", "b")}


def make_joint(kind: str, **fields: Any) -> tuple[kn.System, kn.Joint]:
    """A joint of a kind, with a skew axis."""
    system = kn.System("one")
    body = system.body("body", mass=1.0, inertia=(1.0, 1.0, 1.0))
    specs = JOINTS[kind].specs()
    fields = needed_fields(kind) | fields
    if "axis" in specs:
        fields.setdefault("axis", (1.0, 2.0, -0.5))
    if "axes" in specs:
        fields.setdefault("axes", ((1.0, 2.0, -0.5), (0.3, -1.0, 0.8)))
    return system, system.joint("joint", kind, system.world, body, **fields)


def mechanics_of(kind: str, way: str = "as declared") -> tuple[Any, np.ndarray]:
    """The joint, as it is or walked from its child, and its constants."""
    system, joint = make_joint(kind)
    return (Reversed(joint) if way == "reversed" else joint), joint.form(system.nominal)


def random_q(joint: Any, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    q = rng.uniform(-1.5, 1.5, joint.n_q)
    if joint.quaternion is not None:
        k = joint.quaternion
        q[k : k + 4] = rng.normal(size=4)
        q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
    return q, rng.uniform(-2.0, 2.0, joint.n_u)


def flat(X: kn.Pose) -> np.ndarray:
    return np.concatenate([np.asarray(X.R, dtype=object).ravel(), X.p])


def plain(X: kn.Pose) -> kn.Pose:
    return kn.Pose(np.asarray(X.R, dtype=float), np.asarray(X.p, dtype=float))


def velocity_of_pose(joint: Any, form: np.ndarray, q: np.ndarray, u: np.ndarray) -> np.ndarray:
    """[w; v] of M relative to F in M's axes, by differentiating the pose."""
    value, change = value_and_rate(lambda x: flat(joint.transform(x, form)), q, joint.rate_map(q, u))
    R, R_dot = value[:9].reshape(3, 3), change[:9].reshape(3, 3)
    turn = R.T @ R_dot
    return np.concatenate([[turn[2, 1], turn[0, 2], turn[1, 0]], R.T @ change[9:]])


def pose_near(X: kn.Pose, e: np.ndarray) -> kn.Pose:
    """The pose moved by a small twist [w; v] in its own axes."""
    return kn.Pose(X.R @ (np.eye(3) + skew(e[:3])), X.p + X.R @ e[3:])


# -- the contract --------------------------------------------------------------------------------------------
def sizes_fit(kind: str) -> None:
    _, joint = make_joint(kind)
    assert joint.kind == kind
    assert joint.n_q == joint.n_u + (joint.quaternion is not None)
    assert all(unit in ("angle", "length") for _, unit in joint.coordinates)
    assert len({name for name, _ in joint.coordinates}) == joint.n_u


def frames_coincide_at_zero(kind: str) -> None:
    system, joint = make_joint(kind)
    X = plain(joint.transform(joint.neutral_q(), joint.form(system.nominal)))
    assert abs(X.R - np.eye(3)).max() < EXACT
    assert abs(X.p).max() < EXACT


def motion_subspace_is_the_derivative_of_the_pose(kind: str) -> None:
    for way in WAYS:
        joint, form = mechanics_of(kind, way)

        def both(q: np.ndarray, u: np.ndarray, joint: Any = joint, form: np.ndarray = form) -> np.ndarray:
            S = joint.motion_subspace(q, form)
            assert S.shape == (6, joint.n_u)
            return np.concatenate([S @ u if joint.n_u else np.zeros(6), velocity_of_pose(joint, form, q, u)])

        for seed in SEEDS:
            state = random_q(joint, seed)
            for number, compute in KINDS.items():
                values = compute(both, state)
                assert abs(values[:6] - values[6:]).max() < EXACT, (way, number, seed)
                assert abs(values - KINDS["floats"](both, state)).max() < EXACT, (way, number, seed)


def the_pose_is_rigid(kind: str) -> None:
    for way in WAYS:
        joint, form = mechanics_of(kind, way)
        q, _ = random_q(joint, 0)
        for number, compute in KINDS.items():
            R = compute(lambda q, joint=joint, form=form: flat(joint.transform(q, form)), (q,))[:9].reshape(3, 3)
            assert abs(R @ R.T - np.eye(3)).max() < EXACT, (way, number)
            assert np.linalg.det(R) > 0, (way, number)


def the_known_turn_of_a_pose_is_its_rotation(kind: str) -> None:
    for way in WAYS:
        joint, form = mechanics_of(kind, way)
        X = joint.transform(random_q(joint, 1)[0], form)
        if X.turn is not None:
            axis, c, s = X.turn
            j, k = (axis + 1) % 3, (axis + 2) % 3
            entries = np.array([X.R[axis, axis], X.R[j, j], X.R[k, k], X.R[k, j], X.R[j, k]], dtype=float)
            assert abs(entries - [1.0, c, c, s, -s]).max() < EXACT, way


def rates_are_linear_in_speeds_and_keep_quaternions_unit(kind: str) -> None:
    _, joint = make_joint(kind)
    q, u = random_q(joint, 2)
    for number, compute in KINDS.items():
        rates = compute(joint.rate_map, (q, u))
        assert rates.shape == (joint.n_q,)
        parts = [u_k * compute(joint.rate_map, (q, e)) for u_k, e in zip(u, np.eye(joint.n_u), strict=True)]
        assert abs(sum(parts, np.zeros(joint.n_q)) - rates).max(initial=0.0) < EXACT, number
        if joint.quaternion is not None:
            k = slice(joint.quaternion, joint.quaternion + 4)
            assert abs(q[k] @ rates[k]) < EXACT, number
        else:
            assert abs(rates - u).max(initial=0.0) < EXACT, number


def closure_vanishes_where_the_joint_allows_and_forbids_the_rest(kind: str) -> None:
    joint, form = mechanics_of(kind)
    for seed in SEEDS:
        q, _ = random_q(joint, seed)
        X = plain(joint.transform(q, form))
        residuals = np.asarray(joint.closure(X, form), dtype=float)
        assert residuals.shape == (6 - joint.n_u,)
        assert abs(residuals).max(initial=0.0) < EXACT, seed
        columns = [rate(lambda e, X=X: joint.closure(pose_near(X, e), form), np.zeros(6), d) for d in np.eye(6)]
        G = np.array(columns, dtype=float).T
        assert np.linalg.matrix_rank(G, tol=1e-6) == 6 - joint.n_u, seed
        S = np.asarray(joint.motion_subspace(q, form), dtype=float)
        assert abs(G @ S).max(initial=0.0) < EXACT, seed


def closure_in_every_kind_of_number(kind: str) -> None:
    joint, form = mechanics_of(kind)
    c = np.random.default_rng(5).uniform(0.2, 0.6, 7)
    c[:4] /= np.linalg.norm(c[:4])

    def residuals(c: np.ndarray) -> np.ndarray:
        return joint.closure(kn.Pose(rotation_from_quaternion(c[:4]), c[4:]), form)

    for number, compute in KINDS.items():
        assert abs(compute(residuals, (c,)) - KINDS["floats"](residuals, (c,))).max(initial=0.0) < EXACT, number


def coordinates_are_found_again(kind: str) -> None:
    joint, form = mechanics_of(kind)
    for seed in SEEDS:
        q, _ = random_q(joint, seed)
        again = joint.solve_coordinates(plain(joint.transform(q, form)), form)
        if joint.quaternion is not None:
            k = slice(joint.quaternion, joint.quaternion + 4)
            q[k] *= np.sign(q[k] @ again[k])
        assert abs(again - q).max(initial=0.0) < 1e-9, seed  # a quaternion comes from square roots of differences


def a_loop_closes_in_poses_of_the_joint_alone(kind: str) -> None:
    """Beside a free joint that stands exactly: in its poses, half turns of them, and any other pose."""
    joint, form = mechanics_of(kind)
    rng = np.random.default_rng(7)
    for axis in (None, *np.eye(3), rng.normal(size=3)):
        q, _ = random_q(joint, 5)
        X = plain(joint.transform(q, form))
        if axis is not None:
            axis = axis / np.linalg.norm(axis)
            X = kn.Pose(X.R @ (2 * np.outer(axis, axis) - np.eye(3)), X.p)
        again = plain(joint.transform(np.asarray(joint.solve_coordinates(X, form), dtype=float), form))
        allowed = max(abs(again.R - X.R).max(), abs(again.p - X.p).max()) < 1e-9
        system, record = make_joint(kind)
        C = kn.Pose(np.asarray(record.axis_rotation(system.nominal, system.nominal), dtype=float), np.zeros(3))
        placed = plain(C @ X @ C.inverse())
        pose = {"position": placed.p.tolist(), "matrix": placed.R.tolist()}
        system.free("beside", system.world, system["body"], **pose)
        if allowed:
            closed = kn.assemble(system)
            assert max(gap.angle + gap.length for gap in closed.residual.values()) < 1e-9
        else:
            with pytest.raises(kn.AssemblyError):
                kn.assemble(system)


def efforts_do_the_work_that_speeds_ask_for(kind: str) -> None:
    for way in WAYS:
        joint, form = mechanics_of(kind, way)
        q, _ = random_q(joint, 3)

        def work(q: np.ndarray, joint: Any = joint, form: np.ndarray = form) -> np.ndarray:
            S, T = joint.motion_subspace(q, form), joint.effort_wrench(q, form)
            assert T.shape == (6, joint.n_u)
            return S.T @ T

        for number, compute in KINDS.items():
            assert abs(compute(work, (q,)) - np.eye(joint.n_u)).max(initial=0.0) < EXACT, (way, number)


def both_sides_of_a_joint_see_one_effort(kind: str) -> None:
    """The effort's wrench on F is the opposite of that on M, moved to F."""
    (joint, form), (back, _) = (mechanics_of(kind, way) for way in WAYS)
    q, _ = random_q(joint, 4)
    X = plain(joint.transform(q, form))
    T = np.asarray(joint.effort_wrench(q, form), dtype=float)
    force = X.R @ T[3:]
    moment = X.R @ T[:3] + np.cross(X.p, force, axis=0)
    assert abs(np.vstack([-moment, -force]) - back.effort_wrench(q, form).astype(float)).max(initial=0.0) < EXACT


def the_axis_is_carried_to_z(kind: str) -> None:
    system, joint = make_joint(kind)
    C = np.asarray(joint.axis_rotation(system.nominal, system.nominal), dtype=float)
    assert abs(C @ C.T - np.eye(3)).max() < EXACT
    assert np.linalg.det(C) > 0
    first = getattr(joint, "axis", None) or getattr(joint, "axes", [None])[0]
    if first is not None:
        assert abs(C[:, 2] - np.array(first) / np.linalg.norm(first)).max() < EXACT


CHECKS: tuple[Callable[[str], None], ...] = (
    sizes_fit, frames_coincide_at_zero, motion_subspace_is_the_derivative_of_the_pose, the_pose_is_rigid,
    the_known_turn_of_a_pose_is_its_rotation, rates_are_linear_in_speeds_and_keep_quaternions_unit,
    closure_vanishes_where_the_joint_allows_and_forbids_the_rest, closure_in_every_kind_of_number,
    coordinates_are_found_again, a_loop_closes_in_poses_of_the_joint_alone, efforts_do_the_work_that_speeds_ask_for,
    both_sides_of_a_joint_see_one_effort,
    the_axis_is_carried_to_z,
)  # fmt: skip


def check_joint(kind: str) -> None:
    """Hold a kind of joint to the whole contract."""
    for check in CHECKS:
        check(kind)
