"""How the equations of an assembly change along its constraints: exact second derivatives along directions.

The Jacobian of the pose errors is part of what the kernel of poses gives, so that its rate along a direction is a
forward sweep over that kernel's tape, or dual numbers in large systems.  In a closed position the errors are
zero and stay zero along the constraints; so the map from angular velocities to rotation vectors does not change there.
"""

from __future__ import annotations

import numpy as np

from kinode.algebra.rotation_vectors import inverse_right_jacobian_rate, inverse_right_jacobians
from kinode.algebra.scalars import Array
from kinode.algebra.spatial import rotation_from_quaternion, skew
from kinode.dynamics.initialization.assembly_problem import AssemblyProblem
from kinode.dynamics.initialization.initial_values import find_offset


def find_curvature(
    problem: AssemblyProblem, x: Array, tangent: Array, rows: Array, weights: Array, lam: Array
) -> Array:  # fmt: skip
    """Second derivatives of 1/2 d' W d + lam' r along the columns of a tangent, at a closed position.

    ``d`` are the offsets from the requested coordinates, ``r`` the equations in ``rows``.
    """
    d, D = problem.offsets(x)
    second = np.zeros((tangent.shape[1], tangent.shape[1]))
    for k, step in enumerate(tangent.T):
        out = problem.rates_along(x, step)
        change = D.T @ (weights * (D @ step)) + _offset_rates(problem, x, step, out).T @ (weights * d)
        change += _equation_rates(problem, out)[rows].T @ lam
        second[:, k] = tangent.T @ change
    return 0.5 * (second + second.T)


def _equation_rates(problem: AssemblyProblem, out: Array) -> Array:
    """The rate of the Jacobian of the equations, from that of the kernel's result."""
    plan, n = problem.poses.plan, len(problem.poses.cuts)
    A = np.zeros((6 * n, problem.n_u))
    A[plan.rows, plan.columns] = out[plan.entries]
    A.reshape(n, 6, problem.n_u)[:, 3:] /= problem.length
    parts = [A]
    if problem.loops is not None and problem.element_rows.any():
        m, (rows, columns) = len(problem.loops.names), problem.loops.pattern
        G = np.zeros((m, problem.n_u))
        G[rows, columns] = out[len(out) - len(rows) :]
        parts.append((G / problem.loops.scale[:, None])[problem.element_rows])
    if problem.given_followers:
        parts.append(_follower_rates(problem, out)[problem.given_followers])
    return np.vstack(parts)


def _follower_rates(problem: AssemblyProblem, out: Array) -> Array:
    """The rates of how speeds change the offsets of followers."""
    ratios = out[problem.poses.plan.followers][:, 2]
    units = problem.units[len(problem.units) - len(problem.followers) :]
    rates: Array = problem.poses.leading * (ratios / units)[:, None]
    return rates


def _offset_rates(problem: AssemblyProblem, x: Array, step: Array, out: Array) -> Array:
    """The rates of how speeds change the offsets of all joints; quaternions and followers have some."""
    n = problem.n_u
    rates = np.zeros((n, n))
    for name, where in problem.u_of.items():
        head = problem.joints[name].quaternion
        if head is None or name not in problem.requested.joints:
            continue
        q, u = x[problem.q_of[name]], step[where]
        block = np.zeros((len(u), len(u)))
        if head:
            block[:head, :head] = (rotation_from_quaternion(q[head:]) @ skew(u[head:])).astype(float)
        turn = find_offset(problem.joints[name], q, problem.requested.joints[name].q)[0][head:]
        turning = inverse_right_jacobians(turn[None])[0] @ u[head:]
        block[head:, head:] = inverse_right_jacobian_rate(turn, turning)
        rates[where, where] = block
    rates /= problem.units[:n, None]
    return np.vstack([rates, _follower_rates(problem, out)]) if problem.followers else rates
