"""Rows about equations as formulas: spatial chains of revolute joints, against SymPy's Lagrange and Kane.

Both sides go from a description to SymPy objects: the mass matrix and what stands beside it, with a name for each
parameter.  SymPy does so with its own mechanics package, without simplifying.  Every measurement is a fresh process
that derives a chain of one joint first and reports the seconds of the chain asked for, without imports.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

from measure import Row, Side

LIMIT = 300.0  # seconds a process may take; what takes longer counts as that
OURS = """
import time, sympy
import kinode as kn
def derive(n):
    system = kn.System("chain")
    last = system.world
    for i in range(n):
        m, l, A, C = (system.parameter(f"{{x}}{{i}}", 1.0 + 0.1 * i) for x in "mlAC")
        body = system.body(f"b{{i}}", mass=m, com=(l, 0, 0), inertia=(A, C, C))
        system.revolute(f"j{{i}}", last, body, axis="xyz"[(i + 2) % 3])
        last = body.at(l, 0, 0)
    return kn.equations(system, shape="named")
derive(1)
started = time.perf_counter()
derive({n})
print(time.perf_counter() - started)
"""
VECTORS = """
import time
import numpy as np
import kinode as kn
def chain(n):
    system, rng = kn.System("chain"), np.random.default_rng(n)
    last = system.world
    for i in range(n):
        com = tuple(0.2 * rng.normal(size=3))
        body = system.body(f"b{{i}}", mass=1.0 + 0.1 * i, com=com, inertia=(0.1, 0.12, 0.15))
        system.revolute(f"j{{i}}", last, body, axis="xyz"[(i + 2) % 3])
        last = body.at(*0.3 * rng.normal(size=3))
    return system
def derive(n):
    q, u, u_dot = np.random.default_rng(n).normal(size=(3, n))
    sheet = kn.equations(chain(n), "{method}", reactions=["j0"], shape="vectors")
    return sheet.text(), sheet.values(0.0, q, u, u_dot).text()
derive(1)
started = time.process_time()
derive({n})
print(time.process_time() - started)
"""
SYMPY = """
import time, sympy
from sympy.physics.mechanics import (
    Body, KanesMethod, Lagrangian, LagrangesMethod, Point, ReferenceFrame, RigidBody, dynamicsymbols, inertia)
def derive(n):
    N, O, g = ReferenceFrame("N"), Point("O"), sympy.Symbol("g")
    O.set_vel(N, 0)
    q, u = dynamicsymbols(f"q:{{n}}"), dynamicsymbols(f"u:{{n}}")
    frame, at, bodies, forces, V = N, O, [], [], 0
    for i in range(n):
        m, l, A, C = sympy.symbols(" ".join(f"{{x}}{{i}}" for x in "mlAC"))
        B = frame.orientnew(f"B{{i}}", "Axis", [q[i], getattr(frame, "xyz"[(i + 2) % 3])])
        rate = q[i].diff() if {lagrange} else u[i]
        B.set_ang_vel(frame, rate * getattr(frame, "xyz"[(i + 2) % 3]))
        c, tip = at.locatenew(f"c{{i}}", l * B.x), at.locatenew(f"t{{i}}", l * B.x)
        c.v2pt_theory(at, N, B)
        tip.v2pt_theory(at, N, B)
        body = RigidBody(f"b{{i}}", c, B, m, (inertia(B, A, C, C), c))
        body.potential_energy = m * g * c.pos_from(O).dot(N.z)
        bodies.append(body)
        forces.append((c, -m * g * N.z))
        frame, at = B, tip
    if {lagrange}:
        method = LagrangesMethod(Lagrangian(N, *bodies), q)
        method.form_lagranges_equations()
    else:
        method = KanesMethod(N, q_ind=q, u_ind=u, kd_eqs=[a.diff() - b for a, b in zip(q, u)])
        method.kanes_equations(bodies, forces)
    M, h = method.mass_matrix, method.forcing
derive(1)
started = time.perf_counter()
derive({n})
print(time.perf_counter() - started)
"""


def seconds(code: str) -> float:
    """What a fresh process reports, or the limit."""
    try:
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=LIMIT, check=True)
    except subprocess.TimeoutExpired:
        return LIMIT
    return float(done.stdout)


def side(code: str) -> Callable[[], Side]:
    """A side whose every call is a fresh process."""
    return lambda: Side(lambda count: sum(seconds(code) for _ in range(count)))


def rows() -> list[Row]:
    """Derivation at the same size, and ours at eight joints against SymPy's at four; reactions in vectors."""
    found = [
        Row(f"reactions of a chain of 20 in vectors, with all values, by {method}", "limit",
            side(VECTORS.format(n=20, method=method)), lambda: Side(float), 1.0, at_most=True, unit="s", rounds=3)
        for method in ("quasi_base", "rotators")
    ]  # fmt: skip
    for name, lagrange in (("Kane", False), ("Lagrange", True)):
        for n in (2, 3, 4):
            ours, peer = OURS.format(n=n), SYMPY.format(n=n, lagrange=lagrange)
            asked = 20.0 if n == 4 else None
            work = f"equations of a spatial chain of {n}, as SymPy objects"
            found.append(Row(work, f"SymPy, {name}", side(ours), side(peer), asked, unit="s", rounds=3))
        work = "equations of a spatial chain of 8 against one of 4"
        peer = SYMPY.format(n=4, lagrange=lagrange)
        found.append(Row(work, f"SymPy, {name}", side(OURS.format(n=8)), side(peer), 1.0, unit="s", rounds=2))
    return found
