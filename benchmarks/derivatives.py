"""Rows about derivatives: accelerations and efforts by coordinates, speeds and efforts or accelerations.

One prepared call from Python on both sides; ``python benchmarks/run.py --only derivatives`` runs them alone.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from dynamics import ROBOTS, bind, prepared
from measure import Row, Side, call
from models import chain, pinocchio_model, robot, state

CHAINS = {100: 2.0, 200: 4.0}  # links, and how many times as fast
ASKED = {"UR5": (8.0, 5.0), "Talos": (4.0, 3.0)}  # accelerations, efforts


def third(n: int) -> Any:
    """Efforts or accelerations, in Pinocchio's order of joints."""
    return state(n, seed=7)[0]


def symmetric(upper: Any) -> Any:
    """The whole of a matrix whose upper triangle is filled."""
    return np.triu(upper) + np.triu(upper, 1).T


def of_accelerations(path: Path) -> Side:
    """Pinocchio's derivatives of forward dynamics."""
    model, data = pinocchio_model(path)
    (q, u), tau = state(model.nv), third(model.nv)
    pin.computeABADerivatives(model, data, q, u, tau)
    value = np.hstack([data.ddq_dq, data.ddq_dv, symmetric(data.Minv)])
    return call(pin.computeABADerivatives, model, data, q, u, tau, value=value)


def of_efforts(path: Path) -> Side:
    """Pinocchio's derivatives of inverse dynamics."""
    model, data = pinocchio_model(path)
    (q, u), a = state(model.nv), third(model.nv)
    by_q, by_u, M = (x.copy() for x in pin.computeRNEADerivatives(model, data, q, u, a))
    return call(pin.computeRNEADerivatives, model, data, q, u, a, value=np.hstack([by_q, by_u, symmetric(M)]))


def ours(path: Path, of: str, fourth: str) -> Side:
    """Our derivatives by a prepared function, into an array that is given."""
    from ours import wait_for_better_code

    dynamics, (q, u), back = prepared(path)
    n = dynamics.n_u
    order = np.argsort(back(np.arange(n)))
    x = third(n)[order].copy()
    f = dynamics.derivatives_of(of, by=("q", "u", fourth))
    wait_for_better_code()
    blocks = f(0.0, q, u, x).reshape(n, 3, n)
    value = back(np.moveaxis(blocks, 0, -1)).transpose(0, 2, 1)  # rows in Pinocchio's order
    value = np.hstack([back(block) for block in value])
    return call(f, 0.0, q, u, x, value=value)


def rows() -> list[Row]:
    """The rows of this file."""
    found = []
    kinds: list[tuple[str, str, str, Callable[[Path], Side]]] = [
        ("u_dot", "effort", "pinocchio.computeABADerivatives", of_accelerations),
        ("effort", "u_dot", "pinocchio.computeRNEADerivatives", of_efforts),
    ]
    for k, (of, fourth, name, peer) in enumerate(kinds):
        for label, file in ROBOTS.items():
            work = f"{label}: derivatives of {of} by q, u, {fourth}, one call from Python"
            path = robot(file)
            found.append(Row(work, name, bind(ours, path, of, fourth), bind(peer, path), ASKED[label][k]))
    of, fourth, name, peer = kinds[0]
    for n, asked in CHAINS.items():
        work = f"chain of {n}: derivatives of {of} by q, u, {fourth}, one call from Python"
        found.append(Row(work, name, bind(ours, chain(n), of, fourth), bind(peer, chain(n)), asked))
    return found
