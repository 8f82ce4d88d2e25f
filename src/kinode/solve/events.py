"""What happened on the way of a run, in the words of mechanics: passes of singular positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinode.algebra.scalars import Array
from kinode.codegen.dynamics import Dynamics
from kinode.solve.integrators import Pass

TAKES_PART = 0.1  # of the largest entry of a null vector: a row with less is not named
SINGULAR = 1e-2  # of what the least singular value was on the way: a run that ends there ended for that
SAMPLES = 50  # states that are looked at for that
AHEAD = 1e-2  # rad, m, or s: how far is looked for a constraint that turns
TURNED = 0.1  # of a constraint, in a fiftieth of that


@dataclass(frozen=True)
class Event:
    """Something that a run met: when, of which kind, which joints and constraints take part, and all that in words."""

    time: float
    kind: str
    components: tuple[str, ...]
    message: str

    def __str__(self) -> str:
        return self.message


def count_events(events: Sequence[Event]) -> str:
    """How many there are, in words."""
    return f"{len(events)} singular position{'s' * (len(events) > 1)} passed"


def singular_events(dynamics: Dynamics, passes: Sequence[Pass], p: Array, inputs: Array) -> tuple[Event, ...]:
    """Passes near singular positions; the rows named are those of the least singular value."""
    if not passes:
        return ()
    states = np.array([found.y for found in passes])
    return tuple(
        _event(found, names)
        for found, (names, _) in zip(
            passes, nearly_dependent(dynamics, np.array([found.t for found in passes]), states, p, inputs), strict=True
        )
    )


def _event(found: Pass, names: tuple[str, ...]) -> Event:
    message = (
        f"at t = {found.t:.6g} s the loops closed by {', '.join(names)} passed a singular position, or came near one "
        f"({found.share:.1e} of the largest distance from it): other ways to move part there, the smooth one was taken"
    )
    return Event(found.t, "singular", names, message)


def find_singular(dynamics: Dynamics, t: Array, y: Array, p: Array, inputs: Array) -> str | None:
    """What became singular at the last of the states, if something did, compared with those before."""
    if not dynamics.topology.constrained or not dynamics.closing.rows:
        return None
    chosen = np.unique(np.linspace(0, len(t) - 1, SAMPLES).astype(int))
    found = nearly_dependent(dynamics, t[chosen], y[chosen], p, inputs)
    names, share = found[-1]
    if share > SINGULAR * max(size for _, size in found):
        return None
    return (
        f"the constraints of {', '.join(names)} no longer hold independently of each other: it is a singular position, "
        "or next to one, and what comes then they do not determine"
    )


def find_abrupt(dynamics: Dynamics, t: float, y: Array, p: Array, inputs: Array) -> str | None:
    """A constraint that turns all at once just beyond a state, such as that of a wheel which comes to lie flat."""
    if not dynamics.topology.constrained:
        return None
    a, b = dynamics.n_q, dynamics.n_q + dynamics.n_u
    with np.errstate(all="ignore"):
        rate = dynamics.rate(t, y, p=p, inputs=inputs)
        ahead = AHEAD / max(float(abs(rate[:a]).max(initial=0.0)), 1.0) * np.linspace(0.0, 1.0, SAMPLES)
        states = y + ahead[:, None] * rate
        _, G, _ = dynamics.closer.evaluate(t + ahead, states[:, :a], states[:, a:b], states[:, b:], p, inputs)
        turned = (abs(np.diff(G, axis=0)).max(axis=2) / abs(G[0]).max()).max(axis=0)
    if not turned.max(initial=0.0) > TURNED:
        return None
    name = dynamics.closer.names[int(np.argmax(turned))][0]
    return f"{name} changes the direction in which it holds all at once: it is not determined there"


def nearly_dependent(
    dynamics: Dynamics, t: Array, y: Array, p: Array, inputs: Array
) -> list[tuple[tuple[str, ...], float]]:
    """Whose rows come nearest to being dependent, at each of some states, and their share of the largest size."""
    a, b = dynamics.n_q, dynamics.n_q + dynamics.n_u
    closer, rows = dynamics.closer, list(dynamics.closing.rows)
    _, G, _ = closer.evaluate(t, y[:, :a], y[:, a:b], y[:, b:], p, inputs)
    squares, U = np.linalg.eigh(G[:, rows] @ G[:, rows].transpose(0, 2, 1))  # a third of the time of singular values
    owners = [closer.names[k][0] for k in rows]
    found = []
    for weights, square in zip(abs(U[:, :, 0]), squares, strict=True):
        names = dict.fromkeys(n for n, w in zip(owners, weights, strict=True) if w > TAKES_PART * weights.max())
        found.append((tuple(names), float(np.sqrt(max(square[0], 0.0) / square[-1]))))
    return found
