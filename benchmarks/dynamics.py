"""Rows about single functions: forward and inverse dynamics, mass matrix; one call, a compiled loop, a batch, chains.

Pinocchio is given its faster convention (WORLD for forward dynamics, the default elsewhere). Its empty-call overhead is
a call of the same function on a model without joints, which agrees with the intercept over the length of chains.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from measure import Row, Side, best, call
from models import chain, pinocchio_model, robot, state

BATCH = 4096
ROBOTS = {"UR5": "ur5_robot", "Talos": "talos_reduced"}


def compiled(path: Path) -> Any:
    """Our functions, imported only when a row asks for them: the peers' figures need no kinode."""
    import ours

    return ours.compiled(path)[1]


def aba(path: Path, overhead: float = 0.0) -> Side:
    """Pinocchio's forward dynamics from Python."""
    model, data = pinocchio_model(path)
    q, u = state(model.nv)
    world = pin.Convention.WORLD
    value = pin.aba(model, data, q, u, np.zeros(model.nv), world).copy()
    return call(pin.aba, model, data, q, u, np.zeros(model.nv), world, value=value, overhead=overhead)


@cache
def empty_call() -> float:
    """Seconds that a call of pinocchio.aba takes when there is nothing to compute."""
    model, none = pin.Model(), np.zeros(0)
    return best(call(pin.aba, model, model.createData(), none, none, none, pin.Convention.WORLD))


def aba_loop(path: Path) -> Side:
    """pinocchio.aba called for each row of a batch."""
    model, data = pinocchio_model(path)
    q, u = state(model.nv, rows=BATCH)
    rows, zero, world = list(zip(q, u)), np.zeros(model.nv), pin.Convention.WORLD

    def loop() -> None:
        for a, b in rows:
            pin.aba(model, data, a, b, zero, world)

    value = np.array([pin.aba(model, data, a, b, zero, world).copy() for a, b in rows])
    return call(loop, value=value, evaluations=BATCH)


def rnea(path: Path) -> Side:
    """Pinocchio's inverse dynamics."""
    model, data = pinocchio_model(path)
    q, u = state(model.nv)
    return call(pin.rnea, model, data, q, u, u, value=pin.rnea(model, data, q, u, u).copy())


def crba(path: Path) -> Side:
    """Pinocchio's mass matrix; it fills the upper triangle only."""
    model, data = pinocchio_model(path)
    q, _ = state(model.nv)
    upper = np.triu(pin.crba(model, data, q))
    return call(pin.crba, model, data, q, value=upper + np.triu(upper, 1).T)


@cache
def slope(longest: int = 200) -> float:
    """Seconds that one more body of a chain costs pinocchio.aba."""
    lengths = (50, 100, 150, longest)
    return float(np.polyfit(lengths, [best(aba(chain(n))) for n in lengths], 1)[0])


def extrapolated(bodies: int) -> Side:
    """Pinocchio's forward dynamics on a chain that its memory does not allow: so many times its slope."""
    each = bodies * slope()
    return Side(lambda count: count * each)


def acceleration(path: Path, rows: int | None = None) -> Side:
    """Our forward dynamics from Python."""
    dynamics, (q, u), back = prepared(path, rows)
    return call(dynamics.acceleration, 0.0, q, u, value=back(dynamics.acceleration(0.0, q, u)), evaluations=rows or 1)


def acceleration_checked(path: Path) -> Side:
    """The same where no peer can check it: inverse dynamics must give back the effort, which is zero."""
    dynamics = compiled(path)
    q, u = state(dynamics.n_u)
    left = dynamics.effort(0.0, q, u, dynamics.acceleration(0.0, q, u))
    scale = np.abs(dynamics.bias(0.0, q, u)).max()
    if not np.abs(left).max() <= 1e-9 * scale:
        raise ValueError(f"inverse dynamics leaves {np.abs(left).max():.1e} of {scale:.1e}")
    return call(dynamics.acceleration, 0.0, q, u)


def kernel_loop(path: Path) -> Side:
    """Our forward dynamics without Python."""
    import ours

    _, (q, u), back = prepared(path)
    side = ours.kernel_loop(path, q, u)
    return Side(side.time, back(side.value))


def effort(path: Path) -> Side:
    """Our inverse dynamics."""
    dynamics, (q, u), back = prepared(path)
    return call(dynamics.effort, 0.0, q, u, u, value=back(dynamics.effort(0.0, q, u, u)))


def mass_matrix(path: Path) -> Side:
    """Our mass matrix."""
    dynamics, (q, _), back = prepared(path)
    return call(dynamics.mass_matrix, 0.0, q, value=back(back(dynamics.mass_matrix(0.0, q)).T))


def prepared(path: Path, rows: int | None = None) -> tuple[Any, tuple[Any, Any], Callable[[Any], Any]]:
    """Our functions, the state in our order of joints, and what brings results into Pinocchio's order."""
    dynamics = compiled(path)
    names = list(pinocchio_model(path)[0].names)[1:]
    ours = [c.joint for c in dynamics.coordinates if c.role == "u"]
    order = np.array([names.index(name) for name in ours])
    q, u = state(dynamics.n_u, rows=rows)
    there = np.argsort(order)
    return dynamics, (q[..., order].copy(), u[..., order].copy()), lambda values: values[..., there]


def bind(function: Callable[..., Side], *arguments: Any) -> Callable[[], Side]:
    """The call, put off."""
    return lambda: function(*arguments)


def rows() -> list[Row]:
    """The rows of this file."""
    found = []
    paths = {label: robot(name) for label, name in ROBOTS.items()}
    for label, path in paths.items():
        work = f"{label}: forward dynamics, one call from Python"
        found.append(Row(work, "pinocchio.aba", bind(acceleration, path), bind(aba, path), 3.0))
    for label, path in paths.items():
        work, peer = f"{label}: forward dynamics, compiled loop", "pinocchio.aba less an empty call"
        found.append(Row(work, peer, bind(kernel_loop, path), lambda path=path: aba(path, empty_call()), 5.0))
    work = f"UR5: forward dynamics, batch of {BATCH} on 2 cores, each"
    found.append(
        Row(
            work, "pinocchio.aba in a loop", bind(acceleration, paths["UR5"], BATCH), bind(aba_loop, paths["UR5"]), 40.0
        )
    )
    hundred, thousand = chain(100), chain(1000)
    found.append(
        Row(
            "chain of 100: forward dynamics",
            "pinocchio.aba",
            bind(acceleration, hundred),
            bind(aba, hundred),
            2.5,
            tolerance=1e-6,
        )
    )
    found.append(
        Row(
            "chain of 1000: forward dynamics",
            "1000 x pinocchio.aba's slope to 200",
            bind(acceleration_checked, thousand),
            bind(extrapolated, 1000),
            2.5,
        )
    )
    for label, path in paths.items():
        found.append(Row(f"{label}: inverse dynamics", "pinocchio.rnea", bind(effort, path), bind(rnea, path), 2.0))
        found.append(Row(f"{label}: mass matrix", "pinocchio.crba", bind(mass_matrix, path), bind(crba, path), 2.0))
    return found
