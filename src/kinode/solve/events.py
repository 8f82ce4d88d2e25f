"""What happened on the way of a run, in the words of mechanics: passes of singular positions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinode.algebra.scalars import Array
from kinode.codegen.dynamics import Dynamics
from kinode.solve.integrators import Pass

TAKES_PART = 0.1  # of the largest entry of a null vector: a row with less is not named


@dataclass(frozen=True)
class Event:
    """Something that a run met: when, of which kind, which joints and constraints take part, and all that in words."""

    time: float
    kind: str
    components: tuple[str, ...]
    message: str

    def __str__(self) -> str:
        return self.message


def singular_event(dynamics: Dynamics, found: Pass, p: Array, inputs: Array) -> Event:
    """A pass near a singular position; the rows named are those of the least singular value."""
    a, b = dynamics.n_q, dynamics.n_q + dynamics.n_u
    closer, rows = dynamics.closer, list(dynamics.closing.rows)
    _, G, _ = closer.evaluate(found.t, found.y[:a], found.y[a:b], found.y[b:], p, inputs)
    weights = abs(np.linalg.svd(G[rows])[0][:, -1])
    owners = [closer.names[k][0] for k in rows]
    names = tuple(dict.fromkeys(n for n, w in zip(owners, weights, strict=True) if w > TAKES_PART * weights.max()))
    message = (
        f"at t = {found.t:.6g} s the loops closed by {', '.join(names)} passed a singular position, or came near one "
        f"({found.share:.1e} of the largest distance from it): other ways to move part there, the smooth one was taken"
    )
    return Event(found.t, "singular", names, message)
