"""A row beside code that is generated for one model: forward dynamics in CasADi's symbols, as C, by the compiler.

The algorithm is that of articulated bodies on the numbers of Pinocchio's model, linear parts first as there.  Both
sides run in a compiled loop, without Python.
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import casadi as ca
import numpy as np

from dynamics import bind, kernel_loop
from measure import Row, Side
from models import pinocchio_model, robot, state

OPTIONS = ("-O3", "-march=native", "-ffast-math", "-shared", "-fPIC")
LOOP = """
void repeat(long long n, const double** arg, double** res) {
  casadi_int iw[1]; static double w[100000];
  for (long long k = 0; k < n; k++) forward(arg, res, iw, w, 0);
}
"""


def to_child(R: Any, p: Any) -> Any:
    """The matrix that brings motions from a parent to its child, which is turned by R and moved by p."""
    return ca.vertcat(ca.horzcat(R.T, -R.T @ ca.skew(p)), ca.horzcat(ca.SX(3, 3), R.T))


def cross(v: Any) -> Any:
    """The matrix of a motion that is multiplied by another; less its transpose is that for forces."""
    return ca.vertcat(ca.horzcat(ca.skew(v[3:]), ca.skew(v[:3])), ca.horzcat(ca.SX(3, 3), ca.skew(v[3:])))


def sparse(values: Any) -> Any:
    """Numbers whose zeros are left out of the code."""
    return ca.SX(ca.sparsify(ca.DM(np.where(abs(values) < 1e-9, 0.0, values))))


def rotation(axis: str, angle: Any) -> Any:
    """A turn about X, Y or Z."""
    k = "XYZ".index(axis)
    i, j, R = (k + 1) % 3, (k + 2) % 3, ca.SX(3, 3)
    R[k, k], R[i, i], R[i, j], R[j, i], R[j, j] = 1.0, ca.cos(angle), -ca.sin(angle), ca.sin(angle), ca.cos(angle)
    return R


def forward_dynamics(model: Any) -> Any:
    """The accelerations of a tree of hinges as a function of coordinates, speeds and efforts."""
    n = model.nv
    q, u, tau = (ca.SX.sym(name, n) for name in ("q", "u", "tau"))
    X, S, v, c, inertia, p = {}, {}, {0: ca.SX(6, 1)}, {}, {0: ca.SX(6, 6)}, {0: ca.SX(6, 1)}
    for i in range(1, n + 1):
        axis, at = model.joints[i].shortname()[-1], model.jointPlacements[i]
        R = sparse(at.rotation) @ rotation(axis, q[i - 1])
        X[i] = to_child(R, sparse(at.translation))
        S[i] = sparse(np.eye(6)[3 + "XYZ".index(axis)])
        v[i] = X[i] @ v[model.parents[i]] + S[i] * u[i - 1]
        c[i], inertia[i] = cross(v[i]) @ S[i] * u[i - 1], sparse(model.inertias[i].matrix())
        p[i] = -cross(v[i]).T @ inertia[i] @ v[i]
    U, D, rest, a, u_dot = {}, {}, {}, {0: -sparse(model.gravity.vector)}, ca.SX(n, 1)
    for i in range(n, 0, -1):
        U[i] = inertia[i] @ S[i]
        D[i], rest[i], parent = S[i].T @ U[i], tau[i - 1] - S[i].T @ p[i], model.parents[i]
        left = inertia[i] - U[i] @ U[i].T / D[i]
        inertia[parent] += X[i].T @ left @ X[i]
        p[parent] += X[i].T @ (p[i] + left @ c[i] + U[i] * rest[i] / D[i])
    for i in range(1, n + 1):
        a[i] = X[i] @ a[model.parents[i]] + c[i]
        u_dot[i - 1] = (rest[i] - U[i].T @ a[i]) / D[i]
        a[i] += S[i] * u_dot[i - 1]
    return ca.Function("forward", [q, u, tau], [u_dot], {"cse": True})


def generated(path: Path) -> Side:
    """Its C code in a loop."""
    model, _ = pinocchio_model(path)
    q, u = state(model.nv)
    folder = Path(tempfile.mkdtemp(prefix="kinode-bench-"))
    writer = ca.CodeGenerator("forward.c")
    writer.add(forward_dynamics(model))
    source = folder / "forward.c"
    source.write_text(writer.dump() + LOOP)
    subprocess.run(["cc", *OPTIONS, "-o", str(folder / "forward.so"), str(source), "-lm"], check=True)
    repeat = ctypes.CDLL(str(folder / "forward.so")).repeat
    arrays, out = [q, u, np.zeros(model.nv)], np.zeros(model.nv)
    given = (ctypes.c_void_p * 3)(*(array.ctypes.data for array in arrays))
    found = (ctypes.c_void_p * 1)(out.ctypes.data)

    def seconds(n: int, kept: Any = arrays) -> float:
        start = perf_counter()
        repeat(ctypes.c_longlong(n), given, found)
        return perf_counter() - start

    seconds(1)
    return Side(seconds, out.copy())


def rows() -> list[Row]:
    """The rows of this file."""
    path = robot("ur5_robot")
    work = "UR5: forward dynamics, compiled loop"
    return [Row(work, f"C of CasADi {ca.__version__}, cc {OPTIONS[0]}", bind(kernel_loop, path), bind(generated, path))]
