"""Free-flight systems against reference figures, by three derivations: recursion, balances, scalar equations.

Tolerances: 1e-10 of the balances, as the figures have it; 1e-8 of the largest value of each column of trajectories.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kinode as kn
from kinode.algebra.scalars import tidy
from kinode.algebra.spatial import quaternion_from_rotation, rotation_about, rotation_from_rpy
from kinode.algebra.trace import Tape
from kinode.formulations.free_flight import FreeFlight, ObservedBody, Origin, mass_center, system_balance
from kinode.jit import compiler, kernel_call
from kinode.jit.program import Block, Program
from kinode.kernels.kernel_options import Kernel
from kinode.kernels.kernel_table import sizes
from kinode.multibody.snapshot import Snapshot
from kinode.structure.state_layout import EvaluationPoint
from kinode.structure.topology import find_topology
from known import free_flight as known

G = np.array([0.0, 0.0, 9.80665])


def close(found, expected, tolerance=1e-8):
    """Column by column, relative to the largest entry."""
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    assert found.shape == expected.shape
    assert (abs(found - expected).max(axis=0) <= tolerance * abs(expected).max(axis=0)).all()


def column(x):
    return np.asarray(x, dtype=float).reshape(3, 1)


# -- general balances ---------------------------------------------------------------------------------


def attitude(body):
    axis = np.array(body["axis"])
    return tidy(rotation_about(axis / np.linalg.norm(axis), body["angle"]))


def known_part(body):
    """(T-8.6): the rate of H in XYZ, of a body that turns relative to it."""
    C, W, W1 = attitude(body), np.array(known.FRAME[2]), np.array(known.FRAME[3])
    w, a, rho = np.array(body["w_rel"]), np.array(body["a_rel"]), C @ np.array(body["rho_cg"])
    I, full, rate = C @ np.array(body["I"]) @ C.T, W + w, W1 + a
    H1 = np.cross(w, I @ full) - I @ np.cross(w, full) + I @ rate
    turning = np.cross(a, rho) + np.cross(w, np.cross(w, rho))
    vectors = (np.array(body["r"]), rho, I @ full, np.array(body["rdot"]), np.cross(w, rho))
    return ObservedBody(body["m"], *vectors, column(H1), column(body["rddot"]), column(turning))


def test_balances_of_three_bodies_in_a_moving_frame():
    V, V1, W, W1 = known.FRAME
    o = Origin(np.array(V), np.array(W), column(V1), column(W1))
    parts = [known_part(body) for body in known.BODIES]
    for part, force, moment in zip(parts, known.FORCES, known.MOMENTS, strict=True):
        assert part.force(o)[:, 0] == pytest.approx(force, abs=1e-10)
        assert part.moment(o)[:, 0] == pytest.approx(moment, abs=1e-10)
    force, moment = system_balance(o, parts)
    assert force[:, 0] == pytest.approx(known.FORCE, abs=1e-10)
    assert moment[:, 0] == pytest.approx(known.MOMENT, abs=1e-10)
    mass, center, rate, change = mass_center(parts)
    assert mass == pytest.approx(known.MASS)
    for found, expected in ((center, known.CENTER), (rate, known.CENTER_RATE), (change[:, 0], known.CENTER_CHANGE)):
        assert found == pytest.approx(expected, abs=1e-12)


def test_the_same_three_bodies_as_a_system_on_a_carrier():
    """Joint coordinates, speeds and accelerations in the place of vectors, so that the rates are ours."""
    V, V1, W, W1 = (np.array(x) for x in known.FRAME)
    system = kn.System("three", gravity=(0, 0, 0))
    carrier = system.body("carrier")
    system.free("flight", system.world, carrier)
    q, u, u_dot = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], [*V, *W], [*V1, *W1]
    for k, body in enumerate(known.BODIES):
        C, w = attitude(body), np.array(body["w_rel"])
        made = system.body(f"b{k}", mass=body["m"], com=body["rho_cg"], inertia=body["I"], about="origin")
        system.free(f"j{k}", carrier, made)
        q += [*body["r"], *quaternion_from_rotation(C)]
        speed, turning = C.T @ np.array(body["rdot"]), C.T @ w
        u += [*speed, *turning]
        u_dot += [*(C.T @ np.array(body["rddot"]) - np.cross(turning, speed)), *(C.T @ np.array(body["a_rel"]))]
    topology = find_topology(system)
    flight = FreeFlight(
        Snapshot(topology, EvaluationPoint(0.0, np.array(q), np.array(u))), system.find_frame("carrier")
    )
    found = flight.balances(np.array(u_dot))
    for k, (force, moment) in enumerate(zip(known.FORCES, known.MOMENTS, strict=True)):
        assert found[f"b{k}"].needed[1] == pytest.approx(force, abs=1e-10)
        assert found[f"b{k}"].needed[0] == pytest.approx(moment, abs=1e-10)
    assert found["system"].needed[1] == pytest.approx(known.FORCE, abs=1e-10)
    assert found["system"].needed[0] == pytest.approx(known.MOMENT, abs=1e-10)
    for balance in found.values():
        assert np.concatenate(balance.acting) == pytest.approx(np.concatenate(balance.needed), abs=1e-10)


# -- trajectories -------------------------------------------------------------------------------------


def flown(system, frame, times):
    """A run whose accelerations are solved from the balances about a frame: the same text, as machine code."""
    dynamics = kn.compile(system)
    topology, tape = dynamics.topology, Tape()
    count = sizes(topology, Kernel("rate"))
    snapshot = Snapshot(topology, topology.layout.traced_point(tape))
    flight = FreeFlight(snapshot, dynamics.system.find_frame(frame))
    outputs = np.concatenate([snapshot.q_dot, flight.u_dot, snapshot.z_dot])
    stores = [("out", i, x) for i, x in enumerate(outputs)]
    code = compiler.build(
        f"test free flight {frame}\n{dynamics.kernels.fingerprint}", 1,
        lambda: Program("kernel", {**count, "out": len(outputs)}, {}, [Block(1, {}, [stores])], False),
    )  # fmt: skip
    a, b = dynamics.n_q, dynamics.n_q + dynamics.n_u
    fixed = {"p": dynamics.parameters, "inputs": dynamics.inputs, "x": np.zeros(0)}

    def rate(t, y):
        return kernel_call.run(code, {"t": np.array([t]), "q": y[:a], "u": y[a:b], "z": y[b:], **fixed}).copy()

    y0 = dynamics.initial.y
    found = solve_ivp(rate, (times[0], times[-1]), y0, "DOP853", times, rtol=1e-12, atol=1e-12)
    return kn.Trajectory(dynamics, found.t, found.y.T)


def spinning_columns(run):
    seen = run.velocity("shell", relative_to="world", expressed_in="aero")
    turning = run.angular_velocity("shell", expressed_in="shell")
    return np.column_stack([seen, turning, run["aero.roll"], run["shell.position"]])


def vibrating_columns(run):
    slides = [run[f"{joint}.{key}"] for key in "qu" for joint in ("across", "upward")]
    guide = run.reaction("upward", expressed_in="shell").force[:, 0]
    vectors = (run["shell.velocity@shell"], run["shell.angular_velocity@shell"])
    return np.column_stack([*vectors, *slides, run["shell.position"], guide])


CASES = {
    "spinning": (known.spinning, known.SPINNING, spinning_columns),
    "vibrating": (known.vibrating, known.VIBRATING, vibrating_columns),
}


@pytest.mark.parametrize("name", CASES)
def test_trajectories_by_the_recursion(name):
    make, rows, columns = CASES[name]
    figures = np.array(rows)
    run = kn.simulate(make(), figures[-1, 0], times=figures[:, 0], method="dop853", rtol=1e-12, atol=1e-12)
    close(columns(run), figures[:, 1:])


@pytest.mark.parametrize(("name", "frame"), [
    ("spinning", "aero"), ("spinning", "plane"), ("vibrating", "shell"), ("vibrating", "drift"),
])  # fmt: skip
def test_trajectories_by_balances_about_any_frame(name, frame):
    make, rows, columns = CASES[name]
    figures, system = np.array(rows)[:4], make()
    system.frame("drift", "moving", position=("200*t", "sin(3*t)", -500), rpy=("t", 0.2, "sin(t)"))
    close(columns(flown(system, frame, figures[:, 0])), figures[:, 1:])


# -- scalar equations ---------------------------------------------------------------------------------


def solved(residual, count):
    """The unknowns of equations that are linear in them."""
    still = np.array(residual(*np.zeros(count)))
    A = np.column_stack([np.array(residual(*unit)) - still for unit in np.eye(count)])
    return np.linalg.solve(A, -still)


def skewed(w):
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def spinning_rates(closure):
    """(T-8.8) to (T-8.13), and the closure (T-8.14): state R, position, u v w, p q r, roll."""
    m, IX, IY, IZ, JXY, JXZ, JYZ, ycg, zcg = 43.0, 0.14, 1.25, 1.22, 0.012, -0.008, 0.02, 0.002, -0.0015

    def rates(t, state):
        R, (u, v, w, p, q, r, phi) = state[:9].reshape(3, 3), state[12:]
        c, s = np.cos(phi), np.sin(phi)
        qt, rt, y, z = q * c - r * s, q * s + r * c, ycg * c - zcg * s, ycg * s + zcg * c
        pt = closure(R, rt)
        FX, FY, FZ, gX, gY, gZ = -0.9 * u, -35 * v, -35 * w, *(R.T @ G)
        MX, MY, MZ = -0.002 * p, -0.8 * w - 2 * qt, 0.8 * v - 2 * rt

        def residual(ud, vd, wd, pd, qd, rd):
            return [
                FX + m * gX - m * (ud + qt * w - rt * v - ycg * (rd - p * q) + zcg * (qd + p * r)),
                FY + m * gY - m * (vd + rt * u - pt * w - z * (pd - qt * rt) - y * (p**2 + rt**2)),
                FZ + m * gZ - m * (wd + pt * v - qt * u + y * (pd + qt * rt) - z * (p**2 + qt**2)),
                IX * pd + (IZ - IY) * q * r - JXY * (qd - p * r) - JXZ * (rd + p * q) + JYZ * (r**2 - q**2)
                + FZ * y - FY * z - MX,
                IY * qd * c - IZ * rd * s - p * (IY * q * s + IZ * r * c) + IX * p * rt
                - JXY * (pd + q * r) * c + JXY * (p**2 - q**2) * s + JXZ * (pd - q * r) * s + JXZ * (p**2 - r**2) * c
                + JYZ * (qd + p * r) * s - JYZ * (rd - p * q) * c + FX * z - MY,
                IZ * rd * c + IY * qd * s + p * (IY * q * c - IZ * r * s) - IX * p * qt
                - JXY * (pd + q * r) * s - JXY * (p**2 - q**2) * c - JXZ * (pd - q * r) * c + JXZ * (p**2 - r**2) * s
                - JYZ * (qd + p * r) * c - JYZ * (rd - p * q) * s - FX * y - MZ,
            ]  # fmt: skip

        turn = R @ skewed((pt, qt, rt))
        return np.concatenate([turn.ravel(), R @ (u, v, w), solved(residual, 6), [p - pt]])

    return rates


def nonrolling(R, rt):
    return 0.0


def fixed_plane(R, rt):
    """p~ = -r~ tan(theta), with sin(theta) = -R[2, 0]."""
    return rt * R[2, 0] / np.hypot(R[0, 0], R[1, 0])


def spinning_start():
    R = rotation_from_rpy((0.0, 0.3, 0.2)).astype(float)
    return np.array([*R.ravel(), 0.0, 0.0, -1000.0, 250.0, 3.0, -2.0, 80.0, 0.5, -0.3, 0.4])


def test_scalar_equations_of_the_spinning_body():
    """Nonrolling axes: the figures, and their rates at the start."""
    figures, rates = np.array(known.SPINNING), spinning_rates(nonrolling)
    start = known.SPINNING_START
    assert rates(0.0, spinning_start())[12:] == pytest.approx(list(start.values()), rel=1e-11)
    found = solve_ivp(rates, (0.0, 2.0), spinning_start(), "DOP853", figures[:, 0], rtol=1e-11, atol=1e-11).y.T
    close(np.column_stack([found[:, 12:], found[:, 9:12]]), figures[:, 1:])


def test_fixed_plane_axes_see_the_same_motion():
    """The other closure: what the scalar equations say in these axes is what the run shows in the frame ``plane``."""
    times = np.array([0.0, 0.1, 0.25, 0.5])
    rates = spinning_rates(fixed_plane)
    found = solve_ivp(rates, (0.0, 0.5), spinning_start(), "DOP853", times, rtol=1e-11, atol=1e-11).y.T
    run = kn.simulate(known.spinning(), 0.5, times=times, method="dop853", rtol=1e-12, atol=1e-12)
    close(run["shell.velocity@plane"], found[:, 12:15])
    close(run["shell.angular_velocity@shell"], found[:, 15:18])
    assert run["plane.rotation"].reshape(-1, 9) == pytest.approx(found[:, :9], abs=1e-8)
    assert np.cos(run["plane.roll"] - found[:, 18]) == pytest.approx(1.0, abs=1e-12)
    close(run["shell.position"], np.array(known.SPINNING)[:4, 8:])


def vibrating_rates(t, state, guide=False):
    """(T-8.16) to (T-8.24): state R, position, u v w, p q r, y2 z2 and their rates."""
    m1, m2, K, x20, y20, z20 = 40.0, 2.0, 5000.0, 0.15, 0.05, -0.03
    IX, IY, IZ, JXY, JXZ, JYZ = 0.51, 4.012, 4.215, 0.031, -0.02, 0.0145
    R, (u, v, w, p, q, r, y2, z2, yd, zd) = state[:9].reshape(3, 3), state[12:]
    m, mu, Y, Z = m1 + m2, m1 * m2 / (m1 + m2), y20 + y2, z20 + z2
    FX, FY, FZ, gX, gY, gZ = 300 - 0.9 * u, -35 * v, -35 * w, *(R.T @ G)
    MX, MY, MZ = -0.05 * p, -0.8 * w - 2 * q, 0.8 * v - 2 * r
    stiff = (1 + m2 / m1) * K / m2

    def a_X(qd, rd):
        return Z * (qd + r * p) + Y * (q * p - rd) - x20 * (q**2 + r**2) + 2 * q * zd - 2 * r * yd

    def residual(ud, vd, wd, pd, qd, rd, ydd, zdd):
        return [
            ud + q * w - r * v + m2 / m * a_X(qd, rd) - FX / m - gX,
            vd + r * u - p * w - K * y2 / m1 - FY / m1 - gY,
            wd + p * v - q * u - K * z2 / m1 - FZ / m1 - gZ,
            IX * pd + (IZ - IY) * q * r - JXY * (qd - p * r) - JXZ * (rd + p * q) + JYZ * (r**2 - q**2)
            + K * (z20 * y2 - y20 * z2) - MX,
            (IY + mu * Z**2) * qd + (IX - IZ + mu * Z**2) * p * r - JXY * (pd + q * r)
            - (JYZ + mu * Y * Z) * (rd - p * q) + JXZ * (p**2 - r**2) - mu * x20 * Z * (q**2 + r**2)
            + 2 * mu * Z * (q * zd - r * yd) + K * x20 * z2 + m2 / m * Z * FX - MY,
            (IZ + mu * Y**2) * rd + 2 * mu * Y * yd * r + (IY - IX - mu * Y**2) * p * q + mu * x20 * Y * (q**2 + r**2)
            + JXZ * (q * r - pd) - JXY * (p**2 - q**2) - (JYZ + mu * Y * Z) * (qd + p * r) - 2 * mu * Y * zd * q
            - K * x20 * y2 - m2 / m * Y * FX - MZ,
            ydd - Y * (p**2 + r**2) + stiff * y2 - 2 * p * zd + Z * (q * r - pd) + x20 * (p * q + rd) + FY / m1,
            zdd - Z * (p**2 + q**2) + stiff * z2 + 2 * p * yd + Y * (q * r + pd) + x20 * (p * r - qd) + FZ / m1,
        ]  # fmt: skip

    *speeds, ydd, zdd = solved(residual, 8)
    if guide:
        return m2 / m * FX + mu * a_X(speeds[4], speeds[5])
    return np.concatenate([(R @ skewed((p, q, r))).ravel(), R @ (u, v, w), speeds, [yd, zd, ydd, zdd]])


def test_scalar_equations_of_the_internal_member():
    figures = np.array(known.VIBRATING)
    R = rotation_from_rpy((0.3, 0.25, 0.1)).astype(float)
    start = np.array([*R.ravel(), 0.0, 0.0, -500.0, 200.0, 2.0, -1.0, 20.0, 0.4, -0.2, 0.004, -0.003, 0.1, 0.05])
    found = solve_ivp(vibrating_rates, (0.0, 1.0), start, "DOP853", figures[:, 0], rtol=1e-11, atol=1e-11).y.T
    forces = [vibrating_rates(0.0, state, guide=True) for state in found]
    close(np.column_stack([found[:, 12:], found[:, 9:12], forces]), figures[:, 1:])


# -- invariants ---------------------------------------------------------------------------------------


def test_what_nothing_acts_on_keeps_momentum_and_energy():
    """The body with its member, without weight and air: springs inside change none of the sums."""
    system = known.vibrating()
    system.gravity = (0, 0, 0)
    for name in ("drag", "damping"):
        field = {"drag": "force", "damping": "moment"}[name]
        system.change(name, **{field: (0, 0, 0)})
    system.frame("aero", "nonrolling", on="shell")
    run = kn.simulate(system, 1.0, times=np.linspace(0, 1, 21), method="dop853", rtol=1e-12, atol=1e-12)
    for name in ("system.momentum", "system.angular_momentum", "system.energy"):
        values = run[name].reshape(len(run), -1)
        assert abs(values - values[0]).max() < 1e-9 * abs(values).max()
    assert np.ptp(run["member.velocity.x@shell"]) > 0.1  # it does move about


def test_the_example_is_the_published_body():
    """examples/asymmetric_shell.yaml flies as the reference does; its moments about any frame close."""
    rows = known.table(known.SPINNING)
    run = kn.simulate(kn.load("examples/asymmetric_shell.yaml"), times=rows[:4, 0], until=0.5, rtol=1e-10, atol=1e-11)
    close(spinning_columns(run)[:, :7], rows[:4, 1:8])
    assert max(run.balance("shell", frame).residual for frame in ("aero", "plane", "center")) < 1e-10
