"""Small models with known solutions, compiled by numba to the nine pointers of a kernel, for the tests of solve/."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numba
from numba import types

from kinode.solve.integrators import KernelSpec

_POINTER = types.CPointer(types.float64)
_SIGNATURE = types.void(*([_POINTER] * 9))
_KEPT: list[Any] = []


def kernel(function: Callable[..., None], n_q: int, n_u: int, n_z: int = 0, lanes: int = 1) -> KernelSpec:
    """Compile ``function(t, q, u, z, p, inputs, x, work, out)``."""
    compiled = numba.cfunc(_SIGNATURE)(function)
    _KEPT.append(compiled)
    return KernelSpec(compiled.address, n_q, n_u, n_z, lanes)


@cache
def kepler() -> KernelSpec:
    """Two bodies, plane: period 2 pi from (1 - e, 0, 0, sqrt((1 + e) / (1 - e)))."""

    def rate(t, q, u, z, p, inputs, x, work, out):
        r = math.sqrt(q[0] * q[0] + q[1] * q[1])
        out[0] = u[0]
        out[1] = u[1]
        out[2] = -q[0] / (r * r * r)
        out[3] = -q[1] / (r * r * r)

    return kernel(rate, 2, 2)


def kepler_start(e: float) -> list[float]:
    """At the pericenter."""
    return [1.0 - e, 0.0, 0.0, math.sqrt((1.0 + e) / (1.0 - e))]
