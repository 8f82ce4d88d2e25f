"""Loops in space against equations written with the freedoms alone, by Kane's method in plain NumPy.

Poses of all bodies are functions of the freedoms x, written by geometry.  With their rates J x' + J' x' the balance
sum J^T (m a, J w' + w x J w) = sum J^T (loads) gives x'': no constraint, no multiplier, no joint of kinode.
"""

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kinode as kn

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
TIGHT = {"method": "dop853", "rtol": 1e-11, "atol": 1e-12}
G = 9.81


def cross(a, b):
    """Along the last axis, for complex numbers too, without conjugation."""
    return np.stack([a[..., i - 2] * b[..., i - 1] - a[..., i - 1] * b[..., i - 2] for i in range(3)], axis=-1)


def unit(v):
    return v / np.sqrt((v * v).sum(axis=-1, keepdims=True))


def jacobian(poses, x):
    """Columns of the velocities of mass centers and of the angular velocities, by complex steps."""
    R = poses(x + 0j)[1].real
    columns = []
    for k in range(len(x)):
        dp, dR = (part.imag / 1e-30 for part in poses(x + 1e-30j * np.eye(len(x))[k]))
        W = dR @ R.swapaxes(-1, -2)
        columns.append(np.concatenate([dp, np.stack([W[..., 2, 1], W[..., 0, 2], W[..., 1, 0]], axis=-1)], axis=-1))
    return np.stack(columns, axis=-1)  # body, six, freedom


def solve_freedoms(poses, masses, tensors, loads, x0, v0, times):
    """x and x' at the times; ``loads(x)`` are generalized forces beside gravity along -z."""
    n = len(x0)

    def rate(_, y):
        x, v = y[:n], y[n:]
        J = jacobian(poses, x)
        # J' x' along the motion: differences of fourth order over 5e-4 of the freedoms, exact to some 1e-12
        h = 5e-4 / max(np.abs(v).max(), 1e-3)
        near = [jacobian(poses, x + k * h * v) for k in (-2, -1, 1, 2)]
        drift = ((near[0] - near[3] + 8 * (near[2] - near[1])) / (12 * h)) @ v
        R = poses(x + 0j)[1].real
        inertia = R @ tensors @ R.swapaxes(-1, -2)
        w = J[:, 3:] @ v
        spin = (inertia @ w[..., None])[..., 0]
        M = np.einsum("b,bik,bil->kl", masses, J[:, :3], J[:, :3]) + np.einsum(
            "bik,bij,bjl->kl", J[:, 3:], inertia, J[:, 3:]
        )
        force = masses[:, None] * (np.array([0, 0, -G]) - drift[:, :3])
        moment = -(inertia @ drift[:, 3:, None])[..., 0] - cross(w, spin)
        Q = np.einsum("bik,bi->k", J[:, :3], force) + np.einsum("bik,bi->k", J[:, 3:], moment) + loads(x)
        return np.concatenate([v, np.linalg.solve(M, Q)])

    found = solve_ivp(rate, (0, times[-1]), np.concatenate([x0, v0]), "DOP853", times, rtol=1e-10, atol=1e-11)
    assert found.success
    return found.y[:n].T, found.y[n:].T


# -- slider-crank -----------------------------------------------------------------------------------------------------

CRANK, ROD = 0.08, 0.3


def slider_crank_poses(x):
    """Crank, rod, slider: the rod's y is across its own line and the crank's axis, as the universal joint has it."""
    (th,) = x
    c, s, one, zero = np.cos(th), np.sin(th), 1 + 0 * th, 0 * th
    center = np.array([zero, 0.1 + zero, 0.12 + zero])
    turn = np.array([[one, zero, zero], [zero, c, -s], [zero, s, c]])
    pin = center + CRANK * turn[:, 2]
    slider = np.array([np.sqrt(ROD**2 - pin[1] ** 2 - pin[2] ** 2), zero, zero])
    z = (slider - pin) / ROD
    y = unit(cross(np.array([one, zero, zero]), z))
    rod = np.stack([cross(y, z), y, z], axis=-1)
    return np.array([center, (pin + slider) / 2, slider]), np.array([turn, rod, np.eye(3) + 0j])


def test_spatial_slider_crank():
    """The example: a rod that spins about its own line too."""
    times = np.linspace(0, 1, 21)
    masses = np.array([0.12, 0.5, 2.0])
    tensors = np.array([np.diag(J) for J in ([1e-4] * 3, [4e-3, 4e-3, 4e-4], [1e-4] * 3)])
    start = np.array([0.0]), np.array([6.0])
    x, v = solve_freedoms(slider_crank_poses, masses, tensors, lambda x: 0.0, *start, times)
    run = kn.simulate(EXAMPLES / "spatial_slider_crank.yaml", 1.0, times=times, **TIGHT)
    assert np.abs(run["main.q"] - x[:, 0]).max() < 1e-8
    assert np.abs(run["main.u"] - v[:, 0]).max() < 1e-7
    poses = [slider_crank_poses(at) for at in x]
    for k, name in enumerate(("crank", "rod", "slider")):
        assert np.abs(run[f"{name}.com.position"] - [p[k].real for p, _ in poses]).max() < 1e-8
        assert np.abs(run[f"{name}.rotation"] - [R[k].real for _, R in poses]).max() < 1e-7
    assert all(run.reaction(name).unique for name in ("main", "pin", "guide", "ball"))
    force = sum(run.reaction(name, on="rod", expressed_in="world").force for name in ("pin", "ball"))
    assert np.abs(force + [0, 0, -0.5 * G] - 0.5 * run.acceleration("rod.com")).max() < 1e-9


# -- Stewart platform -------------------------------------------------------------------------------------------------

FEET = np.radians([-15, 15, 105, 135, 225, 255])
TOPS = np.radians([-45, 45, 75, 165, 195, 285])
BASE = 1.1 * np.column_stack([np.cos(FEET), np.sin(FEET), 0 * FEET])
RING = 0.7 * np.column_stack([np.cos(TOPS), np.sin(TOPS), 0 * TOPS])
MASSES = np.array([60.0, *[4.0] * 6, *[2.0] * 6])
TENSORS = np.array([
    np.diag(J) for J in ([8, 9, 15], *[[0.16, 0.16, 0.004]] * 6, *[[0.11, 0.11, 0.001]] * 6)
])  # fmt: skip


def table_pose(x):
    """Origin and rotation of the table: position, then turns about x, y and z of the table."""
    p, (a, b, c) = x[:3], x[3:]
    one, zero = 1 + 0 * a, 0 * a
    A = np.array([[one, zero, zero], [zero, np.cos(a), -np.sin(a)], [zero, np.sin(a), np.cos(a)]])
    B = np.array([[np.cos(b), zero, np.sin(b)], [zero, one, zero], [-np.sin(b), zero, np.cos(b)]])
    C = np.array([[np.cos(c), -np.sin(c), zero], [np.sin(c), np.cos(c), zero], [zero, zero, one]])
    return p, A @ B @ C


def platform_poses(x):
    """Table, six tubes, six rods: the legs' y is across the world's x, about which the feet turn first."""
    p, R = table_pose(x)
    tops = p + RING @ R.T
    z = unit(tops - BASE)
    y = unit(cross(z, np.broadcast_to([1.0, 0, 0], z.shape)))
    legs = np.stack([cross(y, z), y, z], axis=-1)
    centers = [p + R @ np.array([0.03, 0.02, 0.05]), *(BASE + 0.35 * z), *(tops - 0.4 * z)]
    return np.array(centers), np.array([R, *legs, *legs])


def platform_lengths(x):
    p, R = table_pose(x)
    line = p + RING @ R.T - BASE
    return np.sqrt((line * line).sum(axis=1))


def spring_loads(x):
    """Without damping: minus the slope of the springs' energy, by complex steps."""
    tension = 20e3 * (platform_lengths(x) - 1.25)
    slopes = [platform_lengths(x + 1e-30j * row).imag / 1e-30 for row in np.eye(6)]
    return -np.array(slopes) @ tension


def test_stewart_platform():
    """The example without dampers: six freedoms, thirteen bodies."""
    system = kn.load(EXAMPLES / "stewart_platform.yaml")
    for k in range(1, 7):
        system.change(f"leg{k}.spring", damping=0.0)
    times = np.linspace(0, 0.12, 4)
    run = kn.simulate(system, 0.12, times=times, **TIGHT)
    R = run["table.rotation"][0]
    turns = np.arctan2(-R[1, 2], R[2, 2]), np.arcsin(R[0, 2]), np.arctan2(-R[0, 1], R[0, 0])
    x0 = np.array([*run["table.position"][0], *turns])
    assert platform_lengths(x0) - 1.2 == pytest.approx([0.04, -0.01, 0.05, 0.02, 0.0, 0.03], abs=1e-12)
    speeds = np.array([0.5, 0.3, -0.1, 0.4, 0.2, -0.2])
    slopes = np.array([platform_lengths(x0 + 1e-30j * row).imag / 1e-30 for row in np.eye(6)])
    v0 = np.linalg.solve(slopes.T, speeds)
    x, _ = solve_freedoms(platform_poses, MASSES, TENSORS, spring_loads, x0, v0, times)
    names = ("table", *(f"leg{j}.tube" for j in range(1, 7)), *(f"leg{j}.rod" for j in range(1, 7)))
    found = run.evaluate([f"{name}.{what}" for name in names for what in ("com.position", "rotation")])
    for k, at in enumerate(x):
        p, R = (part.real for part in platform_poses(at))
        for i, name in enumerate(names):
            assert np.abs(found[f"{name}.com.position"][k] - p[i]).max() < 1e-8
            assert np.abs(found[f"{name}.rotation"][k] - R[i]).max() < 1e-7
    wrenches = run.dynamics.reactions(run.t, run.q, run.u, on="table", expressed_in="world")
    tops = [wrenches[f"top{j}"] for j in range(1, 7)]
    assert all(top.unique for top in tops)
    total = sum(top.force for top in tops) + [0, 0, -60 * G]
    assert np.abs(total - 60 * run.acceleration("table.com")).max() < 1e-8


def test_stewart_platform_has_six_freedoms():
    found = kn.mobility(kn.load(EXAMPLES / "stewart_platform.yaml"))
    assert (found.freedoms, found.redundant) == (6, 0)
