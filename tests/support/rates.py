"""Small models with known solutions, compiled to the nine pointers of a kernel, for the tests of ode/."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from kinode.jit.llvm_code import compile_text
from kinode.jit.loop.memory import Floats as F
from kinode.jit.loop.translator import translate
from kinode.jit.machine_code import load_object
from kinode.ode.kernel_spec import KernelSpec

_KEPT: list[Any] = []


def kernel(
    function: Callable[..., None], n_q: int, n_u: int, n_z: int = 0, lanes: int = 1, n_work: int = 0
) -> KernelSpec:
    """Compile ``function(t, q, u, z, p, inputs, x, work, out)``."""
    engine = load_object(compile_text(translate(function, "rate")))
    _KEPT.append(engine)
    return KernelSpec(engine.get_function_address("rate"), n_q, n_u, n_z, lanes, n_work)


@cache
def kepler() -> KernelSpec:
    """Two bodies in a plane, q'' = -q / |q|^3: period 2 pi for a major half axis of 1."""

    def rate(t: F, q: F, u: F, z: F, p: F, inputs: F, x: F, work: F, out: F) -> None:
        r = math.sqrt(q[0] * q[0] + q[1] * q[1])
        out[0] = u[0]
        out[1] = u[1]
        out[2] = -q[0] / (r * r * r)
        out[3] = -q[1] / (r * r * r)

    return kernel(rate, 2, 2)


@cache
def robertson() -> KernelSpec:
    """H. H. Robertson (1966): three reactions whose rates differ by nine orders of magnitude."""

    def rate(t: F, q: F, u: F, z: F, p: F, inputs: F, x: F, work: F, out: F) -> None:
        a, b, c = 0.04 * z[0], 3e7 * z[1] * z[1], 1e4 * z[1] * z[2]
        out[0] = c - a
        out[1] = a - c - b
        out[2] = b

    return kernel(rate, 0, 0, 3)


def kepler_start(e: float) -> np.ndarray:
    """At the pericenter of an orbit of eccentricity e."""
    return np.array([1.0 - e, 0.0, 0.0, math.sqrt((1.0 + e) / (1.0 - e))])


def kepler_exact(e: float, times: Any) -> np.ndarray:
    """The orbit from Kepler's equation E - e sin E = t, solved by Newton's method."""
    t = np.asarray(times, dtype=float)
    anomaly = t + e * np.sin(t)
    for _ in range(50):
        anomaly -= (anomaly - e * np.sin(anomaly) - t) / (1.0 - e * np.cos(anomaly))
    c, s, b = np.cos(anomaly), np.sin(anomaly), math.sqrt(1.0 - e * e)
    rate = 1.0 / (1.0 - e * c)
    return np.stack([c - e, b * s, -s * rate, b * c * rate], axis=-1)


@cache
def driven(lanes: int = 1) -> KernelSpec:
    """A pendulum with parameter p0 = g / l, input torque and an integral state; every argument of a kernel is used."""

    def rate(t: F, q: F, u: F, z: F, p: F, inputs: F, x: F, work: F, out: F) -> None:
        for l in range(lanes):
            work[l] = p[l] * math.sin(q[l])
            out[l] = u[l]
            out[lanes + l] = inputs[l] * math.cos(t[l]) - work[l] - p[lanes + l] * u[l]
            out[2 * lanes + l] = u[l] * u[l] - z[l]

    return kernel(rate, 1, 1, 1, lanes, n_work=1)


@cache
def tumbling(lanes: int = 1) -> KernelSpec:
    """A body free of moments: unit quaternion, then angular velocity in body axes; principal inertias 1, 2, 3."""

    def rate(t: F, q: F, u: F, z: F, p: F, inputs: F, x: F, work: F, out: F) -> None:
        for l in range(lanes):
            a, b, c = u[l], u[lanes + l], u[2 * lanes + l]
            w, i, j, k = q[l], q[lanes + l], q[2 * lanes + l], q[3 * lanes + l]
            out[l] = 0.5 * (-i * a - j * b - k * c)
            out[lanes + l] = 0.5 * (w * a + j * c - k * b)
            out[2 * lanes + l] = 0.5 * (w * b + k * a - i * c)
            out[3 * lanes + l] = 0.5 * (w * c + i * b - j * a)
            out[4 * lanes + l] = (2.0 - 3.0) * b * c
            out[5 * lanes + l] = (3.0 - 1.0) * c * a / 2.0
            out[6 * lanes + l] = (1.0 - 2.0) * a * b / 3.0

    return kernel(rate, 4, 3, 0, lanes)


def momentum(y: np.ndarray) -> np.ndarray:
    """Angular momentum of `tumbling` in fixed axes, which stays."""
    w, i, j, k = np.moveaxis(y[..., :4], -1, 0)
    R = np.array(
        [
            [1 - 2 * (j * j + k * k), 2 * (i * j - w * k), 2 * (i * k + w * j)],
            [2 * (i * j + w * k), 1 - 2 * (i * i + k * k), 2 * (j * k - w * i)],
            [2 * (i * k - w * j), 2 * (j * k + w * i), 1 - 2 * (i * i + j * j)],
        ]
    )
    return np.einsum("ij...,...j->...i", R, y[..., 4:] * np.array([1.0, 2.0, 3.0]))


@cache
def ending(lanes: int = 1) -> KernelSpec:
    """The second of three rates stops being a number after t = p0."""

    def rate(t: F, q: F, u: F, z: F, p: F, inputs: F, x: F, work: F, out: F) -> None:
        for l in range(lanes):
            out[l] = -q[l]
            left = p[l] - t[l]
            out[lanes + l] = 1.0 if left >= 0.0 else math.nan
            out[2 * lanes + l] = 1.0

    return kernel(rate, 3, 0, 0, lanes)


@cache
def explosion() -> KernelSpec:
    """y' = y^2 from 1 is 1 / (1 - t)."""

    def rate(t: F, q: F, u: F, z: F, p: F, inputs: F, x: F, work: F, out: F) -> None:
        out[0] = q[0] * q[0]

    return kernel(rate, 1, 0)
