"""The steps of the recursive formulation at one link: pure functions of one body, for every scalar type.

Unrolled over a tree, their constants fold.  Traced once for each type of joint, with the numbers of the body as inputs,
they become the body of a loop over a table of links.

Accelerations are the classical ones of a link's origin, ``A = [angular; linear]`` in link axes, so that
velocities of points do not occur: with pole O, first moment h and tensor J about O (T-1.3), (T-1.4), (T-6.6),

    force  = m W + eps x h + w x (w x h)
    moment = J eps + h x W + w x (J w)
    eps_k  = R' eps_P + S_w u_dot + c_w,     W_k = R' (W_P + eps_P x p) + S_v u_dot + c_v

Gravity enters as the acceleration -g of the base.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinode.algebra.scalars import Array, Scalar, rate
from kinode.algebra.spatial import (
    ArticulatedInertia,
    Pose,
    RigidInertia,
    cross,
    dot,
    moved_force,
    moved_motion,
    solve_spd,
)


class LinkKinematics(NamedTuple):
    """A link after the outward step: pose X_FM of its joint, subspace S, angular velocity w, bias acceleration c."""

    X: Pose
    S: Array
    w: Array
    c_w: Array
    c_v: Array


class JointFactor(NamedTuple):
    """Articulated inertia factor of a joint, from the inward step: U = I S, the inverse of D = S'U, and tau - S'p."""

    U: Array
    D_inverse: Array
    share: Array


Spatial = tuple[Array, Array]


def move(mechanics: Any, X_PF: Pose, form: Array, q: Array, u: Array, w_P: Array) -> LinkKinematics:
    """Outward step: pose, subspace, angular velocity and bias acceleration of a link, from q and u of its joint."""
    X = mechanics.transform(q, form)
    S = mechanics.motion_subspace(q, form)
    w_F = X_PF.R.T @ w_P
    w_M = X.R.T @ w_F
    relative = S @ u if mechanics.n_u else np.zeros(6)
    w_r, v_r = relative[:3], relative[3:]
    centripetal = X_PF.R.T @ cross(w_P, cross(w_P, X_PF.p)) + cross(w_F, cross(w_F, X.p))
    c_w = cross(w_M, w_r)
    c_v = X.R.T @ centripetal + 2.0 * cross(w_M, v_r) + cross(w_r, v_r)
    if mechanics.n_u:
        bias = rate(lambda x: mechanics.motion_subspace(x, form) @ u, q, mechanics.rate_map(q, u))
        c_w, c_v = c_w + bias[:3], c_v + bias[3:]
    return LinkKinematics(X, S, w_M + w_r, c_w, c_v)


def bias_wrench(inertia: RigidInertia, w: Array) -> Spatial:
    """The wrench that a rotating body needs without any acceleration: [w x (J w); w x (w x h)]."""
    return cross(w, inertia.J @ w), cross(w, cross(w, inertia.moment))


def inertia_wrench(inertia: RigidInertia, w: Array, A: Spatial) -> Spatial:
    """Moment about the link's origin and force that the link's motion needs."""
    bias_moment, bias_force = bias_wrench(inertia, w)
    eps, W = A
    moment = inertia.J @ eps + cross(inertia.moment, W) + bias_moment
    force = inertia.mass * W + cross(eps, inertia.moment) + bias_force
    return moment, force


def carry(X_PF: Pose, link: LinkKinematics, A_P: Spatial) -> Spatial:
    """The acceleration of a link for u_dot = 0 of its joint: that of its parent, and the bias."""
    w, v = moved_motion(link.X, *moved_motion(X_PF, *A_P))
    return w + link.c_w, v + link.c_v


def accelerate(link: LinkKinematics, A: Spatial, u_dot: Array) -> Spatial:
    """The link's acceleration, from ``carry`` and u_dot of its joint."""
    if len(u_dot) == 0:
        return A
    own = link.S @ u_dot
    return A[0] + own[:3], A[1] + own[3:]


def gather(
    S: Array, inertia: ArticulatedInertia, p: Spatial, tau: Array,
    free: Scalar | None = None, armature: Array | None = None,
) -> JointFactor:  # fmt: skip
    """Inward step: the factor of the articulated inertia along the joint's freedoms.

    ``free`` is 1 where the joint moves and 0 where it is stuck: with D^-1 = 0 its acceleration is zero, and the parent
    carries the whole link.  ``armature`` is inertia of the freedoms themselves, as of rotors that are geared to them.
    """
    U = np.vstack([inertia.J @ S[:3] + inertia.H @ S[3:], inertia.H.T @ S[:3] + inertia.M @ S[3:]])
    D = S.T @ U if armature is None else S.T @ U + np.diag(armature)
    n = D.shape[0]
    D_inverse = np.array([[1.0 / D[0, 0]]], dtype=object) if n == 1 else solve_spd(D, np.eye(n))
    if free is not None:
        D_inverse = free * D_inverse
    share = tau - S.T @ np.concatenate(p)
    return JointFactor(U, D_inverse, share)


def pass_on(
    link: LinkKinematics, inertia: ArticulatedInertia, p: Spatial, factor: JointFactor
) -> tuple[ArticulatedInertia, Spatial]:
    """Inward step: articulated inertia and bias force that the parent has to carry, in the link's axes."""
    K = factor.U @ factor.D_inverse
    rest = _reduced(inertia, K, factor.U)
    moment, force = rest.times(link.c_w, link.c_v)
    push = K @ factor.share
    return rest, (p[0] + moment + push[:3], p[1] + force + push[3:])


def pass_on_driven(
    link: LinkKinematics, inertia: ArticulatedInertia, p: Spatial, u_dot: Array
) -> tuple[ArticulatedInertia, Spatial]:
    """The same for a prescribed acceleration of the joint: the parent carries the whole link."""
    c_w, c_v = accelerate(link, (link.c_w, link.c_v), u_dot)
    moment, force = inertia.times(c_w, c_v)
    return inertia, (p[0] + moment, p[1] + force)


def _reduced(inertia: ArticulatedInertia, K: Array, U: Array) -> ArticulatedInertia:
    """I - U D^-1 U', block by block; symmetric blocks stay exactly symmetric."""
    J, H, M = (np.array(block, dtype=object) for block in (inertia.J, inertia.H, inertia.M))
    for i in range(3):
        for j in range(3):
            H[i, j] = _subtract_product(H[i, j], K[i], U[3 + j])
            if j >= i:
                J[i, j] = J[j, i] = _subtract_product(J[i, j], K[i], U[j])
                M[i, j] = M[j, i] = _subtract_product(M[i, j], K[3 + i], U[3 + j])
    return ArticulatedInertia(J, H, M)


def _subtract_product(x: Scalar, a: Array, b: Array) -> Scalar:
    for one, two in zip(a, b, strict=True):
        x = x - one * two
    return x


def lift_inertia(X_PF: Pose, link: LinkKinematics, inertia: ArticulatedInertia) -> ArticulatedInertia:
    """An inertia in link axes, transformed to the parent's frame."""
    return inertia.seen_from(link.X).seen_from(X_PF)


def lift_wrench(X_PF: Pose, link: LinkKinematics, wrench: Spatial) -> Spatial:
    """A wrench in link axes, transformed to the parent's frame."""
    return moved_force(X_PF, *moved_force(link.X, *wrench))


def momentum_sums(inertia: RigidInertia, w: Array, v: Array, X: Pose) -> tuple[Array, Array, Array, Array, Array]:
    """Kinetic energy, momentum, angular momentum about the world's origin, first moment and mass of a link."""
    force = inertia.mass * v + cross(w, inertia.moment)
    moment = inertia.J @ w + cross(inertia.moment, v)
    energy = 0.5 * (dot(w, moment) + dot(v, force))
    L, P = moved_force(X, moment, force)
    first = inertia.mass * X.p + X.R @ inertia.moment
    return np.array([energy]), P, L, first, np.array([inertia.mass])


def joint_acceleration(factor: JointFactor, A: Spatial) -> Array:
    """u_dot of the joint: D^-1 (share - U'A)."""
    result: Array = factor.D_inverse @ (factor.share - factor.U.T @ np.concatenate(A))
    return result
